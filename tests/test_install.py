"""What a stranger does: `pip install .` in an environment of their own."""

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.verify
def test_pip_install_in_a_clean_environment(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([scripts / "pip", "install", "--quiet", f"{ROOT}[report]"], check=True)
    words = ["run", "agcr", "random-write", "--set", "workload.requests=1000", "--json"]
    done = subprocess.run(
        [scripts / "floatgate", *words], capture_output=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["checks"]["passed"]
    # Outside the source tree, with nothing but what the wheel holds.
    alone = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "FLOATGATE_TRACES")}
    command = [str(scripts / "floatgate"), "reproduce", "agcr", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path, env=alone)
    made = json.loads(done.stdout)
    assert len(made["tables"]) >= 2
    assert (tmp_path / made["report"]).is_file()


@pytest.mark.verify
def test_the_wheel_serves_every_python_from_3_11_and_names_no_folder(tmp_path: Path) -> None:
    command = ["maturin", "build", "--out", str(tmp_path)]
    subprocess.run([Path(sys.executable).parent / command[0], *command[1:]], check=True, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    assert re.fullmatch(r"floatgate-.+-cp311-abi3-.+linux.*_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        for needed in (
            "reproduce/studies/agcr/experiment.toml",
            "pictures/view.js",
            "report/page.html",
        ):
            assert f"floatgate/{needed}" in names
        text = [files.read(name) for name in names if not name.endswith(".so")]
    assert len(text) > 100
    assert not [content for content in text if str(ROOT).encode() in content]
