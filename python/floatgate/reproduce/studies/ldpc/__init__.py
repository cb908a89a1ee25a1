"""The raw bit error rate that an LDPC code of flash size corrects, by how finely cells are sensed.

Unlike the other experiments this one runs no drive: it reads codewords over the channel of a sensed
cell and counts those that do not come back. `docs/ldpc.md` says what is measured, and how.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from floatgate import engine
from floatgate.reproduce.studies.ldpc.fit import fitted, where_logarithmic
from floatgate.result.files import make_folder

TITLE = "LDPC (measured): correctable raw bit errors by sensings"
SCHEMA = "floatgate.ldpc/1"
SEED = 1
SENSINGS = (1, 3, 7)
KEPT_HOURS = 1e6

BASE: Mapping[str, Any] = {
    "z": 256, "data": 128, "parity": 16, "weight": 4, "code_seed": 1,
    "model": "boundary", "spacing": "even",
    "decoder": "lanes", "rounds": 20, "sixteenths": 12, "largest": 31, "unit": 0.25,
    "largest_read": 31, "seed": SEED,
}  # fmt: skip
"""The request that all others change: the code of rate 8/9 over a Gaussian boundary."""

# How many frames are read at each of the raw bit error rates, of which the last is the limit in the
# table that drives use. All was fixed beforehand: no count decides how long is counted.
_FRAMES = (2000, 4000, 4000, 10_000, 20_000, 50_000, 10_000)
_RATES: Mapping[int, Sequence[float]] = {
    1: (0.0094, 0.0090, 0.0086, 0.0082, 0.0078, 0.0074, 0.0040),
    3: (0.0195, 0.0188, 0.0182, 0.0176, 0.0170, 0.0164, 0.0070),
    7: (0.0220, 0.0213, 0.0206, 0.0199, 0.0193, 0.0190, 0.0100),
}
GRID: Mapping[int, Sequence[tuple[float, int]]] = {
    sensings: tuple(zip(rates, _FRAMES, strict=True)) for sensings, rates in _RATES.items()
}
QUICK = 20
"""The quick form reads this many times fewer frames, and has no variants."""

PROMISE = 1e-15 * 32_768
"""A codeword fails so rarely where one bit in 1e15 read is lost (JESD218, as `codeword` has it)."""


class Variant(NamedTuple):
    """One change to the base, for these ways of sensing: `changes`."""

    name: str
    what: str
    changes: Mapping[str, Any]
    sensings: Sequence[int] = SENSINGS
    frames: int = 300


VARIANTS = (
    Variant("base", "rate 0.889, weight 4, min-sum in bytes", {}),
    Variant("rate-0.914", "12 rows of circulants in the place of 16", {"parity": 12}),
    Variant("rate-0.928", "10 rows of circulants", {"parity": 10}),
    Variant("weight-3", "three ones in a column of data", {"weight": 3}),
    Variant("sum-product", "the exact rule, in double precision", {"decoder": "sum-product"},
            frames=40),
    Variant("rounds-5", "5 rounds in the place of 20", {"rounds": 5}),
    Variant("free", "references each where they are best", {"spacing": "free"}, (7,)),
    Variant("design", "references and ratios as for 2e-3", {"design": 2e-3}),
    Variant("worn", "an MLC's upper page, worn until it fails", {"model": "page-worn"}),
)  # fmt: skip
STEPS = (-0.06, -0.03, 0.0, 0.03)
"""Points at which a variant is counted, in log rate from the rate at which half the frames fail."""


class Measured(NamedTuple):
    """The counts, as one value (`data`), as text, and the files that hold it."""

    data: Mapping[str, Any]
    text: str
    files: Sequence[Path]


class _Task(NamedTuple):
    """A number of frames of one request."""

    request: Mapping[str, Any]
    frames: int


# Frames that a thread counts in one go, about half a second of them.
_CHUNK = {"lanes": 500, "sum-product": 5}


def measure(
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Measured:
    """Counts all frames again.

    Args:
        quick: A twentieth of the frames, and no variants.
        out: The folder of `ldpc.json`, `ldpc.md` and, where vl-convert is installed, `ldpc.svg`.
        workers: Threads at work, by default one for each core.
        progress: Called with the frames that are done, and all of this stage.
    """
    from floatgate.reproduce.studies.ldpc import shown

    folder = Path(out) if out is not None else Path("floatgate-results") / "ldpc"
    make_folder(folder)
    with _Crew(workers, progress) as crew:
        curves = _curves(crew, QUICK if quick else 1)
        variants = [] if quick else list(_variants(crew))
    data = assembled(curves, variants, quick=quick)
    return Measured(data, shown.text(data), shown.write(data, folder))


def assembled(
    curves: Sequence[Mapping[str, Any]], variants: Sequence[Mapping[str, Any]], *, quick: bool
) -> dict[str, Any]:
    """The whole value."""
    return {
        "schema": SCHEMA, "version": engine.version(), "seed": SEED, "quick": quick,
        "base": dict(BASE), "code": _code(), "curves": list(curves), "variants": list(variants),
        "levels": _levels(curves), "kept": _kept(),
    }  # fmt: skip


def request(
    sensings: int, at: float, name: str, changes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The question to the engine; `at` is a raw bit error rate, or hours for a page."""
    return {**BASE, "sensings": sensings, "at": at, "name": name, **(changes or {})}


