"""Separation: every scheme on every workload, over spare and streams, with its costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

from floatgate.reproduce.studies import gc_laws
from floatgate.reproduce.studies.separation import workloads
from floatgate.reproduce.studies.separation.workloads import BLOCKS, PAGE, SUPERBLOCKS
from floatgate.reproduce.study import (
    Analysis,
    Evidence,
    Experiment,
    Finding,
    Published,
    Result,
    Sheet,
    Study,
    Table,
    Taken,
    percent,
)
from floatgate.result.files import make_folder
from floatgate.workloads.catalogue import Folders, trace_folders

BASE = "sepgc"
"""The scheme that all are compared with: what a drive does that knows nothing."""

USUAL = "14 %"
SKEWED = ("two classes", "eight classes", "zipf")
TRACE = "trace "
KNOWING = ("death time", "death time, 16 narrow classes")
"""Schemes that no drive can have."""

EXAMPLE = 7.68e12
"""Bytes of the drive whose memory the page gives as an example."""
EXAMPLE_DIES, EXAMPLE_PLANES, EXAMPLE_PAGE = 128, 4, 16384

Names = Mapping[str, Any]


def prepare(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment with the files of its workloads, and with the traces at hand."""
    data = deepcopy(experiment.data)
    place = folder / "workloads"
    make_folder(place)
    (block,) = data["runs"]
    cases = block["cases"]["workload"]
    for name, case in cases.items():
        case["workload"] = _file(place, name, workloads.made(name))
    found = workloads.traces(tuple(trace_folders(traces))).writes
    if found:
        more = deepcopy(block)
        of = more["policy"]["separation"]
        more["policy"]["separation"] = {k: v for k, v in of.items() if not _is_hints(k)}
        more["cases"]["workload"] = {TRACE + name: _trace_case(place, name, each)
                                     for name, each in found.items()}  # fmt: skip
        data["runs"].append(more)
    keys = {key.replace("-", "_"): value for key, value in data.items() if key != "schema"}
    return Experiment(folder=experiment.folder, **keys)


def claims(experiment: Experiment) -> Iterator[Published]:
    """The claims of papers about the schemes, on workloads of their kind."""
    evidence = Evidence(experiment, None)
    skewed = [name for name in SKEWED if evidence.of({"workload": name})]
    for what, source, scheme, against, names in (
        ("moves apart", "Van Houdt 2014", BASE, "shared", skewed),
        ("sepbit against moves apart", "SepBIT, FAST 2022", "sepbit", BASE, skewed),
        ("sepbit against dac", "SepBIT, FAST 2022", "sepbit", "dac", skewed),
    ):
        fact = f"{what}, on skewed writes"
        for name in names:
            yield _change(f"{what}: {name}", source, scheme, against, name, fact)
    for name in skewed:
        for scheme in KNOWING:
            if evidence.of({"separation": scheme}):
                yield _change(f"{scheme} against moves apart: {name}", "SepBIT, FAST 2022", scheme,
                              BASE, name, "future known, against moves apart")  # fmt: skip
    of = "Stoica and Ailamaki, VLDB 2013"
    for name, streams in (("two classes", 2), ("eight classes", 8)):
        if evidence.of({"workload": name}):
            yield _change(f"{name}, hints with {streams} streams", of, f"hints, {streams} streams",
                          BASE, name, name.replace(" ", " known ") + " apart")  # fmt: skip
    apart = _at("eight tenants", "hints, 8 streams")
    yield Published("tenants, a stream each", "waf_pages", 1.03, apart,
                    source="Allison et al., EuroSys 2025: a cache on a drive with FDP")  # fmt: skip
    alone, base = {"separation": "hints, 1 stream"}, {"separation": BASE}
    yield Published("one stream of hints is moves apart", "waf_pages", 0.0, alone, base,
                    unit="share", kind="follows")  # fmt: skip


