"""The grid of what the paper leaves open: schemes, speeds and levels by the names of their runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

SCOPES = (
    ("requests", "1"),
    ("device", "1"),
    ("device", "2"),
    ("device", "4"),
    ("channel", "1"),
    ("die", "1"),
)
"""Where Li et al. look, and how many count."""
OPS = ("read", "write", "all")

DRIVE, LARGER = "agcr", "agcr-128g"
"""The drive by the letter of the paper, and as its simulator may have read that."""

LOAD = "160"
"""How many times as fast as they were recorded Fig. 1 has the traces: see the study `agcr-load`."""

AT_LOAD = {"drive": DRIVE, "host.speed": LOAD}
"""The runs of traces that claims are about: others have no speed."""


class Setting(NamedTuple):
    """A cell of the grid: where Li et al. look, how many count, what the data was written at."""

    scope: str
    queue_min: str
    initial: str
    speed: str

    @property
    def conflict(self) -> str:
        """Li et al. in this cell."""
        name = f"conflict {self.scope} {self.queue_min}"
        return f"{name} on high" if self.initial == "high" else name

    @property
    def agcr(self) -> str:
        """AGCR in this cell."""
        return equal_data("medium" if self.initial == "medium" else "high")


class Reading(NamedTuple):
    """A reading of what waits for Li et al., and its runs by the level of the data there."""

    words: str
    conflicts: dict[str, str]


READINGS = (
    Reading("waiting", {"high": "conflict device 1 on high", "medium": "conflict device 1"}),
    Reading("in service", {"high": "conflict requests 1 on high", "medium": "conflict requests 1"}),
)
LI = READINGS[0].conflicts["high"]


def equal_data(level: str) -> str:
    """AGCR on data of this level."""
    return "AGCR" if level == "high" else f"AGCR on {level}"


def settings(speeds: Iterable[str]) -> list[Setting]:
    """All cells of the grid."""
    return [
        Setting(scope, queue_min, initial, speed)
        for speed in speeds
        for initial in ("own", "high", "medium")
        for scope, queue_min in SCOPES
    ]
