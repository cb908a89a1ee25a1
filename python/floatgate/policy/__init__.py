"""Policies of your own in Python: their methods, and the views of the drive that they get.

A policy is a class with the methods of its family. The families are the classes below. Your class
need not inherit from one, but then a type checker can check it. Name it in a drive file or on the
command line as `victim=py:module.Class:key=value`, or give `floatgate.run` the class, or an
instance:

>>> import floatgate
>>> from floatgate.policy import Plane, Random, Victim
>>> class Oldest(Victim):
...     def choose(self, plane: Plane, demand: str, random: Random) -> int:
...         return int(plane.blocks[plane.age.argmax()])
>>> small = {"geometry.channels": 1, "geometry.chips-per-channel": 1, "precondition.fill": "full"}
>>> result = floatgate.run(
...     "agcr",
...     "random-write",
...     set=small | {"geometry.blocks-per-plane": 64, "workload.requests": 5000},
...     policy={"victim": Oldest},
... )
>>> result.policies.victim.counters.reclaimed > 0
True

The parameters of the constructor are the policy's parameters. A policy is constructed once as a
trial, once while the drive is preconditioned, and once when the run begins. An instance is copied
(`deepcopy`) for each and stays as it was, so a policy reports its numbers through `counters`.
Random numbers must come from the `random` of the drive, so that equal runs stay equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import SupportsIndex

from floatgate.engine import (
    Access,
    Block,
    Deaths,
    Drive,
    Future,
    Head,
    Life,
    Load,
    NewPage,
    Plane,
    Point,
    Random,
    Waiting,
    Write,
)
from floatgate.policy.plans import (
    GC,
    HOST,
    OWN,
    URGENT,
    WEAR,
    Append,
    CacheBlocks,
    Copy,
    DataStream,
    Fresh,
    Plan,
    Reclaim,
    ResetReads,
    Seal,
    SetRole,
    Step,
    Stream,
)

__all__ = [
    "FAMILIES",
    "GC",
    "HOST",
    "OWN",
    "URGENT",
    "WEAR",
    "Access",
    "Append",
    "Arbitration",
    "Block",
    "CacheBlocks",
    "Coding",
    "Copy",
    "Cost",
    "DataStream",
    "Deaths",
    "Drive",
    "Fresh",
    "Future",
    "Head",
    "Life",
    "Load",
    "NewPage",
    "Order",
    "PageChoice",
    "Placement",
    "Plan",
    "Plane",
    "Point",
    "Policy",
    "Random",
    "ReadDisturb",
    "Reclaim",
    "ResetReads",
    "Seal",
    "Separation",
    "SetRole",
    "SlcCache",
    "Step",
    "Stream",
    "Throttle",
    "Victim",
    "Waiting",
    "Wear",
    "Write",
]


class Policy:
    """The events that any policy may watch; a method is called only if you define it.

    Blocks, planes, dies, logical pages (`lpn`) and physical pages (`ppn`) are numbers from 0; page
    `ppn` lies in block `ppn // drive.pages_per_block`, and block `b` in plane
    `b // drive.blocks_per_plane`. Plane `p` lies in die `p // drive.planes_per_die`, and die `d` on
    channel `d % drive.channels`. A page is the unit of one map entry: a physical page, one of
    `drive.units_per_page` parts of it, or one in each of `drive.planes_per_unit` planes. One
    command programs `drive.units_per_program` pages. Times are simulated, in ns from the beginning
    of the run, and 0 while the drive is preconditioned.
    Levels and sources have the names that results use; `docs/results.md` lists them.

    >>> class Counting(Policy):
    ...     def __init__(self) -> None:
    ...         self.erased = 0
    ...     def on_erase(self, block: int, now_ns: int) -> None:
    ...         self.erased += 1
    ...     def counters(self) -> dict[str, float]:
    ...         return {"erased": self.erased}
    """

    def attach(self, drive: Drive) -> None:
        """Called once, before a policy is asked about the drive: the place to size columns."""

    def on_access(self, access: Access) -> None:
        """The host reads, writes or trims a page; in order of arrival."""

    def on_program(self, lpn: int, ppn: int, level: str, source: str, now_ns: int) -> None:
        """A page was programmed."""

    def on_invalidate(self, block: int, gain: int, now_ns: int) -> None:
        """A page of `block` lost its data; reclaiming the block would free `gain` pages now."""

    def on_move(self, lpn: int, old: int, new: int, source: str) -> None:
        """A page moved from one physical page to another."""

    def on_open(self, block: int, stream: int, role: int) -> None:
        """A block was opened for writing, for a stream and with a role."""

    def on_close(self, block: int, now_ns: int) -> None:
        """A block was written to its end, and may be reclaimed from now on."""

    def on_erase(self, block: int, now_ns: int) -> None:
        """A block was erased, or begins to be written a second time without an erase."""

    def next_timer(self) -> int | None:
        """Returns when the policy wants to be woken, in ns; None: not at all. Asked often."""
        return None

    def on_timer(self, planes: Sequence[Plane], now_ns: int) -> Plan | None:
        """Returns the plan at the requested time; None: nothing to do.

        From here on `next_timer` must return a later time.

        Args:
            planes: All blocks of each plane.
            now_ns: The time.
        """
        return None

    def counters(self) -> Mapping[str, float]:
        """The counts of the policy by name; they appear in `result.policies`."""
        return {}


class Cost(Policy, ABC):
    """Family cost: at which level is a page programmed, and is it worth writing anew?

    >>> class QuickUnderLoad(Cost):
    ...     def initial(self) -> str:
    ...         return "medium"
    ...     def level(self, write: Write) -> str:
    ...         return "low" if write.waiting_die >= 4 else "high"
    """

    @abstractmethod
    def initial(self) -> str:
        """Returns the level of data that was there before the run."""

    @abstractmethod
    def level(self, write: Write) -> str:
        """Returns the level of this program. Asked for moved pages too."""

    def follow(self, access: Access, stored: str | None) -> bool:
        """Returns whether a page that the host reads is worth writing anew when its die is idle.

        Args:
            access: The read.
            stored: The level at which the page was programmed; None if it holds nothing.
        """
        return False

    def rewrite(self, lpn: int) -> bool:
        """Returns whether a page that `follow` marked is still worth it, when its die is idle.

        By default every marked page is written anew.
        """
        return True

    def queues(self) -> str:
        """Returns which waiting operations are counted for `level`: `all`, `die` or `none`.

        The other counts are then 0, and the run is faster.
        """
        return "all"

    def learn_times(self, program: Mapping[str, int], read: Mapping[str, int]) -> None:
        """The cost of the levels on this drive: array times in ns by level, means of page types.

        Called once, before `attach`.
        """

    def foresee(self, future: Future) -> None:
        """The future reads of each page, if you define this. The workload is then read twice."""

    def is_ideal(self) -> bool:
        """Returns whether reads and programs all take the time of their cheapest level: a bound."""
        return False

    def dram_bits_per_page(self) -> int:
        """Returns the memory that the policy needs for each logical page: 0 to 64 bits."""
        return 0


class Throttle(Policy, ABC):
    """Family throttle: how long must a write wait before the FTL sees it?

    >>> class EveryMillisecond(Throttle):
    ...     def __init__(self) -> None:
    ...         self.next = 0
    ...     def admit(self, now_ns: int, bytes: int) -> int:
    ...         self.next = max(now_ns, self.next + 1_000_000)
    ...         return self.next
    """

    @abstractmethod
    def admit(self, now_ns: int, bytes: int) -> int:
        """Returns the earliest time in ns at which a write may enter: `now_ns` or later.

        Asked once for each write request, in order of arrival.

        Args:
            now_ns: When it arrived.
            bytes: How much it writes.
        """

    def learn_life(self, life: Life) -> None:
        """The facts that a throttle plans with. Called once, before `attach`."""

    def dram_bytes(self) -> int:
        """Returns the memory that the policy needs, in bytes."""
        return 0


class ReadDisturb(Policy, ABC):
    """Family read-disturb: which pages move, and where to, when a block nears its read limit?

    Modes that hold less (`low`) are not available here: see docs/extending.md.

    >>> class Refresh(ReadDisturb):
    ...     def limit(self, mode: str) -> int:
    ...         return 10_000
    ...     def on_limit(self, block: Block, plane: Plane) -> Plan:
    ...         return Plan([Reclaim(block.number)])
    """

    @abstractmethod
    def limit(self, mode: str) -> int | None:
        """Returns the host reads that a block of this mode endures, from 1 on; None: any number.

        Asked once for each mode, after `attach`. A read that comes to a block at its limit waits
        until the block's counter begins anew, or the page has moved.
        """

    def limit_share(self, level: str) -> int:
        """Returns the percentage of its limit that a block endures, from 1 to 400.

        Asked once for each level (`high`, `medium`, `low`: the cost of a write), before the run, if
        the drive has levels that differ (`timing.levels`). `level` is that of the coarsest page
        written into the block since its erase; low cost is coarse.
        """
        return 100

    @abstractmethod
    def on_limit(self, block: Block, plane: Plane) -> Plan | None:
        """Returns the plan for a block that has reached its limit.

        Unless the block's state is `moving`, the plan must reclaim the block or reset its reads.

        Args:
            block: The block.
            plane: All blocks of its plane.
        """

    def on_read(self, block: Block, page: int, now_ns: int) -> Plan | None:
        """Returns the plan when the host reads a page of a block with a role."""
        return None

    def on_reclaim(self, block: Block, demand: str) -> int:
        """Returns the stream that the pages of a block with a role go to when it is reclaimed.

        Args:
            block: The block, chosen by the victim policy.
            demand: The source of the write that needs the space.
        """
        return GC

    def protects(self, block: Block) -> bool:
        """Returns whether garbage collection spares a block with a role while others gain.

        Asked for every such block of a plane whenever a victim is chosen.
        """
        return False

    def streams(self, drive: Drive) -> Sequence[Stream]:
        """Returns streams of its own; they get the numbers from `OWN` on. May be asked often."""
        return ()

    def role_names(self) -> Sequence[str]:
        """Returns the names of its roles in results; roles have the numbers from 1 on."""
        return ()

    def spare_slots(self, drive: Drive) -> int:
        """Returns the pages of each plane that the policy's blocks keep from data.

        The default is one block for each stream.
        """
        return len(self.streams(drive)) * drive.pages_per_block

    def on_reset(self, block: int, now_ns: int) -> None:
        """A block's counter of reads begins anew because a plan said so."""

    def on_erased(self, block: int, role: int, reads: int, source: str, now_ns: int) -> None:
        """A block with a role was erased by a source after this number of host reads."""

    def dram_bytes(self) -> int:
        """Returns the memory that the policy needs, in bytes. Asked after `attach`."""
        return 0


