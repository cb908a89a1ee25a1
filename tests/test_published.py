"""Drives by name: every fact has a role, the rules mean what they say, and the table is true."""

import csv
import json
import math
import tomllib
from pathlib import Path

import pytest

from conftest import Floatgate
from floatgate import engine, published
from floatgate.policy.finder import Finder
from floatgate.published import drive, measure, rows
from floatgate.published.rules import NotModelledError, rule
from floatgate.reproduce.studies import drives

ROOT = Path(__file__).parent.parent
PRODUCTS = published.products()
TABLE = ROOT / "presets/published/rows.json"
PREDICTED = ROOT / "presets/published/predictions.tsv"


def test_every_file_is_built_in() -> None:
    texts = {path.stem: path.read_text() for path in ROOT.glob("presets/published/*.toml")}
    assert texts == dict(engine.published())


def test_every_fact_has_a_role_and_a_source() -> None:
    for product in PRODUCTS.values():
        for fact in product.facts:
            assert fact.source, fact
            role, _, why = fact.role.partition(": ")
            assert role in published.ROLES or (
                role in ("not-modelled", "same", "beyond") and why
            ), fact


def test_no_fact_counts_twice() -> None:
    named = [
        (f.drive, f.what, f.source) for p in PRODUCTS.values() for f in p.facts if f.unit != "TBW"
    ]
    twice = {each for each in named if named.count(each) > 1}
    # The same words of one source are two numbers only if their unit differs.
    for each in twice:
        units = [
            f.unit for p in PRODUCTS.values() for f in p.facts
            if (f.drive, f.what, f.source) == each
        ]  # fmt: skip
        assert len(set(units)) == len(units), each


@pytest.mark.parametrize("name", PRODUCTS)
def test_at_most_two_numbers_are_fitted_for_a_drive(name: str) -> None:
    product = PRODUCTS[name]
    for model in product.models:
        limit = model.write_limit is not None
        assert len(set(product.fitted) - {"why"}) + limit <= 2, model.name


def test_every_assumed_value_has_a_source() -> None:
    tables = published.files()["assumed"]
    for part in (*tables["flash"].values(), *tables["controller"].values()):
        for key in set(part) - {"sources"}:
            assert part["sources"].get(key, part["sources"].get("*")), key


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_drive_file_is_read(name: str, tmp_path: Path) -> None:
    for model in PRODUCTS[name].models:
        for run in (None, "speed", "spare"):
            path = tmp_path / "drive.toml"
            path.write_text(drive.text(model, run=run))
            text = engine.resolve(str(path), set=(), policy=(), seed=None, finder=Finder())[1]
            found = json.loads(text)
            if run is None:
                assert found["capacity"]["logical_bytes"] * (
                    found.get("scale", {}) or {"denominator": 1}
                ).get("denominator", 1) == pytest.approx(model.capacity, rel=0.7)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_dies_program_as_fast_as_the_table_has_it(name: str) -> None:
    for model in PRODUCTS[name].models:
        found = tomllib.loads(drive.text(model))
        shape, time = found["geometry"], found["timing"]["program"].removesuffix("ns")
        page = int(shape["page-size"].removesuffix("KiB")) * 1024
        dies = shape["channels"] * shape["chips-per-channel"]
        rate = dies * shape["planes-per-die"] * page / int(time) * 1000
        limit = model.write_limit or math.inf
        assert rate == pytest.approx(min(limit, dies * model.flash["program"]), rel=1e-3)
        flash = dies * shape["planes-per-die"] * shape["blocks-per-plane"]
        assert flash * shape["pages-per-block"] * page == pytest.approx(model.raw, rel=0.01)


@pytest.mark.parametrize(
    ("what", "conditions", "unit", "use", "link", "expected"),
    [
        ("random read 4K", "spec, QD32 x 4 threads", "IOPS", "client", 3360,
         ("read IOPS", "iops", True, 1.0, 4096, 128, "full", False)),
        ("random write 4K", "steady, spec", "IOPS", "datacentre", 3360,
         ("steady writes", "iops", True, 0.0, 4096, 256, "full", True)),
        ("random write 4K", "spec, QD32, fresh", "IOPS", "client", 3360,
         ("other writes", "iops", True, 0.0, 4096, 32, "none", False)),
        ("random read 8K QD1", "", "IOPS", "zoned", 3050,
         ("read IOPS", "iops", True, 1.0, 8192, 1, "full", False)),
        ("random read 4K QD32 latency 99.9 %", "same", "us", "zoned", 3050,
         ("latency", "p99.9", True, 1.0, 4096, 32, "full", False)),
        ("latency random write, typical", "QD1", "us", "datacentre", 550,
         ("latency", "mean", True, 0.0, 4096, 1, "full", False)),
        ("random 70/30", "spec", "IOPS", "datacentre", 14000,
         ("steady writes", "iops", True, 0.7, 4096, 512, "full", True)),
        ("sequential write 1 MiB", "10 GiB, QD1, empty drive", "MB/s", "datacentre", 7000,
         ("sequential", "mb", False, 0.0, 1 << 20, 1, "none", False)),
        ("sequential read", "spec", "MB/s", "datacentre", 550,
         ("sequential", "mb", False, 1.0, 131072, 32, "full", False)),
    ],
)  # fmt: skip
def test_conditions_become_a_workload(
    what: str, conditions: str, unit: str, use: str, link: float, expected: tuple[object, ...]
) -> None:
    assert tuple(rule(what, conditions, unit, use, link)) == expected


