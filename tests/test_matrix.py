"""Does every drive answer every command? Presets, commands, a generator and real traces.

Each gives an answer, or an error about the input: `make test` has a few of the combinations, `make
verify` all.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import floatgate as fg
from conftest import Floatgate, processor_seconds
from test_live import Served

DRIVES = list(fg.drives())
FEW = ("agcr", "c-mlc64", "modern-tlc-small")
SHORT = ("--set", "workload.requests=2000")
FIRST_ANSWER = 20.0
"""Seconds of processor time in which `lifetime` answers, with a real trace."""


def traces() -> list[Path]:
    """The real traces that are there."""
    folders = os.environ.get("FLOATGATE_TRACES", "").split(os.pathsep)
    return sorted(path for folder in folders if folder for path in Path(folder).glob("*.zst"))


WORKLOADS = ["random-write", *map(str, traces())]


def names(workload: str) -> str:
    return Path(workload).name.partition(".")[0]


def some_real() -> str:
    found = traces()
    if not found:
        pytest.skip("FLOATGATE_TRACES names no folder of real traces")
    return str(found[0])


def answers(done: subprocess.CompletedProcess[str], *typed: str) -> None:
    """An answer, or an error that names nothing that the user has not typed."""
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 0:
        assert done.stdout
        return
    # A comparison lists its runs that failed.
    assert re.match(r"error\[|\d+ runs? failed\n", done.stderr), done.stderr
    # Arguments that nobody gave are numbered beyond those that somebody did.
    given = typed.count("--set")
    numbers = [int(n) for n in re.findall(r"--set argument (\d+)", done.stderr)]
    assert all(number <= given for number in numbers), done.stderr
    assert "Hint:" in done.stderr or "::: " in done.stderr or "help" in done.stderr, done.stderr


def lives(floatgate: Floatgate, drive: str, workload: str) -> None:
    words = ("lifetime", drive, workload, "--no-advice", "--json")
    before = processor_seconds()
    done = floatgate(*words, *(SHORT if workload == "random-write" else ()))
    took = processor_seconds() - before
    assert done.returncode == 0, done.stderr
    life = json.loads(done.stdout)["lifetime"]
    found = life["range"]
    if found is None:
        assert life["why"] is None
        assert life["rated"]["years"] > 0
    else:
        low, high = found["years"]["low"], found["years"]["high"]
        assert 0 < low <= high
        # Wider than a factor of two only for a reason that the trace itself is.
        reasons = ("overwrite a page of its own", "written as fast as it can")
        assert high <= 2 * low or any(reason in life["why"] for reason in reasons)
    # Random writes move as much as there is to move, and take longer on the largest dies.
    assert took < FIRST_ANSWER or workload == "random-write"


@pytest.mark.parametrize("drive", DRIVES)
def test_every_preset_is_checked(floatgate: Floatgate, drive: str) -> None:
    done = floatgate("config", "check", drive)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("drive", FEW)
def test_three_presets_run_a_generator_and_a_trace(floatgate: Floatgate, drive: str) -> None:
    answers(floatgate("run", drive, "random-write", *SHORT), *SHORT)
    answers(floatgate("run", drive, some_real(), "--first", "2000"))


@pytest.mark.verify
@pytest.mark.parametrize("workload", WORKLOADS, ids=names)
@pytest.mark.parametrize("drive", DRIVES)
def test_every_preset_names_years_of_every_workload(
    floatgate: Floatgate, drive: str, workload: str
) -> None:
    lives(floatgate, drive, workload)


@pytest.mark.verify
@pytest.mark.parametrize("workload", WORKLOADS, ids=names)
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_every_preset_runs_every_workload(
    floatgate: Floatgate, command: str, drive: str, workload: str
) -> None:
    words = [command, drive, workload]
    words += SHORT if workload == "random-write" else ()
    words += ["--seed", "1,2"] if command == "compare" else []
    answers(floatgate(*words), *words)


@pytest.mark.verify
@pytest.mark.parametrize("drive", DRIVES)
def test_every_preset_is_served(tmp_path: Path, drive: str) -> None:
    served = Served(tmp_path, drive)
    try:
        assert served.end()["schema"] == "floatgate.run/2"
    finally:
        served.close()
