"""Independent runs: check all, take existing results, carry out the rest, gather.

`floatgate.compare` and `floatgate.sweep` differ only in the names of runs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from floatgate import build, engine
from floatgate.cache import cache
from floatgate.engine import InputError
from floatgate.mistakes import ConflictError, FileError, as_one, said
from floatgate.policy.finder import Finder
from floatgate.policy.permission import code_allowed, typed
from floatgate.result.comparison import Comparison, Failure
from floatgate.result.files import prepare_folder, reason, tidy
from floatgate.result.folder import RESULT, call_also
from floatgate.result.lists import PLANNED, write_planned
from floatgate.result.names import label, where
from floatgate.result.run import Result
from floatgate.result.values import identity
from floatgate.runs.workers.pool import Executor, Job, local, stored
from floatgate.workloads.reading import how_to_read


class Standing(NamedTuple):
    """The progress of several runs.

    `share` is the part of the work that is done, from 0 to 1; `requests` counts simulated requests.
    `reused` of the finished runs were stored before, and do not count as work. `remade` has the
    stored runs that could not be used, with the reasons. Each run is checked before the first one
    starts. `checking` is the number of the run being checked, from 1, and `read` the records of its
    workload read for that. `doing` has the stages of runs whose drives are being preconditioned (`2
    filling, 1 ageing`), and `pages` counts the pages written for that.
    """

    runs: int
    finished: int
    failed: int
    share: float
    requests: int
    reused: int = 0
    remade: Sequence[str] = ()
    checking: int = 0
    read: int = 0
    doing: str = ""
    pages: int = 0


Report = Callable[[Standing], object]


class Checked(NamedTuple):
    """A run that has been checked.

    `config` is its resolved drive. `workload` has the facts known without a run, or None if only a
    run can find its mistakes. `memory` is the most bytes that the engine needs. `also` has the
    names of other workloads with the same requests.
    """

    job: Job
    config: Mapping[str, Any]
    workload: Mapping[str, Any] | None
    memory: int
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its workload in results, and the names of equal workloads."""
        return () if self.workload is None else (str(self.workload["name"]), *self.also)

    @property
    def requests(self) -> int | None:
        """The number of requests, where it is known."""
        return None if self.workload is None else self.workload["requests"]


def check(
    jobs: Sequence[Job], varied: Sequence[Mapping[str, str]], progress: Report | None = None
) -> list[Checked]:
    """Each job: its resolved drive, its name, the preconditioned drive that it needs.

    Args:
        jobs: The jobs to run.
        varied: The own settings of each, for messages.
        progress: Called while workloads are read through.

    Raises:
        InputError: Some job could not start, or two would be the same; every mistake is listed
            with the jobs that it concerns.
    """
    plans: list[Checked] = []
    mistakes: dict[str, list[Mapping[str, str]]] = {}
    errors: list[InputError] = []
    same: dict[tuple[str, str, str], int] = {}
    for i, job in enumerate(jobs):

        def told(_stage: str, read: int, *_: Any, number: int = i + 1) -> None:
            if progress is not None:
                progress(Standing(len(jobs), 0, 0, 0.0, 0, checking=number, read=read))

        try:
            plan = planned(job, told)
        except InputError as error:
            errors.append(error)
            for text in said(error):
                mistakes.setdefault(text, []).append(varied[i])
            continue
        plans.append(plan)
        reading = {k: v for k, v in how_to_read(**job.reading).items() if k != "tables"}
        what = (json.dumps(plan.config), job.workload, json.dumps(reading))
        first = same.setdefault(what, i)
        if first != i:
            both = f"{label(varied[first])}; {label(varied[i])}"
            errors.append(ConflictError(f"two runs would be the same: {both}"))
            mistakes |= {text: [] for text in said(errors[-1])}
    if mistakes:
        raise as_one(errors, _with_runs(mistakes, varied))
    return plans


