"""The estimate of a sweep: time from a short run and a model, memory from the geometry.

The model counts page operations. A filled drive under random writes has a write amplification near
that of FIFO collection (Desnoyers, SYSTOR 2012): x = exp(-(1 - x) / rho) and 1 / (1 - x). With
random victims it is 1 / (1 - rho). Here rho is the share of the participating pages that hold data.
Ageing is taken to write five stretches of half a drive, the least possible. A short run on this
machine measures the time of a page operation, ageing and running. For a trace only the number of
requests is known; each counts as 16 KiB, half of them as reads. Over small and large drives, and on
busy machines, the estimate is right within a factor of three.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from floatgate import engine
from floatgate.cache import cache
from floatgate.runs.batch import Checked
from floatgate.runs.workers.pool import cores, finished
from floatgate.settings import divisor

STRETCHES = 5
"""The least number of half drives that ageing writes before it can end."""
SHORTEST = 1 << 17
"""The shortest stretch, in pages."""

PROCESS_BYTES = 48 << 20
"""A Python process with its modules."""

START_SECONDS = 0.2
"""Until a worker is ready."""


class Estimate(NamedTuple):
    """The remaining work of a sweep. `bytes` is the most memory of all workers together."""

    runs: int
    done: int
    seconds: float
    bytes: int
    workers: int
    how: str


class Rates(NamedTuple):
    """Page operations per second, ageing and running."""

    ageing: float
    running: float


class _Work(NamedTuple):
    """Page operations of one run."""

    ageing: float
    running: float


def estimate(plans: Sequence[Checked], workers: int | None = None) -> Estimate:
    """Estimates the missing runs, with a run of half a second to measure this machine."""
    left, factors = [], []
    for plan in plans:
        result = finished(plan.job)
        if result is None:
            left.append(plan)
        else:
            factors.append((plan, result.timing.wall_seconds))
    count = max(min(workers or cores(), len(left)), 1)
    if not left:
        return Estimate(len(plans), len(plans), 0.0, 0, count, "every run is there")
    rates = _measured()
    seconds = _seconds(left, rates)
    how = "from a short run on this machine and a model of the page operations"
    if factors:
        # Finished work corrects the model.
        modelled = _seconds([plan for plan, _ in factors], rates, cached=False)
        ratio = statistics.median(
            took / model for (_, took), model in zip(factors, modelled, strict=True)
        )
        if len(factors) >= len(left):
            seconds = [each * ratio for each in seconds]
            how = f"from the {len(factors)} runs that are there"
    start = START_SECONDS if count > 1 else 0.0
    total = max(sum(seconds) / count, max(seconds)) + start
    memory = sorted((plan.memory + PROCESS_BYTES for plan in left), reverse=True)[:count]
    return Estimate(len(plans), len(plans) - len(left), total, sum(memory), count, how)


def _seconds(plans: Sequence[Checked], rates: Rates, *, cached: bool = True) -> list[float]:
    """The time of each run; a shared preconditioned drive counts once."""
    known: set[str] = set()
    seconds = []
    kept = cache()
    for plan in plans:
        work, state = _work(plan), plan.job.state
        there = state in known or (
            cached and state is not None and kept is not None and kept.state(state).is_file()
        )
        if state is not None:
            known.add(state)
        ageing = 0.0 if there else work.ageing / rates.ageing
        seconds.append(ageing + work.running / rates.running)
    return seconds


def _work(plan: Checked) -> _Work:
    config = plan.config
    physical, logical = _pages(config)
    geometry = config["geometry"]
    marks = config["ftl"]["gc"]
    # The free blocks of each plane and the open ones take no part in garbage collection.
    aside = (marks["start"] + marks["stop"]) / 2 + 0.5
    fill, age = config["precondition"]["fill"], config["precondition"]["age"]
    filled = {"full": 1.0, "touched": 0.0, "none": 0.0}.get(fill, fill) * logical
    data = filled or logical
    blocks = geometry["blocks-per-plane"] / divisor(config)
    share = data / max(physical * (1 - aside / max(blocks, aside + 1)), data + 1)
    name = _policy(config, "victim")
    waf = amplification(share, random=name == "random")

    ageing = float(filled)
    if age != "none":
        ageing += STRETCHES * max(logical / 2, SHORTEST) * waf
    read, pages = _mix(plan, geometry)
    requests = (plan.requests or 0) / _left_to_scale(plan)
    writes = requests * pages * (1 - read)
    # On a drive with free space nothing is collected.
    full = filled or age != "none"
    free = physical - filled if age == "none" else physical
    steady = writes if age != "none" else max(writes - free, 0.0)
    moved = steady * (waf - 1) if full or steady else 0.0
    return _Work(ageing, requests * pages + 2 * moved)


def _left_to_scale(plan: Checked) -> int:
    """The divisor of requests that are not scaled before they are counted: those of traces."""
    generated = plan.workload is None or plan.workload["sha256"] is None
    return 1 if generated else divisor(plan.config)


def amplification(rho: float, *, random: bool = False) -> float:
    """Write amplification of FIFO or of random victims if data fill a share rho.

    >>> round(amplification(1 / 1.3), 2), amplification(0.75, random=True)
    (2.36, 4.0)
    """
    if random:
        return 1 / (1 - rho)
    x = 0.0
    for _ in range(10_000):
        before, x = x, math.exp(-(1 - x) / rho)
        if x - before < 1e-9:
            break
    return 1 / (1 - x)


def _mix(plan: Checked, geometry: Mapping[str, Any]) -> tuple[float, float]:
    """The share of reads, and the pages of a request."""
    page = _size(geometry["page-size"])
    if plan.workload is None or plan.workload["sha256"] is not None or plan.workload["stand_in"]:
        return 0.5, max(16384 / page, 1.0)
    settings = plan.config.get("workload", {})
    pattern = plan.workload["format"]
    reads = {
        "random-read": 1.0,
        "sequential-read": 1.0,
        "kv-offload": settings.get("prefix-hits", 0.9947),
        "jesd219-enterprise": 0.4,
    }
    read = float(settings.get("read-share", reads.get(pattern, 0.0)))
    size = settings.get("size", "128KiB" if pattern == "kv-offload" else "4KiB")
    pages = max(_size(size) / page, 1.0) if isinstance(size, str) else 2.0
    return read, pages


def _pages(config: Mapping[str, Any]) -> tuple[int, int]:
    geometry = config["geometry"]
    parts = ("channels", "chips-per-channel", "dies-per-chip", "planes-per-die")
    blocks = math.prod(geometry[part] for part in parts) * geometry["blocks-per-plane"]
    logical = _size(config["ftl"]["logical-capacity"]) // _size(geometry["page-size"])
    scale = divisor(config)
    return blocks * geometry["pages-per-block"] // scale, int(logical) // scale


def _policy(config: Mapping[str, Any], family: str) -> str:
    policy = config["policies"][family]
    return str(policy["name"] if isinstance(policy, Mapping) else policy)


def _size(text: str) -> float:
    """Bytes.

    >>> _size("4KiB"), _size("512B")
    (4096.0, 512.0)
    """
    match = re.fullmatch(r"([0-9.]+)\s*([KMGT]?)(i?)B", text)
    if match is None:
        return 4096.0
    base = 1024.0 if match[3] else 1000.0
    return float(match[1]) * float(base ** " KMGT".index(match[2] or " "))


def _measured() -> Rates:
    """Runs a small drive for about half a second."""
    value = engine.tried(
        "geometry.channels=1",
        "geometry.chips-per-channel=1",
        "geometry.blocks-per-plane=512",
        "ftl.spare-factor=0.2",
        "precondition.fill=full",
        "precondition.age=random",
        "workload.requests=100_000",
    )
    flash, timing = value["flash"], value["timing"]
    done = flash["read"]["total"] + flash["program"]["total"]
    running = done / timing["page_ops_per_second"]
    logical = value["capacity"]["logical_bytes"] / 4096
    aged = STRETCHES * max(logical / 2, SHORTEST) * value["waf"] + logical
    return Rates(aged / max(timing["wall_seconds"] - running, 1e-3), done / max(running, 1e-3))
