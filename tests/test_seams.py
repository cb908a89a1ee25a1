"""A mechanism declares its new names in one place; the rest of the project shows them.

A copy of the tree gets *probes*. A probe is a declaration, a line where it is used, and files of
its own. No other file of the copy changes. The copy must compile, and its results, tables and pages
must show each new name with its numbers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

ROOT = Path(__file__).parent.parent
COPY = ROOT / "target" / "seams"
"""Kept from one run to the next, and built beside the tree: only changed files are built again."""

BUILT = ROOT / "target"

COPIED = ("Cargo.toml", "Cargo.lock", "clippy.toml", "README.md", "pyproject.toml")
pytestmark = pytest.mark.timeout(1800)
"""The engine is compiled anew, which takes minutes where other work goes on."""

FOLDERS = ("crates", "studies", "fuzz", "presets", "python", "docs", "scripts", "schema")


@dataclass(frozen=True)
class Probe:
    """Additions to a copy: lines behind the one place in a file that a pattern finds, and files."""

    declared: tuple[str, str, str]
    """The one place that declares it: the file, the pattern, and the lines."""
    used: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Uses besides its own files: by file the pattern and the lines."""
    files: Mapping[str, str] = field(default_factory=dict)

    def edits(self) -> list[tuple[str, str, str]]:
        """Every place that changes in a file that was there."""
        return [self.declared, *((path, *lines) for path, lines in self.used.items())]


POLICY = """//! `probe`: now and then the coldest data of a plane move, for the source under test.

use crate::info::{Family, PolicyInfo};
use crate::params::Params;
use ftl::{Balance, Dest, Plan, Step, StreamId, Watch, Wear};
use nand::Source;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "probe",
    summary: "Moves the coldest block at every tenth erase, for the source under test.",
    paper: "none",
    ..PolicyInfo::of(Family::Wear)
};

/// Counts erases.
pub struct Probe {
    erases: u64,
}

pub(crate) fn new(_: &Params) -> Probe {
    Probe { erases: 0 }
}

impl Watch for Probe {}

impl Wear for Probe {
    fn active(&self) -> bool {
        true
    }

    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan) {
        self.erases += 1;
        let wear = balance.plane.ftl.wear;
        let coldest = balance.plane.candidates().min_by_key(|b| (wear[*b], b.as_u32()));
        if let (0, Some(block)) = (self.erases % 10, coldest) {
            *plan = Plan::of(Source::Probed);
            plan.push(Step::Reclaim { block, to: Dest::Stream(StreamId::WEAR) });
        }
    }
}
"""

BOOKING = """//! A tenth of the time that a request spent in the array goes to the cause under test.

use crate::ops::Spent;
use nand::Cause;

pub(super) fn book(spent: &mut Spent) {
    let part = spent.causes[Cause::Array] / 10;
    spent.causes[Cause::Array] -= part;
    spent.causes[Cause::Sampled] += part;
}
"""

SOURCE = Probe(
    declared=(
        "crates/nand/src/account.rs",
        r'Map = "map";\n',
        '        /// Moves that a test asks for.\n        Probed = "probed", "a probe";\n',
    ),
    used={
        "crates/policies/src/wear/mod.rs": (
            r"none: none::NoWear,\n",
            "        probe: probe::Probe,\n",
        ),
    },
    files={"crates/policies/src/wear/probe.rs": POLICY},
)

CAUSE = Probe(
    declared=(
        "crates/nand/src/account.rs",
        r'Suspend = "suspend"[^;]*;\n',
        '        /// Sampled by a test.\n        Sampled = "sampled", "under a test";\n',
    ),
    used={
        "crates/ssd/src/sim/mod.rs": (r"\nmod enter;\n", "mod probe;\n"),
        "crates/ssd/src/sim/answer.rs": (
            r"spent\.causes\[Cause::Throttle\] \+= [^;]+;\n",
            "        super::probe::book(&mut spent);\n",
        ),
    },
    files={"crates/ssd/src/sim/probe.rs": BOOKING},
)

LUCK = """//! A section that a test adds.

use super::SectionAbout;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section("Luck that a test counts.").later();

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

pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    let lucky_pages = e.counts.host_pages / 7;
    Luck { lucky_pages, patron: (lucky_pages > 0).then(|| "Fortuna".to_owned()) }
}
"""

SECTION = Probe(
    declared=("crates/ssd/src/result/sections/mod.rs", r"\n    buffer,\n", "    luck,\n"),
    files={"crates/ssd/src/result/sections/luck.rs": LUCK},
)

PROBES = (SOURCE, CAUSE, SECTION)


def write(path: Path, text: bytes) -> None:
    """Writes changed files alone: an equal file keeps its time, so cargo does not build it anew."""
    if not path.is_file() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def tree() -> dict[Path, bytes]:
    """The files of a copy without probes."""
    paths = [ROOT / name for name in COPIED]
    for folder in FOLDERS:
        paths += [
            p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts
        ]
    kept = [p for p in paths if p.suffix not in (".so", ".pyc")]
    return {path.relative_to(ROOT): path.read_bytes() for path in kept}


