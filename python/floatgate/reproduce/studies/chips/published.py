"""Values that Grupp et al. (MICRO 2009) print of their chips, read back from the chip library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from floatgate.lists import chips

NAMES = (
    "a-slc2", "a-slc4", "a-slc8", "b-slc2", "b-slc4", "e-slc8",
    "b-mlc8", "b-mlc32", "c-mlc64", "d-mlc32", "e-mlc8",
)  # fmt: skip

UNITS = {"mW": 1.0, "nJ": 1.0, "B": 1.0, "GiB": 8.0, "MiB": 8.0 / 1024}


class Chip(NamedTuple):
    """Tables 2 and 3 of one chip."""

    name: str
    slc: bool
    known: dict[str, Any]

    def number(self, key: str) -> float:
        """A setting of the section `measured`; of several numbers their mean."""
        value = self.known["settings"][f"measured.{key}"]["value"]
        several = value if isinstance(value, list) else [value]
        return sum(map(_number, several)) / len(several)


def chip(name: str) -> Chip:
    """One of the eleven."""
    [known] = chips(name)
    return Chip(name, known["bits_per_cell"] == 1, known)


def _number(text: str) -> float:
    """A number with its unit, in mW, nJ, bytes or Gbit.

    >>> _number("75.9mW"), _number("256MiB")
    (75.9, 2.0)
    """
    for unit, factor in UNITS.items():
        if text.endswith(unit) and text[: -len(unit)].replace(".", "").isdigit():
            return float(text[: -len(unit)]) * factor
    raise ValueError(text)


def _power(key: str) -> Callable[[Chip], float]:
    return lambda chip: chip.number(key)


def _micros(key: str, of: Callable[[Sequence[float]], float] = min) -> Callable[[Chip], float]:
    return lambda chip: of(chip.known[key]) / 1e3


DATASHEETS: Mapping[str, tuple[float, float, Callable[[Chip], float]]] = {
    "endurance, cycles": (10_000, 1_100_000, lambda chip: float(chip.known["endurance"])),
    "read, us": (12, 200, _micros("read_ns")),
    "typical program, us: fast pages": (200, 800, _micros("program_ns")),
    "most program, us: slow pages": (500, 2_000, _micros("program_ns", max)),
    "typical erase, ms": (1.5, 2.5, lambda chip: chip.known["erase_ns"] / 1e6),
    "most erase, ms": (2, 10, lambda chip: chip.known["erase_ns"] / 1e6),
    "typical read power, mW: average": (30, 45, _power("average-read-power")),
    "most read power, mW: peak": (60, 90, _power("read-power")),
    "typical program power, mW: average": (30, 45, _power("average-program-power")),
    "most program power, mW: peak": (60, 90, _power("program-power")),
    "typical erase power, mW: average": (30, 45, _power("average-erase-power")),
    "most erase power, mW: peak": (60, 90, _power("erase-power")),
    "typical idle power, uW": (30, 60, lambda chip: chip.known["idle_watts"] * 1e6),
    "most idle power, uW": (150, 300, lambda chip: chip.known["idle_watts"] * 1e6),
}
"""Table 1, the ranges of public data sheets, each with the matching value of a chip."""
