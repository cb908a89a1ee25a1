"""What the paper says of the order of schemes, claim by claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from floatgate.report.model import Sheet
from floatgate.reproduce.studies.read_disturb.runs import (
    ALL,
    BASELINE,
    DOMINATED,
    SCHEMES,
    TIE,
    Runs,
)


class Claim(NamedTuple):
    """One scheme against another on one workload: `ours` is the ratio of their erases.

    It holds if the ratio is at most 1, ties counting; where both are said to be the same, if it is
    at least 1 as well.
    """

    words: str
    workload: str
    ours: float
    same: bool

    @property
    def holds(self) -> bool:
        """Whether it comes out."""
        return self.ours <= 1 + TIE and (not self.same or self.ours >= 1 - TIE)


ORDER = (
    ("IPR", "HotLD", False),
    ("HotLD", "RL", False),
    ("RL", "RedFTL", False),
    ("RedFTL", BASELINE, True),
)


def claims(runs: Runs) -> Iterator[Claim]:
    """Those that the runs can answer."""
    for workload in runs.there(DOMINATED):
        for scheme, other, same in ORDER:
            equal = same or (scheme == "IPR" and workload == "ADS")
            ours = _ratio(runs, workload, scheme, other, "refresh")
            if ours is not None:
                sign = "as" if equal else "at most as"
                words = f"rrGC: {scheme} {sign} {other}"
                yield Claim(words, workload, ours, equal)
    for workload in runs.there(ALL):
        for scheme in SCHEMES[1:]:
            ours = _ratio(runs, workload, scheme, BASELINE, "other")
            if ours is not None:
                yield Claim(f"wGC: {scheme} at most as {BASELINE}", workload, ours, False)


def _ratio(runs: Runs, workload: str, scheme: str, other: str, of: str) -> float | None:
    above, below = runs.get(workload, scheme), runs.get(workload, other)
    if above is None or below is None:
        return None
    base = float(getattr(below.erases(), of))
    return float(getattr(above.erases(), of)) / base if base else None


def sheet(runs: Runs) -> Sheet:
    """A row for each claim, a column for each workload."""
    found = list(claims(runs))
    workloads = [w for w in runs.there(ALL) if any(claim.workload == w for claim in found)]
    rows = []
    for words in dict.fromkeys(claim.words for claim in found):
        of_it = {claim.workload: claim for claim in found if claim.words == words}
        cells = [_cell(of_it.get(workload)) for workload in workloads]
        rows.append([words, *cells, f"{sum(c.holds for c in of_it.values())} of {len(of_it)}"])
    return Sheet(
        "What the paper says of the order",
        ("", *(runs.shown(workload) for workload in workloads), "holds"),
        rows,
        f"The ratio of the two. Up to {100 * TIE:.0f} % above 1 is a tie; NO is where it is more, "
        "or less where both are said to be the same.",
    )


def _cell(claim: Claim | None) -> str:
    if claim is None:
        return ""
    return f"{claim.ours:.2f}" if claim.holds else f"{claim.ours:.2f} NO"


def missed(runs: Runs) -> list[str]:
    """Claims that do not come out, in words."""
    return [
        f"{claim.words} on {runs.shown(claim.workload)}: {claim.ours:.2f} times as many"
        for claim in claims(runs)
        if not claim.holds
    ]
