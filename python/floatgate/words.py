"""Numbers, times and sizes in words, and the form of a page: at most 80 columns."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence

from floatgate.terminal import control

SHAPES_RESULTS = False

WIDTH = 80


BOLD, RED, YELLOW = "1", "31", "33"


def colour_wanted() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


class Style:
    """Colour, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, code: str, text: str) -> str:
        """The text in a colour of the terminal."""
        if not self._colour:
            return text
        return control(f"\033[{code}m") + text + control("\033[0m")


def duration(ns: float | None) -> str:
    """A length of time in the unit that suits it.

    >>> duration(812_345), duration(42), duration(7.2e12), duration(None)
    ('812 us', '42 ns', '2.00 h', '-')
    """
    if ns is None:
        return "-"
    if ns < 999.5:
        return f"{ns:.0f} ns"
    for unit, length, limit in _TIMES:
        if ns < limit:
            return f"{three(ns / length)} {unit}"
    return f"{three(ns / 86_400e9)} d"


def size(count: float | None) -> str:
    """A number of bytes in the binary unit that suits it.

    >>> size(4096), size(68_719_476_736), size(512)
    ('4.00 KiB', '64.0 GiB', '512 B')
    """
    if count is None:
        return "-"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1000:
            return f"{three(count)} {unit}"
        count /= 1024
    return f"{three(count)} PiB"


def number(value: float | None) -> str:
    """A count in full, other numbers with four digits.

    >>> number(1_234_567), number(1.83), number(None)
    ('1,234,567', '1.83', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, int) or (value.is_integer() and value < 1e15):
        return f"{int(value):,}"
    return f"{value:.4g}"


def short(value: float) -> str:
    """A large count in little room.

    >>> short(950), short(12_345_678)
    ('950', '12.3 M')
    """
    for unit, one in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= one:
            return f"{three(value / one)} {unit}"
    return number(value)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns under each other, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


_TIMES = (
    ("us", 1e3, 1e6),
    ("ms", 1e6, 1e9),
    ("s", 1e9, 120e9),
    ("min", 60e9, 7_200e9),
    ("h", 3_600e9, 172_800e9),
)


def three(value: float) -> str:
    """Three digits that count, and no less than the whole part."""
    if isinstance(value, int) or value == 0 or value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.{2 if value < 9.995 else 1}f}"


def section(title: str, body: str, style: Style) -> str:
    """A title, and below it what belongs to it."""
    return f"{style(BOLD, title)}\n{textwrap.indent(body, '  ')}"


def wrapped(text: str) -> str:
    """A fact on lines that fit a section."""
    return textwrap.fill(text, WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)


def hanging(label: str, text: str, width: int = WIDTH - 2) -> str:
    """A paragraph whose lines stand beside its label."""
    indent = " " * len(label)
    return textwrap.fill(
        text, width, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False
    )
