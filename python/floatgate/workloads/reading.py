"""Reading a trace: the one list of its options."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_type_hints,
)

from floatgate import engine
from floatgate.engine import InputError
from floatgate.hints import hint
from floatgate.workloads.catalogue import Folders, trace_folders

GREATEST = 2**64 - 1
"""No number of requests is greater."""

Devices = str | int | Iterable[str | int]
"""`3`, `"3,7"` or `[3, "hm_0"]`."""

P = ParamSpec("P")
R = TypeVar("R")


class Option(NamedTuple):
    """The options of the command line for reading: their help, and their types."""

    metavar: str
    help: str
    type: Any = str
    least: int | None = None


class Reading(TypedDict, total=False):
    """Options of reading a trace, and of changing it; `floatgate.run` explains each.

    Functions take these as keywords, commands as options, experiments as keys of `reading`.
    """

    format: Annotated[
        str | None, Option("NAME", "The trace's format; by default detected from its content.")
    ]
    time_unit: Annotated[
        str | None, Option("UNIT", "Unit of the trace's times: s, ms, us, 100ns or ns.")
    ]
    columns: Annotated[
        str | None,
        Option(
            "MAP",
            "The content of a table's columns, by number or name: "
            "time=1:us,op=2,offset=lba:sectors,size=4.",
        ),
    ]
    event: Annotated[
        str | None,
        Option(
            "LETTER",
            "The event of blkparse at which a request arrives: Q (queued), D (issued), "
            "C (completed).",
        ),
    ]
    device: Annotated[
        Devices | None, Option("NAME[,NAME]...", "Only requests to these devices of the trace.")
    ]
    process: Annotated[
        str | int | None, Option("NAME", "Only requests of this process, by name or number.")
    ]
    flow_by: Annotated[
        str | None,
        Option("COLUMN", "Make each device or each process a flow of its own."),
    ]
    skip_bad: Annotated[bool, Option("", "Skip and count records that cannot be read.", bool)]
    traces: Annotated[
        Folders,
        Option(
            "DIR",
            "Folders of published traces; by default FLOATGATE_TRACES.",
            list[Path],
        ),
    ]
    slice: Annotated[
        str | None,
        Option("FROM..TO", "Only this stretch of the workload's time: 10min..2h, 10min.."),
    ]
    first: Annotated[int | None, Option("N", "Only the first N requests.", int, 1)]
    footprint: Annotated[
        float | None,
        Option("FACTOR", "Move extents of 1 MiB to this part of their number: 0.5.", float),
    ]
    speed: Annotated[float | None, Option("FACTOR", "Speed up arrivals by FACTOR.", float)]
    repeat: Annotated[int | None, Option("N", "Repeat the workload N times.", int, 1)]


def takes_reading(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose `**reading` is a `Reading`: signature and docstring have each key.

    An argument that the function does not have is an error that names the nearest one.
    """
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    keys, said = [], ""
    for key, kind in get_type_hints(Reading, include_extras=True).items():
        default = False if key == "skip_bad" else None
        keyword = inspect.Parameter.KEYWORD_ONLY
        keys.append(inspect.Parameter(key, keyword, default=default, annotation=kind.__origin__))
        said += f"\n\\1{key}: {kind.__metadata__[0].help}"
    names = [*(parameter.name for parameter in own), *Reading.__annotations__]

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if unknown := [name for name in options if name not in names]:
            raise TypeError(_unexpected(function.__name__, unknown[0], names))
        return function(*arguments, **options)

    checked.__signature__ = signature.replace(parameters=[*own, *keys])  # type: ignore[attr-defined]
    checked.__doc__ = re.sub(r"(?m)^( *)\*\*reading: .*$", rf"\g<0>{said}", function.__doc__ or "")
    return checked


def _unexpected(function: str, name: str, names: Iterable[str]) -> str:
    return f"{function}() got an unexpected keyword argument `{name}`; {hint(name, names)}"


def how_to_read(**reading: Unpack[Reading]) -> engine.Reading:
    """The same for the engine.

    Raises:
        InputError: A number is too great. TypeError: A key is not one of `Reading`.
    """
    if unknown := sorted(reading.keys() - Reading.__annotations__.keys()):
        said = hint(unknown[0], Reading.__annotations__)
        raise TypeError(f"unexpected keyword argument `{unknown[0]}`; {said}")
    for key, count in (("first", reading.get("first")), ("repeat", reading.get("repeat"))):
        if count is not None and count > GREATEST:
            raise InputError(f"`{key}`: {count}; expected at most {GREATEST}")
    process = reading.get("process")
    given = {key: value for key, value in reading.items() if key in engine.AS_IT_IS}
    found = (
        engine.AS_IT_IS
        | given
        | {
            "devices": _names(reading.get("device")),
            "process": None if process is None else str(process),
            "traces": trace_folders(reading.get("traces")),
            "tables": _open_table,
        }
    )
    return cast("engine.Reading", found)


def _open_table(*words: Any) -> Any:
    from floatgate.workloads.parquet import open_table

    return open_table(*words)


def _names(devices: Devices | None) -> list[str]:
    if isinstance(devices, str):
        return devices.split(",")
    return [str(d) for d in ([devices] if isinstance(devices, int) else devices or ())]
