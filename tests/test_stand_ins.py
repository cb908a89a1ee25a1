"""Stand-ins of traces that are not at hand: marked everywhere, made from profiles, and judged."""

import json
import tomllib
from pathlib import Path

import pytest

import floatgate as api
import judge
from conftest import Floatgate

CUT = ("--set", "workload.requests=3000")
NAME = "msr:wdev_0 [stand-in]"


@pytest.fixture(autouse=True)
def no_traces(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No trace of the catalogue is there."""
    if "judgement" not in request.node.name:
        monkeypatch.delenv("FLOATGATE_TRACES", raising=False)


def test_every_output_marks_a_stand_in(floatgate: Floatgate) -> None:
    run = floatgate("run", "agcr", "msr:wdev_0", *CUT)
    assert run.returncode == 0, run.stderr
    assert NAME in run.stdout.splitlines()[0]
    text = " ".join(run.stdout.split())
    assert "cut to the first 3000 of 1143261 requests" in text
    assert "assumed, not published" in text
    assert "expect" in text
    compared = floatgate("compare", "agcr", "msr:wdev_0", *CUT, "--policy", "cost=fixed,agcr")
    assert compared.returncode == 0, compared.stderr
    assert NAME in compared.stdout
    described = floatgate("trace", "describe", "msr:wdev_0", *CUT)
    assert NAME in described.stdout, described.stderr
    for words in (
        ("run", "agcr", "msr:wdev_0", *CUT, "--json"),
        ("trace", "describe", "msr:wdev_0", *CUT, "--json"),
    ):
        value = json.loads(floatgate(*words).stdout)
        workload = value.get("provenance", value)["workload"]
        assert workload["name"] == "msr:wdev_0"
        assert workload["stand_in"].keys() == {"model", "version", "fitted_to"}
        assert "SmartGC" in workload["stand_in"]["fitted_to"]


def test_reads_of_created_pages_are_set_and_measured(floatgate: Floatgate) -> None:
    set_ = ("--set", "workload.requests=200000", "--set", "workload.created-reads=0.2")
    done = floatgate("trace", "describe", "msr:hm_0", *set_, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["characters"]["reads_on_created"] == pytest.approx(0.2, abs=0.04)
    assert any("20 % of the reads on read-only" in note for note in value["workload"]["notes"])
    # Without the setting there are none, and a note says that they are assumed away.
    plain = floatgate("trace", "describe", "msr:hm_0", *set_[:2], "--json")
    value = json.loads(plain.stdout)
    assert value["characters"]["reads_on_created"] < 0.02
    assert any("created in the run" in note for note in value["workload"]["notes"])
    for setting in ("workload.created-reads=0.95", "workload.created-reads=-0.1"):
        done = floatgate("run", "agcr", "msr:hm_0", *CUT, "--set", setting)
        assert done.returncode == 2
        assert "created-reads" in done.stderr
    done = floatgate("run", "agcr", "zipf", "--set", "workload.created-reads=0.1")
    assert done.returncode == 2
    assert "stand-ins" in done.stderr


def test_the_list_says_what_runs_as_a_stand_in_and_what_is_missing() -> None:
    traces = {trace["name"]: trace for trace in api.traces([])["traces"]}
    assert traces["msr:hm_0"]["stand_in_lacks"] is None
    assert "how many requests it has" in traces["msr:rsrch_1"]["stand_in_lacks"]
    # Of a server, the requests that its volumes lack.
    assert traces["msr:rsrch"]["stand_in_lacks"]
    assert traces["msr:proj"]["stand_in_lacks"] is None
    assert sum(trace["stand_in_lacks"] is None for trace in traces.values()) >= 40


def test_a_profile_is_shown_stored_and_run(floatgate: Floatgate, tmp_path: Path) -> None:
    shown = floatgate("trace", "fit", "msr:wdev_0")
    assert shown.returncode == 0, shown.stderr
    profile = tomllib.loads(shown.stdout)
    assert profile["reads"] + profile["writes"] == 1_143_261
    stored = floatgate("trace", "fit", "msr:wdev_0", "-o", "wdev.toml")
    assert stored.returncode == 0, stored.stderr
    assert (tmp_path / "wdev.toml").read_text() == shown.stdout
    results = [
        json.loads(floatgate("run", "agcr", name, *CUT, "--json").stdout)
        for name in ("wdev.toml", "msr:wdev_0")
    ]
    for result in results:
        del result["timing"]
        # A file is known by its contents, too.
        del result["provenance"]["workload"]["sha256"]
    assert results[0] == results[1]
    value = json.loads(floatgate("trace", "fit", "msr:wdev_0", "--json").stdout)
    assert value["schema"] == "floatgate.profile/1"
    assert value["profile"] == profile
    wrong = floatgate("trace", "fit", "msr:wdev_0", "-o", "wdev.txt")
    assert wrong.returncode == 2
    assert ".toml" in wrong.stderr
    (tmp_path / "bad.toml").write_text(shown.stdout.replace("gap-pages", "gap-page"))
    bad = floatgate("run", "agcr", "bad.toml")
    assert bad.returncode == 2
    assert "gap-page" in bad.stderr


def test_a_fit_measures_a_trace(tmp_path: Path) -> None:
    # 600 writes in runs of three, one each millisecond, then all of them read back.
    lines = []
    for i in range(600):
        lines.append(f"{i * 1_000_000} 0 {(i // 3) * 1024 + (i % 3) * 8} 8 0\n")
    for i in range(600):
        lines.append(f"{(600 + i) * 1_000_000} 0 {(i // 3) * 1024 + (i % 3) * 8} 8 1\n")
    (tmp_path / "back.trace").write_text("".join(lines))
    profile = api.fit(tmp_path / "back.trace").data
    assert (profile["reads"], profile["writes"]) == (600, 600)
    both = profile["interleaved"]
    assert "reads" not in profile["read-only"]
    assert (both["writes"]["pages"], both["reads"]["pages"]) == (600, 0)
    assert both["writes"]["proceed"] == pytest.approx(2 / 3, abs=1e-4)
    # All reads but the first follow the order in which was written.
    assert both["reads"]["follow"] == 1.0
    assert both["reads"]["after-read"] == 0.0
    assert both["reads"]["same-size"] == 1.0
    described = api.describe(_saved(profile, tmp_path, api.fit(tmp_path / "back.trace")))
    assert described.footprint.pages == pytest.approx(600, rel=0.1)


def _saved(profile: object, folder: Path, made: api.Profile) -> Path:
    made.save(folder / "made.toml")
    return folder / "made.toml"


def test_expected_errors_are_those_of_the_document() -> None:
    table = (judge.MEASURED / "stand-ins.md").read_text()
    measures = json.loads(judge.ERRORS.read_text())["measures"]
    for line in judge.expected(measures):
        assert line in table
    assert api.expected_error("waf") == measures["waf"]["typical"]
    assert api.expected_error("no.such.measure") is None


def test_judgement_of_one_trace() -> None:
    """The whole table is renewed by `python tests/judge.py --write`."""
    path = judge.path_of(judge.QUICK)
    if path is None:
        pytest.skip("FLOATGATE_TRACES names no folder with Financial1's first requests")
    found = judge.judge(path)
    worst = json.loads(judge.ERRORS.read_text())["measures"]
    for name in ("waf", "host.write.latency_ns.mean", "footprint.pages"):
        assert abs(found[name].error) <= worst[name]["worst"] + 0.05, name


@pytest.mark.verify
def test_judgement_of_all_traces_is_as_in_the_document() -> None:
    document = (judge.MEASURED / "stand-ins-judged.md").read_text()
    for name in judge.TRACES:
        path = judge.path_of(name)
        if path is None:
            pytest.skip(f"{judge.TRACES[name]} is not in FLOATGATE_TRACES")
        for line in judge.table({name: judge.judge(path)}):
            assert line in document
