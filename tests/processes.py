"""Finding, holding and ending the processes of a test, and no others: they carry its mark.

No test depends on how quick a machine is. A test that needs a moment makes it, with runs and
workers that wait for the test. A test that needs an end "at once" counts processor time, not the
clock.
"""

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "FLOATGATE_TEST_MARK"


def marked(mark: str) -> dict[int, str]:
    """The living processes with the mark in their environment, and their command lines."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        except OSError:
            continue  # It has ended, or it is somebody else's.
    return found


def workers(mark: str) -> list[int]:
    """The processes that carry out runs for another one."""
    return [
        pid for pid, command in marked(mark).items() if "floatgate.runs.workers.process" in command
    ]


def at_work(pid: int) -> bool:
    """Whether the engine is at work in the process: it has a thread with a name of its own."""
    for thread in Path(f"/proc/{pid}/task").glob("*/comm"):
        with suppress(OSError):  # It has ended meanwhile.
            if thread.read_text() == "floatgate\n":
                return True
    return False


def storing(folder: Path) -> set[int]:
    """The processes of which each has a part of a run in a folder of results, and not yet all."""
    found = set()
    for run in folder.glob(".unfinished-*"):
        with suppress(FileNotFoundError):  # It has all, and has moved to its place meanwhile.
            if any(run.iterdir()):
                found.add(int(run.name.split("-")[-2]))
    return found


LONG = 300.0
"""Seconds that tests wait for an expected event, on a machine of any load."""


def wait_for(what: Callable[[], object]) -> None:
    """Waits until something is so, and fails if it does not come about."""
    deadline = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def kill(pid: int) -> None:
    """Kills a process and waits until nothing of it is open any more."""
    os.kill(pid, signal.SIGKILL)

    def ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    wait_for(ended)


def processor_seconds(pid: int) -> float:
    """The processor time of a process and of those that it has started and seen the end of."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def at_once(*pids: int) -> Iterator[None]:
    """Fails if these processes, which end meanwhile, take more than two seconds for it.

    They are seconds of a processor: an engine that goes on takes them, under any other load.
    """

    def ended() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = ended() + sum(map(processor_seconds, pids))
    yield
    assert ended() - before < 2


PATIENT = """
import floatgate.cli, floatgate.runs.workers.pool
floatgate.runs.workers.pool._PATIENCE = 300.0
floatgate.cli.main()
"""
"""The command line with workers that may tidy up for as long as it takes on a busy machine."""


WAITS = """
import os, time
from pathlib import Path
from floatgate.policy import Cost

HERE = Path(__file__).parent

class Waits(Cost):
    passed = False

    def initial(self):
        return "medium"

    def level(self, write):
        if not self.passed:
            self.passed = True
            if len([*HERE.glob("{results}/[!.]*/result.json")]) >= {free}:
                (HERE / f"{name}.{{os.getpid()}}").touch()
                while not (HERE / "{name}.open").exists():
                    time.sleep(0.01)
        return "medium"
"""


class Gate:
    """Runs that are in the middle: they wait at their first write until a test opens the gate.

    Args:
        folder: Where their policy is imported from.
        results: In this folder within it they store their results; as long as fewer than `free` of
            them are there, the gate lets runs through.
        free: See above.
    """

    def __init__(self, folder: Path, results: str = "results", free: int = 0) -> None:
        self._folder = folder
        self._name = f"gate_{os.getpid()}_{time.monotonic_ns()}"
        self.policy = f"py:{self._name}.Waits"
        code = WAITS.format(name=self._name, results=results, free=free)
        (folder / f"{self._name}.py").write_text(code)

    def waiting(self) -> set[int]:
        """The processes with a run that waits, as long as the gate is not open."""
        return {int(path.suffix[1:]) for path in self._folder.glob(f"{self._name}.[0-9]*")}

    def open(self) -> None:
        """Lets all of them go on."""
        (self._folder / f"{self._name}.open").touch()


HELD = """
import sys, time
from pathlib import Path
if "floatgate.runs.workers.process" in sys.orig_argv:
    (Path(__file__).parent / "held").touch()
    while not (Path(__file__).parent / "let-go").exists():
        time.sleep(0.01)
"""


class Threshold:
    """Workers that are not yet there: they wait on their way until a test lets them in.

    `folder` is to be on their path. Python looks there for the module that it runs before all
    others.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sitecustomize.py").write_text(HELD)

    def is_reached(self) -> bool:
        """Whether one waits."""
        return (self.folder / "held").exists()

    def let_go(self) -> None:
        """Lets all of them in."""
        (self.folder / "let-go").touch()