class PageChoice(Policy, ABC):
    """Family page-choice: which page of the open block takes a write?

    It works on the drives on which `mango` does. It is asked about host writes only: garbage
    collection that passed over as many pages as it gains would never end.

    >>> class UrgentOnFirstBits(PageChoice):
    ...     def attach(self, drive: Drive) -> None:
    ...         self.types = drive.page_types
    ...     def pick(self, write: Write, point: Point) -> int:
    ...         ahead = self.types[point.page : point.page + point.may_pass + 1]
    ...         return point.page + (ahead.index(0) if write.high_priority and 0 in ahead else 0)
    """

    @abstractmethod
    def pick(self, write: Write, point: Point) -> int | None:
        """Returns the page of `point.block` that a write of the host takes.

        Args:
            write: The write; its queues are not counted.
            point: The place of the write if the policy makes no choice. The page must be
                `point.page` or a later one. Pages in between, at most `point.may_pass`, are given
                up until the block is erased. None: the first page of another block, if
                `point.may_open`; the rest of this block is given up. At most half of a plane's
                spare pages are given up at a time.
        """

    def learn_times(self, program: Sequence[int]) -> None:
        """How long a program of each page type takes, in ns, by type. Called before `attach`."""

    def streams(self, drive: Drive) -> Sequence[Stream]:
        """Returns streams of its own. May be asked often."""
        return ()

    def learn_streams(self, first: int) -> None:
        """The number of the first of them; the others follow."""

    def stream(self, to: int, high_priority: bool) -> int:
        """Returns the stream of a host write that is meant for `to`: `to`, or one of its own."""
        return to

    def urgent_stream(self) -> int | None:
        """Returns the one of its streams that takes only urgent writes, if there is one.

        Asked once, after `learn_streams`.
        """
        return None

    def gc_pick(self) -> str | None:
        """Returns how garbage collection picks a free block, as `Stream.pick`; None: oldest."""
        return None

    def spare_slots(self, drive: Drive) -> int:
        """Returns the pages of each plane that its streams keep from data; as for `ReadDisturb`."""
        return len(self.streams(drive)) * drive.pages_per_block


