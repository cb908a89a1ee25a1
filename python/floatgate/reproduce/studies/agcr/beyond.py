"""Beyond the paper: read share, queue depth, full drives, tails, wear and energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from floatgate.reproduce.studies.agcr import grid
from floatgate.reproduce.studies.agcr.grid import AT_LOAD, LI, LOAD, TRADITIONAL, latency
from floatgate.reproduce.study import Column, Evidence, Result, Sheet, Taken, column

_SCHEMES = (LI, "AGCR", "AGCR, first writes low", "expected", "expected in 3 bits", "ideal")


_QUESTIONS = (
    (
        "zipf by read share", "workload.read-share", "How many reads", "share of reads",
        "Zipf accesses of 4 KiB at half of what the traditional drive could take, every page read "
        "and written alike: the interleaved pages that AGCR writes at medium cost.",
    ),
    (
        "zipf by queue depth", "host.queue-depth", "How deep the queue", "queue depth",
        "Zipf accesses, half of them reads, in a closed loop.",
    ),
    (
        "zipf by footprint", "workload.span", "How large the footprint", "footprint",
        "Zipf accesses, half of them reads: fewer pages are accessed more often each.",
    ),
)  # fmt: skip


def beyond(evidence: Evidence) -> list[Sheet]:
    """A sheet for each question; those without runs stay empty."""
    full, sizes = {"workload": "zipf full drive"}, {"32 GiB": grid.DRIVE, "128 GiB": grid.LARGER}
    runs = {(taken.names["ftl.spare-factor"], taken.names["cost"]): taken.run
            for taken in evidence.of(full)}  # fmt: skip
    found: Iterable[tuple[str, Mapping[str, Any], Any, Mapping[str, Column], str]] = (
        *(
            (title, {"workload": workload, "cost": TRADITIONAL}, {axis: head},
             {scheme: latency("all", {"cost": scheme}, TRADITIONAL) for scheme in _SCHEMES},
             f"{text} Overall mean latency against MCW/MCR.")
            for workload, axis, title, head, text in _QUESTIONS
        ),
        (
            "The drive read the other way",
            {"drive": grid.LARGER, "host.speed": LOAD, "cost": "AGCR"}, ("workload",),
            {
                f"{words}{size}": latency("all", {"drive": drive}, base)
                for base, words in ((LI, ""), (TRADITIONAL, "against MCW/MCR, "))
                for size, drive in sizes.items()
            },
            "AGCR's overall mean latency at the load of Fig. 1, against Li et al. (waiting, equal "
            "data of high cost) and against MCW/MCR. Planes have 512 blocks, as in the paper's "
            "words, or 2048, as its simulator may have read them. The size of a drive does not "
            "matter if nothing is collected.",
        ),
        (
            "Percentiles", {**AT_LOAD, "cost": [TRADITIONAL, LI, "AGCR", "expected"]},
            {"workload": "workload", "cost": "scheme"},
            {
                f"{op}s {key.replace('_', '.')}":
                column(f"host.{op}.latency_ns.{key}", "ns", least={f"host.{op}.requests": 1})
                for op in ("read", "write") for key in ("p50", "p99", "p99_9")
            },
            "",
        ),
        (
            "A full drive: garbage collection, wear and energy", full,
            {"ftl.spare-factor": "spare factor", "cost": "scheme"},
            {
                "bits a page": _words(_bits),
                "mean latency": column("host.all.latency_ns.mean", "ns"),
                "reads": column("host.read.latency_ns.mean", "ns"), "WAF": column("waf", "x"),
                "erases": _words(lambda run: str(run.flash.erase.total)),
                "re-writes": _words(lambda run: str(run.flash.program.rewrite)),
                "energy per host MiB": _words(_energy),
            },
            "Zipf accesses, half of them reads, 1,500 a second on a small drive that was filled "
            f"and aged. {_quickest(runs)}Energies of a read, a program and an erase are those of "
            "chip C-MLC64. For levels they are in proportion to their times (Grupp et al.: power "
            "does not depend on the page's speed).",
        ),
    )  # fmt: skip
    return [evidence.sheet(*each) for each in found]


def _words(of: Callable[[Result], str]) -> Callable[[Taken], str]:
    return lambda taken: of(taken.run)


def _bits(run: Result) -> str:
    return f"{8 * run.policies.cost.dram_bytes / (run.capacity.logical_bytes / 4096):.0f}"


def _energy(run: Result) -> str:
    joules = run.energy_joules.total if run.energy_joules else None
    return "" if joules is None else f"{1e3 * joules / (run.host.all.bytes / 2**20):.1f} mJ"


def _quickest(full: Mapping[tuple[str, str], Result]) -> str:
    """The quickest scheme at each spare factor, and the price of AGCR with little spare."""
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
