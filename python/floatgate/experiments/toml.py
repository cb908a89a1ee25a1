"""A table as TOML, and the path to a value in one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Path = tuple[str | int, ...]
"""The path to a value: keys, and positions in lists."""


def written(table: Mapping[str, Any]) -> str:
    """A table as TOML: plain values first, tables as sections, deeper tables in one line.

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
    """A value in one line, except texts of several lines.

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
