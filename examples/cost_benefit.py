r"""A policy in Python: cost-benefit victims, and their savings if some data is hot.

Greedy takes the block that frees most pages now. A block of hot data would free more a little
later. So Rosenblum and Ousterhout (The design and implementation of a log-structured file system,
1992) weigh the gain by the age of the block. With a share u of valid pages and the age a, the best
block has the greatest a (1 - u) / 2u.

    cd examples                                # where this file is, Python finds it
    floatgate compare drive.toml hot-cold --steady --set workload.requests=50000 \
        --policy victim=greedy,py:cost_benefit.CostBenefit:power=0.5
"""

import floatgate
from floatgate.policy import Plane, Random, Victim


class CostBenefit(Victim):
    """Reclaims the block with the most age^power (1 - u) / 2u."""

    def __init__(self, power: float = 1.0) -> None:
        if not 0 <= power <= 2:
            raise ValueError("power must be 0 to 2")
        self.power = power

    def choose(self, plane: Plane, demand: str, random: Random) -> int:
        worth = plane.age**self.power * plane.gain / (2 * plane.valid + 1e-9)
        return int(plane.blocks[worth.argmax()])


if __name__ == "__main__":
    drive = {
        "geometry.channels": 1,
        "geometry.chips-per-channel": 1,
        "geometry.blocks-per-plane": 128,
        "precondition.fill": "full",
        "workload.requests": 200_000,
    }
    for victim in ("greedy", "py:cost_benefit.CostBenefit"):
        result = floatgate.run("agcr", "hot-cold", set=drive, policy={"victim": victim}, seed=1)
        print(f"{victim:<30} write amplification {result.waf:.3f}")
