"""The characterisation of flash chips: tables and statements of Grupp et al. beside the bench."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from operator import methodcaller
from statistics import correlation, fmean, median
from typing import Any, NamedTuple

from floatgate.physics.bench import BLOCKS, QUICK_BLOCKS, bench
from floatgate.report.model import Curve, Finding, Plot, Sheet, Table
from floatgate.reproduce.studies.chips.published import DATASHEETS, NAMES, Chip, chip
from floatgate.reproduce.study import Analysis, Evidence, Study, numbers
from floatgate.text.bench import places
from floatgate.words import number

IN, OUT = "input", "output"
REQUEST = 65_536
"""Bytes of a request of the drives beside the bench."""


class Benched(NamedTuple):
    """A chip of the paper and what the bench found out about it."""

    chip: Chip
    found: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the chip in the paper."""
        return self.chip.name.upper()

    @property
    def names(self) -> Mapping[str, str]:
        """The names of this measurement in a claim."""
        return {"bench": self.found["chip"], "blocks": str(self.found["plan"]["blocks"])}

    def of(self, key: str) -> float:
        """A number of its operations."""
        return float(self.found["operations"][key])

    def program_us(self) -> list[float]:
        """Mean program times by page type."""
        return [each["mean"] for each in self.found["operations"]["program_us_of_types"]]

    def rber(self, share: float) -> float:
        """The mean raw bit error rate of its samples at a share of its rated cycles."""
        wear = self.found["wear"]
        target = share * self.found["rated_cycles"]
        i = min(range(len(wear["cycles"])), key=lambda i: abs(wear["cycles"][i] - target))
        return fmean(float(rates[i]) for rates in wear["rber_of_chips"])


def analyse(evidence: Evidence, study: Study) -> Analysis:
    """The tables of the report."""
    blocks = QUICK_BLOCKS if study.quick else BLOCKS
    # The engine lets go of the interpreter, so threads are enough.
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(lambda name: bench(name, blocks=blocks), NAMES))
    chips = [Benched(chip(name), each) for name, each in zip(NAMES, found, strict=True)]
    tables = [Table(title, list(rows(chips)), text) for title, rows, text in _TABLES]
    sheets = [_each_time(chips), _bandwidth(chips, evidence), _power(chips), _life(chips),
              _cells(chips), _onsets(chips)]  # fmt: skip
    measured = [{"names": each.names, "says": _itself(each)} for each in chips]
    return Analysis(tables, [*_plots(chips)], sheets=sheets, says=_says(tables), measured=measured)


def _says(tables: Sequence[Table]) -> str:
    worn, disturbed, onset = (
        next(iter(numbers(tables, begins).values()))
        for begins in ("MLC, growth from the rating", "MLC, share of the disturbed page",
                       "chips whose first error comes after 250 K to 4.8 M reads, n")
    )  # fmt: skip
    return (
        f"Beyond its rating the error rate of MLC grows {worn:.1f} times as fast as up to it (more "
        f"than once in the paper). A second program disturbs {100 * disturbed:.0f} % of the page "
        "that shares its cells. Reads find their first error where the paper does on "
        f"{100 * onset:.0f} % of new chips."
    )


def _itself(each: Benched) -> Mapping[str, Any]:
    keys = ("chip", "bits_per_cell", "rated_cycles", "pages_per_block", "plan")
    return {key: each.found[key] for key in keys}


def _row(
    of: Sequence[Benched], what: str, where: str, published: float | str | None,
    ours: float | str | None, kind: str = OUT, note: str = "", unit: str = "", fact: str = "",
) -> Finding:  # fmt: skip
    by = [each.names for each in of]
    return Finding(f"{what} [{kind}]", where, published, ours, unit, note=note, kind=kind, by=by,
                   fact=fact)  # fmt: skip


def _of_kind(chips: Sequence[Benched], slc: bool) -> list[Benched]:
    return [each for each in chips if each.chip.slc == slc]


def _mlc_over_slc(chips: Sequence[Benched], of: Callable[[Benched], float]) -> float:
    return fmean(map(of, _of_kind(chips, False))) / fmean(map(of, _of_kind(chips, True)))


