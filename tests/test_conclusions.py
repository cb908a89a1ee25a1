"""The words of a comparison: worked out by hand from a few numbers."""

from collections.abc import Mapping
from typing import Any

import pytest

import sample
from floatgate import Comparison, Result
from floatgate.result.conclusions import conclusions
from floatgate.result.doubts import doubts
from floatgate.text import comparison as text
from floatgate.text.explained import WARNINGS, to_add


def run(waf: float, workload: str = "a") -> Result:
    data = sample.result()
    data["waf"] = waf
    data["provenance"]["workload"] |= {"name": workload, "stand_in": None}
    return Result(data)


def compared(wafs: dict[str, list[float]]) -> Comparison:
    rows = [(v, str(s), waf) for v, some in wafs.items() for s, waf in enumerate(some, 1)]
    runs = [run(waf) for _, _, waf in rows]
    return Comparison(runs, [{"victim": v, "seed": s} for v, s, _ in rows])


@pytest.mark.parametrize(
    ("wafs", "said"),
    [
        # Every run of one below every run of the other: 1.5 is 25 % less than 2.0.
        (
            {"x": [1.9, 2.0, 2.1], "y": [1.4, 1.5, 1.6]},
            "WAF: least with victim=y (1.500, -25 %",
        ),
        # The first is the best: there is nothing to compare it with.
        (
            {"x": [1.4, 1.5, 1.6], "y": [1.9, 2.0, 2.1]},
            "WAF: least with victim=x (1.500; victim=y +33 %)",
        ),
        # Means differ by as much, but one run lies among those of the other.
        ({"x": [1.5, 2.0, 2.5], "y": [1.4, 1.5, 1.6]}, "WAF: no difference shown"),
        # Better than the first, and not than the third.
        (
            {"x": [3.0, 3.1, 3.2], "y": [1.4, 1.5, 1.6], "z": [1.5, 1.6, 1.7]},
            "WAF: least with victim=y (1.500, -52 % to the first); no difference shown to victim=z",
        ),
        # Apart, and the same number to read: 2.0000 and 2.0001.
        ({"x": [2.0001, 2.0001, 2.0001], "y": [2.0, 2.0, 2.0]}, "WAF: no difference shown"),
    ],
)
def test_a_difference_is_one_that_no_seed_contradicts(
    wafs: dict[str, list[float]], said: str
) -> None:
    (line,) = conclusions(compared(wafs), ["waf"])
    assert line.startswith(said)


@pytest.mark.parametrize(("seeds", "said"), [(1, "one seed: "), (2, "two seeds: ")])
def test_of_few_seeds_nothing_is_concluded(seeds: int, said: str) -> None:
    (line,) = conclusions(compared({"x": [2.0] * seeds, "y": [1.0] * seeds}))
    assert line.startswith(said)
    assert "--seed 1,2,3" in line


SEEDS = {"x": [1.9, 2.0, 2.1], "y": [1.4, 1.5, 1.6]}


def warned(comparison: Comparison, code: str, runs: list[int], age: str = "none") -> Comparison:
    """The same with a warning in some runs, whose drives were aged like that."""
    for i, each in enumerate(comparison.runs):
        each.data["warnings"] = [{"code": code, "text": "it is so"}] if i in runs else []
        each.data["provenance"]["config"]["precondition"]["age"] = age
    return comparison


@pytest.mark.parametrize("code", ["waf-not-steady", "not-steady", "gc-never-ran"])
@pytest.mark.parametrize("runs", [[0], [4], [0, 1, 2, 3, 4, 5]])
def test_a_warning_of_a_single_run_undoes_the_verdict(code: str, runs: list[int]) -> None:
    shown = warned(compared(SEEDS), code, runs)
    (line,) = conclusions(shown, ["waf"])
    count = "every run" if len(runs) == 6 else f"{len(runs)} of 6 runs"
    assert line.startswith("no verdict on WAF: ")
    assert f" in {count} [{code}]" in line
    page = text.page(shown, first=["waf"])
    assert "least with" not in page
    assert "*" not in page.partition("Host requests")[0].replace("With *", "")


def test_a_warning_of_a_run_that_is_not_compared_undoes_nothing() -> None:
    """A single seed of z is listed with the others, and is not part of their verdict."""
    shown = warned(compared(SEEDS | {"z": [9.0]}), "waf-not-steady", [6])
    assert [*conclusions(shown, ["waf"])][1].startswith("WAF: least with victim=y")


