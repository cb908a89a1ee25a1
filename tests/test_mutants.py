"""`make mutants`: the changes, how they are switched, and the report on them."""

import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

from mutants import run  # noqa: E402
from mutants.run import Case, Mutant, Reach  # noqa: E402


def mutant(source: str, text: str, mutated: str, shape: str = "expr") -> Mutant:
    start = source.index(text)
    end = start if shape == "enter" else start + len(text)
    return Mutant("f.rs", 1, start, end, shape, "compare", mutated, f"{text} → {mutated}")


def test_switches_nest_and_leave_everything_else_as_it_was() -> None:
    source = "fn f(a: u32) -> bool {\n    g(a);\n    a + 1 < b // é\n}\n"
    planted = [
        (1, mutant(source, "a + 1 < b", "a + 1 <= b")),
        (2, mutant(source, "1", "2")),
        (3, mutant(source, "g(a);", "", "stmt")),
        (4, mutant(source, "\n    g", "return true", "enter")),
    ]
    text, spans = run.render(source.encode(), planted)
    on = "::kernel::mutant::on"
    assert text.decode() == (
        f"fn f(a: u32) -> bool {{ if {on}(4) {{ return true; }} \n"
        f"    if !{on}(3) {{ g(a); }}\n"
        f"    (if {on}(1) {{ a + 1 <= b }} else {{ "
        f"a + (if {on}(2) {{ 2 }} else {{ 1 }}) < b }}) // é\n"
        "}\n"
    )
    for k, (start, end) in spans.items():
        assert f"{on}({k})".encode() in text[start:end]
    inner, outer = spans[2], spans[1]
    assert outer[0] < inner[0] < inner[1] < outer[1]


def test_an_error_is_blamed_on_the_innermost_mutant_around_it() -> None:
    spans = {"f.rs": {1: (10, 90), 2: (40, 50)}}

    def message(level: str, start: int, end: int, primary: bool = True) -> dict[str, object]:
        span = {"file_name": "f.rs", "byte_start": start, "byte_end": end, "is_primary": primary}
        return {"reason": "compiler-message", "message": {"level": level, "spans": [span]}}

    assert run.blamed([message("error", 42, 45)], spans) == {2}
    assert run.blamed([message("error", 45, 60)], spans) == {1}
    assert run.blamed([message("warning", 42, 45), message("error", 95, 99)], spans) == set()
    assert run.blamed([message("error", 42, 45, primary=False)], spans) == set()


def test_what_does_not_compile_is_known_by_name_whatever_its_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good, bad = mutant("a < b", "a < b", "a <= b"), mutant("c", "c", "!")
    planted: list[set[str]] = []

    def plant(_: object, mutants: dict[int, Mutant]) -> dict[str, dict[int, tuple[int, int]]]:
        planted.append({m.name for m in mutants.values()})
        return {"f.rs": dict.fromkeys(mutants, (0, 9))}

    def cargo(*_: str) -> tuple[int, list[object]]:
        return int(bad.name in planted[-1]), []

    monkeypatch.setattr(run, "plant", plant)
    monkeypatch.setattr(run, "cargo", cargo)
    monkeypatch.setattr(run, "blamed", lambda *_: {2})
    kept = tmp_path / "unfit.json"
    assert run.build([], {1: good, 2: bad}, kept) == ({1: good}, [])
    assert run.build([], {1: bad, 2: good}, kept) == ({2: good}, [])
    assert planted == [{good.name, bad.name}, {good.name}, {good.name}]


def test_a_sample_changes_little_when_the_code_does() -> None:
    many = [Mutant("f.rs", k, k, k + 1, "expr", "compare", "x", f"m{k}") for k in range(1000)]
    first, again = run.sample(many, 100, 1), run.sample(many[10:], 100, 1)
    assert len(first) == len(again) == 100
    # Of a hundred, about one lay in the first hundredth; ten are all that can have.
    assert len({m.name for m in first} & {m.name for m in again}) >= 90
    assert {m.name for m in run.sample(many, 100, 2)} != {m.name for m in first}


