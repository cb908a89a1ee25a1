"""The one door to the compiled engine: no other module imports `floatgate._core`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floatgate._core import (
    Access,
    Cell,
    ConfigError,
    Drive,
    InputError,
    InternalError,
    Plane,
    PolicyError,
    Random,
    Recovery,
    WorkloadError,
    Write,
    bench,
    chips,
    convert,
    correctable,
    demand,
    describe,
    fast_forward,
    fit,
    formats,
    generators,
    ldpc_facts,
    ldpc_frames,
    ldpc_interval,
    ldpc_levels,
    plan,
    policies,
    presets,
    program_us,
    read_us,
    reprogram_wear,
    resolve,
    run,
    schema,
    sources,
    traces,
    version,
)

if TYPE_CHECKING:
    from floatgate._core import Reading as Reading


def _no_tables(*_: object) -> object:
    raise InternalError("somebody has to say who opens tables")


AS_IT_IS: Reading = {
    "format": None,
    "time_unit": None,
    "columns": None,
    "event": None,
    "devices": (),
    "process": None,
    "skip_bad": False,
    "traces": (),
    "slice": None,
    "first": None,
    "footprint": None,
    "speed": None,
    "repeat": None,
    "tables": _no_tables,
}
"""How a workload is read that nothing is said of."""

__all__ = [
    "AS_IT_IS",
    "Access",
    "Cell",
    "ConfigError",
    "Drive",
    "InputError",
    "InternalError",
    "Plane",
    "PolicyError",
    "Random",
    "Recovery",
    "WorkloadError",
    "Write",
    "bench",
    "chips",
    "convert",
    "correctable",
    "demand",
    "describe",
    "fast_forward",
    "fit",
    "formats",
    "generators",
    "ldpc_facts",
    "ldpc_frames",
    "ldpc_interval",
    "ldpc_levels",
    "plan",
    "policies",
    "presets",
    "program_us",
    "read_us",
    "reprogram_wear",
    "resolve",
    "run",
    "schema",
    "sources",
    "traces",
    "version",
]
