"""The shape of the project: which module may import which, and that every documented thing
exists."""

import ast
import itertools
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import LONGEST
from rust_modules import Crate, expanded, without_tests

ROOT = Path(__file__).parent.parent

# A crate may use these, and no other crate of the workspace (dev-dependencies are free).
MAY_USE = {
    "kernel": set(),
    "tables": set(),
    "nand": {"kernel"},
    "ldpc": {"kernel", "nand"},
    "ftl": {"kernel", "nand"},
    "policies": {"kernel", "nand", "ftl"},
    "workload": {"kernel"},
    "ssd": {"kernel", "nand", "ftl", "policies", "workload", "tables"},
    "live": {"ssd"},
    "c": {"ssd"},
    "python": {"ssd", "ldpc", "live", "tables"},
    "fuzz": {"kernel", "nand", "ftl", "policies", "workload", "ssd", "live"},
}
KNOWS_PYTHON = {"pyo3", "numpy"}
TARGETS = """setup demo test lint verify bench bench-count bench-peers bench-separation
    fuzz roam mutants golden measure-drives notebook pages papers screenshots schema docs wheel lib
    sdist clean"""


@pytest.fixture(scope="module")
def crates() -> dict[str, Any]:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not on the path")
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"]
    metadata = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    packages = {p["name"].removeprefix("floatgate-"): p for p in json.loads(metadata)["packages"]}
    assert packages.keys() == MAY_USE.keys()
    assert len(packages) == 12
    return packages


def test_crates_use_only_what_stands_below_them(crates: dict[str, Any]) -> None:
    edges = 0
    for name, package in crates.items():
        for dependency in package["dependencies"]:
            if dependency["kind"] == "dev":
                continue
            used = dependency["name"].removeprefix("floatgate-")
            if used in crates:
                edges += 1
                assert used in MAY_USE[name], f"{name} must not know {used}"
            else:
                assert used not in KNOWS_PYTHON or name == "python", f"{name} must not know {used}"
    assert edges >= 10


def features(*words: str) -> set[tuple[str, str]]:
    """Packages, with the features that a selection of packages asks of each."""
    command = ["cargo", "tree", "--offline", "--locked", "--prefix=none", "--no-dedupe"]
    command += ["--format={p}\t{f}", *words]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [line.partition("\t") for line in listed.splitlines() if line]
    return {(package, named) for package, _, named in lines}


def test_make_setup_and_make_test_compile_each_crate_once(crates: dict[str, Any]) -> None:
    """A crate with other features is another build of it, and of every crate that uses it."""
    extension = features("--package=floatgate-python", "--edges=normal,build")
    tests = features("--workspace", "--edges=normal,build,dev")
    assert len(extension) >= 50
    assert not extension - tests, "tests add features, or take some away"
    # One package by itself has the features of its own dependencies only.
    commands = re.findall(r"\bcargo .*--profile fast.*", (ROOT / "Makefile").read_text())
    assert len(commands) >= 4
    assert all(" --workspace " in command for command in commands)


def test_examples_of_documentation_are_tested_where_there_are_some() -> None:
    """A crate without examples is not compiled once more to look for them."""
    tested = 0
    for source in RUST.values():
        lines = (line for path in source.rglob("*.rs") for line in path.read_text().splitlines())
        examples = any(re.match(r"\s*//[/!]\s*```", line) for line in lines)
        manifest = tomllib.loads((source.parent / "Cargo.toml").read_text())
        assert manifest.get("lib", {}).get("doctest", True) == examples, source.parent.name
        tested += examples
    assert tested >= 3


def test_every_crate_has_the_lints_and_facts_of_the_workspace(crates: dict[str, Any]) -> None:
    for name, package in crates.items():
        manifest = tomllib.loads(Path(package["manifest_path"]).read_text())
        assert manifest.get("lints") == {"workspace": True}, name
        assert package["description"], name
        for key in ("version", "edition", "rust-version", "license", "repository"):
            assert manifest["package"][key] == {"workspace": True}, f"{name}: {key}"


