"""Experiments: sets of runs with what is looked at and what was published; some come along."""

from floatgate.experiments.model import Experiment, Published

__all__ = ["Experiment", "Published"]
