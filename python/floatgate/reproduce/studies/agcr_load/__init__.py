"""AGCR's load: the speed at which Figure 1, which has no Li et al. in it, comes out nearest."""

from __future__ import annotations

from collections.abc import Mapping

from floatgate.report.model import Sheet, Table
from floatgate.reproduce.claims import Evidence, percent
from floatgate.reproduce.studies.agcr.figure_1 import FIGURE_1, figure_1
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison

CHANGES = ("reads with HCW/LCR", "writes with LCW/HCR")
"""What the speed is chosen by."""


def analyse(comparison: Comparison, study: Study) -> Analysis:
    """The figure at the speed that is chosen, and its numbers at all of them."""
    evidence = Evidence(study.experiment, comparison)
    speeds = dict.fromkeys(taken.names["host.speed"] for taken in evidence.runs)
    rows = {s: list(figure_1(evidence, {"host.speed": s})) for s in speeds}
    ours = {speed: {row.what: row.ours for row in of} for speed, of in rows.items()}
    off = {speed: _off(numbers) for speed, numbers in ours.items()}
    best = min(off, key=lambda speed: off[speed])
    shown = [
        [
            f"{speed} x, chosen" if speed == best else f"{speed} x",
            *(percent(value) if isinstance(value, float) else "" for value in numbers.values()),
            f"{100 * off[speed]:.1f}",
        ]
        for speed, numbers in ours.items()
    ]
    head = ("speed", *next(iter(ours.values())), "off by, points")
    sheet = Sheet("At every speed", head, shown, "Means over the volumes, against MCW/MCR.")
    says = f"Figure 1 comes out nearest at {best} times the speed of the traces."
    return Analysis([Table("Figure 1", rows[best], FIGURE_1)], sheets=[sheet], says=says)


def _off(numbers: Mapping[str, float | str | None]) -> float:
    """How far the two changes are from the figure's."""
    off = 0.0
    for what, published in zip(CHANGES, (-0.54, -0.26), strict=True):
        value = numbers.get(what)
        off += abs(value - published) if isinstance(value, float) else float("inf")
    return off