RUST = {
    path.parent.parent.name: path.parent
    for folder in ("*/*", "fuzz")
    for path in ROOT.glob(f"{folder}/src/lib.rs")
}


def test_no_module_of_a_crate_leads_to_itself() -> None:
    assert RUST.keys() == MAY_USE.keys()
    edges = 0
    for name, source in RUST.items():
        graph = Crate(source).graph()
        assert circles(graph) == [], name
        edges += sum(map(len, graph.values()))
    assert edges >= 140


def section(heading: str) -> Iterator[str]:
    """The lines of the table of ARCHITECTURE.md that begins so."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    lines = text[text.index(heading) :].splitlines()[2:]
    return itertools.takewhile(lambda line: line.startswith("|"), lines)


def rows(heading: str) -> dict[str, set[str]]:
    """The rows of a table of ARCHITECTURE.md: names of the first column, and of the second."""
    found: dict[str, set[str]] = {}
    for line in section(heading):
        first, second = line.split("|")[1:3]
        for name in re.findall(r"`(\w+)`", first):
            assert name not in found
            found[name] = set(re.findall(r"\w+", second))
    return found


def test_architecture_says_who_uses_whom() -> None:
    assert rows("| module | uses |") == Crate(RUST["ssd"]).graph()
    assert rows("| crate | may use |") == MAY_USE
    python = (ROOT / "ARCHITECTURE.md").read_text().split("| package | what it holds |")[1]
    first = [line.split("|")[1] for line in python.split("\n\n")[0].splitlines()[2:]]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert [name for name in LAYERS if name in named] == named
    assert set(LAYERS) - set(named) == {"__main__"}


def test_parts_of_a_drive_name_none_of_what_architecture_says() -> None:
    ssd = Crate(RUST["ssd"])
    graph = ssd.graph()
    seen = set()
    for line in section("| part | module |"):
        _, _, module, _, none, _ = (cell.strip() for cell in line.split("|"))
        if not (name := module.strip("`")) or not none:
            continue
        banned = set(re.findall(r"\w+", none)) & (MAY_USE.keys() | graph.keys())
        used = MAY_USE["ftl"] if name == "crate" else graph[name] | ssd.crates(name)
        assert banned, name
        assert not banned & used, f"{name} names {banned & used}"
        seen.add(name)
    assert seen == {"clock", "host", "crate", "device", "ops"}


def test_the_device_is_compiled_once() -> None:
    """It is generic over no policy, and over no type that policies decide, such as the data of
    cells."""
    for path in sorted((ROOT / "crates" / "ssd" / "src" / "device").glob("*.rs")):
        code = without_tests(path.read_text())
        found = re.search(r"(?<!::)\b(PolicyTypes|Policies|Ftl|Store|Array|Builtin)\b", code)
        assert not found, f"{path.name} names {found[0]}"
        generics = re.findall(r"\bfn \w+<([^>]*)>|^(?:pub\S* )?(?:struct|impl|enum)<([^>]*)>", code)
        types = [g for pair in generics for g in pair if g and not g.startswith("'")]
        assert not types, f"{path.name} is generic over {types}"


def test_a_policy_knows_its_family_alone() -> None:
    crate = Crate(RUST["policies"])
    graph = crate.graph()
    families = set(graph) - {"external", "family", "info", "params", "set"}
    assert len(families) == 12
    for family in families:
        assert graph[family] == {"family", "info", "params"}
    assert graph["info"] | graph["params"] <= {"info", "params"}


def test_imports_of_rust_are_found_however_they_are_written(tmp_path: Path) -> None:
    texts = {
        "lib.rs": "mod a;\nmod b;\nmod c;\npub use b::*;\npub use c::deep::Deep as Renamed;",
        "a/mod.rs": "mod inner;\nuse crate::{Bee, b::{self as bees, Other}};\n",
        "a/inner.rs": "fn f() { crate::c::g::<u8>(super::super::b::BEE) }",
        "b.rs": "use kernel::Time;\npub struct Bee;\npub struct Other;\n"
        "#[cfg(test)]\nmod t { use crate::a; }",
        "c/mod.rs": "pub mod deep;\n// use crate::a;\n",
        "c/deep.rs": "use crate::Bee;\nfn f() -> crate::Renamed { nand::x::y() }\npub struct Deep;",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    crate = Crate(tmp_path)
    assert crate.graph() == {"a": {"b", "c"}, "b": set(), "c": {"b"}}
    assert circles(crate.graph()) == []
    assert (crate.crates("b"), crate.crates("c")) == ({"kernel"}, {"nand"})
    (tmp_path / "b.rs").write_text("pub struct Bee(crate::Renamed);\npub struct Other;")
    assert circles(Crate(tmp_path).graph()) == [{"b", "c"}]
    assert without_tests("a; #[cfg(test)] use b; c") == "a;  c"
    tree = "a::{b, c::{d as e, self}}"
    expected = {(("a", "b"), "b"), (("a", "c", "d"), "e"), (("a", "c"), "c")}
    assert set(expanded(tree)) == expected


def included(file: Path, folder: Path) -> set[Path]:
    """A source file and every file that its `mod` lines include; submodules lie in `folder`."""
    found = {file}
    line = re.compile(
        r'(?:^#\[path = "(?P<path>.+)"\]\n)?^(?:pub(?:\(.+\))? )?mod (?P<name>\w+);', re.M
    )
    for module in line.finditer(file.read_text()):
        name = module["name"]
        places = [(folder / f"{name}.rs", folder / name), (folder / name / "mod.rs", folder / name)]
        if module["path"]:
            place = (file.parent / module["path"]).resolve()
            places = [(place, place.parent)]
        for place, inside in places:
            if place.exists():
                found |= included(place, inside)
    return found


def test_every_file_of_tests_is_compiled_into_one_of_few_binaries(crates: dict[str, Any]) -> None:
    """`autotests = false` compiles no file by itself: one that no `mod` names tests nothing."""
    binaries, files = 0, 0
    for name, package in crates.items():
        folder = Path(package["manifest_path"]).parent / "tests"
        roots = [Path(t["src_path"]) for t in package["targets"] if "test" in t["kind"]]
        compiled = {file for root in roots for file in included(root, root.parent)}
        left = set(folder.rglob("*.rs")) - compiled
        assert not left, f"{name}: no `mod` names {sorted(p.name for p in left)}"
        binaries += len(roots)
        files += len(compiled)
    assert files >= 60
    assert binaries <= 7, "each binary links every library: add a module to `main.rs` instead"


# A sentence of ARCHITECTURE about the dependencies of a part, code that a folder must then not
# have, and the files that may have it.
KNOWS_NOT: list[tuple[str, str, str, set[str]]] = [
    (
        "of ftl they know its traits and views",
        r"\bftl::(?:\{[^}]*)?\b(?:Ftl|Job|JobId|Next|Config|GcMarks|Counts|Map|Damaged|seal|RESERVE)\b",
        "crates/policies/src",
        set(),
    ),
    (
        "| `live` | ssd | flash, policies, Python |",
        r"\b(?:nand|ftl|policies|physics)::",
        "crates/live/src",
        set(),
    ),
    (
        "bind pages of the host in `map.rs`",
        r"\bmap\s*\.\s*(?:bind|unbind)\(",
        "crates/ftl/src",
        {"lookup.rs", "fill.rs"},
    ),
    (
        "It alone has sockets",
        r"\bstd::(?:os::unix::)?net\b|\brustix::net\b",
        "crates",
        {"live"},
    ),
    ("Nothing below `crates/python` mentions Python", r"(?i)\bpy(?:thon|o3)", "crates", {"python"}),
    (
        "`space` asks no policy",
        r"\b(?:ask|PolicyTypes|Policies|Watch)\b",
        "crates/ftl/src/space",
        set(),
    ),
]


@pytest.mark.parametrize(("sentence", "pattern", "folder", "may"), KNOWS_NOT)
def test_who_does_not_know_whom(sentence: str, pattern: str, folder: str, may: set[str]) -> None:
    text = " ".join((ROOT / "ARCHITECTURE.md").read_text().split()).lower()
    assert " ".join(sentence.split()).lower() in text
    files = [p for p in sorted((ROOT / folder).rglob("*.rs")) if "src" in p.parts]
    seen = set()
    for path in files:
        if "tests" in path.parts or path.stem == "tests":
            continue
        found = re.search(pattern, without_tests(path.read_text()))
        names = may & set(path.relative_to(ROOT).parts)
        if found is not None:
            assert names, f"{path.relative_to(ROOT)} has {found[0]}"
            seen |= names
    assert len(files) >= 6
    assert seen == may, "take out who does not need it any more"


def settings(node: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of all sections and keys of a drive file."""
    for name, inner in node.get("properties", {}).items():
        yield path + name
        for part in (inner, *inner.get("anyOf", [])):
            yield from settings(part, f"{path}{name}.")


