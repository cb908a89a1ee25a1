"""A section of a result is a file of its own and a line in one list; all pages then show it.

A copy of the tree gets such a section with two fields. No other file of the copy changes. The copy
must compile, and its results, pages and documentation must have both fields by name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
COPY = ROOT / "target" / "seams-section" / "tree"
"""Kept from one run to the next with what was built there: only what changed is built again."""

BUILT = ROOT / "target" / "seams-section" / "target"

COPIED = ("Cargo.toml", "Cargo.lock", "clippy.toml", "README.md", "pyproject.toml")
FOLDERS = ("crates", "studies", "presets", "python", "docs", "scripts", "schema")

LIST = "crates/ssd/src/result/sections/mod.rs"
PLACE = "\n    buffer,\n"
LINE = "    luck,\n"
FILE = "crates/ssd/src/result/sections/luck.rs"
SECTION = """//! A section that a test adds.

use super::About;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::Kit;

pub(crate) const ABOUT: About = About::section("Luck that a test counts.").later();

pub(crate) type Section = Luck;

table! {
    /// Luck.
    struct Luck {
        /// Every seventh page that the host programs.
        lucky_pages: u64, "pages";
        /// The name of the luck. Null without any.
        patron: Option<String>;
    }
}

pub(crate) fn of<K: Kit>(e: &Evidence<'_, K>) -> Section {
    let lucky_pages = e.counts.host_pages / 7;
    Luck { lucky_pages, patron: (lucky_pages > 0).then(|| "Fortuna".to_owned()) }
}
"""


def write(path: Path, text: bytes) -> None:
    """Writes what differs: an equal file keeps its time, so cargo does not build it anew."""
    if not path.is_file() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def tree() -> dict[str, bytes]:
    """The files of a copy without the section."""
    paths = [ROOT / name for name in COPIED]
    for folder in FOLDERS:
        found = (p for p in (ROOT / folder).rglob("*") if p.is_file())
        paths += [p for p in found if "__pycache__" not in p.parts and p.suffix != ".so"]
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths}


def with_section(files: dict[str, bytes]) -> dict[str, bytes]:
    text = files[LIST].decode()
    assert text.count(PLACE) == 1
    assert FILE not in files
    return files | {
        LIST: text.replace(PLACE, PLACE + LINE).encode(),
        FILE: SECTION.encode(),
    }


@pytest.fixture(scope="module")
def copy() -> Path:
    """The copy with the section."""
    files = with_section(tree())
    assert len(files) > 400
    for folder in FOLDERS:
        for path in (COPY / folder).rglob("*"):
            name = path.relative_to(COPY).as_posix()
            if path.is_file() and name not in files and path.suffix not in (".so", ".pyc"):
                path.unlink()
    for name, content in files.items():
        write(COPY / name, content)
    return COPY


def cargo(copy: Path, *words: str) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the path")
    done = subprocess.run(
        ["cargo", *words, "--profile", "fast", "--target-dir", str(BUILT)],
        check=False,
        cwd=copy,
        env=os.environ | {"PYO3_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-8_000:]


def python(copy: Path, *words: str) -> str:
    """Runs Python with the package of the copy. Returns what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy / "python"), "FLOATGATE_CACHE": "off"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-8_000:]
    return done.stdout


def test_a_section_is_a_file_and_a_line() -> None:
    before = tree()
    after = with_section(before)
    assert {name for name in before if after[name] != before[name]} == {LIST}
    assert after.keys() - before.keys() == {FILE}
    old, new = (files[LIST].decode().splitlines() for files in (before, after))
    assert len(new) == len(old) + 1


def test_a_copy_with_a_new_section_compiles(copy: Path) -> None:
    cargo(copy, "check", "-p", "floatgate-ssd")


RUN = """
import json, sys
import floatgate
from floatgate.result.measures import find

out, settings = sys.argv[1], json.loads(sys.argv[2])
run = floatgate.run("agcr", "random-write", set=settings, out=out)
pair = floatgate.compare("agcr", "random-write", seed=[1, 2], set=settings, out=out, workers=1)
pair.save_report(out + "/report.html")
measure = find("luck.lucky_pages", [run])
value = json.loads((run.folder / "result.json").read_text())
del value["stored"], value["luck"]
(run.folder / "result.json").write_text(json.dumps(value))
earlier = floatgate.Result.load(run.folder)
print(json.dumps({
    "result": run.data, "page": str(run), "pair": str(pair), "pages": run.luck.lucky_pages,
    "measure": measure.of(run), "frame": run.frame()["luck.lucky_pages"][0],
    "earlier": earlier.data["luck"], "earlier page": str(earlier),
}))
"""

DRIVE = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "workload.requests": 2_000,
}


@pytest.mark.verify
def test_a_new_section_is_everywhere(copy: Path, tmp_path: Path) -> None:
    cargo(copy, "build", "-p", "floatgate-python")
    extension = "lib_core.dylib" if sys.platform == "darwin" else "lib_core.so"
    shutil.copy(BUILT / "fast" / extension, copy / "python" / "floatgate" / "_core.abi3.so")
    ran: dict[str, Any] = json.loads(python(copy, "-c", RUN, str(tmp_path), json.dumps(DRIVE)))
    # Every request writes one page.
    assert ran["result"]["luck"] == {"lucky_pages": 2_000 // 7, "patron": "Fortuna"}
    keys = list(ran["result"])
    assert keys[keys.index("buffer") + 1] == "luck"
    assert ran["pages"] == ran["measure"] == ran["frame"] == 285
    for page in (ran["page"], ran["pair"]):
        assert re.search(r"^luck$", page, re.MULTILINE)
        assert "lucky_pages" in page
        assert "285" in page
    assert "Luck that a test counts." in ran["page"]
    assert re.search(r"lucky_pages +285 pages$", ran["page"], re.MULTILINE)
    assert re.search(r"patron +Fortuna$", ran["page"], re.MULTILINE)
    assert ran["earlier"] is None
    assert "luck" not in ran["earlier page"]
    report = (tmp_path / "report.html").read_text()
    assert "<caption>luck</caption>" in report
    assert re.search(r'data-label="lucky_pages"[^>]*>285', report)
    assert re.search(r"patron.{0,40}Fortuna", report)
    python(copy, "scripts/pages.py")
    documented = (copy / "docs" / "results.md").read_text()
    assert "### `luck`\n\nLuck that a test counts." in documented
    row = "| `lucky_pages` | pages | Every seventh page that the host programs. |"
    assert row in documented
    assert "| `patron` |" in documented
    glossary = (copy / "docs" / "glossary.md").read_text()
    assert "| [`luck`](results.md#luck) | Luck that a test counts. |" in glossary
