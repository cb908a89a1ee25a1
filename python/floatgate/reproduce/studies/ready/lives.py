"""Five years under each trace and configuration, by the fluid model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.life.forward import FastForward, fast_forward
from floatgate.reproduce.studies.ready.paper import CONFIGURATIONS, TRACES, Trace

if TYPE_CHECKING:
    import polars as pl

MINUTE = 60


class Question(NamedTuple):
    """One life: which trace on which terms."""

    trace: Trace
    policy: str
    waf: float
    recovery: str = "fitted"
    bins: int = 600
    periods: tuple[int, int] = (0, 0)


class Lives:
    """Fast-forwards, each made once, on as many threads as there are workers.

    The engine works with the interpreter released, so that threads are enough.
    """

    def __init__(self, demands: Mapping[str, pl.DataFrame], *, minutes: bool, workers: int) -> None:
        self.demands = demands
        self.minutes = minutes
        self._workers = workers
        self._steps = {
            name: _by_minute(demand) if minutes else demand for name, demand in demands.items()
        }
        self._known: dict[Question, FastForward] = {}

    @property
    def traces(self) -> list[Trace]:
        """Those that have a demand, in the paper's order."""
        return [trace for trace in TRACES if trace.name in self.demands]

    def make(self, questions: Iterable[Question]) -> None:
        """Answers what has not been asked before."""
        wanted = [q for q in dict.fromkeys(questions) if q not in self._known]
        for question, life in zip(
            wanted, in_threads(self._workers, self._live, wanted), strict=True
        ):
            self._known[question] = life

    def get(self, question: Question) -> FastForward:
        """One answer."""
        self.make([question])
        return self._known[question]

    def of(self, trace: Trace, configuration: str) -> FastForward:
        """A bar of Fig. 10: the paper's write amplification, the fitted recovery."""
        return self.get(headline(trace, configuration))

    def under(self, demand: pl.DataFrame, question: Question) -> FastForward:
        """A life under another demand, second by second."""
        return self._forward(demand, question, step=None)

    def _live(self, question: Question, progress: Progress) -> FastForward:
        step = "1min" if self.minutes else None
        return self._forward(self._steps[question.trace.name], question, step, progress)

    def _forward(
        self,
        demand: pl.DataFrame,
        question: Question,
        step: str | None,
        progress: Progress | None = None,
    ) -> FastForward:
        policy = question.policy
        if step is not None and policy != "none":
            policy = f"{policy}:period={step}"
        return fast_forward(
            question.trace.drive,
            demand=demand,
            waf=question.waf,
            step=step,
            bins=question.bins,
            epochs=0,
            periods=question.periods,
            policy={"throttle": policy},
            set={"reliability.recovery": question.recovery},
            progress=progress,
        )


Progress = Callable[[str, int, int | None, int], object]


def headline(trace: Trace, configuration: str) -> Question:
    """On the paper's own terms."""
    return Question(trace, CONFIGURATIONS[configuration], trace.waf)


def in_threads(
    workers: int, work: Callable[[Any, Progress], Any], items: Iterable[Any]
) -> list[Any]:
    """The results of `work`, in order. If one fails or Ctrl-C comes, the others end at once."""
    stop = threading.Event()

    def progress(*_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, item, progress) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _by_minute(demand: pl.DataFrame) -> pl.DataFrame:
    """The same demand in minutes; the last one may be short."""
    import polars as pl

    minute = pl.int_range(pl.len()) // MINUTE
    return demand.group_by(minute.alias("minute"), maintain_order=True).sum().drop("minute")
