"""Measures of a workload. Rust reads it once, and this module has the names of the numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from floatgate import engine
from floatgate.policy.finder import Finder
from floatgate.result.values import Value, table
from floatgate.settings import Settings, pairs
from floatgate.workloads.describe import notebook, plots, text
from floatgate.workloads.reading import Reading, how_to_read, takes_reading

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

CLASSES = ("read_only", "write_only", "interleaved")


@takes_reading
def describe(
    workload: str | PathLike[str],
    page_size: str = "4KiB",
    *,
    epochs: Iterable[str] | None = None,
    memory: str | None = None,
    drive: str | PathLike[str] = "agcr",
    set: Settings = (),
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> Description:
    """Describes a workload: mix, sizes, rate, order, and the accesses to its pages.

    `docs/reference/measures.md` defines every measure.

    Args:
        workload: A trace file, a trace of the catalogue such as `msr:hm_0`, the name of a
            generator, or a TOML file that sets one up.
        page_size: The size of a page, `"4KiB"`: a power of two from 512 B to 16 MiB.
        epochs: Lengths of the epochs whose write demand is compared, `["1min", "2h"]`; by
            default eight of them from one minute to two hours.
        memory: The memory for the records of pages, `"768MiB"` by default. Pages that do not fit
            are sampled, and `sampling` gives the share.
        drive: A generator without a `workload.span` covers this drive.
        set: Settings of the workload by key, `{"workload.requests": 1000}`.
        progress: Called some ten times a second with the stage (`describing`), the requests done,
            their total (None if unknown) and the workload's time in ns.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The description.

    Raises:
        InputError: The workload or an option is wrong; the message gives the place.
    """
    described = engine.describe(
        str(workload),
        page_size=page_size,
        epochs=None if epochs is None else list(epochs),
        memory=memory,
        drive=str(drive),
        set=pairs(set),
        reading=how_to_read(**reading),
        progress=progress,
        finder=Finder(),
    )
    return Description(json.loads(described))


class Description(Value):
    """Measures of a workload.

    `description.requests.read.bytes`, `description.footprint.pages` and so on are the numbers of
    the JSON value. The methods give its tables as polars frames. `print(description)` prints the
    page of the command line, and a notebook shows its first plot.
    """

    def __str__(self) -> str:
        return text.page(self.name, self.data)

    def _repr_html_(self) -> str:
        return notebook.of_description(self.name, self.data)

    def __repr__(self) -> str:
        return f"<Description of {self.name}: {self.data['workload']['requests']} requests>"

    @property
    def name(self) -> str:
        """The workload's name, a stand-in marked as one."""
        workload = self.data["workload"]
        return f"{workload['name']}{' [stand-in]' if workload['stand_in'] else ''}"

    def save_page(self, path: str | PathLike[str]) -> Path:
        """Writes a page with plots: one HTML file that needs nothing else.

        Raises:
            InputError: The packages of the extra `report` are missing, or the file cannot be
                written.
        """
        return plots.save(self.name, self.data, Path(path))

    def over_time(self) -> pl.DataFrame:
        """One row per interval of the span: its begin and its arrivals. Empty without times.

        The columns `reads`, `writes`, `trims`, `read_bytes`, `written_bytes` are counts.
        """
        if self.data["rate"] is None:
            return table({"begin_ns": []})
        series = dict(self.data["rate"]["series"])
        width = series.pop("width_ns")
        return table({"begin_ns": [width * i for i in range(len(series["reads"]))]} | series)

    def over_day(self) -> pl.DataFrame:
        """One row per hour of the day, from the first request on; empty below a day."""
        rate = self.data["rate"]
        return table((rate and rate["hours"]) or [])

    def size_classes(self) -> pl.DataFrame:
        """One row per power of two: the requests whose size lies in it."""
        return table(self.data["sizes"]["histogram"])

    def frequent_sizes(self) -> pl.DataFrame:
        """One row per size, the most frequent first, at most ten."""
        return table(self.data["sizes"]["frequent"])

    def runs(self) -> pl.DataFrame:
        """One row per power of two: sequential runs by their number of requests."""
        return table(self.data["sequence"]["histogram"])

    def page_characters(self) -> pl.DataFrame:
        """One row per class of page: its pages, and the reads and writes on them."""
        characters = self.data["characters"]
        return table(
            [
                {"character": name} | {of: characters[of][name] for of in _COUNTED}
                for name in CLASSES
            ]
        )

    def accuracy(self) -> pl.DataFrame:
        """One row per length of the history window: how often it identifies a page rightly."""
        return table(self.data["identification"]["windows"])

    def demand_differences(self) -> pl.DataFrame:
        """One row per length of epoch and percentage: the share of epochs that differ less."""
        return table(
            [
                {"epoch_ns": epochs["length_ns"], "percent": percent, "share": share}
                for epochs in self.data["epochs"]
                for percent, share in enumerate(epochs["within_percent"])
            ]
        )

    def reuse_distances(self) -> pl.DataFrame:
        """One row per number of pages: the hit ratio of an LRU cache of that size."""
        reuse = self.data["reuse"]
        return table({key: reuse[key] for key in ("below_pages", "share")})

    def concentration(self) -> pl.DataFrame:
        """One row per operation and share of pages: the share of touches on the hottest."""
        return table(
            [
                {"operation": op, "pages": pages, "touches": touches}
                for op in ("read", "write")
                for pages, touches in zip(*self.data[f"{op}s"]["curve"].values(), strict=True)
            ]
        )

    def touches_per_page(self) -> pl.DataFrame:
        """One row per operation and power of two: the pages by their number of touches."""
        return table(
            [
                {"operation": op, "from_touches": least, "pages": pages}
                for op in ("read", "write")
                for least, pages in self.data[f"{op}s"]["pages_by_touches"]
            ]
        )

    def hot_pages(self) -> pl.DataFrame:
        """One row per operation and page, the most touched first: at most ten of each."""
        return table(
            [
                {"operation": op} | page
                for op in ("read", "write")
                for page in self.data[f"{op}s"]["top"]
            ]
        )


_COUNTED = ("pages", "reads", "writes")
