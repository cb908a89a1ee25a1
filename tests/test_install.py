"""What a stranger does: `pip install .` in an environment of their own."""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.verify
def test_pip_install_in_a_clean_environment(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([scripts / "pip", "install", "--quiet", ROOT], check=True)
    words = ["run", "agcr", "random-write", "--set", "workload.requests=1000", "--json"]
    done = subprocess.run(
        [scripts / "floatgate", *words], capture_output=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["checks"]["passed"]
