"""The documentation: commands that are marked run as they stand, and the site is whole."""

import html.parser
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import floatgate
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


def test_there_are_pages_with_commands_that_run() -> None:
    assert len(PAGES) >= 4
    names = {path.stem for path in PAGES}
    assert {"getting-started", "extending", "view"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    """In one folder, as a reader would: files are made as they are shown, commands follow."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name, words in (("floatgate", "-m floatgate"), ("python", "")):
        script = bin / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = os.environ | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    ran = 0
    for block in blocks(page):
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
        ran += 1
    assert ran


def test_the_first_page_of_the_readme_is_what_its_command_prints(floatgate: Floatgate) -> None:
    shell, page = [*blocks(ROOT / "README.md")][1:3]
    (command,) = (line for line in shell.text.splitlines() if line.startswith("floatgate run"))
    done = floatgate(*command.split()[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(page.text)
    assert "p99 88.6 ms" in page.text, "an SSD at work: not all percentiles are one"


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


class Links(html.parser.HTMLParser):
    """What a page of the site points to, and what can be pointed at."""

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
        "cost", "throttle", "read-disturb", "page-choice", "coding", "victim", "placement", "wear",
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
