"""The units of the numbers of a result, and the place of a number in its section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from floatgate.result import declared
from floatgate.words import duration, number, short, size


class Unit(NamedTuple):
    """The unit of a number. `steps` are the units in which axes show it, with their factors."""

    name: str
    show: Callable[[float], str]
    steps: Sequence[tuple[str, float]] = ()

    def step(self, values: Sequence[float]) -> tuple[str, float]:
        """The unit of an axis for these values, and the number of our units in it.

        >>> UNITS["ns"].step([2e6, 9e6]), UNITS["bytes"].step([3 * 2**20])
        (('ms', 1000000.0), ('MiB', 1048576))
        """
        largest = max((abs(value) for value in values), default=0.0)
        fitting = [step for step in self.steps if largest >= step[1]]
        return fitting[-1] if fitting else (self.steps[0] if self.steps else (self.name, 1))


UNITS = {
    "": Unit("", number),
    "ns": Unit(
        "ns",
        duration,
        (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("h", 3_600e9), ("days", 86_400e9)),
    ),
    "s": Unit("s", lambda v: duration(v * 1e9), (("s", 1), ("h", 3_600), ("days", 86_400))),
    "bytes": Unit(
        "bytes",
        size,
        (("bytes", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)),
    ),
    "J": Unit("J", lambda v: f"{number(v)} J", (("mJ", 1e-3), ("J", 1), ("kJ", 1e3))),
    "share": Unit("%", lambda v: f"{100 * v:.3g} %", (("%", 0.01),)),
    "count": Unit("", short, (("", 1), ("thousands", 1e3), ("millions", 1e6), ("billions", 1e9))),
    "per s": Unit("per s", lambda v: short(float(f"{v:.3g}")), (("per s", 1), ("1000 per s", 1e3))),
    "x": Unit("", lambda v: f"{v:.3f}"),
}
"""Units by the name that a finding gives. It is empty for plain numbers, `x` for factors such as
WAF, and `count` for counts that may be shortened. It is `share` for shares of one, shown in
percent.
"""


def unit_of(path: str) -> str:
    """The unit of the number at a path of a result, as a key of `UNITS`.

    >>> unit_of("host.read.delay_ns_by_cause.queue.gc"), unit_of("capacity.free_blocks")
    ('ns', '')
    """
    found = declared.at(path)
    return found[0] if found and found[0] in UNITS else ""


def is_number(value: object) -> bool:
    """Whether a value of a result is a number: true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def within(path: str) -> str:
    """The path of a field within its section, or that of a section that is one number.

    >>> within("capacity.free_blocks"), within("waf")
    ('free_blocks', 'waf')
    """
    return path.partition(".")[2] or path
