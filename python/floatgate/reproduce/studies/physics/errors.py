"""Raw bit errors by cause, for kinds of cell; and what wear does to program times and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from floatgate.physics import Cell, reprogram_wear
from floatgate.report.model import Curve, Plot

_KINDS = {
    "SLC, 100,000 cycles": (1, 100_000),
    "MLC, 10,000 cycles": (2, 10_000),
    "MLC, 3,000 cycles": (2, 3_000),
    "TLC, 3,000 cycles": (3, 3_000),
    "QLC, 1,000 cycles": (4, 1_000),
}
"""Bits and rated cycles: of the chips of Grupp, of AGCR and READY, and of 3D parts of today."""

_HOURS = [24.0 * 2 ** (step / 2) for step in range(20)]


def plots() -> Iterator[Plot]:
    """One plot for each cause."""
    shares = [0.05 * step for step in range(1, 41)]
    yield _errors(
        "Raw bit errors over wear, fresh data",
        "cycles, as a share of the rated",
        shares,
        lambda cell, page, rated, share: cell.rber(page, cycles=share * rated),
    )
    yield _errors(
        "Raw bit errors over age, at the rated cycles",
        "days",
        [hours / 24 for hours in _HOURS],
        lambda cell, page, rated, days: cell.rber(page, cycles=rated, hours=24 * days),
        log="xy",
    )
    yield _errors(
        "Raw bit errors over reads of the block, at the rated cycles",
        "reads",
        [10 ** (step / 4) for step in range(8, 26)],
        lambda cell, page, rated, reads: cell.rber(page, cycles=rated, reads=reads),
        log="xy",
    )
    times = [
        Curve(name, shares[:20], [Cell(bits, rated).program_time_factor(s * rated)
                                  for s in shares[:20]])
        for name, (bits, rated) in list(_KINDS.items())[:2]
    ]  # fmt: skip
    yield Plot("curves", "Program time over wear (Grupp Fig. 5)", "share of the time when fresh",
               "cycles, as a share of the rated", curves=times)  # fmt: skip
    rates = [0.02 * step for step in range(51)]
    wear = Curve("wear", rates, [reprogram_wear(rate) for rate in rates])
    yield Plot("curves", "Wear of a cycle with in-place reprogramming (Wu et al., Fig. 7)",
               "cycles", "share of a block's cycles that reprogram it", curves=[wear])  # fmt: skip


def _errors(
    title: str,
    axis: str,
    xs: Sequence[float],
    rber: Callable[[Cell, int, int, float], float],
    log: str = "y",
) -> Plot:
    """The worst page type of each kind. Rates below 1e-12, that no axis needs, are left out."""
    curves = []
    for name, (bits, rated) in _KINDS.items():
        ys = [rber(Cell(bits, rated), bits - 1, rated, x) for x in xs]
        seen = [(x, y) for x, y in zip(xs, ys, strict=True) if y >= 1e-12]
        if seen:
            curves.append(Curve(name, [x for x, _ in seen], [y for _, y in seen]))
    return Plot("curves", title, "raw bit error rate", axis, curves=tuple(curves), log=log)
