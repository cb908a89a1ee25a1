"""Many command lines from one process: each in a child that is forked when all is loaded.

Reads `[[WORDS, FOLDER], ...]` as JSON, and carries each command out in its folder. Prints for each
`[EXIT CODE or null, OUT, ERR]`: null stands for one that was killed because it did not end.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
from typing import IO, Any

MEMORY = 8 << 30
"""Bytes of address space of each: a reader of an endless file meets this limit."""

SECONDS = 120
"""Of processor time: an endless loop is stopped, on a machine of any load."""

PATIENCE = 240
"""Seconds on the clock: a run that waits for ever is killed."""


def child(words: list[str], folder: str, out: IO[bytes], err: IO[bytes]) -> None:
    """Carries out one command, and ends the process."""
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.argv = ["floatgate", *(os.fsdecode(os.fsencode(word)) for word in words)]
    from floatgate import process

    try:
        process.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def one(words: list[str], folder: str) -> list[Any]:
    """The outcome of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            child(words, folder, out, err)
        end = time.monotonic() + PATIENCE
        code: int | None = None
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.002)
        else:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="backslashreplace"))
    return [code, *texts]


if __name__ == "__main__":
    import floatgate.cli  # noqa: F401

    print(json.dumps([one(*command) for command in json.load(sys.stdin)]))