def _datasheets(chips: Sequence[Benched]) -> Iterator[Finding]:
    library = [{"chip": each.chip.name} for each in chips]
    for what, (least, most, of) in DATASHEETS.items():
        values = [of(each.chip) for each in chips]
        outside = [value for value in values if not least <= value <= most]
        printed, ours = (
            f"{number(low)} to {number(high)}"
            for low, high in ((least, most), (min(values), max(values)))
        )
        note = f"{len(outside)} of {len(chips)} lie outside" if outside else ""
        yield _row(chips, what, "Table 1", printed, ours, IN, note)._replace(by=library)
    apart = [e.chip.known["chip_bytes"] * 8 / 2**30 / e.chip.number("capacity") for e in chips]
    worst = max(apart, key=lambda ratio: abs(ratio - 1))
    what = "capacity over the product of sizes"
    yield _row(chips, what, "Table 2", 1.0, worst, IN, unit="x")._replace(by=library)


RATIOS = (
    ("read", "read_nj_per_bit", 2.05),
    ("program", "program_nj_per_bit", 2.70),
    ("erase, without E-MLC8", "erase_nj_per_bit", 1.13),
    ("idle power", "idle_mw", 1.83),
)
OPERATIONS = ("read", "program", "erase")


def _energy(chips: Sequence[Benched]) -> Iterator[Finding]:
    for what, key, published in RATIOS:
        some = [e for e in chips if e.chip.name != "e-mlc8" or not what.startswith("erase")]
        ours = _mlc_over_slc(some, methodcaller("of", key))
        yield _row(some, f"MLC over SLC, {what}", "3.4", published, ours, IN, unit="x")
    for what in OPERATIONS:
        # Losses between Table 3 and the meter. Programs get quicker from the first cycle on.
        apart = [e.of(f"{what}_nj_per_bit") / e.chip.number(f"{what}-per-bit") - 1 for e in chips]
        worst = max(apart, key=abs)
        name = f"nJ per bit, {what}: most apart"
        yield _row(chips, name, "Table 3", 0.0, worst, IN, unit="share")
    for what in OPERATIONS:
        over = fmean(
            each.of(f"average_{what}_mw") / each.chip.number(f"average-{what}-power")
            for each in chips
        )
        name = f"average power over the published, {what}"
        yield _row(chips, name, "Table 3", 1.0, over, unit="x")


def _power(chips: Sequence[Benched]) -> Sheet:
    rows = []
    for each in chips:
        pairs = [(each.chip.number(f"average-{op}-power"), each.of(f"average_{op}_mw"))
                 for op in OPERATIONS]  # fmt: skip
        cells = ((f"{paper:.1f}", f"{ours:.1f}", f"{ours / paper:.2f}") for paper, ours in pairs)
        rows.append([each.name, *(cell for three in cells for cell in three)])
    names = [f"{op}: {what}" for op in OPERATIONS for what in ("paper", "ours", "ratio")]
    text = "Operations one after the other as fast as the bus allows, transfers included."
    return Sheet("Average power in mW [output]", ("", *names), rows, text)


def _times(chips: Sequence[Benched]) -> Iterator[Finding]:
    slc, mlc = _of_kind(chips, True), _of_kind(chips, False)
    one = [each for each in mlc if each.chip.name == "b-mlc32"]

    def most(some: Sequence[Benched], op: str, of: Callable[..., Benched]) -> str:
        return of(some, key=lambda each: each.found["operations"][f"{op}_us"]["mean"]).name

    slowest = most(chips, "read", max)
    yield _row(chips, "slowest read, as it alone differs", "Fig. 3", "C-MLC64", slowest, IN)
    for some, kind, maker in ((slc, "SLC", "B"), (mlc, "MLC", "E")):
        what = f"quickest erase, {kind}, by manufacturer"
        yield _row(some, what, "Fig. 3", maker, most(some, "erase", min)[0], IN)
    (ours,) = (each.program_us() for each in one)
    note, what = "3.44 by the energies of Table 3 at constant power", "B-MLC32, slow"
    yield _row(one, f"{what} over fast programs", "3.3", 5.8, ours[1] / ours[0], IN, note, "x")
    yield _row(one, f"{what} pages in us", "3.3", "well over 1000", f"{ours[1]:.0f}", IN)
    fast = _mlc_over_slc(chips, lambda each: each.program_us()[0])
    what = "fast MLC pages over SLC, program time"
    yield _row(chips, what, "Fig. 4", "nearly 1", fast, IN, unit="x")
    ratio = _mlc_over_slc(chips, lambda each: each.of("program_mb_per_s"))
    note, what = '"nearly match", taken as 1', "bandwidth of a plane, MLC over SLC, program"
    yield _row(chips, what, "Fig. 2", 1.0, ratio, OUT, note, "x")
    for some, kind, said in ((slc, "SLC", "nearly -50 %"), (mlc, "MLC", "-10 to -15 %")):
        change = fmean(map(_program_time_change, some))
        what = f"{kind}, program time at the rated cycles"
        yield _row(some, what, "Fig. 5", said, change, IN, "both ends are given", "share")


