"""Several runs of one kind, side by side: expand, check, carry out, gather."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Unpack

from floatgate import engine
from floatgate.comparison import Comparison
from floatgate.engine import ConfigError, InputError
from floatgate.finder import Finder
from floatgate.pool import Executor, Failure, Job, local
from floatgate.recording import prepare_folder
from floatgate.result import Result
from floatgate.run import Reading, cache_folder, how_to_read
from floatgate.variants import Lists, Names, Seeds, expand, label, where


class Standing(NamedTuple):
    """How far a comparison has come.

    `share` is the part of the work that is done, from 0 to 1; `requests` counts those simulated.
    """

    runs: int
    finished: int
    failed: int
    share: float
    requests: int


def compare(
    drive: Names,
    workload: Names,
    *,
    policy: Lists = (),
    set: Lists = (),
    seed: Seeds = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Standing], object] | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Runs every combination of the values given.

    Wherever one value can stand, so can several: as a list, or as a text with commas. A comma
    within quotes or brackets belongs to its value. Every run is checked before the first starts.

    Args:
        drive: Presets and drive files.
        workload: Trace files and generators.
        policy: `{"cost": ["fixed:level=low", "fixed:level=high"]}` or
            `["cost=fixed:level=low,fixed:level=high"]`.
        set: `{"ftl.spare-factor": [0.07, 0.2]}` or `["ftl.spare-factor=0.07,0.2"]`.
        seed: `[1, 2, 3]` or `"1,2,3"`.
        out: The folder that each run is stored in while it goes on, as `floatgate.run` does, and at
            the end the list of them as `comparison.json`.
        workers: How many processes work at a time, by default one for each core; 1 stands for
            this process itself.
        executor: Where to run instead of on this machine.
        progress: Called some ten times a second with how far all runs have come.
        **reading: How traces are to be read, as for `floatgate.run`: `format`, `time_unit`,
            `columns`, `event`, `device`, `process`, `skip_bad`, `traces`.

    Returns:
        The results, in the order of the values whatever ended first. A run that fails is in
        `failed`; the others go on.

    Raises:
        InputError: Some run could not start; every mistake is listed with the runs it concerns.
    """
    if workers is not None and workers < 1:
        raise InputError(f"there must be at least one worker, not {workers}")
    variants = expand(drive, workload, policy, set, seed)
    varied = [variant.varied for variant in variants]
    stored = None if out is None else str(out)
    jobs = [Job(v.drive, v.workload, v.policy, v.set, v.seed, reading, stored) for v in variants]
    jobs = _checked(jobs, varied)
    executor = executor or local(workers, len(jobs))
    with _folder(out):
        outcomes = _carry_out(jobs, executor, progress)
        comparison = Comparison.of(varied, outcomes)
        if out is not None and comparison.runs:
            try:
                comparison.write_list(out)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                message = f"{out}: the list of results cannot be stored ({reason})"
                raise InputError(message) from error
    return comparison


def _checked(jobs: Sequence[Job], varied: Sequence[Mapping[str, str]]) -> list[Job]:
    """The jobs, each with the name of the preconditioned drive that it may share with others.

    Finds the mistakes of all jobs first, and jobs that would be the same.
    """
    checked: list[Job] = []
    mistakes: dict[str, list[Mapping[str, str]]] = {}
    kinds: list[type[InputError]] = []
    same: dict[tuple[str, str], int] = {}
    for i, job in enumerate(jobs):
        try:
            config, state = engine.plan(
                job.drive,
                job.workload,
                policy=job.policy,
                set=job.set,
                seed=job.seed,
                reading=how_to_read(**job.reading),
                finder=Finder(),
            )
        except InputError as error:
            kinds.append(type(error))
            for text in error.errors if isinstance(error, ConfigError) else [f"error: {error}"]:
                mistakes.setdefault(text, []).append(varied[i])
            continue
        # Without a cache nothing is shared, and there is nothing to wait for.
        checked.append(job._replace(state=state if cache_folder() else None))
        first = same.setdefault((config, job.workload), i)
        if first != i:
            kinds.append(InputError)
            both = f"{label(varied[first])}; {label(varied[i])}"
            mistakes[f"error: two runs would be the same: {both}"] = []
    if mistakes:
        raise _all_of(mistakes, varied, kinds)
    return checked


def _all_of(
    mistakes: Mapping[str, Sequence[Mapping[str, str]]],
    every: Sequence[Mapping[str, str]],
    kinds: Sequence[type[InputError]],
) -> InputError:
    """All mistakes as one error, each with the runs that it concerns unless that is every one."""
    texts = [
        f"{text}\n  in: {where(some, every)}" if 0 < len(some) < len(every) else text
        for text, some in mistakes.items()
    ]
    if ConfigError in kinds:
        config_error = ConfigError("\n\n".join(texts))
        config_error.errors = texts
        return config_error
    kind = kinds[0] if len({*kinds}) == 1 else InputError
    return kind("\n\n".join(texts).removeprefix("error: "))


def _carry_out(
    jobs: Sequence[Job],
    executor: Executor,
    progress: Callable[[Standing], object] | None,
) -> list[Result | Failure]:
    """The outcomes in the order of the jobs."""
    tally = _Tally(len(jobs))
    outcomes: dict[int, Result | Failure] = {}

    def report() -> None:
        if progress is None:
            return
        try:
            progress(tally.standing())
        except Exception as error:
            raise _Stopped(error) from None  # It is no failure of a run, and no run goes on.

    def watch(index: int, stage: str, done: int, total: int | None, _now_ns: int) -> None:
        if stage == "running":
            tally.running(index, done, total)
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
    """What `progress` raised, on its way through the runs."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


class _Tally:
    """Adds up how far the runs have come."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._finished = self._failed = self._requests = 0
        self._running: dict[int, tuple[int, float]] = {}

    def running(self, index: int, done: int, total: int | None) -> None:
        self._running[index] = (done, min(done / total, 1.0) if total else 0.0)

    def ended(self, index: int, outcome: Result | Failure) -> None:
        self._running.pop(index, None)
        self._finished += 1
        if isinstance(outcome, Failure):
            self._failed += 1
        else:
            self._requests += outcome.checks.requests_served

    def standing(self) -> Standing:
        return Standing(
            runs=self._runs,
            finished=self._finished,
            failed=self._failed,
            share=(self._finished + sum(share for _, share in self._running.values())) / self._runs,
            requests=self._requests + sum(done for done, _ in self._running.values()),
        )


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[None]:
    """A folder for results; what was made for it and has remained empty goes again."""
    made = [] if out is None else prepare_folder(Path(out))
    try:
        yield
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
