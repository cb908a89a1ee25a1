"""A result in Python: attributes, frames, storing and reading back."""

import copy
from pathlib import Path

import pytest

import floatgate
from floatgate import Result


def test_numbers_are_reached_by_name_or_by_key(result: Result) -> None:
    assert result.host.write.latency_ns.p99 == result["host"]["write"]["latency_ns"]["p99"]
    assert "flash" in dir(result)
    with pytest.raises(AttributeError, match=r"no 'hots' in this result; there are .*host"):
        _ = result.hots


def test_delays_in_the_frame_add_up_to_the_mean(result: Result) -> None:
    frame = result.delays()
    assert frame.height == 5 * 17
    writes = frame.filter(operation="write")["mean_ns"].sum()
    assert writes == pytest.approx(result.host.write.latency_ns.mean)


def test_frames_hold_the_numbers(result: Result) -> None:
    operations = result.flash_operations().filter(operation="program")
    assert operations["gc"].item() == 160_000
    assert result.latencies().filter(operation="read")["requests"].item() == 100_000
    row = result.frame()
    assert row.height == 1
    assert row["host.write.latency_ns.p99"].item() == result.host.write.latency_ns.p99


def test_saved_and_loaded_is_the_same(tmp_path: Path) -> None:
    small = {"geometry.channels": 1, "geometry.blocks-per-plane": 64, "workload.requests": 100}
    result = floatgate.run("agcr", "random-write", set=small)
    path = result.save(tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / result.run_id / "result.json"
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]
    assert Result.load(path).data == result.data
    assert Result.load(path.parent).data == result.data


def test_the_run_id_names_what_went_in_and_nothing_else(result: Result) -> None:
    other = copy.deepcopy(result.data)
    other["timing"]["wall_seconds"] = 99.0
    other["waf"] = 9.0
    assert Result(other).run_id == result.run_id
    other["provenance"]["workload"]["reading"] = "device=3"
    assert Result(other).run_id != result.run_id
    other["provenance"]["workload"]["reading"] = None
    assert len(result.run_id) == 16
    other["provenance"]["seed"] = 2
    assert Result(other).run_id != result.run_id
