"""Does every key of an experiment do something? The keys come from the lists that check them, so a
new one without an effect fails here. An effect is a change that people see: the list of runs, the
page of `sweep`, the report. `crates/ssd/tests/keys.rs` does the same for drive files."""

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from floatgate.engine import InputError
from floatgate.experiments import check, ranges, toml
from floatgate.report.page import html
from floatgate.reproduce import claims as findings
from floatgate.runs.sweep import carry_on, prepare
from floatgate.text import comparison as comparison_text

Keys = dict[str, Any]

BASE: Keys = {
    "schema": check.SCHEMA,
    "name": "keys",
    "drive": "agcr",
    "workload": "random-write",
    "set": {
        "geometry.channels": 1,
        "geometry.chips-per-channel": 1,
        "geometry.blocks-per-plane": 64,
        "workload.requests": 200,
        "workload.read-share": 0.5,
        "workload.rate": 1000,
    },
    "seed": [1, 2],
}
READ = {"set": {**BASE["set"], "workload.requests": None}, "workload": "trace.csv"}
CSV = {"columns": "time=1:us,op=2,offset=3:bytes,size=4"}
DEVICES = {"columns": "time=1:us,op=2,offset=3:bytes,size=4,device=5"}
FILES = {
    "trace.csv": "".join(f"{i * 700},{'RW'[i % 2]},{i * 4096 % 90000},4096,{i % 3}\n"
                         for i in range(60)),
    "bad.csv": "0,W,0,4096\n5,W,4096,4096\n9,Q,0,4096\n20,R,0,4096\n",
    "block.txt": "".join(
        f"8,0 3 {i} {i / 1000:.9f} {600 + i % 2} {'QD'[i // 2 % 2]} W {i * 8} + 8 [job{i % 2}]\n"
        for i in range(40)
    ),
    "ascii.trace": "".join(f"{i * 1000} 0 {i * 8} 8 {i % 2}\n" for i in range(60)),
    "drive.toml": 'base = "agcr"\n[ftl]\nspare-factor = 0.2\n',
    "more/hm_0.csv": "".join(f"{i * 10_000},hm,0,Write,{i * 4096},4096,9\n" for i in range(60)),
    "traces/my-own.trace": "".join(f"{i * 1000} 0 {i * 8} 8 {i % 2}\n" for i in range(60)),
}  # fmt: skip
LINES: Keys = {"kind": "lines", "measure": "waf", "x": "seed"}
NUMBER: Keys = {"what": "a number", "measure": "write.mean", "value": 1e6}


def plot(**keys: Any) -> Keys:
    return {"plots": [LINES | keys]}


def published(**keys: Any) -> Keys:
    return {"published": [NUMBER | keys]}


def two(**keys: Any) -> Keys:
    return {"published": [NUMBER | keys, NUMBER | {"what": "the same"} | keys]}


def case(**keys: Any) -> Keys:
    """A workload and a drive stand in the case, since every run must have them."""
    one: Keys = {
        "drive": "agcr",
        "workload": "random-write",
        "set": {"host.queue-limit": 9},
        "seed": 3,
    }
    one = {key: value for key, value in (one | keys).items() if value is not None}
    return {"drive": None, "workload": None, "seed": None, "cases": {"of": {"one": one}}}


def spread(**keys: Any) -> Keys:
    return {"seed": {"from": 2, "to": 8} | keys}


def reading(given: Keys, **keys: Any) -> Keys:
    return READ | {"reading": given | keys}


