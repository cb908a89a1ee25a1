"""The shape of the project: who may import whom, and that what is written down is there."""

import ast
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

# A crate may use these, and no other crate of the workspace (dev-dependencies are free).
MAY_USE = {
    "kernel": set(),
    "nand": {"kernel"},
    "ldpc": {"kernel", "nand"},
    "ftl": {"kernel", "nand"},
    "policies": {"kernel", "nand", "ftl"},
    "workload": {"kernel"},
    "ssd": {"kernel", "nand", "ftl", "policies", "workload"},
    "python": {"ssd", "ldpc"},
}
KNOWS_PYTHON = {"pyo3", "numpy"}
TARGETS = """setup demo test lint verify bench bench-count fuzz mutants
    golden schema docs wheel clean"""


@pytest.fixture(scope="module")
def crates() -> dict[str, Any]:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not on the path")
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"]
    metadata = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    packages = {p["name"].removeprefix("floatgate-"): p for p in json.loads(metadata)["packages"]}
    assert packages.keys() == MAY_USE.keys()
    assert len(packages) == 8
    return packages


def test_crates_use_only_what_stands_below_them(crates: dict[str, Any]) -> None:
    edges = 0
    for name, package in crates.items():
        for dependency in package["dependencies"]:
            if dependency["kind"] == "dev":
                continue
            used = dependency["name"].removeprefix("floatgate-")
            if used in crates:
                edges += 1
                assert used in MAY_USE[name], f"{name} must not know {used}"
            else:
                assert used not in KNOWS_PYTHON or name == "python", f"{name} must not know {used}"
    assert edges >= 10


def test_every_crate_has_the_lints_and_facts_of_the_workspace(crates: dict[str, Any]) -> None:
    for name, package in crates.items():
        manifest = tomllib.loads(Path(package["manifest_path"]).read_text())
        assert manifest.get("lints") == {"workspace": True}, name
        assert package["description"], name
        for key in ("version", "edition", "rust-version", "license", "repository"):
            assert manifest["package"][key] == {"workspace": True}, f"{name}: {key}"


def test_the_space_of_a_drive_asks_no_policy() -> None:
    rooms = sorted((ROOT / "crates" / "ftl" / "src" / "space").glob("*.rs"))
    assert len(rooms) >= 6
    for path in rooms:
        lines = path.read_text().splitlines()
        code = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
        found = re.search(r"\b(ask|Kit|Policies|Watch)\b", code)
        assert not found, f"{path.relative_to(ROOT)} says {found[0]}"


def test_the_core_touches_no_files_and_no_terminal() -> None:
    banned = re.compile(r"std::(fs|net|process|thread)\b|\be?print(ln)?!|\bdbg!")
    seen = 0
    core = [f"crates/{name}" for name in ("kernel", "nand", "ftl", "policies", "ssd")]
    for crate in (*core, "studies/ldpc"):
        for path in (ROOT / crate / "src").rglob("*.rs"):
            if path.stem == "tests" or path.parent.name == "tests":
                continue
            code = path.read_text().split("#[cfg(test)]")[0]
            lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
            assert not banned.search("\n".join(lines)), f"{path.relative_to(ROOT)}"
            seen += 1
    assert seen >= 15


def test_one_python_module_knows_the_extension() -> None:
    importers = set()
    modules = sorted((ROOT / "python" / "floatgate").rglob("*.py"))
    assert len(modules) >= 7
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            if any(name.startswith("floatgate._core") for name in names):
                importers.add(path.name)
    assert importers == {"engine.py"}


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## .+$", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_make_has_its_targets_and_explains_each() -> None:
    assert set(TARGETS.split()) | {"help"} == makefile_targets()
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for target in makefile_targets():
        assert f"  make {target} " in shown


def test_make_commands_in_the_documents_exist() -> None:
    named = set()
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        for words in re.findall(r"(?:^|`)make ([a-z -]+?)(?:`|  |$)", text, re.MULTILINE):
            named |= set(words.split())
    assert len(named) >= 4
    assert named <= makefile_targets()


def test_no_file_names_a_place_outside_the_project() -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    files = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    assert len(files) >= 40
    places = [f"/{place}/".encode() for place in ("work", "tmp", "root")]
    for path in files:
        if path.is_file():
            content = path.read_bytes()
            for place in places:
                assert place not in content, f"{path.relative_to(ROOT)} names {place.decode()}"


def test_pinned_versions_carry_no_address() -> None:
    for name in ("constraints.txt", "Cargo.lock"):
        text = (ROOT / name).read_text()
        pins = re.findall(r"==|^version = ", text, re.MULTILINE)
        assert len(pins) >= 20
        usual = "registry+https://github.com/rust-lang/crates.io-index"
        assert "://" not in text.replace(usual, ""), name
