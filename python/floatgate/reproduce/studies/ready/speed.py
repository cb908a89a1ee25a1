"""The effect of throttling on writes, and the knowledge of epochs: Fig. 4 and 11 to 14, Table 3."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy as np

from floatgate.life.forward import FastForward, fast_forward
from floatgate.reproduce.studies.ready import paper
from floatgate.reproduce.studies.ready.life import bar
from floatgate.reproduce.studies.ready.lives import Lives, Question
from floatgate.reproduce.studies.ready.paper import BY_NAME, CONFIGURATIONS, READY, TABLE_2, Trace
from floatgate.reproduce.study import Curve, Finding, Plot, Sheet, Table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

MICRO = 1e3
WRITE_US = 600.0
"""A page write of the paper's drive."""

# ── Fig. 4 and Table 3: what the traces write over time ─────────────────────────────────────────

MINUTES = (1, 10, 30, 60, 120)
"""Lengths of epochs that Fig. 4 compares: from a minute to two hours."""


ALIKE = 0.85
"""Of exchange."""


def differences(demand: pl.DataFrame, minutes: int) -> NDArray[np.float64]:
    """How far each epoch is from the one before, relative to that; sorted.

    After an epoch without writes any demand is infinitely far off, and an empty one has no
    difference.
    """
    column = demand["bytes"].to_numpy()
    whole = len(column) // (60 * minutes) * 60 * minutes
    epochs = column[:whole].reshape(-1, 60 * minutes).sum(axis=1)
    before, apart = epochs[:-1], np.abs(np.diff(epochs))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sort(np.where(apart == 0, 0.0, apart / before))


def within(differences: NDArray[np.float64], share: float) -> float:
    """The share of epochs that differ by less."""
    return float(np.mean(differences < share))


def figure_4(lives: Lives) -> Table:
    """How much consecutive epochs differ."""

    def alike(trace: Trace, minutes: int = 30) -> float:
        return within(differences(lives.demands[trace.name], minutes), 0.3)

    def over_others(trace: Trace) -> float:
        return alike(trace) - max(alike(trace, minutes) for minutes in MINUTES if minutes != 30)

    fitted = {"kind": "input", "note": "a stand-in's bursts are fitted to it"}
    rows = [
        lives.finding(name, f"{name}, {what}", "Fig. 4", said, ours, "share", whole=True,
                      **fitted if said == ALIKE and name in lives.stand_ins else {})
        for name, what, said, ours in (
            ("exchange", "epochs of 30 min that differ by less than 30 %", ALIKE, alike),
            ("proxy", "such epochs at 30 min, less those at the next best length", "at least 0",
             over_others),
        )
    ]  # fmt: skip
    return Table(
        "Figure 4: demand of consecutive epochs", rows,
        "The demand of an epoch against that of the one before. The number of exchange says how "
        "even its demand is from half an hour upwards, so its stand-in is fitted to it. Of the "
        "other traces no number is published: their bursts are assumed, and not fitted.",
    )  # fmt: skip


def table_3(lives: Lives) -> Table:
    """Epochs whose demand the one before had told."""

    def held(trace: Trace) -> float | None:
        share: float | None = lives.of(trace, "OPT").prediction.held_share
        return share

    rows = []
    for name, share in paper.ACCURACY.items():
        bursts = "fitted to Fig. 4" if name == "exchange" else "assumed, not fitted"
        note = f"bursts of the stand-in are {bursts}" if name in lives.stand_ins else ""
        rows.append(lives.finding(name, name, "Table 3", share, held, "share", note, whole=True))
    return Table(
        "Table 3: predictions within 25 %", rows,
        "READY-OPT, over five years. A trace that repeats exactly has a cycle. The choice of the "
        "epoch's length finds it as soon as the remembered week holds it twice; a week's trace "
        "never does.",
    )  # fmt: skip


RATIOS: Mapping[str, tuple[Sequence[str], Sequence[str], float]] = {
    "DT / READY": (("DT",), READY, 2.57),
    "ST / DT": (("ST",), ("DT",), 1.7),
    "ST / READY": (("ST",), READY, 4.4),
}
"""Ratios of mean responses, each the mean of five traces; READY is the mean of its two ways."""


