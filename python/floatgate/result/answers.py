"""The result of a run, in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.result.run import Result
from floatgate.result.values import called, delays, largest, slowest
from floatgate.words import duration, short, size, three


def answer(result: Result) -> list[str]:
    """The rate, the times of reads and writes with their main part, and write amplification."""
    seconds, host = result.simulated_seconds, result.host
    said = []
    # A flush alone, such as the one with which a server ends, requires no work of the drive.
    asked = sum(host[op].requests for op in ("read", "write", "trim"))
    if not asked:
        said.append("No request read, wrote or trimmed anything.")
    elif seconds:
        closed = result.provenance.config.host.mode in ("queue-depth", "think-time")
        behind = any(warning["code"] == "overloaded" for warning in result.warnings)
        requests = host.all.requests
        rate = short(float(f"{requests / seconds:.3g}"))
        served = "requests a second were served"
        done = served if closed or behind else "requests a second arrived"
        few = _few(requests, "request")
        said.append(f"{rate} {done} ({size(host.all.bytes / seconds)}/s){few}.")
    if trimmed := host.trim.bytes:
        said.append(f"Trims discarded {size(trimmed)} of addresses; they carry no data.")
    for op in ("read", "write"):
        if host[op].requests:
            latency = host[op].latency_ns
            mean = f"{duration(latency['mean'])} on average{_mostly(delays(host[op]))}"
            tail = f"p99 {duration(latency['p99'])}{_why(host[op])}"
            if latency["p99"] < latency["mean"]:
                tail += ", below the mean, which the slowest 1 % raise"
            said.append(f"A {op} took {mean}; {tail}.")
    if result.waf is not None:
        said.append(f"Write amplification {amplification(result)}.")
    return said


ENOUGH = 1_000
"""The number of requests, or of pages that the host wrote, below which a rate or a write
amplification is shown with this number."""


def amplification(result: Result) -> str:
    """The write amplification, with the number of page writes if they are few."""
    return f"{result.waf:.3f}{_few(result.flash.program.host, 'page write')}"


def _few(count: int, what: str) -> str:
    """The number of requests, if there are few."""
    plural = "" if count == 1 else "s"
    return f", from only {count} {what}{plural}" if count < ENOUGH else ""


def slow_because(host: Mapping[str, Any]) -> str:
    """The largest cause of the slowest requests of an operation; empty if it is not known.

    >>> slow_because({"slowest": {"delay_ns_by_cause": {"array": 1.0, "queue": {"gc": 3.0}}}})
    '75 % waiting behind gc'
    """
    found = largest(slowest(host))
    return because(*found) if found else ""


def because(cause: str, share: float) -> str:
    """A cause of slow requests with its share of their time."""
    return f"{100 * share:.0f} % {called(cause)}"


def _why(host: Mapping[str, Any]) -> str:
    """The cause of p99: the parts of the time of the slowest requests."""
    because = slow_because(host)
    share = host["slowest"]["requests"] / host["requests"] if because else 1.0
    # If many are equally slow, the mean has given the cause already.
    return "" if share > FEW else f" (the slowest {three(100 * share)} %: {because})"


FEW = 0.1
"""The greatest share of all requests that may count as the slowest; beyond it, too many are equally
slow."""


def _mostly(split: Mapping[str, float]) -> str:
    """The cause of most of a mean latency, if there is one."""
    found = largest(split)
    if found is None or found[1] < 0.5:
        return ""
    return f", {100 * found[1]:.0f} % of it {called(found[0])}"
