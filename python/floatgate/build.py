"""The code that shapes results: one digest of the engine's sources and of the Python files.

It is part of the names of runs and of preconditioned drives. So results of other code are never
taken for those of this code. It is the same from a checkout, an sdist and a wheel.

The whole package counts, except a module (or a package with all its modules) that has
`SHAPES_RESULTS = False` at its beginning. Such a module only chooses runs, or shows results.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from floatgate import engine

_KINDS = (".py", ".toml", ".json")
_OUT = b"\nSHAPES_RESULTS = False\n"


@cache
def digest() -> str:
    """The digest, `sha256:` and 64 hex digits.

    The Python part is computed from the files, once in a process, at the first access.
    """
    return digest_of(engine.sources(), os.path.dirname(__file__))


def digest_of(sources: str, package: str | os.PathLike[str]) -> str:
    """The digest of an engine with these sources, together with the Python in a folder.

    It covers the lines of both, as `sha256sum` prints them. Line ends count as LF.
    """
    found = sorted(_shaping(os.fspath(package), ""))
    lines = [f"{engine.sha256(content)}  {name}\n" for name, content in found]
    return f"sha256:{engine.sha256((sources + ''.join(lines)).encode())}"


def _shaping(folder: str, inside: str) -> Iterator[tuple[str, bytes]]:
    """The files below a folder that shape results, by their names in the package."""
    with os.scandir(folder) as entries:
        there = {each.name: each for each in entries if not each.name.startswith((".", "__p"))}
    first = there.get("__init__.py")
    if first is not None and _OUT in _content(first.path):
        return
    for name, entry in there.items():
        if name.endswith(_KINDS):
            content = _content(entry.path)
            if _OUT not in content:
                yield inside + name, content
        elif "." not in name and entry.is_dir():
            yield from _shaping(entry.path, f"{inside}{name}/")


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read().replace(b"\r\n", b"\n")
