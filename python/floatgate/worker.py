"""A process that carries out runs for another one: `floatgate.pool` starts it and talks to it."""

from __future__ import annotations

import importlib
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import NoReturn

from floatgate.pool import perform
from floatgate.result import Result


def main() -> None:
    """Carries out the jobs that come in, until whoever gives them is gone or Ctrl-C comes."""
    connection = Connection(int(sys.argv[1]))
    # A shell has commands in the background ignore Ctrl-C, and so they pass on to their own.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    # The engine hands columns over as arrays, and must not be interrupted while it looks for numpy.
    importlib.import_module("numpy")
    with suppress(KeyboardInterrupt, EOFError, OSError):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while True:
            job = connection.recv()
            # Sending fails when nobody is listening any more, and that ends the run.
            outcome = perform(job, lambda *state: connection.send(state))
            if isinstance(outcome, Result):
                connection.send((outcome.data, outcome.folder))
            else:
                connection.send(outcome)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    # A terminal and the starting process may both send it: once is enough, and what is tidied up
    # after the first is not interrupted by the second.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
