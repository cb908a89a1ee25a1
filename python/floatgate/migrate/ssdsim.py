"""SSDSim's page.parameters.

The meaning of each parameter is taken from the comments of that file and from the source.
Parameters that it reads and never uses are reported as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from floatgate.engine import InputError
from floatgate.migrate.rules import (
    Converted,
    Fate,
    Rule,
    Value,
    ValueRefusedError,
    applied,
    drive_file,
    fraction,
    lost,
    one_of,
    placed,
    size_of,
    time_of,
    whole,
)
from floatgate.mistakes import IncompleteError

_CYCLE = "single cycles of the bus are not modelled: a channel has a rate and a time per command"
_CURRENT = "SSDSim reads it and uses it nowhere; energies are given for each operation: `energy`"
_COMMANDS = "multi-plane programs: `ftl.multi-plane`; dies of a channel always work at once"

CYCLES = (
    "t_DBSY", "t_CLS", "t_CLH", "t_CS", "t_CH", "t_WP", "t_ALS", "t_ALH", "t_DS", "t_DH", "t_WH",
    "t_ADL", "t_AR", "t_CLR", "t_RR", "t_RP", "t_WB", "t_REA", "t_CEA", "t_RHZ", "t_CHZ", "t_RHOH",
    "t_RLOH", "t_COH", "t_REH", "t_IR", "t_RHW", "t_WHR", "t_RST",
)  # fmt: skip
"""Times of single cycles of the bus."""


def _key(path: str) -> Rule:
    return Rule(lambda text: {path: whole(text)})


RULES: dict[str, Rule] = {
    "dram capacity": Rule(
        lambda text: {"buffer.size": size_of(whole(text))},
        "rounded down to whole pages by the engine",
    ),
    "channel number": _key("geometry.channels"),
    "chip number": Rule(None),
    "die number": _key("geometry.dies-per-chip"),
    "plane number": _key("geometry.planes-per-die"),
    "block number": _key("geometry.blocks-per-plane"),
    "page number": _key("geometry.pages-per-block"),
    "subpage page": lost("the unit of mapping is a page; smaller writes read, change and write"),
    "page capacity": Rule(lambda text: {"geometry.page-size": size_of(whole(text))}),
    "subpage capacity": Rule(
        lambda text: {"host.sector": size_of(whole(text))}, "addresses count these"
    ),
    "t_PROG": Rule(lambda text: {"timing.program": time_of(whole(text))}),
    "t_BERS": Rule(lambda text: {"timing.erase": time_of(whole(text))}),
    "t_R": Rule(lambda text: {"timing.read": time_of(whole(text))}),
    "t_WC": Rule(None),
    "t_RC": Rule(None),
    **{name: lost(_CYCLE) for name in CYCLES},
    "erase limit": _key("reliability.endurance"),
    **{
        name: lost(_CURRENT)
        for name in (
            "flash operating current",
            "flash supply voltage",
            "dram active current",
            "dram standby current",
            "dram refresh current",
            "dram voltage",
        )
    },
    "address mapping": Rule(lambda text: one_of(text, {"1": {"ftl.mapping": "page"}})),
    "wear leveling": lost("SSDSim reads it and uses it nowhere; see the policies of wear"),
    "gc": lost("SSDSim has one collector; see the policies of victim"),
    "overprovide": Rule(
        lambda text: {"ftl.spare-factor": fraction(text)},
        "SSDSim takes it of the physical capacity: the spare factor here",
    ),
    "gc threshold": lost("collection that can be interrupted: `ftl.gc.background-stop`"),
    "buffer management": lost("there is one write buffer, the least recently written first"),
    "scheduling algorithm": Rule(
        lambda text: one_of(text, {"1": {"policies.order": "fifo"}}), "first come, first served"
    ),
    "gc hard threshold": Rule(None),
    "allocation": Rule(None),
    "static_allocation": Rule(None),
    "dynamic_allocation": lost("writes go to the next idle die of the whole drive"),
    "advanced command": lost(_COMMANDS),
    "advanced command priority": lost(_COMMANDS),
    "greed CB command": lost("collected pages go over the channel"),
    "greed MPW command": lost(_COMMANDS),
    "aged": Rule(
        lambda text: one_of(
            text,
            {
                "1": {"precondition.fill": "full", "precondition.age": "random"},
                "0": {"precondition.fill": "none"},
            },
        ),
        "SSDSim invalidates a share of every block; here the drive is written to a steady state",
    ),
    "aged ratio": lost("how far a drive is aged follows from its steady state"),
}

_CHANNELS = 4096
"""Channels of a drive, at most."""

NEEDED = (
    "channel number", "die number", "plane number", "block number", "page number", "page capacity",
    "t_PROG", "t_R", "t_BERS", "overprovide",
)  # fmt: skip
"""Parameters without which there is no drive."""

# The units that change first, second, third, last, as the code of SSDSim places pages by number.
ORDERS = {"0": "wdpc", "1": "cwdp", "2": "cpwd", "3": "cdwp", "4": "cpdw", "5": "cdpw"}

_LINE = re.compile(r"^\s*([A-Za-z_][^=#]*?(?:\[\d+\])?)\s*=\s*([^;#]*?)\s*(?:[;#].*)?$")


def is_ours(text: str) -> bool:
    """Whether a text is a parameter file of SSDSim."""
    return all(re.search(rf"^\s*{key}\s*=", text, re.M) for key in ("channel number", "t_PROG"))


def convert(text: str, path: Path) -> Converted:
    """The drive."""
    values: dict[str, str] = {}
    notes: list[str] = []
    again: list[Fate] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line)
        # SSDSim looks for `=` and passes over a line without one, or with a space at its beginning.
        if found is None or line.startswith(" "):
            why = "begins with a space" if line.startswith(" ") else "is not `parameter = value;`"
            notes.append(
                f"{path}:{number}: `{line.strip()[:60]}` {why}: SSDSim passes over such a line"
            )
            continue
        name = found[1]
        before = values.pop(name, None)
        if before is not None:
            note = f"line {number} gives it again, and the last value counts"
            again.append(Fate(name, before, {}, note, settled=True))
        values[name] = Value(found[2], name, number)
    missing = [name for name in NEEDED if name not in values]
    if "t_WC" not in values and "t_RC" not in values:
        missing.append("t_WC or t_RC")
    if missing:
        raise IncompleteError(
            f"{path}: without {', '.join(missing)} there is no drive: SSDSim takes 0 for what the"
            " file does not give"
        )
    own = applied(RULES | _listed(values), values, path)
    try:
        joint = _joint(values)
    except ValueError as error:
        raise InputError(placed(error, path)) from None
    fates = []
    for fate in own:
        ours, note = joint.get(fate.name, (fate.ours, fate.note))
        fates.append(Fate(fate.name, fate.value, ours, note))
    # Its flash has one time for a program: cells of one bit.
    settings: dict[str, object] = {"geometry.bits-per-cell": 1}
    for fate in fates:
        settings |= fate.ours
    settings.setdefault("host.out-of-range", "wrap")
    name = path.stem
    file = drive_file(name, f"converted from SSDSim's {path.name}", settings)
    return Converted(
        "SSDSim", str(path), {f"{name}.toml": file}, [*fates, *again], notes=notes[:_NOTES]
    )


_NOTES = 20
"""Notes of a file, at most."""

_CHIPS = re.compile(r"chip number\[(\d{1,4})\]")


def _listed(values: Mapping[str, str]) -> dict[str, Rule]:
    """Rules for the values that a file gives of each channel."""
    return {name: Rule(None) for name in values if _CHIPS.fullmatch(name)}


def _joint(values: Mapping[str, str]) -> dict[str, tuple[Mapping[str, object], str]]:
    """Settings that depend on more than one parameter."""
    found: dict[str, tuple[Mapping[str, object], str]] = {}
    channels = whole(values.get("channel number", "1"), 1, _CHANNELS)
    listed = [*_listed(values)]
    if listed:
        chips = [whole(values.get(f"chip number[{i}]", "0")) for i in range(channels)]
        if len({*chips}) != 1:
            raise ValueRefusedError(
                values[listed[0]], f"every channel must have as many chips here, found {chips}"
            )
        each = chips[0]
    else:
        each = whole(values.get("chip number", str(channels))) // channels
    ours: Mapping[str, object] = {"geometry.chips-per-channel": each}
    for name in [*listed, "chip number"]:
        of_one = _CHIPS.fullmatch(name)
        beyond = of_one is not None and int(of_one[1]) >= channels
        found[name] = ({}, "there is no such channel") if beyond else (ours, "")
    if "t_WC" in values or "t_RC" in values:
        cycle = max(whole(values.get("t_WC", "0")), whole(values.get("t_RC", "0")))
        rate = max(1, round(1000 / max(cycle, 1)))
        bus = {"rate": f"{rate}MT/s", "width-bits": 8, "command": f"{7 * cycle}ns"}
        note = f"a byte each {cycle} ns, and seven such cycles for a command with its address"
        found["t_WC"] = found["t_RC"] = ({"timing.bus": bus}, note)
    if "gc hard threshold" in values:
        blocks = whole(values.get("block number", "2048"))
        share = fraction(values["gc hard threshold"])
        over = fraction(values.get("overprovide", "0.1"))
        # SSDSim counts free pages of a plane that may exceed the spare space of the drive.
        most = max(2, int(over * blocks) - 4)
        start = max(2, min(round(share * blocks), most))
        note = f"{share} of {blocks} blocks in a plane"
        if start < round(share * blocks):
            note += f", of which the drive can spare {start}: collection would never end"
        found["gc hard threshold"] = ({"ftl.gc.start": start, "ftl.gc.stop": start + 1}, note)
    if "allocation" in values:
        static = whole(values["allocation"], 0, 1) == 1
        order = ORDERS.get(values.get("static_allocation", "0"))
        if not static:
            found["allocation"] = ({"policies.placement": "dynamic"}, "")
            found["static_allocation"] = ({}, "allocation is dynamic")
        elif order is None:
            found["allocation"] = found["static_allocation"] = (
                {},
                "this order has no counterpart; see `floatgate policies placement`",
            )
        else:
            placed = {"policies.placement": {"name": "static", "order": order}}
            found["allocation"] = found["static_allocation"] = (placed, "")
    return found
