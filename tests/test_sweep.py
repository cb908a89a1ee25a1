"""`floatgate sweep`: nothing is made twice, after any interruption; its estimates of time and space
hold."""

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate import Experiment
from floatgate.cache import Cache
from floatgate.result.files import tidy
from floatgate.runs import batch
from floatgate.runs.estimate import Rates, estimate
from floatgate.runs.sweep import prepare
from floatgate.runs.workers import pool
from floatgate.runs.workers.locks import alone
from processes import LONG, MARK, Gate, kill, marked, wait_for, workers

SMALL: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 5000,
}


def many(
    name: str = "many",
    requests: int = 5000,
    policy: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Experiment:
    """24 runs."""
    return Experiment(
        name,
        drive="agcr",
        workload="random-write",
        policy={"victim": ["greedy", "fifo", "random", "d-choices:d=3"], **(policy or {})},
        set=SMALL | {"ftl.spare-factor": [0.2, 0.3], "workload.requests": requests},
        seed=range(3),
        **keys,
    )


def results(folder: Path) -> dict[str, str]:
    """The content of every stored run, without the values of a clock."""
    found = {}
    for path in folder.glob("[!.]*/result.json"):
        value = json.loads(path.read_bytes())
        del value["timing"]
        found[path.parent.name] = json.dumps(value)
    return found


def test_the_bytes_are_those_of_one_worker(tmp_path: Path) -> None:
    one = many().sweep(out=tmp_path / "one", workers=1)
    two = many().sweep(out=tmp_path / "two", workers=2)
    assert (len(one.runs), len(two.runs), one.reused, two.reused) == (24, 24, 0, 0)
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert len(results(tmp_path / "one")) == 24
    assert one.variants == two.variants
    assert list(one.varied) == ["victim", "ftl.spare-factor", "seed"]
    assert fg.Comparison.load(tmp_path / "one").variants == one.variants
    # Names of runs are known before they are made.
    planned = prepare(many(), out=tmp_path / "one")
    assert [plan.job.run_id for plan in planned.plans] == [run.run_id for run in one.runs]
    assert planned.done() == 24


def test_what_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    real = fg.run

    def counted(*words: Any, **keys: Any) -> fg.Result:
        made.append(words)
        return real(*words, **keys)

    monkeypatch.setattr(pool, "run", counted)
    first = many().sweep(out=tmp_path, workers=1)
    assert len(made) == 24
    again = many().sweep(out=tmp_path, workers=1)
    assert (len(made), again.reused, again.data) == (24, 24, first.data)
    # A run that is half there, damaged, or lacks a table is repeated.
    names = [run.run_id for run in first.runs]
    (tmp_path / names[3] / "result.json").unlink()
    (tmp_path / names[5] / "result.json").write_text("{")
    assert many().sweep(out=tmp_path, workers=1).reused == 22
    series = many(record=["series"]).sweep(out=tmp_path, workers=1)
    assert (series.reused, len(made)) == (0, 24 + 2 + 24)
    assert series.runs[0].folder is not None
    assert sorted(path.name for path in series.runs[0].folder.iterdir()) == [
        "result.json",
        "series.parquet",
    ]
    assert many().sweep(out=tmp_path, workers=1).reused == 24, "more is there than is asked for"
    # `compare` takes the results of a sweep, and asks for all tables by default.
    lists: dict[str, Any] = {"set": SMALL | {"ftl.spare-factor": 0.2}, "seed": [0, 1]}
    compared = fg.compare("agcr", "random-write", **lists, out=tmp_path, record=())
    assert (compared.reused, len(compared.runs)) == (2, 2)
    whole = fg.compare("agcr", "random-write", **lists, out=tmp_path, workers=1)
    assert whole.reused == 0
    assert fg.compare("agcr", "random-write", **lists, out=tmp_path).reused == 2


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        value = json.loads((folder / "result.json").read_bytes())
        change(value)
        (folder / "result.json").write_text(json.dumps(value))

    return edit


def cut(name: str, size: int) -> Callable[[Path], object]:
    return lambda folder: os.truncate(folder / name, size)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty table": (cut("requests.parquet", 0), "requests.parquet has 0 of "),
    "a short table": (cut("blocks.parquet", 100), "blocks.parquet has 100 of "),
    "no table": (lambda at: (at / "series.parquet").unlink(), "series.parquet is not there"),
    "no result": (lambda at: (at / "result.json").unlink(), "result.json is not there"),
    "an empty result": (cut("result.json", 0), "result.json cannot be read"),
    "half a result": (cut("result.json", 2000), "result.json cannot be read"),
    "a list": (lambda at: (at / "result.json").write_text("[]"), "result.json cannot be read"),
    "an empty key": (edited(lambda v: v.update(host={})), "result.json is not what was stored"),
    "no key": (edited(lambda v: v.pop("flash")), "result.json is not what was stored"),
    "no timing": (edited(lambda v: v.pop("timing")), "result.json is not what was stored"),
    "a number": (edited(lambda v: v.update(waf=9.0)), "result.json is not what was stored"),
    "no seal": (edited(lambda v: v.pop("stored")), "does not say how long its tables are"),
    "no lengths": (edited(lambda v: v.update(stored={})), "result.json is damaged"),
    "another run": (
        edited(lambda v: v["provenance"].update(seed=7)),
        "result.json is that of another run",
    ),
}


