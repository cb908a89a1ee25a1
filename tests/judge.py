"""Judges the model of stand-ins: the simulator's results for a trace and for its stand-in.

A profile is fitted to each trace by its statistics alone. Trace and stand-ins (of three seeds) then
run on the same small, full and aged drive. `python tests/judge.py --write` renews the tables of
`docs/measured/stand-ins.md`, `docs/measured/stand-ins-judged.md` and
`python/floatgate/workloads/stand_in_errors.json`; `make verify` compares.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import floatgate as api

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "docs/measured"
ERRORS = ROOT / "python/floatgate/workloads/stand_in_errors.json"
SEEDS = (1, 2, 3)

TRACES = {
    "Microsoft DTRS, 8.3 h": "msps-dtrs-30000s.trace.zst",
    "CloudPhysics VM, 2 h": "cloudphysics-vm-2h.vscsi.zst",
    "Financial1, 10,000 requests": "umass-financial1-10k.ascii.zst",
    "SQLite WAL, 1.4 s": "wiscsee-sqlite-wal-ext4.txt.zst",
    "Hadoop data disk, 169 s": "hadoop-eternity10.blkparse.txt.zst",
}
QUICK = "Financial1, 10,000 requests"

# Dotted as in results and descriptions; whether the error is a difference of shares.
MEASURES = {
    "waf": False,
    "host.read.latency_ns.mean": False,
    "host.read.latency_ns.p99": False,
    "host.write.latency_ns.mean": False,
    "host.write.latency_ns.p99": False,
    "flash.erase.total": False,
    "agcr.read": False,
    "agcr.write": False,
    "footprint.pages": False,
    "footprint.overwrites": True,
    "characters.reads_on_read_only": True,
    "characters.writes_on_write_only": True,
    "identification.window_2": True,
    "epochs.1min.mean_percent": False,
    "epochs.10min.mean_percent": False,
}


@dataclass
class Judged:
    """Of one measure: the value of the trace, and the mean of its stand-ins."""

    real: float
    stand_in: float
    difference: bool

    @property
    def error(self) -> float:
        """Relative to the trace; of shares, the difference."""
        return self.stand_in - self.real if self.difference else self.stand_in / self.real - 1


def path_of(name: str) -> Path | None:
    """The file of a trace in one of the folders that FLOATGATE_TRACES names."""
    folders = os.environ.get("FLOATGATE_TRACES", "").split(os.pathsep)
    found = (Path(folder) / TRACES[name] for folder in folders if folder)
    return next((path for path in found if path.exists()), None)


def judge(path: Path) -> dict[str, Judged]:
    """Runs a trace and its stand-ins; the measures that both have."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder) / "profile.toml"
        api.fit(path).save(stand_in)
        blocks = 64
        while True:
            try:
                real = _measured(path, blocks, 1)
                made = [_measured(stand_in, blocks, seed) for seed in SEEDS]
                break
            except api.InputError as error:
                touched = re.search(r"touch (\d+) extents", str(error))
                if touched is None:
                    raise
                # 4 MiB each, of which nine tenths are exported.
                blocks = int(int(touched[1]) / 4 / 0.9) + 4
    judged = {}
    for name, difference in MEASURES.items():
        values = [m[name] for m in made if m.get(name) is not None]
        known = real.get(name) is not None and len(values) == len(made)
        if known and (difference or real[name]):
            judged[name] = Judged(real[name], mean(values), difference)
    return judged


