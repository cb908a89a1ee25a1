"""Pages that stay until the user closes them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floatgate.report.live import Live

SHAPES_RESULTS = False


def stay(live: Live) -> None:
    """Serves the page until Ctrl-C, which is its usual end."""
    with live.serve() as server:
        _say(f"Page: {server.address}\nIt stays until Ctrl-C.")
        _wait()


@contextmanager
def watched(live: Live) -> Iterator[None]:
    """Serves the page during the context, and afterwards until Ctrl-C if it ended by itself.

    The command then ends with the result of the block; Ctrl-C before that ends both.
    """
    with live.serve() as server:
        _say(f"Page: {server.address}")
        try:
            yield
        except SystemExit:
            live.ended = True
            sys.stdout.flush()
            _say("The page stays until Ctrl-C.")
            _wait()
            raise


def _wait() -> None:
    try:
        # With an end: polars answers signals too, after which they interrupt no system call.
        while not threading.Event().wait(0.2):
            pass
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _say(words: str) -> None:
    # Standard output has the results alone.
    print(words, file=sys.stderr, flush=True)
