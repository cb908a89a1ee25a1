"""Workloads as Parquet files, and changes of workloads on their way."""

import hashlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate
import fuzz
from conftest import Floatgate
from floatgate import InputError, Result
from floatgate.engine import WorkloadError
from floatgate.workloads.parquet import METADATA
from test_traces import REAL, real

COMPACT = {"host.out-of-range": "compact"}


def requests(count: int, seed: int = 1) -> list[tuple[int, str, int, int]]:
    """Time in ns, operation, offset, size."""
    draw = random.Random(seed)
    rows, at = [], 0
    for _ in range(count):
        op = draw.choice(("read", "write", "write", "trim", "flush", "write-fua"))
        extent = (512 * draw.randrange(1 << 21), 512 * draw.randrange(1, 64))
        rows.append((at, op, *((0, 0) if op == "flush" else extent)))
        at += draw.randrange(0, 2_000_000)
    return rows


def stored(path: Path, rows: list[tuple[int, str, int, int]]) -> Path:
    """A table of text."""
    path.write_text("".join(f"{at},{op},{offset},{size}\n" for at, op, offset, size in rows))
    return path


TABLE: dict[str, Any] = {"columns": "time=1:ns,op=2,offset=3,size=4"}


def read(path: Path) -> list[tuple[int, str, int, int]]:
    """The rows of a file of ours, by polars alone."""
    return pl.read_parquet(path).select("time_ns", "op", "offset", "size").rows()


def told(path: Path) -> dict[str, Any]:
    return dict(json.loads(pl.read_parquet_metadata(path)[METADATA]))


def without_provenance(value: Mapping[str, Any]) -> str:
    """Everything but where the requests come from, and how long it took."""
    data = dict(value)
    data.pop("timing")
    if "provenance" in data:
        data["provenance"] = dict(data["provenance"], workload=None)
    else:
        data["workload"] = None
    return json.dumps(data)


def test_a_file_has_every_request_and_says_where_it_comes_from(tmp_path: Path) -> None:
    rows = requests(300_000)
    source = stored(tmp_path / "some.csv", rows)
    said = floatgate.convert(source, tmp_path / "some.parquet", **TABLE)
    assert read(tmp_path / "some.parquet") == rows
    assert told(tmp_path / "some.parquet") == said
    expected = {
        "schema": "floatgate.requests/1",
        "name": "some.csv",
        "format": "csv",
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "reading": f"columns={TABLE['columns']}",
        "requests": len(rows),
        "span_bytes": max(offset + size for _, _, offset, size in rows),
        "timed": True,
        "origin_ns": 0,
        "stand_in": None,
        "skipped": 0,
    }
    assert {key: said[key] for key in expected} == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["some.csv", "some.parquet"]
    again = floatgate.convert(source, tmp_path / "again.parquet", **TABLE)
    assert again == said
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "some.parquet").read_bytes()
    mode = (tmp_path / "some.csv").stat().st_mode
    assert (tmp_path / "some.parquet").stat().st_mode == mode


@pytest.mark.parametrize("make", fuzz.FORMATS, ids=lambda make: make.__name__)
def test_every_format_gives_the_same_from_the_file(make: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "some.trace", tmp_path / "some.parquet"
    source.write_bytes(b"".join(make(i) for i in range(3000)))
    floatgate.convert(source, target)
    runs = [floatgate.run("agcr", path, set=COMPACT) for path in (source, target)]
    assert runs[0].host.all.requests == 3000
    assert without_provenance(runs[0].data) == without_provenance(runs[1].data)
    assert runs[0].run_id != runs[1].run_id
    described = [floatgate.describe(path).data for path in (source, target)]
    assert without_provenance(described[0]) == without_provenance(described[1])
    assert described[0]["workload"]["span_bytes"] == described[1]["workload"]["span_bytes"]


SHORTEST = min(REAL, key=lambda name: REAL[name][0])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == SHORTEST else pytest.mark.verify) for name in REAL],
)
def test_real_traces_give_the_same_from_the_file(name: str, tmp_path: Path) -> None:
    source, target = real(name), tmp_path / "real.parquet"
    count, drive = REAL[name]
    assert floatgate.convert(source, target)["requests"] == count
    described = [floatgate.describe(path).data for path in (source, target)]
    assert without_provenance(described[0]) == without_provenance(described[1])
    runs = [floatgate.run(drive, path, set=COMPACT).data for path in (source, target)]
    assert without_provenance(runs[0]) == without_provenance(runs[1])


