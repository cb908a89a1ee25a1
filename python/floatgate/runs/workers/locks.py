"""One process at a time makes a preconditioned drive, also when several sweeps need it at once."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floatgate.cache import Cache

Progress = Callable[[str, int, int | None, int], object]

_LOOK = 0.1
"""Seconds between two checks whether another process is done."""


@contextmanager
def alone(cache: Cache | None, state: str | None, progress: Progress) -> Iterator[Progress]:
    """Waits while another process makes this state, then keeps others from making it.

    Yields a function that the run must call with its progress. The others go on as soon as the run
    begins. The system frees a lock when its process ends, for any reason.

    Args:
        cache: The folder of states; without it, nothing is shared and no process waits.
        state: The name of the state, if the run shares one.
        progress: Called while waiting too, with the stage `waiting`.
    """
    if cache is None or state is None or cache.state(state).is_file():
        yield progress
        return
    try:
        cache.locks.mkdir(exist_ok=True)
        # The number of files is small: if two states share a lock, the only cost is a wait.
        # Anything but a plain file of that name must not block us.
        handle = os.open(cache.locks / state[:2], os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
        file = os.fdopen(handle, "rb", buffering=0)
    except OSError:
        yield progress  # A cache that cannot be written to keeps nothing.
        return
    with file:
        while not _taken(file.fileno()):
            progress("waiting", 0, None, 0)
            if cache.state(state).is_file():
                break
            time.sleep(_LOOK)

        def told(stage: str, done: int, total: int | None, now_ns: int) -> None:
            if stage == "running":
                with suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_UN)
            progress(stage, done, total, now_ns)

        yield told


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # Some network file systems have no locks: a state may then be made twice.
    return True
