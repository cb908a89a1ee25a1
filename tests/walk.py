"""Whether the claims of a study rest on the runs they name.

It goes by the files on the disk: the list of runs with their results, and `measured.json`; not by
the code that took them. `scripts/papers.py` walks the full forms that it stores.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.lists import chips
from floatgate.report.model import Finding
from floatgate.reproduce.claims import Evidence
from floatgate.reproduce.runner import MEASURED, Reproduction, claims_of
from floatgate.reproduce.studies.ready.paper import BY_NAME
from floatgate.runs.sweep import Experiment
from floatgate.settings import same_value, setting


def not_carried(made: Reproduction, experiment: Experiment) -> Iterator[str]:
    """Faults of claims: a missing name of the measurement, or a measurement that does not match the
    name.

    The experiment is the one that was run, with the files that were made for it.
    """
    folder = made.page.parent
    listed = json.loads((folder / "sweep.json").read_text())["runs"]
    planned = experiment.planned()
    measured = json.loads((folder / MEASURED).read_text())
    lacks: dict[tuple[Path, int], list[str]] = {}
    for row in (row for table in made.report.tables for row in table.rows):
        if row.ours is not None and not row.runs and not row.by:
            yield f"{row.what}: nobody knows what measured it"
        yield from unlike(row, measured)
        for names in row.by:
            workload = names.get("described")
            if workload and not any(run.names["workload"] == workload for run in planned):
                yield f"{row.what}: no workload is {workload}"
        for names in row.runs:
            plans = [run for run in planned if run.names.keys() == names.keys()
                     and _carries(names, run.names)]  # fmt: skip
            if not plans:
                yield f"{row.what}: no run is {names}"
                continue
            ids = [each["run_id"] for each in listed if _carries(each["variant"], plans[0].names)]
            for run_id in ids or [None]:
                path = folder / str(run_id) / "result.json"
                if not path.exists():
                    yield f"{row.what}: there is no result of {names}"
                    continue
                pair = path, id(plans[0])
                if pair not in lacks:
                    lacks[pair] = list(_lacking(json.loads(path.read_text()), plans[0].part))
                yield from (f"{row.what}: {lack} of {names}" for lack in lacks[pair])


def unlike(row: Finding, measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Faults of the measurements behind a claim that are not runs."""
    for names in row.by:
        kind = next(iter(names))
        found = [each["says"] for each in measured if each["names"] == names]
        if kind not in ("life", "bench", "demand", "chip", "described", "formula"):
            yield f"{row.what}: nobody knows what kind {names} is"
        if kind in ("life", "bench", "demand") and not found:
            yield f"{row.what}: nobody measured {names}"
        if kind == "chip" and not chips(names["chip"]):
            yield f"{row.what}: there is no such chip as {names}"
        lacking = (lack for says in found for lack in _unlike(names, says))
        yield from (f"{row.what}: {lack} of {names}" for lack in lacking)


def _carries(names: Mapping[str, str], plan: Mapping[str, str]) -> bool:
    """Whether names are those of a planned run; a value for two equal runs has both names."""
    return all(
        plan[name] in (label, *label.split(" = ")) for name, label in names.items() if name in plan
    )


def not_planned(experiment: Experiment) -> Iterator[str]:
    """Claims that would find no run in a form of a study, which is known without a run."""
    evidence = Evidence(experiment, None)
    for claim in claims_of(experiment):
        if not claim.text and not evidence.pairs(claim):
            yield f"{claim.what}: no run carries {claim.where}, with one that has {claim.against}"


def _lacking(result: Mapping[str, Any], part: Any) -> Iterator[str]:
    config = result["provenance"]["config"]
    file = Path(part.drive)
    name = tomllib.loads(file.read_text())["name"] if file.is_file() else part.drive
    if config["name"] != part.set.get("name", name):
        yield "not the drive"
    if not result["provenance"]["workload"]["name"].startswith(Path(part.workload).name):
        yield "not the workload"
    for family, text in part.policy.items():
        if not _is_policy(text, result["policies"][family]["name"], result["policies"][family]):
            yield f"not the policy {text}"
    for key, value in part.set.items():
        there: Any = config
        for step in key.split("."):
            there = there.get(step, {}) if isinstance(there, dict) else {}
        if isinstance(there, int | float) and not same_value(setting(value), there):
            yield f"not {key}={value}"


def _is_policy(text: str, name: str, own: Mapping[str, Any]) -> bool:
    """Whether that is the policy of a text such as `mango:bound=0:gc=slow`."""
    wanted, *params = text.split(":")
    has = {key: str(value) for key, value in own.get("params", own).items()}
    given = [param.split("=") for param in params]
    return name == wanted and all(same_value(has[k], v) for k, v in given)


def _unlike(names: Mapping[str, str], says: Mapping[str, Any]) -> Iterator[str]:
    """Differences between a measurement's own settings and its name."""
    if "life" in names:
        throttle = says["throttle"]
        if says["drive"] != BY_NAME[names["life"]].drive:
            yield "not the drive"
        if not _is_policy(names["throttle"], throttle["name"], throttle):
            yield "not the throttle"
        if says["recovery"] != names["recovery"] or f"{says['waf']:g}" != names["waf"]:
            yield "not the recovery or write amplification"
    if "bench" in names:
        if says["chip"] != names["bench"] or str(says["plan"]["blocks"]) != names["blocks"]:
            yield "not the chip or its blocks"
        if says["bits_per_cell"] != chips(names["bench"])[0]["bits_per_cell"]:
            yield "not the cells"
