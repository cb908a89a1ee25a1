"""The result of one run: the JSON value of the engine, with its numbers as attributes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError
from floatgate.result import shape
from floatgate.result.files import reading
from floatgate.result.folder import RESULT, SEAL, SNAPSHOTS, altered, flaw
from floatgate.result.shown import showing
from floatgate.result.values import OPERATIONS, Value, delays, flat, run_id_of, table

if TYPE_CHECKING:
    import polars as pl


class Result(Value):
    """The result of one run.

    `result.waf`, `result.host.write.latency_ns.p99`, `result.flash.erase.gc` and so on are the
    numbers of the JSON value; `print(result)` is the page that the command line prints. `folder` is
    the place of the result, if it is stored. `seal` of a result that was read is the list, in its
    file, of itself and of the tables next to it (see `floatgate.result.folder`).
    """

    def __init__(
        self,
        data: dict[str, Any],
        folder: Path | None = None,
        seal: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data)
        self.folder = folder
        self.seal = seal

    def __str__(self) -> str:
        return showing().run(self)

    def _repr_html_(self) -> str:
        return showing().run_as_html(self)

    def __repr__(self) -> str:
        return f"<Result {self.name}: {self.end.state}, WAF {self.waf}>"

    @property
    def name(self) -> str:
        """The drive and the workload, a stand-in marked as one."""
        drive = self.data["provenance"]["config"].get("name", "drive")
        return f"{drive}, {self.workload}"

    @property
    def workload(self) -> str:
        """The workload's name, with how it was read; a stand-in marked as one.

        All names under which a trace with the same bytes was run, if the run is stored.
        """
        workload = self.data["provenance"]["workload"]
        reading = f" ({workload['reading']})" if workload["reading"] else ""
        others = self.seal.get("also_named", ()) if isinstance(self.seal, Mapping) else ()
        name = " = ".join([workload["name"], *map(str, others)])
        return f"{name}{reading}{' [stand-in]' if workload['stand_in'] else ''}"

    @property
    def run_id(self) -> str:
        """Identifies the run by its inputs: build, resolved drive, workload and seed."""
        return run_id_of(self.data)

    def flaw(self, tables: Iterable[str] | None = None) -> str | None:
        """The damage of the tables of a stored result, in words; None if they are whole.

        Args:
            tables: The tables that it must have; by default those in its list.
        """
        return None if self.folder is None else flaw(self.seal, self.folder, tables)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Stores the result as `FOLDER/RUN-ID/result.json` and returns that path.

        The file appears whole or not at all. The tables of a run are only stored while it runs: see
        `out` of `floatgate.run`.

        Raises:
            InputError: It cannot be stored there.
        """
        from floatgate.result.recording import Recording

        with Recording(folder) as recording:
            return recording.keep(self.data) / RESULT

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Reads a stored result: its `result.json`, or the folder that holds it.

        Raises:
            InputError: It cannot be read, or lacks numbers that a result of this version has.
        """
        path = Path(path)
        return cls.from_file(path / RESULT if path.is_dir() else path)

    @classmethod
    def from_file(cls, path: Path) -> Result:
        """Reads the file of a stored result. Anything else in its place is an error.

        Raises:
            InputError: It cannot be read, or lacks numbers that a result of this version has.
        """
        stored = cls.read(shape.value_of(path), path.parent)
        if (why := altered(stored.data, stored.seal)) is not None:
            raise InputError(f"{path.parent}: {why}; make the run again")
        result = cls(shape.of_now(stored.data), stored.folder, stored.seal)
        shape.check(result.data, path)
        return result

    @classmethod
    def read(cls, value: Any, folder: Path) -> Result:
        """A result from the value of its file."""
        data = dict(value)
        seal = data.pop(SEAL, None)
        return cls(data, folder, seal)

    def requests(self) -> pl.DataFrame:
        """One row per completed request, in order of completion; only for a stored result.

        A frame of 100 million requests takes 11 GB. `polars.scan_parquet` reads the file
        `result.folder / "requests.parquet"` in parts.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("requests")

    def series(self) -> pl.DataFrame:
        """One row per interval of drive time, with its counts; only for a stored result.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("series")

    def blocks(self) -> pl.DataFrame:
        """One row per block, as the run left it; only for a stored result.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("blocks")

    def snapshots(self) -> pl.DataFrame:
        """The blocks at instants of the run: each that changed since the instant before.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("snapshots")

    def occupancy(self) -> pl.DataFrame:
        """How long each die and each channel was busy between these instants.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("occupancy")

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        if self.folder is None:
            raise InputError(f"this result has no {name}: only a run with `out=FOLDER` keeps them")
        path = self.table_file(name)
        if path is not None:
            with reading(path):
                return pl.read_parquet(path, glob=False)
        if name == "requests" and not self.provenance.config.run["keep-requests"]:
            raise InputError(f"{self.folder}: its requests were left out (run.keep-requests=false)")
        hint = ""
        if name in SNAPSHOTS:
            hint = "; a run records it with `--snapshots`, an experiment with `record`"
        raise InputError(f"{self.folder}: there is no {name}.parquet beside the result{hint}")

    def table_file(self, name: str) -> Path | None:
        """The file of a table, if it was stored.

        Raises:
            InputError: It differs from the stored one.
        """
        if self.folder is None:
            return None
        path = self.folder / f"{name}.parquet"
        if self.seal is not None:
            if name not in self.seal["table_bytes"]:
                return None
            if (why := self.flaw([name])) is not None:
                raise InputError(f"{self.folder}: {why}; make the run again")
        return path if path.is_file() else None

    def latencies(self) -> pl.DataFrame:
        """One row per host operation: requests, bytes and the latency percentiles in ns."""
        rows = []
        for op in OPERATIONS:
            host = self.data["host"][op]
            latency = host["latency_ns"]
            rows.append(
                {"operation": op, "requests": host["requests"], "bytes": host["bytes"]} | latency
            )
        return table(rows)

    def delays(self) -> pl.DataFrame:
        """One row per host operation and cause of delay, mean per request in ns."""
        return table(
            [
                {"operation": op, "cause": cause, "mean_ns": mean}
                for op in OPERATIONS
                for cause, mean in delays(self.data["host"][op]).items()
            ]
        )

    def flash_operations(self) -> pl.DataFrame:
        """One row per flash operation: its count by source (pages; erase: blocks)."""
        kinds = ("read", "program", "reprogram", "erase")
        return table([{"operation": kind} | self.data["flash"][kind] for kind in kinds])

    def frame(self, *, provenance: bool = False) -> pl.DataFrame:
        """One row with every number of the result, named by its path: `host.write.bytes`.

        Latencies and delays of operations that did not occur are null. Rows of several results can
        be put below each other with `polars.concat`.

        Args:
            provenance: Whether the inputs of the run are added: settings, digests, the workload,
                and the time that it took.
        """
        absent = tuple(f"host.{op}." for op in OPERATIONS if not self.data["host"][op]["requests"])
        row: dict[str, Any] = {"run_id": self.run_id}
        for path, value in flat(self.data):
            if path.partition(".")[0] in ("schema", "provenance", "timing"):
                continue
            if path.endswith(".slowest"):
                continue  # Nothing, if other results have numbers below it.
            here = "_ns" not in path or not path.startswith(absent)
            row[path] = value if here else None
        if provenance:
            row |= {path: value for path, value in flat(self.data) if path not in row}
        return table([row])