def test_several_samples_are_built_once_and_each_is_summed_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    many = [Mutant("f.rs", k, k, k + 1, "expr", "compare", "x", f"m{k}") for k in range(30)]
    samples = {seed: {m.name for m in run.sample(many, 10, seed)} for seed in (1, 2)}
    both = samples[1] & samples[2]
    assert both
    explained = min(samples[1] - both)
    builds: list[list[str]] = []
    judged: list[str] = []

    def build(
        _: object, mutants: dict[int, Mutant], __: Path
    ) -> tuple[dict[int, Mutant], list[Case]]:
        builds.append([m.name for m in mutants.values()])
        return mutants, []

    def judge(_: int, name: str, *__: object) -> str:
        judged.append(name)
        return "waf law" if name in samples[1] else run.SURVIVED

    for name, instead in {
        "WORK": tmp_path, "tracked": list, "candidates": lambda _: many, "build": build,
        "survey": lambda *_: [], "judge": judge, "explanations": lambda: {explained: "by hand"},
    }.items():  # fmt: skip
        monkeypatch.setattr(run, name, instead)
    assert run.run(10, [1, 2], 1, [], 5) == 1
    # Once each, those of the first sample first, and explained ones last.
    assert [set(names) for names in builds] == [samples[1] | samples[2]]
    assert set(judged[:9]) == samples[1] - {explained}
    assert set(judged[9:-1]) == samples[2] - both
    assert judged[-1] == explained
    assert len(judged) == 20 - len(both)
    printed = capsys.readouterr().out
    first, second = printed.split("seed 1\n")[1].split("seed 2\n")
    assert "10 sampled, 10 viable\n10 caught, 100.0%" in first
    assert "0 survivors" in first
    assert f"{len(both)} caught, {len(both) / 10:.1%}" in second
    assert f"{10 - len(both)} survivors, 0 of them explained" in second
    # Of one alone all is known.
    judged.clear()
    assert run.run(10, [1], 1, [], 5) == 0
    assert judged == []


def test_quick_tests_come_first_and_golden_results_last() -> None:
    def reach(target: str, name: str, seconds: float) -> Reach:
        return Reach(Case(target, ".", target, name), "b", seconds, frozenset({1}))

    tests = [reach("main", "golden::all", 0.1), reach("main", "law", 9.0), reach("lib", "a", 0.01)]
    tests += [reach("main", "quick", 0.01), reach("lib", "b", 0.02)]
    names = [[r.test.name for r in part] for part in run.portions(tests)]
    assert names == [["a", "b"], ["quick"], ["law"], ["golden::all"]]


def test_what_takes_long_or_fails_judges_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    binary = tmp_path / "waf"
    binary.write_bytes(b"")
    tests = [Case(str(binary), ".", "waf", name) for name in ("quick", "bad", "law")]
    taken = {"quick": 0.5, "bad": 0.5, "law": 12.0}
    asked = []

    def execute(some: list[Case], settings: dict[str, str], seconds: int) -> tuple[str, float]:
        name = some[0].name
        asked.append(name)
        Path(settings["FLOATGATE_REACHED"]).write_text("7\n3\n")
        failed = "waf law hangs" if taken[name] > seconds else "waf bad" * (name == "bad")
        return failed, min(taken[name], seconds - 0.5)

    monkeypatch.setattr(run, "execute", execute)
    kept = tmp_path / "reach.jsonl"
    assert run.survey(tests, 1, kept, 10) == [
        Reach(tests[0], sha256(b"").hexdigest(), 0.5, frozenset({3, 7}))
    ]
    said = capsys.readouterr().out
    assert "1 tests judge nothing, as they take 10 s or more" in said
    assert "left out, for it fails without any mutant: waf bad" in said
    assert asked == ["quick", "bad", "law"]
    # A higher limit asks anew for those that a lower limit cut short, and for those that failed.
    assert [r.test.name for r in run.survey(tests, 1, kept, 20)] == ["quick", "law"]
    assert asked[3:] == ["bad", "law"]
    assert [r.test.name for r in run.survey(tests, 1, kept, 10)] == ["quick"]


def test_a_test_that_passed_runs_again_only_if_it_is_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def reach(build: str, name: str) -> Reach:
        return Reach(Case("waf", ".", "waf", name), build, 2.0, frozenset({1}))

    ran: list[str] = []

    def execute(some: list[Case], *_: object) -> tuple[str, float]:
        ran.extend(test.name for test in some)
        return "waf c" * (some[0].name == "c"), 0.1

    monkeypatch.setattr(run, "execute", execute)

    def judge(*tests: Reach) -> tuple[str, list[str]]:
        ran.clear()
        return run.judge(1, "m", tests, run.Passed(tmp_path / "passed.jsonl")), ran

    first = [reach("x", "a"), reach("y", "b")]
    assert judge(*first) == (run.SURVIVED, ["a", "b"])
    assert judge(*first) == (run.SURVIVED, [])
    assert judge(first[0], reach("z", "b")) == (run.SURVIVED, ["b"])
    assert judge(*first, reach("y", "c")) == ("waf c", ["c"])
    assert judge(*first, reach("y", "c")) == ("waf c", ["c"])
    assert judge() == (run.UNREACHED, [])


