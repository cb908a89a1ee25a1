"""The write-once code by enumeration, and what it does on a chip: bytes, energy, life."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any, NamedTuple

from floatgate.lists import chips
from floatgate.physics import Cell

PRINTED, DENSE = "the paper's account", "the same, with density counted"
CONSTANT, TURNED = "constant energies", "in proportion to cells that turn"
WITHOUT = "the same, without the read before"

FIRST = {0b00: 0b111, 0b01: 0b110, 0b10: 0b101, 0b11: 0b011}
SECOND = {0b00: 0b000, 0b01: 0b001, 0b10: 0b010, 0b11: 0b100}
"""The words of each value; programming turns 1 into 0 only."""


def value(word: int) -> int:
    """The data that a word of either generation means."""
    words = FIRST if word.bit_count() >= 2 else SECOND
    (found,) = (value for value, each in words.items() if each == word)
    return found


def over(word: int, new: int) -> int:
    """The word that stores `new` over `word`: as it is, if it means that already."""
    return word if value(word) == new else SECOND[new]


def _pairs() -> Iterator[tuple[int, int]]:
    for first in FIRST.values():
        for new in SECOND:
            yield first, over(first, new)


def turned() -> tuple[float, float]:
    """Of the cells of random data, the share that turns in the first and in the second program."""
    first = sum(3 - word.bit_count() for word in FIRST.values()) / (3 * len(FIRST))
    pairs = list(_pairs())
    second = sum((old & ~new).bit_count() for old, new in pairs) / (3 * len(pairs))
    return first, second


PLAIN_TURNED = 0.5
"""The same of data that is not coded."""


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
    rated: int

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

    def energy(self) -> dict[str, float]:
        """The change by the code in the energy of a page and of its share of an erase, by account.

        The paper's own is the mean over programs, those of safe pages twice, and the erase over
        the bytes that it gains. It neglects that a coded page holds two thirds.
        """
        fast, slow = self.program[0], self.program[-1]
        unsafe = self.pages - self.safe
        plain = (self.safe * fast + unsafe * slow + self.erase) / self.pages
        programs = 2 * self.safe * fast + unsafe * slow
        each_erase = self.pages * self.ideal_gain
        uncoded = (self.safe - self.coded) * fast + unsafe * slow
        again, turning = self.coded * self.read, self.coded * fast * sum(turned()) / PLAIN_TURNED
        logical = self.pages * self.gain
        accounts = {
            PRINTED: programs / (2 * self.safe + unsafe) + self.erase / each_erase,
            DENSE: (programs + self.erase) / each_erase,
            CONSTANT: (uncoded + 2 * self.coded * fast + again + self.erase) / logical,
            TURNED: (uncoded + turning + again + self.erase) / logical,
            WITHOUT: (uncoded + turning + self.erase) / logical,
        }
        return {name: joules / plain - 1 for name, joules in accounts.items()}

    def life_by_levels(self) -> float:
        """Logical bytes until the fatal error rate, against plain data, if errors go with levels.

        The code moves cells between levels. At most three in four of the first bits that it
        writes are 1. So every level has at least half of the cells that it has of random data, and
        errors are at least half as many.
        """
        cell = Cell(self.bits, self.rated)

        def errors(share: float) -> float:
            return fsum(cell.rber(t, cycles=share * self.rated) for t in range(self.bits))

        low, high = 1.0, 10.0
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (middle, high) if errors(middle) < 2 * errors(1.0) else (low, middle)
        return low * self.gain


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
        known["endurance"],
    )
