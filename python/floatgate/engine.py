"""The one door to the compiled engine: no other module imports `floatgate._core`."""

from typing import TYPE_CHECKING

from floatgate._core import (
    Access,
    ConfigError,
    Drive,
    InputError,
    InternalError,
    Plane,
    PolicyError,
    Random,
    WorkloadError,
    Write,
    chips,
    convert,
    demand,
    describe,
    fast_forward,
    fit,
    formats,
    generators,
    plan,
    policies,
    presets,
    resolve,
    run,
    schema,
    traces,
    version,
)

if TYPE_CHECKING:
    from floatgate._core import Reading as Reading

__all__ = [
    "Access",
    "ConfigError",
    "Drive",
    "InputError",
    "InternalError",
    "Plane",
    "PolicyError",
    "Random",
    "WorkloadError",
    "Write",
    "chips",
    "convert",
    "demand",
    "describe",
    "fast_forward",
    "fit",
    "formats",
    "generators",
    "plan",
    "policies",
    "presets",
    "resolve",
    "run",
    "schema",
    "traces",
    "version",
]
