"""The folder of a run: its result, and its tables as Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from floatgate import engine
from floatgate.engine import InputError
from floatgate.result.files import content, length, replace

RESULT = "result.json"
"""The file that is in a run's folder when all the others are."""

TABLES = ("requests", "series", "blocks")
"""The tables stored with it by default, each as NAME.parquet."""

SNAPSHOTS = ("snapshots", "occupancy")
"""The tables stored with `snapshots`: the picture of the drive over time."""

CHOICES = (*TABLES, "snapshots")
"""The tables that can be chosen."""

SEAL = "stored"
"""The key of `result.json` with the digests of the stored files: see `sealed`."""


def sealed(
    value: Mapping[str, Any], lengths: Mapping[str, int], also: Iterable[str] = ()
) -> dict[str, Any]:
    """A result as it is stored: with its own digest, and the lengths of the tables beside it.

    `also` has other names under which its workload was run. A trace with the same bytes is the same
    run.
    """
    in_order = {name: lengths[name] for name in sorted(lengths)}
    others = sorted({*also} - {value["provenance"]["workload"]["name"]})
    seal = {"sha256": _digest(value), "table_bytes": in_order}
    return {**value, SEAL: seal | ({"also_named": others} if others else {})}


def call_also(folder: Path, names: Iterable[str]) -> None:
    """Notes in a stored run the other names of its workload.

    Raises:
        InputError: It cannot be read.
        OSError: It cannot be written.
    """
    value = json.loads(content(folder / RESULT))
    seal = value.pop(SEAL, None)
    if seal is None:
        return
    others = {*names, *seal.get("also_named", ())}
    new = sealed(value, seal["table_bytes"], others)
    if new[SEAL] != seal:
        replace(folder / RESULT, json.dumps(new, indent=1) + "\n")


def _digest(value: Mapping[str, Any]) -> str:
    """The digest of a result, the same for any form of its text.

    Of wall-clock figures it covers the names only.
    """
    what = {**value, "timing": sorted(value.get("timing") or ())}
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return engine.sha256(text.encode())


def altered(value: Mapping[str, Any], seal: Mapping[str, Any] | None) -> str | None:
    """Why a result differs from the stored one, in words; None if it does not.

    Args:
        value: The result as in its file, without the numbers that later versions add to it.
        seal: The list of stored files in its file; None if it has no such list.
    """
    if seal is None:
        return None
    try:
        dict(seal["table_bytes"])
        same = seal["sha256"] == _digest(value)
    except (LookupError, TypeError, ValueError):
        return f"{RESULT} is damaged"
    return None if same else f"{RESULT} is not what was stored"


def flaw(
    seal: Mapping[str, Any] | None,
    folder: Path,
    tables: Iterable[str] | None = None,
) -> str | None:
    """The damage of the tables of a stored run, in words; None if they are whole.

    Args:
        seal: The list of stored files in its file.
        folder: Where it lies.
        tables: The tables that it must have; by default those in its list.
    """
    if seal is None:
        if tables is None:
            return None  # Stored before there were seals, so it cannot be checked.
        return f"{RESULT} does not say how long its tables are"
    try:
        lengths = dict(seal["table_bytes"])
    except (LookupError, TypeError, ValueError):
        return f"{RESULT} is damaged"
    for name in lengths if tables is None else tables:
        if name not in lengths:
            return f"{name}.parquet was not recorded"
        found = length(folder / f"{name}.parquet")
        if found is None:
            return f"{name}.parquet is not there"
        if found != lengths[name]:
            return f"{name}.parquet has {found:,} of {lengths[name]:,} bytes"
    return None


def whole(place: Path) -> dict[str, int]:
    """The tables in the folder of a run that its next `result.json` can still list."""
    try:
        seal = json.loads(content(place / RESULT)).get(SEAL)
        known = {} if seal is None else dict(seal["table_bytes"])
    except (InputError, LookupError, TypeError, ValueError, AttributeError):
        return {}
    found = {name: length(place / f"{name}.parquet") for name in (*TABLES, *SNAPSHOTS)}
    # Results stored before there were seals are accepted without one.
    return {
        name: size
        for name, size in found.items()
        if size is not None and (seal is None or known.get(name) == size)
    }


def names_in(place: Path) -> set[str]:
    """The names under which the workload of the run in a folder was run."""
    try:
        value = json.loads(content(place / RESULT))
        name = value["provenance"]["workload"]["name"]
        names = [name, *value.get(SEAL, {}).get("also_named", ())]
    except (InputError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return set()
    return {name for name in names if isinstance(name, str)}
