"""What the Python tests share."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sample
from floatgate import Result

Floatgate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests keep preconditioned drives to themselves."""
    os.environ["FLOATGATE_CACHE"] = str(tmp_path_factory.mktemp("states"))


@pytest.fixture
def result() -> Result:
    """A result with something in every part."""
    return Result(sample.result())


@pytest.fixture
def floatgate(tmp_path: Path) -> Floatgate:
    """Runs the command line in an empty folder, as a user would."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "floatgate", *words]
        return subprocess.run(
            command, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )

    return run
