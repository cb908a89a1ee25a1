"""Policies of your own in Python: what floatgate asks of them, and what it shows them.

A policy is a class with the methods of its family, `Victim` or `Cost`. It need not inherit from
them: they say what is asked, and let a type checker look at yours. Name it in a drive file or on
the command line as `victim=py:module.Class:key=value`, or give `floatgate.run` the class, or an
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

The parameters of the constructor are the policy's parameters. A policy is made to see whether that
works, another while the drive is preconditioned, and the one of the run when it begins; an instance
is copied (`deepcopy`) for each and stays as it was, so what a policy wants to tell goes through
`counters`. Whatever is random must come from the `random` that it is shown: then equal runs stay
equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import SupportsIndex

from floatgate.engine import Access, Drive, Plane, Random, Write

__all__ = ["FAMILIES", "Access", "Cost", "Drive", "Plane", "Policy", "Random", "Victim", "Write"]


class Policy:
    """What a policy of either family may watch; a method is called only if you define it.

    Blocks, logical pages (`lpn`) and physical pages (`ppn`) are numbers from 0; page
    `ppn` lies in block `ppn // drive.pages_per_block`. Times are simulated, in ns from the
    beginning of the run, and 0 while the drive is preconditioned. Levels are `high`, `medium` and
    `low`; sources `host`, `gc`, `wear`, `refresh`, `rewrite` and `map`.

    >>> class Counting(Policy):
    ...     def __init__(self) -> None:
    ...         self.erased = 0
    ...     def on_erase(self, block: int, now_ns: int) -> None:
    ...         self.erased += 1
    ...     def counters(self) -> dict[str, float]:
    ...         return {"erased": self.erased}
    """

    def attach(self, drive: Drive) -> None:
        """Called once, before anything else: the place to size columns."""

    def on_access(self, access: Access) -> None:
        """The host reads, writes or trims a page; in order of arrival."""

    def on_program(self, lpn: int, ppn: int, level: str, source: str, now_ns: int) -> None:
        """A page was programmed."""

    def on_invalidate(self, block: int, gain: int, now_ns: int) -> None:
        """A page of `block` lost its data; reclaiming the block would free `gain` pages now."""

    def on_move(self, lpn: int, old: int, new: int, source: str) -> None:
        """A page moved from one physical page to another."""

    def on_open(self, block: int) -> None:
        """A block was opened for writing."""

    def on_close(self, block: int, now_ns: int) -> None:
        """A block was written to its end, and may be reclaimed from now on."""

    def on_erase(self, block: int, now_ns: int) -> None:
        """A block was erased."""

    def counters(self) -> Mapping[str, float]:
        """What the policy did, as numbers by name; they stand in `result.policies`."""
        return {}


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

        Asked once for each block, and only when one of them gains something. A block that gains
        nothing may be chosen now and then; after many in a row the drive takes the one that gains
        most, and counts it as `overridden`.

        Args:
            plane: The blocks of one plane that may be reclaimed.
            demand: The source of the write that needs the space: `host`, `wear` and so on.
            random: The run's random stream for victims.
        """


class Cost(Policy, ABC):
    """Family cost: at which level is a page programmed, and is it worth writing anew?

    >>> class QuickUnderLoad(Cost):
    ...     def initial(self) -> str:
    ...         return "medium"
    ...     def level(self, write: Write) -> str:
    ...         return "low" if write.waiting_die >= 4 else "high"
    """

    dram_bits_per_page: int = 0
    """Memory that a drive with this policy would need for each logical page, in bits."""

    @abstractmethod
    def initial(self) -> str:
        """Returns the level of data that was there before the run. Asked once."""

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
        """Returns whether a page that `follow` marked still is worth it, now that its die is idle.

        Where it is not defined, every marked page is written anew.
        """
        return True


FAMILIES: dict[str, type[Policy]] = {"cost": Cost, "victim": Victim}
"""The families of which a policy may be written in Python."""
