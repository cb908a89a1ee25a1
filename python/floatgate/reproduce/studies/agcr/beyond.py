"""What the paper leaves out: read share, queue depth, full drives, tails, wear and energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floatgate.report.model import Sheet
from floatgate.reproduce.claims import percent
from floatgate.reproduce.studies.agcr.grid import READINGS, TRADITIONAL, Runs
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.words import duration

_LI = READINGS[0].conflicts["high"]
_SCHEMES = (
    TRADITIONAL,
    _LI,
    "AGCR",
    "AGCR, first writes low",
    "expected",
    "expected in 3 bits",
    "ideal",
)


def beyond(comparison: Comparison, runs: Runs) -> list[Sheet]:
    """A sheet for each question that has runs."""
    pairs = list(zip(comparison.variants, comparison.runs, strict=True))
    along = [_along(pairs, *question) for question in _QUESTIONS]
    return [*along, _larger(runs, Runs(comparison, "agcr-128g")), _tails(runs), _full(pairs)]


def _larger(runs: Runs, larger: Runs) -> Sheet:
    """Both readings of the paper's drive."""
    rows = [
        [
            runs.shown(workload),
            *(percent(of.change(workload, "AGCR", _LI, "all")) for of in (runs, larger)),
            *(percent(of.change(workload, "AGCR", TRADITIONAL, "all")) for of in (runs, larger)),
        ]
        for workload in larger.workloads
    ]
    return Sheet(
        "The drive read the other way",
        ("workload", "32 GiB", "128 GiB", "against MCW/MCR, 32 GiB", "128 GiB"),
        rows,
        "AGCR's overall mean latency against Li et al. (waiting, equal data of high cost) and "
        "against MCW/MCR, at the load of Fig. 1, on 512 blocks in each "
        "plane, as the paper's words have it, and on 2048, as its simulator may have read them. "
        "Where nothing is collected the size of a drive does not matter.",
    )


_QUESTIONS = (
    (
        "zipf by read share",
        "workload.read-share",
        "How many reads",
        "share of reads",
        "Zipf accesses of 4 KiB at half of what the traditional drive could take, every page read "
        "and written alike: the interleaved pages that AGCR writes at medium cost.",
    ),
    (
        "zipf by queue depth",
        "host.queue-depth",
        "How deep the queue",
        "queue depth",
        "Zipf accesses, half of them reads, in a closed loop.",
    ),
    (
        "zipf by footprint",
        "workload.span",
        "How large the footprint",
        "footprint",
        "Zipf accesses, half of them reads: fewer pages are accessed more often each.",
    ),
)


def _along(
    pairs: Sequence[tuple[dict[str, str], Result]],
    workload: str,
    axis: str,
    title: str,
    head: str,
    text: str,
) -> Sheet:
    """Mean latency of every scheme against the traditional case along one setting."""
    means: dict[str, dict[str, float]] = {}
    for names, run in pairs:
        if names["workload"] == workload:
            means.setdefault(names[axis], {})[names["cost"]] = run.host.all.latency_ns.mean
    rows = [
        [value, *(percent(_change(row, scheme)) for scheme in _SCHEMES[1:])]
        for value, row in means.items()
    ]
    words = f"{text} Overall mean latency against MCW/MCR."
    return Sheet(title, (head, *_SCHEMES[1:]), rows, words)


def _change(row: dict[str, float], scheme: str) -> float | None:
    base = row.get(TRADITIONAL)
    return row[scheme] / base - 1 if base and scheme in row else None


def _tails(runs: Runs) -> Sheet:
    """Percentiles, which means hide."""
    rows = []
    for workload in runs.workloads:
        for scheme in (TRADITIONAL, _LI, "AGCR", "expected"):
            run = runs.get(workload, scheme)
            if run is None:
                continue
            cells = [
                duration(run.host[op].latency_ns[key]) if run.host[op].requests else ""
                for op in ("read", "write")
                for key in ("p50", "p99", "p99_9")
            ]
            rows.append([runs.shown(workload), scheme, *cells])
    head = ("reads p50", "p99", "p99.9", "writes p50", "p99", "p99.9")
    return Sheet("Percentiles", ("workload", "scheme", *head), rows)


def _full(pairs: Sequence[tuple[dict[str, str], Result]]) -> Sheet:
    """A full drive: write amplification, wear, energy."""
    full = {
        (names["ftl.spare-factor"], names["cost"]): run
        for names, run in pairs
        if names["workload"] == "zipf full drive"
    }
    return Sheet(
        "A full drive: garbage collection, wear and energy",
        (
            "spare factor",
            "scheme",
            "bits a page",
            "mean latency",
            "reads",
            "WAF",
            "erases",
            "re-writes",
            "energy per host MiB",
        ),
        [[*names, *_of_full(run)] for names, run in full.items()],
        "Zipf accesses, half of them reads, 1,500 a second on a small drive that was filled and "
        f"aged. {_quickest(full)}Energies of a read, a program and an erase are those of chip "
        "C-MLC64, for levels in proportion to their times (Grupp et al.: power does not depend on "
        "the page's speed).",
    )


def _of_full(run: Result) -> list[str]:
    host = run.host.all
    joules = run.energy_joules.total if run.energy_joules else None
    bits = 8 * run.policies.cost.dram_bytes / (run.capacity.logical_bytes / 4096)
    return [
        f"{bits:.0f}",
        duration(host.latency_ns.mean),
        duration(run.host.read.latency_ns.mean),
        f"{run.waf:.3f}",
        f"{run.flash.erase.total}",
        f"{run.flash.program.rewrite}",
        "" if joules is None else f"{1e3 * joules / (host.bytes / 2**20):.1f} mJ",
    ]


def _quickest(full: Mapping[tuple[str, str], Result]) -> str:
    """Which scheme is quickest at each spare factor, and what AGCR costs where little is spare."""
    parts = []
    for spare in dict.fromkeys(spare for spare, _ in full):
        means = {
            cost: run.host.all.latency_ns.mean
            for (at, cost), run in full.items()
            if at == spare and cost != "ideal"
        }
        best = min(means, key=lambda cost: means[cost])
        against = "".join(
            f", {cost} takes {means[cost] / means[TRADITIONAL]:.2f} times as long as {TRADITIONAL}"
            for cost in ("AGCR", "expected")
            if cost in means and TRADITIONAL in means
        )
        parts.append(f"at {spare} {best} is quickest{against}")
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}. " if said else ""
