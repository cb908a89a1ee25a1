"""Pages in a browser: narrow and wide, dark and light, without a network."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import floatgate
from browser import Browser
from floatgate import Comparison
from floatgate.report import Finding, Plot, Point, Report, Table, load, save
from test_report import SMALL, made

PAGES = ("one", "few", "many", "published")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of one run, of some with long names, of a sweep, and one with what was published."""
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
        "What was published, and what came out here: a title that needs more than a line",
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
        "one": save(floatgate.report.of(load([folder / "1"])), folder / "one.html"),
        "few": load([folder / "2"]).save_report(folder / "few.html"),
        "many": many.save_report(folder / "many.html"),
        "published": save(published, folder / "published.html"),
    }


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
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
            "Where the time of reads goes: no marks",
        ),
        (
            "document.querySelectorAll('#plot-1 text')[1].textContent = 'w'.repeat(40)",
            "Where the time of reads goes: \"wwww",
        ),
        ("document.querySelector('#plot-1 text').textContent = 'a\\u2026'", "is cut"),
        ("document.querySelector('section').style.marginBottom = '-80px'", "two sections overlap"),
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
    column = (
        "[...document.querySelectorAll('table.runs')[1].tBodies[0].rows]"
        ".map((row) => +row.cells[1].dataset.value)"
    )
    click = "document.querySelectorAll('table.runs')[1].querySelectorAll('thead button')[1].click()"
    as_given = browser.run(column)
    browser.run(click)
    assert browser.run(column) == sorted(as_given)
    browser.run(click)
    assert browser.run(column) == sorted(as_given, reverse=True)


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
