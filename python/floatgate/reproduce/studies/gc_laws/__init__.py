"""The laws of garbage collection: formulas for the write amplification of random overwrites.

rho is the share U / T of the pages that take part in garbage collection which hold data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from floatgate.reproduce.study import Analysis, Evidence, Finding, Plot, Point, Result, Study, Table

SPARE = "ftl.spare-factor"
TEXT = "Published is the formula; ours is to lie within 1 %, and 2 % below a tenth of spare."


def analyse(evidence: Evidence, _study: Study) -> Analysis:
    """Every run beside its formula; a block size is named where it is not that of most."""
    rows: dict[str, list[Finding]] = {}
    points, off = [], [0.0]
    for taken in sorted(evidence.runs, key=lambda taken: spare(taken.run)):
        run, (name, _) = taken.run, victim(taken.run)
        block, formula = run.provenance.config.geometry["pages-per-block"], predicted(run)
        what = f"{taken.names.get('victim', name)}, {block} pages"
        row = Finding(f"{what}, spare {spare(run):.2f}", LAWS[name].name, formula, run.waf, "x",
                      kind="check", band=allowed(run), runs=[taken.names])  # fmt: skip
        rows.setdefault(f"Write amplification: {what} in a block", []).append(row)
        points.append(Point(taken.among(evidence.comparison), formula, "formula"))
        off.append(100 * abs(run.waf / formula - 1))
    tables = [Table(title, each, "" if i else TEXT) for i, (title, each) in enumerate(rows.items())]
    title, says = "Write amplification over spare factor", f"Runs lie at most {max(off):.1f} % from"
    plot = Plot("lines", title, "waf", SPARE, "victim", tuple(points))
    return Analysis(tables, [plot], says=f"{says} the formula of their victim policy.")


def spare(run: Result) -> float:
    """The spare factor of all pages."""
    return float(run.capacity.spare_factor)


def allowed(run: Result) -> float:
    """How far a run may be from its formula, as a share of it."""
    return 0.02 if spare(run) < 0.095 else 0.01


def predicted(run: Result) -> float:
    """The formula's value for a run."""
    name, choices = victim(run)
    return LAWS[name].of(share(run), run.provenance.config.geometry["pages-per-block"], choices)


def victim(run: Result) -> tuple[str, int]:
    """The victim policy, and how many blocks it draws."""
    policy = run.policies.victim
    return policy.name, int(policy.params.get("d", 1))


def share(run: Result) -> float:
    """The share of the pages that take part which hold data.

    When a victim is chosen, a plane has blocks besides its closed ones. Its free ones are between
    `start` and `stop` less one, on average the middle of both. The host's open block has just been
    opened and is empty; half of the open block of moved pages is written.
    """
    geometry, marks = run.provenance.config.geometry, run.provenance.config.ftl.gc
    free = (marks["start"] + marks["stop"]) / 2 - 1
    part = (geometry["blocks-per-plane"] - free - 1.5) / geometry["blocks-per-plane"]
    return float(run.capacity.logical_bytes / (run.capacity.physical_bytes * part))


class Law(NamedTuple):
    """A formula, and where it comes from."""

    name: str
    of: Callable[[float, int, int], float]


def random(rho: float) -> float:
    """A victim drawn at random has as many valid pages as any block.

    >>> random(0.75)
    4.0
    """
    return 1 / (1 - rho)


def fifo(rho: float) -> float:
    """First in, first out, with any number of pages in a block; greedy with endless blocks.

    A page is still valid after its block's turn with probability x = exp(-(1 - x) / rho).
    Xiang and Kurkoski give 2.36 for an over-provisioning of 0.30.

    >>> round(fifo(1 / 1.3), 3)
    2.364
    """
    return 1 / (1 - _root(0.0, 1 - 1e-12, lambda x: math.exp(-(1 - x) / rho) - x))


def greedy(rho: float, pages: int) -> float:
    """The block with the fewest valid pages, of blocks with `pages` pages.

    >>> [round(greedy(0.85, pages), 3) for pages in (16, 64, 256)]
    [2.968, 3.354, 3.476]
    """
    return _mean_field(pages, rho, lambda c, i, above: min(above + 1 / (c * i), 1.0))


def best_of(choices: int, rho: float, pages: int) -> float:
    """The best of some blocks drawn at random.

    The share s of blocks with at least i valid pages solves c i (s - s') + s^d = 1, where s' is
    that of i + 1.

    >>> round(best_of(2, 0.9, 64), 3), round(best_of(1, 0.75, 64), 6)
    (6.852, 4.0)
    """

    def share(c: float, i: int, above: float) -> float:
        return _root(above, 1.0, lambda s: 1 - c * i * (s - above) - s**choices)

    return _mean_field(pages, rho, share)


LAWS: Mapping[str, Law] = {
    "greedy": Law("Van Houdt 2013, many choices", lambda rho, pages, _: greedy(rho, pages)),
    "fifo": Law("Desnoyers 2012", lambda rho, _, __: fifo(rho)),
    "random": Law("1 / spare", lambda rho, _, __: random(rho)),
    "d-choices": Law("Van Houdt 2013", lambda rho, pages, d: best_of(d, rho, pages)),
}


def _mean_field(pages: int, rho: float, share: Callable[[float, int, float], float]) -> float:
    """The rate c of collection at which the shares of blocks add up to the data."""

    def surplus(c: float) -> float:
        above, mapped = 0.0, 0.0
        for i in range(pages, 0, -1):
            above = share(c, i, above)
            mapped += above
        return mapped - pages * rho

    return 1 / (_root(1e-9, 1e3, surplus) * rho)


def _root(low: float, high: float, f: Callable[[float], float]) -> float:
    """The point at which `f` changes from positive to negative."""
    for _ in range(60):
        middle = (low + high) / 2
        if f(middle) > 0:
            low = middle
        else:
            high = middle
    return low
