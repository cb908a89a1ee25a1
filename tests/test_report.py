"""Reports: their contents, read back from the page, against the results and their tables."""

import html
import json
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate
import sample
from conftest import Floatgate
from floatgate import Comparison, InputError, Result
from floatgate.report import Finding, Plot, Point, Report, Table, figures, load, of, save, tables
from floatgate.report.drawing import Drawn
from floatgate.report.names import Names
from floatgate.report.page import difference
from floatgate.report.plots import draw
from floatgate.result.measures import MEASURES, find
from floatgate.result.units import unit_of
from floatgate.result.values import flat

SMALL = {
    "geometry.blocks-per-plane": 32,
    "ftl.spare-factor": 0.2,
    "precondition.fill": "full",
    "precondition.age": "random",
    "workload.read-share": 0.4,
}


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results: `one` run, `four` compared, and `few` whose requests were left out."""
    folder = tmp_path_factory.mktemp("reports")
    settings: dict[str, object] = {**SMALL, "workload.requests": 12_000}
    floatgate.run("agcr", "zipf", set=settings, out=folder / "one", seed=3)
    four = settings | {"ftl.spare-factor": ["0.18", "0.3"]}
    floatgate.compare(
        "agcr",
        "zipf",
        policy={"victim": ["greedy", "fifo"]},
        set=four,
        out=folder / "four",
        workers=1,
    )
    few = settings | {
        "run.keep-requests": "false",
        "ftl.spare-factor": ["0.18", "0.2", "0.25", "0.3"],
    }
    floatgate.compare("agcr", "zipf", set=few, seed="1,2", out=folder / "few", workers=1)
    return folder


def made(*, stand_in: bool = False, name: str = "trace", **changes: Any) -> Result:
    """The sample result with other numbers: `waf=2.0`, `host__write__latency_ns__p99=10**6`."""
    data = sample.result()
    data["provenance"]["workload"]["name"] = name
    if not stand_in:
        data["provenance"]["workload"]["stand_in"] = None
    for path, value in changes.items():
        *folders, last = path.split("__")
        place = data
        for key in folders:
            place = place[key]
        place[last] = value
    return Result(data)


def by(name: str, values: Sequence[object], runs: Sequence[Result]) -> Comparison:
    return Comparison(runs, [{name: str(value)} for value in values])


def page_of(report: Report, folder: Path) -> str:
    return save(report, folder / "page.html").read_text()


def embedded(page: str) -> dict[str, Any]:
    """The data that the page computes with."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def rows(plot: Drawn) -> list[dict[str, Any]]:
    """The data of the first layer of a plot."""
    assert plot.spec is not None
    layers = plot.spec.get("layer", [plot.spec])
    layer = next(layer for layer in layers if layer["mark"].get("style") != "unity")
    data = plot.spec.get("data") or layer["data"]
    return list(plot.spec["datasets"][data["name"]])


def cells(page: str, heading: str) -> list[list[str]]:
    """The texts of the table after a heading, row by row."""
    table = page.split(heading, 1)[1].split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", c)).strip() for c in re.split(r"</t[hd]>", row)[:-1]]
        for row in table.split("</tr>")[:-1]
    ]


def plots(report: Report) -> list[Drawn]:
    return draw(report, Names(report.runs))


# --- the contents of the page ---


def test_the_page_has_every_number_of_every_run(stored: Path, tmp_path: Path) -> None:
    comparison = load([stored / "four"])
    data = embedded(page_of(of(comparison), tmp_path))
    numbers = data["numbers"]
    assert [run["id"] for run in data["runs"]] == [run.run_id for run in comparison.runs]
    seen = 0
    for i, run in enumerate(comparison.runs):
        for path, value in flat(run.data):
            if path.partition(".")[0] in ("schema", "timing", "provenance"):
                assert path not in numbers["same"] | numbers["own"]
                continue
            shown = numbers["own"][path][i] if path in numbers["own"] else numbers["same"][path]
            assert shown == value, path
            seen += 1
    assert seen > 4 * 150
    assert "waf" in numbers["own"]
    assert data["settings"]["own"]["policies.victim.name"] == ["greedy", "greedy", "fifo", "fifo"]
    assert data["settings"]["same"]["name"] == "agcr"


