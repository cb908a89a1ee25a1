"""Runs on a Dask cluster: a scheduler and workers on this machine, one of which is killed."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import floatgate
from conftest import Floatgate
from floatgate import InputError, Result
from floatgate.cluster import Cluster
from floatgate.result.comparison import Failure
from floatgate.runs.workers.pool import Job
from processes import MARK, Gate, at_work, kill, marked, wait_for, workers

ENDLESS = 100_000_000_000
EMPTY = "precondition.fill=none"


class Loopback:
    """A scheduler on this machine, and workers that come and go."""

    def __init__(self, folder: Path, mark: str) -> None:
        self.folder = folder
        self._environment = os.environ | {
            MARK: mark,
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "PYTHONWARNINGS": "ignore",
            "FLOATGATE_CACHE": str(folder / "states"),
        }
        self._started: list[subprocess.Popen[bytes]] = []
        words = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self._start("scheduler", *words)
        log = folder / "scheduler"
        found: list[str] = []

        def listens() -> bool:
            found[:] = re.findall(r"tcp://127\.0\.0\.1:\d+", log.read_text())
            return bool(found)

        wait_for(listens)
        self.address = found[0]

    def hire(self, name: str) -> subprocess.Popen[bytes]:
        """One more worker, for one run at a time."""
        words = ["worker", self.address, "--name", name, "--nthreads", "1", "--no-nanny"]
        words += ["--no-dashboard", "--local-directory", str(self.folder / "local")]
        return self._start(name, *words)

    def _start(self, log: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "dask", *words]
        with (self.folder / log).open("wb") as out:
            process = subprocess.Popen(
                command, env=self._environment, cwd=self.folder, stdout=out, stderr=out
            )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def mark() -> str:
    return f"cluster-{os.getpid()}-{time.monotonic_ns()}"


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory, mark: str) -> Iterator[Loopback]:
    cluster = Loopback(tmp_path_factory.mktemp("cluster"), mark)
    try:
        cluster.hire("first")
        yield cluster
    finally:
        cluster.close()
        wait_for(lambda: not marked(mark))


def ignore(*_state: object) -> None:
    pass


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of every run, without the times of wall clocks."""
    found = {}
    for path in sorted(folder.glob("*/*")):
        content = path.read_bytes()
        if path.name == "result.json":
            value = json.loads(content)
            assert value.pop("timing")["wall_seconds"] > 0
            content = json.dumps(value).encode()
        found[str(path.relative_to(folder))] = content
    return found


SETTINGS = {"geometry.blocks-per-plane": 64, "workload.requests": 4000, "precondition.fill": "full"}


