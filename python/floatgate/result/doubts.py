"""Warnings that undo a verdict: no run may be called better by a number that one puts in doubt.

The engine declares the numbers in doubt with each warning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from floatgate.result.answers import ENOUGH
from floatgate.result.declared import warnings
from floatgate.result.run import Result
from floatgate.result.values import OPERATIONS

SHAPES_RESULTS = False

_AMPLIFICATION = ("waf", "waf_pages")
_BEYOND = 10
"""Requests that must be slower than a percentile, as for the warning `few-samples`."""


def why(code: str) -> str:
    """The reason why the warning of this code undoes a verdict, in words."""
    return next(each.reason for each in warnings() if each.code == code)


def doubts(measure: str, run: Result) -> list[str]:
    """The codes of the warnings of a run that forbid a verdict on this number.

    Args:
        measure: The name of a measure, or the path of a number in the result.
        run: The run.
    """
    said = {warning["code"] for warning in run.warnings}
    about = _about(measure, run)
    return [each.code for each in warnings() if each.doubt in about and each.code in said]


def _about(measure: str, run: Result) -> set[str]:
    """The kinds of doubt that concern a measure, as the engine names them."""
    first = measure.removeprefix("host.").partition(".")[0]
    of_host = first in (*OPERATIONS, "flow", "iops", "flows", "high")
    few = first in _AMPLIFICATION and run.flash.program.host < ENOUGH
    kinds = {
        "everything": True,
        "host": of_host,
        "flash": not of_host,
        "reads": first in ("read", "all"),
        "rate": first == "iops",
        "few": few or _is_thin(measure, first, run),
    }
    return {kind for kind, concerned in kinds.items() if concerned}


def _is_thin(measure: str, op: str, run: Result) -> bool:
    """Whether a percentile has too few requests beyond it."""
    percentile = re.search(r"\.p(\d\d(?:[._]9+)?)$", measure)
    counted = run.data["host"].get(op)
    if percentile is None or counted is None or "requests" not in counted:
        return False
    beyond = 1 - float(percentile[1].replace("_", ".")) / 100
    return bool(counted["requests"] * beyond < _BEYOND * (1 - 1e-9))


def remedy(code: str, runs: Sequence[Result]) -> str:
    """The ageing that brings these runs to the state that their workload produces, if one does."""
    if code not in ("waf-not-steady", "gc-never-ran"):
        return ""
    ages = {run.provenance.config.precondition.age for run in runs}
    if ages == {"workload"} or (code == "gc-never-ran" and "none" not in ages):
        return "run longer"
    if ages == {"random"}:
        return (
            "the drive was aged by random writes; the workload itself ages it to the state that "
            "lasts: --set precondition.age=workload"
        )
    return (
        "fill the drive and age it by the workload: --steady"
        + " --set precondition.age=workload" * (code == "waf-not-steady")
    )
