"""The write-once code of Table 5, by enumeration."""

from __future__ import annotations

from collections.abc import Iterator

FIRST = {0b00: 0b111, 0b01: 0b110, 0b10: 0b101, 0b11: 0b011}
SECOND = {0b00: 0b000, 0b01: 0b001, 0b10: 0b010, 0b11: 0b100}
"""The words of each value; programming turns 1 into 0 only."""


def value(word: int) -> int:
    """What a word of either generation means."""
    words = FIRST if word.bit_count() >= 2 else SECOND
    (found,) = (value for value, each in words.items() if each == word)
    return found


def over(word: int, new: int) -> int:
    """The word that stores `new` over `word`: as it is, if it means that already."""
    return word if value(word) == new else SECOND[new]


def infeasible() -> list[tuple[int, int]]:
    """Pairs of values whose second word cannot be programmed over the first."""
    return [(a, b) for a, first in FIRST.items() for b, second in SECOND.items() if second & ~first]


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
