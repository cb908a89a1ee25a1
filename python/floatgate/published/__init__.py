"""Published facts about real drives, the role of each, and what the engine predicts for it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from floatgate import engine
from floatgate.engine import InputError
from floatgate.hints import hint
from floatgate.mistakes import FileError

SHAPES_RESULTS = False

_ASIDE = ("not-modelled", "same", "beyond")
ROLES = ("input", "fitted", "inherited", "cap", "warranty", "checked", "predicted")
"""The roles of facts. Others are `not-modelled: MECHANISM`, `same: FACT` and `beyond: REASON`."""


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
class Cache:
    """The SLC cache of a drive: the bytes of data that its blocks hold at one bit in a cell.

    `fixed` are those of blocks that hold no other data, `dynamic` those of free blocks that the
    cache may take. At least one of them is above 0.
    """

    fixed: int
    dynamic: int

    @property
    def size(self) -> int:
        """All bytes of an empty cache on an empty drive."""
        return self.fixed + self.dynamic


@dataclass(frozen=True)
class Model:
    """A drive of one capacity: what its file has, above what is assumed.

    `capacity` and `raw` are bytes, `write_limit` MB/s. `flash` and `controller` have the numbers of
    `assumed.toml` with those of the drive in their place; `assumed` are the keys that are assumed.
    Without a `cache`, `flash` has no number of `CACHED`. `controller` may have keys of `JITTER`.
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
    cache: Cache | None = None

    @property
    def dies(self) -> int:
        """Dies of the drive."""
        return max(1, round(self.raw / (float(self.flash["die"]) * (1 << 30))))

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
    input: Mapping[str, Any]


def files() -> dict[str, dict[str, Any]]:
    """The files of `presets/published` by name, as TOML has them."""
    return {name: tomllib.loads(text) for name, text in engine.published()}


def products() -> dict[str, Product]:
    """Every published product by the name of its file."""
    found = files()
    assumed = found.pop("assumed")
    return {name: _product(each, assumed) for name, each in found.items()}


def named(name: str) -> Product | None:
    """The published product of this name; None if there is none."""
    return products().get(name)


def read(path: str | os.PathLike[str]) -> Product:
    """Reads a product from a file like those of `presets/published`.

    Raises:
        InputError: The file cannot be read, or keys are missing or unknown. All are listed.
    """
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    assumed = files()["assumed"]
    mistakes = _mistakes(found, assumed)
    if mistakes:
        raise InputError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    return _product(found, assumed)


_FILE: Mapping[str, Any] = {
    "schema": str, "name": str, "product": str, "flash": str, "controller": str, "use": str,
    "model": list,
}  # fmt: skip
_MODEL: Mapping[str, Any] = {"name": str, "capacity": int, "raw": int, "raw-source": str}
_FACT: Mapping[str, Any] = {
    "drive": str, "what": str, "value": (int, float, str), "unit": str, "conditions": str,
    "source": str, "role": str,
}  # fmt: skip
_CACHE: Mapping[str, Any] = {"fixed": int, "dynamic": int, "source": str}
_USES = ("client", "datacentre", "zoned")

CACHED = ("slc-read", "slc-program", "slc-erase", "slc-endurance", "endurance")
"""The numbers of a flash generation that only drives with an SLC cache have."""


JITTER = ("read-jitter", "write-jitter")
"""Numbers of `[input]`: p50 and p99 in us of a random time of each request, on top of fixed times.

They are two published percentiles less the fixed times of the same requests."""


