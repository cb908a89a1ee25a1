"""Published results, made again: the experiments that come along."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.engine import InputError
from floatgate.experiments import Experiment
from floatgate.experiments.errors import nearest
from floatgate.experiments.model import Planned
from floatgate.life.forward import demand_per_second
from floatgate.report.model import Plot, Report, Sheet, Table
from floatgate.reproduce import claims as findings
from floatgate.result.comparison import Comparison
from floatgate.runs.batch import Standing
from floatgate.runs.sweep import sweep
from floatgate.runs.workers.pool import Executor, cores
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.catalogue import traces as known_traces
from floatgate.workloads.describe import Description, describe

if TYPE_CHECKING:
    import polars as pl

FILE = "experiment.toml"
PAGE = "report.html"


class Analysis(NamedTuple):
    """What the module of an experiment finds beyond look-ups, and what does not hold.

    An experiment's folder may be a package with `analyse(comparison, study) -> Analysis`, and with
    `prepare(experiment, traces, folder) -> Experiment` if files have to be made for its runs.
    `shown` are the runs that the report shows one by one, where all would be too many.
    """

    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    missed: Sequence[str] = ()
    sheets: Sequence[Sheet] = ()
    shown: Comparison | None = None


class Study:
    """What an analysis may ask for besides the runs.

    `quick` says whether this is the quick form, and `workers` how many cores there are to use.
    """

    def __init__(
        self,
        experiment: Experiment,
        traces: Folders,
        *,
        quick: bool = False,
        workers: int | None = None,
    ) -> None:
        self.quick = quick
        self.workers = workers or cores()
        self._planned = experiment.planned()
        self._traces = traces
        self._described: dict[str, Description] = {}

    def describe(self, workload: str) -> Description:
        """What a workload of the experiment is like, read as its runs read it."""
        if workload not in self._described:
            planned = self._of(workload)
            reading: Any = {"traces": self._traces} | planned.reading
            self._described[workload] = describe(str(planned.part.workload), **reading)
        return self._described[workload]

    def demand(
        self, workload: str, progress: Callable[[str, int, int | None, int], object] | None = None
    ) -> pl.DataFrame:
        """What a workload writes in each second, on the drive of its runs.

        To its end, even if its runs read the first requests only.
        """
        planned = self._of(workload)
        reading: Any = {"traces": self._traces} | planned.reading | {"first": None}
        drive, name = str(planned.part.drive), str(planned.part.workload)
        return demand_per_second(drive, name, set=planned.part.set, progress=progress, **reading)

    def others(self) -> dict[str, str]:
        """The traces at hand that have no name in the catalogue: their paths by file names."""
        found = known_traces(self._traces)["also_there"]
        return {os.path.basename(each["path"]): each["path"] for each in found}

    def _of(self, workload: str) -> Planned:
        return next(run for run in self._planned if run.names.get("workload") == workload)


class Reproduction(NamedTuple):
    """What came out. `missed` has, in words, what does not lie within its stated tolerance."""

    report: Report
    page: Path
    missed: Sequence[str]


def known() -> dict[str, Experiment]:
    """The experiments that come along, by name."""
    found = {}
    for folder in resources.files("floatgate.reproduce.studies").iterdir():
        file = folder / FILE
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            experiment = Experiment.parse(text, str(file), str(folder))
            found[experiment.name] = experiment
    return dict(sorted(found.items()))


def measurements() -> dict[str, str]:
    """What comes along and runs no drive, by name: its title.

    Each is a module of `floatgate.experiments` with `TITLE` and `measure`.
    """
    from floatgate.reproduce.studies import ldpc

    return {"ldpc": ldpc.TITLE}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    traces: Folders = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
) -> Reproduction:
    """Makes a published result again, and a report that puts both side by side.

    Args:
        name: One of `known()`.
        quick: Its quick form: fewer points, at most a minute on two cores.
        traces: Where traces of the catalogue lie.
        out: The folder of the runs and of `report.html`, by default `floatgate-results/NAME`.
        workers: As for `floatgate.sweep`; likewise `executor` and `progress`.
        executor: Where to run instead of on this machine.
        progress: Called some ten times a second with how far all runs have come.

    Raises:
        InputError: There is no such experiment, a run could not start, or all runs failed.
    """
    experiments = known()
    if name not in experiments:
        help = nearest(name, [*experiments, *measurements()])
        raise InputError(f"`{name}` is nothing that can be reproduced; {help}")
    experiment = experiments[name].quick() if quick else experiments[name]
    folder = Path(out) if out is not None else Path("floatgate-results") / name
    experiment = prepared(experiment, traces, folder)
    comparison = sweep(
        experiment,
        out=folder,
        traces=traces,
        workers=workers,
        executor=executor,
        progress=progress,
    )
    if not comparison.runs:
        from floatgate.text import comparison as comparison_text

        raise InputError(
            f"no run of `{name}` gave a result\n{comparison_text.failures(comparison)}"
        )
    whole = experiment.with_other_traces(traces)
    study = Study(whole, traces, quick=quick, workers=workers)
    return _reported(experiment, comparison, study, folder)


def _reported(
    experiment: Experiment, comparison: Comparison, study: Study, folder: Path
) -> Reproduction:
    analysis = analysed(experiment.name, comparison, study)
    # A short form has no runs for some columns.
    sheets = [sheet.without_empty_columns() for sheet in analysis.sheets]
    report = findings.report_of(experiment, comparison, analysis.tables, analysis.plots, sheets)
    if analysis.shown is not None:
        report = report._replace(runs=analysis.shown)
    page = folder / PAGE
    findings.save(report, page)
    missed = [*findings.misses(experiment, comparison), *analysis.missed]
    return Reproduction(report, page, missed)


def analysed(name: str, comparison: Comparison, study: Study) -> Analysis:
    """What the experiment's own module finds, if it has one."""
    analyse = _of_module(name, "analyse")
    if analyse is None:
        return Analysis()
    found: Analysis = analyse(comparison, study)
    return found


def prepared(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment with what its own module makes for its runs in a folder, if it does."""
    prepare = _of_module(experiment.name, "prepare")
    if prepare is None:
        return experiment
    made: Experiment = prepare(experiment, traces, folder)
    return made


def _of_module(name: str, function: str) -> Callable[..., Any] | None:
    """A function of the experiment's own module, if it has one."""
    module = f"floatgate.reproduce.studies.{name.replace('-', '_')}"
    if importlib.util.find_spec(module) is None:
        return None
    found: Callable[..., Any] | None = getattr(importlib.import_module(module), function, None)
    return found