def response_us(life: FastForward) -> float:
    """A page write of the host and its mean delay."""
    return WRITE_US + float(life.delay.page_delay_ns.mean) / MICRO


def responses_us(lives: Lives, trace: Trace) -> dict[str, float]:
    """The same by configuration."""
    return {name: response_us(lives.of(trace, name)) for name in CONFIGURATIONS}


def ratio(of: Mapping[str, float], what: str) -> float:
    """One of `RATIOS`."""
    above, below, _ = RATIOS[what]
    return fmean(of[n] for n in above) / fmean(of[n] for n in below)


UNTHROTTLED = "proj is hardly throttled"


def figure_11(lives: Lives) -> Table:
    """The ratios of the text."""

    def mean(what: str, *traces: Trace) -> float:
        return fmean(ratio(responses_us(lives, trace), what) for trace in traces)

    def slower(*traces: Trace) -> list[float]:
        of = [responses_us(lives, trace) for trace in traces]
        return [each[name] / each["NT"] for each in of for name in READY]

    every, row = list(BY_NAME), partial(lives.finding, where="4.4")
    rows = [
        Finding("NT, us", "Fig. 11", WRITE_US, WRITE_US, kind="input",
                by=[{"formula": "a page write of the paper's drive"}]),
        *(
            # The third is the product of the two others.
            row(every, what, published=said, ours=partial(mean, what), unit="x",
                whole="ST" in above, fact="ST / DT" if "ST" in above else "")
            for what, (above, _, said) in RATIOS.items()
        ),
        row(every, "READY / NT, least", published=1.0, ours=lambda *t: min(slower(*t)), unit="x",
            fact=UNTHROTTLED),
        row(every, "READY / NT, most", published=2.13, ours=lambda *t: max(slower(*t)), unit="x"),
        row("proj", "proj, loss under READY", published="below 1.9 %",
            ours=lambda trace: max(slower(trace)) - 1, unit="share", fact=UNTHROTTLED),
    ]  # fmt: skip
    return Table(
        "Figure 11: mean response of a page write", rows,
        "Means over the traces of the ratios of mean responses; a page write takes 600 us, plus "
        "its delay. Delays and bytes are two sides of one number: a delayed write moves everything "
        "after it. So the mean delay of a page is (W of NT / W - 1) divided by the pages that the "
        "host writes in a second. So these ratios follow from Table 2, and the sheet below shows "
        "what the paper's own Table 2 gives: "
        f"{ratio(from_its_bytes('exchange')['host page'], 'DT / READY'):.2f} for DT over READY on "
        "exchange, not 2.57, and more on proj. The published ratios lie below what the published "
        "bytes need, however pages are counted; sharing a delay among all pages that are "
        "programmed comes nearest.",
    )  # fmt: skip


def responses(lives: Lives) -> Sheet:
    """Mean responses by trace and configuration."""
    rows = []
    for trace in lives.traces:
        host = responses_us(lives, trace)
        every = {name: WRITE_US + (us - WRITE_US) / trace.waf for name, us in host.items()}
        rows += [_in_cells(lives.marked(trace.name), "host page", host),
                 _in_cells(lives.marked(trace.name), "page programmed", every)]  # fmt: skip
    return Sheet(
        "Figure 11 in numbers: mean response", _HEAD, rows,
        "Per page programmed, the same delay is shared by all pages that are programmed.",
    )  # fmt: skip


_HEAD = ("trace", *(f"{name}, us" for name in CONFIGURATIONS), *RATIOS)


def _in_cells(trace: str, how: str, of: Mapping[str, float]) -> list[str]:
    shown = [f"{of[name]:,.0f}" for name in CONFIGURATIONS]
    return [f"{trace}, per {how}", *shown, *(f"{ratio(of, what):.2f}" for what in RATIOS)]


