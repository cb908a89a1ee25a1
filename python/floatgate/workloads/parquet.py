"""Reading Parquet files: piece by piece, as columns that the engine takes.

A file that `floatgate.convert` wrote has the facts that must be known before a run. Any other table
is described by `--columns`, and gone through once first. Nothing is ever held whole.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate import engine
from floatgate.engine import WorkloadError
from floatgate.hints import file_hint
from floatgate.mistakes import ConflictError
from floatgate.result.page_headers import check_pages

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

METADATA = "floatgate"
"""The key of the facts in a file."""

SCHEMA = "floatgate.requests/1"

PIECE = 1 << 18
"""Rows that are handed over at once."""

OPERATIONS = ("read", "write", "trim", "flush", "write-fua")
PRIORITIES = ("normal", "high")

SYNTAX = "expected such as `time=ts:us,op=type:0/1,offset=lba:sectors,size=bytes`"

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "100ns": 100, "ns": 1}
_WORDS = {
    **dict.fromkeys(("r", "read"), 0),
    **dict.fromkeys(("w", "write"), 1),
    **dict.fromkeys(("t", "d", "trim", "discard", "unmap"), 2),
    **dict.fromkeys(("f", "flush"), 3),
    **dict.fromkeys(("wf", "write-fua"), 4),
}
_SECTOR = 512


def _letters() -> dict[str, int]:
    """The letters of the Linux kernel in lower case, but for those that stand for two requests."""
    more = [
        "".join(letters) for count in range(5) for letters in itertools.combinations("fasmu", count)
    ]
    kinds = {"r": 0, "w": 1, "wz": 1, "d": 2, "de": 2, "f": 3}
    letters = {kind + tail: op for kind, op in kinds.items() for tail in more}
    return letters | {"w" + tail: 4 for tail in more if "f" in tail} | {"ff": 3, "fn": 3}


_MOST_HINT = 255
_FLUSH = OPERATIONS.index("flush")
_UNKNOWN = 255

Facts = tuple[
    int,
    int,
    bool,
    int | None,
    tuple[str, str, str] | None,
    list[str],
    list[tuple[str, int, int | None, tuple[int, int]]],
]
"""The facts about a table of requests. They are the requests, the span, whether they have times,
the recorded time of the first, and notes. A stand-in has model, version and source. Each flow has
its name, weight, depth and region.
"""

Piece = tuple[
    "NDArray[Any] | None",
    "NDArray[Any]",
    "NDArray[Any]",
    "NDArray[Any]",
    "NDArray[Any] | None",
    "NDArray[Any] | None",
    "NDArray[Any] | None",
    "NDArray[Any] | None",
]
"""Time in ns, operation, offset and size in bytes, priority, hint, device, flow or process."""


class TableError(Exception):
    """A mistake in a file: the row (from 1), the value found, the expected one, a hint."""

    def __init__(self, row: int | None, found: str, expected: str, hint: str = "") -> None:
        super().__init__(found)
        self.said = (row, found, expected, hint)


Names = dict[str, dict[str, int]]
"""The numbers of devices and processes that have names."""


class Column(NamedTuple):
    """A column of the file, and how it is to be understood.

    `scale` is its unit in ns or bytes (0: dates in words); `said` is whether the user gave it;
    `words` gives the operation of each word.
    """

    name: str
    scale: int = 1
    words: Mapping[str, int] | None = None
    said: bool = True


class Opened:
    """A file whose columns are known and of a type that can be read."""

    def __init__(
        self, path: str, columns: Mapping[str, Column], devices: list[str], facts: Facts | None
    ) -> None:
        self.facts = facts
        self._path = path
        self._columns = columns
        self._devices = devices
        self._names: Names = {"device": {}, "process": {}}

    def pieces(self) -> Pieces:
        """The rows, from the first on."""
        return Pieces(self._scan(), self._columns, self._names)

    def device(self, number: int) -> str:
        """The name of a device in the file."""
        return self._called("device", number)

    def process(self, number: int) -> str:
        """The name of a process in the file."""
        return self._called("process", number)

    def _called(self, role: str, number: int) -> str:
        names = {code: name for name, code in self._names[role].items()}
        return names.get(number, str(number))

    def _scan(self) -> pl.LazyFrame:
        import polars as pl

        rows = pl.scan_parquet(self._path, hive_partitioning=False, glob=False)
        if self._devices:
            name = self._columns["device"].name
            rows = rows.filter(pl.col(name).cast(pl.String).is_in(self._devices))
        return rows.select(self._expressions())

    def _expressions(self) -> Iterator[pl.Expr]:
        """The columns, after the steps that polars does best."""
        import polars as pl

        for role, column in self._columns.items():
            values = pl.col(column.name)
            if column.words is not None:
                words = values.cast(pl.String).str.to_lowercase()
                yield values.alias(f"{role} as written")
                yield words.replace_strict(
                    list(column.words),
                    list(column.words.values()),
                    default=_UNKNOWN,
                    return_dtype=pl.UInt8,
                ).alias(role)
            elif role in ("op", "prio"):
                yield values.to_physical().cast(pl.UInt8).alias(role)
            elif role == "flow":
                yield values.to_physical().cast(pl.UInt32).alias(role)
            elif role == "time" and column.scale == 0:
                dates = values.cast(pl.String).str.to_datetime(
                    time_unit="ns", time_zone="UTC", strict=False
                )
                yield dates.alias(role)
            else:
                yield values.alias(role)


class Pieces:
    """One way through a file."""

    def __init__(self, rows: pl.LazyFrame, columns: Mapping[str, Column], names: Names) -> None:
        self._frames: Iterator[pl.DataFrame] | None = iter(
            rows.collect_batches(chunk_size=PIECE, maintain_order=True)
        )
        self._columns = columns
        self._names = names
        self._done = 0
        self._blocks = Blocks(columns)

    def next(self) -> Piece | None:
        """The next rows; None at the end.

        Raises:
            TableError: A row is wrong.
        """
        frame = self._next_frame()
        if frame is None:
            self._blocks.ask()
            return None
        columns = {role: self._column(frame, role) for role in self._columns}
        self._blocks.see(columns["offset"], columns["size"])
        self._done += frame.height
        return (
            columns.get("time"),
            columns["op"],
            columns["offset"],
            columns["size"],
            columns.get("prio"),
            columns.get("hint"),
            columns.get("device"),
            columns.get("flow", columns.get("process")),
        )

    def close(self) -> None:
        """Nothing more is to be read."""
        self._frames = None

    def _next_frame(self) -> pl.DataFrame | None:
        try:
            return None if self._frames is None else next(self._frames, None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of polars is not an Exception
            found = f"it cannot be read after {self._done} rows ({_brief(error)})"
            raise TableError(None, found, "a whole Parquet file", "copy it again") from error

    def _column(self, frame: pl.DataFrame, role: str) -> NDArray[Any]:
        column, values = self._columns[role], frame[role]
        if role in ("offset", "size"):
            values = _without_flushes(values, frame["op"], blank=role == "offset")
        if role == "hint":
            return self._hints(values.fill_null(0), column)
        if values.null_count():
            row = self._row(values.is_null())
            raise TableError(row, f"column `{column.name}` has no value", "a value in every row")
        if role in ("op", "prio"):
            if column.words is not None and (unknown := values == _UNKNOWN).any():
                row = self._row(unknown)
                found = frame[f"{role} as written"].filter(unknown)[0]
                known = ", ".join(word for word in column.words if word not in _LETTERS)
                known = known or ", ".join(column.words)
                found = f"`{found}` in column `{column.name}`"
                raise TableError(row, found, f"one of {known}", _SPELL)
            return values.to_numpy()
        if role == "flow":
            return values.to_numpy()
        if role in ("device", "process"):
            return self._numbers(values, role)
        return self._whole(values, column, rounded=role == "time").to_numpy()

    def _row(self, wrong: pl.Series) -> int:
        return self._done + int(wrong.arg_max() or 0) + 1

    def _whole(self, values: pl.Series, column: Column, *, rounded: bool) -> pl.Series:
        """The values as whole numbers of ns, or of bytes, which are not `rounded`."""
        import polars as pl

        kind = pl.UInt64
        if not values.len() or (values.dtype.is_unsigned_integer() and column.scale == 1):
            return values.cast(kind)
        if values.dtype.is_temporal():
            values = values.to_physical()
            column = column._replace(scale=column.scale or 1)
        if (wrong := values < 0).any():
            found = f"{values.filter(wrong)[0]} in column `{column.name}`"
            raise TableError(self._row(wrong), found, "a number from 0 on")
        if values.dtype.is_float():
            exact = values.cast(pl.Float64) * column.scale
            values = exact.round()
            wrong = ~(values < 2.0**63)
            if wrong.any():
                found = f"a number that is out of bounds in column `{column.name}`"
                raise TableError(self._row(wrong), found, "a number that fits 63 bits", _UNIT)
            if not rounded and (wrong := exact != values).any():
                found = f"{exact.filter(wrong)[0]} bytes in column `{column.name}`"
                raise TableError(self._row(wrong), found, "a whole number of bytes", _UNIT)
            return values.cast(kind)
        values = values.cast(kind)
        wrong = values > (2**63 - 1) // column.scale
        if wrong.any():
            found = f"{values.filter(wrong)[0]} in column `{column.name}`"
            raise TableError(self._row(wrong), found, "a number that fits 63 bits", _UNIT)
        return values if column.scale == 1 else values * column.scale

    def _hints(self, values: pl.Series, column: Column) -> NDArray[Any]:
        """The hints; 0 stands for none."""
        import polars as pl

        # A fraction changes in the narrow type, and a number out of bounds has no value there.
        hints = values.cast(pl.UInt8, strict=False)
        wrong = hints.is_null() | (hints.cast(values.dtype) != values)
        if wrong.any():
            found = f"{values.filter(wrong)[0]} in column `{column.name}`"
            raise TableError(self._row(wrong), found, f"a hint from 0 (none) to {_MOST_HINT}")
        return hints.to_numpy()

    def _numbers(self, values: pl.Series, role: str) -> NDArray[Any]:
        """Devices or processes as numbers: names in the order in which they first appear."""
        import polars as pl

        if values.dtype.is_integer():
            wrong = (values < 0) | (values > 2**32 - 1)
            if wrong.any():
                found = f"the {role} {values.filter(wrong)[0]}"
                raise TableError(self._row(wrong), found, "a number below 2^32")
            return values.cast(pl.UInt32).to_numpy()
        values, names = values.cast(pl.String), self._names[role]
        for name in values.unique(maintain_order=True):
            names.setdefault(name, len(names))
            if len(names) > _MOST_DEVICES:
                found = f"more than {_MOST_DEVICES} names"
                raise TableError(None, found, f"a {role} in its column")
        numbers = values.replace_strict(list(names), list(names.values()), return_dtype=pl.UInt32)
        return numbers.to_numpy()


def _without_flushes(values: pl.Series, ops: pl.Series, *, blank: bool) -> pl.Series:
    """Zero where a flush has nothing; where it has something, too, if that is `blank`."""
    if not blank and not values.null_count():
        return values
    flushes = (ops == _FLUSH).fill_null(value=False)
    if not flushes.any():
        return values
    return values.set(flushes if blank else flushes & values.is_null(), 0)


class Blocks:
    """Evidence of offsets and sizes about their unit, if the user did not name it."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._odd: int | None = None
        self._sizes = 0
        self._largest = 0

    def see(self, offsets: NDArray[Any], sizes: NDArray[Any]) -> None:
        """Looks at some rows."""
        import numpy as np

        if not len(sizes) or (self._columns["offset"].said and self._columns["size"].said):
            return
        self._sizes |= int(np.bitwise_or.reduce(sizes))
        self._largest = max(self._largest, int(sizes.max()))
        odd = offsets % _SECTOR != 0
        if self._odd is None and odd.any():
            self._odd = int(offsets[odd.argmax()])

    def ask(self) -> None:
        """Asks for a unit, once all rows were seen.

        Raises:
            TableError: Offsets or sizes look like blocks.
        """
        size, offset = self._columns["size"], self._columns["offset"]
        if not size.said and 0 < self._largest < _SECTOR:
            found = f"no size is above {self._largest}, and the unit is not said"
            raise TableError(None, found, "the unit of the sizes", _units("size", size.name))
        if not offset.said and self._odd is not None and self._sizes % _SECTOR == 0:
            found = (
                f"offsets such as {self._odd} are not multiples of 512, every size is one, and the "
                "unit is not said"
            )
            raise TableError(None, found, "the unit of the offsets", _units("offset", offset.name))


