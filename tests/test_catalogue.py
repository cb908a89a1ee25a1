"""The catalogue of traces: listing it, and running a trace by its name."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import floatgate as api
from conftest import Floatgate
from floatgate.text import traces as trace_text

TICK = 128_166_372_000_000_000  # 100 ns, in the week of the MSR traces


def msr(host: str, disk: int, count: int, first: int = 0) -> str:
    """An MSR file: a write every millisecond, every third request a read."""
    return "".join(
        f"{TICK + (first + i) * 10_000},{host},{disk},{'Read' if i % 3 == 0 else 'Write'},"
        f"{i * 4096},4096,1234\n"
        for i in range(count)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One whole trace, one of two volumes, one to be unpacked, and something else."""
    monkeypatch.delenv("FLOATGATE_TRACES", raising=False)
    folder = tmp_path / "traces"
    (folder / "MSR-Cambridge").mkdir(parents=True)
    (folder / "MSR-Cambridge/mds_0.csv").write_text(msr("mds", 0, 90, first=10))
    (folder / "MSR-Cambridge/mds_1.csv.gz").write_bytes(gzip.compress(msr("mds", 1, 60).encode()))
    (folder / "MSR-Cambridge/hm_1.csv").write_text(msr("hm", 1, 30))
    (folder / "Financial1.spc.bz2").write_bytes(b"BZh9")
    (folder / "my-own.trace").write_text("0 0 0 8 1\n")
    return folder


