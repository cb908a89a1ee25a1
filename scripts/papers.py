"""Makes the published results again and renews what the project says of them.

`python scripts/papers.py [--full NAME ...] [--runs DIR]` runs the quick form of every study, and
the full one of those named, without any trace at hand. It checks that each claim rests on the runs
that it names. It writes `docs/papers.md` (each fact, and its verdict in both forms) and
`python/floatgate/reproduce/verdicts.json`, which `floatgate reproduce` lists. Beside itself it
writes `papers.json`: the rows of the full forms, and a digest of their runs. A full form that is
stopped is resumed with the same `--runs`.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.engine import version
from floatgate.report.model import Finding, Table
from floatgate.report.verdicts import KINDS, MISSING, RULE, Fact, counts, facts, in_words
from floatgate.reproduce.changes import FILE as CHANGES
from floatgate.reproduce.claims import shown
from floatgate.reproduce.runner import FILE, VERDICTS, Reproduction, known, prepared, reproduce
from floatgate.text.comparison import failures

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))

from walk import not_carried  # noqa: E402

PAGE = ROOT / "docs/papers.md"
FULL = Path(__file__).with_suffix(".json")

DOCUMENTS = {
    "AGCR (Li et al., FAST 2016)": ("agcr", "agcr-load"),
    "READY (Lee et al., FAST 2012)": ("ready",),
    "Adaptive bit density and in-place reprogramming (Wu et al., DATE 2018)": ("read-disturb",),
    "Characterizing flash memory (Grupp et al., MICRO 2009)": ("chips", "physics", "mango", "wom"),
    "Program and erase suspension (Wu and He, FAST 2012)": ("suspend",),
    "FDP drives with WARP (FAST 2026)": ("fdp",),
    "Laws of garbage collection": ("gc-laws",),
    "Separation of data": ("separation",),
}


def main() -> None:
    """Runs the studies and writes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", nargs="*", default=[], metavar="NAME", choices=known())
    parser.add_argument("--runs", type=Path, metavar="DIR")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = asked.runs or Path(folder)
        quick = {name: made(name, runs, quick=True) for name in known()}
        full = {name: made(name, runs, quick=False) for name in asked.full}
    stored = kept()
    for name, each in full.items():
        stored[name] = {"plan": plan(name), "rows": rows(each.report.tables)}
    FULL.write_text(text(stored))
    became = {
        name: {"quick": counts(each.report.tables)}
        | ({"full": counts(tables(stored[name]["rows"]))} if name in stored else {})
        for name, each in quick.items()
    }
    VERDICTS.write_text(json.dumps({"version": version(), "studies": became}, indent=1) + "\n")
    PAGE.write_text("\n".join(page(quick, stored, became)) + "\n")


def made(name: str, runs: Path, *, quick: bool) -> Reproduction:
    """A study in one form, whose claims rest on the runs they name."""
    nothing = runs / "no-traces"
    nothing.mkdir(parents=True, exist_ok=True)
    out = runs / f"{name}-{'quick' if quick else 'full'}"
    found = reproduce(name, quick=quick, traces=nothing, out=out)
    print(out.name, counts(found.report.tables))
    form = known()[name].quick() if quick else known()[name]
    if lacking := [*not_carried(found, prepared(form, nothing, out))]:
        sys.exit("\n".join(lacking))
    if failed := failures(found.report.runs):
        sys.exit(failed)
    return found


def kept() -> dict[str, Any]:
    """Results of the full forms when they were run."""
    stored: dict[str, Any] = json.loads(FULL.read_text()) if FULL.exists() else {}
    return stored


def plan(name: str) -> str:
    """The digest of all that the full form of a study runs: settings, readings, files beside it."""
    experiment = known()[name]
    runs = [
        [{**run.names}, *(Path(str(f)).name for f in (run.part.drive, run.part.workload)),
         {**run.part.policy}, {**run.part.set}, run.part.seed, {**run.reading}]
        for run in experiment.planned()
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(runs).encode())
    for path in sorted(experiment.folder.rglob("*.toml")):
        if path.name not in (FILE, CHANGES):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def text(stored: Mapping[str, Any]) -> str:
    """The file, a row on each line."""
    studies = []
    for name, each in sorted(stored.items()):
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in each["rows"])
        studies.append(f'"{name}": {{"plan": "{each["plan"]}", "rows": [\n  {lines}\n]}}')
    return "{\n" + ",\n".join(studies) + "\n}\n"


KEPT = ("what", "where", "published", "ours", "unit", "stand_in", "kind", "band", "fact", "change")
"""The stored values of a row that differ from the usual ones."""


