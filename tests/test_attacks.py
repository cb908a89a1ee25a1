"""Errors that must not show a traceback: a full disk, pipes in the place of files, too little
memory, remains of killed processes, one trace under two names."""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate as fg
from floatgate.cache import cache
from floatgate.cluster import _marked
from floatgate.result.files import tidy
from floatgate.runs.workers.locks import alone
from floatgate.runs.workers.pool import Job
from floatgate.workloads import parquet
from processes import LONG, kill, storing, wait_for

SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "workload.requests": 2000,
}
SET = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
RUN = ["run", "agcr", "random-write", *SET, "-q"]
FULL = "error[file::unusable]: standard output cannot be written (no space left on device)\n"


def command(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "floatgate", *words],
        check=False,
        text=True,
        stderr=subprocess.PIPE,
        timeout=LONG,
        **how,
    )


def onto_a_full_disk(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    with open("/dev/full", "w") as full:
        return command(*words, stdout=full, **how)


@pytest.mark.parametrize("words", [["policies"], ["--help"], ["--version"], ["config", "schema"]])
def test_a_full_disk_is_a_message(words: list[str]) -> None:
    done = onto_a_full_disk(*words)
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_result_that_could_not_be_printed_is_kept(tmp_path: Path, json_too: list[str]) -> None:
    here = os.environ | {"FLOATGATE_CACHE": str(tmp_path)}
    done = onto_a_full_disk(*RUN, *json_too, env=here)
    assert done.returncode == 2
    said = re.fullmatch(re.escape(FULL) + "the result is kept in (.*)\n", done.stderr)
    assert said is not None, done.stderr
    kept = fg.Result.load(said[1])
    assert Path(said[1]).is_relative_to(tmp_path)
    assert kept.data["host"] == fg.run("agcr", "random-write", set=SMALL).data["host"]


def test_a_result_that_is_stored_is_named_where_it_is(tmp_path: Path) -> None:
    one, several = tmp_path / "one", tmp_path / "several"
    done = onto_a_full_disk(*RUN, "--out", str(one))
    (folder,) = one.iterdir()
    assert (done.returncode, done.stderr) == (2, f"{FULL}the result is stored in {folder}\n")
    words = ["compare", *RUN[1:], "--seed", "1,2", "--out", str(several)]
    done = onto_a_full_disk(*words)
    assert (done.returncode, done.stderr) == (2, f"{FULL}the results are stored in {several}\n")
    assert len(fg.results(several)) == 2


def test_without_a_cache_the_result_is_lost_and_that_is_said() -> None:
    done = onto_a_full_disk(*RUN, env=os.environ | {"FLOATGATE_CACHE": ""})
    assert done.returncode == 2
    assert (
        done.stderr == f"{FULL}the result is lost: there is no cache to keep it in, and no --out\n"
    )


def test_a_closed_output_is_a_message() -> None:
    line = f"exec {sys.executable} -m floatgate policies >&-"
    done = subprocess.run(["sh", "-c", line], check=False, text=True, capture_output=True)
    said = "error[file::unusable]: standard output cannot be written (bad file descriptor)\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.parametrize("words", [["policies"], ["--help"], RUN, [*RUN, "--json"]])
def test_nobody_reads_any_more(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = command(*words, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_errors_that_nobody_can_be_told_have_their_exit_code() -> None:
    line = f"exec {sys.executable} -m floatgate run nothing random-write 2>/dev/full"
    done = subprocess.run(["sh", "-c", line], check=False, text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (2, "")


WORN_IN = {**SMALL, "precondition.fill": "full", "precondition.age": "random"}


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_something_else_in_the_place_of_a_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))
    trace = tmp_path / "a.trace"
    trace.write_text("".join(f"{i * 100000} 0 {i % 50 * 16} 8 0\n" for i in range(100)))
    drives = {key: value for key, value in WORN_IN.items() if not key.startswith("workload")}

    def run() -> dict[str, Any]:
        done = fg.compare("agcr", trace, set=drives, workers=1)
        return dict(done.runs[0].data["host"])

    first = run()
    kept = cache()
    assert kept is not None
    states = list((Path(kept.folder) / "states").iterdir())
    known = list((Path(kept.folder) / "traces").iterdir())
    assert states
    assert known
    new = f"{states[0].name}.{2**22}-0.new"
    for file in (*states, *known, states[0].with_name(new)):
        file.unlink(missing_ok=True)
        if what == "pipe":
            os.mkfifo(file)
        elif what == "device":
            file.symlink_to("/dev/zero")
        else:
            file.mkdir()
    answers: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: answers.append(run()), daemon=True)
    thread.start()
    thread.join(LONG)
    assert answers == [first]


def test_a_pipe_in_the_place_of_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))
    kept = cache()
    assert kept is not None
    kept.locks.mkdir()
    os.mkfifo(kept.locks / "ab")
    entered = []

    def work() -> None:
        with alone(kept, "ab" * 32, lambda *_: None):
            entered.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG)
    assert entered == [True]


