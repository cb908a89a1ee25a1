"""The lists in a folder of results: which runs were compared, which a sweep has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.engine import InputError
from floatgate.result.files import content, json_of, replace

LIST = "comparison.json"
"""In a folder of results: the compared runs, and the varied settings."""

SCHEMA = "floatgate.comparison/1"


def read_list(path: Path) -> dict[str, Any]:
    """The value of a `comparison.json`, with a variant for each of its runs.

    Raises:
        InputError: It cannot be read, or has a format that this version does not read.
    """
    value = json_of(path, "a list of results")
    if not isinstance(value, dict):
        raise InputError(f"{path}: this is not a list of results; expected a JSON object")
    if value.get("schema") != SCHEMA:
        found = value.get("schema")
        said = f"this is a `{found}`" if isinstance(found, str) else "this is not a list of results"
        raise InputError(f"{path}: {said}; expected `schema` to be `{SCHEMA}`")
    lists: list[Any] = [value.get(key) for key in ("runs", "variants", "failed")]
    if not (all(isinstance(each, list) for each in lists) and _is_whole(*lists)):
        raise InputError(
            f"{path}: this list of results is damaged; the command that made it makes it anew"
        )
    return value


def _is_whole(runs: list[Any], variants: list[Any], failed: list[Any]) -> bool:
    """Whether the lists of a `comparison.json` are complete."""
    return (
        len(runs) == len(variants)
        and all(isinstance(run, str) and NAME.fullmatch(run) for run in runs)
        and all(map(is_variant, variants))
        and all(isinstance(each, dict) and is_variant(each.get("variant")) for each in failed)
        and all(isinstance(each.get(key), str) for each in failed for key in ("kind", "message"))
    )


NAME = re.compile(r"[0-9a-f]{16}")
"""The name of a run."""


def is_variant(value: object) -> bool:
    """Whether this is the list of own settings of a run."""
    return isinstance(value, dict) and all(isinstance(word, str) for word in value.values())


SWEEP = "sweep.json"
"""In a folder of results: the runs of an experiment, and their names."""


def read_sweep(path: Path) -> list[tuple[str, Mapping[str, str]]]:
    """The runs of a `sweep.json` that have names: each with its name there.

    Raises:
        InputError: It cannot be read, or is not a list of results.
    """
    try:
        runs = json.loads(content(path))["runs"]
        if all(is_variant(run["variant"]) for run in runs):
            named = [(run["run_id"], run["variant"]) for run in runs if run["run_id"] is not None]
            if all(NAME.fullmatch(name) for name, _ in named):
                return named
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise InputError(f"{path}: this list of runs is damaged; the same sweep makes it anew")


PLANNED = "planned.json"
"""In a folder of results while they are made: the requested runs, and their names.

It is removed when `comparison.json` is written, so it exists where a command was interrupted.
"""


def write_planned(folder: Path, runs: Sequence[tuple[str | None, Mapping[str, str]]]) -> None:
    """Stores the names of runs before these exist; those without a name are left out.

    Raises:
        OSError: It cannot be stored.
    """
    listed = [{"run_id": name, "variant": dict(variant)} for name, variant in runs if name]
    value = {"schema": "floatgate.planned/1", "runs": listed}
    replace(folder / PLANNED, json.dumps(value, indent=1) + "\n")


def named(folder: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """The names of a folder's runs in its comparison, its sweep, and interrupted work.

    Raises:
        InputError: One of the lists cannot be read.
    """
    if (folder / LIST).exists():
        value = read_list(folder / LIST)
        for run_id, variant in zip(value["runs"], value["variants"], strict=True):
            yield folder / run_id, variant
    for name in (SWEEP, PLANNED):
        if (folder / name).exists():
            for run_id, variant in read_sweep(folder / name):
                yield folder / run_id, variant
