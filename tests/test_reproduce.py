"""`floatgate reproduce`, and what stands beside what was published."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
import floatgate.report
from conftest import Floatgate
from floatgate.experiments import Published
from floatgate.report.model import Report
from floatgate.reproduce import claims as findings
from floatgate.reproduce.runner import known, measurements, reproduce
from floatgate.reproduce.studies import gc_laws
from floatgate.reproduce.study import Study

SMALL: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 4000,
}


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """What was to be drawn."""
    drawn: list[Report] = []

    def save(report: Report, path: Path) -> None:
        drawn.append(report)
        path.write_text(report.title)

    monkeypatch.setattr(floatgate.report, "save", save, raising=False)
    return drawn


def experiment(*published: Published, **keys: Any) -> fg.Experiment:
    return fg.Experiment(
        "small",
        drive="agcr",
        workload="random-write",
        policy={"victim": ["greedy", "random"]},
        set=SMALL,
        seed=[1, 2],
        published=published,
        **keys,
    )


def test_findings_are_means_and_changes(tmp_path: Path) -> None:
    plan = experiment(
        Published("mean of two", "waf", 2.0, {"victim": "greedy"}, source="Table 1"),
        Published("one", "waf", 2.0, {"victim": "greedy", "seed": 2}, tolerance=0.001),
        Published("more", "waf", 0.5, {"victim": "random"}, {"victim": "greedy"}, note="a note"),
        Published("said", text="more than greedy"),
        plots=[{"kind": "bars", "measure": "waf", "x": "victim"}],
    )
    comparison = plan.sweep(out=tmp_path, workers=1)
    one, two, three, four = (run.waf for run in comparison.runs)
    rows = list(findings.findings(plan, comparison))
    assert [row.ours for row in rows] == [
        pytest.approx((one + two) / 2),
        two,
        pytest.approx((three / one - 1 + four / two - 1) / 2),
        None,
    ]
    assert [row.unit for row in rows] == ["", "", "share", ""]
    assert rows[0].where == "Table 1"
    assert rows[1].note == "to lie within 0.1 %"
    assert rows[3].published == "more than greedy"
    (missed,) = findings.misses(plan, comparison)
    assert missed.startswith("one: ")
    report = findings.report_of(plan, comparison)
    (plot,) = report.plots
    # A change is no number of a run, so it is no point of this plot.
    assert [(dict(point.at), point.value) for point in plot.points] == [
        ({"victim": "greedy"}, 2.0),
        ({"victim": "greedy", "seed": "2"}, 2.0),
    ]
    text = findings.table_text(report.tables[0])
    assert "50.00 %" in text or "50 %" in text
    assert "points" in text


def test_a_sweep_prints_what_was_published(tmp_path: Path, floatgate: Floatgate) -> None:
    plan = experiment(Published("greedy", "waf", 1.5, {"victim": "greedy"}))
    (tmp_path / "small.toml").write_text(plan.to_toml())
    done = floatgate("sweep", "small.toml")
    assert done.returncode == 0
    assert "paper" in done.stdout
    assert "Results: floatgate-results/small" in done.stdout


def test_the_list() -> None:
    assert "gc-laws" in known()
    with pytest.raises(fg.InputError, match="did you mean `gc-laws`"):
        reproduce("gc-law")


def test_every_experiment_that_comes_along_is_whole(floatgate: Floatgate) -> None:
    listed = floatgate("reproduce")
    for name, each in known().items():
        assert re.search(rf"^{name} +{re.escape(each.title)}$", listed.stdout, re.MULTILINE)
        assert each.prose
        assert len(each.quick().planned()) < len(each.planned())
    value = json.loads(floatgate("reproduce", "--json").stdout)
    assert {each["name"] for each in value["experiments"]} == set(known()) | set(measurements())


# ── The laws of garbage collection ──────────────────────────────────────────────────────────────

LAWS = {
    # Printed values of the same formulas, computed by another program: spare factor 0.10.
    (0.10, "random"): 10.00,
    (0.10, "fifo"): 5.179,
    (0.10, "greedy", 16): 3.981,
    (0.10, "greedy", 64): 4.821,
    (0.10, "greedy", 256): 5.083,
    (0.28, "greedy", 64): 1.942,
    (0.05, "greedy", 64): 8.850,
}


@pytest.mark.parametrize("case", LAWS, ids=str)
def test_the_formulas(case: tuple[Any, ...]) -> None:
    spare, name, *pages = case
    ours = gc_laws.LAWS[name].of(1 - spare, pages[0] if pages else 64, 1)
    assert ours == pytest.approx(LAWS[case], rel=3e-4)


@pytest.mark.parametrize(("choices", "pages", "value"), [(2, 64, 4.647), (10, 256, 3.567)])
def test_the_formulas_of_choices(choices: int, pages: int, value: float) -> None:
    assert gc_laws.best_of(choices, 0.85, pages) == pytest.approx(value, rel=3e-4)
    assert gc_laws.best_of(3000, 0.85, 32) == pytest.approx(gc_laws.greedy(0.85, 32), rel=1e-3)


def test_the_laws_hold(tmp_path: Path, pages: list[Report]) -> None:
    made = reproduce("gc-laws", quick=True, out=tmp_path)
    assert made.missed == []
    assert made.page.read_text() == made.report.title
    (report,) = pages
    assert report.prose[0].startswith("A drive that is full")
    rows = [row for table in report.tables for row in table.rows]
    assert len(rows) == len(report.runs.runs) == 15
    for row in rows:
        assert isinstance(row.published, float)
        tolerance = 0.02 if "spare 0.07" in row.what else 0.01
        assert row.ours == pytest.approx(row.published, rel=tolerance), row.what
    (plot,) = report.plots
    assert (plot.kind, plot.measure, plot.x, plot.by) == (
        "lines",
        "waf",
        "ftl.spare-factor",
        "victim",
    )
    assert len(plot.points) == 15
    assert {frozenset(point.at) for point in plot.points} == {frozenset(report.runs.varied)}


def test_a_run_off_its_law_is_told(tmp_path: Path) -> None:
    plan = fg.Experiment(
        "off",
        drive="agcr",
        workload="sequential-write",
        set=SMALL | {"ftl.spare-factor": [0.2, 0.3], "workload.requests": 20_000},
    )
    found = gc_laws.analyse(plan.sweep(out=tmp_path, workers=1), Study(plan, None))
    assert len(found.missed) == 2, "sequential writes copy nothing"


@pytest.mark.verify
def test_the_quick_form_takes_at_most_a_minute(tmp_path: Path, pages: list[Report]) -> None:
    start = time.perf_counter()
    reproduce("gc-laws", quick=True, out=tmp_path, workers=2)
    assert time.perf_counter() - start < 60


@pytest.mark.verify
def test_the_laws_hold_everywhere(tmp_path: Path, pages: list[Report]) -> None:
    made = reproduce("gc-laws", out=tmp_path)
    assert made.missed == []
    assert len(made.report.runs.runs) == 5 * 9 + 5 * 4
