r"""What the command line sends to a terminal: text, and no control characters of somebody else's.

Names come from files: of drives, workloads, devices, folders. A terminal obeys what is in them, so
they are shown: an escape character as `\x1b`. What floatgate itself wants the terminal to do goes
through `control`, between marks that no file can know.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, TextIO

SHAPES_RESULTS = False

_MARK = f"\0{os.urandom(8).hex()}\0"
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but line ends and tabs, and what turns the direction of text round."""


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


def listen_to_nobody_else() -> None:
    """From here on, standard output and standard error show control characters."""
    sys.stdout = Shown(sys.stdout)
    sys.stderr = Shown(sys.stderr)


class Shown:
    """A stream that passes text on and shows what a terminal would obey."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes a text; what lies between marks goes as it is."""
        parts = text.split(_MARK)
        ours = parts[1::2]
        shown = [visible(part) for part in parts[::2]]
        self._stream.write("".join(a + b for a, b in zip(shown, [*ours, ""], strict=True)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Writes several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
