"""Changes of policies that undo a reproduced result: the proof that its rows can fail.

A study lists them in `changes.toml`: the name of each change, the policies that it replaces and
their replacements, and the rows that then must differ. If no change can undo a row that agrees, the
row shows nothing about a policy, so it becomes a check.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from floatgate.experiments import Experiment
from floatgate.report.model import Finding, Table
from floatgate.report.verdicts import DIRECTION, REPRODUCED, verdict

FILE = "changes.toml"

E = TypeVar("E", bound=Experiment)


class Change(NamedTuple):
    """Policies by the text of those that they replace, and the rows that this changes.

    A key such as `victim=` names a family that the study does not set. `turns` has facts, or rows
    by their subject. They must differ in every form of the study that measures them. Those of
    `turns_full` must differ in the full form.
    """

    name: str
    policies: Mapping[str, str]
    turns: Sequence[str] = ()
    turns_full: Sequence[str] = ()

    def turns_row(self, row: Finding, *, quick: bool) -> bool:
        """Whether a row is to differ under the change."""
        names = self.turns if quick else [*self.turns, *self.turns_full]
        return row.what in names or (bool(row.fact) and row.fact in names)


def changes_of(folder: Path) -> list[Change]:
    """The changes that the study in a folder lists; none if it has no such file."""
    file = folder / FILE
    if not file.is_file():
        return []
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["change"]
    return [Change(**{key.replace("-", "_"): value for key, value in each.items()})
            for each in listed]  # fmt: skip


def marked(tables: Sequence[Table], changes: Sequence[Change], *, quick: bool) -> list[Table]:
    """The tables with the change that turns each row; rows that agree and have none are checks."""

    def rows(table: Table) -> Iterator[Finding]:
        for row in table.rows:
            change = next((c.name for c in changes if c.turns_row(row, quick=quick)), "")
            if row.kind != "output" or verdict(row) not in (REPRODUCED, DIRECTION):
                yield row
            elif change:
                yield row._replace(change=change)
            else:
                yield row._replace(kind="check")

    return [table._replace(rows=[*rows(table)]) for table in tables]


def changed(experiment: E, policies: Mapping[str, str]) -> E:
    """The experiment with other policies under the same labels."""
    if not policies:
        return experiment
    data = deepcopy(experiment.data)
    for block in [data, *data.get("runs", ())]:
        for part in (block, block.get("quick") or {}):
            for settings in _settings(part):
                for family, choices in settings.get("policy", {}).items():
                    settings["policy"][family] = _others(choices, policies)
    new = {key[:-1]: text for key, text in policies.items() if key.endswith("=")}
    if new:
        data["policy"] = {**data.get("policy", {}), **new}
    keys = {key.replace("-", "_"): value for key, value in data.items() if key != "schema"}
    return type(experiment)(folder=experiment.folder, **keys)


def _settings(part: Mapping[str, Any]) -> Iterator[Any]:
    """A part of an experiment, and the cases that it lists."""
    yield part
    for cases in part.get("cases", {}).values():
        yield from cases.values()


def _others(choices: Any, policies: Mapping[str, str]) -> Any:
    """The choices of a family, each under its label, with the policies that replace them."""
    if isinstance(choices, str):
        return policies.get(choices, choices)
    named = choices if isinstance(choices, Mapping) else {text: text for text in choices}
    labels: dict[str, list[str]] = {}
    for label, text in named.items():
        labels.setdefault(policies.get(text, text), []).append(label)
    # One run stands for all labels that lead to one policy.
    return {" = ".join(same): text for text, same in labels.items()}
