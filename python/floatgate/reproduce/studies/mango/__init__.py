"""Mango: Figures 12 and 13, what the paper leaves open, and modern drives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from floatgate.report.model import Finding, Sheet, Table
from floatgate.reproduce.studies.mango.battery import battery_joules
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result

BASELINE = "baseline"
HEADLINE = {"ftl.spare-factor": 0.1, "host.speed": 1.0}
"""The setting chosen beforehand."""


class Pair(NamedTuple):
    """A run and that of the baseline beside it."""

    names: dict[str, str]
    run: Result
    base: Result

    @property
    def workload(self) -> str:
        """The workload, with its mark."""
        name = self.names["workload"]
        return f"{name} [stand-in]" if self.stand_in else name

    @property
    def stand_in(self) -> bool:
        """Whether any part of the workload is one."""
        workload = self.run.provenance.workload
        return bool(workload.stand_in) or any("assumed" in note for note in workload.notes)


def analyse(comparison: Comparison, _: Study) -> Analysis:
    """The tables of the report."""
    pairs = list(_pairs(comparison))
    tables = [
        Table("Figure 12: swap", list(_figure_12(pairs)), _FIGURE_12),
        Table("Figure 13: netbook", list(_figure_13(pairs)), _FIGURE_13),
    ]
    sheets = [_swap(pairs), _netbook(pairs), _grid(pairs), _modern(pairs)]
    shown = [
        (names, run)
        for names, run in zip(comparison.variants, comparison.runs, strict=True)
        if _is_at(names, run, HEADLINE)
    ]
    kept = ("workload", "page-choice")
    variants = [{key: names[key] for key in kept} for names, _ in shown]
    return Analysis(
        [table for table in tables if table.rows],
        sheets=[sheet for sheet in sheets if sheet.rows],
        shown=Comparison([run for _, run in shown], variants, comparison.failed),
    )


_FIGURE_12 = """
The paper's average of 1.5 is over its traces, its 44 % the best case. Latency is of whole \
requests, waiting included: what Mango changes is the program itself (a fast page takes 0.57 \
ms with its transfer, a page of either kind 1.12 ms in the mean, so at best 1.95 times) and \
how long others are waited for. Wear is blocks erased."""

_FIGURE_13 = """
Energy on battery is that of all operations while the last request was urgent, idle power \
included: the paper's -3 % beside programs that take a quarter of the energy is only to be had \
if what the chip takes idle is in it. Without it the change is that of the operations alone. \
Wear is blocks erased over the whole trace."""


def _is_at(names: Mapping[str, str], run: Result, setting: Mapping[str, float]) -> bool:
    """Whether a run of the two scenarios has this spare factor and speed."""
    # The drive exports whole pages, so that its own spare factor is off by part of one.
    spare, speed = round(float(run.capacity.spare_factor), 3), run.provenance.config.host.speed
    there = {"ftl.spare-factor": spare, "host.speed": float(speed)}
    plain = names["workload"].startswith(("swap", "netbook"))
    return plain and all(there[key] == value for key, value in setting.items())


def _pairs(comparison: Comparison) -> Iterator[Pair]:
    runs = list(zip(comparison.variants, comparison.runs, strict=True))
    base = {_setting(names): run for names, run in runs if names["page-choice"] == BASELINE}
    for names, run in runs:
        other = base.get(_setting(names))
        if names["page-choice"] != BASELINE and other is not None:
            yield Pair(dict(names), run, other)


def _setting(names: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, value in names.items() if key != "page-choice"))


def _change(ours: float, base: float) -> float | None:
    return ours / base - 1 if base else None


def wear(pair: Pair) -> float | None:
    """Blocks erased, against the baseline."""
    return _change(pair.run.flash.erase.total, pair.base.flash.erase.total)


def energy(pair: Pair) -> float | None:
    """All that the chip takes, against the baseline."""
    return _change(pair.run.energy_joules.total, pair.base.energy_joules.total)


