"""The headers of the pages of a Parquet file, checked before polars reads them.

A page with a negative number of values makes polars 2.1 ask for 2^61 bytes. That ends the process,
and cannot be caught as an error. Polars itself reports other mistakes. Sizes and places are those
of the format's `parquet.thrift`, in Thrift's compact protocol.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"

# The fields of `parquet.thrift` that are checked.
ROW_GROUPS, COLUMNS, METADATA = 4, 1, 3
COMPRESSED, DATA_PAGE, DICTIONARY_PAGE = 7, 9, 11
PAGE_BYTES, VALUES = 3, 1
PAGES = (5, 7, 8)
"""The header of a data page, of a dictionary, of a data page of version 2."""


def check_pages(path: Path) -> None:
    """Checks whether the pages of a file have a possible number of values.

    Raises:
        ValueError: A page has a negative number.
    """
    # Polars refuses files that do not follow the format.
    strange = (LookupError, TypeError, AttributeError, RecursionError, OSError)
    with suppress(*strange), path.open("rb") as file:
        if path.stat().st_size < 12:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[-4:] != MAGIC:
                return
            start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
            footer, _ = _struct(data, start)
            for group in footer.get(ROW_GROUPS, ()):
                for column in group.get(COLUMNS, ()):
                    for page in _pages(data, column.get(METADATA, {})):
                        if any(page.get(kind, {}).get(VALUES, 0) < 0 for kind in PAGES):
                            raise ValueError("a page that has fewer than no values")


def _pages(data: mmap.mmap, column: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """The headers of the pages of a column within a row group."""
    places = (column.get(key, 0) for key in (DATA_PAGE, DICTIONARY_PAGE))
    at = min((place for place in places if place > 0), default=0)
    end = at + column[COMPRESSED]
    while 0 < at < end:
        page, after = _struct(data, at)
        yield page
        at = after + max(page[PAGE_BYTES], 0)


def _struct(data: mmap.mmap, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by number, and its end."""
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _zigzag(data, at)
        kind = head & 15
        # A boolean field has its value in its type.
        fields[number], at = (kind == 1, at) if kind < 3 else _value(data, at, kind)
    return fields, at + 1


def _value(data: mmap.mmap, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _zigzag(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        return None, at + length
    if kind in (9, 10):
        head, at = data[at], at + 1
        count = head >> 4
        if count == 15:
            count, at = _varint(data, at)
        if count > len(data):
            raise TypeError("a list that is longer than the file")
        values = []
        for _ in range(count):
            value, at = _value(data, at, head & 15)
            values.append(value)
        return values, at
    if kind == 12:
        return _struct(data, at)
    raise TypeError(f"no field of Parquet is of type {kind}")


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise TypeError("a number of more than 64 bits")


def _zigzag(data: mmap.mmap, at: int) -> tuple[int, int]:
    number, at = _varint(data, at)
    return number >> 1 ^ -(number & 1), at
