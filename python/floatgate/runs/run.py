"""Running a drive. Rust validates settings; none is defined here again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from floatgate import build, engine
from floatgate.cache import cache
from floatgate.hints import hint
from floatgate.mistakes import UnknownNameError
from floatgate.result.folder import CHOICES, SNAPSHOTS, TABLES
from floatgate.result.run import Result
from floatgate.settings import Policies, Settings, pairs, policies_of, steadied
from floatgate.workloads.reading import Reading, how_to_read, takes_reading

if TYPE_CHECKING:
    from os import PathLike

    from floatgate.result.recording import Recording


@takes_reading
def run(
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    steady: bool = False,
    out: str | PathLike[str] | None = None,
    record: Iterable[str] = TABLES,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> Result:
    """Runs a workload on a drive.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        workload: A trace file, a trace of the catalogue such as `msr:hm_0`, or the name of a
            generator such as `random-write`. A TOML file sets one up, or combines several.
        policy: Policies by family, `{"cost": "fixed:level=low"}` or `["cost=fixed:level=low"]`;
            one of your own as `{"victim": "py:module.Class:key=value"}`, or the class itself, or
            an instance (see `floatgate.policy`).
        set: Settings by key, `{"ftl.spare-factor": 0.2}` or `["ftl.spare-factor=0.2"]`; those
            of the workload begin with `workload.`.
        seed: The seed of every random stream; by default that of the drive file.
        steady: Whether the drive is filled and aged by random writes before the run, as one in use
            is: `precondition.fill=full` and `precondition.age=random`, unless `set` says otherwise.
        out: The folder in which the run is stored, as `OUT/RUN-ID/` with `result.json` and the
            tables of `record` as Parquet files.
        record: Which tables are stored: some of `requests`, `series`, `blocks` and `snapshots`,
            or none; by default the first three. Tables that are not recorded cost nothing. With
            `snapshots`, `floatgate.view` shows the drive over time.
        progress: Called about ten times a second. The arguments are the stage, the records,
            requests or page writes done, their total (None if unknown, as for `ageing`) and the
            simulated time in ns. Stages are `opening`, `reading`, `filling` and `ageing` while the
            drive is preconditioned, and `running`.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The result. A drive that wears out is a result too: `result.end` says so.

    Raises:
        InputError: The drive, a setting, a policy or the workload is wrong, or the run cannot
            be stored; the message gives the place.
    """
    return simulated(
        drive,
        workload,
        policy=policy,
        set=steadied(set, steady),
        seed=seed,
        out=out,
        record=record,
        progress=progress,
        reading=reading,
    )


def simulated(
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    policy: Policies,
    set: Settings,
    seed: int | None,
    out: str | PathLike[str] | None,
    progress: Callable[[str, int, int | None, int], object] | None,
    reading: Reading,
    record: Iterable[str] = TABLES,
    years: str | None = None,
) -> Result:
    """As `run`. With `years`, it simulates as much of the drive as an estimate of years needs.

    `years` is None for a plain run. Otherwise it gives the reason why the cells of the drive have
    no model; it is empty if they have one.
    """
    words, finder = policies_of(policy, set)
    tables = tables_of(record)
    with _recording(out) if out is not None else nullcontext() as recording:
        text = engine.run(
            str(drive),
            str(workload),
            build=build.digest(),
            set=pairs(set),
            policy=words,
            seed=seed,
            reading=how_to_read(**reading),
            cache=cache(),
            progress=progress,
            rows=recording.take if recording and tables else None,
            tables=[*tables, *(SNAPSHOTS if "snapshots" in tables else ())],
            finder=finder,
            years=years,
        )
        result = Result(json.loads(text))
        if recording:
            result.folder = recording.keep(result.data)
    return result


def _recording(folder: str | PathLike[str]) -> Recording:
    from floatgate.result.recording import Recording

    return Recording(folder)


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
            raise UnknownNameError(f"`{name}` is not a table; {hint(name, CHOICES)}")
    return [name for name in CHOICES if name in wanted]
