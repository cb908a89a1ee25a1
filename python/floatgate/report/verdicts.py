"""What became of each claim of a publication: a verdict by one rule, fixed before any result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from floatgate.report.model import Finding, Table

REPRODUCED, DIRECTION, DIFFERS = "reproduced", "direction", "differs"
MISSING = "not measured here"

BAND = 0.1
"""How far a number may be from the published one, as a share of it, where nothing else is said."""

POINTS = 0.05
"""The same for shares and changes, which are compared by their difference."""

FACTOR = 3.0
"""Up to this factor a number of the right sign has the right size."""

RULE = (
    f"{REPRODUCED.capitalize()}: within {100 * BAND:g} % of what was published, shares and changes "
    f"within {100 * POINTS:g} points, or as a row says; {DIRECTION}: the same sign, and within a "
    f"factor of {FACTOR:g}."
)

_RELATION = re.compile(r"(at most|below|at least|above) ([\d.]+)( %)?")
_SPAN = re.compile(r"([\d.]+) to ([\d.]+)( %)?")


def verdict(finding: Finding) -> str:
    """One of the four verdicts; empty where nothing was published or a statement is no relation.

    >>> [verdict(Finding("WAF", "Fig. 7", 2.0, ours)) for ours in (2.1, 2.3, 7.0, -2.0, None)]
    ['reproduced', 'direction', 'differs', 'differs', 'not measured here']
    >>> [verdict(Finding("reads", "", -0.54, ours, "share")) for ours in (-0.5, -0.2, 0.1)]
    ['reproduced', 'direction', 'differs']
    >>> [verdict(Finding("re-writes", "", "at most 1 %", ours, "share")) for ours in (0.01, 0.02)]
    ['reproduced', 'differs']
    """
    published, ours = finding.published, finding.ours
    if published is None or finding.kind == "input":
        return ""
    if ours is None:
        return MISSING
    if isinstance(published, str) or isinstance(ours, str):
        held = _holds(str(published), ours)
        return "" if held is None else REPRODUCED if held else DIFFERS
    band = abs(published) * (BAND if finding.band is None else finding.band)
    if finding.unit == "share" and finding.band is None:
        band = POINTS
    # A number that lies on the end of the band, but for rounding, lies within.
    if abs(ours - published) <= band * (1 + 1e-9):
        return REPRODUCED
    alike = ours * published > 0 and 1 / FACTOR <= ours / published <= FACTOR
    return DIRECTION if alike else DIFFERS


def _holds(published: str, ours: float | str) -> bool | None:
    """Whether a relation holds, in words; None if the statement is none."""
    if isinstance(ours, str):
        return True if ours == published else None
    if (said := _RELATION.fullmatch(published)) is not None:
        bound = float(said[2]) / (100 if said[3] else 1)
        return ours <= bound if said[1] in ("at most", "below") else ours >= bound
    if (said := _SPAN.fullmatch(published)) is not None:
        scale = 100 if said[3] else 1
        return float(said[1]) / scale <= ours <= float(said[2]) / scale
    return None


def is_relation(text: str) -> bool:
    """Whether a verdict can tell if a number keeps it.

    >>> is_relation("at most 1 %"), is_relation("1.5 to 2"), is_relation("slightly less")
    (True, True, False)
    """
    return _holds(text, 0.0) is not None


def counts(tables: Sequence[Table]) -> dict[str, int]:
    """How many claims have each verdict, all four in order; inputs and checks are no claims."""
    found = Counter(verdict(row) for row in _of(tables, "output"))
    return {name: found[name] for name in (REPRODUCED, DIRECTION, DIFFERS, MISSING)}


def _of(tables: Sequence[Table], kind: str) -> Iterator[Finding]:
    return (row for table in tables for row in table.rows if row.kind == kind)


def sentence(tables: Sequence[Table]) -> str:
    """What became of all claims, in words; empty if there are none.

    >>> rows = [Finding("a", "", 1.0, 1.0), Finding("b", "", 1.0, 9.0, stand_in=True)]
    >>> sentence([Table("T", rows)])
    'Of 2 published claims 1 is reproduced and 1 differs; 1 of the 2 rests on stand-ins of traces.'
    >>> sentence([Table("T", [Finding("a", "", 1.0, 1.0, kind="check")])])
    '1 of 1 checks against formulas holds.'
    """
    claims = _claims(tables)
    checks = [verdict(row) == REPRODUCED for row in _of(tables, "check")]
    if checks:
        holds = "holds" if sum(checks) == 1 else "hold"
        claims += f"{sum(checks)} of {len(checks)} checks against formulas {holds}. "
    return claims.rstrip()


def _claims(tables: Sequence[Table]) -> str:
    number = counts(tables)
    total = sum(number.values())
    if not total:
        return ""
    said = {
        REPRODUCED: "{} {is} reproduced",
        DIRECTION: "{} {holds} in direction",
        DIFFERS: "{} {differs}",
        MISSING: "{} {is} not measured here",
    }
    parts = [_said(words, number[name]) for name, words in said.items() if number[name]]
    listed = " and ".join([*([", ".join(parts[:-1])] if parts[:-1] else []), parts[-1]])
    doubted = sum(row.stand_in and bool(verdict(row)) for row in _of(tables, "output"))
    rests = "rests" if doubted == 1 else "rest"
    doubt = f"; {doubted} of the {total} {rests} on stand-ins of traces" if doubted else ""
    claims = "claim" if total == 1 else "claims"
    words = sum(row.published is not None and not verdict(row) for row in _of(tables, "output"))
    more = f" {words} more {'are' if words > 1 else 'is'} in words that no rule judges." * (
        words > 0
    )
    return f"Of {total} published {claims} {listed}{doubt}.{more} "


def _said(words: str, n: int) -> str:
    one = n == 1
    verbs = {"is": "is" if one else "are", "holds": "holds" if one else "hold"}
    return words.format(n, differs="differs" if one else "differ", **verbs)
