"""The glossary: every word once, in order, and every key, column and policy beside it is there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars

import floatgate

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "glossary.md"


def rows() -> list[list[str]]:
    """The cells of the table: a word, its meaning, its place."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| **")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words() -> list[str]:
    return [re.sub(r" \(.*", "", row[0].strip("*")) for row in rows()]


def paths(node: Any, before: str = "") -> Iterator[str]:
    """The keys of a result, as `flash.erase.gc`."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield f"{before}{key}"
            yield from paths(value, f"{before}{key}.")


def settings(schema: dict[str, Any]) -> Iterator[str]:
    """The keys of a drive file, as `ftl.gc.start`."""

    def look(node: Any, before: str) -> Iterator[str]:
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        for choice in (node, *node.get("anyOf", ())):
            for key, value in choice.get("properties", {}).items():
                yield f"{before}{key}"
                yield from look(value, f"{before}{key}.")

    return look(schema, "")


def test_every_word_stands_once_and_is_said_in_a_sentence_or_two() -> None:
    assert len(words()) > 70
    assert len(set(words())) == len(words())
    assert words() == sorted(words(), key=str.lower)
    for word, said, _ in rows():
        assert said.endswith("."), word
        assert 1 <= len(re.findall(r"[.](?: |$)", said)) <= 3, word


def test_words_that_stand_for_others_are_there() -> None:
    said = PAGE.read_text()
    for other in re.findall(r"See \*([^*]+)\*", said):
        assert other in words()


def test_every_key_and_column_of_the_glossary_exists(tmp_path: Path) -> None:
    small = {
        "geometry.blocks-per-plane": 64,
        "workload.requests": 2000,
        "workload.read-share": 0.5,
    }
    policy = {"read-disturb": "refresh"}
    result = floatgate.run("agcr", "random-write", set=small, policy=policy, out=tmp_path)
    handles = floatgate.run("agcr", "random-write", set={**small, "ftl.fdp.handles": 2})
    known = {*paths(result.data), *paths(handles.data)}
    known |= {*settings(json.loads((ROOT / "schema/drive.json").read_text()))}
    tables = sorted(tmp_path.rglob("*.parquet"))
    assert len(tables) >= 3
    for table in tables:
        known |= set(polars.read_parquet_schema(table))
    known |= set(result.data["policies"]["read-disturb"]["counters"])
    known |= {f"{p['family']}={p['name']}" for p in floatgate.policies()}
    named = {name for row in rows() for name in re.findall(r"`([^`]+)`", row[2])}
    assert len(named) > 60
    assert sorted(named - known) == []
