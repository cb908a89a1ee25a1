"""AGCR: its figures, the grid of what the paper leaves open, and where it wins and loses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from statistics import fmean

from floatgate.report.model import Finding, Plot, Sheet, Table
from floatgate.reproduce.claims import Column, Evidence, Taken, percent
from floatgate.reproduce.studies.agcr import created, grid
from floatgate.reproduce.studies.agcr.beyond import beyond
from floatgate.reproduce.studies.agcr.created import prepare
from floatgate.reproduce.studies.agcr.grid import (
    AT_LOAD,
    LI,
    LOAD,
    READINGS,
    TRADITIONAL,
    latency,
    share_at,
)
from floatgate.reproduce.study import Analysis, Experiment, Published, Result, Study

__all__ = ["analyse", "claims", "prepare"]


def claims(_experiment: Experiment) -> Iterator[Published]:
    """Claims about runs."""
    for reading in READINGS:
        for data, li in reading.conflicts.items():
            yield from _against(li, data)
    yield from _traditional()
    yield from grid.figure_1_claims(AT_LOAD)
    yield from _figure_9()


def analyse(evidence: Evidence, study: Study) -> Analysis:
    """The tables and plots of the report."""
    against = [
        evidence.table(
            f"Figures 7 and 8: against Li et al. ({reading.words}), both on data of {data} cost",
            _against(li, data),
        )
        for reading in READINGS
        for data, li in reading.conflicts.items()
    ]
    against[0] = against[0]._replace(text=_FIGURE_7)
    tables = [
        *against,
        evidence.table("Figure 7: against the traditional drive", _traditional()),
        grid.figure_1(evidence, AT_LOAD),
        Table("Figure 2: what pages are accessed as", [*_figure_2(evidence, study)], _FIGURE_2),
        Table("Figure 6: identification by window", [*_figure_6(evidence, study)], _FIGURE_6),
        Table("Figure 9: operations by cost, and what it takes",
              [*evidence.findings(_figure_9()), _history()]),
    ]  # fmt: skip
    sheets = [created.sheet(evidence), _wins(evidence), _grid(evidence), _losses(evidence),
              _other_rules(evidence),
              _mix(evidence), *beyond(evidence)]  # fmt: skip
    # All runs would be too many to read.
    schemes = [TRADITIONAL, *(name for reading in READINGS for name in reading.conflicts.values()),
               "HCW/LCR", "LCW/HCR", "AGCR", "AGCR on medium", "expected"]  # fmt: skip
    shown = evidence.shown({**AT_LOAD, "cost": schemes}, ("workload", "cost"))
    said = says(against, evidence)
    return Analysis(tables, [*_plots(evidence)], sheets=sheets, shown=shown, says=said)


_FIGURE_2 = """
Of all reads, those on pages that are read-only over the whole workload (more than 95 % reads), \
and likewise of writes. For a stand-in these shares are what it was made from: only real traces \
test the observation."""

_FIGURE_6 = """
Each access judged by the page's last accesses, against the character of the page over the whole \
workload; accesses to pages without history are left out. The paper's numbers are lost; the text \
says that accuracy rises with the window, and ever less."""

_FIGURE_7 = f"""
Both drives hold the same data when the trace begins, at high or at medium cost. Traces are played \
at {LOAD} times their speed, which Fig. 1 sets. A mean needs 100 requests of its kind. Waiting: Li \
et al. write at low cost while operations of other requests wait. In service: while other requests \
are inside the drive. The published bound on writes implies this, as a drive whose queues are \
mostly empty would write nothing at low cost. Neither is chosen by what comes out. The four \
readings show the same five numbers, and each number counts once. The slides' averages of 32 % and \
22 % cannot be reductions, as the paper's maximum for writes is 20.4 %. As speed-ups (Li over \
AGCR, less one) they agree with it, and so they are computed here. AGCR writes pages at high cost \
that it has never seen: its writes pay for this if first accesses are most of the writes. So a row \
below has the speed-up of AGCR with low-cost first writes. Why reads gain nothing: in most \
stand-ins no read-only page is written in the run, so no policy for writes changes its cost ("Why \
reads differ" below)."""

OVERALL, READS, WRITES = "overall, mean", "reads, mean speed-up", "writes, mean speed-up"


def _against(li: str, data: str) -> Iterator[Published]:
    """AGCR against a reading of Li et al., both on data of one level."""
    own = {**AT_LOAD, "cost": grid.equal_data(data)}
    for what, source, op, value, form, over in (
        (OVERALL, "Fig. 7", "all", -0.15, "change", "mean"),
        ("reads, best", "Fig. 8a", "read", -0.483, "change", "least"),
        ("writes, best", "Fig. 8b", "write", -0.204, "change", "least"),
        (READS, "slides", "read", 0.32, "speed-up", "mean"),
        (WRITES, "slides", "write", 0.22, "speed-up", "mean"),
    ):
        claim = latency(op, own, li, what=what, value=value, unit="share", source=source,
                        form=form, over=over, fact=f"against Li: {what}")  # fmt: skip
        yield claim
    low = {**own, "cost": f"{grid.equal_data(data)}, first writes low"}
    yield claim._replace(what="the same, first writes at low cost", value=None, where=low)


def _traditional() -> Iterator[Published]:
    """Fig. 7's other half: AGCR is quicker than the drive that writes all at medium cost."""
    for data in ("medium", "high"):
        own = {**AT_LOAD, "cost": grid.equal_data(data)}
        yield latency("all", own, TRADITIONAL, what=f"overall, mean, AGCR on data of {data} cost",
                      value="below 0", unit="share", source="Fig. 7",
                      fact="against the traditional drive")  # fmt: skip


