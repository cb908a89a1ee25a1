"""Each key of drive files has the version that brought it."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from since import SCHEMA, SINCE, keys, renewed  # noqa: E402


def test_every_key_of_the_schema_and_no_other_has_a_version() -> None:
    known = json.loads(SINCE.read_text())
    there = [*keys(json.loads(SCHEMA.read_text()))]
    assert len(there) > 100
    assert {"ftl.gc.start", "timing.read", "host.mode"} <= {*there}
    assert known["since"].keys() == {*there}, "run `make schema`"
    assert not known["removed"].keys() & {*there}
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    number = tuple(map(int, version.split(".")))
    for each in (*known["since"].values(), *known["removed"].values()):
        assert tuple(map(int, each.split("."))) <= number


def test_what_is_new_and_what_is_gone_get_this_version() -> None:
    known = {"since": {"a": "0.1.0", "b.c": "0.1.0"}, "removed": {"d": "0.2.0", "e": "0.2.0"}}
    assert renewed(known, {"a", "e", "f"}, "0.3.0") == {
        # A key that comes again is new.
        "since": {"a": "0.1.0", "e": "0.3.0", "f": "0.3.0"},
        "removed": {"b.c": "0.3.0", "d": "0.2.0"},
    }


def test_keys_are_those_of_all_sections() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {}, "b": {"properties": {"c": {"properties": {"d": {}}}}}}
    }
    assert [*keys(schema)] == ["a", "b.c.d"]
