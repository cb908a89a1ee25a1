"""The keys of an experiment, and the values of each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from floatgate import engine
from floatgate.experiments.axes import MistakeError
from floatgate.experiments.errors import Mistake, Text
from floatgate.experiments.toml import Path as At
from floatgate.experiments.toml import inline
from floatgate.hints import hint
from floatgate.report.verdicts import KINDS, is_relation
from floatgate.result.folder import CHOICES
from floatgate.workloads.reading import Reading

__all__ = ["BLOCK", "SCHEMA", "MistakeError"]

SCHEMA = "floatgate.experiment/1"

BLOCK = (
    "drive",
    "workload",
    "flow",
    "other-traces",
    "policy",
    "set",
    "cases",
    "scale",
    "seed",
    "steady",
    "reading",
    "exclude",
    "quick",
)
"""The keys of a block of runs, which may also stand above all blocks."""

READING = tuple(key.replace("_", "-") for key in Reading.__annotations__)

TEXT, NUMBER, FLAG, TABLE, TEXTS, WORDS, TABLE_LIST, NUMBERS = (
    "a text",
    "a number",
    "true or false",
    "a table",
    "a list of texts",
    "a text, a list of texts, or a table of labels and texts",
    "a list of tables",
    "a list of two numbers",
)

TOP = {
    "schema": TEXT,
    "name": TEXT,
    "title": TEXT,
    "prose": TEXT,
    "record": TEXTS,
    "measures": TEXTS,
    "plots": TABLE_LIST,
    "published": TABLE_LIST,
    "runs": TABLE_LIST,
}
RUNS = {
    "drive": WORDS,
    "workload": WORDS,
    "flow": TABLE,
    "other-traces": FLAG,
    "policy": TABLE,
    "set": TABLE,
    "cases": TABLE,
    "scale": "",
    "seed": "",
    "steady": FLAG,
    "reading": TABLE,
    "exclude": TABLE_LIST,
    "quick": "",
}
PUBLISHED = {
    "what": TEXT,
    "measure": TEXT,
    "value": "",
    "where": TABLE,
    "against": TABLE,
    "unit": TEXT,
    "source": TEXT,
    "note": TEXT,
    "tolerance": NUMBER,
    "text": TEXT,
    "form": TEXT,
    "over": TEXT,
    "least": TABLE,
    "span": NUMBERS,
    "kind": TEXT,
    "fact": TEXT,
}
OF_PUBLISHED = {
    "form": ("value", "change", "ratio", "speed-up"),
    "over": ("mean", "median", "least", "most", "sum"),
    "kind": tuple(KINDS),
}
PLOT = {"kind": TEXT, "title": TEXT, "measure": TEXT, "x": TEXT, "by": TEXT, "published": ""}
CASE = {
    "drive": TEXT,
    "workload": TEXT,
    "flow": TABLE,
    "policy": TABLE,
    "set": TABLE,
    "seed": NUMBER,
}


class Place(NamedTuple):
    """The place of the keys of a block: in the block, or above all blocks."""

    data: Mapping[str, Any]
    block: int | None

    def of(self, path: At) -> At:
        """The place of a key of the block."""
        if self.block is None:
            return path
        own: At = ("runs", self.block)
        value: Any = self.data["runs"][self.block]
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                # A key of a range may be missing; the block's own table is near enough.
                return path if path and path[0] not in self.data["runs"][self.block] else own + path
        return own + path


def read(path: str | os.PathLike[str]) -> str:
    """The text of an experiment file.

    Raises:
        InputError: It cannot be read.
    """
    return engine.settings_of(path, "an experiment file (TOML)", "experiment")


def parsed(text: str, name: str) -> tuple[dict[str, Any], Text]:
    """A file's content, and the lines of its keys.

    Raises:
        ConfigError: It is not TOML.
    """
    value, lines, wrong = engine.located(text)
    if wrong:
        source = Text(name, text, {(i,): line for i, (line, _) in enumerate(wrong)})
        raise source.error(Mistake((i,), why) for i, (_, why) in enumerate(wrong))
    return value, Text(name, text, lines)


def plain(value: Any) -> Any:
    """A value of Python in the form that a file would give: tables, lists, texts and numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        defaults = value._field_defaults
        pairs = value._asdict().items()
        return {
            key: plain(each) for key, each in pairs if key not in defaults or each != defaults[key]
        }
    if isinstance(value, list | tuple | range | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())  # numpy's numbers and arrays
    return value


def mistakes(data: Mapping[str, Any]) -> Iterator[Mistake]:
    """Mistakes in keys and in the types of their values."""
    if data.get("schema") != SCHEMA:
        given = data.get("schema")
        said = (
            f"`{given}` is not the schema of an experiment"
            if isinstance(given, str)
            else "`schema` is missing"
        )
        help = f'an experiment file begins with schema = "{SCHEMA}"'
        yield Mistake(("schema",), said, help)
    if not isinstance(data.get("name"), str) or not re.fullmatch(
        r"[A-Za-z0-9][A-Za-z0-9_.-]*", data["name"]
    ):
        help = "letters, digits, dots and dashes: folders are called so"
        yield Mistake(("name",), "an experiment needs a `name`", help)
    yield from _keys(data, (), {**TOP, **RUNS}, "an experiment")
    yield from _block(data, ())
    for i, block in enumerate(_tables(data, "runs")):
        path: At = ("runs", i)
        yield from _keys(block, path, RUNS, "[[runs]]")
        yield from _block(block, path)
    if "runs" in data and data["runs"] == []:
        yield Mistake(("runs",), "`runs` is empty: there is nothing to run")
    for i, plot in enumerate(_tables(data, "plots")):
        yield from _keys(plot, ("plots", i), PLOT, "[[plots]]")
        if "kind" not in plot:
            yield Mistake(("plots", i), "a plot needs a `kind`")
    for i, published in enumerate(_tables(data, "published")):
        yield from _published(published, ("published", i))
    for i, name in enumerate(_list(data, "record")):
        if name not in CHOICES:
            message = f"`{name}` is not a table that a run records"
            yield Mistake(("record", i), message, hint(str(name), CHOICES))