def _program_time_change(each: Benched) -> float:
    wear = each.found["wear"]
    times = dict(zip(wear["cycles"], wear["program_us"], strict=True))
    return float(times[each.found["rated_cycles"]] / wear["program_us"][0] - 1)


def _each_time(chips: Sequence[Benched]) -> Sheet:
    rows = []
    for each in chips:
        found, types = each.found["operations"], each.program_us()
        spread = (f"{found[op + '_us'][k]:.1f}" for op in OPERATIONS for k in ("mean", "deviation"))
        slow = [f"{types[-1]:.0f}", f"{types[-1] / types[0]:.2f}"] if len(types) > 1 else ["", ""]
        rows.append([each.name, *spread, f"{types[0]:.0f}", *slow])
    heads = [f"{op}{more}" for op in OPERATIONS for more in (", us", ": deviation")]
    head = ("", *heads, "fast page, us", "slow page, us", "slow over fast")
    text = "Means over ten cycles of all blocks, and their standard deviations; the bars are lost."
    return Sheet("Figures 3 and 4, each chip [input]", head, rows, text)


def _bandwidth(chips: Sequence[Benched], evidence: Evidence) -> Sheet:
    """One plane on the bench, and a drive of one plane in the event loop."""
    rows = []
    for each in chips:
        row = [each.name]
        for op, key in (("read", "read_mb_per_s"), ("write", "program_mb_per_s")):
            runs = evidence.of({"drive": each.chip.name, "workload": f"sequential-{op}"})
            rates = (REQUEST * taken.run.checks.requests_served / taken.run.simulated_seconds / 1e6
                     for taken in runs)  # fmt: skip
            row += [f"{each.of(key):.2f}", next((f"{rate:.2f}" for rate in rates), "-")]
        rows.append(row)
    return Sheet(
        "Bandwidth of one plane in MB/s [output]",
        ("", "read: bench", "read: drive", "program: bench", "write: drive"), rows,
        "Fig. 2's numbers are lost. A page over command cycles, transfer and array time; the drive "
        "is one plane in the event loop, whose writes also pay for erasing.",
    )  # fmt: skip


def _wear(chips: Sequence[Benched]) -> Iterator[Finding]:
    mlc, slc = _of_kind(chips, False), _of_kind(chips, True)

    def mean(some: Sequence[Benched], share: float) -> float:
        return fmean(each.rber(share) for each in some)

    fresh, rated, twice = (mean(mlc, share) for share in (0, 1, 2))
    yield _row(mlc, "MLC, RBER fresh", "Fig. 6", "above 0", fresh)
    growth = twice / rated / (rated / fresh)
    note = f"{number(twice / rated)} against {number(rated / fresh)} times; sharply only after it"
    what = "MLC, growth from the rating to twice it, over that up to it"
    yield _row(mlc, what, "Fig. 6", "above 1", growth, OUT, note, "x")
    what = "SLC, RBER at the rated 100,000"
    yield _row(slc, what, "Fig. 7", "at most 0.0000001", mean(slc, 1), OUT, "almost zero")
    # A rate that was not seen is below one error in all that was read.
    ratio = mean(mlc, 3) / max(mean(slc, 3), 1e-12)
    yield _row(chips, "MLC over SLC at three times", "Fig. 7", "at least 100", ratio, OUT,
               "several orders of magnitude", "x")  # fmt: skip
    ratio = mean(slc, 6) / rated
    yield _row(chips, "SLC at six times over MLC at its rating", "Fig. 7", "at most 1", ratio, OUT,
               "reasonably low", "x")  # fmt: skip
    usual = median(each.rber(6) for each in slc)
    steep = sum(each.rber(6) > 3 * usual for each in slc)
    what = "SLC chips that err three times the usual, at six times"
    yield _row(slc, what, "Fig. 7", 1, steep, OUT, "A-SLC4 alone rises significantly")
    pages = [(each, rates) for each in mlc for rates in each.found["wear"]["rber_of_pages"]]
    better = fmean(fmean(rate < fmean(rates) for rate in rates) for _, rates in pages)
    what = "MLC, share of pages that err less than the mean"
    yield _row(mlc, what, "Fig. 9", 0.5, better, unit="share")
    related = [_speed_and_errors(each, rates) for each, rates in pages]
    note = f"all of {len(related)} samples: {number(min(related))} to {number(max(related))}"
    what = "correlation of program time and error rate of pages, least"
    note = f"no consistent correlation; {note}"
    yield _row(mlc, what, "3.5", "at most 0", min(related), OUT, note)
    two = [each for each in mlc if each.chip.name == "d-mlc32"]
    ends = sorted(each[-1] for each in two[0].found["wear"]["rber_of_chips"])
    yield _row(two, "D-MLC32, one sample over the other", "Fig. 6", "large", ends[-1] / ends[0], IN,
               "how widely samples differ is assumed", "x")  # fmt: skip


