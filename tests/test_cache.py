"""The cache: equal inputs give equal results with any contents of the cache; and it keeps its
limits."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.cache import kept
from floatgate.engine import InputError

CASES, GROUP, FEW, KINDS = 48, 6, 6, 12
"""The number of random runs, how many one test has, and how many `make test` carries out."""

PATTERNS = ("random-write", "zipf", "hot-cold")
AGES = ("random", "workload", "random", "random", "none")
FAMILIES = {family["family"]: None for family in fg.policies()}
THROTTLES = ("none", "static:target=1h", "dynamic:target=1h", "ready:target=1h")
MORE = {
    "cost": ("fixed:level=low", "conflict:initial-level=low"),
    "read-disturb": (
        "refresh:limit=60",
        "redftl:limit=60:monitors=40:shadows=25",
        "read-leveling:limit=60:monitors=40",
        "hot-low-density:limit=60:low-limit=240:low-density=10",
        "ipr:limit=60:low-limit=240:low-density=10:pool=100",
    ),
    "page-choice": ("mango:gc=follow", "mango:bound=0.02"),
    "victim": ("d-choices:d=3", "stable-greedy:window=5"),
    "separation": ("dac:regions=2",),
    "placement": ("static:order=pcwd",),
    "wear": ("static:threshold=2", "hot-cold-swap:slack=1"),
}


def members(family: str) -> list[str]:
    """The policies of a family, some of them with parameters that matter on a small drive."""
    if family == "throttle":
        return list(THROTTLES)
    listed = [p["name"] for p in fg.policies() if p["family"] == family]
    return [*listed, *MORE.get(family, ())]


SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "precondition.age": "random",
    "workload.requests": 1000,
}


class Case(NamedTuple):
    """A run, and another that differs in one family."""

    workload: str
    settings: dict[str, object]
    policies: dict[str, str]
    family: str
    other: str


@functools.cache
def drawn(seed: int) -> Case:
    """The random run of this number: every fifth is not aged, every ninth varies one family."""
    dice = random.Random(f"cache {seed}")
    family = list(FAMILIES)[seed % len(FAMILIES)]
    for _ in range(1000):
        bits = dice.choice((1, 2, 3, 3))
        settings: dict[str, object] = {
            "geometry.channels": dice.choice((1, 2)),
            "geometry.chips-per-channel": 1,
            "geometry.dies-per-chip": 1,
            "geometry.planes-per-die": dice.choice((1, 1, 2)),
            "geometry.blocks-per-plane": dice.choice((24, 40)),
            "geometry.pages-per-block": dice.choice((9, 12, 24)),
            "geometry.bits-per-cell": bits,
            "ftl.spare-factor": dice.choice((0.4, 0.55, 0.7)),
            "ftl.gc.stop": dice.choice((2, 3)),
            "ftl.gc.background-stop": dice.choice((0, 0, 4)),
            "ftl.gc.foreground": dice.choice(("all", "one")),
            "ftl.multi-plane": dice.choice(("off", "aligned", "any")),
            "precondition.fill": dice.choice(("full", "full", "touched")),
            "precondition.age": AGES[seed % len(AGES)],
            "host.mode": dice.choice(("queue-depth", "timestamps", "think-time")),
            "buffer.size": dice.choice(("0B", "0B", "64KiB")),
            "reliability.endurance": dice.choice((200, 3000)),
            "workload.requests": 4000,
            "workload.read-share": dice.choice((0.3, 0.8)),
            "workload.trim-share": 0.05,
            "workload.size": dice.choice(("4KiB", "16KiB")),
            "workload.arrivals": "{ poisson = { iops = 800 } }",
            "run.seed": dice.randrange(1000),
            "slc.read": "25us",
            "slc.program": "150us",
        }
        if bits == 2 and dice.random() < 0.5:
            settings["pages.order"] = "shadow"
        policies = {name: dice.choice(members(name)) for name in FAMILIES}
        # These go with few others.
        for name, plain in (
            ("slc-cache", "none"),
            ("page-choice", "in-order"),
            ("coding", "plain"),
        ):
            if family != name and dice.random() < 0.8:
                policies[name] = plain
        other = dice.choice([p for p in members(family) if p != policies[family]])
        case = Case(dice.choice(PATTERNS), settings, policies, family, other)
        try:
            for policy in (policies, policies | {family: other}):
                fg.resolve("agcr", policy=policy, set=settings)
        except InputError:
            continue  # Not every policy goes with every drive.
        return case
    raise AssertionError(f"no drive fits case {seed}")


def text(result: fg.Result) -> str:
    return json.dumps({key: value for key, value in result.data.items() if key != "timing"})


def run(case: Case, policies: dict[str, str] | None = None) -> str:
    chosen = case.policies if policies is None else policies
    return text(fg.run("agcr", case.workload, set=case.settings, policy=chosen))


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, for the cache of this test alone."""
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def states(base: Path) -> list[Path]:
    folder = base / "floatgate-cache" / "states"
    return sorted(folder.iterdir()) if folder.exists() else []


