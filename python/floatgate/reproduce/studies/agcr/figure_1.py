"""Figure 1: what it costs to write everything alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floatgate.experiments import Published
from floatgate.report.model import Finding
from floatgate.reproduce.claims import Evidence

FIGURE_1 = """
Mean response times, waits included, against the traditional case, averaged over workloads. \
Without waits reads would change by -58.8 % (70 against 170 us) and writes by -25 % (450 against \
600 us): the first two rows say how busy the drive is, and the speed of the traces is set by \
them. The next two are points of the traditional case: as ratios they would contradict the \
paper's own bars. That LCW/HCR improves the overall latency (Fig. 1a) holds without waits only \
where more than 48 % of the requests are writes, which says something of the twelve volumes that \
the paper took."""

ENOUGH = 100
"""Requests of a kind without which a mean of theirs is not taken."""


def enough(op: str) -> Mapping[str, float]:
    """The least evidence for a mean over requests of a kind."""
    return {f"host.{op}.requests": ENOUGH}


def figure_1(evidence: Evidence, where: Mapping[str, Any]) -> Iterator[Finding]:
    """Its numbers over these runs."""
    high, low = "HCW/LCR", "LCW/HCR"

    def change(what: str, op: str, cost: str, value: float | str, kind: str) -> list[Finding]:
        against = {"cost": "MCW/MCR"}
        claim = Published(
            what, f"host.{op}.latency_ns.mean", value, {**where, "cost": cost}, against,
            source="Fig. 1", least=enough(op), kind=kind,
        )  # fmt: skip
        return list(evidence.finding(claim))

    yield from change(f"reads with {high}", "read", high, -0.54, "input")
    yield from change(f"writes with {low}", "write", low, -0.26, "input")
    for op, published in (("read", 1.14), ("write", 0.61)):
        what = f"{op}s, {high} and {low} apart"
        pairs = zip(
            *(change(what, op, cost, published, "output") for cost in (low, high)), strict=True
        )
        for first, second in pairs:
            ours = None
            if isinstance(first.ours, float) and isinstance(second.ours, float):
                ours = abs(first.ours - second.ours)
            yield first._replace(ours=ours, runs=[*first.runs, *second.runs])
    yield from change(f"overall with {low}", "all", low, "below 0", "output")
