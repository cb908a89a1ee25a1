"""Runs: one, several that differ in something, and an experiment whole."""
