"""Renews the parts of pages that come from the declaration of results.

`python scripts/pages.py` rewrites the text between `<!-- NAME -->` and `<!-- end of NAME -->` in
`docs/results.md` and `docs/glossary.md`. `tests/test_pages.py` fails where it is not current.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from floatgate.result import declared
from floatgate.result.declared import Field, Shape
from floatgate.result.values import ACCOUNTS
from floatgate.text.explained import WARNINGS

DOCS = Path(__file__).parent.parent / "docs"

UNITS = {"x": "factor", "share": "share of 1"}
"""Units that need more than their name."""

FEW = 2
"""A table of no more keys is shown at each of its places."""

DOUBTS = {
    "everything": "all",
    "host": "latencies and rates of the host",
    "flash": "all but those of the host",
    "reads": "latencies of reads",
    "rate": "requests per second",
    "few": "percentiles with fewer than 10 requests beyond; amplification of few pages",
    "none": "",
}


class Row(NamedTuple):
    """A key of a section with its path there, its unit and its meaning."""

    path: str
    unit: str
    about: str


def sections() -> str:
    """Every section of a result: a few sentences, then a table of its keys."""
    shared = _shared()
    parts = []
    told: set[str] = set()
    for section in declared.sections():
        parts.append(f"### `{section.name}`\n\n{section.about}")
        unit = UNITS.get(section.unit, section.unit)
        if unit:
            parts.append(f"Unit: {unit}.")
        later: list[str] = []
        if rows := list(_rows(section.shape, "", "", shared, later)):
            parts.append(_table(rows))
        while later:
            name = later.pop(0)
            if name in told:
                continue
            told.add(name)
            title, _, more = declared.table(name).about.partition(".")
            parts.append(f"#### {title}")
            parts.append(more.strip())
            parts.append(_table(list(_rows(Shape("table", name), "", "", shared - {name}, later))))
        if section.name == "warnings":
            parts.append(_warnings())
    return "\n\n".join(part for part in parts if part)


def _shared() -> set[str]:
    """The tables that stand in several places and have many keys."""
    counts: Counter[str] = Counter()

    def count(shape: Shape) -> None:
        if shape.kind == "table":
            counts[shape.of] += 1
            if counts[shape.of] > 1:
                return
            for each in declared.table(shape.of).fields:
                count(each.shape)
        elif shape.inside is not None:
            count(shape.inside)

    for section in declared.sections():
        count(section.shape)
    return {n for n in counts if counts[n] > 1 and len(declared.table(n).fields) > FEW}


def _rows(shape: Shape, above: str, unit: str, shared: set[str], later: list[str]) -> Iterator[Row]:
    """The keys below a place; tables that stand in several places are only linked."""
    if shape.kind == "table" and shape.of not in shared:
        for each in declared.table(shape.of).fields:
            yield from _row(each, above, unit, shared, later)
    elif shape.kind in ("each", "named"):
        assert shape.inside is not None
        yield from _rows(shape.inside, f"{above}{_placeholder(shape)}.", unit, shared, later)
    elif shape.kind == "list":
        assert shape.inside is not None
        yield from _rows(shape.inside, above, unit, shared, later)


def _row(field: Field, above: str, unit: str, shared: set[str], later: list[str]) -> Iterator[Row]:
    path, shape = f"{above}{field.name}", field.shape
    unit = field.unit or unit
    about = field.about
    while shape.kind in ("each", "named"):
        assert shape.inside is not None
        path += f".{_placeholder(shape)}"
        if _has_total(shape):
            about += " Includes `total`."
        shape = shape.inside
    if shape.kind == "table" and shape.of in shared:
        later.append(shape.of)
        title = declared.table(shape.of).about.partition(".")[0]
        about += f" See [{title[0].lower()}{title[1:]}](#{_anchor(title)})."
    numbers = shape.kind in ("count", "number", "list") and not shape.of
    yield Row(path, UNITS.get(unit, unit) if numbers else "", about)
    yield from _rows(shape, f"{path}.", unit, shared, later)


def _placeholder(shape: Shape) -> str:
    """The word that stands for each name of a list.

    >>> _placeholder(Shape("each", "source or total")), _placeholder(Shape("named", "flow"))
    ('SOURCE', 'FLOW')
    """
    return shape.of.removesuffix(" or total").upper()


def _has_total(shape: Shape) -> bool:
    return shape.of.endswith(" or total")


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def _table(rows: Sequence[Row]) -> str:
    lines = ["| key | unit | meaning |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{r.path}` | {r.unit} | {_cell(r.about)} |" for r in rows)])


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _warnings() -> str:
    """The codes of warnings: the numbers that each puts in doubt, and its meaning."""
    lines = ["| code | numbers in doubt | meaning |", "|---|---|---|"]
    for each in declared.warnings():
        means = _cell(WARNINGS[each.code].means)
        lines.append(f"| `{each.code}` | {DOUBTS[each.doubt]} | {means} |")
    return "\n".join(
        [
            "A run is not called better than another by a number that a warning puts in doubt. "
            "`floatgate explain CODE` also says how to avoid each warning.",
            "",
            *lines,
        ]
    )


def names() -> str:
    """The names that stand for SOURCE and so on, with their meaning."""
    parts = []
    for of in declared.lists():
        if f"{of} or total" in declared.lists():
            continue
        shape = Shape("each", of)
        lines = ["| name | meaning |", "|---|---|"]
        for each in declared.names(of):
            about = each.about[0].upper() + each.about[1:]
            lines.append(f"| `{each.name}` | {_cell(about)} |")
        parts.append(f"### {_placeholder(shape)}\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def parts() -> str:
    """The parts of the time of a request: columns of tables, and keys of results."""
    lines = ["| column | key in `delay_ns_by_cause` | time |", "|---|---|---|"]
    for part in ACCOUNTS["parts"]:
        lines.append(f"| `{part['column']}` | `{part['path']}` | {_cell(part['about'])} |")
    return "\n".join(lines)


def part_columns() -> str:
    """The columns of the same parts, in a sentence."""
    return textwrap.fill(", ".join(f"`{part['column']}`" for part in ACCOUNTS["parts"]) + ".", 110)


def flash_columns() -> str:
    """The columns of flash operations by source."""
    columns = ("read", "pages"), ("program", "pages"), ("erase", "blocks")
    lines = ["| pages read | pages programmed | blocks erased | source |", "|---|---|---|---|"]
    for source in ACCOUNTS["sources"]["known"]:
        cells = [f"`flash_{what}_{source['name']}_{unit}`" for what, unit in columns]
        lines.append(f"| {' | '.join(cells)} | {_cell(source['about'])} |")
    return "\n".join(lines)


def accounts() -> str:
    """The accounts for the glossary: sources of flash operations, and causes of delay."""
    lines = ["| account | in results | meaning |", "|---|---|---|"]
    for kind in ("sources", "causes"):
        for each in ACCOUNTS[kind]["known"]:
            place = f"the {kind.removesuffix('s')} `{each['name']}`"
            lines.append(f"| {each['label']} | {place} | {_cell(each['about'])} |")
    return "\n".join(lines)


def keys() -> str:
    """The sections for the glossary, each with its first sentence."""
    lines = ["| section | contents |", "|---|---|"]
    for section in declared.sections():
        first = re.match(r"[^.]*(?:\.(?! |$)[^.]*)*\.", section.about)
        assert first is not None, section.about
        name = section.name
        lines.append(f"| [`{name}`](results.md#{name}) | {_cell(first[0])} |")
    return "\n".join(lines)


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "results.md": {
        "parts of latency": parts,
        "columns of these parts": part_columns,
        "columns by source": flash_columns,
        "sections": sections,
        "names": names,
    },
    "glossary.md": {"accounts": accounts, "sections of a result": keys},
}
"""The parts of each page, and the functions that make them."""


def renewed(page: str, text: str) -> str:
    """A page with its parts renewed.

    Raises:
        ValueError: A mark is not there.
    """
    for name, make in PARTS[page].items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"{page}: expected {begin.strip()} and {end.strip()}, each once")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return text


def main() -> None:
    """Rewrites the pages."""
    for page in PARTS:
        path = DOCS / page
        text = path.read_text(encoding="utf-8")
        path.write_text(renewed(page, text), encoding="utf-8")


if __name__ == "__main__":
    main()
