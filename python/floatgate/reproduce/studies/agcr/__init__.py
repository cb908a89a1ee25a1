"""AGCR: its figures, the grid of what the paper leaves open, and where it wins and loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from floatgate.report.model import Finding, Plot, Sheet, Table
from floatgate.reproduce.studies.agcr.beyond import beyond
from floatgate.reproduce.studies.agcr.grid import (
    DRIVE,
    HEAD,
    HEADLINE,
    OPS,
    TRADITIONAL,
    Runs,
    mean,
    of_trace,
    percent,
    settings,
    speed_of,
)
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.workloads.stand_ins import expected_error


def analyse(comparison: Comparison, study: Study) -> Analysis:
    """The tables and plots of the report."""
    runs = Runs(comparison)
    tables = [
        Table("Figure 1: one cost for everything", list(_figure_1(runs)), _FIGURE_1),
        Table("Figure 2: what pages are accessed as", list(_figure_2(runs, study)), _FIGURE_2),
        Table("Figure 6: identification by window", list(_figure_6(runs, study)), _FIGURE_6),
        Table("Figures 7 and 8: AGCR against Li et al.", list(_figure_7(runs)), _FIGURE_7),
        Table("Figure 9: operations by cost, and what it takes", list(_figure_9(runs))),
    ]
    sheets = [_wins(runs), _grid(runs), _losses(runs), _better(runs), _mix(runs)]
    return Analysis(
        [table for table in tables if table.rows],
        list(_plots(runs)),
        sheets=[_doubted(sheet) for sheet in (*sheets, *beyond(comparison, runs)) if sheet.rows],
        shown=_headline(comparison),
    )


def _doubted(sheet: Sheet) -> Sheet:
    """The sheet, which says what a stand-in may bring if there is one in it."""
    if not any("[stand-in]" in cell for row in sheet.rows for cell in row):
        return sheet
    doubt = f"Reads: {_doubt('read')}; writes: {_doubt('write')}."
    return replace(sheet, text=f"{sheet.text} {doubt}".strip())


def _headline(comparison: Comparison) -> Comparison:
    """The runs of the cell that was chosen beforehand: all of them would be too many to read."""
    schemes = ("HCW/LCR", TRADITIONAL, "LCW/HCR", HEADLINE, "AGCR", "expected")
    chosen = [
        (names, run)
        for names, run in zip(comparison.variants, comparison.runs, strict=True)
        if names["cost"] in schemes and of_trace(run, DRIVE) and speed_of(run) == HEAD.speed
    ]
    kept = ("workload", "cost")
    variants = [{key: names[key] for key in kept} for names, _ in chosen]
    return Comparison([run for _, run in chosen], variants, comparison.failed)


_FIGURE_1 = """
Mean response times, queueing included, against the traditional case, averaged over workloads. A \
latency without queueing would change by -58.8 % for reads (70 against 170 us) and by -25 % for \
writes (450 against 600 us). The last two rows are points of the traditional case: reading them \
as ratios would contradict the paper's own bars."""

_FIGURE_2 = """
Of all reads, those on pages that are read-only over the whole workload (more than 95 % reads), \
and likewise of writes. For a stand-in these shares are what it was made from: only real traces \
test the observation."""

_FIGURE_6 = """
Each access judged by the page's last accesses, against the character of the page over the whole \
workload; accesses to pages without history are left out. The paper's numbers are lost; the text \
says that accuracy rises with the window, and ever less."""

_FIGURE_7 = """
The cell chosen beforehand. The slides' averages of 32 % and 22 % cannot be reductions, as the \
paper's maximum for writes is 20.4 %; as speed-ups (Li over AGCR, less one) the two agree, and \
so they are computed here. Two \
things drive ours beyond the paper's, and the grid below shows both: 64 dies leave these workloads \
nearly without queues, so that Li et al. write at high cost nearly always (its last column); and \
what the traces find on the drive was written at medium cost for Li et al., at high cost for AGCR. \
With the same data for both, or with more load, the gain shrinks, and turns."""