def says(tables: Sequence[Table], evidence: Evidence) -> str:
    """The finding: how latency changes, what that rests on, and what reads would need."""
    rows = [row for table in tables for row in table.rows]
    parts = []
    for group in (False, True):
        overall, reads, writes = (
            [v for r in rows if r.stand_in == group and r.what.startswith(what)
             and isinstance(v := r.ours, float)]
            for what in (OVERALL, READS, WRITES)
        )  # fmt: skip
        if overall and reads and writes:
            where = "stand-ins" if group else "real traces"
            published = next(r.published for r in rows if r.what.startswith(OVERALL))
            parts.append(finding(overall, reads, writes, published, where))
    return " ".join([*parts, *_if_created(evidence)])


def finding(
    overall: Sequence[float], reads: Sequence[float], writes: Sequence[float],
    published: object, where: str,
) -> str:  # fmt: skip
    """Changes of the mean latency, and speed-ups of reads and writes, in words.

    >>> finding([-0.15, -0.25], [0.02, -0.1], [0.3, 0.5], -0.15, "stand-ins")
    'AGCR cuts the mean latency by 15 to 25 % on stand-ins; the paper says 15 %. The gain is in \
writes: their speed-up is 30 to 50 %, that of reads -10 to 2 %.'
    >>> finding([0.1], [0.2], [-0.3], -0.15, "real traces")
    'AGCR raises the mean latency by 10 % on real traces; the paper says 15 % less. Writes do not \
gain, reads do: the speed-up of writes is -30 %, that of reads 20 %.'
    """
    paper = f"{-100 * float(published):.3g} %" if isinstance(published, float) else str(published)
    if max(overall) < 0:
        change = f"cuts the mean latency by {_span([-each for each in overall])}"
    elif min(overall) >= 0:
        change, paper = f"raises the mean latency by {_span(overall)}", f"{paper} less"
    else:
        change, paper = f"changes the mean latency by {_span(overall)}", f"{paper} less"
    gains = fmean(writes) > 0, fmean(reads) > 0
    of_both = f"speed-up {{}}is {_span(writes)}, that of reads {_span(reads)}"
    gain = {
        (True, False): f"The gain is in writes: their {of_both.format('')}",
        (True, True): f"Writes and reads gain: the {of_both.format('of writes ')}",
        (False, True): f"Writes do not gain, reads do: the {of_both.format('of writes ')}",
        (False, False): f"Neither writes nor reads gain: the {of_both.format('of writes ')}",
    }[gains]
    return f"AGCR {change} on {where}; the paper says {paper}. {gain}."


