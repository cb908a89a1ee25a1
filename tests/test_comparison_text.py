"""The page of a comparison as a person reads it."""

import copy
import re
from math import gamma, pi, sqrt
from statistics import stdev
from typing import Any

import pytest

import sample
from floatgate import Comparison, Result
from floatgate.result.comparison import Failure
from floatgate.result.measures import MEASURES, half_width
from floatgate.text.comparison import page, rows


def made(**changes: Any) -> Result:
    """The sample result with other numbers: `waf=2.0`, `host__write__latency_ns__p99=10**6`."""
    data = sample.result()
    data["provenance"]["workload"]["stand_in"] = None
    for path, value in changes.items():
        *folders, last = path.split("__")
        place = data
        for name in folders:
            place = place[name]
        place[last] = value
    return Result(data)


def compared(runs: list[Result], name: str = "victim") -> Comparison:
    words = ["greedy", "fifo", "random", "d-choices:d=3", "e", "f"]
    return Comparison(runs, [{name: word} for word, _ in zip(words, runs, strict=False)])


@pytest.fixture
def three() -> Comparison:
    return compared([made(waf=2.0), made(waf=1.5), made(waf=2.5)])


def column(text: str, title: str) -> list[str]:
    """The cells below a title, with their marks and differences."""
    lines = text.splitlines()
    at = next(
        i for i, line in enumerate(lines) if title in line.split("  ") or f"  {title}" in line
    )
    start = lines[at].index(title)
    end = next(
        (m.start() + start for m in re.finditer(r"  \S", lines[at][start:])), max(map(len, lines))
    )
    cells = []
    for line in lines[at + 1 :]:
        if not line.strip():
            break
        cells.append(line[start:end].strip())
    return cells


def test_differences_are_to_the_first_and_the_best_is_marked(three: Comparison) -> None:
    assert column(str(three), "WAF") == ["2.000", "1.500* -25 %", "2.500  +25 %"]
    rates = [made(simulated_seconds=s) for s in (100.0, 50.0, 200.0)]
    for run in rates:
        run.data["provenance"]["config"]["host"] = {"mode": "queue-depth"}
    # 300,000 requests.
    cells = [" ".join(cell.split()) for cell in column(str(compared(rates)), "IOPS")]
    assert cells == ["3.00 k", "6.00 k* +100 %", "1.50 k -50 %"]


def test_runs_are_measured_against_those_with_the_same_workload() -> None:
    variants = [{"workload": w, "victim": v} for w in ("a.csv", "b.csv") for v in ("x", "y")]
    wafs = (2.0, 3.0, 10.0, 5.0)
    text = str(Comparison([made(waf=waf) for waf in wafs], variants))
    assert column(text, "WAF") == ["2.000*", "3.000  +50 %", "10.000", "5.000* -50 %"]
    assert "the first run with the same workload" in text


def test_what_reads_the_same_is_equally_good() -> None:
    cells = column(str(compared([made(waf=2.0001), made(waf=2.0002), made(waf=3.0)])), "WAF")
    assert [cell.split()[0] for cell in cells] == ["2.000*", "2.000*", "3.000"]
    assert "*" not in "".join(column(str(compared([made(), made()])), "WAF"))


def test_only_measures_that_occur_are_shown(three: Comparison) -> None:
    text = str(three)
    for title in ("read mean", "read p99", "write p99", "erases", "moved pages", "max erases"):
        assert title in text
    for title in ("trim mean", "lost reads", "IOPS", "drive ended"):
        assert title not in text
    host = dict.fromkeys(("requests", "bytes"), 0)
    quiet = []
    for run in three.runs:
        data = copy.deepcopy(run.data)
        data["host"]["read"] |= host
        data["energy_joules"] = None
        quiet.append(Result(data))
    text = str(compared(quiet))
    assert "read mean" not in text
    assert "read p99" not in text
    assert "energy" not in text


def test_what_is_looked_at_first_stands_first_whatever_it_is(three: Comparison) -> None:
    for i, run in enumerate(three.runs):
        run.data["host"]["read"]["latency_ns"]["p99_9"] = 1_000_000 * (i + 1)
        run.data["flash"]["rmw_reads"] = 0
    tail = "host.read.latency_ns.p99_9"
    asked = [tail, "flash.rmw_reads", "waf", "capacity.free_blocks", "energy_joules.none"]
    text = page(three, first=asked)
    sections = [part.splitlines()[0] for part in text.split("\n\n")]
    assert sections[1:3] == ["Conclusions", "Chosen measures"]
    assert column(text, tail) == ["1.00 ms*", "2.00 ms  +100 %", "3.00 ms  +200 %"]
    assert column(text, "flash.rmw_reads") == ["0", "0", "0"], "asked for, though it is nothing"
    assert column(text, "energy_joules.none") == ["-", "-", "-"]
    assert not any("*" in cell for cell in column(text, "capacity.free_blocks")), "who knows?"
    assert len(re.findall(r"\bWAF\b", text)) == 1, "each measure stands once"
    assert f"\n{tail}\n  greedy  ##" in text, "the first is drawn as bars"
    assert max(map(len, text.splitlines())) <= 80