def test_tables_of_runs_have_measures_differences_and_the_best(tmp_path: Path) -> None:
    runs = [made(waf=2.0), made(waf=1.5), made(waf=2.5)]
    page = page_of(of(by("victim", ["greedy", "fifo", "random"], runs)), tmp_path)
    table = cells(page, "Flash: reclaiming and wear")
    assert [row[:2] for row in table] == [["1", "greedy"], ["2", "fifo"], ["3", "random"]]
    assert [row[2] for row in table] == ["2.000", "1.500 -25 %", "2.500 +25 %"]
    assert re.findall(r'class="best">([^<]*)', page) == ["1.500 "]
    assert 'data-value="1.5"' in page


def test_of_many_parameters_the_last_share_a_column(tmp_path: Path) -> None:
    names = [f"set.p{i}" for i in range(8)]
    variants = [{name: f"{name[-1]}{run}" for name in names} for run in "ab"]
    page = page_of(of(Comparison([made(), made(waf=3.0)], variants)), tmp_path)
    heads = page.split("<thead><tr>", 1)[1].split("</tr>", 1)[0]
    shown = re.sub("<[^>]+>", " ", heads).split()
    assert shown[:7] == ["run", "p0", "p1", "p2", "p3", "p4", "and"]
    first = cells(page, "Host requests")[0]
    assert first[:7] == ["1", "0a", "1a", "2a", "3a", "4a", "set.p5=5a set.p6=6a set.p7=7a"]


def test_words_are_explained_once_and_digests_are_folded(tmp_path: Path) -> None:
    runs = [made(waf=2.0), made(waf=3.0)]
    page = page_of(of(by("victim", ["greedy", "fifo"], runs)), tmp_path)
    for word in ("WAF", "p99", "IOPS"):
        assert page.count(f'">{word}</abbr>') <= 1
        assert page.count(f"<b>{word}</b>: ") == page.count(f'">{word}</abbr>')
    assert page.count('">WAF</abbr>') == 1
    numbers = page.split("Sources of the numbers</h2>")[1]
    plain, folded = numbers.split("<summary>Digests and ids</summary>")
    digest = runs[0].data["provenance"]["config_hash"]
    assert digest in folded
    assert digest not in plain
    assert runs[0].run_id in folded


def test_named_measures_stand_in_a_table_ahead_of_the_others(tmp_path: Path) -> None:
    runs = [
        made(host__read__latency_ns__p99_9=2 * 10**6),
        made(host__read__latency_ns__p99_9=10**6),
    ]
    named = ["host.read.latency_ns.p99_9", "waf"]
    report = of(by("victim", ["greedy", "fifo"], runs))._replace(measures=named)
    page = page_of(report, tmp_path)
    assert re.findall(r"<caption>([^<]*)", page)[0] == "Chosen measures"
    assert [row[2] for row in cells(page, "Chosen measures")] == ["2.00 ms", "1.00 ms -50 %"]
    headings = [re.sub("<[^>]+>", "", each) for each in re.findall(r"<button>(.*?)</button>", page)]
    assert headings.count("WAF") == headings.count("host.read.latency_ns.p99_9") == 1


@pytest.mark.parametrize(
    ("published", "ours", "unit", "shown"),
    [
        (2.0, 2.1, "x", "+5.0 %"),
        (1.2e6, 1.08e6, "ns", "-10 %"),
        (2.0, 2.0, "", "="),
        (1.0, 25.0, "", "x 25"),
        (0.0, 0.5, "", "+0.5"),
        (-2.0, -1.5, "", "+0.5"),
        (0.85, 0.82, "share", "-3.0 points"),
        ("greedy", "greedy", "", "="),
        ("greedy", "fifo", "", "differs"),
        (None, 3.0, "", ""),
        (3.0, None, "", ""),
    ],
)
def test_the_difference_to_what_was_published(
    published: float | str | None, ours: float | str | None, unit: str, shown: str
) -> None:
    assert difference(Finding("it", "Fig. 1", published, ours, unit)) == shown


