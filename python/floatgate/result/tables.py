"""Stored results as one table, from Python and by SQL."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError
from floatgate.hints import file_hint
from floatgate.mistakes import FileError, NoFileError, PackageError
from floatgate.result.comparison import typed
from floatgate.result.folder import RESULT, SNAPSHOTS, TABLES
from floatgate.result.lists import named
from floatgate.result.run import Result

if TYPE_CHECKING:
    import polars as pl

Folders = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def results(folders: Folders = "floatgate-results") -> pl.DataFrame:
    """Returns one row for each stored run in or below folders.

    The columns are `run_id`, the varied settings of its sweep or comparison (null without one),
    every number of the result, and `folder`. Numbers are named by their path, as in `Result.frame`.

    Args:
        folders: A folder, or several.

    Raises:
        InputError: A folder does not exist, or a result cannot be read.
    """
    return _table(list(_stored(folders)))


_Row = tuple[Path, Result, Mapping[str, str]]
"""A stored run: its folder, its result, and its name."""


def _table(rows: Sequence[_Row]) -> pl.DataFrame:
    import polars as pl

    names = dict.fromkeys(name for _, _, variant in rows for name in variant)
    if not rows:
        return pl.DataFrame()
    varied = [
        pl.Series(name, typed([variant.get(name) for _, _, variant in rows])) for name in names
    ]
    numbers = pl.concat(
        [result.frame(provenance=True) for _, result, _ in rows], how="diagonal_relaxed"
    )
    where = pl.Series("folder", [str(path) for path, _, _ in rows])
    taken = set(numbers.columns)
    varied = [series for series in varied if series.name not in taken]
    return (
        pl.DataFrame([numbers["run_id"], *varied])
        .hstack(numbers.drop("run_id"))
        .with_columns(where)
    )


def _stored(folders: Folders) -> Iterator[_Row]:
    """Each stored run once."""
    given = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    seen = set()
    for folder in map(Path, given):
        if not folder.is_dir():
            if Path(folder).exists():
                raise FileError(f"{folder}: this is not a folder; expected a folder of results")
            raise NoFileError(f"{folder}: there is no such folder; {file_hint(folder)}")
        variants: dict[Path, Mapping[Path, Mapping[str, str]]] = {}
        for path in sorted(folder.rglob(RESULT)):
            if path.parent in seen or path.parent.name.startswith("."):
                continue
            seen.add(path.parent)
            above = path.parent.parent
            if above not in variants:
                variants[above] = dict(named(above))
            result = Result.from_file(path)
            yield path.parent, result, variants[above].get(path.parent, {})


_MOST = 1_000_000
"""The greatest number of rows of an answer."""


def query(
    sql: str, folders: Folders = "floatgate-results", *, unsafe: bool = False
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Answers a question in SQL (DuckDB) over stored runs: the names of columns, and rows.

    A question is one statement that changes nothing: SELECT, WITH, DESCRIBE, SUMMARIZE, PIVOT.

    There are the tables `runs`, as `results` gives it, and `requests`, `series`, `blocks`,
    `snapshots` and `occupancy` with the column `run_id`. In `runs`, dots and dashes in names are
    underscores, so that no name needs quotes: `host_write_latency_ns_p99`.

    A question sees the tables of these runs and nothing else: no other file, no network, no
    extension of DuckDB that is not built in. It may take half the memory of the machine, and
    the answer has at most a million rows.

    Args:
        sql: The question.
        folders: A folder, or several.
        unsafe: Whether it may do all that DuckDB can.

    Raises:
        InputError: DuckDB is not installed, or the question is wrong.
    """
    try:
        import duckdb
    except ImportError:
        raise PackageError(
            "SQL needs DuckDB, which is not installed: pip install 'floatgate[sql]'"
        ) from None
    import tempfile

    rows = list(_stored(folders))
    frame = _table(rows)
    if frame.is_empty():
        raise InputError(f"{_shown(folders)}: there are no results here")
    _check_question(sql)
    frame = frame.rename(dict(zip(frame.columns, _plain(frame.columns), strict=True)))
    connection = duckdb.connect(":memory:")
    with tempfile.TemporaryDirectory(prefix="floatgate-") as scratch:
        file = Path(scratch) / "runs.parquet"
        frame.write_parquet(file)
        connection.execute(f"CREATE TABLE runs AS SELECT * FROM read_parquet({_quoted(file)})")
    missing: list[str] = []
    try:
        for name in (*TABLES, *SNAPSHOTS):
            if not _view(connection, name, rows):
                missing.append(name)
        if not unsafe:
            _lock(connection, rows)
        done = connection.execute(sql)
        answer = done.fetchall() if unsafe else done.fetchmany(_MOST + 1)
        if not unsafe and len(answer) > _MOST:
            raise InputError(f"SQL: the answer has over {_MOST:,} rows; say LIMIT, or --unsafe-sql")
        return [column[0] for column in done.description], answer
    except duckdb.Error as error:
        text = str(error)
        for name in missing:
            if f"Table with name {name} does not exist" in text:
                text = f"no run in {_shown(folders)} has recorded its {name}"
                asked = "snapshots" if name in SNAPSHOTS else name
                text += f'; an experiment says record = ["{asked}"]'
        raise InputError(f"SQL: {text}") from None
    finally:
        connection.close()