def rows(found: Sequence[Table]) -> list[dict[str, Any]]:
    """The stored values of each row with a published value, and the title of its table."""
    usual = Finding("", "", None, None)
    return [
        {"table": table.title}
        | {key: value for key in KEPT if (value := getattr(row, key)) != getattr(usual, key)}
        for table in found
        for row in table.rows
        if row.published is not None
    ]


def tables(stored: Sequence[Mapping[str, Any]]) -> list[Table]:
    """The tables of such rows."""
    found: dict[str, list[Finding]] = {}
    for row in stored:
        usual = Finding(row.get("what", ""), row.get("where", ""), row["published"], None)
        own = {key: value for key, value in row.items() if key in KEPT}
        found.setdefault(row["table"], []).append(usual._replace(**own))
    return [Table(title, each) for title, each in found.items()]


def page(
    quick: Mapping[str, Reproduction],
    stored: Mapping[str, Any],
    became: Mapping[str, Mapping[str, Mapping[str, Mapping[str, int]]]],
) -> Iterator[str]:
    """The lines of the page."""
    yield "# Papers: each published fact and its verdict"
    yield ""
    yield (
        "You can look up here what floatgate reproduces of each paper. The full form of a study is "
        "the evidence; the quick form takes a minute. No trace was at hand, so facts rest on "
        "stand-ins of traces where they are marked \\*. `python scripts/papers.py` writes this "
        "page."
    )
    yield ""
    yield RULE
    yield ""
    yield "Only outputs of the model are counted as facts. The other rows of the reports are:"
    yield ""
    yield from (f"* `{kind}`: {means}." for kind, means in KINDS.items() if kind != "output")
    yield ""
    yield (
        "*Undone by* names the change of a policy that turns the fact to `differs` (a test applies "
        "each). A row that agrees and that no listed change undoes is a `check`."
    )
    for document, names in DOCUMENTS.items():
        yield ""
        yield f"## {document}"
        for name in names:
            yield from _of_study(name, quick[name], stored.get(name), became[name])


def _of_study(
    name: str,
    quick: Reproduction,
    stored: Mapping[str, Any] | None,
    became: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> Iterator[str]:
    """The part of the page about a study."""
    full = tables(stored["rows"]) if stored else []
    yield ""
    yield f"`floatgate reproduce {name}`"
    yield ""
    yield from (f"* {form} form: {said(of)}." for form, of in became.items())
    others = Counter(row.kind for table in full for row in table.rows)
    listed = ", ".join(f"{n} `{kind}`" for kind, n in others.items() if kind != "output")
    if listed:
        yield f"* other rows of the full form: {listed}."
    found = [*lines(quick.report.tables, full)]
    if found:
        yield ""
        yield "| where | fact | published | full | verdict | quick | verdict | undone by |"
        yield "|---|---|---|---|---|---|---|---|"
        yield from found


def said(of: Mapping[str, Mapping[str, int]]) -> str:
    """How many facts of a form have which verdict."""
    words = {group: in_words(counted) for group, counted in of.items()}
    return "; ".join(f"{group}: {each}" for group, each in words.items() if each) or "checks only"


def lines(quick: Sequence[Table], full: Sequence[Table]) -> Iterator[str]:
    """A line for each fact, with both forms side by side; a fact that a form lacks stays empty."""
    forms = [{fact.name: fact for fact in facts(form)} for form in (full, quick)]
    for name in {**forms[0], **forms[1]}:
        both = [form.get(name) for form in forms]
        there = [fact for fact in both if fact]
        # A fact that no form has measured is a check, or is named in another way, in the full one.
        if full and all(fact.verdict == MISSING for fact in there):
            continue
        row = its_own(there[0])
        mark = " \\*" * any(each.stand_in for fact in there for each in fact.rows)
        cells = [row.where, f"{name}{mark}", shown(row.published, row.unit)]
        for fact in both:
            cells += [values(fact), fact.verdict] if fact else ["", ""]
        cells.append(next((each.change for fact in there for each in fact.rows if each.change), ""))
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def its_own(fact: Fact) -> Finding:
    """The row that a fact has its name from, or else its first."""
    return next((row for row in fact.rows if row.what.startswith(fact.name)), fact.rows[0])


def values(fact: Fact) -> str:
    """Ours of a fact: a number, or the span of its readings where they differ.

    Only readings that show the published number itself are in the span.
    """
    first = its_own(fact)
    same = [row for row in fact.rows if row.published == first.published and row.ours is not None]
    numbers = sorted({float(row.ours) for row in same if isinstance(row.ours, int | float)})
    if not numbers:
        return "—" if not same else str(same[0].ours)
    ends = [shown(number, first.unit) for number in (numbers[0], numbers[-1])]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


if __name__ == "__main__":
    main()