def _figure_1(runs: Runs) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        high, low = "HCW/LCR", "LCW/HCR"
        for what, scheme, op, published in (
            ("reads with HCW/LCR", high, "read", -0.54),
            ("writes with LCW/HCR", low, "write", -0.26),
        ):
            ours = mean(runs.changes(workloads, scheme, TRADITIONAL, op))
            note = _doubt(op) if stand_in else ""
            yield Finding(f"{what}, {group}", "Fig. 1", published, ours, "share", stand_in, note)
        for op, published in (("read", 1.14), ("write", 0.61)):
            low_change = mean(runs.changes(workloads, low, TRADITIONAL, op))
            high_change = mean(runs.changes(workloads, high, TRADITIONAL, op))
            if low_change is not None and high_change is not None:
                apart = abs(low_change - high_change)
                what = f"{op}s, HCW/LCR and LCW/HCR apart, {group}"
                note = _doubt(op) if stand_in else ""
                yield Finding(what, "Fig. 1", published, apart, "share", stand_in, note)


def _figure_2(runs: Runs, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        described = [study.describe(workload) for workload in workloads]
        for what, key, published in (
            ("reads on read-only pages", "reads_on_read_only", 0.85),
            ("writes on write-only pages", "writes_on_write_only", 0.91),
        ):
            shares = {
                workload: each.characters[key]
                for workload, each in zip(workloads, described, strict=True)
                if each.characters[key] is not None
            }
            note = "an input of stand-ins" if stand_in else ""
            ours = mean([*shares.values()])
            kind = "input" if stand_in else "output"
            yield Finding(
                f"{what}, mean of {group}", "Fig. 2", published, ours, "share", stand_in, note, kind
            )
            for workload, share in shares.items():
                yield Finding(f"{what}, {workload}", "Fig. 2", None, share, "share", stand_in, note)


def _figure_6(runs: Runs, study: Study) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        identified = [study.describe(workload).identification for workload in workloads]
        for i in range(3):
            accuracies = [each.windows[i]["accuracy"] for each in identified if each.judged]
            what = f"window {i + 1}, {group}"
            error = expected_error("identification.window_2")
            doubt = f"a stand-in may be off by {100 * (error or 0):.0f} points here"
            note = doubt if stand_in else ""
            yield Finding(what, "Fig. 6", None, mean(accuracies), "share", stand_in, note)


def _figure_7(runs: Runs) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        overall, reads, writes = (
            runs.changes(workloads, "AGCR", HEADLINE, op) for op in ("all", "read", "write")
        )
        for what, where, op, published, ours in (
            ("overall, mean", "Fig. 7", "write", -0.15, mean(overall)),
            ("reads, best", "Fig. 8a", "read", -0.483, min(reads, default=None)),
            ("writes, best", "Fig. 8b", "write", -0.204, min(writes, default=None)),
            (
                "reads, mean speed-up",
                "slides",
                "read",
                0.32,
                mean([1 / (1 + c) - 1 for c in reads]),
            ),
            (
                "writes, mean speed-up",
                "slides",
                "write",
                0.22,
                mean([1 / (1 + c) - 1 for c in writes]),
            ),
        ):
            note = _doubt(op) if stand_in else ""
            yield Finding(f"{what}, {group}", where, published, ours, "share", stand_in, note)


def _doubt(op: str) -> str:
    """What a stand-in may bring into AGCR's change of a latency, as judged on real traces."""
    error = expected_error(f"agcr.{op}")
    return "" if error is None else f"a stand-in may be off by {100 * error:.0f} % here"


def _figure_9(runs: Runs) -> Iterator[Finding]:
    for group, workloads, stand_in in runs.groups():
        shares = [_rewrites(run) for w in workloads if (run := runs.get(w, "AGCR"))]
        what = f"re-writes of all host accesses, mean of {group}"
        note = "not judged for stand-ins" if stand_in else ""
        yield Finding(what, "Fig. 9", "at most 1 %", mean(shares), "share", stand_in, note)
        most = max(zip(shares, workloads, strict=True), default=None)
        if most is not None:
            what = f"re-writes of all host accesses, most ({most[1]})"
            yield Finding(what, "Fig. 9", "at most 1 %", most[0], "share", stand_in, note)
    run = next((run for w in runs.workloads if (run := runs.get(w, "AGCR"))), None)
    if run is not None:
        # Two bits for each logical page, here for 64 GiB of pages of 4 KiB as in the paper.
        bytes_per_page = run.policies.cost.dram_bytes / (run.capacity.logical_bytes / 4096)
        ours = bytes_per_page * 2**24
        what = "history and tags of 64 GB in pages of 4 KB"
        yield Finding(what, "3.4", 4 * 2**20, ours, "bytes", kind="check")


def _rewrites(run: Result) -> float:
    host = run.flash.read.host + run.flash.program.host
    return float(run.flash.program.rewrite / host)


def _wins(runs: Runs) -> Sheet:
    rows = []
    for workload in runs.workloads:
        overall = runs.change(workload, "AGCR", HEADLINE, "all")
        verdict = "" if overall is None else _verdict(overall)
        changes = [percent(runs.change(workload, "AGCR", HEADLINE, op)) for op in OPS]
        traditional = percent(runs.change(workload, "AGCR", TRADITIONAL, "all"))
        rows.append([runs.shown(workload), *changes, verdict, traditional])
    return Sheet(
        "Where AGCR wins and where it loses",
        ("workload", "reads", "writes", "overall", "", "overall against MCW/MCR"),
        rows,
        "AGCR against Li et al. in the cell chosen beforehand; less is better.",
    )


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
                _low_writes(run) for w in workloads if (run := runs.get(w, pair[1], setting.speed))
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
        "AGCR against Li et al.; published -15 %, -48.3 % and -20.4 %. "
        f"The headline is {HEAD.scope}, {HEAD.queue_min}, {HEAD.initial}, {HEAD.speed}.",
    )