@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_something_else_in_the_place_of_a_result(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "results"
    stored = fg.run("agcr", "random-write", set=SMALL, out=folder).folder
    assert stored is not None
    file = stored / "result.json"
    whole = file.read_bytes()
    file.unlink()
    if what == "pipe":
        os.mkfifo(file)
    elif what == "device":
        file.symlink_to("/dev/zero")
    else:
        file.mkdir()
    said = "a directory" if what == "folder" else "a pipe, a socket or a device"
    for words in (["report", str(stored)], ["report", str(folder)], ["view", str(stored)]):
        done = command(*words, cwd=tmp_path, stdout=subprocess.PIPE)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"result.json: this is {said}; expected a stored result" in done.stderr
    again = command(*RUN, "--out", str(folder), stdout=subprocess.PIPE)
    if what == "folder":
        assert again.returncode == 2
        assert "the result cannot be stored (is a directory)" in again.stderr
    else:
        assert again.returncode == 0, "it is replaced"
        assert json.loads(file.read_bytes())["host"] == json.loads(whole)["host"]


def test_memory_that_is_not_there_is_a_message(tmp_path: Path) -> None:
    # Four thousand million pages take 48 GB, and 16 of address space are given.
    words = ["run", "agcr", "random-write", "--set", "geometry.blocks-per-plane=250000"]
    words += ["--set", "workload.requests=10", "-q", "--json"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))

    done = command(*words, stdout=subprocess.PIPE, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error[system::memory]: a drive of 4096000000 pages takes up to 49.2 GB of memory"
    )
    assert done.stderr.count("\n") == 1


def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_killed_run_leaves_nothing_that_the_next_does_not_tidy(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "floatgate", *RUN, "--out", str(tmp_path)]
    words += ["--set", "workload.requests=1000000000"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: storing(tmp_path))
    kill(process.pid)
    process.wait()
    assert list(tmp_path.glob(".unfinished-*"))
    done = command(*RUN, "--out", str(tmp_path), stdout=subprocess.PIPE)
    assert done.returncode == 0
    (left,) = tmp_path.iterdir()
    assert re.fullmatch("[0-9a-f]{16}", left.name)


