"""The pages that come from the declaration of results: current, whole, and in plain sentences."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from floatgate import Comparison, Result
from floatgate.result import declared
from floatgate.result.declared import Field
from floatgate.result.measures import columns

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

import pages  # noqa: E402


def fields() -> Iterator[tuple[str, Field]]:
    """Every field of every table, and every name of every list."""
    known = declared._declared()
    for section in known.sections:
        yield section.name, section
    for name, table in known.tables.items():
        yield name, Field(name, table.about)
        for field in table.fields:
            yield f"{name}.{field.name}", field
    for of, names in known.names.items():
        for each in names:
            yield f"{of}: {each.name}", each


@pytest.mark.parametrize("page", pages.PARTS)
def test_a_page_is_what_the_declaration_gives(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    assert pages.renewed(page, text) == text, "it is stale: run `make pages`"


def test_a_new_section_makes_the_pages_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    known = declared._declared()
    new = Field("luck", "The luck of the drive.", unit="clovers", shape=declared.Shape("count"))
    more = known._replace(sections=[*known.sections, new])
    monkeypatch.setattr(declared, "_declared", lambda: more)
    for page in pages.PARTS:
        text = (ROOT / "docs" / page).read_text()
        renewed = pages.renewed(page, text)
        assert renewed != text
        assert "luck" in renewed
        assert "The luck of the drive." in renewed


def test_every_key_of_a_result_is_on_its_page() -> None:
    text = (ROOT / "docs/results.md").read_text()
    shown = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    last = {path.rpartition(".")[2] for path in shown}
    # Before a name of a list stands its key.
    last |= {part for path in shown for part in path.split(".")}
    headings = set(re.findall(r"^### `([^`]+)`$", text, re.MULTILINE))
    known = declared._declared()
    assert headings == {section.name for section in known.sections}
    keys = {field.name for table in known.tables.values() for field in table.fields}
    assert len(keys) > 120
    assert keys <= last, keys - last


def test_links_within_a_page_lead_to_headings() -> None:
    text = (ROOT / "docs/results.md").read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {pages._anchor(re.sub(r"[`.]", "", heading)) for heading in headings}
    links = set(re.findall(r"\]\(#([^)]+)\)", text))
    assert len(links) > 5
    assert links <= anchors, links - anchors
    assert len(headings) == len({*headings}), "a link would lead to one of several"


def test_descriptions_are_plain_sentences() -> None:
    seen = 0
    for place, field in fields():
        about = field.about
        assert about.endswith((".", "?")), place
        for sentence in re.split(r"(?<=[.?:]) ", about):
            assert len(sentence.split()) <= 30, f"{place}: {sentence}"
        if not about.endswith("?"):  # The question of a family.
            assert not re.match(r"(What|Where|Who|Which)\b", about), place
        seen += 1
    assert seen > 200


def test_a_key_that_may_be_null_says_when() -> None:
    seen = 0
    for place, field in fields():
        if field.nullable or field.since == "later, null":
            assert re.search(r"\b[Nn]ull\b", field.about), place
            seen += 1
    assert seen > 50


def test_a_key_has_the_unit_of_its_ending() -> None:
    endings = {"_ns": "ns", "_bytes": "bytes", "_seconds": "s", "_joules": "", "_hours": "h"}
    seen = 0
    for place, field in fields():
        for ending, unit in endings.items():
            if field.name.endswith(ending) and field.shape.kind in ("count", "number"):
                assert field.unit == unit, place
                seen += 1
    assert seen > 20


def test_a_section_without_a_form_of_its_own_is_shown_field_by_field(
    monkeypatch: pytest.MonkeyPatch, result: Result
) -> None:
    known = declared._declared()
    fields = [
        Field("pages", "Lucky pages.", unit="pages", shape=declared.Shape("count")),
        Field("wait_ns", "Their wait.", unit="ns", shape=declared.Shape("number")),
        Field("patron", "The patron.", shape=declared.Shape("text")),
    ]
    new = Field("luck", "The luck of the drive.", shape=declared.Shape("table", "Luck"))
    tables = {**known.tables, "Luck": declared.Table("Luck.", fields)}
    more = known._replace(sections=[*known.sections, new], tables=tables)
    monkeypatch.setattr(declared, "_declared", lambda: more)
    assert "luck" not in str(result), "a result of before has none"
    result.data["luck"] = {"pages": 7, "wait_ns": 1500.0, "patron": "Fortuna"}
    shown = str(result).partition("luck\n")[2].partition("\n\n")[0]
    assert shown.split("\n") == [
        "  The luck of the drive.",
        "  pages    7 pages",
        "  wait_ns  1.50 us",
        "  patron   Fortuna",
    ]
    comparison = Comparison([result], [{}])
    titles = {title: [m.key for m, _ in shown] for title, shown in columns(comparison)}
    assert titles["luck"] == ["luck.pages", "luck.wait_ns"]
    assert [str(value) for value in result.luck.values()] == ["7", "1500.0", "Fortuna"]


def test_sections_with_a_form_of_their_own_exist() -> None:
    assert {section.name for section in declared.sections()} >= declared.OWN_FORM
