"""Command lines from one process: each in a child that is forked when all is loaded.

A start loads some hundred modules, which takes longer than most commands of the tests.

Reads a command in each line of its input, as JSON: `words`, `folder`, and, unless it is that of
this process, the whole `environment`. `limited` commands meet the limits below, and are killed if
they do not end. Prints for each `[EXIT CODE or null, OUT, ERR, SECONDS]`: null stands for one that
was killed; seconds are of processor time, with that of its own children.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

MEMORY = 8 << 30
"""Bytes of address space of each: a reader of an endless file meets this limit."""

SECONDS = 120
"""Of processor time: an endless loop is stopped, on a machine of any load."""

PATIENCE = {True: 240, False: 600}
"""Seconds on the clock, with limits and without: a run that waits for ever is killed."""


SPENT = [0.0]
"""Processor time of all commands, in seconds: they are children of another process."""


class Done(NamedTuple):
    """The outcome of a command; a code of `None` stands for one that did not end."""

    code: int | None
    out: str
    err: str
    seconds: float


class Forks:
    """The process that forks, seen by those who have commands."""

    def __init__(self, **more: str) -> None:
        """`more` is the environment that this process has beside ours."""
        self._spent = 0.0
        # With `-P` no module of the tests is found where floatgate looks for one of its own.
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            env=os.environ | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(
        self,
        words: Sequence[str | os.PathLike[str]],
        folder: Path | str,
        environment: Mapping[str, str] | None = None,
        *,
        limited: bool = False,
    ) -> Done:
        """Carries out a command in a folder."""
        asked: dict[str, Any] = {"words": [os.fspath(word) for word in words]}
        asked |= {"folder": str(folder), "limited": limited}
        if environment is not None:
            asked["environment"] = dict(environment)
        to, come = self._process.stdin, self._process.stdout
        assert to is not None
        assert come is not None
        # Names that are not UTF-8 are surrogates, which JSON spells out.
        to.write(json.dumps(asked).encode() + b"\n")
        to.flush()
        done = Done(*json.loads(come.readline()))
        SPENT[0] += done.seconds
        self._spent += done.seconds
        return done

    def close(self) -> None:
        """Ends the process: its time, and that of its commands, is now that of a child of ours."""
        self._process.communicate()
        SPENT[0] -= self._spent


def child(asked: dict[str, Any], out: IO[bytes], err: IO[bytes]) -> None:
    """Carries out one command, and ends the process."""
    if "environment" in asked:
        os.environ.clear()
        os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    if asked["limited"]:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.argv = ["floatgate", *(os.fsdecode(os.fsencode(word)) for word in asked["words"])]
    from floatgate import process

    try:
        process.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def one(asked: dict[str, Any]) -> list[Any]:
    """The outcome of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            child(asked, out, err)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
        signal.alarm(PATIENCE[asked["limited"]])
        begun = time.monotonic()
        _, status, used = os.wait4(pid, 0)
        signal.alarm(0)
        late = time.monotonic() - begun >= PATIENCE[asked["limited"]]
        code = None if late else os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="backslashreplace"))
    return [code, *texts, used.ru_utime + used.ru_stime]


if __name__ == "__main__":
    # These modules are loaded by most commands. polars is not one of them: it starts threads, and a
    # forked process would have none of them.
    import floatgate.cli
    import floatgate.experiments
    import floatgate.migrate.convert
    import floatgate.report
    import floatgate.reproduce.runner
    import floatgate.result.tables
    import floatgate.runs.sweep  # noqa: F401

    assert "polars" not in sys.modules

    for line in sys.stdin.buffer:
        print(json.dumps(one(json.loads(line))), flush=True)
