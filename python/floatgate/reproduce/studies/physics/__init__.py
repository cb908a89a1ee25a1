"""The physics of cells beside what was published: wear, recovery, errors, costs."""

from __future__ import annotations

from floatgate.reproduce.studies.physics import costs, errors, wear
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison


def analyse(comparison: Comparison, _study: Study) -> Analysis:
    """Everything but the old data that the runs read follows from the equations alone."""
    return Analysis(
        [*wear.tables(), *costs.tables(comparison)],
        [*wear.plots(), *costs.plots(), *errors.plots()],
        [*wear.missed(), *costs.missed(comparison)],
        [*wear.sheets(), *costs.sheets()],
    )