@pytest.mark.parametrize(
    ("code", "measure", "undone"),
    [
        ("overloaded", "write.p99", True),
        ("overloaded", "host.write.latency_ns.mean", True),
        ("overloaded", "waf", False),
        ("gc-never-ran", "read.mean", False),
        ("gc-never-ran", "erases", True),
        ("waf-not-steady", "read.mean", True),
        ("waf-not-steady", "iops", True),
        ("unmapped-reads", "read.p99", True),
        ("unmapped-reads", "write.p99", False),
        ("buffer-drained", "iops", True),
        ("buffer-drained", "write.mean", False),
        ("closed-loop", "write.mean", False),
        ("errors-never-mattered", "waf", False),
    ],
)
def test_a_warning_undoes_what_it_is_about(code: str, measure: str, undone: bool) -> None:
    (one,) = warned(Comparison([run(2.0)], [{}]), code, [0]).runs
    assert (code in doubts(measure, one)) == undone
    assert code in WARNINGS


@pytest.mark.parametrize(
    ("requests", "thin"),
    [(999, ["p99", "p99.9"]), (1_000, ["p99.9"]), (9_999, ["p99.9"]), (10_000, [])],
)
def test_a_percentile_with_few_requests_beyond_it_has_no_verdict(
    requests: int, thin: list[str]
) -> None:
    (one,) = warned(Comparison([run(2.0)], [{}]), "few-samples", [0]).runs
    one.data["host"]["write"]["requests"] = requests
    for name in ("p99", "p99.9"):
        assert bool(doubts(f"write.{name}", one)) == (name in thin)
        path = f"host.write.latency_ns.{name.replace('.', '_')}"
        assert bool(doubts(path, one)) == (name in thin)
    assert not doubts("write.mean", one)


@pytest.mark.parametrize(
    ("age", "add"),
    [
        ("none", "--steady --set precondition.age=workload"),
        ("random", "--set precondition.age=workload"),
        ("workload", ""),
    ],
)
def test_the_ageing_that_fits_is_named_and_no_advice_is_what_was_done(age: str, add: str) -> None:
    shown = warned(compared(SEEDS), "waf-not-steady", [0], age)
    (line,) = conclusions(shown, ["waf"])
    assert line.endswith(add or "run longer")
    assert ("--steady" in line) == (age == "none")
    before = {"fill": "full", "age": age}
    assert list(to_add(["waf-not-steady"], before)) == ([add] if add else [])
    assert list(to_add(["waf-not-steady", "gc-never-ran"], before)) == ([add] if add else [])
    aged = {"none": "not aged", "random": "aged by random writes", "workload": "by the workload"}
    assert aged[age] in text.page(shown)


def test_a_run_beside_a_sweep_does_not_silence_it() -> None:
    """Two variants with three seeds are compared, with any others of fewer seeds beside them."""
    known = {"x": [1.9, 2.0, 2.1], "y": [1.4, 1.5, 1.6]}
    assert [*conclusions(compared(known | {"z": [1.0]}), ["waf"])] == [
        "one seed of victim=z: no difference to it can be told from chance",
        "WAF: least with victim=y (1.500, -25 % to the first)",
    ]
    many = {name: [1.0, 1.0] for name in "abcde"}
    assert [*conclusions(compared(many | known), ["waf"])] == [
        "two seeds of victim=a, victim=b, victim=c, 2 more: no difference to them can be told from"
        " chance",
        "WAF: least with victim=y (1.500, -25 % to victim=x)",
    ]
    (line,) = conclusions(compared({"x": [1.9, 2.0, 2.1], "z": [1.0]}))
    assert line.startswith("one seed: ")


def test_seeds_alone_are_not_compared() -> None:
    runs = Comparison([run(w) for w in (1.0, 2.0, 3.0)], [{"seed": s} for s in "123"])
    assert not [*conclusions(runs)]
    assert "Conclusions" not in text.page(runs)


def test_each_workload_is_concluded_about_for_itself() -> None:
    rows = [
        (w, v, s, base + 0.01 * s)
        for w, v, base in (("a", "x", 2.0), ("a", "y", 1.0), ("b", "x", 1.0), ("b", "y", 2.0))
        for s in range(3)
    ]
    runs = Comparison(
        [run(waf, w) for w, _, _, waf in rows],
        [{"workload": w, "victim": v, "seed": str(s)} for w, v, s, _ in rows],
    )
    assert [*conclusions(runs, ["waf"])] == [
        "a: WAF: least with victim=y (1.010, -50 % to the first)",
        "b: WAF: least with victim=x (1.010; victim=y +99 %)",
    ]


