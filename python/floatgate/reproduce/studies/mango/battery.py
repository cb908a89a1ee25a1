"""The energy of a run on battery and on the wall, from the counters that Mango keeps."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from floatgate.result.run import Result

_UNITS = {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}


class Joules(NamedTuple):
    """By state; the idle parts are in the sums."""

    high: float
    low: float
    high_idle: float
    low_idle: float


def quantity(text: str) -> float:
    """`43.25376uJ` in joules, `1418us` in seconds, `27.3mW` in watts."""
    found = re.fullmatch(r"([0-9.]+) ?([munp]?)(J|s|W)", text)
    if found is None:
        raise ValueError(f"`{text}` is not an energy, time or power")
    return float(found[1]) * _UNITS[found[2]]


def _by_type(value: Any) -> tuple[float, float]:
    """The value of fast and of slow pages."""
    several = value if isinstance(value, list) else [value]
    return quantity(several[0]), quantity(several[-1])


def battery_joules(run: Result) -> Joules:
    """The energy while the last request was urgent, and while it was not.

    Operations are counted where they were decided; a drive idles while it does nothing, each die
    for its share of the chip.
    """
    config, counters = run.provenance.config, run.policies["page-choice"].counters
    energy, timing, dies = config["energy"], config["timing"], config["geometry"]["dies-per-chip"]
    (fast_j, slow_j), (fast_s, slow_s) = (_by_type(part["program"]) for part in (energy, timing))
    writes = sum(counters[f"host_{p}_{kind}"] for p in ("high", "low") for kind in ("fast", "slow"))
    page = 8192 / 33.333333e6
    sums = []
    urgent = counters["seconds_high"]
    for name, seconds in (("high", urgent), ("low", run.simulated_seconds - urgent)):
        own, moved = (
            [counters[of.format(kind)] for kind in ("fast", "slow")]
            for of in (f"host_{name}_{{}}", f"moved_{{}}_while_{name}")
        )
        fast, slow = own[0] + moved[0], own[1] + moved[1]
        modified = run.flash.rmw_reads * sum(own) / writes if writes else 0.0
        reads = counters[f"host_{name}_reads"] + modified + sum(moved)
        erases = counters[f"erases_while_{name}"]
        busy = reads * (_by_type(timing["read"])[0] + page) + erases * quantity(timing["erase"])
        busy += fast * (fast_s + page) + slow * (slow_s + page)
        idle = quantity(energy["idle-power"]) * max(seconds - busy / dies, 0.0)
        operations = reads * (_by_type(energy["read"])[0] + quantity(energy["transfer-out"]))
        operations += fast * fast_j + slow * slow_j
        operations += (fast + slow) * quantity(energy["transfer-in"])
        operations += erases * quantity(energy["erase"])
        sums.append((operations + idle, idle))
    (high, high_idle), (low, low_idle) = sums
    return Joules(high, low, high_idle, low_idle)
