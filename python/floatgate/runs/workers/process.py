"""A process that carries out runs for another one: `pool` starts it and talks to it."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from floatgate.build import digest
from floatgate.result.comparison import Failure
from floatgate.result.run import Result
from floatgate.runs.workers.pool import perform

_interrupted = False

_OTHER = "the files of floatgate have changed since this began; start it again"


def main() -> None:
    """Carries out the jobs that come in, until the sender is gone or Ctrl-C comes."""
    connection = Connection(int(sys.argv[1]))
    # A shell lets background commands ignore Ctrl-C, and their children inherit that.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)

    def tell(*state: Any) -> None:
        if _interrupted:
            raise KeyboardInterrupt
        # Fails when the parent no longer listens, and that ends the run.
        connection.send(state)

    with suppress(KeyboardInterrupt, EOFError, OSError):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while digest() != sys.argv[2]:
            connection.recv_bytes()  # Other code need not know jobs at all.
            connection.send(Failure("input", _OTHER))
        while not _interrupted:
            job = connection.recv()
            outcome = perform(job, tell)
            if isinstance(outcome, Result):
                connection.send((outcome.data, outcome.folder))
            else:
                connection.send(outcome)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    # The signal is noted, and acted on about ten times a second, when a run reports its progress.
    # An exception here would come up at any place of the interpreter, even where none can be passed
    # on.
    global _interrupted
    _interrupted = True


if __name__ == "__main__":
    main()
