"""The values of a result as attributes, and the name of the run that they identify."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from floatgate import engine
from floatgate.words import size

if TYPE_CHECKING:
    import polars as pl

WITHOUT_DATA = ("trim", "flush")
"""Operations that carry no data: the bytes of a trim are addresses that it discards."""


def data(op: str, count: int) -> str:
    """The data that an operation moved, for a table; a dash if it has none.

    >>> data("write", 4096), data("trim", 1 << 30)
    ('4.00 KiB', '-')
    """
    return "-" if op in WITHOUT_DATA else size(count)


ACCOUNTS: dict[str, Any] = json.loads(engine.accounts())
"""The names by which results count, with labels and descriptions; the engine declares them."""


def _names(accounts: str) -> tuple[str, ...]:
    return tuple(one["name"] for one in ACCOUNTS[accounts]["known"])


OPERATIONS = (*_names("operations"), "all")
"""The operations of the host, and all of them together."""

SOURCES = _names("sources")
"""Flash operations are counted by source, in results and in the columns of their tables."""

TO_COME: tuple[str, ...] = tuple(ACCOUNTS["sources"]["reserved"])
"""Sources for which results have a place, and that no drive has yet."""

LEVELS = _names("levels")
"""The cost levels, from fine to coarse steps."""

PARTS: dict[str, str] = {part["path"]: part["label"] for part in ACCOUNTS["parts"]}
"""The labels of the parts of the time of a request, by path, in the order of results."""


def called(part: str) -> str:
    """A part of the time of a request in words.

    >>> called("array"), called("queue.gc"), called("queue.parity")
    ('in the flash array', 'waiting behind gc', 'waiting behind parity')
    """
    queue, _, source = part.rpartition("queue.")
    return PARTS.get(part) or (f"waiting behind {source}" if queue != part else part)


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


class Value(Numbers):
    """A whole value in JSON: `data`, and its numbers as attributes."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.data = data

    def to_json(self) -> str:
        """The whole value as JSON, on lines of their own."""
        return json.dumps(self.data, indent=1)


def table(rows: Any) -> pl.DataFrame:
    """A frame of rows that may lack values."""
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)


def identity(
    config: Mapping[str, Any],
    workload: Mapping[str, Any],
    seed: int,
    build: str,
    years: Mapping[str, Any] | None = None,
) -> str:
    """The name of a run, from the facts before it starts.

    `workload` has at least `name`, `format`, `sha256`, `reading` and `stand_in`. `years` is the
    part of the drive that was simulated in a run that estimates years.
    """
    what = [build, config, workload["sha256"], seed]
    if workload["sha256"] is None:
        # A generator: its settings are in the configuration.
        what.append({key: workload[key] for key in ("name", "format", "stand_in")})
    if workload["reading"] is not None:
        what.append(workload["reading"])
    if years is not None:
        what.append(years)
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return engine.sha256(text.encode())[:16]


def run_id_of(value: Mapping[str, Any]) -> str:
    """The name of the run that gave a result."""
    provenance = value["provenance"]
    # Before there were builds, the version served as one.
    build = provenance.get("build") or provenance["version"]
    asked = provenance["config"], provenance["workload"], provenance["seed"], build
    return identity(*asked, provenance.get("years"))


def delays(host: Mapping[str, Any]) -> dict[str, float]:
    """The mean delay of one host operation by cause; `queue.gc` is the wait behind GC."""
    return dict(flat(host["delay_ns_by_cause"] or {}))


def slowest(host: Mapping[str, Any]) -> dict[str, float]:
    """The mean delay of the slowest of one host operation by cause, from p99 on; empty if unknown.

    Results of earlier versions lack it.
    """
    found = host.get("slowest")
    return delays(found) if found else {}


def largest(split: Mapping[str, float]) -> tuple[str, float] | None:
    """The largest cause of a delay, and its share; None if there is no delay.

    >>> largest({"array": 30.0, "queue.gc": 90.0}), largest({"array": 0.0}), largest({})
    (('queue.gc', 0.75), None, None)
    """
    whole = sum(split.values())
    if not whole:
        return None
    cause, most = max(split.items(), key=lambda item: item[1])
    return cause, most / whole


def flat(value: object, path: str = "", *, lists: bool = False) -> Iterator[tuple[str, Any]]:
    """Every value of nested tables with its path, `host.write.bytes`; lists on request."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{path}.{key}" if path else key, lists=lists)
    elif lists or not isinstance(value, list):
        yield path, value