def _speed_and_errors(each: Benched, rates: Sequence[float]) -> float:
    """The correlation over the pages of a block."""
    times = each.program_us()
    return correlation([times[t] for t in each.found["page_types"]], rates)


def _life(chips: Sequence[Benched]) -> Sheet:
    rows = []
    for each in chips:
        wear = each.found["wear"]
        for i in places(wear["cycles"], each.found["rated_cycles"]):
            rates = (of[i] for of in wear["rber_of_chips"])
            shown = (f"{rate:.2e}" if rate else "0" for rate in rates)
            us = f"{wear['program_us'][i]:.0f}"
            rows.append([each.name, number(wear["cycles"][i]), us, *shown])
    return Sheet(
        "Wear-out stress",
        ("", "cycles", "program, us [input]", "RBER, sample 1 [output]", "RBER, sample 2 [output]"),
        rows,
        "Ten cycles written and read, 990 without reading, again and again: to a million erases "
        "for SLC, 100,000 for MLC.",
    )  # fmt: skip


def _cells(chips: Sequence[Benched]) -> Sheet:
    rows = []
    for each, state in ((one, state) for one in chips for state in one.found["cells"]):
        cycles, bits = number(state["cycles"]), state["bits_of_type"]
        pairs = zip(state["rber_of_types"], state["closed_form"], strict=True)
        for t, (ours, closed) in enumerate(pairs):
            sigma = (closed / bits) ** 0.5
            away = f"{(ours - closed) / sigma:+.1f}" if closed * bits > 5 else "-"
            rows.append([each.name, cycles, str(t), f"{ours:.2e}", f"{closed:.2e}", away])
    return Sheet(
        "Cells against the closed form [output]",
        ("", "cycles", "page type", "RBER of cells", "closed form", "deviations apart"), rows,
        "Whole blocks of cells, each with a threshold voltage of its own, sensed at the "
        "references: what the closed form of the error model says of them.",
    )  # fmt: skip


def _programs(chips: Sequence[Benched]) -> Iterator[Finding]:
    mlc, slc = _of_kind(chips, False), _of_kind(chips, True)
    for each in mlc:
        onset = each.found["program_disturb"]["first_reprogram_with_errors"]
        yield _row([each], f"{each.name}, first reprogram with errors", "Fig. 8", 1.0, onset,
                   fact="MLC, first reprogram with errors")  # fmt: skip
    steps = [max(b - a for a, b in pairwise(curve)) / curve[-1]
             for curve in map(_by_reprograms, mlc)]  # fmt: skip
    yield _row(mlc, "MLC, share of the errors that one reprogram brings", "Fig. 8", "above 0.5",
               fmean(steps), OUT, "a sharp increase near a certain number")  # fmt: skip
    lost = fmean(each.found["program_disturb"]["share_of_disturbed_page"] for each in mlc)
    yield _row(mlc, "MLC, share of the disturbed page that is lost", "3.5", 1.0, lost, OUT,
               "nearly all", "share")  # fmt: skip
    for each in mlc:
        agree = _as_in_the_text(each)
        what = f"{each.name}, pages that disturb what the text names"
        note = "the same pages, no fewer and no more"
        yield _row([each], what, "3.5", 1.0, agree, OUT, note, "share",
                   "pages that disturb what the text names")  # fmt: skip
    safe = [
        fmean(not others for others in each.found["program_disturb"]["disturbed_pages"])
        for each in mlc
    ]
    what = "MLC, pages that may be programmed again"
    yield _row(mlc, what, "4.2", 0.5, fmean(safe), unit="share")
    given = {each.found["program_disturb"]["first_reprogram_given"] for each in slc}
    what = "SLC, first reprogram with errors"
    yield _row(slc, what, "Fig. 8", "after 100", float(min(given)), IN)
    found = sum(bool(_by_reprograms(each)[-1]) for each in slc)
    yield _row(slc, "SLC chips with errors in 100 reprograms", "3.5", 0, found)
    yield _row(slc, "SLC chips with errors after 10,000 reprograms", "Fig. 10", 6, found, OUT,
               "every other page (B-SLC4, A-SLC2, A-SLC4), the first few (E-SLC8), no clear "
               "pattern (B-SLC2, A-SLC8); cells of one bit have no level to rise to")  # fmt: skip


