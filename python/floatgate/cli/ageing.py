"""Before a long ageing: its time, and cheaper ways."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from floatgate.settings import divisor
from floatgate.terminal import control
from floatgate.words import size

SHAPES_RESULTS = False

LOOK = 1.0
"""The number of seconds after which the rate of filling is known."""
LONG = 60.0
"""Seconds of processor time. A shorter ageing is not announced."""
CAPACITIES = (2, 4)
"""The least and the greatest number of times that ageing writes the capacity until write
amplification is flat."""
COSTS = 7
"""The time of a page during ageing, as a multiple of the time of a page during filling."""

Progress = Callable[[str, int, int | None, int], object]


class Foretold:
    """Passes progress on, and once announces the time of a long ageing."""

    def __init__(self, progress: Progress, drive: str, config: Callable[[], dict[str, object]]):
        """`config` resolves the drive. It is called only if filling takes long."""
        self._progress, self._drive, self._config = progress, drive, config
        self._begun: float | None = None
        self._said = False

    def __call__(self, stage: str, done: int, total: int | None, now_ns: int) -> None:
        """Takes the progress that `floatgate.run` reports."""
        if not self._said and total and stage == "filling":
            if self._begun is None:
                self._begun = time.monotonic() - 1e-9
            elapsed = time.monotonic() - self._begun
            if elapsed >= LOOK and done > 0:
                self._said = True
                self._say(total * elapsed / done)
        self._progress(stage, done, total, now_ns)

    def _say(self, filling: float) -> None:
        least, most = (filling * (1 + COSTS * times) for times in CAPACITIES)
        if least < LONG:
            return
        config = self._config()
        if _of(config, "precondition", "age") == "none":
            return
        start = control("\r\033[K") if sys.stderr.isatty() else ""
        sys.stderr.write(f"{start}{foretelling(self._drive, config, least, most)}\n")
        sys.stderr.flush()


def foretelling(drive: str, config: dict[str, object], least: float, most: float) -> str:
    """The line: the time of ageing in seconds, from least to most, and cheaper ways.

    >>> config = {"ftl": {"logical-capacity": "512GB"}, "geometry": {"blocks-per-plane": 512}}
    >>> print(foretelling("modern-tlc", config, 150.0, 290.0))
    filling and ageing 477 GiB takes about 2 to 5 minutes; an interrupted ageing is resumed.
    Cheaper: the drive modern-tlc-small, or --scale 1/4; for years,
    `floatgate lifetime` simulates a few dies
    """
    from floatgate.lists import drives

    cheaper = [f"the drive {drive}-small"] if f"{drive}-small" in drives() else []
    blocks = _of(config, "geometry", "blocks-per-plane")
    if isinstance(blocks, int) and blocks >= 256:
        cheaper.append(f"--scale 1/{4 * divisor(config)}")
    exported = _bytes(str(_of(config, "ftl", "logical-capacity")), divisor(config))
    minutes = f"{least / 60:.0f} to {most / 60:.0f} minutes"
    return (
        f"filling and ageing {exported} takes about {minutes}; an interrupted ageing is resumed.\n"
        f"Cheaper: {', or '.join(cheaper) or 'a smaller drive'}; for years,\n"
        "`floatgate lifetime` simulates a few dies"
    )


def _of(config: dict[str, object], section: str, key: str) -> object:
    found = config.get(section)
    return found.get(key) if isinstance(found, dict) else None


def _bytes(text: str, of: int = 1) -> str:
    """A capacity as pages show it.

    >>> _bytes("512GB"), _bytes("1048576B"), _bytes("2GiB")
    ('477 GiB', '1.00 MiB', '2.00 GiB')
    """
    units = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    units |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    number = text.rstrip("kKMGTiB")
    return size(float(number) * units[text[len(number) :]] / of)
