"""Runs: a single run, several that differ in something, and whole experiments."""
