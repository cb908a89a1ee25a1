"""Workloads: how they are read, listed, described, converted and imitated."""
