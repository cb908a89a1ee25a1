"""The eleven chips of Grupp et al. (MICRO 2009): their Tables 1 to 3 beside what floatgate has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from floatgate.lists import chips
from floatgate.report.model import Finding, Sheet, Table
from floatgate.words import duration, number

Chip = Mapping[str, Any]

# Table 2 has no product; these are its capacities, in Gbit.
_GBIT = {
    "a-slc2": 2, "a-slc4": 4, "a-slc8": 8, "b-slc2": 2, "b-slc4": 4, "e-slc8": 8,
    "b-mlc8": 8, "b-mlc32": 32, "c-mlc64": 64, "d-mlc32": 32, "e-mlc8": 8,
}  # fmt: skip

# Times in us, the range of datasheets.
_DATASHEETS: Sequence[tuple[str, float, float, Callable[[Chip], Sequence[float]]]] = (
    ("read", 12, 200, lambda chip: chip["read_ns"]),
    ("program", 200, 2_000, lambda chip: chip["program_ns"]),
    ("erase", 1_500, 10_000, lambda chip: [chip["erase_ns"]]),
)


def measured() -> dict[str, Chip]:
    """The eleven chips with all that follows from their tables."""
    return {name: chips(name)[0] for name in _GBIT}


def tables(known: Mapping[str, Chip]) -> Iterator[Table]:
    """A table of ours for each of theirs."""
    rows = []
    for what, least, most, times in _DATASHEETS:
        ours = [t / 1e3 for chip in known.values() for t in times(chip)]
        rows.append(
            Finding(what, "Grupp Table 1", f"{least:g} to {most:g} us",
                    f"{number(min(ours))} to {number(max(ours))} us", note="output")
        )  # fmt: skip
    text = (
        "Datasheets beside times that follow from Table 3 as energy over power. The quickest fast "
        "pages and erases are below the datasheets' typical values, as the paper says of "
        "manufacturers B and E."
    )
    yield Table("Grupp Table 1: ranges of datasheets", rows, text)
    rows = [
        Finding(f"{name.upper()}, Gbit", "Grupp Table 2", float(gbit),
                known[name]["chip_bytes"] * 8 / 2**30, note="output: product of its columns",
                kind="check", band=0.0)
        for name, gbit in _GBIT.items()
    ]  # fmt: skip
    yield Table("Grupp Table 2: capacities", rows)
    text = (
        "Energies for a bit, and idle power, of MLC over SLC, each a plain mean over chips of what "
        "Table 3 prints (an input). The first two do not follow from it; how the paper weighed its "
        "chips is not said."
    )
    yield Table("Grupp Table 3: what MLC takes more", list(_ratios(known)), text)


def sheets(known: Mapping[str, Chip]) -> Iterator[Sheet]:
    """Table 3 turned into times, which the paper has in lost figures only."""
    yield Sheet(
        "Grupp Table 3: times of the chips",
        ("chip", "read", "fast program", "slow program", "slow over fast", "erase"),
        [
            [
                name.upper(),
                duration(chip["read_ns"][0]),
                duration(min(chip["program_ns"])),
                duration(max(chip["program_ns"])) if chip["bits_per_cell"] > 1 else "",
                _slowness(chip),
                duration(chip["erase_ns"]),
            ]
            for name, chip in known.items()
        ],
        "Energy of an operation over its peak power. The text says 5.8 for B-MLC32, and that power "
        "is constant; its energies are 3.44 apart. Reads of E-SLC8 and E-MLC8 are assumed.",
    )


def _ratios(known: Mapping[str, Chip]) -> Iterator[Finding]:
    def ratio(of: Callable[[Chip], float], leave_out: str = "") -> float:
        mlc, slc = (
            [of(c) for n, c in known.items() if c["bits_per_cell"] == bits and n != leave_out]
            for bits in (2, 1)
        )
        return mean(mlc) / mean(slc)

    def each_bit(what: str, pages: int) -> Callable[[Chip], float]:
        def of(chip: Chip) -> float:
            joules = chip["energy_joules"][what]
            each: float = mean(joules) if isinstance(joules, list) else joules
            bits: int = chip["page_bytes"] * 8 * (pages or chip["pages_per_block"])
            return each / bits

        return of

    where = "Grupp 3.4"
    yield Finding("reads", where, 2.05, ratio(each_bit("read", 1)), "x")
    yield Finding(
        "programs, mean of fast and slow", where, 2.70, ratio(each_bit("program", 1)), "x"
    )
    yield Finding("erases, without E-MLC8", where, 1.13, ratio(each_bit("erase", 0), "e-mlc8"), "x")
    yield Finding("idle power", where, 1.83, ratio(lambda chip: float(chip["idle_watts"])), "x")


def _slowness(chip: Chip) -> str:
    times = chip["program_ns"]
    return f"{max(times) / min(times):.2f}" if chip["bits_per_cell"] > 1 else ""
