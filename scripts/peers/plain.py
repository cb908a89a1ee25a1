"""A log-structured store as a plain loop, with the choices in which equal rules still differ.

Two simulators with one rule may choose differently among victims of equal worth. They may count
the age of a segment in other units, or look at the garbage a write earlier or later. The loop gives
the write amplification under the choices of either side. It shares nothing with the engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt


@dataclass(frozen=True)
class Choices:
    """Choices that equal rules leave open."""

    look: str
    """The share of garbage is compared with its limit after a write, or when the write gets its
    place. The page that it replaces is still valid then."""
    age: str
    """Cost-benefit counts age in writes of the host since the last page of a segment, or in
    segments that were completed since then, this one with them."""
    rounding: str
    """Cost-benefit multiplies in one order or another. It matters for two whose worth differs by
    rounding only."""
    tie: str
    """Victims of equal worth go by address. Or they go by their places in a hash table of numbers,
    which segments get as they are opened, and by number in one place. The table begins with 16
    places and doubles when more than three quarters of it are taken."""
    opening: str
    """A segment is opened when the one before it is full, or with its first page."""
    threshold: str
    """The mean lifetime in `SepBIT`, in writes of the host, is rounded down or not."""
    oldest: str
    """The lifetime of the oldest write in the queue of `SepBIT` is known or not."""
    bound: str
    """That queue is bounded by the number of valid pages, beside the threshold, or is not. Invalid
    pages of open segments count as valid there."""


SEPBITS = Choices(
    look="after the write",
    age="in writes",
    rounding="shares first",
    tie="hash table",
    opening="when one is full",
    threshold="a fraction",
    oldest="not known",
    bound="valid pages",
)
"""The choices of SepBIT's simulator."""

FLOATGATES = Choices(
    look="before the write",
    age="in segments",
    rounding="root first",
    tie="lowest address",
    opening="with its first page",
    threshold="rounded down",
    oldest="known",
    bound="nothing",
)
"""The choices of floatgate."""