def together(
    plans: Sequence[Checked], varied: Sequence[Mapping[str, str]]
) -> tuple[list[Checked], list[Mapping[str, str]]]:
    """Merges runs of one name into one, which has the names of all.

    Two traces of the same bytes under two names are the same requests, so they are one run.
    """
    first: dict[str, int] = {}
    kept: list[Checked] = []
    called: list[list[Mapping[str, str]]] = []
    for plan, variant in zip(plans, varied, strict=True):
        name = plan.job.run_id
        if name is not None and name in first:
            at = first[name]
            called[at].append(variant)
            kept[at] = kept[at]._replace(also=(*kept[at].also, *plan.names))
            continue
        if name is not None:
            first[name] = len(kept)
        kept.append(plan)
        called.append([variant])
    return kept, [_merged(variants) for variants in called]


def _merged(variants: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """The name of several variants, each value once.

    >>> _merged([{"workload": "a", "seed": "1"}, {"workload": "b", "seed": "1"}])
    {'workload': 'a = b', 'seed': '1'}
    """
    names = dict.fromkeys(name for variant in variants for name in variant)
    return {
        name: " = ".join(dict.fromkeys(v[name] for v in variants if name in v)) for name in names
    }


def planned(job: Job, progress: Callable[..., object] | None = None) -> Checked:
    """The description of a job.

    Raises:
        InputError: It could not start.
    """
    kept = cache()
    text = engine.plan(
        job.drive,
        job.workload,
        build=build.digest(),
        policy=job.policy,
        set=job.set,
        seed=job.seed,
        reading=how_to_read(**job.reading),
        cache=kept,
        progress=progress,
        finder=Finder(typed([*job.policy, *job.set])),
    )
    value = json.loads(text)
    config, workload = value["config"], value["workload"]
    run_id = None
    if workload is not None and value["repeatable"]:
        run_id = identity(config, workload, config["run"]["seed"], build.digest())
    job = job._replace(
        # Without a cache nothing is shared, and there is nothing to wait for.
        state=value["state"] if kept else None,
        run_id=run_id,
        code=code_allowed(),
    )
    return Checked(job, config, workload, value["memory"])


def carry_out(
    plans: Sequence[Checked],
    varied: Sequence[Mapping[str, str]],
    *,
    out: str | None,
    workers: int | None,
    executor: Executor | None,
    progress: Report | None,
) -> Comparison:
    """Carries out the missing runs. Returns the results of all, in their order.

    Raises:
        InputError: Nothing can be stored in `out`.
    """
    if workers is not None and workers < 1:
        raise InputError(f"there must be at least one worker, not {workers}")
    with _folder(out):
        outcomes: dict[int, Result | Failure] = {}
        remade = []
        for index, plan in enumerate(plans):
            found = stored(plan.job)
            if isinstance(found, Result):
                outcomes[index] = found
            elif found is not None:
                remade.append(f"{out}/{plan.job.run_id}: {found}; this run is repeated")
        left = [index for index in range(len(plans)) if index not in outcomes]
        jobs = [plans[index].job for index in left]
        if out is not None and jobs:
            _write_planned(plans, varied, Path(out))
        reused = len(outcomes)
        tally = _Tally(len(jobs), reused, remade)
        ended = _run(jobs, executor or local(workers, len(jobs)), progress, tally)
        outcomes |= dict(zip(left, ended, strict=True))
        for index, plan in enumerate(plans):
            _call(outcomes[index], plan.names)
        comparison = Comparison.of(varied, [outcomes[index] for index in range(len(plans))])
        comparison.reused, comparison.remade = reused, remade
        if out is not None:
            tidy(Path(out))
            if comparison.runs:
                _write_list(comparison, out)
            (Path(out) / PLANNED).unlink(missing_ok=True)
    return comparison


def _write_planned(
    plans: Sequence[Checked], varied: Sequence[Mapping[str, str]], out: Path
) -> None:
    """Stores the names of runs for readers while the runs are made, or after an interruption."""
    names = [(plan.job.run_id, variant) for plan, variant in zip(plans, varied, strict=True)]
    try:
        write_planned(out, names)
    except OSError as error:
        raise FileError(f"{out}: no result can be stored here ({reason(error)})") from error


def _call(outcome: Result | Failure, names: Sequence[str]) -> None:
    """Stores with a result the names under which its workload was requested."""
    if isinstance(outcome, Result) and outcome.folder is not None:
        # If a folder takes no more files, the result is returned all the same.
        with suppress(OSError, InputError):
            call_also(outcome.folder, names)


def _write_list(comparison: Comparison, out: str) -> None:
    try:
        comparison.write_list(out)
    except OSError as error:
        raise FileError(f"{out}: the list of results cannot be stored ({reason(error)})") from error


def _with_runs(
    mistakes: Mapping[str, Sequence[Mapping[str, str]]], every: Sequence[Mapping[str, str]]
) -> list[str]:
    """All mistakes, each with the runs that it concerns unless it concerns every run."""
    return [
        f"{text}\n  in: {where(some, every)}" if 0 < len(some) < len(every) else text
        for text, some in mistakes.items()
    ]


def _run(
    jobs: Sequence[Job],
    executor: Executor,
    progress: Report | None,
    tally: _Tally,
) -> list[Result | Failure]:
    """The outcomes in the order of the jobs."""
    if not jobs:
        return []
    outcomes: dict[int, Result | Failure] = {}

    def report() -> None:
        if progress is None:
            return
        try:
            progress(tally.standing())
        except Exception as error:
            raise _Stopped(error) from None  # This is not a failure of a run, and no run continues.

    def watch(index: int, stage: str, done: int, total: int | None, _now_ns: int) -> None:
        if stage == "running":
            tally.running(index, done, total)
        else:
            tally.preparing(index, stage, done)
        report()

    try:
        with closing(executor(jobs, watch)) as ended:
            for index, outcome in ended:
                outcomes[index] = outcome
                tally.ended(index, outcome)
                report()
    except _Stopped as stopped:
        raise stopped.reason from None
    return [outcomes[index] for index in range(len(jobs))]


class _Stopped(BaseException):
    """The exception that `progress` raised, passed through the runs."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


class _Tally:
    """Adds up the progress of the runs."""

    def __init__(self, runs: int, reused: int, remade: Sequence[str]) -> None:
        self._runs, self._reused, self._remade = runs, reused, remade
        self._finished = self._failed = self._requests = 0
        self._running: dict[int, tuple[int, float]] = {}
        self._preparing: dict[int, str] = {}
        self._pages: dict[int, int] = {}

    def preparing(self, index: int, stage: str, done: int) -> None:
        self._preparing[index] = stage
        if stage in ("filling", "ageing"):
            self._pages[index] = done

    def running(self, index: int, done: int, total: int | None) -> None:
        self._preparing.pop(index, None)
        self._running[index] = (done, min(done / total, 1.0) if total else 0.0)

    def ended(self, index: int, outcome: Result | Failure) -> None:
        self._running.pop(index, None)
        self._preparing.pop(index, None)
        self._finished += 1
        if isinstance(outcome, Failure):
            self._failed += 1
        else:
            self._requests += outcome.checks.requests_served

    def standing(self) -> Standing:
        stages = self._preparing.values()
        return Standing(
            runs=self._runs + self._reused,
            finished=self._finished + self._reused,
            failed=self._failed,
            share=(self._finished + sum(share for _, share in self._running.values())) / self._runs,
            requests=self._requests + sum(done for done, _ in self._running.values()),
            reused=self._reused,
            remade=self._remade,
            doing=", ".join(f"{n} {stage}" for stage, n in Counter(stages).items()),
            pages=sum(self._pages.values()),
        )


@contextmanager
def _folder(out: str | None) -> Iterator[None]:
    """A folder for results; new folders that have remained empty are deleted."""
    made = [] if out is None else prepare_folder(Path(out))
    try:
        yield
    finally:
        # Names of runs that do not exist are of no use.
        if out is not None and not any(Path(out).glob(f"[!.]*/{RESULT}")):
            with suppress(OSError):
                (Path(out) / PLANNED).unlink(missing_ok=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
