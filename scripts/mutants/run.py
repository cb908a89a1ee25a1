#!/usr/bin/env python3
"""Samples mutants of our own code and says which the tests of its crates catch.

Each mutant is a small change. All that are sampled are put into one copy of the tree, each behind a
switch that is read once from the environment, so there is one build. A first pass runs every test
alone, and records its processor time and the mutants that it reaches. Then each mutant is switched
on for the tests that reach it, the quickest first and the golden results last, until one fails.
Processor time is limited, not time on the clock: tests that take five times as much, and ten
seconds, hang. Tests that take long to begin with are left out, as survivors would take the time of
them all. Of searches by seeds only the first few seeds run. A mutant that only the others would
catch counts as a survivor.

    make mutants N=300 SEED=1
    make mutants N=300 SEED=1,2                              two samples, built once
    scripts/mutants/run.py --n 300 --seed 1 --only 17,203    these alone, anew

The copy and the build lie in target/mutants, and a verdict for each mutant as soon as there is one:
an interrupted run is resumed. A caught mutant stays caught until a source changes, and then the
test that caught it is tried first; survivors are tried on tests that changed. Survivors that
`accepted.toml` explains are counted apart. Exit status 1: there are survivors without an
explanation.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"
ACCEPTED = HERE / "accepted.toml"

# Folders whose code is mutated, and files in them that are not: checks are asserts by another name.
CHANGED = [
    "crates/ftl/src", "crates/policies/src",
    "crates/ssd/src/sim", "crates/ssd/src/device", "crates/ssd/src/host",
]  # fmt: skip
NOT_CHANGED = {"crates/ftl/src/space/check.rs"}
PACKAGES = ["floatgate-ftl", "floatgate-policies", "floatgate-ssd"]
LAST = ("golden::", "sixty::")  # results of our own: caught by them alone, by no expectation

MEMORY = 6 << 30  # bytes: a mutant that grows without end dies
SURVIVED, UNREACHED = "survived", "unreached"
LONGEST = 5  # seconds of processor time that a test may take and still judge
SEEDS = "..24"  # searches: the first two dozen of their own seeds
STALLED = 3600  # seconds on the clock, for what waits for ever and takes no processor time


@dataclass(frozen=True)
class Mutant:
    """One change of one file: bytes `start` to `end`."""

    path: str
    line: int
    start: int
    end: int
    shape: str
    kind: str
    text: str
    name: str  # tells it from all others, and stays when lines move


@dataclass(frozen=True)
class Case:
    """One test of one binary."""

    binary: str
    folder: str
    target: str
    name: str

    @property
    def last(self) -> bool:
        """Whether it compares with results of our own, which any change moves."""
        return self.name.startswith(LAST)


def say(text: str) -> None:
    """Prints a line at once."""
    print(text, flush=True)


def tracked() -> list[str]:
    """The files of the project, as they lie here."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return sorted(n for n in listed.decode().split("\0") if n and (ROOT / n).is_file())


def candidates(files: Iterable[str]) -> list[Mutant]:
    """Every mutant there is, in the order of files and places."""
    manifest = ["--manifest-path", str(HERE / "Cargo.toml"), "--target-dir", str(WORK / "tool")]
    rust = [f for f in files if f.endswith(".rs")]
    mutable = [f for f in rust if f.startswith(tuple(f"{c}/" for c in CHANGED))]
    mutable = [f for f in mutable if f not in NOT_CHANGED]
    others = [f for f in rust if re.match(r"crates/(kernel|nand|ftl|policies|ssd)/src/", f)]
    others = [f for f in others if f not in mutable]
    command = ["cargo", "run", "--quiet", "--locked", *manifest, "--", *mutable, "--", *others]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    found, seen = [], Counter[str]()
    for line in listed.splitlines():
        m = json.loads(line)
        change = f"{m['original']} → {m['shown']}".strip()
        name = f"{m['path']} {m['inside']}: {change}".strip()
        seen[name] += 1
        name += f" #{seen[name]}" if seen[name] > 1 else ""
        place = (m["path"], m["line"], m["start"], m["end"])
        found.append(Mutant(*place, m["shape"], m["kind"], m["mutated"], name))
    return found


