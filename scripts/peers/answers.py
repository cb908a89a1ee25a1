"""The counts that the other simulators report, and whether they did the same work as floatgate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree


@dataclass(frozen=True)
class Counts:
    """Requests that were served, and pages that were programmed."""

    reads: int
    writes: int
    programs: int | None
    """None: it does not say."""


def of_floatgate(result: Mapping[str, Any]) -> Counts:
    """From the result of a run."""
    host = result["host"]
    return Counts(
        host["read"]["requests"], host["write"]["requests"], result["flash"]["program"]["total"]
    )


def of_mqsim(text: str) -> Counts:
    """From `workload_scenario_1.xml`.

    Raises:
        ValueError: It is another file.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"this is not a result of MQSim: {error}") from None
    flow = next(root.iter("Host.IO_Flow"), None)
    ftl = next((each for each in root.iter() if each.tag.endswith(".FTL")), None)
    if flow is None or ftl is None:
        raise ValueError("this is not a result of MQSim: it lacks Host.IO_Flow or an FTL")
    said = {each.tag: each.text or "" for each in flow}
    programs = [
        value
        for name, value in ftl.attrib.items()
        if re.fullmatch(r"Issued_Flash_(\w+_)?Program_CMD", name) and "Suspend" not in name
    ]
    try:
        reads, writes = int(said["Read_Request_Count"]), int(said["Write_Request_Count"])
        return Counts(reads, writes, sum(map(int, programs)))
    except (KeyError, ValueError) as error:
        raise ValueError(f"this is not a result of MQSim: {error}") from None


def of_ssdsim(text: str) -> Counts:
    """From `statistic10.dat`, without the read and the write that it is given beside the trace.

    It counts pages that it maps for reads before it starts as programmed. So if there are reads,
    its output does not show how many pages the run programmed.

    Raises:
        ValueError: It is another file, or the run did not come to its end.
    """

    def number(name: str) -> int:
        found = re.search(rf"^{name}:\s*(-?\d+)", text, re.MULTILINE)
        if found is None:
            raise ValueError(f"this is not a result of SSDSim: it lacks its {name}")
        return int(found[1])

    reads, writes = (number(f"{kind} request count") - 1 for kind in ("read", "write"))
    return Counts(reads, writes, None if reads else number("write flash count") - 1)


CLOSE = 0.1
"""Collectors differ: pages programmed may differ by this share."""


def differences(ours: Counts, theirs: Counts) -> list[str]:
    """Differences between the work of another simulator and that of floatgate, in words.

    >>> differences(Counts(1, 9, 20), Counts(1, 9, 21))
    []
    >>> differences(Counts(1, 9, 20), Counts(1, 8, 30))
    ['8 writes and not 9', '30 pages programmed and not 20 (+50 %)']
    """
    said = [
        f"{getattr(theirs, kind)} {kind} and not {getattr(ours, kind)}"
        for kind in ("reads", "writes")
        if getattr(theirs, kind) != getattr(ours, kind)
    ]
    if ours.programs is None or theirs.programs is None:
        return said
    more = theirs.programs / ours.programs - 1 if ours.programs else float(theirs.programs)
    if abs(more) > CLOSE:
        said.append(
            f"{theirs.programs} pages programmed and not {ours.programs} ({100 * more:+.0f} %)"
        )
    return said
