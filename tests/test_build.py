"""The code that made a result: the digest, the files in it, and that results of other code are
never taken."""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from floatgate import build, engine
from floatgate.cache import cache
from floatgate.policy.finder import Finder
from floatgate.result.comparison import Failure
from floatgate.runs.workers.pool import Job, Processes
from floatgate.workloads.reading import how_to_read

ROOT = Path(__file__).parent.parent
CRATES = ("kernel", "tables", "nand", "ftl", "policies", "workload", "ssd")
# Python 3.11.2, as in Debian 12, extracts without a filter.
SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
SMALL: dict[str, Any] = {"geometry.channels": 1, "workload.requests": 300}


# ── The digest ──────────────────────────────────────────────────────────────────────────────────


def lines(files: Iterable[Path], folder: Path) -> str:
    """As `sha256sum` prints them from a folder, in the order of their names."""
    found = []
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        content = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(folder).as_posix()
        found.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    return "".join(found)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def rust(folder: Path) -> list[Path]:
    """The sources of a crate without its tests."""
    found = [
        path
        for path in folder.rglob("*.rs")
        if path.name != "tests.rs" and "tests" not in path.relative_to(folder).parts[:-1]
    ]
    assert found
    return found


def sources_of(root: Path) -> str:
    """The digest that the engine should give of a tree that it is built from."""
    engine = [path for crate in CRATES for path in rust(root / "crates" / crate / "src")]
    presets = list((root / "presets").rglob("*.toml"))
    assert len(engine) > 100
    assert len(presets) > 20
    engine = [*engine, *presets, root / "Cargo.lock"]
    crates = [root / "crates" / crate / "src" for crate in ("live", "python")]
    binding = [path for crate in crates for path in rust(crate)]
    return f"{sha256(lines(engine, root))}  engine\n{sha256(lines(binding, root))}  binding\n"


def says_out(path: Path) -> bool:
    return "SHAPES_RESULTS = False" in path.read_text().splitlines()


def python_of(package: Path) -> list[Path]:
    """The files of the package that shape results."""
    found = []
    for kind in ("py", "toml", "json"):
        for path in package.rglob(f"*.{kind}"):
            inside = [path, *(above / "__init__.py" for above in path.parents)]
            inside = [each for each in inside if each.is_relative_to(package) and each.exists()]
            if not any(map(says_out, inside)):
                found.append(path)
    return found


def digest_of(root: Path) -> str:
    package = root / "python" / "floatgate"
    return f"sha256:{sha256(sources_of(root) + lines(python_of(package), package))}"


def test_it_is_that_of_the_tree() -> None:
    package = ROOT / "python" / "floatgate"
    names = {path.relative_to(package).as_posix() for path in python_of(package)}
    assert {"runs/run.py", "result/recording.py", "workloads/parquet.py", "build.py"} <= names
    assert "workloads/stand_in_errors.json" in names
    assert not {"report/page.py", "cli/runs.py", "text/result.py"} & names
    assert not {"reproduce/runner.py", "reproduce/studies/agcr/grid.py"} & names
    assert engine.sources() == sources_of(ROOT), "make setup"
    assert build.digest() == digest_of(ROOT)


def test_an_sdist_has_the_same_whatever_its_line_ends(tmp_path: Path) -> None:
    maturin = Path(sys.executable).parent / "maturin"
    if not maturin.exists() or not (ROOT / ".git").exists():
        pytest.skip("needs maturin and a checkout")
    made = subprocess.run(
        [maturin, "sdist", "--out", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if made.returncode and "cargo" in made.stderr:
        pytest.skip("cargo is not on the path")
    assert made.returncode == 0, made.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "sdist", **SAFELY)
    (root,) = (tmp_path / "sdist").iterdir()
    assert digest_of(root) == build.digest()
    for path in root.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    package = root / "python" / "floatgate"
    assert build.digest_of(engine.sources(), package) == build.digest()


CHANGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "a module": (lambda at: append(at / "build.py"), True),
    "a module in a folder": (lambda at: append(at / "runs" / "run.py"), True),
    "data": (lambda at: append(at / "workloads" / "stand_in_errors.json"), True),
    "one more": (lambda at: (at / "more.py").write_text("1\n"), True),
    "one less": (lambda at: (at / "cluster.py").unlink(), True),
    "another name": (lambda at: (at / "cluster.py").rename(at / "kluster.py"), True),
    "a page": (lambda at: append(at / "report" / "page.py"), False),
    "text": (lambda at: append(at / "text" / "result.py"), False),
    "an experiment": (
        lambda at: append(at / "reproduce" / "studies" / "agcr" / "experiment.toml"),
        False,
    ),
    "a template": (lambda at: append(at / "workloads" / "describe" / "page.html"), False),
    "an editor": (lambda at: (at / ".run.py.swp.py").write_text("1\n"), False),
    "a cache": (lambda at: cached(at / "__pycache__"), False),
}