def sample(mutants: Sequence[Mutant], n: int, seed: int) -> list[Mutant]:
    """The `n` least by a digest: a change of the sources changes few of them."""

    def rank(m: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {m.name}".encode()).digest()

    return in_order(sorted(mutants, key=rank)[:n])


def in_order(mutants: Iterable[Mutant]) -> list[Mutant]:
    """As they stand in the files."""
    return sorted(mutants, key=lambda m: (m.path, m.start, -m.end, m.name))


def render(source: bytes, numbered: Sequence[tuple[int, Mutant]]) -> tuple[bytes, dict[int, Any]]:
    """The source with a switch for each mutant, and the bytes that belong to each."""
    out = bytearray()
    spans: dict[int, tuple[int, int]] = {}
    todo = sorted(numbered, key=lambda km: (km[1].start, -km[1].end, km[0]))

    def copy(start: int, end: int, inside: list[tuple[int, Mutant]]) -> None:
        at = start
        while inside:
            k, m = inside.pop(0)
            nested = []
            while inside and inside[0][1].end <= m.end and m.shape != "enter":
                nested.append(inside.pop(0))
            out.extend(source[at : m.start])
            begin = len(out)
            switch = f"::kernel::mutant::on({k})"
            if m.shape == "enter":
                out.extend(f" if {switch} {{ {m.text}; }} ".encode())
            elif m.shape == "stmt":
                out.extend(f"if !{switch} {{ ".encode())
                copy(m.start, m.end, nested)
                out.extend(b" }")
            else:
                out.extend(f"(if {switch} {{ {m.text} }} else {{ ".encode())
                copy(m.start, m.end, nested)
                out.extend(b" })")
            spans[k] = (begin, len(out))
            at = m.end
        out.extend(source[at:end])

    copy(0, len(source), todo)
    return bytes(out), spans


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes changed files alone, so that cargo builds anew only those."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)


def plant(files: Sequence[str], mutants: dict[int, Mutant]) -> dict[str, dict[int, Any]]:
    """Makes the copy of the tree with the switches. Returns the bytes of each by file."""
    by_path: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
    for k, m in mutants.items():
        by_path[m.path].append((k, m))
    spans = {}
    kernel = "crates/kernel/src/lib.rs"
    for name in files:
        content = (ROOT / name).read_bytes()
        if name in by_path:
            content, spans[name] = render(content, by_path[name])
        if name == kernel:
            content += b"\n#[allow(missing_docs, clippy::all)]\npub mod mutant;\n"
        write(TREE / name, content, (ROOT / name).stat().st_mode & 0o777)
    switch = (HERE / "switch.rs").read_text()
    most = max(mutants, default=0)
    switch = switch.replace("COUNT: usize = 0", f"COUNT: usize = {most}")
    write(TREE / "crates/kernel/src/mutant.rs", switch.encode())
    known = {TREE / f for f in [*files, "crates/kernel/src/mutant.rs"]}
    for path in TREE.rglob("*"):
        if path.is_file() and path not in known:
            path.unlink()
    return spans


def cargo(*words: str) -> tuple[int, list[dict[str, Any]]]:
    """Runs cargo in the copy. Returns its exit status and its output."""
    command = ["cargo", *words, "--profile", "fast", "--message-format=json"]
    command += [w for p in PACKAGES for w in ("-p", p)]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(BUILD),
        "RUSTFLAGS": "--cap-lints=allow",
    }
    run = subprocess.run(
        command, cwd=TREE, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return run.returncode, [json.loads(x) for x in run.stdout.splitlines() if x.startswith("{")]


def blamed(messages: Sequence[dict[str, Any]], spans: dict[str, dict[int, Any]]) -> set[int]:
    """The mutants at which the compiler found errors: the innermost around each place."""
    found = set()
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        for span in message["message"]["spans"]:
            at, end = span["byte_start"], span["byte_end"]
            around = [
                (hi - lo, k)
                for k, (lo, hi) in spans.get(span["file_name"], {}).items()
                if lo <= at and end <= hi
            ]
            if span["is_primary"] and around:
                found.add(min(around)[1])
    return found


def build(
    files: Sequence[str], mutants: dict[int, Mutant], kept: Path
) -> tuple[dict[int, Mutant], list[Case]]:
    """Plants the mutants that compile, and returns them with the tests; `kept` gets the others."""
    unfit = set(json.loads(kept.read_text())) if kept.exists() else set()
    viable = {k: m for k, m in mutants.items() if m.name not in unfit}
    while True:
        spans = plant(files, viable)
        status, messages = cargo("check")
        if status == 0:
            break
        guilty = blamed(messages, spans)
        if not guilty:
            errors = [m["message"]["rendered"] for m in messages if "message" in m]
            sys.exit(
                "mutants: the copy does not compile, whatever the mutants:\n" + "\n".join(errors)
            )
        say(f"  {len(guilty)} do not compile in this form: {sorted(guilty)}")
        unfit |= {viable.pop(k).name for k in guilty}
        kept.write_text(json.dumps(sorted(unfit)))
    status, messages = cargo("test", "--no-run", "--lib", "--tests")
    if status != 0:
        errors = [m["message"]["rendered"] for m in messages if "message" in m]
        sys.exit("mutants: the tests do not build:\n" + "\n".join(errors))
    tests = []
    for m in messages:
        if m.get("reason") == "compiler-artifact" and m["profile"]["test"] and m.get("executable"):
            binary, folder = m["executable"], str(Path(m["manifest_path"]).parent)
            listed = subprocess.run(
                [binary, "--list", "--format", "terse"], cwd=folder, capture_output=True, text=True,
                check=True,
            ).stdout  # fmt: skip
            ignored = subprocess.run(
                [binary, "--list", "--format", "terse", "--ignored"], cwd=folder,
                capture_output=True, text=True, check=True,
            ).stdout.splitlines()  # fmt: skip
            names = [x for x in listed.splitlines() if x.endswith(": test") and x not in ignored]
            target = m["target"]["name"]
            tests += [Case(binary, folder, target, n.removesuffix(": test")) for n in names]
    return viable, tests


def execute(tests: Sequence[Case], settings: dict[str, str], seconds: int) -> tuple[str, float]:
    """Runs tests of one binary. Returns failed tests (none: all passed) and processor seconds."""
    limits = f'ulimit -c 0; ulimit -t {seconds}; ulimit -v {MEMORY >> 10}; exec "$@"'
    command = ["sh", "-c", limits, "sh", tests[0].binary, "--exact", "--test-threads=1"]
    ours = {k for k in os.environ if k.startswith("FLOATGATE_") and k != "FLOATGATE_TRACES"}
    environment = {k: v for k, v in os.environ.items() if k not in ours}
    environment |= {"RUST_BACKTRACE": "0", "CARGO_MANIFEST_DIR": tests[0].folder}
    environment |= {"FLOATGATE_SEED": SEEDS, **settings}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*command, *(t.name for t in tests)], cwd=tests[0].folder, env=environment,
            stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        watchdog = threading.Timer(STALLED, process.kill)
        watchdog.start()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        out = output.read().decode(errors="replace")
    spent = usage.ru_utime + usage.ru_stime
    if process.returncode == 0:
        return "", spent
    target = tests[0].target
    if failed := re.findall(r"^test (\S+) .*FAILED$", out, re.MULTILINE):
        return f"{target} {failed[0]}", spent
    started = re.findall(r"^test (\S+) ", out, re.MULTILINE)
    at = started[-1] if started else tests[0].name
    hangs = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    how = "hangs" if hangs else f"ends with {process.returncode}"
    return f"{target} {at} {how}", spent