def test_words_without_a_rule_are_refused() -> None:
    with pytest.raises(NotModelledError):
        rule("idle power", "", "W", "client", 3360)


def test_a_read_alone_takes_the_sum_of_its_parts() -> None:
    model = PRODUCTS["samsung-pm9a3"].models[3]
    alone = rule("random read 4K latency", "QD1", "us", model.use, 7000)
    # 12 of firmware, 1.111 of a core, 45 in the array, 4 KiB at 1200 and at 7000 MB/s.
    expected = 12 + 1.111 + 45 + 4.096 / 1.2 + 4.096 / 7
    assert measure.value(model, alone) == pytest.approx(expected, rel=1e-3)


def test_a_change_of_the_spare_changes_the_spare_only() -> None:
    model = PRODUCTS["samsung-pm9a3"].models[0]
    more = measure.changed(model, "spare", 1.25)
    assert more.over_provisioning == pytest.approx(1.25 * model.over_provisioning)
    assert more.dies == model.dies
    assert more.die_rate == model.die_rate


def test_the_formula_of_first_in_first_out_solves_its_equation() -> None:
    for ratio in (1.07, 1.145, 1.374, 2.0):
        valid = 1 - 1 / rows.fifo(ratio)
        assert valid == pytest.approx(math.exp(-ratio * (1 - valid)))


def test_a_row_is_not_identified_if_its_span_is_wider_than_its_error() -> None:
    def row(low: float, high: float) -> rows.Row:
        return rows.Row("d", "w", "", "IOPS", "WAF", 100, 110, None, None, low, high)

    assert row(108, 112).identified
    assert not row(99, 112).identified


def table() -> dict[str, object]:
    return dict(json.loads(TABLE.read_text()))


def test_the_table_has_a_row_for_every_fact_that_is_checked() -> None:
    found = rows.of_data(table()["rows"])  # type: ignore[arg-type]
    plans = rows.plans(PRODUCTS)
    assert [(row.drive, row.what) for row in found] == [(p[2].drive, p[2].what) for p in plans]
    assert [row.published for row in found] == [p[2].number for p in plans]


def test_the_table_is_large_enough_and_not_of_one_drive() -> None:
    found = rows.of_data(table()["rows"])  # type: ignore[arg-type]
    counted = [row for row in found if row.counted]
    of = {fact.drive: name for name, p in PRODUCTS.items() for fact in p.facts}
    by = [of[row.drive] for row in counted]
    assert len(set(by)) >= 12
    assert len(counted) >= 80
    assert max(map(by.count, by)) <= len(counted) / 4


QUICK = ("wd-zn540", "random read 4K QD8 latency 99 %"), ("samsung-970-pro", "random read 4K")


@pytest.mark.parametrize(("name", "what"), QUICK)
def test_rows_are_as_in_the_table(name: str, what: str) -> None:
    plan = next(p for p in rows.plans(PRODUCTS) if p[0].name == name and p[2].what == what)
    again = rows.as_data([rows.measured(plan, PRODUCTS)])[0]
    assert again in table()["rows"]  # type: ignore[operator]


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_the_whole_table_is_as_committed(tmp_path: Path) -> None:
    made = drives.measure(out=tmp_path)
    assert json.loads(json.dumps(made.data)) == table()
    assert made.text == (ROOT / "presets/published/rows.md").read_text()


def test_every_question_has_an_answer_in_the_predictions() -> None:
    with PREDICTED.open(encoding="utf-8") as file:
        found = list(csv.DictReader(file, delimiter="\t"))
    assert len(found) >= 30
    for row in found:
        for answer in row["predicted"].split(" / "):
            assert answer.startswith("not-modelled: ") or float(answer) > 0


def test_a_question_is_answered_from_the_preset() -> None:
    asked = ["drive\twhat\tunit\tconditions", "WD ZN540\trandom read 4K QD1\tIOPS\t"]
    answer = drives.predict(asked).splitlines()[1].split("\t")[-1]
    model = PRODUCTS["wd-zn540"].models[0]
    # 20 of firmware, 42.56 in the array in the mean, 4 KiB at 450 and at 3050 MB/s.
    assert float(answer) == pytest.approx(1e6 / (62.56 + 4.096 / 0.45 + 4.096 / 3.05), rel=0.01)
    assert model.controller["link"] == 3050


def test_the_command_shows_a_published_drive(floatgate: Floatgate) -> None:
    shown = floatgate("drives", "samsung-pm9a3").stdout
    assert "fitted" in shown
    assert "PM9A3 960GB" in shown
    data = json.loads(floatgate("drives", "samsung-pm9a3", "--json").stdout)
    assert len(data["facts"]) == len(PRODUCTS["samsung-pm9a3"].facts)
