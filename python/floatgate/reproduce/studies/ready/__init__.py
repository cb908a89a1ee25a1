"""READY: every figure and table of its evaluation, and what the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator

from floatgate.reproduce.studies.ready import beyond, life, speed
from floatgate.reproduce.studies.ready.lives import Lives, headline, in_threads
from floatgate.reproduce.studies.ready.paper import CONFIGURATIONS, TRACES
from floatgate.reproduce.study import Analysis, Evidence, Experiment, Published, Study


def claims(_experiment: Experiment) -> Iterator[Published]:
    """Claims about runs; the others are about lives."""
    yield from map(life.amplification, TRACES)
    yield life.idle_times()


def analyse(evidence: Evidence, study: Study) -> Analysis:
    """The tables, plots and sheets of the report."""
    traces = evidence.of({"workload": [trace.name for trace in TRACES]})
    stand_ins = {taken.names["workload"]: taken.stand_in for taken in traces}
    frames = in_threads(study.workers, study.demand, stand_ins)
    demands = dict(zip(stand_ins, frames, strict=True))
    doubted = {name for name, doubt in stand_ins.items() if doubt}
    lives = Lives(
        demands, doubted, whole=not study.quick, workers=study.workers, policy=study.policy
    )
    lives.make(headline(trace, name) for trace in lives.traces for name in CONFIGURATIONS)
    figure_10 = life.figure_10(lives)
    tables = [
        life.figure_1(), speed.figure_4(lives), life.assumptions(evidence, study.policy),
        life.table_1(evidence, lives), figure_10,
        life.table_2(lives), speed.figure_11(lives), speed.figure_12(lives), speed.table_3(lives),
        speed.figure_13(lives), speed.figure_14(lives),
    ]  # fmt: skip
    sheets = [
        life.by_spare_factor(evidence), life.with_measured_waf(lives, evidence),
        speed.responses(lives), speed.from_table_2(), speed.bursts(study.quick),
        beyond.local_rest(lives), beyond.recoveries(lives), beyond.counterexamples(study.workers),
        beyond.real_demands(study),
    ]  # fmt: skip
    plots = [*life.plots(lives), *speed.plots(lives)]
    return Analysis(tables, plots, life.missed(figure_10), sheets, says=life.says(lives),
                    measured=[*lives.measured()])  # fmt: skip
