"""The content of a stored run: its requests, its series, its blocks."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

import floatgate
from floatgate import InputError, Result
from floatgate.engine import Rows
from floatgate.result.recording import Recording
from floatgate.result.values import SOURCES
from processes import wait_for

ROOT = Path(__file__).parent.parent
PARTS = [
    "throttle_ns",
    *(f"queue_{source}_ns" for source in SOURCES),
    *(f"{cause}_ns" for cause in ("bus", "array", "ecc", "buffer")),
    *(f"{cause}_ns" for cause in ("link", "controller", "suspend")),
]
FILES = ["blocks.parquet", "requests.parquet", "result.json", "series.parquet"]
TABLES: dict[str, Callable[[Result], pl.DataFrame]] = {
    "requests": Result.requests,
    "series": Result.series,
    "blocks": Result.blocks,
}

BUSY = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 2,
    "geometry.planes-per-die": 2,
    "geometry.blocks-per-plane": 32,
    "ftl.spare-factor": 0.2,
    "precondition.fill": "full",
    "workload.requests": 30_000,
    "workload.read-share": 0.3,
    "workload.trim-share": 0.05,
}
"""A small drive that collects garbage."""


def run(out: Path | None, **settings: object) -> Result:
    changed = {key.replace("__", ".").replace("_", "-"): value for key, value in settings.items()}
    return floatgate.run("agcr", "random-write", set=BUSY | changed, out=out)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A stored run, which no test changes."""
    result = run(tmp_path_factory.mktemp("stored"))
    assert result.flash.erase.gc > 100
    return result


def test_a_run_has_its_four_files_and_nothing_else(stored: Result) -> None:
    assert stored.folder is not None
    assert stored.folder.name == stored.run_id
    assert sorted(path.name for path in stored.folder.iterdir()) == FILES
    assert list(stored.folder.parent.iterdir()) == [stored.folder]


def test_a_loaded_result_has_the_same_tables(stored: Result) -> None:
    assert stored.folder is not None
    for path in (stored.folder, stored.folder / "result.json"):
        loaded = Result.load(path)
        assert loaded.data == stored.data
        for table in TABLES.values():
            assert table(loaded).equals(table(stored))


def test_requests_make_up_the_report(stored: Result) -> None:
    requests = stored.requests()
    assert requests.height == 30_000
    assert requests.select(pl.sum_horizontal(PARTS) == pl.col("latency_ns")).to_series().all()
    assert (requests["arrival_ns"] + requests["latency_ns"]).is_sorted()
    assert requests["operation"].dtype == pl.Enum(["read", "write", "trim", "flush"])
    assert requests["priority"].unique().to_list() == ["normal"]
    for operation in ("read", "write", "trim"):
        mine = requests.filter(operation=operation)
        host = stored.host[operation]
        assert mine.height == host.requests > 1000
        assert mine["size_bytes"].sum() == host.bytes
        assert mine["latency_ns"].max() == host.latency_ns["max"]
        split = host.delay_ns_by_cause
        assert mine["queue_gc_ns"].mean() == pytest.approx(split.queue.gc)
        assert mine["array_ns"].mean() == pytest.approx(split.array)
        slow = mine.filter(pl.col("latency_ns") >= host.slowest.from_ns)
        assert slow.height == host.slowest.requests >= mine.height / 100
        split = host.slowest.delay_ns_by_cause
        assert slow["queue_gc_ns"].mean() == pytest.approx(split.queue.gc)
        assert slow["array_ns"].mean() == pytest.approx(split.array)
        assert host.latency_ns.p99 * 31 / 32 <= host.slowest.from_ns <= host.latency_ns.p99
        latencies = mine["latency_ns"].sort()
        for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999}.items():
            exact = latencies[math.ceil(share * mine.height) - 1]
            # The report's histogram has three digits.
            assert host.latency_ns[name] == pytest.approx(exact, rel=1e-3)


def test_a_request_made_by_hand(tmp_path: Path) -> None:
    # A write takes 600 us on this drive; the read of its page waits 500 of them, and takes 170.
    trace = tmp_path / "two.trace"
    trace.write_text("0 0 800 8 0\n100000 0 800 8 1\n")
    result = floatgate.run("agcr", trace, out=tmp_path)
    columns = ["operation", "arrival_ns", "latency_ns", "offset_bytes", "size_bytes"]
    assert result.requests().select(*columns, "queue_host_ns", "array_ns").rows() == [
        ("write", 0, 600_000, 409_600, 4096, 0, 600_000),
        ("read", 100_000, 670_000, 409_600, 4096, 500_000, 170_000),
    ]