@dataclass(frozen=True)
class Reach:
    """The time of one test, and the mutants that it reaches; of which build."""

    test: Case
    build: str
    seconds: float
    mutants: frozenset[int]


def survey(tests: Sequence[Case], jobs: int, kept: Path, longest: float) -> list[Reach]:
    """Runs each test alone, with every mutant off; `kept` is told, and asked: builds differ.

    Returns those that judge: tests that pass within `longest` seconds of processor time.
    """
    builds = {
        b: hashlib.sha256(Path(b).read_bytes()).hexdigest() for b in {t.binary for t in tests}
    }
    known = {}
    for line in kept.read_text().splitlines() if kept.exists() else []:
        entry = json.loads(line)
        known[entry["build"], entry["test"]] = entry
    # A test that took long in another build takes long in this one.
    slow = {(e["target"], e["test"]): e for e in known.values() if e["seconds"] >= longest}
    lock = threading.Lock()

    def one(test: Case) -> tuple[str, Reach]:
        entry = known.get((builds[test.binary], test.name)) or slow.get((test.target, test.name))
        # A test that was cut short under a lower limit proves nothing under this one.
        if entry is None or (entry["failed"] and entry["seconds"] < longest):
            with tempfile.NamedTemporaryFile("r") as reached:
                settings = {"FLOATGATE_REACHED": reached.name}
                failed, spent = execute([test], settings, math.ceil(longest))
                if failed.endswith(" hangs"):
                    spent = max(spent, longest)  # it ends a little before or after
                numbers = sorted(set(map(int, reached.read().split())))
            entry = {"build": builds[test.binary], "target": test.target, "test": test.name}
            entry |= {"failed": failed, "seconds": spent, "mutants": numbers}
            with lock, kept.open("a") as f:
                f.write(json.dumps(entry) + "\n")
        mutants = frozenset(entry["mutants"])
        return entry["failed"], Reach(test, entry["build"], entry["seconds"], mutants)

    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(one, tests))
    long = [reach for _, reach in results if reach.seconds >= longest]
    say(f"  {len(long)} tests judge nothing, as they take {longest:g} s or more")
    for failed, reach in results:
        if failed and reach not in long:
            say(f"  left out, for it fails without any mutant: {failed} ({reach.test.target})")
    return [reach for failed, reach in results if not failed and reach not in long]


