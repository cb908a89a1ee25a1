"""The write-once code: Table 5, Figures 14 and 15, and what it is worth in a drive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from floatgate.report.model import Finding, Sheet, Table
from floatgate.reproduce.claims import Evidence, column, numbers, percent, quotient
from floatgate.reproduce.studies.gc_laws import fifo, greedy, share
from floatgate.reproduce.studies.wom import chips as code
from floatgate.reproduce.studies.wom.chips import FIRST, PRINTED, SECOND, Chip, measured_chips
from floatgate.reproduce.study import Analysis, Experiment, Published, Result, Study

PLAIN = {"coding": "plain"}
SPARE, LAYOUT = "ftl.spare-factor", "the layout of its blocks"
DRIVES = (
    ("c-mlc64", 2, 0.16, 0.17, (0.3, 0.4, 0.5, 0.6)),
    ("a-slc4", 1, 0.33, 0.33, (0.45, 0.55, 0.65, 0.75)),
)
"""Drive, bits in a cell, what a block gains (4.2), what life is expected to, and spare factors."""

SLC = "a-slc4"
"""The drive of one bit in a cell."""

LAW = 0.02
"""How far a run may be from a law, as a share of it."""

LEAST = {"flash.erase.total": 192.0}
"""As many as the larger drive has blocks."""


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """The tables of the report."""
    chips = measured_chips()
    more, longer = (evidence.findings(_in_drives(more=more)) for more in (True, False))
    tables = [
        Table("Table 5: the code", [*_table_5()], _TABLE_5),
        Table(
            "Bytes for each erase",
            [*_bytes(chips), *evidence.findings(_of_blocks()), *more],
            _BYTES,
        ),
        Table("Figure 14: energy", [*_figure_14(chips)], _FIGURE_14),
        Table("Figure 15: life", [*_figure_15(chips), *longer], _FIGURE_15),
        Table("Laws of coded drives", [*_laws(evidence, chips)], _LAWS),
    ]
    return Analysis(tables, sheets=[_chip_sheet(chips), _drives(evidence)], says=_says(tables))


def _says(tables: Sequence[Table]) -> str:
    parts = []
    for what, words in (("more", "takes {} more for each erase"), ("longer", "lives {} longer")):
        found = numbers(tables, f"{what} in a drive").values()
        if found:
            parts.append(words.format(f"{percent(min(found))} to {percent(max(found))}"))
    drives = f", and a coded drive {' and '.join(parts)}" if parts else ""
    gains = numbers(tables, "").items()
    layout = (g - 1 for what, g in gains if what.endswith(LAYOUT))
    mlc, slc = (f"{100 * more:.1f} %" for more in layout)
    blocks = f"Coded blocks of MLC and SLC take {mlc} and {slc} more for each erase"
    return f"{blocks}{drives}, by its spare space."


_TABLE_5 = """
By enumeration of the printed table: of the sixteen pairs of words thirteen can be programmed, and \
the other three would store what is there. The text says that the 1s of a second word are a \
superset of those of the first. With the table as printed, and with flash that turns 1 into 0, it \
is the 0s."""

_BYTES = """
Three coded pages hold two logical ones. The rest of the 64 safe pages of a block, divided by \
three, holds plain data, and so the layout is a little below the ideal. A drive that is written in \
order reclaims blocks on which nothing is valid, as chips of the paper do, so it shows what the \
paper claims. Rows "in a drive" are random writes, of which the paper claims nothing: there the \
last generation of some blocks is skipped, where too much is valid still."""

_FIGURE_14 = """
The published saving is the mean energy of a program plus the erase over the bytes gained, a mean \
of eleven chips. That forgets that a coded page holds two thirds of its bits: for each logical \
page the same numbers give no saving, and the code costs. Energy in proportion to the cells that \
turn is our assumption. In two generations 1.875 cells turn for four bits, while plain data turns \
two; the paper did not measure cells that turn."""

_FIGURE_15 = """
If errors come from erases alone, life grows as bytes for each erase do: that is what the paper \
expects too. Its 5.2 is measured and, it says, not understood. If errors depended on the levels \
that the data needs, they would halve at most. The cells of the model answer with 1.38 times the \
cycles: the third row is that bound."""


def _table_5() -> Iterator[Finding]:
    printed = ("111, then 000", "110, then 001", "101, then 010", "011, then 100")
    for each, word in FIRST.items():
        ours = f"{word:03b}, then {SECOND[each]:03b}"
        yield Finding(f"{each:02b}", "Table 5", printed[each], ours, kind="input", by=_CODE)
    kept = all(code.value(code.over(word, new)) == new for word in FIRST.values() for new in SECOND)
    read = "all" if kept else "not all"
    yield Finding("overwrites that read back, cells read first", "4.2", "all", read,
                  kind="follows", by=_CODE)  # fmt: skip


_CODE = [{"formula": "the code of Table 5, by enumeration"}]


def _by(rule: str, *chips: Chip) -> list[dict[str, str]]:
    return [{"chip": chip.name, "rule": rule} for chip in chips]


def _of_both(chips: Sequence[Chip]) -> list[tuple[str, Chip, float, float]]:
    """MLC and SLC: a chip, what the paper says of bytes for an erase, and of life."""
    both = (("MLC", 2, 1.16, 1.17), ("SLC", 1, 1.33, 1.33))
    return [
        (name, next(chip for chip in chips if chip.bits == bits), more, longer)
        for name, bits, more, longer in both
    ]


def _bytes(chips: Sequence[Chip]) -> Iterator[Finding]:
    for name, chip, published, _ in _of_both(chips):
        for rule, ours in (("if threes divided a block", chip.ideal_gain), (LAYOUT, chip.gain)):
            yield Finding(f"{name}, {rule}", "4.2", published, ours, "x", kind="follows",
                          by=_by(rule, chip))  # fmt: skip


def more_for_each_erase(run: Result) -> float | None:
    """Pages programmed for each page of the blocks erased, less one."""
    geometry = run.provenance.config["geometry"]
    erased = run.flash.erase.total * geometry["pages-per-block"]
    return run.flash.program.total / erased - 1 if erased else None


host_for_each_erase = quotient("host.write.bytes", "flash.erase.total")
"""Bytes of the host for each erase: the life of a drive whose errors come from erases."""


def _in_drives(more: bool) -> Iterator[Published]:
    """How much more a coded drive takes for each erase, or how much longer it lives."""
    for drive, _, gain, life, spares in DRIVES:
        for spare in spares:
            where = {"drive": drive, "workload": "random", "coding": "wom", SPARE: spare}
            what = f"{'more' if more else 'longer'} in a drive, {drive}, spare {spare}"
            if more:
                yield Published(what, more_for_each_erase, gain, where, {}, "share", "4.2",
                                least=LEAST, kind="beyond")  # fmt: skip
            else:
                yield Published(what, host_for_each_erase, life, where, PLAIN, "", "4.2",
                                least=LEAST, kind="beyond")  # fmt: skip


def _of_blocks() -> Iterator[Published]:
    """The energy of a block for each erase if nothing on it is valid when it is reclaimed."""
    for drive, bits, gain, _, _ in DRIVES:
        where = {"drive": drive, "workload": "in order", "coding": "wom"}
        name = "SLC" if bits == 1 else "MLC"
        yield Published(f"{name}, blocks written in order", more_for_each_erase, gain, where, {},
                        "share", "4.2", least=LEAST)  # fmt: skip


def claims(_experiment: Experiment) -> Iterator[Published]:
    """Claims about drives; the others are about chips and the code."""
    yield from _of_blocks()
    yield from _in_drives(more=True)
    yield from _in_drives(more=False)


def _figure_14(chips: Sequence[Chip]) -> Iterator[Finding]:
    for account in chips[0].energy():
        ours, by = fmean(chip.energy()[account] for chip in chips), _by(account, *chips)
        kind = "follows" if account == PRINTED else "beyond"
        yield Finding(f"mean, {account}", "Fig. 14", -0.095, ours, "share", kind=kind, by=by)


def _figure_15(chips: Sequence[Chip]) -> Iterator[Finding]:
    for name, chip, _, expected in _of_both(chips):
        what = f"{name} chips, logical bytes until the rated erases, expected"
        yield Finding(what, "4.2", expected, chip.gain, "x", kind="follows", by=_by(LAYOUT, chip))
    what, (_, chip, *_) = "MLC chips, measured; ours: at most, by levels", _of_both(chips)[0]
    by = _by("errors by levels", chip)
    yield Finding(what, "Fig. 15", 5.2, chip.life_by_levels(), "x", by=by)


_LAWS = """
On one bit all pages but one of a block are coded. A generation is then collected like a block \
of a plain drive that has only its slots. So the write amplification is that of greedy \
collection with that number of pages in a block (Van Houdt 2013). Erases follow from it and from \
what a block takes between two erases. On two bits valid plain pages stay for the second \
generation, so the law does not apply. The storage rate is the exported share of the flash. The \
abstract of Yaakobi et al. gives 0.6442 for conventional schemes, which is checked as a bound. \
The last rows are our derivation, with blocks without end."""

FIXED_RATE = 0.7729
"""The most that a code stores in a cell at each of two writes of the same size, in bits."""

ANY_GAIN = {"coding": "wom, any gain"}
"""Every block has a second generation, as the laws assume."""


def _laws(evidence: Evidence, chips: Sequence[Chip]) -> Iterator[Finding]:
    chip = next(chip for chip in chips if chip.name == SLC)
    for spare in next(spares for drive, *_, spares in DRIVES if drive == SLC):
        where = {"drive": SLC, "workload": "random", SPARE: spare} | ANY_GAIN
        for taken in evidence.of(where):
            plain = evidence.beside(taken, PLAIN)
            if taken.run is None or plain is None:
                continue
            rate, slots = share(taken.run), round(chip.pages * chip.density)
            coded = greedy(rate / chip.density, slots)
            yield Finding(f"WAF, spare {spare}", "greedy collection", coded, taken.run.waf, "x",
                          kind="check", band=LAW, runs=[taken.names])  # fmt: skip
            erases = coded / greedy(rate, chip.pages) / chip.gain
            ours = taken.run.flash.erase.total / plain.run.flash.erase.total
            yield Finding(f"erases against plain, spare {spare}", "the same", erases, ours, "x",
                          kind="check", band=LAW, runs=[taken.names, plain.names])  # fmt: skip
    by = [{"formula": "greedy collection, blocks without end"}]
    for what, rate in (("the code of Table 5", 2 / 3), ("the best code of one rate", FIXED_RATE)):
        yield Finding(f"storage rate up to which erases improve, {what}", "Yaakobi et al. 2015",
                      "at most 0.6442", improves_up_to(rate), kind="check", by=by)  # fmt: skip


def improves_up_to(rate: float) -> float:
    """The storage rate above which a code of two equal writes has more erases than plain data.

    A plain drive has WAF(a) erases for each block of data, at the storage rate a. One whose cells
    all hold `rate` bits at each of two writes has WAF(a / rate) / (2 rate).

    >>> [round(improves_up_to(rate), 3) for rate in (2 / 3, 0.7729)]
    [0.405, 0.58]
    """
    low, high = 0.0, rate
    while high - low > 1e-9:
        middle = (low + high) / 2
        coded = fifo(middle / rate) / (2 * rate)
        low, high = (middle, high) if coded < fifo(middle) else (low, middle)
    return low


def _chip_sheet(chips: Sequence[Chip]) -> Sheet:
    rows = [
        [chip.name, f"{chip.safe} of {chip.pages}", f"{chip.gain:.3f}", f"{chip.density:.3f}",
         *(f"{100 * change:+.1f} %" for change in chip.energy().values())]
        for chip in chips
    ]  # fmt: skip
    return Sheet(
        "Each chip", ("chip", "safe pages", "bytes for an erase", "density", *chips[0].energy()),
        rows, "Energy of programming a page and of its share of an erase, against plain data.",
    )  # fmt: skip


def _operations(run: Result) -> float:
    joules = run.energy_joules
    return float(joules.total - (joules.idle or 0.0))


def _second_passes(run: Result) -> float | None:
    second = run.policies.coding.counters.get("second_generations", 0)
    reclaimed = second + run.flash.erase.total
    return float(second / reclaimed) if reclaimed else None


def _drives(evidence: Evidence) -> Sheet:
    change = partial(column, against=PLAIN)
    columns = {
        "WAF plain": column("waf", "x", where=PLAIN),
        "WAF coded": column("waf", "x"),
        "erases": change("flash.erase.total"),
        "energy of operations": change(_operations),
        "all energy": change("energy_joules.total"),
        "write latency": change("host.write.latency_ns.mean"),
        "mean": column("host.write.latency_ns.mean", "ns"),
        "second passes": column(_second_passes, "share"),
    }
    return evidence.sheet(
        "In a drive: plain against coded, the same flash and the same capacity", {},
        ("workload", "drive", SPARE, "coding"), columns,
        "Second passes: of all blocks reclaimed, those that went to their second generation. "
        "Energies of operations are constant.",
        PLAIN,
    )  # fmt: skip