POINT = published(where={"seed": 1})
TWO_POLICIES = plot(kind="bars") | {"policy": {"victim": ["greedy", "fifo"]}}
TWO_AXES = {"set": {**BASE["set"], "host.queue-limit": [1, 9]}}
OF_THE_CATALOGUE = {
    "workload": "msr:hm_0",
    "set": {**BASE["set"], "workload.read-share": None, "workload.rate": None},
}
TO_THE_OTHER: Keys = {"where": {"seed": 2}, "against": {"seed": 1}}
OTHER_SEED = published(**TO_THE_OTHER)
CHANGES: dict[str, tuple[Keys, Keys]] = {
    "schema": ({}, {"schema": "floatgate.experiment/2"}),
    "name": ({}, {"name": "other"}),
    "title": ({}, {"title": "Other"}),
    "prose": ({}, {"prose": "A word ahead."}),
    "record": ({}, {"record": ["series"]}),
    "measures": ({}, {"measures": ["host.read.latency_ns.p99_9"]}),
    "plots": ({}, plot()),
    "published": ({}, published()),
    "runs": ({}, {"runs": [{"seed": 7}]}),
    "runs.drive": ({}, {"drive": "drive.toml"}),
    "runs.workload": ({}, {"workload": "zipf"}),
    "runs.flow": ({}, {"workload": None, "flow": {"one": "zipf", "two": "zipf:weight=2"}}),
    "runs.other-traces": ({}, {"other-traces": True}),
    "runs.policy": ({}, {"policy": {"victim": "fifo"}}),
    "runs.set": ({}, {"set": {**BASE["set"], "host.queue-limit": 1}}),
    "runs.cases": ({}, {"cases": {"of": {"one": {"set": {"host.speed": 2.0}}}}}),
    "runs.scale": ({}, {"scale": "1/2"}),
    "runs.seed": ({}, {"seed": 5}),
    "runs.steady": ({}, {"steady": True}),
    "runs.reading": ({}, {"reading": {"first": 10}}),
    "runs.exclude": ({}, {"exclude": [{"seed": 2}]}),
    "runs.quick": ({}, {"quick": {"seed": 9}}),
    "published.what": (published(), published(what="another")),
    "published.measure": (published(), published(measure="read.mean")),
    "published.value": (published(), published(value=2e6)),
    "published.where": (published(), published(where={"seed": 1})),
    "published.against": (published(), published(against={"seed": 1})),
    "published.unit": (published(), published(unit="ns")),
    "published.source": (published(), published(source="Table 1")),
    "published.note": (published(), published(note="as printed")),
    "published.tolerance": (published(), published(tolerance=0.5)),
    "published.form": (OTHER_SEED, published(**TO_THE_OTHER, form="ratio")),
    "published.over": (published(), published(over="most")),
    "published.least": (published(), published(least={"host.write.requests": 1_000_000})),
    "published.span": (published(), published(span=[0, 1])),
    "published.fact": (two(), two(fact="one")),
    "published.kind": (published(), published(kind="check")),
    "published.text": (
        {"published": [{"what": "x", "text": "so"}]},
        {"published": [{"what": "x", "text": "or so"}]},
    ),
    "plots.kind": (plot(), plot(kind="bars")),
    "plots.title": (plot(), plot(title="A line")),
    "plots.measure": (plot(), plot(measure="write.mean")),
    "plots.x": (TWO_AXES | plot(), TWO_AXES | plot(x="host.queue-limit")),
    "plots.by": (TWO_POLICIES, TWO_POLICIES | plot(kind="bars", by="victim")),
    "plots.published": (
        POINT | plot(measure="write.mean"),
        POINT | plot(measure="write.mean", published=False),
    ),
    "case.drive": (case(), case(drive="drive.toml")),
    "case.workload": (case(), case(workload="zipf")),
    "case.flow": (case(workload=None, flow={"a": "zipf"}), case(workload=None, flow={"b": "zipf"})),
    "case.policy": (case(), case(policy={"victim": "fifo"})),
    "case.set": (case(), case(set={"host.queue-limit": 1})),
    "case.seed": (case(), case(seed=4)),
    "range.from": (spread(), spread(**{"from": 3})),
    "range.to": (spread(), spread(to=7)),
    "range.steps": (spread(), spread(steps=2)),
    "range.by": (spread(), spread(by=3)),
    "range.factor": (spread(), spread(factor=2)),
    "range.scale": (spread(steps=3), spread(steps=3, scale="log")),
    "reading.format": (reading(CSV), reading(CSV, format="csv")),
    "reading.time-unit": (
        READ | {"workload": "ascii.trace"},
        READ | {"workload": "ascii.trace", "reading": {"time-unit": "us"}},
    ),
    "reading.columns": (reading(CSV), reading({"columns": CSV["columns"].replace("us", "ns")})),
    "reading.event": (
        READ | {"workload": "block.txt"},
        READ | {"workload": "block.txt", "reading": {"event": "D"}},
    ),
    "reading.device": (reading(DEVICES), reading(DEVICES, device=["1"])),
    "reading.process": (
        READ | {"workload": "block.txt"},
        READ | {"workload": "block.txt", "reading": {"process": "job1"}},
    ),
    "reading.flow-by": (reading(DEVICES), reading(DEVICES, **{"flow-by": "device"})),
    "reading.skip-bad": (
        reading(CSV, format="csv") | {"workload": "bad.csv"},
        reading(CSV, format="csv", **{"skip-bad": True}) | {"workload": "bad.csv"},
    ),
    "reading.traces": (OF_THE_CATALOGUE, OF_THE_CATALOGUE | {"reading": {"traces": "more"}}),
    "reading.slice": ({}, {"reading": {"slice": "10ms.."}}),
    "reading.first": ({}, {"reading": {"first": 10}}),
    "reading.footprint": ({}, {"reading": {"footprint": 0.5}}),
    "reading.speed": ({}, {"reading": {"speed": 2.0}}),
    "reading.repeat": ({}, {"reading": {"repeat": 2}}),
}
"""Each key, named by its table, with an experiment and one that differs in this key."""


