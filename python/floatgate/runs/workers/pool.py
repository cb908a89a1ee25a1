"""The execution of runs: in this process, or in several at a time.

An executor takes jobs that do not depend on each other and returns the outcome of each. Another way
to carry them out, for example on other machines, is another class with the same method.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from floatgate.build import digest
from floatgate.cache import cache
from floatgate.engine import InputError, InternalError
from floatgate.mistakes import NoFileError
from floatgate.policy.permission import allow_code
from floatgate.result.comparison import Failure
from floatgate.result.files import content
from floatgate.result.folder import RESULT, SNAPSHOTS, TABLES, altered
from floatgate.result.run import Result
from floatgate.runs.run import run
from floatgate.runs.workers.locks import alone
from floatgate.workloads.reading import Reading

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Job(NamedTuple):
    """One run as plain values, so that it can be sent to the process that carries it out.

    `out` is the folder in which its result is stored, if any. Jobs with an equal `state` share a
    preconditioned drive: the first of them makes it and the others find it in the cache. `run_id`
    is the name that the run will have, if that is known. A complete result of that name in `out`,
    with the tables of `record`, is used as it is. With `code`, its drive file may name policies
    written in Python.
    """

    drive: str
    workload: str
    policy: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    seed: int | None = None
    reading: Reading = {}
    out: str | None = None
    state: str | None = None
    record: tuple[str, ...] = TABLES
    run_id: str | None = None
    code: bool = False


Watch = Callable[[int, str, int, int | None, int], object]
"""Called with the number of a job, then as the `progress` of `floatgate.run`."""

Outcomes = Generator[tuple[int, Result | Failure], None, None]
"""The number of a job and its outcome, as each one ends, in any order."""


class Executor(Protocol):
    """Carries out jobs that do not depend on each other."""

    def __call__(self, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Closing the generator before its end stops all jobs."""


def local(workers: int | None, jobs: int) -> Executor:
    """The executor for a number of jobs on this machine; by default every core has a worker."""
    if workers is None:
        workers = cores()
    workers = min(workers, jobs)
    return Processes(workers) if workers > 1 else Here()


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def perform(job: Job, progress: Callable[[str, int, int | None, int], object]) -> Result | Failure:
    """Carries out one job; only exceptions that stop everything (Ctrl-C) are raised."""
    try:
        # Another process may have made it since the jobs were assigned.
        if (result := finished(job)) is not None:
            return result
        with allow_code(job.code), alone(cache(), job.state, progress) as told:
            return run(
                job.drive,
                job.workload,
                policy=job.policy,
                set=job.set,
                seed=job.seed,
                out=job.out,
                record=job.record,
                progress=told,
                **job.reading,
            )
    except InputError as error:
        return Failure("input", str(error))
    except InternalError as error:
        return Failure("internal", str(error))
    except Exception as error:
        return Failure("internal", f"{type(error).__name__}: {error}")


def finished(job: Job) -> Result | None:
    """The result of a job, if it is already stored with every table that the job would record."""
    found = stored(job)
    return found if isinstance(found, Result) else None


