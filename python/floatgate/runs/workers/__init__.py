"""Execution of runs: in this process, or in several at a time."""
