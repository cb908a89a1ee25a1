"""Policies written in Python: equal answers give equal results, and mistakes are explained."""

import ast
import inspect
import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsIndex, cast

import numpy as np
import pytest

import floatgate
from conftest import Floatgate
from floatgate import engine
from floatgate import policy as api
from floatgate.lists import policies as listed
from floatgate.policy import Access, Cost, Drive, Plane, Random, Victim, Write, source
from processes import LONG, at_once

ROOT = Path(__file__).parent.parent
SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 20_000,
}
ARGUMENTS = ("agcr", "random-write", *(f"--set={key}={value}" for key, value in SMALL.items()))

MINE = """
from floatgate.policy import Cost, Victim

class Greedy:
    def choose(self, plane, demand, random):
        return plane.blocks[plane.gain.argmax()]

class Fixed(Cost):
    def __init__(self, level="medium"):
        self.word = level
    def initial(self):
        return self.word
    def level(self, write):
        return self.word
"""

Run = Callable[..., dict[str, Any]]


class Greedy(Victim):
    """The built-in policy again."""

    def choose(self, plane: Plane, demand: str, random: Random) -> int:
        return int(plane.blocks[plane.gain.argmax()])


def run(workload: str = "random-write", **options: Any) -> dict[str, Any]:
    settings = SMALL | options.pop("set", {})
    return floatgate.run("agcr", workload, set=settings, **options).data


def kept(base: Path) -> Path:
    """Preconditioned drives in a folder of the user's."""
    return base / "floatgate-cache" / "states"


