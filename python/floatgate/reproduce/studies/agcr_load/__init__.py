"""AGCR's load: the speed at which Figure 1, which has no Li et al. in it, comes out nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floatgate.report.model import Finding, Sheet
from floatgate.reproduce.studies.agcr import grid
from floatgate.reproduce.study import Analysis, Evidence, Experiment, Published, Study, percent

CHANGES = {"reads with HCW/LCR": -0.54, "writes with LCW/HCR": -0.26}
"""The quantity that chooses the speed, as in the figure."""


def claims(experiment: Experiment) -> Iterator[Published]:
    """The figure at every speed."""
    for speed in Evidence(experiment, None).labels("host.speed"):
        yield from grid.figure_1_claims({"host.speed": speed})


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """The figure at the speed that is chosen, and its numbers at all of them."""
    speeds = evidence.labels("host.speed")
    tables = {speed: grid.figure_1(evidence, {"host.speed": speed}) for speed in speeds}
    off = {speed: _off(table.rows) for speed, table in tables.items()}
    best = min(off, key=lambda speed: off[speed])
    shown = [
        [
            f"{speed} x, chosen" if speed == best else f"{speed} x",
            *(percent(row.ours) if isinstance(row.ours, float) else "" for row in table.rows),
            f"{100 * off[speed]:.1f}",
        ]
        for speed, table in tables.items()
    ]
    head = ("speed", *(row.what for row in tables[best].rows), "off by, points")
    sheet = Sheet("At every speed", head, shown, "Means over the volumes, against MCW/MCR.")
    says = f"Figure 1 comes out nearest at {best} times the speed of the traces."
    # The study `agcr` counts these facts.
    rows = [row._replace(kind="check" if row.kind == "output" else row.kind)
            for row in tables[best].rows]  # fmt: skip
    figure = tables[best]._replace(title="Figure 1", rows=rows)
    return Analysis([figure], sheets=[sheet], says=says)


def _off(rows: Sequence[Finding]) -> float:
    """How far the two changes are from the figure's."""
    ours = {row.what: row.ours for row in rows}
    found = ((ours.get(what), published) for what, published in CHANGES.items())
    return sum(abs(v - said) if isinstance(v, float) else float("inf") for v, said in found)
