"""The runs of the grid by what they are: workload, speed, scheme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from floatgate.reproduce.studies.agcr.figure_1 import ENOUGH
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result

SPEEDS = ("1", "16", "160")
SCOPES = (
    ("requests", "1"),
    ("device", "1"),
    ("device", "2"),
    ("device", "4"),
    ("channel", "1"),
    ("die", "1"),
)
"""Where Li et al. look, and how many count."""
OPS = ("read", "write", "all")

DRIVE = "agcr"
"""The drive by the letter of the paper."""

LOAD = "160"
"""How many times as fast as they were recorded Fig. 1 has the traces: see the study `agcr-load`."""

TRADITIONAL = "MCW/MCR"


class Setting(NamedTuple):
    """A cell of the grid: where Li et al. look, how many count, what the data was written at."""

    scope: str
    queue_min: str
    initial: str
    speed: str

    @property
    def conflict(self) -> str:
        """Li et al. in this cell."""
        name = f"conflict {self.scope} {self.queue_min}"
        return f"{name} on high" if self.initial == "high" else name

    @property
    def agcr(self) -> str:
        """AGCR in this cell."""
        return "AGCR on medium" if self.initial == "medium" else "AGCR"


class Reading(NamedTuple):
    """A reading of what waits for Li et al., and its runs by the level of the data there."""

    words: str
    conflicts: dict[str, str]


READINGS = (
    Reading("waiting", {"high": "conflict device 1 on high", "medium": "conflict device 1"}),
    Reading("in service", {"high": "conflict requests 1 on high", "medium": "conflict requests 1"}),
)


def equal_data(level: str) -> str:
    """AGCR on data of this level."""
    return "AGCR" if level == "high" else f"AGCR on {level}"


def settings(speeds: Iterable[str] = SPEEDS) -> list[Setting]:
    """All cells of the grid."""
    return [
        Setting(scope, queue_min, initial, speed)
        for speed in speeds
        for initial in ("own", "high", "medium")
        for scope, queue_min in SCOPES
    ]


class Runs:
    """The runs of traces and of their stand-ins on one of the drives.

    What a run is, its result says. The names of what varied do not: those that are the same for all
    runs of a comparison are left out of them.
    """

    def __init__(self, comparison: Comparison, drive: str = DRIVE) -> None:
        self._runs: dict[tuple[str, str, str], Result] = {}
        self.stand_ins: list[str] = []
        self.traces: list[str] = []
        for names, run in zip(comparison.variants, comparison.runs, strict=True):
            if not of_trace(run, drive):
                continue
            workload = names["workload"]
            self._runs[workload, speed_of(run), names["cost"]] = run
            group = self.stand_ins if run.provenance.workload.stand_in else self.traces
            if workload not in group:
                group.append(workload)

    @property
    def workloads(self) -> list[str]:
        """All of them, real traces first."""
        return [*self.traces, *self.stand_ins]

    @property
    def speeds(self) -> list[str]:
        """Those that were run."""
        there = {speed for _, speed, _ in self._runs}
        return [speed for speed in SPEEDS if speed in there]

    def groups(self) -> list[tuple[str, Sequence[str], bool]]:
        """Name, workloads and whether they are stand-ins; only those that are there."""
        both = (("real traces", self.traces, False), ("stand-ins", self.stand_ins, True))
        return [group for group in both if group[1]]

    def shown(self, workload: str) -> str:
        """The name with its mark."""
        return f"{workload} [stand-in]" if workload in self.stand_ins else workload

    def get(self, workload: str, scheme: str, speed: str = LOAD) -> Result | None:
        """The run, if it is there."""
        return self._runs.get((workload, speed, scheme))

    def latency(self, workload: str, scheme: str, op: str, speed: str = LOAD) -> float | None:
        """Mean latency in ns; None of too few requests."""
        run = self.get(workload, scheme, speed)
        if run is None or run.host[op].requests < ENOUGH:
            return None
        return float(run.host[op].latency_ns.mean)

    def change(
        self, workload: str, scheme: str, base: str, op: str, speed: str = LOAD
    ) -> float | None:
        """How much a mean latency differs from that of another scheme: -0.1 for 10 % less."""
        ours = self.latency(workload, scheme, op, speed)
        other = self.latency(workload, base, op, speed)
        return ours / other - 1 if ours is not None and other else None

    def changes(
        self, workloads: Iterable[str], scheme: str, base: str, op: str, speed: str = LOAD
    ) -> list[float]:
        """Those of several workloads, where both have such requests."""
        all_of_them = (self.change(w, scheme, base, op, speed) for w in workloads)
        return [change for change in all_of_them if change is not None]


def of_trace(run: Result, drive: str) -> bool:
    """Whether a run is one of a trace, or of its stand-in, on this drive."""
    provenance = run.provenance
    return provenance.config.name == drive and provenance.workload.sha256 is not None


def speed_of(run: Result) -> str:
    """How fast the workload was played, as the experiment writes it."""
    return f"{float(run.provenance.config.host.speed):g}"


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None
