"""Abbreviations of pages: each is explained where it first stands, and once more in a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

SHAPES_RESULTS = False

_MEANINGS = {
    "WAF": "write amplification, the bytes programmed in flash for each byte that the host wrote",
    "OP": "over-provisioning, the flash beyond the exported capacity as a share of that capacity",
    "QD": "queue depth, the requests that the host keeps in the drive at a time",
    "GC": "garbage collection, which moves valid pages out of blocks and erases these",
    "IOPS": "requests per second",
    "p50": "half of the requests took at most this long",
    "p90": "9 of 10 requests took at most this long",
    "p99": "99 of 100 requests took at most this long",
    "p99.9": "999 of 1,000 requests took at most this long",
    "p99.99": "9,999 of 10,000 requests took at most this long",
    "TBW": "terabytes that the host can write before the drive is worn out",
    "DWPD": "drive writes per day, the capacity written each day of the drive's life",
    "P/E cycles": "times that a block can be programmed and erased",
}

_ANY = re.compile(
    r"(?<![\w.`-])("
    + "|".join(re.escape(word) for word in sorted(_MEANINGS, key=len, reverse=True))
    + r"|gc)(?![\w`-]|\.\w)"
)


class Terms:
    """The abbreviations that a page has had so far.

    >>> terms = Terms()
    >>> str(terms("WAF & p99.9; WAF")).count("<abbr")
    2
    >>> list(terms.met)
    ['WAF', 'p99.9']
    """

    def __init__(self) -> None:
        self.met: dict[str, str] = {}

    def __call__(self, text: str) -> Markup:
        """The text as HTML, with the meaning of each abbreviation at its first use."""
        from markupsafe import Markup, escape

        pieces = []
        for i, piece in enumerate(_ANY.split(str(text))):
            word = piece.upper() if piece == "gc" else piece
            if i % 2 and word not in self.met:
                self.met[word] = _MEANINGS[word]
                pieces.append(Markup('<abbr title="{}">{}</abbr>').format(_MEANINGS[word], piece))
            else:
                pieces.append(escape(piece))
        return Markup("").join(pieces)