def probed(files: dict[Path, bytes], probes: Sequence[Probe]) -> dict[Path, bytes]:
    """The same with probes."""
    files = dict(files)
    for probe in probes:
        for name, pattern, lines in probe.edits():
            text = files[Path(name)].decode()
            places = list(re.finditer(pattern, text))
            assert len(places) == 1, f"{name}: {len(places)} places for `{pattern}`"
            end = places[0].end()
            files[Path(name)] = (text[:end] + lines + text[end:]).encode()
        for name, text in probe.files.items():
            assert Path(name) not in files
            files[Path(name)] = text.encode()
    return files


def of_another_version(files: dict[Path, bytes]) -> dict[Path, bytes]:
    """The same tree under another version, so that crates built of it are not taken for ours.

    Without it, each run of these tests makes cargo compile the tree's own crates once more.
    """
    manifest, count = re.subn(
        rb'^version = ".*"$', b'version = "0.0.1"', files[Path("Cargo.toml")], flags=re.M
    )
    assert count == 1
    return files | {Path("Cargo.toml"): manifest}


@pytest.fixture(scope="module")
def copy() -> Path:
    """The copy with all probes."""
    files = of_another_version(probed(tree(), PROBES))
    assert len(files) > 400
    here = [p for folder in FOLDERS for p in (COPY / folder).rglob("*") if p.is_file()]
    for path in here:
        if path.relative_to(COPY) not in files and path.suffix not in (".so", ".pyc"):
            path.unlink()
    for path, text in files.items():
        write(COPY / path, text)
    return COPY


def cargo(copy: Path, *words: str) -> None:
    """Runs cargo in the copy."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on the path")
    done = subprocess.run(
        ["cargo", *words, "--profile", "fast", "--target-dir", str(BUILT)],
        cwd=copy,
        env=os.environ | {"PYO3_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-8_000:]


def test_each_probe_is_declared_in_one_place_and_the_rest_is_its_own() -> None:
    before = tree()
    for probe in PROBES:
        after = probed(before, [probe])
        changed = {str(path) for path in before if after[path] != before[path]}
        assert changed == {probe.declared[0], *probe.used}
        added = {str(path) for path in after.keys() - before.keys()}
        assert added == set(probe.files) != set()


def test_a_copy_with_new_accounts_compiles(copy: Path) -> None:
    cargo(copy, "check", "-p", "floatgate-python", "-p", "floatgate-live")


RUN = """
import json, sys
import floatgate
from floatgate.result import values
from floatgate.result.measures import find

out, settings = sys.argv[1], json.loads(sys.argv[2])
asked = dict(set=settings, policy={"wear": "probe"}, out=out)
pair = floatgate.compare("agcr", "random-write", seed=[1, 2], workers=1, **asked)
pair.save_report(out + "/report.html")
run = floatgate.run("agcr", "random-write", **asked)
told = {
    "result": run.data, "folder": str(run.folder), "page": str(run), "sources": values.SOURCES,
    "parts": values.PARTS, "delays": run.delays().to_dicts(), "pair": str(pair),
    "flash": run.flash_operations().to_dicts(), "pages": run.luck.lucky_pages,
    "measure": find("luck.lucky_pages", [run]).of(run),
    "frame": run.frame()["luck.lucky_pages"][0],
}
value = json.loads((run.folder / "result.json").read_text())
del value["stored"], value["luck"]
for operation in ("read", "program", "erase"):
    del value["flash"][operation]["probed"]
(run.folder / "result.json").write_text(json.dumps(value))
earlier = floatgate.Result.load(run.folder)
told |= {"earlier": earlier.data, "earlier page": str(earlier)}
print(json.dumps(told))
"""

DRIVE = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "ftl.spare-factor": 0.2,
    "precondition.fill": "full",
    "workload.requests": 20_000,
    "workload.read-share": 0.3,
}


@pytest.fixture(scope="module")
def ran(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of a run of the copy, by its own Python."""
    cargo(copy, "build", "-p", "floatgate-python")
    extension = "lib_core.dylib" if sys.platform == "darwin" else "lib_core.so"
    shutil.copy(BUILT / "fast" / extension, copy / "python" / "floatgate" / "_core.abi3.so")
    out = tmp_path_factory.mktemp("probed")
    done = python(copy, "-c", RUN, str(out), json.dumps(DRIVE))
    told: dict[str, Any] = json.loads(done)
    python(copy, "scripts/pages.py")
    return told | {"report": (out / "report.html").read_text()}