def analyse(evidence: Evidence, study: Study) -> Analysis:
    """The claims, the formula, and the sheets: gains, streams, worth, costs, traces."""
    table = evidence.table("Claims of papers", claims(study.experiment), _CLAIMS)
    formula = Table("Uniform writes beside the formula of greedy", [*_formula(evidence)], _FORMULA)
    sheets = [_gains(evidence), _streams(evidence), _worth(evidence), *_costs(evidence)]
    sheets.append(_traces(evidence, study))
    plots = [
        evidence.bars(
            f"Write amplification by that of {BASE}, spare {USUAL}",
            [*dict.fromkeys(t.names["workload"] for t in evidence.runs)],
            "separation",
            {
                scheme: Published("", "waf_pages", where={"separation": scheme, "spare": USUAL},
                                  against={"separation": BASE}, form="ratio")
                for scheme in _schemes(evidence) if scheme != BASE
            },
            ratio=True,
        )
    ]  # fmt: skip
    return Analysis([table, formula], plots, sheets=sheets, says=_says(evidence))


# ── Claims ──────────────────────────────────────────────────────────────────────────────────────


def _at(workload: str, scheme: str) -> dict[str, str]:
    return {"workload": workload, "separation": scheme, "spare": USUAL}


def _of(scheme: str) -> dict[str, str]:
    return {"separation": scheme}


def _change(
    what: str, source: str, scheme: str, against: str, workload: str, fact: str
) -> Published:
    """A scheme writes less than another."""
    where = {"workload": workload, "separation": scheme}
    return Published(what, "waf_pages", "below 0", where, {"separation": against}, unit="share",
                     source=source, fact=fact)  # fmt: skip


def _formula(evidence: Evidence) -> Iterator[Finding]:
    """Uniform writes with moves apart, for each spare."""
    for taken in evidence.of({"workload": "uniform", "separation": BASE}):
        config = taken.run.provenance.config
        blocks, marks = config.geometry["blocks-per-plane"], config.ftl.gc
        # As in the study of the laws: free superblocks, the empty open one, half of the other.
        free = (marks["start"] + marks["stop"]) / 2 - 1
        share = SUPERBLOCKS / (blocks - free - 1.5)
        pages = BLOCKS * config.geometry["pages-per-block"]
        spare = taken.names["spare"]
        law = gc_laws.greedy(share, pages)
        yield Finding(f"uniform, spare {spare}", "Van Houdt 2013", law, taken.run.waf_pages, "x",
                      kind="check", band=0.04, runs=[taken.names])  # fmt: skip


# ── Sheets ──────────────────────────────────────────────────────────────────────────────────────


def _schemes(evidence: Evidence) -> list[str]:
    """The schemes, in the order of the file. A run that stands for two has both names."""
    labels = (taken.names["separation"] for taken in evidence.runs)
    return [*dict.fromkeys(name for label in labels for name in label.split(" = "))]


def _settings(evidence: Evidence) -> list[tuple[str, str]]:
    """Each workload with each spare, in the order of the file."""
    return [*dict.fromkeys((t.names["workload"], t.names["spare"]) for t in evidence.runs)]


def _waf(evidence: Evidence, workload: str, spare: str, scheme: str) -> float | None:
    """The write amplification of a run; None if there is no such run."""
    found = evidence.of({"workload": workload, "spare": spare, "separation": scheme})
    return found[0].run.waf_pages if found else None


def _gains(evidence: Evidence) -> Sheet:
    """The write amplification of every scheme, and the least of those a drive can have."""
    schemes = _schemes(evidence)
    rows = []
    for workload, spare in _settings(evidence):
        found = {s: _waf(evidence, workload, spare, s) for s in schemes}
        real = {s: w for s, w in found.items() if w is not None and s not in KNOWING}
        best = min(real, key=lambda scheme: real[scheme])
        gain = percent(real[best] / real[BASE] - 1)
        cells = ["" if w is None else f"{w:.2f}" for w in found.values()]
        rows.append([workload, spare, *cells, f"{best} ({gain})" if best != BASE else best])
    return Sheet(
        "Write amplification by scheme", ["workload", "spare", *schemes, "least"], rows, _GAINS
    )


def _is_hints(scheme: str) -> bool:
    return scheme.startswith("hints")