def _mistakes(file: Mapping[str, Any], assumed: Mapping[str, Any]) -> list[str]:
    """Every mistake of a file in words."""
    found = _keys("", file, _FILE, ("fitted", "inherited", "input", "fact"))
    for part in ("flash", "controller"):
        name, known = file.get(part), assumed[part]
        if isinstance(name, str) and name not in known:
            found.append(f"`{part}`: there is no `{name}` in `assumed.toml`; {hint(name, known)}")
    if isinstance(file.get("use"), str) and file["use"] not in _USES:
        found.append(f"`use`: {hint(file['use'], _USES)}")
    if found:
        return found
    known = {*assumed["flash"][file["flash"]], *assumed["controller"][file["controller"]]}
    for part in ("fitted", "inherited"):
        strange = set(file.get(part, {})) - known - {"why", "buffer-rate"}
        found += [
            f"`{part}.{key}`: no number of the tables; {hint(key, known)}"
            for key in sorted(strange)
        ]
    for key, value in file.get("input", {}).items():
        if key not in (*JITTER, "why"):
            found.append(f"`input.{key}`: {hint(key, JITTER)}")
        elif key in JITTER and not _rise(value):
            found.append(f"`input.{key}`: two times in us, p50 and p99, above 0 and in order")
    if len(set(file.get("fitted", {})) - {"why"}) > 2:
        found.append("`fitted`: more than two numbers; with more, errors prove nothing")
    for number, each in enumerate(file["model"], 1):
        own = _keys(
            f"model {number}: ", each, _MODEL, ("write-limit", "write-limit-source", "slc-cache")
        )
        if not own and not 0 < each["capacity"] < each["raw"]:
            own.append(f"model {number}: `capacity` is above 0 and below `raw`, all flash")
        if not own and "slc-cache" in each:
            own += _cache_mistakes(f"model {number}: `slc-cache`: ", each, known)
        found += own
    names = [each.get("name") for each in file["model"]]
    for number, each in enumerate(file.get("fact", ()), 1):
        own = _keys(f"fact {number}: ", each, _FACT, ())
        role = str(each.get("role", "")).partition(":")[0]
        if not own and role not in (*ROLES, *_ASIDE):
            own.append(f"fact {number}: `role`: {hint(role, (*ROLES, *_ASIDE))}")
        if not own and role in ("checked", "predicted") and each["drive"] not in names:
            own.append(f"fact {number}: `drive`: no model has the name `{each['drive']}`")
        found += own
    return found


def _rise(value: Any) -> bool:
    """Whether a value is two numbers above 0 in order."""
    numbers = isinstance(value, list) and all(isinstance(each, (int, float)) for each in value)
    return numbers and len(value) == 2 and 0 < value[0] <= value[1]


def _cache_mistakes(where: str, model: Mapping[str, Any], known: Iterable[str]) -> list[str]:
    """The mistakes of the cache of a model, whose flash has the numbers `known`."""
    cache = model["slc-cache"]
    found = _keys(where, cache, _CACHE, ())
    if not found and not (
        min(cache["fixed"], cache["dynamic"]) >= 0 < cache["fixed"] + cache["dynamic"]
    ):
        found.append(f"{where}`fixed` and `dynamic` are bytes, and one of them is above 0")
    if not set(CACHED) <= set(known):
        found.append(f"{where}its `flash` has no `{CACHED[0]}` in `assumed.toml`")
    return found


def _keys(where: str, part: Any, kinds: Mapping[str, Any], optional: Sequence[str]) -> list[str]:
    """Missing and unknown keys, and those of another type."""
    if not isinstance(part, dict):
        return [f"{where}expected keys"]
    found = [f"{where}`{key}` is missing" for key in kinds if key not in part]
    found += [
        f"{where}`{key}` is unknown; {hint(key, [*kinds, *optional])}"
        for key in part
        if key not in kinds and key not in optional
    ]
    wrong = [key for key in kinds if key in part and not isinstance(part[key], kinds[key])]
    return found + [f"{where}`{key}` has another type" for key in wrong]


def _product(file: Mapping[str, Any], assumed: Mapping[str, Any]) -> Product:
    flash, controller = assumed["flash"][file["flash"]], assumed["controller"][file["controller"]]
    own = {**file.get("inherited", {}), **file.get("fitted", {}), **file.get("input", {})}
    own.pop("why", None)
    guessed = _assumed(flash, own) | _assumed(controller, own)
    models = []
    for each in file["model"]:
        cache = each.get("slc-cache")
        lacks = () if cache else CACHED
        keys = guessed - set(lacks)
        if cache and cache["source"].startswith(GUESSES):
            keys.add("slc-cache")
        if each.get("write-limit-source", "").startswith(GUESSES):
            keys.add("write-limit")
        if each["raw-source"].startswith(("assumed", "2^n")):
            keys.add("spare")
        models.append(
            Model(
                name=each["name"],
                product=file["product"],
                use=file["use"],
                capacity=each["capacity"],
                raw=each["raw"],
                write_limit=each.get("write-limit"),
                flash={k: own.get(k, v) for k, v in flash.items() if k not in lacks},
                controller={**controller, **{k: v for k, v in own.items() if k not in flash}},
                assumed=frozenset(keys),
                cache=Cache(cache["fixed"], cache["dynamic"]) if cache else None,
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
        file.get("input", {}),
    )


GUESSES = ("assumed", "derived", "fitted")
"""First words of the source of a value that is assumed for a drive, or known of another one."""


def _assumed(part: Mapping[str, Any], own: Mapping[str, Any]) -> set[str]:
    """The keys of a part that are assumed, and that the drive does not have itself."""
    sources = part["sources"]
    keys = [key for key in part if key != "sources" and key not in own]
    return {k for k in keys if sources.get(k, sources.get("*", "")).startswith(GUESSES)}
