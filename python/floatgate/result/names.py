"""The names of the runs of a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def label(varied: Mapping[str, str]) -> str:
    """The settings that distinguish a run from the others, as on the command line."""
    return " ".join(f"{name}={value}" for name, value in varied.items()) or "the only run"


def brief(name: str, names: Iterable[str]) -> str:
    """A setting's name without its section, if no other name ends in the same way.

    >>> brief("ftl.spare-factor", ["cost", "ftl.spare-factor"])
    'spare-factor'
    >>> brief("timing.levels.low.read", ["timing.levels.low.read", "timing.levels.high.read"])
    'timing.levels.low.read'
    """
    last = name.rpartition(".")[2]
    others = [other for other in names if other.rpartition(".")[2] == last]
    return last if len(others) == 1 else name


def parted(variants: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The varied settings, with a column for each parameter of a policy that differs.

    A parameter that a policy does not have is empty.

    >>> parted([{"cost": "fixed:level=low"}, {"cost": "fixed:level=high"}])
    [{'cost.level': 'low'}, {'cost.level': 'high'}]
    >>> parted([{"victim": "greedy"}, {"victim": "d-choices:d=3"}])
    [{'victim': 'greedy', 'victim.d': ''}, {'victim': 'd-choices', 'victim.d': '3'}]
    """
    wide: list[dict[str, str]] = []
    columns: dict[str, dict[str, None]] = {}
    for variant in variants:
        row = {}
        for name, value in variant.items():
            columns.setdefault(name, {})
            whole = name in ("drive", "workload", "seed") or "." in name
            first, *more = [value] if whole else re.split(r":(?=[a-z][a-z-]*=)", value)
            row[name] = first
            for each in more:
                key, _, of = each.partition("=")
                row[f"{name}.{key}"] = of
                columns[name].setdefault(f"{name}.{key}")
        wide.append(row)
    order = [each for name, more in columns.items() for each in (name, *more)]
    full = [{name: row.get(name, "") for name in order} for row in wide]
    split = {name for name, more in columns.items() if more}
    same = {name for name in order if len({row[name] for row in full}) == 1}
    # A part that is the same in all names is dropped, unless a name would become empty.
    gone = {name for name in same if name.partition(".")[0] in split}
    if not set(order) - gone:
        gone = set()
    return [{name: of for name, of in row.items() if name not in gone} for row in full]


def where(some: Sequence[Mapping[str, str]], every: Sequence[Mapping[str, str]]) -> str:
    """Some of all runs, named by their common settings if these identify them.

    >>> runs = [{"cost": c, "seed": s} for c in ("low", "high") for s in "123"]
    >>> where(runs, runs), where(runs[3:], runs)
    ('every run', 'cost=high')
    >>> where(runs[:1] + runs[5:], runs)
    'cost=low seed=1; cost=high seed=3'
    """
    if len(some) == len(every):
        return "every run"
    for name, value in some[0].items():
        if [run for run in every if run.get(name) == value] == list(some):
            return f"{name}={value}"
    shown = [label(run) for run in some[:_SHOWN]]
    if len(some) > _SHOWN:
        shown.append(f"and {len(some) - _SHOWN} more of {len(every)} runs")
    return "; ".join(shown)


_SHOWN = 4
