"""Rules for every result: latencies in order, and counts and time of one interval."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.result import shape

ROOT = Path(__file__).parent.parent
ORDER = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")


def blocks(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, float]]]:
    """Every block of latencies of a value, with its place."""
    if isinstance(value, dict):
        if {"mean", "p99", "max"} <= value.keys():
            yield path, {k: float(v) for k, v in value.items() if k in (*ORDER, "mean")}
        for key, inside in value.items():
            yield from blocks(inside, f"{path}.{key}")
    elif isinstance(value, list):
        for inside in value:
            yield from blocks(inside, path)


def in_order(value: Any, where: str) -> int:
    """Checks every block of latencies of a value, and returns how many there were."""
    found = 0
    for path, block in blocks(value):
        times = [block[key] for key in ORDER if key in block]
        assert times == sorted(times), (where, path, block)
        assert times[0] <= block["mean"] <= times[-1], (where, path, block)
        found += 1
    return found


def stored() -> Iterator[tuple[str, Any]]:
    """Every result that is stored in the tree for tests."""
    for path in sorted(ROOT.glob("crates/*/tests/**/*.json*")):
        text = path.read_text()
        for line in text.splitlines() if path.suffix == ".jsonl" else [text]:
            yield path.name, json.loads(line)
    for path in sorted(ROOT.glob("tests/earlier/*.json")):
        yield path.name, json.loads(path.read_text())


def test_latencies_of_every_stored_result_are_in_order() -> None:
    found = [in_order(value, name) for name, value in stored()]
    assert len(found) > 60
    assert sum(found) > 300


TINY = (
    "geometry.channels=1", "geometry.chips-per-channel=1", "geometry.blocks-per-plane=64",
)  # fmt: skip
WORN = (*TINY, "workload.rate=100000", "reliability.endurance=100", "precondition.fill=full")


@pytest.mark.parametrize("requests", [1_000, 10_000, 30_000])
def test_waits_of_weeks_are_told_as_they_were(requests: int) -> None:
    """A static throttle on a drive of 100 cycles: writes arrive in a moment and wait for days.

    Each waits longer than the one before by the same time, so half of them waited for half of the
    longest wait. Their sum is beyond 64 bits if there are enough.
    """
    settings = [*WORN, f"workload.requests={requests}"]
    run = fg.run("agcr", "random-write", policy=["throttle=static"], set=settings)
    latency = run.host.write.latency_ns
    assert in_order(run.data, str(requests)) >= 5
    longest = latency["max"]
    assert longest > 1e13, "it is beyond what histograms once told"
    for key, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        assert latency[key] == pytest.approx(share * longest, rel=0.01), key
    assert latency["mean"] == pytest.approx(0.5 * longest, rel=0.01)
    if requests == 30_000:
        assert latency["mean"] * requests > 2**64
    throttle = run.policies["throttle"]["counters"]
    assert throttle["delay_seconds"] * 1e9 == pytest.approx(latency["mean"] * requests, rel=1e-6)


@pytest.mark.parametrize(
    ("iops", "target", "endurance"),
    [
        (10, "1y", 1_000),
        pytest.param(2, "5y", 3_000, marks=pytest.mark.verify),
        pytest.param(7, "5y", 3_000, marks=pytest.mark.verify),
    ],
)
def test_no_page_is_held_back_longer_than_the_longest(
    iops: int, target: str, endurance: int, floatgate: Floatgate
) -> None:
    """Years by the fluid model, where a throttle lets through less than a page in each period."""
    done = floatgate(
        "lifetime", "agcr", "random-write", "--target", target, "--json",
        "--set", "geometry.channels=1", "--set", "geometry.chips-per-channel=2",
        "--set", "workload.requests=8000", "--set", f"reliability.endurance={endurance}",
        "--set", f"workload.arrivals={{ constant = {{ iops = {iops} }} }}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    throttles = json.loads(done.stdout)["advice"]["throttles"]
    assert len(throttles) >= 2
    for each in throttles:
        delay = each["page_delay_ns"]
        assert delay["p50"] <= delay["p99"] <= delay["max"], each["policy"]
        assert 0 < delay["mean"] <= delay["max"], each["policy"]


def test_a_stored_result_out_of_order_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    right = fg.run("agcr", "random-write", set=[*TINY, "workload.requests=100"]).data
    shape.check(right, path)
    assert right["host"]["all"]["latency_ns"]["min"] > 0
    for key, wrong in {"min": 10**12, "p50": 10**12, "p99": 0, "max": 0, "mean": 1e15}.items():
        value = copy.deepcopy(right)
        value["host"]["all"]["latency_ns"][key] = wrong
        with pytest.raises(fg.InputError, match=r"host\.all\.latency_ns. has latencies that"):
            shape.check(value, path)


GREEDY = ("precondition.fill=full", "precondition.age=random", "host.mode=queue-depth")


@pytest.mark.parametrize("pace", ["burst", "per-write"])
@pytest.mark.parametrize("requests", [100, 1_500, 6_000])
def test_no_die_works_longer_than_the_run_lasts(pace: str, requests: int) -> None:
    settings = [
        *TINY, *GREEDY, f"ftl.gc.pace={pace}", "ftl.gc.foreground=one", "ftl.gc.start=3",
        "ftl.gc.stop=4",
        f"workload.requests={requests}",
    ]  # fmt: skip
    run = fg.run("agcr", "random-write", set=settings)
    timing = run.provenance.config["timing"]
    drive = run.provenance.config["geometry"]
    dies = drive["channels"] * drive["chips-per-channel"] * drive["dies-per-chip"]
    assert dies == 1
    level = timing["levels"]["medium"]
    us = {"600us": 6e5, "170us": 1.7e5}
    worked = run.flash.program.total * us[level["program"]] / drive["planes-per-die"]
    worked += run.flash.read.total * us[level["read"]] / drive["planes-per-die"]
    assert 0 < worked <= run.end.at_ns
    left = run.end["work_left"]
    assert left["moves"] == 0 or left["die_seconds"] > 0
    share = left["die_seconds"] / run.simulated_seconds
    assert ("work-left" in [w["code"] for w in run.warnings]) == (share > 0.01)