def test_what_caught_a_mutant_of_older_code_is_tried_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tests = [
        Reach(Case(target, ".", target, name), "b", 0.01, frozenset({1}))
        for target, name in [("lib", "a"), ("lib", "b"), ("waf", "c"), ("waf", "golden::all")]
    ]
    ran: list[list[str]] = []

    def execute(some: list[Case], *_: object) -> tuple[str, float]:
        ran.append([test.name for test in some])
        return "waf c" * ("c" in ran[-1]), 0.1

    monkeypatch.setattr(run, "execute", execute)
    for before, tried in {
        "": [["a", "b"], ["c"]],
        "waf c": [["c"]],
        "waf c hangs": [["c"]],
        "lib b": [["b"], ["a"], ["c"]],
        # The name of an earlier test no longer exists, or that test does not reach the mutant.
        "waf gone": [["a", "b"], ["c"]],
        "survived": [["a", "b"], ["c"]],
        # A mutant that golden results alone catch is counted.
        "waf golden::all": [["a", "b"], ["c"]],
    }.items():
        ran.clear()
        kept = tmp_path / f"passed-{before}.jsonl"
        assert run.judge(1, "m", tests, run.Passed(kept), before) == "waf c"
        assert ran == tried, before


def test_a_survivor_without_an_explanation_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mutants = {1: mutant("a < b", "a < b", "a <= b"), 2: mutant("c < d", "c < d", "c <= d")}
    verdicts = {1: "waf law", 2: run.SURVIVED}
    monkeypatch.setattr(run, "explanations", dict)
    assert run.summary(2, mutants, verdicts) == 1
    printed = capsys.readouterr().out
    assert "1 caught, 50.0%" in printed
    assert "NOT EXPLAINED" in printed
    monkeypatch.setattr(run, "explanations", lambda: {mutants[2].name: "equal by symmetry"})
    assert run.summary(2, mutants, verdicts) == 0
    assert "equal by symmetry" in capsys.readouterr().out


def test_every_accepted_survivor_has_a_reason() -> None:
    accepted = run.explanations()
    assert accepted
    for name, why in accepted.items():
        path, _, change = name.partition(" ")
        assert (ROOT / path).is_file(), name
        assert "→" in change, name
        assert len(why.split()) >= 5, name


@pytest.mark.verify
def test_every_accepted_survivor_is_a_mutant() -> None:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not on the path")
    names = {m.name for m in run.candidates(run.tracked())}
    assert len(names) > 5_000
    assert run.explanations().keys() <= names


@pytest.mark.verify
def test_the_list_of_mutants_by_hand(tmp_path: Path) -> None:
    if not shutil.which("cargo"):
        pytest.skip("cargo is not on the path")
    source = """
        const N: u32 = 3;
        fn f(mut a: u32, v: &[u32]) -> bool {
            a -= 1;
            assert!(a < 2);
            if a < 4 { v.first(); }
            let w = Vec::<u32>::with_capacity(7);
            match a { 5 if w.is_empty() => true, _ => [0; 8][0] == 9 }
        }
        #[cfg(test)]
        mod tests { fn g() -> u32 { 1 + 1 } }
        fn never() -> bool { false }
        fn nothing() -> Vec<u32> { Vec::new() }
        fn two() -> Vec<u32> { vec![1, 2] }
    """
    path = tmp_path / "lib.rs"
    path.write_text(source)
    command = ["cargo", "run", "--quiet", "--locked"]
    command += ["--manifest-path", str(ROOT / "scripts/mutants/Cargo.toml")]
    command += ["--target-dir", str(ROOT / "target/mutants/tool"), "--", str(path)]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    by_function: dict[str, set[tuple[str, str]]] = {"f": set(), "never": set(), "two": set()}
    for m in map(json.loads, listed.splitlines()):
        by_function[m["inside"]].add((m["original"], m["shown"]))
    # A returned value is not exchanged for itself: `nothing` has no mutant.
    assert by_function["two"] == {("", "return Default::default()")}
    assert by_function["never"] == {("", "return true"), ("false", "true")}
    assert by_function["f"] == {
        ("", "return true"), ("", "return false"),
        ("a -= 1;", ""), ("a -= 1", "a += (1)"), ("1", "2"), ("1", "0"),
        ("a < 4", "!(a < 4)"), ("a < 4", "(a) <= (4)"), ("4", "5"), ("4", "3"),
        ("v.first();", ""), ("v.first()", "v.last()"),
        ("w.is_empty()", "!(w.is_empty())"), ("true", "false"),
        ("[0; 8][0] == 9", "([0; 8][0]) != (9)"), ("0", "1"), ("9", "10"), ("9", "8"),
    }  # fmt: skip
