"""Runs equal rules in floatgate and in simulators of separation, and compares their results.

You fetch and build the other simulators yourself; they are not part of the project:

    make bench-separation SSDIQ=~/ssdiq/build/sim/sim SEPBIT=~/sepbit/trace_replay

`SSDIQ` is the program of SSD-iq's `sim`, `SEPBIT` the folder in which `mvn package` built SepBIT's
simulator. floatgate gets their rules: one plane, the same list of writes, and the same trigger,
victim and capacity. Equal rules give equal numbers. That is not evidence about the schemes.

Rules leave choices open. A plain loop with the choices of SepBIT's simulator has to give its number
in every row, and with the choices of floatgate that of floatgate.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import polars as pl
from numpy.typing import NDArray

import floatgate
from peers import plain

Pages = NDArray[np.int64]

PAGE = 4096
LIMIT = 0.01
"""The write amplification of SSD-iq's simulator and floatgate may differ by this share. For rows of
SepBIT's simulator beyond it, each choice is changed alone."""

PRINTED = 1e-6
"""SepBIT's simulator prints six decimals."""
EQUAL = 1e-9
"""The loop and floatgate may differ by this share."""

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


def by_garbage(separation: str, victim: str, pages: Pages, slots: int) -> float:
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
            "geometry.blocks-per-plane": plain.segments(count, slots),
            "ftl.logical-capacity": f"{count * PAGE}B",
            "ftl.spare-factor": None,
            "ftl.gc.trigger": f"{{ garbage = {GARBAGE} }}",
            "precondition.fill": "none",
            "host.mode": "timestamps",
        }
        policy = {"separation": separation, "victim": victim}
        return float(_run(settings, path, policy)["waf_pages"])


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


HEADS = (
    "rules, workload, scheme",
    "theirs",
    "loop, their choices",
    "floatgate",
    "loop, floatgate's choices",
    "difference",
)

Loops = tuple[float, float]
"""The write amplification of the loop with the choices of SepBIT's simulator, and of floatgate."""


def compared(row: str, theirs: float, ours: float, loops: Loops | None = None) -> bool:
    """Prints a row; whether all is as it has to be."""
    differ = ours / theirs - 1
    if loops is None:
        print(f"| {row} | {theirs:.3f} |  | {ours:.3f} |  | {differ:+.2%} |", flush=True)
        return abs(differ) <= LIMIT
    numbers = " | ".join(f"{waf:.6f}" for waf in (theirs, loops[0], ours, loops[1]))
    print(f"| {row} | {numbers} | {differ:+.2%} |", flush=True)
    return abs(loops[0] - theirs) <= PRINTED and abs(loops[1] / ours - 1) <= EQUAL


def looped(pages: Pages, slots: int, scheme: str, victim: str) -> Loops:
    """The write amplification of the loop with the choices of either side."""
    theirs, ours = (
        plain.waf(pages.tolist(), slots, scheme, victim, GARBAGE, choices)
        for choices in (plain.SEPBITS, plain.FLOATGATES)
    )
    return theirs, ours


def alone(pages: Pages, slots: int, scheme: str, victim: str) -> list[float]:
    """The write amplification of loops that have one choice of floatgate each."""
    ours = vars(plain.FLOATGATES)
    return [
        plain.waf(
            pages.tolist(), slots, scheme, victim, GARBAGE,
            replace(plain.SEPBITS, **{each.name: ours[each.name]}),
        )
        for each in fields(plain.Choices)
    ]  # fmt: skip


def head(*names: str) -> None:
    """Prints the head of a table."""
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)


def with_ssdiq(program: Path, limit: float) -> list[bool]:
    """The rows of SSD-iq's simulator."""
    return [
        compared(
            f"SSD-iq, {name}, shared",
            ssdiq_waf(program, pattern, limit),
            shared_waf(workload, more),
        )
        for name, pattern, workload, more in PATTERNS
    ]


def with_sepbit(peer: SepBIT, lists: Iterator[tuple[str, Pages]]) -> list[bool]:
    """The rows of SepBIT's simulator, and what each choice does alone where the rows differ."""
    agree, far = [], []
    for name, pages in lists:
        slots = max(1, (int(pages.max()) + 1) // SEGMENTS)
        for victim, our_victim in VICTIMS:
            for scheme, classes, separation in SCHEMES:
                theirs = peer.waf(scheme, classes, victim, pages, slots)
                ours = by_garbage(separation, our_victim, pages, slots)
                loops = looped(pages, slots, scheme, victim)
                agree.append(compared(f"SepBIT, {name}, {scheme}, {victim}", theirs, ours, loops))
                if abs(ours / theirs - 1) > LIMIT:
                    wafs = [ours, *alone(pages, slots, scheme, victim)]
                    # A choice that changes nothing has an empty place.
                    shares = [f"{waf / loops[0] - 1:+.2%}" * (waf != loops[0]) for waf in wafs]
                    far.append(f"| {name}, {scheme}, {victim} | {' | '.join(shares)} |")
    print()
    head("one choice as in floatgate", "all", *(each.name for each in fields(plain.Choices)))
    print("\n".join(far), flush=True)
    return agree


def main(words: Sequence[str] | None = None) -> int:
    """Runs all that was built; 1 if some numbers differ by more than the limit."""
    parser = argparse.ArgumentParser(prog="separation", description=__doc__.splitlines()[0])
    parser.add_argument("--ssdiq", default="", help="the program of SSD-iq's simulator")
    parser.add_argument("--sepbit", default="", help="the folder of SepBIT's simulator")
    parser.add_argument("--traces", default="", help="folders of real traces, with : between them")
    parser.add_argument("--pages", type=int, default=20_000, help="of the made-up lists")
    parser.add_argument("--passes", type=int, default=10, help="writes for each page")
    parser.add_argument("--limit", type=float, default=1800, help="seconds of a run")
    asked = parser.parse_args(words)
    if not (asked.ssdiq or asked.sepbit):
        parser.error("nobody to compare with: give SSDIQ=program or SEPBIT=folder, which you built")
    agree = []
    head(*HEADS)
    try:
        if asked.ssdiq:
            program = Path(asked.ssdiq).expanduser().resolve()
            if shutil.which(program) is None:
                parser.error(f"{asked.ssdiq}: there is no such program")
            agree += with_ssdiq(program, asked.limit)
        if asked.sepbit:
            folder = Path(asked.sepbit).expanduser().resolve()
            if not (folder / "target" / "classes").is_dir():
                parser.error(
                    f"{asked.sepbit}: there is no `target/classes`; run `mvn package` there"
                )
            folders = [Path(each) for each in asked.traces.split(":") if each]
            lists = chain(made_up(asked.pages, asked.passes), recorded_lists(folders))
            with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
                agree += with_sepbit(SepBIT(folder, Path(scratch), asked.limit), lists)
    except FailedError as error:
        print(f"separation: {error}", file=sys.stderr)
        return 1
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
