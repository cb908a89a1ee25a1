"""Plans of policies: pages that move, blocks that are reclaimed, and the place of their data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HOST, GC, WEAR, URGENT = range(4)
"""The streams that every drive has: host writes, data moved by garbage collection, cold data moved
by wear levelling (onto the most worn free blocks), and urgent host writes."""

OWN = 4
"""The number of the first stream of a read-disturb policy's own; the others follow."""


class Stream(NamedTuple):
    """Data that is written together: each plane has an open block for each stream.

    A drive keeps one block of each plane from data for each stream of a policy, unless the policy's
    `spare_slots` says otherwise.
    """

    role: int = 0
    """The role of its blocks; 0: ordinary ones. Others are those of `ReadDisturb.role_names`."""
    pick: str = "oldest"
    """The free block to open: `oldest` (free longest), `least-worn` or `most-worn`."""
    fallback: int | None = None
    """The stream that takes the data if there is no block to open. For a read-disturb policy: `GC`,
    `WEAR` or an earlier one of its own; None: `GC`. For a page-choice policy: None, which is
    `HOST`."""
    cap: int | None = None
    """How many blocks of a plane may hold its data at a time; None: any number."""


class DataStream(NamedTuple):
    """A stream of a separation policy."""

    name: str
    """Its name."""
    takes: str = "both"
    """The pages that it takes: `host` (writes of the host), `moves`, or `both` together."""


class CacheBlocks(NamedTuple):
    """The blocks of an SLC cache, whose cells hold one bit; numbers are blocks of each plane.

    If several blocks make a superblock, they are superblocks of each set of dies.
    """

    own: int = 0
    """Blocks that are always the cache's own, and hold no other data."""
    most: int = 0
    """Blocks of the shared pool that it has at most."""
    least: int = 0
    """Of these, the blocks that it can always have, up to `most`."""
    fold: str = "idle"
    """When its data moves to blocks at full density: `idle`, under `pressure`, or `both`."""
    full: str = "direct"
    """The fate of a write without room: `direct`, `wait` or `around`."""


class Append(NamedTuple):
    """The target of a copy: the unwritten pages of a partly written block.

    A block of the same plane, opened for one of the policy's own streams.
    """

    block: int


class Fresh(NamedTuple):
    """The target of a copy: a new block, which stays partly written.

    `on_open` reports the block. Pages that do not fit go to the open block of the stream, one of
    the policy's own.
    """

    stream: int


class Copy(NamedTuple):
    """Moves pages of a block; the block stays."""

    block: int
    to: int | Append | Fresh
    """A stream (garbage collection's, wear levelling's, or one of the policy's own) or a block."""
    pages: Sequence[int] | None = None
    """Pages of the block in ascending order; None: all. Those without data are passed over."""


class Reclaim(NamedTuple):
    """Moves the valid pages of a block to a stream, then erases the block."""

    block: int
    to: int = GC
    at_limit: bool = False
    """Only if the block is still at its read limit when the step's turn comes (read-disturb)."""


class Seal(NamedTuple):
    """Makes a partly written block complete: the rest of its pages is given up."""

    block: int


class SetRole(NamedTuple):
    """Gives a block another role (read-disturb only)."""

    block: int
    role: int


class ResetReads(NamedTuple):
    """Sets a block's counter of reads to zero (read-disturb only)."""

    block: int


Step = Copy | Reclaim | Seal | SetRole | ResetReads


class Plan(NamedTuple):
    """The steps that a policy requests: all in the plane of the first step's block.

    A step whose block was erased since the plan was made is dropped.
    """

    steps: Sequence[Step]
    background: bool = False
    """Only in idle time, giving way to everything else between two flash operations."""
    hold: str = "place"
    """How it shares its die. `place`: it keeps its place in the line, and the order policy chooses
    between two operations. `die`: it keeps the die until it is done or has to wait. `nothing`:
    after each operation it goes to the end of the line.
    """
