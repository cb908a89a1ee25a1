"""Runs on other machines: an executor that sends jobs to a Dask cluster (docs/cluster.md).

A Dask worker carries a job out in a process of its own, as `floatgate.runs.workers` does. So a run
that crashes does not end its worker, and a cancelled run is stopped at once. If a worker is killed,
Dask gives its run to another one. Results are named by their inputs and appear whole. A run that is
repeated gives the same bytes in the same place.
"""

from __future__ import annotations

import importlib.util
import os
import queue
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from floatgate import build, engine
from floatgate.engine import InputError
from floatgate.mistakes import PackageError, ServiceError
from floatgate.result.comparison import Failure
from floatgate.result.files import content, unfinished
from floatgate.result.recording import Recording
from floatgate.result.run import Result
from floatgate.runs.workers.pool import Job, Outcomes, Watch, Worker, stop
from floatgate.workloads.catalogue import trace_folders

Client = Any
"""A client of Dask, which has no types of its own."""

PATIENCE = 15
"""Seconds that the scheduler has to answer."""

TELL = 1.0
"""Seconds between two progress messages of a run."""

_LOOK = 0.2
"""Seconds until a run that is no longer needed is stopped."""


def need_packages() -> None:
    """Raises an error that says how to install the packages of the extra `cluster`.

    Raises:
        InputError: One of them is missing.
    """
    if any(importlib.util.find_spec(package) is None for package in ("dask", "distributed")):
        raise PackageError(
            "a cluster needs the packages of the extra `cluster`:"
            " python -m pip install 'floatgate[cluster]'"
        )