class Coding(Policy, ABC):
    """Family coding: how do bits lie on cells, and may a block be written twice?

    Blocks of mode `full` hold plain bits. Those of mode `wom1` hold the first generation of a
    write-once code, and may be written a second time (`wom2`) before they are erased. A policy that
    uses the code works on the drives on which `wom` does.

    >>> class ForWornBlocks(Coding):
    ...     def write_once(self) -> bool:
    ...         return True
    ...     def next_life(self, block: Block) -> str:
    ...         if block.mode == "wom1" and block.second_slots > 2 * block.second_valid:
    ...             return "wom2"
    ...         return "wom1" if block.wear > 100 else "full"
    """

    @abstractmethod
    def next_life(self, block: Block) -> str:
        """Returns the mode of a block's next life: `full`, or `wom1` or `wom2`.

        Asked when the block closes (to rank it as a victim) and when it is reclaimed. `wom2` is for
        a block of mode `wom1` that is written to its end. Its pages outside the second generation
        stay, and it is not erased.
        """

    def first_life(self, block: int) -> str:
        """Returns the mode of a block that was never written: `full` or `wom1`."""
        return "full"

    def write_once(self) -> bool:
        """Returns whether blocks may hold the code, so that the drive keeps space for it."""
        return False


class SlcCache(Policy, ABC):
    """Family SLC cache: which blocks take writes at one bit in a cell, and when are they folded?

    The drive carries the answer out: it opens the blocks, folds them, and counts both.

    >>> class Eighth(SlcCache):
    ...     def cache(self, drive: Drive) -> CacheBlocks:
    ...         return CacheBlocks(own=drive.blocks_per_plane // 8, fold="idle")
    """

    @abstractmethod
    def cache(self, drive: Drive) -> CacheBlocks | None:
        """Returns the blocks of the cache; None: there is no cache. Asked before the run."""

    def learn_scale(self, of: int) -> None:
        """The drive has one of this number of its blocks (`scale`). Called before `cache`."""


