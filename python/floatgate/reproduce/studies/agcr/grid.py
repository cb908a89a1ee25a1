"""Open points of the paper, by the names of runs: schemes, speeds, levels; and Figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from floatgate.reproduce.study import Evidence, Finding, Published, Result, Table

SCOPES = (("requests", "1"), ("device", "1"), ("device", "2"), ("device", "4"), ("channel", "1"),
          ("die", "1"))  # fmt: skip
"""The place where Li et al. look for waiting operations, and how many count."""
OPS = ("read", "write", "all")

DRIVE, LARGER = "agcr", "agcr-128g"
"""The drive by the letter of the paper, and as its simulator may have read that."""

LOAD = "160"
"""How many times as fast as they were recorded Fig. 1 has the traces: see the study `agcr-load`."""

AT_LOAD = {"drive": DRIVE, "host.speed": LOAD}
"""The runs of traces that claims are about: others have no speed."""


def conflict(scope: str, queue_min: str, initial: str) -> str:
    """Li et al. who look there, on data of a level."""
    return f"conflict {scope} {queue_min}" + " on high" * (initial == "high")


class Reading(NamedTuple):
    """A reading of what waits for Li et al., and its runs by the level of the data there."""

    words: str
    conflicts: dict[str, str]


READINGS = tuple(
    Reading(words, {level: conflict(scope, "1", level) for level in ("high", "medium")})
    for words, scope in (("waiting", "device"), ("in service", "requests"))
)
LI = READINGS[0].conflicts["high"]


def equal_data(level: str) -> str:
    """AGCR on data of this level."""
    return f"AGCR on {level}" if level == "medium" else "AGCR"


# ── Figure 1: what it costs to write everything alike ───────────────────────────────────────────

TRADITIONAL = "MCW/MCR"
ENOUGH = 100
"""Requests of a kind without which a mean of theirs is not taken."""


def latency(op: str, where: Mapping[str, Any], against: str, **more: Any) -> Published:
    """A claim on the mean latency of one scheme against that of another one."""
    return Published(
        more.pop("what", ""), f"host.{op}.latency_ns.mean", more.pop("value", None), where,
        {"cost": against}, least={f"host.{op}.requests": ENOUGH}, **more,
    )  # fmt: skip


def share_at(run: Result, verb: str, level: str) -> float | None:
    """Of all operations of a kind, those at this level."""
    counts = run.flash.by_level[verb]
    total = sum(counts[name] for name in ("high", "medium", "low"))
    return counts[level] / total if total else None


def figure_1_claims(where: Mapping[str, Any]) -> Iterator[Published]:
    """The statements of the figure; if two schemes are apart, one claim for each of them."""
    high, low = "HCW/LCR", "LCW/HCR"
    for what, op, schemes, value, kind in (
        (f"reads with {high}", "read", [high], -0.54, "input"),
        (f"writes with {low}", "write", [low], -0.26, "input"),
        (f"reads, {high} and {low} apart", "read", [low, high], 1.14, "output"),
        (f"writes, {high} and {low} apart", "write", [low, high], 0.61, "output"),
        (f"overall with {low}", "all", [low], "below 0", "output"),
        (f"reads with {low}, the least", "read", [low], "above 0", "output"),
    ):
        for cost in schemes:
            over = "least" if what.endswith("least") else "mean"
            yield latency(op, {**where, "cost": cost}, TRADITIONAL, what=what, value=value,
                          source="Fig. 1", kind=kind, over=over, unit="share")  # fmt: skip


def figure_1(evidence: Evidence, where: Mapping[str, Any]) -> Table:
    """Its numbers over these runs."""
    rows: list[Finding] = []
    for _, same in groupby(figure_1_claims(where), lambda claim: claim.what):
        first, *second = ([*evidence.finding(claim)] for claim in same)
        rows += [_apart(a, b) for a, b in zip(first, *second, strict=True)] if second else first
    return Table("Figure 1: one cost for everything", rows, _FIGURE_1)


def _apart(first: Finding, second: Finding) -> Finding:
    ours = None
    if isinstance(first.ours, float) and isinstance(second.ours, float):
        ours = abs(first.ours - second.ours)
    return first._replace(ours=ours, runs=[*first.runs, *second.runs])


_FIGURE_1 = """
Mean response times, waits included, against the traditional case, averaged over workloads. Fig. \
1b calls LCW/HCR the worst for reads: the last row has the volume on which it loses least. Without \
waits reads would change by -58.8 % (70 against 170 us) and writes by -25 % (450 against 600 us). \
The first two rows show how busy the drive is, and the speed of the traces is set by them. The \
next two are points of the traditional case: as ratios they would contradict the paper's own bars. \
Without waits LCW/HCR improves the overall latency (Fig. 1a) only if more than 48 % of the \
requests are writes. That limits which twelve volumes the paper can have taken."""
