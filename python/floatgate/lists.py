"""Everything that can be run: drives, chips, workloads, formats, policies. Rust holds the lists."""

from __future__ import annotations

import json
from typing import Any

from floatgate import engine, measured
from floatgate.hints import hint
from floatgate.mistakes import UnknownNameError
from floatgate.policy.finder import Finder


def generators() -> dict[str, str]:
    """Returns the names of the generators of workloads, each with its requests in words."""
    return dict(engine.generators())


def formats() -> dict[str, str]:
    """Returns the names of the formats of traces, each with its content in words."""
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
        raise UnknownNameError(f"`{family}` is not a family; {hint(family, families)}")
    return [policy for policy in known if policy["family"] == family]


def drives() -> list[str]:
    """Returns the names of the drives that floatgate includes."""
    return [name for name, _ in engine.presets()]


def drive_facts(name: str) -> dict[str, Any]:
    """Returns the facts of a built-in drive: size, flash, interface, and assumed values.

    The keys are `name`, `summary`, `exported_bytes`, `physical_bytes`, `dies`, `bits_per_cell`,
    `page_bytes`, `link`, `measured` and `settings`.

    * `link`: its rate in words; None if it takes no time.
    * `measured`: IOPS, MB/s and TBW as shipped with the build, never measured here. None if they
      were measured with other settings of the drive.
    * `settings`: the settings with a source of their own, each with its value and source.

    Raises:
        InputError: There is no such drive.
    """
    if name not in drives():
        raise UnknownNameError(f"`{name}` is not a built-in drive; {hint(name, drives())}")
    resolved = engine.resolve(name, set=(), policy=(), seed=None, finder=Finder())
    found = json.loads(resolved[1])
    config, shape = found["config"], found["config"]["geometry"]
    dies = shape["channels"] * shape["chips-per-channel"] * shape["dies-per-chip"]
    return {
        "name": name,
        "summary": config["summary"],
        "exported_bytes": found["capacity"]["logical_bytes"],
        "physical_bytes": found["capacity"]["physical_bytes"],
        "dies": dies,
        "bits_per_cell": shape["bits-per-cell"],
        "page_bytes": found["capacity"]["page_bytes"],
        "link": config["link"].get("rate"),
        "measured": measured.of(name, config),
        "settings": {
            key: {"value": _at(config, key), "source": source}
            for key, source in found["sources"].items()
            if source not in ("default", "drive file") and _at(config, key) is not None
        },
    }


def _at(config: Any, key: str) -> Any:
    """A setting of the resolved drive; None if it was converted to another one."""
    for part in key.split("."):
        config = config.get(part) if isinstance(config, dict) else None
    return config


def chips(name: str | None = None) -> list[dict[str, Any]]:
    """Lists the built-in chips; of one, also its pages and every setting with its source.

    Raises:
        InputError: There is no such chip.
    """
    found = engine.chips(name)
    if found is None:
        known = [chip["name"] for chip in chips()]
        raise UnknownNameError(f"`{name}` is not a chip; {hint(name or '', known)}")
    known = json.loads(found)
    return known if name is None else [known]


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of drive files."""
    return dict(json.loads(engine.schema()))