def _check_question(sql: str) -> None:
    """Refuses a statement that is not a question.

    >>> _check_question("DROP TABLE runs")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    floatgate.InputError: SQL: DROP is not a question
    """
    import duckdb

    with duckdb.connect(":memory:") as parser:
        try:
            statements = parser.extract_statements(sql)
        except duckdb.Error as error:
            raise InputError(f"SQL: {error}") from None
    if len(statements) != 1:
        raise InputError(f"SQL: these are {len(statements)} statements; expected one question")
    (statement,) = statements
    kind = statement.type
    first = re.match(r"\s*(\w+)", statement.query)
    word = first[1].upper() if first else ""
    # A pivot is several statements to DuckDB, and so is a table made of one.
    pivots = kind == duckdb.StatementType.MULTI and word in ("PIVOT", "SELECT", "WITH", "FROM")
    if kind != duckdb.StatementType.SELECT and not pivots:
        raise InputError(
            f"SQL: {word or kind.name} is not a question; expected one that reads, such as "
            "SELECT or DESCRIBE"
        )


def _lock(connection: Any, rows: Sequence[_Row]) -> None:
    """Restricts a question to the tables of runs, and keeps it from changing that."""
    tables = [result.table_file(name) for _, result, _ in rows for name in (*TABLES, *SNAPSHOTS)]
    files = [str(path) for path in tables if path is not None]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for setting, value in {
        "memory_limit": f"'{memory}B'",
        "temp_directory": "''",
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "allowed_paths": f"[{', '.join(map(_quoted, files))}]",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }.items():
        connection.execute(f"SET {setting} = {value}")


def _view(connection: Any, name: str, rows: Sequence[_Row]) -> bool:
    """A view of one table of all runs. Returns whether any run has it."""
    there = [path for _, result, _ in rows if (path := result.table_file(name)) is not None]
    if not there:
        return False
    listed = ", ".join(map(_quoted, there))
    connection.execute(
        f"CREATE VIEW {name} AS SELECT parse_filename(parse_dirpath(filename)) AS run_id, "
        f"* EXCLUDE (filename) FROM read_parquet([{listed}], filename = true, union_by_name = true)"
    )
    return True


def _plain(names: Sequence[str]) -> list[str]:
    """Names that SQL takes without quotes. If two names would become equal, both stay unchanged.

    >>> _plain(["host.write.bytes", "ftl.spare-factor", "a-b", "a.b"])
    ['host_write_bytes', 'ftl_spare_factor', 'a-b', 'a.b']
    """
    plain = [name.translate(str.maketrans(".-", "__")) for name in names]
    return [
        short if plain.count(short) == 1 else name for short, name in zip(plain, names, strict=True)
    ]


def _quoted(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _shown(folders: Folders) -> str:
    given = [folders] if isinstance(folders, str | os.PathLike) else list(folders)
    return ", ".join(map(str, given))
