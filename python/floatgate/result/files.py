"""Files of results: read whole or not at all, written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from floatgate import engine
from floatgate.engine import InputError
from floatgate.mistakes import FileError


def length(path: Path) -> int | None:
    """The bytes of a file; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


LARGEST = 256 << 20
"""Bytes of a list of runs, at most; a result has a thousandth of that."""


def content(path: Path, what: str = "a file of results") -> bytes:
    """The content of a file of results. `what` names the expected content in messages.

    Raises:
        InputError: It cannot be read, is not a regular file, or is too large for a file of results.
    """
    return engine.content_of(path, what, LARGEST)


def json_of(path: Path, what: str, **how: Any) -> Any:
    """The value in a JSON file.

    `what` names the expected content in messages; `how` goes to `json.loads`.

    Raises:
        InputError: It cannot be read, or is not JSON.
    """
    try:
        return json.loads(engine.text_of(path, what, LARGEST), **how)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: this is not JSON ({error}); expected {what}") from None


def in_the_way(path: Path) -> str | None:
    """The object in place of a new file that is never replaced, in words; None if there is none.

    A new file gets its name by a rename, which would replace a device permanently.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        return None
    return "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"


def replace(path: Path, text: str | bytes) -> None:
    """Writes a file, which appears whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    new = path.with_name(unfinished(path.name.replace("-", "_")))
    try:
        new.write_bytes(text.encode() if isinstance(text, str) else text)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write(path: Path, data: bytes) -> None:
    """Writes a file. It is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def settle(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk, if the system can tell."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


_UNFINISHED = ".unfinished-"
"""Begins the name of a file that exists only while a process is at work; see `unfinished`."""


def unfinished(name: str) -> str:
    """The name of a file or a folder that `tidy` removes when this process is gone.

    It contains the machine and the process. `name` distinguishes the files of one process, and has
    no dash.
    """
    return f"{_UNFINISHED}{os.uname().nodename}-{os.getpid()}-{name}"


def tidy(folder: Path) -> None:
    """Removes files that killed processes of this machine have left in a folder of results."""
    import shutil

    for left in folder.glob(f"{_UNFINISHED}*"):
        host, _, rest = left.name.removeprefix(_UNFINISHED).rpartition("-")[0].rpartition("-")
        if host != os.uname().nodename or not rest.isdigit() or _is_alive(int(rest)):
            continue
        if left.is_symlink() or not left.is_dir():
            with suppress(OSError):
                left.unlink()
            continue
        # Processes of a container have numbers of their own, and locks that others see.
        with suppress(OSError):
            lock = locked(left)
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def locked(folder: Path) -> int:
    """A handle that keeps a folder locked until it is closed.

    Raises:
        BlockingIOError: Somebody else has locked it.
    """
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        pass  # Some network file systems lock no folders: then the process alone counts.
    return handle


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # It is somebody else's.
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True  # Not on Linux, or the process has just ended.
    # A zombie does nothing more. Some remain, because process 1 of many containers waits for no
    # orphan.
    return state not in "ZX"


def _first_that_exists(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    return there


def prepare_folder(folder: Path) -> list[Path]:
    """As `make_folder`, for results; files that killed processes left in the folder are deleted.

    Raises:
        InputError: None can be stored there.
    """
    there = _first_that_exists(folder)
    if not there.is_dir():
        raise FileError(f"{folder}: no result can be stored here, `{there}` is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise FileError(f"{folder}: no result can be stored here, `{there}` is not writable")
    try:
        made = make_folder(folder)
    except OSError as error:
        message = f"{folder}: no result can be stored here ({reason(error)})"
        raise InputError(message) from error
    if not made:
        tidy(folder)
    return made


def make_folder(folder: Path) -> list[Path]:
    """Makes a folder and those above it; returns the new ones, innermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
    return missing


def reason(error: OSError) -> str:
    """The system's reason for a refusal, in its words."""
    return (error.strerror or str(error)).lower()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Acts on a table of a run. Its content may be anything: only its length is known.

    Raises:
        InputError: It cannot be done.
    """
    from floatgate.result.page_headers import check_pages

    try:
        check_pages(path)
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        lines = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
        raise InputError(
            f"{path}: this table is damaged or of another version ({reason}); make the run again"
        ) from error
