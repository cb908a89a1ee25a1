"""Warnings that undo a verdict: by which numbers no run may be called better than another one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from floatgate.result.answers import ENOUGH
from floatgate.result.run import Result

SHAPES_RESULTS = False

_EVERYTHING = ("waf-not-steady", "not-steady", "no-time")
_OF_HOST = ("overloaded",)
_OF_READS = ("unmapped-reads",)
_OF_RATE = ("buffer-drained",)
_OF_FLASH = ("gc-never-ran",)
_AMPLIFICATION = ("waf", "waf_pages")
_BEYOND = 10
"""Requests that must be slower than a percentile, as for the warning `few-samples`."""

WHY: Mapping[str, str] = {
    "waf-not-steady": "write amplification was still moving",
    "not-steady": "ageing stopped before write amplification was flat",
    "no-time": "the run took no time",
    "overloaded": "requests arrived faster than the drive serves them",
    "unmapped-reads": "reads met pages that hold nothing",
    "buffer-drained": "the rate includes the time in which the write buffer emptied",
    "gc-never-ran": "garbage collection never ran",
    "few-samples": "too few requests",
}
"""The codes of the warnings that undo a verdict, and the reason in words."""


def doubts(measure: str, run: Result) -> list[str]:
    """The codes of the warnings of a run for which this number of it supports no verdict.

    Args:
        measure: The name of a measure, or the path of a number in the result.
        run: The run.
    """
    first = measure.removeprefix("host.").partition(".")[0]
    of_host = first in ("read", "write", "trim", "flush", "all", "flow", "iops", "flows", "high")
    undo = [*_EVERYTHING, *(_OF_HOST if of_host else _OF_FLASH)]
    undo += _OF_READS if first in ("read", "all") else ()
    undo += _OF_RATE if first == "iops" else ()
    few = first in _AMPLIFICATION and run.flash.program.host < ENOUGH
    undo += ["few-samples"] if few or _is_thin(measure, first, run) else ()
    said = {warning["code"] for warning in run.warnings}
    return [code for code in undo if code in said]


def _is_thin(measure: str, op: str, run: Result) -> bool:
    """Whether a percentile has too few requests beyond it."""
    percentile = re.search(r"\.p(\d\d(?:[._]9+)?)$", measure)
    counted = run.data["host"].get(op)
    if percentile is None or counted is None or "requests" not in counted:
        return False
    beyond = 1 - float(percentile[1].replace("_", ".")) / 100
    return bool(counted["requests"] * beyond < _BEYOND * (1 - 1e-9))


def remedy(code: str, runs: Sequence[Result]) -> str:
    """The ageing that brings these runs to the state that their workload leaves, where one does."""
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
