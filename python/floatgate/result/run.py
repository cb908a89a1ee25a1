"""The result of one run: the JSON value of the engine, with names to reach into it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError
from floatgate.result.folder import RESULT, SEAL, SNAPSHOTS, Recording, content, flaw

if TYPE_CHECKING:
    import polars as pl

OPERATIONS = ("read", "write", "trim", "all")
SOURCES = ("host", "gc", "wear", "refresh", "rewrite", "map")


class Numbers(Mapping[str, Any]):
    """A read-only table of the result: `host["write"]` and `host.write` are the same."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        return Numbers(value) if isinstance(value, dict) else value

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            known = ", ".join(self._data)
            raise AttributeError(f"no {key!r} in this result; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self._data)!r})"


class Result(Numbers):
    """What one run gave.

    `result.waf`, `result.host.write.latency_ns.p99`, `result.flash.erase.gc` and so on are the
    numbers of the JSON value; `print(result)` is the page that the command line prints. `folder` is
    where the result is stored, if it is; `seal`, of one that was read, what its file says of itself
    and of the tables beside it (see `floatgate.result.folder`).
    """

    def __init__(
        self,
        data: dict[str, Any],
        folder: Path | None = None,
        seal: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data)
        self.data = data
        self.folder = folder
        self.seal = seal

    def __str__(self) -> str:
        from floatgate.text import result as text

        return text.page(self)

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

        Of a stored run, all names under which a trace of the same bytes was run.
        """
        workload = self.data["provenance"]["workload"]
        reading = f" ({workload['reading']})" if workload["reading"] else ""
        others = self.seal.get("also_named", ()) if isinstance(self.seal, Mapping) else ()
        name = " = ".join([workload["name"], *map(str, others)])
        return f"{name}{reading}{' [stand-in]' if workload['stand_in'] else ''}"

    @property
    def run_id(self) -> str:
        """Names the run by what went in: build, resolved drive, workload and seed."""
        provenance = self.data["provenance"]
        return identity(
            provenance["config"],
            provenance["workload"],
            provenance["seed"],
            # Before there were builds, it was the version.
            provenance.get("build") or provenance["version"],
        )

    def to_json(self) -> str:
        """The whole value as JSON, on lines of their own."""
        return json.dumps(self.data, indent=1)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Stores the result as `FOLDER/RUN-ID/result.json` and returns that path.

        The file appears whole or not at all. The tables of a run are only stored while it goes on:
        see `out` of `floatgate.run`.

        Raises:
            InputError: It cannot be stored there.
        """
        with Recording(folder) as recording:
            return recording.keep(self) / RESULT

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Reads a stored result: its `result.json`, or the folder that holds it."""
        path = Path(path)
        path = path / RESULT if path.is_dir() else path
        return cls.read(json.loads(content(path)), path.parent)

    @classmethod
    def read(cls, value: Any, folder: Path) -> Result:
        """A result from the value of its file."""
        data = dict(value)
        seal = data.pop(SEAL, None)
        return cls(data, folder, seal)

    def requests(self) -> pl.DataFrame:
        """One row per completed request, in order of completion; of a stored result only.

        A frame of 100 million requests takes 11 GB. `polars.scan_parquet` reads the file
        `result.folder / "requests.parquet"` in parts.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("requests")

    def series(self) -> pl.DataFrame:
        """One row per stretch of drive time, with what was counted in it; of a stored result only.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("series")

    def blocks(self) -> pl.DataFrame:
        """One row per block, as the run left it; of a stored result only.

        Raises:
            InputError: The result has no such table.
        """
        return self._table("blocks")

    def snapshots(self) -> pl.DataFrame:
        """The blocks at instants of the run, each that changed since the instant before.

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
            from floatgate.result.shape import reading

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
            InputError: It is not, or no longer, what was stored.
        """
        if self.folder is None:
            return None
        path = self.folder / f"{name}.parquet"
        if self.seal is not None:
            if name not in self.seal["table_bytes"]:
                return None
            if (why := flaw(self, [name])) is not None:
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
        return _frame(rows)

    def delays(self) -> pl.DataFrame:
        """One row per host operation and cause of delay, mean per request in ns."""
        return _frame(
            [
                {"operation": op, "cause": cause, "mean_ns": mean}
                for op in OPERATIONS
                for cause, mean in delays(self.data["host"][op]).items()
            ]
        )

    def flash_operations(self) -> pl.DataFrame:
        """One row per flash operation: its count by source (pages; erase: blocks)."""
        kinds = ("read", "program", "reprogram", "erase")
        return _frame([{"operation": kind} | self.data["flash"][kind] for kind in kinds])

    def frame(self) -> pl.DataFrame:
        """One row with every number of the result, named by its path: `host.write.bytes`.

        Rows of several results can be put below each other with `polars.concat`.
        """
        row = dict(flat(self.data))
        return _frame([{"run_id": self.run_id} | row])


def identity(config: Mapping[str, Any], workload: Mapping[str, Any], seed: int, build: str) -> str:
    """The name of a run, from what is known of it before it starts.

    `workload` has at least `name`, `format`, `sha256`, `reading` and `stand_in`.
    """
    what = [build, config, workload["sha256"], seed]
    if workload["sha256"] is None:
        # A generator: its settings stand in the configuration.
        what.append({key: workload[key] for key in ("name", "format", "stand_in")})
    if workload["reading"] is not None:
        what.append(workload["reading"])
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def delays(host: Mapping[str, Any]) -> dict[str, float]:
    """The mean delay of one host operation by cause; `queue.gc` is the wait behind GC."""
    return dict(flat(host["delay_ns_by_cause"] or {}))


def flat(value: object, path: str = "", *, lists: bool = False) -> Iterator[tuple[str, Any]]:
    """Every value of nested tables with its path, `host.write.bytes`; lists if they are wanted."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else key, lists=lists)
    elif lists or not isinstance(value, list):
        yield path, value


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)
