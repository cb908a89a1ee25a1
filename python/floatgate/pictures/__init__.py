"""A picture of the drive over time: every block, and how busy dies and channels were.

It is made from the tables `snapshots` and `occupancy` of a stored run, and drawn in the page by
`view.js`, which takes a picture as the value that `picture` returns.
"""

from __future__ import annotations

import base64
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.engine import InputError
from floatgate.engine import version as engine_version
from floatgate.result.files import reading
from floatgate.result.folder import SNAPSHOTS
from floatgate.result.scaled import blocks_per_plane
from floatgate.words import duration

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from floatgate.result.run import Result

SHAPES_RESULTS = False

CELLS = 1 << 17
"""The most blocks shown one by one. In larger drives, neighbours of a plane share a cell."""

ROWS = 3_000_000
"""The most changes of blocks that a page holds; beyond, every second instant is left out."""

_NUMBERS = ("valid_slots", "written_slots", "erases", "reads_since_erase")
_WORDS = ("state", "role", "mode")
_PARTS = ("die", "channel")


def view(
    result: Result | str | os.PathLike[str], path: str | os.PathLike[str] = "view.html"
) -> Path:
    """Writes the picture of a run's drive as one HTML file that needs no network.

    Args:
        result: A stored result, or its folder; recorded with `snapshots`.
        path: The file; it appears whole or not at all.

    Raises:
        InputError: There is no such result, or it has no snapshots; or no file can be written.
    """
    from floatgate import pages
    from floatgate.result.load import load

    path = Path(path)
    pages.check(path)
    if isinstance(result, str | os.PathLike):
        runs = load([result]).runs
        if len(runs) != 1:
            raise InputError(
                f"{result}: there are {len(runs)} runs here; expected the folder of one"
            )
        result = runs[0]
    shown = picture(result)
    facts = [
        ("drive", result.data["provenance"]["config"].get("name", "drive")),
        ("workload", result.workload),
        ("drive time", duration(result.simulated_seconds * 1e9)),
        ("WAF", "-" if result.waf is None else f"{result.waf:.4g}"),
        ("seed", str(result.provenance.seed)),
    ]
    page = pages.render(
        "pictures/page.html",
        plots=False,
        title=f"The drive over time: {result.name}",
        facts=facts,
        run_id=result.run_id,
        policies=_policies(result),
        pictures=[("", shown)],
        version=engine_version(),
    )
    return pages.write(path, page)


def has_snapshots(result: Result) -> bool:
    """Whether a result has the data of a picture."""
    return all(result.table_file(name) is not None for name in SNAPSHOTS)


def picture(result: Result, rows: int = ROWS) -> dict[str, Any]:
    """The data of the page: the geometry, the instants, and columns as packed numbers.

    Args:
        result: A stored result with snapshots.
        rows: The most changes of blocks to keep, the first instant apart.

    Raises:
        InputError: The result has no snapshots.
    """
    blocks, occupancy = result.snapshots(), result.occupancy()
    with reading(result.table_file(SNAPSHOTS[0]) or Path(SNAPSHOTS[0])):
        return _picture(result, blocks, occupancy, rows)


def _picture(
    result: Result, blocks: pl.DataFrame, occupancy: pl.DataFrame, rows: int
) -> dict[str, Any]:
    geometry = result.data["provenance"]["config"]["geometry"]
    per_plane = blocks_per_plane(result.data)
    count = blocks.filter(blocks["at_ns"] == blocks["at_ns"][0]).height
    group = 1
    while count // group > CELLS or per_plane % group:
        group += 1
    grouped = _grouped(blocks, count, group) if group > 1 else blocks
    kept = _thinned(grouped, occupancy, rows)
    frames = kept.group_by("at_ns", maintain_order=True).len()
    times = sorted({0, *occupancy["start_ns"], *(occupancy["start_ns"] + occupancy["width_ns"])})
    counts = dict(zip(frames["at_ns"], frames["len"], strict=True))
    instants = [at for at in times if at in counts or at in (times[0], times[-1])]
    return {
        "channels": geometry["channels"],
        "chips": geometry["chips-per-channel"],
        "dies": geometry["dies-per-chip"],
        "planes": geometry["planes-per-die"],
        "blocks": per_plane // group,
        "group": group,
        "slots": _slots(kept, int(geometry["pages-per-block"])),
        "times": instants,
        "counts": [counts.get(at, 0) for at in instants],
        "words": {name: _categories(kept[name]) for name in _WORDS},
        "cell": _packed(kept["block"].to_numpy(), "u4"),
        "numbers": {name: _packed(_whole(kept[name]), "u4") for name in _NUMBERS},
        "codes": {name: _packed(kept[name].to_physical().to_numpy(), "u1") for name in _WORDS},
        "busy": _busy(occupancy),
    }


