"""A policy of your own.

floatgate run drive.toml workload.toml --policy victim=py:policy.Oldest
"""

from floatgate.policy import Plane, Random, Victim


class Oldest(Victim):
    """Reclaims the block that was written longest ago, of those that free enough pages.

    `plane` has one value for each block that may be chosen, as numpy arrays: its age, how many
    pages it frees (`gain`), its erases and more: `help(floatgate.policy.Plane)`.
    """

    def __init__(self, least: int = 1) -> None:
        self.least = least

    def choose(self, plane: Plane, demand: str, random: Random) -> int:
        """The block to reclaim; it must be one of `plane.blocks`."""
        worth = plane.age * (plane.gain >= self.least)
        return int(plane.blocks[worth.argmax()])
