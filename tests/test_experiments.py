"""Experiment files: which runs they name, the way to Python and back, and every mistake."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.engine import located
from floatgate.experiments import Experiment, Published
from floatgate.experiments.check import BLOCK, READING
from floatgate.experiments.ranges import RangeError, expand
from floatgate.experiments.toml import written
from floatgate.report.model import Plot
from floatgate.runs.sweep import prepare

HEAD = 'schema = "floatgate.experiment/1"\nname = "x"\n'

WHOLE = """\
schema = "floatgate.experiment/1"
name = "whole"
title = "All there is"
prose = '''
First "part" with a \\ in it.

Second.
'''
record = ["series"]
measures = ["waf", "host.write.latency_ns.p99"]
drive = "agcr"
workload = { writes = "random-write", zipf = "zipf" }

[set]
"workload.requests" = 1000
"timing.bus" = [{ rate = "333MT/s", width-bits = 8 }, "included"]

[quick.set]
"timing.bus" = "included"

[[runs]]
seed = { from = 1, to = 3 }
exclude = [{ workload = "zipf", seed = [1, 2] }, { seed = 3, victim = "two" }]
[runs.policy]
victim = { greedy = "greedy", two = "d-choices:d=2" }
[runs.quick]
seed = 1
exclude = []

[[runs]]
quick = false
[runs.cases.scheme.slow]
policy = { cost = "fixed:level=high" }
set = { "host.queue-depth" = 1 }
[runs.cases.scheme.quick]
policy = { cost = "fixed:level=low" }

[[plots]]
kind = "bars"
measure = "waf"
x = "victim"

[[published]]
what = "a number"
measure = "waf"
where = { victim = "greedy" }
value = 1.5
tolerance = 0.1
source = "Table 1"

