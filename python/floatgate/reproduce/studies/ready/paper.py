"""READY's printed values: its traces, its configurations, its tables."""

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
    drive: str
    gib_per_hour: float
    waf: float

    @property
    def rate(self) -> float:
        """Bytes that the host writes in a second."""
        return self.gib_per_hour * GIB / 3600

    @property
    def rated_bytes(self) -> float:
        """The bytes that all flash takes by its rating: the paper's C."""
        return (32.0 if self.drive == "ready-32g" else 128.0) * GIB * RATED

    @property
    def free_bytes(self) -> float:
        """The bytes programmed in five years without a throttle."""
        return self.rate * self.waf * FIVE_YEARS


TRACES = (
    Trace("proxy", "ready-32g", 4.94, 1.93),
    Trace("proj", "ready-32g", 2.08, 1.62),
    Trace("exchange", "ready-128g", 20.61, 2.24),
    Trace("map", "ready-128g", 23.82, 1.68),
    Trace("msnfs", "ready-128g", 18.19, 2.26),
)
BY_NAME = {trace.name: trace for trace in TRACES}

READY = ("PES", "OPT")
CONFIGURATIONS = {
    "NT": "none",
    "ST": "static",
    "DT": "dynamic",
    "PES": "ready:enforcement=pessimistic",
    "OPT": "ready",
}

TABLE_2 = {
    "proj": dict(zip(CONFIGURATIONS, (
        (312.6, 144.4), (403.4, 54.2), (346.9, 93.7), (312.8, 141.0), (312.8, 141.0),
    ), strict=True)),
    "exchange": dict(zip(CONFIGURATIONS, (
        (949.3, 1918.8), (1415.3, 348.2), (1387.3, 374.4), (1077.8, 1077.2), (1077.8, 1065.6),
    ), strict=True)),
}  # fmt: skip
"""C' and W in TB."""

RATED_TB = {"proj": 93.75, "exchange": 375.0}
"""C."""

ACCURACY = {"proxy": 0.999, "proj": 0.339, "exchange": 0.805, "map": 0.509, "msnfs": 1.0}
"""Table 3: epochs whose demand was within a quarter of the prediction."""