# ── Equal inputs, equal results ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("count", "least"), [(KINDS, 1), pytest.param(CASES, 4, marks=pytest.mark.verify)]
)
def test_the_random_runs_are_of_all_kinds(count: int, least: int) -> None:
    cases = [drawn(seed) for seed in range(count)]
    aged = sum(case.settings["precondition.age"] != "none" for case in cases)
    assert aged >= 3 * len(cases) // 4
    for family in FAMILIES:
        assert sum(case.family == family for case in cases) >= least, family
        others = {case.other for case in cases if case.family == family}
        assert len({case.policies[family] for case in cases} | others) >= 2, family


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=() if first < FEW else pytest.mark.verify)
        for first in range(0, CASES, GROUP)
    ],
)
def test_a_result_does_not_depend_on_what_the_cache_holds(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cold; warm; after a run that differs in one family; beside that run in a comparison."""
    warm = 0
    for seed in range(first, first + GROUP):
        case = drawn(seed)

        def use(name: str, seed: int = seed) -> Path:
            monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path / f"{seed}-{name}"))
            return tmp_path / f"{seed}-{name}"

        cold = use("cold")
        expected = run(case)
        kept = states(cold)
        assert run(case) == expected, f"{case}: from its own state"
        assert states(cold) == kept
        warm += len(kept)

        use("foreign")
        other = run(case, case.policies | {case.family: case.other})
        assert run(case) == expected, f"{case}: after the other"

        use("comparison")
        names = [case.other, case.policies[case.family]]
        lists = {**{k: [v] for k, v in case.policies.items()}, case.family: names}
        workers = 2 if seed == first else 1
        settings = {key: [value] for key, value in case.settings.items()}
        runs = fg.compare("agcr", case.workload, set=settings, policy=lists, workers=workers).runs
        assert [text(r) for r in runs] == [other, expected], f"{case}: in a comparison"
    assert warm > 0, "no state was kept"


def test_a_settings_file_with_other_settings_is_another_workload(
    fresh: Path, tmp_path: Path
) -> None:
    settings = {**SMALL, "precondition.age": "workload", "host.out-of-range": "wrap"}
    generator = tmp_path / "generator.toml"
    parts = tmp_path / "parts.toml"
    parts.write_text('schema = "floatgate.workload/1"\n[[part]]\nworkload = "generator.toml"\n')
    profile = tmp_path / "profile.toml"
    fitted = fg.fit("msr:hm_0").text
    files: list[tuple[Path, Callable[[int], object]]] = [
        (generator, lambda n: generator.write_text(f'pattern = "zipf"\ntheta = 0.{n}\n')),
        (parts, lambda n: generator.write_text(f'pattern = "zipf"\ntheta = 0.{n}\n')),
        (profile, lambda n: profile.write_text(fitted.replace("growth = 0.65", f"growth = 0.{n}"))),
    ]
    for workload, write in files:
        runs = []
        for n in (2, 9, 2):
            write(n)
            before = len(states(fresh))
            runs.append(fg.run("agcr", workload, set=settings))
            assert len(states(fresh)) == before + (len(runs) < 3), (workload, n)
        names = [result.run_id for result in runs]
        assert names[0] != names[1], workload
        assert text(runs[0]) == text(runs[2])


# ── A guest in the user's folder ────────────────────────────────────────────────────────────────

WORDS = ("run", "agcr", "random-write", "--json", *(f"--set={k}={v}" for k, v in SMALL.items()))


def small(seed: int = 1) -> None:
    fg.run("agcr", "random-write", set=SMALL, seed=seed)


def test_the_folder_is_our_own_and_nothing_else_is_deleted(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small()
    (state,) = states(fresh)
    ours = fresh / "floatgate-cache"
    assert ours.stat().st_mode & 0o777 == 0o700
    assert (ours / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f0688")
    # Large files of others, older than any state: beside the folder, in it, among the states, and
    # behind a name that is a state's.
    strangers = [
        fresh / "thesis-backup.tar",
        fresh / ("0" * 64),
        ours / "notes.txt",
        ours / "states" / "notes.txt",
        ours / "states" / ("A" * 64),
        ours / "states" / f"{'1' * 64}.bak",
        ours / "states" / "old.new",
        ours / "traces" / "old.12-3.new",
    ]
    (ours / "traces").mkdir(exist_ok=True)
    for path in strangers:
        path.touch()
        os.truncate(path, 6 << 30)  # Nothing of it is written.
        os.utime(path, (0, 0))
    (ours / "states" / ("b" * 64)).symlink_to(fresh / "thesis-backup.tar")
    (ours / "states" / ("c" * 64)).mkdir()
    small(2)
    assert all(path.stat().st_size == 6 << 30 for path in strangers)
    assert state.exists(), "what others keep does not count"
    # With a limit below one state, all of ours go, and nothing else.
    monkeypatch.setenv("FLOATGATE_CACHE_LIMIT", "1KiB")
    small(3)
    assert not state.exists()
    left = {path.name for path in states(fresh)}
    assert left == {"notes.txt", "A" * 64, f"{'1' * 64}.bak", "old.new", "b" * 64, "c" * 64}
    assert all(path.stat().st_size == 6 << 30 for path in strangers)


def test_the_states_that_nobody_asked_for_the_longest_go_first(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for seed in (1, 2, 3):
        small(seed)
        made += [path for path in states(fresh) if path not in made]
    size = made[0].stat().st_size
    for age, path in enumerate(made):
        os.utime(path, (age, age))
    small(1)  # It is asked for, and the youngest now.
    monkeypatch.setenv("FLOATGATE_CACHE_LIMIT", f"{3 * size + size // 2}B")
    small(4)
    assert [path.exists() for path in made] == [True, False, True]
    assert len(states(fresh)) == 3


def test_what_a_crash_leaves_is_tidied_by_the_next_run(fresh: Path) -> None:
    small()
    folder = fresh / "floatgate-cache"
    (folder / "traces").mkdir(exist_ok=True)
    dead = [
        folder / "states" / f"{'d' * 64}.4711-0.new",
        folder / "traces" / f"{'e' * 16}.json.4711-2.new",
    ]
    alive = folder / "states" / f"{'f' * 64}.4711-1.new"
    for path in [*dead, alive]:
        path.write_bytes(b"half a sta")
    with alive.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)  # As one does that is at work.
        small()
        assert [path.exists() for path in dead] == [False, False]
        assert alive.exists()
    small()
    assert not alive.exists()


def test_a_folder_of_our_name_that_is_somebody_elses_is_refused(
    tmp_path: Path, fresh: Path, floatgate: Floatgate
) -> None:
    mine = fresh / "floatgate-cache" / "states" / ("a" * 64)
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = floatgate(*WORDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(mine.parent.parent) in done.stderr
    assert "FLOATGATE_CACHE" in done.stderr
    assert list(mine.parent.parent.rglob("*")) == [mine.parent, mine]
    # One that is empty has nothing of anybody's.
    mine.unlink()
    mine.parent.rmdir()
    assert floatgate(*WORDS).returncode == 0
    assert len(states(fresh)) == 1


@pytest.mark.parametrize("limit", ["8", "8 gigs", "-1GiB", "all"])
def test_a_limit_that_is_no_size_is_refused(
    limit: str, fresh: Path, floatgate: Floatgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOATGATE_CACHE_LIMIT", limit)
    for words in (WORDS, ("compare", *WORDS[1:])):
        done = floatgate(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"FLOATGATE_CACHE_LIMIT is `{limit}`" in done.stderr
        assert "such as 8GiB" in done.stderr
    assert not states(fresh)


def test_a_cache_that_cannot_be_written_to_fails_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("FLOATGATE_CACHE", str(tmp_path / "file"))
    small()
    assert (tmp_path / "file").read_text() == "no folder"
    monkeypatch.setenv("FLOATGATE_CACHE", "")
    small()


def test_what_is_known_of_a_trace_lies_in_the_folder_too(
    fresh: Path, tmp_path: Path, floatgate: Floatgate
) -> None:
    (tmp_path / "trace").write_text("0 0 8 8 1\n1000000 0 16 8 0\n")
    done = floatgate("compare", "agcr", "trace", "--set", "run.seed=1,2", "--json")
    assert done.returncode == 0, done.stderr
    found = {path.name for path in (fresh / "floatgate-cache").iterdir()}
    assert found == {"CACHEDIR.TAG", "traces"}
    (known,) = (fresh / "floatgate-cache" / "traces").iterdir()
    assert known.suffix == ".json"


# ── Reproducible files ──────────────────────────────────────────────────────────────────────────


def made_with(content: bytes, times: list[bytes]) -> Callable[[], bytes]:
    def make() -> bytes:
        times.append(content)
        return content

    return make


def test_it_is_made_once_and_again_where_the_file_is_not_whole_or_not_ours(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[bytes] = []
    make = made_with(b"a program", times)
    assert [kept("name", make) for _ in range(3)] == [b"a program"] * 3
    assert len(times) == 1
    path = fresh / "floatgate-cache" / "made" / "name"
    whole = path.read_bytes()
    assert whole[32:] == b"a program"
    for damaged in (b"", whole[:10], whole[:-1], whole + b"x", whole[:32] + b"A program"):
        path.write_bytes(damaged)
        assert kept("name", make) == b"a program"
        assert path.read_bytes() == whole, "it is mended"
    assert len(times) == 6
    # A link may lead to a file of somebody else, and nobody waits for a pipe.
    (fresh / "other").write_bytes(whole)
    path.unlink()
    path.symlink_to(fresh / "other")
    assert kept("name", make) == b"a program"
    path.unlink()
    os.mkfifo(path)
    assert kept("name", make) == b"a program"
    assert len(times) == 8
    path.unlink()
    path.mkdir()
    assert kept("name", make) == b"a program"
    path.rmdir()
    kept("name", make)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert kept("name", make) == b"a program"
    assert len(times) == 11
    assert {each.name for each in path.parent.iterdir()} == {"name"}


def test_without_a_cache_it_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[bytes] = []
    (tmp_path / "file").touch()
    for named in ("", str(tmp_path / "file")):
        monkeypatch.setenv("FLOATGATE_CACHE", named)
        assert kept("name", made_with(b"x", times)) == b"x"
    assert len(times) == 2


def test_a_second_page_takes_the_program_of_the_first(floatgate: Floatgate, tmp_path: Path) -> None:
    assert floatgate(*WORDS[:3], *WORDS[4:], "--out", "kept-run").returncode == 0
    pages = []
    for name in ("first.html", "second.html"):
        assert floatgate("report", "kept-run", "-o", name).returncode == 0
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    (program,) = (Path(os.environ["FLOATGATE_CACHE"]) / "floatgate-cache" / "made").iterdir()
    assert program.read_bytes()[32:] in pages[0]