[[published]]
what = "a statement"
text = "as expected"
"""

ROOT = Path(__file__).parent.parent


def test_a_file_names_its_runs() -> None:
    experiment = Experiment.parse(WHOLE)
    assert experiment.prose == ['First "part" with a \\ in it.', "Second."]
    runs = experiment.planned()
    # 2 workloads x 2 kinds of bus x (2 victims x 3 seeds; 2 schemes), without the excluded runs: of
    # zipf seeds 1 and 2, of seed 3 two choices.
    assert len(runs) == 2 * (2 * 3 - 1) + 2 * (2 * 1 - 1) + 2 * 2 * 2
    first, last = runs[0], runs[-1]
    assert first.names == {
        "workload": "writes",
        "drive": "agcr",
        "workload.requests": "1000",
        "timing.bus": '{ rate = "333MT/s", width-bits = 8 }',
        "victim": "greedy",
        "seed": "1",
    }
    assert (first.part.drive, first.part.workload, first.part.seed) == ("agcr", "random-write", 1)
    assert first.part.policy == {"victim": "greedy"}
    assert last.names["scheme"] == "quick"
    assert last.part.policy == {"cost": "fixed:level=low"}
    short = experiment.quick().planned()
    assert [run.names["seed"] for run in short] == ["1"] * 4
    assert {run.names["timing.bus"] for run in short} == {"included"}
    assert [p.what for p in experiment.published] == ["a number", "a statement"]
    assert experiment.plots == [Plot("bars", measure="waf", x="victim")]


def test_there_and_back() -> None:
    experiment = Experiment.parse(WHOLE)
    again = Experiment.parse(experiment.to_toml())
    assert again == experiment
    assert again.data == tomllib.loads(WHOLE)
    assert again.planned() == experiment.planned()
    made = Experiment(
        "made",
        drive=Path("agcr"),
        workload=["zipf"],
        policy={"victim": ("greedy", "fifo")},
        set={"ftl.spare-factor": np.array([0.1, 0.2]), "host.queue-depth": np.int64(4)},
        seed=range(2),
        published=[Published("n", "waf", 2.0, {"victim": "fifo"})],
        plots=[Plot("lines", x="ftl.spare-factor")],
    )
    assert len(made.planned()) == 8
    assert Experiment.parse(made.to_toml()) == made
    assert tomllib.loads(made.to_toml())["set"] == {
        "ftl.spare-factor": [0.1, 0.2],
        "host.queue-depth": 4,
    }
    assert "made: 8 runs" in repr(made)
    assert made != experiment


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"from": 0.07, "to": 0.28, "steps": 4}, [0.07, 0.14, 0.21, 0.28]),
        ({"from": 0.1, "to": 0.7, "by": 0.2}, [0.1, 0.3, 0.5, 0.7]),
        ({"from": 1, "to": 64, "factor": 4}, [1, 4, 16, 64]),
        ({"from": 1, "to": 3}, [1, 2, 3]),
        ({"from": "1KiB", "to": "3KiB", "by": 1}, ["1KiB", "2KiB", "3KiB"]),
        ({"from": "0.5us", "to": "2us", "factor": 2}, ["0.5us", "1us", "2us"]),
        ({"from": 0.001, "to": 1, "steps": 4, "scale": "log"}, [0.001, 0.01, 0.1, 1]),
        ({"from": 2, "to": 2, "by": 5}, [2]),
        ({"from": 0.1, "to": 10**19, "steps": 3}, [0.1, 5e18, 10**19]),
    ],
)
def test_ranges(given: dict[str, Any], values: list[Any]) -> None:
    assert expand(given) == values


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"from": 1}, "needs `to`"),
        ({"from": 2, "to": 1}, "below its beginning"),
        ({"from": 0.5, "to": 1.5}, "needs `steps`, `by` or `factor`"),
        ({"from": 1, "to": 2, "steps": 2, "by": 1}, "only one of steps, by"),
        ({"from": 1, "to": 2, "step": 2}, "`step` is not a part"),
        ({"from": 1, "to": 2, "steps": 1}, "`steps` must be"),
        ({"from": 1, "to": 2, "steps": True}, "`steps` must be"),
        ({"from": 0, "to": 2, "factor": 2}, "above 0"),
        ({"from": 1, "to": 2, "factor": 1}, "above 1"),
        ({"from": 1, "to": 2, "by": 0}, "`by` must be above 0"),
        ({"from": 1, "to": 10**6}, "at most"),
        ({"from": "1KiB", "to": "2MiB", "by": 1}, "same unit"),
        ({"from": "x", "to": 2}, "must be a number"),
        ({"from": 1, "to": 2, "scale": "log"}, "`scale` says"),
        ({"from": 0, "to": 2, "steps": 3, "scale": "log"}, "begin above 0"),
        ({"from": 0.1, "to": 10**21, "steps": 3}, r"`to` must be 0, or from 1e-12 to 2\^64"),
        ({"from": 0, "to": 10**400, "steps": 3}, "`to` must be 0"),
        ({"from": 1e-300, "to": 1, "steps": 3, "scale": "log"}, "`from` must be 0"),
        ({"from": 0, "to": 1, "by": 1e-13}, "`by` must be 0"),
    ],
)
def test_ranges_that_are_none(given: dict[str, Any], message: str) -> None:
    with pytest.raises(RangeError, match=message):
        expand(given)


# ── Mistakes ────────────────────────────────────────────────────────────────────────────────────

BASE = HEAD + 'drive = "agcr"\nworkload = "zipf"\n'
CLAIM = BASE + '[[published]]\nwhat = "a"\nmeasure = "waf"\nvalue = 1\n'

FLOWS = HEAD + 'drive = "agcr"\n[flow]\n'

WRONG = {
    "no schema": ('name = "x"\n', None, "`schema` is missing"),
    "another schema": ('schema = "floatgate.drive/1"\nname = "x"\n', 1, "floatgate.experiment/1"),
    "a name that is a path": ('schema = "floatgate.experiment/1"\nname = "../x"\n', 2, "`name`"),
    "no drive": (HEAD + 'workload = "zipf"\n', None, "no `drive`"),
    "an unknown key": (BASE + "sed = 1\n", 5, "did you mean `seed`?"),
    "an unknown key of runs": (BASE + '[[runs]]\nworkloads = "zipf"\n', 6, "`workload`?"),
    "a list of numbers": (BASE + "measures = [1]\n", 5, "a list of texts, not [1]"),
    "a number for a text": (BASE + "title = 3\n", 5, "`title` must be a text, not 3"),
    "a table that is not one": (BASE + 'policy = "victim=fifo"\n', 5, "must be a table"),
    "an unknown table": (BASE + 'record = ["sereis"]\n', 5, "did you mean `series`?"),
    "an empty list": (BASE + "[policy]\nvictim = []\n", 6, "list of `victim` is empty"),
    "a policy by number": (BASE + "[policy]\nvictim = [1]\n", 6, "must be a text"),
    "a value twice": (BASE + '[policy]\nvictim = ["fifo", "fifo"]\n', 6, "`fifo` twice"),
    "a range": (BASE + "[set]\n'a.b' = { from = 1, too = 2 }\n", 6, "`too` is not a part"),
    "a date": (BASE + "[set]\n'a.b' = 2020-01-01\n", 6, "a date needs quotes"),
    "a number of 67 bits": (BASE + "quick = 99999999999999999999\n", 5, "number of 64 bits"),
    "a seed": (BASE + 'seed = ["one"]\n', 5, "a seed must be"),
    "a case": (BASE + "[cases.scheme]\nfast = { polcy = {} }\n", 6, "did you mean `policy`?"),
    "cases that are not a table": (BASE + '[cases]\nscheme = "fast"\n', 6, "a table of cases"),
    "no cases": (BASE + "[cases.scheme]\n", 5, "has no cases"),
    "an axis twice": (BASE + "[policy]\nv = 'a'\n[cases.v]\nx = {}\n", 7, "named twice"),
    "how to read": (BASE + "[reading]\nformt = 'msr'\n", 6, "did you mean `format`?"),
    "quick": (BASE + "quick = true\n", 5, "`quick` must be a table"),
    "what is quick": (BASE + "[quick]\nsets = 1\n", 6, "did you mean `set`?"),
    "an exclusion by name": (BASE + 'exclude = [{ victm = "fifo" }]\n', 5, "nothing that these"),
    "an exclusion by value": (
        BASE + "seed = [1, 2]\nexclude = [\n  { seed = 3 },\n]\n",
        7,
        "no run has `seed` = 3",
    ),
    "a plot without a kind": (BASE + '[[plots]]\nx = "seed"\n', 5, "needs a `kind`"),
    "nothing published": (BASE + '[[published]]\nwhat = "a"\n', 5, "needs `measure`"),
    "a statement with a number": (
        BASE + '[[published]]\nwhat = "a"\ntext = "b"\nvalue = 1\n',
        8,
        "has no `value`",
    ),
    "published in no form": (CLAIM + 'form = "factor"\n', 9, "is not a `form`"),
    "a form of nothing": (CLAIM + 'form = "ratio"\n', 9, "say by `against`"),
    "over what": (CLAIM + 'over = "mediam"\n', 9, "did you mean `median`"),
    "a span of one": (CLAIM + "span = [1]\n", 9, "a list of two numbers"),
    "too little of what": (CLAIM + "least = { waf = true }\n", 9, "`waf` must be a number"),
    "a relation that is not one": (
        BASE + '[[published]]\nwhat = "a"\nmeasure = "waf"\nvalue = "about 2"\n',
        8,
        "a number or a relation",
    ),
    "published of no run": (
        BASE + 'seed = [1, 2]\n[[published]]\nwhat = "a"\nmeasure = "waf"\nvalue = 1\n'
        "where = { seed = 7 }\n",
        10,
        "there are 1, 2",
    ),
    "not TOML": (BASE + "seed = \n", 5, "this is not TOML"),
    "not TOML to the end": (BASE + 'seed = """x\n\n', 5, "this is not TOML"),
    "nothing": ("", None, "`schema` is missing"),
    "a flow of a number": (FLOWS + "a = 3\n", 5, "a flow of `a` must be a text"),
    "a flow of nothing known": (FLOWS + 'a = ["zipf", "zipf:weigth=2"]\n', 5, "mean `weight`?"),
    "flows beside a workload": (BASE + '[flow]\na = "zipf"\n', 5, "are the workload"),
    "a workload of a case beside flows": (
        FLOWS + 'a = "zipf"\n[cases.of]\none = { workload = "zipf" }\n',
        4,
        "are the workload",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), WRONG.values(), ids=WRONG)