def test_sums_over_the_series_are_the_totals(stored: Result) -> None:
    series = stored.series()
    assert 1024 <= series.height <= 2048
    sums = series.sum()
    for operation in ("read", "write", "trim"):
        host = stored.host[operation]
        assert sums[f"{operation}_requests"].item() == host.requests
        assert sums[f"{operation}_bytes"].item() == host.bytes
        mean = sums[f"{operation}_latency_sum_ns"].item() / host.requests
        assert mean == host.latency_ns.mean
        assert series[f"{operation}_latency_max_ns"].max() == host.latency_ns["max"]
    for part in PARTS:
        assert sums[part].item() == stored.requests()[part].sum()
    for source in SOURCES:
        assert sums[f"flash_read_{source}_pages"].item() == stored.flash.read[source]
        assert sums[f"flash_program_{source}_pages"].item() == stored.flash.program[source]
        assert sums[f"flash_erase_{source}_blocks"].item() == stored.flash.erase[source]
    assert series["free_blocks"][-1] == stored.capacity.free_blocks
    quiet = series.filter(trim_requests=0)
    assert quiet.height > 0
    assert quiet["trim_latency_mean_ns"].null_count() == quiet.height
    assert quiet["trim_latency_max_ns"].null_count() == quiet.height
    assert series.filter(pl.col("trim_requests") > 0)["trim_latency_max_ns"].null_count() == 0


def test_blocks_agree_with_the_wear_in_the_report(stored: Result) -> None:
    blocks = stored.blocks()
    assert blocks.height == 2 * 2 * 2 * 32
    assert blocks.select("channel", "chip", "die", "plane", "block").is_unique().all()
    wear = stored.wear.erases
    erases = blocks["erases"]
    assert (erases.min(), erases.max(), erases.sum()) == (
        wear["min"],
        wear["max"],
        stored.flash.erase.total,
    )
    assert erases.mean() == pytest.approx(wear.mean)
    assert erases.std(ddof=0) == pytest.approx(wear.stddev)
    assert blocks["valid_slots"].sum() == stored.checks.valid
    assert blocks.filter(state="free").height == stored.capacity.free_blocks
    assert blocks["mode"].unique().to_list() == ["full"]
    assert blocks["role"].unique().to_list() == ["regular"]
    assert blocks["reads_since_erase"].null_count() == blocks.height  # nobody counts


def test_a_fixed_interval_is_kept(tmp_path: Path) -> None:
    series = run(tmp_path, run__series_interval="5ms").series()
    assert series["width_ns"][:-1].unique().to_list() == [5_000_000]
    assert series["start_ns"].to_list() == [5_000_000 * row for row in range(series.height)]


def test_a_result_does_not_depend_on_being_stored(stored: Result) -> None:
    plain = run(None)
    assert plain.data | {"timing": None} == stored.data | {"timing": None}
    assert plain.folder is None


def test_processor_time_is_the_engines_and_not_the_wait_for_who_takes_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*_: object) -> None:
        time.sleep(0.3)

    # Three tables and one place on the way: the third waits until the first is taken.
    monkeypatch.setattr(Recording, "take", slowly)
    timing = run(tmp_path).timing
    assert 0 < timing.cpu_seconds < timing.wall_seconds - 0.2
    assert timing.requests_per_second > 0


def test_equal_runs_leave_equal_bytes(stored: Result, tmp_path: Path) -> None:
    again = run(tmp_path)
    assert stored.folder is not None
    assert again.folder is not None
    for name in FILES:
        ours, theirs = ((run.folder / name).read_bytes() for run in (again, stored) if run.folder)
        if name == "result.json":
            ours, theirs = (without_timing(each) for each in (ours, theirs))
        assert ours == theirs, name


def without_timing(text: bytes) -> bytes:
    value = json.loads(text)
    assert value.pop("timing")["wall_seconds"] > 0
    return json.dumps(value).encode()


def test_result_json_says_how_long_its_tables_are(stored: Result) -> None:
    assert stored.folder is not None
    seal = json.loads((stored.folder / "result.json").read_bytes())["stored"]
    lengths = {
        name.removesuffix(".parquet"): (stored.folder / name).stat().st_size
        for name in FILES
        if name != "result.json"
    }
    assert seal["table_bytes"] == lengths
    assert all(size > 1000 for size in lengths.values())