def test_checks_of_a_drive_name_settings_that_are_declared() -> None:
    """A check asks for a key by its name, so that it runs although other keys are wrong.

    A name that is not a key would be absent, and its check would never run.
    """
    known = set(settings(json.loads((ROOT / "schema" / "drive.json").read_text())))
    sections = {path.split(".")[0] for path in known}
    folder = ROOT / "crates" / "ssd" / "src" / "config"
    asked = set()
    for name in ("resolve.rs", "times.rs"):
        code = without_tests((folder / name).read_text())
        found = re.findall(r'"([a-z][a-z-]*(?:\.[a-z][a-z-]*)+)"', code)
        asked |= {path for path in found if path.split(".")[0] in sections}
    assert len(asked) >= 30
    assert asked <= known, asked - known


def test_the_core_touches_no_files_and_no_terminal() -> None:
    banned = re.compile(r"std::(fs|net|process|thread)\b|\be?print(ln)?!|\bdbg!")
    seen = 0
    core = [f"crates/{name}" for name in ("kernel", "tables", "nand", "ftl", "policies", "ssd")]
    for crate in (*core, "studies/ldpc"):
        for path in (ROOT / crate / "src").rglob("*.rs"):
            if path.stem == "tests" or path.parent.name == "tests":
                continue
            code = path.read_text().split("#[cfg(test)]")[0]
            lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
            assert not banned.search("\n".join(lines)), f"{path.relative_to(ROOT)}"
            seen += 1
    assert seen >= 15


