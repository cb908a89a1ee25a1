"""Right number? Every reader of Parquet finds the values that we write."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from floatgate.engine import InternalError, Rows, TableFile

MOST = {np.uint32: 2**32 - 1, np.uint64: 2**64 - 1}
Columns = list[tuple[str, Any, Sequence[str] | None, bool]]


def file(path: Path, parts: Sequence[Columns], metadata: Sequence[tuple[str, str]] = ()) -> Path:
    written = TableFile(path)
    for part in parts:
        written.put(Rows(part))
    written.finish(metadata)
    return path


def drawn(seed: int, rows: int) -> Columns:
    """Columns of every kind: even, in steps, over the whole range, with absent values."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(1, 65, rows).astype(np.uint64)
    wide = rng.integers(0, 2**64, rows, dtype=np.uint64) >> (np.uint64(64) - bits)
    narrow = rng.integers(0, 2**32 - 1, rows, dtype=np.uint32)
    gaps = rng.random(rows) < 0.3
    return [
        ("time", np.cumsum(rng.integers(0, 10_000, rows)).astype(np.uint64), None, False),
        ("even", np.arange(rows, dtype=np.uint64) * np.uint64(4096), None, False),
        ("same", np.full(rows, 7, np.uint32), None, False),
        ("wide", wide, None, False),
        ("narrow", narrow, None, False),
        ("gaps", np.where(gaps, np.uint64(2**64 - 1), wide), None, True),
        ("holes", np.where(gaps, np.uint32(2**32 - 1), narrow), None, True),
        ("nothing", np.full(rows, 2**64 - 1, np.uint64), None, True),
        ("all", wide % np.uint64(100), None, True),
        ("word", rng.integers(0, 5, rows).astype(np.uint8), ["a", "", "ccc", "dädä", "e e"], False),
        ("one", np.zeros(rows, np.uint8), ["only"], False),
        ("many", rng.integers(0, 200, rows).astype(np.uint8), [f"w{n}" for n in range(200)], False),
    ]


def frame(parts: Sequence[Columns]) -> pl.DataFrame:
    """The same rows, without any file."""

    def series(name: str, values: Any, words: Sequence[str] | None, optional: bool) -> pl.Series:
        if words is not None:
            return pl.Series(name, [words[code] for code in values], pl.Enum(words))
        most = MOST[values.dtype.type]
        listed = [None if optional and v == most else v for v in values.tolist()]
        return pl.Series(
            name, listed, {np.uint32: pl.UInt32, np.uint64: pl.UInt64}[values.dtype.type]
        )

    return pl.concat([pl.DataFrame([series(*column) for column in part]) for part in parts])


# Parts of one row, of less than a group and of more, and a group's last.
SIZES = [(1,), (2, 1), (127, 128, 129), (4096,) * 5, (70_000, 3, 65_536, 1)]


@pytest.mark.parametrize("sizes", SIZES)
def test_every_reader_finds_what_was_written(tmp_path: Path, sizes: Sequence[int]) -> None:
    pa = pytest.importorskip("pyarrow.parquet")
    duckdb = pytest.importorskip("duckdb")
    parts = [drawn(len(sizes) * 100 + nth, rows) for nth, rows in enumerate(sizes)]
    path = file(tmp_path / "t.parquet", parts, [("key", "välue")])
    expected = frame(parts)
    ours = pl.read_parquet(path)
    assert ours.schema == expected.schema
    assert ours.equals(expected)
    assert pl.scan_parquet(path).select(pl.len()).collect().item() == sum(sizes)
    assert pl.read_parquet_metadata(path)["key"] == "välue"
    theirs = pa.read_table(path)
    assert theirs.schema.field("word").type.value_type == "string"
    arrow = pl.DataFrame(theirs)
    assert arrow.with_columns(pl.col(n).cast(t) for n, t in expected.schema.items()).equals(
        expected
    )
    relation = duckdb.sql(f"SELECT * FROM '{path}'")
    texts = expected.with_columns(pl.col("word", "one", "many").cast(pl.String))
    assert relation.fetchall() == texts.rows()


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    path = file(tmp_path / "t.parquet", [drawn(1, 0)])
    assert pl.read_parquet(path).equals(frame([drawn(1, 0)]))
    assert pl.read_parquet(path).schema == frame([drawn(1, 0)]).schema


def test_even_columns_take_next_to_nothing(tmp_path: Path) -> None:
    rows = 100_000
    even = [("even", np.arange(rows, dtype=np.uint64) * np.uint64(4096), None, False)]
    zeros = [(f"zero{n}", np.zeros(rows, np.uint64), None, False) for n in range(10)]
    path = file(tmp_path / "t.parquet", [[*even, *zeros]])
    assert path.stat().st_size < 4000
    # Times a thousand nanoseconds apart, give or take: eleven bits and a little.
    time = np.cumsum(np.random.default_rng(1).integers(0, 2000, rows)).astype(np.uint64)
    path = file(tmp_path / "t.parquet", [[("time", time, None, False)]])
    assert path.stat().st_size < rows * 11.5 / 8 + 1000


def test_rows_go_once_and_to_a_file_that_has_not_ended(tmp_path: Path) -> None:
    rows = Rows(drawn(2, 5))
    assert len(rows) == 5
    arrays = dict(rows.arrays())
    assert list(arrays["even"]) == [0, 4096, 8192, 12288, 16384]
    assert len(rows) == 0
    with pytest.raises(TypeError, match="array of uint64 or uint32"):
        Rows([("x", np.zeros(3), None, False)])
    written = TableFile(tmp_path / "t.parquet")
    written.finish([])
    with pytest.raises(InternalError, match="has ended"):
        written.put(Rows(drawn(2, 5)))
    written.abandon()


def test_what_the_system_refuses_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        TableFile(tmp_path / "no" / "t.parquet")
    assert raised.value.strerror == "No such file or directory"
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs a device that is full")
    written = TableFile(full)
    with pytest.raises(OSError, match="No space left") as failed:  # noqa: PT012 - sooner or later
        for nth in range(1000):
            written.put(Rows(drawn(nth, 4096)))
    assert failed.value.errno == 28
    with pytest.raises(InternalError, match="has ended"):
        written.finish([])
