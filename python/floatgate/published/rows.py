"""The table of published drives: published, ours, error, span and two baselines for each row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from floatgate.published import Fact, Model, Product
from floatgate.published.measure import (
    Outcome,
    Run,
    changes,
    depends,
    outcome,
    run_of,
    statistic,
)
from floatgate.published.rules import NotModelledError, Rule, rule

CLASSES = (
    "read IOPS", "typical latency", "latency percentiles", "steady writes", "WAF", "sequential",
    "other writes", "cache size", "endurance ratios",
)  # fmt: skip
LATENCIES = ("typical latency", "latency percentiles")
CHECKED = ("checked", "predicted")
SHOWN = (*CHECKED, "beyond")
"""`beyond` is in the table and not in the summary, so that one drive does not decide that."""

Plan = tuple[Product, Model, Fact, Rule]
"""A row to compare: a fact of a model, and its workload."""


@dataclass
class Row:
    """A published number beside what the engine gives. Errors are shares of the published one."""

    drive: str
    what: str
    conditions: str
    unit: str
    kind: str
    published: float
    ours: float
    sibling: float | None
    formula: float | None
    low: float
    high: float
    span: dict[str, list[float]] = field(default_factory=dict)
    """The results by each assumed number, with the values of `measure.changes`."""
    counted: bool = True
    """Whether the row is in the summary."""

    @property
    def error(self) -> float:
        """(ours - published) / published."""
        return self.ours / self.published - 1

    @property
    def identified(self) -> bool:
        """False if the span of the assumed numbers is wider than the error."""
        return (self.high - self.low) / self.published <= abs(self.error)


def plans(known: Mapping[str, Product]) -> list[Plan]:
    """The rows to compare: facts that are checked or predicted, each with its workload."""
    found = []
    for product in known.values():
        models = {model.name: model for model in product.models}
        for fact in product.facts:
            if fact.role.partition(":")[0] in SHOWN:
                model = models[fact.drive]
                found.append((product, model, fact, rule_of(model, fact)))
    return found


def rule_of(model: Model, fact: Fact) -> Rule:
    """The workload of a fact."""
    link = float(model.controller["link"])
    cached = model.cache is not None
    return rule(fact.what, fact.conditions, fact.unit, model.use, link, cache=cached)


def distinct(found: Iterable[Plan]) -> list[bool]:
    """Whether each row is the first of its fact: a sheet repeats numbers over capacities."""
    seen: set[tuple[str, str, float | str, str]] = set()
    first = []
    for product, _, fact, _ in found:
        key = (product.name, fact.what, fact.value, fact.conditions)
        new = fact.role in CHECKED and key not in seen
        first.append(new)
        if new:
            seen.add(key)
    return first


def runs(plan: Plan, *, spans: bool = True) -> list[Run]:
    """The runs of a row: one, and with `spans` those with each assumed number changed.

    Those of steady writes, and of a drive that is filled, have fewer dies. Their changes are shares
    of a run with as many dies.
    """
    _, model, _, how = plan
    variants = [each for _, found in _variants(plan, spans) for each in found]
    briefs = [model, *variants] if how.sliced and variants else variants
    return [run_of(model, how), *(run_of(each, how, brief=how.sliced) for each in briefs)]


def _variants(plan: Plan, spans: bool) -> list[tuple[str, list[Model]]]:
    _, model, _, how = plan
    return [(key, changes(model, key)) for key in depends(model, how)] if spans else []


def measured(
    plan: Plan,
    known: Mapping[str, Product],
    *,
    spans: bool = True,
    done: Mapping[Run, Outcome] | None = None,
    counted: bool = True,
) -> Row:
    """Compares a fact; with `spans` every assumed number is changed, too.

    Args:
        plan: The row.
        known: All products, for the sibling.
        spans: Whether to change assumed numbers.
        done: The outcomes of the runs of `runs`; without them they run now.
        counted: Whether the row is in the summary.

    Raises:
        ValueError: The fact has no number.
    """
    product, model, fact, how = plan
    published = fact.number
    if published is None:
        raise ValueError(f"{fact.drive}, {fact.what}: no number")

    def ours(changed: Model, brief: bool = False) -> float:
        run = run_of(changed, how, brief=brief)
        return statistic(outcome(run) if done is None else done[run], changed, how, brief=brief)

    found = ours(model)
    variants = _variants(plan, spans)
    times = found / ours(model, brief=True) if how.sliced and variants else 1.0
    by = {key: [times * ours(each, how.sliced) for each in models] for key, models in variants}
    ends = [found, *(each for results in by.values() for each in results)]
    near, closed = sibling(model, fact, how, product, known), formula(model, how)
    return Row(
        *(fact.drive, fact.what, fact.conditions, fact.unit, how.kind, published, found),
        *(near, closed, min(ends), max(ends), by, counted),
    )


def sibling(
    model: Model, fact: Fact, how: Rule, product: Product, known: Mapping[str, Product]
) -> float | None:
    """The number of the nearest other drive, times dies over dies if it is a rate in parallel.

    Nearest: of the same product, then of a product with the same use and link; of these the one
    with the most similar number of dies. A rate is at most that of the link. A number after the
    cache, or in it, is compared with such a number only. None if no other drive has the number.
    """
    link, use = model.controller["link"], model.use
    most = link * 1e6 / how.size if how.statistic == "iops" else link
    for group in ([product], known.values()):
        found: list[tuple[float, float]] = []
        for other in group:
            for each in other.models:
                alike = each.controller["link"] == link and each.use == use
                if each.name == model.name or not alike:
                    continue
                for theirs in other.facts:
                    number = theirs.number
                    if theirs.drive != each.name or number is None or not _published(theirs):
                        continue
                    try:
                        same = rule_of(each, theirs)
                    except NotModelledError:
                        continue
                    if same[:6] == how[:6] and same.place == how.place:
                        if how.statistic in ("iops", "mb"):
                            number = min(number * model.dies / each.dies, most)
                        found.append((abs(math.log(model.dies / each.dies)), number))
        if found:
            return min(found)[1]
    return None


def _published(fact: Fact) -> bool:
    return fact.role in (*CHECKED, "fitted", "cap")


def formula(model: Model, how: Rule) -> float | None:
    """The closed formula with the numbers of the drive file.

    Reads: depth over the time of one, at most what dies, link and controller carry; planes that
    read apart count as dies. Writes: link or dies, over the write amplification of random writes,
    which is that of first in first out. A percentile is the mean.
    """
    flash, control = model.flash, model.controller
    link = control["link"] * 1e6
    sense = sum(flash["read"]) / len(flash["read"]) / 1e6
    pages = max(1, -(-how.size // (flash["page"] * 1024)))
    bus = min(how.size, flash["page"] * 1024) / (flash["bus"] * 1e6)
    command: float = control["command"] / 1e6 + how.size / (
        control.get("core-rate", math.inf) * 1e6
    )
    readers = model.dies * (flash["planes"] if flash["independent"] else 1)
    alone: float = sense + bus + control["read-latency"] / 1e6 + command + how.size / link
    carried: float = min(link / how.size, math.inf if command == 0 else 1 / command)
    spare = model.over_provisioning
    waf = fifo(1 + spare) if how.random else 1.0
    programmed: float = model.dies * model.die_rate * 1e6 / how.size
    if model.cache is not None and how.place:
        single: float = model.dies * flash["slc-program"] * 1e6
        cached = min(single, link, control.get("buffer-rate", math.inf) * 1e6)
        if how.place == "end":
            return model.cache.size / 1e9
        if how.place == "in":
            programmed = cached / how.size
        if how.place == "filling":
            held = model.cache.size / model.capacity
            programmed = 1 / (held * how.size / cached + (1 - held) / programmed)
    if how.statistic == "waf":
        return waf
    if how.kind in LATENCIES:
        if how.read_share == 1:
            return alone * 1e6
        return float(control["buffer-latency"] / 1e6 + command + how.size / link) * 1e6
    if how.read_share == 1:
        found = min(how.depth / alone, readers / sense / pages, carried)
    elif how.read_share > 0:
        writes = waf * (1 - how.read_share) / programmed
        found = min(1 / (writes + how.read_share * sense / readers), carried)
    else:
        found = min(programmed / (waf if how.steady else 1), carried)
    return float(found * (how.size / 1e6 if how.statistic == "mb" else 1))


def fifo(ratio: float) -> float:
    """Write amplification of uniform writes where the oldest block is collected.

    Args:
        ratio: All flash over the exported capacity, above 1.

    >>> round(fifo(1.25), 2)
    2.69
    """
    # The valid share u of the oldest block solves u = exp(-ratio * (1 - u)).
    valid = 0.5
    for _ in range(500):
        valid = math.exp(-ratio * (1 - valid))
    return 1 / (1 - valid)


def summary(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The errors by class and of all rows, beside those of both baselines on the same rows."""
    rows = [row for row in rows if row.counted]
    found = []
    for kind in (*CLASSES, "all"):
        own = [row for row in rows if kind in (row.kind, "all")]
        if own:
            found.append({"class": kind, "rows": len(own), **_errors(own)})
    return found