def on_battery(pair: Pair) -> float | None:
    """What the chip takes on battery, against the baseline."""
    return _change(battery_joules(pair.run).high, battery_joules(pair.base).high)


def on_battery_busy(pair: Pair) -> float | None:
    """The same of operations alone."""
    ours, base = battery_joules(pair.run), battery_joules(pair.base)
    return _change(ours.high - ours.high_idle, base.high - base.high_idle)


def urgent_latency(run: Result) -> float:
    """Mean latency of urgent writes in ns."""
    return float(run.host.high.write.latency_ns.mean) if run.host.high else 0.0


def speed_up(pair: Pair) -> float | None:
    """How many times as quickly urgent writes are done."""
    ours = urgent_latency(pair.run)
    return urgent_latency(pair.base) / ours if ours else None


def other_latency(run: Result) -> float:
    """Mean latency of requests that are not urgent, in ns."""
    every, high = run.host.all, run.host.high
    urgent = high.all.requests if high else 0
    total = every.latency_ns.mean * every.requests
    if high:
        total -= high.all.latency_ns.mean * urgent
    left = every.requests - urgent
    return float(total / left) if left else 0.0


def others(pair: Pair) -> float | None:
    """The latency of the other requests, against the baseline."""
    return _change(other_latency(pair.run), other_latency(pair.base))


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def _chosen(
    pairs: Sequence[Pair],
    scenario: str,
    policy: str = "Mango",
    setting: Mapping[str, float] = HEADLINE,
) -> list[Pair]:
    return [
        pair
        for pair in pairs
        if _is_at(pair.names, pair.run, setting)
        and pair.names["workload"].startswith(scenario)
        and pair.names["page-choice"] == policy
    ]


def _figure_12(pairs: Sequence[Pair]) -> Iterator[Finding]:
    chosen = _chosen(pairs, "swap")
    if not chosen:
        return
    stand_in = any(pair.stand_in for pair in chosen)
    ups = [up for pair in chosen if (up := speed_up(pair))]
    best = 1 / max(ups) - 1 if ups else None
    for what, published, ours, unit in (
        ("swap writes, times as quick, mean", 1.5, _mean(ups), "x"),
        ("swap writes, latency, best", -0.44, best, "share"),
        ("other requests, latency, mean", None, _mean([others(p) for p in chosen]), "share"),
        ("energy, mean", None, _mean([energy(p) for p in chosen]), "share"),
        ("wear, mean", 0.03, _mean([wear(p) for p in chosen]), "share"),
    ):
        yield Finding(what, "Fig. 12", published, ours, unit, stand_in)


def _figure_13(pairs: Sequence[Pair]) -> Iterator[Finding]:
    chosen = _chosen(pairs, "netbook")
    if not chosen:
        return
    stand_in = any(pair.stand_in for pair in chosen)
    battery = [change for pair in chosen if (change := on_battery(pair)) is not None]
    for what, published, ours in (
        ("energy on battery, mean", -0.03, _mean(battery)),
        ("energy on battery, best", -0.13, min(battery, default=None)),
        ("of operations alone, mean", None, _mean([on_battery_busy(p) for p in chosen])),
        ("energy of the whole trace, mean", None, _mean([energy(p) for p in chosen])),
        ("wear, mean", 0.55, _mean([wear(p) for p in chosen])),
        ("latency of all requests, mean", "slightly less", _mean([_latency(p) for p in chosen])),
    ):
        yield Finding(what, "Fig. 13", published, ours, "share", stand_in)
    for spare in (0.28, 0.5):
        roomy = _chosen(pairs, "netbook", setting=HEADLINE | {"ftl.spare-factor": spare})
        if not roomy:
            continue
        changes = [change for pair in roomy if (change := on_battery(pair)) is not None]
        where = f"with {spare:.2f} of the flash spare"
        for what, published, ours in (
            (f"energy on battery, mean, {where}", -0.03, _mean(changes)),
            (f"energy on battery, best, {where}", -0.13, min(changes)),
            (f"wear, mean, {where}", 0.55, _mean([wear(p) for p in roomy])),
        ):
            yield Finding(what, "Fig. 13", published, ours, "share", stand_in)


