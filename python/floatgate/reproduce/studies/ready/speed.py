"""What throttling does to writes: Fig. 11 to 14 and Table 3."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, pstdev

from floatgate.life.forward import FastForward, fast_forward
from floatgate.report.model import Curve, Finding, Plot, Sheet, Table
from floatgate.reproduce.studies.ready.lives import Lives, Question
from floatgate.reproduce.studies.ready.paper import (
    ACCURACY,
    BY_NAME,
    CONFIGURATIONS,
    FIVE_YEARS,
    PAGE,
    RATED,
    READY,
    TABLE_2,
    TIB,
    TRACES,
    Trace,
)

MICRO = 1e3
WRITE_US = 600.0
"""A page write of the paper's drive."""

RATIOS: Mapping[str, tuple[Sequence[str], Sequence[str], float]] = {
    "DT / READY": (("DT",), READY, 2.57),
    "ST / DT": (("ST",), ("DT",), 1.7),
    "ST / READY": (("ST",), READY, 4.4),
}
"""Ratios of mean responses, each the mean of five traces; READY is the mean of its two ways."""

# ── Fig. 11 ─────────────────────────────────────────────────────────────────────────────────────


def mean_responses(lives: Lives, trace: Trace) -> dict[str, float]:
    """Mean response of a page write of the host in us, by configuration."""
    return {name: response_us(lives.of(trace, name)) for name in CONFIGURATIONS}


def response_us(life: FastForward) -> float:
    """A page write and its mean delay."""
    return WRITE_US + float(life.delay.page_delay_ns.mean) / MICRO


def ratio(of: Mapping[str, float], what: str) -> float:
    """One of `RATIOS`."""
    above, below, _ = RATIOS[what]
    return fmean(of[n] for n in above) / fmean(of[n] for n in below)


def figure_11(lives: Lives) -> Table:
    """The ratios of the text."""

    def mean(what: str, *traces: Trace) -> float:
        return fmean(ratio(mean_responses(lives, trace), what) for trace in traces)

    def slower(*traces: Trace) -> list[float]:
        of = [mean_responses(lives, trace) for trace in traces]
        return [each[name] / each["NT"] for each in of for name in READY]

    def row(what: str, said: float, ours: Callable[..., float], whole: bool = False) -> Finding:
        return lives.finding(list(BY_NAME), what, "4.4", said, ours, "x", whole=whole)

    rows = [
        Finding("NT, us", "Fig. 11", WRITE_US, WRITE_US, kind="input",
                by=[{"formula": "a page write of the paper's drive"}]),
        *(
            row(what, said, partial(mean, what), "ST" in above)
            for what, (above, _, said) in RATIOS.items()
        ),
        row("READY / NT, least", 1.0, lambda *traces: min(slower(*traces))),
        row("READY / NT, most", 2.13, lambda *traces: max(slower(*traces))),
        lives.finding(
            "proj", "proj, loss under READY", "4.4", "below 1.9 %",
            lambda trace: max(slower(trace)) - 1, "share",
        ),
    ]  # fmt: skip
    _, of = next(from_its_bytes("exchange"))
    text = _FIGURE_11.format(ratio=ratio(of, "DT / READY"))
    return Table("Figure 11: mean response of a page write", rows, text)


_FIGURE_11 = """
Means over the traces of the ratios of mean responses; a page write takes 600 us, plus its delay. \
Delays and bytes are two sides of one number: what is delayed moves everything after it, so the \
mean delay of a page is (W of NT / W - 1) divided by the pages that the host writes in a second. \
So these ratios follow from Table 2, and the sheet below shows what the paper's own Table 2 \
gives: {ratio:.2f} for DT over READY on exchange, not 2.57, and more on proj. The published ratios \
lie below what the published bytes need, however pages are counted; sharing a delay among all \
pages that are programmed comes nearest."""


def responses(lives: Lives) -> Sheet:
    """Mean responses by trace and configuration."""
    rows = []
    for trace in lives.traces:
        host = mean_responses(lives, trace)
        every = {name: WRITE_US + (us - WRITE_US) / trace.waf for name, us in host.items()}
        for how, of in (("host page", host), ("page programmed", every)):
            rows.append([f"{lives.marked(trace.name)}, per {how}", *_in_cells(of)])
    return Sheet(
        "Figure 11 in numbers: mean response", _HEAD, rows,
        "Per page programmed, the same delay is shared by all pages that are programmed.",
    )  # fmt: skip


