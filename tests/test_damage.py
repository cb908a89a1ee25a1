"""A short form of the long walk of `tests/damage.py`; its damages are the same every time."""

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import damage
import floatgate as fg
from floatgate.result.folder import SEAL


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "results"
    damage.make(folder)
    return folder


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 60), marks=pytest.mark.verify)])
def test_damaged_results_are_shown_or_refused(whole: Path, tmp_path: Path, seeds: range) -> None:
    answers = []
    for seed in seeds:
        said = damage.once(random.Random(seed), whole, tmp_path)
        wrong = {name: answer for name, answer in said.items() if not isinstance(answer, str)}
        assert not wrong, f"seed {seed}: {said['damage']}: {wrong}"
        answers += [said[name] for name in damage.READERS]
    assert answers.count("refused") >= len(seeds)
    assert answers.count("shown") >= 5, "the damage is so great that nothing is tried"


def _edited(whole: Path, tmp_path: Path, change: Any) -> Path:
    """A copy of one run whose result is changed and has no seal, as the first had none."""
    run = next(whole.glob("[!.]*/result.json")).parent
    place = tmp_path / run.name
    shutil.copytree(run, place)
    value = json.loads((place / "result.json").read_bytes())
    del value[SEAL]
    change(value)
    (place / "result.json").write_text(json.dumps(value))
    return place


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["host"].update(read=[]), "`host.read` is not a table"),
        (lambda v: v["flash"]["erase"].pop("gc"), "`flash.erase.gc` is not there"),
        (lambda v: v["wear"]["erases"].update(max="3"), "`wear.erases.max` is not a number"),
        (lambda v: v.update(waf=float("nan")), "NaN is not a number"),
        (
            lambda v: v["policies"]["coding"]["counters"].update(programs=10**40),
            "`policies.coding.counters.programs` is not a number",
        ),
        (
            lambda v: v["capacity"].update(free_blocks=True),
            "`capacity.free_blocks` is not a number",
        ),
        (lambda v: v["end"].update(state=None), "`end.state` is not a text"),
        (lambda v: v.update(warnings=[{"code": 1}]), "`warnings.code` is not a text"),
        (lambda v: v["provenance"]["config"].pop("geometry"), "`provenance.config.geometry` is"),
        (lambda v: v.update(schema=["x"]), "this is not the result of a run"),
    ],
)
def test_what_is_wrong_in_a_result_is_named(
    whole: Path, tmp_path: Path, change: Any, said: str
) -> None:
    place = _edited(whole, tmp_path, change)
    for read in (fg.report.load, lambda of: fg.results(of), lambda of: fg.Result.load(*of)):
        with pytest.raises(fg.InputError, match=re.escape(said)):
            read([place])


def test_null_is_a_number_that_could_not_be_told(whole: Path, tmp_path: Path) -> None:
    place = _edited(whole, tmp_path, lambda v: v.update(waf=None))
    assert fg.report.load([place]).runs[0].waf is None


def test_a_table_without_rows_leaves_its_plots_out(whole: Path, tmp_path: Path) -> None:
    place = _edited(whole, tmp_path, lambda v: None)
    for name in ("requests", "series", "blocks"):
        pl.read_parquet(place / f"{name}.parquet").head(0).write_parquet(place / f"{name}.parquet")
    fg.report.save(fg.report.of(fg.report.load([place])), tmp_path / "page.html")
    pl.read_parquet(place / "snapshots.parquet").head(0).write_parquet(place / "snapshots.parquet")
    with pytest.raises(fg.InputError, match=r"snapshots\.parquet: this table is damaged"):
        fg.view(place, tmp_path / "view.html")


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "floatgate.comparison/1"}', "\0"])
def test_a_damaged_list_is_refused(whole: Path, tmp_path: Path, text: str) -> None:
    place = tmp_path / "list"
    shutil.copytree(whole, place)
    (place / "comparison.json").write_text(text)
    for read in (fg.Comparison.load, lambda of: fg.report.load([of]), fg.results):
        with pytest.raises(fg.InputError, match=r"comparison\.json: this"):
            read(place)


def test_a_page_with_fewer_than_no_values_ends_no_process(whole: Path, tmp_path: Path) -> None:
    """In Thrift's compact protocol 50 values are 100, written 64; -50 are 99, written 63."""
    rows = {"op": ["read"] * 50, "offset": [0] * 50, "size": [512] * 50, "time_ns": range(50)}
    pl.DataFrame(rows).write_parquet(tmp_path / "some.parquet")
    data = (tmp_path / "some.parquet").read_bytes()
    assert data.count(b"\x2c\x15\x64") == 4  # The header of a column's only page.
    (tmp_path / "some.parquet").write_bytes(data.replace(b"\x2c\x15\x64", b"\x2c\x15\x63", 1))
    with pytest.raises(fg.InputError, match="a page that has fewer than no values"):
        fg.run("agcr", tmp_path / "some.parquet", columns="time=time_ns:ns")
    place = _edited(whole, tmp_path, lambda v: None)
    shutil.copy(tmp_path / "some.parquet", place / "requests.parquet")
    with pytest.raises(fg.InputError, match="a page that has fewer than no values"):
        fg.Result.load(place).requests()