def _slots(blocks: pl.DataFrame, pages: int) -> dict[str, int]:
    """The slots of a block of each mode: the most that one ever held, or all pages."""
    import polars as pl

    most = blocks.group_by("mode").agg(pl.col("written_slots").max())
    found = {str(mode): int(slots) for mode, slots in most.rows()}
    return {mode: slots if mode != "full" and slots else pages for mode, slots in found.items()}


def _whole(column: pl.Series) -> NDArray[np.uint32]:
    """Numbers, with the greatest value for absent ones."""
    found: NDArray[np.uint32] = column.fill_null((1 << 32) - 1).to_numpy()
    return found


def _categories(words: pl.Series) -> list[str]:
    import polars as pl

    assert isinstance(words.dtype, pl.Enum), "words are stored by their numbers"
    return words.dtype.categories.to_list()


def _packed(values: NDArray[Any], kind: str) -> str:
    """Little-endian numbers, deflated, as text."""
    return base64.b64encode(zlib.compress(values.astype(f"<{kind}").tobytes(), 6)).decode()


def _thinned(blocks: pl.DataFrame, occupancy: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Drops instants until there are at most that many rows. The last one is always kept."""
    import polars as pl

    while blocks.height - blocks.filter(pl.col("at_ns") == 0).height > rows:
        instants = blocks["at_ns"].unique(maintain_order=True).to_list()
        if len(instants) < 4:
            break
        kept = {at: at for at in instants[::-1][::2]} | {0: 0}
        to, later = {}, instants[-1]
        for at in reversed(instants):
            later = at if at in kept else later
            to[at] = later
        moved = pl.col("at_ns").replace_strict(to, return_dtype=pl.UInt64)
        blocks = (
            blocks.with_columns(moved)
            .unique(["at_ns", "block"], keep="last", maintain_order=True)
            .sort("at_ns", "block", maintain_order=True)
        )
    return blocks


def _grouped(blocks: pl.DataFrame, count: int, group: int) -> pl.DataFrame:
    """Cells of several blocks: numbers are means, words are those of the first block."""
    import numpy as np
    import polars as pl

    now = {name: np.zeros(count, np.uint32) for name in (*_NUMBERS, *_WORDS)}
    frames = []
    for (at,), frame in blocks.group_by("at_ns", maintain_order=True):
        place = frame["block"].to_numpy()
        for name in _NUMBERS:
            now[name][place] = _whole(frame[name])
        for name in _WORDS:
            now[name][place] = frame[name].to_physical().to_numpy()
        cells = np.unique(place // group)
        columns: dict[str, Any] = {
            "at_ns": np.full(len(cells), at, np.uint64),
            "block": cells.astype(np.uint32),
        }
        for name in _NUMBERS:
            whole = now[name].reshape(-1, group)[cells]
            columns[name] = whole.astype(np.float64).mean(axis=1).astype(np.uint32)
        made = pl.DataFrame(columns)
        for name in _WORDS:
            codes = now[name].reshape(-1, group)[cells, 0].astype(np.uint8)
            made = made.with_columns(pl.Series(name, codes).cat.to(blocks[name].dtype))
        frames.append(made)
    return pl.concat(frames)


def _busy(occupancy: pl.DataFrame) -> dict[str, Any]:
    """By part and source, the share of each interval in 255ths: intervals times units."""
    import numpy as np

    starts = occupancy["start_ns"].unique().sort()
    found: dict[str, Any] = {"starts": starts.to_list()}
    for part in _PARTS:
        some = occupancy.filter(occupancy["part"] == part)
        if some.is_empty() or not some["busy_ns"].sum():
            continue
        width = np.maximum(some["width_ns"].to_numpy(), 1)
        shares = {}
        for column in some.columns:
            if not column.startswith("busy_"):
                continue
            busy = some[column]
            if busy.null_count() or not busy.sum():
                continue
            source = column.removeprefix("busy_").removesuffix("ns").removesuffix("_") or "all"
            shares[source] = _packed(np.rint(255 * busy.to_numpy() / width), "u1")
        found[part] = shares
    return found


def _policies(result: Result) -> str:
    """The policies that differ from the usual ones, in words."""
    named = []
    for family, policy in result.data["provenance"]["config"]["policies"].items():
        name = policy["name"] if isinstance(policy, dict) else policy
        if name not in ("none", "plain"):
            named.append(f"{family} {name}")
    return ", ".join(named)