def test_the_moved_pages_are_those_that_the_host_did_not_write(three: Comparison) -> None:
    # The sample programs 366,000 pages, 200,000 of them for the host.
    assert column(str(three), "moved pages")[0] == "166 k"


def test_the_page_has_80_columns_and_colour_changes_no_letter(three: Comparison) -> None:
    for comparison in (three, compared(three.runs, "reliability.some-very-long-setting")):
        plain, colour = page(comparison), page(comparison, colour=True)
        assert max(map(len, plain.splitlines())) <= 80
        assert "\033" not in plain
        assert re.sub(r"\033\[\d*m", "", colour).replace(" \n", "\n") == plain
        assert colour != plain


def test_what_varied_stands_before_every_number() -> None:
    variants = [
        {"cost": cost, "ftl.spare-factor": spare}
        for cost in ("a", "b")
        for spare in ("0.07", "0.2")
    ]
    text = str(Comparison([made()] * 4, variants))
    assert "4 runs by cost, ftl.spare-factor" in text
    rows = re.findall(r"^  ([ab]) +(0\.07|0\.2) ", text, re.MULTILINE)
    assert len(rows) >= 4 * 3
    assert rows[:4] == [(v["cost"], v["ftl.spare-factor"]) for v in variants]


def test_wide_labels_become_numbers_with_a_legend() -> None:
    variants = [{"timing.bus": '{ rate = "333MT/s", command = "300ns" }', "seed": s} for s in "12"]
    text = str(Comparison([made(), made()], variants))
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^ {5}bus +seed$", text, re.MULTILINE)
    assert '  2  { rate = "333MT/s", command = "300ns" }  2\n' in text
    assert re.search(r"^  1 +250 us", text, re.MULTILINE)


def test_parameters_of_policies_are_columns() -> None:
    costs = ["fixed:level=low", "fixed:level=high", "agcr:window=2"]
    comparison = Comparison([made()] * 3, [{"cost": cost, "seed": "1"} for cost in costs])
    header, *rows_shown = str(comparison).partition("completion\n")[2].splitlines()[:4]
    assert header.split()[:4] == ["cost", "level", "window", "seed"]
    cells = [" ".join(row.split()[:4]) for row in rows_shown]
    assert cells == ["fixed low - 1", "fixed high - 1", "agcr - 2 1"]
    titles, *lines = rows(comparison, ["waf"])
    assert titles[:5] == ["cost", "cost.level", "cost.window", "seed", "run_id"]
    assert lines[2][:4] == ["agcr", "", "2", "1"]


def test_the_largest_cause_of_the_slowest_requests_is_named() -> None:
    one, other = made(), made()
    split = other.data["host"]["read"]["slowest"]["delay_ns_by_cause"]
    # 250 us of mean: a quarter behind the host, 8 x 250 us are added on the channel below.
    split["queue"] |= {"gc": 0.0, "host": 0.0}
    split |= {"array": 500.0, "bus": 1500.0}
    del other.data["host"]["write"]["slowest"]
    text = str(compared([one, other]))
    body = text.partition("Why p99 is high: the largest cause of the slowest 1 %\n")[2]
    lines = body.split("\n\n")[0].splitlines()
    assert lines[0].split() == ["victim", "read", "write"]
    assert re.search(r"greedy +\d+ % waiting behind gc +\d+ % waiting behind gc$", lines[1])
    assert re.search(r"fifo +75 % on the channel +-$", lines[2])
    for run in (one, other):
        for op in ("read", "write"):
            run.data["host"][op]["slowest"] = None
    assert "Why p99" not in str(compared([one, other])), "results of before"


def test_a_stand_in_is_marked_in_every_row() -> None:
    stand_in = sample.result()["provenance"]["workload"]["stand_in"]
    runs = [made(provenance__workload__stand_in=stand_in), made()]
    for name in ("victim", "workload"):
        comparison = compared(runs, name)
        lines = str(comparison).splitlines()
        rows = [line for line in lines if re.match(r"  \S.*(250 us|1\.830|812 us)", line)]
        assert len(rows) >= 6
        marked = [line for line in rows if "msr:hm_0 [stand-in]" in line]
        assert len(marked) == len(rows) // 2, "of the two runs, one has a stand-in"