_HEAD = ("trace", *(f"{name}, us" for name in CONFIGURATIONS), *RATIOS)


def _in_cells(of: Mapping[str, float]) -> list[str]:
    shown = [f"{of[name]:,.0f}" for name in CONFIGURATIONS]
    return [*shown, *(f"{ratio(of, what):.2f}" for what in RATIOS)]


def figure_11_plot(lives: Lives) -> Plot:
    """The bars."""
    values = [
        ({"trace": lives.marked(trace.name), "configuration": name}, us / 1e3)
        for trace in lives.traces
        for name, us in mean_responses(lives, trace).items()
    ]
    return Plot(
        "values", "Figure 11: mean response of a page write", measure="ms per host page",
        x="trace", by="configuration", values=values,
    )  # fmt: skip


def from_its_bytes(name: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Mean responses that the bytes of the paper's Table 2 need, by how pages are counted."""
    for how, among in (("host page", 1.0), ("page programmed", BY_NAME[name].waf)):
        delays = {which: needed_delay_us(name, which) / among for which in CONFIGURATIONS}
        yield how, {which: WRITE_US + delay for which, delay in delays.items()}


def from_table_2() -> Sheet:
    """What the bytes of the paper's Table 2 say of its Fig. 11."""
    rows = [
        [f"{name}, per {how}", *_in_cells(of)]
        for name in TABLE_2
        for how, of in from_its_bytes(name)
    ]
    rows.append(["published, mean of five", *[""] * 5, *(f"{r[2]:g}" for r in RATIOS.values())])
    return Sheet("What Table 2 of the paper says of its Figure 11", _HEAD, rows, _FROM_TABLE_2)


def needed_delay_us(name: str, configuration: str) -> float:
    """The mean delay of a host page with which Table 2's bytes are programmed in five years."""
    free, programmed = (TABLE_2[name][which][1] for which in ("NT", configuration))
    return (free / programmed - 1) / (BY_NAME[name].rate / PAGE) * 1e6


_FROM_TABLE_2 = """
From the paper's W alone, without any simulation: delays that let W bytes through in five years, \
where NT writes the first row's, are on average (W of NT / W - 1) / (host pages a second). On \
proj the 2.4 % that READY writes less than NT would be 27 % of response, not below 1.9 %: a page \
comes every 6.6 ms there."""


# ── Why ST's bytes are what they are ────────────────────────────────────────────────────────────


PART = 25
"""How many times a part of a life fits into it."""


def bursts(quick: bool) -> Sheet:
    """One rate of writing, in ever fewer seconds."""
    rows = []
    for name, published in TABLE_2.items():
        trace = BY_NAME[name]
        _, of = next(from_its_bytes(name))
        shown = [f"{published[which][1]:.1f}" for which in ("ST", "DT")]
        rows.append([name, "published", *shown, f"{ratio(of, 'ST / DT'):.2f}"])
        for every in (1, 8, 64) if quick else (1, 2, 4, 8, 16, 32, 64):
            lives = [_part(trace, every, policy) for policy in ("static", "dynamic")]
            static, dynamic = (response_us(life) for life in lives)
            shown = [f"{PART * life.programmed_bytes / TIB:.1f}" for life in lives]
            rows.append([name, f"1 in {every}", *shown, f"{static / dynamic:.2f}"])
        # Ever shorter bursts: all time is silent, or spent with writing at the rate.
        least = trace.free_bytes / (1 + trace.free_bytes / trace.rated_bytes)
        shown = [f"{bytes_ / TIB:.1f}" for bytes_ in (least, trace.rated_bytes)]
        rows.append([name, "any", *shown, f"{_most_ratio(trace):.2f}"])
    return Sheet(
        "Why ST differs: the same bytes in fewer seconds",
        ("rate of", "seconds with writes", "W of ST, TB", "W of DT, TB", "ST / DT"),
        rows,
        "73 days, times 25, under the rate of Table 1 in one second of so many. A static rate "
        "loses what a silent second leaves, so its bytes fall with the bursts, and its response "
        "grows by that; a dynamic one carries it over. But what has to wait fills the silence, so "
        "even single instants leave W0 / (1 + W0 / C) to a static rate that is used whenever a "
        "write waits: `any`. The mean of ST / DT over the paper's five traces is "
        f"{fmean(_most_ratio(trace) for trace in TRACES):.2f} then, so 1.7 is more than bursts "
        "explain; and what ST wrote of proj is less than they leave, so the paper's ST wasted "
        "capacity while writes waited.",
    )


def _most_ratio(trace: Trace) -> float:
    """ST over DT in that limit: W0 / W is one more than W0 / C for ST, and W0 / C for DT."""
    over = trace.free_bytes / trace.rated_bytes
    page_us = PAGE / trace.rate * 1e6
    return (WRITE_US + over * page_us) / (WRITE_US + (over - 1) * page_us)


def _part(trace: Trace, every: int, policy: str) -> FastForward:
    """A part of the life with that part of the cycles: the same bytes in every second."""
    return fast_forward(
        trace.drive, demand=[trace.rate * every, *[0.0] * (every - 1)], waf=trace.waf, bins=1,
        epochs=0, policy={"throttle": f"{policy}:target={FIVE_YEARS / PART / 86_400:.0f}d"},
        set={"reliability.endurance": RATED // PART},
    )  # fmt: skip


# ── Fig. 12 ─────────────────────────────────────────────────────────────────────────────────────


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

    def longest(trace: Trace) -> float:
        return float(lives.of(trace, "DT").delay.page_delay_ns.max) * 1e-9

    changing = ("proj", "map")
    pairs = [
        *((name, "ST", which) for name in BY_NAME for which in READY),
        *((name, "PES", "OPT") for name in ("exchange", "msnfs", "map")),
        *((name, "ST", "DT") for name in changing),
    ]
    rows = [
        lives.finding(name, f"{name}, deviation of {above} / that of {below}", "4.4", "above 1",
                      partial(apart, above, below), "x", whole=True)
        for name, above, below in pairs
    ]  # fmt: skip
    for name in BY_NAME:
        said = "at least 2000" if name in changing else "below 2000"
        what = f"{name}, longest response under DT, s"
        rows.append(lives.finding(name, what, "4.4", said, longest, whole=True))
    return Table("Figure 12: how much responses vary", rows, _FIGURE_12)


_FIGURE_12 = """
The text says that ST varies much on all traces and READY little, PES more than OPT on three of \
them, and DT less than ST even on proj and map, where its delays reach several thousand seconds. \
Compared are standard deviations."""


def figure_12_plots(lives: Lives) -> Iterator[Plot]:
    """The distribution of responses, a plot for each trace whose bursts are there."""
    for trace in lives.traces if lives.whole else ():
        curves = []
        for name in CONFIGURATIONS:
            points = lives.of(trace, name).delay.page_delay_ns.below
            xs = [(WRITE_US * MICRO + delay) * 1e-6 for delay, _ in points]
            curves.append(Curve(name, xs, [share for _, share in points]))
        yield Plot(
            "curves", f"Figure 12: {lives.marked(trace.name)}", measure="share of the pages",
            x="response of a page write (ms)", curves=curves, log="x",
        )  # fmt: skip


# ── Table 3 ─────────────────────────────────────────────────────────────────────────────────────


def table_3(lives: Lives) -> Table:
    """Epochs whose demand the one before had told."""
    rows = [
        lives.finding(
            name, name, "Table 3", share,
            lambda trace: lives.of(trace, "OPT").prediction.held_share, "share",
            "bursts are assumed of stand-ins" if name in lives.stand_ins else "", whole=True,
        )
        for name, share in ACCURACY.items()
    ]  # fmt: skip
    return Table("Table 3: predictions within 25 %", rows, _TABLE_3)


_TABLE_3 = """
READY-OPT, over five years. A trace that repeats exactly has a cycle that the choice of the \
epoch's length finds, as soon as what is remembered (a week) holds it twice; a week's trace never \
does."""


# ── Fig. 13 ─────────────────────────────────────────────────────────────────────────────────────

DAY = 144
"""Windows of ten minutes."""


def _delays_ms(lives: Lives, name: str) -> list[float | None]:
    """Mean delays of pages in windows of ten minutes of exchange, None without writes."""
    policy = {"FIXED": "ready:epoch=window", "DYNAMIC": "ready"}[name]
    trace = BY_NAME["exchange"]
    life = lives.get(Question(trace, policy, trace.waf, bins=int(FIVE_YEARS) // 600))
    return [None if d is None else d * 1e-6 for d in life.series.page_delay_ns]


def figure_13(lives: Lives) -> Table:
    """How much delays vary."""

    def varies(name: str, first: int, last: int) -> float:
        delays = [d for d in _delays_ms(lives, name)[first * DAY : last * DAY] if d is not None]
        return pstdev(delays) / fmean(delays)

    def row(what: str, said: str, ours: Callable[[], float]) -> Finding:
        return lives.finding("exchange", what, "Fig. 13", said, lambda _: ours(), "x", whole=True)

    fixed, dynamic = partial(varies, "FIXED"), partial(varies, "DYNAMIC")
    rows = [
        row("FIXED varies, fifth week", "above 0", lambda: fixed(28, 35)),
        row("DYNAMIC / FIXED, fifth week", "below 1", lambda: dynamic(28, 35) / fixed(28, 35)),
        row("DYNAMIC, fifth week / first two days", "below 1",
            lambda: dynamic(28, 35) / dynamic(0, 2)),
    ]  # fmt: skip
    return Table("Figure 13: fixed and chosen epochs on exchange", rows, _FIGURE_13)


_FIGURE_13 = """
READY-OPT with epochs of ten minutes (FIXED) and with the length that it chooses (DYNAMIC): the \
deviation of the delay over its mean, from the mean delays of a page in windows of ten minutes, \
stops included."""


def figure_13_plot(lives: Lives) -> Iterator[Plot]:
    """The delay over the first eight days."""
    if not lives.whole or "exchange" not in lives.demands:
        return
    curves = []
    for name in ("FIXED", "DYNAMIC"):
        delays = _delays_ms(lives, name)[: 8 * DAY]
        points = [(i / DAY, d) for i, d in enumerate(delays) if d is not None]
        curves.append(Curve(name, [x for x, _ in points], [y for _, y in points]))
    yield Plot(
        "curves", f"Figure 13: delay of a page, {lives.marked('exchange')}",
        measure="delay (ms)", x="days", curves=curves,
    )  # fmt: skip


# ── Fig. 14 ─────────────────────────────────────────────────────────────────────────────────────

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

    def row(what: str, said: float | str, ours: Callable[..., float], unit: str = "x") -> Finding:
        return lives.finding("map", what, "Fig. 14", said, ours, unit, whole=True)

    pairs = [
        ("DT", "ST"),
        ("PES", "ST"),
        ("OPT", "ST"),
        ("PES", "DT"),
        ("OPT", "DT"),
        ("OPT", "PES"),
    ]
    rows = [
        row("ST, highest, MiB/s", 2.49, lambda _: max(busiest(lives, "ST")), ""),
        *(row(f"{a} / {b}, mean", "above 1", partial(over, a, b)) for a, b in pairs),
    ]
    return Table("Figure 14: throughput on map at its busiest", rows, _FIGURE_14)


_FIGURE_14 = """
Bytes programmed in a second, in the ten minutes of the first three days in which each programmed \
most. The text has ST at its rate, DT above it, both ways of READY above both, and OPT above PES."""


def figure_14_plot(lives: Lives) -> Iterator[Plot]:
    """The ten minutes."""
    if lives.whole and "map" in lives.demands:
        shown = [name for name in CONFIGURATIONS if name != "NT"]
        curves = [Curve(name, range(SPAN), busiest(lives, name)) for name in shown]
        yield Plot(
            "curves", f"Figure 14: throughput, {lives.marked('map')}", measure="MiB/s programmed",
            x="seconds", curves=curves,
        )  # fmt: skip