def append(path: Path) -> None:
    assert path.is_file()
    with path.open("a") as file:
        file.write("\n")


def cached(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "run.py").write_text("1\n")


@pytest.mark.parametrize(("change", "counts"), CHANGES.values(), ids=CHANGES)
def test_what_shapes_results_counts_and_what_draws_does_not(
    tmp_path: Path, change: Callable[[Path], object], counts: bool
) -> None:
    package = tmp_path / "floatgate"
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "python" / "floatgate", package, ignore=ignored)
    assert build.digest_of(engine.sources(), package) == build.digest()
    change(package)
    assert (build.digest_of(engine.sources(), package) != build.digest()) is counts
    assert build.digest_of("another engine\n", package) != build.digest()


WITHOUT = """
import sys
from pathlib import Path
from unittest.mock import MagicMock

class Nothing:
    @staticmethod
    def find_spec(name, path, target=None):
        if any(name == out or name.startswith(out + ".") for out in sys.argv[2:]):
            raise ImportError(name)

if len(sys.argv) > 2:
    for name in sys.argv[2:]:
        sys.modules[name] = MagicMock()
    sys.meta_path.insert(0, Nothing)
import floatgate as fg

small = {"geometry.channels": 1, "geometry.blocks-per-plane": 32, "geometry.planes-per-die": 1,
         "workload.requests": 3000, "precondition.fill": "full", "ftl.spare-factor": 0.2}
out = Path(sys.argv[1])
fg.convert("zipf", out / "zipf.parquet", set={"workload.requests": 3000, "workload.span": "16MiB"})
fg.compare("agcr", ["random-write", str(out / "zipf.parquet"), "msr:hm_0"],
           set=small | {"host.out-of-range": "wrap"}, first=3000, out=out / "runs", workers=1,
           record=["requests", "series", "blocks", "snapshots"])
assert not [name for name in sys.modules if name.startswith(tuple(sys.argv[2:] or ["-"]))
            and not isinstance(sys.modules[name], MagicMock)]
"""


def test_a_run_is_the_same_without_all_that_is_left_out(tmp_path: Path) -> None:
    package = ROOT / "python" / "floatgate"
    out = [path for path in package.rglob("*.py") if says_out(path)]
    names = [
        ".".join(["floatgate", *path.relative_to(package).with_suffix("").parts]) for path in out
    ]
    names = [name.removesuffix(".__init__") for name in names]
    assert {"floatgate.cli", "floatgate.report", "floatgate.text"} <= set(names)
    for folder, words in (("with", []), ("without", names)):
        (tmp_path / folder).mkdir()
        command = [sys.executable, "-c", WITHOUT, str(tmp_path / folder), *words]
        subprocess.run(command, check=True)
    runs = {
        folder: {
            path.relative_to(tmp_path / folder): without_timing(path)
            for path in (tmp_path / folder / "runs").glob("*/*")
        }
        for folder in ("with", "without")
    }
    assert len(runs["with"]) == 3 * 6
    assert runs["with"] == runs["without"]


def without_timing(path: Path) -> bytes:
    content = path.read_bytes()
    if path.name != "result.json":
        return content
    value = json.loads(content)
    del value["timing"]
    return json.dumps(value).encode()


# ── Purpose ─────────────────────────────────────────────────────────────────────────────────────


def other_code(monkeypatch: pytest.MonkeyPatch) -> str:
    """From now on this process is one of another build."""
    other = f"sha256:{'0' * 64}"
    monkeypatch.setattr(build, "digest", lambda: other)
    return other


