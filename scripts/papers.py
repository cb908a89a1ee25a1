"""Makes the published results again and renews what the project says of them.

`python scripts/papers.py [--full NAME ...] [--runs DIR]` runs the quick form of every study, and
the full one of those named, without any trace at hand; it checks that each claim rests on what it
names. It writes `docs/papers.md` (figure, claim, and its verdict in both forms),
`python/floatgate/reproduce/verdicts.json`, which `floatgate reproduce` lists, and beside itself
`papers.json`: what the full forms gave, and a digest of what they ran. A full form that is stopped
goes on with the same `--runs`.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.engine import version
from floatgate.report.model import Finding
from floatgate.report.verdicts import RULE, counts, verdict
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
    "Laws of garbage collection": ("gc-laws",),
}

Claim = tuple[str, str, str]
"""The title of its table, where the publication has it, what it is about."""


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
    stored, old = kept(), json.loads(VERDICTS.read_text())["studies"]
    for name, each in full.items():
        stored[name] = {"plan": plan(name), "claims": claims(each)}
    FULL.write_text(text(stored))
    became = {
        name: {"quick": counts(each.report.tables)}
        | ({"full": counts(full[name].report.tables)} if name in full else {})
        for name, each in quick.items()
    }
    became = {name: {**old.get(name, {}), **forms} for name, forms in became.items()}
    VERDICTS.write_text(json.dumps({"version": version(), "studies": became}, indent=1) + "\n")
    PAGE.write_text("\n".join(page(quick, stored, became)) + "\n")


def made(name: str, runs: Path, *, quick: bool) -> Reproduction:
    """A study in one form, whose claims rest on what they name."""
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
    """What the full forms gave when they were run."""
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
        if path.name != FILE:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def text(stored: Mapping[str, Any]) -> str:
    """The file, a claim on each line."""
    studies = []
    for name, each in sorted(stored.items()):
        rows = ",\n  ".join(json.dumps(claim, ensure_ascii=False) for claim in each["claims"])
        studies.append(f'"{name}": {{"plan": "{each["plan"]}", "claims": [\n  {rows}\n]}}')
    return "{\n" + ",\n".join(studies) + "\n}\n"


def claims(found: Reproduction) -> list[list[str]]:
    """What a page says of each claim: its name, what was published, mark, ours, verdict."""
    return [
        [table.title, row.where, row.what, shown(row.published, row.unit), "\\*" * row.stand_in,
         shown(row.ours, row.unit) or "—", judged(row)]
        for table in found.report.tables
        for row in table.rows
        if row.published is not None
    ]  # fmt: skip


def named(rows: Iterable[Sequence[str]]) -> dict[Claim, Sequence[str]]:
    """Such rows by claim."""
    return {(title, where, what): row for row in rows for title, where, what, *_ in [row]}


def judged(row: Finding) -> str:
    """The verdict of a row in a word or two."""
    return row.kind if row.kind != "output" else verdict(row) or "in words"


def page(
    quick: Mapping[str, Reproduction],
    stored: Mapping[str, Any],
    became: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> Iterator[str]:
    """The lines of the page."""
    yield "# Papers: figure, claim, verdict"
    yield ""
    yield (
        "Every published number and statement that a study looks at, and what became of it in the "
        "quick form and in the full one, which is the evidence. `python scripts/papers.py` makes "
        "this page from the studies' claims, without any trace at hand: what rests on a stand-in "
        "of a trace is marked \\*. " + RULE + " `input`: given to the model, or fitted, so that "
        "it can only agree. `check`: runs beside a formula."
    )
    for document, names in DOCUMENTS.items():
        yield ""
        yield f"## {document}"
        for name in names:
            yield ""
            yield f"`floatgate reproduce {name}`: {said(became[name])}."
            yield ""
            yield "| where | claim | published | quick | verdict | full | verdict |"
            yield "|---|---|---|---|---|---|---|"
            yield from lines(claims(quick[name]), stored.get(name, {}).get("claims", []))


def said(forms: Mapping[str, Mapping[str, int]]) -> str:
    """How many claims have which verdict in each form."""
    words = {
        form: ", ".join(f"{n} {word}" for word, n in of.items() if n) or "checks only"
        for form, of in forms.items()
    }
    return "; ".join(f"{form} form, {of}" for form, of in words.items())


def lines(quick: Iterable[Sequence[str]], full: Iterable[Sequence[str]]) -> Iterator[str]:
    """A line for each claim with both forms side by side; what one form lacks stays empty."""
    forms = named(quick), named(full)
    for title, where, what in {**forms[1], **forms[0]}:
        rows = [form.get((title, where, what)) for form in forms]
        of = f" ({title.partition(': ')[2]})" if "against Li" in title else ""
        there = [row for row in rows if row]
        published, mark = there[-1][3], max(row[4] for row in there)
        cells = [where or title.partition(":")[0], f"{what}{of} {mark}".rstrip(), published]
        for row in rows:
            # A formula of a smaller drive has another number.
            other = f" against {row[3]}" if row and row[3] != published else ""
            cells += [row[5] + other, row[6]] if row else ["", ""]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    main()
