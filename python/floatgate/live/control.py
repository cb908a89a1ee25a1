"""Speaking to a drive that is served: a line of JSON each way, through its control socket."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING, Any, Self

from floatgate.engine import InputError
from floatgate.mistakes import ServiceError

if TYPE_CHECKING:
    from os import PathLike

_SECONDS = 30.0


class Control:
    """A connection to the control socket of `serve`.

    Raises:
        InputError: Nobody listens there, or what was asked is refused. All methods raise it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_SECONDS)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            message = f"{path}: no drive is controlled there ({error.strerror or error})"
            raise ServiceError(message) from error
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._socket.close()

    def status(self) -> dict[str, Any]:
        """How the drive stands; everything counts from the start of the server."""
        return self._ask("status")

    def smart(self) -> dict[str, Any]:
        """The health of the drive, under the names of nvme-cli's `smart-log` as JSON."""
        return self._ask("smart")

    def fail_reads(self, offset: int, size: int) -> None:
        """Lets every read fail that touches `size` bytes from byte `offset` on."""
        self._ask("fault", offset=offset, bytes=size)

    def heal(self) -> None:
        """Lets no read fail any more."""
        self._ask("heal")

    def cut_power(self) -> None:
        """Takes the power away and brings it back: clients are cut off, unsafe data are lost."""
        self._ask("power-cut")

    def _ask(self, what: str, **more: int) -> dict[str, Any]:
        try:
            self._socket.sendall(json.dumps({"do": what, **more}).encode() + b"\n")
            line = self._lines.readline()
        except OSError as error:
            raise ServiceError(f"{self._path}: no answer ({error.strerror or error})") from error
        if not line:
            raise ServiceError(f"{self._path}: no answer, the server has ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise InputError(f"{self._path}: {answer['error']}")
        return answer


def range_of(text: str) -> tuple[int, int]:
    """First byte and size of a range of bytes.

    Raises:
        InputError: It is none.

    >>> range_of("1MiB:4KiB")
    (1048576, 4096)
    """
    numbers = [_bytes_of(part) for part in text.split(":")]
    match numbers:
        case [int(offset), int(size)] if size > 0:
            return offset, size
    raise InputError(f"`{text}` is no range of bytes; OFFSET:SIZE is one, such as 1MiB:4KiB")


def _bytes_of(text: str) -> int | None:
    found = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB|TiB)?", text)
    if not found:
        return None
    power = ("B", "KiB", "MiB", "GiB", "TiB").index(found[2] or "B")
    return int(found[1]) << 10 * power
