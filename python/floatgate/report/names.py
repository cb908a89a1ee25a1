"""The names of runs in plots and tables, and the runs that share a place there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floatgate.result.comparison import Comparison
from floatgate.result.names import brief
from floatgate.result.run import Result

LONGEST = 26
"""Characters of a name that fits beside a bar on a narrow screen; longer ones are numbers."""

SEED = "seed"


class Names:
    """The runs of a report with short names.

    Attributes:
        runs: The results.
        variants: The own values of each; a workload by the name in its result.
        varied: The settings that vary, in order.
        labels: A short name for each run, or its number if the name would be long.
        title: The meaning of the parts of a label: `victim · spare-factor`.
        place_title: The title of an axis or legend of places: without the seed.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.runs: Sequence[Result] = comparison.runs
        self.variants = [
            dict(variant) | ({"workload": run.workload} if "workload" in variant else {})
            for variant, run in zip(comparison.variants, comparison.runs, strict=True)
        ]
        names: dict[str, set[str]] = {}
        for variant in self.variants:
            for name, value in variant.items():
                names.setdefault(name, set()).add(value)
        self.varied = [name for name, values in names.items() if len(values) > 1]
        full = [self.joined(variant, self.varied) for variant in self.variants]
        self.numbered = any(len(label) > LONGEST for label in full) or len({*full}) < len(full)
        self.labels = [
            label if label and not self.numbered else f"run {i}" for i, label in enumerate(full, 1)
        ]
        self.title = " · ".join(brief(name, self.varied) for name in self.varied)
        others = [name for name in self.varied if name != SEED] or self.varied
        self.place_title = " · ".join(brief(name, self.varied) for name in others)
        if self.numbered:
            self.place_title = "numbers as in the table of runs"

    @staticmethod
    def joined(variant: Mapping[str, str], names: Sequence[str]) -> str:
        """The values of some names: `greedy · 0.07`."""
        return " · ".join(variant[name] for name in names if name in variant)

    def groups(
        self, names: Sequence[str], among: Sequence[int] | None = None
    ) -> dict[str, list[int]]:
        """The runs that share the values of these names, by those values."""
        groups: dict[str, list[int]] = {}
        for i in range(len(self.runs)) if among is None else among:
            groups.setdefault(self.joined(self.variants[i], names), []).append(i)
        return groups

    def places(self) -> dict[str, list[int]]:
        """One place for each run, or for the runs that differ in the seed alone, by label."""
        names = [name for name in self.varied if name != SEED]
        if not names or len(names) == len(self.varied):
            return {label: [i] for i, label in enumerate(self.labels)}
        groups = list(self.groups(names).values())
        if not self.numbered:
            return {self.joined(self.variants[g[0]], names): g for g in groups}
        return {self.labels[g[0]]: g for g in groups}

    def numbers(self, name: str) -> dict[str, float] | None:
        """The values of a name as numbers; None if one is not a number, or if there is only one."""
        values = dict.fromkeys(v[name] for v in self.variants if name in v)
        found = {value: as_number(value) for value in values}
        known = {value: number for value, number in found.items() if number is not None}
        return known if len(known) == len(found) > 1 else None


def as_number(text: str) -> float | None:
    """A setting as a number; sizes and times count in their unit.

    >>> as_number("0.07"), as_number("4KiB"), as_number("50us"), as_number("greedy")
    (0.07, 4096.0, 50000.0, None)
    """
    for suffix, factor in _SUFFIXES.items():
        if text.endswith(suffix):
            text, by = text.removesuffix(suffix), factor
            break
    else:
        by = 1.0
    try:
        value = float(text)
    except ValueError:
        return None
    return value * by if value == value and abs(value) != float("inf") else None


_SUFFIXES = {
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
    "ns": 1.0,
    "us": 1e3,
    "ms": 1e6,
    "min": 60e9,
}
"""`s` and `h` end other words as well, so they come last."""
_SUFFIXES |= {"B": 1.0, "s": 1e9, "h": 3_600e9}
