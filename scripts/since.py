"""Stores with which version each key of drive files came: `make schema` runs it after the schema.

A key that is gone stays there with the version that removed it, since old drive files name it.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "schema/drive.json"
SINCE = ROOT / "schema/since.json"


def keys(schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Every key of a schema, with its sections: `ftl.gc.start`."""
    for name, inner in schema.get("properties", {}).items():
        if "properties" in inner:
            yield from keys(inner, f"{above}{name}.")
        else:
            yield f"{above}{name}"


Since = dict[str, dict[str, str]]


def renewed(known: Since, there: set[str], version: str) -> Since:
    """The versions of keys that came and of keys that went, with this version for new keys."""
    came, gone = known["since"], known["removed"]
    missing = came.keys() - there
    return {
        "since": {key: came.get(key, version) for key in sorted(there)},
        "removed": dict(
            sorted(
                (
                    {k: v for k, v in gone.items() if k not in there}
                    | dict.fromkeys(missing, version)
                ).items()
            )
        ),
    }


def main() -> None:
    """Renews the file."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    known = json.loads(SINCE.read_text()) if SINCE.exists() else {"since": {}, "removed": {}}
    made = renewed(known, set(keys(json.loads(SCHEMA.read_text()))), version)
    SINCE.write_text(json.dumps(made, indent=1) + "\n")
    for key in made["removed"].keys() - known["removed"].keys():
        print(f"`{key}` is gone: say so under *Results change* or *Removed*", file=sys.stderr)


if __name__ == "__main__":
    main()
