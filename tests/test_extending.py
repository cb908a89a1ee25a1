"""The steps of docs/design/adding.md are enough to add policies, a format and a key."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from test_docs import ROOT, Block, blocks

PAGE = ROOT / "docs" / "design" / "adding.md"
COPY = ROOT / "target" / "extending"


def words(block: Block) -> dict[str, str]:
    return dict(word.split("=", 1) for word in block.words if "=" in word)


def steps(*folders: str) -> list[Block]:
    """The steps of the page that change or make something in these folders."""
    found = []
    for block in blocks(PAGE):
        path = words(block).get("new") or words(block).get("into") or ""
        if any(path.startswith(folder) for folder in folders):
            found.append(block)
    return found


def take(step: Block, tree: Path) -> None:
    """Makes a file, or puts lines before the first that has a pattern, as the page says."""
    said = words(step)
    if "new" in said:
        path = tree / said["new"]
        assert not path.exists(), path
        path.write_text(step.text)
        return
    path = tree / said["into"]
    lines = path.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if re.search(said["before"], line)]
    assert at, f"{said['into']} has no line with {said['before']}"
    path.write_text("".join([*lines[: at[0]], step.text, *lines[at[0] :]]))


@pytest.fixture
def tree() -> Path:
    """A copy of the tree, without the files that are not kept in it."""
    if not shutil.which("cargo") or not (ROOT / ".git").exists():
        pytest.skip("there is no tree to copy, or no cargo to build it with")
    # Always in the same place: unchanged crates are not built again.
    shutil.rmtree(COPY, ignore_errors=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in files.splitlines():
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)
    # Of another version: crates built here are not taken for those of the tree.
    manifest = COPY / "Cargo.toml"
    named, count = re.subn(
        r'^version = ".*"$', 'version = "0.0.1"', manifest.read_text(), flags=re.M
    )
    assert count == 1
    manifest.write_text(named)
    return COPY


# The crates of the copy are compiled for these tests alone, which are quick in any form.
QUICK = [
    f"--config=profile.fast.package.floatgate-{name}.opt-level=0"
    for name in ("kernel", "nand", "ftl", "policies", "workload")
]


def cargo(tree: Path, *words: str, **more: str) -> str:
    """The output of a command of cargo in a copy, which shares the artefacts of others."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")} | more
    # Words after `--` are for the tests.
    end = words.index("--") if "--" in words else len(words)
    options = ["--profile=fast", "--offline", *QUICK]
    done = subprocess.run(
        ["cargo", *words[:end], *options, *words[end:]],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.verify
def test_policies_and_a_format_are_a_file_and_a_line(tree: Path) -> None:
    taken = steps("crates/policies", "crates/workload", "docs/reference/trace-formats.md")
    made = [words(step)["new"] for step in taken if "new" in words(step)]
    assert [Path(path).stem for path in made] == ["older_half", "moved_high", "srt"]
    for step in taken:
        take(step, tree)
    for path in made:
        formatted = ["rustfmt", "--check", str(tree / path)]
        assert subprocess.run(formatted, capture_output=True, check=False).returncode == 0, path
    # In one command: crates compile anew where a selection of packages asks other features of them.
    crates = ("-p", "floatgate-policies", "-p", "floatgate-workload")
    read = cargo(tree, "test", *crates, "--lib", "--", "set::", "trace::tests")
    assert "every_policy_is_described_named_once_and_can_be_built ... ok" in read
    # The round trip, the matrix of formats, the sections of the page.
    assert "every_format_gives_back_what_was_written_in_it ... ok" in read
    assert "the_lines_in_the_documents_read_as_they_say ... ok" in read


@pytest.mark.verify
def test_all_of_it_runs(tree: Path) -> None:
    for step in steps(""):
        if {"new", "into"} & words(step).keys():
            take(step, tree)
    # Every victim over a model of the FTL; every cost policy, and every policy, on drives.
    cargo(tree, "test", "-p", "floatgate-ftl", "--test", "main", "model::")
    (tree / "crates/ssd/tests/extended.rs").write_text(KEY)
    with (tree / "crates/ssd/tests/main.rs").open("a") as modules:
        modules.write("mod extended;\n")
    modules_of = ("cost::", "options::", "extended::")
    cargo(tree, "test", "-p", "floatgate-ssd", "--test", "main", "--", *modules_of)
    # The schema follows when it is asked to, and the tests of drive files know the key.
    schema = ("--test", "main", "config::presets::the_schema_is")
    cargo(tree, "test", "-p", "floatgate-ssd", *schema, FLOATGATE_BLESS="1")
    assert '"side-by-side"' in (tree / "schema/drive.json").read_text()


KEY = """
//! The key of the page: read, bounded, echoed, known to the schema.

use floatgate_ssd::config::{Layers, load, render};

fn drive(set: &str) -> Result<floatgate_ssd::Drive, String> {
    let set = [set.to_owned()];
    let layers = Layers {
        file: ("mine.toml", "base = \\"agcr\\"\\n"),
        library: &|_| None,
        set: &set,
        policy: &["victim=older-half".to_owned(), "cost=moved-high".to_owned()],
        seed: None,
    };
    load(&layers).map_err(|errors| render(&errors, false))
}

#[test]
fn it_is_a_key_like_others() {
    let set = drive("ftl.gc.side_by_side=4").unwrap_err();
    assert!(set.contains("did you mean `side-by-side`"), "{set}");
    let drive_of = |n| drive(&format!("ftl.gc.side-by-side={n}"));
    let four = drive_of(4).unwrap();
    assert_eq!(four.ftl.gc.side_by_side, 4);
    assert_eq!(four.resolved["ftl"]["gc"]["side-by-side"], 4);
    assert_eq!(four.sources["ftl.gc.side-by-side"], "--set");
    let usual = drive("ftl.gc.stop=4").unwrap();
    assert_eq!(usual.ftl.gc.side_by_side, 1);
    assert_ne!(usual.hash(), four.hash());
    let wrong = drive_of(9).unwrap_err();
    assert!(wrong.contains("`ftl.gc.side-by-side` is 9") && wrong.contains("1 to 8"), "{wrong}");
}
"""
