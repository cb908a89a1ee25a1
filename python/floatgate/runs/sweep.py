"""All runs of an experiment: the list, the finished ones, and making the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from floatgate import engine, experiments
from floatgate.engine import ConfigError
from floatgate.experiments.errors import Mistake
from floatgate.experiments.model import Planned
from floatgate.experiments.toml import Path as At
from floatgate.hints import hint
from floatgate.mistakes import FileError
from floatgate.policy.permission import code_allowed, named
from floatgate.result.comparison import Comparison
from floatgate.result.declared import beside
from floatgate.result.files import prepare_folder, reason, replace
from floatgate.result.lists import SWEEP
from floatgate.result.measures import MEASURES
from floatgate.runs.batch import Checked, Standing, carry_out, check, together
from floatgate.runs.workers.pool import Executor, Job, finished
from floatgate.workloads.catalogue import Folders, trace_folders


class Experiment(experiments.Experiment):
    """A set of runs, the numbers to look at, and published values.

    >>> experiment = Experiment(
    ...     "spare",
    ...     drive="agcr",
    ...     workload="random-write",
    ...     policy={"victim": ["greedy", "fifo"]},
    ...     set={"ftl.spare-factor": {"from": 0.1, "to": 0.3, "steps": 3}},
    ... )
    >>> len(experiment.planned())
    6
    >>> Experiment.parse(experiment.to_toml()) == experiment
    True

    docs/experiments.md explains every key; the arguments here are those keys. `folder` is where
    relative names of drive files and traces are looked for.

    Raises:
        ConfigError: Every mistake in it, with lines if it comes from a file.
    """

    def sweep(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        workers: int | None = None,
        executor: Executor | None = None,
        progress: Callable[[Standing], object] | None = None,
    ) -> Comparison:
        """Makes the missing runs: see `floatgate.sweep`."""
        return sweep(self, out=out, workers=workers, executor=executor, progress=progress)


class Prepared(NamedTuple):
    """An experiment that has been checked: every run, and its own settings."""

    experiment: experiments.Experiment
    plans: Sequence[Checked]
    variants: Sequence[Mapping[str, str]]
    out: str

    def done(self) -> int:
        """The number of existing runs."""
        return sum(finished(plan.job) is not None for plan in self.plans)


def sweep(
    experiment: experiments.Experiment | str | os.PathLike[str],
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    traces: Folders = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
) -> Comparison:
    """Makes the missing runs of an experiment.

    Every run is checked before the first starts, and stored as soon as it is done. A stopped sweep
    is resumed: a finished run is never repeated.

    Args:
        experiment: An experiment, or its file (see docs/experiments.md).
        quick: Make its quick form.
        out: The folder of the results, by default `floatgate-results/NAME`. Besides the runs it has
            `sweep.json`, with the name of each run, and at the end `comparison.json`.
        traces: The folders of the catalogue's traces, if the experiment does not name them.
        workers: How many processes work at a time, by default one for each core; 1 stands for
            this process itself.
        executor: Where to run instead of on this machine.
        progress: Called some ten times a second with the progress of all runs.

    Returns:
        The results of all runs, block by block. A run that fails is in `failed`; the others go on.

    Raises:
        InputError: The experiment is wrong, or some run could not start; every mistake is listed.
    """
    return carry_on(
        prepare(experiment, quick=quick, out=out, traces=traces, progress=progress),
        workers=workers,
        executor=executor,
        progress=progress,
    )


def prepare(
    experiment: experiments.Experiment | str | os.PathLike[str],
    *,
    quick: bool = False,
    scale: str | None = None,
    out: str | os.PathLike[str] | None = None,
    traces: Folders = None,
    progress: Callable[[Standing], object] | None = None,
) -> Prepared:
    """Checks every run of an experiment, and makes none.

    Raises:
        InputError: The experiment is wrong, or some run could not start; every mistake is listed.
    """
    if not isinstance(experiment, experiments.Experiment):
        experiment = Experiment.load(experiment)
    if experiment.source.text:
        _check_code(experiment)
    if quick:
        experiment = experiment.quick()
    if scale is not None:
        experiment = experiment.scaled(scale)
    experiment = experiment.with_other_traces(traces)
    folder = str(out) if out is not None else os.path.join("floatgate-results", experiment.name)
    runs = experiment.planned()
    if not runs:
        mistake = Mistake(("exclude",), "every run is excluded: there is nothing to run")
        raise experiment.source.error([mistake])
    _check_measures(experiment)
    jobs = [_job(run, folder, experiment.record, traces) for run in runs]
    several = _several(runs)
    named = [{k: v for k, v in run.names.items() if k in several} for run in runs]
    try:
        plans = check(jobs, named, progress)
    except ConfigError as error:
        raise _placed(experiment, error) from None
    variants = [_names(run, plan, several) for run, plan in zip(runs, plans, strict=True)]
    same = [name for name in several if len({variant[name] for variant in variants}) == 1]
    variants = [{k: v for k, v in variant.items() if k not in same} for variant in variants]
    return Prepared(experiment, *together(plans, variants), folder)


def carry_on(
    prepared: Prepared,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
) -> Comparison:
    """Makes the missing runs."""
    _write_list(prepared)
    return carry_out(
        prepared.plans,
        prepared.variants,
        out=prepared.out,
        workers=workers,
        executor=executor,
        progress=progress,
    )


def _job(run: Planned, out: str, record: tuple[str, ...], traces: Folders) -> Job:
    assert run.part.drive is not None
    assert run.part.workload is not None
    reading = run.reading
    if "traces" not in reading and traces is not None:
        reading = {**reading, "traces": trace_folders(traces)}
    return Job(
        run.part.drive,
        run.part.workload,
        tuple(f"{family}={policy}" for family, policy in run.part.policy.items()),
        tuple(f"{key}={value}" for key, value in run.part.set.items()),
        run.part.seed,
        reading,
        out,
        record=record,
    )


def _several(runs: Sequence[Planned]) -> list[str]:
    """The names whose values differ between runs; some runs may not have them."""
    names = dict.fromkeys(name for run in runs for name in run.names)
    return [name for name in names if len({run.names.get(name) for run in runs}) > 1]


def _names(run: Planned, plan: Checked, names: Sequence[str]) -> dict[str, str]:
    """The name of a run: the value of its block or, without one, of its drive."""
    known: dict[str, Any] = {"drive": run.part.drive, "workload": run.part.workload}
    known["seed"] = plan.config["run"]["seed"]

    def inside(name: str) -> str:
        if name in known:
            return str(known[name])
        value: Any = plan.config
        policy = plan.config["policies"].get(name)
        if policy is not None:
            return str(policy["name"] if isinstance(policy, Mapping) else policy)
        for key in name.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return "-"
            value = value[key]
        return str(value)

    return {name: run.names[name] if name in run.names else inside(name) for name in names}


def _write_list(prepared: Prepared) -> None:
    made = prepare_folder(Path(prepared.out))
    value = {
        "schema": "floatgate.sweep/1",
        "name": prepared.experiment.name,
        "title": prepared.experiment.title,
        "version": engine.version(),
        "runs": [
            {"run_id": plan.job.run_id, "variant": dict(variant)}
            for plan, variant in zip(prepared.plans, prepared.variants, strict=True)
        ],
    }
    try:
        replace(Path(prepared.out) / SWEEP, json.dumps(value, indent=1) + "\n")
    except OSError as error:
        for folder in made:
            folder.rmdir()
        raise FileError(
            f"{prepared.out}: no result can be stored here ({reason(error)})"
        ) from error


def _placed(experiment: experiments.Experiment, error: ConfigError) -> ConfigError:
    """The engine's errors, each with the line of the experiment that it is about."""
    texts = []
    for text in error.errors:
        lines = {
            line: path[-1]
            for path, line in experiment.source.lines.items()
            if len(path) >= 2 and path[-2] in ("set", "policy") and _is_about(text, *path[-2:])
        }
        at = "".join(
            f"\n  at: {experiment.source.name}:{line} ({key})" for line, key in lines.items()
        )
        texts.append(text + at)
    placed = ConfigError("\n\n".join(texts))
    placed.errors = texts
    return placed


