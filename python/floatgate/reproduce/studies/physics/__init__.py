"""The physics of cells beside what was published: wear, recovery, errors, costs."""

from __future__ import annotations

from floatgate.reproduce.claims import Evidence
from floatgate.reproduce.studies.physics import costs, errors, wear
from floatgate.reproduce.study import Analysis, Study
from floatgate.result.comparison import Comparison


def analyse(comparison: Comparison, study: Study) -> Analysis:
    """Everything but the old data that the runs read follows from the equations alone."""
    evidence = Evidence(study.experiment, comparison)
    return Analysis(
        [*wear.tables(), *costs.tables(evidence)],
        [*wear.plots(), *costs.plots(), *errors.plots()],
        [*wear.missed(), *costs.missed(evidence)],
        [*wear.sheets(), *costs.sheets()],
        says=f"{wear.says()}, and {costs.says(evidence)}.",
    )