def stored(job: Job) -> Result | str | None:
    """As `finished`; for an existing result that cannot be used, the reason."""
    if job.out is None or job.run_id is None:
        return None
    folder = Path(job.out) / job.run_id
    try:
        text = content(folder / RESULT)
    except InputError as error:
        if error.code != NoFileError.code:
            return f"{RESULT} cannot be read"
        return f"{RESULT} is not there" if folder.exists() else None
    try:
        result = Result.read(json.loads(text), folder)
        if result.run_id != job.run_id:
            return f"{RESULT} is that of another run"
        recorded = result.provenance.config.run["keep-requests"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{RESULT} cannot be read"
    tables = [name for name in job.record if name != "requests" or recorded]
    if "snapshots" in tables:
        tables = [*dict.fromkeys([*tables, *SNAPSHOTS])]
    return altered(result.data, result.seal) or result.flaw(tables) or result


class Here:
    """One job after the other, in this process."""

    def __call__(self, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """See `Executor`."""
        for index, job in enumerate(jobs):

            def progress(*state: Any, index: int = index) -> None:
                watch(index, *state)

            yield index, perform(job, progress)


class Processes:
    """As many jobs at a time as there are workers, each in a process of its own.

    A worker is a fresh interpreter: it does not run the caller's script again, and it shares
    nothing with other workers that could break. If one dies, its job has failed and another worker
    replaces it. Workers end with the process that started them, for any reason.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(self, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """See `Executor`."""
        from multiprocessing.connection import Connection, wait

        line = _Line(jobs)
        idle: list[Worker] = []
        busy: dict[Connection, tuple[Worker, int]] = {}
        try:
            while True:
                while len(busy) < self.workers and (index := line.next()) is not None:
                    worker = idle.pop() if idle else Worker()
                    busy[worker.connection] = (worker, index)
                    worker.give(jobs[index])
                if not busy:
                    return
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    worker, index = busy[connection]
                    heard = worker.hear()
                    if isinstance(heard, Result | Failure):
                        del busy[connection]
                        if worker.is_alive():
                            idle.append(worker)
                        line.ended(index)
                        yield index, heard
                    else:
                        if heard[0] == "running":
                            line.state_is_there(index)
                        watch(index, *heard)
        finally:
            stop([*idle, *(worker for worker, _ in busy.values())])


class _Line:
    """The next job: the first that does not need a state which another job is making."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._waiting = list(range(len(jobs)))
        self._makers: dict[str, int] = {}
        self._there: set[str] = set()

    def next(self) -> int | None:
        """Takes a job out of the queue; None if there is none, or none at present."""
        for place, index in enumerate(self._waiting):
            state = self._jobs[index].state
            if state in self._makers:
                continue
            if state is not None and state not in self._there:
                self._makers[state] = index
            return self._waiting.pop(place)
        return None

    def state_is_there(self, index: int) -> None:
        """The job has its preconditioned drive, and the cache has it too."""
        state = self._jobs[index].state
        if state is not None and self._makers.get(state) == index:
            del self._makers[state]
            self._there.add(state)

    def ended(self, index: int) -> None:
        """The job is over. If it has not made its state, another job must."""
        state = self._jobs[index].state
        if state is not None and self._makers.get(state) == index:
            del self._makers[state]


class Worker:
    """A process that carries out one job after the other (see `floatgate.runs.workers.process`)."""

    def __init__(self) -> None:
        from multiprocessing import Pipe

        self.connection, theirs = Pipe()
        # The worker finds modules in the same places as this process. It prints nothing on standard
        # output, which may hold a result.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        command = [
            sys.executable,
            "-P",
            "-m",
            "floatgate.runs.workers.process",
            str(theirs.fileno()),
            digest(),
        ]
        # Ctrl-C is held back until the worker can handle it; the mask is inherited.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                command,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def give(self, job: Job) -> None:
        """Gives it a job. If the worker has died, `hear` reports it."""
        with suppress(OSError):
            self.connection.send(job)

    def hear(self) -> tuple[str, int, int | None, int] | Result | Failure:
        """The state of its job, or the job's outcome."""
        try:
            heard = self.connection.recv()
        except (EOFError, OSError):
            return Failure("died", self._death())
        return Result(*heard) if isinstance(heard[0], dict) else heard

    def is_alive(self) -> bool:
        """Whether it can take another job."""
        return self.process.poll() is None

    def _death(self) -> str:
        _end([self])
        code = self.process.returncode
        if code == -signal.SIGKILL:
            return "its process was killed (SIGKILL), as happens where memory runs out"
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}"


_PATIENCE = 2.0
"""The seconds that a worker has to clean up."""


def stop(workers: Sequence[Worker]) -> None:
    """Ends workers, in any state. A file that they were storing is not left half-written."""
    for worker in workers:
        worker.process.send_signal(signal.SIGINT)
        worker.connection.close()
    _end(workers)


def _end(workers: Sequence[Worker]) -> None:
    """Waits for workers that are about to end, and kills those that do not."""
    deadline = time.monotonic() + _PATIENCE
    try:
        for worker in workers:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(deadline - time.monotonic(), 0.0))
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
