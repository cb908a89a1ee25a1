"""The documentation: commands that are marked run as they stand, and the site is whole."""

import html.parser
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import floatgate
from browser import Browser
from conftest import Floatgate

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))


class Block(NamedTuple):
    """A block of code on a page: its language, the other words after it, its text, its line."""

    language: str
    words: list[str]
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[1], found[2].split(), found[3], line)


PAGES = [
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if any("run" in block.words for block in blocks(path))
]


LONG = (
    "lifetime", "enough", "cache-drives", "data-sheet", "slc-cache", "extending", "scale", "hints",
)  # fmt: skip
"""Pages whose commands take longer than those of all the others."""


def test_there_are_pages_with_commands_that_run() -> None:
    assert len(PAGES) >= 4
    names = {path.stem for path in PAGES}
    assert {"getting-started", "extending", "view", "fsync", "lifetime"} <= names


@pytest.mark.parametrize(
    "page",
    [pytest.param(path, marks=pytest.mark.verify if path.stem in LONG else ()) for path in PAGES],
    ids=lambda page: page.stem,
)
def test_the_commands_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    """In one folder, as a reader would: files are made as they are shown, commands follow.

    A block with the word `output` is all that the command before it prints, and `part` a part.
    """
    bin = tmp_path / "bin"
    bin.mkdir()
    for name, words in (("floatgate", "-m floatgate"), ("python", "")):
        script = bin / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = os.environ | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    ran, printed = 0, ""
    for block in blocks(page):
        if "output" in block.words:
            assert printed == block.text, f"{page.name}:{block.line}"
        if "part" in block.words:
            assert block.text.strip() in printed, f"{page.name}:{block.line}\n{printed}"
        names = [word.removeprefix("file=") for word in block.words if word.startswith("file=")]
        if names:
            (folder / names[0]).write_text(block.text)
        if "run" not in block.words:
            continue
        assert block.language in ("sh", "python"), f"{page.name}:{block.line}"
        command = ["bash", "-euo", "pipefail", "-c", block.text]
        if block.language == "python":
            command = [sys.executable, "-c", block.text]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        where = f"{page.name}:{block.line}"
        assert done.returncode == 0, f"{where}\n{block.text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, where
        ran, printed = ran + 1, done.stdout
    assert ran


