"""What READY prints: its traces, its Table 2, and what its sections 4.3 and 4.4 say of them."""

from __future__ import annotations

from typing import NamedTuple

GIB = 2**30
TIB = 2**40
"""READY's TB: 128 GB x 3000 cycles are its 375 TB only in binary units."""

PAGE = 4096
YEAR = 365 * 86_400.0
FIVE_YEARS = 5 * YEAR
RATED = 3000
"""Cycles."""


class Trace(NamedTuple):
    """A row of READY's Table 1."""

    name: str
    workload: str
    drive: str
    gib_per_hour: float
    waf: float

    @property
    def rate(self) -> float:
        """Bytes that the host writes in a second."""
        return self.gib_per_hour * GIB / 3600

    @property
    def raw_bytes(self) -> float:
        """All flash."""
        return (32.0 if self.drive == "ready-32g" else 128.0) * GIB


TRACES = (
    Trace("proxy", "msr:prxy", "ready-32g", 4.94, 1.93),
    Trace("proj", "msr:proj", "ready-32g", 2.08, 1.62),
    Trace("exchange", "msps:exchange", "ready-128g", 20.61, 2.24),
    Trace("map", "msps:map", "ready-128g", 23.82, 1.68),
    Trace("msnfs", "msps:msnfs", "ready-128g", 18.19, 2.26),
)

CONFIGURATIONS = {
    "NT": "none",
    "ST": "static",
    "DT": "dynamic",
    "PES": "ready:enforcement=pessimistic",
    "OPT": "ready",
}


class Row(NamedTuple):
    """A row of READY's Table 2, in TB."""

    trace: str
    configuration: str
    capacity: float
    work: float


TABLE_2 = (
    Row("proj", "NT", 312.6, 144.4),
    Row("proj", "ST", 403.4, 54.2),
    Row("proj", "DT", 346.9, 93.7),
    Row("proj", "PES", 312.8, 141.0),
    Row("proj", "OPT", 312.8, 141.0),
    Row("exchange", "NT", 949.3, 1918.8),
    Row("exchange", "ST", 1415.3, 348.2),
    Row("exchange", "DT", 1387.3, 374.4),
    Row("exchange", "PES", 1077.8, 1077.2),
    Row("exchange", "OPT", 1077.8, 1065.6),
)

ACCURACY = {"proxy": 0.999, "proj": 0.339, "exchange": 0.805, "map": 0.509, "msnfs": 1.0}
"""Table 3: epochs whose demand was within a quarter of the prediction."""


def side(trace: str, configuration: str) -> str:
    """Where Fig. 10 and its text have a bar: on which side of five years."""
    if configuration == "NT":
        return "above" if trace == "proj" else "below"
    if configuration in ("ST", "DT"):
        return "far above"
    return "above" if trace == "proj" else "at five"


def work(trace: str, configuration: str) -> float | None:
    """W of Table 2, in bytes."""
    found = (r.work for r in TABLE_2 if (r.trace, r.configuration) == (trace, configuration))
    row = next(found, None)
    return None if row is None else row * TIB
