"""A log-structured store as a plain loop, with the choices in which equal rules still differ.

Two simulators with one rule may choose differently among victims of equal worth. They may count
the age of a segment in other units, or look at the garbage a write earlier or later. The loop gives
the write amplification under each of these choices, so their spread says how much of a difference
they explain. It shares nothing with the engine.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from math import inf, sqrt

LOOKS = ("after the write", "before the write")
"""When the share of garbage is compared with the limit: with the page that the write has just made
invalid, or without it, when the write gets its place."""

Worth = Callable[["Store", int], float]

TIES: dict[str, Callable[[Store, int], float]] = {
    "oldest": lambda store, segment: -store.closed_at[segment],
    "youngest": lambda store, segment: store.closed_at[segment],
    "lowest address": lambda _, segment: -segment,
    "random": lambda store, _: store.draw.random(),
}
"""The greater, the sooner it is taken of victims of equal worth."""


def _greedy(store: Store, segment: int) -> float:
    return store.garbage_of(segment)


def _cost_benefit(age: Callable[[Store, int], float]) -> Worth:
    def worth(store: Store, segment: int) -> float:
        valid = store.valid[segment]
        return store.garbage_of(segment) / valid * sqrt(age(store, segment)) if valid else inf

    return worth


VICTIMS: dict[str, dict[str, Worth]] = {
    "Greedy": {"": _greedy},
    "CostBenefit": {
        "age in pages of the host": _cost_benefit(lambda s, each: s.clock - s.last_write[each]),
        "age in segments": _cost_benefit(lambda s, each: s.closings - s.closed_at[each] + 1),
    },
}
"""The worth of a victim, with the ages that it may have."""


class Inferred:
    """The classes of SepBIT (FAST 2022, algorithm 1), with its queue of recent writes."""

    def __init__(self) -> None:
        self._limit = inf
        self._queue: deque[tuple[int, int]] = deque()
        self._recent: dict[int, int] = {}
        self._segments = 0
        self._lifetimes = 0

    def of_host(self, page: int, clock: int) -> int:
        """The class of a write of the host, which joins the queue."""
        last = self._recent.get(page)
        short = last is not None and clock - last < self._limit
        excess = len(self._queue) - self._limit
        for _ in range(2 if excess > 0 else excess == 0):
            old, at = self._queue.popleft()
            if self._recent.get(old) == at:
                del self._recent[old]
        self._queue.append((page, clock))
        self._recent[page] = clock
        return 0 if short else 1

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
            self._limit = self._lifetimes // 16
            self._segments = self._lifetimes = 0


class Store:
    """Segments of one size. While too much of the closed ones is garbage, a write collects one."""

    draw: random.Random
    clock: int
    closings: int
    valid: list[int]
    closed_at: list[int]
    last_write: list[int]

    def __init__(
        self,
        pages: int,
        slots: int,
        scheme: str,
        garbage: float,
        worth: Worth,
        tie: str,
        look: str = "after the write",
    ) -> None:
        self._slots, self._scheme, self._least, self._look = slots, scheme, garbage, look
        self._worth, self._tie = worth, TIES[tie]
        count = 6 * -(-pages // slots) + 64
        self.draw = random.Random(1)
        self.clock = self.closings = self.programs = 0
        self.valid, self.closed_at, self.last_write = [0] * count, [0] * count, [0] * count
        self._pages: list[list[int]] = [[] for _ in range(count)]
        self._class = [0] * count
        self._free = list(range(count - 1, -1, -1))
        self._closed: list[int] = []
        self._garbage = 0
        self._at: list[tuple[int, int] | None] = [None] * pages
        self._inferred = Inferred()
        self._written = [0] * pages
        self._opened = [0] * count
        self._open = [self._free.pop() for _ in range({"NoSep": 1, "SepGC": 2}.get(scheme, 6))]
        for place, segment in enumerate(self._open):
            self._class[segment] = place

    def garbage_of(self, segment: int) -> int:
        """Invalid pages of a segment."""
        return len(self._pages[segment]) - self.valid[segment]

    def write(self, page: int) -> None:
        """The host writes a page."""
        self.clock += 1
        early = self._look == "before the write" and self._is_due(1)
        self._put(page, self._class_of_host(page))
        self._written[page] = self.clock
        if early or (self._look == "after the write" and self._is_due(0)):
            self._collect()

    def _class_of_host(self, page: int) -> int:
        if self._scheme == "SepBIT":
            return self._inferred.of_host(page, self.clock)
        at = self._at[page]
        if at is None or self._scheme != "DAC":
            return 0
        return min(self._class[at[0]] + 1, len(self._open) - 1)

    def _class_of_move(self, page: int, place: int) -> int:
        if self._scheme == "SepBIT":
            return self._inferred.of_move(place, self.clock - self._written[page])
        return {"NoSep": 0, "SepGC": 1}.get(self._scheme, max(place - 1, 0))

    def _is_due(self, more: int) -> bool:
        """Whether too large a share of the written pages, with this number of more, is garbage."""
        held = sum(len(self._pages[each]) for each in self._open) + more
        return self._garbage / (held + len(self._closed) * self._slots) > self._least

    def _put(self, page: int, place: int) -> None:
        old, segment = self._at[page], self._open[place]
        if old is not None:
            self.valid[old[0]] -= 1
            # Open segments are not collected.
            self._garbage += len(self._pages[old[0]]) == self._slots
        if not self._pages[segment]:
            # Writes of the host before this one.
            self._opened[segment] = self.clock - 1
        self._at[page] = segment, len(self._pages[segment])
        self._pages[segment].append(page)
        self.valid[segment] += 1
        self.last_write[segment] = self.clock
        self.programs += 1
        if len(self._pages[segment]) == self._slots:
            self.closings += 1
            self.closed_at[segment] = self.closings
            self._closed.append(segment)
            self._garbage += self.garbage_of(segment)
            self._open[place] = self._free.pop()
            self._class[self._open[place]] = place

    def _collect(self) -> None:
        least = self._least * self._slots
        found = [each for each in self._closed if self.garbage_of(each) >= least]
        if not found:
            return
        victim = max(found, key=lambda each: (self._worth(self, each), self._tie(self, each)))
        self._closed.remove(victim)
        self._garbage -= self.garbage_of(victim)
        pages, place = self._pages[victim], self._class[victim]
        self._pages[victim] = []
        self._inferred.collected(place, self.clock - self._opened[victim])
        for slot, page in enumerate(pages):
            if self._at[page] == (victim, slot):
                self.valid[victim] -= 1
                self._at[page] = None
                self._put(page, self._class_of_move(page, place))
        self._free.insert(0, victim)


def spread(
    pages: Sequence[int], slots: int, scheme: str, victim: str, garbage: float
) -> dict[str, float]:
    """The write amplification under each age, tie and time of looking, by their names."""
    found = {}
    for age, worth in VICTIMS[victim].items():
        for tie in TIES:
            for look in LOOKS:
                store = Store(max(pages) + 1, slots, scheme, garbage, worth, tie, look)
                for page in pages:
                    store.write(page)
                name = f"{age}, {tie}, {look}".removeprefix(", ")
                found[name] = store.programs / len(pages)
    return found
