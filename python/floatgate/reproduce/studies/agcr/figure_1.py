"""Figure 1: what it costs to write everything alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from floatgate.experiments import Published
from floatgate.report.model import Finding, Table
from floatgate.reproduce.claims import Evidence

TRADITIONAL = "MCW/MCR"
ENOUGH = 100
"""Requests of a kind without which a mean of theirs is not taken."""


def latency(op: str, where: Mapping[str, Any], against: str, **more: Any) -> Published:
    """A claim on the mean latency of one scheme against that of another one."""
    return Published(
        more.pop("what", ""), f"host.{op}.latency_ns.mean", more.pop("value", None), where,
        {"cost": against}, least={f"host.{op}.requests": ENOUGH}, **more,
    )  # fmt: skip


def claims(where: Mapping[str, Any]) -> Iterator[Published]:
    """What the figure says; where two schemes lie apart, one claim for each of them."""
    high, low = "HCW/LCR", "LCW/HCR"
    for what, op, schemes, value, kind in (
        (f"reads with {high}", "read", [high], -0.54, "input"),
        (f"writes with {low}", "write", [low], -0.26, "input"),
        (f"reads, {high} and {low} apart", "read", [low, high], 1.14, "output"),
        (f"writes, {high} and {low} apart", "write", [low, high], 0.61, "output"),
        (f"overall with {low}", "all", [low], "below 0", "output"),
    ):
        for cost in schemes:
            yield latency(op, {**where, "cost": cost}, TRADITIONAL, what=what, value=value,
                          source="Fig. 1", kind=kind)  # fmt: skip


def figure_1(evidence: Evidence, where: Mapping[str, Any]) -> Table:
    """Its numbers over these runs."""
    rows: list[Finding] = []
    for _, same in groupby(claims(where), lambda claim: claim.what):
        first, *second = ([*evidence.finding(claim)] for claim in same)
        rows += [_apart(a, b) for a, b in zip(first, *second, strict=True)] if second else first
    return Table("Figure 1: one cost for everything", rows, _FIGURE_1)


def _apart(first: Finding, second: Finding) -> Finding:
    ours = None
    if isinstance(first.ours, float) and isinstance(second.ours, float):
        ours = abs(first.ours - second.ours)
    return first._replace(ours=ours, runs=[*first.runs, *second.runs])


_FIGURE_1 = """
Mean response times, waits included, against the traditional case, averaged over workloads. \
Without waits reads would change by -58.8 % (70 against 170 us) and writes by -25 % (450 against \
600 us): the first two rows say how busy the drive is, and the speed of the traces is set by \
them. The next two are points of the traditional case: as ratios they would contradict the \
paper's own bars. That LCW/HCR improves the overall latency (Fig. 1a) holds without waits only \
where more than 48 % of the requests are writes, which says something of the twelve volumes that \
the paper took."""