def _measured(workload: Path, blocks: int, seed: int) -> dict[str, Any]:
    """The result of a workload on a drive of 16 dies of one plane, 4 MiB each block index."""
    settings: dict[str, object] = {
        "geometry.channels": 4,
        "geometry.chips-per-channel": 4,
        "geometry.planes-per-die": 1,
        "geometry.blocks-per-plane": blocks,
        "host.out-of-range": "compact",
        "precondition.fill": "full",
        "precondition.age": "random",
    }
    # One drive for all: only the stand-in has another seed.
    of_workload = {"workload.seed": seed} if workload.suffix == ".toml" else {}
    settings |= of_workload
    run = api.run("agcr", workload, set=settings, seed=1)
    agcr = api.run("agcr", workload, set=settings, seed=1, policy={"cost": "agcr"})
    what = api.describe(workload, set=of_workload)

    def at(keys: str) -> Any:
        value: Any = run.data
        for key in keys.split("."):
            value = value[key]
        return value

    measured = {name: at(name) for name in MEASURES if name.split(".")[0] in run.data}
    few = 100
    for op in ("read", "write"):
        if run.data["host"][op]["requests"] < few:
            measured |= {f"host.{op}.latency_ns.{m}": None for m in ("mean", "p99")}
        else:
            mean_of = [r.data["host"][op]["latency_ns"]["mean"] for r in (agcr, run)]
            measured[f"agcr.{op}"] = mean_of[0] / mean_of[1]
    touches = what.footprint
    if touches.read_touches >= few:
        measured["characters.reads_on_read_only"] = what.characters.reads_on_read_only
    if touches.write_touches >= few:
        measured["characters.writes_on_write_only"] = what.characters.writes_on_write_only
        measured["footprint.overwrites"] = touches.overwrites
    measured["footprint.pages"] = touches.pages
    measured["identification.window_2"] = what.data["identification"]["windows"][1]["accuracy"]
    for label, minutes in (("1min", 1), ("10min", 10)):
        for epochs in what.data["epochs"]:
            if epochs["length_ns"] == minutes * 60_000_000_000 and epochs["pairs"] >= 10:
                measured[f"epochs.{label}.mean_percent"] = epochs["mean_percent"]
    return measured


def errors(all_judged: dict[str, dict[str, Judged]]) -> dict[str, dict[str, float]]:
    """Of each measure over the traces: the median of the sizes of the errors, and the largest."""
    out = {}
    for name in MEASURES:
        sizes = [abs(j[name].error) for j in all_judged.values() if name in j]
        if sizes:
            out[name] = {
                "typical": round(median(sizes), 3),
                "worst": round(max(sizes), 3),
                "traces": len(sizes),
            }
    return out


def _shown(name: str, value: float) -> str:
    if "latency" in name:
        return f"{value / 1e3:,.0f} µs"
    if name == "flash.erase.total" or name == "footprint.pages":
        return f"{value:,.0f}"
    if name.startswith("epochs"):
        return f"{value:,.0f} %"
    return f"{value:.3f}"


def table(all_judged: dict[str, dict[str, Judged]]) -> Iterator[str]:
    """The lines of the table real | stand-in | error."""
    yield "| trace | measure | real | stand-in | error |"
    yield "|---|---|---|---|---|"
    for trace, judged in all_judged.items():
        for name, j in judged.items():
            error = f"{j.error:+.3f}" if j.difference else f"{100 * j.error:+.0f} %"
            cells = (trace, f"`{name}`", _shown(name, j.real), _shown(name, j.stand_in), error)
            yield f"| {' | '.join(cells)} |"


def expected(of: dict[str, dict[str, float]]) -> Iterator[str]:
    """The lines of the table of errors to expect."""
    yield "| measure | typical error | worst error | traces |"
    yield "|---|---|---|---|"
    for name, e in of.items():
        sizes = (e["typical"], e["worst"])
        typical, worst = (f"{x:.3f}" if MEASURES[name] else f"{100 * x:.0f} %" for x in sizes)
        yield f"| `{name}` | {typical} | {worst} | {e['traces']:.0f} |"


def renew(page: str, marker: str, lines: Iterator[str]) -> None:
    """Writes new lines between two marks of a page."""
    text = (MEASURED / page).read_text()
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    (MEASURED / page).write_text(before + begin + "\n".join(lines) + "\n" + end + after)


def main() -> None:
    """Judges every trace that is there."""
    all_judged = {}
    for name in TRACES:
        path = path_of(name)
        if path is None:
            sys.exit(f"{TRACES[name]} is not in a folder that FLOATGATE_TRACES names")
        print(f"judging {name}", file=sys.stderr)
        all_judged[name] = judge(path)
    print(*table(all_judged), "", *expected(errors(all_judged)), sep="\n")
    if "--write" in sys.argv:
        renew("stand-ins-judged.md", "judgement", table(all_judged))
        renew("stand-ins.md", "expected errors", expected(errors(all_judged)))
        value = {"model": "classes-and-copies", "version": "1", "measures": errors(all_judged)}
        ERRORS.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
