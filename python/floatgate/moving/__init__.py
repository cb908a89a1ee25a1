"""From other simulators: their parameter files as drives and workloads of ours.

`mqsim.py` and `ssdsim.py` say, for each parameter of theirs, what it is here, or why it has no
counterpart. Nothing is passed over: a parameter that neither table names is reported as unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from floatgate.engine import InputError

SHAPES_RESULTS = False


class Fate(NamedTuple):
    """What became of one parameter.

    `ours` are the settings that it became, empty if it could not be carried over; `note` says what
    differs, or why there is no counterpart.
    """

    name: str
    value: str
    ours: Mapping[str, object]
    note: str = ""


class Converted(NamedTuple):
    """A file of another simulator, as files of ours by name, and what became of each parameter."""

    simulator: str
    source: str
    files: Mapping[str, str]
    fates: Sequence[Fate]

    @property
    def lost(self) -> list[Fate]:
        """What could not be carried over."""
        return [fate for fate in self.fates if not fate.ours]


class Rule(NamedTuple):
    """What a parameter of theirs is here: `of` gives settings; `note` says what differs."""

    of: Callable[[str], Mapping[str, object]] | None
    note: str = ""


def lost(why: str) -> Rule:
    """A parameter without a counterpart."""
    return Rule(None, why)


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
            fates.append(Fate(name, value, {}, rule.note))
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


def convert(path: str | os.PathLike[str]) -> Converted:
    """Reads a parameter file of MQSim (drive or workload, XML) or SSDSim (`page.parameters`).

    Raises:
        InputError: It cannot be read, is none of these, or says something impossible.
    """
    from floatgate.moving import mqsim, ssdsim

    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: this cannot be read ({reason})") from error
    if mqsim.is_ours(text):
        return mqsim.convert(text, path)
    if ssdsim.is_ours(text):
        return ssdsim.convert(text, path)
    raise InputError(
        f"{path}: this is no parameter file that can be converted; expected MQSim's ssdconfig.xml"
        " or workload.xml, or SSDSim's page.parameters. Traces need no conversion, run them as"
        " they are"
    )


def check(converted: Converted) -> None:
    """Resolves each drive file, so that what cannot run is found now.

    Raises:
        InputError: The engine refuses a drive, with its reasons.
    """
    import tempfile

    from floatgate.run import resolve

    for name, text in converted.files.items():
        if "floatgate.drive/1" not in text:
            continue
        with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
            file = Path(folder) / name
            file.write_text(text, encoding="utf-8")
            try:
                resolve(file)
            except InputError as error:
                raise InputError(
                    f"{converted.source}: this drive cannot run here\n{error}"
                ) from None
