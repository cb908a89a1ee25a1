"""What the code does on a chip: bytes for each erase, energy for each page, life."""

from __future__ import annotations

from typing import Any, NamedTuple

from floatgate.lists import chips
from floatgate.reproduce.studies.wom.pairs import PLAIN_TURNED, turned


class Energy(NamedTuple):
    """Joules for each logical page programmed, its share of the erase included."""

    plain: float
    constant: float
    """A program takes what it takes, whatever it programs; so does the read before the second."""
    by_cells: float
    """A program takes energy in proportion to the cells that turn."""
    without_reads: float
    """The same, with no account of the read before the second program."""


class Chip(NamedTuple):
    """A chip of the paper and the blocks that the code makes of it."""

    name: str
    bits: int
    pages: int
    safe: int
    """Pages that endure a second program: all of single-bit cells, else those of first bits."""
    read: float
    program: tuple[float, ...]
    """By page type, in joules."""
    erase: float

    @property
    def coded(self) -> int:
        """Pages that hold the code, three for two logical ones."""
        return self.safe // 3 * 3

    @property
    def slots(self) -> int:
        """Logical pages of one generation on them."""
        return self.coded // 3 * 2

    @property
    def gain(self) -> float:
        """Logical pages for each erase, against a plain block."""
        return (self.pages - self.coded + 2 * self.slots) / self.pages

    @property
    def ideal_gain(self) -> float:
        """The same if threes divided the pages."""
        return (self.pages - self.safe + self.safe * 4 / 3) / self.pages

    @property
    def density(self) -> float:
        """Logical pages that a block holds at a time, against a plain one."""
        return (self.pages - self.coded + self.slots) / self.pages

    def energy(self) -> Energy:
        """Joules for each logical page, plain and coded."""
        first_type, other_type = self.program[0], self.program[-1]
        unsafe = self.pages - self.safe
        plain_programs = self.safe * first_type + unsafe * other_type
        plain = (plain_programs + self.erase) / self.pages
        logical = self.pages * self.gain
        uncoded = (self.safe - self.coded) * first_type + unsafe * other_type
        again = self.coded * (first_type + self.read)
        constant = uncoded + self.coded * first_type + again + self.erase
        once, twice = (share / PLAIN_TURNED for share in turned())
        turning = uncoded + self.coded * first_type * (once + twice) + self.erase
        by_cells = turning + self.coded * self.read
        return Energy(plain, constant / logical, by_cells / logical, turning / logical)


def measured_chips() -> list[Chip]:
    """The chips of Table 2."""
    names = [chip["name"] for chip in chips() if not chip["name"].startswith("modern")]
    return [_chip(chips(name)[0]) for name in names]


def _chip(known: dict[str, Any]) -> Chip:
    energy = known["energy_joules"]
    return Chip(
        known["name"],
        known["bits_per_cell"],
        known["pages_per_block"],
        known["wom_safe_pages"],
        energy["read"][0],
        tuple(energy["program"]),
        energy["erase"],
    )
