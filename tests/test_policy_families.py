"""Policies in Python of every family: twins of built-in ones, and answers that cannot be."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import floatgate
from conftest import Floatgate
from floatgate import policy as api
from floatgate.policy import (
    Access,
    Append,
    Block,
    CacheBlocks,
    Copy,
    DataStream,
    Deaths,
    Drive,
    Fresh,
    Future,
    Head,
    Life,
    Load,
    NewPage,
    Plan,
    Plane,
    Point,
    Reclaim,
    ResetReads,
    Seal,
    SetRole,
    Stream,
    Waiting,
    Write,
)

ROOT = Path(__file__).parent.parent

MIXED = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.planes-per-die": 2,
    "geometry.blocks-per-plane": 48,
    "geometry.pages-per-block": 32,
    "ftl.spare-factor": 0.2,
    "host.mode": "queue-depth",
    "host.queue-depth": 16,
    "precondition.fill": "full",
    "precondition.age": "random",
}
"""Two dies of two planes: the place of a page and the order of operations matter."""

SKEWED = MIXED | {"geometry.planes-per-die": 1, "workload.requests": 20_000}
UNAGED = SKEWED | {"precondition.age": "none"}
WRITTEN_TWICE = MIXED | {
    "geometry.pages-per-block": 9,
    "ftl.spare-factor": 0.6,
    "workload.requests": 6000,
}
READ = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 48,
    "geometry.pages-per-block": 48,
    "ftl.spare-factor": 0.4,
    "precondition.fill": "full",
    "workload.requests": 20_000,
    "workload.read-share": 0.95,
}
URGENT = """
schema = "floatgate.workload/1"

[[part]]
workload = "random-write"
priority = "switching"
stretches = 400
"""


@pytest.fixture
def urgent(tmp_path: Path) -> str:
    """Reads and writes of which half are urgent, some at a time."""
    (tmp_path / "urgent.toml").write_text(URGENT)
    return str(tmp_path / "urgent.toml")


def run(
    workload: str, settings: dict[str, Any], policy: dict[str, Any], drive: str = "agcr"
) -> dict[str, Any]:
    return floatgate.run(drive, workload, set=settings, policy=policy).data


def rest(data: dict[str, Any], family: str) -> dict[str, Any]:
    """The parts of a result except the names of a family's policies."""
    kept = {key: data[key] for key in data if key not in ("provenance", "timing")}
    kept["policies"] = {key: value for key, value in data["policies"].items() if key != family}
    kept["warnings"] = [w for w in data["warnings"] if w["code"] != "not-repeatable"]
    return kept


SLC = {
    "geometry.bits-per-cell": 3,
    "ftl.spare-factor": 0.4,
    "slc.read": "25us",
    "slc.program": "150us",
}
"""Blocks that can hold one bit in a cell: two of each plane hold 320 KiB."""


