"""`floatgate init`: what it writes runs as it is."""

from pathlib import Path

import pytest

from conftest import Floatgate
from floatgate import InputError, starter


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


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text("mine")
    with pytest.raises(InputError, match=r"drive\.toml: there already"):
        starter.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]
    assert (tmp_path / "drive.toml").read_text() == "mine"