def crossed(wafs: Mapping[Any, float], *axes: str) -> Comparison:
    """Three seeds of each combination, within 0.01 of its number."""
    rows = [(at, s, waf + 0.01 * (s - 2)) for at, waf in wafs.items() for s in (1, 2, 3)]
    variants = [dict(zip(axes, at, strict=True)) | {"seed": str(s)} for at, s, _ in rows]
    return Comparison([run(waf) for _, _, waf in rows], variants)


@pytest.mark.parametrize(
    ("wafs", "said"),
    [
        # Spare made the difference. One victim reads best by chance, and gets no credit.
        (
            {("x", "1"): 4.0, ("x", "2"): 2.0, ("y", "1"): 4.005, ("y", "2"): 2.005},
            [
                "WAF by victim: no difference shown in every case",
                "WAF by spare: least with spare=2 (-50 % to 1) in every case",
            ],
        ),
        # Both did, by themselves: 3 and 1.5 are 25 % less than 4 and 2.
        (
            {("x", "1"): 4.0, ("x", "2"): 2.0, ("y", "1"): 3.0, ("y", "2"): 1.5},
            [
                "WAF by victim: least with victim=y (-25 % to x) in every case",
                "WAF by spare: least with spare=2 (-50 % to 1) in every case",
            ],
        ),
        # The victim matters with little spare only: 3.16 is 21 % less than 4.
        (
            {("x", "1"): 4.0, ("x", "2"): 2.0, ("y", "1"): 3.16, ("y", "2"): 2.005},
            [
                "WAF by victim: least with victim=y (-21 % to x) at spare=1; no difference shown"
                " at spare=2",
                "WAF by spare: least with spare=2 (-50 % .. -37 % to 1) in every case",
            ],
        ),
        # The better victim depends on the spare.
        (
            {("x", "1"): 4.0, ("x", "2"): 1.5, ("y", "1"): 3.0, ("y", "2"): 2.0},
            [
                "WAF by victim: least with victim=y (-25 % to x) at spare=1; least with victim=x"
                " (-25 % to y) at spare=2",
                "WAF by spare: least with spare=2 (-62 % .. -33 % to 1) in every case",
            ],
        ),
        # A combination without a partner: the others still speak.
        (
            {("x", "1"): 4.0, ("x", "2"): 2.0, ("y", "1"): 3.0},
            [
                "WAF by victim: least with victim=y (-25 % to x)",
                "WAF by spare: least with spare=2 (-50 % to 1)",
            ],
        ),
        # No value of one axis is ever alone, so that nobody knows which of the two it was.
        (
            {("x", "1"): 4.0, ("y", "2"): 2.0},
            ["WAF: least with victim=y spare=2 (2.000, -50 % to the first)"],
        ),
    ],
)
def test_each_axis_is_compared_with_all_others_equal(
    wafs: dict[tuple[str, ...], float], said: list[str]
) -> None:
    assert [*conclusions(crossed(wafs, "victim", "spare"), ["waf"])] == said


def test_three_axes_name_the_cases_in_which_one_makes_a_difference() -> None:
    wafs = {
        (v, s, o): {"1": 4.0, "2": 2.0}[s] * (0.5 if (v, s) == ("y", "1") else 1.0)
        for v in "xy"
        for s in "12"
        for o in "ab"
    }
    by_victim, by_spare, by_order = conclusions(crossed(wafs, "victim", "spare", "order"), ["waf"])
    assert by_victim == (
        "WAF by victim: least with victim=y (-50 % to x) at spare=1; no difference shown at spare=2"
    )
    assert by_spare == (
        "WAF by spare: least with spare=2 (-50 % to 1) at victim=x; no difference shown at victim=y"
    )
    assert by_order == "WAF by order: no difference shown in every case"


def test_the_table_of_a_comparison_has_numbers_as_they_are_stored() -> None:
    runs = compared({"x": [1.5], "y": [2.25]})
    header, *rows = text.rows(runs, ["waf", "write.p99"])
    assert header == ["victim", "seed", "run_id", "waf", "write.p99 (ns)"]
    p99 = str(runs.runs[0].host.write.latency_ns.p99)
    assert [(row[0], row[3], row[4]) for row in rows] == [("x", "1.5", p99), ("y", "2.25", p99)]
    everything = text.rows(runs)[0]
    assert {"read.p99.9 (ns)", "erases", "energy (J)"} <= {*everything}