def _streams(evidence: Evidence) -> Sheet:
    """Write amplification of hints by their number of streams."""
    schemes = [scheme for scheme in _schemes(evidence) if _is_hints(scheme)]
    rows = []
    for workload, spare in _settings(evidence):
        base = _waf(evidence, workload, spare, BASE)
        found = [_waf(evidence, workload, spare, scheme) for scheme in schemes]
        if base is not None and any(found):
            rows.append([workload, spare, *(percent(w / base - 1) if w else "" for w in found)])
    head = [scheme.removeprefix("hints, ") for scheme in schemes]
    return Sheet("Hints by streams", ["workload", "spare", *head], rows, _STREAMS)


def _worth(evidence: Evidence) -> Sheet:
    """The spare that a drive without the scheme needs for the same write amplification."""
    schemes = [scheme for scheme in _schemes(evidence) if scheme != BASE]
    rows = []
    for workload in dict.fromkeys(name for name, _ in _settings(evidence)):
        at = evidence.of({"workload": workload, "separation": BASE})
        known = sorted((float(t.run.capacity.spare_factor), t.run.waf_pages) for t in at)
        if len(known) < 2:
            continue
        here = evidence.of({"workload": workload, "spare": USUAL, "separation": BASE})
        cells = []
        for scheme in schemes:
            waf = _waf(evidence, workload, USUAL, scheme)
            cells.append("" if waf is None or not here else _points(known, here[0], waf))
        rows.append([workload, *cells])
    return Sheet(f"Worth in points of spare, at {USUAL}", ["workload", *schemes], rows, _WORTH)


def _points(known: Sequence[tuple[float, float]], here: Taken, waf: float) -> str:
    """The spare with this write amplification, less that of the drive, in points.

    Between two known spares the logarithm is on a line.
    """
    own = float(here.run.capacity.spare_factor)
    if waf >= known[0][1]:
        return f"below {100 * (known[0][0] - own):+.1f}" if waf > known[0][1] else "0"
    for (low, high_waf), (high, low_waf) in pairwise(known):
        if low_waf <= waf <= high_waf and low_waf < high_waf:
            part = math.log(high_waf / waf) / math.log(high_waf / low_waf)
            return f"{100 * (low + part * (high - low) - own):+.1f}"
    return f"over {100 * (known[-1][0] - own):+.1f}"


def _costs(evidence: Evidence) -> Iterator[Sheet]:
    """The open superblocks, memory and decisions of each scheme."""
    spares = [*dict.fromkeys(spare for _, spare in _settings(evidence))]
    rows, examples = [], []
    for scheme in _schemes(evidence):
        runs = evidence.of(_of(scheme))
        of = {spare: next((t.run for t in runs if t.names["spare"] == spare), None)
              for spare in spares}  # fmt: skip
        one = next(run for run in of.values() if run is not None)
        streams = _open(one)
        shares = (f"{100 * streams / (_superblocks(run) - SUPERBLOCKS):.1f} %" if run else ""
                  for run in of.values())  # fmt: skip
        asked = [_asked(t.run) for t in runs]
        rows.append([scheme, str(streams), *shares, f"{sum(asked) / len(asked):.1f}"])
        table = one.policies.separation.dram_bytes / one.capacity.logical_bytes * EXAMPLE
        buffer = streams * EXAMPLE_DIES * EXAMPLE_PLANES * EXAMPLE_PAGE
        words = "no drive can have it" if scheme in KNOWING else _bytes(table)
        examples.append([scheme, _bytes(buffer), words])
    heads = [f"of spare {spare}" for spare in spares]
    yield Sheet("Cost: open superblocks and decisions",
                ["scheme", "open", *heads, "decisions a host page"], rows, _COSTS)  # fmt: skip
    yield Sheet("Cost: memory, for a drive of 7.68 TB",
                ["scheme", "buffers of open superblocks", "table"], examples, _MEMORY)  # fmt: skip


def _superblocks(run: Result) -> int:
    return int(run.provenance.config.geometry["blocks-per-plane"])