@pytest.mark.parametrize("shared", [None, False], ids=["shared folder", "sent back"])
def test_results_are_those_of_this_machine_byte_for_byte(
    loopback: Loopback, tmp_path: Path, shared: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive = tmp_path / "mine.toml"
    drive.write_text('schema = "floatgate.drive/1"\nname = "mine"\nbase = "agcr"\n')
    monkeypatch.chdir(tmp_path)

    def compared(out: str, executor: Cluster | None) -> floatgate.Comparison:
        return floatgate.compare(
            "mine.toml", "zipf", policy={"victim": ["greedy", "fifo"]}, set=SETTINGS, seed=[1, 2],
            out=out, workers=None if executor else 1, executor=executor,
        )  # fmt: skip

    there = compared("there", Cluster(loopback.address, shared=shared))
    here = compared("here", None)
    assert [run.run_id for run in there.runs] == [run.run_id for run in here.runs]
    files = contents(tmp_path / "there")
    assert len(files) == 4 * 4
    assert files == contents(tmp_path / "here")
    assert len(list((tmp_path / "there").iterdir())) == 4 + 1, "nothing else is left"
    assert all(run.folder is not None and run.requests().height == 4000 for run in there.runs)
    again = compared("there", Cluster("tcp://127.0.0.1:1"))
    assert again.reused == 4, "nobody is asked for what is there"


def test_a_worker_that_is_killed_costs_time_and_no_run(
    loopback: Loopback, tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = loopback.hire("victim")
    cluster = Cluster(loopback.address)
    wait_for(lambda: cluster.cores() == 2)
    gate = Gate(loopback.folder)
    job = Job(
        "agcr",
        "random-write",
        policy=(f"cost={gate.policy}",),
        set=("workload.requests=2000", EMPTY),
        out=str(tmp_path),
        record=(),
    )
    jobs = [job._replace(seed=seed) for seed in range(1, 6)]
    killed: list[int] = []

    def watch(*_: object) -> None:
        in_the_middle = [pid for pid in gate.waiting() if parent(pid) == victim.pid]
        if in_the_middle and not killed:
            killed.extend(in_the_middle)
            kill(victim.pid)
            wait_for(lambda: not any(pid in marked(mark) for pid in killed))
            gate.open()

    outcomes = list(cluster(jobs, watch))
    assert len(killed) == 1, "it was in the middle of a run"
    assert victim.wait(10) < 0
    assert sorted(index for index, _ in outcomes) == list(range(5))
    seeds = {index: o.provenance.seed for index, o in outcomes if isinstance(o, Result)}
    assert seeds == {index: index + 1 for index in range(5)}
    assert len(list(tmp_path.iterdir())) == 5 + unfinished(tmp_path)
    monkeypatch.syspath_prepend(loopback.folder)
    alone = floatgate.run("agcr", "random-write", policy=job.policy, set=job.set, seed=5).data
    again = dict(outcomes)[4]
    assert isinstance(again, Result)
    assert {**again.data, "timing": None} == {**alone, "timing": None}


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def unfinished(folder: Path) -> int:
    """The remains of the killed run; the next sweep on its machine removes them."""
    left = len(list(folder.glob(".unfinished-*")))
    assert left <= 1
    return left


def test_a_run_that_fails_says_where_and_one_that_dies_takes_no_worker_with_it(
    loopback: Loopback, mark: str
) -> None:
    jobs = [
        Job("agcr", "random-write", set=(f"workload.requests={ENDLESS}", EMPTY)),
        Job("agrc", "random-write"),
        Job("agcr", "random-write", set=("workload.requests=2000",)),
        Job("agcr", "random-write", set=("workload.requests=2000",), run_id="0" * 16),
    ]

    killed: list[int] = []

    def watch(index: int, stage: str, *_: object) -> None:
        # The one that is at work; messages from it afterwards were on their way.
        if index == 0 and stage == "running" and not killed:
            killed.extend(filter(at_work, workers(mark)))
            for pid in killed:
                kill(pid)

    outcomes = dict(Cluster(loopback.address)(jobs, watch))
    failures = {i: o for i, o in outcomes.items() if isinstance(o, Failure)}
    assert {i: failure.kind for i, failure in failures.items()} == {
        0: "died",
        1: "input",
        3: "input",
    }
    assert len(killed) == 1
    assert "SIGKILL" in failures[0].message
    assert "`agrc` is neither a drive file nor a built-in drive" in failures[1].message
    assert "(on the worker tcp://127.0.0.1:" in failures[1].message
    assert "the files of this run are others than here" in failures[3].message
    assert isinstance(outcomes[2], Result)


def test_closing_stops_runs_at_work(loopback: Loopback, mark: str, tmp_path: Path) -> None:
    settings = (f"workload.requests={ENDLESS}", EMPTY)
    job = Job("agcr", "random-write", set=settings, out=str(tmp_path))
    started: list[int] = []
    outcomes = Cluster(loopback.address)(
        [Job("agcr", "missing.csv"), job], lambda index, *_: started.append(index)
    )
    next(outcomes)
    wait_for(lambda: any(map(at_work, workers(mark))))
    outcomes.close()
    wait_for(lambda: not workers(mark))
    left = [path.name for path in tmp_path.iterdir()]
    # A busy machine may have had to kill it; then the next sweep removes its files.
    assert [name for name in left if not name.startswith(".unfinished-")] == []


def test_what_is_wrong_with_the_cluster_is_said(
    loopback: Loopback, floatgate: Floatgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["compare", "agcr", "zipf", "--seed", "1,2", "--set", "workload.requests=1000"]
    both = floatgate(*words, "--cluster", loopback.address, "--workers", "2")
    assert (both.returncode, both.stdout) == (2, "")
    assert "either --cluster or --workers" in both.stderr
    monkeypatch.setattr("floatgate.cluster.PATIENCE", 1)
    with pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 "):
        Cluster("tcp://127.0.0.1:1").cores()
    monkeypatch.setattr("floatgate.cluster.PATIENCE", 15)
    job = Job("agcr", "random-write", set=("workload.requests=1000",))
    monkeypatch.setattr("floatgate.engine.version", lambda: "9.9.9")
    with pytest.raises(InputError, match=r"has floatgate .*, and this is 9\.9\.9"):
        list(Cluster(loopback.address)([job], ignore))
    monkeypatch.undo()
    monkeypatch.setattr("floatgate.build.digest", another_build)
    with pytest.raises(
        InputError, match=r"another build of floatgate .*this is sha256:000000000000 "
    ):
        list(Cluster(loopback.address)([job], ignore))
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"python -m pip install 'floatgate\[cluster\]'"):
        Cluster(loopback.address)


def another_build() -> str:
    return f"sha256:{'0' * 64}"


def test_a_worker_of_another_build_that_joins_later_refuses_its_runs(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody looks at the workers before the first run, as if there had been none.
    monkeypatch.setattr("floatgate.cluster._check_workers", ignore)
    monkeypatch.setattr("floatgate.build.digest", another_build)
    job = Job("agcr", "random-write", set=("workload.requests=1000",))
    ((_, outcome),) = Cluster(loopback.address)([job], ignore)
    assert isinstance(outcome, Failure)
    assert outcome.kind == "input"
    assert "and the run wants sha256:000000000000 (on the worker tcp:" in outcome.message


def test_the_command_line_sends_a_sweep(
    loopback: Loopback, floatgate: Floatgate, tmp_path: Path
) -> None:
    (tmp_path / "few.toml").write_text(
        'schema = "floatgate.experiment/1"\nname = "few"\ndrive = "agcr"\n'
        'workload = "random-write"\nset."workload.requests" = [1000, 2000]\n'
    )
    done = floatgate("sweep", "few.toml", "--cluster", loopback.address, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert [run["host"]["all"]["requests"] for run in json.loads(done.stdout)["runs"]] == [
        1000,
        2000,
    ]


@pytest.mark.parametrize(
    "said",
    [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"NBDMAGICIHAVEOPT\0\3", b"\xff" * 100],
    ids=["hangs", "closes", "http", "nbd", "binary"],
)
def test_another_service_at_the_address_is_a_message(
    said: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("floatgate.cluster.PATIENCE", 2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    stream, _ = listener.accept()
                except OSError:
                    return
                with stream, suppress(OSError):
                    if said is None:
                        done.wait(60)
                    else:
                        stream.sendall(said)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no scheduler answers at {address} ") as refused:
            Cluster(address).cores()
        assert refused.value.code == "service::address"
        done.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
