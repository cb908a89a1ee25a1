"""The one door to the compiled engine: no other module imports `floatgate._core`."""

from floatgate._core import (
    ConfigError,
    InputError,
    InternalError,
    WorkloadError,
    formats,
    generators,
    policies,
    presets,
    resolve,
    run,
    schema,
    version,
)

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