def numbers(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of a result that do not name the policies that gave it."""
    kept = {key: data[key] for key in data if key not in ("provenance", "timing")}
    kept["policies"] = {key: value["counters"] for key, value in data["policies"].items()}
    kept["warnings"] = [w for w in data["warnings"] if w["code"] != "not-repeatable"]
    return kept


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of two policies, its name new for each test."""
    name = f"mine_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    return name


# ── The same answers, the same results ──────────────────────────────────────────────────────────


def test_a_twin_of_greedy_gives_the_numbers_of_greedy(
    mine: str, tmp_path: Path, floatgate: Floatgate
) -> None:
    built_in = run(policy={"victim": "greedy"})
    assert built_in["flash"]["erase"]["gc"] > 1000
    for victim in (f"py:{mine}.Greedy", Greedy, Greedy()):
        assert numbers(run(policy={"victim": victim})) == numbers(built_in)
    shell = floatgate("run", *ARGUMENTS, "--policy", f"victim=py:{mine}.Greedy", "--json")
    assert (shell.returncode, shell.stderr) == (0, "")
    assert json.dumps(numbers(json.loads(shell.stdout))) == json.dumps(numbers(built_in))


def test_a_twin_of_random_draws_from_the_same_stream() -> None:
    class AnyBlock:
        def attach(self, drive: Drive) -> None:
            self.blocks = drive.blocks_per_plane

        def choose(self, plane: Plane, demand: str, random: Random) -> int:
            while True:
                block = plane.index * self.blocks + random.below(self.blocks)
                if block in plane.blocks:
                    return block

    aged = {"precondition.age": "random"}
    twin = run(policy={"victim": AnyBlock}, set=aged)
    assert numbers(twin) == numbers(run(policy={"victim": "random"}, set=aged))


def test_a_twin_of_fixed_gives_the_numbers_of_fixed(mine: str) -> None:
    mixed = {"workload.read-share": 0.5}
    for level in ("high", "medium", "low"):
        built_in = run(policy={"cost": f"fixed:level={level}"}, set=mixed)
        twin = run(policy={"cost": f"py:{mine}.Fixed:level={level}"}, set=mixed)
        assert numbers(twin) == numbers(built_in)
        assert built_in["flash"]["by_level"]["read"][level] > 9000


def test_a_cost_rule_is_followed_for_every_program() -> None:
    class BySource(Cost):
        def dram_bits_per_page(self) -> int:
            return 2

        def initial(self) -> str:
            return "medium"

        def level(self, write: Write) -> str:
            assert (write.demand, write.stored is None) == ("host", write.source == "host")
            return "low" if write.source == "host" else "high"

    data = run(policy={"cost": BySource})
    program = data["flash"]["program"]
    assert program["gc"] > program["host"] == 20_000
    levels = data["flash"]["by_level"]["program"]
    assert levels == {"high": program["gc"], "medium": 0, "low": program["host"]}
    pages = data["capacity"]["logical_bytes"] // 4096
    assert data["policies"]["cost"]["dram_bytes"] == pages * 2 // 8


def test_equal_runs_are_equal_and_leave_an_instance_as_it_was() -> None:
    class Dice:
        def __init__(self, share: float) -> None:
            self.share = share
            self.chosen: list[int] = []

        def choose(self, plane: Plane, demand: str, random: Random) -> SupportsIndex:
            numpy = np.random.default_rng(random.bits())
            greedy = random.unit() < self.share
            at = plane.gain.argmax() if greedy else numpy.integers(len(plane))
            self.chosen.append(int(at))
            return cast(SupportsIndex, plane.blocks[at])

        def counters(self) -> dict[str, float]:
            return {"chosen": len(self.chosen), "sum": sum(self.chosen)}

    dice = Dice(share=0.9)
    one, two = (run(policy={"victim": dice}) for _ in range(2))
    assert json.dumps(numbers(one)) == json.dumps(numbers(two))
    assert one["policies"]["victim"]["params"] == {"share": 0.9}
    # One may be under way in each plane as the run ends.
    config = one["provenance"]["config"]["geometry"]
    planes = config["channels"] * config["chips-per-channel"] * config["planes-per-die"]
    under_way = one["policies"]["victim"]["counters"]["chosen"] - one["flash"]["erase"]["gc"]
    assert 0 <= under_way <= planes
    assert dice.chosen == []
    assert numbers(run(policy={"victim": dice}, seed=2)) != numbers(one)


# ── A policy's view ─────────────────────────────────────────────────────────────────────────────


def test_the_candidates_are_described() -> None:
    seen: list[Plane] = []
    streams: list[Random] = []

    class Looking:
        def choose(self, plane: Plane, demand: str, random: Random) -> int:
            seen.append(plane)
            streams.append(random)
            assert demand == "host"
            return int(plane.blocks[plane.gain.argmax()])

    run(policy={"victim": Looking})
    assert len(seen) > 1000
    for plane in seen[-20:]:
        columns = (plane.blocks, plane.valid, plane.gain, plane.erases, plane.wear, plane.age)
        assert {len(column) for column in columns} == {len(plane)}
        assert (np.diff(plane.blocks) > 0).all()
        assert set(plane.blocks // 64) == {plane.index}
        assert (plane.valid + plane.gain == plane.pages_per_block).all()
        assert (plane.wear == plane.erases).all()  # a plain drive wears by one cycle each
        assert len(set(plane.age)) == len(plane)
        assert plane.gain is plane.gain
        with pytest.raises(ValueError, match="read-only"):
            plane.gain[0] = 0
    assert seen[-1].now_ns > seen[-2000].now_ns >= 0
    with pytest.raises(RuntimeError, match="in `choose` only"):
        streams[0].below(3)
    with pytest.raises(AttributeError):
        seen[0].index = 3  # type: ignore[misc]


def test_events_are_told_and_counted() -> None:
    class Watching(Greedy):
        def __init__(self) -> None:
            self.counts: dict[str, float] = {}

        def count(self, what: str) -> None:
            self.counts[what] = self.counts.get(what, 0) + 1

        def attach(self, drive: Drive) -> None:
            assert drive.blocks == 64 * drive.planes
            self.drive = drive

        def on_access(self, access: Access) -> None:
            assert 0 <= access.lpn < self.drive.logical_pages
            self.count(access.kind)

        def on_program(self, lpn: int, ppn: int, level: str, source: str, now_ns: int) -> None:
            assert level == "medium"
            self.count(f"program {source}")

        def on_invalidate(self, block: int, gain: int, now_ns: int) -> None:
            assert 0 < gain <= self.drive.pages_per_block
            self.count("invalidate")

        def on_move(self, lpn: int, old: int, new: int, source: str) -> None:
            assert old // self.drive.pages_per_block != new // self.drive.pages_per_block
            self.count(f"move {source}")

        def on_open(self, block: int, stream: int, role: int) -> None:
            assert (stream in (api.HOST, api.GC), role) == (True, 0)
            self.count("open")

        def on_close(self, block: int, now_ns: int) -> None:
            self.count("close")

        def on_erase(self, block: int, now_ns: int) -> None:
            self.count("erase")

        def counters(self) -> dict[str, float]:
            return self.counts | {"reclaimed": -1}

    data = run(policy={"victim": Watching}, set={"workload.read-share": 0.3})
    counts = data["policies"]["victim"]["counters"]
    flash, host = data["flash"], data["host"]
    assert counts["write"] == host["write"]["requests"]
    assert counts["read"] == host["read"]["requests"]
    assert counts["program host"] == flash["program"]["host"]
    assert counts["program gc"] == counts["move gc"] == flash["program"]["gc"]
    assert counts["erase"] == counts["reclaimed"] == flash["erase"]["gc"]
    assert counts["invalidate"] == flash["program"]["total"]  # on a full drive
    assert abs(counts["open"] - counts["erase"]) < 20
    assert counts["own_reclaimed"] == -1  # the drive counts these itself


@pytest.mark.parametrize("wanted", [None, True, False])
def test_pages_are_written_anew_when_their_die_is_idle(wanted: bool | None) -> None:
    class Rereading(Cost):
        def __init__(self) -> None:
            self.pages: set[int] = set()
            self.told = 0

        def initial(self) -> str:
            return "low"

        def level(self, write: Write) -> str:
            return "high" if write.source == "rewrite" else "low"

        def follow(self, access: Access, stored: str | None) -> bool:
            assert access.kind == "read"
            if stored == "low":
                self.pages.add(access.lpn)
            return stored == "low"

        def on_program(self, lpn: int, ppn: int, level: str, source: str, now_ns: int) -> None:
            if source == "rewrite":
                assert (lpn in self.pages, level) == (True, "high")
                self.told += 1

        def counters(self) -> dict[str, float]:
            return {"marked": len(self.pages), "told": self.told}

    class Asked(Rereading):
        def rewrite(self, lpn: int) -> bool:
            assert lpn in self.pages
            assert wanted is not None
            return wanted

    pause = {"workload.read-share": 0.9, "workload.arrivals.poisson.iops": 50}
    cost = Rereading if wanted is None else Asked
    data = run(policy={"cost": cost}, set=pause | {"host.mode": "timestamps"})
    counters, rewritten = data["policies"]["cost"]["counters"], data["flash"]["program"]["rewrite"]
    assert counters["marked"] > 1000
    assert counters["told"] == rewritten
    assert (rewritten > 0.9 * counters["marked"]) if wanted in (None, True) else rewritten == 0


def test_stubs_and_views_say_the_same() -> None:
    stub = ast.parse((ROOT / "python" / "floatgate" / "_core.pyi").read_text())
    views = [name for name in api.__all__ if name in vars(engine)]
    classes = [c for c in stub.body if isinstance(c, ast.ClassDef) and c.name in views]
    assert len(classes) == len(views)
    members = 0
    for described in classes:
        view = getattr(api, described.name)
        assert inspect.getdoc(view) == ast.get_docstring(described)
        for member in described.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                members += 1
                said = inspect.getdoc(getattr(view, member.name))
                assert said == ast.get_docstring(member), member.name
    assert members > 30


# ── Where it comes from ─────────────────────────────────────────────────────────────────────────


def test_a_result_names_the_code_and_can_be_made_again(
    mine: str, tmp_path: Path, floatgate: Floatgate
) -> None:
    code = tmp_path / f"{mine}.py"
    cost = f"cost=py:{mine}.Fixed"
    shown = floatgate("config", "show", "agcr", "--policy", cost).stdout
    digest = subprocess.run(["sha256sum", code], capture_output=True, text=True, check=True)
    assert f'source = "sha256:{digest.stdout.split()[0]}"' in shown
    assert 'level = "medium"' in shown  # its default
    (tmp_path / "again.toml").write_text(shown)
    assert floatgate("config", "show", "again.toml", "--allow-code").stdout == shown
    code.write_text(MINE.replace("self.word", "self.level_"))
    refused = floatgate("config", "show", "again.toml", "--allow-code")
    assert refused.returncode == 2
    assert "again.toml" in refused.stderr
    assert "no longer what it was" in refused.stderr
    assert floatgate("config", "show", "agcr", "--policy", cost).stdout != shown


def test_the_code_is_part_of_the_run_id_and_of_the_state_before_the_run(
    mine: str, tmp_path: Path, floatgate: Floatgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))
    words = ("run", *ARGUMENTS, "--set=precondition.age=random", "--out=results", "--json")
    results = []
    for comment in ("", "", "# changed"):
        (tmp_path / f"{mine}.py").write_text(MINE + comment)
        done = floatgate(*words, "--policy", f"victim=py:{mine}.Greedy")
        results.append(numbers(json.loads(done.stdout)))
    assert results[0] == results[1] == results[2]
    assert len(list(kept(tmp_path).iterdir())) == 2
    assert len(list((tmp_path / "results").iterdir())) == 2


def test_a_state_from_the_cache_has_the_ages_that_were_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))
    monkeypatch.syspath_prepend(ROOT / "examples")
    victim, aged = "py:cost_benefit.CostBenefit", {"precondition.age": "random"}
    one, two = (run("hot-cold", policy={"victim": victim}, set=aged) for _ in range(2))
    assert len(list(kept(tmp_path).iterdir())) == 1
    assert json.dumps(numbers(one)) == json.dumps(numbers(two))


