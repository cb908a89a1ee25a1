"""Twenty seconds of random drives, and whether `roam.py` finds planted faults."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import floatgate
import roam
from floatgate.result.run import Result

HERE = Path(__file__).parent
SECONDS = 20


def roaming(tmp_path: Path, seconds: float, *more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(HERE / "roam.py"), "--seconds", str(seconds), *more]
    return subprocess.run(
        [*words, "--out", str(tmp_path)], check=False, text=True, capture_output=True
    )


def test_random_drives_end_add_up_and_repeat_themselves(tmp_path: Path) -> None:
    done = roaming(tmp_path, SECONDS, "--from", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "good" in done.stdout


@pytest.mark.verify
def test_random_drives_for_an_hour(tmp_path: Path) -> None:
    done = roaming(tmp_path, 3600)
    assert done.returncode == 0, done.stdout + done.stderr


def keys(schema: dict[str, Any], prefix: str = "") -> set[str]:
    """The keys of drive files; of a key that is a table or something else, the key."""
    found = set()
    for name, value in schema.get("properties", {}).items():
        if "properties" in value:
            found |= keys(value, f"{prefix}{name}.")
        else:
            found.add(prefix + name)
    return found


def test_every_key_and_every_policy_is_drawn() -> None:
    draws = [roam.draw(seed) for seed in range(1500)]
    drawn = {key for draw in draws for key in draw.drive}
    known = {key for key in keys(floatgate.schema()) if not key.startswith("policies.")}
    assert known - drawn == roam.LEFT_OUT.keys(), "draw it in roam.py, or say why not"
    policies = {
        (family, text.split(":")[0]) for draw in draws for family, text in draw.policy.items()
    }
    assert policies == {(policy["family"], policy["name"]) for policy in floatgate.policies()}
    given = {
        (family, word.split("=")[0])
        for draw in draws
        for family, text in draw.policy.items()
        for word in text.split(":")[1:]
    }
    listed = {(p["family"], param["name"]) for p in floatgate.policies() for param in p["params"]}
    assert given == listed


def test_a_seed_draws_the_same() -> None:
    assert roam.draw(5) == roam.draw(5) != roam.draw(6)


def result() -> Result:
    small = {
        "geometry.channels": 1,
        "geometry.chips-per-channel": 1,
        "geometry.blocks-per-plane": 64,
        "workload.requests": 100,
    }
    return floatgate.run("agcr", "random-write", set=small)


def planted(**changes: Any) -> list[str]:
    """The faults that are found in a result of which numbers were changed."""
    one = result()
    for path, value in changes.items():
        *places, last = path.split("__")
        place = one.data
        for name in places:
            place = place[name]
        place[last] = value
    return list(roam.faults(one, roam.draw(1)))


def test_a_sound_result_has_no_fault() -> None:
    assert planted() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"checks__passed": False},
        {"host__write__latency_ns__p50": 10**15},
        {"host__all__latency_ns__mean": 1.0},
        {"host__write__delay_ns_by_cause__throttle": 5e6},
        {"flash__program__gc": 7},
        {"waf": 559.392, "warnings": []},
    ],
)
def test_a_planted_contradiction_is_found(changes: dict[str, Any]) -> None:
    assert planted(**changes)


SOUND = {"mean": 2.0, "min": 1, "p50": 2, "p90": 9, "p99": 9, "p99_9": 9, "p99_99": 9, "max": 9}


@pytest.mark.parametrize(
    ("change", "fault"),
    [({}, None), ({"mean": 12.0}, "mean"), ({"mean": -1.0}, "mean"), ({"p99_9": 8}, "p99")],
)
def test_percentiles_rise_and_enclose_the_mean(change: dict[str, Any], fault: str | None) -> None:
    found = roam.out_of_order(SOUND | change)
    assert found is None if fault is None else (found or "").startswith(fault)


class Slow:
    """Behaves as `attempt` for a drive on which one setting and one policy are wrong together."""

    def __call__(self, draw: roam.Draw, _: Path) -> tuple[roam.Draw, roam.Outcome]:
        bad = "ftl.copyback" in draw.drive and draw.policy.get("victim", "").startswith("fifo")
        return draw, roam.Outcome("wrong" if bad else "good")


def test_a_finding_is_shrunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roam, "attempt", Slow())
    seeds = (roam.draw(seed) for seed in range(1000))
    draw = next(draw for draw in seeds if len(draw.drive) > 20)
    draw = replace(
        draw,
        drive=draw.drive | {"ftl.copyback": 2},
        policy={"victim": "fifo", "wear": "static:threshold=3"},
    )
    small = roam.shrunk(draw, roam.Outcome("wrong"), tmp_path)
    left = [key for key in small.drive if not key.startswith(roam.NEEDED)]
    assert (left, small.policy) == (["ftl.copyback"], {"victim": "fifo"})


def test_a_run_that_takes_too_long_or_too_much_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> roam.Outcome:
        while True:
            pass

    def greedy(*_: object) -> roam.Outcome:
        return roam.Outcome("good", str(len(bytearray(2 * roam.MEMORY))))

    monkeypatch.setattr(roam, "HANG", 1)
    monkeypatch.setattr(roam, "inside", endless)
    asked = roam.draw(910013878)
    ran, outcome = roam.attempt(asked, tmp_path)
    assert outcome.kind == "ended"
    assert ran == roam.valid(asked, tmp_path) != asked, "without what is refused"
    monkeypatch.setattr(roam, "together", greedy)
    assert roam.attempt(roam.draw(1), tmp_path)[1].is_fault


GIVEN_BACK = """\
schema = "floatgate.drive/1"
name = "given back"
ftl.gc.stop = 2
ftl.spare-factor = 0.413
geometry.bits-per-cell = 4
geometry.blocks-per-plane = 56
geometry.channels = 3
geometry.chips-per-channel = 2
geometry.dies-per-chip = 1
geometry.page-size = "2KiB"
geometry.pages-per-block = 88
geometry.planes-per-die = 1
host.out-of-range = "wrap"
pages.program = "wordline"
precondition.age = "random"
precondition.fill = "full"
timing.bus = "included"
timing.erase = "9829155ns"
timing.physics.program = "351721ns"
timing.physics.retention = "30d"
timing.physics.sense = "16242ns"
timing.physics.steps = [9, 10, 15]
timing.physics.transfer = "37725ns"
"""
READERS = """\
schema = "floatgate.workload/1"
[[part]]
workload = "a.toml"
flow = "a"
[[part]]
workload = "b.toml"
flow = "b"
"""


def test_a_victim_that_is_given_back_is_refreshed(tmp_path: Path) -> None:
    """A block may reach its read limit while a collector empties it.

    If the collector gave it back, reads of it waited for ever.
    """
    drive, mix = tmp_path / "drive.toml", tmp_path / "mix.toml"
    drive.write_text(GIVEN_BACK)
    mix.write_text(READERS)
    for part, requests, reads in ("a", 59, 0.5), ("b", 675, 1.0):
        own = f'pattern = "sequential-read"\nrequests = {requests}\nread-share = {reads}\n'
        (tmp_path / f"{part}.toml").write_text(own)
    refreshes = 0
    for seed in range(1, 11):
        policies = {"victim": "random", "read-disturb": "refresh:limit=64"}
        run = floatgate.run(drive, mix, set={"run.seed": seed}, policy=policies)
        assert run.data["end"]["state"] == "completed"
        refreshes += run.data["policies"]["read-disturb"]["counters"]["refreshes"]
    assert refreshes > 10
