"""Published facts about real drives, the role of each, and what the engine predicts for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from floatgate import engine
from floatgate.hints import hint
from floatgate.mistakes import UnknownNameError

SHAPES_RESULTS = False

ROLES = ("input", "fitted", "inherited", "cap", "warranty", "checked", "predicted")
"""The roles of facts. Others are `not-modelled: MECHANISM` and `same: FACT`."""


@dataclass(frozen=True)
class Fact:
    """A published number: `value` is a text if no single number was published."""

    drive: str
    what: str
    value: float | str
    unit: str
    conditions: str
    source: str
    role: str

    @property
    def number(self) -> float | None:
        """The number, None if the value is a text without one."""
        if not isinstance(self.value, str):
            return float(self.value)
        digits = [word for word in self.value.replace(",", "").split() if word.isdigit()]
        return float(digits[0]) if len(digits) == 1 else None


@dataclass(frozen=True)
class Model:
    """A drive of one capacity: what its file has, above what is assumed.

    `capacity` and `raw` are bytes, `write_limit` MB/s. `flash` and `controller` have the numbers of
    `assumed.toml` with those of the drive in their place; `assumed` are the keys that are assumed.
    """

    name: str
    product: str
    use: str
    capacity: int
    raw: int
    write_limit: float | None
    flash: Mapping[str, Any]
    controller: Mapping[str, Any]
    assumed: frozenset[str] = field(default_factory=frozenset)

    @property
    def dies(self) -> int:
        """Dies of the drive."""
        return max(1, round(self.raw / (self.flash["die"] * (1 << 30))))

    @property
    def over_provisioning(self) -> float:
        """The spare flash over the exported capacity."""
        return self.raw / self.capacity - 1

    @property
    def die_rate(self) -> float:
        """MB/s that a die programs: those of its generation, or less by the drive's limit."""
        rate = float(self.flash["program"])
        return rate if self.write_limit is None else min(rate, self.write_limit / self.dies)


@dataclass(frozen=True)
class Product:
    """A file of `presets/published`."""

    name: str
    product: str
    models: tuple[Model, ...]
    facts: tuple[Fact, ...]
    fitted: Mapping[str, Any]
    inherited: Mapping[str, Any]


def files() -> dict[str, dict[str, Any]]:
    """The files of `presets/published` by name, as TOML has them."""
    return {name: tomllib.loads(text) for name, text in engine.published()}


def products() -> dict[str, Product]:
    """Every published product by the name of its file."""
    found = files()
    assumed = found.pop("assumed")
    return {name: _product(each, assumed) for name, each in found.items()}


def product(name: str) -> Product:
    """One published product.

    Raises:
        UnknownNameError: There is no such product.
    """
    known = products()
    if name not in known:
        raise UnknownNameError(f"`{name}` is not a published drive; {hint(name, known)}")
    return known[name]


def read(text: str) -> Product:
    """A product from the text of a file like those of `presets/published`."""
    return _product(tomllib.loads(text), files()["assumed"])


def _product(file: Mapping[str, Any], assumed: Mapping[str, Any]) -> Product:
    flash, controller = assumed["flash"][file["flash"]], assumed["controller"][file["controller"]]
    own = {**file.get("inherited", {}), **file.get("fitted", {})}
    own.pop("why", None)
    guessed = _assumed(flash, own) | _assumed(controller, own)
    models = []
    for each in file["model"]:
        keys = set(guessed)
        if each["raw-source"].startswith(("assumed", "2^n")):
            keys.add("spare")
        limit = each.get("write-limit")
        if limit is not None and limit * 1e6 < flash["program"] * 1e6 * each["raw"] / (
            flash["die"] << 30
        ):
            keys.discard("program")
        models.append(
            Model(
                name=each["name"],
                product=file["product"],
                use=file["use"],
                capacity=each["capacity"],
                raw=each["raw"],
                write_limit=limit,
                flash={**flash, **{k: v for k, v in own.items() if k in flash}},
                controller={**controller, **{k: v for k, v in own.items() if k not in flash}},
                assumed=frozenset(keys),
            )
        )
    facts = tuple(Fact(**each) for each in file.get("fact", ()))
    return Product(
        file["name"],
        file["product"],
        tuple(models),
        facts,
        file.get("fitted", {}),
        file.get("inherited", {}),
    )


def _assumed(part: Mapping[str, Any], own: Mapping[str, Any]) -> set[str]:
    """The keys of a part that are assumed, and that the drive does not have itself."""
    sources = part["sources"]
    keys = [key for key in part if key != "sources" and key not in own]
    return {k for k in keys if sources.get(k, sources.get("*", "")).startswith("assumed")}
