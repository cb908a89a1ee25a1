"""What the tests of single reproductions share."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from floatgate.experiments import Experiment
from floatgate.report.model import Finding, Sheet
from floatgate.report.verdicts import counts
from floatgate.reproduce.runner import Reproduction, reproduce, verdicts
from floatgate.settings import same_value


def quick(name: str, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The quick form without any trace at hand."""
    nothing = tmp_path_factory.mktemp("no-traces")
    made = reproduce(name, quick=True, traces=nothing, out=nothing / "out", workers=2)
    stored = verdicts()[name]
    if stored["form"] == "quick":
        assert counts(made.report.tables) == stored["verdicts"], (
            "`make papers` renews what is stored"
        )
    return made


def rows(made: Reproduction, title: str) -> dict[str, Finding]:
    """The rows of the one table whose title begins so, by what they are about."""
    (table,) = (table for table in made.report.tables if table.title.startswith(title))
    assert table.rows
    return {row.what: row for row in table.rows}


def row(made: Reproduction, title: str, what: str) -> Finding:
    """The one row of such a table that begins so."""
    (found,) = (row for name, row in rows(made, title).items() if name.startswith(what))
    return found


def sheet(made: Reproduction, title: str) -> Sheet:
    """The one sheet whose title begins so."""
    (found,) = (sheet for sheet in made.report.sheets if sheet.title.startswith(title))
    return found


def not_carried(made: Reproduction, experiment: Experiment) -> Iterator[str]:
    """What the runs behind the claims lack of that which their names say, as stored on the disk.

    It goes by the list of runs and their results alone, not by the code that took them.
    """
    folder = made.page.parent
    listed = json.loads((folder / "sweep.json").read_text())["runs"]
    planned = experiment.planned()
    for row in (row for table in made.report.tables for row in table.rows):
        for names in row.runs:
            plans = [run for run in planned if run.names == names]
            if not plans:
                yield f"{row.what}: no run is {names}"
                continue
            ids = [
                entry["run_id"]
                for entry in listed
                if all(names.get(k) in v.split(" = ") for k, v in entry["variant"].items())
            ]
            for run_id in ids or [None]:
                path = folder / str(run_id) / "result.json"
                if not path.exists():
                    yield f"{row.what}: there is no result of {names}"
                    continue
                lacking = _lacking(json.loads(path.read_text()), plans[0].part)
                yield from (f"{row.what}: {lack} of {names}" for lack in lacking)


def _lacking(result: Mapping[str, Any], part: Any) -> Iterator[str]:
    config = result["provenance"]["config"]
    file = Path(part.drive)
    name = tomllib.loads(file.read_text())["name"] if file.is_file() else part.drive
    if config["name"] != name:
        yield "not the drive"
    if not result["provenance"]["workload"]["name"].startswith(Path(part.workload).name):
        yield "not the workload"
    for family, text in part.policy.items():
        name, *params = text.split(":")
        own = result["policies"][family]
        has = {key: str(value) for key, value in own["params"].items()}
        given = [param.split("=") for param in params]
        if own["name"] != name or any(not same_value(has[k], v) for k, v in given):
            yield f"not the policy {text}"
    for key, value in part.set.items():
        there: Any = config
        for step in key.split("."):
            there = there.get(step, {}) if isinstance(there, dict) else {}
        if isinstance(there, int | float) and float(there) != float(value):
            yield f"not {key}={value}"
