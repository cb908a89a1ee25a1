"""Read disturb: five schemes on nine workloads, and what their differences rest on."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from pathlib import Path

from floatgate.reproduce.studies.read_disturb import figures, workloads
from floatgate.reproduce.studies.read_disturb.workloads import BLOCK, EXTENT, PAGE, Sample
from floatgate.reproduce.study import Analysis, Evidence, Experiment, Study
from floatgate.result.files import make_folder
from floatgate.workloads import catalogue
from floatgate.workloads.catalogue import Folders

FACTOR = 16
"""Volumes, limits and reads are divided by this."""

DIES = 4
"""Dies of the paper for each simulated one; time runs faster by the same factor."""

SPARE = 0.2

SEED = 1

LENGTHS = {"umass:websearch1": "52min", "msps:ads": "24h"}
"""Of stand-ins whose length no source of the catalogue gives: Websearch at 335 requests a second,
as is often quoted of it; ADS as 48 files of half an hour."""

REGION = 4 * EXTENT

SCATTERED, EVEN = "scattered", "even"


def prepare(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment on workloads of a sixteenth, which are made here, and drives of their size."""
    data = deepcopy(experiment.data)
    place = folder / "workloads"
    make_folder(place)
    made: dict[tuple[str, str], tuple[Path, int]] = {}
    samples: dict[tuple[str, bool], Sample] = {}
    longest = max(block["reading"]["first"] for block in data["runs"])
    for block in data["runs"]:
        for label, case in block["cases"]["workload"].items():
            name, kind = case["workload"], _kind(label)
            if (name, kind) not in made:
                sample = _sampled(samples, name, kind, traces)
                words = re.sub("[^a-z0-9]+", "-", f"{name} {kind}".lower()).strip("-")
                path = place / f"{words}.parquet"
                rounds = workloads.rounds(sample, FACTOR, DIES, longest, SEED, even=kind == EVEN)
                workloads.write(rounds, sample, FACTOR, path)
                made[name, kind] = path, sample.volume
            path, volume = made[name, kind]
            settings = {**data.get("set", {}), **block.get("set", {})}
            case["workload"] = str(path.resolve())
            blocks = blocks_for(volume, settings["geometry.channels"])
            case["set"] = {"geometry.blocks-per-plane": blocks}
    keys = {key.replace("-", "_"): value for key, value in data.items()}
    del keys["schema"]
    return Experiment(folder=experiment.folder, **keys)


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """The tables, sheets and plots of the report."""
    # The runs of Table II: all of them would be too many to read.
    of_table_2 = {"workload": figures.ALL, "read-disturb": figures.SCHEMES} | figures.HEAD
    shown = evidence.shown(of_table_2, ("workload", "read-disturb"))
    tables = figures.tables(evidence)
    return Analysis(tables, figures.plots(evidence), sheets=figures.sheets(evidence), shown=shown,
                    says=figures.says(tables))  # fmt: skip


def _kind(label: str) -> str:
    """How a workload differs from its trace, by its label."""
    kind = label.partition(", ")[2]
    return kind if label in figures.CONCENTRATED or kind in (SCATTERED, EVEN) else ""


def _sampled(
    samples: dict[tuple[str, bool], Sample], name: str, kind: str, traces: Folders
) -> Sample:
    gather = kind != SCATTERED
    if (name, gather) not in samples:
        length = {"workload.duration": LENGTHS[name]} if _lacks_length(name, traces) else {}
        samples[name, gather] = workloads.sampled(name, FACTOR, length, traces, gather=gather)
    sample = samples[name, gather]
    for label, (share, part) in figures.CONCENTRATED.items():
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