def _span(values: Sequence[float]) -> str:
    least, most = (f"{100 * value:.0f}" for value in (min(values), max(values)))
    return f"{least} %" if least == most else f"{least} to {most} %"


def _if_created(evidence: Evidence) -> Iterator[str]:
    """The gain of reads if they went to pages that the run creates."""
    most = max(created.SHARES)
    runs = {"workload": [created.label(most, seed) for seed in created.SEEDS]}
    if found := created.values(evidence, {**runs}, "read"):
        change = fmean(found)
        verb = "cuts" if change < 0 else "raises"
        yield (
            f"If {100 * most:g} % of the reads go to pages that the run creates, it {verb} "
            f"their mean latency by {abs(100 * change):.0f} %; no source says how many do."
        )


def _figure_2(evidence: Evidence, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in evidence.groups(AT_LOAD):
        kind, note = ("input", "what stand-ins were made from") if stand_in else ("output", "")
        for what, key, published in (
            ("reads on read-only pages", "reads_on_read_only", "at least 85 %"),
            ("writes on write-only pages", "writes_on_write_only", "at least 91 %"),
        ):
            described = {name: study.describe(name).characters[key] for name in workloads}
            shares = {name: share for name, share in described.items() if share is not None}
            ours, by = fmean(shares.values()) if shares else None, _described(shares)
            yield Finding(f"{what}, mean of {group}", "Fig. 2", published, ours, "share", stand_in,
                          note, kind, by=by)  # fmt: skip
            for name, share in shares.items():
                yield Finding(f"{what}, {name}", "Fig. 2", None, share, "share", stand_in,
                              by=_described([name]))  # fmt: skip


def _described(workloads: Iterable[str]) -> list[dict[str, str]]:
    return [{"described": name} for name in workloads]


def _figure_6(evidence: Evidence, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in evidence.groups(AT_LOAD):
        found = {name: study.describe(name).identification for name in workloads}
        judged = {name: each for name, each in found.items() if each.judged}
        windows = [
            fmean(each.windows[i]["accuracy"] for each in judged.values()) if judged else None
            for i in range(3)
        ]
        one, two, three = (accuracy or 0.0 for accuracy in windows)
        for what, published, ours in (
            *((f"window {i}", None, accuracy) for i, accuracy in enumerate(windows, 1)),
            ("window 2 gains on 1", "at least 0", two - one),
            ("window 3 gains on 2", "at least 0", three - two),
            ("the first gain is the larger, by", "at least 0", (two - one) - (three - two)),
        ):
            yield Finding(f"{what}, {group}", "Fig. 6", published, ours, "share", stand_in,
                          by=_described(judged))  # fmt: skip


def _figure_9() -> Iterator[Published]:
    own = {**AT_LOAD, "cost": "AGCR"}
    for over in ("mean", "most"):
        what = f"re-writes of all host accesses, {over}"
        yield Published(what, _rewrites, "at most 1 %", own, unit="share", source="Fig. 9",
                        over=over, fact="re-writes of all host accesses")  # fmt: skip
    # Reads at low cost are those of pages that were written at high cost.
    for what, verb, level in (("reads", "read", "high"), ("writes", "program", "low")):
        for reading in READINGS:
            yield Published(f"{what} at low cost, against Li et al. ({reading.words}, data high)",
                            partial(share_at, verb=verb, level=level), "above 0", own,
                            {"cost": reading.conflicts["high"]}, source="Fig. 9",
                            fact=f"{what} at low cost, against Li")  # fmt: skip


def _history() -> Finding:
    """Two bits for each page of 4 KiB: the last access, and the tag of a write at low cost."""
    pages, bits = 64 * 2**30 // 4096, 2
    return Finding("history and tags of 64 GB in pages of 4 KB", "3.4", 4 * 2**20, pages * bits / 8,
                   "bytes", kind="follows", by=[{"formula": "two bits a page"}])  # fmt: skip


def _rewrites(run: Result) -> float:
    host = run.flash.read.host + run.flash.program.host
    return float(run.flash.program.rewrite / host)


# ── Sheets ──────────────────────────────────────────────────────────────────────────────────────


def _beside(cost: str, op: str, base: str = LI) -> Published:
    return latency(op, {"cost": cost}, base)


def _accesses(character: str) -> Callable[[Taken], str]:
    """Of all accesses those to pages of this character, as AGCR counts them."""
    names = ("first", "read_only", "write_only", "interleaved")

    def share(taken: Taken) -> str:
        counters = taken.run.policies.cost.counters
        accesses = sum(counters.get(f"{name}_accesses", 0) for name in names)
        return f"{100 * counters[f'{character}_accesses'] / accesses:.0f} %" if accesses else ""

    return share


def _wins(evidence: Evidence) -> Sheet:
    columns: dict[str, Column] = {"first accesses": _accesses("first")}
    for reading in READINGS:
        li = reading.conflicts["high"]
        for op, head in zip(grid.OPS, ("reads", "writes", "overall"), strict=True):
            columns[f"{head}, {reading.words}"] = _beside("AGCR", op, li)
        columns[f"AGCR, {reading.words}"] = partial(_who_wins, evidence, li)
    columns["overall against MCW/MCR"] = _beside("AGCR", "all", TRADITIONAL)
    return evidence.sheet(
        "Workloads on which AGCR wins and loses",
        {**AT_LOAD, "cost": "AGCR"}, ("workload",), columns,
        f"AGCR against Li et al., both on data of high cost, at {LOAD} times the speed; less is "
        "better. First accesses: of all, those to pages that were never accessed before.",
    )  # fmt: skip


def _who_wins(evidence: Evidence, li: str, taken: Taken) -> str:
    return "".join(map(_verdict, evidence.values(latency("all", taken.names, li))))


def _verdict(change: float) -> str:
    return "wins" if change < -0.005 else "loses" if change > 0.005 else "even"


def _speeds(evidence: Evidence) -> list[str]:
    return evidence.labels("host.speed", {"drive": grid.DRIVE, "cost": LI})


def _grid(evidence: Evidence) -> Sheet:
    rows = []
    levels = ("own", "high", "medium")
    for speed, initial, (scope, least) in product(_speeds(evidence), levels, grid.SCOPES):
        li, agcr = grid.conflict(scope, least, initial), grid.equal_data(initial)
        for group, workloads, stand_in in evidence.groups(AT_LOAD):
            own = {"drive": grid.DRIVE, "host.speed": speed, "workload": workloads}
            every, reads, writes = (
                evidence.values(latency(op, {**own, "cost": agcr}, li))
                for op in ("all", "read", "write")
            )
            if not every:
                continue
            low = evidence.values(Published("", _low_writes, where={**own, "cost": li}))
            wins = f"{sum(_verdict(change) == 'wins' for change in every)} of {len(every)}"
            best = (percent(min(each, default=None)) for each in (reads, writes))
            head = [f"{scope}, {least}", initial, speed, f"{group}{' [stand-in]' * stand_in}"]
            rows.append([*head, percent(fmean(every)), *best, wins, f"{100 * fmean(low):.1f} %"])
    return Sheet(
        "The grid: what the paper leaves open",
        ("Li et al. look at, from", "data on the drive", "speed", "workloads", "overall, mean",
         "reads, best", "writes, best", "AGCR wins", "Li: low-cost writes"),
        rows,
        "AGCR against Li et al.; published -15 %, -48.3 % and -20.4 %. `own` is AGCR on data of "
        "high cost against Li et al. on data of medium cost: a head start, not a comparison.",
    )  # fmt: skip


def _low_writes(run: Result) -> float:
    return share_at(run, "program", "low") or 0.0


def _losses(evidence: Evidence) -> Sheet:
    """Why AGCR loses where it does: one rule of it changed at a time."""
    rules = {"AGCR": "AGCR", "first writes low": "AGCR, first writes low",
             "no re-writes": "AGCR without re-writes", "all writes low": "LCW/HCR"}  # fmt: skip
    return evidence.sheet(
        "Why: one rule of AGCR changed at a time",
        {"drive": grid.DRIVE, "host.speed": _speeds(evidence), "cost": "AGCR"},
        ("workload", "host.speed"),
        {"first accesses": _accesses("first"), "interleaved": _accesses("interleaved")}
        | {head: _beside(cost, "all") for head, cost in rules.items()},
        "Overall mean latency against Li et al. (waiting, equal data of high cost). AGCR writes "
        "pages at high cost that it has not seen, for reads that may come. It loses by this if "
        "most writes are first ones, above all in bursts: Li et al. write at low cost just then.",
    )  # fmt: skip


def _mix(evidence: Evidence) -> Sheet:
    rows = []
    schemes = (TRADITIONAL, *(r.conflicts["high"] for r in READINGS), "AGCR", "expected")
    for (group, workloads, stand_in), scheme in product(evidence.groups(AT_LOAD), schemes):
        own = {**AT_LOAD, "workload": workloads, "cost": scheme}
        shares = (
            evidence.values(Published("", partial(share_at, verb=verb, level=level), where=own))
            for verb, level in product(("read", "program"), ("high", "medium", "low"))
        )
        cells = (f"{100 * fmean(each):.1f} %" if each else "" for each in shares)
        rows.append([f"{group}{' [stand-in]' * stand_in}", scheme, *cells])
    return Sheet(
        "Figure 9: the mix of operations",
        ("workloads", "scheme", "reads at low cost", "medium", "high", "writes at high cost",
         "medium", "low"),
        rows,
        "A page that was written at high cost is read at low cost. All sources count, so re-writes "
        "are among the writes.",
    )  # fmt: skip


def _other_rules(evidence: Evidence) -> Sheet:
    schemes = {
        "AGCR": "2 bits", "AGCR, first writes low": "2 bits", "AGCR, window 3": "3 bits",
        "expected in 3 bits": "3 bits, die queues", "expected": "6 bits, die queues",
        "Wu": "die queues", "oracle": "all accesses to come", "ideal": "no flash can",
    }  # fmt: skip
    return evidence.sheet(
        "Other rules, and what they have to know",
        {"drive": grid.DRIVE, "host.speed": _speeds(evidence), "cost": TRADITIONAL},
        ("workload", "host.speed"),
        {f"{name} ({needs})": [_beside(name, op) for op in ("all", "read")]
         for name, needs in schemes.items()},
        "Overall mean latency / reads, against Li et al. (waiting, equal data of high cost). "
        "`expected` writes at the level at which the program and the expected reads before the "
        "next write take least time, learnt from earlier reads of pages. Most of its gain is that "
        "it does not write first accesses at high cost, and it often pays in reads. `oracle` "
        "knows all accesses to come; `ideal` reads every page at low cost and writes every page "
        "at low cost.",
    )  # fmt: skip


def _plots(evidence: Evidence) -> Iterator[Plot]:
    names = [taken.names["workload"] for taken in evidence.of({**AT_LOAD, "cost": TRADITIONAL})]
    schemes = (LI, "AGCR", "AGCR, first writes low", "expected", "ideal")
    for op, title in (("all", "overall"), ("read", "reads"), ("write", "writes")):
        own = {name: {**AT_LOAD, "cost": name} for name in schemes}
        claims = {name: latency(op, at, TRADITIONAL, form="ratio") for name, at in own.items()}
        title = f"Mean latency, {title}, against MCW/MCR"
        yield evidence.bars(title, names, "scheme", claims, ratio=True)