class Inferred:
    """The classes of SepBIT (FAST 2022, algorithm 1), with its queue of recent writes."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._limit = inf
        self._queue: deque[tuple[int, int]] = deque()
        self._recent: dict[int, int] = {}
        self._segments = 0
        self._lifetimes = 0

    def of_host(self, page: int, clock: int, valid: int) -> int:
        """The class of a write of the host, which joins the queue, by the number of valid pages."""
        known = len(self._queue) + (self._choices.oldest == "known")
        last = self._recent.get(page)
        short = last is not None and clock - last < min(self._limit, known)
        self._queue.append((page, clock))
        self._recent[page] = clock
        by_valid = self._choices.bound == "valid pages"
        if len(self._queue) > (min(self._limit, valid) if by_valid else self._limit):
            self._forget()
            # A queue that is to be shorter becomes so by one with each write.
            if len(self._queue) > self._limit:
                self._forget()
        return 0 if short else 1

    def _forget(self) -> None:
        page, at = self._queue.popleft()
        if self._recent[page] == at:
            del self._recent[page]

    def of_move(self, place: int, age: int) -> int:
        """The class of a page that leaves a segment of a class."""
        if place == 0:
            return 2
        return 3 if age < 4 * self._limit else 4 if age < 16 * self._limit else 5

    def collected(self, place: int, lifetime: int) -> None:
        """A segment of a class was collected. Its lifetime is in writes of the host."""
        if place == 0:
            self._segments += 1
            self._lifetimes += lifetime
        if self._segments == 16:
            rounded = self._choices.threshold == "rounded down"
            self._limit = self._lifetimes // 16 if rounded else self._lifetimes / 16
            self._segments = self._lifetimes = 0


def segments(pages: int, slots: int) -> int:
    """Segments of this number of slots among which space does not end."""
    return 3 * -(-pages // slots) + 32


class Store:
    """Segments of one size. While too much of the closed ones is garbage, a write collects one."""

    def __init__(
        self, pages: int, slots: int, scheme: str, victim: str, garbage: float, choices: Choices
    ) -> None:
        self._slots, self._scheme, self._least = slots, scheme, garbage
        self._by_age, self._choices = victim == "CostBenefit", choices
        count = segments(pages, slots)
        self.programs = self._clock = self._closings = self._openings = 0
        self._pages: list[list[int]] = [[] for _ in range(count)]
        self._valid, self._class, self._opened = [0] * count, [0] * count, [0] * count
        self._last_write, self._closed_at = [0] * count, [0] * count
        self.number, self._table = [0] * count, 16
        self._free = deque(range(count))
        self.closed: set[int] = set()
        self._garbage = 0
        self._at: list[tuple[int, int] | None] = [None] * pages
        self._written = [0] * pages
        self._inferred = Inferred(choices)
        self._open: dict[int, int] = {}
        self._classes = {"NoSep": 1, "SepGC": 2}.get(scheme, 6)
        if choices.opening == "when one is full":
            for place in range(self._classes):
                self._begin(place)

    def write(self, page: int) -> None:
        """The host writes a page."""
        self._clock += 1
        due = self._is_due(1)
        old = self._at[page]
        if old is not None:
            self._valid[old[0]] -= 1
            self._garbage += old[0] in self.closed
        self._put(page, self._class_of_host(page))
        self._written[page] = self._clock
        if self._choices.look == "after the write":
            due = self._is_due(0)
        if due:
            self._collect()

    def _held(self) -> int:
        """Pages that are written and not erased."""
        opened = sum(len(self._pages[each]) for each in self._open.values())
        return opened + len(self.closed) * self._slots

    def _is_due(self, more: int) -> bool:
        """Whether too large a share of the written pages, with this number of more, is garbage."""
        return self._garbage / max(1, self._held() + more) > self._least

    def _class_of_host(self, page: int) -> int:
        if self._scheme == "SepBIT":
            # Garbage in open segments does not count yet.
            return self._inferred.of_host(page, self._clock, self._held() - self._garbage)
        at = self._at[page]
        if at is None or self._scheme != "DAC":
            return 0
        return min(self._class[at[0]] + 1, self._classes - 1)

    def _class_of_move(self, page: int, place: int) -> int:
        if self._scheme == "SepBIT":
            return self._inferred.of_move(place, self._clock - self._written[page])
        return {"NoSep": 0, "SepGC": 1}.get(self._scheme, max(place - 1, 0))

    def _begin(self, place: int) -> None:
        """Opens a segment for a class."""
        segment = self._free.popleft()
        self._open[place], self._class[segment] = segment, place
        # The write that opens a segment with its first page is not before it.
        self._opened[segment] = self._clock - (self._choices.opening == "with its first page")
        self.number[segment] = self._openings
        self._openings += 1
        while len(self._pages) - len(self._free) > 0.75 * self._table:
            self._table *= 2

    def _put(self, page: int, place: int) -> None:
        if place not in self._open:
            self._begin(place)
        segment = self._open[place]
        self._at[page] = segment, len(self._pages[segment])
        self._pages[segment].append(page)
        self._valid[segment] += 1
        self._last_write[segment] = self._clock
        self.programs += 1
        if len(self._pages[segment]) == self._slots:
            self._closings += 1
            self._closed_at[segment] = self._closings
            self.closed.add(segment)
            self._garbage += self._slots - self._valid[segment]
            del self._open[place]
            if self._choices.opening == "when one is full":
                self._begin(place)

    def _worth(self, segment: int) -> float:
        """The greater, the sooner it is collected."""
        valid = self._valid[segment]
        gain = self._slots - valid
        if not self._by_age:
            return gain
        if self._choices.age == "in writes":
            age = self._clock - self._last_write[segment]
        else:
            age = self._closings - self._closed_at[segment] + 1
        if valid == 0:
            return inf
        if self._choices.rounding == "root first":
            return sqrt(age) * gain / (2 * valid)
        share = 1 - gain / self._slots
        return (1 - share) / share * sqrt(age)

    def _place(self, segment: int) -> tuple[int, int]:
        """Of equals, the least is collected."""
        if self._choices.tie == "lowest address":
            return segment, 0
        number = self.number[segment]
        return number % self._table, number

    def _collect(self) -> None:
        least = self._least * self._slots
        found = [each for each in self.closed if self._slots - self._valid[each] >= least]
        if not found:
            return
        victim = min(found, key=lambda each: (-self._worth(each), self._place(each)))
        self.closed.remove(victim)
        self._garbage -= self._slots - self._valid[victim]
        pages, place = self._pages[victim], self._class[victim]
        self._inferred.collected(place, self._clock - self._opened[victim])
        for slot, page in enumerate(pages):
            if self._at[page] == (victim, slot):
                self._put(page, self._class_of_move(page, place))
        self._pages[victim], self._valid[victim] = [], 0
        self._free.append(victim)


def waf(
    pages: Sequence[int], slots: int, scheme: str, victim: str, garbage: float, choices: Choices
) -> float:
    """The write amplification of a list of page writes, by the share of garbage that is allowed."""
    store = Store(max(pages) + 1, slots, scheme, victim, garbage, choices)
    for page in pages:
        store.write(page)
    return store.programs / len(pages)