def from_its_bytes(name: str) -> dict[str, dict[str, float]]:
    """Mean responses that the bytes of the paper's Table 2 need, by how pages are counted.

    Delays of a host page are those with which Table 2's bytes are programmed in five years.
    """
    trace, free = BY_NAME[name], TABLE_2[name]["NT"][1]
    a_second, found = trace.rate / paper.PAGE, {}
    for how, among in (("host page", 1.0), ("page programmed", trace.waf)):
        works = {which: TABLE_2[name][which][1] for which in CONFIGURATIONS}
        delays = {which: (free / work - 1) / a_second * 1e6 for which, work in works.items()}
        found[how] = {which: WRITE_US + delay / among for which, delay in delays.items()}
    return found


def from_table_2() -> Sheet:
    """The responses of Fig. 11 that follow from the bytes of the paper's Table 2."""
    rows = [
        _in_cells(name, how, of) for name in TABLE_2 for how, of in from_its_bytes(name).items()
    ]
    rows.append(["published, mean of five", *[""] * 5, *(f"{r[2]:g}" for r in RATIOS.values())])
    return Sheet(
        "Figure 11 as it follows from Table 2 of the paper", _HEAD, rows,
        "From the paper's W alone, without any simulation. Delays must let W bytes through in "
        "five years, and NT writes the first row's. They are on average (W of NT / W - 1) / (host "
        "pages a second). On proj the 2.4 % that READY writes less than NT would be 27 % of "
        "response, not below 1.9 %: a page comes every 6.6 ms there.",
    )  # fmt: skip


# ── Why ST's bytes are what they are ────────────────────────────────────────────────────────────

PART = 25
"""How many times a part of a life fits into it."""


def bursts(quick: bool) -> Sheet:
    """One rate of writing, in ever fewer seconds."""
    rows = []
    for name, published in TABLE_2.items():
        trace, st_dt = BY_NAME[name], ratio(from_its_bytes(name)["host page"], "ST / DT")
        works = [published[which][1] for which in ("ST", "DT")]
        found = [("published", works, st_dt)]
        for every in (1, 8, 64) if quick else (1, 2, 4, 8, 16, 32, 64):
            lives = [_part(trace, every, policy) for policy in ("static", "dynamic")]
            static, dynamic = (response_us(life) for life in lives)
            works = [PART * life.programmed_bytes / paper.TIB for life in lives]
            found.append((f"1 in {every}", works, static / dynamic))
        # Ever shorter bursts: all time is silent, or spent with writing at the rate.
        least = trace.free_bytes / (1 + trace.free_bytes / trace.rated_bytes)
        works = [bytes_ / paper.TIB for bytes_ in (least, trace.rated_bytes)]
        found.append(("any", works, _most_ratio(trace)))
        rows += [[name, how, *(f"{work:.1f}" for work in both), f"{over:.2f}"]
                 for how, both, over in found]  # fmt: skip
    return Sheet(
        "Why ST differs: the same bytes in fewer seconds",
        ("rate of", "seconds with writes", "W of ST, TB", "W of DT, TB", "ST / DT"), rows,
        "73 days, times 25, under the rate of Table 1 in one second of each given number. A "
        "static rate loses what a silent second leaves, so its bytes fall with the bursts, and "
        "its response grows by that; a dynamic one carries it over. But what has to wait fills "
        "the silence, so even single instants leave W0 / (1 + W0 / C) to a static rate that is "
        "used whenever a write waits: `any`. The mean of ST / DT over the paper's five traces is "
        f"{fmean(map(_most_ratio, paper.TRACES)):.2f} then, so 1.7 is more than bursts explain. "
        "Bursts leave more bytes of proj than ST wrote, so the paper's ST wasted capacity while "
        "writes waited.",
    )  # fmt: skip


def _most_ratio(trace: Trace) -> float:
    """ST over DT in that limit: W0 / W is one more than W0 / C for ST, and W0 / C for DT."""
    over, page_us = trace.free_bytes / trace.rated_bytes, paper.PAGE / trace.rate * 1e6
    return (WRITE_US + over * page_us) / (WRITE_US + (over - 1) * page_us)


