"""A store with three replicas: each read goes to three drives, and the fastest answers.

`python examples/replicas.py` prints how often a read takes longer than t, and the drives' own
predictions. Drives are independent, because each has a background load and a seed of its own. So
P(min > t) is the product of P(drive > t).
"""

from __future__ import annotations

import math
import random

import numpy as np
from numpy.typing import NDArray

import floatgate

READS = 16_000
WARM_UP = 4_000
"""Reads that are not counted: all three drives begin at rest, so they would be late together."""
EVERY = 1_000_000
"""Nanoseconds between two reads of the store."""
BATCHES = 40
"""Consecutive reads share the state of a drive, so the bound comes from the spread of batches."""
SIGMAS = 3.3
"""Half the width of the bound: four thresholds stay within it together in 99 % of all studies,
by Bonferroni and a Student t distribution with 39 degrees of freedom."""
SETTINGS = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "geometry.pages-per-block": 16,
    "ftl.spare-factor": 0.4,
}
"""Two dies with small blocks: garbage collection comes often, and takes milliseconds each time."""


def latencies(seed: int, writes_per_second: float) -> NDArray[np.float64]:
    """The latency in ns of each read of the store on one drive, under its own background writes."""
    chance = random.Random(seed)
    with floatgate.Session("agcr", set=SETTINGS, seed=seed, steady=True) as drive:
        pages = drive.capacity // 4096
        latency = np.zeros(READS)
        write_at = chance.expovariate(writes_per_second) * 1e9
        for read in range(READS):
            at = read * EVERY
            while write_at < at:
                earliest = max(int(write_at), drive.now_ns)
                drive.submit(
                    "write", chance.randrange(pages) * 4096, 4096, at=earliest, token=READS
                )
                write_at += chance.expovariate(writes_per_second) * 1e9
            offset = chance.randrange(pages) * 4096
            drive.submit("read", offset, 4096, at=max(at, drive.now_ns), token=read)
        done = drive.advance()
        ours = done["token"] < READS
        latency[done["token"][ours]] = done["latency_ns"][ours]
    return latency[WARM_UP:]


def compared(drives: NDArray[np.float64], t: float) -> tuple[float, float, float]:
    """P(min > t), the product of the P(drive > t), and the bound on their difference.

    The difference of a batch is linear in its shares: the mean over the batches is the difference
    of the whole to first order, and their spread is its error.
    """
    late = drives > t
    share = late.mean(axis=1)
    product = float(share.prod())
    by_batch = late.reshape(len(drives), BATCHES, -1)
    both = by_batch.all(axis=0).mean(axis=1)
    others = np.array([np.delete(share, i).prod() for i in range(len(drives))])
    apart = both - others @ by_batch.mean(axis=2) + (len(drives) - 1) * product
    bound = SIGMAS * float(apart.std(ddof=1)) / math.sqrt(BATCHES)
    return float(late.all(axis=0).mean()), product, bound


def study(
    first_seed: int = 1,
) -> tuple[NDArray[np.float64], list[tuple[float, float, float, float]]]:
    """The latencies by drive and read, and the value of `compared` for some thresholds in ns.

    Beyond the last threshold, fewer than fifty reads are late on all drives: too few for a bound.
    """
    loads = [(first_seed, 400.0), (first_seed + 1, 600.0), (first_seed + 2, 800.0)]
    drives = np.array([latencies(seed, rate) for seed, rate in loads])
    slow = np.quantile(drives, [0.6, 0.7, 0.75, 0.8])
    return drives, [(t, *compared(drives, t)) for t in slow]


def main() -> None:
    """Prints the study."""
    drives, rows = study()
    print("       t   P(min > t)   product of P(drive > t)   99 % bound on the difference")
    for t, fastest, product, bound in rows:
        print(f"{t / 1e3:5.0f} us   {fastest:10.5f}   {product:23.5f}   {bound:28.5f}")
    alone = " ".join(f"{p / 1e3:.0f} us" for p in np.quantile(drives, 0.99, axis=1))
    together = np.quantile(drives.min(axis=0), 0.99)
    print(f"p99 of each drive: {alone}; of the fastest of three: {together / 1e3:.0f} us")


if __name__ == "__main__":
    main()