class Victim(Policy, ABC):
    """Family victim: which block is reclaimed?

    >>> class CostBenefit(Victim):
    ...     def choose(self, plane: Plane, demand: str, random: Random) -> int:
    ...         worth = plane.gain * plane.age / (2 * plane.valid + 1)
    ...         return int(plane.blocks[worth.argmax()])
    """

    @abstractmethod
    def choose(self, plane: Plane, demand: str, random: Random) -> SupportsIndex:
        """Returns one of `plane.blocks`: its valid pages move, and it is erased.

        Asked once for each block, and only if one of them gains something. The policy may now and
        then choose a block that gains nothing. After many in a row the drive takes the one that
        gains most, and counts it as `overridden`.

        Args:
            plane: The blocks of one plane that may be reclaimed.
            demand: The source of the write that needs the space: `host`, `wear` and so on.
            random: The run's random stream for victims.
        """


class Separation(Policy, ABC):
    """Family separation: to which stream does a page go?

    Pages of different streams never share a block. Each plane has an open block for each stream,
    which takes as much from its spare.

    >>> class ByAge(Separation):
    ...     def streams(self) -> Sequence[DataStream]:
    ...         moved = [DataStream("old", "moves"), DataStream("young", "moves")]
    ...         return [DataStream("new", "host"), *moved]
    ...     def stream(self, page: NewPage) -> int:
    ...         if not page.moves:
    ...             return 0
    ...         return 2 if page.age is None or page.age < 10_000 else 1
    """

    @abstractmethod
    def streams(self) -> Sequence[DataStream]:
        """Returns the streams; one takes writes of the host, and one takes pages that move.

        Asked several times, and the answer must be the same.
        """

    @abstractmethod
    def stream(self, page: NewPage) -> SupportsIndex:
        """Returns the stream of a page, by its place in `streams`; it takes such pages.

        Asked again if there was no room: `on_placed` says what became of the answer.

        Args:
            page: The page, which the host writes or which moves.
        """

    def isolates(self) -> bool:
        """Returns whether streams never mix.

        Then the policy is asked about all pages that move, also those of wear levelling and
        refreshes, and none goes to another stream for want of room.
        """
        return False

    def on_placed(self, page: NewPage, stream: int) -> None:
        """A page that the host writes has its place in this stream."""

    def on_opened(self, block: int, stream: int, clock: int) -> None:
        """A block was opened for a stream; `clock` is in pages that the host has written."""

    def on_collected(self, block: int, stream: int, clock: int) -> None:
        """Collection has chosen a block of a stream."""

    def foresee(self, future: Deaths) -> None:
        """The end of each page's copies. If you define it, the workload is read twice more."""

    def dram_bytes(self) -> int:
        """Returns the memory that the policy needs, in bytes."""
        return 0


