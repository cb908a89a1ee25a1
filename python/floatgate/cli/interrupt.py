"""Ctrl-C for the command line: noticed at any place of the program."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_heard = False


def listen() -> None:
    """Notes Ctrl-C besides raising it, unless it is ignored.

    Code that cannot pass an exception on, such as the callback of a weak reference, loses
    `KeyboardInterrupt`. `check` raises it again.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raises KeyboardInterrupt if Ctrl-C came and was not acted on."""
    if _heard:
        raise KeyboardInterrupt


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    global _heard
    _heard = True
    raise KeyboardInterrupt
