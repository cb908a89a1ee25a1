"""The engine's value for a published number, from one short run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from floatgate.published import Model
from floatgate.published.drive import SLICE, text
from floatgate.published.rules import Rule
from floatgate.result.run import Result
from floatgate.runs.run import run as simulate

SEED = 1

READS = {"p99.9": 60_000, "p99.99": 400_000}
"""Requests of a run of reads, by the statistic; others take `FEW`."""
FEW = 20_000
IN_ORDER = 8_000
WRITES = 1.0
"""Steady writes: requests as a multiple of the units of the drive, after ageing."""


def value(model: Model, rule: Rule) -> float:
    """Runs a model with the workload of a rule; returns the statistic.

    IOPS, MB/s (10^6 bytes), microseconds or write amplification. A slice of a drive counts for
    the whole.
    """
    run = "spare" if rule.steady else "speed"
    share = min(1.0, SLICE / model.dies) if run == "spare" else 1.0
    own: dict[str, Any] = {
        "host.mode": "queue-depth",
        "host.queue-depth": max(1, round(rule.depth * share)),
        "workload.size": f"{rule.size}B",
        "precondition.fill": "none" if rule.fill == "none" else "full",
        "precondition.age": "random" if rule.steady else "none",
        "run.keep-requests": False,
    }
    workload = ("random-" if rule.random else "sequential-") + (
        "read" if rule.read_share == 1 else "write"
    )
    if 0 < rule.read_share < 1:
        own["workload.read-share"] = rule.read_share
    if rule.random:
        own["workload.align"] = f"{rule.size}B"
    file = text(model, run=run)
    scale = 1
    for line in file.splitlines():
        if line.startswith("scale"):
            scale = int(line.split("/")[1].strip('"'))
    if rule.steady:
        units = round(model.capacity * share / scale / rule.size)
        own["workload.requests"] = round(units * WRITES / (1 - rule.read_share)) * scale
    elif rule.random or rule.depth == 1:
        own["workload.requests"] = READS.get(rule.statistic, FEW)
    else:
        own["workload.requests"] = IN_ORDER
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drive.toml"
        path.write_text(file, encoding="utf-8")
        result = simulate(path, workload, set=own, seed=SEED)
    return _statistic(result, rule) / (share if rule.statistic in ("iops", "mb") else 1.0)


def _statistic(result: Result, rule: Rule) -> float:
    host = result.data["host"]["all"]
    if rule.statistic == "iops":
        return float(host["requests"] / result.simulated_seconds)
    if rule.statistic == "mb":
        return float(host["bytes"] / result.simulated_seconds / 1e6)
    if rule.statistic == "waf":
        return float(result.waf)
    key = {"mean": "mean"}.get(rule.statistic, rule.statistic.replace(".", "_"))
    return float(host["latency_ns"][key] / 1000)


def changed(model: Model, key: str, factor: float) -> Model:
    """The model with one number multiplied; `spare` is its over-provisioning."""
    if key == "spare":
        raw = round(model.capacity * (1 + model.over_provisioning * factor))
        # The same dies, each with more flash or less.
        flash = {**model.flash, "die": model.flash["die"] * raw / model.raw}
        return replace(model, raw=raw, flash=flash)
    if key in model.flash:
        return replace(model, flash=_times(model.flash, key, factor))
    if key in model.controller:
        return replace(model, controller=_times(model.controller, key, factor))
    raise KeyError(key)


def _times(part: Mapping[str, Any], key: str, factor: float) -> dict[str, Any]:
    """A table with one number, or each of a list, multiplied."""
    old = part[key]
    new = [each * factor for each in old] if isinstance(old, list) else old * factor
    return {**part, key: new}


def depends(model: Model, rule: Rule) -> list[str]:
    """The assumed numbers that a row depends on."""
    if rule.statistic == "waf":
        keys = ["spare"]
    elif rule.kind == "latency" and rule.read_share == 0:
        keys = ["buffer-latency"]
    elif rule.read_share == 1:
        keys = ["read", "bus", "read-latency", "command"]
    elif rule.steady:
        # Reading, erasing and the channel are a twentieth of the time of a move.
        keys = ["program", "spare"]
    else:
        keys = ["program", "erase", "buffer-latency"]
    return [key for key in keys if key in model.assumed]
