"""A drive inside a program: a session gives the result of a run over its requests."""

import random
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simpy

import floatgate
from floatgate import InputError, Session, policy
from floatgate.simpy import Drive, WornOutError

SMALL = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.planes-per-die": 2,
    "geometry.blocks-per-plane": 32,
    "geometry.pages-per-block": 16,
    "ftl.spare-factor": 0.3,
    "precondition.fill": "full",
}
"""A drive that garbage collection keeps busy after some hundred writes."""
MODE = {"host.mode": "timestamps", "host.speed": 1.0}


class Oldest(policy.Victim):
    """Collects the block whose data are oldest in relation to its gain."""

    def choose(self, plane: policy.Plane, demand: str, random: policy.Random) -> int:
        worth = plane.gain * plane.age / (2 * plane.valid + 1)
        return int(plane.blocks[worth.argmax()])


def bare(result: floatgate.Result) -> dict[str, Any]:
    """A result without the origin of its requests and the time that it took."""
    data = dict(result.data)
    data.pop("timing")
    data["provenance"] = {k: v for k, v in data["provenance"].items() if k != "workload"}
    return data


def drives() -> list[dict[str, Any]]:
    """Ten drives with different events beside a request, with policies of every family."""
    rng = random.Random(51)
    found: list[dict[str, Any]] = []
    for number in range(10):
        settings = SMALL | {
            "ftl.gc.background-stop": rng.choice([0, 6]),
            "host.queue-limit": rng.choice([2, 8, 1024]),
            "buffer.size": rng.choice(["0B", "64KiB"]),
            "buffer.power-loss-protected": rng.choice([True, False]),
            "precondition.age": rng.choice(["none", "random"]),
            "reliability.endurance": 2 if number == 9 else 100_000,
        }
        chosen = {
            "victim": rng.choice(["greedy", "fifo", "random", "d-choices:d=3"]),
            "order": rng.choice(["fifo", "read-first"]),
            "placement": rng.choice(["dynamic", "static"]),
            "wear": rng.choice(["none", "static:threshold=3"]),
            "cost": rng.choice(["fixed:level=low", "conflict", "agcr"]),
            "arbitration": ["merge", "round-robin", "weighted", "fair"][number % 4],
        }
        found.append({"set": settings, "policy": chosen, "seed": number})
    return found


def ask(session: Session, seed: int, count: int, flows: int) -> tuple[list[int], int]:
    """Requests at random, with pauses; returns their arrivals, and how many of them were done."""
    rng = random.Random(seed)
    arrivals, done = [], 0
    for token in range(count):
        op = rng.choice(
            ["read", "read", "read", "write", "write", "write", "trim", "flush", "write-fua"]
        )
        length = 0 if op == "flush" else rng.choice([512, 4096, 16384])
        offset = 0 if op == "flush" else rng.randrange((session.capacity - length) // 512) * 512
        at = session.now_ns + rng.choice([0, 0, 1_000, 300_000, 2_000_000])
        if session.worn_out_at_ns is not None:
            with pytest.raises(InputError, match="wore out"):
                session.submit("read", 0, 512)
            break
        try:
            arrival = session.submit(
                op, offset, length, at=at, token=token,
                flow=rng.randrange(flows) if flows else None, prio=rng.random() < 0.1,
            )  # fmt: skip
        except InputError:
            if session.worn_out_at_ns is None:
                raise
            break
        assert arrival >= at
        arrivals.append(arrival)
        if rng.random() < 0.2:
            columns = session.advance(session.now_ns + 100_000)
            assert all(column.dtype == np.uint64 for column in columns.values())
            assert (columns["at_ns"] <= session.now_ns).all()
            done += len(columns["token"])
    return arrivals, done


@pytest.mark.parametrize("number", range(10))
def test_a_session_is_the_run_of_its_recording(number: int, tmp_path: Path) -> None:
    how = drives()[number]
    flows = ["db", "log", "scan"] if how["policy"]["arbitration"] != "merge" or number % 2 else []
    if flows:
        how["set"]["host.flow"] = (
            '[{ name = "log", weight = 3 }, { name = "scan", priority = "high" }]'
        )
    trace = tmp_path / "came.parquet"
    with Session("agcr", flows=flows, record=trace, **how) as session:
        arrivals, done = ask(session, number, 4000 if number == 9 else 400, len(flows))
        assert arrivals == sorted(arrivals)
        # Others were done while a later one waited for its arrival.
        assert session.outstanding <= len(arrivals) - done
        ours = session.result()
    assert ours.host.all.requests >= done > 0
    again = floatgate.run("agcr", trace, **{**how, "set": how["set"] | MODE})
    assert bare(ours) == bare(again)
    assert ours.end.state == ("worn-out" if number == 9 else "completed")


def test_completions_have_their_tokens_and_latencies() -> None:
    with Session("agcr", set=SMALL, policy={"cost": "fixed:level=high"}) as session:
        first = session.submit("read", 0, 4096, token=2**64 - 1)
        assert (first, session.now_ns, session.outstanding) == (0, 0, 1)
        upcoming = session.next_at()
        assert upcoming is not None
        while session.outstanding:
            upcoming = session.next_at()
            assert upcoming is not None
            columns = session.advance(upcoming)
        assert columns["token"].tolist() == [2**64 - 1]
        assert columns["at_ns"].tolist() == columns["latency_ns"].tolist() == [session.now_ns]
        # A completed request has an instant of its own, and so has the next arrival.
        assert session.submit("read", 0, 4096) == session.now_ns == columns["at_ns"][0] + 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"op": "raed"}, "did you mean `read`"),
        ({"length": 0}, "length 0"),
        ({"offset": 2**40}, "the drive has"),
        ({"op": "flush", "length": 512}, "a flush has neither"),
        ({"length": 2**31}, "at most 1 GiB"),
        ({"at": 5}, "at 5 ns has passed"),
        ({"at": 2**63}, "where simulated time ends"),
        ({"flow": 2}, "flow 2: the session has 2 flows"),
        ({"flow": "c"}, "`c` is not a flow"),
    ],
)
def test_a_wrong_request_is_an_error_and_changes_nothing(wrong: dict[str, Any], words: str) -> None:
    request: dict[str, Any] = {"op": "read", "offset": 0, "length": 512} | wrong
    results = []
    for tries in (0, 3):
        with Session("agcr", set=SMALL, flows=["a", "b"]) as session:
            session.advance(1_000)
            for _ in range(tries):
                with pytest.raises(InputError, match=words):
                    session.submit(**request)
            session.submit("read", 0, 512)
            results.append(bare(session.result()))
    assert results[0] == results[1]