def test_findings_stand_beside_what_was_published(tmp_path: Path) -> None:
    findings = [
        Finding("WAF", "Fig. 7", 2.0, 2.1, "x"),
        Finding("mean", "Table 2", 1.2e6, 1.5e6, "ns", stand_in=True, note="expected error 10 %"),
        Finding("best", "Sec. 5", "greedy", "greedy"),
    ]
    report = Report("A page", by("seed", [1], [made()]), ["Some <b>prose</b>."],
                    [Table("Its answer", findings, "Ahead.")])  # fmt: skip
    page = page_of(report, tmp_path)
    table = cells(page, "Its answer")
    assert [" ".join(row[0].split()) for row in table] == [
        "WAF Fig. 7", "mean Table 2 [stand-in]expected error 10 %", "best Sec. 5",
    ]  # fmt: skip
    assert [row[1:] for row in table] == [
        ["2.000", "2.100", "+5.0 % reproduced"], ["1.20 ms", "1.50 ms", "+25 % direction"],
        ["greedy", "greedy", "= reproduced"],
    ]  # fmt: skip
    assert 'data-value="1200000.0"' in page
    assert "Some &lt;b&gt;prose&lt;/b&gt;." in page
    said = "2 published numbers: 1 reproduced, 1 direction. 1 published relation: 1 reproduced."
    assert page.index("<h1>") < page.index(said) < page.index("Some &lt;b&gt;")
    assert "not with the trace itself" in page
    plain = Report("A page", report.runs, tables=[Table("T", findings[:1])])
    assert "[stand-in]" not in page_of(plain, tmp_path)


def test_a_stand_in_is_marked_wherever_its_workload_is_named(tmp_path: Path) -> None:
    page = page_of(of(Comparison([made(stand_in=True)], [{}])), tmp_path)
    assert "<h1>agcr, trace [stand-in]</h1>" in page
    assert "<dd>trace [stand-in]</dd>" in page
    assert "model profile, version 1, fitted to published table" in page


