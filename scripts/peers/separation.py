"""Runs equal rules in floatgate and in simulators of separation, and compares their results.

You fetch and build the other simulators yourself; they are not part of the project:

    make bench-separation SSDIQ=~/ssdiq/build/sim/sim SEPBIT=~/sepbit/trace_replay

`SSDIQ` is the program of SSD-iq's `sim`, `SEPBIT` the folder in which `mvn package` built SepBIT's
simulator. floatgate gets their rules: one plane, the same list of writes, and the same trigger,
victim and capacity. Equal rules give equal numbers. That is not evidence about the schemes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import polars as pl
from numpy.typing import NDArray

import floatgate
from floatgate.policy import Plane, Random, Victim
from peers import plain

Pages = NDArray[np.int64]

PAGE = 4096
LIMIT = 0.01
"""Write amplification may differ by this share, beyond what the choices of `plain` explain."""

ONE_PLANE: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.planes-per-die": 1,
    "geometry.page-size": f"{PAGE}B",
}
SEGMENTS = 200
"""Segments of the pages that a workload touches."""

GARBAGE = 0.15
SCHEMES = (
    ("NoSep", 1, "shared"),
    ("SepGC", 2, "sepgc"),
    ("DAC", 6, "dac:regions=6"),
    ("SepBIT", 6, "sepbit"),
)
VICTIMS = (("Greedy", "greedy"), ("CostBenefit", "cost-benefit:age=sqrt-time"))


class FailedError(Exception):
    """A simulator that did not come to its end, in words."""


def said(command: Sequence[str], folder: Path, limit: float) -> str:
    """The standard output of a command."""
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise FailedError(f"{command[0]} took more than {limit:.0f} s") from None
    if run.returncode != 0:
        raise FailedError(f"{command[0]} ended with {run.returncode}: {run.stderr.strip()[-300:]}")
    return run.stdout


# ── SepBIT's simulator ──────────────────────────────────────────────────────────────────────────


def made_up(pages: int, passes: int) -> Iterator[tuple[str, Pages]]:
    """Lists of page writes: every page once in order, and then at random."""
    draw = np.random.default_rng(1)
    places, count = draw.permutation(pages), pages * passes
    for theta in (0.8, 1.0, 1.2):
        weights = np.arange(1, pages + 1, dtype=float) ** -theta
        ranks = np.searchsorted(np.cumsum(weights) / weights.sum(), draw.random(count))
        yield f"zipf {theta}", np.concatenate([np.arange(pages), places[ranks]])
    hot = pages // 10
    is_hot = draw.random(count) < 0.9
    chosen = np.where(is_hot, draw.integers(0, hot, count), draw.integers(hot, pages, count))
    yield "10 % of the data, 90 % of the writes", np.concatenate([np.arange(pages), chosen])


def recorded(path: Path, least: int) -> Pages:
    """The page writes of a trace as one list, repeated until there are enough for each page."""
    with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
        out = Path(scratch) / "trace.parquet"
        floatgate.convert(path, out)
        writes = pl.read_parquet(out).filter(pl.col("op").cast(pl.String).str.starts_with("write"))
    first = (writes["offset"] // PAGE).to_numpy().astype(np.int64)
    end = ((writes["offset"] + writes["size"] - 1) // PAGE).to_numpy().astype(np.int64)
    pages = np.concatenate([np.arange(a, b + 1) for a, b in zip(first, end, strict=True)])
    _, pages = np.unique(pages, return_inverse=True)
    passes = -(-least * (int(pages.max()) + 1) // len(pages))
    return np.tile(pages.astype(np.int64), max(1, passes))


def recorded_lists(folders: Sequence[Path]) -> Iterator[tuple[str, Pages]]:
    """The writes of the two largest traces of some folders."""
    files = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    found = 0
    for path in sorted(files, key=lambda path: (-path.stat().st_size, path)):
        try:
            yield path.name.partition(".")[0], recorded(path, 5)
        except floatgate.InputError as error:
            print(f"{path.name}: left out: {error}", file=sys.stderr)
            continue
        found += 1
        if found == 2:
            return


class SepBIT:
    """SepBIT's simulator, in the folder in which Maven built it."""

    def __init__(self, folder: Path, scratch: Path, limit: float) -> None:
        self._limit = limit
        path = scratch / "classpath"
        command = ["mvn", "-q", "-B", "dependency:build-classpath", f"-Dmdep.outputFile={path}"]
        said(command, folder, 600)
        self._path = f"{folder / 'target' / 'classes'}:{path.read_text().strip()}"

    def waf(self, scheme: str, classes: int, victim: str, pages: Pages, slots: int) -> float:
        """Its write amplification for a list of page writes."""
        with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
            folder, count = Path(scratch), int(pages.max()) + 1
            for name in ("segments", "indexmap", "ondiskfifo"):
                (folder / name).mkdir()
            lines = (f"v,W,{page * PAGE},{PAGE},{at}\n" for at, page in enumerate(pages, 1))
            (folder / "v.csv").write_text("".join(lines))
            (folder / "list").write_text(f"{folder / 'v.csv'}\n")
            (folder / "sizes").write_text(f"v {count} {count * PAGE}\n")
            options = {
                "path": folder / "list", "propertyPath": folder / "sizes",
                "outputPrefix": f"{folder}/", "indexMapType": "PureInMem", "indexMapCache": "Null",
                "selectionAlgorithm": victim, "setSeparateMethod": scheme,
                "setNumOpenSegments": classes, "setSegmentSize": slots * PAGE,
                "setSystemGarbageProportionThreshold": GARBAGE, "printGCInfo": 0,
            }  # fmt: skip
            words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
            command = ["java", "-cp", self._path, "gcsimulator.Simulator", *words]
            found = re.search(r"\*\* WA \*\* +: ([0-9.]+)", said(command, folder, self._limit))
        if found is None:
            raise FailedError("SepBIT's simulator printed no write amplification")
        return float(found[1])