def test_a_result_names_its_build_and_is_named_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists: dict[str, Any] = {"set": SMALL, "seed": [1, 2], "out": tmp_path, "workers": 1}
    first = fg.compare("agcr", "random-write", **lists)
    assert {run.provenance.build for run in first.runs} == {build.digest()}
    assert fg.compare("agcr", "random-write", **lists).reused == 2
    # The contract, by hand: the first 16 digits over build, drive, workload and seed.
    data = first.runs[0].data["provenance"]
    workload = {key: data["workload"][key] for key in ("name", "format", "stand_in")}
    named = [data["build"], data["config"], None, 1, workload]
    text = json.dumps(named, sort_keys=True, separators=(",", ":"))
    assert first.runs[0].run_id == sha256(text)[:16]

    other = other_code(monkeypatch)
    again = fg.compare("agcr", "random-write", **lists)
    assert again.reused == 0
    assert {run.provenance.build for run in again.runs} == {other}
    assert not {run.run_id for run in first.runs} & {run.run_id for run in again.runs}
    # Both can be read, and tables of both say which is which.
    column = fg.results(tmp_path)["provenance.build"]
    assert sorted(column.to_list()) == sorted([other, other, data["build"], data["build"]])


def test_states_and_what_is_known_of_traces_are_kept_by_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "small.trace"
    trace.write_text("".join(f"{i * 1000} 0 {i * 64} 8 0\n" for i in range(50)))
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))
    kept = cache()
    assert kept is not None

    def plan(build: str) -> Any:
        settings = ["precondition.age=random", "precondition.fill=full"]
        return json.loads(
            engine.plan(
                "agcr", str(trace), build=build, set=settings, policy=[], seed=1,
                reading=how_to_read(), cache=kept, progress=None, finder=Finder(),
            )
        )  # fmt: skip

    one, two, again = plan("one"), plan("two"), plan("one")
    assert one == again
    assert one["state"] != two["state"]
    assert {**one, "state": None} == {**two, "state": None}
    assert len(list((Path(kept.folder) / "traces").iterdir())) == 2


def test_a_worker_whose_files_are_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floatgate.runs.workers.pool.digest", lambda: f"sha256:{'0' * 64}")
    jobs = [Job("agcr", "random-write", seed=seed) for seed in range(3)]
    outcomes = [outcome for _, outcome in Processes(2)(jobs, lambda *_: None)]
    assert len(outcomes) == 3
    for outcome in outcomes:
        assert isinstance(outcome, Failure)
        assert outcome.kind == "input"
        assert "the files of floatgate have changed since this began" in outcome.message


def test_what_was_stored_before_is_read_and_made_again(tmp_path: Path) -> None:
    lists: dict[str, Any] = {"set": SMALL, "seed": [1, 2], "out": tmp_path, "workers": 1}
    run = fg.compare("agcr", "random-write", **lists).runs[0]
    assert run.folder is not None
    value = json.loads((run.folder / "result.json").read_bytes())
    del value["stored"], value["provenance"]["build"]
    old = fg.Result(value)
    # Its name is that of old: over the version.
    data = value["provenance"]
    workload = {key: data["workload"][key] for key in ("name", "format", "stand_in")}
    named = [data["version"], data["config"], None, 1, workload]
    name = sha256(json.dumps(named, sort_keys=True, separators=(",", ":")))[:16]
    assert old.run_id == name
    shutil.copytree(run.folder, tmp_path / "old" / name)
    (tmp_path / "old" / name / "result.json").write_text(json.dumps(value))
    loaded = fg.Result.load(tmp_path / "old" / name)
    assert loaded.requests().equals(run.requests())
    assert fg.results(tmp_path / "old")["run_id"].to_list() == [name]
    assert [each.run_id for each in fg.report.load([tmp_path / "old"]).runs] == [name]
    again = fg.compare("agcr", "random-write", **lists | {"out": tmp_path / "old"})
    assert (again.reused, list(again.remade)) == (0, [])
    # Stored anew, it goes on to have its tables.
    loaded.save(tmp_path / "old")
    assert fg.Result.load(tmp_path / "old" / name).series().equals(run.series())