def python(copy: Path, *words: str) -> str:
    """Runs Python with the package of the copy. Returns its output."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy / "python"), "FLOATGATE_CACHE": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-8_000:]
    return done.stdout


@pytest.mark.verify
def test_a_new_source_is_counted_everywhere(ran: dict[str, Any]) -> None:
    flash = ran["result"]["flash"]
    for kind in ("read", "program", "erase"):
        assert flash[kind]["probed"] > 0
        assert sum(n for name, n in flash[kind].items() if name != "total") == flash[kind]["total"]
    assert "probed" in ran["sources"]
    assert {row["operation"]: row["probed"] for row in ran["flash"]}["program"] > 0
    assert ran["result"]["host"]["write"]["delay_ns_by_cause"]["queue"]["probed"] > 0
    series = pl.read_parquet(Path(ran["folder"], "series.parquet"))
    assert series["flash_program_probed_pages"].sum() == flash["program"]["probed"]
    assert series["flash_erase_probed_blocks"].sum() == flash["erase"]["probed"]
    requests = pl.read_parquet(Path(ran["folder"], "requests.parquet"))
    assert requests["queue_probed_ns"].sum() == series["queue_probed_ns"].sum() > 0


@pytest.mark.verify
def test_a_new_cause_has_its_time_everywhere(ran: dict[str, Any]) -> None:
    requests = pl.read_parquet(Path(ran["folder"], "requests.parquet"))
    array, sampled = requests["array_ns"], requests["sampled_ns"]
    # A tenth of it all, rounded down.
    assert (sampled == (array + sampled) // 10).all()
    assert sampled.sum() > 0
    parts = [
        c for c in requests.columns if c.endswith("_ns") and c not in ("arrival_ns", "latency_ns")
    ]
    assert (requests.select(pl.sum_horizontal(parts)).to_series() == requests["latency_ns"]).all()
    series = pl.read_parquet(Path(ran["folder"], "series.parquet"))
    assert series["sampled_ns"].sum() == sampled.sum()
    means = ran["result"]["host"]["all"]["delay_ns_by_cause"]
    assert means["sampled"] == pytest.approx(sampled.mean())
    delays = {(row["operation"], row["cause"]): row["mean_ns"] for row in ran["delays"]}
    assert delays["all", "sampled"] == means["sampled"]


@pytest.mark.verify
def test_new_accounts_are_on_every_page(ran: dict[str, Any], copy: Path) -> None:
    page, report = ran["page"], ran["report"]
    assert re.search(r"^ +host +gc .*\bprobed\b.* total$", page, re.MULTILINE)
    for label in ("waiting behind a probe", "under a test"):
        assert label in ran["parts"].values()
        assert re.search(rf"^  {label} +\d", page, re.MULTILINE), label
        assert f'"part": "{label}"' in report or f'"part":"{label}"' in report, label
    documented = (copy / "docs" / "results.md").read_text()
    for name in ("probed", "queue_probed_ns", "flash_program_probed_pages", "sampled_ns"):
        assert f"`{name}`" in documented, name
    assert "Moves that a test asks for." in documented
    assert "Sampled by a test." in documented


@pytest.mark.verify
def test_a_new_section_is_on_every_page(ran: dict[str, Any], copy: Path) -> None:
    # Every request that writes programs one page.
    lucky = ran["result"]["flash"]["program"]["host"] // 7
    assert ran["result"]["luck"] == {"lucky_pages": lucky, "patron": "Fortuna"}
    keys = list(ran["result"])
    assert keys[keys.index("buffer") + 1] == "luck"
    assert ran["pages"] == ran["measure"] == ran["frame"] == lucky > 0
    for page in (ran["page"], ran["pair"]):
        assert re.search(r"^luck$", page, re.MULTILINE)
        assert "lucky_pages" in page
    assert "Luck that a test counts." in ran["page"]
    assert re.search(r"lucky_pages +[\d ,]+ pages$", ran["page"], re.MULTILINE)
    assert re.search(r"patron +Fortuna$", ran["page"], re.MULTILINE)
    report = ran["report"]
    assert "<caption>luck</caption>" in report
    assert re.search(r'data-label="lucky_pages"[^>]*>\d', report)
    assert re.search(r"patron.{0,40}Fortuna", report)
    documented = (copy / "docs" / "results.md").read_text()
    assert "### `luck`\n\nLuck that a test counts." in documented
    row = "| `lucky_pages` | pages | Every seventh page that the host programs. |"
    assert row in documented
    assert "| `patron` |" in documented
    glossary = (copy / "docs" / "glossary.md").read_text()
    assert "| [`luck`](results.md#luck) | Luck that a test counts. |" in glossary


@pytest.mark.verify
def test_results_from_before_have_nothing_of_it(ran: dict[str, Any]) -> None:
    assert ran["earlier"]["luck"] is None
    assert "luck" not in ran["earlier page"]
    assert ran["earlier"]["flash"]["program"]["probed"] == 0