def by_garbage(separation: str, victim: str | Victim, pages: Pages, slots: int) -> float:
    """The write amplification of floatgate where garbage is the trigger and space does not end.

    Writes are far apart, so collection is done before the next one comes.
    """
    count = int(pages.max()) + 1
    with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
        path = Path(scratch) / "pages.parquet"
        times = np.arange(len(pages), dtype=np.uint64) * 1_000_000_000
        pl.DataFrame({"time_ns": times, "offset": pages * PAGE}).with_columns(
            op=pl.lit("write"), size=pl.lit(PAGE)
        ).write_parquet(path)
        settings = ONE_PLANE | {
            "geometry.pages-per-block": slots,
            "geometry.blocks-per-plane": 3 * -(-count // slots) + 32,
            "ftl.logical-capacity": f"{count * PAGE}B",
            "ftl.spare-factor": None,
            "ftl.gc.trigger": f"{{ garbage = {GARBAGE} }}",
            "precondition.fill": "none",
            "host.mode": "timestamps",
        }
        policy = {"separation": separation, "victim": victim}
        return float(_run(settings, path, policy)["waf_pages"])


class Oldest(Victim):
    """Greedy or cost-benefit victims as in the plain loop; among equals, the first completed."""

    def __init__(self, by_age: bool) -> None:
        self.by_age = by_age

    def choose(self, plane: Plane, demand: str, random: Random) -> int:
        """The number of the victim."""
        worth = plane.gain.astype(float)
        if self.by_age:
            with np.errstate(divide="ignore"):
                worth = worth / plane.valid * np.sqrt(plane.age + 1)
        return int(plane.blocks[np.lexsort((plane.age, worth))[-1]])


def _run(settings: dict[str, Any], workload: str | Path, policy: dict[str, Any]) -> Any:
    keep = {key: value for key, value in settings.items() if value is not None}
    return floatgate.run("agcr", workload, set=keep, policy=policy, seed=1)


# ── SSD-iq's simulator ──────────────────────────────────────────────────────────────────────────

BLOCKS, SLOTS, FILL = 2048, 64, 0.875
PASSES = 12
PATTERNS: tuple[tuple[str, list[str], str, dict[str, Any]], ...] = (
    ("uniform", ["--pattern", "uniform"], "random-write", {}),
    (
        "10 % of the data, 90 % of the writes",
        ["--pattern", "zones", "--zones", "s0.1 f0.9 uniform s0.9 f0.1 uniform"],
        "hot-cold",
        {"workload.hot-data": 0.1, "workload.hot-writes": 0.9},
    ),
    *(
        (f"zipf {t}", ["--pattern", "zipf", "--zipf", str(t)], "zipf", {"workload.theta": t})
        for t in (0.8, 1.0, 1.2)
    ),
)


def ssdiq_waf(program: Path, pattern: list[str], limit: float) -> float:
    """The mean write amplification of SSD-iq's greedy collector after it has filled its drive."""
    with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
        size = [f"--capacity={BLOCKS * SLOTS * 4}K", f"--erase={SLOTS * 4}K", "--page=4K"]
        more = [f"--ssdfill={FILL}", "--gc=greedy", f"--writes={PASSES}", "--print-every=1"]
        lines = said([str(program), *size, *more, *pattern], Path(scratch), limit).splitlines()
    found = [float(line.rsplit(",", 1)[1]) for line in lines if line.startswith("bench,")]
    if not found:
        raise FailedError("SSD-iq's simulator printed no write amplification")
    return found[-1]


def shared_waf(workload: str, more: dict[str, Any]) -> float:
    """The same of floatgate.

    Two blocks more: it chooses a victim while one block is free and the next one is open and empty.
    The other simulator chooses when all are full.
    """
    pages = int(BLOCKS * SLOTS * FILL)
    settings = ONE_PLANE | more | {
        "geometry.pages-per-block": SLOTS,
        "geometry.blocks-per-plane": BLOCKS + 2,
        "ftl.logical-capacity": f"{pages * PAGE}B",
        "ftl.gc.start": 2,
        "ftl.gc.stop": 2,
        "precondition.fill": "full",
        "precondition.age": "workload",
        "workload.requests": PASSES * pages,
        "workload.size": f"{PAGE}B",
    }  # fmt: skip
    return float(_run(settings, workload, {"separation": "shared"})["waf_pages"])


# ── The table ───────────────────────────────────────────────────────────────────────────────────


EQUAL = 0.001
"""With every choice equal, the loop and floatgate may differ by this share."""


def compared(
    row: str,
    theirs: float,
    ours: float,
    explain: Callable[[], tuple[Sequence[float], Sequence[float]]] = lambda: ((), ()),
) -> bool:
    """Prints a row; whether both agree, or differ by no more than their free choices.

    `explain` gives the write amplification of plain loops under each of these choices, and that of
    the loop and of floatgate with every choice equal. A difference is explained if the loops reach
    the other simulator's number, and if the loop and floatgate agree with equal choices.
    """
    differ = ours / theirs - 1
    line, agree = f"| {row} | {theirs:.3f} | {ours:.3f} | {differ:+.2%} |", abs(differ) <= LIMIT
    if agree:
        line += "  |  |"
    else:
        loops, equal = explain()
        if loops:
            least, most = min(loops), max(loops)
            same = max(equal) <= min(equal) * (1 + EQUAL)
            agree = same and least * (1 - LIMIT) <= theirs <= most * (1 + LIMIT)
            line += f" {least:.3f} to {most:.3f} | {' and '.join(f'{waf:.5f}' for waf in equal)} |"
        else:
            line += "  |  |"
    print(line, flush=True)
    return agree


STARTS = 9
"""Places in a repeated recording at which a loop begins."""


def loops(
    pages: Pages, slots: int, scheme: str, separation: str, victim: str, *, repeated: bool
) -> tuple[Sequence[float], Sequence[float]]:
    """The write amplification of plain loops, and of the loop and floatgate with equal choices.

    One other choice changes all that follows in a repeated recording, so the loops also begin at
    other places in it.
    """
    found = plain.spread(pages.tolist(), slots, scheme, victim, GARBAGE)
    by_age = victim == "CostBenefit"
    age = "age in segments" if by_age else ""
    equal = found[f"{age}, oldest, before the write".removeprefix(", ")]
    every = [*found.values()]
    for start in range(1, STARTS if repeated else 1):
        rolled = np.roll(pages, -start * len(pages) // STARTS)
        worth = plain.VICTIMS[victim][age]
        count = int(pages.max()) + 1
        store = plain.Store(count, slots, scheme, GARBAGE, worth, "oldest", plain.LOOKS[1])
        for page in rolled.tolist():
            store.write(page)
        every.append(store.programs / len(rolled))
    return every, [equal, by_garbage(separation, Oldest(by_age), pages, slots)]


def main(words: Sequence[str] | None = None) -> int:
    """Runs all that was built; 1 if some numbers differ by more than the limit."""
    parser = argparse.ArgumentParser(prog="separation", description=__doc__.splitlines()[0])
    parser.add_argument("--ssdiq", default="", help="the program of SSD-iq's simulator")
    parser.add_argument("--sepbit", default="", help="the folder of SepBIT's simulator")
    parser.add_argument("--traces", default="", help="folders of real traces, with : between them")
    parser.add_argument("--pages", type=int, default=40_000, help="of the made-up lists")
    parser.add_argument("--passes", type=int, default=10, help="writes for each page")
    parser.add_argument("--limit", type=float, default=1800, help="seconds of a run")
    asked = parser.parse_args(words)
    if not (asked.ssdiq or asked.sepbit):
        parser.error("nobody to compare with: give SSDIQ=program or SEPBIT=folder, which you built")
    agree = []
    heads = ("rules, workload, scheme", "theirs", "floatgate", "difference", "plain loops")
    print(f"| {' | '.join(heads)} | equal choices |\n|{'---|' * 6}")
    try:
        if asked.ssdiq:
            program = Path(asked.ssdiq).expanduser().resolve()
            if shutil.which(program) is None:
                parser.error(f"{asked.ssdiq}: there is no such program")
            for name, pattern, workload, more in PATTERNS:
                theirs = ssdiq_waf(program, pattern, asked.limit)
                agree.append(
                    compared(f"SSD-iq, {name}, shared", theirs, shared_waf(workload, more))
                )
        if asked.sepbit:
            folder = Path(asked.sepbit).expanduser().resolve()
            if not (folder / "target" / "classes").is_dir():
                parser.error(
                    f"{asked.sepbit}: there is no `target/classes`; run `mvn package` there"
                )
            with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
                peer = SepBIT(folder, Path(scratch), asked.limit)
                folders = [Path(each) for each in asked.traces.split(":") if each]
                made, found = made_up(asked.pages, asked.passes), recorded_lists(folders)
                lists = [(*each, False) for each in made] + [(*each, True) for each in found]
                for name, pages, repeated in lists:
                    slots = max(1, (int(pages.max()) + 1) // SEGMENTS)
                    for victim, our_victim in VICTIMS:
                        for scheme, classes, separation in SCHEMES:
                            theirs = peer.waf(scheme, classes, victim, pages, slots)
                            waf = by_garbage(separation, our_victim, pages, slots)
                            row = f"SepBIT, {name}, {scheme}, {victim}"
                            explain = partial(
                                loops, pages, slots, scheme, separation, victim, repeated=repeated
                            )
                            agree.append(compared(row, theirs, waf, explain))
    except FailedError as error:
        print(f"separation: {error}", file=sys.stderr)
        return 1
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
