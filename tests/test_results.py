"""Stored results as one table, from Python and by SQL."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.result.folder import sealed
from floatgate.result.tables import query
from floatgate.result.values import flat

SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "workload.requests": 1000,
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with series, and a single run with all tables."""
    folder = tmp_path_factory.mktemp("results")
    experiment = fg.Experiment(
        "two",
        drive="agcr",
        workload="random-write",
        policy={"victim": {"least": "greedy", "first": "fifo"}},
        set=SMALL | {"ftl.spare-factor": [0.2, 0.3]},
        record=["series"],
    )
    experiment.sweep(out=folder / "two", workers=1)
    fg.run("agcr", "zipf", set=SMALL, out=folder / "one")
    return folder


def test_the_table_has_a_row_for_each_run(stored: Path) -> None:
    frame = fg.results(stored)
    assert frame.height == 5
    assert frame.columns[:3] == ["run_id", "victim", "ftl.spare-factor"]
    assert frame["victim"].null_count() == 1, "a run of no sweep has no name there"
    assert frame["ftl.spare-factor"].dtype.is_float()
    for row in frame.iter_rows(named=True):
        result = fg.Result.load(row["folder"])
        assert row["run_id"] == result.run_id
        assert row["host.write.latency_ns.p99"] == result.host.write.latency_ns.p99
        assert row["capacity.spare_factor"] == pytest.approx(
            row["ftl.spare-factor"] or 0.1, abs=0.1
        )
    several = fg.results([stored / "two", stored / "one"])
    assert sorted(several["run_id"]) == sorted(frame["run_id"])
    assert fg.results([stored, stored / "one"]).height == 5, "each once"


def test_a_question_in_sql(stored: Path) -> None:
    columns, rows = query(
        "SELECT victim, max(ftl_spare_factor) AS most, count(*) n FROM runs "
        "WHERE victim IS NOT NULL GROUP BY victim ORDER BY victim",
        stored,
    )
    assert columns == ["victim", "most", "n"]
    assert rows == [("first", 0.3, 2), ("least", 0.3, 2)]
    frame = fg.results(stored)
    _, means = query("SELECT run_id, host_write_latency_ns_mean FROM runs", stored)
    assert dict(means) == dict(
        zip(frame["run_id"], frame["host.write.latency_ns.mean"], strict=True)
    )


@pytest.mark.parametrize(
    "question",
    [
        "SELECT 1;",
        "with x as (select waf from runs) select * from x",
        "FROM runs",
        "DESCRIBE runs",
        "SUMMARIZE runs",
        "SHOW TABLES",
        "PIVOT runs ON victim USING avg(waf)",
        "-- which\nSELECT 1",
    ],
)
def test_whatever_reads_is_a_question(stored: Path, question: str) -> None:
    columns, rows = query(question, stored)
    assert columns
    assert rows


def test_tables_of_all_runs_can_be_joined(stored: Path) -> None:
    _, rows = query(
        "SELECT r.run_id, sum(s.write_requests), any_value(r.host_write_requests) "
        "FROM series s JOIN runs r USING (run_id) GROUP BY r.run_id",
        stored,
    )
    assert len(rows) == 5
    assert all(counted == total == 1000 for _, counted, total in rows)
    _, ((requests, runs),) = query("SELECT count(*), count(DISTINCT run_id) FROM requests", stored)
    assert (requests, runs) == (1000, 1)
    assert query("SELECT count(*) FROM blocks", stored)[1] == [(4 * 64,)]


def test_the_command(stored: Path, floatgate: Floatgate) -> None:
    sql = "SELECT victim, waf, ftl_spare_factor AS spare FROM runs ORDER BY ALL"
    shown = floatgate("results", sql, str(stored)).stdout.splitlines()
    assert shown[0].split() == ["victim", "waf", "spare"]
    assert len(shown) == 6
    value = json.loads(floatgate("results", sql, str(stored), "--json").stdout)
    assert (value["schema"], value["columns"]) == (
        "floatgate.results/1",
        ["victim", "waf", "spare"],
    )
    assert value["rows"][0] == {"victim": "first", "waf": 1.0, "spare": 0.2}
    table = list(csv.reader(floatgate("results", sql, str(stored), "--csv").stdout.splitlines()))
    assert table[0] == ["victim", "waf", "spare"]
    assert table[-1] == ["", "1.0", ""]
    listed = floatgate("results", "", str(stored))
    assert "host_write_latency_ns_p99" in listed.stdout


