"""Write amplification, as event simulations of the traces give it: Table 1."""

from __future__ import annotations

import math
from itertools import pairwise

from floatgate.experiments import Published
from floatgate.report.model import Sheet, Table
from floatgate.reproduce.claims import Evidence, Taken
from floatgate.reproduce.studies.ready.lives import Lives
from floatgate.reproduce.studies.ready.paper import BY_NAME, GIB, Trace
from floatgate.workloads.stand_ins import expected_error

SPARE = "ftl.spare-factor"
OWN = 0.15
"""The reserve of the drive as it comes: that of the simulator which the paper used, as recalled."""


def amplification(trace: Trace, spare: float = OWN) -> Published:
    """What is said of the write amplification of a trace."""
    error = 100 * (expected_error("waf") or 0)
    note = f"a stand-in may be off by {error:.0f} % here"
    return Published(f"{trace.name}, WAF", "waf", trace.waf, {"workload": trace.name, SPARE: spare},
                     unit="x", source="Table 1", note=note)  # fmt: skip


def waf(evidence: Evidence, trace: Trace, spare: float = OWN) -> float | None:
    """What came out at a spare factor, if anything was written."""
    return next(iter(evidence.values(amplification(trace, spare))), None)


def spare_for(evidence: Evidence, trace: Trace) -> str:
    """The spare factor at which ours is the paper's, between those that were run."""
    points = [(s, w) for s in _spares(evidence) if (w := waf(evidence, trace, s))]
    for (low, more), (high, less) in pairwise(points):
        if less <= trace.waf <= more:
            # What collection adds falls about as a power of the spare factor.
            share = math.log(more / trace.waf) / math.log(more / less)
            return f"{math.exp(math.log(low) + share * math.log(high / low)):.3f}"
    if not points:
        return ""
    return f"below {points[0][0]:g}" if trace.waf > points[0][1] else f"above {points[-1][0]:g}"


def _spares(evidence: Evidence) -> list[float]:
    return sorted({float(taken.names[SPARE]) for taken in evidence.runs})


def table_1(evidence: Evidence, lives: Lives) -> Table:
    """Demand and write amplification of the traces."""

    def hourly(trace: Trace) -> float:
        demand = lives.demands[trace.name]
        return float(demand["bytes"].sum()) / demand.height * 3600 / GIB

    rows = []
    for name, trace in BY_NAME.items():
        stand_in = name in lives.stand_ins
        note, kind = ("an input of stand-ins", "input") if stand_in else ("", "output")
        what = f"{name}, GiB written an hour"
        rows.append(lives.finding(name, what, "Table 1", trace.gib_per_hour, hourly, note=note,
                                  kind=kind, whole=True))  # fmt: skip
        (row,) = evidence.finding(amplification(trace))
        missing = lives.finding(name, row.what, row.where, row.published, lambda _: None, "x")
        rows.append(row if stand_in else row._replace(note=missing.note))
    return Table("Table 1: the traces", rows, _TABLE_1)


_TABLE_1 = """
What the host writes in an hour is an input of a stand-in, and so no test. Write amplification is \
that of the first requests of the trace on the paper's drive with 15 % spare, filled and then \
overwritten by the trace itself until its write amplification no longer changes. The paper does \
not say how much spare its drive had; the sheet below has other values."""


def by_spare_factor(evidence: Evidence) -> Sheet:
    """Write amplification at every spare factor."""

    def trace(taken: Taken) -> Trace:
        return BY_NAME[taken.names["workload"]]

    return evidence.sheet(
        "Write amplification by spare factor", {}, {"workload": "trace"},
        {"paper": lambda taken: f"{trace(taken).waf:.2f}"}
        | {f"{spare:g} spare": Published("", "waf", where={SPARE: spare}, unit="x")
           for spare in _spares(evidence)}
        | {"as in the paper at": lambda taken: spare_for(evidence, trace(taken))},
        _BY_SPARE,
    )  # fmt: skip


_BY_SPARE = """
Which spare factor gives the paper's number is interpolated. Write amplification follows from \
which pages are written again and how evenly, of which nothing was published: for a stand-in that \
is assumed."""