def _is_about(text: str, table: str | int, key: str | int) -> bool:
    return f"--{table} {key}=" in text or f"--{table} `{key}" in text or f"{key}=" in text


def _check_code(experiment: experiments.Experiment) -> None:
    """Whether an experiment that comes from a file may run the code that it names."""
    if code_allowed():
        return
    mistakes = [
        Mistake(
            path,
            f"this experiment wants to run code: `{name}`",
            "if you trust it, say --allow-code (in Python: `with floatgate.allow_code():`)",
        )
        for path, text in _texts(experiment.data)
        if "policy" in path and (name := named(text)) is not None
    ]
    if mistakes:
        raise experiment.source.error(mistakes)


def _texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, str]]:
    """Every text below a value, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _texts(inner, (*path, i))


def _check_measures(experiment: experiments.Experiment) -> None:
    """Paths that no result has are errors now, not when all runs are done."""
    places: list[tuple[At, str]] = [
        (("measures", i), name) for i, name in enumerate(experiment.measures)
    ]
    for key in ("plots", "published"):
        for i, each in enumerate(experiment.data.get(key, ())):
            if each.get("measure"):
                places.append(((key, i, "measure"), each["measure"]))
    unknown = [(path, name) for path, name in places if name not in MEASURES]
    if not unknown:
        return
    mistakes = []
    for path, name in unknown:
        known = beside(name)
        if known is not None:
            message = f"`{name}` is not a number of a result"
            mistakes.append(Mistake(path, message, hint(name, [*MEASURES, *known])))
    if mistakes:
        raise experiment.source.error(mistakes)
