"""Runs the same jobs in floatgate, MQSim and SSDSim, in turns, and prints ratios of processor time.

You fetch and build the other simulators yourself; they are not part of the project:

    make bench-peers MQSIM=~/MQSim/MQSim SSDSIM=~/ssdsim/ssd

Each job is one drive and one trace, as text, which all that take part read from the same file.
Compared is the processor time (user and system) of whole processes, the least of several rounds,
from start to result. A row whose counts differ from floatgate's is told, because then they did not
do the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import polars as pl

import floatgate
from peers import answers, files
from peers.answers import Counts

TRACE, DRIVE = "job.trace", "drive.toml"


@dataclass(frozen=True)
class Job:
    """A drive by its blocks in a plane and pages in a block, a trace as text, who takes part."""

    name: str
    shape: tuple[int, int]
    trace: bytes
    who: tuple[str, ...] = ("floatgate", "MQSim", "SSDSim")


@dataclass
class Took:
    """The times of the runs of one simulator, and their counts."""

    seconds: list[float] = field(default_factory=list)
    mib: float = 0.0
    counts: Counts | None = None
    failed: str | None = None


class FailedError(Exception):
    """A simulator that did not come to its end, in words."""


class Simulator:
    """A simulator that takes part: how it is run in the folder of a job, and its output."""

    name = ""

    def command(self, folder: Path) -> tuple[list[str], str]:
        """The command, and its standard input."""
        raise NotImplementedError

    def reads(self, trace: bytes) -> bytes:
        """The trace of a job as it needs it."""
        return trace

    def counts(self, folder: Path, said: str) -> Counts:
        """Its counts, from its files or from its standard output."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """The variables that its process sees."""
        return dict(os.environ)


class Floatgate(Simulator):
    """This project, as installed in a folder or as it is found."""

    name = "floatgate"

    def __init__(self, site: Path | None) -> None:
        self._site = site

    def command(self, folder: Path) -> tuple[list[str], str]:
        """See `Simulator`."""
        run = [sys.executable, "-m", "floatgate", "run", DRIVE, TRACE]
        return [*run, "--quiet", "--json", "--format=ssdsim-ascii"], ""

    def counts(self, folder: Path, said: str) -> Counts:
        """See `Simulator`."""
        return answers.of_floatgate(json.loads(said))

    def environment(self) -> dict[str, str]:
        """See `Simulator`."""
        there = {} if self._site is None else {"PYTHONPATH": str(self._site.resolve())}
        return {**os.environ, **there}


class MQSim(Simulator):
    """MQSim, which writes its result beside its workload."""

    name = "MQSim"

    def __init__(self, program: Path) -> None:
        self._program = program.resolve()

    def command(self, folder: Path) -> tuple[list[str], str]:
        """See `Simulator`."""
        return [str(self._program), "-i", "ssdconfig.xml", "-w", "workload.xml"], "\n"

    def counts(self, folder: Path, said: str) -> Counts:
        """See `Simulator`."""
        return answers.of_mqsim(_text(folder / "workload_scenario_1.xml"))


class SSDSim(Simulator):
    """SSDSim, which asks for its trace and ends with code 1."""

    name = "SSDSim"

    def __init__(self, program: Path) -> None:
        self._program = program.resolve()

    def command(self, folder: Path) -> tuple[list[str], str]:
        """See `Simulator`."""
        return [str(self._program)], f"{TRACE}\n"

    def reads(self, trace: bytes) -> bytes:
        """See `Simulator`."""
        return files.for_ssdsim(trace)

    def counts(self, folder: Path, said: str) -> Counts:
        """See `Simulator`."""
        if "the simulation is completed!" not in said:
            raise FailedError("it did not complete its simulation")
        return answers.of_ssdsim(_text(folder / "statistic10.dat"))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        raise FailedError(f"it left no {path.name}") from None


def jobs(folders: Sequence[Path], share: float) -> Iterator[Job]:
    """All of them; of those that are made up, so large a share."""
    small, large = (1024, 64), (2048, 64)
    most, fewer = max(1, round(5_000_000 * share)), max(1, round(2_000_000 * share))
    everybody = Job.who
    # SSDSim knows no blocks of more than 64 pages, and MQSim (7ec40e3) stops with an error of its
    # own where it collects such small ones.
    for name, shape, who, requests, gap, write in (
        ("random writes, with collection", (256, 256), everybody[:2], most, 400_000, True),
        ("the same, in blocks of 64 pages", small, everybody[::2], most, 400_000, True),
        ("random writes, to an empty drive", large, everybody, fewer, 40_000, True),
        ("random reads", small, everybody, fewer, 20_000, False),
    ):
        pages = files.sectors(resolved(*shape)) // 8
        frame = files.requests(requests, gap, write, pages, seed=1)
        yield Job(name, shape, files.ascii_lines(frame), who)
    for path in sorted(path for folder in folders for path in folder.iterdir()):
        if path.name.startswith(("README", "LICENSE", ".")):
            continue
        with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
            out = Path(scratch) / "trace.parquet"
            try:
                floatgate.convert(path, out)
            except floatgate.InputError as error:
                print(f"{path.name}: left out: {error}", file=sys.stderr)
                continue
            frame = pl.read_parquet(out)
        kept = files.folded(frame, files.sectors(resolved(*small)))
        yield Job(path.name.partition(".")[0], small, files.ascii_lines(kept))


def resolved(blocks: int, pages: int) -> dict[str, Any]:
    """The drive of a job as a run would have it."""
    with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
        path = Path(scratch) / DRIVE
        path.write_text(files.drive(blocks, pages))
        return floatgate.resolve(path)


def run_job(
    job: Job, simulators: Sequence[Simulator], folder: Path, rounds: int, limit: float
) -> dict[str, Took]:
    """Runs a job in each simulator in turns; the time and work of each, by name."""
    config = resolved(*job.shape)
    simulators = [each for each in simulators if each.name in job.who]
    both = files.mqsim(config, TRACE) | files.ssdsim(config) | {DRIVE: files.drive(*job.shape)}
    took = {each.name: Took() for each in simulators}
    for each in simulators:
        own = folder / each.name
        own.mkdir(parents=True)
        for name, text in both.items():
            (own / name).write_text(text)
        (own / TRACE).write_bytes(each.reads(job.trace))
    for turn in range(rounds):
        # Nobody is always first.
        for each in [*simulators[turn % len(simulators) :], *simulators[: turn % len(simulators)]]:
            mine = took[each.name]
            if mine.failed is not None:
                continue
            try:
                seconds, mib, said = timed(each, folder / each.name, limit)
                mine.counts = each.counts(folder / each.name, said)
                mine.seconds.append(seconds)
                mine.mib = max(mine.mib, mib)
            except (FailedError, ValueError) as error:
                mine.failed = str(error)
    return took


def timed(simulator: Simulator, folder: Path, limit: float) -> tuple[float, float, str]:
    """Runs a simulator in a folder: its processor time in s, its memory in MiB, its output.

    Raises:
        FailedError: It took longer than the limit, or a signal ended it.
    """
    command, asked = simulator.command(folder)
    (folder / "asked").write_text(asked)
    out = folder / "said"
    with (folder / "asked").open() as source, out.open("w") as sink:
        started = subprocess.Popen(
            command,
            cwd=folder,
            stdin=source,
            stdout=sink,
            stderr=subprocess.PIPE,
            env=simulator.environment(),
            # The limit is one of processor time, which a busy machine does not use up.
            preexec_fn=lambda: _limit(limit),
        )
        assert started.stderr is not None
        complaint = started.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(started.pid, 0)
        started.stderr.close()
        started.returncode = os.waitstatus_to_exitcode(status)
    if os.WIFSIGNALED(status):
        raise FailedError(f"ended by signal {os.WTERMSIG(status)} after {usage.ru_utime:.0f} s")
    if simulator.name != SSDSim.name and started.returncode != 0:
        raise FailedError(f"ended with code {started.returncode}: {complaint.strip()[-300:]}")
    seconds = usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss / 1024, out.read_text(errors="replace")


def _limit(seconds: float) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))


def row(job: Job, took: dict[str, Took], names: Sequence[str]) -> tuple[str, list[str]]:
    """A row of the table with a cell for each of these, and its errors."""
    ours = took[Floatgate.name]
    lines = job.trace.count(b"\n")
    cells, wrong = [job.name, f"{lines:,}"], []
    for name in names:
        each = took.get(name)
        if each is None:
            cells.append("")
            continue
        if each.failed is not None or each.counts is None:
            cells.append("-")
            wrong.append(f"{job.name}, {name}: {each.failed}")
            continue
        least = min(each.seconds)
        cell = f"{least:.2f} s"
        if name != Floatgate.name and ours.seconds:
            cell += f" (**{least / min(ours.seconds):.1f} x**)"
        cells.append(cell)
        if each.counts.reads + each.counts.writes != lines:
            served = each.counts.reads + each.counts.writes
            wrong.append(f"{job.name}, {name}: {served:,} of {lines:,} requests")
        if ours.counts is not None:
            wrong += [
                f"{job.name}, {name}: {said}"
                for said in answers.differences(ours.counts, each.counts)
            ]
    return "| " + " | ".join(cells) + " |", wrong


def main(words: Sequence[str] | None = None) -> int:
    """Runs the jobs that are asked for; 1 if some simulator failed or did something else."""
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    parser.add_argument("--mqsim", default="", help="MQSim's program")
    parser.add_argument("--ssdsim", default="", help="SSDSim's program")
    parser.add_argument("--floatgate", type=Path, help="a folder with floatgate installed in it")
    parser.add_argument("--traces", default="", help="folders of real traces, with : between them")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, in turns")
    parser.add_argument("--only", default="", help="jobs whose names have this in them")
    parser.add_argument("--share", type=float, default=1.0, help="of the requests that are made up")
    parser.add_argument("--limit", type=float, default=3600, help="processor seconds of a run")
    asked = parser.parse_args(words)
    simulators: list[Simulator] = [Floatgate(asked.floatgate)]
    for kind, program in ((MQSim, asked.mqsim), (SSDSim, asked.ssdsim)):
        if program:
            path = Path(program).expanduser()
            if shutil.which(path.resolve()) is None:
                parser.error(f"{program}: there is no such program; expected a built {kind.name}")
            simulators.append(kind(path))
    if len(simulators) == 1:
        parser.error(
            "nobody to compare with: give MQSIM=... or SSDSIM=..., programs that you built"
        )
    folders = [Path(each) for each in asked.traces.split(":") if each]
    print("| job | requests | " + " | ".join(each.name for each in simulators) + " |")
    print("|---" * (2 + len(simulators)) + "|", flush=True)
    wrong: list[str] = []
    for job in jobs(folders, asked.share):
        if asked.only in job.name:
            with tempfile.TemporaryDirectory(prefix="floatgate-peers-") as scratch:
                took = run_job(job, simulators, Path(scratch), asked.rounds, asked.limit)
            line, told = row(job, took, [each.name for each in simulators])
            print(line, flush=True)
            wrong += told
    for said in wrong:
        print(said, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
