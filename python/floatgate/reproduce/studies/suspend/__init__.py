"""Program and erase suspension: what the abstract of Wu and He says, and what the load decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floatgate.reproduce.study import (
    Analysis,
    Evidence,
    Experiment,
    Published,
    Result,
    Study,
    column,
    numbers,
    percent,
)

READ, WRITE = "host.read.latency_ns.mean", "host.write.latency_ns.mean"
CHIPS = ("SLC", "MLC")
HEADLINE = {"geometry.channels": 4}
"""The load chosen beforehand."""

RPS, FIFO, SUSPEND = ({"scheduling": name} for name in ("RPS", "FIFO", "suspend"))


def claims(_experiment: Experiment) -> Iterator[Published]:
    """Claims of the abstract, of both kinds of chips together and of each."""
    for chips in (CHIPS, *((chip,) for chip in CHIPS)):
        where = {"drive": list(chips)} | SUSPEND | HEADLINE
        of = "" if chips == CHIPS else f", {chips[0]}"
        keys: dict[str, Any] = {"form": "change", "unit": "share", "source": "abstract"}
        for what, measure, value, other in (
            ("reads against RPS, mean", READ, -0.505, RPS),
            ("reads against FIFO, mean", READ, -0.754, FIFO),
            ("writes against RPS, mean", WRITE, "below 0.04", RPS),
        ):
            yield Published(f"{what}{of}", measure, value, where, other, **keys, fact=what)


def beside_alone(run: Result) -> float | None:
    """Mean latency of reads over what they take in the array and on the channel."""
    delay = run.host.read.delay_ns_by_cause
    alone = delay.array + delay.bus
    return float(run.host.read.latency_ns.mean / alone) if alone else None


def suspends(run: Result) -> float | None:
    """How often a program or an erase is interrupted, for each of them."""
    flash = run.flash
    if flash.suspends is None:
        return None
    done = flash.program.total + flash.erase.total
    return float((flash.suspends.program.total + flash.suspends.erase.total) / done)


def analyse(evidence: Evidence, study: Study) -> Analysis:
    """The claims, and every workload at every load."""
    table = evidence.table("Claims of the abstract", claims(study.experiment), _TEXT)
    columns = {
        "reads, RPS": column(READ, against=RPS), "reads, FIFO": column(READ, against=FIFO),
        "writes, RPS": column(WRITE, against=RPS), "times alone": column(beside_alone, "x"),
        "suspends": column(suspends, "x"),
    }  # fmt: skip
    sheets = [
        evidence.sheet("Each workload", SUSPEND | HEADLINE, ("drive", "workload"), columns, _SHEET),
        evidence.sheet("Other loads", SUSPEND, ("drive", "geometry.channels"), columns, _LOADS),
    ]
    found = [numbers([table], f"reads against {other}, mean") for other in ("RPS", "FIFO")]
    says = ""
    if all(found):
        rps, fifo = (percent(min(each.values())) for each in found)
        says = f"Reads change by {rps} against read priority and by {fifo} against FIFO."
    return Analysis([table], sheets=sheets, says=says)


_TEXT = """
Means over the workloads, each compared with itself. The load is assumed: it decides how much \
there is to win."""
_SHEET = """
Changes against the same drive and load. With suspends a read still waits for other reads, those \
of its own request among them: `times alone` is its latency over its time in the array and on the \
channel. `suspends` is how often each program or erase is interrupted, in the mean."""
_LOADS = "Means over workloads. Fewer channels are more load for each."
