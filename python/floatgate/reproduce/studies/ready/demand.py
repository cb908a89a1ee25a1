"""What the traces write over time, and how far consecutive epochs differ: Fig. 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from floatgate.report.model import Curve, Plot, Table
from floatgate.reproduce.studies.ready.lives import Lives
from floatgate.reproduce.studies.ready.paper import Trace

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

MINUTES = (1, 10, 30, 60, 120)
"""Lengths of epochs that Fig. 4 compares: from a minute to two hours."""


def differences(demand: pl.DataFrame, minutes: int) -> NDArray[np.float64]:
    """How far each epoch is from the one before, relative to that; sorted.

    After an epoch without writes any demand is infinitely far off, and none is no difference.
    """
    column = demand["bytes"].to_numpy()
    whole = len(column) // (60 * minutes) * 60 * minutes
    epochs = column[:whole].reshape(-1, 60 * minutes).sum(axis=1)
    before, after = epochs[:-1], epochs[1:]
    apart = np.abs(after - before)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(apart == 0, 0.0, apart / before)
    return np.sort(found)


def within(differences: NDArray[np.float64], share: float) -> float:
    """The share of epochs that differ by less."""
    return float(np.mean(differences < share))


def figure_4(lives: Lives) -> Table:
    """How much consecutive epochs differ."""

    def alike(trace: Trace, minutes: int = 30) -> float:
        return within(differences(lives.demands[trace.name], minutes), 0.3)

    def over_others(trace: Trace) -> float:
        return alike(trace) - max(alike(trace, minutes) for minutes in MINUTES if minutes != 30)

    rows = [
        lives.finding(
            "exchange", "exchange, epochs of 30 min that differ by less than 30 %", "Fig. 4",
            0.85, alike, "share", whole=True,
        ),
        lives.finding(
            "proxy", "proxy, such epochs at 30 min, less those at the next best length", "Fig. 4",
            "at least 0", over_others, "share", whole=True,
        ),
    ]  # fmt: skip
    return Table("Figure 4: demand of consecutive epochs", rows, _FIGURE_4)


_FIGURE_4 = """
The demand of an epoch against that of the one before. How even demand is over hours is not \
published of any of these traces, so a stand-in has bursts of an assumed kind: on real traces it \
was found too even where a trace has phases, and too uneven where it has none."""


def figure_4_plots(lives: Lives) -> Iterator[Plot]:
    """The distributions of the paper's two traces."""
    shares = np.arange(0, 1.0001, 0.02)
    for name in ("exchange", "proxy"):
        curves = [
            Curve(f"{m} min", [100 * x for x in shares], [within(each, x) for x in shares])
            for m in MINUTES
            if name in lives.demands and len(each := differences(lives.demands[name], m)) > 2
        ]
        if curves:
            yield Plot(
                "curves", f"Figure 4: {lives.marked(name)}", measure="share of the epochs",
                x="difference from the epoch before (%)", curves=curves,
            )  # fmt: skip
