"""Experiments: sets of runs with what is looked at and what was published; some come along."""

from floatgate.experiments.model import Experiment, Published

# Whatever they set is part of the names of their runs.
SHAPES_RESULTS = False

__all__ = ["Experiment", "Published"]