def test_a_hostile_name_is_only_a_name(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    runs = [made(name=evil), made(name="b", waf=3.0)]
    page = page_of(
        of(by("workload", [evil, "b"], runs), f"<img src=x onerror=alert(2)> {evil}"), tmp_path
    )
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert embedded(page)["runs"][0]["variant"] == f"workload={evil}"
    assert len(re.findall(r"</script>", page)) == 5


def test_warnings_stand_once_with_the_runs_that_have_them(stored: Path, tmp_path: Path) -> None:
    page = page_of(of(load([stored / "four"])), tmp_path)
    assert page.count("<code>closed-loop</code>") == 1
    assert page.count("<code>few-samples</code>") == 2  # of reads, and of writes
    failed = by("seed", [1, 2], [made(), made(checks__passed=False)])
    assert "Checks failed: do not trust these results.</b> In: seed=2." in page_of(
        of(failed), tmp_path
    )


def test_a_run_can_be_repeated_with_what_the_page_says(
    stored: Path, tmp_path: Path, floatgate: Floatgate
) -> None:
    comparison = load([stored / "four"])
    page = page_of(of(comparison), tmp_path)
    config = re.search(r'<pre id="config"[^>]*>(.*?)</pre>', page, re.DOTALL)
    commands = re.search(r'<pre id="commands"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert config
    assert commands
    (tmp_path / "drive.toml").write_text(html.unescape(config[1]))
    lines = [line for line in html.unescape(commands[1]).splitlines() if not line.startswith("#")]
    assert len(lines) == 4
    program, *words = shlex.split(lines[3])
    assert program == "floatgate"
    again = floatgate(*words, "--json", "--quiet")
    assert again.returncode == 0, again.stderr
    assert Result(json.loads(again.stdout)).run_id == comparison.runs[3].run_id


# --- the data of the plots ---


def test_bars_are_the_numbers_of_the_runs() -> None:
    runs = [made(waf=2.0), made(waf=1.5), made(waf=2.5)]
    comparison = by("victim", ["greedy", "fifo", "random"], runs)
    (plot,) = plots(Report("r", comparison, plots=[Plot("bars", measure="waf")]))
    assert [(r["place"], r["value"]) for r in rows(plot)] == [
        ("greedy", 2.0), ("fifo", 1.5), ("random", 2.5),
    ]  # fmt: skip
    (plot,) = plots(
        Report("r", comparison, plots=[Plot("bars", measure="host.write.latency_ns.p99")])
    )
    assert [r["value"] for r in rows(plot)] == [pytest.approx(812_345 * 5 / 1e6)] * 3
    assert "host.write.latency_ns.p99 (ms)" in json.dumps(plot.spec)


def test_runs_that_differ_in_the_seed_are_a_mean_with_its_range() -> None:
    variants = [{"victim": v, "seed": s} for v in ("greedy", "fifo") for s in "12"]
    comparison = Comparison([made(waf=w) for w in (2.0, 3.0, 4.0, 8.0)], variants)
    (plot,) = plots(Report("r", comparison, plots=[Plot("bars", measure="waf")]))
    assert [(r["place"], r["low"], r["value"], r["high"]) for r in rows(plot)] == [
        ("greedy", 2.0, 2.5, 3.0), ("fifo", 4.0, 6.0, 8.0),
    ]  # fmt: skip
    assert "from the least to the largest" in plot.says


def test_a_ratio_has_a_line_at_one_within_its_axis() -> None:
    (one,) = plots(Report("r", by("victim", ["a", "b"], [made(waf=0.5), made(waf=0.4)]),
                          plots=[Plot("bars", measure="waf")]))  # fmt: skip
    layers = one.spec["layer"] if one.spec else []
    assert [layer["mark"].get("style") for layer in layers].count("unity") == 1
    (end,) = {
        layer["encoding"]["x"]["scale"]["domainMax"]
        for layer in layers
        if "scale" in layer["encoding"].get("x", {})
    }
    assert end > 1
    values = [({"place": "a"}, 0.3)]
    for ratio in (False, True):
        shown = Plot("values", "V", "v", "place", values=values, ratio=ratio)
        (plot,) = plots(Report("r", by("victim", ["a"], [made()]), plots=[shown]))
        assert ("unity" in json.dumps(plot.spec)) == ratio


def test_values_stand_on_bars(tmp_path: Path) -> None:
    """Inside if there is room, beside a bar that is too short; a label beside it has room."""
    runs = [made(waf=w) for w in (2.0, 10.0)]
    report = Report(
        "r", by("victim", ["greedy", "fifo"], runs), plots=[Plot("bars", measure="waf")]
    )
    (plot,) = plots(report)
    assert [(r["shown"], r["words"]) for r in rows(plot)] == [
        ("2.000", "beside"), ("10.000", "inside"),
    ]  # fmt: skip
    (file,) = figures.save(report, tmp_path, "svg")
    assert ">2.000<" in file.read_text()
    assert ">10.000<" in file.read_text()


def test_lines_go_along_numbers_with_what_was_published_beside_them() -> None:
    variants = [{"victim": v, "spare": s} for v in ("greedy", "fifo") for s in ("0.3", "0.1")]
    comparison = Comparison([made(waf=w) for w in (2.0, 5.0, 3.0, 6.0)], variants)
    points = [Point({"victim": "fifo", "spare": "0.2"}, 4.5, "Fig. 7")]
    wanted = Plot("lines", "WAF", "waf", "spare", "victim", points)
    (plot,) = plots(Report("r", comparison, plots=[wanted]))
    assert [(r["by"], r["x"], r["value"]) for r in rows(plot)] == [
        ("greedy", 0.1, 5.0), ("greedy", 0.3, 2.0), ("fifo", 0.1, 6.0), ("fifo", 0.3, 3.0),
    ]  # fmt: skip
    assert plot.spec is not None
    (layer,) = [p for p in plot.spec["layer"] if p["mark"]["type"] == "point"]
    assert layer["mark"]["filled"] is False
    given = plot.spec["datasets"][layer["data"]["name"]]
    assert given == [{"x": 0.2, "by": "fifo", "source": "Fig. 7", "value": 4.5}]
    assert "Hollow marks: Fig. 7." in plot.says


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        (Plot("pie"), "`pie` is not a kind of plot; there are bars, lines"),
        (Plot("bars", measure="host.write.p98"), "`host.write.p98` is not a measure"),
        (Plot("bars", measure="write.p98"), "did you mean `write.p99`?"),
        (
            Plot("cdf", measure="p99"),
            "`p99` is not a measure of `cdf`; there are read, write, trim, flush, all",
        ),
        (Plot("time", measure="wear"), "there are throughput, iops, waf, delay"),
        (Plot("sources", measure="flash.waf"), "there are program, read, erase"),
        (Plot("bars", by="cost"), "`cost` does not vary in these runs; what does: victim"),
        (
            Plot("bars", measure="waf", points=[Point({"victim": "lru"}, 2.0, "Fig. 7")]),
            "the point of Fig. 7 is at victim=lru, where there is no bar",
        ),
    ],
)
def test_a_plot_of_what_is_not_there_is_refused(plot: Plot, words: str, tmp_path: Path) -> None:
    comparison = by("victim", ["greedy", "fifo"], [made(), made(waf=3.0)])
    with pytest.raises(InputError, match=re.escape(words)):
        save(Report("r", comparison, plots=[plot]), tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_stacks_add_up_to_the_mean_latency_and_to_all_operations(stored: Path) -> None:
    comparison = load([stored / "four"])
    report = Report("r", comparison, plots=[Plot("causes", measure="write"), Plot("sources")])
    causes, sources = plots(report)
    for i, label in enumerate(Names(comparison).labels):
        run = comparison.runs[i]
        whole = sum(r["value"] for r in rows(causes) if r["run"] == label)
        assert whole * 1e6 == pytest.approx(run.host.write.latency_ns.mean, rel=1e-9)
        pages = sum(r["value"] for r in rows(sources) if r["run"] == label)
        assert pages * 1e3 == pytest.approx(run.flash.program.total)


@pytest.mark.parametrize("op", ["read", "write"])
def test_every_point_of_a_distribution_is_exact(stored: Path, op: str) -> None:
    (folder,) = (stored / "one").iterdir()
    run = Result.load(folder)
    values = run.requests().filter(pl.col("operation") == op)["latency_ns"].sort().to_list()
    curve = tables.latencies(run, op)
    assert curve.recorded
    assert len(curve.values) <= tables.CURVE
    assert (curve.values[0], curve.values[-1]) == (values[0], values[-1])
    for value, share in zip(curve.values[1:], curve.shares[1:], strict=True):
        assert share == sum(v <= value for v in values) / len(values)
    # No point is missing where a percentile is reached: the one before lies below it.
    for wanted in tables.PERCENTILES.values():
        at = next(i for i, share in enumerate(curve.shares) if share >= wanted)
        exact = values[min(int(wanted * len(values)), len(values) - 1)]
        assert curve.values[at] == pytest.approx(exact, rel=2e-3)


def test_a_distribution_has_few_points_however_many_values_there_are() -> None:
    curve = tables.thinned(list(range(1, 1_000_001)), [1] * 1_000_000)
    assert 200 < len(curve.values) <= tables.CURVE
    for share in tables.PERCENTILES.values():
        assert (
            curve.values[next(i for i, s in enumerate(curve.shares) if s >= share)] == share * 1e6
        )


def test_stretches_over_time_add_up_to_the_totals(stored: Path) -> None:
    (folder,) = (stored / "one").iterdir()
    run = Result.load(folder)
    series = tables.series(run)
    assert series is not None
    assert 50 < len(series.start) <= tables.STRETCHES

    def total(name: str) -> float:
        pairs = zip(series.values[name], series.width, strict=True)
        return sum((v or 0.0) * width for v, width in pairs)

    assert total("iops") == pytest.approx(run.host.all.requests)
    assert total("throughput") == pytest.approx(run.host.all.bytes)
    assert sum(series.width) >= run.simulated_seconds * (1 - 1e-9)  # reclaiming may go on
    written = run.series().select(pl.col("write_bytes")).to_series().to_list()
    step = -(-len(written) // tables.STRETCHES)
    chunks = [sum(written[i : i + step]) for i in range(0, len(written), step)]
    weighted = sum((w or 0.0) * b for w, b in zip(series.values["waf"], chunks, strict=True))
    without = [b for w, b in zip(series.values["waf"], chunks, strict=True) if w is None]
    assert not any(without)
    page = run.data["host"]["write"]["bytes"] * run.waf / run.flash.program.total
    assert tables.page_bytes(run) == pytest.approx(page)
    assert weighted <= run.waf * run.host.write.bytes * (1 + 1e-9)


def test_what_was_not_recorded_is_said_with_how_to_record_it(stored: Path) -> None:
    runs = Comparison([made()], [{}])
    found = {plot.kind: plot for plot in plots(of(runs))}
    assert found["time"].spec is None
    assert found["time"].says == (
        "Left out: no series over time was recorded. To have it, store the run with `--out DIR`, "
        "a sweep with `record`."
    )
    assert (
        "Drawn from the percentiles of the result, as no requests were recorded."
        in found["cdf"].says
    )
    assert "the blocks themselves were not recorded" in found["wear"].says
    (spread,) = rows(found["wear"])
    assert (spread["min"], spread["mean"], spread["max"]) == (3, 4.25, 9)
    few = {plot.kind: plot for plot in plots(of(load([stored / "few"])))}
    assert "no requests were recorded." in few["cdf"].says
    assert few["time"].spec is not None


def test_many_runs_stay_readable_and_the_page_small(tmp_path: Path) -> None:
    runs = [made(waf=1 + i / 100, host__write__latency_ns__p99=10**6 + i) for i in range(300)]
    variants = [{"victim": f"v{i % 20}", "cost": f"c{i // 20}"} for i in range(300)]
    report = of(Comparison(runs, variants))
    for plot in plots(report):
        if plot.spec is None:
            continue
        drawn = rows(plot)
        assert len({r.get("place") if plot.kind == "bars" else r.get("run") for r in drawn}) <= 12
        assert "of 300" in plot.says, plot.title
    page = save(report, tmp_path / "page.html")
    assert page.stat().st_size < 2 << 20
    assert page.read_text().count('<th scope="row" data-value') == 2 * 300


def test_the_usual_plots_suit_the_runs(stored: Path) -> None:
    def kinds(name: str) -> list[str]:
        return list(dict.fromkeys(plot.kind for plot in plots(of(load([stored / name])))))

    curves = ["causes", "cdf", "sources", "time", "wear"]
    assert kinds("one") == curves
    assert kinds("four") == ["bars", *curves]
    assert kinds("few") == ["lines", *curves]


# --- the same bytes, and files ---


def test_equal_reports_have_equal_bytes(stored: Path, tmp_path: Path) -> None:
    first = save(of(load([stored / "four"])), tmp_path / "a.html").read_bytes()
    again = load([stored / "four"])
    for run in again.runs:
        run.data["timing"]["wall_seconds"] = 123.0
    assert save(of(again), tmp_path / "b.html").read_bytes() == first
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a.html", "b.html"]


def test_figures_are_one_column_wide_and_legible(stored: Path, tmp_path: Path) -> None:
    comparison = load([stored / "four"])
    report = Report("r", comparison, plots=[Plot("bars", measure="waf"), Plot("percentiles")])
    files = figures.save(report, tmp_path / "svg", "svg")
    assert [f.name for f in files] == [
        "01-write-amplification.svg", "02-tail-of-reads.svg", "03-tail-of-writes.svg",
    ]  # fmt: skip
    for file in files:
        svg = file.read_text()
        width = re.search(r'<svg[^>]* width="([\d.]+)"', svg)
        assert width
        assert float(width[1]) == pytest.approx(3.5 * 72, abs=1)
        sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)(?:px)?"', svg)}
        assert sizes == {8.0}
    lines = files[1].read_text()
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', lines))) >= 3
    again = figures.save(report, tmp_path / "again", "svg")
    assert [f.read_bytes() for f in again] == [f.read_bytes() for f in files]
    one = Report("r", comparison, plots=report.plots[:1])
    (pdf,) = figures.save(one, tmp_path / "pdf", "pdf")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_figures_of_lines_keep_their_legend(tmp_path: Path) -> None:
    # Colour, dashes and marks tell the lines apart: one legend for all three.
    variants = [{"x": x, "victim": v} for x in ("0.1", "0.2", "0.3") for v in ("greedy", "fifo")]
    comparison = Comparison([made(waf=2.0 + i) for i in range(6)], variants)
    report = Report("r", comparison, plots=[Plot("lines", measure="waf", x="x", by="victim")])
    (file,) = figures.save(report, tmp_path, "svg")
    svg = file.read_text()
    assert svg.count("role-legend ") == 1 or svg.count('role-legend"') == 1
    assert ">greedy<" in svg
    assert ">fifo<" in svg


# --- reading results, and the command ---


def test_every_way_to_name_results_gives_the_same_runs(stored: Path) -> None:
    (folder,) = (stored / "one").iterdir()
    names = [folder, folder / "result.json", stored / "one"]
    assert {load([name]).runs[0].run_id for name in names} == {folder.name}
    assert len(load(names).runs) == 1
    four = load([stored / "four"])
    assert list(four.varied) == ["victim", "ftl.spare-factor"]
    assert load([stored / "four" / "comparison.json"]).variants == four.variants
    several = load([run.folder for run in four.runs if run.folder])
    assert set(several.varied) == {"victim", "ftl.logical-capacity"}
    both = load([stored / "four", stored / "one"])
    assert len(both.runs) == 5
    assert {"seed", "victim"} <= set(both.varied)


def test_the_command_writes_a_page_and_figures(
    stored: Path, floatgate: Floatgate, tmp_path: Path
) -> None:
    done = floatgate("report", str(stored / "one"), "--title", "My run", "--figures", "figures")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    assert "<h1>My run</h1>" in page
    names = [path.name for path in sorted((tmp_path / "figures").iterdir())]
    assert done.stdout == f"Page: report.html\nFigures: {len(names)} in figures\n"
    assert len(names) == page.count('class="plot"')
    assert names[0] == "01-time-of-reads-by-cause.svg"
    words = ("--figure", "latency-of-reads", "--figure", "latency-of-writes", "--columns", "2")
    done = floatgate("report", str(stored / "one"), "--figures", "two", *words)
    assert done.returncode == 0, done.stderr
    two = sorted((tmp_path / "two").iterdir())
    assert [path.name.partition("-")[2] for path in two] == [
        "latency-of-reads.svg", "latency-of-writes.svg",
    ]  # fmt: skip
    assert {path.name for path in two} < {*names}
    for path in two:
        width = re.search(r'<svg[^>]* width="([\d.]+)"', path.read_text())
        assert width
        assert float(width[1]) == pytest.approx(7.2 * 72, abs=1)


def test_a_damaged_run_is_named_and_nothing_is_written(
    stored: Path, floatgate: Floatgate, tmp_path: Path
) -> None:
    (folder,) = (stored / "one").iterdir()
    for name, content, says in (
        ("requests.parquet", b"", "requests.parquet has 0 of "),
        ("result.json", None, "result.json is not what was stored"),
    ):
        there = tmp_path / name.partition(".")[0] / folder.name
        shutil.copytree(folder, there)
        if content is None:
            value = json.loads((there / name).read_bytes())
            content = json.dumps(value | {"host": {}}).encode()
        (there / name).write_bytes(content)
        done = floatgate("report", str(there), "-o", "page.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{there}: {says}" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "page.html").exists()


def test_what_is_no_result_is_refused_and_nothing_is_written(
    stored: Path, floatgate: Floatgate, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    old = tmp_path / "old"
    old.mkdir()
    (old / "result.json").write_text(json.dumps(sample.result() | {"schema": "floatgate.run/0"}))
    (tmp_path / "broken.json").write_text("{")
    done = floatgate(
        "report", "empty", "nowhere", "old", "broken.json", str(stored / "one"), "-o", "page.html"
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "empty: this is not a folder of results; expected `result.json`" in done.stderr
    assert "nowhere: there is no such file or folder" in done.stderr
    assert "`floatgate.run/0`, and this version reads `floatgate.run/2`" in done.stderr
    assert "broken.json: this is not JSON" in done.stderr
    assert not (tmp_path / "page.html").exists()
    for words, says in (
        (("-o", "empty"), "empty: this is a folder"),
        (("-o", "no/page.html"), "not a writable folder"),
        (
            ("--figures", "f", "--format", "png"),
            "`png` is not a format of figures; there are svg, pdf",
        ),
        (("--format", "svg"), "--figure, --columns and --format are for files: add --figures DIR"),
        (("--figures", "f", "--columns", "3"), "a figure is 1 or 2 columns wide, not 3"),
        (
            ("--figures", "f", "--figure", "latency-of-read"),
            "there is no figure `latency-of-read`; did you mean `latency-of-reads`?",
        ),
    ):
        done = floatgate("report", str(stored / "one"), *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert says in done.stderr


def test_without_the_extra_the_page_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("floatgate.pages._PACKAGES", ("altair", "no_such_package"))
    for make in (
        lambda: Comparison([made()], [{}]).save_report(tmp_path / "page.html"),
        lambda: figures.save(of(Comparison([made()], [{}])), tmp_path / "figures", "svg"),
    ):
        with pytest.raises(InputError, match=r"pip install 'floatgate\[report\]'"):
            make()
    assert list(tmp_path.iterdir()) == []


# --- measures by name ---


def test_measures_are_found_by_short_name_and_by_path() -> None:
    run = made()
    assert find("write.p99", [run]) is MEASURES["write.p99"]
    long = find("host.write.latency_ns.p99", [run])
    assert long.of(run) == MEASURES["write.p99"].of(run) == 4_061_725
    assert (long.unit, long.show(4_061_725.0)) == ("ns", "4.06 ms")
    assert find("capacity.spare_factor", [run]).show(0.1) == "10 %"
    with pytest.raises(InputError, match=r"did you mean `host\.write\.requests`"):
        find("host.write.request", [run])
    with pytest.raises(InputError, match="is not a measure"):
        find("end.state", [run])  # a word, no number


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("host.read.bytes", "bytes"),
        ("host.read.delay_ns_by_cause.queue.gc", "ns"),
        ("energy_joules.total", "J"),
        ("capacity.physical_bytes", "bytes"),
        ("simulated_seconds", "s"),
        ("flash.erase.gc", ""),
        ("waf_pages", "x"),
    ],
)
def test_units_come_from_the_names_of_a_result(path: str, unit: str) -> None:
    assert unit_of(path) == unit


@pytest.mark.parametrize("kind", ["cdf", "percentiles", "causes"])
def test_an_operation_that_did_not_occur_is_left_out_with_a_sentence(kind: str) -> None:
    report = Report("r", Comparison([made()], [{}]), plots=[Plot(kind, measure="trim")])
    (plot,) = plots(report)
    assert plot.spec is None
    assert plot.says.startswith("Left out: the")