def test_what_was_in_memory_is_told_and_never_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path))

    class Here(Greedy):
        pass

    for victim in (Here, Here(), Greedy()):
        data = run(policy={"victim": victim}, set={"precondition.age": "random"})
        assert "not-repeatable" in [w["code"] for w in data["warnings"]]
        described = data["provenance"]["config"]["policies"]["victim"]
        assert described["source"].startswith("memory sha256:")
    assert not kept(tmp_path).exists()
    path = f"py:{Greedy.__module__}.Greedy"
    assert described["name"] == path
    with pytest.raises(floatgate.ConfigError, match="was in memory when this was written"):
        run(set={f"policies.victim.{key}": value for key, value in described.items()})


def test_code_that_was_edited_since_its_import_counts_as_in_memory(
    mine: str, tmp_path: Path
) -> None:
    def warnings() -> list[str]:
        data = run(policy={"victim": f"py:{mine}.Greedy"})
        return [w["code"] for w in data["warnings"]]

    (tmp_path / "helper_of_mine.py").write_text("def best(gain):\n    return gain.argmax()\n")
    code = MINE.replace("plane.gain.argmax()", "helper_of_mine.best(plane.gain)")
    (tmp_path / f"{mine}.py").write_text(f"import helper_of_mine\n{code}")
    assert "not-repeatable" not in warnings()
    (tmp_path / "helper_of_mine.py").write_text("LIMIT = 3\n")
    assert "not-repeatable" in warnings()
    # Imported and edited before the first run: its functions tell.
    module = __import__(mine)
    (tmp_path / f"{mine}.py").write_text(MINE)
    source._read.pop(mine)
    assert "not-repeatable" in [
        w["code"] for w in run(policy={"victim": module.Greedy})["warnings"]
    ]