def test_bars_are_as_long_as_their_numbers(three: Comparison) -> None:
    text = page(three, bars="waf").split("\nWAF\n")[1].split("\n\n")[0]
    lengths = [line.count("#") for line in text.splitlines()]
    assert lengths[2] == max(lengths) > 40
    for waf, length in zip((2.0, 1.5, 2.5), lengths, strict=True):
        assert length == pytest.approx(waf / 2.5 * lengths[2], abs=0.5)
    assert "no run has a number for `trim.mean`" in page(three, bars="trim.mean")
    assert "#" not in page(compared([made()]))
    assert "\nRead mean\n" in page(three), "without a wish, it is the first measure"
    assert set(MEASURES) >= {"read.p99", "write.p99", "waf", "wear.max", "energy"}


def test_a_warning_is_told_once_with_the_runs_it_concerns() -> None:
    def warned(*warnings: tuple[str, str]) -> Result:
        return made(warnings=[{"code": code, "text": text} for code, text in warnings])

    few = ("few-samples", "10 samples")
    runs = [warned(few, ("old", "is old")), warned(few), warned(("few-samples", "12 samples"))]
    text = str(compared(runs))
    assert text.count("[few-samples]") == 1
    assert (
        "10 samples [few-samples]\n    in: every run (the numbers are those of the first)" in text
    )
    assert "is old [old]\n    in: victim=greedy\n" in text + "\n"
    assert "Warnings" not in str(compared([made(warnings=[])]))


def test_failures_are_told_once_with_the_runs_they_concern() -> None:
    outcomes = [made(), Failure("input", "no room"), Failure("input", "no room")]
    outcomes.append(Failure("internal", "index out of bounds"))
    variants = [{"seed": s, "cost": c} for c in "ab" for s in "12"]
    text = str(Comparison.of(variants, outcomes))  # type: ignore[arg-type]
    assert "3 runs failed" in text
    assert text.count("no room") == 1
    assert "in: seed=2 cost=a; seed=1 cost=b" in text
    assert "floatgate has a bug, please report it: index out of bounds" in text
    assert "4 runs by seed, cost" in text
    lost = str(Comparison.of(variants[:1], [Failure("died", "its process was killed")]))
    assert "1 run failed" in lost


def test_a_worn_out_drive_and_a_failed_check_are_seen() -> None:
    worn = {"state": "worn-out", "at_ns": 3_600_000_000_000, "reason": "no block left"}
    text = str(compared([made(), made(end=worn, checks__passed=False)]))
    assert "fifo: worn-out at 60.0 min: no block left" in " ".join(text.split())
    assert column(text, "drive ended") == ["-", "60.0 min"]
    assert "CHECKS FAILED" in text
    assert "in: victim=fifo" in text
    assert "Checks passed" not in text


def test_one_run_is_a_page_too() -> None:
    text = str(Comparison([made()], [{}]))
    assert "one run, as nothing varies" in text
    assert "In %" not in text
    assert "msr:hm_0" in text


def test_many_seeds_are_not_all_listed() -> None:
    runs = [made(provenance__seed=seed) for seed in range(6)]
    assert "seed 0 .. 5" in str(compared(runs))


def test_each_combination_is_a_row_with_the_mean_over_its_seeds() -> None:
    """Student's t for two degrees of freedom is 4.303; the deviation of 1, 2, 3 is 1."""
    variants = [{"victim": v, "seed": s} for v in ("greedy", "fifo") for s in "123"]
    runs = [made(waf=waf) for waf in (1.0, 2.0, 3.0, 4.0, 4.0, 4.0)]
    text = str(Comparison(runs, variants))
    assert column(text, "WAF") == ["2.000 ±2.500*", "4.000 ±0.000  +100 %"]
    assert "6 runs by victim, seed" in text
    assert "difference to the first combination" in text
    assert "95 % confidence interval of the mean" in text
    bars = re.findall(r"^  (greedy|fifo) +#", text, re.MULTILINE)
    assert bars == ["greedy", "fifo"]
    # Every run stays in the output for programs.
    assert len(rows(Comparison(runs, variants))) == 7


def test_seeds_alone_are_rows_of_their_own() -> None:
    text = str(Comparison([made(waf=w) for w in (1.0, 2.0)], [{"seed": "1"}, {"seed": "2"}]))
    assert column(text, "WAF") == ["1.000*", "2.000  +100 %"]
    assert "±" not in text


def test_a_half_width_is_that_of_students_distribution() -> None:
    """By integration of the density: between -t and t lie 95 %."""
    for count in (2, 3, 5, 10, 11, 30, 200):
        values = [0.0] * (count - 1) + [1.0]
        t = half_width(values) / (stdev(values) / sqrt(count))
        free = count - 1
        scale = gamma((free + 1) / 2) / (sqrt(free * pi) * gamma(free / 2))
        steps = 200_000
        width = 2 * t / steps
        middles = (-t + width * (i + 0.5) for i in range(steps))
        inside = sum(scale * (1 + x * x / free) ** (-(free + 1) / 2) * width for x in middles)
        assert abs(inside - 0.95) < 1e-4, count
