"""Settings and policies as people give them, and as the engine reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from floatgate.policy.finder import Finder, name_of
from floatgate.policy.permission import typed

Settings = Mapping[str, object] | Iterable[str]
"""`{"ftl.spare-factor": 0.2}` or `["ftl.spare-factor=0.2"]`."""

Policies = Mapping[str, object] | Iterable[str]
"""`{"victim": "d-choices:d=3"}` or `["victim=d-choices:d=3"]`; a value of the first form may also
be a class written in Python, or an instance (see `floatgate.policy`)."""


MOST_RUNS = 100_000
"""The most combinations of all varied values: every run is planned before the first starts."""


def too_many(counts: Iterable[int]) -> str | None:
    """Returns the error for too many combinations of values, which are counted before any is made.

    >>> too_many([1000, 1, 1000])
    '1,000 x 1,000 = 1,000,000 combinations are more than 100,000, which is the limit'
    """
    several = [count for count in counts if count != 1]
    number = math.prod(several)
    if number <= MOST_RUNS:
        return None
    factors = " x ".join(f"{count:,}" for count in several)
    return f"{factors} = {number:,} combinations are more than {MOST_RUNS:,}, which is the limit"


def pairs(settings: Settings) -> list[str]:
    """Settings as the engine reads them: `key=value`, values as in TOML."""
    if isinstance(settings, str):
        return [settings]
    if isinstance(settings, Mapping):
        return [f"{key}={setting(value)}" for key, value in settings.items()]
    return list(settings)


def policies_of(policies: Policies, settings: Settings = ()) -> tuple[list[str], Finder]:
    """Policies as the engine reads them, and the finder of those written in Python."""
    also = pairs(settings)
    if not isinstance(policies, Mapping):
        words = pairs(policies)
        return words, Finder(typed([*words, *also]))
    given = {k: v for k, v in policies.items() if not isinstance(v, str | int | float)}
    named = {k: name_of(v) if k in given else v for k, v in policies.items()}
    words = pairs(named)
    return words, Finder(typed([*words, *also]), given)


STEADY = {"precondition.fill": "full", "precondition.age": "random"}
"""The meaning of `steady`: the drive is full, and random writes have aged it."""


def steadied(settings: Settings, steady: bool) -> Settings:
    """The settings, and those of `steady` that they do not set themselves.

    >>> steadied(["precondition.fill=0.5", "seed=1"], True)
    ['precondition.age=random', 'precondition.fill=0.5', 'seed=1']
    >>> steadied({"ftl.spare-factor": 0.2}, False)
    {'ftl.spare-factor': 0.2}
    """
    if not steady:
        return settings
    if isinstance(settings, Mapping):
        return {**STEADY, **settings}
    given = pairs(settings)
    said = {each.partition("=")[0].strip() for each in given}
    if "precondition" in said:
        return given
    return [*pairs({k: v for k, v in STEADY.items() if k not in said}), *given]


def scaled(settings: Iterable[str], scale: str | None) -> list[str]:
    """Settings of a command line with its `--scale`.

    >>> scaled(["ftl.spare-factor=0.2"], "1/16"), scaled([], None)
    (['ftl.spare-factor=0.2', 'scale=1/16'], [])
    """
    return [*settings, *([] if scale is None else [f"scale={scale}"])]


def divisor(config: Mapping[str, object]) -> int:
    """The divisor of a resolved drive that is scaled down.

    >>> divisor({"scale": "1/16"}), divisor({})
    (16, 1)
    """
    return int(str(config.get("scale", "1/1")).partition("/")[2])


def setting(value: object) -> str:
    """The value of a setting as the engine reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def same_value(label: str, value: object) -> bool:
    """Whether a given value is that of a run; numbers are compared as numbers.

    >>> same_value("0.1", 0.10), same_value("greedy", "greedy"), same_value("1", True)
    (True, True, False)
    """
    if label == setting(value):
        return True
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        return float(label) == float(value)
    except ValueError:
        return False
