"""The inputs and outputs of a study's module, and the types for them: one import."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.experiments import Experiment, Published
from floatgate.experiments.model import Planned
from floatgate.life.forward import demand_per_second
from floatgate.report.model import Curve, Finding, Plot, Point, Sheet, Table
from floatgate.reproduce.claims import (
    Column,
    Evidence,
    Measure,
    Taken,
    column,
    curve,
    numbers,
    percent,
    quotient,
)
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.runs.workers.pool import cores
from floatgate.workloads.catalogue import Folders, trace_folders
from floatgate.workloads.catalogue import traces as known_traces
from floatgate.workloads.describe import Description, describe

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Analysis", "Column", "Curve", "Evidence", "Experiment", "Finding", "Measure",
    "Plot", "Point", "Published", "Result", "Sheet", "Study", "Table", "Taken", "column", "curve",
    "numbers", "percent", "quotient",
]  # fmt: skip


class Analysis(NamedTuple):
    """The findings of an experiment's module beyond look-ups, and the claims that do not hold.

    An experiment's folder may be a package with `analyse(evidence, study) -> Analysis`. It may also
    have `claims(experiment)`, the claims about runs by name, and
    `prepare(experiment, traces, folder) -> Experiment` if files have to be made for its runs.
    Tables and sheets without a row, and plots without a point, are left out of the report.

    `says` is the main finding, in a sentence or two, for the top of the page. `shown` are the runs
    that the report shows one by one, if all would be too many. `measured` has the other evidence of
    claims, by the `names` that they have for it, with a description each.
    """

    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    missed: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    shown: Comparison | None = None
    says: str = ""
    measured: Sequence[Mapping[str, Any]] = ()


class Study:
    """The inputs of an analysis besides its evidence, the runs.

    `experiment` is the one that was run, `quick` says whether this is its quick form, and `workers`
    how many cores there are to use. `policies` are those that take the place of others.
    """

    def __init__(
        self,
        experiment: Experiment,
        traces: Folders,
        *,
        quick: bool = False,
        workers: int | None = None,
        policies: Mapping[str, str] | None = None,
    ) -> None:
        self._policies = policies or {}
        self.experiment = experiment
        self.quick = quick
        self.workers = workers or cores()
        self._planned = experiment.planned()
        self._traces = traces
        self._described: dict[str, Description] = {}

    def describe(self, workload: str) -> Description:
        """The description of a workload of the experiment, read as its runs read it."""
        if workload not in self._described:
            planned = self._of(workload)
            reading: Any = {"traces": self._traces} | planned.reading
            self._described[workload] = describe(str(planned.part.workload), **reading)
        return self._described[workload]

    def demand(
        self, workload: str, progress: Callable[[str, int, int | None, int], object] | None = None
    ) -> pl.DataFrame:
        """The bytes that a workload writes in each second, on the drive of its runs.

        It reads to the end, even if the runs use only the first requests.
        """
        planned = self._of(workload)
        reading: Any = {"traces": self._traces} | planned.reading | {"first": None}
        drive, name = str(planned.part.drive), str(planned.part.workload)
        return demand_per_second(drive, name, set=planned.part.set, progress=progress, **reading)

    def policy(self, text: str) -> str:
        """The policy that is run where the study asks for this one."""
        return self._policies.get(text, text)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of traces; those of the environment if none were given."""
        return tuple(trace_folders(self._traces))

    def others(self) -> dict[str, str]:
        """The traces at hand that have no name in the catalogue: their paths by file names."""
        found = known_traces(self._traces)["also_there"]
        return {os.path.basename(each["path"]): each["path"] for each in found}

    def _of(self, workload: str) -> Planned:
        return next(run for run in self._planned if run.names.get("workload") == workload)
