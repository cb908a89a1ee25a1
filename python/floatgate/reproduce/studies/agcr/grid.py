"""The grid of what the paper leaves open: schemes, speeds and levels by the names of their runs."""

from __future__ import annotations

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
