"""A newcomer's first hour, in a copy of the tree: an answer, a trace, a policy, a figure.

Each command is one that the documentation has, or that a page told to type. Pages are looked at
on terminals of several widths.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from test_widths import check

ROOT = Path(__file__).parent.parent
SMALL = "--set workload.requests=5000 --set geometry.blocks-per-plane=64 --set geometry.channels=1"
FIRST = f"floatgate run agcr random-write {SMALL}"

Command = Callable[[str], str]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a built clone: the package, and not the folder that it was built in."""
    place = tmp_path_factory.mktemp("newcomer") / "clone"
    left_out = shutil.ignore_patterns("__pycache__")
    for part in ("python", "examples"):
        shutil.copytree(ROOT / part, place / part, ignore=left_out)
    (place.parent / "work").mkdir()
    return place


@pytest.fixture
def type_in(clone: Path) -> Command:
    """Types a command as people do. Returns its output."""

    def typed(line: str) -> str:
        first, *words = shlex.split(line)
        assert first == "floatgate"
        done = subprocess.run(
            [sys.executable, "-m", "floatgate", *words],
            cwd=clone.parent / "work",
            env={**os.environ, "PYTHONPATH": str(clone / "python")},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert str(ROOT) not in done.stdout
        return done.stdout

    return typed


@pytest.fixture
def look(type_in: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The same on terminals of several widths: nothing is too long, no word is cut."""

    def looked(line: str) -> str:
        def page() -> str:
            # Wall time differs from run to run.
            return _WALL.sub("", type_in(line))

        check(page, monkeypatch, bars=True, widths=(60, 100, 160))
        monkeypatch.setenv("COLUMNS", "100")
        return page()

    return looked


_WALL = re.compile(
    r"simulated\s+in\s[^;]*?of\s+wall\s+time\s\([^)]*\)"
    r"(;[^;]*?of\s+wall\s+time,\s+once\s+preconditioned)?"
)


def test_the_copy_is_what_runs(type_in: Command, clone: Path) -> None:
    where = "import floatgate; print(floatgate.__file__)"
    env = {**os.environ, "PYTHONPATH": str(clone / "python")}
    run = subprocess.run([sys.executable, "-c", where], env=env, capture_output=True, check=True)
    assert Path(run.stdout.decode().strip()).is_relative_to(clone)
    assert type_in("floatgate -V").startswith("floatgate 0.")


def test_the_first_answer_says_what_to_add_and_that_helps(look: Command) -> None:
    new = look(FIRST)
    said = " ".join(new.split("\n\n")[0].split())
    assert "A write took" in said
    assert "Write amplification 1.000." in said
    told = re.search(r"Add (--.*?): ", new)
    assert told, "a drive that collects nothing says what to add"
    used = look(f"{FIRST} {told[1]}")
    assert "gc-never-ran" not in used
    assert re.search(r"the slowest [\d.]+ %: \d+ % waiting behind gc", " ".join(used.split()))
    assert "Why p99 is high" in used
    assert not re.search(r"^ +Add ", used, re.MULTILINE)
    assert "--steady" in look("floatgate explain gc-never-ran")


def test_a_trace_of_ones_own(look: Command, clone: Path) -> None:
    lines = [f"{i * 250},{'RW'[i % 2]},{i * 7919 % 5000 * 4096},4096" for i in range(3000)]
    trace = clone.parent / "work" / "mine.csv"
    trace.write_text("\n".join(["microseconds,op,offset,size", *lines]) + "\n")
    columns = "--columns time=1:us,op=2,offset=3,size=4"
    assert "3,000" in look(f"floatgate trace describe mine.csv {columns}")
    page = look(f"floatgate run agcr mine.csv {columns}")
    assert "mine.csv" in page.splitlines()[0]
    assert re.search(r"read +1,?500 ", page) or "1.50 k" in page


@pytest.mark.verify
def test_a_policy_of_ones_own_and_a_figure(look: Command, type_in: Command, clone: Path) -> None:
    work = clone.parent / "work"
    made = type_in("floatgate init")
    first = re.search(r"First: (floatgate .*)", made)
    assert first
    few = "--set workload.requests=3000"
    assert "Write amplification" in look(f"{first[1]} {few}")
    assert "drive" in look("floatgate config check drive.toml")
    shown = look(
        f"floatgate compare drive.toml workload.toml {few} "
        "--policy victim=greedy,py:policy.Oldest --seed 1,2,3 --out both"
    )
    assert "Conclusions" in shown
    assert re.search(r"^ +victim ", shown, re.MULTILINE)
    assert "py:policy.Oldest" in shown
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    type_in("floatgate report both -o report.html --figures figures --format svg")
    figures = list((work / "figures").glob("*.svg"))
    assert figures
    assert "Oldest" in (work / "report.html").read_text()
    for figure in figures:
        assert figure.read_text().startswith("<svg")
