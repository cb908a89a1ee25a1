"""The examples run as they are: the notebook cell by cell, the drive, the experiment."""

import ast
import json
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Floatgate

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLES, tmp_path / "examples")


def shown(notebook: Path) -> Iterator[Any]:
    """Runs the cells of a notebook, one after the other: what each shows, if it shows something."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "outputs are made, not kept"
        *lines, last = ast.parse("".join(cell["source"])).body
        if not isinstance(last, ast.Expr):
            lines.append(last)
        exec(compile(ast.Module(lines, []), notebook.name, "exec"), names)
        if isinstance(last, ast.Expr):
            yield eval(compile(ast.Expression(last.value), notebook.name, "eval"), names)


def test_the_notebook_shows_what_it_says(examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(examples)
    description, run, comparison, means = shown(examples / "first-look.ipynb")
    assert "<svg" in description._repr_html_()
    assert run.waf > 1, "the drive collects"
    assert "Write amplification" in run._repr_html_()
    assert "greedy" in comparison._repr_html_()
    assert len(comparison.runs) == 6
    assert list(means.index) == ["fifo", "greedy"]
    # Greedy takes the block with the least to move, so it never moves more.
    assert means.loc["greedy", "waf"] < means.loc["fifo", "waf"]


def test_the_experiment_is_made_on_the_drive_beside_it(
    examples: Path, floatgate: Floatgate
) -> None:
    done = floatgate("sweep", str(examples / "spare.toml"), "--json")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert len(runs) == 8
    done = floatgate("config", "check", str(examples / "drive.toml"))
    assert done.returncode == 0, done.stderr


def test_the_fastest_of_three_drives_is_as_late_as_they_are_together(
    examples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(examples)
    replicas: Any = import_module("replicas")
    drives, rows = replicas.study()
    assert len(rows) == 4
    for threshold, fastest, product, bound in rows:
        assert product * drives.shape[1] > 50
        assert abs(fastest - product) <= bound < product, threshold
    # The bound is no blanket: three drives that are one are not independent, and it says so.
    same = np.array([drives[1], drives[1], drives[1]])
    for threshold, *_ in rows:
        fastest, product, bound = replicas.compared(same, threshold)
        assert fastest - product > bound
    replicas.main()
    assert "of the fastest of three" in capsys.readouterr().out


def test_the_list_of_examples_is_whole() -> None:
    text = (EXAMPLES / "README.md").read_text()
    names = sorted(
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".toml", ".ipynb")
    )
    assert len(names) == 5
    assert all(f"]({name})" in text for name in names)
