"""TOML beyond `tomllib`: in which line a key stands, and a table as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Path = tuple[str | int, ...]
"""The way to a value: keys, and positions in lists."""


def lines(text: str) -> dict[Path, int]:
    r"""The line, counted from 1, in which each key and each element of a list begins.

    The text must be TOML that `tomllib` takes.

    >>> list(lines('[a]\nb = [\n  { "c.d" = 1 },\n]'))
    [('a',), ('a', 'b'), ('a', 'b', 0), ('a', 'b', 0, 'c.d')]
    >>> lines('[a]\nb = [\n  { "c.d" = 1 },\n]')[("a", "b", 0)]
    3
    """
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a text that is known to be right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Path, int] = {}
        self.lists: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while self.skip():
            line = self.line()
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self.inside(self.key())
                self.lists[path] = self.lists.get(path, -1) + 1
                table = (*path, self.lists[path])
                self.note(table, line)
                self.note(path, line)
                self.skip()
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                table = self.inside(self.key())
                self.note(table, line)
                self.skip()
                self.at += 1
            else:
                self.pair(table)
        return self.found

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def note(self, path: Path, line: int) -> None:
        self.found.setdefault(path, line)

    def inside(self, keys: Path) -> Path:
        """The path of a header: behind each list of tables, the last of them."""
        path: Path = ()
        for i, key in enumerate(keys):
            path = (*path, key)
            if i < len(keys) - 1 and path in self.lists:
                path = (*path, self.lists[path])
        return path

    def skip(self) -> bool:
        """Passes over blanks, commas and comments; whether something follows."""
        match = re.compile(r"(?:[\s,]|#[^\n]*)*").match(self.text, self.at)
        assert match
        self.at = match.end()
        return self.at < len(self.text)

    def key(self) -> Path:
        parts: list[str] = []
        while True:
            self.skip()
            if self.text[self.at] in "\"'":
                parts.append(self.string())
            else:
                match = re.compile(r"[A-Za-z0-9_-]+").match(self.text, self.at)
                assert match
                parts.append(match[0])
                self.at = match.end()
            match = re.compile(r"[ \t]*\.").match(self.text, self.at)
            if match is None:
                return tuple(parts)
            self.at = match.end()

    def string(self) -> str:
        quote = self.text[self.at]
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        start = at = self.at + len(mark)
        while not self.text.startswith(mark, at):
            at += 2 if quote == '"' and self.text[at] == "\\" else 1
        while len(mark) == 3 and self.text.startswith(mark, at + 1):
            at += 1  # The text may end with quotes of its own.
        self.at = at + len(mark)
        return self.text[start:at]

    def pair(self, table: Path) -> None:
        line = self.line()
        path = table
        for key in self.key():
            path = (*path, key)
            self.note(path, line)
        self.skip()
        self.at += 1  # the sign of equality
        self.value(path)

    def value(self, path: Path) -> None:
        self.skip()
        first = self.text[self.at]
        if first in "\"'":
            self.string()
        elif first in "[{":
            self.at += 1
            index = 0
            while self.skip() and self.text[self.at] not in "]}":
                if first == "{":
                    self.pair(path)
                else:
                    self.note((*path, index), self.line())
                    self.value((*path, index))
                    index += 1
            self.at += 1
        else:
            match = re.compile(r"[^,\]}#\n]*").match(self.text, self.at)
            assert match
            self.at = match.end()


def written(table: Mapping[str, Any]) -> str:
    """A table as TOML: plain values first, tables as sections, what is deeper in one line.

    >>> print(written({"a": 1, "b": {"c.d": [0.5, {"e": "x"}]}, "f": [{"g": True}]}))
    a = 1
    <BLANKLINE>
    [b]
    "c.d" = [0.5, { e = "x" }]
    <BLANKLINE>
    [[f]]
    g = true
    <BLANKLINE>
    """
    return "\n".join(_section(table, "", "")) + "\n"


def _section(table: Mapping[str, Any], head: str, path: str) -> list[str]:
    text = [head] if head else []
    later: list[str] = []
    for name, value in table.items():
        shown = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Mapping) and path.count(".") < 1 and "from" not in value:
            later += ["", *_section(value, f"[{shown}]", shown)]
        elif not path and _is_tables(value):
            for each in value:
                later += ["", *_section(each, f"[[{shown}]]", shown)]
        else:
            text.append(f"{_key(name)} = {inline(value)}")
    return [*text, *later]


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def inline(value: object) -> str:
    """A value in one line, texts of several lines excepted.

    >>> inline({"rate": "333MT/s", "width-bits": 8}), inline([1, 0.25, True])
    ('{ rate = "333MT/s", width-bits = 8 }', '[1, 0.25, true]')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {inline(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    assert isinstance(value, list), value
    return f"[{', '.join(map(inline, value))}]"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"

    if "\n" in value:
        inner = re.sub(r"[\\\x00-\x08\x0b-\x1f\x7f]|\"\"\"", _escaped_part, value)
        inner = re.sub(r'"$', '\\\\"', inner)
        return f'"""\n{inner}"""'
    return '"' + re.sub(r'[\\"\x00-\x1f\x7f]', escaped, value) + '"'


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n", '"""': '""\\"'}


def _escaped_part(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"
