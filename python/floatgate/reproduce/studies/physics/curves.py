"""The equations as curves: recovery, raw bit errors by cause, and what steps and sensings cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from floatgate.physics import Cell, Recovery, program_us, read_us, reprogram_wear
from floatgate.reproduce.study import Curve, Plot, curve

MLC = Cell(2, 3000)
YEAR = 365 * 24.0
SETS = {name: Recovery(name) for name in ("printed", "fitted")}

_KINDS = {
    "SLC, 100,000 cycles": (1, 100_000),
    "MLC, 10,000 cycles": (2, 10_000),
    "MLC, 3,000 cycles": (2, 3_000),
    "TLC, 3,000 cycles": (3, 3_000),
    "QLC, 1,000 cycles": (4, 1_000),
}
"""Bits and rated cycles: of the chips of Grupp, of AGCR and READY, and of 3D parts of today."""

_RATED, _ERRORS, _SHARE = "at the rated cycles", "raw bit error rate", "as a share of the rated"


def plots() -> Iterator[Plot]:
    """All of them: READY's, AGCR's, and one for each cause of errors."""
    hours = [0.25 * 2 ** (step / 4) for step in range(41)]
    volts = [0.15 + 0.005 * i for i in range(53)]
    shares = [0.05 * step for step in range(1, 41)]
    few = shares[:20]
    rested = [curve(name, hours, of.achievable_cycles) for name, of in SETS.items()]
    title = "READY Fig. 1: cycles that a block takes, over the rest between them"
    yield _plot(title, "cycles", "hours between cycles", rested, "xy")
    old = {n: [MLC.rber(1, step_volts=v, cycles=n, hours=YEAR) for v in volts]
           for n in (1000, 2000, 3000)}  # fmt: skip
    aged = [Curve(f"{n} cycles", volts, rates) for n, rates in old.items()]
    title = "AGCR: raw bit errors over the program step, data of a year"
    yield _plot(title, _ERRORS, "program step, V", aged, "y")
    steps = [curve("program", volts, program_us)]
    yield _plot("AGCR Eq. 1: time of a program over its step", "us", "program step, V", steps)
    reads, each = [curve("read", range(1, 10), read_us)], "sensings at each boundary"
    yield _plot("AGCR Eq. 2: time of a read over its sensings", "us", each, reads)
    yield _errors(
        "Raw bit errors over wear, fresh data", f"cycles, {_SHARE}", shares,
        lambda cell, page, rated, share: cell.rber(page, cycles=share * rated), "y",
    )  # fmt: skip
    yield _errors(
        f"Raw bit errors over age, {_RATED}", "days", [2 ** (step / 2) for step in range(20)],
        lambda cell, page, rated, days: cell.rber(page, cycles=rated, hours=24 * days),
    )  # fmt: skip
    yield _errors(
        f"Raw bit errors over reads of the block, {_RATED}", "reads",
        [10 ** (step / 4) for step in range(8, 26)],
        lambda cell, page, rated, reads: cell.rber(page, cycles=rated, reads=reads),
    )  # fmt: skip
    times = [
        Curve(name, few, [Cell(bits, rated).program_time_factor(s * rated) for s in few])
        for name, (bits, rated) in list(_KINDS.items())[:2]
    ]
    title = "Program time over wear (Grupp Fig. 5)"
    yield _plot(title, "share of the time when fresh", f"cycles, {_SHARE}", times)
    wear = [curve("wear", [0.02 * step for step in range(51)], reprogram_wear)]
    title = "Wear of a cycle with in-place reprogramming (Wu et al., Fig. 7)"
    yield _plot(title, "cycles", "share of a block's cycles that reprogram it", wear)


def _errors(
    title: str, axis: str, xs: Sequence[float], rber: Callable[[Cell, int, int, float], float],
    log: str = "xy",
) -> Plot:  # fmt: skip
    """The worst page type of each kind. Rates below 1e-12, that no axis needs, are left out."""
    curves = []
    for name, (bits, rated) in _KINDS.items():
        rates = ((x, rber(Cell(bits, rated), bits - 1, rated, x)) for x in xs)
        seen = {x: rate for x, rate in rates if rate >= 1e-12}
        if seen:
            curves.append(Curve(name, [*seen], [*seen.values()]))
    return _plot(title, _ERRORS, axis, curves, log)


def _plot(title: str, measure: str, axis: str, curves: Sequence[Curve], log: str = "") -> Plot:
    return Plot("curves", title, measure, axis, curves=curves, log=log)
