"""What a parameter of another simulator is here: the form of the tables in `mqsim` and `ssdsim`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from floatgate.engine import InputError


class Fate(NamedTuple):
    """What became of one parameter.

    `ours` are the settings that it became; `note` says what differs, or why there is no
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
    """A file of another simulator, as files of ours by name, and what became of each parameter.

    `runs` are the drives and workloads that belong together, by the names of their files; `missing`
    are files that the workloads name and that are not there.
    """

    simulator: str
    source: str
    files: Mapping[str, str]
    fates: Sequence[Fate]
    runs: Sequence[tuple[str, str]] = ()
    missing: Sequence[str] = ()

    @property
    def lost(self) -> list[Fate]:
        """What could not be carried over."""
        return [fate for fate in self.fates if fate.word == "lost"]


class Rule(NamedTuple):
    """What a parameter of theirs is here: `of` gives settings; `note` says what differs."""

    of: Callable[[str], Mapping[str, object]] | None
    note: str = ""
    settled: bool = False


def lost(why: str) -> Rule:
    """A parameter without a counterpart."""
    return Rule(None, why)


def settled(why: str) -> Rule:
    """A parameter for which nothing need be set."""
    return Rule(None, why, settled=True)


def applied(rules: Mapping[str, Rule], values: Mapping[str, str], source: str) -> list[Fate]:
    """What becomes of each value.

    Raises:
        InputError: A value is none that this parameter can have; the place is said.
    """
    fates = []
    for name, value in values.items():
        rule = rules.get(name)
        if rule is None:
            fates.append(
                Fate(name, value, {}, "unknown: no version of the simulator at hand has it")
            )
            continue
        if rule.of is None:
            fates.append(Fate(name, value, {}, rule.note, rule.settled))
            continue
        try:
            ours = rule.of(value)
        except ValueError as error:
            raise InputError(f"{source}: {name}: {error}") from None
        fates.append(Fate(name, value, ours, rule.note))
    return fates


def whole(text: str) -> int:
    """A whole number; ValueError says what was expected."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number, found `{text}`") from None


def fraction(text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number, found `{text}`") from None


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


def one_of(text: str, known: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    """The settings of a word."""
    if text.upper() not in known:
        raise ValueError(f"expected one of {', '.join(known)}, found `{text}`")
    return known[text.upper()]


def drive_file(name: str, summary: str, settings: Mapping[str, object]) -> str:
    """A drive file with these settings; keys are paths such as `ftl.gc.start`."""
    tables: dict[str, list[str]] = {}
    for path, value in settings.items():
        table, _, key = path.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {written(value)}")
    lines = [
        'schema = "floatgate.drive/1"',
        f"name = {written(name)}",
        f"summary = {written(summary)}",
        *tables.pop("", []),
    ]
    for table, entries in tables.items():
        lines += ["", f"[{table}]", *entries]
    return "\n".join(lines) + "\n"


def written(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {written(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return str(value)