def _part(trace: Trace, every: int, policy: str) -> FastForward:
    """A part of the life with that part of the cycles: the same bytes in every second."""
    target = f"{paper.FIVE_YEARS / PART / 86_400:.0f}d"
    return fast_forward(
        trace.drive, demand=[trace.rate * every, *[0.0] * (every - 1)], waf=trace.waf, bins=1,
        epochs=0, policy={"throttle": f"{policy}:target={target}"},
        set={"reliability.endurance": paper.RATED // PART},
    )  # fmt: skip


def deviation(life: FastForward) -> float:
    """The standard deviation of the delays of pages in ns, from points of their distribution."""
    points = life.delay.page_delay_ns.below
    parts = [((a + b) / 2, q - p) for (a, p), (b, q) in pairwise(points)]
    mean = math.fsum(x * share for x, share in parts)
    return math.sqrt(math.fsum((x - mean) ** 2 * share for x, share in parts))


def figure_12(lives: Lives) -> Table:
    """How much responses vary, as the text says."""

    def apart(above: str, below: str, trace: Trace) -> float:
        more, less = (deviation(lives.of(trace, name)) for name in (above, below))
        return more / less if less else math.inf

    pairs = [
        *((name, "ST", which, "ST varies more than READY") for name in BY_NAME for which in READY),
        *(
            (name, "PES", "OPT", "PES varies more than OPT")
            for name in ("exchange", "msnfs", "map")
        ),
        *((name, "ST", "DT", "ST varies more than DT") for name in ("proj", "map")),
    ]
    rows = [
        lives.finding(name, f"{name}, deviation of {above} / that of {below}", "4.4", "above 1",
                      partial(apart, above, below), "x", whole=True, fact=fact)
        for name, above, below, fact in pairs
    ]  # fmt: skip
    # Of map Table 1's demand and the rated bytes say how long pages wait, of proj Table 2's bytes.
    trace = BY_NAME["map"]
    wait_us = (trace.free_bytes / trace.rated_bytes - 1) * paper.PAGE / trace.rate * 1e6
    ms = [from_its_bytes("proj")["host page"]["DT"] / 1e3, (WRITE_US + wait_us) / 1e3]
    return Table(
        "Figure 12: how much responses vary", rows,
        "The text says that ST varies much on all traces and READY little, PES more than OPT on "
        "three of them. DT varies less than ST even on proj and map. Compared are standard "
        "deviations. It also says that delays of DT reach several thousand seconds on proj and "
        "map. No row judges that, because it is most likely a slip of units. By the paper's own "
        f"bytes the mean response of DT is {ms[0]:.2f} ms on proj and {ms[1]:.2f} ms on map.",
    )  # fmt: skip


DAY = 144
"""Windows of ten minutes."""


def _delays_ms(lives: Lives, name: str, first: int, last: int) -> dict[float, float]:
    """Mean delays of pages of exchange in windows of ten minutes with writes, by day."""
    policy, trace = {"FIXED": "ready:epoch=window"}.get(name, "ready"), BY_NAME["exchange"]
    life = lives.get(Question(trace, policy, trace.waf, bins=int(paper.FIVE_YEARS) // 600))
    shown = enumerate(life.series.page_delay_ns[: last * DAY])
    return {i / DAY: ns * 1e-6 for i, ns in shown if ns is not None and i >= first * DAY}


def figure_13(lives: Lives) -> Table:
    """How much delays vary."""

    def varies(name: str, first: int, last: int) -> float:
        delays = _delays_ms(lives, name, first, last).values()
        return pstdev(delays) / fmean(delays)

    fixed, dynamic = partial(varies, "FIXED"), partial(varies, "DYNAMIC")
    rows = [
        lives.finding("exchange", what, "Fig. 13", said, ours, "x", whole=True)
        for what, said, ours in (
            ("FIXED varies, fifth week", None, lambda _: fixed(28, 35)),
            ("DYNAMIC / FIXED, fifth week", "below 1", lambda _: dynamic(28, 35) / fixed(28, 35)),
            ("DYNAMIC, fifth week / first two days", "below 1",
             lambda _: dynamic(28, 35) / dynamic(0, 2)),
        )
    ]  # fmt: skip
    return Table(
        "Figure 13: fixed and chosen epochs on exchange", rows,
        "READY-OPT with epochs of ten minutes (FIXED) and with the length that it chooses "
        "(DYNAMIC). Rows give the deviation of the delay over its mean, from the mean delays of a "
        "page in windows of ten minutes, stops included.",
    )  # fmt: skip


SPAN = 600
"""Seconds of the figure."""

KEPT = 3 * 86_400
"""Seconds in which they are looked for."""


def busiest(lives: Lives, name: str) -> list[float]:
    """MiB programmed in each second of the ten minutes in which this programs most of map."""
    trace = BY_NAME["map"]
    question = Question(trace, CONFIGURATIONS[name], trace.waf, periods=(0, KEPT))
    written = list(lives.get(question).periods.programmed_bytes)
    total = most = math.fsum(written[:SPAN])
    best = 0
    for i in range(SPAN, len(written)):
        total += written[i] - written[i - SPAN]
        if total > most:
            best, most = i - SPAN + 1, total
    return [w / 2**20 for w in written[best : best + SPAN]]


def figure_14(lives: Lives) -> Table:
    """Throughput while most is written."""

    def over(above: str, below: str, _: Trace) -> float:
        return fmean(busiest(lives, above)) / fmean(busiest(lives, below))

    pairs = [("DT above ST", "DT", "ST"), ("READY above DT", "PES", "DT"),
             ("READY above DT", "OPT", "DT"), ("OPT above PES", "OPT", "PES")]  # fmt: skip
    rows = [
        Finding("ST, highest, MiB/s", "Fig. 14", 2.49,
                BY_NAME["map"].rated_bytes / paper.FIVE_YEARS / 2**20, kind="follows",
                by=[{"formula": "rated bytes over five years"}]),
        *(lives.finding("map", f"{a} / {b}, mean", "Fig. 14", "above 1", partial(over, a, b), "x",
                        whole=True, fact=fact) for fact, a, b in pairs),
    ]  # fmt: skip
    return Table(
        "Figure 14: throughput on map at its busiest", rows,
        "Bytes programmed in a second, in the ten minutes of the first three days in which each "
        "programmed most. The text has ST at its rate, DT above it, both ways of READY above both, "
        "and OPT above PES.",
    )  # fmt: skip


# ── Plots ───────────────────────────────────────────────────────────────────────────────────────


def plots(lives: Lives) -> Iterator[Plot]:
    """Fig. 4, 10 and 11, and of whole traces Fig. 12 to 14."""

    def apart(trace: Trace) -> Iterator[Curve]:
        shares = np.arange(0, 1.0001, 0.02)
        for m in MINUTES:
            if len(found := differences(lives.demands[trace.name], m)) > 2:
                yield Curve(
                    f"{m} min", [100 * x for x in shares], [within(found, x) for x in shares]
                )

    def of_pages(trace: Trace) -> Iterator[Curve]:
        for name in CONFIGURATIONS:
            points = lives.of(trace, name).delay.page_delay_ns.below
            xs = [(WRITE_US * MICRO + delay) * 1e-6 for delay, _ in points]
            yield Curve(name, xs, [share for _, share in points])

    def delays(_: Trace) -> Iterator[Curve]:
        for name in ("FIXED", "DYNAMIC"):
            found = _delays_ms(lives, name, 0, 8)
            yield Curve(name, [*found], [*found.values()])

    def rates(_: Trace) -> Iterator[Curve]:
        shown = (name for name in CONFIGURATIONS if name != "NT")
        return (Curve(name, range(SPAN), busiest(lives, name)) for name in shown)

    said = "share of the epochs", "difference from the epoch before (%)"
    for name in ("exchange", "proxy"):
        yield from lives.curves(name, "Figure 4: ", *said, apart, whole=False)
    yield lives.bars("Figure 10: effective lifetime", "years", partial(bar, lives))
    yield lives.bars("Figure 11: mean response of a page write", "ms per host page",
                     lambda name, trace: responses_us(lives, trace)[name] / 1e3)  # fmt: skip
    said = "share of the pages", "response of a page write (ms)"
    for trace in lives.traces:
        yield from lives.curves(trace.name, "Figure 12: ", *said, of_pages, "x")
    title = "Figure 13: delay of a page, "
    yield from lives.curves("exchange", title, "delay (ms)", "days", delays)
    title = "Figure 14: throughput, "
    yield from lives.curves("map", title, "MiB/s programmed", "seconds", rates)
