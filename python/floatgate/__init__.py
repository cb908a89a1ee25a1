"""SSD simulator: speed, lifetime and energy of a drive, and the techniques that change them.

>>> import floatgate
>>> result = floatgate.run("agcr", "random-write", set={"workload.requests": 20_000}, seed=1)
>>> result.checks.passed
True

The command `floatgate` does the same in a shell; `floatgate --help` lists its commands.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.result import shown

if TYPE_CHECKING:
    from floatgate import cluster as cluster
    from floatgate import physics as physics
    from floatgate import policy as policy
    from floatgate import report as report
    from floatgate import simpy as simpy
    from floatgate.engine import ConfigError as ConfigError
    from floatgate.engine import InputError as InputError
    from floatgate.engine import InternalError as InternalError
    from floatgate.engine import PolicyError as PolicyError
    from floatgate.engine import WorkloadError as WorkloadError
    from floatgate.life.advice import Advice as Advice
    from floatgate.life.advice import advise as advise
    from floatgate.life.forward import FastForward as FastForward
    from floatgate.life.forward import demand_per_second as demand_per_second
    from floatgate.life.forward import fast_forward as fast_forward
    from floatgate.life.lifetime import lifetime as lifetime
    from floatgate.lists import chips as chips
    from floatgate.lists import drive_facts as drive_facts
    from floatgate.lists import drives as drives
    from floatgate.lists import formats as formats
    from floatgate.lists import generators as generators
    from floatgate.lists import policies as policies
    from floatgate.lists import schema as schema
    from floatgate.live.control import Control as Control
    from floatgate.live.serve import serve as serve
    from floatgate.physics.bench import bench as bench
    from floatgate.pictures import view as view
    from floatgate.policy.permission import allow_code as allow_code
    from floatgate.result.comparison import Comparison as Comparison
    from floatgate.result.run import Result as Result
    from floatgate.result.tables import results as results
    from floatgate.runs.compare import compare as compare
    from floatgate.runs.run import resolve as resolve
    from floatgate.runs.run import run as run
    from floatgate.runs.sweep import Experiment as Experiment
    from floatgate.runs.sweep import sweep as sweep
    from floatgate.session import Session as Session
    from floatgate.workloads.catalogue import traces as traces
    from floatgate.workloads.convert import convert as convert
    from floatgate.workloads.describe import Description as Description
    from floatgate.workloads.describe import describe as describe
    from floatgate.workloads.flows import flows as flows
    from floatgate.workloads.stand_ins import Profile as Profile
    from floatgate.workloads.stand_ins import expected_error as expected_error
    from floatgate.workloads.stand_ins import fit as fit

    __version__: str

_MODULES = ("cluster", "physics", "policy", "report", "simpy")
_HOMES = {
    name: module
    for module, names in {
        "engine": "ConfigError InputError InternalError PolicyError WorkloadError",
        "life.advice": "Advice advise",
        "life.forward": "FastForward demand_per_second fast_forward",
        "life.lifetime": "lifetime",
        "lists": "chips drive_facts drives formats generators policies schema",
        "live.control": "Control",
        "live.serve": "serve",
        "physics.bench": "bench",
        "pictures": "view",
        "policy.permission": "allow_code",
        "result.comparison": "Comparison",
        "result.run": "Result",
        "result.tables": "results",
        "runs.compare": "compare",
        "runs.run": "resolve run",
        "runs.sweep": "Experiment sweep",
        "session": "Session",
        "workloads.catalogue": "traces",
        "workloads.convert": "convert",
        "workloads.describe": "Description describe",
        "workloads.flows": "flows",
        "workloads.stand_ins": "Profile expected_error fit",
    }.items()
    for name in names.split()
}
"""The module of each name. It is loaded when the name is first used."""

__all__ = sorted([*_MODULES, *_HOMES])


def __getattr__(name: str) -> object:
    if name in _HOMES:
        found = getattr(import_module(f"floatgate.{_HOMES[name]}"), name)
    elif name in _MODULES:
        found = import_module(f"floatgate.{name}")
    elif name == "__version__":
        found = import_module("floatgate.engine").version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _run_in_words(run: Result) -> str:
    from floatgate.text.result import page

    return page(run)


def _comparison_in_words(comparison: Comparison) -> str:
    from floatgate.text.comparison import page

    return page(comparison)


def _run_as_html(run: Result) -> str:
    from floatgate.report.notebook import of_run

    return of_run(run)


def _comparison_as_html(comparison: Comparison) -> str:
    from floatgate.report.notebook import of_comparison

    return of_comparison(comparison)


def _report(comparison: Comparison, path: Path, title: str | None) -> Path:
    from floatgate.report import of, save

    return save(of(comparison, title), path)


shown.by(
    shown.Showing(_run_in_words, _comparison_in_words, _run_as_html, _comparison_as_html, _report)
)
