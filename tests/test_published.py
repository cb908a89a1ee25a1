"""Drives by name: every fact has a role, the rules mean what they say, and the table is true."""

import csv
import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import pytest

from conftest import Floatgate
from floatgate import engine, published
from floatgate.policy.finder import Finder
from floatgate.published import drive, measure, rows
from floatgate.published.rules import NotModelledError, Rule, rule
from floatgate.reproduce.studies import drives

ROOT = Path(__file__).parent.parent
PRODUCTS = published.products()
TABLE = ROOT / "presets/published/rows.json"
ACCURACY = ROOT / "docs/accuracy.md"
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
         ("latency percentiles", "p99.9", True, 1.0, 4096, 32, "full", False)),
        ("latency random write, typical", "QD1", "us", "datacentre", 550,
         ("typical latency", "mean", True, 0.0, 4096, 1, "full", False)),
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
    found = rule(what, conditions, unit, use, link)
    assert tuple(found) == (*expected, "", False)


def test_the_random_map_of_fio_goes_once_over_every_address() -> None:
    """In each pass, while other random writes may come back to an address at once."""
    words = ("WAF, 128K random write, whole drive", "QD128, one job, fio random map", "")
    found = rule(*words, "datacentre", 14000)
    assert (found.passes, found.steady, found.size, found.depth) == (True, True, 131072, 128)
    assert not rule(words[0], "QD128", "", "datacentre", 14000).passes
    assert not rule("random read 4K", "fio random map", "IOPS", "client", 3360).passes
    model = PRODUCTS["samsung-pm9d3a"].models[0]
    run = measure.run_of(model, found, brief=True)
    assert run.workload == "permutation"
    settings = dict(run.settings)
    assert (settings["workload.order"], settings["precondition.age"]) == ("redrawn", "workload")
    other = measure.run_of(model, found._replace(passes=False), brief=True)
    assert (other.workload, dict(other.settings)["precondition.age"]) == ("random-write", "random")


@pytest.mark.parametrize(
    ("what", "conditions", "unit", "place", "depth", "size"),
    [
        ("sequential write in SLC cache", "spec", "MB/s", "in", 32, 128 * 1024),
        ("sequential write", "spec", "MB/s", "in", 32, 128 * 1024),
        ("write speed in cache", "1 MiB sequential, one thread", "MB/s", "in", 1, 1 << 20),
        ("random write 4K", "spec, QD128, in cache", "IOPS", "in", 128, 4096),
        ("sequential write, raw TLC", "spec", "MB/s", "after", 32, 128 * 1024),
        ("write speed after the cache", "", "MB/s", "after", 32, 128 * 1024),
        ("sequential write, QLC", "1 TB", "MB/s", "after", 32, 128 * 1024),
        ("SLC cache measured", "1 MiB sequential, one thread", "GB", "end", 1, 1 << 20),
        ("mean write speed filling the drive", "", "MB/s", "filling", 32, 128 * 1024),
        ("random read 4K", "spec, QD128", "IOPS", "", 128, 4096),
    ],
)
def test_writes_to_a_drive_with_a_cache_have_a_place(
    what: str, conditions: str, unit: str, place: str, depth: int, size: int
) -> None:
    found = rule(what, conditions, unit, "client", 3360, cache=True)
    assert (found.place, found.depth, found.size) == (place, depth, size)
    assert found.steady is False


CACHES = {
    "Samsung 970 EVO 250GB": (4, 9), "Samsung 970 EVO 500GB": (4, 18),
    "Samsung 970 EVO 1TB": (6, 36), "Samsung 970 EVO 2TB": (6, 72),
    "Samsung 980 1TB": (0, 160), "Samsung 980 PRO 1TB": (0, 113), "Samsung 870 QVO 4TB": (6, 72),
}  # fmt: skip
"""Published sizes in GB: fixed and dynamic."""


