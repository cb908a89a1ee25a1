"""Carrying out runs: the order of runs, the end of workers, and the stop of all."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate import Result
from floatgate.result.comparison import Failure
from floatgate.runs.workers.pool import (
    Here,
    Job,
    Outcomes,
    Processes,
    Worker,
    _Line,
    cores,
    local,
    stop,
)
from processes import LONG, MARK, Gate, Threshold, at_once, at_work, kill, marked, wait_for, workers

ENDLESS = 100_000_000_000


def job(requests: int = 2000, **others: object) -> Job:
    settings = (f"workload.requests={requests}", "precondition.fill=none")
    return Job("agcr", "random-write", set=settings, **others)  # type: ignore[arg-type]


def ignore(*_state: object) -> None:
    pass


@pytest.fixture
def mark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks the processes that a test starts, and sees that none is left."""
    mark = f"{request.node.name}-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv(MARK, mark)
    yield mark
    wait_for(lambda: not marked(mark))


states = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=12)


@given(states, st.integers(1, 4), st.data())
def test_no_state_is_made_twice_at_a_time_and_no_job_is_forgotten(
    states: list[str | None], crew: int, data: st.DataObject
) -> None:
    line = _Line([job(state=state) for state in states])
    running: list[int] = []
    there: set[str | None] = {None}
    taken: list[int] = []
    while len(taken) < len(states) or running:
        while len(running) < crew and (index := line.next()) is not None:
            taken.append(index)
            running.append(index)
        assert running, "somebody always has something to do"
        making = [states[i] for i in running if states[i] not in there]
        assert len({*making}) == len(making)
        waiting = [i for i in range(len(states)) if i not in taken]
        if len(running) < crew:
            assert all(states[i] in making for i in waiting), "nobody waits without a reason"
        index = data.draw(st.sampled_from(running))
        if data.draw(st.booleans()):
            line.state_is_there(index)
            there.add(states[index])
        else:
            running.remove(index)
            line.ended(index)
    assert sorted(taken) == list(range(len(states)))


def test_jobs_wait_for_their_state_and_no_longer(mark: str) -> None:
    fails = Job("agcr", "missing.csv", state="a")
    outcomes = collect(Processes(2)([fails, job(state="a"), job(seed=2, state="a")], ignore))
    assert [isinstance(outcomes[i], Result) for i in range(3)] == [False, True, True]
    outcomes_so_far = Processes(2)([job(ENDLESS, state="a"), job(state="a")], ignore)
    assert next(outcomes_so_far)[0] == 1, "the first runs on, and its state is there"
    outcomes_so_far.close()


def test_there_are_no_more_workers_than_runs_and_one_is_this_process() -> None:
    assert isinstance(local(1, 10), Here)
    assert isinstance(local(8, 1), Here)
    few, many = local(8, 3), local(2, 30)
    assert isinstance(few, Processes)
    assert isinstance(many, Processes)
    assert (few.workers, many.workers) == (3, 2)
    assert 1 <= cores() <= (os.cpu_count() or 1)


def test_the_default_respects_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {3, 5, 7}, raising=False)
    three = local(None, 10)
    assert isinstance(three, Processes)
    assert three.workers == 3


