"""Pages in a browser: narrow and wide, dark and light, without a network."""

import json
from pathlib import Path
from typing import Any

import pytest

import floatgate
from browser import Browser
from conftest import both_fonts, looks
from floatgate import Comparison
from floatgate.pages.letters import Words, keep_widths, widths
from floatgate.report import Finding, Plot, Point, Report, Table, load, of, save, save_figures
from test_report import SMALL, made

PAGES = ("one", "few", "many", "published")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """Reports of one run, of some with long names, of a sweep, and one with published values."""
    folder = tmp_path_factory.mktemp("pages")
    settings: dict[str, object] = {**SMALL, "workload.requests": 8_000}
    floatgate.run("agcr", "zipf", set=settings, out=folder / "1")
    levels = {
        "cost": ["fixed:level=low", "fixed:level=high"],
        "victim": ["greedy", "d-choices:d=3"],
    }
    floatgate.compare("agcr", "zipf", policy=levels, set=settings, out=folder / "2", workers=1)
    policies = ("greedy", "fifo", "random", "d-choices:d=3")
    variants = [
        {"victim": victim, "ftl.spare-factor": spare, "seed": seed}
        for victim in policies
        for spare in ("0.07", "0.1", "0.15", "0.2")
        for seed in "12"
    ]
    runs = [made(waf=1 + i / 7, host__write__latency_ns__p99=10**6 + 30_000 * i) for i in range(32)]
    many = Comparison(runs, variants)
    points = [
        Point({"victim": v, "ftl.spare-factor": s}, 3.0, "a formula with a long name")
        for v in policies[:2]
        for s in ("0.07", "0.2")
    ]
    published = Report(
        "Published and simulated values: a title that needs more than a line",
        many,
        ["A paragraph ahead of everything. " * 12],
        [
            Table(
                "A table",
                [
                    Finding("WAF of greedy at a spare factor of 0.07", "Table 2", 7.1, 6.9, "x"),
                    Finding("mean latency", "Fig. 9", 812_345, 0.7e6, "ns", stand_in=True,
                            note="stand-in of msr:hm_0, expected error 10 %"),
                    Finding("the best of all policies", "Section 5.3", "d-choices:d=3", "greedy"),
                ],
            )
        ],
        [
            Plot("lines", "Lines", "waf", "ftl.spare-factor", "victim", points),
            Plot("bars", "Grouped", "waf", "ftl.spare-factor", "victim", points),
            Plot("bars", "By victim", "write.p99", by="victim"),
            Plot("levels"),
        ],
    )  # fmt: skip
    return {
        "one": of(load([folder / "1"])),
        "few": of(load([folder / "2"])),
        "many": of(many),
        "published": published,
    }


@pytest.fixture(scope="module")
def pages(reports: dict[str, Report], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: save(report, folder / f"{name}.html") for name, report in reports.items()}


@looks
@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_everything_and_nothing_is_cut(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    opened = browser.open(pages[name], width, dark=dark)
    assert opened.errors == []
    assert opened.requests == [pages[name].as_uri()]
    assert browser.problems() == []
    drawn = browser.run("document.querySelectorAll('.plot svg.marks').length")
    assert drawn == browser.run("specs.length") > 3
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, paper[4:-1].split(","))) < 60) == dark


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("document.querySelector('h2').style.width = '2000px'", "the page scrolls sideways"),
        (
            "document.querySelectorAll('#plot-1 .role-mark *').forEach((e) => e.remove())",
            "Time of reads by cause: no marks",
        ),
        (
            "document.querySelectorAll('#plot-1 text')[1].textContent = 'w'.repeat(40)",
            "Time of reads by cause: \"wwww",
        ),
        ("document.querySelector('#plot-1 text').textContent = 'a\\u2026'", "is cut"),
        ("document.querySelector('section').style.marginBottom = '-80px'", "two sections overlap"),
        (
            "{ const th = document.querySelector('thead th:last-child'); th.closest('thead')"
            ".style.display = 'table-header-group'; const b = th.querySelector('button');"
            " b.textContent = 'measure'; b.style.overflowWrap = 'anywhere';"
            " b.style.display = 'block'; b.style.width = '3ch'; }",
            'the word "measure" is split',
        ),
        (
            "document.querySelector('.plots > section').style.paddingBottom = '240px'",
            "pixels of its frame are empty",
        ),
        (
            "document.querySelector('section').append(document.createElement('canvas'))",
            "an empty picture",
        ),
        (
            "document.querySelector('section').insertAdjacentHTML('beforeend', "
            "'<div class=axis><span>12 ms</span><span>13 ms</span></div>')",
            '"12 ms" and "13 ms" touch',
        ),
    ],
)  # fmt: skip
def test_what_looks_for_problems_finds_them(
    browser: Browser, pages: dict[str, Path], damage: str, found: str
) -> None:
    browser.open(pages["one"], 400, dark=False)
    browser.run(f"{{ {damage} }}")
    assert any(found in problem for problem in browser.problems())


