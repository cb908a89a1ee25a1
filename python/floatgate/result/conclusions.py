"""The conclusions of a comparison in words: only those that seeds cannot explain by chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from floatgate.result.comparison import Comparison
from floatgate.result.doubts import doubts, remedy, why
from floatgate.result.measures import Measure, change, find, peers
from floatgate.result.names import label, where

ENOUGH = 3
"""The number of seeds from which a spread is known."""

USUAL = ("read.p99", "write.p99", "waf")
"""The measures of conclusions if none are requested."""


class Group(NamedTuple):
    """Runs that differ in their seed alone."""

    varied: Mapping[str, str]
    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return fmean(self.values)

    def apart(self, other: Group) -> bool:
        """Whether every run of one lies on the same side of every run of the other."""
        return max(self.values) < min(other.values) or max(other.values) < min(self.values)


def conclusions(comparison: Comparison, asked: Sequence[str] = ()) -> Iterator[str]:
    """A sentence for each measure and workload; if several things varied, one for each of them.

    One of two variants is called better if it was better with every seed, of at least three.
    Otherwise there is "no difference shown". Variants with fewer seeds have no conclusion, and one
    line names them. If a warning of a run puts a measure in doubt, the reason is given instead of a
    verdict, with the ageing that fits.

    If several settings varied, the values of one are compared with all others equal. So no value
    gets the credit for a difference that another caused. If the best value depends on the others,
    or its difference does not appear everywhere, the sentence names the cases.

    Args:
        comparison: The runs.
        asked: Names of measures; by default p99 of reads and writes, and write amplification.
    """
    if not [name for name in comparison.varied if name not in ("seed", "workload")]:
        return
    variants = _seeds(comparison)
    few = [runs for runs in variants if len(runs) < ENOUGH]
    if few:
        ran = "one seed" if min(map(len, few)) == 1 else "two seeds"
        if len(few) > len(variants) - 2:
            yield f"{ran}: a difference cannot be told from chance; add --seed 1,2,3"
            return
        names = [label(dict(_key(comparison.variants[runs[0]]))) for runs in few]
        to = "it" if len(few) == 1 else "them"
        yield f"{ran} of {_listed(names)}: no difference to {to} can be told from chance"
    undone: dict[tuple[str, str], dict[str, list[int]]] = {}
    for name in asked or USUAL:
        measure = find(name)
        for runs in peers(comparison):
            groups = _groups(comparison, measure, runs)
            if measure.more_is_better is None or len(groups) < 2:
                continue
            work = comparison.runs[runs[0]].workload if len(peers(comparison)) > 1 else ""
            varied = [group.varied for group in groups]
            compared = [i for i in runs if dict(_key(comparison.variants[i])) in varied]
            found = {i: doubts(name, comparison.runs[i]) for i in compared}
            if code := next((codes[0] for codes in found.values() if codes), ""):
                doubtful = [i for i in compared if code in found[i]]
                undone.setdefault((work, code), {})[measure.title] = doubtful
                continue
            known = dict(_key(comparison.variants[runs[0]])) == groups[0].varied
            first = "the first" if known else label(groups[0].varied)
            for said in _by_axis(measure, groups) or [_sentence(measure, groups, first)]:
                yield (f"{work}: " if work else "") + said

    for (work, code), measures in undone.items():
        most = max(measures.values(), key=len)
        runs = next(each for each in peers(comparison) if most[0] in each)
        every = "every run" if len(most) == len(runs) else f"{len(most)} of {len(runs)} runs"
        said = f"{work}: " if work else ""
        said += f"no verdict on {_listed(list(measures))}: {why(code)} in {every} [{code}]"
        do = remedy(code, [comparison.runs[i] for i in most])
        yield f"{said}; {do}" if do else said


def _sentence(measure: Measure, groups: Sequence[Group], called: str) -> str:
    """The best variant, compared with the first one, whose name is `called`."""
    first = groups[0]
    best = (max if measure.more_is_better else min)(groups, key=lambda group: group.mean)
    title, shown = measure.title, measure.show(best.mean)
    worse = [g for g in groups if best.apart(g) and measure.show(g.mean) != shown]
    if not worse:
        return f"{title}: {_NONE}"
    least = "most" if measure.more_is_better else "least"
    said = f"{title}: {least} with {label(best.varied)} ({shown}"
    if first in worse:
        said += f", {change(first.mean, best.mean)} to {called}"
    elif first is best and len(groups) == 2:
        said += f"; {label(groups[1].varied)} {change(best.mean, groups[1].mean)}"
    said += ")"
    close = [label(g.varied) for g in groups if g is not best and g not in worse]
    return said + (f"; no difference shown to {_listed(close)}" if close else "")


def _by_axis(measure: Measure, groups: Sequence[Group]) -> list[str]:
    """A sentence for each thing that varied, if several varied and each did so alone."""
    values: dict[str, dict[str, None]] = {}
    for group in groups:
        for name, value in group.varied.items():
            values.setdefault(name, {})[value] = None
    axes = [name for name, some in values.items() if len(some) > 1]
    said = [_axis(measure, axis, axes, groups) for axis in axes]
    return said if len(axes) > 1 and all(said) else []


def _axis(measure: Measure, axis: str, axes: Sequence[str], groups: Sequence[Group]) -> str:
    """The effect of one axis with the others equal; empty if nothing was compared."""
    cases: dict[tuple[str | None, ...], list[Group]] = {}
    for group in groups:
        others = tuple(group.varied.get(name) for name in axes if name != axis)
        cases.setdefault(others, []).append(group)
    compared = [some for some in cases.values() if len(some) > 1]
    verdicts: dict[str, list[tuple[Mapping[str, str], str]]] = {}
    for some in compared:
        best, difference = _verdict(measure, axis, some)
        case = {name: some[0].varied[name] for name in axes if name != axis}
        verdicts.setdefault(best, []).append((case, difference))
    if not compared:
        return ""
    every = [case for found in verdicts.values() for case, _ in found]
    least = "most" if measure.more_is_better else "least"
    parts = []
    for best, found in sorted(verdicts.items(), key=lambda each: not each[0]):
        said = f"{least} with {best} ({_spread([d for _, d in found])})" if best else _NONE
        if len(verdicts) > 1:
            said += f" at {where([case for case, _ in found], every)}"
        elif len(every) > 1:
            said += " in every case"
        parts.append(said)
    return f"{measure.title} by {axis}: {'; '.join(parts)}"


_NONE = "no difference shown"


def _verdict(measure: Measure, axis: str, groups: Sequence[Group]) -> tuple[str, str]:
    """The value that is best with all others equal, and its difference; both may be empty.

    The difference is to the first value; if the first is best, to the second.
    """
    best = (max if measure.more_is_better else min)(groups, key=lambda group: group.mean)
    shown = measure.show(best.mean)
    others = [group for group in groups if group is not best]
    worse = [g for g in others if best.apart(g) and measure.show(g.mean) != shown]
    if not worse:
        return "", ""
    close = [g.varied[axis] for g in others if g not in worse]
    name = f"{axis}={', '.join([best.varied[axis], *close])}"
    beside = groups[0] if groups[0] in worse else worse[0]
    return name, f"{change(beside.mean, best.mean)} to {beside.varied[axis]}"


def _spread(differences: Sequence[str]) -> str:
    """The first and the last of differences by size, if there are several.

    >>> _spread(["-21 % to greedy", "-9.2 % to greedy", "-30 % to greedy"])
    '-30 % .. -9.2 % to greedy'
    """
    ends = {difference.partition(" to ")[2] for difference in differences}
    sizes = list(dict.fromkeys(difference.partition(" to ")[0] for difference in differences))
    if len(ends) > 1 or len(sizes) == 1:
        return ", ".join(dict.fromkeys(differences))
    sizes.sort(key=_size)
    return f"{sizes[0]} .. {sizes[-1]} to {ends.pop()}"


def _size(difference: str) -> float:
    """The number that `change` prints, in percent."""
    if difference.startswith("x "):
        return 100 * float(difference[2:].split()[0])
    return float(difference.removesuffix(" %")) if difference.endswith("%") else 0.0


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


_NAMED = 3
"""The most variants that are named as equally good."""


def _groups(comparison: Comparison, measure: Measure, runs: Sequence[int]) -> list[Group]:
    """The runs by varied settings, with enough seeds; empty if one lacks the number."""
    found: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for i in runs:
        value = measure.of(comparison.runs[i])
        if value is None:
            return []
        found.setdefault(_key(comparison.variants[i]), []).append(value)
    return [Group(dict(key), values) for key, values in found.items() if len(values) >= ENOUGH]


def _seeds(comparison: Comparison) -> list[list[int]]:
    groups: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for i, variant in enumerate(comparison.variants):
        key = (*_key(variant), ("workload", variant.get("workload", "")))
        groups.setdefault(key, []).append(i)
    return list(groups.values())


def _key(variant: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((k, v) for k, v in variant.items() if k not in ("seed", "workload"))
