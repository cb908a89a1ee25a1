"""The physics of cells beside what was published: wear, recovery, errors, costs."""

from __future__ import annotations

from functools import partial

from floatgate.physics import correctable, program_us, read_us
from floatgate.reproduce.studies.physics.curves import MLC, SETS, YEAR, plots
from floatgate.reproduce.study import Analysis, Evidence, Finding, Sheet, Study, Table, Taken
from floatgate.words import number


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """Everything but the old data that the runs read follows from the equations alone."""
    off = [_mean_ns(taken) / _expected_ns(taken) - 1 for taken in evidence.runs]
    fitted, printed = (
        [abs(_capacity(*row, name) / row[2] - 1) for row in TABLE_2]
        for name in ("fitted", "printed")
    )
    says = (
        f"The fitted constants give READY's Table 2 within {100 * max(fitted):.1f} %, the printed "
        f"ones {100 * min(printed):.0f} to {100 * max(printed):.0f} % too little, and reads of old "
        f"data take what AGCR's Eq. 2 says within {100 * max(map(abs, off), default=0):.1f} %."
    )
    return Analysis([*_recovered(), _levels(), _old_data(evidence)], [*plots()],
                    sheets=[_constants(), _kept()], says=says)  # fmt: skip


# ── Wear and recovery: READY's equations with both sets of constants ────────────────────────────

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
"""READY's: trace and policy, then C_ssd, C'_ssd and W_work in TB, over five years."""


def _recovered() -> list[Table]:
    """Fig. 1's beginning, and Table 2 with the fitted constants."""
    printed, fitted = ([{"formula": "READY, Eq. 1 to 3", "recovery": name}] for name in SETS)
    cycles = SETS["printed"].achievable_cycles(0.0)
    row = Finding("cycles without recovery", "READY 2", 3000.0, cycles, note="Eq. 1", kind="check",
                  by=printed)  # fmt: skip
    rows = [
        Finding(f"C' of {each[0]}, TB", "READY Table 2", each[2], _capacity(*each, "fitted"),
                kind="input", band=0.005, by=fitted)
        for each in TABLE_2
    ]  # fmt: skip
    return [
        Table("READY: cycles of a block that never rests", [row]),
        Table(
            "READY: what a drive can write with recovery", rows,
            "The fitted constants are two numbers fitted to these nine rows, so the rows are "
            "input. That two numbers give nine is what they say.",
        ),
    ]  # fmt: skip


def _constants() -> Sheet:
    """The two sets of constants side by side."""
    rows = []
    for each in TABLE_2:
        name, total, published, written = each
        both = (_capacity(*each, constants) for constants in ("fitted", "printed"))
        cells = [f"{ours:.1f} ({100 * (ours / published - 1):+.1f} %)" for ours in both]
        rows.append([name, f"{_idle_hours(total, written):.2f}", number(published), *cells])
    return Sheet(
        "READY: what the printed constants would say",
        ("row of Table 2", "hours between cycles", "published C', TB", "fitted", "printed"), rows,
        "The mean time between cycles is five years over the 3000 W / C cycles used. With the "
        "constants printed below Eq. 2 a drive would bear less than half of the value in Table 2.",
    )  # fmt: skip


def _idle_hours(total: float, written: float) -> float:
    return 5 * YEAR / (3000 * written / total)


def _capacity(_name: str, total: float, _published: float, written: float, constants: str) -> float:
    """C' of a row of Table 2."""
    return total * SETS[constants].achievable_cycles(_idle_hours(total, written)) / 3000


# ── What writing finely and sensing finely cost and bring: AGCR's trade-off ─────────────────────

LEVELS = {
    "high": (0.1875, 800e3, 70e3),
    "medium": (0.25, 600e3, 170e3),
    "low": (0.25 * 4 / 3, 450e3, 310e3),
}
"""Program steps in V, AGCR's ratios 1 : 4/3 : 16/9, the traditional one at 0.25; then the paper's
times of a write and of a read, in ns."""

CYCLES, AGE = "reliability.initial-cycles", "reliability.initial-retention"


def _needed(step_volts: float, page_type: int, cycles: float, hours: float) -> int | None:
    """Sensings at each boundary that a page needs; None where the most are not enough."""
    rber = MLC.rber(page_type, step_volts=step_volts, cycles=cycles, hours=hours)
    return next((sensings for sensings, most in correctable() if rber <= most), None)


def _levels() -> Table:
    """Table 1 of AGCR."""
    row, writes, reads = partial(Finding, where="AGCR Table 1", unit="ns", kind="input"), [], []
    for level, (volts, write, read) in LEVELS.items():
        writes.append(row(f"write at {level} cost", published=write, ours=program_us(volts) * 1e3,
                          note="Eq. 1, with the ratio of steps that was given",
                          by=[{"formula": "AGCR, Eq. 1"}]))  # fmt: skip
        each = [_needed(volts, page, 3000, YEAR) for page in (0, 1)]
        sensings = None if None in each else max(s for s in each if s is not None)
        ours = None if sensings is None else read_us(sensings) * 1e3
        note = f"Eq. 2, with the {sensings} sensings that a year at 3,000 cycles takes"
        # One constant of the cells is fitted to the three pairs.
        reads.append(row(f"read of such data, {level}", published=read, ours=ours, note=note,
                         by=[{"formula": "AGCR, Eq. 2"}]))  # fmt: skip
    return Table(
        "AGCR: three cost levels from one set of constants", [*writes, *reads],
        "Given are the traditional 600 us, the steps as 1 : 4/3 : 16/9, alpha = 10 us, beta = 20 "
        "us, and the error rates that a code corrects. One constant of the cells is fitted so "
        "that the three pairs result (docs/physics.md).",
    )  # fmt: skip


def _old_data(evidence: Evidence) -> Table:
    """Old data as runs read them."""
    rows = [
        Finding(f"{taken.names['cost']}, {taken.names[CYCLES]} cycles, {taken.names[AGE]}", "Eq. 2",
                _expected_ns(taken), _mean_ns(taken), "ns", kind="check", band=0.01,
                runs=[taken.names])
        for taken in evidence.runs
    ]  # fmt: skip
    return Table(
        "Reads of old data in a run, beside the equations", rows,
        "Published stands for the equations here: the mean over both page types of Eq. 2 at the "
        "sensings that each needs. The runs look rates up in a table within 4 % of the formula.",
    )  # fmt: skip


def _kept() -> Sheet:
    """How long data keep, by step and sensings."""
    rows = []
    for volts, *_ in LEVELS.values():
        limits = (
            MLC.retention_limit_hours(correctable=most, step_volts=volts, cycles=3000)
            for _, most in correctable()
        )
        days = (f"{hours / 24:,.0f} days" for hours in limits)
        rows.append([f"{volts:.4g} V ({program_us(volts):.0f} us)", *days])
    return Sheet(
        "AGCR: how long data keep at 3,000 cycles",
        ("written with", *(f"{sensings} sensings" for sensings, _ in correctable())), rows,
        "Until the worse page type of an MLC has more errors than can be corrected.",
    )  # fmt: skip


def _mean_ns(taken: Taken) -> float:
    return float(taken.run.host.read.latency_ns.mean)


def _expected_ns(taken: Taken) -> float:
    volts, cycles = LEVELS[taken.names["cost"]][0], float(taken.names[CYCLES])
    hours = 24.0 * float(taken.names[AGE].removesuffix("d"))
    both = [_needed(volts, page, cycles, hours) for page in (0, 1)]
    return sum(read_us(7 if s is None else s) for s in both) / 2 * 1e3
