"""A slow, plain recomputation of `docs/reference/measures.md`, over a list of requests."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

SECOND = 10**9


@dataclass(frozen=True)
class Request:
    at: int
    offset: int
    size: int
    op: str

    @property
    def end(self) -> int:
        return self.offset + self.size


def description(requests: list[Request], page: int, epochs: Iterable[int]) -> dict[str, Any]:
    """The numbers of a description, in its own shape, as far as they are recomputed."""
    span = requests[-1].at
    apart = Counter(r.op for r in requests)
    requests = [
        replace(r, op="write") if r.op == "write-fua" else r for r in requests if r.op != "flush"
    ]
    touches = [
        (number, r.op)
        for r in requests
        for number in range(r.offset // page, (r.end - 1) // page + 1)
    ]
    histories = defaultdict(list)
    for number, op in touches:
        histories[number].append(op)
    return {
        "span_ns": span,
        "requests": mix(requests) | {"flushes": apart["flush"], "fua_writes": apart["write-fua"]},
        "sequence": sequence(requests),
        "rate": rate(requests, span),
        "epochs": [demand(requests, span, length) for length in epochs],
        "footprint": footprint(histories, page),
        "characters": characters(histories),
        "identification": identification(histories),
        "reads": concentration(histories, "read"),
        "writes": concentration(histories, "write"),
        "distances": distances(touches),
    }


def mix(requests: list[Request]) -> dict[str, Any]:
    of = {}
    for op in ("read", "write"):
        sizes = [r.size for r in requests if r.op == op]
        of[op] = {"requests": len(sizes), "bytes": sum(sizes), "mean_bytes": np.mean(sizes)}
    return of


def sequence(requests: list[Request]) -> dict[str, Any]:
    streams: list[dict[str, Any]] = []
    runs = []
    going_on = 0
    for r in requests:
        found = [s for s in streams if s["end"] == r.offset and s["op"] == r.op]
        if found:
            stream = found[0]
            streams.remove(stream)
            going_on += 1
        else:
            stream = {"op": r.op, "requests": 0, "bytes": 0}
            runs.append(stream)
        stream["end"] = r.end
        stream["requests"] += 1
        stream["bytes"] += r.size
        streams = [stream, *streams][:32]
    follows = sum(a.end == b.offset for a, b in pairwise(requests))
    return {
        "after_previous": follows / len(requests),
        "in_stream": going_on / len(requests),
        "runs": len(runs),
        "mean_requests": np.mean([run["requests"] for run in runs]),
        "mean_bytes": np.mean([run["bytes"] for run in runs]),
        "longest_bytes": max(run["bytes"] for run in runs),
    }


def rate(requests: list[Request], span: int) -> dict[str, Any]:
    at = np.array([r.at for r in requests])
    gaps = np.diff(at)
    peaks = []
    for window in (SECOND, 60 * SECOND):
        counts = np.bincount(at // window, minlength=span // window)
        whole = counts[: span // window]
        several = len(whole) >= 2 and whole.sum() > 0
        peaks.append(
            {
                "most_requests": counts.max(),
                "dispersion": whole.var(ddof=1) / whole.mean() if several else None,
            }
        )
    return {
        "requests_per_second": len(requests) / span * SECOND,
        "gaps": {
            "mean_ns": gaps.mean(),
            "max_ns": gaps.max(),
            "variation": gaps.std() / gaps.mean(),
        },
        "peaks": peaks,
    }


def demand(requests: list[Request], span: int, length: int) -> dict[str, Any]:
    whole = span // length
    written = [0] * (whole + 1)
    for r in requests:
        if r.op == "write":
            written[r.at // length] += r.size
    differences = []
    for before, now in pairwise(written[:whole]):
        if before:
            differences.append(Fraction(abs(now - before) * 100, before))
        elif not now:
            differences.append(Fraction(0))
    pairs = max(whole - 1, 0)
    return {
        "length_ns": length,
        "pairs": pairs,
        "unpredicted": pairs - len(differences),
        "mean_percent": float(sum(differences) / len(differences)) if differences else None,
        "within_percent": [
            sum(d <= percent for d in differences) / pairs for percent in range(201) if pairs
        ],
    }


def footprint(histories: dict[int, list[str]], page: int) -> dict[str, Any]:
    read = {n for n, ops in histories.items() if "read" in ops}
    written = {n for n, ops in histories.items() if "write" in ops}
    return {
        "pages": len(histories),
        "bytes": len(histories) * page,
        "read_pages": len(read),
        "written_pages": len(written),
        "both_pages": len(read & written),
        "read_first_pages": sum(ops[0] == "read" for ops in histories.values()),
    }


def character(ops: list[str]) -> str:
    if Fraction(ops.count("read"), len(ops)) > Fraction(95, 100):
        return "read_only"
    if Fraction(ops.count("write"), len(ops)) > Fraction(95, 100):
        return "write_only"
    return "interleaved"


def characters(histories: dict[int, list[str]]) -> dict[str, Any]:
    counted: dict[str, Counter[str]] = {of: Counter() for of in ("pages", "reads", "writes")}
    for ops in histories.values():
        name = character(ops)
        counted["pages"][name] += 1
        counted["reads"][name] += ops.count("read")
        counted["writes"][name] += ops.count("write")
    names = ("read_only", "write_only", "interleaved")
    return {of: {name: counts[name] for name in names} for of, counts in counted.items()}


def identification(histories: dict[int, list[str]]) -> dict[str, Any]:
    right = Counter[int]()
    judged = 0
    for ops in histories.values():
        truth = character(ops)
        judged += len(ops) - 1
        for window in (1, 2, 3):
            for i in range(1, len(ops)):
                seen = set(ops[max(0, i + 1 - window) : i + 1])
                called = "interleaved" if len(seen) == 2 else f"{seen.pop()}_only"
                right[window] += called == truth
    return {
        "judged": judged,
        "windows": [
            {"window": w, "right": right[w], "accuracy": right[w] / judged} for w in (1, 2, 3)
        ],
    }


def concentration(histories: dict[int, list[str]], op: str) -> dict[str, Any]:
    counts = sorted((ops.count(op) for ops in histories.values() if op in ops), reverse=True)
    found: dict[str, Any] = {"most": counts[0], "mean": np.mean(counts)}
    for percent in (1, 10, 20):
        part = len(counts) * percent / 100
        whole = int(part)
        hottest = sum(counts[:whole]) + (part - whole) * counts[whole]
        found[f"on_top_{percent}_percent"] = hottest / sum(counts)
    return found


def distances(touches: list[tuple[int, str]]) -> list[int | None]:
    """Of every touch: how many other pages since the page's last one; None for the first."""
    stack: list[int] = []
    found: list[int | None] = []
    for number, _ in touches:
        if number in stack:
            place = stack.index(number)
            found.append(place)
            del stack[place]
        else:
            found.append(None)
        stack.insert(0, number)
    return found
