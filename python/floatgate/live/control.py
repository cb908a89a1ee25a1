"""Control of a served drive: a line of JSON each way, through its control socket."""

from __future__ import annotations

import json
import re
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from floatgate.engine import InputError
from floatgate.mistakes import ServiceError

if TYPE_CHECKING:
    from os import PathLike

_SECONDS = 30.0
"""The longest time of an answer, over all its parts."""

_LONGEST = 1 << 20
"""Bytes of an answer, at most."""

_CLIENTS = b"NBDMAGIC"
"""The greeting of a server of NBD: it is on the socket for clients."""

_MEANT = "expected the control socket of `floatgate serve`, whose path the server prints"

_LATENCY = dict.fromkeys(("mean", "p50", "p99", "p99_9", "max"), 0)
_HOST = {"requests": 0, "bytes": 0, "latency_ns": _LATENCY}
_STATUS: dict[str, Any] = {
    "drive": "", "state": "", "now_ns": 0, "wall_seconds": 0, "inside": 0, "inside_ns": 0,
    "host": dict.fromkeys(("read", "write", "trim", "flush"), _HOST), "waf": None,
    "erases": {"min": 0, "mean": 0, "max": 0}, "endurance": 0, "die_busy_ns": 0, "dies": 1,
    "free_blocks": 0, "unsafe_bytes": 0, "power_cuts": 0, "media_errors": 0, "host_full": 0,
    "clients": 0,
}  # fmt: skip
"""The keys of the answer to `status`. A number stands for a number, and None for a value that may
be null.
"""

_SMART = dict.fromkeys(
    (
        "critical_warning", "avail_spare", "spare_thresh", "percent_used", "data_units_read",
        "data_units_written", "host_read_commands", "host_write_commands", "power_cycles",
        "power_on_hours", "unsafe_shutdowns", "media_errors", "num_err_log_entries",
        "warning_temp_time", "critical_comp_time",
    ),
    0,
)  # fmt: skip
"""The keys of the answer to `smart`."""


class Control:
    """A connection to the control socket of `serve`.

    Raises:
        InputError: Nobody listens there, or the request is refused. All methods raise it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        try:
            if not stat.S_ISSOCK(Path(path).stat().st_mode):
                raise ServiceError(f"{path}: this is not a socket; {_MEANT}")
        except OSError as error:
            raise self._nobody(error) from error
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SECONDS)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise self._nobody(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def status(self) -> dict[str, Any]:
        """The state of the drive; everything counts from the start of the server."""
        return self._ask("status", _STATUS)

    def smart(self) -> dict[str, Any]:
        """The health of the drive, under the names of nvme-cli's `smart-log` as JSON."""
        return self._ask("smart", _SMART)

    def fail_reads(self, offset: int, size: int) -> None:
        """Lets every read fail that touches any of `size` bytes from byte `offset` on."""
        self._ask("fault", {"faults": 0}, offset=offset, bytes=size)

    def heal(self) -> None:
        """Lets reads succeed again."""
        self._ask("heal", {"faults": 0})

    def cut_power(self) -> None:
        """Cuts the power and restores it: clients are disconnected, unsafe data are lost."""
        self._ask("power-cut", {"power_cuts": 0})

    def _ask(self, what: str, known: dict[str, Any], **more: int) -> dict[str, Any]:
        """The answer, which has all keys of `known`."""
        try:
            # A server that greets and closes may have named itself, so that is read all the same.
            with suppress(BrokenPipeError, ConnectionResetError):
                self._socket.sendall(json.dumps({"do": what, **more}).encode() + b"\n")
            line = self._answer()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ServiceError(f"{self._path}: no answer ({reason})") from error
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._somebody_else("its answer is not a line of JSON") from None
        if not isinstance(answer, dict):
            raise self._somebody_else("its answer is not a JSON object")
        if isinstance(answer.get("error"), str):
            raise InputError(f"{self._path}: {answer['error']}")
        misfit = next(_misfits(answer, known, ""), None)
        if misfit is not None:
            raise self._somebody_else(f"its answer to `{what}` lacks {misfit}")
        return answer

    def _answer(self) -> bytes:
        """The next line, of bounded length and in bounded time."""
        deadline = time.monotonic() + _SECONDS
        data = b""
        while b"\n" not in data:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"nothing whole within {_SECONDS:g} s")
            self._socket.settimeout(left)
            piece = self._socket.recv(1 << 16)
            data += piece
            if data.startswith(_CLIENTS):
                raise ServiceError(f"{self._path}: this is the socket for clients (NBD); {_MEANT}")
            if not piece:
                if data:
                    raise self._somebody_else("its answer was cut")
                raise ServiceError(
                    f"{self._path}: no answer: the server has ended, or this is not its control"
                    f" socket; {_MEANT}"
                )
            if len(data) > _LONGEST:
                raise self._somebody_else(f"its answer is longer than {_LONGEST:,} bytes")
        return data

    def _nobody(self, error: OSError) -> ServiceError:
        why = (error.strerror or str(error)).lower()
        return ServiceError(f"{self._path}: no drive is controlled there ({why}); {_MEANT}")

    def _somebody_else(self, why: str) -> ServiceError:
        return ServiceError(f"{self._path}: this is another service: {why}; {_MEANT}")


def _misfits(value: Any, known: Any, path: str) -> Iterator[str]:
    """The keys that a value lacks."""
    if isinstance(known, dict):
        for key, inside in known.items():
            below = f"{path}.{key}" if path else key
            if not isinstance(value, dict) or key not in value:
                yield f"`{below}`"
            else:
                yield from _misfits(value[key], inside, below)
    elif isinstance(known, str):
        if not isinstance(value, str):
            yield f"a text as `{path}`"
    elif not (value is None and known is None) and not _is_count(value, least=known or 0):
        yield f"a number as `{path}`"


def _is_count(value: object, least: int) -> bool:
    """Whether it is a number, and neither infinite nor not-a-number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value < 2**64


def range_of(text: str) -> tuple[int, int]:
    """First byte and size of a range of bytes.

    Raises:
        InputError: The text is not a range.

    >>> range_of("1MiB:4KiB")
    (1048576, 4096)
    """
    numbers = [_bytes_of(part) for part in text.split(":")]
    match numbers:
        case [int(offset), int(size)] if size > 0:
            return offset, size
    raise InputError(f"`{text}` is not a range of bytes; OFFSET:SIZE is one, such as 1MiB:4KiB")


def _bytes_of(text: str) -> int | None:
    found = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB|TiB)?", text)
    if not found:
        return None
    power = ("B", "KiB", "MiB", "GiB", "TiB").index(found[2] or "B")
    return int(found[1]) << 10 * power
