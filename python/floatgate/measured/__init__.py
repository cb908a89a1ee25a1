"""The measured speed and endurance of the included drives, as shipped.

`make measure-drives` runs `scripts/measure_drives.py`, which writes `drives.json`. Nothing here
runs a drive. Each entry has the digest of the drive that it was measured on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floatgate import engine

SHAPES_RESULTS = False

FILE = Path(__file__).parent / "drives.json"
"""The measured numbers, by the name of the drive."""

RENEW = "make measure-drives"
"""The command that measures them again."""


def digest(config: Mapping[str, Any]) -> str:
    """Returns the digest of a resolved drive: equal for drives with the same settings."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":"))
    return engine.sha256(text.encode())[:16]


def drives() -> dict[str, dict[str, Any]]:
    """Returns all measured numbers, by the name of the drive."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["drives"]
    return found


def of(name: str, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the numbers of an included drive; None if its settings were others.

    The keys are `digest`, `read_iops`, `read_mb_per_s`, `write_mb_per_s`, `waf` and `tbw_bytes`;
    `docs/drives.md` defines each.
    """
    found = drives().get(name)
    return found if found is not None and found["digest"] == digest(config) else None


def digest_of_all(known: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns one digest over those of several drives."""
    lines = [f"{each['digest']}  {name}\n" for name, each in sorted(known.items())]
    return engine.sha256("".join(lines).encode())[:16]