def test_any_two_runs_stand_side_by_side(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["few"], 1280, dark=False)
    data = browser.run("JSON.parse(document.getElementById('data').textContent)")

    def choose(**values: object) -> dict[str, list[str]]:
        for key, value in values.items():
            what = "checked" if isinstance(value, bool) else "value"
            browser.run(
                f"{{ const control = document.getElementById('{key}');"
                f" control.{what} = {json.dumps(value)};"
                " control.dispatchEvent(new Event('input')); }"
            )
        rows = browser.run(
            "[...document.querySelectorAll('#numbers tbody tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        return {row[0]: row[1:] for row in rows}

    path = "host.write.latency_ns.mean"
    first = choose(a=0, b=3, filter="write mean")
    a, b = (data["numbers"]["own"][path][i] for i in (0, 3))
    assert first[path] == [f"{value / 1e3:.4g} us" for value in (a, b)] + [f"{b / a:.4g}"]
    assert all("write" in path and "mean" in path for path in first)
    assert "Nothing differs here." in choose(a=2, b=2)
    assert "checks.passed" in choose(a=0, b=1, filter="checks", differ=False)
    settings = browser.run("document.getElementById('settings').textContent")
    assert "policies" not in settings  # the words of the filter are `checks`
    choose(filter="", differ=True)
    settings = browser.run("document.getElementById('settings').textContent")
    assert "policies.victim.name" in settings


def test_a_click_on_a_heading_sorts_the_runs(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["many"], 1280, dark=False)
    table = "document.querySelectorAll('table.runs')[1]"
    headings = browser.run(f"[...{table}.tHead.rows[0].cells].map((cell) => cell.textContent)")
    assert headings[:5] == ["run", "victim", "spare-factor", "seed", "WAF"]

    def column(at: int) -> list[float]:
        return list(
            browser.run(f"[...{table}.tBodies[0].rows].map((r) => +r.cells[{at}].dataset.value)")
        )

    def words(at: int) -> list[str]:
        return list(
            browser.run(f"[...{table}.tBodies[0].rows].map((r) => r.cells[{at}].textContent)")
        )

    def click(at: int) -> None:
        browser.run(f"{table}.querySelectorAll('thead button')[{at}].click()")

    as_given = column(4)
    click(4)
    assert column(4) == sorted(as_given)
    click(4)
    assert column(4) == sorted(as_given, reverse=True)
    click(1)
    assert words(1) == sorted(words(1))
    click(2)
    assert [float(word) for word in words(2)] == sorted(float(word) for word in words(2))
    click(0)
    assert column(4) == as_given


def test_a_page_that_changes_its_width_or_theme_draws_anew(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["few"], 1280, dark=False)
    colour = "document.querySelector('.plot .role-axis-label text').getAttribute('fill')"
    light = browser.run(colour)
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=400, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    browser.run(
        "new Promise((done) => setTimeout(() => window.drawn.then(() => done(true)), 1500))"
    )
    assert browser.problems() == []
    assert browser.run(colour) != light


def test_a_report_of_300_runs_is_small(browser: Browser, tmp_path: Path) -> None:
    """The work of a browser for a page grows with its bytes and its elements."""
    paths = (
        "waf",
        "host__write__latency_ns__p99",
        "host__read__latency_ns__mean",
        "wear__erases__max",
    )
    numbers: list[dict[str, Any]] = [
        {path: 1_000 + 7 * i + j for j, path in enumerate(paths)} for i in range(300)
    ]
    runs = [made(**each) for each in numbers]
    variants = [
        {"victim": f"v{i % 5}", "ftl.spare-factor": f"0.{10 + i // 5 % 5}", "seed": str(i // 25)}
        for i in range(300)
    ]
    page = Comparison(runs, variants).save_report(tmp_path / "page.html")
    assert page.stat().st_size <= 5 * 10**6
    for folded, most in ((True, 20_000), (False, 25_000)):
        browser.open(page, 1200, dark=False, folded=folded)
        assert 5_000 < browser.run("document.querySelectorAll('*').length") <= most
        assert browser.problems() == []


@pytest.mark.parametrize(("width", "columns"), [(400, 1), (1200, 2), (1900, 2)])
def test_plots_take_the_width_of_the_window(
    browser: Browser, pages: dict[str, Path], width: int, columns: int
) -> None:
    browser.open(pages["many"], width, dark=False)
    boxes = browser.run(
        "[...document.querySelectorAll('.plots > section:not(.alone)')]"
        ".map((e) => e.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    assert len({round(left) for left, _ in boxes}) == columns
    assert max(right for _, right in boxes) - min(left for left, _ in boxes) > 0.9 * width


def press(browser: Browser, key: str) -> None:
    codes = {"Enter": ("Enter", 13, "\r"), " ": ("Space", 32, " "), "Tab": ("Tab", 9, "")}
    code, number, text = codes[key]
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind, key=key, code=code, windowsVirtualKeyCode=number, text=text,
        )  # fmt: skip
    browser.run("new Promise((done) => setTimeout(() => done(1), 200))")


def test_a_legend_is_used_by_keyboard(browser: Browser, pages: dict[str, Path]) -> None:
    opened = browser.open(pages["few"], 1200, dark=False)
    plot = "document.querySelector('[aria-label^=\"Latency of writes\"]')"
    buttons = f"[...{plot}.querySelectorAll('[role=button]')]"
    names = browser.run(f"{buttons}.map((e) => e.textContent)")
    assert len(names) > 1

    def pressed() -> list[str]:
        return list(
            browser.run(
                f"{buttons}.filter((e) => e.getAttribute('aria-pressed') === 'true')"
                ".map((e) => e.textContent)"
            )
        )

    def bright() -> int:
        marks = f"[...{plot}.querySelectorAll('.mark-line.role-mark path')]"
        return int(browser.run(f"{marks}.filter((e) => +e.getAttribute('opacity') === 1).length"))

    all_marks = bright()
    assert pressed() == []
    browser.run(f"{buttons}[0].focus()")
    press(browser, "Enter")
    assert pressed() == names[:1]
    one = bright()
    assert 0 < one < all_marks
    press(browser, "Tab")
    assert browser.run("document.activeElement.textContent") == names[1]
    press(browser, " ")
    assert pressed() == names[:2]
    assert bright() > one
    press(browser, " ")
    assert pressed() == names[:1]
    assert opened.errors == []
    # A click reaches listeners in the same form.
    browser.run(
        f"{buttons}[1].dispatchEvent(new MouseEvent('click', {{ bubbles: true }})),"
        " new Promise((done) => setTimeout(() => done(1), 200))"
    )
    assert pressed() == names[1:2]


@pytest.mark.verify
@both_fonts
@pytest.mark.parametrize("columns", [1, 2])
def test_figures_of_a_publication_are_whole_and_nothing_touches(
    browser: Browser, reports: dict[str, Report], tmp_path: Path, columns: int
) -> None:
    """In the browser, because there letters have their lengths; lines too stay off the legend."""
    page = tmp_path / "figures.html"
    shown, inside = [], 0
    for name, report in reports.items():
        for file in save_figures(report, tmp_path / name, columns=columns):
            svg = file.read_text()
            shown.append(f'<div class="plot" aria-label="{name}: {file.stem}.">{svg}</div>')
            inside += "role-legend" in svg
    assert len(shown) > 30
    assert inside > 10
    script = "<script>window.drawn = Promise.resolve()</script>"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{''.join(shown)}{script}</body>")
    assert browser.open(page, 1900, dark=False).errors == []
    assert browser.problems() == []
    assert browser.run(_UNDER_LEGENDS) == []


def test_words_of_figures_are_as_wide_as_their_font_says() -> None:
    """Of 2048 parts of an em, a digit of Liberation Sans has 1139, an `i` 455, a bold one 569."""
    words = [Words("0123456789", 8), Words("ii", 11), Words("ii", 11, "bold"), Words("<&>", 8)]
    known = widths(words)
    assert known[words[0]] == pytest.approx(10 * 8 * 1139 / 2048, rel=0.01)
    assert known[words[1]] == pytest.approx(2 * 11 * 455 / 2048, rel=0.01)
    assert known[words[2]] == pytest.approx(2 * 11 * 569 / 2048, rel=0.01)
    escaped = '<text font-size="8px">&lt;&amp;&gt;</text>'
    (kept,) = keep_widths([escaped])
    length = float(kept.partition('textLength="')[2].partition('"')[0])
    assert length == pytest.approx(known[words[3]], rel=1e-5)
    foreign = '<text font-size="8px">日本語</text>'
    assert keep_widths([foreign]) == [foreign]


_UNDER_LEGENDS = """[...document.querySelectorAll(".plot")].flatMap((plot) => {
  const legend = plot.querySelector(".role-legend");
  if (!legend) return [];
  const box = legend.getBoundingClientRect(), found = [];
  for (const line of plot.querySelectorAll(".mark-line.role-mark path")) {
    const length = line.getTotalLength(), to = line.getScreenCTM();
    for (let at = 0; at <= length; at += 1) {
      const { x, y } = line.getPointAtLength(at).matrixTransform(to);
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) {
        found.push(`${plot.getAttribute("aria-label")} a line runs under the legend`);
        break;
      }
    }
  }
  return found;
})"""


@pytest.mark.parametrize("name", PAGES)
def test_the_overview_is_short_and_details_open_whole(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name], 1200, dark=False, folded=True)
    drawn = "document.querySelectorAll('.plot svg.marks').length"
    assert browser.run("document.querySelector('.more').getBoundingClientRect().top") <= 5 * 900
    assert browser.run(drawn) == min(8, browser.run("specs.length"))
    assert browser.problems() == []
    browser.run("document.querySelector('.more > summary').click()")
    browser.run("new Promise((done) => setTimeout(() => window.drawn.then(() => done(1)), 100))")
    assert browser.run(drawn) == browser.run("specs.length")
    assert browser.problems() == []