def test_a_trace_runs_by_its_name(floatgate: Floatgate, folder: Path) -> None:
    done = floatgate("run", "agcr", "msr:hm_1", "--traces", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    workload = result["provenance"]["workload"]
    assert (workload["name"], workload["format"]) == ("msr:hm_1", "msr")
    assert (workload["requests"], workload["stand_in"]) == (30, None)
    assert (result["host"]["read"]["requests"], result["host"]["write"]["requests"]) == (10, 20)


def test_a_server_runs_as_its_volumes_side_by_side(folder: Path) -> None:
    result = api.run("agcr", "msr:mds", traces=folder)
    assert result.workload == "msr:mds"
    assert result.host["all"].requests == 150
    # Volume 1 begins 10 ms before volume 0, which lasts 89 ms.
    assert result.simulated_seconds == pytest.approx(0.099, abs=0.005)
    parts = [api.run("agcr", f"msr:mds_{i}", traces=[folder]) for i in (0, 1)]
    written = [part.host.write.bytes for part in parts]
    assert result.host.write.bytes == sum(written)
    digests = {r.provenance.workload.sha256 for r in (result, *parts)}
    assert len(digests) == 3


def test_the_environment_names_folders_too(
    floatgate: Floatgate, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    several = os.pathsep.join([str(tmp_path / "empty"), "", str(folder)])
    monkeypatch.setenv("FLOATGATE_TRACES", several)
    words = ("run", "agcr", "msr:hm_1", "--json")
    assert floatgate(*words).returncode == 0
    assert api.run("agcr", "msr:hm_1").host["all"].requests == 30
    # The option overrides the environment.
    cut = ("--set", "workload.requests=50")
    done = floatgate(*words, *cut, "--traces", str(tmp_path / "empty"))
    assert json.loads(done.stdout)["provenance"]["workload"]["stand_in"] is not None
    # And where no catalogue is asked for, the folders do not matter, nor does a colon in a path.
    monkeypatch.setenv("FLOATGATE_TRACES", "missing")
    assert floatgate("run", "agcr", str(folder / "my-own.trace"), "--json").returncode == 0
    (tmp_path / "mine:1.toml").write_text('pattern = "zipf"\nrequests = 700\n')
    assert floatgate("run", "agcr", "mine:1.toml", "--json").returncode == 0


def test_the_list_says_what_is_there(floatgate: Floatgate, folder: Path) -> None:
    done = floatgate("trace", "list", "--traces", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80

    def state(name: str) -> str:
        return next(line for line in lines if line.split()[:1] == [name])

    stored = (folder / "MSR-Cambridge/hm_1.csv").stat().st_size
    assert state("msr:hm_1").endswith(f"there, {stored / 1000:.2f} kB")
    assert state("msr:hm_0").endswith("not there: stand-in")
    assert state("msr:rsrch_1").endswith("not there")
    assert state("umass:financial1").endswith("to be unpacked")
    assert state("mango:build").endswith("never published")
    assert "my-own.trace" in done.stdout
    assert "3 of 52 published traces are there" in done.stdout
    assert "read-disturb 2 of 9" in " ".join(done.stdout.split())


def test_groups_publishers_and_single_traces_can_be_listed(
    floatgate: Floatgate, folder: Path
) -> None:
    def listed(*words: str) -> list[str]:
        done = floatgate("trace", "list", *words, "--traces", str(folder), "--json")
        assert done.returncode == 0, done.stderr
        value = json.loads(done.stdout)
        assert value["schema"] == "floatgate.traces/1"
        assert len(value["groups"]) == 4
        assert [Path(file["path"]).name for file in value["also_there"]] == ["my-own.trace"]
        return [trace["name"] for trace in value["traces"]]

    assert len(listed()) == 68
    assert len(listed("agcr")) == 12
    assert listed("ready")[0] == "msr:prxy"
    assert {name.split(":")[0] for name in listed("umass")} == {"umass"}
    assert listed("msr:proxy") == ["msr:prxy"]


def test_a_group_says_what_was_chosen_and_a_trace_all_that_is_known(
    floatgate: Floatgate, folder: Path
) -> None:
    done = floatgate("trace", "list", "agcr", "--traces", str(folder))
    assert "twelve" in done.stdout
    assert "1 of 12 published traces are there" in done.stdout
    page = floatgate("trace", "list", "msr:mds_0", "--traces", str(folder)).stdout
    for words in ("1,211,034 [1]", "iotta.snia.org/traces/block-io/388", "otherwise 14.1 kB"):
        assert words in page, page
    assert str(folder / "MSR-Cambridge/mds_0.csv") in page


def test_every_page_fits_80_columns(folder: Path) -> None:
    catalogue = api.traces(folder)
    for name in [trace["name"] for trace in catalogue["traces"]] + ["agcr", "ready", "msps"]:
        traces = trace_text.chosen(catalogue, name)
        lines = trace_text.page(catalogue, traces, name).splitlines()
        long = [line for line in lines if len(line) > 80 and not line.strip().startswith("/")]
        assert not long, long
        assert len(lines) >= 5


def test_every_figure_in_json_has_a_source() -> None:
    seen = 0
    kinds = set()
    for trace in api.traces([])["traces"]:
        for key, known in trace["statistics"].items():
            for said in [known, *known["otherwise"]]:
                assert said["value"] > 0, (trace["name"], key)
                assert said["source"], (trace["name"], key)
                kinds.add(said["kind"])
                seen += 1
    assert seen >= 200
    assert kinds == {"paper", "found", "derived", "recalled"}


WRONG: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "no file": (
        ("run", "agcr", "msr:web_3"),
        ["msr:web_3", "web_3.csv", "block-io/388", "msr-cambridge2.tar", "--traces", "stand-in"],
    ),
    "how to read nothing": (("run", "agcr", "msr:hm_0", "--device", "0"), ["msr:hm_0", "device=0"]),
    "a setting of generators": (
        ("run", "agcr", "msr:hm_0", "--set", "workload.theta=0.9"),
        ["workload.theta", "workload.requests"],
    ),
    "a generator's duration": (
        ("run", "agcr", "zipf", "--set", "workload.duration=1h"),
        ["duration = 1h", "stand-ins"],
    ),
    "an archive": (("run", "agcr", "umass:financial1"), ["Financial1.spc.bz2", "unpack"]),
    "never published": (("run", "agcr", "mango:build"), ["nobody has published"]),
    "a misspelt trace": (("run", "agcr", "msr:hm1"), ["did you mean `msr:hm_1`"]),
    "no publisher": (("run", "agcr", "hm_1"), ["did you mean the trace `msr:hm_1`"]),
    "a misspelt name": (("trace", "list", "msr:hm1"), ["did you mean `msr:hm_1`"]),
    "a misspelt group": (("trace", "list", "agrc"), ["did you mean `agcr`"]),
    "no folder": (("trace", "list", "--traces", "missing"), ["missing", "no such folder"]),
    "a file as folder": (("run", "agcr", "msr:hm_1", "--traces", "file"), ["file", "not a folder"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_names_and_missing_files_are_explained(
    floatgate: Floatgate,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOATGATE_TRACES", str(folder))
    words, hints = WRONG[case]
    done = floatgate(*words, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for hint in hints:
        assert hint in done.stderr, done.stderr


def test_excerpts_in_a_real_folder_are_not_taken_for_the_originals() -> None:
    folder = os.environ.get("FLOATGATE_TRACES")
    if not folder:
        pytest.skip("FLOATGATE_TRACES names no folder of real traces")
    catalogue: dict[str, Any] = api.traces()
    there = {Path(file["path"]).name for file in catalogue["also_there"]}
    excerpts = {"msps-dtrs-30000s.trace.zst", "umass-financial1-10k.ascii.zst"}
    if not excerpts <= {path.name for path in Path(folder).iterdir()}:
        pytest.skip("the excerpts are not in FLOATGATE_TRACES")
    assert excerpts <= there
    taken = {file["path"] for trace in catalogue["traces"] for file in trace["presence"]["files"]}
    assert not {path for path in taken if Path(path).name in excerpts}