def keys() -> Iterator[str]:
    tables = {"runs": check.RUNS, "published": check.PUBLISHED, "plots": check.PLOT,
              "case": check.CASE, "range": ranges.KEYS, "reading": check.READING}  # fmt: skip
    yield from check.TOP
    for name, table in tables.items():
        yield from (f"{name}.{key}" for key in table)


def test_every_key_is_changed_once() -> None:
    listed = list(keys())
    assert len(listed) > 50
    assert sorted(listed) == sorted(CHANGES)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


class Seen:
    """All that people see of an experiment: its texts, and its report, drawn if it is compared."""

    def __init__(self, texts: str, draw: Callable[[], str] = str) -> None:
        self.texts = texts
        self._draw = draw

    @cached_property
    def report(self) -> str:
        """The page of the report, which takes as long as all the rest."""
        return self._draw()

    def differs(self, other: "Seen") -> bool:
        """Whether anything that people see differs."""
        return self.texts != other.texts or self.report != other.report


class Shown:
    """Experiments as people see them. Runs are made once for all of them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.known: dict[str, Seen] = {}

    def of(self, changes: Keys) -> Seen:
        text = self._text(changes)
        if text not in self.known:
            self.known[text] = self.anew(changes)
        return self.known[text]

    def _text(self, changes: Keys) -> str:
        data = {key: value for key, value in (BASE | changes).items() if value is not None}
        data["set"] = {key: value for key, value in data["set"].items() if value is not None}
        return toml.written(data)

    def anew(self, changes: Keys) -> Seen:
        file = self.place / "experiment.toml"
        file.write_text(self._text(changes))
        traces = self.place / "traces"
        try:
            prepared = prepare(file, out=self.place / "runs", traces=traces)
            comparison = carry_on(prepared, workers=1)
        except InputError as error:
            return Seen(str(error))
        if not comparison.runs:
            return Seen(str(comparison.failed))
        report = findings.report_of(prepared.experiment, comparison)
        jobs = [(plan.job.run_id, plan.job.record) for plan in prepared.plans]
        page = comparison_text.page(comparison, first=prepared.experiment.measures)
        tables = [findings.table_text(table) for table in report.tables]
        name = prepared.experiment.name  # also that of the folder where results go
        short = prepared.experiment.quick().planned()
        texts = "\n".join([name, str(short), str(jobs), page, *tables])
        return Seen(texts, lambda: html(report))


@pytest.fixture(scope="module")
def shown(place: Path) -> Shown:
    return Shown(place)


def test_without_a_change_nothing_changes(shown: Shown) -> None:
    assert not shown.anew({}).differs(shown.of({}))


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
def test_a_key_changes_what_is_shown(before: Keys, after: Keys, shown: Shown) -> None:
    assert shown.of(after).differs(shown.of(before))
