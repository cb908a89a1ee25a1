"""What runs of a comparison are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def label(varied: Mapping[str, str]) -> str:
    """What distinguishes a run from the others, as it would be written on the command line."""
    return " ".join(f"{name}={value}" for name, value in varied.items()) or "the only run"


def brief(name: str, names: Iterable[str]) -> str:
    """A setting's name without its section, where none of the other names ends like it.

    >>> brief("ftl.spare-factor", ["cost", "ftl.spare-factor"])
    'spare-factor'
    >>> brief("timing.levels.low.read", ["timing.levels.low.read", "timing.levels.high.read"])
    'timing.levels.low.read'
    """
    last = name.rpartition(".")[2]
    others = [other for other in names if other.rpartition(".")[2] == last]
    return last if len(others) == 1 else name


def where(some: Sequence[Mapping[str, str]], every: Sequence[Mapping[str, str]]) -> str:
    """Some of all runs, named by what they have in common where that says which they are.

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