@pytest.mark.parametrize(("damage", "says"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_again_and_said(
    tmp_path: Path,
    floatgate: Floatgate,
    damage: Callable[[Path], object],
    says: str,
) -> None:
    words = ["compare", "agcr", "random-write", "--set", "geometry.channels=1", "--json"]
    words += ["--set", "workload.requests=500", "--seed", "1,2", "--workers", "1", "--out", "out"]
    floatgate(*words)
    there, other = sorted((tmp_path / "out").glob("*/"))
    before = whole(there)
    untouched = (other / "result.json").stat().st_mtime_ns
    damage(there)
    done = floatgate(*words)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["runs"]) == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"out/{there.name}: ")
    assert says in line
    assert line.endswith("; this run is repeated")
    assert whole(there) == before
    assert (other / "result.json").stat().st_mtime_ns == untouched
    again = floatgate(*words)
    assert (again.returncode, again.stderr) == (0, "")


def whole(folder: Path) -> dict[str, bytes]:
    """The files of a run, without the times of clocks."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    value = json.loads(files.pop("result.json"))
    del value["timing"]
    return files | {"result.json": json.dumps(value).encode()}


def test_an_edited_form_or_clock_is_no_damage(tmp_path: Path) -> None:
    small: dict[str, Any] = SMALL | {"workload.requests": 500, "ftl.spare-factor": 0.2}
    lists: dict[str, Any] = {"set": small, "seed": [1, 2], "out": tmp_path, "workers": 1}
    for run in fg.compare("agcr", "random-write", **lists).runs:
        edited(lambda value: value["timing"].update(wall_seconds=1.0))(run.folder or tmp_path)
    again = fg.compare("agcr", "random-write", **lists)
    assert (again.reused, list(again.remade)) == (2, [])


def test_progress_counts_what_was_there(tmp_path: Path) -> None:
    many().sweep(out=tmp_path, workers=2)
    for path in list(tmp_path.glob("[!.]*/result.json"))[:6]:
        path.unlink()
    seen: list[batch.Standing] = []
    many().sweep(out=tmp_path, workers=1, progress=seen.append)
    last = seen[-1]
    assert (last.runs, last.finished, last.reused, last.share) == (24, 24, 18, 1.0)


def test_settings_of_a_generator_in_a_file_are_part_of_the_name(tmp_path: Path) -> None:
    names = set()
    for share in (0.2, 0.4):
        path = tmp_path / "own.toml"
        path.write_text(f'pattern = "zipf"\nread-share = {share}\nrequests = 500\n')
        run = fg.run("agcr", path, set={"geometry.channels": 1})
        assert run.provenance.config.workload["read-share"] == share
        names.add(run.run_id)
    assert len(names) == 2


def test_a_trace_that_has_changed_is_another_run(tmp_path: Path) -> None:
    trace = tmp_path / "small.trace"
    experiment = Experiment("t", drive="agcr", workload=str(trace), set={"geometry.channels": 1})
    ids = []
    for size in (8, 8, 16):
        trace.write_text("".join(f"{i * 1000} 0 {i * 64} {size} 0\n" for i in range(50)))
        comparison = experiment.sweep(out=tmp_path / "out", workers=1)
        ids.append((comparison.runs[0].run_id, comparison.reused))
    assert ids[0][0] == ids[1][0] != ids[2][0]
    assert [reused for _, reused in ids] == [0, 1, 0]


def test_blocks_that_name_different_things_are_told_apart(tmp_path: Path) -> None:
    experiment = Experiment(
        "blocks",
        drive="agcr",
        workload="random-write",
        set=SMALL,
        runs=[
            {"policy": {"victim": ["fifo", "random"]}},
            {"cases": {"scheme": {"slow": {"set": {"host.queue-depth": 1}}}}},
        ],
    )
    comparison = experiment.sweep(out=tmp_path, workers=1)
    assert comparison.variants == [
        {"victim": "fifo", "scheme": "-"},
        {"victim": "random", "scheme": "-"},
        {"victim": "greedy", "scheme": "slow"},
    ]
    assert comparison.frame()["victim"].to_list() == ["fifo", "random", "greedy"]


# ── Mistakes ────────────────────────────────────────────────────────────────────────────────────


def test_mistakes_in_settings_name_the_line(tmp_path: Path, floatgate: Floatgate) -> None:
    text = many().to_toml().replace("[0.2, 0.3]", "[0.2, 1.5]").replace('"fifo"', '"fofo"')
    (tmp_path / "wrong.toml").write_text(text)
    done = floatgate("sweep", "wrong.toml")
    assert (done.returncode, done.stdout) == (2, "")
    for key, word in (("ftl.spare-factor", "1.5"), ("victim", "fofo")):
        line = next(i for i, each in enumerate(text.splitlines(), 1) if word in each)
        assert f"at: wrong.toml:{line} ({key})" in done.stderr
    assert not (tmp_path / "floatgate-results").exists()


def test_measures_that_no_result_has_are_found_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match=r"did you mean .*`host\.write\.latency_ns\.p99`"):
        prepare(many(measures=["host.write.latency_ns.p98"]), out=tmp_path)
    prepare(many(measures=["waf", "policies.victim.counters.reclaimed"]), out=tmp_path)


def test_an_experiment_without_runs(tmp_path: Path) -> None:
    empty = many(exclude=[{"seed": [0, 1, 2]}])
    with pytest.raises(fg.ConfigError, match="every run is excluded"):
        empty.sweep(out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_run_that_fails_is_the_exit_code(tmp_path: Path, floatgate: Floatgate) -> None:
    # Its first records are right; the first look does not go further.
    rows = "".join(f"{i * 1000} 0 {i * 64} 8 0\n" for i in range(20_000))
    (tmp_path / "bad.trace").write_text(rows + "nonsense\n")
    (tmp_path / "good.trace").write_text(rows)
    experiment = Experiment(
        "x",
        drive="agcr",
        workload=["good.trace", "bad.trace"],
        set={"geometry.channels": 1, "host.out-of-range": "wrap"},
    )
    (tmp_path / "x.toml").write_text(experiment.to_toml())
    done = floatgate("sweep", "x.toml", "--json", "--out", "out")
    assert done.returncode == 2
    value = json.loads(done.stdout)
    assert (len(value["runs"]), len(value["failed"])) == (1, 1)
    assert "1 run failed" in done.stderr
    assert len(results(tmp_path / "out")) == 1


# ── Its duration and memory ─────────────────────────────────────────────────────────────────────

SIZES: dict[str, dict[str, Any]] = {
    "aged": {"precondition.age": "random", "ftl.spare-factor": [0.1, 0.2]},
    "long": {"workload.requests": 200_000, "ftl.spare-factor": [0.1, 0.2, 0.3]},
    "empty": {"precondition.fill": "none", "workload.requests": 500_000},
}


def sized(name: str) -> Experiment:
    settings = SMALL | {"geometry.blocks-per-plane": 256} | SIZES[name]
    return Experiment(name, drive="agcr", workload="random-write", set=settings, seed=range(3))


@pytest.mark.parametrize("name", SIZES)
def test_the_page_operations_are_right_within_a_factor_of_three(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values that do not depend on the machine: at a page operation in a second, without
    ageing."""
    monkeypatch.setattr("floatgate.runs.estimate._measured", lambda: Rates(math.inf, 1.0))
    experiment = sized(name)
    prepared = prepare(experiment, out=tmp_path)
    found = estimate(prepared.plans, workers=1)
    comparison = experiment.sweep(out=tmp_path, workers=1)
    assert (found.runs, found.done) == (len(comparison.runs), 0)
    flash = [run.flash for run in comparison.runs]
    done = sum(counts.read.total + counts.program.total for counts in flash)
    assert done > 30_000
    assert 1 / 3 < found.seconds / done < 3
    left = estimate(prepared.plans)
    assert (left.done, left.seconds, left.bytes) == (len(comparison.runs), 0, 0)