def _open(run: Result) -> int:
    """Open superblocks of a scheme; a scheme that is never asked has two."""
    return int(run.data["policies"]["separation"]["counters"].get("streams", 2))


def _asked(run: Result) -> float:
    """Decisions for each page of the host: one for each page that is written or moves."""
    counters = run.data["policies"]["separation"]["counters"]
    return float(run.waf_pages) if counters.get("streams", 1) > 2 else 0.0


def _bytes(count: float) -> str:
    """A size in words.

    >>> _bytes(0), _bytes(3 * 2**20), _bytes(7.5e9)
    ('0', '3.0 MiB', '7.0 GiB')
    """
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B" if count else "0"


def _traces(evidence: Evidence, study: Study) -> Sheet:
    """Every trace: run, or left out and why."""
    found = workloads.traces(study.folders)
    rows = [[name, f"{workloads.span_of(each) * PAGE / 2**20:.0f} MiB", "run"]
            for name, each in found.writes.items()]  # fmt: skip
    rows += [[name, "", reason] for name, reason in found.left_out.items()]
    if not rows:
        rows = [["none", "", "no trace is in a folder of --traces or FLOATGATE_TRACES"]]
    return Sheet("Traces", ["trace", "span", "state"], rows)


def _says(evidence: Evidence) -> str:
    """The main finding."""
    found = []
    for workload, spare in _settings(evidence):
        base = _waf(evidence, workload, spare, BASE)
        for scheme in _schemes(evidence):
            waf = _waf(evidence, workload, spare, scheme)
            if spare == USUAL and scheme not in KNOWING and waf and base:
                found.append((workload, scheme, waf / base))
    blind = [each for each in found if not _is_hints(each[1])]
    known = [each for each in found if _is_hints(each[1])]
    parts = []
    for words, of in (("without hints", blind), ("with hints", known)):
        if of:
            workload, scheme, ratio = min(of, key=lambda each: each[2])
            parts.append(f"{words} by {percent(ratio - 1)} ({scheme}, {workload})")
    return (
        f"At {USUAL} spare separation changes write amplification {' and '.join(parts)} at best, "
        f"against moves apart from writes."
    )


# ── Files ───────────────────────────────────────────────────────────────────────────────────────


def _file(place: Path, name: str, writes: workloads.Writes) -> str:
    path = place / f"{name.replace(' ', '-')}.parquet"
    workloads.write(writes, path)
    return str(path.resolve())


def _trace_case(place: Path, name: str, writes: workloads.Writes) -> dict[str, Any]:
    """A trace on a drive of its size: as many superblocks, with fewer or more pages."""
    span = workloads.span_of(writes)
    return {
        "workload": _file(place, TRACE + name, writes),
        "set": {
            "geometry.pages-per-block": span // (SUPERBLOCKS * BLOCKS),
            "ftl.logical-capacity": f"{span * PAGE}B",
        },
    }


_CLAIMS = """
Changes of write amplification, means over the spare. The sources have other drives and workloads, \
so only the direction is compared."""
_FORMULA = """
The mean-field limit has endless superblocks, and here a few dozen are spare: ours is to lie \
within 4 %."""
_GAINS = f"""
Write amplification: pages programmed by pages that the host writes. `least` is the scheme with \
the least that a drive can have, and its change against {BASE}."""
_STREAMS = f"""
Change against {BASE}. Each stream has an open superblock for writes and one for moves. A positive \
number means that the streams cost more spare than they save."""
_WORTH = f"""
How many more points of spare {BASE} needs for the write amplification of the scheme, between the \
spares that were run. `over` and `below` are beyond these."""
_COSTS = """
`open` counts open superblocks, each as a share of the spare. A decision is one question to the \
scheme. `sepbit` reads and writes a time for each, `dac` and `hints` look up the stream of a \
superblock, and the first two schemes are never asked."""
_MEMORY = f"""
An example with {EXAMPLE_DIES} dies of {EXAMPLE_PLANES} planes and pages of 16 KiB. Each open \
superblock has a buffer of one page of each plane, 8 MiB. The table is the policy's own, for \
mapping units of 4 KiB."""
