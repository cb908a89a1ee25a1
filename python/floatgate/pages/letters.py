"""The width of words in a figure, and SVG whose words keep that width in every font."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from typing import NamedTuple

SHAPES_RESULTS = False

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""A font inside the converter comes first, so figures are measured alike on every machine."""


class Words(NamedTuple):
    """Some words as they are set: their size in points, and their weight and fonts as in SVG."""

    text: str
    size: float
    weight: str = "normal"
    font: str = FONT


def widths(every: Iterable[Words]) -> dict[Words, float]:
    """The width of each, in points, as the converter sets it.

    Vega has no function for it, but a mark may take its width from the bounds of another one: each
    text has a rectangle as wide as itself.
    """
    import vl_convert

    words = [each for each in dict.fromkeys(every) if each.text.strip()]
    if not words:
        return {}
    text = {
        "text": {"field": "text"},
        "fontSize": {"field": "size"},
        "fontWeight": {"field": "weight"},
        "font": {"field": "font"},
    }
    wide = {"signal": "datum.bounds.x2 - datum.bounds.x1"}
    made = vl_convert.vega_to_scenegraph(
        {
            "$schema": "https://vega.github.io/schema/vega/v5.json",
            "data": [{"name": "words", "values": [each._asdict() for each in words]}],
            "marks": [
                {
                    "type": "text",
                    "name": "text",
                    "from": {"data": "words"},
                    "encode": {"enter": text},
                },
                {"type": "rect", "from": {"data": "text"}, "encode": {"enter": {"width": wide}}},
            ],
        }
    )
    rectangles = made["scenegraph"]["items"][0]["items"][1]["items"]
    return {each: float(at["width"]) for each, at in zip(words, rectangles, strict=True)}


def longest(texts: Sequence[str], size: float, known: Mapping[Words, float]) -> float:
    """The width of the longest of some texts, in points; 0 if there is none."""
    return max((known.get(Words(text, size), 0.0) for text in texts), default=0.0)


_TEXT = re.compile(r"<text ([^>]*)>([^<]+)</text>")
_SIZE = re.compile(r'font-size="([0-9.]+)px"')
_WEIGHT = re.compile(r'font-weight="([^"]+)"')
_FONT = re.compile(r'font-family="([^"]+)"')
_MEASURABLE = re.compile(r"[\x20-\u04ff\u2000-\u22ff]+")
"""Latin, Greek, Cyrillic, punctuation and signs: the letters of the converter's font."""


def keep_widths(drawings: Sequence[str]) -> list[str]:
    """SVG drawings in which each text takes the width that it was laid out with, in any font.

    A reader's machine may lack the font, and sets another one. The texts that the converter cannot
    measure, for example Chinese, stay as they are.
    """
    found = {_words(match) for drawing in drawings for match in _TEXT.finditer(drawing)}
    known = widths(words for words in found if _MEASURABLE.fullmatch(words.text))

    def fixed(match: re.Match[str]) -> str:
        wide = known.get(_words(match))
        length = f' textLength="{wide:.6g}" lengthAdjust="spacingAndGlyphs"' if wide else ""
        return f"<text {match[1]}{length}>{match[2]}</text>"

    return [_TEXT.sub(fixed, drawing) for drawing in drawings]


def _words(match: re.Match[str]) -> Words:
    size, weight, font = (part.search(match[1]) for part in (_SIZE, _WEIGHT, _FONT))
    return Words(
        unescape(match[2]),
        float(size[1]) if size else 11,
        weight[1] if weight else "normal",
        unescape(font[1]) if font else FONT,
    )
