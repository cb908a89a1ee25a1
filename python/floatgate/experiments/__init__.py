"""Experiments: sets of runs with the measures to compare and published numbers."""

from floatgate.experiments.model import Experiment, Published

# Their settings are part of the names of their runs.
SHAPES_RESULTS = False

__all__ = ["Experiment", "Published"]
