"""Resolved settings as a drive file again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def common(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings that are equal in all. A policy with its parameters is one setting.

    >>> common([{"a": 1, "b": {"c": 2, "d": 3}}, {"a": 1, "b": {"c": 2, "d": 4}}])
    {'a': 1, 'b': {'c': 2}}
    """
    first, *others = configs
    shared: dict[str, Any] = {}
    for key, value in first.items():
        there = [other[key] for other in others if key in other]
        if len(there) < len(others):
            continue
        if all(other == value for other in there):
            shared[key] = value
        elif isinstance(value, Mapping) and "name" not in value:
            shared[key] = common([value, *there])
    return shared


def without(
    config: Mapping[str, Any], shared: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, str]]:
    """The settings outside the shared ones, with their paths, as `--set` takes them."""
    for key, value in config.items():
        there = f"{path}.{key}" if path else key
        if key in shared and shared[key] == value:
            continue
        if isinstance(value, Mapping) and "name" not in value:
            yield from without(value, shared.get(key, {}), there)
        else:
            yield there, value if isinstance(value, str) else as_value(value)


def as_toml(config: Mapping[str, Any]) -> str:
    """Tables under their headings, values before tables."""
    return "\n\n".join(_tables(config, ())) + "\n"


def as_value(value: Any) -> str:
    """A value as TOML.

    >>> as_value({"name": "fixed", "steps": [1, 2.5], "on": True})
    '{ name = "fixed", steps = [1, 2.5], on = true }'
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {as_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _tables(config: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in config.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {as_value(value)}" for key, value in plain.items()]
    if path and (lines or not config):
        lines.insert(0, f"[{'.'.join(map(_key, path))}]")
    if lines:
        yield "\n".join(lines)
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _tables(value, (*path, key))


def _key(key: str) -> str:
    bare = key.replace("-", "").replace("_", "")
    return key if bare.isalnum() and bare.isascii() else json.dumps(key, ensure_ascii=False)
