"""READY: every figure and table of its evaluation, and what the paper leaves open."""

from __future__ import annotations

from floatgate.report.model import Plot, Sheet, Table
from floatgate.reproduce.studies.ready import beyond, demand, life, speed, waf
from floatgate.reproduce.studies.ready.lives import Lives, headline, in_threads
from floatgate.reproduce.studies.ready.paper import CONFIGURATIONS, TRACES
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison


def analyse(comparison: Comparison, study: Study) -> Analysis:
    """The tables, plots and sheets of the report."""
    measured = waf.Measured(comparison)
    names = [trace.name for trace in TRACES if trace.name in measured.traces]
    frames = in_threads(study.workers, study.demand, names)
    demands = dict(zip(names, frames, strict=True))
    found = demand.Found(demands, measured.stand_ins)
    if study.quick:
        # An hour of a trace is not its mean: the paper's rate, with these bursts.
        demands = {name: demand.at_rate(name, frame) for name, frame in demands.items()}
    lives = Lives(demands, minutes=study.quick, workers=study.workers)
    lives.make(headline(trace, name) for trace in lives.traces for name in CONFIGURATIONS)

    marks = measured.stand_ins
    tables: list[Table] = [
        life.figure_1(),
        demand.figure_4(found),
        waf.table_1(measured, found),
        life.figure_10(lives, marks),
        life.table_2(lives, marks),
        speed.figure_11(lives, marks),
        speed.table_3(lives, marks),
        speed.figure_13(lives, marks),
        speed.figure_14(lives, marks),
    ]
    sheets: list[Sheet | None] = [
        life.figure_2(lives, marks),
        life.idle_times(),
        waf.by_spare_factor(measured),
        life.with_measured_waf(lives, measured),
        speed.responses(lives, marks),
        speed.from_table_2(),
        speed.bursts(study.quick),
        beyond.recoveries(lives, marks),
        beyond.counterexample(study.workers),
        beyond.real_demands(study),
    ]
    plots: list[Plot | None] = [
        life.figure_1_plot(),
        life.figure_2_plot(lives, marks),
        *demand.figure_4_plots(found),
        life.figure_10_plot(lives, marks),
        speed.figure_11_plot(lives, marks),
        *speed.figure_12_plots(lives, marks),
        speed.figure_13_plot(lives, marks),
        speed.figure_14_plot(lives, marks),
    ]
    return Analysis(
        [table for table in tables if table.rows],
        [plot for plot in plots if plot is not None],
        missed=life.missed(lives),
        sheets=[sheet for sheet in sheets if sheet is not None and sheet.rows],
    )
