"""What came out of a run, in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping

from floatgate.result.run import Result
from floatgate.result.values import delays
from floatgate.words import duration, short, size

_CAUSES = {
    "throttle": "throttled",
    "bus": "on the channel",
    "array": "in the flash array",
    "ecc": "in error correction",
    "buffer": "at the write buffer",
    "link": "on the link",
    "controller": "in the controller",
    "suspend": "suspended",
    "map": "fetching the map",
}


def answer(result: Result) -> list[str]:
    """The rate, how long reads and writes took and what most of that was, write amplification."""
    seconds, host = result.simulated_seconds, result.host
    said = []
    if seconds:
        closed = result.provenance.config.host.mode in ("queue-depth", "think-time")
        rate = short(float(f"{host.all.requests / seconds:.3g}"))
        done = "requests a second were served" if closed else "requests a second came"
        said.append(f"{rate} {done} ({size(host.all.bytes / seconds)}/s).")
    for op in ("read", "write"):
        if host[op].requests:
            latency = host[op].latency_ns
            times = f"{duration(latency['mean'])} on average, p99 {duration(latency['p99'])}"
            said.append(f"A {op} took {times}{_mostly(delays(host[op]))}.")
    if result.waf is not None:
        said.append(f"Write amplification {result.waf:.3f}.")
    return said


def called(cause: str) -> str:
    """A cause of delay in words.

    >>> called("array"), called("queue.gc")
    ('in the flash array', 'waiting behind gc')
    """
    return _CAUSES.get(cause) or f"waiting behind {cause.removeprefix('queue.')}"


def _mostly(split: Mapping[str, float]) -> str:
    """Where most of a mean latency went, if there is one such place."""
    cause, most = max(split.items(), key=lambda item: item[1])
    share = most / sum(split.values()) if most else 0.0
    return f", {100 * share:.0f} % of it {called(cause)}" if share >= 0.5 else ""
