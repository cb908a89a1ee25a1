"""The drive file of a published drive."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from floatgate.published import JITTER, Model

WORDLINES = 32
"""Wordlines of a block in runs. Erases are shorter by the same factor as the block."""

TAKING_PART = 384
"""Blocks of a plane that a scaled drive keeps for collection.

Blocks that wait to be collected act as spare, and are a greater share of fewer blocks. Write
amplification of steady writes is 2 % too low with 384, and 8 % with 96."""

CACHE_BLOCKS = 1024
"""Blocks of all planes of a die times dies that the cache of a run has, at least 16 of a plane."""

SPARE_BLOCKS = 16
"""Blocks of a plane of such a run that hold no data: for collection and open blocks."""

FILLED = 320
"""Blocks of a plane of a run that fills a whole drive with a cache."""

MAPPED = 4096 << 32
"""Bytes of flash that 2^32 units of 4 KiB map: a larger drive can only be run scaled."""


def text(
    model: Model, *, run: str | None = None, part: float = 1.0, taking_part: int = TAKING_PART
) -> str:
    """Returns the drive file (TOML) of a model.

    Args:
        model: The drive.
        run: None for the whole drive. `speed`: all dies with few blocks, for reads and writes in
            order, whose speed does not depend on the capacity. `spare`: short blocks, scaled, and
            only a slice of the dies, with the same slice of link and controller. These two have no
            SLC cache. `cached`, `after` and `filled` have one: all dies with few short blocks, for
            writes in the cache, after it, and to the whole drive.
        part: That slice, as a share of the dies.
        taking_part: Blocks of a plane that a run of `spare` keeps.
    """
    sizes = sizes_of(model, run, part) if run in ("cached", "after", "filled") else None
    flash, control = model.flash, model.controller
    dies, planes, bits = model.dies, flash["planes"], flash["bits"]
    pages = flash["pages-per-block"] if run is None else bits * WORDLINES
    erase = flash["erase"] * pages / flash["pages-per-block"]
    dies = max(1, round(dies * part))
    channels = _channels(control["channels"], dies)
    plane = model.raw / model.dies / planes
    page = flash["page"] * 1024
    blocks = max(16, round(plane / (pages * page)))
    lines: dict[str, Any] = {"schema": "floatgate.drive/1", "name": name_of(model)}
    if sizes is not None:
        blocks = sizes.blocks
    elif run == "speed":
        blocks = max(24, _needed(dies * planes, pages * page))
    elif run == "spare" and blocks >= 2 * taking_part:
        lines["scale"] = f"1/{blocks // taking_part}"
    elif run is None and dies * planes * blocks * pages * page >= MAPPED:
        lines["scale"] = f"1/{-(-dies * planes * blocks * pages * page // MAPPED) + 1}"
    spare = 0.3 if run == "speed" else 1 - model.capacity / model.raw
    if sizes is not None:
        spare = 1 - sizes.written / (sizes.blocks * sizes.full)
    one_shot = "page" if bits == 2 else "wordline"
    # All planes of a die take part in a program, which so brings planes * page of each bit.
    program = planes * page / (model.die_rate * 1e6)
    table: dict[str, dict[str, Any]] = {
        "geometry": {
            "channels": channels,
            "chips-per-channel": dies // channels,
            "dies-per-chip": 1,
            "planes-per-die": planes,
            "blocks-per-plane": blocks,
            "pages-per-block": pages,
            "page-size": f"{flash['page']}KiB",
            "bits-per-cell": bits,
        },
        "pages": {"program": one_shot},
        "timing": {
            "bus": {"rate": f"{flash['bus']}MT/s", "width-bits": 8, "command": "0ns"},
            "read": [_time(each) for each in flash["read"]],
            "program": _time(program * 1e6),
            "erase": _time(erase * 1000),
        },
        "ftl": {
            "mapping": "page",
            "mapping-unit": "4KiB",
            "program-planes": planes,
            "unmapped-read": "zero",
            "pending-read": "memory",
            "spare-factor": spare,
            "multi-plane": "any" if flash["independent"] else "off",
        },
        "ftl.gc": {"start": 2, "stop": 3, "foreground": "one"},
        "link": {"rate": f"{control['link'] * part:.4f}MB/s"},
        "controller": {
            "read": _time(control["command"] / part),
            "write": _time(control["command"] / part),
            "cores": control["cores"],
            "read-latency": _time(control["read-latency"]),
        },
        "buffer": {
            "kind": "write-back",
            "units-per-die": 2,
            "power-loss-protected": model.use != "client",
            "latency": _time(control["buffer-latency"]),
        },
        "precondition": {"fill": "full", "age": "none"},
        "policies": {"order": "read-first"},
    }
    if model.cache is not None and run not in ("speed", "spare"):
        fixed, dynamic = model.cache.fixed, model.cache.dynamic
        if sizes is not None:
            fixed, dynamic = sizes.fixed * sizes.single, sizes.dynamic * sizes.single
        single = planes * page / (flash["slc-program"] * 1e6)
        table["slc"] = {
            "read": _time(flash["slc-read"]),
            "program": _time(single * 1e6),
            "erase": _time(flash["slc-erase"] * 1000 * pages / flash["pages-per-block"]),
            "endurance": flash["slc-endurance"],
        }
        table["reliability"] = {"endurance": flash["endurance"]}
        fold = "pressure" if run == "cached" else "idle"
        table["policies"]["slc-cache"] = _policy(fixed, dynamic, fold)
    if flash["cache"]:
        table["timing"]["cache"] = "reads"
    for key in JITTER:
        if key in control:
            median, rare = control[key]
            table["controller"][key] = {"p50": _time(median), "p99": _time(rare)}
    if "duplex" in control:
        table["link"]["duplex"] = control["duplex"]
    if "core-rate" in control:
        table["controller"]["rate"] = f"{control['core-rate'] * part:.4f}MB/s"
    if "buffer-rate" in control:
        table["buffer"]["rate"] = f"{control['buffer-rate'] * part:.4f}MB/s"
    parts = ["\n".join(f"{key} = {_value(value)}" for key, value in lines.items())]
    for name, keys in table.items():
        rows = [f"{key} = {_value(value)}" for key, value in keys.items()]
        parts.append("\n".join([f"[{name}]", *rows]))
    return "\n\n".join(parts) + "\n"


class Sizes(NamedTuple):
    """The blocks of a run on a drive with a cache.

    `blocks`, `fixed` and `dynamic` are blocks of a plane: all, and those of the cache. `single` and
    `full` are the bytes that such a block holds in all planes, with one bit in a cell and with all.
    `written` are the bytes that the drive exports.
    """

    blocks: int
    fixed: int
    dynamic: int
    single: int
    full: int
    written: int

    @property
    def cached(self) -> int:
        """The bytes that the cache holds."""
        return (self.fixed + self.dynamic) * self.single


def sizes_of(model: Model, run: str, part: float = 1.0) -> Sizes:
    """The blocks of a run of `cached`, `after` or `filled`, on a part of the dies.

    The cache of the first has as many blocks as dies allow, `CACHE_BLOCKS` in all. That of `after`
    has two, so that it is full at once. That of `filled` has its share of the drive.

    Raises:
        ValueError: The model has no cache.
    """
    if model.cache is None:
        raise ValueError(f"{model.name} has no SLC cache")
    bits = model.flash["bits"]
    dies = max(1, round(model.dies * part))
    single = WORDLINES * model.flash["page"] * 1024 * model.flash["planes"] * dies
    full = single * bits
    share = model.cache.fixed / model.cache.size
    if run == "filled":
        held = max(2, round(FILLED * bits * model.cache.size / model.raw))
        blocks, written = FILLED, round(FILLED * full * model.capacity / model.raw)
    else:
        held = 2 if run == "after" else max(16, CACHE_BLOCKS // dies)
        direct = max(8, CACHE_BLOCKS * 3 // 8 // dies)
        blocks, written = held + direct + SPARE_BLOCKS, held * single + direct * full
    fixed = min(held - (share < 1), max(share > 0, round(held * share)))
    return Sizes(blocks, fixed, held - fixed, single, full, written)


def _policy(fixed: int, dynamic: int, fold: str) -> dict[str, Any]:
    """The policy of a cache: writes that find no room go to blocks at full density."""
    name = "hybrid" if fixed and dynamic else "static" if fixed else "dynamic"
    own = {"static": f"{fixed}B"} if name == "hybrid" else {}
    size = f"{dynamic or fixed}B"
    return {"name": name, **own, "size": size, "fold": fold, "full": "direct"}


def _channels(most: int, dies: int) -> int:
    """The greatest number of channels, at most `most`, that divides the dies."""
    return max(n for n in range(1, most + 1) if dies % n == 0)


def _needed(planes: int, block: int) -> int:
    """Blocks of a plane so that all planes together hold 3 GiB."""
    return -(-(3 << 30) // (planes * block))


def name_of(model: Model) -> str:
    """The name of a model as drive files have it.

    >>> from floatgate.published import products
    >>> name_of(products()["samsung-pm9a3"].models[3])
    'samsung-pm9a3-960gb-u-2'
    """
    words = "".join(c if c.isalnum() else " " for c in model.name.lower()).split()
    return "-".join(words)


def _time(microseconds: float) -> str:
    return f"{round(microseconds * 1000)}ns"


def _value(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)