def test_the_first_page_of_the_readme_is_what_its_command_prints(floatgate: Floatgate) -> None:
    shell, page = [*blocks(ROOT / "README.md")][1:3]
    (command,) = (
        line
        for line in shell.text.replace("\\\n", "").splitlines()
        if line.startswith("floatgate run")
    )
    done = floatgate(*command.split()[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(page.text)
    assert "p99 256 us" in page.text, "an SSD at work: not all percentiles are one"


def test_the_readme_counts_the_facts_that_the_studies_judge() -> None:
    studies = json.loads((ROOT / "python/floatgate/reproduce/verdicts.json").read_text())["studies"]
    # The full form of a study of checks alone need not be stored.
    studies = {name: study for name, study in studies.items() if "full" in study}
    assert len(studies) >= 11
    numbers, relations = (
        {
            verdict: sum(study["full"][group][verdict] for study in studies.values())
            for verdict in ("reproduced", "direction", "differs")
        }
        for group in ("numbers", "relations")
    )
    found = re.search(
        r"\*\*(\d+) of (\d+)\*\* published numbers are reproduced within 10 %, (\d+) have the "
        r"right direction, and (\d+) differ\. Of (\d+)\s+published relations \*\*(\d+)\*\* hold",
        (ROOT / "README.md").read_text(),
    )
    assert found
    assert list(map(int, found.groups())) == [
        numbers["reproduced"],
        sum(numbers.values()),
        numbers["direction"],
        numbers["differs"],
        sum(relations.values()),
        relations["reproduced"],
    ]


def test_every_name_of_the_crates_exists() -> None:
    """`ssd::planned` in a page is something that the crate defines."""
    named = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "tests/README.md"]:
        for crate, name in re.findall(r"`(\w+)(?:::\w+)*::(\w+)[`(]", page.read_text()):
            if (ROOT / "crates" / crate).is_dir():
                named.append((page.name, crate, name))
    assert len(named) >= 2
    for page_name, crate, name in named:
        defines = re.compile(rf"\b(fn|struct|enum|trait|type|const|static|mod) {name}\b")
        sources = (ROOT / "crates" / crate / "src").glob("**/*.rs")
        found = any(defines.search(path.read_text()) for path in sources)
        assert found, f"{page_name}: there is no `{crate}::{name}`"


def test_a_command_that_fails_is_found(tmp_path: Path) -> None:
    page = tmp_path / "broken.md"
    page.write_text("# Broken\n\n```sh run\nfloatgate run agrc zipf\n```\n")
    with pytest.raises(AssertionError, match=r"broken\.md:3"):
        test_the_commands_of_a_page_run_in_order(page, tmp_path)


@pytest.mark.parametrize(("word", "text"), [("output", "two"), ("output", "on"), ("part", "two")])
def test_an_output_that_is_not_printed_is_found(word: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / "stale.md"
    page.write_text(f"```sh run\necho one\n```\n\n```text {word}\n{text}\n```\n")
    with pytest.raises(AssertionError, match=r"stale\.md:5"):
        test_the_commands_of_a_page_run_in_order(page, tmp_path)


class Links(html.parser.HTMLParser):
    """The links of a page of the site, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "href" and value and not re.match(r"(https?|data|mailto):", value):
                self.links.append(value)
            if name == "id" and value:
                self.anchors.add(value)
            embedded = value is not None and value.startswith("data:")
            assert name != "src" or embedded, "a page needs no other file"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from docsite.build import build

    folder = tmp_path_factory.mktemp("site")
    build(folder, figures=False)
    return folder


def test_every_page_is_there_and_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Links(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for source in ROOT.glob("docs/**/*.md"):
        if source == ROOT / INDEX:
            continue
        assert site / source.relative_to(ROOT / "docs").with_suffix(".html") in pages
    assert len(pages) >= 40
    broken, seen = [], 0
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            to = (path.parent / target).resolve() if target else path
            seen += 1
            if to not in pages:
                broken.append(f"{path.relative_to(site)}: {link}")
            elif anchor and anchor not in pages[to].anchors:
                broken.append(f"{path.relative_to(site)}: {link} (no such heading)")
    assert seen > 1000
    assert broken == []


def test_marks_of_generated_parts_are_not_shown(site: Path) -> None:
    text = (site / "results.html").read_text()
    assert "Requests of one operation" in text
    assert not [page.name for page in site.rglob("*.html") if "<p>&lt;!--" in page.read_text()]


def test_every_policy_has_its_page_with_paper_and_parameters(site: Path) -> None:
    policies = floatgate.policies()
    assert len(policies) >= 25
    for policy in policies:
        text = html.unescape(
            (site / f"policies/{policy['family']}-{policy['name']}.html").read_text()
        )
        assert policy["paper"].split(",")[0] in text
        for parameter in policy["params"]:
            assert f"<code>{parameter['name']}</code>" in text


def test_the_references_name_every_command_option_and_function(site: Path) -> None:
    cli = html.unescape((site / "reference/cli.html").read_text())
    for words in ("floatgate sweep", "floatgate trace describe", "floatgate config convert"):
        assert f">{words}</h2>" in cli
    assert "--cluster ADDRESS" in cli
    python = (site / "reference/python.html").read_text()
    for name in floatgate.__all__:
        assert f">floatgate.{name}</h2>" in python
    keys = (site / "reference/drive-files.html").read_text()
    assert "<code>ftl.gc.background-stop</code>" in keys
    assert "<code>timing.bus.rate</code>" in keys, "keys of tables within tables, too"


def test_the_table_of_keys_is_that_of_the_schema() -> None:
    from docsite.reference import drive_files

    page = (ROOT / "docs/reference/drive-files.md").read_text()
    assert page == drive_files(), "run `make schema`"


# ── Pages by purpose ─────────────────────────────────────────────────────────────────────────────

INDEX = "docs/README.md"
PURPOSES = ["Tutorials", "How-to", "Reference", "Explanation", "Measured", "Design", "History"]
LONGEST = 1500
GENERATED = {"docs/reference/drive-files.md", "docs/results.md", "docs/papers.md"}
HISTORY = {"docs/history/0.1.md"}
"""It keeps its words."""


def test_every_page_has_one_purpose() -> None:
    from docsite.build import groups

    found = groups()
    assert list(found) == PURPOSES
    listed = [page for group in found.values() for page in group]
    there = {str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")} - {INDEX}
    assert len(there) > 40
    assert sorted(listed) == sorted(there), "each page stands once in docs/README.md"


def test_no_page_is_longer_than_people_read() -> None:
    generated = re.compile(r"<!-- ([a-z ]+) -->.*?<!-- end of \1 -->", re.DOTALL)
    lengths = {
        str(path.relative_to(ROOT)): len(generated.sub("", path.read_text()).split())
        for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    }
    assert len(lengths) > 40
    assert lengths["README.md"] <= 900
    long = {page for page, words in lengths.items() if words > LONGEST} - GENERATED - HISTORY
    assert not long, sorted((page, lengths[page]) for page in long)
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 200


def test_a_how_to_begins_with_what_the_reader_will_learn() -> None:
    from docsite.build import groups

    found = groups()
    for page in (*found["Tutorials"], *found["How-to"]):
        paragraph = (ROOT / page).read_text().split("\n\n")[1]
        assert re.match(r"You will (learn|run|find)", paragraph), page
    for group in ("Reference", "Explanation", "Measured", "Design"):
        for page in {*found[group]} - GENERATED:
            paragraph = (ROOT / page).read_text().split("\n\n")[1]
            assert paragraph[0] not in "|#-*!<`", f"{page} begins with a sentence"


def test_a_reader_finds_every_page_in_two_clicks() -> None:
    def linked(page: Path) -> set[Path]:
        links = re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", page.read_text())
        return {(page.parent / link).resolve() for link in links}

    first = linked(ROOT / "README.md")
    second = first | {page for each in first for page in linked(each)}
    assert set(ROOT.glob("docs/**/*.md")) <= second


# ── The site in a browser ────────────────────────────────────────────────────────────────────────


def test_no_page_of_the_site_scrolls_sideways(browser: Browser, site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 90
    wide = []
    for page in pages:
        opened = browser.open(page, 400, dark=False)
        assert opened.errors == [], page
        for width in (400, 1200, 1900):
            browser.resize(width)
            if browser.run("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{page.relative_to(site)} at {width}")
    assert wide == []


def test_a_search_finds_words_in_the_text_of_pages(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1200, dark=False)
    browser.run("find.value = 'power-loss padding'; search().then(() => true)")
    hits = browser.run("[...found.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
    assert any(hit.startswith("fsync.html#") for hit in hits)
    browser.run("find.value = 'background-stop'; search().then(() => true)")
    hits = browser.run("[...found.querySelectorAll('a')].map((a) => a.getAttribute('href'))")
    assert any(hit.startswith("reference/drive-files.html#") for hit in hits)
    browser.run("find.value = 'xyzzyx'; search().then(() => true)")
    assert browser.run("found.textContent") == "Nothing found."


def test_every_block_of_code_has_a_button_that_copies_it(browser: Browser, site: Path) -> None:
    browser.open(site / "getting-started.html", 1200, dark=False)
    assert browser.run("document.querySelectorAll('.code').length") > 5
    assert browser.run(
        "[...document.querySelectorAll('.code')].every((c) => c.querySelector('.copy'))"
    )
    browser.run(
        "window.copied = null; Object.defineProperty(navigator, 'clipboard', { value: "
        "{ writeText: async (words) => { window.copied = words; } } });"
        "document.querySelector('.copy').click()"
    )
    assert browser.run("window.copied") == browser.run(
        "document.querySelector('.code code').textContent"
    )


def test_a_policy_page_has_a_figure_from_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from docsite import policies as pages

    order = pages.FIGURES["order"]
    quick = {**order.set, "workload.requests": 3000, "precondition.age": "none"}
    monkeypatch.setattr(pages, "FIGURES", {"order": order._replace(set=quick)})
    own = [policy for policy in floatgate.policies() if policy["family"] == "order"]
    found = pages._measured("order", own)
    drawn = pages._drawn("order", "read-first", found)
    assert drawn.count('class="bars"') == 2
    assert drawn.count('<span class="this">read-first</span>') == 2
    assert 'style="width:100.0%"' in drawn
    assert {policy["family"] for policy in floatgate.policies()} == {
        "cost", "throttle", "read-disturb", "page-choice", "coding", "slc-cache", "victim",
        "separation", "placement", "wear",
        "order", "arbitration",
    }, "a new family wants a figure in scripts/docsite/policies.py"  # fmt: skip


def test_a_link_that_leads_nowhere_stops_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from docsite import build as module

    page = module.Page("a.html", "# A\n\n[gone](gone.md) and [file](../Makefile)\n", "docs/a.md")
    monkeypatch.setattr(module, "collect", lambda figures: [page])
    with pytest.raises(ValueError, match=r"docs/a\.md: there is no docs/gone\.md"):
        module.build(tmp_path)


# ── Changes ──────────────────────────────────────────────────────────────────────────────────────


def test_every_change_is_one_dated_line_of_a_version() -> None:
    """Entries of a part go from new to old, and no entry is later than its version."""
    version, last = "", ""
    entries = 0
    for line in (ROOT / "CHANGELOG.md").read_text().splitlines()[6:]:
        heading = r"## \d+\.\d+\.\d+ \((\d{4}-\d\d-\d\d)(, not released)?\)"
        if begun := re.fullmatch(heading, line):
            version = begun[1]
        elif line.startswith("### "):
            assert line[4:] in ("Added", "Changed", "Fixed", "Results change")
            last = version
        elif line:
            entry = re.fullmatch(r"\* (\d{4}-\d\d-\d\d): .*\S", line)
            assert entry, line
            assert entry[1] <= last, line
            last = entry[1]
            entries += 1
    assert entries > 30
