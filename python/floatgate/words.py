"""Numbers, times and sizes in words, and the form of a page: as wide as the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from floatgate.terminal import control

SHAPES_RESULTS = False

LEAST_WIDTH, USUAL_WIDTH, MOST_WIDTH = 60, 80, 200
WIDEST_PROSE = 100
"""Columns: longer lines of words are hard to read."""

BOLD, RED, YELLOW = "1", "31", "33"


def colour_wanted() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def page_width() -> int:
    """Columns of a page: those of the terminal, from 60 to 200; 80 where there is none.

    As everywhere, the environment variable `COLUMNS` overrides the terminal.
    """
    return max(LEAST_WIDTH, min(terminal_width(), MOST_WIDTH))


def terminal_width() -> int:
    """Columns of the terminal; 80 where there is none.

    As `shutil.get_terminal_size` has it, without the compression that comes with its module.
    """
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    out = sys.__stdout__
    try:
        return (out and os.get_terminal_size(out.fileno()).columns) or USUAL_WIDTH
    except (ValueError, OSError):  # It is closed, or no terminal.
        return USUAL_WIDTH


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
    """Columns under each other, the first to the left, the others to the right.

    Columns that do not fit the section are below, with the first column repeated.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    blocks: list[list[int]] = []
    room = 0
    for column, needed in enumerate(widths[1:], 1):
        if needed + 2 > room and (not blocks or blocks[-1]):
            blocks.append([])
            room = page_width() - 2 - widths[0]
        blocks[-1].append(column)
        room -= needed + 2
    lines: list[str] = []
    for block in blocks or [[]]:
        if lines:
            lines.append("")
        for row in rows:
            cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in block)]
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
    """Three significant digits, but at least the whole part."""
    if isinstance(value, int) or value == 0 or value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.{2 if value < 9.995 else 1}f}"


def section(title: str, body: str, style: Style) -> str:
    """A title, and below it its content."""
    from textwrap import indent

    return f"{style(BOLD, title)}\n{indent(body, '  ')}"


def wrapped(text: str) -> str:
    """A fact on lines that fit a section."""
    return filled(text, page_width() - 2, later="  ")


def hanging(label: str, text: str, room: int | None = None) -> str:
    """A paragraph whose lines follow its label, by default in a section."""
    return filled(text, room or page_width() - 2, first=label, later=" " * len(label))


def filled(text: str, room: int, first: str = "", later: str = "") -> str:
    """A paragraph on lines of this width. No word is split, and no number is parted from its unit.

    >>> print(filled("it took 12 ms for 4.00 KiB", 12))
    it took
    12 ms for
    4.00 KiB
    """
    from textwrap import fill

    lines = fill(
        re.sub(_UNITS, _FIXED, text),
        min(room, WIDEST_PROSE),
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines.replace(_FIXED, " ")


_FIXED = "\0"
_UNITS = r"(?<=\d) (?=(?:[num]?s|min|h|d|days|years|[KMGTP]iB|B|[kMGT]B?|n?J|[MG]B/s|%)(?![\w]))"
"""The space between a number and its unit."""


def several(operation: str) -> str:
    """The plural of an operation of the host.

    >>> several("read"), several("flush")
    ('reads', 'flushes')
    """
    return f"{operation}es" if operation.endswith("sh") else f"{operation}s"
