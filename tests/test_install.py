"""The steps of a stranger: `pip install .` in an environment of their own."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest

from conftest import processor_seconds

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
    # Outside the source tree, with nothing but the files of the wheel.
    alone = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "FLOATGATE_TRACES")}
    command = [str(scripts / "floatgate"), "reproduce", "agcr", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path, env=alone)
    made = json.loads(done.stdout)
    assert len(made["tables"]) >= 2
    assert (tmp_path / made["report"]).is_file()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of `make wheel`; FLOATGATE_WHEEL names one that is there already."""
    if named := os.environ.get("FLOATGATE_WHEEL"):
        return Path(named)
    dist = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "wheel", f"DIST={dist}"], check=True, cwd=ROOT)
    (made,) = dist.glob("*.whl")
    return made


@pytest.mark.verify
def test_the_wheel_serves_every_python_from_3_11_and_names_no_folder(wheel: Path) -> None:
    machine = platform.machine()
    assert re.fullmatch(rf"floatgate-.+-cp311-abi3-manylinux.*_2_17_{machine}\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        for needed in (
            "reproduce/studies/agcr/experiment.toml",
            "pictures/view.js",
            "report/page.html",
        ):
            assert f"floatgate/{needed}" in names
        text = [files.read(name) for name in names if not name.endswith(".so")]
        (library,) = [files.read(name) for name in names if name.endswith(".so")]
    assert len(text) > 100
    assert not [content for content in text if str(ROOT).encode() in content]
    # No symbol of a C library that is newer than the name of the wheel claims.
    versions = {tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(2[0-9.]+)\0", library)}
    assert versions
    assert max(versions) <= (2, 17)


@pytest.mark.verify
def test_the_first_answer_comes_within_a_minute_from_nothing(wheel: Path, tmp_path: Path) -> None:
    """A fresh environment, no compiler on the path, no cache of drives; pip is included.

    Processor time is compared, for the machine and the network may be busy.
    """
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / "bin"
    alone = {"PATH": f"{scripts}:/usr/bin:/bin", "HOME": str(tmp_path)}
    alone |= {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    assert not any(shutil.which(tool, path=alone["PATH"]) for tool in ("cargo", "rustc", "maturin"))
    began, used = time.monotonic(), processor_seconds()
    subprocess.run([scripts / "pip", "install", "--quiet", wheel], check=True, env=alone)
    installed = time.monotonic()
    command = ["floatgate", "run", "modern-tlc-small", "random-write", "--steady", "--quiet"]
    done = subprocess.run(
        [scripts / command[0], *command[1:]],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=alone,
    )  # fmt: skip
    spent = processor_seconds() - used
    later = time.monotonic() - installed
    print(
        f"pip {installed - began:.1f} s, first answer {later:.1f} s later; processor {spent:.1f} s"
    )
    assert re.search(r"Write amplification \d", done.stdout)
    assert spent < 60
