"""Wear and recovery: READY's equations with both sets of constants (FAST 2012)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from floatgate.physics import Recovery
from floatgate.report.model import Curve, Finding, Plot, Sheet, Table
from floatgate.words import number

FIVE_YEARS = 5 * 365 * 24.0
RATED = 3000
SETS = {name: Recovery(name) for name in ("printed", "fitted")}

# READY's Table 2: trace and policy, then C_ssd, C'_ssd and W_work in TB, over five years.
TABLE_2 = (
    ("proj, not throttled", 93.75, 312.6, 144.4),
    ("proj, static", 93.75, 403.4, 54.2),
    ("proj, dynamic", 93.75, 346.9, 93.7),
    ("proj, READY", 93.75, 312.8, 141.0),
    ("exchange, not throttled", 375.0, 949.3, 1918.8),
    ("exchange, static", 375.0, 1415.3, 348.2),
    ("exchange, dynamic", 375.0, 1387.3, 374.4),
    ("exchange, READY pessimistic", 375.0, 1077.8, 1077.2),
    ("exchange, READY optimistic", 375.0, 1077.8, 1065.6),
)
_NEAR = 0.005


def tables() -> Iterator[Table]:
    """Fig. 1's beginning, and Table 2 with the fitted constants."""
    cycles = SETS["printed"].achievable_cycles(0.0)
    row = Finding("cycles without recovery", "READY 2", 3000.0, cycles, note="Eq. 1", kind="check",
                  by=[_by("printed")])  # fmt: skip
    yield Table("READY: cycles of a block that never rests", [row])
    rows = [
        Finding(f"C' of {name}, TB", "READY Table 2", published, _capacity(name, "fitted"),
                kind="input", by=[_by("fitted")])
        for name, _, published, _ in TABLE_2
    ]  # fmt: skip
    yield Table(
        "READY: what a drive can write with recovery",
        rows,
        "The fitted constants are two numbers fitted to these nine rows, so the rows are "
        "input. That two numbers give nine is what they say.",
    )


def _by(recovery: str) -> Mapping[str, str]:
    return {"formula": "READY, Eq. 1 to 3", "recovery": recovery}


def _off(name: str, published: float, constants: str) -> float:
    return _capacity(name, constants) / published - 1


def says() -> str:
    """How far both sets of constants are from Table 2."""
    fitted, printed = (
        [abs(_off(name, published, each)) for name, _, published, _ in TABLE_2]
        for each in ("fitted", "printed")
    )
    return (
        f"The fitted constants give READY's Table 2 within {100 * max(fitted):.1f} %, the printed "
        f"ones {100 * min(printed):.0f} to {100 * max(printed):.0f} % too little"
    )


def missed() -> Iterator[str]:
    """Rows of Table 2 that the fitted constants do not give within half a per cent."""
    for name, _, published, _ in TABLE_2:
        if abs(_off(name, published, "fitted")) > _NEAR:
            ours = _capacity(name, "fitted")
            yield f"C' of {name}: {ours:.1f} TB, published {published:.1f}"


def sheets() -> Iterator[Sheet]:
    """The two sets of constants side by side."""
    yield Sheet(
        "READY: what the printed constants would say",
        ("row of Table 2", "hours between cycles", "published C', TB", "fitted", "printed"),
        [
            [
                name,
                f"{_idle_hours(total, written):.2f}",
                number(published),
                _beside(_capacity(name, "fitted"), published),
                _beside(_capacity(name, "printed"), published),
            ]
            for name, total, published, written in TABLE_2
        ],
        "The mean time between cycles is five years over the cycles used, 3000 W / C. With the "
        "constants printed below Eq. 2 a drive would bear less than half of what Table 2 says.",
    )


def plots() -> Iterator[Plot]:
    """Fig. 1 with both sets of constants."""
    hours = [0.25 * 2 ** (step / 4) for step in range(41)]
    yield Plot(
        "curves",
        "READY Fig. 1: cycles that a block takes, over the rest between them",
        "cycles",
        "hours between cycles",
        curves=tuple(
            Curve(name, hours, [constants.achievable_cycles(t) for t in hours])
            for name, constants in SETS.items()
        ),
        log="xy",
    )


def _idle_hours(total: float, written: float) -> float:
    return FIVE_YEARS / (RATED * written / total)


def _capacity(name: str, constants: str) -> float:
    _, total, _, written = next(row for row in TABLE_2 if row[0] == name)
    cycles = SETS[constants].achievable_cycles(_idle_hours(total, written))
    return total * cycles / RATED


def _beside(ours: float, published: float) -> str:
    return f"{ours:.1f} ({100 * (ours / published - 1):+.1f} %)"