def portions(reached: Iterable[Reach]) -> list[list[Reach]]:
    """Tests in the order in which they are tried, those of one binary in portions."""
    order = sorted(reached, key=lambda r: (r.test.last, round(r.seconds, 1), r.test.binary))
    parts: list[list[Reach]] = []
    for r in order:
        part = parts[-1] if parts else []
        first = part[0].test if part else None
        together = first and (first.binary, first.last) == (r.test.binary, r.test.last)
        if together and len(part) < 30 and sum(p.seconds for p in part) + r.seconds < 1:
            part.append(r)
        else:
            parts.append([r])
    return parts


class Passed:
    """Tests that have passed with each mutant: those of the same build need not run again."""

    def __init__(self, kept: Path) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._known: set[tuple[str, str, str]] = set()
        for line in kept.read_text().splitlines() if kept.exists() else []:
            entry = json.loads(line)
            self._known |= {(entry["mutant"], *test) for test in entry["tests"]}

    def has(self, mutant: str, reach: Reach) -> bool:
        """Whether a test has passed with a mutant, whose name tells it."""
        return (mutant, reach.build, reach.test.name) in self._known

    def note(self, mutant: str, part: Sequence[Reach]) -> None:
        """Tests have passed with a mutant."""
        entry = {"mutant": mutant, "tests": [(r.build, r.test.name) for r in part]}
        with self._lock, self._kept.open("a") as f:
            f.write(json.dumps(entry) + "\n")


def judge(k: int, mutant: str, surveyed: Sequence[Reach], passed: Passed, before: str = "") -> str:
    """The test that catches mutant `k`; `unreached` or `survived` if none does.

    `before`: an earlier verdict, of other code. The test that it names is tried first, but not a
    golden result: mutants that only golden results catch are counted.
    """
    reached = [r for r in surveyed if k in r.mutants]
    left = [r for r in reached if not passed.has(mutant, r)]
    likely = [
        r for r in left if before.split()[:2] == [r.test.target, r.test.name] and not r.test.last
    ]
    for part in [likely] * bool(likely) + portions(r for r in left if r not in likely):
        seconds = 10 + int(5 * sum(r.seconds for r in part))
        failed, _ = execute([r.test for r in part], {"FLOATGATE_MUTANT": str(k)}, seconds)
        if failed:
            return failed
        passed.note(mutant, part)
    return SURVIVED if reached else UNREACHED


