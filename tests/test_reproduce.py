"""`floatgate reproduce`, and the published values next to its own."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
import floatgate.report
import sample
from conftest import Floatgate
from floatgate.cli import experiments as cli
from floatgate.experiments import Published
from floatgate.report.model import Curve, Finding, Plot, Report, Sheet, Table
from floatgate.report.verdicts import VERDICTS, counts, facts, in_words, judged
from floatgate.reproduce import claims as findings
from floatgate.reproduce import runner
from floatgate.reproduce.changes import Change, changed, marked
from floatgate.reproduce.runner import Reproduction, known, measurements, reproduce, verdicts
from floatgate.reproduce.studies import gc_laws
from floatgate.reproduce.study import Analysis, Study
from reproduced import papers, quick, recorded, redirected
from walk import not_planned

SMALL: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 4000,
}


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """The reports that were to be drawn."""
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
    # A change is not a number of a run, so it is not a point of this plot.
    assert [(dict(point.at), point.value) for point in plot.points] == [
        ({"victim": "greedy"}, 2.0),
        ({"victim": "greedy", "seed": "2"}, 2.0),
    ]
    text = findings.table_text(report.tables[0])
    assert "50.00 %" in text or "50 %" in text
    assert "points" in text


def test_claims_take_runs_by_what_they_carry(tmp_path: Path) -> None:
    greedy, random = {"victim": "greedy"}, {"victim": "random"}
    plan = experiment(
        Published("least", "waf", 2.0, random, over="least"),
        Published("most", "waf", 2.0, random, over="most"),
        Published("median", "waf", 2.0, random, over="median"),
        Published("sum", "waf", 2.0, random, over="sum"),
        Published("ratio", "waf", 2.0, random, greedy, form="ratio"),
        Published("speed-up", "waf", 2.0, random, greedy, form="speed-up"),
        # A setting that is the same for all runs is carried as well, and one that no run has is
        # not.
        Published("on the drive", "waf", 2.0, {"drive": "agcr", "seed": 1}, over="sum"),
        Published("few", "read.mean", 2.0, greedy, least={"host.read.requests": 1}),
        Published("no WAF", "waf", 2.0, greedy, span=(0.0, 0.5)),
        Published("below", "waf", "at most 1.5", greedy, tolerance=0.1),
    )
    comparison = plan.sweep(out=tmp_path, workers=1)
    one, two, three, four = (run.waf for run in comparison.runs)
    rows = {row.what: row for row in findings.findings(plan, comparison)}
    ours = {what: row.ours for what, row in rows.items()}
    assert ours == {
        "least": min(three, four),
        "most": max(three, four),
        "median": pytest.approx((three + four) / 2),
        "sum": pytest.approx(three + four),
        "ratio": pytest.approx((three / one + four / two) / 2),
        "speed-up": pytest.approx((one / three - 1 + two / four - 1) / 2),
        "on the drive": pytest.approx(one + three),
        "few": None,
        "no WAF": None,
        "below": pytest.approx((one + two) / 2),
    }
    assert rows["ratio"].unit == "x"
    assert [names["seed"] for names in rows["speed-up"].runs] == ["1", "1", "2", "2"]
    assert {names["drive"] for names in rows["least"].runs} == {"agcr"}
    assert rows["few"].note == "2 of 2 runs have less than 1 of host.read.requests and are left out"
    assert "which is impossible: it lies within 0 to 0.5" in rows["no WAF"].note
    own = Published("own", lambda run: 2 * run.waf, 2.0, random | {"seed": 1})
    (row,) = findings.Evidence(plan, comparison).finding(own)
    assert row.ours == 2 * three
    assert list(findings.misses(plan, comparison)) == [], "a relation has its own verdict"


def test_a_run_of_two_names_is_both_and_stand_ins_stand_alone() -> None:
    def run(mean: float, stand_in: bool) -> fg.Result:
        data = sample.result()
        data["host"]["all"]["latency_ns"]["mean"] = mean
        data["provenance"]["workload"]["stand_in"] = {"of": "hm_0"} if stand_in else None
        return fg.Result(data)

    plan = fg.Experiment(
        "two",
        drive="agcr",
        workload=["zipf", "random-write"],
        policy={"victim": ["greedy", "fifo"]},
    )
    names = [{"workload": name, "victim": "greedy = fifo"} for name in ("zipf", "random-write")]
    evidence = findings.Evidence(plan, fg.Comparison([run(4.0, False), run(6.0, True)], names))
    claim = Published("mean", "host.all.latency_ns.mean", 5.0, {"victim": "fifo"})
    real, doubted = evidence.finding(claim)
    assert (real.what, real.ours, real.stand_in) == ("mean, real traces", 4.0, False)
    assert (doubted.what, doubted.ours, doubted.stand_in) == ("mean, stand-ins", 6.0, True)
    (nothing,) = evidence.finding(claim._replace(where={"victim": "random"}))
    assert (nothing.ours, nothing.stand_in) == (None, False)
    (missing,) = evidence.finding(claim._replace(where={"cost": "agcr"}))
    assert missing.ours is None, "what no run names, none carries"


def test_a_run_does_not_carry_what_only_others_are_set_to(tmp_path: Path) -> None:
    own = {"ftl.spare-factor": [0.1, 0.2], "workload.arrivals": {"poisson": {"iops": 9000}}}
    blocks = [{"workload": "random-write", "set": own}, {"workload": "zipf"}]
    plan = fg.Experiment("blocks", drive="agcr", set=SMALL, runs=blocks)
    comparison = plan.sweep(out=tmp_path, workers=1)
    # In a comparison it has the key as well, with the value that it happens to have.
    assert all("ftl.spare-factor" in names for names in comparison.variants)
    evidence = findings.Evidence(plan, comparison)
    # An argument has an equals sign, as a run has that stands for two.
    assert [taken.names for taken in evidence.runs] == [run.names for run in plan.planned()]
    (zipf,) = evidence.of({"workload": "zipf"})
    assert "ftl.spare-factor" not in zipf.names
    assert len(evidence.of({"ftl.spare-factor": [0.1, 0.2, 0.07]})) == 2


def test_what_a_form_leaves_empty_is_left_out_and_checks_beyond_their_band_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: list[Report]
) -> None:
    rows = [
        Finding("held", "", 2.0, 2.01, kind="check", band=0.01),
        Finding("not held", "", 2.0, 2.03, "x", kind="check", band=0.01),
        Finding("given, and lost", "", 100.0, 101.0, kind="input", band=0.005),
        Finding("follows", "", 100.0, 100.5, kind="follows"),
        Finding("should follow", "", 100.0, 103.0, kind="follows"),
        # A value of a model has a verdict, and a check without a band has none to keep.
        Finding("differs", "", 2.0, 9.0, band=0.01),
        Finding("beside a formula", "", 2.0, 9.0, kind="check"),
    ]
    of_runs = Plot("bars", "of runs", "waf", "victim")
    drawn = Plot("curves", "drawn", curves=[Curve("a", [1.0], [2.0])])
    valued = Plot("values", "valued", values=[({"x": "a"}, 1.0)])
    empty = [Plot("curves", "no curve"), Plot("values", "no value")]
    analysis = Analysis(
        [Table("full", rows), Table("empty", [])],
        [of_runs, empty[0], drawn, empty[1], valued],
        sheets=[Sheet("empty", ("a",), []), Sheet("full", ("a",), [["1"]])],
    )
    monkeypatch.setattr(runner, "analysed", lambda *_: analysis)
    plan = experiment()
    comparison = fg.Comparison([fg.Result(sample.result())] * 4, [r.names for r in plan.planned()])
    made = runner._reported(plan, comparison, Study(plan, None), tmp_path)
    assert [table.title for table in made.report.tables] == ["full"]
    assert [sheet.title for sheet in made.report.sheets] == ["full"]
    assert [plot.title for plot in made.report.plots] == ["of runs", "drawn", "valued"]
    assert made.missed == [
        "not held: 2.030, published 2",
        "given, and lost: 101, published 100",
        "should follow: 103, published 100",
    ]


def test_a_measure_by_another_is_none_by_nothing() -> None:
    data = sample.result()
    data["host"]["write"] |= {"bytes": 12}
    data["flash"]["erase"] |= {"total": 4}
    run = fg.Result(data)
    assert findings.quotient("host.write.bytes", "flash.erase.total")(run) == 3.0
    assert findings.quotient(lambda run: 1.0, "flash.erase.total")(run) == 0.25
    assert findings.quotient(lambda run: None, "flash.erase.total")(run) is None
    data["flash"]["erase"] |= {"total": 0}
    assert findings.quotient("host.write.bytes", "flash.erase.total")(fg.Result(data)) is None


def test_labels_are_those_of_the_runs_that_have_them_by_number() -> None:
    blocks = [{"set": {"host.speed": [16, 4, 100]}, "workload": "zipf"}, {"workload": "uniform"}]
    plan = fg.Experiment("speeds", drive="agcr", set=SMALL, runs=blocks)
    evidence = findings.Evidence(plan, None)
    assert evidence.labels("host.speed") == ["4", "16", "100"]
    assert evidence.labels("host.speed", {"workload": "uniform"}) == []


def test_a_sheet_has_a_row_for_each_setting_and_no_row_for_what_it_is_held_against() -> None:
    def run(mean: float, stand_in: bool) -> fg.Result:
        data = sample.result()
        data["host"]["all"]["latency_ns"]["mean"] = mean
        data["provenance"]["workload"]["stand_in"] = {"of": "hm_0"} if stand_in else None
        return fg.Result(data)

    policies = {"victim": ["greedy", "fifo", "random"]}
    plan = fg.Experiment("two", drive="agcr", workload=["zipf", "uniform"], policy=policies)
    runs = [
        ({"workload": name, "victim": victim}, run(mean, name == "uniform"))
        for name, victim, mean in (
            ("zipf", "greedy", 200.0),
            ("zipf", "fifo = random", 300.0),
            ("uniform", "greedy", 500.0),
            ("uniform", "fifo = random", 400.0),
        )
    ]
    comparison = fg.Comparison([each for _, each in runs], [names for names, _ in runs])
    evidence = findings.Evidence(plan, comparison)
    mean, base = "host.all.latency_ns.mean", {"victim": "greedy"}
    columns = {
        "change": Published("", mean, against=base),
        "latency": Published("", mean, unit="ns"),
        "of greedy": Published("", mean, where=base, unit="ns"),
    }
    each = evidence.sheet("Each", {}, ("workload", "victim"), columns, base=base)
    assert each.columns == ["workload", "victim", *columns]
    assert each.rows == [
        ["zipf", "fifo = random", "+50.0 %", "300 ns", "200 ns"],
        ["uniform [stand-in]", "fifo = random", "-20.0 %", "400 ns", "500 ns"],
    ]
    # Real traces and stand-ins are not taken together in a cell either.
    both = evidence.sheet("Both", {}, ("victim",), columns, base=base)
    assert both.rows == [["fifo = random", "+50.0 %, -20.0 %", "300 ns, 400 ns", "200 ns, 500 ns"]]
    # Bars have a number for each workload that has one, and the mark of a stand-in.
    claims = {"fifo": Published("", mean, where={"victim": "fifo"}, against=base, form="ratio"),
              "none": Published("", mean, where={"victim": "lazy"})}  # fmt: skip
    plot = evidence.bars("Bars", ["zipf", "uniform"], "victim", claims)
    assert (plot.kind, plot.x, plot.by) == ("values", "workload", "victim")
    assert list(plot.values) == [
        ({"workload": "zipf", "victim": "fifo"}, 1.5),
        ({"workload": "uniform [stand-in]", "victim": "fifo"}, 0.8),
    ]


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
    by_name = {each["name"]: each for each in value["experiments"]}
    assert set(by_name) == set(known()) | set(measurements())
    became = verdicts()
    assert set(became) == set(known()), "what became of each is stored"
    page = papers.PAGE.read_text()
    for name, stored in became.items():
        for form, counted in stored.items():
            assert by_name[name][form] == counted
            groups = ((group, in_words(of)) for group, of in counted.items())
            said = "; ".join(f"{group}: {words}" for group, words in groups if words)
            assert f"{form} form, without traces: {said}" in listed.stdout or not said
            part = page.split(f"`floatgate reproduce {name}`")[1]
            assert f"* {form} form: {papers.said(counted)}." in part.partition("| where")[0]


@pytest.mark.parametrize("name", sorted(papers.kept()))
def test_full_verdicts_belong_to_the_experiment_files_as_they_stand(name: str) -> None:
    kept = papers.kept()[name]
    again = f"run `python scripts/papers.py --full {name}`: it would run something else"
    assert kept["plan"] == papers.plan(name), again
    tables = papers.tables(kept["rows"])
    assert papers.rows(tables) == kept["rows"], "nothing is lost"
    assert counts(tables) == verdicts()[name]["full"]
    page = papers.PAGE.read_text().partition(f"`floatgate reproduce {name}`")[2]
    page = page.partition("`floatgate reproduce")[0]
    for fact in facts(tables):
        (line,) = (line for line in page.splitlines() if f"| {fact.name} " in line)
        assert f"| {papers.values(fact)} | {fact.verdict} |" in line


def test_facts_count_once_and_numbers_and_relations_apart() -> None:
    rows = [
        Finding("life", "Fig. 10", 5.0, 5.1, fact="exchange"),
        Finding("bytes", "Table 2", 1000.0, 1400.0, fact="exchange"),
        Finding("one", "", "above 1", 2.0, fact="order"),
        Finding("two", "", "above 1", None, fact="order"),
        Finding("alone", "", "below 1", 1.0),
        Finding("not here", "", 3.0, None),
        Finding("given", "", 1.0, 9.0, kind="input"),
        Finding("not claimed", "", 1.0, 1.0, kind="beyond"),
        Finding("equal", "", 4.0, 4.01, kind="follows"),
        Finding("not equal", "", 4.0, 4.1, kind="follows"),
    ]
    none = dict.fromkeys(VERDICTS, 0)
    assert counts([Table("T", rows)]) == {
        # The weakest of two readings; a form that lacks a measure does not weaken.
        "numbers": none | {"direction": 1, "not measured here": 1},
        "relations": none | {"reproduced": 1, "differs": 1},
        "follows": {"equal": 1, "differs": 1},
    }
    for kind in ("input", "beyond"):
        assert judged(rows[0]._replace(kind=kind)) == kind


def test_a_row_that_no_change_undoes_is_a_check() -> None:
    change = Change("none at all", {"a": "b"}, ["first"], ["only in full"])
    rows = [
        Finding("first", "", 2.0, 2.0),
        Finding("a reading", "", 2.0, 2.1, fact="first"),
        Finding("only in full", "", 2.0, 2.0),
        Finding("nothing undoes it", "", 2.0, 2.0),
        Finding("differs anyway", "", 2.0, 90.0),
    ]
    for short, kinds in ((True, "o o c c o"), (False, "o o o c o")):
        (table,) = marked([Table("T", rows)], [change], quick=short)
        assert [row.kind[0] for row in table.rows] == kinds.split()
        named = [row.what for row in table.rows if row.change == "none at all"]
        assert named == ["first", "a reading", "only in full"][: 2 if short else 3]


def test_a_change_runs_other_policies_under_the_same_labels() -> None:
    plan = fg.Experiment(
        "two",
        drive="agcr",
        workload="zipf",
        runs=[
            {"policy": {"victim": {"G": "greedy", "F": "fifo"}}, "seed": 2},
            {"policy": {"victim": ["random", "greedy"]}, "quick": {"policy": {"victim": "fifo"}}},
            {"cases": {"how": {"own": {"policy": {"victim": "fifo"}}}}},
        ],
    )
    other = changed(plan, {"fifo": "random", "wear=": "static"})
    found = [(run.names.get("victim"), run.part.policy) for run in other.planned()]
    assert found == [
        ("G", {"wear": "static", "victim": "greedy"}),
        ("F", {"wear": "static", "victim": "random"}),
        ("random", {"wear": "static", "victim": "random"}),
        ("greedy", {"wear": "static", "victim": "greedy"}),
        (None, {"wear": "static", "victim": "random"}),
    ]
    # Runs that lead to one policy are one run, which has both names.
    same = changed(plan, {"fifo": "greedy"}).planned()
    assert [run.names.get("victim") for run in same][:2] == ["G = F", "random"]
    assert changed(plan, {}) is plan


@pytest.mark.parametrize("name", sorted(known()))
def test_every_claim_of_the_full_form_finds_its_runs(name: str) -> None:
    assert list(not_planned(known()[name])) == []


def test_a_claim_that_finds_no_run_is_told() -> None:
    victims = {"victim": "greedy"}
    lost = [
        Published("no such", "waf", 2.0, {"victim": "fifo"}),
        Published("beside none", "waf", 2.0, victims, {"ftl.spare-factor": 0.5}),
    ]
    plan = fg.Experiment("lost", drive="agcr", workload="zipf", policy={"victim": ["greedy"]})
    evidence = findings.Evidence(plan, None)
    assert [evidence.pairs(claim) for claim in lost] == [[], []]
    assert len(evidence.pairs(Published("there", "waf", 2.0, victims))) == 1


def test_the_digest_of_a_plan_changes_with_what_would_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.toml").write_text("b")

    def digest(**keys: Any) -> str:
        given = {"drive": "agcr", "workload": "one.toml"} | keys
        plan = fg.Experiment("own", folder=tmp_path, **given)
        monkeypatch.setattr(papers, "known", lambda: {"own": plan})
        return papers.plan("own")

    first = digest()
    assert digest(title="words run nothing", quick={"seed": 3}) == first
    others = [
        digest(set={"ftl.spare-factor": 0.2}),
        digest(reading={"first": 10}),
        digest(policy={"victim": {"greedy": "fifo"}}),
        digest(policy={"victim": {"greedy": "random"}}),
        digest(seed=7),
    ]
    (tmp_path / "one.toml").write_text("c")
    assert len({first, *others, digest()}) == 7


def test_both_forms_stand_side_by_side() -> None:
    reads = Finding("reads", "Fig. 1", -0.54, -0.5, "share", True, change="all alike")
    writes = Finding("writes", "Fig. 1", 2.0, 9.0)
    full = [Table("T", [writes, reads._replace(ours=-0.2), reads._replace(what="r2", fact="f")])]
    assert list(papers.lines([Table("T", [reads])], full)) == [
        "| Fig. 1 | writes | 2 | 9 | differs |  |  |  |",
        "| Fig. 1 | reads \\* | -54 % | -20 % | direction | -50 % | reproduced | all alike |",
        "| Fig. 1 | f \\* | -54 % | -50 % | reproduced |  |  | all alike |",
    ]
    both = [reads._replace(ours=ours, fact="f") for ours in (-0.3, -0.5)]
    (line,) = papers.lines([], [Table("T", both)])
    assert "| -50 % to -30 % | direction |" in line
    again = papers.tables(papers.rows(full))
    assert papers.rows(again) == papers.rows(full)


@pytest.mark.parametrize(
    "name", ["physics", *(pytest.param(n, marks=pytest.mark.verify) for n in ("chips", "gc-laws"))]
)
def test_claims_rest_on_what_they_name(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = quick(name, tmp_path_factory)
    rows = [row for table in made.report.tables for row in table.rows]
    assert any(row.runs or row.by for row in rows)
    if name == "chips":
        one, other, *_ = (each["names"] for each in recorded(made))
        lacking = redirected(name, made, one, other)
        assert any("not the chip" in lack for lack in lacking), "a bench is another one's"


def test_the_claims_are_in_the_json_as_well(tmp_path: Path, floatgate: Floatgate) -> None:
    nothing = tmp_path / "no-traces"
    nothing.mkdir()
    done = floatgate("reproduce", "physics", "--quick", "--json", "--traces", str(nothing))
    value = json.loads(done.stdout)
    assert value["schema"] == "floatgate.reproduction/1"
    assert value["verdicts"] == verdicts()["physics"]["quick"]
    assert "Eq. 2" in value["says"]
    rows = [row for table in value["tables"] for row in table["rows"]]
    assert len(rows) > 30
    assert all(row["runs"] or row["by"] for row in rows)
    assert {row["verdict"] for row in rows if row["kind"] == "check"} == {"reproduced"}
    assert all(row["fact"] == row["change"] == "" for row in rows), "no policy is compared"


def test_a_claim_says_which_of_its_runs_failed(tmp_path: Path) -> None:
    plan = experiment(
        Published("of both seeds", "waf", 2.0, where={"victim": "greedy"}),
        Published(
            "against both", "waf", 2.0, where={"victim": "random"}, against={"victim": "greedy"}
        ),
        Published("of the other", "waf", 2.0, where={"victim": "random"}),
    )
    comparison = plan.sweep(out=tmp_path, workers=1)
    failed = {"variant": comparison.variants.pop(0), "kind": "input", "message": "too small"}
    rows = [
        *findings.findings(plan, fg.Comparison(comparison.runs[1:], comparison.variants, [failed]))
    ]
    left_out = "1 of its runs failed and are left out"
    assert [row.note for row in rows] == [left_out, left_out, ""]
    assert failed["variant"] == {"victim": "greedy", "seed": "1"}
    assert rows[0].ours == comparison.runs[1].waf


@pytest.mark.parametrize("as_json", [False, True])
def test_runs_that_failed_are_said(
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = {"variant": {"victim": "random"}, "kind": "input", "message": "517 MiB do not fit"}
    runs = fg.Comparison([fg.Result(sample.result())], [{"victim": "greedy"}], [failed])
    made = Reproduction(findings.report_of(experiment(), runs), tmp_path / "report.html", [])
    monkeypatch.setattr(runner, "reproduce", lambda *_, **__: made)
    with pytest.raises(SystemExit) as ended:
        cli.reproduce("gc-laws", as_json=as_json, quiet=True)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert "517 MiB do not fit" in (said.err if as_json else said.out)
    if as_json:
        assert json.loads(said.out)["failed"] == [failed]


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


@pytest.mark.verify
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
    evidence = findings.Evidence(plan, plan.sweep(out=tmp_path, workers=1))
    (table,) = gc_laws.analyse(evidence, Study(plan, None)).tables
    assert len(findings.beyond(table.rows)) == 2, "sequential writes copy nothing"


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