def facts(made: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a code and a channel that need no frame."""
    known: dict[str, Any] = json.loads(engine.ldpc_facts(json.dumps(made)))
    return known


class _Crew:
    """Threads that count frames; the engine holds no lock of the interpreter meanwhile."""

    def __init__(self, workers: int | None, progress: Callable[[int, int], object] | None) -> None:
        self._pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)
        self._progress = progress

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def count(self, tasks: Sequence[_Task]) -> list[dict[str, Any]]:
        """The outcome of each task; its parts may come in any order, as frames have numbers."""
        parts = []
        for i, task in enumerate(tasks):
            text = json.dumps(task.request)
            chunk = _CHUNK[task.request["decoder"]]
            for first in range(0, task.frames, chunk):
                size = min(chunk, task.frames - first)
                parts.append((i, self._pool.submit(engine.ldpc_frames, text, first, size)))
        sums: list[dict[str, Any]] = [{} for _ in tasks]
        total, done = sum(task.frames for task in tasks), 0
        for i, part in parts:
            counts = json.loads(part.result())
            for key, value in counts.items():
                sums[i][key] = value if key == "rber" else sums[i].get(key, 0) + value
            done += counts["frames"]
            if self._progress is not None:
                self._progress(done, total)
        return [_point(task, counts) for task, counts in zip(tasks, sums, strict=True)]


def _point(task: _Task, counts: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of a point, with what follows from them."""
    low, high = engine.ldpc_interval(counts["failed"], counts["frames"])
    bits = (task.request["data"] + task.request["parity"]) * task.request["z"]
    return {
        "at": task.request["at"],
        **counts,
        "failure_rate": counts["failed"] / counts["frames"],
        "interval": [low, high],
        "raw_error_rate": counts["raw_errors"] / (counts["frames"] * bits),
        "mean_rounds": counts["rounds"] / counts["frames"],
    }


def _curves(crew: _Crew, fewer: int) -> list[dict[str, Any]]:
    """The failure rate over the raw bit error rate, by sensings."""
    tasks = [
        _Task(request(m, rber, f"curve/{m}/{rber}"), frames // fewer)
        for m, points in GRID.items()
        for rber, frames in points
    ]
    points = iter(crew.count(tasks))
    return [summary(m, [next(points) for _ in grid]) for m, grid in GRID.items()]


def summary(sensings: int, points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A curve: its points, what the law says of them, and what no code of the rate surpasses."""
    fit, ends = fitted(points), ("rber", "low", "high")
    shares = {"1e-1": 0.1, "1e-2": 1e-2, "1e-3": 1e-3, "1e-4": 1e-4}
    return {
        "sensings": sensings,
        "points": list(points),
        "fit": fit.data(),
        "correctable": {name: dict(zip(ends, fit.where(rate), strict=True))
                        for name, rate in shares.items()},
        "extrapolated": dict(zip(ends, fit.where(PROMISE), strict=True)),
        "extrapolated_logarithmic": where_logarithmic(points, PROMISE),
        "limit": shannon(sensings, BASE["data"] / (BASE["data"] + BASE["parity"])),
        "references": facts(request(sensings, fit.where(1e-2)[0], ""))["ratios"],
    }  # fmt: skip


def shannon(sensings: int, rate: float) -> float:
    """The raw bit error rate at which the channel carries no more information than the rate."""
    low, high = 1e-4, 0.2
    # Only the channel matters here, and a small code is made sooner.
    small = {"z": 16, "data": 8, "parity": 4, "weight": 2}
    for _ in range(40):
        middle = (low + high) / 2
        known = facts(request(sensings, middle, "", small))
        low, high = (middle, high) if known["information"] > rate else (low, middle)
    return (low + high) / 2


def _variants(crew: _Crew) -> Iterator[dict[str, Any]]:
    """Effects of single changes on the rate at which a tenth of the frames fail."""
    for variant in VARIANTS:
        for m in variant.sensings:
            middle = _half(crew, variant, m)
            # Cycles go with about the square of the noise, and much less with what it causes.
            scale = 2.0 if variant.changes.get("model") else 1.0
            name = f"variant/{variant.name}/{m}"
            tasks = [
                _Task(request(m, middle * (1 + scale * step), f"{name}/{step}", variant.changes),
                      variant.frames)
                for step in STEPS
            ]  # fmt: skip
            yield varied(variant, m, crew.count(tasks))


def varied(variant: Variant, sensings: int, points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rate at which a tenth of the frames fail, by a variant's points."""
    rber, low, high = fitted(points).where(0.1)
    code = facts(request(sensings, points[0]["at"], "", variant.changes))
    return {
        "name": variant.name, "what": variant.what, "sensings": sensings,
        "rate": code["rate"], "cycles": code["cycles"], "points": list(points),
        "rber": rber, "low": low, "high": high,
    }  # fmt: skip


def _half(crew: _Crew, variant: Variant, sensings: int) -> float:
    """The point at which about half the frames of a pilot fail, by bisection.

    They are counted in nothing else: where the points lie depends on no frame of theirs.
    """
    page = bool(variant.changes.get("model"))
    low, high = (3e3, 3e6) if page else (2e-3, 4e-2)
    frames = min(variant.frames, 24)
    # The exact rule is slow; it begins where the rule in bytes does.
    changes = {**variant.changes, "decoder": "lanes"}
    while high / low > 1.02:
        middle = (low * high) ** 0.5
        name = f"pilot/{variant.name}/{sensings}/{middle}"
        (point,) = crew.count([_Task(request(sensings, middle, name, changes), frames)])
        low, high = (low, middle) if 2 * point["failed"] > frames else (middle, high)
    return float((low * high) ** 0.5)


def _code() -> dict[str, Any]:
    known = facts(request(1, 5e-3, ""))
    return {key: known[key] for key in ("bits", "data_bits", "rate", "cycles")}


def _kept() -> list[dict[str, Any]]:
    """Errors of a page that was kept far too long, with fixed and with following references."""
    made = []
    for model, m in product(("page", "page-tracked"), SENSINGS):
        known = facts(request(m, KEPT_HOURS, "", {"model": model}))
        made.append({"model": model, "sensings": m, "hours": KEPT_HOURS,
                     "rber": known["rber"], "information": known["information"]})  # fmt: skip
    return made


def _levels(curves: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """AGCR's levels under each limit: the table's, those measured, and those extrapolated."""
    limits = {
        "table": json.loads(engine.ldpc_levels([4e-3, 7e-3, 1e-2]))["table"],
        "measured": [curve["correctable"]["1e-4"]["rber"] for curve in curves],
        "extrapolated": [curve["extrapolated"]["rber"] for curve in curves],
    }
    return {
        name: {"limits": given, **json.loads(engine.ldpc_levels(given))}
        for name, given in limits.items()
    }