def test_what_has_no_times_gets_none(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("w,0,4096\nr,4096,4096\n" * 50)
    target = tmp_path / "some.parquet"
    said = floatgate.convert(tmp_path / "some.csv", target, columns="op=1,offset=2,size=3")
    assert not said["timed"]
    codes = [w["code"] for w in floatgate.run("agcr", target).warnings]
    assert "closed-loop" in codes
    with pytest.raises(InputError, match="have no times"):
        floatgate.describe(target, slice="1s..")


def test_a_stand_in_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "some.parquet"
    floatgate.convert("zipf", target, set={"workload.requests": 500})
    said = told(target) | {
        "name": "msr:hm_0", "stand_in": {"model": "m", "version": "1", "fitted_to": "a table"},
    }  # fmt: skip
    metadata = {METADATA: json.dumps(said)}
    pl.read_parquet(target).write_parquet(target, metadata=metadata)
    result = floatgate.run("agcr", target)
    assert result.provenance.workload.stand_in == said["stand_in"]
    assert "[stand-in]" in result.name
    again = tmp_path / "again.parquet"
    assert floatgate.convert(target, again, repeat=1)["stand_in"] == said["stand_in"]
    assert "[stand-in]" in floatgate.describe(again).name


STEPS: dict[str, Any] = {
    "slice": "100ms..2s",
    "first": 300,
    "footprint": 0.37,
    "speed": 2.5,
    "repeat": 3,
}


def changed(
    rows: list[tuple[int, str, int, int]],
    slice: str | None = None,
    first: int | None = None,
    footprint: float | None = None,
    speed: float | None = None,
    repeat: int | None = None,
) -> list[tuple[int, str, int, int]]:
    """The expected result of the steps, by plain lists."""
    if slice is not None:
        low, high = {"100ms..2s": (10**8, 2 * 10**9)}[slice]
        rows = [row for row in rows if low <= row[0] < high]
        rows = [(at - rows[0][0], *rest) for at, *rest in rows]  # type: ignore[misc]
    rows = rows[:first]
    if footprint is not None:
        mib = 1 << 20
        rows = [(a, o, int(x // mib * footprint) * mib + x % mib, s) for a, o, x, s in rows]
    if speed is not None:
        rows = [(round(a * 1e-9 / speed * 1e9), o, x, s) for a, o, x, s in rows]
    if repeat is not None:
        last = rows[-1][0]
        period = last + last // (len(rows) - 1)
        rows = [(a + k * period, o, x, s) for k in range(repeat) for a, o, x, s in rows]
    return rows


@pytest.mark.parametrize("chosen", [*([key] for key in STEPS), list(STEPS)], ids=str)
def test_steps_do_what_they_say_everywhere(chosen: list[str], tmp_path: Path) -> None:
    rows = requests(5000)
    source, target = stored(tmp_path / "some.csv", rows), tmp_path / "some.parquet"
    steps = {key: STEPS[key] for key in chosen}
    said = floatgate.convert(source, target, **TABLE, **steps)
    expected = changed(rows, **steps)
    ours = read(target)
    # Half a nanosecond may be rounded either way by C and by Python.
    assert len(ours) == len(expected)
    for mine, theirs in zip(ours, expected, strict=True):
        assert mine[1:] == theirs[1:]
        assert abs(mine[0] - theirs[0]) <= (3 if "speed" in steps else 0)
    words = [f"{key}={STEPS[key]}" for key in STEPS if key in steps]
    assert said["reading"] == " ".join([f"columns={TABLE['columns']}", *words])
    # A run on the fly is the run of the file.
    runs = [
        floatgate.run("agcr", source, set=COMPACT, **TABLE, **steps),
        floatgate.run("agcr", target, set=COMPACT),
    ]
    assert without_provenance(runs[0].data) == without_provenance(runs[1].data)
    assert runs[0].host.all.requests == len(expected)
    assert runs[0].run_id != floatgate.run("agcr", source, set=COMPACT, **TABLE).run_id
    described = floatgate.describe(source, **TABLE, **steps)
    assert described.workload.requests == len(expected)
    flushes = sum(op == "flush" for _, op, *_ in expected)
    assert described.requests.flushes == len(expected) - described.requests.all.requests == flushes
    assert described.workload.reading == said["reading"]


def test_speed_is_that_of_the_host(tmp_path: Path) -> None:
    source = stored(tmp_path / "some.csv", requests(2000))
    fast = floatgate.run("agcr", source, set=COMPACT, **TABLE, speed=7.0)
    host = floatgate.run("agcr", source, set=COMPACT | {"host.speed": 7.0}, **TABLE)
    assert fast.host == host.host
    assert fast.flash == host.flash


MIX = """\
schema = "floatgate.workload/1"

[[part]]
workload = "main.csv"
columns = "time=1:ns,op=2,offset=3,size=4"
first = 900

[[part]]
workload = "swap.parquet"
priority = "high"
share = 0.1
"""


def test_a_file_puts_workloads_together(floatgate: Floatgate, tmp_path: Path) -> None:
    import floatgate as api

    folder = tmp_path / "mine"
    folder.mkdir()
    main, swap = requests(1000, 1), requests(30, 2)
    stored(folder / "main.csv", main)
    api.convert(stored(folder / "swap.csv", swap), folder / "swap.parquet", **TABLE)
    (folder / "mix.toml").write_text(MIX)
    done = floatgate("trace", "convert", "mine/mix.toml", "-o", "mix.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    rows = pl.read_parquet(tmp_path / "mix.parquet")
    high = rows.filter(pl.col("prio") == "high")
    normal = rows.filter(pl.col("prio") == "normal")
    assert normal.select("time_ns", "op", "offset", "size").rows() == main[:900]
    assert high.height == 100, "one request in ten"
    assert high["time_ns"][-1] == main[899][0]
    region = high["offset"].min()
    assert isinstance(region, int)
    end = max(offset + size for _, _, offset, size in main[:900])
    region = -(-end // (1 << 20)) << 20
    again = [swap[i % len(swap)] for i in range(100)]
    assert high["offset"].to_list() == [size and offset + region for _, _, offset, size in again]
    assert rows["time_ns"].is_sorted()
    # It runs, and another mix is another run.
    results = []
    for text in (MIX, MIX.replace("0.1", "0.2"), "# the same\n" + MIX):
        (folder / "mix.toml").write_text(text)
        done = floatgate("run", "agcr", "mine/mix.toml", "--set", "host.out-of-range=compact",
                         "--policy", "order=priority", "--json")  # fmt: skip
        assert done.returncode == 0, done.stderr
        results.append(Result(json.loads(done.stdout)))
    assert [r.host.all.requests for r in results] == [1000, 1125, 1000]
    assert results[0].run_id == results[2].run_id != results[1].run_id
    assert any("part 2 is swap.parquet" in note for note in results[0].provenance.workload.notes)
    done = floatgate("compare", "agcr", "mine/mix.toml,zipf", "--first", "50", "--json",
                     "--set", "host.out-of-range=compact")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [r["host"]["all"]["requests"] for r in json.loads(done.stdout)["runs"]] == [50, 50]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MIX.replace("share", "shar"), ["mix.toml", "line 11", "shar"]),
        (MIX.replace("main", "mian").replace("swap", "wasp"), [
            "mix.toml:4: part 1", "mian.csv", "mix.toml:9: part 2", "wasp.parquet", "no such file",
        ]),
        (MIX.replace("0.1", "1.1"), ["mix.toml:11: `share` of part 2"]),
        (MIX.replace("swap.parquet", "mix.toml"), ["without end"]),
        (MIX.replace("swap.parquet", "random-wirte"), ["random-write"]),
    ],
)  # fmt: skip
def test_a_wrong_file_is_explained(
    floatgate: Floatgate, tmp_path: Path, text: str, words: list[str]
) -> None:
    stored(tmp_path / "main.csv", requests(1000))
    (tmp_path / "mix.toml").write_text(text)
    done = floatgate("run", "agcr", "mix.toml", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


FOREIGN = "time=ts:us,op=type:0/1,offset=lba:sectors,size=bytes"


def foreign(rows: list[tuple[int, str, int, int]]) -> pl.DataFrame:
    """As somebody else would store it."""
    kept = [row for row in rows if row[1] in ("read", "write")]
    return pl.DataFrame(
        {
            "bytes": [size for *_, size in kept],
            "ts": pl.Series([10**15 + at // 1000 for at, *_ in kept], dtype=pl.Int64),
            "lba": [offset // 512 for _, _, offset, _ in kept],
            "type": [int(op == "write") for _, op, _, _ in kept],
            "disk": ["ab"[i % 2] for i in range(len(kept))],
        }
    )


def test_other_peoples_tables_are_read_by_their_columns(tmp_path: Path) -> None:
    rows = requests(4000)
    frame, path = foreign(rows), tmp_path / "cloud.parquet"
    target = tmp_path / "ours.parquet"
    expected = [
        (at // 1000 * 1000, op, offset, size)
        for at, op, offset, size in rows
        if op in ("read", "write")
    ]
    seconds = (pl.col("ts") - 10**15) / 1e6
    other_types = {
        "as it is": (frame, FOREIGN),
        "times as times": (
            frame.with_columns(pl.from_epoch("ts", time_unit="us")), FOREIGN.replace(":us", ":ns")
        ),
        "decimal seconds": (frame.with_columns(seconds), FOREIGN.replace(":us", ":s")),
        "words": (
            frame.with_columns(pl.col("type").replace_strict([0, 1], ["R", "WRITE"])),
            FOREIGN.replace(":0/1", ""),
        ),
        "one row group": (frame, FOREIGN),
    }  # fmt: skip
    for case, (table, columns) in other_types.items():
        table.write_parquet(path, row_group_size=None if case == "one row group" else 500)
        floatgate.convert(path, target, columns=columns, force=True)
        ours = read(target)
        assert [row[1:] for row in ours] == [row[1:] for row in expected], case
        late = max(abs(a[0] - b[0]) for a, b in zip(ours, expected, strict=True))
        assert late <= (1000 if case == "decimal seconds" else 0), case
    frame.write_parquet(path)
    by_disk = FOREIGN + ",device=disk"
    whole = floatgate.describe(path, columns=by_disk)
    assert any("2 devices" in note and "a, b" in note for note in whole.workload.notes)
    half = floatgate.describe(path, columns=by_disk, device="b")
    assert half.requests.all.requests == len(expected) // 2
    assert half.workload.reading == f"columns={by_disk} device=b"
    # Without a map, the columns that floatgate itself writes; without metadata, by looking.
    floatgate.convert(path, target, columns=FOREIGN, force=True)
    told_of = floatgate.describe(target)
    pl.read_parquet(target).write_parquet(target)
    bare = floatgate.describe(target)
    assert without_provenance(told_of.data) == without_provenance(bare.data)


FLUSHES: dict[str, tuple[Any, str]] = {
    "nothing where a flush has nothing": (lambda at, size: (at, size), ":r/w/t/f/wf"),
    "a size of 0": (lambda at, _: (at, 0), ":r/w/t/f/wf"),
    "an address that means nothing": (lambda _, size: (-1, size), ":r/w/t/f/wf"),
    "as usual": (lambda at, size: (at, size), ""),
}


@pytest.mark.parametrize("case", FLUSHES)
def test_flushes_of_other_peoples_tables(case: str, tmp_path: Path) -> None:
    of_a_flush, spelling = FLUSHES[case]
    rows, path, target = requests(2000), tmp_path / "cloud.parquet", tmp_path / "ours.parquet"
    words = dict(zip(("read", "write", "trim", "flush", "write-fua"),
                     ("R", "W", "T", "F", "WF"), strict=True))  # fmt: skip
    extents = [of_a_flush(None, None) if op == "flush" else (a, s) for _, op, a, s in rows]
    frame = pl.DataFrame(
        {
            "ts": [at for at, *_ in rows],
            "type": [words[op] for _, op, *_ in rows],
            "at": pl.Series([at for at, _ in extents], dtype=pl.Int64),
            "bytes": pl.Series([size for _, size in extents], dtype=pl.Int64),
            "disk": ["b" if op == "flush" else "a" for _, op, *_ in rows],
        }
    )
    frame.write_parquet(path, row_group_size=300)
    columns = f"time=ts:ns,op=type{spelling},offset=at,size=bytes"
    # A device that is only flushed has no addresses, and takes no room.
    for more in ("", ",device=disk"):
        said = floatgate.convert(path, target, columns=columns + more, force=True)
        first = rows[0][0]
        assert read(target) == [(at - first, *rest) for at, *rest in rows]
        assert said["span_bytes"] == max(offset + size for *_, offset, size in rows)
    wrong = pl.when(pl.col("type") == "F").then(512).otherwise(pl.col("bytes"))
    frame.with_columns(wrong.alias("bytes")).write_parquet(path)
    with pytest.raises(InputError, match=r"row \d+: a flush of 512 bytes"):
        floatgate.convert(path, target, columns=columns, force=True)


def test_a_file_of_before_flushes_were_known_is_read_as_it_was(tmp_path: Path) -> None:
    rows = [row for row in requests(3000) if row[1] in ("read", "write", "trim")]
    path, old = tmp_path / "some.parquet", tmp_path / "old.parquet"
    floatgate.convert(stored(tmp_path / "some.csv", rows), path, **TABLE)
    metadata = pl.read_parquet_metadata(path)[METADATA]
    three = pl.Enum(["read", "write", "trim"])
    frame = pl.read_parquet(path).with_columns(pl.col("op").cast(pl.String).cast(three))
    for facts in ({METADATA: metadata}, None):
        frame.write_parquet(old, metadata=facts)
        described = [floatgate.describe(file).data for file in (path, old)]
        assert without_provenance(described[0]) == without_provenance(described[1])
    again = tmp_path / "again.parquet"
    floatgate.convert(old, again)
    assert read(again) == read(path)


@pytest.mark.parametrize("words", ["0", "0/0", "0//2", "0/1/2/3/4/5", "0/1/2/2", "/1"])
def test_words_that_cannot_be_meant_are_refused(words: str, tmp_path: Path) -> None:
    foreign(requests(50)).write_parquet(tmp_path / "cloud.parquet")
    columns = FOREIGN.replace("0/1", words)
    with pytest.raises(InputError, match=r"words must differ|such as `op=|there is no column"):
        floatgate.describe(tmp_path / "cloud.parquet", columns=columns)


def other_tables() -> dict[str, tuple[pl.DataFrame, str]]:
    """The same six requests, in the ways in which programs store tables, with their columns."""
    at, ops = [0, 1, 2, 3, 4, 5], ["R", "W", "W", "R", "W", "R"]
    frame = pl.DataFrame(
        {
            "when": [10**9 + 10**6 * i for i in at],
            "what": ops,
            "page": [7 * i for i in at],
            "pages": [1 + i % 2 for i in at],
        }
    )
    page = "offset=page:4KiB,size=pages:4KiB"
    times = pl.Series("when", [f"2008-01-02T03:04:05.00{i}Z" for i in at])
    bare = pl.Series("when", [f"2008-01-02 03:04:05.00{i}" for i in at])
    codes = pl.Series("what", [{"R": i % 2, "W": 2}[op] for i, op in zip(at, ops, strict=True)])
    letters = pl.Series("what", ["RA", "WS", "WSM", "R", "W", "RM"])
    floats = frame.with_columns(pl.col("page").cast(pl.Float64), pl.col("pages").cast(pl.Float64))
    return {
        "by name": (frame, f"time=when:ns,op=what,{page}"),
        "by number": (frame, "time=1:ns,op=2,offset=3:4KiB,size=4:4096B"),
        "ticks": (frame.with_columns(pl.col("when") // 100), f"time=when:100ns,op=what,{page}"),
        "dates in words": (frame.with_columns(times), f"time=when:iso,op=what,{page}"),
        "dates without a zone": (frame.with_columns(bare), f"time=when:iso,op=what,{page}"),
        "several codes": (frame.with_columns(codes), f"time=when:ns,op=what:0+1/2,{page}"),
        "letters of the kernel": (frame.with_columns(letters), f"time=when:ns,op=what,{page}"),
        "floats": (floats, f"time=when:ns,op=what,{page}"),
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "semicolons", "quotes"])
@pytest.mark.parametrize("case", other_tables())
def test_tables_in_text_and_in_parquet_are_described_alike(
    case: str, kind: str, tmp_path: Path
) -> None:
    frame, columns = other_tables()[case]
    path = tmp_path / ("some.parquet" if kind == "parquet" else "some.csv")
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        separator = ";" if kind == "semicolons" else ","
        style: Any = "always" if kind == "quotes" else "necessary"
        frame.write_csv(path, separator=separator, quote_style=style)
    floatgate.convert(path, tmp_path / "ours.parquet", columns=columns)
    expected = [
        (10**6 * i, "read" if i in (0, 3, 5) else "write", 7 * 4096 * i, 4096 * (1 + i % 2))
        for i in range(6)
    ]
    assert read(tmp_path / "ours.parquet") == expected


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_looks_like_blocks_is_asked_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"some.{kind}"
    cases = [
        ([100, 201], [4096, 512], "offsets such as 100", "offset=at:sectors"),
        ([0, 4096], [8, 16], "no size is above 16", "size=much:sectors"),
    ]
    for offsets, sizes, words, way in cases:
        frame = pl.DataFrame({"op": ["R", "W"], "at": offsets, "much": sizes})
        frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
        with pytest.raises(InputError, match=words) as raised:
            floatgate.describe(path, columns="op=op,offset=at,size=much")
        assert f"`{way}`" in str(raised.value)
        said = floatgate.describe(path, columns="op=op,offset=at:bytes,size=much:bytes")
        assert said.requests.all.requests == 2


def test_a_refused_table_proposes_its_columns(tmp_path: Path) -> None:
    frame = pl.DataFrame({"time": [1, 2], "op": ["R", "W"], "lbn": [8, 16], "size": [512, 512]})
    proposed = "`--columns time=time:UNIT,op=op"
    for path in (tmp_path / "some.parquet", tmp_path / "some.csv"):
        frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
        with pytest.raises(InputError) as raised:
            floatgate.describe(path)
        assert proposed in str(raised.value)
        assert "offset=lbn:sectors,size=size" in str(raised.value)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_large_requests_of_a_table_are_split(kind: str, tmp_path: Path) -> None:
    gib = 2**30
    sizes = {"W": 3 * gib, "R": gib, "T": 9 * gib}
    frame = pl.DataFrame(
        {"op": list(sizes), "at": [4096] * 3, "much": list(sizes.values()), "disk": ["a", "b", "a"]}
    )
    path, ours = tmp_path / f"some.{kind}", tmp_path / "ours.parquet"
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    columns = "op=op,offset=at,size=much"
    for more, base in (("", 0), (",device=disk", 9 * gib + 2**20)):
        said = floatgate.convert(path, ours, columns=columns + more, force=True)
        rows = pl.read_parquet(ours).select("op", "offset", "size").rows()
        assert said["requests"] == len(rows) == 3 + 1 + 4
        assert any("2 requests larger than 1 GiB" in note for note in said["notes"])
        at = 4096
        for _, offset, size in rows[:3]:
            assert (offset, size) == (at, gib)
            at += size
        assert rows[3] == ("read", base + 4096, gib)
        assert sum(size for *_, size in rows[4:]) == 9 * gib


def broken(frame: pl.DataFrame, column: str, row: int, value: object) -> pl.DataFrame:
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values, strict=False))


BROKEN: dict[str, tuple[Any, str, list[str]]] = {
    "a missing column": (lambda f: f.drop("lba"), FOREIGN, ["`lba`", "there are `bytes`"]),
    "no map at all": (lambda f: f, "", ["`op`", "--columns"]),
    "a time without unit": (lambda f: f, FOREIGN.replace(":us", ""), ["`ts`", "no unit"]),
    "an unknown key": (lambda f: f, FOREIGN + ",disk=disk", ["`disk`", "device"]),
    "a key twice": (lambda f: f, FOREIGN + ",size=bytes", ["twice"]),
    "no size": (lambda f: f, FOREIGN.replace(",size=bytes", ""), ["no `size`"]),
    "numbers for words": (lambda f: f, FOREIGN.replace(":0/1", ""), ["`type`", "op=NAME:0/1"]),
    "a size in words": (
        lambda f: f.with_columns(pl.col("bytes").cast(pl.String)), FOREIGN, ["`bytes`", "numbers"]
    ),
    "a hole": (lambda f: broken(f, "lba", 700, None), FOREIGN, ["row 701", "`lba`", "no value"]),
    "an unknown operation": (
        lambda f: broken(f, "type", 42, 7), FOREIGN, ["row 43", "`7`", "one of 0, 1"]
    ),
    "a negative address": (lambda f: broken(f, "lba", 3, -8), FOREIGN, ["row 4", "-8", "`lba`"]),
    "an absurd address": (lambda f: broken(f, "lba", 9, 2**62), FOREIGN, ["row 10", "`lba`"]),
    "a far address": (lambda f: broken(f, "lba", 9, 2**45), FOREIGN, ["row 10", "1 PiB"]),
    "size 0": (lambda f: broken(f, "bytes", 5, 0), FOREIGN, ["row 6", "size 0"]),
    "an absurd size": (lambda f: broken(f, "bytes", 5, 2**40), FOREIGN, ["row 6", "4 GiB"]),
    "time backwards": (lambda f: broken(f, "ts", 900, 10**15), FOREIGN, ["row 901", "sort"]),
    "times in another unit": (lambda f: f, FOREIGN.replace(":us", ":s"), ["row 1", "63 bits"]),
    "nothing in it": (lambda f: f.head(0), FOREIGN, ["no row"]),
    "no such device": (lambda f: f, FOREIGN + ",device=disk", ["`7`", "such as a, b"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_bad_table_is_refused_with_file_row_and_column(case: str, tmp_path: Path) -> None:
    change, columns, words = BROKEN[case]
    change(foreign(requests(3000))).write_parquet(tmp_path / "cloud.parquet", row_group_size=400)
    with pytest.raises(InputError) as raised:
        floatgate.run(
            "agcr",
            tmp_path / "cloud.parquet",
            columns=columns or None,
            device="7" if case == "no such device" else (),
        )
    for word in words:
        assert word in str(raised.value), str(raised.value)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    floatgate.convert("zipf", path, set={"workload.requests": 300_000, "workload.seed": 3})
    good = path.read_bytes()
    bodies = {
        "cut": good[:-100],
        "cut to half": good[: len(good) // 2],
        "only the mark": b"PAR1",
        "empty": b"",
        "text": b"0 0 8 8 1\n",
        "zeros within": good[:20_000] + bytes(5000) + good[25_000:],
        "other metadata": good.replace(b'"span_bytes": ', b'"span_bytez": '),
    }
    for case, body in bodies.items():
        path.write_bytes(body)
        with pytest.raises(InputError, match=r"some\.parquet"):
            floatgate.run("agcr", path)
        assert body != good, case
    # A file that floatgate wrote and a user changed is not trusted.
    path.write_bytes(good)
    metadata = {METADATA: pl.read_parquet_metadata(path)[METADATA]}
    frame = pl.read_parquet(path)
    frame.head(1000).write_parquet(path, metadata=metadata)
    with pytest.raises(WorkloadError, match="300000 that it states"):
        floatgate.run("agcr", path)
    frame.with_columns(pl.col("offset") + 2**40).write_parquet(path, metadata=metadata)
    with pytest.raises(WorkloadError, match=r"row 1: .*that it states"):
        floatgate.describe(path)
    newer = {METADATA: metadata[METADATA].replace("requests/1", "requests/9")}
    frame.write_parquet(path, metadata=newer)
    with pytest.raises(WorkloadError, match="requests/9"):
        floatgate.run("agcr", path)


def test_a_file_is_there_whole_or_not_at_all(floatgate: Floatgate, tmp_path: Path) -> None:
    (tmp_path / "bad.trace").write_bytes(
        b"".join(fuzz.ssdsim(i) for i in range(400_000)) + b"rubbish\n"
    )
    (tmp_path / "there.parquet").write_text("precious")
    zipf = ("zipf", "--set", "workload.requests=1000")
    for words, hint in (
        (("bad.trace", "-o", "new.parquet"), "400001"),
        ((*zipf, "-o", "there.parquet"), "--force"),
        ((*zipf, "-o", "nowhere/new.parquet"), "no folder"),
        ((*zipf, "-o", "new.csv"), ".parquet"),
        ((*zipf, "-o", "new.parquet", "--slice", "1h"), "no `..`"),
        ((*zipf, "-o", "new.parquet", "--footprint", "-1"), "footprint"),
        (zipf, "--out"),
    ):
        done = floatgate("trace", "convert", *words, "--json")
        assert (done.returncode, done.stdout) == (2, ""), words
        assert hint in done.stderr
        assert "Traceback" not in done.stderr
        assert sorted(os.listdir(tmp_path)) == ["bad.trace", "there.parquet"]
        assert (tmp_path / "there.parquet").read_text() == "precious"
    done = floatgate("trace", "convert", *zipf, "-o", "there.parquet", "--force", "--json")
    value = json.loads(done.stdout)
    assert (value["schema"], value["path"]) == ("floatgate.conversion/1", "there.parquet")
    assert value["bytes"] == (tmp_path / "there.parquet").stat().st_size
    assert value["workload"]["requests"] == 1000
    shown = floatgate("trace", "convert", *zipf, "-o", "new.parquet").stdout
    assert "zipf: 1,000 requests in new.parquet" in shown


def test_progress_can_stop_a_conversion(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(stage: str, done: int, total: int | None, now_ns: int) -> None:
        heard.append(stage)
        raise InputError("enough")

    with pytest.raises(InputError, match="enough"):
        floatgate.convert(
            "zipf", tmp_path / "x.parquet", set={"workload.requests": 10**11}, progress=hear
        )
    assert heard == ["converting"]
    assert list(tmp_path.iterdir()) == []


def test_damaged_tables_are_refused_or_run(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    floatgate.convert("zipf", path, set={"workload.requests": 200})
    good = path.read_bytes()
    answers = []
    for seed in range(150):
        path.write_bytes(fuzz.damage(random.Random(seed), good))
        try:
            floatgate.run("agcr", path, set=COMPACT)
        except InputError as error:
            answers.append(str(error))
        else:
            answers.append("accepted")
    assert answers.count("accepted") >= 10
    refused = [answer for answer in answers if "some.parquet: " in answer]
    assert len(refused) >= 30
    assert len(refused) + answers.count("accepted") == len(answers)


@pytest.mark.verify
def test_a_long_file_is_streamed(tmp_path: Path) -> None:
    """Thirty million requests: 720 MB as the engine has them, and as much again as columns."""

    def peak(program: str) -> int:
        body = f"import floatgate, resource\n{program}\n"
        body += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        done = subprocess.run(
            [sys.executable, "-c", body], check=True, capture_output=True, text=True, cwd=tmp_path
        )
        return int(done.stdout)

    sets = {"workload.requests": 30_000_000, "workload.arrivals": "{constant={iops=50000}}"}
    written = peak(f"floatgate.convert('zipf', 'long.parquet', set={sets})")
    few = peak("floatgate.convert('long.parquet', 'few.parquet', first=1_000_000)")
    many = peak("floatgate.convert('long.parquet', 'all.parquet')")
    assert max(written, few, many) < 600 << 10
    assert many < few + (100 << 10)


PAGE = Path(__file__).parent.parent / "docs" / "workloads.md"


def test_every_example_of_the_page_runs(floatgate: Floatgate, tmp_path: Path) -> None:
    text = PAGE.read_text()
    stored(tmp_path / "mine.csv", [(at // 1000, *rest) for at, *rest in requests(3000)])  # type: ignore[misc]
    stored(tmp_path / "swap.csv", [(at // 1000, *rest) for at, *rest in requests(50, 2)])  # type: ignore[misc]
    foreign(requests(500)).write_parquet(tmp_path / "cloud.parquet")
    files = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    for name, body in zip(("mix.toml", "generator.toml"), files, strict=True):
        (tmp_path / name).write_text(body)
    commands = re.findall(r"^floatgate (.*)$", text, re.MULTILINE)
    assert len(commands) >= 9
    for command in [*commands, "run agcr generator.toml"]:
        words = shlex.split(command)
        if words[0] == "run":
            words += ["--set", "host.out-of-range=compact"]
        done = floatgate(*words, "--json")
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_power_cut_finds_the_file_on_the_disk_before_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    named: list[Path] = []
    fsync, replace = os.fsync, Path.replace

    def noted(handle: int) -> None:
        fsync(handle)
        synced.add(os.fstat(handle).st_ino)

    def moved(path: Path, target: Path) -> Path:
        assert path.stat().st_ino in synced
        named.append(target)
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "replace", moved)
    out = tmp_path / "w.parquet"
    floatgate.convert("random-write", out, set={"workload.requests": 100})
    assert named == [out]
