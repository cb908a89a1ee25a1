"""Makes the published results again and renews what the project says of them.

`python scripts/papers.py [--full NAME ...]` runs the quick form of every study, the full one of
those named, without any trace at hand, and rewrites `docs/papers.md` (figure, claim, verdict) and
`python/floatgate/reproduce/verdicts.json`, which `floatgate reproduce` lists.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from floatgate.engine import version
from floatgate.report.model import Finding
from floatgate.report.verdicts import RULE, counts, verdict
from floatgate.reproduce.claims import shown
from floatgate.reproduce.runner import VERDICTS, Reproduction, known, reproduce

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/papers.md"

DOCUMENTS = {
    "AGCR (Li et al., FAST 2016)": ("agcr", "agcr-load"),
    "READY (Lee et al., FAST 2012)": ("ready",),
    "Adaptive bit density and in-place reprogramming (Wu et al., DATE 2018)": ("read-disturb",),
    "Characterizing flash memory (Grupp et al., MICRO 2009)": ("chips", "physics", "mango", "wom"),
    "Laws of garbage collection": ("gc-laws",),
}


def main() -> None:
    """Runs the studies and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", nargs="*", default=[], metavar="NAME")
    full = parser.parse_args().full
    made: dict[str, Reproduction] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in known():
            nothing = Path(folder) / name
            nothing.mkdir()
            quick = name not in full
            made[name] = reproduce(name, quick=quick, traces=nothing, out=nothing / "out")
            print(name, counts(made[name].report.tables))
    forms = {name: "full" if name in full else "quick" for name in made}
    stored = {
        name: {"form": forms[name], "verdicts": counts(each.report.tables)}
        for name, each in made.items()
    }
    VERDICTS.write_text(json.dumps({"version": version(), "studies": stored}, indent=1) + "\n")
    PAGE.write_text("\n".join(page(made, forms)) + "\n")


def page(made: dict[str, Reproduction], forms: dict[str, str]) -> Iterator[str]:
    """The lines of the page."""
    yield "# Papers: figure, claim, verdict"
    yield ""
    yield (
        "Every published number and statement that a study looks at, and what became of it. "
        "`python scripts/papers.py` makes this page from the studies' claims, without any trace at "
        "hand: what rests on a stand-in of a trace is marked \\*. "
        + RULE
        + " `input`: given to the "
        "model, or fitted, so that it can only agree. `check`: runs beside a formula."
    )
    for document, names in DOCUMENTS.items():
        yield ""
        yield f"## {document}"
        for name in names:
            tables = made[name].report.tables
            yield ""
            said = ", ".join(f"{n} {word}" for word, n in counts(tables).items() if n)
            yield f"`floatgate reproduce {name}`, {forms[name]} form: {said or 'checks only'}."
            yield ""
            yield "| where | claim | published | ours | verdict |"
            yield "|---|---|---|---|---|"
            for table in tables:
                yield from (
                    _line(row, table.title) for row in table.rows if row.published is not None
                )


def _line(row: Finding, title: str) -> str:
    mark = " \\*" if row.stand_in else ""
    of = f" ({title.partition(': ')[2]})" if "against Li" in title else ""
    said = verdict(row) if row.kind == "output" else row.kind
    cells = (
        row.where or title.partition(":")[0],
        f"{row.what}{of}{mark}",
        shown(row.published, row.unit),
        shown(row.ours, row.unit) or "—",
        said or "in words",
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    main()
