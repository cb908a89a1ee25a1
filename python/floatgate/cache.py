"""The folder that keeps preconditioned drives, facts of traces, and the program of pages.

It is a marked folder of floatgate's own within the folder that the user names. The engine frees
space only there, and only files with its own names (`crates/python/src/cache.rs`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from floatgate.mistakes import FileError

NAME = "floatgate-cache"
"""The name of the folder."""

_TAG = "CACHEDIR.TAG"
# Backup programs look for the first line: https://bford.info/cachedir/.
_MARK = """Signature: 8a477f597d28d172789f06886806bc55
# floatgate keeps files here that it can reproduce. This folder may be deleted at any time.
"""
_LIMIT = "4GiB"


class Cache(NamedTuple):
    """The folder of floatgate's own, and the size limit of the states in it, such as `4GiB`."""

    folder: str
    limit: str

    def state(self, name: str) -> Path:
        """The path of the preconditioned drive of this name, if it exists."""
        return Path(self.folder) / "states" / name

    @property
    def unprinted(self) -> Path:
        """The folder of results that could not be printed and were not stored elsewhere."""
        return Path(self.folder) / "unprinted"

    @property
    def made(self) -> Path:
        """The folder of files that take long to make; see `kept`."""
        return Path(self.folder) / "made"

    @property
    def locks(self) -> Path:
        """The folder of the files that name the maker of each state."""
        return Path(self.folder) / "locks"


def cache() -> Cache | None:
    """Returns the folder of the cache, made and marked if necessary; None if there is no cache.

    The cache is a folder of its own within the folder that the environment variable FLOATGATE_CACHE
    names. If the variable is empty, there is no cache. By default it is in the folder of the user's
    caches. The engine reads the greatest size of the states from FLOATGATE_CACHE_LIMIT.

    Raises:
        InputError: A folder of that name exists, and belongs to something else.
    """
    named = os.environ.get("FLOATGATE_CACHE")
    if named == "":
        return None
    base = named or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / NAME
    with suppress(OSError):  # A cache that cannot be written stores nothing.
        _claim(folder)
    return Cache(str(folder), os.environ.get("FLOATGATE_CACHE_LIMIT") or _LIMIT)


def _claim(folder: Path) -> None:
    """Makes the folder, for its owner alone, with the mark as its first file."""
    tag = folder / _TAG
    if tag.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    # Another process may be doing the same: then the mark comes before any other file.
    if any(folder.iterdir()) and not tag.exists():
        raise FileError(
            f"{folder}: the cache has its place here, and this folder holds other things; move or "
            "delete it, or name another folder with FLOATGATE_CACHE"
        )
    tag.write_text(_MARK)


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Returns what `make` returns, which the cache keeps under `name`.

    The name has to contain everything that the content depends on. Content is made anew if there is
    no cache, or if the file is damaged or belongs to somebody else.

    Raises:
        InputError: As for `cache`.
    """
    found = cache()
    path = found and found.made / name
    if path and (content := _own(path)) is not None:
        return content
    from floatgate.result.files import replace, tidy

    content = make()
    if path:
        with suppress(OSError):  # A cache that cannot be written stores nothing.
            path.parent.mkdir(mode=0o700, exist_ok=True)
            tidy(path.parent)
            replace(path, _digest(content) + content)
    return content


def _own(path: Path) -> bytes | None:
    """The content of a kept file; None if it is damaged or belongs to somebody else."""
    import stat

    try:
        what = path.lstat()  # A link may lead to a file of somebody else.
        if not stat.S_ISREG(what.st_mode) or what.st_uid != os.geteuid():
            return None
        whole = path.read_bytes()
    except OSError:
        return None
    digest, content = whole[:_LENGTH], whole[_LENGTH:]
    return content if digest == _digest(content) else None


_LENGTH = 32
"""Bytes of a digest."""


def _digest(content: bytes) -> bytes:
    """The digest that stands before content, so that damage is seen."""
    import hashlib  # It loads OpenSSL, and most commands make no page.

    return hashlib.sha256(content).digest()
