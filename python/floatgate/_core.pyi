"""The compiled engine. Text goes in, JSON comes out; `floatgate.run` is what people call."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, type_check_only

from numpy.typing import NDArray

__all__ = [
    "ConfigError",
    "InputError",
    "InternalError",
    "WorkloadError",
    "formats",
    "generators",
    "policies",
    "presets",
    "resolve",
    "run",
    "schema",
    "version",
]

@type_check_only
class Reading(TypedDict):
    """How a trace is to be read."""

    format: str | None
    time_unit: str | None
    columns: str | None
    event: str | None
    devices: Sequence[str]
    process: str | None
    skip_bad: bool

class InputError(Exception):
    """The input is wrong: the message says where, and what would help."""

class ConfigError(InputError):
    """A drive, a setting or a policy is wrong; every mistake is listed."""

class WorkloadError(InputError):
    """A trace or a generator is wrong, or cannot be read."""

class InternalError(Exception):
    """A check of the simulator failed: a bug of floatgate, not of the input."""

def version() -> str: ...
def presets() -> list[tuple[str, str]]: ...
def generators() -> list[tuple[str, str]]: ...
def formats() -> list[tuple[str, str]]: ...
def policies() -> str: ...
def schema() -> str: ...
def resolve(
    drive: str, *, set: Sequence[str], policy: Sequence[str], seed: int | None
) -> tuple[str, str]: ...
def run(
    drive: str,
    workload: str,
    *,
    set: Sequence[str],
    policy: Sequence[str],
    seed: int | None,
    reading: Reading,
    cache: str | None,
    progress: Callable[[str, int, int | None, int], object] | None,
    rows: Callable[[str, list[tuple[str, NDArray[Any], list[str] | None, bool]]], object] | None,
) -> str: ...