def test_time_that_has_passed_is_refused_and_a_closed_session_too() -> None:
    session = Session("agcr", set=SMALL)
    assert session.advance(1_000)["token"].size == 0
    with pytest.raises(InputError, match="until 999 ns has passed: the drive is at 1000 ns"):
        session.advance(999)
    result = session.result()
    assert session.result() is result
    assert session.is_closed
    with pytest.raises(InputError, match="ended with its result"):
        session.advance()
    closed = Session("agcr", set=SMALL)
    closed.close()
    closed.close()
    with pytest.raises(InputError, match="is closed"):
        closed.submit("read", 0, 512)


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"set": {"precondition.fill": "touched"}}, "touched"),
        ({"set": SMALL | {"precondition.age": "workload"}}, 'age = "workload"'),
        ({"set": SMALL, "policy": {"cost": "oracle"}}, "oracle"),
        ({"set": SMALL | {"host.mode": "queue-depth"}}, "host.mode"),
        ({"set": SMALL | {"host.speed": 2.0}}, "host.speed"),
        ({"set": SMALL, "flows": ["a", "a"]}, "named twice"),
        ({"set": SMALL, "flows": map(str, range(257))}, "more than 256"),
        ({"set": SMALL, "flows": ["a"], "policy": {"arbitration": "fairr"}}, "fairr"),
    ],
)
def test_what_needs_the_future_is_refused_by_name(how: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        Session("agcr", **how)


def test_a_recording_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    trace = tmp_path / "came.parquet"
    with (
        pytest.raises(InputError, match="length 0"),
        Session("agcr", set=SMALL, record=trace) as session,
    ):
        session.submit("write", 0, 0)
    assert list(tmp_path.iterdir()) == []
    with Session("agcr", set=SMALL, record=trace) as session:
        session.submit("write", 0, 4096)
    assert list(tmp_path.iterdir()) == [trace]
    with pytest.raises(InputError, match="there is such a file already"):
        Session("agcr", set=SMALL, record=trace)
    with pytest.raises(InputError, match=r"ends in \.parquet"):
        Session("agcr", set=SMALL, record=tmp_path / "came.csv")


def test_a_policy_in_python_serves_a_session(tmp_path: Path) -> None:
    trace = tmp_path / "came.parquet"
    how: dict[str, Any] = {"policy": {"victim": Oldest}, "seed": 3}
    with Session("agcr", set=SMALL, record=trace, **how) as session:
        ask(session, 3, 2000, 0)
        session.advance()
        ours = session.result()
    assert ours.flash.erase.gc > 0
    assert bare(ours) == bare(floatgate.run("agcr", trace, set=SMALL | MODE, **how))


def test_what_a_policy_raises_is_raised_by_the_call() -> None:
    class Broken(policy.Victim):
        def choose(self, plane: policy.Plane, demand: str, random: policy.Random) -> int:
            raise ZeroDivisionError("by the policy")

    with (
        Session("agcr", set=SMALL, policy={"victim": Broken}) as session,
        pytest.raises(floatgate.PolicyError, match="by the policy"),
    ):
        ask(session, 3, 2000, 0)


def test_a_second_thread_is_refused_and_does_not_wait_for_ever() -> None:
    session = Session("agcr", set=SMALL)
    said: list[str] = []

    class Meddling(policy.Victim):
        def choose(self, plane: policy.Plane, demand: str, random: policy.Random) -> int:
            try:
                held.now_ns  # noqa: B018
            except InputError as error:
                said.append(str(error))
            return int(plane.blocks[plane.gain.argmax()])

    held = Session("agcr", set=SMALL, policy={"victim": Meddling})
    ask(held, 3, 2000, 0)
    held.advance()
    assert said
    assert all("is under way" in words for words in said)
    other = threading.Thread(target=session.submit, args=("read", 0, 512))
    other.start()
    other.join()
    assert session.outstanding == 1


# ── SimPy ───────────────────────────────────────────────────────────────────────────────────────


def closed_loop(drive: Drive, rng: random.Random, left: list[int], seen: list[int]) -> Any:
    """A client that asks again when it is answered."""
    while left[0] > 0:
        left[0] -= 1
        offset = rng.randrange(drive.session.capacity // 4096) * 4096
        done = yield rng.choice([drive.read, drive.write])(offset, 4096)
        seen.append(done.latency_ns)
        assert drive.env.now == pytest.approx(done.at_ns / drive._scale, abs=1e-6)


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
@pytest.mark.parametrize("number", [0, 1, 4])
def test_simpy_gives_what_a_run_of_its_recording_gives(
    unit: str, number: int, tmp_path: Path
) -> None:
    how = drives()[number]
    trace = tmp_path / "came.parquet"
    env = simpy.Environment()
    session = Session("agcr", record=trace, **how)
    drive, left, seen = Drive(env, session, unit), [300], list[int]()
    for client in range(4):
        env.process(closed_loop(drive, random.Random(client), left, seen))
    env.run()
    result = drive.result()
    assert len(seen) == 300
    assert max(seen) == max(result.host.read.latency_ns.max, result.host.write.latency_ns.max)
    assert bare(result) == bare(floatgate.run("agcr", trace, **{**how, "set": how["set"] | MODE}))


def test_a_process_hears_that_the_drive_wore_out() -> None:
    settings = SMALL | {"reliability.endurance": 5}
    env = simpy.Environment()
    drive = Drive(env, Session("agcr", set=settings))

    def writer() -> Any:
        rng = random.Random(1)
        for _ in range(100_000):
            yield drive.write(rng.randrange(drive.session.capacity // 4096) * 4096, 4096)

    process = env.process(writer())
    with pytest.raises((WornOutError, InputError), match="wore out"):
        env.run(process)
    assert drive.result().end.state == "worn-out"


def test_an_environment_may_begin_late_and_its_unit_must_be_known() -> None:
    env = simpy.Environment(initial_time=1000)
    drive = Drive(env, Session("agcr", set=SMALL), "us")
    assert drive.session.now_ns == 0
    done: Any = env.run(drive.read(0, 4096))
    assert done.at_ns == done.latency_ns == (env.now - 1000) * 1000
    with pytest.raises(InputError, match="`h` is not a unit of time"):
        Drive(env, drive.session, "h")


@pytest.mark.verify
def test_a_request_costs_at_most_two_microseconds_more_than_in_the_engine(tmp_path: Path) -> None:
    how: dict[str, Any] = {"set": SMALL | {"precondition.fill": "none"}, "seed": 1}
    trace, requests = tmp_path / "came.parquet", 200_000
    in_python = in_engine = float("inf")
    for _ in range(5):
        trace.unlink(missing_ok=True)
        session = Session("agcr", record=trace, **how)
        start = time.perf_counter()
        for token in range(requests):
            session.submit("read", token % 64 * 4096, 4096, token=token)
            if token % 64 == 63:
                session.advance()
        in_python = min(in_python, time.perf_counter() - start)
        session.result()
        run = floatgate.run("agcr", trace, **{**how, "set": how["set"] | MODE})
        in_engine = min(in_engine, requests / run.timing.requests_per_second)
    each, engine = in_python / requests * 1e6, in_engine / requests * 1e6
    print(f"{engine:.2f} us in a run, {each:.2f} us in a session of Python")
    assert each - engine <= 2