def test_caches_have_the_published_sizes() -> None:
    """As in the facts, and the drive file holds as much in whole blocks of each plane."""
    models = {model.name: model for p in PRODUCTS.values() for model in p.models}
    facts = {
        f.drive: f
        for p in PRODUCTS.values()
        for f in p.facts
        if f.what.startswith("SLC cache") and f.role == "input"
    }
    assert set(facts) == set(CACHES)
    for name, (fixed, dynamic) in CACHES.items():
        cache = models[name].cache
        assert cache is not None
        assert (cache.fixed, cache.dynamic) == (fixed * 10**9, dynamic * 10**9)
        words = str(facts[name].value)
        assert words in (f"{fixed} + {dynamic}", str(dynamic))
        found = tomllib.loads(drive.text(models[name]))["policies"]["slc-cache"]
        assert found["size"] == f"{dynamic}000000000B"
        assert found.get("static", "0B") == (f"{fixed}000000000B" if fixed else "0B")
    for model in models.values():
        if model.cache is None:
            assert "slc" not in tomllib.loads(drive.text(model))
            assert not {*published.CACHED, "slc-cache"} & {*model.flash, *model.assumed}
        elif model.name not in CACHES:
            assert "slc-cache" in model.assumed


@pytest.mark.parametrize("run", ["cached", "after", "filled"])
def test_runs_keep_the_parts_of_a_cache(run: str) -> None:
    for model in (m for p in PRODUCTS.values() for m in p.models if m.cache is not None):
        assert model.cache is not None
        found = drive.sizes_of(model, run)
        file = tomllib.loads(drive.text(model, run=run))
        shape, own = file["geometry"], file["policies"]["slc-cache"]
        planes = model.dies * shape["planes-per-die"]
        block = drive.WORDLINES * int(shape["page-size"].removesuffix("KiB")) * 1024
        assert found.single == planes * block
        assert found.full == planes * block * shape["bits-per-cell"]
        sizes = [int(own.get(key, "0B").removesuffix("B")) for key in ("static", "size")]
        assert sum(sizes) == found.cached
        assert (sizes[0] > 0) == (model.cache.fixed > 0)
        if run == "cached":
            share = model.cache.fixed / model.cache.size
            assert sizes[0] / found.cached == pytest.approx(share, abs=1 / 16)
        if run == "filled":
            whole = found.blocks * found.full / model.raw
            assert found.cached / model.cache.size == pytest.approx(whole, rel=0.1)
            assert found.written / model.capacity == pytest.approx(whole, rel=1e-6)