def _errors(rows: Sequence[Row]) -> dict[str, Any]:
    """Our errors, and the median error of each baseline beside ours on the same rows."""
    errors = sorted(abs(row.error) for row in rows)
    found: dict[str, Any] = {
        "median": median(errors),
        "p90": errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)],
    }
    for name in ("sibling", "formula"):
        pairs = [
            (abs(theirs / row.published - 1), abs(row.error))
            for row in rows
            if (theirs := getattr(row, name)) is not None
        ]
        found[name] = {
            "rows": len(pairs),
            "theirs": median(their for their, _ in pairs) if pairs else None,
            "ours": median(our for _, our in pairs) if pairs else None,
        }
    found["not_identified"] = sum(not row.identified for row in rows)
    return found


Quotient = tuple[str, str, float, float]
"""Two drives, the published quotient of a number of theirs, and ours."""


def ratios(rows: Mapping[tuple[str, str], float], known: Mapping[str, Product]) -> list[Quotient]:
    """The published quotients of two drives beside ours: over, under, published, ours."""
    found = []
    for product in known.values():
        for fact in product.facts:
            what, _, under = fact.what.partition(" over that of ")
            if under and fact.number is not None:
                pair = [rows.get((drive, what)) for drive in (fact.drive, under)]
                if pair[0] is not None and pair[1] is not None:
                    found.append((fact.drive, under, fact.number, pair[0] / pair[1]))
    return found


def as_data(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows for a file: numbers have four digits, but for the published ones."""
    return [
        {key: each if key == "published" else _four(each) for key, each in asdict(row).items()}
        for row in rows
    ]


def _four(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _four(each) for key, each in value.items()}
    return [_four(each) for each in value] if isinstance(value, list) else value


def of_data(data: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows of a file."""
    return [Row(**each) for each in data]