class Placement(Policy, ABC):
    """Family placement: which plane takes the next page?

    >>> class InTurn(Placement):
    ...     def attach(self, drive: Drive) -> None:
    ...         self.planes = drive.planes
    ...     def place(self, load: Load, lpn: int, high_priority: bool) -> int | None:
    ...         plane = lpn % self.planes
    ...         return plane if load.writable[plane] else None
    ...     def spread(self, lpn: int) -> int:
    ...         return lpn % self.planes
    ...     def is_free(self) -> bool:
    ...         return False
    """

    @abstractmethod
    def place(self, load: Load, lpn: int, high_priority: bool) -> SupportsIndex | None:
        """Returns a plane with room for a write of the host; None: the write waits for room.

        Args:
            load: The planes that have space, and the work of the dies.
            lpn: The logical page.
            high_priority: Whether the request is urgent.
        """

    @abstractmethod
    def spread(self, lpn: int) -> SupportsIndex:
        """Returns a plane for data from before the run: spread evenly, without regard to load."""

    def is_free(self) -> bool:
        """Returns whether a page may go to any plane; False: only to that of `spread`."""
        return True


class Wear(Policy, ABC):
    """Family wear: which cold data moves to which worn block?

    >>> class Coldest(Wear):
    ...     def balance(self, plane: Plane, blocks: Plane, erased: int) -> Plan | None:
    ...         worn = blocks.wear[erased - blocks.blocks[0]]
    ...         if len(plane) == 0 or worn - plane.wear.min() <= 20:
    ...             return None
    ...         return Plan([Reclaim(int(plane.blocks[plane.wear.argmin()]), WEAR)])
    """

    @abstractmethod
    def balance(self, plane: Plane, blocks: Plane, erased: int) -> Plan | None:
        """Returns the plan after the erase of a block; None: nothing to do.

        Asked after each erase of garbage collection or of a refresh, unless the plane's last plan
        is still under way.

        Args:
            plane: The blocks of its plane that may be reclaimed.
            blocks: All blocks of its plane.
            erased: The number of the block.
        """

    def learn_life(self, life: Life) -> None:
        """The endurance of the flash. Called once, before `attach`."""


class Order(Policy, ABC):
    """Family order: which flash operation goes next on a free die?

    >>> class JobsLast(Order):
    ...     def pick(self, heads: Sequence[Waiting], now_ns: int) -> int:
    ...         last = [(head.kind == "job", head.order) for head in heads]
    ...         return last.index(min(last))
    """

    @abstractmethod
    def pick(self, heads: Sequence[Waiting], now_ns: int) -> int:
        """Returns the position in `heads` of the next operation. Asked when there is a choice.

        Args:
            heads: The first operation of each kind that waits for the die; two or more.
            now_ns: The time.
        """

    def uses_priority(self) -> bool:
        """Returns whether urgent requests have lanes and, for writes, blocks of their own."""
        return False

    def may_suspend(self, running: Waiting, read: Waiting, now_ns: int) -> bool:
        """Returns whether a read interrupts the operation that runs on its die.

        Asked when the read comes, if the die can be interrupted (`timing.suspend`). The
        interrupted operation is among the heads that `pick` sees, next to reads of the host
        alone.

        Args:
            running: The program (`write` or `job`) or the erase (`job`) that runs.
            read: The read that has come.
            now_ns: The time.
        """
        return False


class Arbitration(Policy, ABC):
    """Family arbitration: whose request goes into the drive next?

    Asked for each request, if the drive has a place and flows wait outside. The policy gets no
    events from inside the drive.

    >>> class Smallest(Arbitration):
    ...     def pick(self, heads: Sequence[Head], now_ns: int) -> int:
    ...         sizes = [(head.bytes, head.arrived_ns) for head in heads]
    ...         return sizes.index(min(sizes))
    """

    @abstractmethod
    def pick(self, heads: Sequence[Head], now_ns: int) -> int:
        """Returns the position in `heads` of the request that goes next.

        Args:
            heads: The first request of each flow that waits, in the order of flows; one or more.
            now_ns: The time.
        """


FAMILIES: dict[str, type[Policy]] = {
    "cost": Cost,
    "throttle": Throttle,
    "read-disturb": ReadDisturb,
    "page-choice": PageChoice,
    "coding": Coding,
    "slc-cache": SlcCache,
    "victim": Victim,
    "separation": Separation,
    "placement": Placement,
    "wear": Wear,
    "order": Order,
    "arbitration": Arbitration,
}
"""The class of each family, in the order of drive files."""