class Cluster:
    """Carries out jobs on the workers of a Dask scheduler.

    Args:
        address: Where the scheduler listens, such as `tcp://10.0.0.1:8786`.
        shared: Whether workers store results themselves, in a folder that all machines share;
            otherwise tables and results are sent back. By default each worker finds out.
        say: Called with the reason, as a sentence, if nothing happens for a while.

    Raises:
        InputError: The packages are missing.
    """

    def __init__(
        self,
        address: str,
        *,
        shared: bool | None = None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        need_packages()
        self.address = address
        self._shared = shared
        self._say = say

    def cores(self) -> int:
        """The number of runs that the cluster carries out at a time, at present.

        Raises:
            InputError: No scheduler answers.
        """
        with _connected(self.address) as client:
            return sum(client.nthreads().values())

    def __call__(self, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """See `floatgate.runs.workers.pool.Executor`.

        Raises:
            InputError: No scheduler answers, or its workers are not fit for these jobs.
        """
        with _connected(self.address) as client, _marked(jobs, self._shared) as (token, marker):
            jobs = [_absolute(job) for job in jobs]
            if client.nthreads():
                _check_workers(client, jobs)
            else:
                self._say(f"{self.address} has no workers yet; runs begin when the first is there")
            yield from _carried_out(client, self.address, (token, marker), jobs, watch)


def _carried_out(
    client: Client, address: str, named: tuple[str, str], jobs: Sequence[Job], watch: Watch
) -> Outcomes:
    token, marker = named
    heard: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    topic = f"floatgate-{token}"

    def told(event: tuple[float, tuple[Any, ...]]) -> None:
        heard.put(("told", *event[1]))

    def ended(future: Any, index: int) -> None:
        heard.put(("ended", index, future))

    client.subscribe_topic(topic, told)
    order = spread(jobs)
    keys = [f"floatgate-{token}-{index}" for index in order]
    orders = [
        _Order(token, marker, build.digest(), key, index, jobs[index])
        for key, index in zip(keys, order, strict=True)
    ]
    futures = dict(zip(order, client.map(_task, orders, key=keys, pure=False), strict=True))
    for index, future in futures.items():
        future.add_done_callback(lambda done, index=index: ended(done, index))
    try:
        while futures:
            try:
                what, index, *rest = heard.get(timeout=_LOOK)
            except queue.Empty:
                if client.status == "closed":
                    raise _lost(address) from None
                watch(next(iter(futures)), "waiting", 0, None, 0)
                continue
            if index not in futures:
                continue  # A message that was overtaken.
            if what == "told":
                watch(index, *rest)
                continue
            outcome = _outcome(futures[index], jobs[index])
            if outcome is None:
                raise _lost(address)
            del futures[index], rest
            yield index, outcome
    finally:
        # Queued jobs are forgotten; a run at work finds out that it is cancelled.
        with suppress(Exception):
            client.cancel(list(futures.values()), force=True)
            client.unsubscribe_topic(topic)
            client.run(_dismiss, token)


def spread(jobs: Sequence[Job]) -> list[int]:
    """The jobs in an order in which neighbours need different preconditioned drives.

    Jobs that need the same drive wait for the one that makes it, if they are on one machine.

    >>> spread([Job("a", "w", state=s) for s in ("x", "x", "x", "y", None)])
    [0, 3, 4, 1, 2]
    """
    rounds: dict[str | None, int] = {}
    place = []
    for index, job in enumerate(jobs):
        nth = 0 if job.state is None else rounds.get(job.state, 0)
        rounds[job.state] = nth + 1
        place.append((nth, index))
    return [index for _, index in sorted(place)]


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    client = _client(address)
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=PATIENCE)


def _client(address: str) -> Client:
    """A client of the scheduler at an address.

    Another service may answer there. It may send nothing, or something that distributed takes for
    the length of a message. So there is a time limit beyond that of distributed, and every error is
    reported as one of the address.
    """
    import distributed

    connect: Any = distributed.Client
    made: list[Client] = []
    why: list[object] = []

    def work() -> None:
        try:
            made.append(connect(address, timeout=PATIENCE, set_as_default=False, name="floatgate"))
        except MemoryError:
            why.append("the process there is not a scheduler")
        except Exception as error:
            why.append(error)

    thread = threading.Thread(target=work, name="floatgate-cluster", daemon=True)
    thread.start()
    # Its own limit is for the connection and for the greeting, one after the other.
    thread.join(2 * PATIENCE)
    if made:
        return made[0]
    said = why[0] if why else f"nothing was said within {2 * PATIENCE:g} s"
    raise ServiceError(
        f"no scheduler answers at {address} ({said}); expected the address that"
        " `dask scheduler` prints, such as tcp://127.0.0.1:8786"
    )


@contextmanager
def _marked(jobs: Sequence[Job], shared: bool | None) -> Iterator[tuple[str, str]]:
    """A name for this sweep, and that of a file in each folder of results.

    Workers that see the file share the folder. A client that is killed leaves the file to
    `recording.tidy`.
    """
    token = uuid.uuid4().hex[:12]
    marker = unfinished(f"cluster_{token}")
    folders = {job.out for job in jobs if job.out is not None}
    markers = [Path(folder) / marker for folder in folders if shared is not False]
    try:
        for file in markers:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        yield token, marker
    finally:
        for file in markers:
            file.unlink(missing_ok=True)


def _absolute(job: Job) -> Job:
    """The job with paths that do not depend on the folder in which a worker was started."""
    presets = {name for name, _ in engine.presets()}

    def path(name: str) -> str:
        return os.path.abspath(name) if name not in presets and os.path.isfile(name) else name

    folders = trace_folders(job.reading.get("traces"))
    return job._replace(
        drive=path(job.drive),
        workload=path(job.workload),
        reading={**job.reading, "traces": [os.path.abspath(folder) for folder in folders]},
        out=None if job.out is None else os.path.abspath(job.out),
    )


def _check_workers(client: Client, jobs: Sequence[Job]) -> None:
    """Finds the mistakes of every job before any starts."""
    ours = engine.version()
    versions = client.get_versions(packages=["floatgate"])["workers"]
    others = {
        worker: known["packages"].get("floatgate")
        for worker, known in versions.items()
        if known["packages"].get("floatgate") != ours
    }
    if others:
        worker, version = next(iter(others.items()))
        has = f"floatgate {version}" if version else "no floatgate"
        raise ServiceError(
            f"the worker {worker} has {has}, and this is {ours}"
            f" ({len(others)} of {len(versions)} workers differ);"
            " results are equal only where versions are"
        )
    builds = client.run(_build, on_error="return")
    others = {worker: str(known) for worker, known in builds.items() if known != build.digest()}
    if others:
        worker, known = next(iter(others.items()))
        raise ServiceError(
            f"the worker {worker} has another build of floatgate {ours}: {_brief(known)}, and this"
            f" is {_brief(build.digest())} ({len(others)} of {len(builds)} workers differ)."
            " Results are equal only if the code is. Install the same there, and start the worker"
            " again"
        )
    files = {name for job in jobs for name in (job.drive, job.workload) if os.path.isabs(name)}
    missing: dict[str, list[str]] = client.run(_missing, sorted(files))
    for worker, names in missing.items():
        if names:
            raise ServiceError(
                f"{names[0]}: the worker {worker} has no such file;"
                " drive files and traces must lie at the same place on every machine"
            )


def _brief(digest: str) -> str:
    """A digest in the form that people compare, or the text in place of it."""
    return digest[:19] if digest.startswith("sha256:") else digest


def _build() -> str:
    return build.digest()


def _missing(files: Sequence[str]) -> list[str]:
    return [name for name in files if not os.path.exists(name)]


def _lost(address: str) -> InputError:
    return ServiceError(
        f"the scheduler at {address} is gone; what is done is stored, and the same command"
        " goes on from there"
    )


class _Order(NamedTuple):
    """A job on its way to a worker."""

    token: str
    marker: str
    build: str
    key: str
    number: int
    job: Job


class _Made(NamedTuple):
    """The answer of a worker: a result, and its files unless they are already in their place."""

    data: dict[str, Any]
    files: Mapping[str, bytes] | None


def _outcome(future: Any, job: Job) -> Result | Failure | None:
    """The outcome of a job; None if the cluster has forgotten it."""
    if future.status not in ("finished", "error"):
        return None
    error = future.exception(timeout=PATIENCE)
    if error is not None:
        return Failure("died", _death(error))
    made = future.result(timeout=PATIENCE)
    if isinstance(made, Failure):
        return made
    result = Result(made.data)
    if job.out is None:
        return result
    if made.files is None:
        result.folder = Path(job.out) / result.run_id
        return result
    try:
        with Recording(job.out) as recording:
            result.folder = recording.adopt(result.data, made.files)
    except InputError as error:
        return Failure("input", str(error))
    return result


def _death(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        last = getattr(error, "last_worker", "not named")
        return f"every worker that took it has died, the last was {last}"
    return f"{type(error).__name__}: {error}"


# Workers run the rest of this module.

_idle: dict[str, list[Worker]] = {}
"""Processes without a job, by the sweep for which they were started. The code of policies written
in Python may differ from one sweep to the next."""


def _task(order: _Order) -> _Made | Failure:
    """Carries out a job in a process of its own."""
    from distributed import get_worker

    me = get_worker()
    where = f" (on the worker {me.address})"
    if order.build != build.digest():
        wanted, ours = _brief(order.build), _brief(build.digest())
        message = f"this is build {ours} of floatgate, and the run wants {wanted}"
        return Failure("input", message + where)
    job, folder = order.job, None
    if job.out is not None and not (Path(job.out) / order.marker).exists():
        folder = tempfile.mkdtemp(prefix="floatgate-", dir=me.local_directory)
        job = job._replace(out=folder)
    try:
        outcome = _supervised(order, job, me)
        if isinstance(outcome, Failure):
            return outcome._replace(message=outcome.message + where)
        if job.run_id is not None and outcome.run_id != job.run_id:
            return Failure("input", f"the files of this run are others than here{where}")
        files = None
        if folder is not None:
            place = Path(folder) / outcome.run_id
            files = {path.name: content(path) for path in sorted(place.iterdir())}
        return _Made(outcome.data, files)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _supervised(order: _Order, job: Job, me: Any) -> Result | Failure:
    """Hands a job to a process, passes on its progress, and stops it if it is no longer needed."""
    process: Worker | None = _hired(order.token)
    assert process is not None
    process.give(job)
    last = 0.0
    try:
        while True:
            if not process.connection.poll(_LOOK):
                if _is_given_up(me, order.key):
                    raise RuntimeError("nobody wants this run any more")
                continue
            heard = process.hear()
            if isinstance(heard, Result | Failure):
                if process.is_alive():
                    _idle.setdefault(order.token, []).append(process)
                    process = None
                return heard
            if _is_given_up(me, order.key):
                raise RuntimeError("nobody wants this run any more")
            if time.monotonic() - last > TELL:
                last = time.monotonic()
                me.log_event(f"floatgate-{order.token}", (order.number, *heard))
    finally:
        if process is not None:
            stop([process])


def _is_given_up(me: Any, key: str) -> bool:
    """Whether the scheduler has taken a task back, because its client has, or is gone."""
    task = me.state.tasks.get(key)
    return task is None or task.state == "cancelled"


def _hired(token: str) -> Worker:
    """A process for a job of this sweep. Idle ones of other sweeps are ended."""
    for other in [other for other in _idle if other != token]:
        _dismiss(other)
    with suppress(KeyError, IndexError):
        return _idle[token].pop()
    return Worker()


def _dismiss(token: str) -> None:
    """Ends the idle processes of a sweep."""
    stop(_idle.pop(token, []))
