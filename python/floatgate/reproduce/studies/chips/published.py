"""What Grupp et al. (MICRO 2009) print of their chips, read back from the chip library."""

from __future__ import annotations

from typing import Any, NamedTuple

from floatgate.lists import chips

NAMES = (
    "a-slc2", "a-slc4", "a-slc8", "b-slc2", "b-slc4", "e-slc8",
    "b-mlc8", "b-mlc32", "c-mlc64", "d-mlc32", "e-mlc8",
)  # fmt: skip

DATASHEETS = {
    "read, us": (12.0, 200.0),
    "program, us": (200.0, 2_000.0),
    "erase, ms": (1.5, 10.0),
    "rated cycles": (10_000.0, 1_100_000.0),
}
"""Table 1: the least typical and the greatest maximum of public data sheets."""

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
