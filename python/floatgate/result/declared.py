"""The parts of a result: its sections and their fields, as the engine declares them.

No key of a result is listed here. A new section appears in everything that this module gives.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from floatgate import engine

SHAPES_RESULTS = False

OWN_FORM = frozenset(
    {
        "provenance", "end", "host", "flash", "waf", "waf_pages", "wear", "capacity", "buffer",
        "energy_joules", "energy_split", "lifetime", "policies", "checks", "warnings",
        "simulated_seconds", "timing",
    }
)  # fmt: skip
"""Sections that pages show in a form of their own. Pages show all others field by field."""


class Shape(NamedTuple):
    """The shape of a value in a result.

    `kind` is one of `count` (a whole number), `number`, `text`, `flag`, `free` (anything), `list`
    and `table`. It may also be `each` (a value for each name of a list) or `named` (a value for
    each name that the run decides). `of` names the table or the list of names, and `inside` is the
    shape of the values.
    """

    kind: str
    of: str = ""
    inside: Shape | None = None

    @property
    def fields(self) -> Sequence[Field]:
        """The keys of a table, or the names of a list with the shape of their values."""
        if self.kind == "table":
            return _declared().tables[self.of].fields
        if self.kind == "each":
            assert self.inside is not None
            names = _declared().names[self.of]
            return [name._replace(shape=self.inside) for name in names]
        return ()


class Field(NamedTuple):
    """One key: a section, a field of a table, or a name of a list.

    `since` is `start`, or `later, 0` or `later, null` for numbers that earlier results lack. They
    then count as zero, or null.
    """

    name: str
    about: str
    unit: str = ""
    nullable: bool = False
    optional: bool = False
    since: str = "start"
    shape: Shape = Shape("free")

    def empty(self) -> Any:
        """The value of a run in which nothing happened."""
        return None if self.nullable else zero(self.shape)

    def before(self) -> Any:
        """The value in a result of a version that did not have the key yet."""
        return None if self.since == "later, null" else zero(self.shape)


class Table(NamedTuple):
    """A table of a result: its content, and its keys."""

    about: str
    fields: Sequence[Field]


class Code(NamedTuple):
    """A kind of warning: the numbers that it puts in doubt, and the reason in words."""

    code: str
    doubt: str
    reason: str


class _Declared(NamedTuple):
    schema: str
    sections: Sequence[Field]
    tables: Mapping[str, Table]
    names: Mapping[str, Sequence[Field]]
    warnings: Sequence[Code]


@functools.cache
def _declared() -> _Declared:
    value = json.loads(engine.result_shape())
    return _Declared(
        value["schema"],
        [_field(each) for each in value["sections"]],
        {
            name: Table(table["about"], [_field(each) for each in table["fields"]])
            for name, table in value["tables"].items()
        },
        {name: [Field(**each) for each in names] for name, names in value["names"].items()},
        [Code(**each) for each in value["warnings"]],
    )


def _field(value: dict[str, Any]) -> Field:
    return Field(**value | {"shape": _shape(value["shape"])})


def _shape(value: Mapping[str, Any]) -> Shape:
    inside = value.get("inside")
    return Shape(value["is"], value.get("of", ""), _shape(inside) if inside else None)


def schema() -> str:
    """The schema of results."""
    return _declared().schema


def sections() -> Sequence[Field]:
    """The sections of a result, in order."""
    return _declared().sections


def others() -> list[Field]:
    """The sections that pages show field by field."""
    return [section for section in sections() if section.name not in OWN_FORM]


def table(name: str) -> Table:
    """The table of that name."""
    return _declared().tables[name]


def names(of: str) -> Sequence[Field]:
    """The names of a list, such as `source`."""
    return _declared().names[of]


def lists() -> Sequence[str]:
    """The kinds of lists of names."""
    return list(_declared().names)


def warnings() -> Sequence[Code]:
    """The codes of warnings; those that put more numbers in doubt stand first."""
    return _declared().warnings


def zero(shape: Shape) -> Any:
    """Zero, no text, no entries: the values if nothing happened."""
    if shape.fields:
        return {each.name: each.empty() for each in shape.fields if not each.optional}
    return {
        "count": 0, "number": 0.0, "text": "", "flag": False, "list": [], "free": {}, "named": {},
    }[shape.kind]  # fmt: skip


def empty() -> dict[str, Any]:
    """A result in which nothing happened: every key, with zero, null or no entries."""
    return {"schema": schema()} | {each.name: each.empty() for each in sections()}


def at(path: str) -> tuple[str, Shape, Sequence[Field]] | None:
    """The unit and the shape at a path such as `host.read.bytes`, and the keys below it.

    >>> unit, shape, _ = at("flash.read.gc")
    >>> unit, shape.kind
    ('pages', 'count')
    >>> at("flash.read.nobody")
    """
    unit, shape, below = "", Shape("table"), sections()
    for key in path.split("."):
        if shape.kind == "free":
            return "", shape, ()
        if shape.kind == "named":
            assert shape.inside is not None
            shape = shape.inside
        else:
            found = next((each for each in below if each.name == key), None)
            if found is None:
                return None
            unit, shape = found.unit or unit, found.shape
        below = shape.fields
    return unit, shape, below


def beside(path: str) -> list[str] | None:
    """None if a result may have a number at a path; otherwise the nearest existing paths.

    >>> beside("flash.erase.gc"), beside("policies.cost.counters.programs")
    (None, None)
    >>> beside("wear.erases.mid")
    ['wear.erases.min', 'wear.erases.mean', 'wear.erases.max', 'wear.erases.stddev']
    """
    found = at(path)
    if found is not None:
        _, shape, below = found
        if shape.kind in ("count", "number", "free"):
            return None
        return [f"{path}.{each.name}" for each in below]
    above = path
    while "." in above:
        above = above.rpartition(".")[0]
        if (known := at(above)) is not None:
            return [f"{above}.{each.name}" for each in known[2]]
    return [each.name for each in sections()]


def numbers() -> Iterator[str]:
    """The paths of all numbers for which every result has a place."""

    def inside(fields: Sequence[Field], above: str) -> Iterator[str]:
        for each in fields:
            path = f"{above}{each.name}"
            if each.shape.kind in ("count", "number"):
                yield path
            yield from inside(each.shape.fields, f"{path}.")

    return inside(sections(), "")