def test_a_power_cut_finds_the_files_on_the_disk_before_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The content of the disk: inodes that were synced, and of a folder the names it had then.
    synced: set[int] = set()
    names: dict[int, set[str]] = {}
    marked: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted(handle: int) -> None:
        fsync(handle)
        inode = os.fstat(handle).st_ino
        synced.add(inode)
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            names[inode] = set(os.listdir(f"/proc/self/fd/{handle}"))

    def moved(path: Path, target: Path) -> Path:
        assert path.stat().st_ino in synced, f"{path.name} gets its name and is not on the disk"
        if path.name == "result.json":
            assert names[target.parent.stat().st_ino] == set(FILES) - {"result.json"}
            marked.append(str(target))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "replace", moved)
    result = run(tmp_path, workload__requests=100)
    assert result.folder is not None
    assert marked == [str(result.folder / "result.json")]
    assert names[result.folder.stat().st_ino] == set(FILES)
    assert result.run_id in names[tmp_path.stat().st_ino]


def test_recordings_of_one_run_add_up(tmp_path: Path) -> None:
    small = BUSY | {"workload.requests": 100}
    for record in ("requests", "series"):
        folder = floatgate.run("agcr", "random-write", set=small, out=tmp_path, record=record)
    loaded = Result.load(folder.folder or "")
    assert loaded.requests().height == 100
    assert loaded.series().height > 1
    # A table that has changed since it was stored is not taken into the next recording.
    (loaded.table_file("requests") or tmp_path).write_bytes(b"")
    floatgate.run("agcr", "random-write", set=small, out=tmp_path, record="series")
    with pytest.raises(InputError, match=r"there is no requests\.parquet"):
        Result.load(folder.folder or "").requests()


@pytest.mark.parametrize("size", [0, -1, 1])
def test_a_table_of_another_length_is_named(stored: Result, tmp_path: Path, size: int) -> None:
    assert stored.folder is not None
    folder = tmp_path / stored.run_id
    shutil.copytree(stored.folder, folder)
    path = folder / "series.parquet"
    content = path.read_bytes()
    path.write_bytes({0: b"", -1: content[:-1], 1: content + b"x"}[size])
    loaded = Result.load(folder)
    found = f"{path.stat().st_size:,} of {len(content):,} bytes"
    with pytest.raises(InputError, match=rf"{stored.run_id}: series\.parquet has {found}"):
        loaded.series()
    assert loaded.blocks().equals(stored.blocks())


def test_a_run_can_be_stored_over_itself(tmp_path: Path) -> None:
    first = run(tmp_path, workload__requests=100)
    again = run(tmp_path, workload__requests=100)
    assert first.folder == again.folder
    assert first.folder is not None
    assert sorted(path.name for path in first.folder.iterdir()) == FILES
    assert list(tmp_path.iterdir()) == [first.folder]


def test_requests_can_be_left_out(stored: Result, tmp_path: Path) -> None:
    result = run(tmp_path, run__keep_requests=False)
    assert result.folder is not None
    assert sorted(path.name for path in result.folder.iterdir()) == [
        name for name in FILES if name != "requests.parquet"
    ]
    assert result.series().equals(stored.series())
    with pytest.raises(InputError, match=r"requests were left out \(run\.keep-requests=false\)"):
        result.requests()


def test_a_result_without_tables_says_why(stored: Result, tmp_path: Path) -> None:
    plain = Result(stored.data)
    for name, table in TABLES.items():
        with pytest.raises(InputError, match=f"this result has no {name}: .* `out=FOLDER`"):
            table(plain)
        with pytest.raises(InputError, match=rf"{stored.run_id}: there is no {name}\.parquet"):
            table(Result.load(plain.save(tmp_path)))


@pytest.mark.verify
def test_many_requests_come_in_parts_and_memory_does_not_grow(tmp_path: Path) -> None:
    program = """
import resource, sys, floatgate
for requests in ("1500000", "6000000"):
    floatgate.run("agcr", "random-read", set={"workload.requests": requests}, out=sys.argv[1])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    first, second = (1024 * int(line) for line in printed.split())
    # The rows between are 470 MB; on a busy machine some parts wait for others.
    assert second < first + 120e6
    heights = [
        pl.scan_parquet(path).select(pl.len()).collect().item()
        for path in tmp_path.glob("*/requests.parquet")
    ]
    assert sorted(heights) == [1_500_000, 6_000_000]


MOST = 30e6


@pytest.mark.skipif(not os.path.isfile("/proc/self/statm"), reason="needs a system that tells")
def test_whoever_takes_rows_holds_the_engine_back_and_may_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asleep() -> bool:
        """Whether the engine's thread sleeps, at twenty looks in a row."""
        for _ in range(20):
            if engines() != ["S"]:
                return False
            time.sleep(0.02)
        return True

    def engines() -> list[str]:
        states = []
        for thread in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # It has ended meanwhile.
                if (thread / "comm").read_text() == "floatgate\n":
                    states.append((thread / "stat").read_text().rpartition(")")[2].split()[0])
        return states

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    sizes: list[int] = []
    grown: list[int] = []

    def take(_: Recording, table: str, rows: Rows) -> None:
        assert table == "requests"
        sizes.append(len(rows))
        if len(sizes) == 2:
            before = resident()
            # Until the engine waits, which otherwise computes all the time.
            wait_for(lambda: asleep() or resident() - before > MOST)
            grown.append(resident() - before)
            raise RuntimeError("enough")

    monkeypatch.setattr(Recording, "take", take)
    endless = {"workload.requests": 100_000_000_000, "precondition.fill": "none"}
    with pytest.raises(RuntimeError, match="enough"):
        floatgate.run("agcr", "random-read", set=endless, out=tmp_path / "results")
    assert list(tmp_path.iterdir()) == []
    assert sizes == [1 << 12, 1 << 12]
    # One part waits in the channel and one is being filled, half a MB each.
    assert grown[0] < MOST