def _units(key: str, name: str) -> str:
    return (
        f"`{key}={name}:sectors` if they count blocks of 512 bytes, `{key}={name}:4KiB` of that "
        f"size, `{key}={name}:bytes` if they count bytes"
    )


_LETTERS = _letters()
_SPELL = "`--columns op=NAME:0/1` says that 0 reads and 1 writes"
_UNIT = "is the column in another unit? `--columns` says which it is"
_MOST_DEVICES = 1 << 16


def open_table(
    path: str,
    columns: str | None,
    time_unit: str | None,
    devices: list[str],
    event: bool,
    process: bool,
    skip_bad: bool,
    flow_by: str | None,
) -> Opened:
    """Opens a file as far as its metadata go.

    Args:
        path: The file.
        columns: The content of each column; by default those that `floatgate.convert` writes.
        time_unit: The unit of the column of times, where `columns` does not say it.
        devices: Only these devices, where a column has the device.
        event: Whether an event was asked for, which a table does not have.
        process: The same of a process.
        skip_bad: Whether bad rows are to be passed over, which a table does not have.
        flow_by: The column by which its flows are told apart: `device` or `process`.

    Raises:
        WorkloadError: The file is not a table of requests, or an option does not fit it.
    """
    name = os.path.basename(path)
    for option, given in (("--event", event), ("--process", process), ("--skip-bad", skip_bad)):
        if given:
            raise WorkloadError(f"{name}: `{option}` with a Parquet file; leave it out")
    there, metadata = _look(path)
    states = columns is None and not devices and flow_by is None
    said = _said(name, metadata, there) if states else None
    if said is None:
        roles = _parsed(columns, time_unit, there) if columns else _own(there, time_unit)
    else:
        roles = _own(there, time_unit)
    _check(name, roles, there, columns)
    if devices:
        _check_devices(name, path, roles, devices)
    if flow_by is not None and flow_by not in roles:
        known = ", ".join(role for role in ("device", "process") if role in roles)
        raise WorkloadError(
            f"{name}: `--flow-by {flow_by}` with a table whose columns name no {flow_by}"
            + (f"; they name the {known}" if known else "")
            + f"; `--columns` says which one has it: {flow_by}=NAME"
        )
    if flow_by != "process":
        roles.pop("process", None)
    if said is not None and said[-1]:
        roles["flow"] = Column("flow")
    return Opened(path, roles, devices, said)


