"""Finding and ending the processes of a test, and no others: they carry its mark."""

import os
import signal
import time
from collections.abc import Callable
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
    return [pid for pid, command in marked(mark).items() if "floatgate.worker" in command]


def busy(pid: int) -> bool:
    """Whether the process has computed for half a second already."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") > 0.5


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    """Waits until something is so, and fails if it does not come about."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
