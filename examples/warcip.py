r"""A policy in Python: streams are clusters of rewrite intervals.

Yang, Pei and Yang (WARCIP: write amplification reduction by clustering I/O pages, SYSTOR 2019)
cluster pages so that the rewrite intervals in a block vary little. A write joins the cluster whose
centre is nearest to the time since the page was written last, and draws the centre towards it.
Moved pages have outlived their cluster and go to a stream of their own. Written from the paper's
abstract: it splits and merges clusters as well, and here their number is fixed.

    cd examples
    floatgate compare drive.toml hot-cold --set precondition.fill=full \
        --set precondition.age=workload --policy separation=sepgc,py:warcip.Warcip
"""

from collections.abc import Sequence
from math import log2

from floatgate.policy import DataStream, Drive, NewPage, Separation


class Warcip(Separation):
    """Clusters of log2 rewrite intervals, in pages that the host writes."""

    def __init__(self, clusters: int = 5, memory: int = 1000) -> None:
        if not (2 <= clusters <= 16 and memory >= 1):
            raise ValueError("clusters must be 2 to 16, and memory at least 1")
        self.clusters, self.memory = clusters, memory

    def streams(self) -> Sequence[DataStream]:
        writes = [DataStream(f"cluster-{each}", "host") for each in range(self.clusters)]
        return [*writes, DataStream("moved", "moves")]

    def attach(self, drive: Drive) -> None:
        # The mean interval of all pages is in the middle; neighbours differ by a factor of 4.
        middle, first = log2(drive.logical_pages), (self.clusters - 1) / 2
        self.centres = [middle + 2 * (each - first) for each in range(self.clusters)]

    def stream(self, page: NewPage) -> int:
        if page.moves:
            return self.clusters
        if page.age is None:
            return self.clusters - 1  # It has not been written again so far.
        interval = log2(page.age + 1)
        return min(range(self.clusters), key=lambda each: abs(self.centres[each] - interval))

    def on_placed(self, page: NewPage, stream: int) -> None:
        if page.age is not None:
            self.centres[stream] += (log2(page.age + 1) - self.centres[stream]) / self.memory

    def dram_bytes(self) -> int:
        return 8 * self.clusters  # and the time of each page's last write, which the drive keeps