WRONG: dict[str, tuple[list[str], str]] = {
    "SQL": (["SELEC 1", "DIR"], "syntax error"),
    "a column": (["SELECT host_write_latency_ns_p98 FROM runs", "DIR"], "latency_ns_p99"),
    "a folder": (["SELECT 1", "nowhere"], "no such folder"),
    "the folder by default": (["SELECT 1"], "floatgate-results: there is no such folder"),
    "a change": (["DROP TABLE runs", "DIR"], "DROP is not a question"),
    "a change in other words": (["PRAGMA disable_progress_bar", "DIR"], "PRAGMA is not a question"),
    "a file": (["COPY runs TO 'runs.csv'", "DIR"], "COPY is not a question"),
    "a change that explains itself": (
        ["EXPLAIN ANALYZE DELETE FROM runs", "DIR"],
        "not a question",
    ),
    "a table of a pivot": (["CREATE TABLE x AS PIVOT runs ON victim", "DIR"], "CREATE is no"),
    "a change behind a question": (["SELECT 1; DROP TABLE runs", "DIR"], "these are 2 statements"),
    "not a question": ([";", "DIR"], "these are 0 statements"),
    "two forms": (["SELECT 1", "DIR", "--csv", "--json"], "either"),
    "a table nobody recorded": (["SELECT * FROM requests", "DIR/two"], 'record = ["requests"]'),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_mistakes(stored: Path, floatgate: Floatgate, words: list[str], message: str) -> None:
    done = floatgate("results", *(word.replace("DIR", str(stored)) for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_folders_without_results(tmp_path: Path) -> None:
    assert fg.results(tmp_path).is_empty()
    with pytest.raises(fg.InputError, match="no results here"):
        query("SELECT 1", tmp_path)
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(fg.InputError, match="not the result of a run"):
        fg.results(tmp_path)


def test_damaged_runs_are_named(tmp_path: Path, floatgate: Floatgate) -> None:
    small = {"geometry.channels": 1, "workload.requests": 100}
    run = fg.run("agcr", "random-write", set=small, out=tmp_path)
    assert run.folder is not None
    (run.folder / "series.parquet").write_bytes(b"")
    assert fg.results(tmp_path)["waf"].to_list() == [1.0], "its numbers are whole"
    done = floatgate("results", "SELECT * FROM series", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{run.folder}: series.parquet has 0 of " in done.stderr
    value = json.loads((run.folder / "result.json").read_bytes())
    (run.folder / "result.json").write_text(json.dumps(value | {"host": {}}))
    with pytest.raises(fg.InputError, match=r"result\.json is not what was stored"):
        fg.results(tmp_path)


def test_without_duckdb_it_says_what_to_install(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(fg.InputError, match=r"floatgate\[sql\]"):
        query("SELECT 1", stored)


EARLIER = Path(__file__).parent / "earlier" / "run-1.json"
"""A result of `floatgate.run/1`, as it was stored: before flushes and time in the buffer."""


def test_results_of_the_schema_before_are_read(
    stored: Path, tmp_path: Path, floatgate: Floatgate
) -> None:
    data = json.loads(EARLIER.read_text())
    result = fg.Result.load(EARLIER)
    assert result.data["schema"] == "floatgate.run/1"
    # All its values are as they were, and a value that it could not have is null.
    new = {}
    for path, value in flat(result.data):
        *outer, key = path.split(".")
        there: Any = data
        for step in outer:
            there = there.get(step, {})
        if key in there:
            assert value == there[key], path
        else:
            new[path] = value
    assert new.pop("policies.arbitration.name") == "merge", "requests came in one line"
    assert new.pop("policies.separation.name") == "sepgc", "moves had blocks of their own"
    assert new.pop("policies.slc-cache.name") == "none", "no block held one bit in a cell"
    assert set(new.values()) == {0, None}
    assert new["host.flush.requests"] == new["host.read.delay_ns_by_cause.buffer"] == 0
    today = json.loads((stored / "one").glob("*/result.json").__next__().read_text())
    parts = ("host", "flash")
    assert [_keys(result.data[p]) for p in parts] == [_keys(today[p]) for p in parts]
    folder = tmp_path / "earlier"
    folder.mkdir()
    (folder / "result.json").write_bytes(EARLIER.read_bytes())
    done = floatgate("report", str(folder), str(stored / "one"), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert "waiting behind host  18.5 ms" in str(result)
    assert fg.results([folder, stored / "one"]).height == 2


def test_a_sealed_result_that_lacks_later_keys_is_read(tmp_path: Path) -> None:
    run = fg.run("agcr", "random-write", set=SMALL, out=tmp_path, record=())
    assert run.folder is not None
    path = run.folder / "result.json"
    value = json.loads(path.read_text())
    del value["stored"], value["flash"]["suspends"], value["host"]["flows"]
    del value["timing"]["cpu_seconds"], value["timing"]["requests_per_second"]
    path.write_text(json.dumps(sealed(value, {})))
    result = fg.Result.load(path)
    assert result.timing.cpu_seconds is None
    assert result.timing.requests_per_second is None
    assert "of processor time" not in str(result)
    assert result.flaw() is None
    value["waf"] = 17.0
    path.write_text(json.dumps(value | {"stored": json.loads(path.read_text())["stored"]}))
    with pytest.raises(fg.InputError, match=r"result\.json is not what was stored"):
        fg.Result.load(path)


def _keys(value: Any) -> Any:
    """Keys within keys; which requests were the slowest, nobody knows of earlier results."""
    if not isinstance(value, dict):
        return None
    return {key: _keys(None if key == "slowest" else inner) for key, inner in value.items()}