def test_sums_of_time_are_no_plain_numbers() -> None:
    """Times add up as `Dur`, within the time of a run, or as `TimeSum`: 64 bits are 584 years."""
    plain = re.compile(r"\+=[^;]*\bas_ns\b(?!\(\) as f64)|as_ns(?:\(\))?\)\.sum\b")
    seen = 0
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        # Delays have their own guard, which a test beside them fills.
        if path.name == "delays.rs" or "tests" in path.parts or "kernel" in path.parts:
            continue
        code = path.read_text().split("#[cfg(test)]")[0]
        found = plain.search(code)
        assert not found, f"{path.relative_to(ROOT)} adds up nanoseconds: {found[0]}"
        seen += "TimeSum" in code
    assert seen >= 10
    assert plain.search("self.total += took.as_ns();")
    assert plain.search("self.total += u128::from((now - then).as_ns());")
    assert plain.search("times.map(|t| t.as_ns()).sum::<u64>()")


TYPE = re.compile(
    r"^ *pub(?:\([^)]*\))? (?:struct|enum|union|trait|type) (\w+)"
    r"|table! \{\n(?: *///.*\n)* *struct (\w+)",
    re.MULTILINE,
)

JUSTIFIED = {
    "Section": "the type of a section of a result, one for each file in the list of sections",
    "Fifo": "a policy of two families, first in and first out in both",
    "Merge": "merging is what the arbiter and the workload of this name do",
}
"""Names that several types have because they mean the same."""