def test_a_mistake_has_its_line(text: str, line: int | None, message: str) -> None:
    with pytest.raises(fg.ConfigError) as raised:
        Experiment.parse(text, "wrong.toml")
    said = str(raised.value)
    assert message in said
    if line is not None:
        assert f"--> wrong.toml:{line}\n" in said
        assert f"{line} | {text.splitlines()[line - 1]}" in said


def test_all_mistakes_of_toml_are_said_at_once_a_line_each() -> None:
    text = BASE + "seed = 1\nset = 2 2\na = = =\nb = 3\nc = 'x\n"
    with pytest.raises(fg.ConfigError) as raised:
        Experiment.parse(text, "wrong.toml")
    assert re.findall(r"wrong.toml:(\d+)", str(raised.value)) == ["6", "7", "9"]


def test_all_mistakes_are_said_at_once() -> None:
    text = BASE + 'sed = 1\n[[runs]]\nworkloads = "zipf"\n[policy]\nvictim = [1]\n'
    with pytest.raises(fg.ConfigError) as raised:
        Experiment.parse(text, "wrong.toml")
    assert re.findall(r"wrong.toml:(\d+)", str(raised.value)) == ["5", "9", "7"]
    assert len(raised.value.errors) == 3


def test_mistakes_of_python_objects_have_their_path() -> None:
    with pytest.raises(fg.ConfigError, match=r"published\[0\]\.where\.victm"):
        Experiment(
            "x",
            drive="agcr",
            workload="zipf",
            published=[Published("a", "waf", 1.0, {"victm": "fifo"})],
        )
    with pytest.raises(fg.ConfigError, match="did you mean `workload`"):
        Experiment("x", drive="agcr", wokload="zipf")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name, message in (
        ("none.toml", "no such file"),
        ("", "directory"),
        ("binary.toml", "text"),
    ):
        with pytest.raises(fg.InputError, match=message):
            Experiment.load(tmp_path / name)


