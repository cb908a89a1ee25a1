"""What can be run: drives, chips, workloads, formats, policies. Rust has the lists."""

from __future__ import annotations

import json
from typing import Any

from floatgate import engine


def generators() -> dict[str, str]:
    """Returns the names of the generators of workloads, each with what it makes."""
    return dict(engine.generators())


def formats() -> dict[str, str]:
    """Returns the names of the formats of traces, each with what it holds."""
    return dict(engine.formats())


def policies(family: str | None = None) -> list[dict[str, Any]]:
    """Returns the built-in policies: family, name, summary, paper, parameters and so on.

    Args:
        family: Only those of this family, such as `victim`.

    Raises:
        InputError: There is no such family.
    """
    known: list[dict[str, Any]] = json.loads(engine.policies())
    families = dict.fromkeys(policy["family"] for policy in known)
    if family is None:
        return known
    if family not in families:
        raise engine.InputError(f"`{family}` is not a family; there are {', '.join(families)}")
    return [policy for policy in known if policy["family"] == family]


def drives() -> list[str]:
    """Returns the names of the drives that floatgate brings along."""
    return [name for name, _ in engine.presets()]


def chips(name: str | None = None) -> list[dict[str, Any]]:
    """Lists the built-in chips; of one, also its pages and every setting with its source.

    Raises:
        InputError: There is no such chip.
    """
    found = engine.chips(name)
    if found is None:
        names = ", ".join(chip["name"] for chip in chips())
        raise engine.InputError(f"`{name}` is not a chip; there are {names}")
    known = json.loads(found)
    return known if name is None else [known]


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of drive files."""
    return dict(json.loads(engine.schema()))