@pytest.mark.parametrize("name", FILES)
def test_a_disk_that_fills_up_leaves_nothing_behind(
    stored: Result, tmp_path: Path, name: str
) -> None:
    # A file larger than this one cannot be written, and neither can this one.
    assert stored.folder is not None
    limit = (stored.folder / name).stat().st_size - 1
    program = f"""
import json, resource, sys, floatgate
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    floatgate.run("agcr", "random-write", set=json.loads(sys.argv[1]), out="new/folder")
except floatgate.InputError as error:
    print(error)
"""
    command = [sys.executable, "-c", program, json.dumps(BUSY)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "new/folder: the result cannot be stored (file too large)\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.verify
def test_one_thread_of_polars_reads_a_table_while_others_are_written(tmp_path: Path) -> None:
    # The command gives polars one thread: a task there that waited for another would wait for ever.
    def command(*words: str) -> None:
        line = [sys.executable, "-m", "floatgate", *words]
        subprocess.run(line, cwd=tmp_path, capture_output=True, check=True, timeout=120)

    half = ("--set=workload.requests=300000", "--set=workload.read-share=0.5")
    command("trace", "convert", "zipf", "--out=zipf.parquet", *half)
    command("run", "agcr", "zipf.parquet", "--out=results", "--snapshots")
    (folder,) = (tmp_path / "results").iterdir()
    stored = pl.read_parquet(folder / "requests.parquet", columns=["operation", "size_bytes"])
    asked = pl.read_parquet(tmp_path / "zipf.parquet", columns=["op", "size"])
    assert stored.height == asked.height == 300_000
    reads = (stored["operation"] == "read").sum(), (asked["op"] == "read").sum()
    assert reads[0] == reads[1] > 100_000
    assert stored["size_bytes"].sum() == asked["size"].sum()


def test_what_goes_wrong_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "bad.trace").write_text("0 0 800 8 0\n100000 0 800 8 1\nmore\n")
    with pytest.raises(floatgate.WorkloadError, match=r"bad\.trace"):
        floatgate.run("agcr", tmp_path / "bad.trace", out=tmp_path / "results")
    with pytest.raises(floatgate.ConfigError):
        floatgate.run("agcr", "random-write", set={"no.such": 1}, out=tmp_path / "results")

    def stop(stage: str, done: int, _total: int | None, _now_ns: int) -> None:
        if stage == "running" and done > 300_000:
            raise RuntimeError(f"stopped after {done}")

    endless = {"workload.requests": 100_000_000_000, "precondition.fill": "none"}
    with pytest.raises(RuntimeError, match=r"stopped after \d+"):
        floatgate.run("agcr", "random-write", set=endless, out=tmp_path / "results", progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.trace"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that nobody can write")
def test_a_folder_that_cannot_be_written_is_refused_before_the_run() -> None:
    endless = {"workload.requests": 100_000_000_000}
    with pytest.raises(
        InputError, match=r"^/proc/self/x: no result can be stored here, .+ is not writable$"
    ):
        floatgate.run("agcr", "random-write", set=endless, out="/proc/self/x")


def test_every_column_and_key_is_documented(stored: Result) -> None:
    # Columns of one kind are described by their first: reads.
    alike = re.compile(r"^(write|trim|flush)(?=_)")
    text = (ROOT / "docs" / "results.md").read_text()
    for name, table in TABLES.items():
        _, _, section = text.partition(f"## `{name}.parquet`")
        known = re.findall(r"`([a-z_]+)`", section.partition("\n## ")[0])
        columns = {alike.sub("read", column) for column in table(stored).columns}
        assert columns <= set(known), f"{name}: {sorted(columns - set(known))}"
        assert len(columns) >= 10
    _, _, section = text.partition("## `result.json`")
    keys = set(stored.data) - {"schema"}
    assert keys <= set(re.findall(r"`([a-z_]+)`", section)), keys
