"""What the Python tests share."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

import sample
from floatgate import Result

# A shell has what it runs in the background ignore Ctrl-C; here it is tested all the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no failure.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("floatgate", deadline=None, suppress_health_check=slow)
hypothesis.settings.load_profile("floatgate")

Floatgate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests keep preconditioned drives to themselves, and have a terminal of the usual width."""
    os.environ["FLOATGATE_CACHE"] = str(tmp_path_factory.mktemp("states"))
    os.environ["COLUMNS"] = "80"


@pytest.fixture
def result() -> Result:
    """A result with something in every part."""
    return Result(sample.result())


@pytest.fixture
def floatgate(tmp_path: Path) -> Floatgate:
    """Runs the command line in an empty folder, as a user would."""

    def run(*words: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "floatgate", *words]
        return subprocess.run(
            command, check=False, cwd=cwd, capture_output=True, text=True, timeout=600
        )

    return run