def test_the_bend_and_the_slope_of_a_curve() -> None:
    """Two straight lines: the bend is where they meet, also if the second one has steps."""
    quick = [(i / 100, 20.0 * i / 100) for i in range(101)]
    slow = [(1 + i / 10, 20 + 0.5 * i / 10) for i in range(1, 200)]
    steps = [(at, 20 + 2 * ((each - 20) // 2)) for at, each in slow]
    for after in (slow, steps):
        assert measure.knee([*quick, *after]) == pytest.approx(20, rel=0.01)
    assert measure.slope([*quick, *slow], 0.8, 1) == pytest.approx(0.5)
    assert measure.slope([*quick, *slow], 0, 0.5) == pytest.approx(20)


def test_rates_in_and_after_a_cache_are_those_of_dies_and_bus() -> None:
    """8 dies, each on a channel of its own: a program follows its transfer."""
    model = PRODUCTS["samsung-970-evo"].models[0]
    controller = {key: each for key, each in model.controller.items() if key != "buffer-rate"}
    model = replace(model, controller={**controller, "link": 1e6})
    bus = 800e6
    for place, rate in (("in", 244.9e6), ("after", 39.35e6)):
        how = Rule("", "mb", False, 0.0, 131072, 32, "none", False, place)
        expected = 8 / (1 / bus + 1 / rate) / 1e6
        assert measure.value(model, how) == pytest.approx(expected, rel=0.02), place
    end = Rule("", "gb", False, 0.0, 1 << 20, 32, "none", False, "end")
    assert measure.value(model, end) == pytest.approx(13, rel=0.02)


def test_two_published_percentiles_give_the_jitter() -> None:
    """The fixed times and the jitter are the published p50 and p99, and the drive has them."""
    product = PRODUCTS["wd-zn540"]
    facts = {f.what: f for f in product.facts if f.role == "input"}
    p50, p99 = (facts[f"sequential write 4K QD1 latency {rank} %"].number for rank in ("50", "99"))
    control = product.models[0].controller
    fixed = control["command"] + control["buffer-latency"]
    fixed += 4096 / control["link"] + 4096 / control["buffer-rate"]
    median, rare = control["write-jitter"]
    assert (fixed + median, fixed + rare) == pytest.approx((p50, p99), abs=0.01)
    assert "read-jitter" not in control
    found = tomllib.loads(drive.text(product.models[0]))["controller"]
    assert found["write-jitter"] == {"p50": f"{median * 1000:.0f}ns", "p99": f"{rare * 1000:.0f}ns"}
    for rank, number in (("p50", p50), ("p99", p99)):
        how = Rule("", rank, False, 0.0, 4096, 1, "none", False)
        assert measure.value(product.models[0], how) == pytest.approx(number, rel=0.03), rank


@pytest.mark.parametrize("wrong", [5, [2.0], [3.0, 2.0], [0.0, 1.0], ["1us", "2us"]])
def test_a_jitter_has_two_percentiles_in_order(wrong: object, tmp_path: Path) -> None:
    text = (ROOT / "presets/published/wd-zn540.toml").read_text()
    path = tmp_path / "zn540.toml"
    path.write_text(text.replace("write-jitter = [2.27, 5.27]", f"write-jitter = {wrong!r}"))
    with pytest.raises(engine.InputError, match="write-jitter`: two times in us"):
        published.read(path)


def test_dies_with_a_cache_register_send_while_they_sense() -> None:
    """4 dies with 2 planes of 16 KiB: 45 us in the array hide 27 us on the channel."""
    model = next(m for m in PRODUCTS["samsung-980"].models if m.name.endswith("250GB"))
    how = Rule("", "mb", False, 1.0, 131072, 32, "full", False)
    together = replace(model, flash={**model.flash, "cache": False})
    sense, sent = 45e-6, 2 * 16384 / 1.2e9
    most = 4 * 2 * 16384 / sense / 1e6
    assert 0.85 * most < measure.value(model, how) <= most
    assert measure.value(together, how) == pytest.approx(most * sense / (sense + sent), rel=0.02)


def test_words_without_a_rule_are_refused() -> None:
    with pytest.raises(NotModelledError):
        rule("idle power", "", "W", "client", 3360)


def test_a_read_alone_takes_the_sum_of_its_parts() -> None:
    model = PRODUCTS["samsung-pm9a3"].models[3]
    alone = rule("random read 4K latency", "QD1", "us", model.use, 7000)
    # 12 of firmware, 1.111 of a core, 45 in the array, 4 KiB at 1200 and at 7000 MB/s.
    expected = 12 + 1.111 + 45 + 4.096 / 1.2 + 4.096 / 7
    assert measure.value(model, alone) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_assumed_number_changes_by_the_share_or_by_half(name: str) -> None:
    for model in PRODUCTS[name].models:
        for key in model.assumed:
            found = measure.changes(model, key)
            assert found, key
            if key == "spare":
                continue
            if key == "write-limit":
                limits = [(each.write_limit or 0) / (model.write_limit or 1) for each in found]
                assert limits == pytest.approx([0.75, 1.25])
                continue
            if key == "slc-cache":
                old_size = model.cache.size if model.cache else 0
                sizes = [each.cache.size / old_size for each in found if each.cache]
                assert sizes == pytest.approx([0.75, 1.25])
                continue
            old = {**model.flash, **model.controller}[key]
            new = [{**each.flash, **each.controller}[key] for each in found]
            first = old[0] if isinstance(old, list) else old
            firsts = [each[0] if isinstance(each, list) else each for each in new]
            if key in ("independent", "cache"):
                assert new == [not old]
            elif key == "command" and old == 0:
                assert new == [measure.FROM_ZERO]
            elif key in measure.DOUBLED:
                assert new in ([old // 2, old * 2], [2] if old == 1 else None)
            else:
                assert firsts == pytest.approx([first * 0.75, first * 1.25], rel=0.003)


@pytest.mark.parametrize(
    "name",
    [
        "samsung-860-qvo",
        *(pytest.param(n, marks=pytest.mark.verify) for n in ("intel-p4500", "micron-9550")),
    ],
)
@pytest.mark.parametrize(("share", "steady"), [(1.0, False), (0.0, False), (0.0, True)])
def test_numbers_that_are_not_changed_do_not_matter(name: str, share: float, steady: bool) -> None:
    model = PRODUCTS[name].models[0]
    small = replace(model, raw=model.raw // 8, capacity=model.capacity // 8)
    model = small if steady else model
    how = Rule("", "iops", True, share, 4096, 32, "full", steady)
    before = measure.value(model, how)
    for key in measure.WITHOUT[share]:
        if key == "write-limit" and model.write_limit is None:
            continue
        for factor in (0.75, 1.25):
            assert measure.value(measure.changed(model, key, factor), how) == before, key


@pytest.mark.verify
@pytest.mark.parametrize("place", ["in", "after"])
def test_numbers_without_influence_on_a_cache_do_not_matter(place: str) -> None:
    model = PRODUCTS["samsung-980"].models[0]
    how = Rule("", "mb", False, 0.0, 131072, 32, "none", False, place)
    before = measure.value(model, how)
    for key in set(measure.WITHOUT_PLACE[place]) - {"spare"}:
        for factor in (0.75, 1.25):
            assert measure.value(measure.changed(model, key, factor), how) == before, key


def test_more_cores_serve_as_many_requests() -> None:
    model = PRODUCTS["samsung-pm9a3"].models[0]
    two = measure.changed(model, "cores", 2).controller
    assert two["cores"] / two["command"] == model.controller["cores"] / model.controller["command"]


@pytest.mark.verify
def test_runs_have_enough_blocks_for_write_amplification() -> None:
    """With twice as many it differs by 2 % at most, and with a quarter by more."""
    model = next(m for m in PRODUCTS["samsung-pm9a3"].models if "960GB" in m.name)
    how = Rule("WAF", "waf", True, 0.0, 4096, 32, "full", True)
    share = measure.BRIEF / model.dies
    run = measure.run_of(model, how, brief=True)

    def waf(blocks: int) -> float:
        text = drive.text(model, run="spare", part=share, taking_part=blocks)
        scale = int(text.split('scale = "1/')[1].split('"')[0])
        requests = round(model.capacity * share / 4096)
        settings = {**dict(run.settings), "workload.requests": requests // scale * scale}
        return measure.outcome(run._replace(file=text, settings=tuple(settings.items()))).waf

    enough = waf(drive.TAKING_PART)
    assert waf(2 * drive.TAKING_PART) == pytest.approx(enough, rel=0.02)
    assert waf(measure.BRIEF_BLOCKS) < 0.96 * enough


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


def test_erases_of_the_short_blocks_of_a_run_take_the_share_of_the_drive() -> None:
    model = PRODUCTS["samsung-970-evo"].models[0]
    for run in ("speed", "spare"):
        found = tomllib.loads(drive.text(model, run=run))
        time = int(found["timing"]["erase"].removesuffix("ns"))
        for_page = time / found["geometry"]["pages-per-block"]
        assert for_page == pytest.approx(
            model.flash["erase"] * 1e6 / model.flash["pages-per-block"], rel=1e-4
        )


def test_a_sibling_keeps_to_the_link_and_to_the_place_in_the_cache() -> None:
    plans = {(p[1].name, p[2].what): p for p in rows.plans(PRODUCTS)}

    def of(drive: str, what: str) -> float | None:
        product, model, fact, how = plans[drive, what]
        return rows.sibling(model, fact, how, product, PRODUCTS)

    # Twice the dies of the 12.8 TB drive of 3.3 M requests; the link carries 14,000 MB/s.
    assert of("Micron 9550 MAX 25.6TB", "random read 4K") == pytest.approx(14e9 / 4096)
    # The 970 EVO has only such a rate after its cache.
    assert of("Samsung 970 PRO 1TB", "sequential write, peak") is None


def test_planes_that_read_apart_count_in_the_formula() -> None:
    model = PRODUCTS["intel-p5500"].models[0]
    apart = replace(model, controller={**model.controller, "command": 0.0, "link": 1e9})
    together = replace(apart, flash={**apart.flash, "independent": False})
    deep = Rule("read IOPS", "iops", True, 1.0, 4096, 10**9, "full", False)
    assert rows.formula(together, deep) == pytest.approx(model.dies / 58e-6)
    assert rows.formula(apart, deep) == pytest.approx(4 * model.dies / 58e-6)


def test_a_fact_that_a_sheet_repeats_counts_once() -> None:
    found = rows.plans(PRODUCTS)
    counted = [p for p, new in zip(found, rows.distinct(found), strict=True) if new]
    keys = [(p[0].name, p[2].what, p[2].value, p[2].conditions) for p in counted]
    assert len(keys) == len(set(keys))
    everything = {
        (p[0].name, p[2].what, p[2].value, p[2].conditions)
        for p in found
        if p[2].role in rows.CHECKED
    }
    assert set(keys) == everything


def test_a_baseline_is_compared_on_its_own_rows() -> None:
    def row(ours: float, sibling: float | None) -> rows.Row:
        return rows.Row("d", "w", "", "IOPS", "WAF", 100, ours, sibling, 150, ours, ours)

    errors = rows.summary([row(110, 120), row(130, 140), row(190, None)])[-1]
    assert errors["median"] == pytest.approx(0.3)
    assert errors["sibling"] == {
        "rows": 2,
        "theirs": pytest.approx(0.3),
        "ours": pytest.approx(0.2),
    }
    assert errors["formula"] == {
        "rows": 3,
        "theirs": pytest.approx(0.5),
        "ours": pytest.approx(0.3),
    }


def test_a_row_is_not_identified_if_its_span_is_wider_than_its_error() -> None:
    def row(low: float, high: float) -> rows.Row:
        return rows.Row("d", "w", "", "IOPS", "WAF", 100, 110, None, None, low, high)

    assert row(108, 112).identified
    assert not row(99, 112).identified


class Table(TypedDict):
    """`rows.json`."""

    rows: list[dict[str, Any]]
    summary: list[dict[str, Any]]
    quotients: list[list[Any]]


def table() -> Table:
    found: Table = json.loads(TABLE.read_text())
    return found


def test_the_table_has_a_row_for_every_fact_that_is_checked() -> None:
    found = rows.of_data(table()["rows"])
    plans = rows.plans(PRODUCTS)
    assert [(row.drive, row.what) for row in found] == [(p[2].drive, p[2].what) for p in plans]
    assert [row.published for row in found] == [p[2].number for p in plans]
    assert [row.counted for row in found] == rows.distinct(plans)
    spans = [set(measure.depends(p[1], p[3])) for p in plans]
    assert [set(row.span) for row in found] == spans


def test_the_page_says_how_many_rows_count_and_of_which_drive() -> None:
    """Twelve drives at least; the page gives the share of the drive with most rows."""
    counted = [row for row in rows.of_data(table()["rows"]) if row.counted]
    of = {fact.drive: name for name, p in PRODUCTS.items() for fact in p.facts}
    by = [of[row.drive] for row in counted]
    assert len(set(by)) >= 12
    most = max(set(by), key=by.count)
    assert most == "wd-zn540"
    sentence = f"{len(counted)} distinct facts count, {by.count(most)} of them of the ZN540"
    assert sentence in " ".join(ACCURACY.read_text().split())


def test_the_page_has_the_tables_of_the_last_run() -> None:
    page, made = ACCURACY.read_text(), table()
    for line in drives.table(made["summary"]):
        assert line in page
    for each in made["quotients"]:
        assert drives.quotient(*each) in page
    pairs = [(over, under, float(a), float(b)) for over, under, a, b in made["quotients"]]
    text = drives.page(rows.of_data(made["rows"]), pairs)
    assert drives.table(made["summary"]) == text.splitlines()[: len(made["summary"]) + 2]


def test_the_page_names_each_class_in_which_a_baseline_is_better() -> None:
    """In classes of ten rows and more none is, and elsewhere the page says so."""
    page = " ".join(ACCURACY.read_text().split())
    for name in ("sibling", "formula"):
        better = [
            each["class"]
            for each in table()["summary"]
            if each[name]["rows"] and each[name]["theirs"] < each[name]["ours"]
        ]
        sentence = page.split(f"**The {name} is better** for ")[1].split(".")[0]
        named = sentence.replace(" and ", ", ").split(", ")
        assert named == better, name
        large = [e["class"] for e in table()["summary"] if e["rows"] >= 10]
        assert len(large) >= 4
        assert not set(large) & set(better)


def test_reads_of_the_zn540_follow_from_two_numbers_at_depth_1() -> None:
    """At depths 2 to 32 the median is within 10 %, and p99 within 15 %."""
    found = [row for row in rows.of_data(table()["rows"]) if row.drive == "WD ZN540"]
    seen = 0
    for depth in (2, 4, 8, 32):
        for rank, most in (("50", 0.10), ("99", 0.15)):
            what = f"random read 4K QD{depth} latency {rank} %"
            (row,) = (row for row in found if row.what == what)
            assert abs(row.error) <= most, what
            seen += 1
    assert seen == 8


QUICK = ("wd-zn540", "random read 4K QD8 latency 99 %"), ("samsung-970-pro", "random read 4K")


@pytest.mark.parametrize(("name", "what"), QUICK)
def test_rows_are_as_in_the_table(name: str, what: str) -> None:
    plan = next(p for p in rows.plans(PRODUCTS) if p[0].name == name and p[2].what == what)
    again = rows.as_data([rows.measured(plan, PRODUCTS)])[0]
    assert again in table()["rows"]


@pytest.mark.verify
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
    # 12.56 in the controller, 50 in the array in the mean, 4 KiB at 450 and at 3050 MB/s.
    assert float(answer) == pytest.approx(1e6 / (62.56 + 4.096 / 0.45 + 4.096 / 3.05), rel=0.01)
    assert model.controller["link"] == 3050


SHEET = ROOT / "docs/data-sheet.md"
MICRON_7450 = {
    "random read 4K": (1_000_000, "IOPS"),
    "random write 4K": (180_000, "IOPS"),
    "sequential read": (6800, "MB/s"),
    "sequential write": (5600, "MB/s"),
    "read latency, typical": (80, "us"),
    "write latency, typical": (15, "us"),
}
"""Micron's technical specification of the 7450 PRO of 7.68 TB."""


def test_the_page_on_data_sheets_has_a_drive_that_is_not_listed(tmp_path: Path) -> None:
    """`test_docs.py` follows the page; here its numbers are those of the sheet, and used once."""
    page = SHEET.read_text()
    listed = " ".join(dict(engine.published()).values())
    assert "7450" not in listed, "the drive is one of the published ones"
    for what, (value, unit) in MICRON_7450.items():
        assert f"| {what} | {value:,} {unit} |" in page
    path = tmp_path / "micron-7450.toml"
    path.write_text(page.split("```toml file=micron-7450.toml\n")[1].split("```")[0])
    mine = published.read(path)
    (model,) = mine.models
    facts = {fact.what: (fact.number, fact.unit, fact.role) for fact in mine.facts}
    for what, (number, unit, _) in facts.items():
        assert (number, unit) == MICRON_7450[what]
    # Two numbers make the file, and three others test it. That of the link tests nothing.
    assert model.write_limit == MICRON_7450["sequential write"][0]
    assert set(mine.fitted) == {"command", "why"}
    assert mine.fitted["command"] == 1e6 / MICRON_7450["random read 4K"][0]
    roles = {what: role for what, (_, _, role) in facts.items()}
    assert roles.pop("random read 4K") == "fitted"
    assert set(roles.values()) == {"checked"}
    assert set(MICRON_7450) - set(facts) == {"sequential read", "sequential write"}
    # 8 TiB of flash for 7.68 TB.
    assert model.over_provisioning == pytest.approx(2**43 / 7.68e12 - 1)
    for row in rows.plans({mine.name: mine}):
        shown = next(line for line in page.splitlines() if line.startswith(f"{row[2].what}: "))
        ours, error = (each.strip() for each in shown.split("ours ")[1].split(","))
        off = float(ours) / MICRON_7450[row[2].what][0] - 1
        assert error == f"{off:+.0%}"


def test_the_command_shows_a_published_drive(floatgate: Floatgate) -> None:
    shown = floatgate("drives", "samsung-pm9a3").stdout
    assert "fitted" in shown
    assert "PM9A3 960GB" in shown
    data = json.loads(floatgate("drives", "samsung-pm9a3", "--json").stdout)
    assert len(data["facts"]) == len(PRODUCTS["samsung-pm9a3"].facts)
