"""`floatgate init`: the files that it writes run as they are."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from conftest import Floatgate
from floatgate import InputError, Result, starter
from floatgate.result.measures import find


@pytest.mark.verify
def test_every_file_runs_as_it_is(floatgate: Floatgate, tmp_path: Path) -> None:
    made = floatgate("init", "here", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    there = tmp_path / "here"
    assert sorted(path.name for path in there.iterdir()) == sorted(starter.NAMES)
    small = ("--set", "workload.requests=3000", "-q")
    for words in (
        ("config", "check", "drive.toml"),
        ("trace", "describe", "workload.toml"),
        ("run", "drive.toml", "workload.toml", *small),
        ("run", "drive.toml", "workload.toml", "--policy", "victim=py:policy.Oldest", *small),
        ("sweep", "experiment.toml", "--dry-run"),
    ):
        done = floatgate(*words, cwd=there)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize("aged", [False, pytest.param(True, marks=pytest.mark.verify)])
def test_every_printed_command_runs_there(floatgate: Floatgate, tmp_path: Path, aged: bool) -> None:
    """Ageing by a policy in Python takes seconds."""
    few = ["--set", "workload.requests=3000", *([] if aged else ["--set", "precondition.age=none"])]
    made = floatgate("init", "here", cwd=tmp_path).stdout.replace("\\\n", " ")
    commands = re.findall(r"floatgate (.*)", made)
    assert {shlex.split(each)[0] for each in commands} == {"run", "compare", "sweep"}
    named = " ".join(commands).replace("py:policy", "policy.py")
    assert all(name in named for name in starter.NAMES), "each file has its command"
    for each in commands:
        fewer = ["--dry-run"] if each.startswith("sweep") else few
        done = floatgate(*shlex.split(each), *fewer, cwd=tmp_path / "here")
        assert done.returncode == 0, (each, done.stderr)


@pytest.mark.verify
def test_the_experiment_shows_something_in_its_corners(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    """No run warns, and every measure differs by far more than a seed makes."""
    starter.write(tmp_path)
    measures = tomllib.loads((tmp_path / "experiment.toml").read_text())["measures"]
    found = []
    for spare in ("0.08", "0.16"):
        words = ("run", "drive.toml", "workload.toml", "--set", f"ftl.spare-factor={spare}")
        done = floatgate(*words, "--json", "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        run = Result(json.loads(done.stdout))
        assert [w["code"] for w in run.warnings] == []
        found.append([find(name).of(run) for name in measures])
    for name, little, much in zip(measures, *found, strict=True):
        assert little is not None, name
        assert much is not None, name
        assert much < 0.8 * little, name


@pytest.mark.verify
def test_the_experiment_concludes_about_both_of_its_axes(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    starter.write(tmp_path)
    done = floatgate("sweep", "experiment.toml", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Warnings" not in done.stdout
    shown = " ".join(done.stdout.partition("Conclusions")[2].partition("\n\n")[0].split())
    for measure in ("read mean", "read p99", "WAF"):
        for axis in ("victim", "ftl.spare-factor"):
            assert f"{measure} by {axis}: least with {axis}=" in shown


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text("mine")
    with pytest.raises(InputError, match=r"drive\.toml: there already"):
        starter.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]
    assert (tmp_path / "drive.toml").read_text() == "mine"
