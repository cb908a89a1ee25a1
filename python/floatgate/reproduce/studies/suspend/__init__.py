"""Program and erase suspension: what the abstract of Wu and He says, and what the load decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from floatgate.reproduce.studies.suspend.load import (
    AGE,
    FIFO,
    METERS,
    RATE,
    READ,
    RPS,
    SUSPEND,
    Meter,
    beside_alone,
    prepare,
)
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

__all__ = ["analyse", "claims", "prepare"]

WRITE = "host.write.latency_ns.mean"
CHIPS = ("SLC", "MLC")
TRACES = ["Financial1", "Financial2", "hm_0", "prn_0", "usr_0"]
HEADLINE = {"geometry.channels": 4, "workload": TRACES}
"""The load chosen beforehand."""

RANDOM = {"workload": "Poisson"}
"""The runs whose requests arrive at random times."""
AGES = {"none": "new", "random": "aged"}

CLAIMS: Sequence[tuple[str, str, float | str, Mapping[str, str]]] = (
    ("reads against RPS, mean", READ, -0.505, RPS),
    ("reads against FIFO, mean", READ, -0.754, FIFO),
    ("writes against RPS, mean", WRITE, "below 0.04", RPS),
)
KEYS: Mapping[str, Any] = {"form": "change", "unit": "share", "source": "abstract"}


def claims(_experiment: Experiment) -> Iterator[Published]:
    """Claims of the abstract, of both kinds of chips together and of each."""
    for chips in (CHIPS, *((chip,) for chip in CHIPS)):
        where = {"drive": list(chips)} | SUSPEND | HEADLINE
        of = "" if chips == CHIPS else f", {chips[0]}"
        for what, measure, value, other in CLAIMS:
            yield Published(f"{what}{of}", measure, value, where, other, **KEYS, fact=what)


def _at_meters(evidence: Evidence, meter: Meter) -> Iterator[Published]:
    """The claims at the load of a meter, and the reading of both meters there."""
    for chip, age in product(CHIPS, AGES):
        where = {"drive": chip, AGE: age, "workload": meter.name}
        for load in evidence.labels(RATE, where):
            at, note = f", {chip}, {AGES[age]}", f"at {int(load):,} requests a second"
            for what, measure, value, other in CLAIMS:
                fact = f"{what}, at the load where {meter.name}"
                yield Published(f"{what}{at}", measure, value, where | SUSPEND, other,
                                **KEYS, fact=fact, note=note)  # fmt: skip
            for each in METERS:
                yield each.reading._replace(
                    what=f"{each.name}{at}",
                    value=each.value,
                    where={**where, **each.reading.where},
                    source="abstract",
                    kind="input" if each == meter else "output",
                    fact=f"{each.name}, at the load where {meter.name}",
                    note=note,
                )


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
        evidence.sheet(
            "Other loads",
            SUSPEND | {"workload": TRACES},
            ("drive", "geometry.channels"),
            columns,
            _LOADS,
        ),
        evidence.sheet(
            "Arrivals at random: load and age",
            SUSPEND | RANDOM,
            ("drive", AGE, RATE),
            _meters() | columns | _WAF,
            _RANDOM,
        ),
    ]
    at_meters = [
        evidence.table(f"The load where {meter.name}", _at_meters(evidence, meter), _METER)
        for meter in METERS
    ]
    found = [numbers([table], f"reads against {other}, mean") for other in ("RPS", "FIFO")]
    says = ""
    if all(found):
        rps, fifo = (percent(min(each.values())) for each in found)
        says = f"Reads change by {rps} against read priority and by {fifo} against FIFO."
    return Analysis([table, *at_meters], sheets=sheets, says=says)


def _meters() -> dict[str, Published]:
    return {meter.name.split(" = ")[0]: meter.reading for meter in METERS}


_WAF = {"WAF": column("waf", "x")}

_TEXT = """
Means over the workloads, each compared with itself. The load is assumed: it decides how much \
there is to win."""
_SHEET = """
Changes against the same drive and load. With suspends a read still waits for other reads, those \
of its own request among them: `times alone` is its latency over its time in the array and on the \
channel. `suspends` is how often each program or erase is interrupted, in the mean."""
_LOADS = "Means over workloads. Fewer channels are more load for each."
_METER = """
Requests of one page at random times, 70 % of them reads. The load was found by bisection: it is \
the least of nine loads tried that reaches the meter. On a new drive nothing is collected. A drive \
that reaches the meter at none or at all of them has no row. The abstract says "2x on average" of \
reads that wait for programs and erases. That this means reads of RPS is our reading."""
_RANDOM = """
All points of the grid. `RPS / FIFO` and `RPS` are what the meters show: reads of RPS over those \
of FIFO, and over their own time in the array and on the channel. Beyond the load that a drive \
takes, latencies grow with the length of the run."""
