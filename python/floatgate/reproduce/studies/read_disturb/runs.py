"""The runs by what they are, and what they came to once they were steady."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import polars as pl

from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.result.values import SOURCES

BASELINE = "Baseline"
SCHEMES = (BASELINE, "RedFTL", "RL", "HotLD", "IPR")

ALL = ("STG", "USR", "HM", "MDS", "ADS", "PROJ", "SRC", "WEB", "Websearch")
"""Table II, in its order."""

DOMINATED = ("MDS", "ADS", "PROJ", "SRC", "WEB", "Websearch")
"""The workloads that the paper calls dominated by read refresh."""

TIE = 0.05
"""Counts that differ by less are as good as equal."""

STEADY = 0.02
"""So much the share of refresh may move from one quarter to the next."""


class Erases(NamedTuple):
    """Blocks erased for refresh (rrGC) and for anything else (wGC)."""

    refresh: float
    other: float

    @property
    def all(self) -> float:
        """Every erase."""
        return self.refresh + self.other

    @property
    def share(self) -> float | None:
        """Of refresh; None without erases."""
        return self.refresh / self.all if self.all else None


class Run:
    """A run, of which the second half counts: by then the drive is as it stays."""

    def __init__(self, result: Result) -> None:
        self.result = result

    @cached_property
    def rows(self) -> pl.DataFrame:
        """Time, erases and reads, added up from the beginning."""
        columns = [f"flash_erase_{source}_blocks" for source in SOURCES]
        refresh = pl.col("flash_erase_refresh_blocks") + pl.col("gc_erase_blocks_for_refresh")
        return self.result.series().select(
            end=pl.col("start_ns") + pl.col("width_ns"),
            refresh=refresh.cum_sum(),
            all=pl.sum_horizontal(columns).cum_sum(),
            reads=pl.col("read_requests").cum_sum(),
            read_ns=pl.col("read_latency_sum_ns").cast(pl.Float64).cum_sum(),
        )

    def _until(self, part: float) -> dict[str, float]:
        """The sums up to this part of the run's time."""
        rows = self.rows
        end = float(rows["end"][-1]) * part
        # A row across the border counts as far as it lies ahead of it.
        after = int((rows["end"] < end).sum())
        if after >= rows.height:
            return {name: float(rows[name][-1]) for name in rows.columns}
        last = {name: float(rows[name][after]) for name in rows.columns}
        before = dict.fromkeys(last, 0.0)
        if after:
            before = {name: float(rows[name][after - 1]) for name in rows.columns}
        share = (end - before["end"]) / (last["end"] - before["end"])
        return {name: before[name] + share * (last[name] - before[name]) for name in last}

    def erases(self, begin: float = 0.5, end: float = 1.0) -> Erases:
        """Those between two parts of the run's time."""
        a, b = self._until(begin), self._until(end)
        refresh = b["refresh"] - a["refresh"]
        return Erases(refresh, b["all"] - a["all"] - refresh)

    @property
    def shares(self) -> tuple[float | None, float | None]:
        """The share of refresh in the third and in the fourth quarter."""
        return self.erases(0.5, 0.75).share, self.erases(0.75, 1.0).share

    @property
    def is_steady(self) -> bool:
        """Whether that share has settled."""
        third, fourth = self.shares
        return third is not None and fourth is not None and abs(fourth - third) <= STEADY

    @property
    def reads(self) -> float:
        """Reads of the second half."""
        return self._until(1.0)["reads"] - self._until(0.5)["reads"]

    @property
    def read_ns(self) -> float | None:
        """Mean response time of the reads of the second half."""
        a, b = self._until(0.5), self._until(1.0)
        return (b["read_ns"] - a["read_ns"]) / self.reads if self.reads else None

    def counter(self, name: str) -> float:
        """What the scheme has counted, over the whole run."""
        return float(self.result.policies["read-disturb"].counters.get(name, 0))


class Runs:
    """The runs of an experiment by workload and scheme."""

    def __init__(self, runs: Mapping[tuple[str, str], Run]) -> None:
        self._runs = runs

    @classmethod
    def of(cls, comparison: Comparison) -> Runs:
        """Those of a comparison."""
        return cls(
            {
                (names["workload"], names["read-disturb"]): Run(run)
                for names, run in zip(comparison.variants, comparison.runs, strict=True)
            }
        )

    def get(self, workload: str, scheme: str) -> Run | None:
        """The run, if it is there."""
        return self._runs.get((workload, scheme))

    def schemes(self, workload: str) -> list[str]:
        """What ran on a workload."""
        return [scheme for label, scheme in self._runs if label == workload]

    def there(self, workloads: Iterable[str] | None = None) -> list[str]:
        """Workloads that have a Baseline; of these, in their order."""
        labels = dict.fromkeys(label for label, _ in self._runs)
        return [
            label
            for label in (workloads if workloads is not None else labels)
            if self.get(label, BASELINE)
        ]

    def is_stand_in(self, workload: str) -> bool:
        """Whether the trace was not at hand."""
        run = self.get(workload, BASELINE)
        return bool(run and run.result.provenance.workload.stand_in)

    def shown(self, workload: str) -> str:
        """The name with its mark."""
        return f"{workload} [stand-in]" if self.is_stand_in(workload) else workload

    def ratio(self, workload: str, scheme: str, of: str) -> float | None:
        """Erases (`refresh`, `other`, `all`) by those of Baseline; None by nothing."""
        run, base = self.get(workload, scheme), self.get(workload, BASELINE)
        if run is None or base is None:
            return None
        below = getattr(base.erases(), of)
        return float(getattr(run.erases(), of)) / below if below else None


def percent(value: float | None) -> str:
    """A share in words; empty if there is none."""
    return "" if value is None else f"{100 * value:.0f} %"


def ratio(value: float | None) -> str:
    """A ratio in words; empty if there is none."""
    return "" if value is None else f"{value:.3f}"


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None
