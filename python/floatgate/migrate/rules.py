"""The meaning of a foreign parameter here: the form of the tables in `mqsim` and `ssdsim`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Self

from floatgate.engine import InputError
from floatgate.experiments.toml import inline
from floatgate.hints import nearest
from floatgate.terminal import visible


class Value(str):
    """A foreign parameter's value and its place: errors name both."""

    name: str
    line: int

    def __new__(cls, text: str, name: str, line: int) -> Self:
        """The value `text` of the parameter `name` in a line."""
        value = super().__new__(cls, text)
        value.name, value.line = name, line
        return value


class ValueRefusedError(ValueError):
    """A value that its parameter cannot have."""

    def __init__(self, text: str, why: str) -> None:
        self.line = text.line if isinstance(text, Value) else None
        self.where = ""
        super().__init__(f"{text.name}: {why}" if isinstance(text, Value) else why)


def placed(error: ValueError, path: object, where: str = "") -> str:
    """An error with the file, the line where it is known, and the part of the file in words."""
    line = getattr(error, "line", None)
    where = where or getattr(error, "where", "")
    place = f"{path}" if line is None else f"{path}:{line}"
    return f"{place}: {where}: {error}" if where else f"{place}: {error}"


class Fate(NamedTuple):
    """The fate of one parameter.

    `ours` are the settings that it became; `note` gives the difference, or why there is no
    counterpart. Without settings it is lost, unless `settled`: with this value, and those of the
    other parameters, nothing need be set here to have the same.
    """

    name: str
    value: str
    ours: Mapping[str, object]
    note: str = ""
    settled: bool = False

    @property
    def word(self) -> str:
        """`carried`, `settled` or `lost`."""
        return "carried" if self.ours else "settled" if self.settled else "lost"


class Converted(NamedTuple):
    """A file of another simulator, as files of ours by name, and the outcome for each parameter.

    `runs` are the drives and workloads that belong together, by the names of their files. `missing`
    are files that the workloads name and that do not exist. `notes` list, each with its line,
    departures of a file from its form that the other simulator accepts.
    """

    simulator: str
    source: str
    files: Mapping[str, str]
    fates: Sequence[Fate]
    runs: Sequence[tuple[str, str]] = ()
    missing: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def lost(self) -> list[Fate]:
        """The parameters that could not be converted."""
        return [fate for fate in self.fates if fate.word == "lost"]


class Rule(NamedTuple):
    """The meaning of a foreign parameter here: `of` gives settings; `note` the difference."""

    of: Callable[[str], Mapping[str, object]] | None
    note: str = ""
    settled: bool = False


def lost(why: str) -> Rule:
    """A parameter without a counterpart."""
    return Rule(None, why)


def settled(why: str) -> Rule:
    """A parameter for which nothing need be set."""
    return Rule(None, why, settled=True)


UNKNOWN = "unknown: no version of the simulator at hand has it"


def unknown(name: str, value: str, known: Iterable[str]) -> Fate:
    """A parameter or an element without a rule, with the name that was perhaps meant."""
    near = nearest(name, known)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return Fate(name, value, {}, f"{UNKNOWN}{meant}")


def applied(
    rules: Mapping[str, Rule], values: Mapping[str, str], path: object, where: str = ""
) -> list[Fate]:
    """The fate of each value; `path` and `where` name the place in errors.

    Raises:
        InputError: Parameters have values that they cannot have; all are listed.
    """
    fates: list[Fate] = []
    mistakes: list[str] = []
    for name, value in values.items():
        rule = rules.get(name)
        if rule is None:
            fates.append(unknown(name, value, rules))
            continue
        if rule.of is None:
            fates.append(Fate(name, value, {}, rule.note, rule.settled))
            continue
        try:
            ours = rule.of(value)
        except ValueError as error:
            mistakes.append(placed(error, path, where))
            continue
        fates.append(Fate(name, value, ours, rule.note))
    if mistakes:
        raise InputError("\n".join(mistakes))
    return fates


_WHOLE = re.compile(r"\s*([+-]?\d{1,18})(?:\.\d*)?\s*", re.ASCII)


def whole(text: str, least: int = 0, most: int = 2**53) -> int:
    """A whole number; a fraction behind it is cut, as C++ cuts it.

    Raises:
        ValueRefusedError: The text is not a number, or is beyond `least` or `most`.
    """
    found = _WHOLE.fullmatch(text)
    if found is None:
        raise ValueRefusedError(text, f"expected a whole number, found `{text}`")
    number = int(found[1])
    if not least <= number <= most:
        expected = f"from {least} on" if most == 2**53 else f"from {least} to {most}"
        raise ValueRefusedError(text, f"expected a whole number {expected}, found `{text}`")
    return number


def percent(text: str) -> int:
    """A whole number from 0 to 100."""
    return whole(text, 0, 100)


def fraction(text: str) -> float:
    """A number that is not negative.

    Raises:
        ValueRefusedError: The text is not such a number.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueRefusedError(text, f"expected a number from 0 on, found `{text}`")
    return number


def time_of(ns: int) -> str:
    """A time as drive files have it."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns and ns % size == 0:
            return f"{ns // size}{unit}"
    return f"{ns}ns"


def size_of(count: int) -> str:
    """A number of bytes as drive files have it."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count and count % size == 0:
            return f"{count // size}{unit}"
    return f"{count}B"


def one_of(
    text: str,
    known: Mapping[str, Mapping[str, object]],
    refused: Mapping[str, str] | None = None,
) -> Mapping[str, object]:
    """The settings of a word; `refused` has the words that other versions know, and why not here.

    Raises:
        ValueRefusedError: There is no such word.
    """
    word = text.strip().upper()
    if word not in known:
        why = (refused or {}).get(word)
        said = f"expected one of {', '.join(known)}, found `{text}`"
        raise ValueRefusedError(text, f"{said}: {why}" if why else said)
    return known[word]


def drive_file(name: str, summary: str, settings: Mapping[str, object]) -> str:
    """A drive file with these settings; keys are paths such as `ftl.gc.start`."""
    tables: dict[str, list[str]] = {}
    for path, value in settings.items():
        table, _, key = path.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {inline(value)}")
    lines = [
        'schema = "floatgate.drive/1"',
        # The names of files may have control characters, which those of drives may not.
        f"name = {inline(visible(name))}",
        f"summary = {inline(visible(summary))}",
        *tables.pop("", []),
    ]
    for table, entries in tables.items():
        lines += ["", f"[{table}]", *entries]
    return "\n".join(lines) + "\n"