def _latency(pair: Pair) -> float | None:
    return _change(pair.run.host.all.latency_ns.mean, pair.base.host.all.latency_ns.mean)


def percent(change: float | None) -> str:
    """A change in words; empty if there is none to tell."""
    return "" if change is None else f"{100 * change:+.1f} %"


def times(value: float | None) -> str:
    """A factor in words."""
    return "" if value is None else f"{value:.2f} x"


def _skipped(pair: Pair) -> str:
    """Of the pages given away or passed over, those passed over."""
    counters = pair.run.policies["page-choice"].counters
    given = counters["pages"] + counters["skipped"]
    return f"{100 * counters['skipped'] / given:.1f} %" if given else ""


def _swap(pairs: Sequence[Pair]) -> Sheet:
    chosen = [
        *_chosen(pairs, "swap"),
        *_chosen(pairs, "swap", "Mango, slow collection"),
    ]
    rows = [
        [
            pair.workload,
            pair.names["page-choice"],
            times(speed_up(pair)),
            *(percent(f(pair)) for f in (others, energy, wear)),
            _skipped(pair),
        ]
        for pair in chosen
    ]
    head = ("workload", "", "swap writes", "other requests", "energy", "wear", "passed over")
    return Sheet("Swap, each workload", head, rows, "Against the baseline on the same drive.")


def _netbook(pairs: Sequence[Pair]) -> Sheet:
    chosen = [
        *_chosen(pairs, "netbook"),
        *_chosen(pairs, "netbook", "Mango, slow collection"),
    ]
    rows = [
        [
            pair.workload,
            pair.names["page-choice"],
            *(percent(f(pair)) for f in (on_battery, on_battery_busy, energy, _latency, wear)),
            _skipped(pair),
        ]
        for pair in chosen
    ]
    return Sheet(
        "Netbook, each workload",
        (
            "workload",
            "",
            "battery",
            "operations alone",
            "all energy",
            "latency",
            "wear",
            "passed over",
        ),
        rows,
        "Against the baseline on the same drive.",
    )


def _grid(pairs: Sequence[Pair]) -> Sheet:
    """Means over the workloads of each cell."""
    cells: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in pairs:
        names = pair.names
        if "ftl.spare-factor" not in names or names["workload"].startswith("urgent"):
            continue
        scenario = names["workload"].split()[0]
        key = scenario, names["ftl.spare-factor"], names["host.speed"], names["page-choice"]
        cells.setdefault(key, []).append(pair)

    def mean(of: Callable[[Pair], float | None], some: Sequence[Pair]) -> float | None:
        return _mean([of(pair) for pair in some])

    rows = []
    for key, some in cells.items():
        battery = percent(mean(on_battery, some)) if key[0] == "netbook" else ""
        up = times(mean(speed_up, some))
        rows.append([*key, up, battery, *(percent(mean(f, some)) for f in (energy, wear))])
    return Sheet(
        "The grid: what the paper leaves open",
        ("scenario", "spare", "speed", "", "urgent writes", "battery", "energy", "wear"),
        rows,
        "Means over the workloads of a scenario. Spare space decides what passing pages over "
        "costs; the load decides how much of a latency is the program itself.",
    )


def _modern(pairs: Sequence[Pair]) -> Sheet:
    rows = [
        [
            pair.names["geometry.channels"],
            pair.names["host.speed"],
            pair.names["page-choice"],
            times(speed_up(pair)),
            *(percent(f(pair)) for f in (others, energy, wear)),
            _skipped(pair),
        ]
        for pair in pairs
        if pair.names["workload"].startswith("urgent")
    ]
    return Sheet(
        "Beyond the paper: three bits in a cell",
        ("channels", "speed", "", "urgent writes", "others", "energy", "wear", "passed over"),
        rows,
        "A drive of 3D TLC whose page types program in 300, 600 and 1014 us (assumed), a tenth of "
        "the writes urgent, on 1 and on 4 channels.",
    )
