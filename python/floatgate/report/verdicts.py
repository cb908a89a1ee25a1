"""A verdict for each claim of a publication, by one rule, fixed before any result."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from floatgate.report.model import Finding, Report, Table

REPRODUCED, DIRECTION, DIFFERS = "reproduced", "direction", "differs"
MISSING = "not measured here"
VERDICTS = (REPRODUCED, DIRECTION, DIFFERS, MISSING)

KINDS: Mapping[str, str] = {
    "output": "a result of the model",
    "input": "given to the model or fitted, so that it can only agree",
    "follows": "computed from the inputs of the study without a run, and demanded equal",
    "check": "a row that no change of policy can undo, or a run beside a formula",
    "beyond": "not claimed by the publication",
}
"""The kinds of rows. Only outputs count as facts."""

BAND = 0.1
"""The difference to a published number, as a share of it, that counts as agreement by default."""

EQUAL = 0.01
"""The same for a number that follows from the inputs: the rounding of the printed number."""

POINTS = 0.05
"""The same for shares and changes, which are compared by their difference."""

FACTOR = 3.0
"""Up to this factor a number of the right sign counts as the right size."""

RULE = (
    f"{REPRODUCED.capitalize()}: within {100 * BAND:g} % of the published number, shares and "
    f"changes within {100 * POINTS:g} points, or as a row specifies. {DIRECTION.capitalize()}: the "
    f"same sign, and within a factor of {FACTOR:g}. A fact counts once, with the weakest "
    "verdict of its readings."
)

HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "at most": operator.le,
    "below": operator.lt,
    "at least": operator.ge,
    "above": operator.gt,
}
_RELATION = re.compile(r"(at most|below|at least|above) ([\d.]+)( %)?")
_SPAN = re.compile(r"([\d.]+) to ([\d.]+)( %)?")


def verdict(finding: Finding) -> str:
    """One of the four verdicts; empty if nothing was published or a statement is not a relation.

    >>> [verdict(Finding("WAF", "Fig. 7", 2.0, ours)) for ours in (2.1, 2.3, 7.0, -2.0, None)]
    ['reproduced', 'direction', 'differs', 'differs', 'not measured here']
    >>> [verdict(Finding("reads", "", -0.54, ours, "share")) for ours in (-0.5, -0.2, 0.1)]
    ['reproduced', 'direction', 'differs']
    >>> [verdict(Finding("re-writes", "", "at most 1 %", ours, "share")) for ours in (0.01, 0.02)]
    ['reproduced', 'differs']
    >>> [verdict(Finding("reads", "", "below 0", ours, "share")) for ours in (-0.1, 0.0)]
    ['reproduced', 'differs']
    >>> [verdict(Finding("memory", "", 4.0, ours, kind="follows")) for ours in (4.01, 4.3)]
    ['reproduced', 'differs']
    """
    published, ours = finding.published, finding.ours
    if published is None or finding.kind in ("input", "beyond"):
        return ""
    if ours is None:
        return MISSING
    if isinstance(published, str) or isinstance(ours, str):
        held = _holds(str(published), ours)
        return "" if held is None else REPRODUCED if held else DIFFERS
    follows = finding.kind == "follows"
    usual = EQUAL if follows else BAND
    band = abs(published) * (usual if finding.band is None else finding.band)
    if finding.unit == "share" and finding.band is None and not follows:
        band = POINTS
    # A number at the end of the band, except for rounding, is within it.
    if abs(ours - published) <= band * (1 + 1e-9):
        return REPRODUCED
    alike = not follows and ours * published > 0 and 1 / FACTOR <= ours / published <= FACTOR
    return DIRECTION if alike else DIFFERS


def judged(finding: Finding) -> str:
    """The verdict of a row in a word or two. A row that is not a claim also has its kind.

    >>> judged(Finding("a", "", 1.0, 1.0, kind="follows")), judged(Finding("a", "", "y", "x"))
    ('follows', 'in words')
    >>> judged(Finding("a", "", 1.0, 2.0, kind="follows")), judged(Finding("a", "", 1.0, 2.0))
    ('differs', 'direction')
    """
    found = verdict(finding)
    if finding.kind == "output":
        return found or ("in words" if finding.published is not None else "")
    if finding.kind == "follows" and found in (DIFFERS, MISSING):
        return found
    return finding.kind


def _holds(published: str, ours: float | str) -> bool | None:
    """Whether a relation holds, in words; None if the statement is not a relation."""
    if isinstance(ours, str):
        return True if ours == published else None
    if (said := _RELATION.fullmatch(published)) is not None:
        bound = float(said[2]) / (100 if said[3] else 1)
        return HOLDS[said[1]](ours, bound)
    if (said := _SPAN.fullmatch(published)) is not None:
        scale = 100 if said[3] else 1
        return float(said[1]) / scale <= ours <= float(said[2]) / scale
    return None


def is_relation(text: str) -> bool:
    """Whether a verdict can check a number against it.

    >>> is_relation("at most 1 %"), is_relation("1.5 to 2"), is_relation("slightly less")
    (True, True, False)
    """
    return _holds(text, 0.0) is not None


class Fact(NamedTuple):
    """A number or a relation of a publication, with the rows that show it under each reading."""

    name: str
    rows: Sequence[Finding]

    @property
    def is_number(self) -> bool:
        """Whether a number was published, rather than a relation."""
        return isinstance(self.rows[0].published, int | float)

    @property
    def verdict(self) -> str:
        """The weakest verdict of the readings that were measured."""
        found = {verdict(row) for row in self.rows}
        return next(each for each in (DIFFERS, DIRECTION, REPRODUCED, MISSING, "") if each in found)


def facts(tables: Sequence[Table], kind: str = "output") -> list[Fact]:
    """The facts of one kind that a verdict can judge, in the order of their first rows.

    >>> rows = [Finding("a", "", 1.0, 1.0, fact="f"), Finding("b", "", 1.0, 2.0, fact="f")]
    >>> [(fact.name, fact.verdict) for fact in facts([Table("T", rows)])]
    [('f', 'direction')]
    """
    found: dict[tuple[str, ...], list[Finding]] = {}
    for table in tables:
        for row in table.rows:
            if row.kind == kind and verdict(row):
                key = (row.fact,) if row.fact else (table.title, row.where, row.what)
                found.setdefault(key, []).append(row)
    return [Fact(rows[0].fact or rows[0].what, rows) for rows in found.values()]


def counts(tables: Sequence[Table]) -> dict[str, dict[str, int]]:
    """The number of facts with each verdict, separately for `numbers` and `relations`.

    `follows` has the number of rows that follow from the inputs, and of those that are not equal.
    """
    found = {"numbers": Counter[str](), "relations": Counter[str]()}
    for fact in facts(tables):
        found["numbers" if fact.is_number else "relations"][fact.verdict] += 1
    counted = {group: {name: of[name] for name in VERDICTS} for group, of in found.items()}
    equal = [fact.verdict == REPRODUCED for fact in facts(tables, "follows")]
    return counted | {"follows": {"equal": sum(equal), DIFFERS: len(equal) - sum(equal)}}


def headline(report: Report) -> tuple[str, str]:
    """The first lines of a report and the last ones of a command: the finding, then the facts."""
    return report.says, sentence(report.tables)


def _of(tables: Sequence[Table], kind: str) -> Iterator[Finding]:
    return (row for table in tables for row in table.rows if row.kind == kind)


def sentence(tables: Sequence[Table]) -> str:
    """The verdicts of all facts, in words; empty if there are no facts.

    >>> rows = [Finding("a", "", 1.0, 1.0), Finding("b", "", 1.0, 9.0, stand_in=True)]
    >>> sentence([Table("T", rows)])
    '2 published numbers: 1 reproduced, 1 differs. 1 of the 2 rests on stand-ins of traces.'
    >>> sentence([Table("T", [Finding("a", "", "above 1", 2.0), Finding("b", "", "above 1", 0.5)])])
    '2 published relations: 1 reproduced, 1 differs.'
    >>> sentence([Table("T", [Finding("a", "", 1.0, 1.0, kind="check")])])
    '1 of 1 checks holds.'
    >>> sentence([Table("T", [Finding("a", "", 1.0, 1.0, kind="follows")])])
    '1 of 1 that follow from the inputs is equal.'
    """
    found = counts(tables)
    parts = [
        f"{total} published {group if total > 1 else group[:-1]}: {in_words(found[group])}."
        for group in ("numbers", "relations")
        if (total := sum(found[group].values()))
    ]
    every = facts(tables)
    doubted = sum(any(row.stand_in for row in fact.rows) for fact in every)
    if doubted:
        rests = "rests" if doubted == 1 else "rest"
        parts.append(f"{doubted} of the {len(every)} {rests} on stand-ins of traces.")
    words = sum(row.published is not None and not verdict(row) for row in _of(tables, "output"))
    if words:
        are = "are" if words > 1 else "is"
        parts.append(f"{words} more {are} in words that no rule judges.")
    if total := sum(found["follows"].values()):
        equal = found["follows"]["equal"]
        are = "is" if equal == 1 else "are"
        parts.append(f"{equal} of {total} that follow from the inputs {are} equal.")
    checks = [verdict(row) for row in _of(tables, "check")]
    checks = [each for each in checks if each not in ("", MISSING)]
    if checks:
        held = sum(each != DIFFERS for each in checks)
        parts.append(f"{held} of {len(checks)} checks {'holds' if held == 1 else 'hold'}.")
    return " ".join(parts)


def in_words(counted: Mapping[str, int]) -> str:
    """Such counts in words, without zeros.

    >>> in_words({"reproduced": 3, "direction": 0, "differs": 1})
    '3 reproduced, 1 differs'
    """
    return ", ".join(
        f"{n} {'differ' if word == DIFFERS and n > 1 else word}" for word, n in counted.items() if n
    )
