r"""Output of the command line to a terminal: text, and no control characters from files.

Names come from files: of drives, workloads, devices, folders. A terminal obeys control characters
in them, so these are shown as text, such as `\x1b`. Floatgate's own control sequences go through
`control`, between marks that no file can contain.

Text that cannot be written to standard output, which has the results, is an `OutputError`. On
standard error it is ignored, because no message could be shown.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

SHAPES_RESULTS = False

_MARK = f"\0{os.urandom(8).hex()}\0"
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but line ends and tabs, marks that turn the direction of text round, and bytes
of names that are not UTF-8."""


def visible(text: str) -> str:
    r"""The text with its control characters spelled out.

    >>> visible("a\x1b[2Jb\n"), visible("\x9b\u202e")
    ('a\\x1b[2Jb\n', '\\x9b\\u202e')
    """
    return _UNSEEN.sub(lambda found: _spelled(ord(found[0])), text)


def control(sequence: str) -> str:
    """A sequence for the terminal, as part of a text that is printed."""
    wrapped = isinstance(sys.stdout, Shown) or isinstance(sys.stderr, Shown)
    return f"{_MARK}{sequence}{_MARK}" if wrapped else sequence


class OutputError(Exception):
    """Standard output takes no more; `kept` is where the text is kept instead."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kept: str | None = None

    @property
    def nobody_reads(self) -> bool:
        """Whether the reader has closed it, as `head` does."""
        return isinstance(self.reason, BrokenPipeError)

    def __str__(self) -> str:
        why = (self.reason.strerror or str(self.reason)).lower()
        kept = "" if self.kept is None else f"\n{self.kept}"
        return f"standard output cannot be written ({why}){kept}"


def listen_to_nobody_else() -> None:
    """From here on, standard output and standard error show control characters."""
    sys.stdout = Shown(sys.stdout, of_results=True)
    sys.stderr = Shown(sys.stderr)


def give_up() -> None:
    """Standard output has failed: the rest of its text is not tried again."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def end_like_a_pipe() -> NoReturn:
    """Ends the process by SIGPIPE, as other tools do when the reader of a pipe closes it."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    raise SystemExit(128 + signal.SIGPIPE)


class Shown:
    """A stream that passes text on and spells out characters that a terminal would obey.

    Args:
        stream: Where the text goes; None where the process was started without.
        of_results: Whether a text that cannot be written is an `OutputError`.
    """

    def __init__(self, stream: TextIO | None, *, of_results: bool = False) -> None:
        self._stream = stream
        self._of_results = of_results

    def write(self, text: str) -> int:
        """Writes a text. Parts between marks are not changed."""
        parts = text.split(_MARK)
        ours = parts[1::2]
        shown = [visible(part) for part in parts[::2]]
        whole = "".join(a + b for a, b in zip(shown, [*ours, ""], strict=True))
        try:
            self._there().write(whole)
        except OSError as error:
            self._failed(error)
        return len(text)

    def flush(self) -> None:
        """Hands on the text so far."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except OSError as error:
            self._failed(error)

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return self._stream is not None and self._stream.isatty()

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes several texts."""
        for line in lines:
            self.write(line)

    def _there(self) -> TextIO:
        if self._stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._stream

    def _failed(self, error: OSError) -> None:
        if self._of_results:
            raise OutputError(error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spelled(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # A byte of a name that is not UTF-8, as Python keeps it.
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