# ── Mistakes ────────────────────────────────────────────────────────────────────────────────────

WRONG = {
    "no such module": ("victim=py:nowhere.Greedy", "", "there is no module `nowhere`"),
    "no such module in a package": ("victim=py:json.nowhere.X", "", "no module `json.nowhere`"),
    "no class named": ("victim=py:wrong", "", "py:module.Class"),
    "no such class": ("victim=py:wrong.Gredy", "class Greedy: pass", "did you mean `Greedy`?"),
    "no class": ("victim=py:wrong.f", "def f(): pass", "is not a class"),
    "a module that fails": ("victim=py:wrong.X", "a = 1\nb = 1 / 0", "wrong.py, line 2"),
    "a module that exits": ("victim=py:wrong.X", "raise SystemExit(3)", "SystemExit: 3"),
    "no Python": ("victim=py:wrong.X", "class X\n", "wrong.py, line 1"),
    "a missing import": ("victim=py:wrong.X", "import nowhere", "No module named 'nowhere'"),
    "no method": ("victim=py:wrong.X", "class X: pass", "`choose(self, plane, demand, random)`"),
    "an abstract method": (
        "cost=py:wrong.X",
        "from floatgate.policy import Cost\nclass X(Cost):\n def initial(self): return 'low'",
        "no method `level(self, write)`",
    ),
    "a method of another shape": (
        "victim=py:wrong.X",
        "class X:\n def choose(self, plane): pass",
        "must take (self, plane, demand, random); it takes plane",
    ),
    "an event of another shape": (
        "victim=py:wrong.X",
        "class X:\n def choose(self, p, d, r): pass\n def on_erase(self): pass",
        "`on_erase` of `py:wrong.X` must take (self, block, now_ns)",
    ),
    "no such event": (
        "victim=py:wrong.X",
        "class X:\n def choose(self, p, d, r): pass\n def on_earse(self, b, t): pass",
        "did you mean `on_erase`?",
    ),
    "no such parameter": (
        "victim=py:wrong.X:depht=3",
        "class X:\n def __init__(self, depth=1): pass\n def choose(self, p, d, r): pass",
        "did you mean `depth`?",
    ),
    "a missing parameter": (
        "victim=py:wrong.X",
        "class X:\n def __init__(self, depth): pass\n def choose(self, p, d, r): pass",
        "missing a required argument: 'depth'",
    ),
    "a parameter that is refused": (
        "victim=py:wrong.X:depth=3",
        "class X:\n def __init__(self, depth): raise ValueError(f'not {depth}')\n"
        " def choose(self, p, d, r): pass",
        "ValueError: not 3",
    ),
    "a reserved parameter": (
        "victim=py:wrong.X",
        "class X:\n def __init__(self, source=1): pass\n def choose(self, p, d, r): pass",
        "keeps this word for itself",
    ),
    "no such level": (
        "cost=py:wrong.X",
        "class X:\n def initial(self): return 'hgih'\n def level(self, w): pass",
        "`initial` of the policy `cost=py:wrong.X` returned 'hgih'; it must be 'high', 'medium' or",
    ),
    "an odd memory": (
        "cost=py:wrong.X",
        "class X:\n def dram_bits_per_page(self): return -1\n def initial(self): return 'low'\n"
        " def level(self, w): pass",
        "returned -1; it must be bits, a whole number from 0 to 64",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_run_is_refused_before_the_run(
    floatgate: Floatgate, tmp_path: Path, case: str
) -> None:
    policy, code, hint = WRONG[case]
    (tmp_path / "wrong.py").write_text(code)
    done = floatgate("run", *ARGUMENTS, "--policy", policy, "--out=results", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr
    assert "--policy argument 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


CHOOSE = "class X:\n def choose(self, plane, demand, random):\n  "
LEVEL = "class X:\n def initial(self): return 'low'\n def level(self, w): "
FAILS = {
    "an exception": (
        "victim",
        f"{CHOOSE}return self.help(plane)\n def help(self, plane): return plane.blocks[99_999]",
        "IndexError",
    ),
    "an exit": ("victim", f"{CHOOSE}raise SystemExit", "SystemExit"),
    "no answer": ("victim", f"{CHOOSE}pass", "returned None, which is not among the"),
    "a position": (
        "victim",
        f"{CHOOSE}return plane.gain.argmax() if plane.index else plane.blocks[0]",
        "if it is a position, return `plane.blocks[",
    ),
    "no block at all": ("victim", f"{CHOOSE}return -1", "returned -1, which is not among"),
    "a fraction": ("victim", f"{CHOOSE}return plane.wear[0]", "which is not among the"),
    "an open block": (
        "victim",
        f"{CHOOSE}return next(b for b in range(99) if b not in plane.blocks)",
        "which is not among the",
    ),
    "no such level": ("cost", f"{LEVEL}return 'hgih'", "'high', 'medium' or 'low'"),
    "no level": ("cost", f"{LEVEL}return 3", "returned 3"),
    "odd counters": (
        "victim",
        f"{CHOOSE}return plane.blocks[plane.gain.argmax()]\n"
        " def counters(self): return {'a': float('nan')}",
        "must map names to finite numbers",
    ),
    "an event that fails": (
        "victim",
        f"{CHOOSE}return plane.blocks[0]\n def on_erase(self, b, t): self.nothing",
        "AttributeError",
    ),
    "an odd verdict": (
        "cost",
        f"{LEVEL}return 'low'\n def follow(self, a, s): return 'yes'",
        "must be a bool",
    ),
}


@pytest.mark.parametrize("case", FAILS)
def test_what_goes_wrong_in_a_run_is_the_users(
    floatgate: Floatgate, tmp_path: Path, case: str
) -> None:
    family, code, hint = FAILS[case]
    (tmp_path / "wrong.py").write_text(code)
    words = ["run", *ARGUMENTS, "--set=workload.read-share=0.2", "--json", "--out=results"]
    if case != "odd counters":  # these are asked for in the end
        words.append("--set=workload.requests=100000000000")
    done = floatgate(*words, "--policy", f"{family}=py:wrong.X")
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error[policy::failed]: `")
    assert f"of the policy `{family}=py:wrong.X`" in last
    assert hint in last
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert all("wrong.py" in frame for frame in frames)
    raised = {"an exception": 2, "an exit": 1, "an event that fails": 1}
    assert len(frames) == raised.get(case, 0)
    assert not (tmp_path / "results").exists()


def test_what_a_policy_raises_is_the_cause_of_the_error() -> None:
    class Late(Greedy):
        def __init__(self) -> None:
            self.left = 300

        def choose(self, plane: Plane, demand: str, random: Random) -> int:
            self.left -= 1
            if self.left == 0:
                raise KeyError("late")
            return super().choose(plane, demand, random)

    with pytest.raises(floatgate.PolicyError, match="raised KeyError: 'late'") as failed:
        run(policy={"victim": Late}, set={"workload.requests": 100_000_000_000})
    cause = failed.value.__cause__
    assert isinstance(cause, KeyError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "choose"
    assert issubclass(floatgate.PolicyError, floatgate.InputError)


def test_wrong_objects_are_refused() -> None:
    class Bound(Greedy):
        def __init__(self) -> None:
            self.lock = threading.Lock()

    for victim, hint in ((object(), "no method"), (len, "no method"), (Bound(), "cannot pickle")):
        with pytest.raises(floatgate.ConfigError, match=hint):
            run(policy={"victim": victim})


@pytest.mark.parametrize(
    "body", ["return plane.blocks[0]", "\n  while True: pass", "\n  import time; time.sleep(1e6)"]
)
def test_ctrl_c_ends_a_run_whatever_its_policy_does(tmp_path: Path, body: str) -> None:
    (tmp_path / "busy.py").write_text(f"{CHOOSE}print('asked', flush=True)\n  {body}")
    command = [sys.executable, "-m", "floatgate", "run", *ARGUMENTS, "--policy=victim=py:busy.X"]
    command.append("--set=workload.requests=100000000000")
    pipe = subprocess.PIPE
    busy = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe)
    assert busy.stdout is not None
    assert busy.stdout.readline() == b"asked\n"
    with at_once(busy.pid):
        busy.send_signal(signal.SIGINT)
        _, err = busy.communicate(timeout=LONG)
    assert (busy.returncode, err) == (130, b"")


# ── Documentation ───────────────────────────────────────────────────────────────────────────────


def test_the_list_of_policies_says_how(floatgate: Floatgate) -> None:
    assert list(api.FAMILIES) == list(dict.fromkeys(p["family"] for p in listed()))
    for family in api.FAMILIES:
        assert "py:module.Class" in floatgate("policies", family).stdout


def test_the_example_runs_and_saves_what_it_says(floatgate: Floatgate, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "cost_benefit.py", tmp_path)
    assert len((tmp_path / "cost_benefit.py").read_text().splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, "cost_benefit.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    greedy, cost_benefit = (float(line.split()[-1]) for line in done.stdout.splitlines())
    assert 1 < cost_benefit < 0.95 * greedy
    words = ("--policy", "victim=py:cost_benefit.CostBenefit:power=0.5")
    shown = floatgate("run", *ARGUMENTS, *words)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "py:cost_benefit.CostBenefit (power 0.5)" in shown.stdout