def test_flows_vary_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("")
    text = FLOWS + (
        'db = ["random-read:weight=1", "random-read:weight=4:priority=high"]\n'
        'log = { slow = "t.csv:speed=0.5", fast = "t.csv:speed=2" }\n'
        '[policy]\narbitration = ["merge", "fair"]\n'
        '[cases.third]\nwithout = {}\nwith = { flow = { more = "zipf:depth=3" } }\n'
    )
    (tmp_path / "x.toml").write_text(text)
    experiment = Experiment.load(tmp_path / "x.toml")
    runs = experiment.planned()
    assert len(runs) == 2 * 2 * 2 * 2
    assert runs[0].names == {
        "drive": "agcr",
        "flow.db": "random-read:weight=1",
        "flow.log": "slow",
        "arbitration": "merge",
        "third": "without",
    }
    place = tmp_path / "t.csv"
    first = {"db": "random-read:weight=1", "log": f"{place}:speed=0.5"}
    assert runs[0].part.workload == fg.flows(first)
    last = {
        "db": "random-read:weight=4:priority=high",
        "log": f"{place}:speed=2",
        "more": "zipf:depth=3",
    }
    assert runs[-1].part.workload == fg.flows(last)
    assert runs[-1].part.policy == {"arbitration": "fair"}
    again = Experiment.parse(experiment.to_toml())
    assert again.data == experiment.data
    # A case may have all of the flows.
    only = '[cases.who]\none = { flow = { a = "zipf" } }\n'
    (run,) = Experiment.parse(HEAD + 'drive = "agcr"\n' + only).planned()
    assert run.part.workload == fg.flows({"a": "zipf"})


def test_flows_of_an_experiment_run(floatgate: Floatgate, tmp_path: Path) -> None:
    """Of two saturated flows on four places, `fair` gives each the share of its weight."""
    (tmp_path / "x.toml").write_text(
        HEAD + 'drive = "agcr"\nmeasures = ["host.flows.a.all.requests"]\n[flow]\n'
        'a = ["random-read:queue-depth=16:until=20ms:weight=1", '
        '"random-read:queue-depth=16:until=20ms:weight=3"]\n'
        'b = "random-read:queue-depth=16:until=20ms"\n[policy]\narbitration = "fair"\n'
        '[set]\n"host.queue-limit" = 4\n"precondition.fill" = "full"\n'
        '"geometry.blocks-per-plane" = 64\n"workload.requests" = 100_000\n'
    )
    done = floatgate("sweep", "x.toml", "--json", "-q", "--out", "out")
    assert done.returncode == 0, done.stderr
    shares = {}
    for path in tmp_path.glob("out/**/result.json"):
        flows = json.loads(path.read_text())["host"]["flows"]
        a, b = (flows[name]["all"]["requests"] - 16 for name in "ab")
        shares[flows["a"]["weight"]] = a / b
    assert shares[1] == pytest.approx(1, rel=0.02)
    assert shares[3] == pytest.approx(3, rel=0.02)


