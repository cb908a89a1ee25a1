"""The write-once code: Table 5, Figures 14 and 15, and what it is worth in a drive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floatgate.report.model import Finding, Sheet, Table
from floatgate.reproduce.studies.wom.chips import Chip, measured_chips
from floatgate.reproduce.studies.wom.pairs import (
    FIRST,
    PLAIN_TURNED,
    SECOND,
    infeasible,
    over,
    turned,
    value,
)
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.words import duration

PLAIN = "plain"


def analyse(comparison: Comparison, _: Study) -> Analysis:
    """The tables of the report."""
    chips = measured_chips()
    tables = [
        Table("Table 5: the code", list(_table_5()), _TABLE_5),
        Table("Bytes for each erase", list(_bytes(chips, comparison)), _BYTES),
        Table("Figure 14: energy", list(_figure_14(chips)), _FIGURE_14),
        Table("Figure 15: life", list(_figure_15(chips, comparison)), _FIGURE_15),
    ]
    return Analysis(tables, sheets=[_chip_sheet(chips), _drives(comparison)])


_TABLE_5 = """
By enumeration of the printed table. The text says that the 1s of a second word are a superset \
of those of the first; with the table as printed, and with flash that turns 1 into 0, it is \
the 0s."""

_BYTES = """
Three coded pages hold two logical ones, so what three do not divide of the 64 safe pages of a \
block holds plain data: the layout stays a little below the ideal. In a drive the last \
generation of some blocks is skipped, where too much is valid still."""

_FIGURE_14 = """
With the energies of Table 3 taken as constant, as the text says that program power is, the \
code costs energy: it programs half as many pages again for the same data, and saves an erase \
that is cheap beside them. Energy in proportion to the cells that turn gives savings near the \
published one: in two generations 1.875 cells turn for four bits, where plain data turns two. \
That is a reading of ours, not what the paper states; of cells that turn nothing was measured."""

_FIGURE_15 = """
If errors come from erases alone, life grows as bytes for each erase do: that is what the \
paper expects too. Its 5.2 is measured and, it says, not understood. Nothing that is modelled \
here gives more."""


def _table_5() -> Iterator[Finding]:
    words = {**{value: f"{word:03b}" for value, word in FIRST.items()}}
    for each, word in words.items():
        ours = f"{word}, then {SECOND[each]:03b}"
        printed = ("111, then 000", "110, then 001", "101, then 010", "011, then 100")[each]
        yield Finding(f"{each:02b}", "Table 5", printed, ours)
    pairs = len(FIRST) ** 2 - len(infeasible())
    yield Finding("second words that can be programmed, of 16", "4.2", None, pairs)
    kept = all(value(over(word, new)) == new for word in FIRST.values() for new in SECOND)
    read = "all" if kept else "not all"
    yield Finding("overwrites that read back, cells read first", "4.2", "all", read)


def _bytes(chips: Sequence[Chip], comparison: Comparison) -> Iterator[Finding]:
    for bits, published in ((2, 1.16), (1, 1.33)):
        some = [chip for chip in chips if chip.bits == bits]
        name = {1: "SLC", 2: "MLC"}[bits]
        yield Finding(
            f"{name}, if threes divided a block", "4.2", published, some[0].ideal_gain, "x"
        )
        yield Finding(f"{name}, the layout of its blocks", "4.2", published, some[0].gain, "x")
    for names, run in _coded(comparison, "wom"):
        if names["workload"] == "random":
            what = f"in a run, {names['drive']}, spare {names['ftl.spare-factor']}"
            published = 1.33 if "slc" in names["drive"] else 1.16
            yield Finding(what, "4.2", published, _per_erase(run), "x")


def _per_erase(run: Result) -> float | None:
    """Pages programmed for each page of the blocks erased."""
    geometry = run.provenance.config["geometry"]
    erased = run.flash.erase.total * geometry["pages-per-block"]
    return run.flash.program.total / erased if erased else None


def _figure_14(chips: Sequence[Chip]) -> Iterator[Finding]:
    energies = [chip.energy() for chip in chips]
    constant = [e.constant / e.plain - 1 for e in energies]
    by_cells = [e.by_cells / e.plain - 1 for e in energies]
    mean = sum(constant) / len(constant)
    yield Finding("mean, constant energies", "Fig. 14", -0.095, mean, "share")
    mean = sum(by_cells) / len(by_cells)
    yield Finding("mean, in proportion to cells that turn", "Fig. 14", -0.095, mean, "share")
    without = [e.without_reads / e.plain - 1 for e in energies]
    mean = sum(without) / len(without)
    yield Finding("the same, without the read before", "Fig. 14", -0.095, mean, "share")
    first, second = turned()
    yield Finding("cells that turn, plain data", "", None, PLAIN_TURNED, "share")
    yield Finding("in the first generation", "", None, first, "share")
    yield Finding("in the second", "", None, second, "share")


def _figure_15(chips: Sequence[Chip], comparison: Comparison) -> Iterator[Finding]:
    for bits, published in ((2, "up to 5.2; 1.17 expected"), (1, "no errors; 1.33 expected")):
        some = [chip for chip in chips if chip.bits == bits]
        what = f"{ {1: 'SLC', 2: 'MLC'}[bits] } chips, logical bytes until the rated erases"
        yield Finding(what, "Fig. 15", published, some[0].gain, "x")
    for names, run, plain in _pairs(comparison, "wom"):
        if names["workload"] != "random" or not run.flash.erase.total:
            continue
        ours = (plain.flash.erase.total / plain.host.write.bytes) / (
            run.flash.erase.total / run.host.write.bytes
        )
        what = f"in a drive, {names['drive']}, spare {names['ftl.spare-factor']}"
        yield Finding(what, "", None, ours, "x")


def _chip_sheet(chips: Sequence[Chip]) -> Sheet:
    rows = []
    for chip in chips:
        energy = chip.energy()
        rows.append(
            [
                chip.name,
                f"{chip.safe} of {chip.pages}",
                f"{chip.gain:.3f}",
                f"{chip.density:.3f}",
                f"{1e6 * energy.plain:.1f} uJ",
                f"{100 * (energy.constant / energy.plain - 1):+.1f} %",
                f"{100 * (energy.by_cells / energy.plain - 1):+.1f} %",
            ]
        )
    return Sheet(
        "Each chip",
        (
            "chip",
            "safe pages",
            "bytes for an erase",
            "density",
            "a page, plain",
            "coded, constant energies",
            "by cells that turn",
        ),
        rows,
        "Energy of programming a logical page and of its share of an erase, published -9.5 % in "
        "the mean.",
    )


def _runs(comparison: Comparison) -> Iterator[tuple[dict[str, str], Result]]:
    for names, run in zip(comparison.variants, comparison.runs, strict=True):
        yield {**names, "drive": run.provenance.config.name}, run


def _coded(comparison: Comparison, coding: str) -> Iterator[tuple[dict[str, str], Result]]:
    for names, run in _runs(comparison):
        if names["coding"] == coding:
            yield names, run


def _pairs(
    comparison: Comparison, coding: str | None = None
) -> Iterator[tuple[dict[str, str], Result, Result]]:
    def setting(names: dict[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((k, v) for k, v in names.items() if k != "coding"))

    plain = {setting(names): run for names, run in _coded(comparison, PLAIN)}
    for names, run in _runs(comparison):
        base = plain.get(setting(names))
        if names["coding"] != PLAIN and base is not None and coding in (None, names["coding"]):
            yield names, run, base


def _drives(comparison: Comparison) -> Sheet:
    rows = []
    for names, run, plain in _pairs(comparison):
        host = run.host.write.bytes
        erases = _change(run.flash.erase.total, plain.flash.erase.total)
        energy = _change(run.energy_joules.total, plain.energy_joules.total)
        operations = _change(_operations(run), _operations(plain))
        lives = run.policies.coding.counters["second_generations"]
        rows.append(
            [
                names["drive"],
                f"{names['workload']}{' [stand-in]' if run.provenance.workload.stand_in else ''}",
                names["ftl.spare-factor"],
                names["coding"],
                f"{plain.waf:.2f}",
                f"{run.waf:.2f}" if host else "",
                erases,
                operations,
                energy,
                _change(run.host.write.latency_ns.mean, plain.host.write.latency_ns.mean),
                duration(run.host.write.latency_ns.mean),
                f"{100 * lives / (lives + run.flash.erase.total):.0f} %",
            ]
        )
    return Sheet(
        "In a drive: plain against coded, the same flash and the same capacity",
        (
            "drive",
            "workload",
            "spare",
            "coding",
            "WAF plain",
            "WAF coded",
            "erases",
            "energy of operations",
            "all energy",
            "write latency",
            "",
            "second passes",
        ),
        rows,
        "Second passes: of all blocks reclaimed, those that went to their second generation. "
        "Energies of operations are constant.",
    )


def _operations(run: Result) -> float:
    joules = run.energy_joules
    return float(joules.total - (joules.idle or 0.0))


def _change(ours: float, base: float) -> str:
    return f"{100 * (ours / base - 1):+.1f} %" if base else ""
