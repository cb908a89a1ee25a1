"""What the paper leaves out: wrong constants, a demand that breaks the promise, real demands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from floatgate.engine import InputError
from floatgate.life.forward import FastForward, demand_per_second, fast_forward
from floatgate.report.model import Sheet
from floatgate.reproduce.studies.ready.life import effective, example, years
from floatgate.reproduce.studies.ready.lives import Lives, Progress, Question, in_threads
from floatgate.reproduce.studies.ready.paper import CONFIGURATIONS, FIVE_YEARS, GIB, TIB, YEAR
from floatgate.reproduce.studies.ready.waf import marked
from floatgate.reproduce.study import Study

if TYPE_CHECKING:
    import polars as pl

# ── Which constants a designer trusts ───────────────────────────────────────────────────────────


def recoveries(lives: Lives, stand_ins: set[str]) -> Sheet | None:
    """What the throttle believes against what cells do."""
    trace = example(lives)
    if trace is None:
        return None
    sets = ("printed", "fitted")
    asked = {
        (believed, true): Question(trace, f"ready:recovery={believed}", trace.waf, true)
        for believed in sets
        for true in sets
    }
    asked |= {("none (DT)", true): Question(trace, "dynamic", trace.waf, true) for true in sets}
    asked |= {("no throttle", true): Question(trace, "none", trace.waf, true) for true in sets}
    lives.make(asked.values())
    rows = []
    for (believed, true), question in asked.items():
        life = lives.get(question)
        dead = life.worn_out
        rows.append(
            [
                believed,
                true,
                f"{life.programmed_bytes / TIB:,.0f}",
                f"{years(life):.2f}" if dead else f"{effective(life):.2f}",
                "worn out" if dead else "reached",
                f"{(600 + life.delay.page_delay_ns.mean / 1e3):,.0f}",
                "" if life.interval_supported else "beyond the constants' support",
            ]
        )
    return Sheet(
        "Both sets of recovery constants: what is believed against what is so",
        (
            "the throttle counts on",
            "cells are as",
            "W, TB",
            "life, years",
            "",
            "page write, us",
            "",
        ),
        rows,
        f"READY-OPT on {marked(trace.name, stand_ins)}. Who trusts the printed constants, and has "
        "cells as Table 2 shows them, gives away half of what they take: a longer life that nobody "
        "asked for, at the price of response. Who trusts the fitted ones on cells that are as "
        "printed loses the drive before its target.",
    )


# ── A demand that breaks the capacity as printed ────────────────────────────────────────────────

BURST = 500e6
"""Bytes that are programmed in a second, after half a life of silence."""


def counterexample(workers: int) -> Sheet:
    """A drive that idles for half its life, then works."""
    asked = [(c, e) for c in ("paper", "guarded") for e in ("pessimistic", "optimistic")]
    lives = in_threads(workers, _after_silence, asked)
    rows = []
    for (capacity, enforcement), life in zip(asked, lives, strict=True):
        dead = life.worn_out
        ended = f"worn out after {dead.seconds / YEAR:.2f} years" if dead else "five years reached"
        rows.append([capacity, enforcement, f"{life.programmed_bytes / TIB:,.0f}", ended])
    return Sheet(
        "A demand that breaks the capacity as printed",
        ("capacity", "enforcement", "W, TB", "end"),
        rows,
        "128 GiB idle for two and a half years, then 500 MB a second are to be programmed; epochs "
        "of 90 days. As printed, rest is credited that the cells lose again with the burst, and "
        "they are worn out within its first epoch. `guarded`, the default here, never spreads more "
        "than holds if the target is reached. A random search over demands, among the tests, finds "
        "such cases against the one, and none against the other.",
    )


def _after_silence(how: tuple[str, str], progress: Progress) -> FastForward:
    capacity, enforcement = how
    half = int(FIVE_YEARS) // 3600 // 2
    policy = (
        f"ready:capacity={capacity}:enforcement={enforcement}:period=1h:epoch=window:window=90d"
    )
    return fast_forward(
        "ready-128g", demand=[*[0.0] * half, *[BURST * 3600] * half], waf=1.0, step="1h",
        bins=60, epochs=0, policy={"throttle": policy}, progress=progress,
    )  # fmt: skip


# ── Real demands ────────────────────────────────────────────────────────────────────────────────

CYCLES = 14_000
"""What the paper's NT would use in five years, about."""


def real_demands(study: Study) -> Sheet:
    """Traces at hand that the paper does not have, on as little flash as makes them wear it."""
    rows = []
    for name, path in sorted(study.others().items()):
        try:
            demand = demand_per_second("ready-32g", path, set=_COMPACT)
        except InputError:
            # It cannot be read without being told how, or writes nothing.
            continue
        # A trace of minutes says nothing of epochs of ten.
        if demand.height < 3600:
            continue
        host = float(demand["bytes"].sum()) / demand.height * FIVE_YEARS
        # The least drive of the preset's kind, with so much write amplification as wears it so.
        waf = CYCLES * _SMALL_BYTES / host
        lives = in_threads(
            study.workers, partial(_on_little_flash, demand, waf), CONFIGURATIONS.values()
        )
        peak = lives[0].demand.peak_to_mean
        found = dict(zip(CONFIGURATIONS, lives, strict=True))
        us = {n: 600 + life.delay.page_delay_ns.mean / 1e3 for n, life in found.items()}
        rows.append(
            [
                name,
                f"{demand.height / 3600:.1f} h",
                f"{peak:.0f}",
                *(f"{effective(life):.2f}" for life in lives),
                f"{us['DT'] / us['OPT']:.2f}",
                f"{us['ST'] / us['DT']:.2f}",
            ]
        )
    return Sheet(
        "Real demands",
        ("trace", "length", "peak / mean", *(f"{n}, years" for n in CONFIGURATIONS), "DT / OPT",
         "ST / DT"),
        rows,
        "Traces in the folders given by --traces, repeated for five years on so much flash that "
        "these are 14,000 cycles without a throttle, as for the paper's traces.",
    )  # fmt: skip


def _on_little_flash(
    demand: pl.DataFrame, waf: float, policy: str, progress: Progress
) -> FastForward:
    return fast_forward(
        "ready-32g", demand=demand, waf=waf, bins=60, epochs=0, policy={"throttle": policy},
        set=_SMALL, progress=progress,
    )  # fmt: skip


_COMPACT = {"host.out-of-range": "compact"}
_SMALL = {"geometry.channels": 1, "geometry.chips-per-channel": 1, "geometry.blocks-per-plane": 256}
_SMALL_BYTES = 0.25 * GIB
