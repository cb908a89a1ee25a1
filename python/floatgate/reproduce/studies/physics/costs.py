"""What writing finely and sensing finely cost and bring: AGCR's trade-off (FAST 2016)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from floatgate.physics import Cell, correctable, program_us, read_us
from floatgate.report.model import Curve, Finding, Plot, Sheet, Table
from floatgate.reproduce.claims import Evidence, Taken
from floatgate.words import duration

STEPS = {"high": 0.1875, "medium": 0.25, "low": 0.25 * 4 / 3}
"""Program steps of AGCR's levels, in V: its ratios 1 : 4/3 : 16/9, the traditional one at 0.25."""

_WRITES = {"high": 800.0, "medium": 600.0, "low": 450.0}
_READS = {"high": 70.0, "medium": 170.0, "low": 310.0}
_MLC = Cell(2, 3000)
_YEAR = 365 * 24.0
_CYCLES, _AGE = "reliability.initial-cycles", "reliability.initial-retention"
_NEAR = 0.01


def needed(step_volts: float, page_type: int, cycles: float, hours: float) -> int | None:
    """Sensings at each boundary that a page needs; None where the most are not enough."""
    rber = _MLC.rber(page_type, step_volts=step_volts, cycles=cycles, hours=hours)
    return next((sensings for sensings, most in correctable() if rber <= most), None)


def worst(step_volts: float, cycles: float, hours: float) -> int | None:
    """The same for the worse of both page types."""
    each = [needed(step_volts, page, cycles, hours) for page in (0, 1)]
    return None if None in each else max(s for s in each if s is not None)


def tables(evidence: Evidence) -> Iterator[Table]:
    """Table 1 of AGCR, and old data as runs read them."""
    row = partial(Finding, where="AGCR Table 1", unit="ns", kind="input")
    rows = [
        row(f"write at {level} cost", published=_WRITES[level] * 1e3, ours=program_us(volts) * 1e3,
            note="Eq. 1, with the ratio of steps that was given", by=[{"formula": "AGCR, Eq. 1"}])
        for level, volts in STEPS.items()
    ]  # fmt: skip
    for level, volts in STEPS.items():
        sensings = worst(volts, 3000, _YEAR)
        ours = None if sensings is None else read_us(sensings) * 1e3
        note = f"Eq. 2, with the {sensings} sensings that a year at 3,000 cycles takes"
        # One constant of the cells is fitted to the three pairs.
        rows.append(row(f"read of such data, {level}", published=_READS[level] * 1e3, ours=ours,
                        note=note, by=[{"formula": "AGCR, Eq. 2"}]))  # fmt: skip
    text = (
        "Given are the traditional 600 us, the steps as 1 : 4/3 : 16/9, alpha = 10 us, beta = 20 "
        "us, the error rates that a code corrects, and one constant of the cells that is fitted so "
        "that the three pairs come out (docs/physics.md)."
    )
    yield Table("AGCR: three cost levels from one set of constants", rows, text)
    yield Table(
        "Reads of old data in a run, beside the equations",
        [
            Finding(_name(taken.names), "Eq. 2", _expected_ns(taken.names), _mean_ns(taken), "ns",
                    kind="check", band=_NEAR, runs=[taken.names])
            for taken in evidence.runs
        ],
        "Published stands for the equations here: the mean over both page types of Eq. 2 at the "
        "sensings that each needs. The runs look rates up in a table within 4 % of the formula.",
    )  # fmt: skip


def _off(taken: Taken) -> float:
    return _mean_ns(taken) / _expected_ns(taken.names) - 1


def says(evidence: Evidence) -> str:
    """How far runs are from the equations."""
    off = max((abs(_off(taken)) for taken in evidence.runs), default=0.0)
    return f"reads of old data take what AGCR's Eq. 2 says within {100 * off:.1f} %"


def missed(evidence: Evidence) -> Iterator[str]:
    """Runs whose reads do not take what the equations say."""
    for taken in evidence.runs:
        if abs(_off(taken)) > _NEAR:
            ours, expected = duration(_mean_ns(taken)), duration(_expected_ns(taken.names))
            yield f"{_name(taken.names)}: {ours}, Eq. 2 {expected}"


def sheets() -> Iterator[Sheet]:
    """How long data keep, by step and sensings."""
    yield Sheet(
        "AGCR: how long data keep at 3,000 cycles",
        ("written with", *(f"{sensings} sensings" for sensings, _ in correctable())),
        [
            [f"{volts:.4g} V ({program_us(volts):.0f} us)", *map(_days, _limits(volts))]
            for volts in STEPS.values()
        ],
        "Until the worse page type of an MLC has more errors than can be corrected.",
    )


def plots() -> Iterator[Plot]:
    """The trade-off: errors over the step, and what reads and writes take."""
    volts = [0.15 + 0.005 * i for i in range(53)]
    errors = [
        Curve(f"{cycles} cycles", volts,
              [_MLC.rber(1, step_volts=v, cycles=cycles, hours=_YEAR) for v in volts])
        for cycles in (1000, 2000, 3000)
    ]  # fmt: skip
    title = "AGCR: raw bit errors over the program step, data of a year"
    yield Plot("curves", title, "raw bit error rate", "program step, V", curves=errors, log="y")
    times = Curve("program", volts, [program_us(v) for v in volts])
    title = "AGCR Eq. 1: time of a program over its step"
    yield Plot("curves", title, "us", "program step, V", curves=[times])
    counts = list(range(1, 10))
    title = "AGCR Eq. 2: time of a read over its sensings"
    reads = Curve("read", counts, [read_us(n) for n in counts])
    yield Plot("curves", title, "us", "sensings at each boundary", curves=[reads])


def _limits(volts: float) -> list[float]:
    return [
        _MLC.retention_limit_hours(correctable=most, step_volts=volts, cycles=3000)
        for _, most in correctable()
    ]


def _days(hours: float) -> str:
    return f"{hours / 24:,.0f} days"


def _mean_ns(taken: Taken) -> float:
    return float(taken.run.host.read.latency_ns.mean)


def _name(variant: Mapping[str, str]) -> str:
    return f"{variant['cost']}, {variant[_CYCLES]} cycles, {variant[_AGE]}"


def _expected_ns(variant: Mapping[str, str]) -> float:
    volts, cycles = STEPS[variant["cost"]], float(variant[_CYCLES])
    hours = 24.0 * float(variant[_AGE].removesuffix("d"))
    both = [needed(volts, page, cycles, hours) for page in (0, 1)]
    return sum(read_us(7 if s is None else s) for s in both) / 2 * 1e3
