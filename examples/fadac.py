r"""A policy in Python: streams by a fading average of each page's rewrite intervals.

Kremer and Brinkmann (FADaC: a self-adapting data classifier for flash memory, SYSTOR 2019) classify
pages by how often they are updated. The classifier tunes itself while it runs, and keeps what it
knows of a page in the metadata of that flash page. Here each page has a fading average of its
intervals, on a scale of logarithms. Classes are steps around the mean of all writes, as wide as
their spread, and writes and moved pages share them. Written from the paper's abstract: its own
formulas may differ, and the reads of metadata are not simulated.

    cd examples
    floatgate compare drive.toml hot-cold --set precondition.fill=full \
        --set precondition.age=workload --policy separation=sepgc,py:fadac.Fadac
"""

from collections.abc import Sequence
from math import log2, sqrt

from floatgate.policy import DataStream, Drive, NewPage, Separation


class Fadac(Separation):
    """Classes of pages by their average log2 interval, from hot to cold."""

    def __init__(self, classes: int = 4, fading: float = 0.5, memory: int = 10_000) -> None:
        if not (2 <= classes <= 8 and 0 < fading <= 1 and memory >= 1):
            raise ValueError("classes must be 2 to 8, fading over 0 to 1, and memory at least 1")
        self.classes, self.fading, self.memory = classes, fading, memory

    def streams(self) -> Sequence[DataStream]:
        return [DataStream(f"class-{each}", "both") for each in range(self.classes)]

    def attach(self, drive: Drive) -> None:
        self.average = [log2(drive.logical_pages)] * drive.logical_pages
        self.mean, self.variance = log2(drive.logical_pages), 1.0

    def updated(self, page: NewPage) -> float:
        """The page's average with the interval that a write ends, or that a move finds so far."""
        known = self.average[page.lpn]
        if page.age is None:
            return known
        interval = log2(page.age + 1)
        return max(known, interval) if page.moves else known + self.fading * (interval - known)

    def stream(self, page: NewPage) -> int:
        steps = (self.updated(page) - self.mean) / sqrt(self.variance + 1e-9)
        return max(0, min(self.classes - 1, int(self.classes / 2 + steps)))

    def on_placed(self, page: NewPage, stream: int) -> None:
        average = self.average[page.lpn] = self.updated(page)
        self.variance += ((average - self.mean) ** 2 - self.variance) / self.memory
        self.mean += (average - self.mean) / self.memory