@pytest.mark.parametrize("executor", [Here(), Processes(2)])
def test_every_job_has_an_outcome(executor: Here | Processes, mark: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    jobs = [
        job(),
        Job("agcr", "missing.csv"),
        job(3000, seed=2),
        Job("agrc", "zipf"),
        job(out=str(tmp_path / "file")),
        job(4000, out=str(tmp_path)),
    ]
    outcomes = dict(executor(jobs, ignore))
    assert sorted(outcomes) == list(range(6))
    served = {i: o.checks.requests_served for i, o in outcomes.items() if isinstance(o, Result)}
    assert served == {0: 2000, 2: 3000, 5: 4000}
    failed = {i: o for i, o in outcomes.items() if isinstance(o, Failure)}
    assert {failure.kind for failure in failed.values()} == {"input"}
    assert "missing.csv" in failed[1].message
    assert "agcr" in failed[3].message
    assert "no result can be stored here" in failed[4].message
    assert [Result.load(f).checks.requests_served for f in tmp_path.glob("*/")] == [4000]


def collect(outcomes: Outcomes) -> dict[int, Result | Failure]:
    return dict(outcomes)


def test_a_worker_that_is_killed_fails_its_run_and_no_other(mark: str) -> None:
    jobs = [job(ENDLESS), job(ENDLESS), job(2000), job(3000)]
    killed: list[int] = []

    def watch(index: int, stage: str, *_: object) -> None:
        if index < 2 and not killed:
            wait_for(lambda: len([*filter(at_work, workers(mark))]) == 2)
            killed.extend(workers(mark))
            for pid in killed:
                kill(pid)

    outcomes = collect(Processes(2)(jobs, watch))
    assert len(killed) == 2
    for index in (0, 1):
        failure = outcomes[index]
        assert isinstance(failure, Failure)
        assert failure.kind == "died"
        assert "SIGKILL" in failure.message
    served = [o.checks.requests_served for _, o in sorted(outcomes.items())[2:]]  # type: ignore[union-attr]
    assert served == [2000, 3000]


def test_workers_that_cannot_even_start_fail_every_run(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    outcomes = collect(Processes(2)([job(), job(), job()], ignore))
    for outcome in outcomes.values():
        assert isinstance(outcome, Failure)
        assert outcome.kind == "died"
        assert "exit code 1" in outcome.message
    assert len(outcomes) == 3


def test_closing_stops_everything_at_once(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("floatgate.runs.workers.pool._PATIENCE", LONG)
    monkeypatch.syspath_prepend(tmp_path)
    # The first run ends when another is at work: who waits for it hands out the others meanwhile.
    gate = Gate(tmp_path)
    out = tmp_path / "out"
    first = job(2000, policy=(f"cost={gate.policy}",), out=str(out))
    jobs = [first, *[job(ENDLESS, out=str(out))] * 3]
    outcomes = Processes(2)(jobs, ignore)

    def let_the_first_end() -> None:
        with suppress(AssertionError):
            wait_for(lambda: gate.waiting() and all_at_work(mark) == 2)
        gate.open()

    opener = threading.Thread(target=let_the_first_end)
    opener.start()
    assert next(outcomes)[0] == 0
    opener.join()
    assert all_at_work(mark), "one is in its middle"
    with at_once(*workers(mark)):
        outcomes.close()
    assert not workers(mark)
    assert len(list(out.rglob("*"))) == 5, "one folder with one run's files, nothing else"


def all_at_work(mark: str) -> int:
    """How many workers are in the middle of a run."""
    return sum(map(at_work, workers(mark)))


@pytest.mark.parametrize("on_its_way", [False, True], ids=["at once", "on its way"])
def test_a_worker_that_is_not_yet_there_hears_ctrl_c_and_says_nothing(
    mark: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    on_its_way: bool,
) -> None:
    threshold = Threshold(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    worker = Worker()
    if on_its_way:
        wait_for(threshold.is_reached)
    worker.process.send_signal(signal.SIGINT)
    threshold.let_go()
    assert worker.process.wait(timeout=LONG) == 0
    worker.connection.close()
    assert capfd.readouterr().err == ""


def _outcome(worker: Worker) -> Result | Failure:
    while not isinstance(heard := worker.hear(), Result | Failure):
        pass
    return heard


def test_workers_of_a_command_in_the_background_ignore_ctrl_c_as_it_does(mark: str) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        worker = Worker()
    finally:
        signal.signal(signal.SIGINT, before)
    worker.give(job())
    assert isinstance(_outcome(worker), Result)
    worker.process.send_signal(signal.SIGINT)
    worker.give(job(3000))
    assert isinstance(_outcome(worker), Result)
    stop([worker])


DEAF = """#!{python}
import signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {{signal.SIGINT}})
open({there!r}, "w").close()
time.sleep(1e6)
"""


def test_a_worker_that_is_busy_otherwise_is_stopped_too(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, there = tmp_path / "deaf", tmp_path / "there"
    script.write_text(DEAF.format(python=sys.executable, there=str(there)))
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))
    monkeypatch.setattr("floatgate.runs.workers.pool._PATIENCE", LONG)
    worker = Worker()
    wait_for(there.exists)
    stop([worker])
    assert worker.process.returncode == -signal.SIGINT, "it was asked, and not killed"


def test_ctrl_c_is_noted_and_interrupts_no_tidying_up() -> None:
    program = """
import os, signal
from floatgate.runs.workers import process as worker
signal.signal(signal.SIGINT, worker._interrupt)
for _ in range(2):
    os.kill(os.getpid(), signal.SIGINT)
print("tidy", worker._interrupted)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "tidy True\n", "")


def test_an_error_of_whoever_watches_stops_everything(mark: str) -> None:
    def watch(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collect(Processes(2)([job(ENDLESS)] * 3, watch))


def test_workers_find_what_their_parent_finds_and_nothing_in_the_way(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not the real one')")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('nor this')")
    monkeypatch.chdir(tmp_path)
    outcomes = collect(Processes(2)([job(), job(seed=2)], ignore))
    assert all(isinstance(outcome, Result) for outcome in outcomes.values())
