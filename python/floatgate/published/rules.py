"""How a published condition becomes a workload: one function, `rule`."""

from __future__ import annotations

import re
from typing import NamedTuple

KIB = 1024


class Rule(NamedTuple):
    """A workload and the statistic that was published.

    `kind` is the class of the row; `statistic` is `iops`, `mb`, `mean`, `p50` and so on, `waf`,
    `inverse-waf` or `gb`. `size` is in bytes. `fill` is `full` or `none`; `steady` ages by random
    writes. `place` is that of writes to a drive with an SLC cache: `in` the cache, `after` it, its
    `end`, or `filling` the whole drive. It is empty for reads and for drives without a cache. With
    `passes`, random writes go once over every address in a new order, again and again.
    """

    kind: str
    statistic: str
    random: bool
    read_share: float
    size: int
    depth: int
    fill: str
    steady: bool
    place: str = ""
    passes: bool = False

    @property
    def sliced(self) -> bool:
        """Whether a part of the dies takes the writes: those of a whole drive are many."""
        return self.steady or self.place == "filling"


class NotModelledError(Exception):
    """The rules have no workload for these words."""


def rule(
    what: str, conditions: str, unit: str, use: str, link: float, *, cache: bool = False
) -> Rule:
    """Returns the workload of a published number.

    * Size: as published; 4 KiB if the number is a latency or IOPS, else 128 KiB.
    * Order: at random if the words say so, and for a latency unless they say `sequential`.
    * Depth: `QDn` of the words, times `n threads` or `x n`. A latency without one is of QD1. Else
      random requests are 32 deep over SATA, 256 over PCIe 3 and 4 and 512 over PCIe 5; requests in
      order are 32 deep.
    * Preconditioning: the drive is full. Random writes of drives for data centres come after
      random writes until write amplification is steady. Those of client drives come to an empty
      drive, and so does everything that is said to be fresh, empty or in the cache.
    * Random writes with a `random map` (of fio) go once over every address in random order, and
      then again in another one. The drive is aged by them.
    * `typical` is the mean.
    * Writes to a drive with an SLC cache come to an empty drive, and are in the cache. The words
      `after the cache`, `raw TLC`, `QLC` and `filling` give other places. A measured size of the
      cache is where sequential writes become slow.

    Args:
        what: The published quantity, such as `random read 4K`.
        conditions: Its conditions, such as `QD32, full span`.
        unit: Of the number, such as `IOPS`.
        use: `client`, `datacentre` or `zoned`.
        link: MB/s of the drive's link.
        cache: Whether the drive has an SLC cache.

    Raises:
        NotModelledError: No rule has these words.
    """
    words = f"{what} {conditions}"
    passes = "random map" in words
    if what.startswith(("WAF", "endurance, sequential over", "relative life")):
        return _waf(what, words)._replace(passes=passes)
    latency = "latency" in what
    random = "random" in what or (latency and "sequential" not in what)
    reads = 0.7 if "70/30" in what else 1.0 if "read" in what else 0.0
    end = cache and "cache measured" in what
    order = any(each in what for each in ("sequential", "write", "filling"))
    if not end and not random and not order and not latency:
        raise NotModelledError(what)
    size = re.search(r"(\d+) ?(K|MiB)\b", what) or re.search(r"(\d+) ?(K|MiB)\b", conditions)
    if size is not None:
        bytes_of = int(size[1]) * (KIB if size[2] == "K" else KIB * KIB)
    else:
        bytes_of = 4 * KIB if random or latency else 128 * KIB
    depth = re.search(r"QD ?(\d+)", words)
    threads = re.search(r"x (\d+) threads", words)
    if depth is not None:
        deep = int(depth[1]) * (int(threads[1]) if threads else 1)
    elif latency or "one thread" in words:
        deep = 1
    elif not random:
        deep = 32
    else:
        deep = 32 if link < 1000 else 256 if link < 8000 else 512
    steady = random and reads < 1 and use == "datacentre" and deep > 1
    fresh = reads < 1 and not steady and ("empty" in words or "fresh" in words or use == "client")
    place = _place(words) if cache and reads < 1 else ""
    if end:
        return Rule("cache size", "gb", False, 0.0, bytes_of, deep, "none", False, "end")
    if latency:
        rank = re.search(r"(\d+(?:\.\d+)?) %", what)
        statistic = f"p{rank[1]}" if rank else "mean"
        kind = "latency percentiles" if rank else "typical latency"
    else:
        statistic = "iops" if unit == "IOPS" else "mb"
        kind = "sequential" if not random else "read IOPS" if reads == 1 else "steady writes"
        if kind == "steady writes" and not steady:
            kind = "other writes"
    fill = "none" if fresh else "full"
    passes = passes and random and reads < 1
    return Rule(kind, statistic, random, reads, bytes_of, deep, fill, steady, place, passes)


def _place(words: str) -> str:
    """The place of writes to a drive with an SLC cache."""
    if "filling" in words:
        return "filling"
    after = any(each in words for each in ("after the cache", "raw TLC", "QLC"))
    return "after" if after else "in"


def _waf(what: str, words: str) -> Rule:
    large = 128 * KIB if "128K" in what else 4 * KIB
    if "sequential write" in what:
        return Rule("WAF", "waf", False, 0.0, 128 * KIB, 32, "none", False)
    kind = "WAF" if what.startswith("WAF") else "endurance ratios"
    depth = 128 if "QD128" in words else 32
    return Rule(kind, "waf", True, 0.0, large, depth, "full", True)
