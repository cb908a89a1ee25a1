"""From comma lists to runs."""

import itertools
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate import InputError
from floatgate.result.names import where
from floatgate.runs.variants import expand, folder_name, split

# TOML values that have commas, quotes and brackets in them.
words = st.text(alphabet=",'\"\\[]{} aé=", max_size=8)
scalars = st.one_of(st.integers(), st.booleans(), words)
values = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(st.just("k"), scalars))


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(v)}" for key, v in value.items()) + " }"
    # The JSON of numbers, texts and lists is TOML as well.
    return json.dumps(value, ensure_ascii=False)


@given(st.lists(values, min_size=1, max_size=5))
def test_values_are_split_where_toml_would(given: list[object]) -> None:
    parts = split(",".join(map(toml, given)))
    assert [tomllib.loads(f"x = {part}")["x"] for part in parts] == given


@given(st.text(alphabet=",'\"\\[]{}ab"))
def test_splitting_loses_nothing(text: str) -> None:
    assert ",".join(split(text)) == text


@given(st.lists(st.text(alphabet="ab.:=-5", min_size=1), min_size=1))
def test_plain_words_are_split_at_every_comma(given: list[str]) -> None:
    assert split(", ".join(given)) == given


def test_literal_strings_know_no_backslash() -> None:
    assert split(r"'a\', 'b'") == [r"'a\'", "'b'"]
    assert split(r'"a\", b"') == [r'"a\", b"']


names = st.sampled_from(["cost", "victim", "ftl.spare-factor", "host.mode", "run.x"])
several = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)
lists = st.dictionaries(names, several, max_size=2)


@given(policy=lists, set=lists, seed=several)
def test_every_combination_occurs_once_and_the_first_varies_slowest(
    policy: dict[str, list[int]], set: dict[str, list[int]], seed: list[int]
) -> None:
    variants = expand("a", "b", policy, set, seed)
    seen = [(v.policy, v.set, v.seed) for v in variants]
    expected = [
        (policies, settings, each)
        for policies in itertools.product(*([f"{k}={v}" for v in vs] for k, vs in policy.items()))
        for settings in itertools.product(*([f"{k}={v}" for v in vs] for k, vs in set.items()))
        for each in seed
    ]
    assert seen == expected
    assert len({*seen}) == len(seen)


def test_texts_and_mappings_say_the_same() -> None:
    one = expand(
        "a,b", "w", ["cost=x:level=low,y", "victim=z"], ["k.l=1,2", 'k.m={ p = "1,2" }'], "1, 2"
    )
    two = expand(
        ["a", "b"],
        "w",
        {"cost": ["x:level=low", "y"], "victim": "z"},
        {"k.l": [1, 2], "k.m": '{ p = "1,2" }'},
        [1, 2],
    )
    assert one == two
    assert len(one) == 16
    assert one[0].varied == {"drive": "a", "cost": "x:level=low", "k.l": "1", "seed": "1"}
    assert one[0].set == ("k.l=1", 'k.m={ p = "1,2" }')


def test_what_is_given_once_does_not_vary() -> None:
    (only,) = expand("a", Path("traces") / "w,x.csv", "cost=x", {"b": True}, None)
    assert (only.workload, only.set, only.seed, only.varied) == (
        "traces/w,x.csv",
        ("b=true",),
        None,
        {},
    )


def test_a_file_with_a_comma_in_its_name_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b.csv").write_text("")
    assert [v.workload for v in expand("d", "a,b.csv", (), (), None)] == ["a,b.csv"]
    assert [v.workload for v in expand("d", "a,c.csv", (), (), None)] == ["a", "c.csv"]


@pytest.mark.parametrize(
    ("policy", "set", "seed", "hint"),
    [
        ((), ["a=1", "a=2"], None, "--set a=1,2"),
        (["cost=x", "cost=y"], (), None, "--policy cost=x,y"),
        ((), ["a=1,,2"], None, "--set a=1,,2"),
        ((), ["a=1,"], None, "empty"),
        ((), {"a": []}, None, "--set a"),
        ((), ["a"], None, "KEY=VALUE"),
        (["victim"], (), None, "FAMILY=NAME"),
        ((), (), "1,x", "`x`"),
        ((), (), "-1", "`-1`"),
        ((), (), [1, -1], "`-1`"),
        ((), (), "1,", "--seed 1,"),
        ((), (), [], "--seed"),
    ],
)
def test_what_is_no_list_is_refused(policy: object, set: object, seed: object, hint: str) -> None:
    with pytest.raises(InputError) as error:
        expand("a", "b", policy, set, seed)  # type: ignore[arg-type]
    assert hint in str(error.value)


RUNS = [{"a": a, "b": b} for a in "123" for b in "xy"]


@given(st.sets(st.integers(0, 5), min_size=1))
def test_some_runs_are_named_so_that_one_knows_which(chosen: set[int]) -> None:
    some = [RUNS[i] for i in sorted(chosen)]
    said = where(some, RUNS)
    if said == "every run":
        meant = RUNS
    elif " and " in said or ";" in said or " " in said:
        named = [dict(word.split("=") for word in one.split()) for one in said.split("; ")[:4]]
        more = len(some) - len(named)
        assert (f"and {more} more of 6 runs" in said) == (more > 0)
        assert named == some[:4]
        return
    else:
        name, value = said.split("=")
        meant = [run for run in RUNS if run[name] == value]
    assert meant == some


def test_a_folder_is_named_by_what_is_compared() -> None:
    variants = expand("x/mine.toml", "msr:hm_0,zipf", "cost=a,b", {"ftl.spare-factor": [1, 2]}, 1)
    assert folder_name(variants) == "compare-mine-msr-hm_0+zipf-by-cost-spare-factor"
    assert folder_name(expand("agcr", "../.hidden", (), (), None)) == "compare-agcr-.hidden"
    long = expand("agcr", "w" * 300, (), (), None)
    assert len(folder_name(long)) <= 100
