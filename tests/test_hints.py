"""The hints of a workload: every way in which requests come brings them to the policies."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate
from floatgate.engine import InputError
from floatgate.policy import Access, Plane, Random

SMALL: dict[str, Any] = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 64,
    "geometry.page-size": "4KiB",
    "precondition.fill": "full",
    "host.mode": "timestamps",
}
PAGE = 4096
"""A request of the tests is one page."""

Seen = list[tuple[str, int, int]]
"""The operation, the page and the hint of each access that a policy sees, in order."""

seen: Seen = []


class Watching:
    """Collects as `greedy` does, and notes each access in `seen`."""

    def choose(self, plane: Plane, demand: str, random: Random) -> int | None:
        best = plane.gain.argmax()
        return int(plane.blocks[best]) if plane.gain[best] else None

    def on_access(self, access: Access) -> None:
        seen.append((access.kind, access.lpn, access.hint))


def heard(workload: str | Path, *, set: dict[str, Any] | None = None, **reading: Any) -> Seen:
    """The accesses of a workload that a policy sees."""
    seen.clear()
    floatgate.run("agcr", workload, set=SMALL | (set or {}), policy={"victim": Watching}, **reading)
    return list(seen)


def rows(count: int, seed: int) -> pl.DataFrame:
    """Requests of one page each, with hints."""
    draw = random.Random(seed)
    ops = [draw.choice(["read", "write", "write", "trim", "write-fua"]) for _ in range(count)]
    return pl.DataFrame(
        {
            "time_ns": [10_000 * i for i in range(count)],
            "op": ops,
            "offset": [draw.randrange(1000) * PAGE for _ in range(count)],
            "size": [PAGE] * count,
            "hint": [draw.choice([0, 1, 7, 255, draw.randrange(256)]) for _ in range(count)],
        }
    )


def expected(table: pl.DataFrame, change: Callable[[int], int] = lambda hint: hint) -> Seen:
    """The accesses of the rows of a table."""
    return [
        (op.removesuffix("-fua"), offset // PAGE, change(hint))
        for op, offset, hint in table.select("op", "offset", "hint").iter_rows()
    ]


CSV = "time=1:ns,op=2,offset=3,size=4,hint=5"


@pytest.fixture
def table() -> pl.DataFrame:
    return rows(500, 1)


def test_every_file_brings_its_hints(table: pl.DataFrame, tmp_path: Path) -> None:
    text, own = tmp_path / "t.csv", tmp_path / "own.parquet"
    foreign, again = tmp_path / "foreign.parquet", tmp_path / "again.parquet"
    table.write_csv(text)
    want = expected(table)
    assert heard(text, columns=CSV) == want
    named = "time=time_ns:ns,op=op,offset=offset,size=size,hint=hint"
    assert heard(text, columns=named) == want
    floatgate.convert(text, own, columns=CSV)
    assert pl.read_parquet(own)["hint"].to_list() == [hint for *_, hint in want]
    assert heard(own) == want
    floatgate.convert(own, again)
    assert heard(again) == want
    # Another program's file has its own names and types, and nothing where there is no hint.
    other = table.select(
        pl.col("time_ns").alias("ts"),
        pl.col("op").alias("what"),
        pl.col("offset").alias("where"),
        pl.col("size").alias("bytes"),
        pl.when(pl.col("hint") > 0).then(pl.col("hint")).cast(pl.Float64).alias("stream"),
    )
    other.write_parquet(foreign)
    columns = "time=ts:ns,op=what,offset=where,size=bytes,hint=stream"
    assert heard(foreign, columns=columns) == want
    table.write_parquet(tmp_path / "bare.parquet")
    assert heard(tmp_path / "bare.parquet") == want
    # Without a column nobody has a hint.
    assert heard(text, columns=CSV.removesuffix(",hint=5")) == expected(table, lambda _: 0)


@pytest.mark.parametrize("wrong", [256, 65536, -1, 1.5, float("nan"), 1e30])
def test_a_wrong_hint_in_a_table_is_named_with_its_row(wrong: float, tmp_path: Path) -> None:
    table = rows(10, 2).with_columns(pl.col("hint").cast(pl.Float64))
    table[7, "hint"] = wrong
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: row 8: .* in column `hint`.* from 0"):
        heard(tmp_path / "t.parquet")


def test_words_are_no_hints(tmp_path: Path) -> None:
    table = rows(10, 2).with_columns(pl.col("hint").cast(pl.String))
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column `hint` has String; expected numbers"):
        heard(tmp_path / "t.parquet")


def test_every_change_and_combination_keeps_them(table: pl.DataFrame, tmp_path: Path) -> None:
    own = tmp_path / "own.parquet"
    table.write_csv(tmp_path / "t.csv")
    floatgate.convert(tmp_path / "t.csv", own, columns=CSV)
    want = expected(table)
    assert heard(own, first=100) == want[:100]
    assert heard(own, repeat=2, speed=2) == want * 2
    assert heard(own, slice="1ms..2ms") == want[100:200]
    mix = tmp_path / "mix.toml"
    head = 'schema = "floatgate.workload/1"\n[[part]]\nworkload = "own.parquet"\n'
    changes: dict[str, Callable[[int, int], int]] = {
        "": lambda _, hint: hint,
        "hint = 9": lambda _page, _hint: 9,
        "hint = 0": lambda _page, _hint: 0,
        f'hint = [{{ below = "{100 * PAGE}B", hint = 3 }}]': lambda p, h: 3 if p < 100 else h,
        f'hint = [{{ below = "{100 * PAGE}B", hint = 3 }}, {{ hint = 4 }}]': lambda p, _: (
            3 if p < 100 else 4
        ),
    }
    for hint, change in changes.items():
        mix.write_text(head + hint)
        assert heard(mix) == [(op, page, change(page, hint)) for op, page, hint in want], hint
    # On the command line, and as the default of a flow in the drive's settings.
    one = floatgate.flows({"db": f"{own}:hint=9"})
    assert heard(one) == [(op, page, 9) for op, page, _ in want]
    plain, flow = floatgate.flows({"db": str(own)}), {"host.flow": '[{ name = "db", hint = 5 }]'}
    assert heard(plain, set=flow) == [(op, page, hint or 5) for op, page, hint in want]


def test_a_session_brings_them_and_so_does_its_recording(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    seen.clear()
    record = tmp_path / "came.parquet"
    with floatgate.Session(
        "agcr", set=SMALL, seed=1, policy={"victim": Watching}, record=record
    ) as drive:
        for at, op, offset, size, hint in table.iter_rows():
            drive.submit(op, offset, size, at=max(at, drive.now_ns), hint=hint)
        drive.submit("flush", hint=3)
        drive.result()
    want = expected(table)
    assert seen == want
    assert heard(record) == want
    with floatgate.Session("agcr", set=SMALL, seed=1) as drive:
        for wrong in (256, -1):
            with pytest.raises(InputError, match=f"hint {wrong}: expected 0"):
                drive.submit("write", 0, PAGE, hint=wrong)


def test_a_request_of_the_run_has_its_hint_in_the_tables(
    table: pl.DataFrame, tmp_path: Path
) -> None:
    table.write_csv(tmp_path / "t.csv")
    floatgate.run("agcr", tmp_path / "t.csv", columns=CSV, set=SMALL, out=tmp_path / "r")
    (found,) = (tmp_path / "r").rglob("requests.parquet")
    kept = pl.read_parquet(found).sort("arrival_ns")
    assert kept["hint"].to_list() == table["hint"].to_list()


@pytest.mark.parametrize("wrong", [256, -1, 1.5, "hot"])
def test_a_wrong_hint_of_a_flow_is_named_with_its_key(wrong: object, tmp_path: Path) -> None:
    rows(10, 1).write_parquet(tmp_path / "t.parquet")
    said = f'"{wrong}"' if isinstance(wrong, str) else wrong
    flow = {"host.flow": f'[{{ name = "db", hint = {said} }}]'}
    with pytest.raises(InputError, match=r"host\.flow\[?0?\]?\.?hint"):
        heard(floatgate.flows({"db": str(tmp_path / "t.parquet")}), set=flow)
    with pytest.raises(InputError, match="`hint` of part 1"):
        heard(floatgate.flows({"db": f"{tmp_path / 't.parquet'}:hint={wrong}"}))


def test_a_drive_that_uses_hints_serves_every_route_alike(tmp_path: Path) -> None:
    """Half of the pages are hot. Hints say so, and whatever brings them, the run is the same."""
    draw, hot = random.Random(5), 300
    pages = [
        draw.randrange(hot) if draw.random() < 0.9 else hot + draw.randrange(2000)
        for _ in range(20_000)
    ]
    table = pl.DataFrame(
        {
            "time_ns": [2_000_000 * i for i in range(len(pages))],
            "op": ["write"] * len(pages),
            "offset": [page * PAGE for page in pages],
            "size": [PAGE] * len(pages),
            "hint": [1 if page < hot else 2 for page in pages],
        }
    )
    text, own, came = tmp_path / "t.csv", tmp_path / "t.parquet", tmp_path / "came.parquet"
    table.write_csv(text)
    floatgate.convert(text, own, columns=CSV)
    regions = f'[{{ below = "{hot * PAGE}B", hint = 1 }}, {{ hint = 2 }}]'
    parts = tmp_path / "parts.toml"
    parts.write_text(
        'schema = "floatgate.workload/1"\n[[part]]\nworkload = "bare.csv"\n'
        f'columns = "{CSV.removesuffix(",hint=5")}"\nhint = {regions}\n'
    )
    table.drop("hint").write_csv(tmp_path / "bare.csv")
    drive: dict[str, Any] = SMALL | {
        "geometry.chips-per-channel": 1,
        "geometry.planes-per-die": 1,
        "ftl.spare-factor": 0.3,
    }

    def result(workload: Path, separation: str = "hints:streams=3", **reading: Any) -> Any:
        policy = {"separation": separation}
        found = floatgate.run("agcr", workload, set=drive, policy=policy, seed=1, **reading)
        return {key: found[key] for key in ("host", "flash", "wear", "waf", "policies", "end")}

    want = result(text, columns=CSV)
    assert result(own) == want
    assert result(parts) == want
    policy = {"separation": "hints:streams=3"}
    with floatgate.Session("agcr", set=drive, policy=policy, seed=1, record=came) as session:
        for at, op, offset, size, hint in table.iter_rows():
            session.submit(op, offset, size, at=max(at, session.now_ns), hint=hint)
        ours = session.result()
    assert {key: ours[key] for key in want} == result(came)
    # Without its hints, or on a drive that ignores them, it is another run, which moves more.
    for other in (
        result(text, columns=CSV.removesuffix(",hint=5")),
        result(text, "sepgc", columns=CSV),
    ):
        assert other["waf"] > want["waf"] + 0.02
