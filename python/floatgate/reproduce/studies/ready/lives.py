"""Five years under each trace and configuration, by the fluid model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.life.forward import FastForward, fast_forward
from floatgate.reproduce.studies.ready.paper import BY_NAME, CONFIGURATIONS, TRACES, Trace
from floatgate.reproduce.study import Curve, Finding, Plot, Sheet

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

    @property
    def names(self) -> Mapping[str, str]:
        """The names of this life in a claim."""
        return {"life": self.trace.name, "throttle": self.policy, "waf": f"{self.waf:g}",
                "recovery": self.recovery}  # fmt: skip


class Lives:
    """Fast-forwards, each made once, on as many threads as there are workers.

    The engine works with the interpreter released, so that threads are enough. `whole` lives have
    the whole demand of a trace second by second; others an hour of it, at the rate of Table 1,
    minute by minute. `demands` are the traces' own. `policy` says which throttle is run where
    one is
    asked for.
    """

    def __init__(
        self, demands: Mapping[str, pl.DataFrame], stand_ins: AbstractSet[str] = frozenset(), *,
        whole: bool, workers: int, policy: Callable[[str], str] = str,
    ) -> None:  # fmt: skip
        self.demands, self.stand_ins, self.whole = demands, stand_ins, whole
        self._workers, self._policy = workers, policy
        self._steps = {
            name: demand if whole else _by_minute(_at_rate(name, demand))
            for name, demand in demands.items()
        }
        self._known: dict[Question, FastForward] = {}
        self._asked: dict[Question, None] = {}

    @property
    def traces(self) -> list[Trace]:
        """Those that have a demand, in the paper's order."""
        return [trace for trace in TRACES if trace.name in self.demands]

    def marked(self, name: str) -> str:
        """A trace's name with its mark."""
        return f"{name} [stand-in]" if name in self.stand_ins else name

    def finding(
        self, needs: str | Sequence[str], what: str, where: str, published: float | str | None,
        ours: Callable[..., float | None], unit: str = "", note: str = "", *,
        kind: str = "output", whole: bool = False, fact: str = "",
    ) -> Finding:  # fmt: skip
        """A row measured on the traces that it `needs`: on the `whole` of them, or an hour."""
        traces = [needs] if isinstance(needs, str) else needs
        self._asked.clear()
        if missing := [name for name in traces if name not in self.demands]:
            number, note = None, f"this form does not run {' and '.join(missing)}"
        elif whole and not self.whole:
            number, note = None, "needs the whole trace, second by second"
        else:
            number = ours(*(BY_NAME[name] for name in traces))
        measured = number is not None
        by = [question.names for question in self._asked] or [{"demand": name} for name in traces]
        return Finding(what, where, published, number, unit,
                       measured and not self.stand_ins.isdisjoint(traces), note, kind,
                       by=by if measured else (), fact=fact)  # fmt: skip

    def measured(self) -> Iterator[Mapping[str, Any]]:
        """Every demand and life, and what it says of itself."""
        for name, demand in self.demands.items():
            yield {"names": {"demand": name}, "says": {"seconds": demand.height}}
        for question, life in self._known.items():
            config = life.data["config"]
            says = {"drive": config["name"], "throttle": config["policies"]["throttle"],
                    "waf": life.waf, "recovery": config["reliability"]["recovery"],
                    "bytes_per_hour": life.demand.bytes_per_hour}  # fmt: skip
            yield {"names": question.names, "says": says}

    def sheet(
        self, title: str, heads: Sequence[str], asked: Mapping[tuple[str, str], Question],
        cells: Mapping[str, Callable[[FastForward], str]], text: str,
    ) -> Sheet:  # fmt: skip
        """A row for each question, and in each column something of its life."""
        self.make(asked.values())
        rows = [[*labels, *(cell(self.get(question)) for cell in cells.values())]
                for labels, question in asked.items()]  # fmt: skip
        return Sheet(title, (*heads, *cells), rows, text)

    def bars(self, title: str, measure: str, of: Callable[[str, Trace], float]) -> Plot:
        """A number of each trace under each configuration."""
        values = [
            ({"trace": self.marked(trace.name), "configuration": name}, of(name, trace))
            for trace in self.traces
            for name in CONFIGURATIONS
        ]
        return Plot("values", title, measure, "trace", "configuration", values=values)

    def curves(
        self, name: str, title: str, measure: str, x: str,
        of: Callable[[Trace], Iterable[Curve]], log: str = "", *, whole: bool = True,
    ) -> Iterator[Plot]:  # fmt: skip
        """A plot of curves of one trace, if it is here, and the `whole` of it where that counts."""
        if name in self.demands and (self.whole or not whole):
            title = f"{title}{self.marked(name)}"
            yield Plot("curves", title, measure, x, curves=[*of(BY_NAME[name])], log=log)

    def make(self, questions: Iterable[Question]) -> None:
        """Answers what has not been asked before."""
        wanted = [q for q in dict.fromkeys(questions) if q not in self._known]
        found = in_threads(self._workers, self._live, wanted)
        self._known.update(zip(wanted, found, strict=True))

    def get(self, question: Question) -> FastForward:
        """One answer."""
        self.make([question])
        self._asked[question] = None
        return self._known[question]

    def of(self, trace: Trace, configuration: str) -> FastForward:
        """A bar of Fig. 10: the paper's write amplification, the fitted recovery."""
        return self.get(headline(trace, configuration))

    def _live(self, question: Question, progress: Progress) -> FastForward:
        step, policy = None if self.whole else "1min", self._policy(question.policy)
        if step is not None and policy != "none":
            policy = f"{policy}:period={step}"
        return fast_forward(
            question.trace.drive, demand=self._steps[question.trace.name], waf=question.waf,
            step=step, bins=question.bins, epochs=0, periods=question.periods,
            policy={"throttle": policy}, set={"reliability.recovery": question.recovery},
            progress=progress,
        )  # fmt: skip


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


def _at_rate(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The demand, stretched in size to what Table 1 has: an hour of a trace is not its mean."""
    return frame * (BY_NAME[name].rate * frame.height / float(frame["bytes"].sum()))


def _by_minute(demand: pl.DataFrame) -> pl.DataFrame:
    """The same demand in minutes; the last one may be short."""
    import polars as pl

    minute = pl.int_range(pl.len()) // MINUTE
    return demand.group_by(minute.alias("minute"), maintain_order=True).sum().drop("minute")