def _low_writes(run: Result) -> float:
    program = run.flash.by_level.program
    total = program.high + program.medium + program.low
    return float(program.low / total) if total else 0.0


def _losses(runs: Runs) -> Sheet:
    """Why AGCR loses where it does: one rule of it changed at a time."""
    rows = []
    for workload in runs.workloads:
        for speed in runs.speeds:
            base = HEADLINE
            changes = [
                runs.change(workload, scheme, base, "all", speed)
                for scheme in (
                    "AGCR",
                    "AGCR, first writes low",
                    "AGCR without re-writes",
                    "LCW/HCR",
                )
            ]
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
        "Overall mean latency against Li et al. (device, 1). AGCR writes pages at high cost that "
        "it has not seen, for reads that may come: where most writes are first ones, and above "
        "all in bursts, that is what it loses by; Li et al. write at low cost just then.",
    )


_CHARACTERS = (
    "first_accesses",
    "read_only_accesses",
    "write_only_accesses",
    "interleaved_accesses",
)


def _mix(runs: Runs) -> Sheet:
    rows = []
    for group, workloads, stand_in in runs.groups():
        for scheme in (TRADITIONAL, HEADLINE, "AGCR", "expected"):
            of_it = [run for w in workloads if (run := runs.get(w, scheme))]
            cells = []
            for kind in ("read", "program"):
                for level in ("high", "medium", "low"):
                    shares = [
                        counts[level] / sum(counts[name] for name in ("high", "medium", "low"))
                        for run in of_it
                        if any(
                            (counts := run.flash.by_level[kind])[n]
                            for n in ("high", "medium", "low")
                        )
                    ]
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
        "are among the writes. The paper says, without numbers that survive, that AGCR has clearly "
        "more low-cost reads and writes than Li et al.",
    )


def _better(runs: Runs) -> Sheet:
    rows = []
    schemes = ("AGCR", "AGCR, first writes low", "expected", "Wu", "oracle", "ideal")
    for workload in runs.workloads:
        for speed in runs.speeds:
            changes = [runs.change(workload, s, HEADLINE, "all", speed) for s in schemes]
            rows.append([runs.shown(workload), speed, *map(percent, changes)])
    return Sheet(
        "Something better under the same information",
        ("workload", "speed", *schemes),
        rows,
        "Overall mean latency against Li et al. (device, 1). `expected` writes at the level at "
        "which the program and the reads to be expected before the next write take least time, "
        "learnt from how pages were read so far. `oracle` knows all accesses to come; `ideal` "
        "reads every page at low cost and writes every page at low cost, which no flash can.",
    )


def _plots(runs: Runs) -> Iterator[Plot]:
    schemes = (HEADLINE, "AGCR", "AGCR, first writes low", "expected", "ideal")
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