@pytest.mark.verify
@pytest.mark.parametrize("name", SIZES)
def test_the_time_is_right_within_a_factor_of_three(name: str, tmp_path: Path) -> None:
    experiment = sized(name)
    ratios = []
    for turn in range(3):  # Others may be at work on this machine, during one of both.
        os.environ["FLOATGATE_CACHE"] = str(tmp_path / f"states{turn}")
        prepared = prepare(experiment, out=tmp_path / str(turn))
        found = estimate(prepared.plans, workers=1)
        start = time.perf_counter()
        experiment.sweep(out=tmp_path / str(turn), workers=1)
        ratios.append(found.seconds / (time.perf_counter() - start))
        if 1 / 3 < ratios[-1] < 3:
            break
    else:
        pytest.fail(f"estimates were {ratios} of the time that it took")


def test_the_memory_is_enough(tmp_path: Path) -> None:
    settings = SMALL | {"geometry.channels": 4, "geometry.chips-per-channel": 8}
    settings |= {"geometry.blocks-per-plane": 512, "workload.requests": 20_000}
    experiment = Experiment("m", drive="agcr", workload="random-write", set=settings)
    found = estimate(prepare(experiment, out=tmp_path).plans)
    pages = 4 * 8 * 4 * 512 * 64
    assert found.bytes > 12 * pages
    code = (
        "import re, sys; from floatgate import Experiment\n"
        "Experiment.parse(sys.argv[1]).sweep(out=sys.argv[2], workers=1)\n"
        # Not from getrusage, which also counts the memory of the process before it was replaced.
        "status = open('/proc/self/status').read()\n"
        "print(1024 * int(re.search(r'VmHWM:\\s*(\\d+)', status)[1]))"
    )
    command = [sys.executable, "-c", code, experiment.to_toml(), str(tmp_path)]
    used = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert used < found.bytes < 3 * used


