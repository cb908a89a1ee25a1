"""Published results, reproduced: the included experiments."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from floatgate import pages
from floatgate.engine import InputError
from floatgate.experiments import Published
from floatgate.hints import hint
from floatgate.mistakes import UnknownNameError
from floatgate.report.model import Report, Table
from floatgate.report.verdicts import DIFFERS, verdict
from floatgate.reproduce import claims
from floatgate.reproduce.changes import changed, changes_of, marked
from floatgate.reproduce.studies import drives, ldpc
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.runs.batch import Standing
from floatgate.runs.sweep import Experiment, sweep
from floatgate.runs.workers.pool import Executor
from floatgate.text.comparison import failures
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.stand_ins import expectation

FILE = "experiment.toml"
PAGE = "report.html"
MEASURED = "measured.json"
"""The measurements other than runs that a study's claims rest on, by name (`Analysis.measured`)."""
VERDICTS = Path(__file__).parent / "verdicts.json"
"""The verdicts of each study's facts, by form, as of the version that it names."""


class Reproduction(NamedTuple):
    """The results. `missed` has, in words, the numbers outside their stated tolerance."""

    report: Report
    page: Path
    missed: Sequence[str]


def known() -> dict[str, Experiment]:
    """The included experiments, by name."""
    return dict(_read())


@cache
def _read() -> dict[str, Experiment]:
    found = {}
    for folder in resources.files("floatgate.reproduce.studies").iterdir():
        file = folder / FILE
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            experiment = Experiment.parse(text, str(file), str(folder))
            found[experiment.name] = experiment
    return dict(sorted(found.items()))


Counts = Mapping[str, Mapping[str, int]]
"""As `floatgate.report.verdicts.counts` gives them."""


def verdicts() -> dict[str, dict[str, Counts]]:
    """The number of facts with each verdict, by study and form (`quick` or `full`).

    Both forms ran without any trace files.
    """
    text = VERDICTS.read_text(encoding="utf-8")
    stored: dict[str, dict[str, Counts]] = json.loads(text)["studies"]
    return stored


def measurements() -> dict[str, str]:
    """The titles of included measurements without an experiment to sweep, by name.

    Each is a module of `floatgate.reproduce.studies` with `TITLE` and `measure`.
    """
    return {"drives": drives.TITLE, "ldpc": ldpc.TITLE}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    traces: Folders = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
    policies: Mapping[str, str] | None = None,
) -> Reproduction:
    """Reproduces a published result, and writes a report that compares both.

    Args:
        name: One of `known()`.
        quick: Its quick form: fewer points, at most a minute on two cores.
        traces: The folders of the catalogue's traces.
        out: The folder of the runs and of `report.html`, by default `floatgate-results/NAME`.
        workers: As for `floatgate.sweep`; likewise `executor` and `progress`.
        executor: Where to run instead of on this machine.
        progress: Called about ten times a second with the progress of all runs.
        policies: Policies to run in the place of others, both as texts: those of a change of
            `changes.toml`. The rows then show the effect of the change on them.

    Raises:
        InputError: There is no such experiment, a run could not start, or all runs failed.
    """
    experiments = known()
    if name not in experiments:
        help = hint(name, [*experiments, *measurements()])
        raise UnknownNameError(f"`{name}` is not a study; {help}")
    experiment = experiments[name].quick() if quick else experiments[name]
    folder = Path(out) if out is not None else Path("floatgate-results") / name
    experiment = prepared(changed(experiment, policies or {}), traces, folder)
    comparison = sweep(
        experiment,
        out=folder,
        traces=traces,
        workers=workers,
        executor=executor,
        progress=progress,
    )
    if not comparison.runs:
        raise InputError(f"no run of `{name}` gave a result\n{failures(comparison)}")
    whole = experiment.with_other_traces(traces)
    study = Study(whole, traces, quick=quick, workers=workers, policies=policies)
    return _reported(experiment, comparison, study, folder)


def _reported(
    experiment: Experiment, comparison: Comparison, study: Study, folder: Path
) -> Reproduction:
    analysis = analysed(experiment.name, comparison, study)
    # A short form has no runs for some rows and columns.
    sheets = [sheet.without_empty_columns() for sheet in analysis.sheets if sheet.rows]
    changes = changes_of(experiment.folder)
    tables = [table for table in analysis.tables if table.rows]
    tables = marked(tables, changes, quick=study.quick)
    own = ("values", "curves")
    plots = [plot for plot in analysis.plots if plot.kind not in own or plot.values or plot.curves]
    report = claims.report_of(experiment, comparison, tables, plots, sheets)
    doubt = expectation()
    report = report._replace(says=analysis.says, doubt=doubt, runs=analysis.shown or comparison)
    page = folder / PAGE
    claims.save(report, page)
    pages.write(folder / MEASURED, json.dumps([*analysis.measured], indent=1) + "\n")
    missed = [*claims.misses(experiment, comparison), *analysis.missed, *_missed(analysis.tables)]
    return Reproduction(report, page, missed)


def _missed(tables: Sequence[Table]) -> list[str]:
    """Rows outside their band that are not results of a model, or that do not follow."""
    rows = [row for table in tables for row in table.rows if row.kind not in ("output", "beyond")]
    unequal = [row for row in rows if row.kind == "follows" and verdict(row) == DIFFERS]
    return [*claims.beyond(row for row in rows if row.kind != "follows"),
            *map(claims.miss, unequal)]  # fmt: skip


def analysed(name: str, comparison: Comparison, study: Study) -> Analysis:
    """The findings of the experiment's own module, if it has one."""
    analyse = _of_module(name, "analyse")
    if analyse is None:
        return Analysis()
    found: Analysis = analyse(claims.Evidence(study.experiment, comparison), study)
    return found


def prepared(experiment: Experiment, traces: Folders, folder: Path) -> Experiment:
    """The experiment with the files, if any, that its own module makes in a folder."""
    prepare = _of_module(experiment.name, "prepare")
    if prepare is None:
        return experiment
    made: Experiment = prepare(experiment, traces, folder)
    return made


def claims_of(experiment: Experiment) -> list[Published]:
    """The claims of an experiment and its own module about runs, by name."""
    claims = _of_module(experiment.name, "claims")
    return [*experiment.published, *(claims(experiment) if claims else ())]


def _of_module(name: str, function: str) -> Callable[..., Any] | None:
    """A function of the experiment's own module, if it has one."""
    module = f"floatgate.reproduce.studies.{name.replace('-', '_')}"
    if importlib.util.find_spec(module) is None:
        return None
    found: Callable[..., Any] | None = getattr(importlib.import_module(module), function, None)
    return found
