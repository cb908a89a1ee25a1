"""SSD simulator: how fast, for how long, at what energy, and which technique changes that.

>>> import floatgate
>>> result = floatgate.run("agcr", "random-write", set={"workload.requests": 20_000}, seed=1)
>>> result.checks.passed
True

The command `floatgate` says the same in a shell; `floatgate --help` lists what there is.
"""

from typing import TYPE_CHECKING

from floatgate import report
from floatgate.engine import ConfigError, InputError, InternalError, PolicyError, WorkloadError
from floatgate.engine import version as _version
from floatgate.life.advice import Advice, advise
from floatgate.life.forward import FastForward, demand_per_second, fast_forward
from floatgate.life.lifetime import lifetime
from floatgate.physics.bench import bench
from floatgate.pictures import view
from floatgate.policy.permission import allow_code
from floatgate.result.comparison import Comparison
from floatgate.result.run import Result
from floatgate.result.tables import results
from floatgate.runs.compare import compare
from floatgate.runs.run import chips, drives, formats, generators, policies, resolve, run, schema
from floatgate.runs.sweep import sweep
from floatgate.workloads.catalogue import traces
from floatgate.workloads.convert import convert
from floatgate.workloads.describe import Description, describe
from floatgate.workloads.stand_ins import Profile, expected_error, fit

if TYPE_CHECKING:
    from floatgate.experiments import Experiment

__version__ = _version()

__all__ = [
    "Advice",
    "Comparison",
    "ConfigError",
    "Description",
    "Experiment",
    "FastForward",
    "InputError",
    "InternalError",
    "PolicyError",
    "Profile",
    "Result",
    "WorkloadError",
    "advise",
    "allow_code",
    "bench",
    "chips",
    "compare",
    "convert",
    "demand_per_second",
    "describe",
    "drives",
    "expected_error",
    "fast_forward",
    "fit",
    "formats",
    "generators",
    "lifetime",
    "policies",
    "report",
    "resolve",
    "results",
    "run",
    "schema",
    "sweep",
    "traces",
    "view",
]


def __getattr__(name: str) -> object:
    # Reading experiments takes a while to load, and most commands have none.
    if name == "Experiment":
        from floatgate.experiments import Experiment

        return Experiment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
