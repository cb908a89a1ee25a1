"""Running a drive, and asking what can be run. Rust validates; nothing here restates a setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from floatgate import build, engine
from floatgate.result.folder import CHOICES, SNAPSHOTS, TABLES, Recording
from floatgate.result.run import Result
from floatgate.runs.cache import cache
from floatgate.settings import Policies, Settings, pairs, policies_of
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.reading import Devices, how_to_read

if TYPE_CHECKING:
    from os import PathLike


def run(
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    format: str | None = None,
    time_unit: str | None = None,
    columns: str | None = None,
    event: str | None = None,
    device: Devices = (),
    process: str | int | None = None,
    skip_bad: bool = False,
    traces: Folders = None,
    slice: str | None = None,
    first: int | None = None,
    footprint: float | None = None,
    speed: float | None = None,
    repeat: int | None = None,
    out: str | PathLike[str] | None = None,
    record: Iterable[str] = TABLES,
    progress: Callable[[str, int, int | None, int], object] | None = None,
) -> Result:
    """Runs a workload on a drive.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        workload: A trace file, a trace of the catalogue such as `msr:hm_0`, the name of a
            generator such as `random-write`, or a TOML file that sets one up or puts several
            workloads together.
        policy: Policies by family, `{"cost": "fixed:level=low"}` or `["cost=fixed:level=low"]`;
            one of your own as `{"victim": "py:module.Class:key=value"}`, or the class itself, or
            an instance (see `floatgate.policy`).
        set: Settings by key, `{"ftl.spare-factor": 0.2}` or `["ftl.spare-factor=0.2"]`; those
            of the workload begin with `workload.`.
        seed: The seed of every random stream; the drive file's where it is not given.
        format: The trace's format, where it should not be told from its content.
        time_unit: The unit of the trace's time column, `s`, `ms`, `us` or `ns`, where the
            format leaves doubt.
        columns: Which column of a table holds what: `time=1:us,op=2,offset=3,size=4:sectors`.
        event: With which event a request arrives where a trace records several: `Q` (queued),
            `D` (issued) or `C` (completed).
        device: Only requests to these devices, named as the trace names them; all by default.
        process: Only requests of this process, by name or number.
        skip_bad: Count records that cannot be read and go on, instead of refusing the trace.
        traces: The folder, or folders, in or below which a trace of the catalogue is looked for;
            by default those that the environment variable FLOATGATE_TRACES names.
        slice: Only the requests of this stretch of the workload's time: `"10min..2h"`, `"10min.."`.
            `docs/traces.md` defines this and the following, which are done in this order.
        first: Only so many requests.
        footprint: Extents of 1 MiB move to this part of their number: 0.5 halves the space.
        speed: Arrivals come so many times as fast.
        repeat: The workload so many times, one after the other.
        out: The folder in which the run is stored, as `OUT/RUN-ID/` with `result.json` and the
            tables of `record` as Parquet files.
        record: Which tables are stored: some of `requests`, `series`, `blocks` and `snapshots`,
            or none; by default the first three. What is not recorded costs nothing. With
            `snapshots`, `floatgate.view` shows the drive over time.
        progress: Called some ten times a second with the stage (`opening`, `preconditioning`,
            `running`), the records, page writes or requests done, how many there are (None where
            unknown) and the simulated time in ns.

    Returns:
        The result. A drive that wears out is a result too: `result.end` says so.

    Raises:
        InputError: The drive, a setting, a policy or the workload is wrong, or the run cannot
            be stored; the message says where.
    """
    words, finder = policies_of(policy, set)
    tables = tables_of(record)
    with Recording(out) if out is not None else nullcontext() as recording:
        text = engine.run(
            str(drive),
            str(workload),
            build=build.digest(),
            set=pairs(set),
            policy=words,
            seed=seed,
            reading=how_to_read(
                format=format,
                time_unit=time_unit,
                columns=columns,
                event=event,
                device=device,
                process=process,
                skip_bad=skip_bad,
                traces=traces,
                slice=slice,
                first=first,
                footprint=footprint,
                speed=speed,
                repeat=repeat,
            ),
            cache=cache(),
            progress=progress,
            rows=recording.take if recording and tables else None,
            tables=[*tables, *(SNAPSHOTS if "snapshots" in tables else ())],
            finder=finder,
        )
        result = Result(json.loads(text))
        if recording:
            result.folder = recording.keep(result.data)
    return result


def resolve(
    drive: str | PathLike[str],
    *,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
) -> dict[str, Any]:
    """Returns the drive as a run would have it: inherited, overridden, checked."""
    words, finder = policies_of(policy, set)
    _, text = engine.resolve(str(drive), set=pairs(set), policy=words, seed=seed, finder=finder)
    return dict(json.loads(text)["config"])


def tables_of(record: Iterable[str]) -> list[str]:
    """The tables that are to be stored, in the order of the documentation.

    Raises:
        InputError: There is no such table.
    """
    wanted = [record] if isinstance(record, str) else list(record)
    for name in wanted:
        if name not in CHOICES:
            raise engine.InputError(f"`{name}` is not a table; there are {', '.join(CHOICES)}")
    return [name for name in CHOICES if name in wanted]
