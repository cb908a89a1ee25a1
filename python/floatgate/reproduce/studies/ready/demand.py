"""What the traces write over time, and how far consecutive epochs differ: Fig. 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from floatgate.report.model import Curve, Finding, Plot, Table
from floatgate.reproduce.studies.ready.paper import TRACES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

MINUTES = (1, 10, 30, 60, 120)
"""Lengths of epochs that Fig. 4 compares: from a minute to two hours."""


class Found:
    """The demands as they are in the traces."""

    def __init__(self, demands: Mapping[str, pl.DataFrame], stand_ins: set[str]) -> None:
        self._demands = demands
        self.stand_ins = stand_ins

    @property
    def traces(self) -> list[str]:
        """Their names."""
        return list(self._demands)

    def rate(self, trace: str) -> float:
        """Bytes in a second."""
        frame = self._demands[trace]
        return float(frame["bytes"].sum()) / frame.height

    def differences(self, trace: str, minutes: int) -> NDArray[np.float64]:
        """How far each epoch is from the one before, relative to that; sorted.

        After an epoch without writes any demand is infinitely far off, and none is no difference.
        """
        column = self._demands[trace]["bytes"].to_numpy()
        whole = len(column) // (60 * minutes) * 60 * minutes
        epochs = column[:whole].reshape(-1, 60 * minutes).sum(axis=1)
        before, after = epochs[:-1], epochs[1:]
        apart = np.abs(after - before)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(apart == 0, 0.0, apart / before)
        return np.sort(found)


def at_rate(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The demand, stretched in size to what Table 1 has."""
    trace = next(trace for trace in TRACES if trace.name == name)
    return frame * (trace.rate * frame.height / float(frame["bytes"].sum()))


def within(differences: NDArray[np.float64], share: float) -> float:
    """The share of epochs that differ by less."""
    return float(np.mean(differences < share)) if len(differences) else float("nan")


def figure_4(found: Found) -> Table:
    """How much consecutive epochs differ."""
    return Table("Figure 4: demand of consecutive epochs", list(_rows(found)), _FIGURE_4)


_FIGURE_4 = """
The demand of an epoch against that of the one before. How even demand is over hours is not \
published of any of these traces, so a stand-in has bursts of an assumed kind: on real traces it \
was found too even where a trace has phases, and too uneven where it has none."""


def _rows(found: Found) -> Iterator[Finding]:
    for name in found.traces:
        stand_in = name in found.stand_ins
        shares = {
            m: within(each, 0.3) for m in MINUTES if len(each := found.differences(name, m)) > 2
        }
        if not shares:
            continue
        note = "assumed of stand-ins" if stand_in else ""
        if name == "exchange" and 30 in shares:
            what = "exchange, epochs of 30 min that differ by less than 30 %"
            yield Finding(what, "Fig. 4", 0.85, shares[30], "share", stand_in, note)
        best = max(shares, key=lambda minutes: shares[minutes])
        published = "30 min" if name == "proxy" else None
        what = f"{name}, epochs most alike (most that differ by less than 30 %)"
        yield Finding(what, "Fig. 4", published, f"{best} min", "", stand_in, note)


def figure_4_plots(found: Found) -> Iterator[Plot]:
    """The distributions, of the paper's two traces or of what there is."""
    for name in found.traces:
        if name not in ("exchange", "proxy"):
            continue
        curves = []
        for minutes in MINUTES:
            each = found.differences(name, minutes)
            if len(each) > 2:
                shares = np.arange(0, 1.0001, 0.02)
                ys = [within(each, x) for x in shares]
                curves.append(Curve(f"{minutes} min", [100 * x for x in shares], ys))
        if curves:
            mark = " [stand-in]" if name in found.stand_ins else ""
            yield Plot(
                "curves", f"Figure 4: {name}{mark}", measure="share of the epochs",
                x="difference from the epoch before (%)", curves=curves,
            )  # fmt: skip
