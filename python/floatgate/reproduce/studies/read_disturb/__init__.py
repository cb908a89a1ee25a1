"""Read disturb: five schemes on nine workloads, and what their differences rest on."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from pathlib import Path

from floatgate.experiments import Experiment
from floatgate.reproduce.studies.read_disturb import figures, order, why, workloads
from floatgate.reproduce.studies.read_disturb.runs import ALL, SCHEMES, Runs
from floatgate.reproduce.studies.read_disturb.workloads import BLOCK, EXTENT, PAGE, Sample
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.result.files import make_folder
from floatgate.workloads import catalogue
from floatgate.workloads.catalogue import Folders

FACTOR = 16
"""Volumes, limits and reads are divided by this."""

DIES = 4
"""So many of the paper's dies are one here; time runs as many times as fast."""

SPARE = 0.2

SEED = 1

LENGTHS = {"umass:websearch1": "52min", "msps:ads": "24h"}
"""Of stand-ins whose length no source of the catalogue gives: Websearch at 335 requests a second,
as is often quoted of it; ADS as 48 files of half an hour."""

CONCENTRATED = {
    "SRC, half of the reads on 1 %": (0.5, 0.01),
    "SRC, 80 % of the reads on 1 %": (0.8, 0.01),
    "SRC, 95 % of the reads on 1 %": (0.95, 0.01),
    "SRC, 99 % of the reads on 1 %": (0.99, 0.01),
    "SRC, 95 % of the reads on 5 %": (0.95, 0.05),
}
"""Share of the reads, and the part of the volume that they go to."""

REGION = 4 * EXTENT

SCATTERED = "scattered"


def prepare(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment on workloads of a sixteenth, which are made here, and drives of their size."""
    data = deepcopy(experiment.data)
    place = folder / "workloads"
    make_folder(place)
    made: dict[tuple[str, str], tuple[Path, int]] = {}
    samples: dict[tuple[str, bool], Sample] = {}
    longest = max(block.get("reading", data.get("reading", {}))["first"] for block in data["runs"])
    for block in data["runs"]:
        for label, case in block["cases"]["workload"].items():
            name, kind = case["workload"], _kind(label)
            if (name, kind) not in made:
                sample = _sampled(samples, name, kind, traces)
                path = (
                    place
                    / f"{re.sub('[^a-z0-9]+', '-', f'{name} {kind}'.lower()).strip('-')}.parquet"
                )
                workloads.write(sample, FACTOR, DIES, longest, SEED, path)
                made[name, kind] = path, sample.volume
            path, volume = made[name, kind]
            settings = {**data.get("set", {}), **block.get("set", {}), **case.get("set", {})}
            case["workload"] = str(path.resolve())
            case["set"] = {
                **case.get("set", {}),
                "geometry.blocks-per-plane": blocks_for(volume, settings["geometry.channels"]),
            }
    keys = {key.replace("-", "_"): value for key, value in data.items()}
    del keys["schema"]
    return Experiment(folder=experiment.folder, **keys)


def analyse(comparison: Comparison, _study: Study) -> Analysis:
    """The tables, sheets and plots of the report."""
    runs = Runs.of(comparison)
    sheets = [order.sheet(runs), *figures.sheets(runs), *why.sheets(runs)]
    return Analysis(
        figures.tables(runs),
        list(figures.plots(runs)),
        order.missed(runs),
        [sheet for sheet in sheets if sheet.rows],
        _figures_only(comparison),
    )


def _figures_only(comparison: Comparison) -> Comparison:
    """The runs of Table II: all of them would be too many to read."""
    chosen = [
        (names, run)
        for names, run in zip(comparison.variants, comparison.runs, strict=True)
        if names["workload"] in ALL and names["read-disturb"] in SCHEMES
    ]
    kept = ("workload", "read-disturb")
    variants = [{key: names[key] for key in kept} for names, _ in chosen]
    return Comparison([run for _, run in chosen], variants, comparison.failed)


def _kind(label: str) -> str:
    """How a workload differs from its trace, by its label."""
    if label in CONCENTRATED:
        return label.partition(", ")[2]
    return SCATTERED if label.endswith(SCATTERED) else ""


def _sampled(
    samples: dict[tuple[str, bool], Sample], name: str, kind: str, traces: Folders
) -> Sample:
    gather = kind != SCATTERED
    if (name, gather) not in samples:
        length = {"workload.duration": LENGTHS[name]} if _lacks_length(name, traces) else {}
        samples[name, gather] = workloads.sampled(name, FACTOR, length, traces, gather=gather)
    sample = samples[name, gather]
    for label, (share, part) in CONCENTRATED.items():
        if label.endswith(f", {kind}"):
            return workloads.concentrated(sample, share, part, REGION, SEED)
    return sample


def _lacks_length(name: str, traces: Folders) -> bool:
    """Whether it is to be a stand-in of a length that nobody has published."""
    if name not in LENGTHS:
        return False
    (found,) = (each for each in catalogue.traces(traces)["traces"] if each["name"] == name)
    return bool(found["presence"]["state"] == "missing")


def blocks_for(volume: int, planes: int) -> int:
    """Blocks of a plane of a drive that holds a volume beside its spare."""
    return math.ceil(volume / (1 - SPARE) / (planes * BLOCK * PAGE))
