"""Mistakes in an experiment: all at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from floatgate.engine import ConfigError
from floatgate.experiments.toml import Path

CODE = "experiment::entry"
"""For all of them: the line says more than the kind would."""


class Mistake(NamedTuple):
    """A mistake, its place, and a hint."""

    path: Path
    message: str
    help: str = ""


class Text(NamedTuple):
    """The text that an experiment was read from; empty for one made in Python."""

    name: str = ""
    text: str = ""
    lines: Mapping[Path, int] = {}

    def line(self, path: Path) -> int | None:
        """The line of a value, or of the nearest table that holds it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def shown(self, mistake: Mistake) -> str:
        """A mistake with the line that it is about."""
        line = self.line(mistake.path)
        parts = [f"error[{CODE}]: {mistake.message}"]
        if line is None:
            place = self.name or "experiment"
            parts.append(
                f" --> {place}: {spelled(mistake.path)}" if mistake.path else f" --> {place}"
            )
            bar = "  "
        else:
            width = len(str(line))
            text = self.text.split("\n")[line - 1]
            bar = " " * (width + 1)
            parts += [
                f"{' ' * width}--> {self.name}:{line}",
                f"{bar}|",
                f"{line} | {text}",
                f"{bar}|",
            ]
        if mistake.help:
            parts.append(f"{bar}= help: {mistake.help}")
        return "\n".join(parts)

    def error(self, mistakes: Iterable[Mistake]) -> ConfigError:
        """All of them."""
        texts = [self.shown(mistake) for mistake in mistakes]
        error = ConfigError("\n\n".join(texts))
        error.errors = texts
        return error


def spelled(path: Path) -> str:
    """A path as a person would write it.

    >>> spelled(("runs", 0, "set", "ftl.spare-factor"))
    'runs[0].set."ftl.spare-factor"'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (f'"{part}"' if "." in part else part)
    return text
