"""AGCR: its figures, the grid of what the paper leaves open, and where it wins and loses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from statistics import fmean

from floatgate.report.model import Finding, Plot, Sheet, Table
from floatgate.reproduce.claims import Column, Evidence, Taken, percent
from floatgate.reproduce.studies.agcr import grid
from floatgate.reproduce.studies.agcr.beyond import beyond
from floatgate.reproduce.studies.agcr.grid import AT_LOAD, LI, LOAD, READINGS, TRADITIONAL, latency
from floatgate.reproduce.study import Analysis, Experiment, Published, Result, Study


def claims(_experiment: Experiment) -> Iterator[Published]:
    """What is said of runs."""
    for reading in READINGS:
        for data, li in reading.conflicts.items():
            yield from _against(li, data)
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
        grid.figure_1(evidence, AT_LOAD),
        Table("Figure 2: what pages are accessed as", [*_figure_2(evidence, study)], _FIGURE_2),
        Table("Figure 6: identification by window", [*_figure_6(evidence, study)], _FIGURE_6),
        Table("Figure 9: operations by cost, and what it takes",
              [*evidence.findings(_figure_9()), *_history(evidence)]),
    ]  # fmt: skip
    sheets = [_wins(evidence), _grid(evidence), _losses(evidence), _other_rules(evidence),
              _mix(evidence), *beyond(evidence)]  # fmt: skip
    # All runs would be too many to read.
    schemes = [TRADITIONAL, *(name for reading in READINGS for name in reading.conflicts.values()),
               "HCW/LCR", "LCW/HCR", "AGCR", "AGCR on medium", "expected"]  # fmt: skip
    shown = evidence.shown({**AT_LOAD, "cost": schemes}, ("workload", "cost"))
    says = _says([row for table in against for row in table.rows])
    return Analysis(tables, [*_plots(evidence)], sheets=sheets, shown=shown, says=says)


_FIGURE_2 = """
Of all reads, those on pages that are read-only over the whole workload (more than 95 % reads), \
and likewise of writes. For a stand-in these shares are what it was made from: only real traces \
test the observation."""

_FIGURE_6 = """
Each access judged by the page's last accesses, against the character of the page over the whole \
workload; accesses to pages without history are left out. The paper's numbers are lost; the text \
says that accuracy rises with the window, and ever less."""

_FIGURE_7 = f"""
Both drives hold the same data when the trace begins, at high or at medium cost, and traces are \
played at {LOAD} times their speed, which Fig. 1 sets; a mean needs 100 requests of its kind. \
Waiting: Li et al. write at low cost while operations of other requests wait; in service: while \
other requests are inside the drive, which is what the published bound on writes implies, as a \
drive whose queues are mostly empty would write nothing at low cost. The speed is that of the \
twelve volumes: other traces may be busier at it. Neither is chosen by what comes out. The \
slides' averages of 32 % and 22 % cannot be reductions, as the paper's maximum for writes is \
20.4 %; as speed-ups (Li over AGCR, less one) the two agree, and so they are computed here. AGCR \
writes pages at high cost that it has never seen: where first accesses are most of the writes (a \
column of the sheet below), that is what its writes pay, so the speed-up stands beside that of \
AGCR with low-cost first writes."""


def _against(li: str, data: str) -> Iterator[Published]:
    """AGCR against a reading of Li et al., both on data of one level."""
    own = {**AT_LOAD, "cost": grid.equal_data(data)}
    for what, source, op, value, form, over in (
        ("overall, mean", "Fig. 7", "all", -0.15, "change", "mean"),
        ("reads, best", "Fig. 8a", "read", -0.483, "change", "least"),
        ("writes, best", "Fig. 8b", "write", -0.204, "change", "least"),
        ("reads, mean speed-up", "slides", "read", 0.32, "speed-up", "mean"),
        ("writes, mean speed-up", "slides", "write", 0.22, "speed-up", "mean"),
    ):
        claim = latency(op, own, li, what=what, value=value, unit="share", source=source,
                        form=form, over=over)  # fmt: skip
        yield claim
    low = {**own, "cost": f"{grid.equal_data(data)}, first writes low"}
    yield claim._replace(what="the same, first writes at low cost", value=None, where=low)


def _says(rows: Sequence[Finding]) -> str:
    """Reads and all requests on equal data, over both readings and both levels."""
    parts = []
    for group in (False, True):
        spans = []
        for what in ("overall", "reads, mean"):
            ours = [r.ours for r in rows if r.stand_in == group and r.what.startswith(what)]
            values = [v for v in ours if isinstance(v, float)]
            if values and what == "overall":
                spans.append(f"the mean latency by {_span(values)}")
            elif values:
                spans.append(f"that of reads by {_span([1 / (1 + v) - 1 for v in values])}")
        if spans:
            parts.append(f"{' and '.join(spans)} on {'stand-ins' if group else 'real traces'}")
    said = f"On equal data AGCR changes {'; '.join(parts)}, by what Li et al. count and what data"
    return f"{said} lies there." if parts else ""


def _span(values: Sequence[float]) -> str:
    return f"{percent(min(values))} to {percent(max(values))}"


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
                        over=over)  # fmt: skip
    # Reads at low cost are those of pages that were written at high cost.
    for what, verb, level in (("reads", "read", "high"), ("writes", "program", "low")):
        what = f"{what} at low cost, against Li et al. (waiting, data high)"
        yield Published(what, partial(_share, verb=verb, level=level), "above 0", own,
                        {"cost": LI}, source="Fig. 9")  # fmt: skip


def _history(evidence: Evidence) -> Iterator[Finding]:
    for taken in evidence.of({**AT_LOAD, "cost": "AGCR"})[:1]:
        # Two bits for each logical page, here for 64 GiB of pages of 4 KiB as in the paper.
        run = taken.run
        ours = run.policies.cost.dram_bytes / (run.capacity.logical_bytes / 4096) * 2**24
        yield Finding("history and tags of 64 GB in pages of 4 KB", "3.4", 4 * 2**20, ours, "bytes",
                      kind="check", runs=[taken.names])  # fmt: skip


def _rewrites(run: Result) -> float:
    host = run.flash.read.host + run.flash.program.host
    return float(run.flash.program.rewrite / host)


def _share(run: Result, verb: str, level: str) -> float | None:
    """Of all operations of a kind, those at this level."""
    counts = run.flash.by_level[verb]
    total = sum(counts[name] for name in ("high", "medium", "low"))
    return counts[level] / total if total else None


# ── Sheets ──────────────────────────────────────────────────────────────────────────────────────


def _beside(cost: str, op: str, base: str = LI) -> Published:
    return latency(op, {"cost": cost}, base)


def _accesses(character: str) -> Callable[[Taken], str]:
    """Of all accesses those to pages of this character, as AGCR counts them."""
    names = ("first", "read_only", "write_only", "interleaved")

    def share(taken: Taken) -> str:
        counters = taken.run.policies.cost.counters
        accesses = sum(counters[f"{name}_accesses"] for name in names)
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
        "Where AGCR wins and where it loses", {**AT_LOAD, "cost": "AGCR"}, ("workload",), columns,
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
    return _share(run, "program", "low") or 0.0


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
        "pages at high cost that it has not seen, for reads that may come: where most writes are "
        "first ones, and above all in bursts, that is what it loses by; Li et al. write at low "
        "cost just then.",
    )  # fmt: skip


def _mix(evidence: Evidence) -> Sheet:
    rows = []
    schemes = (TRADITIONAL, *(r.conflicts["high"] for r in READINGS), "AGCR", "expected")
    for (group, workloads, stand_in), scheme in product(evidence.groups(AT_LOAD), schemes):
        own = {**AT_LOAD, "workload": workloads, "cost": scheme}
        shares = (
            evidence.values(Published("", partial(_share, verb=verb, level=level), where=own))
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
        "`expected` writes at the level at which the program and the reads to be expected before "
        "the next write take least time, learnt from how pages were read so far: most of what it "
        "gains is that it does not write first accesses at high cost, and it often pays in reads. "
        "`oracle` knows all accesses to come; `ideal` reads every page at low cost and writes "
        "every page at low cost.",
    )  # fmt: skip


def _plots(evidence: Evidence) -> Iterator[Plot]:
    names = [taken.names["workload"] for taken in evidence.of({**AT_LOAD, "cost": TRADITIONAL})]
    schemes = (LI, "AGCR", "AGCR, first writes low", "expected", "ideal")
    for op, title in (("all", "overall"), ("read", "reads"), ("write", "writes")):
        own = {name: {**AT_LOAD, "cost": name} for name in schemes}
        claims = {name: latency(op, at, TRADITIONAL, form="ratio") for name, at in own.items()}
        title = f"Mean latency, {title}, against MCW/MCR"
        yield evidence.bars(title, names, "scheme", claims, ratio=True)
