"""Several runs of one kind, side by side: every combination of the values given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Unpack

from floatgate.result.comparison import Comparison
from floatgate.result.folder import TABLES
from floatgate.runs.batch import Standing, carry_out, check, together
from floatgate.runs.run import tables_of
from floatgate.runs.variants import Lists, Names, Seeds, expand
from floatgate.runs.workers.pool import Executor, Job
from floatgate.settings import steadied
from floatgate.workloads.reading import Reading, takes_reading


@takes_reading
def compare(
    drive: Names,
    workload: Names,
    *,
    policy: Lists = (),
    set: Lists = (),
    seed: Seeds = None,
    steady: bool = False,
    out: str | os.PathLike[str] | None = None,
    record: Iterable[str] = TABLES,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Runs every combination of the values given.

    Any option takes several values: as a list, or as a text with commas. A comma within quotes or
    brackets belongs to its value. Every run is checked before the first starts.

    Args:
        drive: Presets and drive files.
        workload: Trace files and generators.
        policy: `{"cost": ["fixed:level=low", "fixed:level=high"]}` or
            `["cost=fixed:level=low,fixed:level=high"]`.
        set: `{"ftl.spare-factor": [0.07, 0.2]}` or `["ftl.spare-factor=0.07,0.2"]`.
        seed: `[1, 2, 3]` or `"1,2,3"`.
        steady: Whether drives are filled and aged first, as for `floatgate.run`.
        out: The folder in which each run is stored while it goes on, as `floatgate.run` does, and
            at the end the list of them as `comparison.json`. A run that exists already is taken as
            it is.
        record: Which tables are stored, as for `floatgate.run`.
        workers: How many processes work at a time, by default one for each core; 1 stands for
            this process itself.
        executor: Where to run instead of on this machine.
        progress: Called some ten times a second with the progress of all runs, also during their
            check.
        **reading: Options of reading traces, and of changing them (docs/traces.md):

    Returns:
        The results, in the order of the values rather than of completion. A run that fails is in
        `failed`; the others go on. Traces of the same bytes are one run, which has all their names.

    Raises:
        InputError: Some run could not start; every mistake is listed with the runs it concerns.
    """
    variants = expand(drive, workload, policy, steadied(set, steady), seed)
    varied = [variant.varied for variant in variants]
    stored = None if out is None else str(out)
    tables = tuple(tables_of(record))
    jobs = [
        Job(v.drive, v.workload, v.policy, v.set, v.seed, reading, stored, None, tables)
        for v in variants
    ]
    plans, called = together(check(jobs, varied, progress), varied)
    return carry_out(
        plans,
        called,
        out=stored,
        workers=workers,
        executor=executor,
        progress=progress,
    )
