"""Which code makes results: one digest of the engine's sources and of the Python that shapes a run.

It is part of the names of runs and of preconditioned drives, so that what other code has made is
never taken for what this code would make. It is the same from a checkout, an sdist and a wheel.

All of this package counts, but for what says `SHAPES_RESULTS = False` at its beginning: a module,
or a package with all in it. What says so only chooses runs, or shows what came out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from floatgate import engine

_KINDS = (".py", ".toml", ".json")
_OUT = b"\nSHAPES_RESULTS = False\n"


@cache
def digest() -> str:
    """The digest, `sha256:` and 64 hex digits.

    Of Python it is taken from the files, once in a process, when it is first asked for.
    """
    return digest_of(engine.sources(), Path(__file__).parent)


def digest_of(sources: str, package: Path) -> str:
    """The digest of an engine that says this of its sources, with the Python in a folder.

    Over the lines of both, as `sha256sum` prints them; line ends count as LF.
    """
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {path.relative_to(package).as_posix()}\n"
        for path, content in sorted(_shaping(package))
    ]
    text = sources + "".join(lines)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _shaping(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The files below a folder that shape results, with their content."""
    with os.scandir(folder) as entries:
        inside = sorted(entry.name for entry in entries if not entry.name.startswith((".", "__p")))
    contents = {
        folder / name: (folder / name).read_bytes().replace(b"\r\n", b"\n")
        for name in inside
        if name.endswith(_KINDS)
    }
    if _OUT in contents.get(folder / "__init__.py", b""):
        return
    yield from ((path, content) for path, content in contents.items() if _OUT not in content)
    for name in inside:
        if "." not in name and (folder / name).is_dir():
            yield from _shaping(folder / name)
