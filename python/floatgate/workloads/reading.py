"""How a trace is to be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, Unpack

from floatgate import engine
from floatgate.workloads.catalogue import Folders, trace_folders
from floatgate.workloads.parquet import open_table

Devices = str | int | Iterable[str | int]
"""`3`, `"3,7"` or `[3, "hm_0"]`."""


class Reading(TypedDict, total=False):
    """How a trace is to be read, and what is done to it; `run` says what each means."""

    format: str | None
    time_unit: str | None
    columns: str | None
    event: str | None
    device: Devices
    process: str | int | None
    skip_bad: bool
    traces: Folders
    slice: str | None
    first: int | None
    footprint: float | None
    speed: float | None
    repeat: int | None


def how_to_read(**reading: Unpack[Reading]) -> engine.Reading:
    """The same for the engine."""
    process = reading.get("process")
    return {
        "format": reading.get("format"),
        "time_unit": reading.get("time_unit"),
        "columns": reading.get("columns"),
        "event": reading.get("event"),
        "devices": _names(reading.get("device", ())),
        "process": None if process is None else str(process),
        "skip_bad": reading.get("skip_bad", False),
        "traces": trace_folders(reading.get("traces")),
        "slice": reading.get("slice"),
        "first": reading.get("first"),
        "footprint": reading.get("footprint"),
        "speed": reading.get("speed"),
        "repeat": reading.get("repeat"),
        "tables": open_table,
    }


def _names(devices: Devices) -> list[str]:
    if isinstance(devices, str):
        return devices.split(",")
    return [str(d) for d in ([devices] if isinstance(devices, int) else devices)]
