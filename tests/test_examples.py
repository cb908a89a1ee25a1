"""The examples run as they are: the notebook cell by cell, the drive, the experiment."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.policy import NewPage

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

from notebook import data, values  # noqa: E402

EXAMPLES = ROOT / "examples"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLES, tmp_path / "examples")


def shown(notebook: Path) -> Iterator[Any]:
    """Runs the cells of a notebook, one after the other. Returns the output of each, if it has
    one."""
    cells = json.loads(notebook.read_text())["cells"]
    return (value for _, value in values(cells, notebook.name))


def without_numbers(stored: dict[str, list[str]]) -> dict[str, str]:
    """The words of a cell's output: numbers, widths and digests may move with results."""
    words = {kind: "".join(lines) for kind, lines in stored.items()}
    numbers = r"[0-9][0-9.,]*|\b[0-9a-f]{8,}\b"
    return {kind: re.sub(numbers, "#", text) for kind, text in words.items()}


def test_the_notebook_is_stored_with_what_it_shows(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs have the kinds and the words of a new run; `make notebook` renews them."""
    path = examples / "first-look.ipynb"
    cells = json.loads(path.read_text())["cells"]
    monkeypatch.chdir(examples)
    for cell, value in values(cells, path.name):
        (output,) = cell["outputs"]
        assert output["output_type"] == "execute_result"
        assert output["execution_count"] == cell["execution_count"]
        now = json.loads(json.dumps(data(value)))
        assert without_numbers(output["data"]) == without_numbers(now), "run `make notebook`"
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in code) == 4
    assert [cell["execution_count"] for cell in code] == [1, 2, 3, 4, 5][: len(code)]
    assert path.stat().st_size < 50_000, "small enough to read as a difference"


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
    # The bound does not cover everything: three drives that are one are not independent, and it
    # says so.
    same = np.array([drives[1], drives[1], drives[1]])
    for threshold, *_ in rows:
        fastest, product, bound = replicas.compared(same, threshold)
        assert fastest - product > bound
    replicas.main()
    assert "of the fastest of three" in capsys.readouterr().out


SMALL: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.planes-per-die": 1,
    "geometry.blocks-per-plane": 96,
    "geometry.pages-per-block": 32,
    "ftl.spare-factor": 0.22,
    "precondition.fill": "full",
}
"""A plane of 2396 pages of data. Its first tenth has nine tenths of the writes."""
HOT, REQUESTS = 2396 // 10, 30_000


@pytest.mark.parametrize(("name", "streams"), [("warcip.Warcip", 6), ("fadac.Fadac", 4)])
def test_schemes_in_python_separate_hot_and_cold(
    name: str, streams: int, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(examples)
    module, scheme = name.split(".")
    own: Any = getattr(import_module(module), scheme)
    writes: list[tuple[int, int]] = []

    class Watched(own):  # type: ignore[misc]
        def on_placed(self, page: NewPage, stream: int) -> None:
            super().on_placed(page, stream)
            writes.append((page.lpn, stream))

    def run(separation: Any) -> fg.Result:
        more = {"workload.hot-data": 0.1, "workload.hot-writes": 0.9}
        settings = SMALL | more | {"workload.requests": REQUESTS}
        return fg.run("agcr", "hot-cold", set=settings, policy={"separation": separation}, seed=1)

    found, plain = run(Watched()), run("sepgc")
    assert found.waf_pages < 0.99 * plain.waf_pages, "blocks of hot pages empty"
    assert found.policies.separation.counters.streams == streams
    # The last half is learned: hot pages go to hotter streams, which have the lower numbers.
    late = np.array(writes[-REQUESTS // 2 :])
    hot = late[:, 0] < HOT
    assert 0.85 < hot.mean() < 0.95
    assert late[hot, 1].mean() + 0.5 < late[~hot, 1].mean()


@pytest.mark.parametrize("name", ["warcip", "fadac"])
def test_schemes_in_python_are_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 60


def test_the_list_of_examples_is_whole() -> None:
    text = (EXAMPLES / "README.md").read_text()
    names = sorted(
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".toml", ".ipynb")
    )
    assert len(names) == 7
    assert all(f"]({name})" in text for name in names)
