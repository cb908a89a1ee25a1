"""Every call that writes a result fails once: a message, nothing half-written, nothing lost.

For each n the n-th open, write, rename, sync, truncation or new folder below the folder of results
or of the cache fails. The failure is a full disk, a broken disk or a name that is too long. `make
test` takes one error for some calls of each; `make verify` takes every call and every error.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate
from failing import Failing, library, not_durable
from floatgate.result.folder import RESULT

ERRORS = (errno.ENOSPC, errno.EIO, errno.ENAMETOOLONG)
# With the usual spare of 10 %, ageing such a small drive would take most of the time.
SMALL = [
    "--set", "geometry.channels=1", "--set", "geometry.chips-per-channel=1",
    "--set", "geometry.blocks-per-plane=64", "--set", "ftl.spare-factor=0.3",
    "--set", "workload.requests=100",
]  # fmt: skip
JOB = ["agcr", "random-write", *SMALL, "--steady", "-q", "--out", "out"]
SWEEP = """schema = "floatgate.experiment/1"
name = "two"
drive = "agcr"
workload = "random-write"
[set]
"geometry.channels" = 1
"geometry.chips-per-channel" = 1
"geometry.blocks-per-plane" = 64
"ftl.spare-factor" = 0.3
"workload.requests" = 100
"host.queue-depth" = [1, 8]
"""
COMMANDS = {
    "run": ["run", *JOB],
    "compare": ["compare", *JOB, "--policy", "victim=greedy,fifo", "--workers", "2"],
    "sweep": ["sweep", "two.toml", "-q", "--out", "out", "--workers", "2"],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


class Place:
    """A folder with an earlier result and a file of the user's, which no failure may touch."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.folder, self.out, self.cache = folder, folder / "out", folder / "cache"
        self.failing = Failing(built, folder / "scratch", [self.out, self.cache])
        (folder / "two.toml").write_text(SWEEP)
        self.clean()
        earlier = ["run", *JOB, "--seed", "7"]
        assert self.run(earlier).code == 0
        (self.out / "mine.txt").write_text("mine")
        self.before = contents(self.out)
        self.earlier = folder / "earlier"
        shutil.copytree(self.out, self.earlier)

    def clean(self) -> None:
        """The folder as it was before the command."""
        for folder in (self.out, self.cache):
            shutil.rmtree(folder, ignore_errors=True)
        if hasattr(self, "earlier"):
            shutil.copytree(self.earlier, self.out)

    def close(self) -> None:
        self.failing.close()

    def run(self, words: list[str], at: int = 0, error: int = 0) -> Any:
        return self.failing.run(words, at, error, cwd=self.folder, FLOATGATE_CACHE=str(self.cache))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def results(out: Path) -> dict[str, dict[str, Any]]:
    """Every result in the folder that counts as complete, without the values that differ between
    runs.

    A result is its value and the shape of each of its tables.
    """
    found = {}
    for path in sorted(out.glob(f"*/{RESULT}")):
        try:
            result = floatgate.Result.load(path.parent)
        except floatgate.InputError as error:
            raise AssertionError("a result counts as complete and cannot be read") from error
        tables = {
            table.name: pl.read_parquet(table).shape for table in path.parent.glob("*.parquet")
        }
        value = {k: v for k, v in result.data.items() if k != "timing"}
        found[path.parent.name] = {"value": value, "tables": tables}
    return found


def unfinished(out: Path) -> list[Path]:
    return list(out.glob("**/.unfinished-*"))


def fails_soundly(place: Place, words: list[str], at: int, error: int, whole: Any) -> bool:
    """Lets one call fail and checks everything. Whether the command noticed."""
    place.clean()
    done = place.run(words, at, error)
    where = f"call {at} of {words[0]} fails with {errno.errorcode[error]}"
    said = f"{where}: exit {done.code}\n{done.stderr}"
    assert done.code in (0, 2), said
    assert not re.search("Traceback|panicked", done.stderr), said
    if done.code == 2:
        assert os.strerror(error).lower() in (done.stderr + done.stdout).lower(), said
    for name, data in place.before.items():
        assert (place.out / name).read_bytes() == data, f"{where}: {name} has changed"
    now = results(place.out)
    assert now.items() <= whole.items(), f"{where}: a result differs"
    if done.code == 0:
        assert now == whole, f"{where}: the command succeeded without its results"
    # The call that fails may be one that removes something: then the next run does it.
    if done.code == 2:
        assert not unfinished(place.out), f"{where}: something is left"
    again = place.run(words)
    assert again.code == 0, f"{where}: the next run fails\n{again.stderr}"
    assert results(place.out) == whole, f"{where}: the next run differs"
    assert not unfinished(place.out), f"{where}: something is left after the next run"
    return bool(done.code)


def undisturbed(place: Place, words: list[str]) -> tuple[int, Any]:
    place.clean()
    done = place.run(words)
    assert done.code == 0, done.stderr
    assert not not_durable(done.calls, RESULT)
    return done.count, results(place.out)


def some(count: int, most: int) -> list[int]:
    """At most `most` of the numbers from 1 to `count`, the first and the last among them."""
    step = max(1, -(-count // most))
    return sorted({*range(1, count + 1, step), count})


@pytest.mark.parametrize(("name", "most"), [("run", 12), ("compare", 2), ("sweep", 2)])
def test_a_call_that_fails_is_a_message(built: Path, tmp_path: Path, name: str, most: int) -> None:
    with closing(Place(built, tmp_path)) as place:
        count, whole = undisturbed(place, COMMANDS[name])
        assert count > 30
        noticed = [
            fails_soundly(place, COMMANDS[name], at, ERRORS[i % 3], whole)
            for i, at in enumerate(some(count, most))
        ]
    assert any(noticed)


@pytest.mark.verify
@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_fails_in_every_way(built: Path, tmp_path: Path, name: str) -> None:
    with closing(Place(built, tmp_path)) as place:
        count, whole = undisturbed(place, COMMANDS[name])
        print(f"{name}: {count} calls fail with each of {len(ERRORS)} errors")
        for at in range(1, count + 1):
            for error in ERRORS:
                fails_soundly(place, COMMANDS[name], at, error, whole)


WRITE = """        file.write(data)
        file.flush()
        os.fsync(file.fileno())
"""
SETTLE = "        os.fsync(handle)\n"
PLANTED = {
    "a sync is missing": (SETTLE, "        pass\n"),
    "the data come after the sync": (
        WRITE,
        "        os.fsync(file.fileno())\n        file.write(data)\n        file.flush()\n",
    ),
    "a write is not checked": (
        WRITE,
        "        with suppress(OSError):\n"
        "            file.write(data)\n"
        "            file.flush()\n"
        "        os.fsync(file.fileno())\n",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    package = tmp_path / "package" / "floatgate"
    shutil.copytree(
        Path(floatgate.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    right, wrong = PLANTED[fault]
    damaged = package / "result" / "files.py"
    text = damaged.read_text()
    assert text.count(right) == 1
    damaged.write_text(text.replace(right, wrong))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))

    def look_for_it(place: Place) -> None:
        count, whole = undisturbed(place, COMMANDS["run"])
        for at in range(count, 0, -1):
            fails_soundly(place, COMMANDS["run"], at, errno.ENOSPC, whole)

    # Its process is started here, so that it has the damaged package.
    with closing(Place(built, tmp_path)) as place, pytest.raises(AssertionError):
        look_for_it(place)