def _by_reprograms(each: Benched) -> list[float]:
    """Of the bits of a block those that nobody programmed, by the number of reprograms."""
    curve: list[float] = each.found["program_disturb"]["rber_of_block_by_reprograms"]
    return curve


def _as_in_the_text(each: Benched) -> float:
    """The share of pages whose reprogramming disturbs exactly the pages that Grupp 3.5 names."""
    found = each.found["program_disturb"]["disturbed_pages"]
    named = (named_by_the_text(each.chip.name, page, len(found)) for page in range(len(found)))
    return fmean(set(ours) == text for ours, text in zip(found, named, strict=True))


def named_by_the_text(name: str, page: int, pages: int) -> set[int]:
    """The pages that suffer when a page is programmed again; those before the first do not exist.

    >>> named_by_the_text("c-mlc64", 4, 128), named_by_the_text("b-mlc8", 9, 128)
    ({1}, {2, 3})
    """
    if name == "c-mlc64":
        if page >= pages - 2:
            return {123, 125}
        named = {page - 3} if page % 2 == 0 and page > 1 else set()
    elif page >= pages - 4:
        return {118, 119, 122, 123}
    else:
        named = {page // 4 * 4 - 6, page // 4 * 4 - 5} if page % 4 < 2 and page > 3 else set()
    return {each for each in named if each >= 0}


RANGE = (250e3, 4.8e6)


def _reads(chips: Sequence[Benched]) -> Iterator[Finding]:
    states = [each.found["read_disturb"]["states"] for each in chips]
    for i, new in enumerate(states[0]):
        onsets = [each[i]["first_error_after"]["median"] for each in states]
        within = fmean(onset is not None and RANGE[0] <= onset <= RANGE[1] for onset in onsets)
        share = new["cycles"] / chips[0].found["rated_cycles"]
        at = "new blocks" if i == 0 else f"at {100 * share:g} % of the rating"
        what = f"chips whose first error comes after 250 K to 4.8 M reads, {at}"
        # Only of new blocks can it be a claim: the paper does not speak of wear.
        said, note = (None, "") if i else ("above 0.5", "in most cases; medians of chips")
        yield _row(chips, what, "Fig. 11", said, within, OUT, note, "share")


def _onsets(chips: Sequence[Benched]) -> Sheet:
    rows = []
    for each in chips:
        for state in each.found["read_disturb"]["states"]:
            first = (state["first_error_after"][k] for k in ("least", "median", "most"))
            shown = ("beyond 10 million" if reads is None else number(reads) for reads in first)
            rows.append([each.name, number(state["cycles"]), *shown])
    head = ("", "cycles of the block", "least", "median", "most of all blocks")
    return Sheet("Reads to the first new error [output]", head, rows)


_TABLES: Sequence[tuple[str, Callable[[Sequence[Benched]], Iterator[Finding]], str]] = (
    (
        "Datasheets and sizes (Tables 1 and 2)", _datasheets,
        "Values of the library for the eleven chips, which the paper measured, and the ranges of "
        "data sheets that it collected. Idle power is in microwatts there and in milliwatts in "
        "its Table 3: the two differ by a factor of a hundred, and the library keeps what was "
        "measured.",
    ),
    (
        "Energy and power (Table 3, 3.4)", _energy,
        "Energies per bit and idle power were given to the model. The paper concludes how many "
        "times the energy of SLC MLC takes. This is computed here from the meter of the bench, as "
        "plain means over chips and, for programs, over pages. For reads and programs that is 5 % "
        "more and 3 % less than printed, from the printed Table 3: how the paper weighs its chips "
        "it does not say. Average power is an output: energy over time, with the bus or the array "
        "always at work. For erases, which move no data, it agrees with the published one within "
        "a third. For reads and programs it is 1.2 to 2.4 times that. The paper measured "
        '"as quickly as our test setup can drive the chip", with a program on a host that leaves '
        "chips waiting between transfers.",
    ),
    (
        "Times and bandwidth (Fig. 2 to 5)", _times,
        "The paper's times are lost with its figures. The library derives them from Table 3 "
        "(energy over peak power), so times are inputs and agree with every sentence about them. "
        "At constant power, B-MLC32's slow pages take 3.44 times its fast ones, as their energies "
        "do; the text says 5.8. Both cannot hold; the library keeps the table. How program time "
        "falls with wear was given to the model at both ends. Reads of E-SLC8 and E-MLC8 are "
        "assumed.",
    ),
    (
        "Wear (Fig. 6, 7, 9)", _wear,
        "The error model was fitted to one of AGCR's statements. Of these chips it has only the "
        "bits of their cells and their rated cycles, and nothing of Figures 6, 7 and 9. Samples, "
        "and equal pages of a sample, differ by factors that are drawn; how widely is assumed. On "
        "every chip a fast page holds first bits, which one boundary decides, and a slow one "
        "second bits, which two decide. So slow pages err more in each sample, whereas the paper "
        "found no consistent relation. A middle reference that is 0.03 V off would make first "
        "bits the worse ones; the model has them all midway.",
    ),
    (
        "Program disturb (Fig. 8, 10)", _programs,
        "An erased block, half of one page programmed to 0 again and again. Cells have levels "
        "that can only rise, and the chip assumes that a page is programmed once. These two show "
        "which pages suffer and when. The pages that share cells were given to the model (from "
        "3.3 and this very section). With half of a page programmed, at most that half of its "
        "partner can change, where the paper says nearly all of it. Of the partners that the "
        "paper names for both 4n and 4n + 1, each has one here, because no two pages share cells "
        "with the same third. Pages 2, 4 and 5 have partners, though the paper's rule names pages "
        "before the first. More reprograms add nothing to the effect of one, so the curve of Fig. "
        "8 is a single step. The 32 errors on the page itself have no cause in levels, and the "
        "model was given them. For SLC, the model was given that nothing happens for a hundred "
        "reprograms.",
    ),
    (
        "Read disturb (Fig. 11)", _reads,
        "The model has errors that grow with the reads of a block, in proportion to cycles to the "
        "power of 1.47, by a fit to another MLC at 2,000 to 15,000 cycles. How worn the paper's "
        "blocks were it does not say. At ten cycles, the power law puts the first new error of an "
        "MLC block where the paper does, and that of an SLC beyond its range. On worn blocks it "
        "comes far sooner than anything in the paper. So either its blocks were nearly new, or "
        "its chips were sturdier than the model. Blocks are read until an error appears, at most "
        "10 million times.",
    ),
)  # fmt: skip


def _plots(chips: Sequence[Benched]) -> Iterator[Plot]:
    values = [
        ({"chip": each.name, "operation": op}, each.of(f"{op}_mb_per_s"))
        for each in chips
        for op in ("read", "program")
    ]
    title = "Bandwidth of one plane on the bench"
    yield Plot("values", title, "MB/s", "chip", "operation", values=values)
    for slc in (False, True):
        curves = [
            _seen(f"{each.name}-{i + 1}", each.found["wear"]["cycles"], rates)
            for each in _of_kind(chips, slc)
            for i, rates in enumerate(each.found["wear"]["rber_of_chips"])
        ]
        title = f"Errors over wear, {'SLC (Fig. 7)' if slc else 'MLC (Fig. 6)'}"
        yield Plot("curves", title, "raw bit error rate", "cycles", curves=curves, log="y")
    of_mlc = [(each.name, _by_reprograms(each)) for each in _of_kind(chips, False)]
    curves = [Curve(name, list(range(len(rates))), rates) for name, rates in of_mlc]
    title = "Program disturb (Fig. 8): of the bits of a block those that nobody programmed"
    yield Plot("curves", title, "share of the bits", "reprograms of one page", curves=curves)
    curves = []
    for each in chips:
        states = each.found["read_disturb"]["states"]
        onsets = [state["first_error_after"]["median"] for state in states]
        curves.append(_seen(each.name, [state["cycles"] for state in states], onsets))
    title = "Reads to the first new error, median of blocks (Fig. 11)"
    yield Plot("curves", title, "reads", "cycles of the block", curves=curves, log="xy")


def _seen(name: str, xs: Sequence[float], ys: Sequence[float | None]) -> Curve:
    """A line through the points that a logarithmic plot can show."""
    seen = {x: y for x, y in zip(xs, ys, strict=True) if x and y}
    return Curve(name, [*seen], [*seen.values()])
