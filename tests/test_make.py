"""The steps that `make` installs and builds, and their order. Stand-ins note when pip and maturin
run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each tool notes its beginning and its end. With MEET it waits for the other, with FAILS it fails.
TOOL = """#!/bin/sh
name=$1
shift
echo "begin $name $*" >> "$LOG"
if [ "${MEET:-}" ] && [ "$name" != builder ]; then
    touch "$MEET/$name"
    tries=0
    until [ -e "$MEET/packages" ] && [ -e "$MEET/maturin" ]; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || exit 9
        sleep 0.05
    done
fi
if [ "${FAILS:-}" = "$name" ]; then
    echo "$name: no network" >&2
    exit 1
fi
echo "end $name" >> "$LOG"
"""
PYTHON = """#!/bin/sh
case "$*" in
*requirements.py*) exec "$PYTHON" "$@" ;;
*"pip install"*" maturin") exec "$TOOL" builder "$@" ;;
*"pip install"*) exec "$TOOL" packages "$@" ;;
*"-m floatgate"*) exec "$TOOL" floatgate "$@" ;;
esac
"""
MATURIN = """#!/bin/sh
case "$*" in
*--skip-install*) exec "$TOOL" maturin "$@" ;;
*) exec "$TOOL" link "$@" ;;
esac
"""


class Tree:
    """A copy of the files that `make` reads, with stand-ins in `.venv/bin`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        for name in ("Makefile", "pyproject.toml", "constraints.txt", "Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, folder / name)
        shutil.copytree(ROOT / "scripts", folder / "scripts", symlinks=True)
        (folder / "python/floatgate").mkdir(parents=True)
        self.tool("tool", TOOL)
        for name, text in (("python", PYTHON), ("maturin", MATURIN)):
            self.tool(f".venv/bin/{name}", text)
        self.tool(".venv/bin/floatgate", '#!/bin/sh\nexec "$TOOL" floatgate "$@"\n')
        for name in ("pytest", "ruff", "mypy"):
            self.tool(f".venv/bin/{name}", f'#!/bin/sh\nexec "$TOOL" {name} "$@"\n')
        for name in ("cargo", "rustfmt"):
            self.tool(f"cargo/bin/{name}", f'#!/bin/sh\nexec "$TOOL" {name} "$@"\n')
        self.tool("scripts/ensure-rust", "#!/bin/sh\n")

    def tool(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def make(self, target: str, **more: str) -> tuple[int, str, list[str]]:
        """Exit status, output, and which tools began and ended since the last command."""
        self.log.write_text("")
        own = {"CARGO_HOME": str(self.folder / "cargo")}
        own |= {
            "LOG": str(self.log),
            "TOOL": str(self.folder / "tool"),
            "PYTHON": sys.executable,
        }
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
        done = subprocess.run(
            ["make", target],
            cwd=self.folder,
            env=environment | own | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr, self.log.read_text().splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    if not shutil.which("make"):
        pytest.skip("make is not on the path")
    return Tree(tmp_path)


def begun(log: list[str]) -> list[str]:
    return [line.split()[1] for line in log if line.startswith("begin ")]


def test_the_demo_installs_only_what_it_uses_while_cargo_builds(tree: Tree) -> None:
    meeting = tree.folder / "meeting"
    meeting.mkdir()
    status, said, log = tree.make("demo", MEET=str(meeting))
    assert status == 0, said
    # Each of the two waits until the other has begun.
    names = begun(log)
    assert names[0] == "builder"
    assert sorted(names[1:3]) == ["maturin", "packages"]
    assert names[3:] == ["link", "floatgate"]
    (packages,) = [line for line in log if line.startswith("begin packages")]
    assert all(f" {name}" in packages for name in ("click>=", "polars>=", "altair>="))
    for unused in ("duckdb", "pandas", "pyarrow", "dask", "xlsxwriter", "mypy", "pytest"):
        assert unused not in packages


def test_setup_adds_the_rest_and_does_nothing_the_second_time(tree: Tree) -> None:
    assert tree.make("demo")[0] == 0
    status, said, log = tree.make("setup")
    assert status == 0, said
    assert begun(log) == ["packages"]
    for needed in ("duckdb>=", "pyarrow>=", "dask>=", "xlsxwriter>=", "mypy>=", "pytest>="):
        assert needed in log[0]
    assert begun(tree.make("setup")[2]) == []
    assert begun(tree.make("demo")[2]) == ["floatgate"]
    # Other pins, other packages.
    os.utime(tree.folder / "constraints.txt", (2e9, 2e9))
    assert "packages" in begun(tree.make("demo")[2])


@pytest.mark.parametrize("fails", ["packages", "maturin"])
def test_one_that_fails_is_named_and_the_other_is_not_done_twice(tree: Tree, fails: str) -> None:
    status, said, log = tree.make("demo", FAILS=fails)
    assert status == 2
    assert f"{fails}: no network" in said
    assert "floatgate" not in begun(log)
    other = "maturin" if fails == "packages" else "packages"
    assert f"end {other}" in log
    status, said, log = tree.make("demo")
    assert status == 0, said
    assert begun(log) == [fails, "link", "floatgate"]


@pytest.mark.parametrize("fails", ["cargo", "pytest"])
def test_rust_and_python_are_tested_side_by_side_whatever_the_other_does(
    tree: Tree, fails: str
) -> None:
    status, said, log = tree.make("test", FAILS=fails)
    assert status == 2
    assert f"{fails}: no network" in said
    assert {"cargo", "pytest"} <= {*begun(log)}
    assert f"end {'pytest' if fails == 'cargo' else 'cargo'}" in log
    assert tree.make("test")[0] == 0


@pytest.mark.parametrize("fails", ["cargo", "mypy"])
def test_a_lint_that_fails_is_the_exit_status(tree: Tree, fails: str) -> None:
    status, said, log = tree.make("lint", FAILS=fails)
    assert status == 2
    assert f"{fails}: no network" in said
    assert {"cargo", "ruff", "mypy"} <= {*begun(log)}
    status, said, log = tree.make("lint")
    assert status == 0, said