MIRRORS = {"crates/python/src/physics.rs", "crates/python/src/views.rs"}
"""The classes of Python: each is the copy of the type of the engine with its name."""


def types(files: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """By name the files that declare a type of it which other files can see."""
    found: dict[str, set[str]] = {}
    for path, text in files:
        for declared in TYPE.finditer(text.split("#[cfg(test)]")[0]):
            found.setdefault(declared[1] or declared[2], set()).add(path)
    return found


def test_a_type_has_a_name_of_its_own() -> None:
    """A type that only its own file sees may have any name; all others mean one thing in the
    engine."""
    files = [
        (path.relative_to(ROOT).as_posix(), path.read_text())
        for path in sorted((ROOT / "crates").glob("*/src/**/*.rs"))
        if "tests" not in path.parts and path.stem != "tests"
    ]
    assert len(files) > 200
    assert {path for path, _ in files} > MIRRORS
    known = [(path, text) for path, text in files if path not in MIRRORS]
    twice = {name: sorted(where) for name, where in types(known).items() if len(where) > 1}
    assert twice.keys() == JUSTIFIED.keys(), twice
    again = [*known, ("crates/x/src/lib.rs", "pub(crate) struct Histogram;\nstruct Unseen;")]
    planted = {name for name, where in types(again).items() if len(where) > 1} - twice.keys()
    assert planted == {"Histogram"}


def test_one_python_module_knows_the_extension() -> None:
    importers = set()
    modules = sorted((ROOT / "python" / "floatgate").rglob("*.py"))
    assert len(modules) >= 7
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            if any(name.startswith("floatgate._core") for name in names):
                importers.add(path.name)
    assert importers == {"engine.py"}


# The parts of the Python package from the bottom up: each may use those named before it.
LAYERS = [
    "engine", "mistakes", "build", "terminal", "hints", "words", "result", "cache",
    "policy", "settings",
    "pages", "workloads", "measured", "lists", "starter", "pictures", "report", "experiments",
    "runs", "live", "session", "simpy",
    "cluster", "physics", "life", "migrate", "published", "text", "reproduce", "cli",
    "process", "__main__",
]  # fmt: skip
PACKAGE = ROOT / "python" / "floatgate"
Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source: str, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each import of a module, at any place in the file, with that place: module, function or
    types."""
    names = set(known)

    def inside(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            place = "function"
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            place = "types"
        elif isinstance(node, ast.Import):
            yield from ((each.name, place) for each in node.names if each.name in names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name their module whole"
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                if inner in names or node.module in names:
                    yield inner if inner in names else str(node.module), place
        for child in ast.iter_child_nodes(node):
            yield from inside(child, place)

    return inside(ast.parse(source), "module")


def circles(graph: Graph) -> list[set[str]]:
    """Sets of modules each of which leads to all the others."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    leads_to = {name: reached(name) for name in graph}
    found = [{o for o in leads_to[n] if n in leads_to.get(o, ())} for n in graph]
    return [each for i, each in enumerate(found) if each and each not in found[:i]]


@pytest.fixture(scope="module")
def graph() -> Graph:
    known = modules()
    assert len(known) >= 120
    graph: Graph = {name: set() for name in known}
    places: Counter[str] = Counter()
    for name, path in known.items():
        for other, place in imported(path.read_text(), known):
            graph[name].add(other)
            places[place] += 1
    # Modules that only a text names.
    studies = {name for name in known if name.startswith("floatgate.reproduce.studies.")}
    assert len(studies) >= 20
    graph["floatgate.reproduce.runner"] |= studies
    assert places["module"] >= 400
    assert places["function"] >= 40
    assert places["types"] >= 40
    assert "floatgate.result.run" in graph["floatgate.runs.run"]
    assert "floatgate.report" in graph["floatgate"], "under TYPE_CHECKING"
    assert "floatgate.text.result" in graph["floatgate"], "in a function"
    return graph


def test_no_module_of_python_leads_to_itself(graph: Graph) -> None:
    assert circles(graph) == []
    closed = graph | {"floatgate.words": graph["floatgate.words"] | {"floatgate.cli.show"}}
    assert any({"floatgate.words", "floatgate.cli.show"} <= each for each in circles(closed))


def test_parts_of_the_python_package_use_what_stands_below_them(graph: Graph) -> None:
    def part(name: str) -> str:
        return name.removeprefix("floatgate").removeprefix(".").partition(".")[0]

    assert {part(name) for name in graph} == {"", *LAYERS}
    for name, others in graph.items():
        for other in others:
            if not part(name) or part(name) == part(other):
                continue
            if not part(other):
                assert part(name) in ("cli", "__main__"), f"{name} uses what people use"
                continue
            assert LAYERS.index(part(other)) < LAYERS.index(part(name)), f"{name} uses {other}"
    below = {part(other) for name in graph if part(name) == "result" for other in graph[name]}
    assert below == {"engine", "mistakes", "hints", "words", "result"}


def test_no_module_has_the_name_of_one_of_python_or_of_a_function_that_people_use() -> None:
    names = {name.rpartition(".")[2] for name in modules()}
    assert not names & sys.stdlib_module_names
    tops = {name.partition(".")[2] for name in modules() if name.count(".") == 1}
    assert tops & set(floatgate.__all__) == {"cluster", "physics", "policy", "report", "simpy"}


def test_what_people_use_is_what_is_listed() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (types,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (n.module, a.name) for n in types.body if isinstance(n, ast.ImportFrom) for a in n.names
    }
    homes = {(f"floatgate.{home}", name) for name, home in floatgate._HOMES.items()}
    assert typed == homes | {("floatgate", name) for name in floatgate._MODULES}
    program = "import floatgate; print(*dir(floatgate))"
    command = [sys.executable, "-c", program]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    assert shown == sorted([*floatgate.__all__, "__version__"])
    assert len(shown) >= 38
    for name in shown:
        assert getattr(floatgate, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'rum'"):
        floatgate.rum  # noqa: B018


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## .+$", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_make_has_its_targets_and_explains_each() -> None:
    assert set(TARGETS.split()) | {"help"} == makefile_targets()
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for target in makefile_targets():
        assert f"  make {target} " in shown


def test_make_commands_in_the_documents_exist() -> None:
    named = set()
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text()
        for words in re.findall(r"(?:^|`)make ([a-z -]+?)(?:`|  |$)", text, re.MULTILINE):
            named |= set(words.split())
    assert len(named) >= 4
    assert named <= makefile_targets()


def test_no_file_names_a_place_outside_the_project() -> None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    files = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    assert len(files) >= 40
    places = [f"/{place}/".encode() for place in ("work", "tmp", "root")]
    for path in files:
        if path.is_file():
            content = path.read_bytes()
            for place in places:
                assert place not in content, f"{path.relative_to(ROOT)} names {place.decode()}"


def test_pinned_versions_carry_no_address() -> None:
    for name in ("constraints.txt", "Cargo.lock"):
        text = (ROOT / name).read_text()
        pins = re.findall(r"==|^version = ", text, re.MULTILINE)
        assert len(pins) >= 20
        usual = "registry+https://github.com/rust-lang/crates.io-index"
        assert "://" not in text.replace(usual, ""), name


def test_the_files_of_tests_that_come_first_exist() -> None:
    assert {f"{name}.py" for name in LONGEST} <= {path.name for path in (ROOT / "tests").iterdir()}
