"""SSD simulator: how fast, for how long, at what energy, and which technique changes that.

>>> import floatgate
>>> result = floatgate.run("agcr", "random-write", set={"workload.requests": 20_000}, seed=1)
>>> result.checks.passed
True

The command `floatgate` says the same in a shell; `floatgate --help` lists what there is.
"""

from floatgate.catalogue import traces
from floatgate.compare import compare
from floatgate.comparison import Comparison
from floatgate.description import Description, describe
from floatgate.engine import ConfigError, InputError, InternalError, PolicyError, WorkloadError
from floatgate.engine import version as _version
from floatgate.experiments import Experiment
from floatgate.result import Result
from floatgate.results import results
from floatgate.run import chips, drives, formats, generators, policies, resolve, run, schema
from floatgate.sweep import sweep

__version__ = _version()

__all__ = [
    "Comparison",
    "ConfigError",
    "Description",
    "Experiment",
    "InputError",
    "InternalError",
    "PolicyError",
    "Result",
    "WorkloadError",
    "chips",
    "compare",
    "describe",
    "drives",
    "formats",
    "generators",
    "policies",
    "resolve",
    "results",
    "run",
    "schema",
    "sweep",
    "traces",
]