def _look(path: str) -> tuple[dict[str, pl.DataType], dict[str, str]]:
    """The columns of a file with their types, and its facts."""
    import polars as pl

    name = os.path.basename(path)
    if not os.path.exists(path):
        raise WorkloadError(f"{path}: there is no such file; {file_hint(path)}")
    if not os.path.isfile(path):
        raise WorkloadError(f"{path}: this is not a file; expected one Parquet file")
    try:
        check_pages(Path(path))
        return dict(pl.read_parquet_schema(path)), pl.read_parquet_metadata(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        raise WorkloadError(
            f"{name}: it cannot be read ({_brief(error)}); expected a whole Parquet file. "
            "Hint: was it copied whole?"
        ) from error


def _said(name: str, metadata: Mapping[str, str], there: Mapping[str, pl.DataType]) -> Facts | None:
    """The metadata of a file that floatgate wrote."""
    if METADATA not in metadata:
        return None
    try:
        said = json.loads(metadata[METADATA])
        schema = said["schema"]
        if schema != SCHEMA:
            raise WorkloadError(
                f"{name}: it is of the schema `{schema}`, and this version reads `{SCHEMA}`"
            )
        stand_in = said["stand_in"]
        notes = [f"converted from {_source(said)}", *(f"there: {note}" for note in said["notes"])]
        if said["skipped"]:
            notes.append(f"{said['skipped']} bad records were skipped when it was converted")
        return (
            int(said["requests"]),
            int(said["span_bytes"]),
            bool(said["timed"]),
            None if said["origin_ns"] is None else int(said["origin_ns"]),
            stand_in and (stand_in["model"], stand_in["version"], stand_in["fitted_to"]),
            notes,
            _flows(said.get("flows", []), there),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise WorkloadError(
            f"{name}: its metadata `{METADATA}` are damaged ({_brief(error)}); expected those of "
            f"`{SCHEMA}`"
        ) from error


def _flows(
    said: list[dict[str, Any]], there: Mapping[str, pl.DataType]
) -> list[tuple[str, int, int | None, tuple[int, int]]]:
    """The flows that a file states, whose names are the words of its column."""
    flows = []
    for flow in said:
        first, end = flow["region_bytes"]
        depth = flow["queue_depth"]
        depth = None if depth is None else int(depth)
        flows.append((str(flow["name"]), int(flow["weight"]), depth, (int(first), int(end))))
    words = list(getattr(there.get("flow"), "categories", ()))
    if flows and words != [name for name, *_ in flows]:
        raise ValueError("the column `flow` has other flows")
    return flows


def _source(said: Mapping[str, Any]) -> str:
    parts = [said["format"]]
    if said["reading"]:
        parts.append(said["reading"])
    if said["sha256"]:
        parts.append(f"sha256 {said['sha256'][:16]}…")
    return f"{said['name']} ({', '.join(parts)})"


_OWN = {"time": "time_ns", "op": "op", "offset": "offset", "size": "size"}
_MAYBE = {role: role for role in ("prio", "hint", "device", "process")}


def _own(there: Mapping[str, pl.DataType], time_unit: str | None) -> dict[str, Column]:
    """The columns as `floatgate.convert` names them; those that may be missing, where they are."""
    roles = {role: Column(column) for role, column in _OWN.items()}
    roles |= {role: Column(column) for role, column in _MAYBE.items() if column in there}
    if _OWN["time"] not in there and time_unit is None:
        del roles["time"]
    if time_unit is not None:
        roles["time"] = Column(_OWN["time"], _UNITS[time_unit])
    return roles


def _parsed(
    text: str, time_unit: str | None, there: Mapping[str, pl.DataType]
) -> dict[str, Column]:
    """The columns that `--columns` names, by their names or else by their numbers from 1 on."""
    names, roles = list(there), dict[str, Column]()
    for key, place, unit, words in engine.columns(text):
        name = place
        if place not in there and place.isdigit() and int(place) <= len(names):
            name = names[int(place) - 1]
        if key == "time":
            given = _UNITS[time_unit] if time_unit else None
            if None not in (unit, given) and unit != given:
                raise ConflictError(f"`time={place}` in the columns: the time has two units")
            scale = unit if unit is not None else given
            roles[key] = Column(name, scale or 0, said=scale is not None)
        elif key in ("offset", "size"):
            roles[key] = Column(name, unit or 1, said=unit is not None)
        elif words is not None:
            roles[key] = Column(name, words={word.lower(): code for word, code in words})
        else:
            roles[key] = Column(name)
    return roles


def _check(
    name: str,
    roles: dict[str, Column],
    there: Mapping[str, pl.DataType],
    columns: str | None,
) -> None:
    """Finds every column that is missing or of a wrong type, and settles how words are read."""
    import polars as pl

    wrong: list[str] = []
    for role, column in list(roles.items()):
        kind = there.get(column.name)
        if kind is None:
            known = ", ".join(f"`{c}`" for c in list(there)[:20]) or "none"
            hint = "" if columns else "; " + (_suggested(there) or _SAYS)
            wrong.append(f"there is no column `{column.name}`; there are {known}{hint}")
            continue
        is_text = isinstance(kind, pl.String | pl.Enum | pl.Categorical)
        if role in ("op", "prio"):
            known_words = OPERATIONS if role == "op" else PRIORITIES
            # A file of a version that knew fewer words has the first of them.
            words_there = tuple(kind.categories) if isinstance(kind, pl.Enum) else (None,)
            as_ours = words_there == known_words[: len(words_there)]
            if column.words is None and not as_ours:
                if role == "op" and not is_text:
                    wrong.append(
                        f"column `{column.name}` has {kind}; expected words. Hint: {_SPELL}"
                    )
                words = (
                    _LETTERS | _WORDS if role == "op" else {w: i for i, w in enumerate(PRIORITIES)}
                )
                roles[role] = column._replace(words=words)
            good = True
        elif role in ("device", "process"):
            good = is_text or kind.is_integer()
        elif role == "time":
            good = kind.is_numeric() or isinstance(kind, pl.Datetime | pl.Duration)
            good = good or (is_text and column.said and column.scale == 0)
            if good and kind.is_temporal():
                unit = getattr(kind, "time_unit", None)
                roles[role] = column._replace(scale=_UNITS[unit or "us"])
            elif good and not column.said:
                wrong.append(
                    f"the time in column `{column.name}` has no unit; "
                    f"expected such as `time={column.name}:us`, or `--time-unit us`"
                )
        else:
            good = kind.is_numeric()
        if kind.is_decimal() or not good:
            expected = "a number or a name" if role in ("device", "process") else "numbers"
            if role == "time" and is_text:
                expected += f", or `time={column.name}:iso` for dates"
            wrong.append(f"column `{column.name}` has {kind}; expected {expected}")
    if wrong:
        raise WorkloadError("\n".join(f"{name}: {text}" for text in wrong))


_SAYS = "`--columns` says which column holds what, " + SYNTAX


def _suggested(there: Mapping[str, pl.DataType]) -> str | None:
    """The mapping that names of columns and types of times and operations suggest."""
    values: Sequence[Sequence[str]] = [
        ["2000-01-01T00:00:00"] if kind.is_temporal() else [] for kind in there.values()
    ]
    return engine.suggested_columns(list(there), values)


def _check_devices(name: str, path: str, roles: Mapping[str, Column], devices: list[str]) -> None:
    import polars as pl

    if "device" not in roles:
        raise WorkloadError(
            f"{name}: `--device` with a table whose columns name no device; "
            "`--columns` says which one has it: device=NAME"
        )
    column = pl.col(roles["device"].name).cast(pl.String)
    try:
        met = pl.scan_parquet(path, glob=False).select(column.unique()).collect().to_series()
    except Exception as error:
        raise WorkloadError(f"{name}: it cannot be read ({_brief(error)})") from error
    for device in devices:
        if device not in met:
            some = ", ".join(str(d) for d in met.sort().head(10))
            raise WorkloadError(
                f"{name}: no request to the device `{device}`; expected devices that it has, "
                f"such as {some}"
            )


def _brief(error: BaseException) -> str:
    """The first line of an exception, as far as people read."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200].lower()
