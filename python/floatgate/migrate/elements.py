"""XML as MQSim reads it.

MQSim's parser (rapidxml without any flag) does not compare the names of closing tags. It allows
blank lines and comments anywhere, and takes the first text of an element as its value. This reader
does the same and reports each departure from XML, so that files that MQSim runs are read. It
expands no entities but the five of XML and characters by number, and it limits depth and number of
elements.
"""

from __future__ import annotations

import re
from typing import NamedTuple

DEEPEST = 100
"""Elements within elements, at most."""

_MOST = 200_000
"""Elements of a file, at most."""

_NOTES = 20
"""Notes of a file, at most: a file with more departures is hardly one of parameters."""


class Element(NamedTuple):
    """An element: its name, line, stripped first text, and elements."""

    name: str
    line: int
    text: str
    children: list[Element]

    @property
    def is_value(self) -> bool:
        """Whether it holds a value and no further elements."""
        return not self.children


class Parsed(NamedTuple):
    """The elements of a file, and its departures from XML, each with its line."""

    elements: list[Element]
    notes: list[tuple[int, str]]


class XmlError(ValueError):
    """A text that MQSim cannot read either, with the line."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


# Text that begins with `<`, as far as its kind can be told. Names have any characters except
# blanks, `/`, `>` and `?`.
_TAG = re.compile(
    r"<(?:!--(?P<comment>.*?)-->"
    r"|!\[CDATA\[(?P<cdata>.*?)\]\]>"
    r"|\?(?P<pi>.*?)\?>"
    r"|!(?P<other>[^>\[]*(?:\[[^\]]*\][^>]*)?)>"
    r"|/(?P<closing>[^\s/>?]*)\s*>"
    r"|(?P<opening>[^\s/>?!][^\s/>?]*)"
    r"(?P<attributes>(?:\s+[^\s/<>=?!]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(?P<empty>/?)>)",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def read(text: str) -> Parsed:
    """The elements of a text.

    Raises:
        XmlError: MQSim could not read it either, or it is deeper or longer than parameters are.
    """
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._line, self._counted = 1, 0
        self._root = Element("", 0, "", [])
        self._open = [self._root]
        self._texts = [""]
        self._notes: list[tuple[int, str]] = []
        self._count = 0

    def read(self) -> Parsed:
        at = 0
        while at < len(self._text):
            tag = self._text.find("<", at)
            self._data(self._text[at:] if tag < 0 else self._text[at:tag])
            if tag < 0:
                break
            line = self._line_of(tag)
            found = _TAG.match(self._text, tag)
            if found is None:
                head = self._text[tag : tag + 40].split("\n")[0]
                raise XmlError(line, f"`{head}` begins no element, comment or closing tag")
            self._take(found, line)
            at = found.end()
        if len(self._open) > 1:
            last = self._open[-1]
            raise XmlError(last.line, f"the element <{last.name}> is never closed")
        return Parsed(self._root.children, self._notes)

    def _take(self, found: re.Match[str], line: int) -> None:
        kind = found.lastgroup
        if found["closing"] is not None:
            self._close(found["closing"], line)
        elif found["opening"] is not None:
            self._begin(found["opening"], line)
            if found["empty"]:
                self._end()
        elif kind == "cdata":
            self._data(found["cdata"], raw=True)
        elif kind == "pi" and found["pi"][:3].lower() == "xml" and self._count:
            self._note(line, "the declaration `<?xml …?>` is not at the beginning")

    def _begin(self, name: str, line: int) -> None:
        self._count += 1
        if self._count > _MOST:
            raise XmlError(line, f"there are more than {_MOST:,} elements")
        if len(self._open) > DEEPEST:
            raise XmlError(line, f"there are more than {DEEPEST} elements within each other")
        self._open.append(Element(name, line, "", []))
        self._texts.append("")

    def _close(self, name: str, line: int) -> None:
        if len(self._open) == 1:
            raise XmlError(line, f"</{name}> closes nothing: no element is open")
        if name != self._open[-1].name:
            own = self._open[-1].name
            self._note(line, f"</{name}> closes <{own}>: MQSim does not compare the names")
        self._end()

    def _end(self) -> None:
        done, text = self._open.pop(), self._texts.pop()
        self._open[-1].children.append(done._replace(text=text.strip()))

    def _data(self, text: str, *, raw: bool = False) -> None:
        if not text.strip():
            return
        if len(self._open) == 1:
            word = text.split()[0][:40]
            raise XmlError(self._line, f"`{word}` stands outside of all elements")
        # The first text of an element is its value.
        if not self._texts[-1]:
            self._texts[-1] = text if raw else _ENTITY.sub(_expanded, text)

    def _line_of(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def _note(self, line: int, what: str) -> None:
        if len(self._notes) < _NOTES:
            self._notes.append((line, what))


def _expanded(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]
