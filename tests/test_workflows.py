"""The repository as strangers meet it: workflows that are valid and name existing files."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


@pytest.fixture(scope="module")
def actionlint() -> Path:
    if not shutil.which("go"):
        pytest.skip("Go is not on the path, and actionlint is a Go module")
    folder = ROOT / "target/tools"
    environment = os.environ | {"GOBIN": str(folder)}
    command = ["go", "install", ACTIONLINT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"actionlint cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    return folder / "actionlint"


def problems(tool: Path, *files: Path) -> str:
    command = [str(tool), "-no-color", "-oneline", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.verify  # its tool is compiled first, which takes longer than most tests
def test_workflows_are_valid(actionlint: Path) -> None:
    assert len(WORKFLOWS) >= 4
    assert problems(actionlint, *WORKFLOWS) == ""


@pytest.mark.verify
def test_an_invalid_workflow_is_found(actionlint: Path, tmp_path: Path) -> None:
    wrong = WORKFLOWS[0].read_text().replace("runs-on: ubuntu-24.04", "runs-on: ubuntu-99.04")
    path = tmp_path / "wrong.yml"
    path.write_text(wrong)
    assert "ubuntu-99.04" in problems(actionlint, path)


def test_workflows_name_targets_and_files_that_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*## .+$", makefile, re.MULTILINE))
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    used = set(re.findall(r"\bmake ([a-z-]+)", text)) | set(re.findall(r"- target: (\S+)", text))
    assert {"wheel", "sdist", "docs", "verify", "fuzz", "mutants", "roam", "bench-count"} <= used
    assert used <= targets
    variables = set(re.findall(r"\b([A-Z]+)=", " ".join(re.findall(r"variables: (.+)", text))))
    assert variables == {"SECONDS", "N", "BASELINE"}
    assert all(f"$({name})" in makefile or f"$(or $({name})" in makefile for name in variables)
    assert "run: .ci/run" in text
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_workflows_have_no_rights_that_they_do_not_name() -> None:
    for path in WORKFLOWS:
        assert re.search(r"^permissions:\n  contents: read$", path.read_text(), re.MULTILINE), path


def test_one_rust_is_developed_with_and_the_oldest_is_stated_once() -> None:
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
    assert toolchain["channel"] == "stable"
    assert {"clippy", "rustfmt"} <= set(toolchain["components"])
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"][
        "rust-version"
    ]
    # Scripts and workflows read it from there.
    for path in [*WORKFLOWS, ROOT / "scripts/ensure-rust"]:
        assert oldest not in path.read_text(), path
