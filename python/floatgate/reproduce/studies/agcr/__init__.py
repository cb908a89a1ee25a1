"""AGCR: its figures, the grid of what the paper leaves open, and where it wins and loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floatgate.experiments import Published
from floatgate.report.model import Finding, Plot, Sheet, Table
from floatgate.reproduce.claims import Evidence, percent
from floatgate.reproduce.studies.agcr.beyond import beyond
from floatgate.reproduce.studies.agcr.figure_1 import FIGURE_1, enough, figure_1
from floatgate.reproduce.studies.agcr.grid import (
    DRIVE,
    LOAD,
    OPS,
    READINGS,
    TRADITIONAL,
    Runs,
    equal_data,
    mean,
    of_trace,
    settings,
    speed_of,
)
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result


def analyse(comparison: Comparison, study: Study) -> Analysis:
    """The tables and plots of the report."""
    runs = Runs(comparison)
    evidence = Evidence(study.experiment, comparison)
    head = {"drive": DRIVE, "workload": runs.workloads, "host.speed": LOAD}
    against = [
        Table(
            f"Figures 7 and 8: against Li et al. ({reading.words}), both on data of {data} cost",
            [row for claim in _against(li, data, head) for row in evidence.finding(claim)],
        )
        for reading in READINGS
        for data, li in reading.conflicts.items()
    ]
    against[0] = against[0]._replace(text=_FIGURE_7)
    tables = [
        *against,
        Table("Figure 1: one cost for everything", list(figure_1(evidence, head)), FIGURE_1),
        Table("Figure 2: what pages are accessed as", list(_figure_2(runs, study)), _FIGURE_2),
        Table("Figure 6: identification by window", list(_figure_6(runs, study)), _FIGURE_6),
        Table("Figure 9: operations by cost, and what it takes", list(_figure_9(evidence, head))),
    ]
    sheets = [_wins(runs), _grid(runs), _losses(runs), _other_rules(runs), _mix(runs)]
    return Analysis(
        [table for table in tables if table.rows],
        list(_plots(runs)),
        sheets=[sheet for sheet in (*sheets, *beyond(comparison, runs)) if sheet.rows],
        shown=_headline(comparison),
        says=_says([row for table in against for row in table.rows]),
    )


def _headline(comparison: Comparison) -> Comparison:
    """The runs that claims compare: all of them would be too many to read."""
    schemes = {TRADITIONAL, *(name for reading in READINGS for name in reading.conflicts.values())}
    schemes |= {"HCW/LCR", "LCW/HCR", "AGCR", "AGCR on medium", "expected"}
    chosen = [
        (names, run)
        for names, run in zip(comparison.variants, comparison.runs, strict=True)
        if names["cost"] in schemes and of_trace(run, DRIVE) and speed_of(run) == LOAD
    ]
    kept = ("workload", "cost")
    variants = [{key: names[key] for key in kept} for names, _ in chosen]
    return Comparison([run for _, run in chosen], variants, comparison.failed)


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

_COST = "host.{}.latency_ns.mean"


def _against(li: str, data: str, where: Mapping[str, Any]) -> Iterator[Published]:
    """AGCR against a reading of Li et al., both on data of one level."""
    own = {**where, "cost": equal_data(data)}
    for what, source, op, value, form, over in (
        ("overall, mean", "Fig. 7", "all", -0.15, "change", "mean"),
        ("reads, best", "Fig. 8a", "read", -0.483, "change", "least"),
        ("writes, best", "Fig. 8b", "write", -0.204, "change", "least"),
        ("reads, mean speed-up", "slides", "read", 0.32, "speed-up", "mean"),
        ("writes, mean speed-up", "slides", "write", 0.22, "speed-up", "mean"),
    ):
        claim = Published(
            what, _COST.format(op), value, own, {"cost": li}, "share", source,
            form=form, over=over, least=enough(op),
        )  # fmt: skip
        yield claim
    low = {**own, "cost": f"{equal_data(data)}, first writes low"}
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
    if not parts:
        return ""
    said = "; ".join(parts)
    return f"On equal data AGCR changes {said}, by what Li et al. count and what data lies there."


def _span(values: Sequence[float]) -> str:
    return f"{percent(min(values))} to {percent(max(values))}"


def _figure_2(runs: Runs, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        described = [study.describe(workload) for workload in workloads]
        for what, key, published in (
            ("reads on read-only pages", "reads_on_read_only", "at least 85 %"),
            ("writes on write-only pages", "writes_on_write_only", "at least 91 %"),
        ):
            shares = {
                workload: each.characters[key]
                for workload, each in zip(workloads, described, strict=True)
                if each.characters[key] is not None
            }
            kind = "input" if stand_in else "output"
            note = "what stand-ins were made from" if stand_in else ""
            ours = mean([*shares.values()])
            yield Finding(
                f"{what}, mean of {group}", "Fig. 2", published, ours, "share", stand_in, note, kind
            )
            for workload, share in shares.items():
                yield Finding(f"{what}, {workload}", "Fig. 2", None, share, "share", stand_in)


def _figure_6(runs: Runs, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        identified = [study.describe(workload).identification for workload in workloads]
        windows = [
            mean([each.windows[i]["accuracy"] for each in identified if each.judged])
            for i in range(3)
        ]
        for i, accuracy in enumerate(windows, 1):
            yield Finding(f"window {i}, {group}", "Fig. 6", None, accuracy, "share", stand_in)
        one, two, three = (accuracy or 0.0 for accuracy in windows)
        for what, ours in (
            ("window 2 gains on 1", two - one),
            ("window 3 gains on 2", three - two),
            ("the first gain is the larger, by", (two - one) - (three - two)),
        ):
            yield Finding(f"{what}, {group}", "Fig. 6", "at least 0", ours, "share", stand_in)


def _figure_9(evidence: Evidence, where: Mapping[str, Any]) -> Iterator[Finding]:
    own = {**where, "cost": "AGCR"}
    for what, over in (("mean", "mean"), ("most", "most")):
        yield from evidence.finding(
            Published(
                f"re-writes of all host accesses, {what}", _rewrites, "at most 1 %", own,
                unit="share", source="Fig. 9", over=over,
            )
        )  # fmt: skip
    li = {"cost": READINGS[0].conflicts["high"]}
    for what, measure in (("reads", _low_reads), ("writes", _low_writes)):
        yield from evidence.finding(
            Published(
                f"{what} at low cost, against Li et al. (waiting, data high)", measure,
                "above 0", own, li, source="Fig. 9",
            )
        )  # fmt: skip
    taken = evidence.of(own)
    if taken:
        # Two bits for each logical page, here for 64 GiB of pages of 4 KiB as in the paper.
        run = taken[0].run
        bytes_per_page = run.policies.cost.dram_bytes / (run.capacity.logical_bytes / 4096)
        what = "history and tags of 64 GB in pages of 4 KB"
        ours = bytes_per_page * 2**24
        yield Finding(what, "3.4", 4 * 2**20, ours, "bytes", kind="check")


def _rewrites(run: Result) -> float:
    host = run.flash.read.host + run.flash.program.host
    return float(run.flash.program.rewrite / host)


def _low_reads(run: Result) -> float | None:
    """Reads at low cost are those of pages that were written at high cost."""
    return _share(run, "read", "high")


def _low_writes(run: Result) -> float | None:
    return _share(run, "program", "low")


def _share(run: Result, verb: str, level: str) -> float | None:
    counts = run.flash.by_level[verb]
    total = sum(counts[name] for name in ("high", "medium", "low"))
    return counts[level] / total if total else None


def _wins(runs: Runs) -> Sheet:
    rows = []
    for workload in runs.workloads:
        run = runs.get(workload, "AGCR")
        cells = [_first_accesses(run) if run else ""]
        for reading in READINGS:
            li = reading.conflicts["high"]
            overall = runs.change(workload, "AGCR", li, "all")
            cells += [percent(runs.change(workload, "AGCR", li, op)) for op in OPS]
            cells.append("" if overall is None else _verdict(overall))
        cells.append(percent(runs.change(workload, "AGCR", TRADITIONAL, "all")))
        rows.append([runs.shown(workload), *cells])
    each = [f"{head}, {reading.words}" for reading in READINGS for head in (*_HEADS, "AGCR")]
    return Sheet(
        "Where AGCR wins and where it loses",
        ("workload", "first accesses", *each, "overall against MCW/MCR"),
        rows,
        f"AGCR against Li et al., both on data of high cost, at {LOAD} times the speed; less is "
        "better. First accesses: of all, those to pages that were never accessed before.",
    )


_HEADS = ("reads", "writes", "overall")


def _first_accesses(run: Result) -> str:
    counters = run.policies.cost.counters
    accesses = sum(counters[key] for key in _CHARACTERS)
    return f"{100 * counters['first_accesses'] / accesses:.0f} %" if accesses else ""


def _verdict(change: float) -> str:
    return "wins" if change < -0.005 else "loses" if change > 0.005 else "even"


def _grid(runs: Runs) -> Sheet:
    rows = []
    for setting in settings(runs.speeds):
        for group, workloads, stand_in in runs.groups():
            pair = setting.agcr, setting.conflict
            changes = {op: runs.changes(workloads, *pair, op, setting.speed) for op in OPS}
            if not changes["all"]:
                continue
            low = [
                _low_writes(run) or 0.0
                for w in workloads
                if (run := runs.get(w, pair[1], setting.speed))
            ]
            wins = sum(_verdict(change) == "wins" for change in changes["all"])
            rows.append(
                [
                    f"{setting.scope}, {setting.queue_min}",
                    setting.initial,
                    setting.speed,
                    f"{group} [stand-in]" if stand_in else group,
                    percent(mean(changes["all"])),
                    percent(min(changes["read"], default=None)),
                    percent(min(changes["write"], default=None)),
                    f"{wins} of {len(changes['all'])}",
                    f"{100 * (mean(low) or 0):.1f} %",
                ]
            )
    return Sheet(
        "The grid: what the paper leaves open",
        (
            "Li et al. look at, from",
            "data on the drive",
            "speed",
            "workloads",
            "overall, mean",
            "reads, best",
            "writes, best",
            "AGCR wins",
            "Li: low-cost writes",
        ),
        rows,
        "AGCR against Li et al.; published -15 %, -48.3 % and -20.4 %. `own` is AGCR on data of "
        "high cost against Li et al. on data of medium cost: a head start, not a comparison.",
    )


def _losses(runs: Runs) -> Sheet:
    """Why AGCR loses where it does: one rule of it changed at a time."""
    rows = []
    for workload in runs.workloads:
        for speed in runs.speeds:
            schemes = ("AGCR", "AGCR, first writes low", "AGCR without re-writes", "LCW/HCR")
            base = READINGS[0].conflicts["high"]
            changes = [runs.change(workload, scheme, base, "all", speed) for scheme in schemes]
            run = runs.get(workload, "AGCR", speed)
            if run is None or changes[0] is None:
                continue
            counters = run.policies.cost.counters
            accesses = sum(counters[key] for key in _CHARACTERS)
            shares = [f"{100 * counters[key] / accesses:.0f} %" for key in _CHARACTERS[::3]]
            rows.append([runs.shown(workload), speed, *shares, *map(percent, changes)])
    return Sheet(
        "Why: one rule of AGCR changed at a time",
        (
            "workload",
            "speed",
            "first accesses",
            "interleaved",
            "AGCR",
            "first writes low",
            "no re-writes",
            "all writes low",
        ),
        rows,
        "Overall mean latency against Li et al. (waiting, equal data of high cost). AGCR writes "
        "pages at high cost that it has not seen, for reads that may come: where most writes are "
        "first ones, and above all in bursts, that is what it loses by; Li et al. write at low "
        "cost just then.",
    )


_CHARACTERS = (
    "first_accesses",
    "read_only_accesses",
    "write_only_accesses",
    "interleaved_accesses",
)


def _mix(runs: Runs) -> Sheet:
    levels = ("high", "medium", "low")
    rows = []
    for group, workloads, stand_in in runs.groups():
        for scheme in (TRADITIONAL, *(r.conflicts["high"] for r in READINGS), "AGCR", "expected"):
            of_it = [run for w in workloads if (run := runs.get(w, scheme))]
            cells = []
            for verb in ("read", "program"):
                for level in levels:
                    shares = [s for run in of_it if (s := _share(run, verb, level)) is not None]
                    cells.append("" if not shares else f"{100 * (mean(shares) or 0):.1f} %")
            rows.append([f"{group} [stand-in]" if stand_in else group, scheme, *cells])
    return Sheet(
        "Figure 9: the mix of operations",
        (
            "workloads",
            "scheme",
            "reads at low cost",
            "medium",
            "high",
            "writes at high cost",
            "medium",
            "low",
        ),
        rows,
        "A page that was written at high cost is read at low cost. All sources count, so re-writes "
        "are among the writes.",
    )


def _other_rules(runs: Runs) -> Sheet:
    schemes = {
        "AGCR": "2 bits",
        "AGCR, first writes low": "2 bits",
        "AGCR, window 3": "3 bits",
        "expected in 3 bits": "3 bits, die queues",
        "expected": "6 bits, die queues",
        "Wu": "die queues",
        "oracle": "all accesses to come",
        "ideal": "no flash can",
    }
    rows = []
    for workload in runs.workloads:
        for speed in runs.speeds:
            cells = []
            for scheme in schemes:
                base = READINGS[0].conflicts["high"]
                changes = [runs.change(workload, scheme, base, op, speed) for op in ("all", "read")]
                cells.append(
                    " / ".join(percent(change) for change in changes if change is not None)
                )
            rows.append([runs.shown(workload), speed, *cells])
    return Sheet(
        "Other rules, and what they have to know",
        ("workload", "speed", *(f"{name} ({needs})" for name, needs in schemes.items())),
        rows,
        "Overall mean latency / reads, against Li et al. (waiting, equal data of high cost). "
        "`expected` writes at the level at which the program and the reads to be expected before "
        "the next write take least time, learnt from how pages were read so far: most of what it "
        "gains is that it does not write first accesses at high cost, and it often pays in reads. "
        "`oracle` knows all accesses to come; `ideal` reads every page at low cost and writes "
        "every page at low cost.",
    )


def _plots(runs: Runs) -> Iterator[Plot]:
    li = READINGS[0].conflicts["high"]
    schemes = (li, "AGCR", "AGCR, first writes low", "expected", "ideal")
    for op, title in (("all", "overall"), ("read", "reads"), ("write", "writes")):
        values = [
            ({"workload": runs.shown(workload), "scheme": scheme}, 1 + change)
            for workload in runs.workloads
            for scheme in schemes
            if (change := runs.change(workload, scheme, TRADITIONAL, op)) is not None
        ]
        if values:
            yield Plot(
                "values",
                f"Mean latency, {title}, against MCW/MCR",
                x="workload",
                by="scheme",
                values=values,
            )