def digest(files: Iterable[str], *more: str) -> str:
    """A digest of these files, and of more words."""
    sha = hashlib.sha256()
    for name in sorted(files):
        sha.update(f"{name}\0".encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    sha.update("\0".join(more).encode())
    return sha.hexdigest()[:16]


def explanations() -> dict[str, str]:
    """Why a survivor may survive, by the mutant's name."""
    listed = tomllib.loads(ACCEPTED.read_text())["mutant"] if ACCEPTED.exists() else []
    return {entry["name"]: entry["why"] for entry in listed}


def run(n: int, seeds: Sequence[int], jobs: int, only: Sequence[int], longest: float) -> int:
    """Carries it all out. Returns the exit status."""
    began = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    files = tracked()
    everything = candidates(files)
    samples = {seed: sample(everything, n, seed) for seed in seeds}
    mutants = dict(enumerate(in_order({m for s in samples.values() for m in s}), start=1))
    sources = [f for f in files if re.match(r"crates/[^/]+/(src|build)|presets/|Cargo", f)]
    crates = [f for f in files if f.startswith("crates/")]
    of_sources, of_all = digest(sources), digest({*sources, *crates})
    named = ", ".join(map(str, seeds))
    say(f"{len(mutants)} of {len(everything)} mutants, seed {named}; building the copy")
    viable, tests = build(files, mutants, WORK / f"unfit-{of_sources}.json")
    built = time.monotonic()
    say(f"{len(viable)} compile; {len(tests)} tests, each alone ({built - began:.0f} s so far)")

    surveyed = survey(tests, jobs, WORK / "reach.jsonl", longest)
    total = sum(r.seconds for r in surveyed)
    took = f"{time.monotonic() - began:.0f} s so far"
    say(f"{len(surveyed)} that judge take {total:.0f} s of processor time ({took})")

    log = WORK / "verdicts.jsonl"
    verdicts: dict[int, str] = {}
    before: dict[str, str] = {}
    numbers = {m.name: k for k, m in viable.items()}
    for line in log.read_text().splitlines() if log.exists() else []:
        old = json.loads(line)
        before[old["name"]] = old["verdict"]
        caught = old["verdict"] not in (SURVIVED, UNREACHED)
        same = old["sources"] == of_sources and (caught or old["all"] == of_all)
        if same and old["name"] in numbers:
            verdicts[numbers[old["name"]]] = old["verdict"]
    by_seed = dict.fromkeys(
        numbers[m.name] for s in samples.values() for m in s if m.name in numbers
    )
    todo = [k for k in only or by_seed if k in viable and (only or k not in verdicts)]
    # An explained mutant takes longest, for no test should catch it: it comes last.
    why = explanations()
    todo.sort(key=lambda k: viable[k].name in why)
    if len(todo) < len(viable) and not only:
        say(f"{len(viable) - len(todo)} verdicts are known")

    passed = Passed(WORK / "passed.jsonl")

    def one(k: int) -> None:
        name = viable[k].name
        verdict = judge(k, name, surveyed, passed, before.get(name, ""))
        verdicts[k] = verdict
        entry = {"name": name, "verdict": verdict}
        entry |= {"sources": of_sources, "all": of_all}
        with lock, log.open("a") as f:
            f.write(json.dumps(entry) + "\n")
            say(f"{k:>5} {verdict:<40} {name}")

    lock = threading.Lock()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, todo))
    if only:
        return 0
    say(f"\n{time.monotonic() - began:.0f} s on the clock, of which {built - began:.0f} s to build")
    statuses = []
    for seed, chosen in samples.items():
        say(f"\nseed {seed}")
        of_seed = {k: m for k, m in viable.items() if m in chosen}
        statuses.append(summary(len(chosen), of_seed, verdicts))
    return max(statuses)


def summary(sampled: int, viable: dict[int, Mutant], verdicts: dict[int, str]) -> int:
    """Prints the outcome of the mutants of one sample. Returns the exit status."""
    why = explanations()
    left = {k: m for k, m in viable.items() if verdicts[k] in (SURVIVED, UNREACHED)}
    explained = {k for k, m in left.items() if m.name in why}
    caught = len(viable) - len(left)
    by_golden = sum(verdicts[k].partition(" ")[2].startswith(LAST) for k in viable)
    hangs = sum(verdicts[k].endswith(" hangs") for k in viable)
    by_kind = Counter(m.kind for m in viable.values())
    lost = Counter(m.kind for m in left.values())
    say(f"{sampled} sampled, {len(viable)} viable")
    share = caught / max(1, len(viable))
    say(f"{caught} caught, {share:.1%}: {hangs} by a hang, {by_golden} by golden results alone")
    for kind, count in sorted(by_kind.items()):
        say(f"  {kind:<14} {count - lost[kind]:>4} of {count}")
    for k, m in left.items():
        reason = why.get(m.name, "NOT EXPLAINED")
        say(f"{verdicts[k]} {k} at {m.path}:{m.line}\n    {m.name}\n    {reason}")
    say(f"{len(left)} survivors, {len(explained)} of them explained")
    return int(len(explained) < len(left))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--n", type=int, default=300, help="how many are sampled")
    parser.add_argument("--seed", default="1", help="which; several, separated by commas, at once")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at once")
    parser.add_argument(
        "--longest",
        type=float,
        default=LONGEST,
        help="seconds that a test may take and still judge",
    )
    parser.add_argument("--only", default="", help="numbers of mutants, separated by commas")
    args = parser.parse_args()
    only = [int(k) for k in args.only.split(",") if k]
    seeds = list(dict.fromkeys(map(int, args.seed.split(","))))
    sys.exit(run(args.n, seeds, args.jobs, only, args.longest))


if __name__ == "__main__":
    main()