def test_a_dry_run_makes_nothing(tmp_path: Path, floatgate: Floatgate) -> None:
    (tmp_path / "many.toml").write_text(many().to_toml())
    done = floatgate("sweep", "many.toml", "--dry-run", "--workers", "2")
    assert done.returncode == 0
    assert "many: 24 runs, 0 of them done" in done.stdout
    assert "with 2 runs at a time" in done.stdout
    assert not (tmp_path / "floatgate-results").exists()
    value = json.loads(floatgate("sweep", "many.toml", "--dry-run", "--json").stdout)
    assert (value["schema"], value["runs"], value["done"]) == ("floatgate.dry-run/1", 24, 0)
    assert value["seconds"] > 0


# ── Processes ───────────────────────────────────────────────────────────────────────────────────


class Running:
    """A sweep of 24 runs in a process group of its own, as at a terminal.

    Three runs or four end; the next two are in their middle until the sweep goes on.
    """

    def __init__(self, folder: Path, mark: str) -> None:
        self.gate = Gate(folder, "out", free=3)
        (folder / "many.toml").write_text(self.experiment(record=["series"]).to_toml())
        self.folder, self.mark, self.out = folder, mark, folder / "out"
        self.process = self.start()

    def experiment(self, **keys: Any) -> Experiment:
        return many(policy={"cost": self.gate.policy}, **keys)

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "floatgate", "sweep", "many.toml", "--workers", "2"]
        return subprocess.Popen(
            [*command, "--out", "out", "--json", "--allow-code"],
            cwd=self.folder,
            env=os.environ | {MARK: self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def done(self) -> dict[str, int]:
        """The runs that are there, and when they were written."""
        return {
            path.parent.name: path.stat().st_mtime_ns for path in self.out.glob("[!.]*/result.json")
        }

    def goes_on(self) -> dict[str, Any]:
        """Starts it again and lets it end."""
        before = self.done()
        self.gate.open()
        out, err = self.start().communicate(timeout=LONG)
        value: dict[str, Any] = json.loads(out)
        after = self.done()
        assert (len(value["runs"]), len(value["failed"]), len(after)) == (24, 0, 24), err
        assert {name: after[name] for name in before} == before, "these were reused"
        assert not list(self.out.glob(".unfinished-*"))
        return value


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    sweep = Running(tmp_path, f"{request.node.name}-{time.monotonic_ns()}")
    wait_for(lambda: len(sweep.gate.waiting()) == 2 or sweep.process.poll() is not None)
    assert sweep.gate.waiting() == {*workers(sweep.mark)}
    yield sweep
    for pid in marked(sweep.mark):
        kill(pid)
    sweep.process.communicate()


def test_a_killed_sweep_goes_on(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    # The workers first, so that they cannot tidy up.
    running.process.send_signal(signal.SIGSTOP)
    for pid in workers(running.mark):
        kill(pid)
    kill(running.process.pid)
    wait_for(lambda: not marked(running.mark))
    there = running.done()
    assert 3 <= len(there) <= 4
    assert list(running.out.glob(".unfinished-*")), "what is left is there to be tidied up"
    value = running.goes_on()
    monkeypatch.syspath_prepend(running.folder)
    alone = running.experiment().sweep(out=running.folder / "alone", workers=1)
    for ours, run in zip(value["runs"], alone.runs, strict=True):
        assert {**ours, "timing": None} == {**run.data, "timing": None}


def test_a_killed_parent_ends_its_workers_and_goes_on(running: Running) -> None:
    kill(running.process.pid)
    wait_for(lambda: not marked(running.mark))
    assert not list(running.out.glob(".unfinished-*")), "workers tidy up"
    running.goes_on()


def test_ctrl_c_says_how_to_go_on(running: Running) -> None:
    os.killpg(running.process.pid, signal.SIGINT)
    out, err = running.process.communicate(timeout=LONG)
    assert (running.process.returncode, out) == (130, b"")
    assert f"{len(running.done())} of 24 runs are done: out".encode() in err
    assert b"The same command goes on from there." in err
    running.goes_on()


def test_what_dead_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    ended = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True)
    host, dead = os.uname().nodename, int(ended.stdout)
    kept = [
        f".unfinished-{host}-{os.getpid()}-abc",
        f".unfinished-elsewhere-{dead}-abc",
        ".unfinished-abc",
        "0123456789abcdef",
    ]
    for name in [*kept, f".unfinished-{host}-{dead}-a_c"]:
        (tmp_path / name).mkdir()
    tidy(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_what_a_zombie_left_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        left = tmp_path / f".unfinished-{os.uname().nodename}-{ended.pid}-abc"
        left.mkdir()
        tidy(tmp_path)
        assert not left.exists()


HOLD = """
import sys
from floatgate.cache import Cache
from floatgate.runs.workers.locks import alone
with alone(Cache(sys.argv[1], "1GiB"), "abcdef", lambda *state: None) as told:
    print("taken", flush=True)
    sys.stdin.readline()
    told("running", 0, None, 0)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["running", "killed", "made"])
def test_one_process_makes_a_state_and_others_wait(tmp_path: Path, end: str) -> None:
    cache = Cache(str(tmp_path), "1GiB")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as maker:
        assert maker.stdin is not None
        assert maker.stdout is not None
        assert maker.stdout.readline() == "taken\n"
        stages: list[str] = []
        through = threading.Event()

        def wait() -> None:
            with alone(cache, "abcdef", lambda stage, *_: stages.append(stage)):
                through.set()

        thread = threading.Thread(target=wait)
        thread.start()
        wait_for(lambda: len(stages) >= 3)
        assert not through.is_set()
        if end == "running":
            maker.stdin.write("\n")
            maker.stdin.flush()
        elif end == "killed":
            maker.kill()
        else:
            cache.state("abcdef").parent.mkdir()
            cache.state("abcdef").write_bytes(b"a state")
        assert through.wait(LONG)
        assert set(stages) == {"waiting"}
        thread.join()
        maker.kill()


WRITTEN = """
import re, floatgate.cli
try:
    floatgate.cli.main()
finally:
    print(re.search(r"wchar: (\\d+)", open("/proc/self/io").read())[1])
"""
"""The command line, and at last how many bytes the process has written."""


@pytest.mark.skipif(not os.path.isfile("/proc/self/io"), reason="needs a system that tells")
def test_two_sweeps_at_once_age_a_drive_once(tmp_path: Path) -> None:
    aged = SMALL | {"precondition.age": "random", "geometry.blocks-per-plane": 512}
    aged["ftl.spare-factor"] = 0.3  # which ages it in a quarter of the time
    states, processes = tmp_path / "states", []
    for i in range(2):
        experiment = Experiment(
            f"s{i}",
            drive="agcr",
            workload="random-write",
            policy={"order": ["fifo", "read-first"]},
            set=aged | {"workload.requests": 1000 + i},
        )
        (tmp_path / f"{i}.toml").write_text(experiment.to_toml())
        command = [sys.executable, "-c", WRITTEN, "sweep", f"{i}.toml", "--workers", "1"]
        environment = os.environ | {"FLOATGATE_CACHE": str(states)}
        processes.append(
            subprocess.Popen(
                command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
            )
        )
    outs = [process.communicate(timeout=LONG)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert len(list(tmp_path.glob("floatgate-results/*/*/result.json"))) == 4
    (state,) = (states / "floatgate-cache" / "states").iterdir()
    # A process that ages a drive writes its state, which is larger than all else together.
    written = sorted(int(out.splitlines()[-1]) for out in outs)
    assert written[0] < state.stat().st_size / 2 < state.stat().st_size <= written[1], written


@pytest.mark.verify
@pytest.mark.skipif(pool.cores() < 2, reason="there is one core")
def test_two_cores_take_at_most_55_percent_of_the_time_of_one(tmp_path: Path) -> None:
    # All other work of the machine only adds to a time, so the least of several is the truest. The
    # start of the workers, a tenth of a second, is a part of every sweep, and of a long one a small
    # part.
    best = {1: math.inf, 2: math.inf}
    for turn in range(6):
        for count in best:
            out = tmp_path / f"{turn}-{count}"
            start = time.perf_counter()
            comparison = many(requests=400_000).sweep(out=out, workers=count)
            best[count] = min(best[count], time.perf_counter() - start)
            assert (len(comparison.runs), comparison.reused) == (24, 0)
        if best[2] <= 0.55 * best[1]:
            break
    print(f"24 runs: {best[1]:.2f} s on one core, {best[2]:.2f} s on two")
    assert best[1] > 3
    assert best[2] <= 0.55 * best[1]