def test_what_is_tidied_and_what_is_not(tmp_path: Path) -> None:
    host, gone = os.uname().nodename, dead()
    marked = f"""
from pathlib import Path
import os, signal
from floatgate.cluster import _marked
from floatgate.runs.workers.pool import Job
with _marked([Job("agcr", "random-write", out={str(tmp_path)!r})], None):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", marked], check=False)
    assert len(list(tmp_path.iterdir())) == 1, "a killed client leaves its mark"
    for name in ("comparison.json", "sweep.json"):
        (tmp_path / f".unfinished-{host}-{gone}-{name}").write_text("{")
    locked = tmp_path / f".unfinished-{host}-{gone}-elsewhere"
    locked.mkdir()
    handle = os.open(locked, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with _marked([Job("agcr", "random-write", out=str(tmp_path))], None) as (_, marker):
        tidy(tmp_path)
        kept = {path.name for path in tmp_path.iterdir()}
        # A process in a container has that number, and is alive: its lock tells.
        assert kept == {marker, locked.name}
    os.close(handle)
    tidy(tmp_path)
    assert not list(tmp_path.iterdir())


LINES = "".join(f"{i * 100000} 0 {i % 50 * 16} 8 0\n" for i in range(300))


def twins(folder: Path) -> tuple[Path, Path]:
    one, two = folder / "one.trace", folder / "two.trace"
    for path in (one, two):
        path.write_text(LINES)
    return one, two


def test_two_traces_of_the_same_bytes_are_one_run_with_both_names(tmp_path: Path) -> None:
    one, two = twins(tmp_path)
    third = tmp_path / "third.trace"
    third.write_text(LINES + "99999999 0 0 8 1\n")
    out = tmp_path / "out"
    settings = {key: value for key, value in SMALL.items() if not key.startswith("workload")}
    done = fg.compare("agcr", [one, two, third], set=settings, out=out, workers=2)
    assert [v["workload"] for v in done.variants] == [f"{one} = {two}", str(third)]
    assert len(done.runs) == 2
    assert len([path for path in out.iterdir() if path.is_dir()]) == 2
    stored = fg.Result.load(out / done.runs[0].run_id)
    assert stored.workload == "one.trace = two.trace"
    again = fg.compare("agcr", [two, third, one], set=settings, out=out, workers=2)
    assert (again.reused, len(again.runs)) == (2, 2)
    assert set(fg.results(out)["workload"]) == {f"{two} = {one}", str(third)}
    assert not fg.report.load([out]).failed, "it is whole"


def test_a_run_again_under_another_name_keeps_the_first(tmp_path: Path) -> None:
    settings = {key: value for key, value in SMALL.items() if not key.startswith("workload")}
    folders = [
        fg.run("agcr", trace, set=settings, out=tmp_path / "out").folder
        for trace in (*twins(tmp_path), *twins(tmp_path)[:1])
    ]
    assert len({*folders}) == 1
    stored = fg.Result.load(folders[0] or "")
    assert stored.workload == "one.trace = two.trace"
    assert stored.data["provenance"]["workload"]["name"] == "one.trace"


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("offset", [0.0, 4096.5], r"row 2: 4096\.5 bytes in column `offset`"),
        ("size", [4096.25, 512.0], r"row 1: 4096\.25 bytes in column `size`"),
    ],
)
def test_fractional_bytes_are_refused(
    tmp_path: Path, column: str, values: list[float], said: str
) -> None:
    whole = {"ts": [0.0, 1.25], "op": ["r", "w"], "offset": [0.0, 8192.0], "size": [4096.0, 512.0]}
    path = tmp_path / "t.parquet"
    how = "time=ts:us,op=op,offset=offset,size=size"
    pl.DataFrame(whole).write_parquet(path)
    assert fg.run("agcr", path, columns=how).host.all.bytes == 4608
    pl.DataFrame({**whole, column: values}).write_parquet(path)
    with pytest.raises(fg.InputError, match=said + ".*whole number of bytes"):
        fg.run("agcr", path, columns=how)


def test_half_a_sector_is_a_whole_number_of_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = {"ts": [0], "op": ["w"], "lba": [1.5], "size": [1.0]}
    pl.DataFrame(rows).write_parquet(path)
    how = "time=ts:us,op=op,offset=lba:sectors,size=size:sectors"
    assert fg.run("agcr", path, columns=how).host.write.bytes == 512


def test_going_through_a_workload_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    n = 50
    rows = {"ts": range(n), "op": ["w"] * n, "offset": [0] * n, "size": [4096] * n}
    pl.DataFrame(rows).write_parquet(path)
    how = "time=ts:us,op=op,offset=offset,size=size"
    monkeypatch.setattr(parquet, "PIECE", 10)
    heard = threading.Event()
    seen: list[tuple[str, int]] = []
    taken = parquet.Pieces.next

    def slow(pieces: parquet.Pieces) -> parquet.Piece | None:
        piece = taken(pieces)
        if piece is None:  # all are counted: the pass ends when somebody was told so
            deadline = time.monotonic() + LONG
            while not heard.is_set() and time.monotonic() < deadline:
                time.sleep(0.01)
        return piece

    def told(stage: str, done: int, total: int | None, _now: int) -> None:
        if stage == "opening":
            assert total is None
            seen.append((stage, done))
            heard.set()

    monkeypatch.setattr(parquet.Pieces, "next", slow)
    fg.run("agcr", path, columns=how, progress=told)
    assert seen
    assert 0 < seen[0][1] <= n

    heard.clear()
    checked: list[tuple[int, int, int]] = []

    def standing(now: Any) -> None:
        if now.checking:
            checked.append((now.checking, now.runs, now.read))
            heard.set()

    # Not known from before: it has another name.
    other = tmp_path / "other.parquet"
    shutil.copy(path, other)
    fg.compare("agcr", other, seed=[1, 2], columns=how, workers=1, progress=standing)
    assert checked
    assert checked[0][:2] == (1, 2)
    assert 0 < checked[0][2] <= n