def test_files_are_named_as_seen_from_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('schema = "floatgate.drive/1"\nbase = "agcr"\n')
    text = HEAD + 'drive = "own.toml"\nworkload = "zipf"\n[reading]\ntraces = "here"\n'
    (tmp_path / "x.toml").write_text(text)
    (run,) = Experiment.load(tmp_path / "x.toml").planned()
    assert run.part.drive == str(tmp_path / "own.toml")
    assert run.reading["traces"] == [str(tmp_path / "here")]


def test_lines_of_everything_that_toml_has() -> None:
    text = "\n".join(
        [
            "# first",
            'a = """',
            "[no] = 1",
            'x""""',
            "b.c = [1, # one",
            "  [2], { d = '''",
            "]''' }]",
            '"e.f"."g\\"h" = "#"',
            "[[t]]",
            "k = 1979",
            "[t.u]",
            "k = { l = [ ] }",
            "[[t]]",
            "[t.u]",
            "k = 2",
        ]
    )
    value, found, wrong = located(text)
    assert value == tomllib.loads(text)
    assert not wrong
    expected = {
        ("a",): 2,
        ("b", "c"): 5,
        ("b", "c", 0): 5,
        ("b", "c", 1, 0): 6,
        ("b", "c", 2, "d"): 6,
        ("t", 0, "k"): 10,
        ("t", 0, "u", "k", "l"): 12,
        ("t", 1): 13,
        ("t", 1, "u", "k"): 15,
    }
    assert {path: found[path] for path in expected} == expected


def test_what_is_written_is_what_is_read() -> None:
    value = {
        "text": 'a "b" \\ \t \x01',
        "long": 'one\n"""two"""\\\nthree"',
        "numbers": [1, -2.5, 1e300, True],
        "a key": {"b.c": {"d": []}, "e": {"from": 1}},
        "tables": [{"x": {"y": {"z": 1}}}, {}],
    }
    assert tomllib.loads(written(value)) == value


def test_the_examples_of_the_documentation_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs/experiments.md").read_text()
    monkeypatch.chdir(tmp_path)
    files = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    runs = [len(prepare(Experiment.parse(file, "docs"), out="out").plans) for file in files]
    assert runs == [2 * 3 * 2, 2 * 2 + 2 * 3]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "docs", "exec"), {})
    keys = (ROOT / "docs/reference/experiments.md").read_text()
    for key in (*BLOCK, *READING, "title", "prose", "record", "measures", "plots", "published"):
        assert re.search(rf"[`\[.]{key}[`\].]", keys), f"`{key}` is not in the reference"


def test_other_traces_stand_ahead_of_workloads_above_the_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"also_there": [{"path": "/traces/own.trace"}]}
    monkeypatch.setattr("floatgate.experiments.model.known_traces", lambda folders: there)
    plan = Experiment(
        "two", drive="agcr", workload=["zipf", "uniform"],
        runs=[{"other-traces": True}, {"seed": 2}, {"other-traces": True, "workload": "hot-cold"}],
    )  # fmt: skip
    names = [run.names["workload"] for run in plan.with_other_traces(["/traces"]).planned()]
    assert names == ["own.trace", "zipf", "uniform", "zipf", "uniform", "own.trace", "hot-cold"]
    there["also_there"] = []
    names = [run.names["workload"] for run in plan.with_other_traces(["/traces"]).planned()]
    assert names == ["zipf", "uniform", "zipf", "uniform", "hot-cold"]


def test_cases_of_one_axis_may_name_the_workload() -> None:
    slow = {"policy": {"order": "fifo"}}
    made = Experiment(
        "cases",
        drive="agcr",
        cases={
            "order of reads": {"in turn": slow, "first": {"policy": {"order": "read-first"}}},
            "workload": {"few": {"workload": "zipf"}, "many": {"workload": "random-read"}},
        },
    )
    names = [dict(run.names) for run in made.planned()]
    assert len(names) == 4
    assert {name["workload"] for name in names} == {"few", "many"}
    with pytest.raises(fg.ConfigError, match="no `workload`"):
        Experiment("none", drive="agcr", cases={"order of reads": {"in turn": slow}})