def _block(block: Mapping[str, Any], path: At) -> Iterator[Mistake]:
    for key in ("policy", "set", "flow"):
        for name, value in _table(block, key).items():
            yield from _value((*path, key, name), value, labelled=key != "set")
    for name, cases in _table(block, "cases").items():
        if not isinstance(cases, Mapping) or not all(
            isinstance(c, Mapping) for c in cases.values()
        ):
            message = f"`{name}` must be a table of cases, each a table of its settings"
            yield Mistake((*path, "cases", name), message)
            continue
        for label, case in cases.items():
            yield from _keys(case, (*path, "cases", name, label), CASE, "a case")
    yield from _keys(
        _table(block, "reading"), (*path, "reading"), dict.fromkeys(READING, ""), "`reading`"
    )
    quick = block.get("quick")
    if isinstance(quick, Mapping):
        own = {key: kind for key, kind in RUNS.items() if key != "quick"}
        yield from _keys(quick, (*path, "quick"), own, "`quick`")
        yield from _block({k: v for k, v in quick.items() if k != "quick"}, (*path, "quick"))
    elif quick is not None and quick is not False:
        help = "or false: these runs are left out"
        yield Mistake((*path, "quick"), "`quick` must be a table of its other settings", help)


def _value(path: At, value: Any, *, labelled: bool) -> Iterator[Mistake]:
    values = value if isinstance(value, list) else [value]
    if labelled and isinstance(value, Mapping):
        values = list(value.values())
    for each in values:
        if not isinstance(each, str | int | float | bool | Mapping | list):
            message = f"`{path[-1]}` cannot be {each!r}"
            yield Mistake(path, message, "values are texts, numbers, lists and tables")
        elif labelled and not isinstance(each, str):
            of, like = (
                ("flow", "zipf:weight=2") if path[-2] == "flow" else ("policy", "d-choices:d=3")
            )
            help = f'as on the command line: "{like}"'
            yield Mistake(path, f"a {of} of `{path[-1]}` must be a text", help)


def _published(published: Mapping[str, Any], path: At) -> Iterator[Mistake]:
    yield from _keys(published, path, PUBLISHED, "[[published]]")
    if "what" not in published:
        yield Mistake(path, "a published number needs `what`: what it is, in words")
    if "text" in published:
        for key in ("measure", "value"):
            if key in published:
                yield Mistake((*path, key), f"a statement (`text`) has no `{key}`")
        return
    for key in ("measure", "value"):
        if key not in published:
            help = "or a `text`, if it is a statement"
            yield Mistake(path, f"a published number needs `{key}`", help)
    for key, choices in OF_PUBLISHED.items():
        if published.get(key, choices[0]) not in choices:
            message = f"`{published[key]}` is not a `{key}` of a published number"
            help = hint(str(published[key]), choices)
            yield Mistake((*path, key), message, help)
    value = published.get("value", 0)
    if not _is(value, NUMBER) and not (isinstance(value, str) and is_relation(value)):
        message = f"`value` must be a number or a relation, not {_shown(value)}"
        yield Mistake((*path, "value"), message, "such as `at most 0.01` or `1.5 to 2`")
    against, form = bool(published.get("against")), published.get("form")
    if form is not None and against == (form == "value"):
        help = "leave it out" if against else "say by `against` which runs it compares with"
        yield Mistake((*path, "form"), f"`{form}` does not go with this number", help)
    for name, number in _table(published, "least").items():
        if not _is(number, NUMBER):
            message = f"`{name}` must be a number, not {_shown(number)}"
            yield Mistake((*path, "least", name), message)


def _keys(
    table: Mapping[str, Any], path: At, known: Mapping[str, str], of: str
) -> Iterator[Mistake]:
    for key, value in table.items():
        if key not in known:
            yield Mistake((*path, key), f"`{key}` is not a key of {of}", hint(key, known))
        elif known[key] and not _is(value, known[key]):
            yield Mistake((*path, key), f"`{key}` must be {known[key]}, not {_shown(value)}")


def _is(value: Any, kind: str) -> bool:
    if kind == TEXT:
        return isinstance(value, str)
    if kind == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == TABLE:
        return isinstance(value, Mapping)
    if kind == NUMBERS:
        return isinstance(value, list) and len(value) == 2 and all(_is(v, NUMBER) for v in value)
    if kind == TABLE_LIST:
        return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)
    texts = list(value.values()) if isinstance(value, Mapping) and kind == WORDS else value
    if kind == WORDS and isinstance(value, str):
        return True
    return isinstance(texts, list) and all(isinstance(each, str) for each in texts)


def _shown(value: Any) -> str:
    try:
        text = inline(value)
    except (AssertionError, TypeError):
        text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [each for each in _list(data, key) if isinstance(each, Mapping)]


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def reading(given: Mapping[str, Any], folder: Path) -> Reading:
    """The reading options of traces, with their folders relative to that of the experiment."""
    read = {key.replace("-", "_"): value for key, value in given.items()}
    if "traces" in read:
        folders = read["traces"] if isinstance(read["traces"], list) else [read["traces"]]
        read["traces"] = [str(folder / each) for each in folders]
    return cast(Reading, read)
