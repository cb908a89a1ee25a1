"""Write amplification, as event simulations of the traces give it: Table 1."""

from __future__ import annotations

import math
from itertools import pairwise

from floatgate.report.model import Sheet, Table
from floatgate.reproduce.studies.ready.lives import Lives
from floatgate.reproduce.studies.ready.paper import BY_NAME, GIB, TRACES, Trace
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.workloads.stand_ins import expected_error

OWN = 0.15
"""The reserve of the drive as it comes: that of the simulator which the paper used, as recalled."""


class Measured:
    """The runs by trace and spare factor."""

    def __init__(self, comparison: Comparison) -> None:
        self.runs: dict[str, dict[float, Result]] = {}
        self.stand_ins: set[str] = set()
        for names, run in zip(comparison.variants, comparison.runs, strict=True):
            if (name := names["workload"]) not in BY_NAME:
                continue
            # The drive exports whole pages, so that its own is off by part of one.
            spare = round(float(run.capacity.spare_factor), 3)
            self.runs.setdefault(name, {})[spare] = run
            if run.provenance.workload.stand_in:
                self.stand_ins.add(name)

    def waf(self, trace: str, spare: float = OWN) -> float | None:
        """What came out at a spare factor, if anything was written."""
        run = self.runs.get(trace, {}).get(spare)
        return None if run is None or run.waf is None else float(run.waf)

    def spare_for(self, trace: Trace) -> str:
        """The spare factor at which ours is the paper's, between those that were run."""
        points = sorted((s, w) for s in self.runs[trace.name] if (w := self.waf(trace.name, s)))
        for (low, more), (high, less) in pairwise(points):
            if less <= trace.waf <= more:
                # What collection adds falls about as a power of the spare factor.
                share = math.log(more / trace.waf) / math.log(more / less)
                return f"{math.exp(math.log(low) + share * math.log(high / low)):.3f}"
        if not points:
            return ""
        return f"below {points[0][0]:g}" if trace.waf > points[0][1] else f"above {points[-1][0]:g}"


def table_1(measured: Measured, lives: Lives) -> Table:
    """Demand and write amplification of the traces."""

    def hourly(trace: Trace) -> float:
        demand = lives.demands[trace.name]
        return float(demand["bytes"].sum()) / demand.height * 3600 / GIB

    error = 100 * (expected_error("waf") or 0)
    rows = []
    for name, trace in BY_NAME.items():
        stand_in = name in lives.stand_ins
        rows.append(
            lives.finding(
                name, f"{name}, GiB written an hour", "Table 1", trace.gib_per_hour,
                hourly, note="an input of stand-ins" if stand_in else "",
                kind="input" if stand_in else "output", whole=True,
            )
        )  # fmt: skip
        note = f"a stand-in may be off by {error:.0f} % here" if stand_in else ""
        ours = lambda trace: measured.waf(trace.name)  # noqa: E731
        rows.append(lives.finding(name, f"{name}, WAF", "Table 1", trace.waf, ours, "x", note))
    return Table("Table 1: the traces", rows, _TABLE_1)


_TABLE_1 = """
What the host writes in an hour is an input of a stand-in, and so no test. Write amplification is \
that of the first requests of the trace on the paper's drive with 15 % spare, filled and then \
overwritten by the trace itself until its write amplification no longer changes. The paper does \
not say how much spare its drive had; the sheet below has other values."""


def by_spare_factor(measured: Measured) -> Sheet:
    """Write amplification at every spare factor."""
    spares = sorted({spare for runs in measured.runs.values() for spare in runs})
    rows = []
    for trace in TRACES:
        if trace.name not in measured.runs:
            continue
        wafs = [measured.waf(trace.name, spare) for spare in spares]
        name = f"{trace.name} [stand-in]" if trace.name in measured.stand_ins else trace.name
        shown = [f"{waf:.3f}" if waf else "" for waf in wafs]
        rows.append([name, f"{trace.waf:.2f}", *shown, measured.spare_for(trace)])
    head = ("trace", "paper", *(f"{spare:g} spare" for spare in spares), "as in the paper at")
    return Sheet("Write amplification by spare factor", head, rows, _BY_SPARE)


_BY_SPARE = """
Which spare factor gives the paper's number is interpolated. Write amplification follows from \
which pages are written again and how evenly, of which nothing was published: for a stand-in that \
is assumed."""