def twins(
    family: str,
    listed: str,
    twin: object,
    settings: dict[str, Any],
    workload: str = "random-write",
    drive: str = "agcr",
    others: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results of a policy on the list and of its twin in Python, which are the same."""
    others = others or {}
    ours = run(workload, settings, others | {family: listed}, drive)
    theirs = run(workload, settings, others | {family: twin}, drive)
    assert json.dumps(rest(ours, family)) == json.dumps(rest(theirs, family))
    assert ours["flash"]["erase"]["total"] > 100
    return ours, theirs


# ── The same answers, the same results ──────────────────────────────────────────────────────────


BOUNDED = "bounded-read-first:reads=3:wait=2ms"


@pytest.mark.parametrize("listed", ["fifo", "read-first", BOUNDED, "priority", "collection-first"])
def test_order(listed: str, urgent: str) -> None:
    class Twin:
        """Urgent requests, reads or jobs first, then in order of arrival."""

        def pick(self, heads: Sequence[Waiting], now_ns: int) -> int:
            assert len(heads) > 1
            ranks = [(*self.rank(head, now_ns), head.order) for head in heads]
            return ranks.index(min(ranks))

        def rank(self, head: Waiting, now_ns: int) -> tuple[bool, ...]:
            is_read = head.kind == "read"
            match listed:
                case "read-first":
                    return (not is_read,)
                case _ if listed == BOUNDED:
                    late = self.is_late(head, now_ns)
                    return (is_read or not late, not is_read)
                case "priority":
                    return (not head.high_priority, head.high_priority and head.kind != "read")
                case "collection-first":
                    return (head.kind != "job", not is_read, not head.high_priority)
            return ()

        def is_late(self, waiting: Waiting, now_ns: int) -> bool:
            return waiting.passed >= 3 or now_ns - waiting.since_ns >= 2_000_000

        def may_suspend(self, running: Waiting, read: Waiting, now_ns: int) -> bool:
            assert (read.kind, read.since_ns, read.passed) == ("read", now_ns, 0)
            assert running.since_ns <= now_ns
            match listed:
                case "read-first":
                    return True
                case _ if listed == BOUNDED:
                    return not self.is_late(running, now_ns)
                case "priority":
                    return read.high_priority and not running.high_priority
                case "collection-first":
                    return running.kind == "write" and read.high_priority >= running.high_priority
            return False

        def uses_priority(self) -> bool:
            return listed in ("priority", "collection-first")

    settings = MIXED | {"workload.requests": 5000, "workload.read-share": 0.5}
    ours, _ = twins("order", listed, Twin, settings, urgent)
    fifo = run(urgent, settings, {"order": "fifo"})
    assert (rest(ours, "order") == rest(fifo, "order")) == (listed == "fifo")
    # Reads that interrupt: each policy lets others do so.
    settings |= {"timing.suspend.pause": "20us", "timing.suspend.resume": "30us"}
    ours, _ = twins("order", listed, Twin, settings, urgent)
    suspends = ours["flash"]["suspends"]
    counts = suspends["program"]["host"], suspends["program"]["gc"] + suspends["erase"]["gc"]
    some = {"fifo": (False, False), "collection-first": (True, False)}.get(listed, (True, True))
    assert tuple(count > 10 for count in counts) == some, counts


@pytest.mark.parametrize("listed", ["merge", "round-robin", "weighted", "fair"])
def test_arbitration(listed: str) -> None:
    class Twin:
        """Turns, credits and start tags, each written down anew."""

        def __init__(self) -> None:
            self.turn, self.now = -1, 0
            self.credit: dict[int, int] = {}
            self.ends: dict[int, int] = {}
            self.tags: dict[int, int] = {}

        def pick(self, heads: Sequence[Head], now_ns: int) -> int:
            assert [head.flow for head in heads] == sorted({head.flow for head in heads})
            assert all(head.arrived_ns <= now_ns and head.bytes == 4096 for head in heads)
            flows = [head.flow for head in heads]
            if listed == "fair":
                for head in heads:
                    self.tags.setdefault(head.flow, max(self.now, self.ends.get(head.flow, 0)))
                best = min(heads, key=lambda h: (self.tags[h.flow], h.arrived_ns, h.flow))
                self.now = self.tags.pop(best.flow)
                self.ends[best.flow] = self.now + (4096 << 32) // best.weight
                return flows.index(best.flow)
            if listed == "weighted" and not any(self.credit.get(flow) for flow in flows):
                self.credit |= {head.flow: head.weight for head in heads}
            may = [f for f in flows if listed != "weighted" or self.credit.get(f)]
            self.turn = next((f for f in may if f > self.turn), may[0])
            if listed == "weighted":
                self.credit[self.turn] -= 1
            return flows.index(self.turn)

    workload = floatgate.flows(
        {name: f"random-read:queue-depth={depth}:until=20ms:weight={weight}"
         for name, depth, weight in (("a", 9, 1), ("b", 17, 3), ("c", 2, 2))}
    )  # fmt: skip
    settings = MIXED | {
        "workload.requests": 4000,
        "host.queue-limit": 6,
        "precondition.fill": "full",
    }
    if listed == "merge":
        # Without queues nobody is asked, and more are inside.
        ours = run(workload, settings, {"arbitration": listed})
        asked = run(workload, settings, {"arbitration": "round-robin"})
        assert rest(ours, "arbitration") != rest(asked, "arbitration")
        return
    ours, theirs = (run(workload, settings, {"arbitration": it}) for it in (listed, Twin))
    assert json.dumps(rest(ours, "arbitration")) == json.dumps(rest(theirs, "arbitration"))
    assert all(flow["all"]["requests"] > 20 for flow in ours["host"]["flows"].values())


def test_separation_by_lifetime() -> None:
    class Twin:
        """SepBIT's rule; the queue of recent writes is a number."""

        def __init__(self) -> None:
            self.threshold = self.queue = 0
            self.opened: dict[int, int] = {}
            self.lifetimes: list[int] = []
            self.infinite = True

        def streams(self) -> Sequence[DataStream]:
            host = [DataStream("short-lived", "host"), DataStream("other", "host")]
            moved = ("from-short-lived", "young", "middle", "old")
            return [*host, *(DataStream(name, "moves") for name in moved)]

        def stream(self, page: NewPage) -> int:
            if not page.moves:
                if page.age is None or page.age > self.queue:
                    return 1
                return 0 if self.infinite or page.age < self.threshold else 1
            if page.stream == 0:
                return 2
            age = 2**32 - 1 if page.age is None else page.age
            threshold = 2**32 - 1 if self.infinite else self.threshold
            return 3 if age < 4 * threshold else 4 if age < 16 * threshold else 5

        def on_placed(self, page: NewPage, stream: int) -> None:
            if self.infinite or self.queue < self.threshold:
                self.queue += 1
            elif self.queue > self.threshold:
                self.queue -= 1

        def on_opened(self, block: int, stream: int, clock: int) -> None:
            self.opened[block] = clock

        def on_collected(self, block: int, stream: int, clock: int) -> None:
            if stream == 0:
                self.lifetimes.append(clock - self.opened.get(block, 0))
            if len(self.lifetimes) == 16:
                self.threshold, self.infinite = sum(self.lifetimes) // 16, False
                self.lifetimes = []

    ours, _ = twins("separation", "sepbit", Twin, UNAGED | {"ftl.spare-factor": 0.3})
    counters = ours["policies"]["separation"]["counters"]
    assert counters["threshold_pages"] > 0
    assert counters["short_lived_writes"] > 1000


def test_separation_by_the_future() -> None:
    class Twin:
        """Six classes by the end of a page, each as wide as a block of each plane."""

        future: Deaths | None = None

        def attach(self, drive: Drive) -> None:
            self.width = drive.pages_per_block * drive.planes
            self.changes = [0] * drive.logical_pages
            self.clock = 0

        def foresee(self, future: Deaths) -> None:
            self.future = future

        def streams(self) -> Sequence[DataStream]:
            return [DataStream(f"class-{n}") for n in range(6)]

        def on_access(self, access: Access) -> None:
            if access.kind != "read":
                self.changes[access.lpn] += 1
                self.clock += access.kind == "write"

        def stream(self, page: NewPage) -> int:
            end = self.future and self.future.end(page.lpn, self.changes[page.lpn])
            return 5 if end is None else min(5, max(0, end - self.clock) // self.width)

    settings = UNAGED | {"ftl.spare-factor": 0.3, "workload.trim-share": 0.05}
    ours, _ = twins("separation", "death-time", Twin, settings)
    assert ours["waf"] > 1.0


def test_placement_by_load() -> None:
    class Twin:
        """The next idle die, or the one with the least to do; planes take turns."""

        def attach(self, drive: Drive) -> None:
            self.die, self.planes, self.turns = 0, drive.planes_per_die, [0] * drive.dies

        def plane_of(self, die: int, writable: Sequence[bool]) -> int | None:
            for i in range(self.planes):
                index = (self.turns[die] + i) % self.planes
                if writable[die * self.planes + index]:
                    self.turns[die] = (index + 1) % self.planes
                    return die * self.planes + index
            return None

        def place(self, load: Load, lpn: int, high_priority: bool) -> int | None:
            dies = len(self.turns)
            writable = load.writable.tolist()
            after = [die % dies for die in range(self.die, self.die + dies)]
            for die in [die for die in after if load.idle[die]]:
                plane = self.plane_of(die, writable)
                if plane is not None:
                    self.die = die + 1
                    return plane
            turn = min(self.die, dies - 1)
            after = [(turn + i) % dies for i in range(dies)]
            room = [d for d in after if any(writable[d * self.planes : (d + 1) * self.planes])]
            if not room:
                return None
            die = min(room, key=lambda die: load.waiting[die])
            self.die = die + 1
            return self.plane_of(die, writable)

        def spread(self, lpn: int) -> int:
            die = self.die % len(self.turns)
            self.die = die + 1
            turn = self.turns[die]
            self.turns[die] = (turn + 1) % self.planes
            return die * self.planes + turn

    twins("placement", "dynamic", Twin, MIXED | {"workload.requests": 5000})


def test_placement_by_number() -> None:
    class Twin:
        """Channel, way, die, plane: channels are the dies' lowest digit here."""

        def attach(self, drive: Drive) -> None:
            self.drive = drive

        def spread(self, lpn: int) -> int:
            lpn, channel = divmod(lpn, self.drive.channels)
            lpn, way = divmod(lpn, self.drive.chips_per_channel)
            lpn, die = divmod(lpn, self.drive.dies_per_chip)
            die = (way * self.drive.dies_per_chip + die) * self.drive.channels + channel
            return die * self.drive.planes_per_die + lpn % self.drive.planes_per_die

        def place(self, load: Load, lpn: int, high_priority: bool) -> int | None:
            plane = self.spread(lpn)
            return plane if load.writable[plane] else None

        def is_free(self) -> bool:
            return False

    settings = MIXED | {"workload.requests": 5000, "geometry.dies-per-chip": 2}
    ours, _ = twins("placement", "static", Twin, settings)
    assert ours["policies"]["placement"]["counters"]["stalled"] > 0


def test_wear() -> None:
    class Twin:
        """The data of the least worn block moves onto the most worn free one."""

        def __init__(self, threshold: float = 2) -> None:
            self.threshold, self.moves = threshold, 0

        def balance(self, plane: Plane, blocks: Plane, erased: int) -> Plan | None:
            worn = blocks.wear[erased - blocks.blocks[0]]
            if worn - blocks.wear.min() <= self.threshold or len(plane) == 0:
                return None
            coldest = plane.wear.argmin()
            if worn - plane.wear[coldest] <= self.threshold:
                return None
            self.moves += 1
            return Plan([Reclaim(int(plane.blocks[coldest]), api.WEAR)])

        def counters(self) -> dict[str, float]:
            return {"moves": self.moves}

    listed = "static:threshold=2"
    ours, theirs = twins("wear", listed, Twin(threshold=2), SKEWED, "hot-cold")
    moves = [data["policies"]["wear"]["counters"]["moves"] for data in (ours, theirs)]
    assert moves[0] == moves[1] > 10
    assert theirs["policies"]["wear"]["params"] == {"threshold": 2}


def test_throttle() -> None:
    class Never:
        def admit(self, now_ns: int, bytes: int) -> int:
            return now_ns

    twins("throttle", "none", Never, MIXED | {"workload.requests": 5000})


def test_a_throttle_lets_one_write_through_each_millisecond() -> None:
    class EachMillisecond:
        def __init__(self) -> None:
            self.next, self.bytes = 0, 0

        def learn_life(self, life: Life) -> None:
            assert life.raw_bytes == 48 * 32 * 4 * life.page_bytes
            assert (life.cycles > 0, life.recovery) == (True, "printed")
            assert life.pushes_back

        def admit(self, now_ns: int, bytes: int) -> int:
            self.bytes += bytes
            self.next = max(now_ns, self.next + 1_000_000)
            return self.next

        def dram_bytes(self) -> int:
            return 24

        def counters(self) -> dict[str, float]:
            return {"bytes": self.bytes}

    empty = {"precondition.fill": "none", "precondition.age": "none"}
    settings = MIXED | empty | {"workload.requests": 2000}
    data = run("random-write", settings, {"throttle": EachMillisecond})
    throttle = data["policies"]["throttle"]
    assert throttle["counters"]["bytes"] == data["host"]["write"]["bytes"]
    assert throttle["dram_bytes"] == 24
    # The first enters at 1 ms, the last at 2 s; the rest is its program.
    assert 2.0 <= data["simulated_seconds"] < 2.01
    assert data["host"]["write"]["delay_ns_by_cause"]["throttle"] > 0


def test_slc_cache_static() -> None:
    class Twin:
        def cache(self, drive: Drive) -> CacheBlocks:
            return CacheBlocks(own=2, fold="both", full="direct")

    twins("slc-cache", "static:size=300KiB:fold=both", Twin,
          MIXED | SLC | {"workload.requests": 3000})  # fmt: skip


def test_coding_plain() -> None:
    class Twin:
        def next_life(self, block: Block) -> str:
            assert (block.mode, block.second_slots) == ("full", 0)
            assert block.valid == (block.lpns >= 0).sum()
            return "full"

    twins("coding", "plain", Twin, MIXED | {"workload.requests": 3000})


def test_coding_written_twice() -> None:
    class Twin:
        def write_once(self) -> bool:
            return True

        def first_life(self, block: int) -> str:
            return "wom1"

        def next_life(self, block: Block) -> str:
            won = block.second_slots - block.second_valid
            return "wom2" if won > 0 and won >= 0.5 * block.second_slots else "wom1"

    ours, theirs = twins("coding", "wom", Twin, WRITTEN_TWICE, "hot-cold")
    second = [d["policies"]["coding"]["counters"]["second_generations"] for d in (ours, theirs)]
    assert second[0] == second[1] > 100


def test_page_choice_in_order() -> None:
    class Twin:
        def pick(self, write: Write, point: Point) -> int:
            assert write.source == "host"
            return point.page

    twins("page-choice", "in-order", Twin, MIXED | {"workload.requests": 5000})


def test_page_choice_urgent_writes_on_fast_pages(urgent: str) -> None:
    class Twin:
        """`mango` that leaves garbage collection alone."""

        def learn_times(self, program: Sequence[int]) -> None:
            self.times = program

        def attach(self, drive: Drive) -> None:
            bits = max(drive.page_types) + 1
            fastest = min(range(bits), key=lambda kind: self.times[kind])
            self.fast = np.array(drive.page_types) == fastest
            self.skipped = 0

        def pick(self, write: Write, point: Point) -> int | None:
            ahead = self.fast[point.page :]
            if not write.high_priority:
                return point.page
            if not ahead.any():
                may = point.may_open and len(ahead) <= point.may_pass
                self.skipped += len(ahead) if may else 0
                return None if may else point.page
            passed = int(ahead.argmax())
            passed = passed if passed <= point.may_pass else 0
            self.skipped += passed
            return point.page + passed

        def counters(self) -> dict[str, float]:
            return {"slow_skipped": self.skipped}

    settings = {
        "geometry.blocks-per-plane": 64,
        "geometry.pages-per-block": 32,
        "ftl.spare-factor": 0.2,
        "workload.requests": 6000,
    }
    ours, theirs = twins("page-choice", "mango:gc=slow", Twin, settings, urgent, "c-mlc64")
    skipped = [d["policies"]["page-choice"]["counters"]["slow_skipped"] for d in (ours, theirs)]
    assert skipped[0] == skipped[1] > 1000


def test_page_choice_streams(urgent: str) -> None:
    class Apart:
        """Urgent writes in blocks of their own."""

        def __init__(self) -> None:
            self.opened: dict[int, int] = {}

        def streams(self, drive: Drive) -> Sequence[Stream]:
            return [Stream(pick="most-worn")]

        def learn_streams(self, first: int) -> None:
            self.first = first

        def urgent_stream(self) -> int:
            return self.first

        def gc_pick(self) -> str:
            return "least-worn"

        def stream(self, to: int, high_priority: bool) -> int:
            return self.first if to in (api.HOST, api.URGENT) and high_priority else to

        def on_open(self, block: int, stream: int, role: int) -> None:
            self.opened[stream] = self.opened.get(stream, 0) + 1

        def pick(self, write: Write, point: Point) -> int:
            return point.page

        def counters(self) -> dict[str, float]:
            return {f"opened_{stream}": n for stream, n in self.opened.items()}

    settings = MIXED | {"workload.requests": 5000}
    data = run(urgent, settings, {"page-choice": Apart})
    counters = data["policies"]["page-choice"]["counters"]
    # Of all blocks of the host those of urgent writes are as many as urgent writes are.
    share = counters["opened_4"] / (counters["opened_4"] + counters["opened_0"])
    assert share == pytest.approx(0.5, abs=0.05)


def test_read_disturb_refresh() -> None:
    class Twin:
        def __init__(self, limit: int = 60) -> None:
            self.most = limit
            self.refreshed: list[int] = []
            self.since: dict[int, int] = {}

        def attach(self, drive: Drive) -> None:
            self.blocks = drive.blocks

        def limit(self, mode: str) -> int:
            return self.most

        def streams(self, drive: Drive) -> Sequence[Stream]:
            return [Stream()]

        def on_limit(self, block: Block, plane: Plane) -> Plan:
            assert (block.reads, block.plane) == (self.most, plane.index)
            at = block.number - plane.blocks[0]
            assert (plane.reads[at], plane.state[at]) == (self.most, block.state)
            self.since[block.number] = plane.now_ns
            steps = [Reclaim(block.number, api.OWN)] if block.state != "moving" else []
            return Plan(steps, hold="die")

        def on_erased(self, block: int, role: int, reads: int, source: str, now_ns: int) -> None:
            if block in self.since:
                self.refreshed.append(now_ns - self.since.pop(block))

        def dram_bytes(self) -> int:
            return self.blocks * 8

        def counters(self) -> dict[str, float]:
            return {
                "refreshes": len(self.refreshed),
                "refresh_ns_total": sum(self.refreshed),
                "refresh_ns_max": max(self.refreshed),
            }

    ours, theirs = twins("read-disturb", "refresh:limit=60", Twin, READ, "zipf", "read-disturb")
    family = [data["policies"]["read-disturb"] for data in (ours, theirs)]
    assert family[0]["counters"] == family[1]["counters"]
    assert family[0]["counters"]["refreshes"] > 50
    assert family[0]["dram_bytes"] == family[1]["dram_bytes"]


def test_read_limits_follow_the_levels_of_pages() -> None:
    class Twin:
        shares: ClassVar = {"high": 135, "medium": 100, "low": 22}

        def attach(self, drive: Drive) -> None:
            self.blocks = drive.blocks
            self.reads: set[int] = set()

        def limit(self, mode: str) -> int:
            return 60

        def limit_share(self, level: str) -> int:
            return self.shares[level]

        def streams(self, drive: Drive) -> Sequence[Stream]:
            return [Stream()]

        def on_limit(self, block: Block, plane: Plane) -> Plan:
            self.reads.add(block.reads)
            steps = [Reclaim(block.number, api.OWN)] if block.state != "moving" else []
            return Plan(steps, hold="die")

        def dram_bytes(self) -> int:
            return self.blocks * 8

        def counters(self) -> dict[str, float]:
            # 13, 60 and 81 reads are the limits. A coarse write may come after more than 13 reads.
            assert {13, 60, 81} <= self.reads
            assert all(13 <= reads <= 81 for reads in self.reads)
            return {}

    listed = "refresh:limit=60:fine-more=35:coarse-less=78"
    others = {"cost": "agcr:initial-level=medium"}
    ours, _ = twins("read-disturb", listed, Twin, READ, "zipf", others=others)
    programs = ours["flash"]["by_level"]["program"]
    assert all(programs[level] > 100 for level in ("high", "medium", "low"))


def test_read_disturb_gives_roles_and_plans_every_step() -> None:
    class Shadows:
        """Data of a block at its limit moves to a partly written block with a role."""

        def __init__(self) -> None:
            self.counts = dict.fromkeys(("read", "limit", "reset", "erased", "protects"), 0.0)
            self.roles: dict[int, int] = {}

        def limit(self, mode: str) -> int:
            return 60

        def role_names(self) -> Sequence[str]:
            return ["shadow", "ordinary"]

        def streams(self, drive: Drive) -> Sequence[Stream]:
            self.pages = drive.pages_per_block
            return [Stream(), Stream(role=1, fallback=api.OWN, cap=6)]

        def spare_slots(self, drive: Drive) -> int:
            return 8 * drive.pages_per_block

        def on_open(self, block: int, stream: int, role: int) -> None:
            assert role == (1 if stream == 5 else 0)
            self.roles[block] = role

        def on_read(self, block: Block, page: int, now_ns: int) -> None:
            assert block.role in (1, 2)
            assert block.lpns[page] >= 0
            self.counts["read"] += 1

        def on_limit(self, block: Block, plane: Plane) -> Plan | None:
            self.counts["limit"] += 1
            if block.state == "moving":
                return None
            held = np.flatnonzero(block.lpns >= 0).tolist()
            if block.role and block.state == "open" and len(held) <= self.pages - block.written:
                copies = [Copy(block.number, Append(block.number), held)]
                return Plan([*copies, ResetReads(block.number)])
            return Plan(
                [
                    Seal(block.number),
                    SetRole(block.number, 2),
                    Copy(block.number, Fresh(5), held[:20]),
                    Reclaim(block.number, api.OWN, at_limit=bool(block.role)),
                ],
                hold="nothing",
            )

        def on_reset(self, block: int, now_ns: int) -> None:
            self.counts["reset"] += 1

        def on_erased(self, block: int, role: int, reads: int, source: str, now_ns: int) -> None:
            self.counts["erased"] += role > 0

        def protects(self, block: Block) -> bool:
            self.counts["protects"] += 1
            return block.role == 1 and 2 * block.valid > self.pages

        def on_reclaim(self, block: Block, demand: str) -> int:
            return api.OWN

        def counters(self) -> dict[str, float]:
            return self.counts

    settings = READ | {"workload.read-share": 0.8}
    data = run("zipf", settings, {"read-disturb": Shadows}, "read-disturb")
    counters = data["policies"]["read-disturb"]["counters"]
    for what in ("read", "limit", "reset", "erased", "protects", "sealed_slots"):
        assert counters[what] > 0, what
    assert data["flash"]["erase"]["refresh"] > 20


def test_no_plan_and_no_order_harms_a_drive() -> None:
    class AnyOrder:
        def attach(self, drive: Drive) -> None:
            self.draw = random.Random(drive.blocks)

        def pick(self, heads: Sequence[Waiting], now_ns: int) -> int:
            return self.draw.randrange(len(heads))

        def uses_priority(self) -> bool:
            return True

    class AnyPlan:
        """Steps drawn at random: at limits, at reads, each hundredth of a second."""

        def __init__(self, seed: int) -> None:
            self.draw, self.at = random.Random(seed), 10_000_000
            self.streams_of: dict[int, int] = {}

        def attach(self, drive: Drive) -> None:
            self.blocks, self.pages = drive.blocks_per_plane, range(drive.pages_per_block)

        def limit(self, mode: str) -> int:
            return 60

        def role_names(self) -> Sequence[str]:
            return ["one", "two"]

        def streams(self, drive: Drive) -> Sequence[Stream]:
            own = Stream(role=1, fallback=api.OWN, cap=3)
            return [Stream(), own, own._replace(role=2, fallback=5, pick="most-worn", cap=None)]

        def spare_slots(self, drive: Drive) -> int:
            return 8 * drive.pages_per_block

        def on_open(self, block: int, stream: int, role: int) -> None:
            self.streams_of[block] = stream

        def steps(self, plane: int) -> list[api.Step]:
            draw, first = self.draw, plane * self.blocks
            own = [
                b for b, s in self.streams_of.items() if s >= api.OWN and b // self.blocks == plane
            ]
            steps: list[api.Step] = []
            for _ in range(draw.randrange(1, 4)):
                block = draw.randrange(first, first + self.blocks)
                places: list[int | Append | Fresh] = [1, 2, 4, 5, 6, Fresh(5)]
                to = draw.choice([*places, *map(Append, own)])
                some = draw.choice([None, sorted(draw.sample(self.pages, 5))])
                reclaim = Reclaim(block, draw.choice([1, 2, 4, 5, 6]), draw.random() < 0.5)
                role = SetRole(block, draw.randrange(3))
                copy, reset = Copy(block, to, some), ResetReads(block)
                choice: list[api.Step] = [copy, reclaim, Seal(block), role, reset]
                steps.append(draw.choice(choice))
            return steps

        def on_limit(self, block: Block, plane: Plane) -> Plan:
            steps = [*self.steps(plane.index), Reclaim(block.number)]
            return Plan(steps, self.draw.random() < 0.1, self.draw.choice(["place", "nothing"]))

        def on_read(self, block: Block, page: int, now_ns: int) -> Plan | None:
            return Plan(self.steps(block.plane)) if self.draw.random() < 0.01 else None

        def protects(self, block: Block) -> bool:
            return self.draw.random() < 0.3

        def on_reclaim(self, block: Block, demand: str) -> int:
            return self.draw.choice([1, 2, 4, 5, 6])

        def next_timer(self) -> int:
            return self.at

        def on_timer(self, planes: Sequence[Plane], now_ns: int) -> Plan:
            self.at += 10_000_000
            steps = self.steps(self.draw.choice(planes).index)
            return Plan(steps, background=self.draw.random() < 0.5)

    settings = READ | {
        "geometry.chips-per-channel": 2,
        "geometry.pages-per-block": 24,
        "workload.read-share": 0.6,
        "workload.arrivals.poisson.iops": 300,
        "ftl.spare-factor": 0.3,
    }
    for seed in range(3):
        policy = {"read-disturb": AnyPlan(seed), "order": AnyOrder}
        data = run("zipf", settings, policy, "read-disturb")
        assert data["checks"]["passed"]
        assert data["flash"]["erase"]["refresh"] > 500


def test_cost_with_the_future_and_without() -> None:
    class Twin:
        """The answers of `fixed`, from a policy that looks at everything."""

        def initial(self) -> str:
            return "medium"

        def queues(self) -> str:
            return "die"

        def learn_times(self, program: dict[str, int], read: dict[str, int]) -> None:
            assert program["low"] < program["medium"] < program["high"]
            assert read["low"] > read["medium"] > read["high"]

        def foresee(self, future: Future) -> None:
            self.future = future

        def attach(self, drive: Drive) -> None:
            self.reads = np.zeros(drive.logical_pages, dtype=int)
            self.writes = np.zeros(drive.logical_pages, dtype=int)
            self.checked = 0

        def on_access(self, access: Access) -> None:
            if access.kind == "read":
                self.reads[access.lpn] += 1
                return
            told = self.future.reads(access.lpn, int(self.writes[access.lpn]))
            assert told == self.reads[access.lpn]
            self.checked += 1
            self.reads[access.lpn], self.writes[access.lpn] = 0, self.writes[access.lpn] + 1

        def level(self, write: Write) -> str:
            assert write.waiting_channel == write.waiting_device == 0
            assert write.die in (0, 1)
            return "medium"

        def counters(self) -> dict[str, float]:
            return {"checked": self.checked}

    settings = MIXED | {"workload.requests": 5000, "workload.read-share": 0.5}
    _, theirs = twins("cost", "fixed:level=medium", Twin, settings, "zipf")
    checked = theirs["policies"]["cost"]["counters"]["checked"]
    assert checked == theirs["host"]["write"]["requests"] > 2000


def test_ideal_cost() -> None:
    class Twin:
        def initial(self) -> str:
            return "medium"

        def is_ideal(self) -> bool:
            return True

        def level(self, write: Write) -> str:
            return "medium"

    settings = MIXED | {"workload.requests": 4000, "workload.read-share": 0.5}
    twins("cost", "ideal", Twin, settings)


def test_timers_wake_policies_of_every_family() -> None:
    class Clock:
        """Reclaims a block each tenth of a second, in idle time."""

        def __init__(self) -> None:
            self.at, self.planned = 100_000_000, 0

        def balance(self, plane: Plane, blocks: Plane, erased: int) -> None:
            return None

        def next_timer(self) -> int:
            return self.at

        def on_timer(self, planes: Sequence[Plane], now_ns: int) -> Plan | None:
            assert now_ns == self.at
            assert [plane.index for plane in planes] == [0, 1, 2, 3]
            assert all(len(plane) == 48 for plane in planes)
            self.at += 100_000_000
            plane = planes[self.planned % 4]
            closed = plane.blocks[plane.state == "closed"]
            if not len(closed):
                return None
            self.planned += 1
            return Plan([Reclaim(int(closed[0]), api.WEAR)], background=True)

        def counters(self) -> dict[str, float]:
            return {"planned": self.planned}

    settings = MIXED | {"workload.requests": 500, "workload.arrivals.poisson.iops": 50}
    data = run("random-write", settings | {"host.mode": "timestamps"}, {"wear": Clock})
    planned = data["policies"]["wear"]["counters"]["planned"]
    assert planned > 50
    assert data["flash"]["erase"]["wear"] == pytest.approx(planned, abs=1)


# ── Answers that cannot be ──────────────────────────────────────────────────────────────────────

REQUIRED = {
    "throttle": " def admit(self, now_ns, bytes): return now_ns\n",
    "read-disturb": " def limit(self, mode): return 20\n"
    " def on_limit(self, block, plane): return Plan([Reclaim(block.number)])\n",
    "page-choice": " def pick(self, write, point): return point.page\n",
    "coding": " def next_life(self, block): return 'full'\n",
    "slc-cache": " def cache(self, drive): return CacheBlocks(own=2)\n",
    "separation": " def streams(self):\n"
    "  return [DataStream('host', 'host'), DataStream('moved', 'moves')]\n"
    " def stream(self, page): return int(page.moves)\n",
    "placement": " def place(self, load, lpn, high_priority):\n"
    "  return next((i for i, room in enumerate(load.writable) if room), None)\n"
    " def spread(self, lpn): return lpn % 4\n",
    "wear": " def balance(self, plane, blocks, erased): pass\n",
    "order": " def pick(self, heads, now_ns): return 0\n",
    "arbitration": " def pick(self, heads, now_ns): return 0\n",
}
"""Whole policies, of which a case replaces methods."""

WRONG: dict[str, tuple[str, str, str]] = {
    "a time that has passed": (
        "throttle",
        "def admit(self, now_ns, bytes): return now_ns // 2",
        "it must be a time in ns that has not passed, a whole number from",
    ),
    "no time": ("throttle", "def admit(self, now_ns, bytes): return 0.5", "a whole number from"),
    "a negative size": ("throttle", "def dram_bytes(self): return -1", "a size in bytes"),
    "more kept than there may be": (
        "slc-cache",
        "def cache(self, drive): return CacheBlocks(own=1, least=2)",
        "a cache with `least` up to `most`",
    ),
    "no limit": ("read-disturb", "def limit(self, mode): return 0", "host reads, a whole number"),
    "nothing is done": (
        "read-disturb",
        "def on_limit(self, block, plane): pass",
        "returned None; it must be a plan that reclaims block",
    ),
    "no such block": (
        "read-disturb",
        "def on_limit(self, block, plane): return Plan([Reclaim(10**6)])",
        "returned 1000000; it must be a block, a whole number from 0 to",
    ),
    "another plane": (
        "read-disturb",
        "def on_limit(self, block, plane):\n"
        "  return Plan([Reclaim(block.number), Reclaim((block.number + 48) % 192)])",
        "a block of the plane that the plan's first step is about",
    ),
    "no such stream": (
        "read-disturb",
        "def on_limit(self, block, plane): return Plan([Reclaim(block.number, 4)])",
        "the number of a stream (1, 2, and the policy has none of its own)",
    ),
    "no such role": (
        "read-disturb",
        "def on_limit(self, block, plane):\n"
        "  return Plan([SetRole(block.number, 1), Reclaim(block.number)])",
        "a role, a whole number from 0 to 0",
    ),
    "pages out of order": (
        "read-disturb",
        "def on_limit(self, block, plane):\n"
        "  return Plan([Copy(block.number, 1, [2, 1]), Reclaim(block.number)])",
        "returned [2, 1]; it must be pages from 0 to 31, ascending",
    ),
    "a block of the host": (
        "read-disturb",
        "def on_limit(self, block, plane):\n"
        "  copy = Copy(block.number, Append(block.number))\n"
        "  return Plan([copy, Reclaim(block.number)])",
        "a block that was opened for a stream of the policy's own",
    ),
    "no plan": (
        "read-disturb",
        "def on_limit(self, block, plane): return [Reclaim(block.number)]",
        "it must be a floatgate.policy.Plan",
    ),
    "no step": (
        "read-disturb",
        "def on_limit(self, block, plane): return Plan([block.number])",
        "it must be a step of a plan",
    ),
    "an odd hold": (
        "read-disturb",
        "def on_limit(self, block, plane): return Plan([Reclaim(block.number)], hold='on')",
        "returned 'on'; it must be 'place', 'die' or 'nothing'",
    ),
    "a fallback to itself": (
        "read-disturb",
        "def streams(self, drive): return [Stream(fallback=4)]",
        "returned 4; it must be the number of a stream (1, 2, and the policy has none",
    ),
    "no streams": ("read-disturb", "def streams(self, drive): return 3", "a sequence of streams"),
    "words that are not texts": ("read-disturb", "def role_names(self): return [1]", "of words"),
    "a page that was written": (
        "page-choice",
        "def pick(self, write, point): return point.page - 1",
        "it must be a page of the block, a whole number from",
    ),
    "too many pages": (
        "page-choice",
        "def pick(self, write, point): return 31",
        "pages at most (`point.may_pass`)",
    ),
    "a stream of others": (
        "page-choice",
        "def stream(self, to, high_priority): return 2",
        "returned 2; it must be the number of a stream",
    ),
    "a stream of urgent writes": (
        "page-choice",
        "def streams(self, drive): return [Stream()]\n def urgent_stream(self): return 4\n"
        " def stream(self, to, high_priority): return 4",
        "returned 4; it must be another stream: this one is for urgent writes alone",
    ),
    "blocks of host and jobs": (
        "page-choice",
        "def streams(self, drive): return [Stream(fallback=1)]",
        "returned 1; it must be None: these are streams of the host's writes",
    ),
    "an odd pick": ("page-choice", "def gc_pick(self): return 'any'", "'least-worn' or 'most"),
    "no such mode": ("coding", "def next_life(self, block): return 'half'", "'wom1' or 'wom2'"),
    "a code that was not announced": (
        "coding",
        "def next_life(self, block): return 'wom1'",
        "'full' where `write_once` does not return True",
    ),
    "a second generation of nothing": (
        "coding",
        "def next_life(self, block): return 'wom2'\n def write_once(self): return True",
        "only a block complete in mode 'wom1' can be written again",
    ),
    "a plane without room": (
        "placement",
        "def place(self, load, lpn, high_priority):\n"
        "  return next((i for i, room in enumerate(load.writable) if not room), 0)",
        "a plane with room (`load.writable`), or None to wait",
    ),
    "no plane": (
        "placement",
        "def place(self, load, lpn, high_priority): return 4",
        "returned 4; it must be a plane, a whole number from 0 to 3",
    ),
    "a wait for nothing": (
        "placement",
        "def place(self, load, lpn, high_priority): pass",
        "all have room, so waiting would never end",
    ),
    "no home": ("placement", "def spread(self, lpn): return -1", "returned -1"),
    "one plane for all": (
        "placement",
        "def spread(self, lpn): return 0\n def is_free(self): return False",
        "with the answers of `placement=py:wrong.X` the drive cannot go on",
    ),
    "no data streams": (
        "separation",
        "def streams(self): return []",
        "at most 100 streams, of which",
    ),
    "an odd class": (
        "separation",
        "def streams(self): return [DataStream('all', 'everything')]",
        'must be "host", "moves" or "both"',
    ),
    "no such data stream": (
        "separation",
        "def stream(self, page): return 5",
        "a stream, by its place in `streams`",
    ),
    "a stream of moves": (
        "separation",
        "def stream(self, page): return 1",
        "a stream that takes writes of the host",
    ),
    "odd freedom": ("placement", "def is_free(self): return 'yes'", "it must be a bool"),
    "roles of others": (
        "wear",
        "def balance(self, plane, blocks, erased): return Plan([SetRole(erased, 0)])",
        "belong to the family read-disturb",
    ),
    "a time again": (
        "wear",
        "def next_timer(self): return 1000\n def on_timer(self, planes, now_ns): pass",
        "returned 1000; it must be after 1",
    ),
    "no position": ("order", "def pick(self, heads, now_ns): return len(heads)", "in `heads`"),
    "an exception": (
        "order",
        "def pick(self, heads, now_ns): return heads[9]",
        "raised IndexError",
    ),
    "no flow": ("arbitration", "def pick(self, heads, now_ns): return len(heads)", "in `heads`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_answer_is_named_with_its_method_and_what_would_be_right(
    floatgate: Floatgate, tmp_path: Path, case: str
) -> None:
    family, method, hint = WRONG[case]
    lines = REQUIRED[family]
    code = f"from floatgate.policy import *\nclass X:\n{lines} {method}\n"
    (tmp_path / "wrong.py").write_text(code)
    settings = MIXED | {"workload.requests": 100_000_000_000, "workload.read-share": 0.5}
    if case in ("a negative size", "words that are not texts"):  # asked in the end, or before
        settings["workload.requests"] = 500
    drive = "read-disturb" if family in ("read-disturb", "coding") else "agcr"
    words = [f"--set={key}={value}" for key, value in settings.items()]
    if family == "coding":
        words.append("--set=ftl.spare-factor=0.6")
    if family == "slc-cache":
        words += [f"--set={key}={value}" for key, value in SLC.items()]
    done = floatgate("run", drive, "random-write", *words, "--json", "--out=results",
                     "--policy", f"{family}=py:wrong.X")  # fmt: skip
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert hint in done.stderr.replace("\n", " ")
    assert f"`{family}=py:wrong.X`" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr or case == "an exception"
    assert not (tmp_path / "results").exists()


def test_every_family_has_wrong_answers_here() -> None:
    families = {family for family, _, _ in WRONG.values()}
    assert families | {"cost", "victim"} == set(api.FAMILIES)  # these in test_policy.py
    assert set(REQUIRED) == families


def test_a_policy_works_with_what_the_listed_one_like_it_works_with() -> None:
    class Code:
        def write_once(self) -> bool:
            return True

        def next_life(self, block: Block) -> str:
            return "wom1"

    class Choice:
        def pick(self, write: Write, point: Point) -> int:
            return point.page

    together = {"coding": Code, "page-choice": Choice}
    for policy, hint in (
        (together, "does not work together with `coding=py:"),
        ({"coding": Code, "page-choice": "mango"}, "together with `page-choice=mango`"),
        ({"coding": "wom", "page-choice": Choice}, "does not work together with"),
        ({"coding": Code, "read-disturb": "refresh"}, "without `read-disturb=none`"),
    ):
        with pytest.raises(floatgate.ConfigError, match=hint):
            run("random-write", WRITTEN_TWICE, policy)
    with pytest.raises(floatgate.ConfigError, match="three pages of a block"):
        run("random-write", MIXED | {"geometry.pages-per-block": 2}, {"coding": Code})


def test_years_need_a_throttle_on_the_list() -> None:
    class Never:
        def admit(self, now_ns: int, bytes: int) -> int:
            return now_ns

    with pytest.raises(floatgate.InputError, match="choose a built-in throttle"):
        floatgate.fast_forward("ready-32g", demand=2e6, waf=2.0, policy={"throttle": Never})


# ── Documentation ───────────────────────────────────────────────────────────────────────────────


def test_the_page_has_every_method_of_every_family() -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    rows = {
        cells[1].strip(" `"): cells[2]
        for line in page.splitlines()
        if len(cells := line.split("|")) == 5 and cells[1].strip().startswith("`")
    }
    for base in (*api.FAMILIES.values(), api.Policy):
        own = [key for key, value in vars(base).items() if callable(value) and key[0] != "_"]
        told = [
            word for word in rows[base.__name__].replace("*", "").split("`") if word.isidentifier()
        ]
        assert sorted(told) == sorted(own), base.__name__


def test_json_schema_takes_policies_from_outside_for_every_family() -> None:
    schema = json.loads((ROOT / "schema" / "drive.json").read_text())
    found = []

    def look(node: object) -> None:
        if isinstance(node, dict):
            if node.get("description", "").endswith("?") and "^[a-z]+:." in json.dumps(node):
                found.append(node["description"])
            for value in node.values():
                look(value)

    look(schema)
    assert len(found) == len(api.FAMILIES) == 12
