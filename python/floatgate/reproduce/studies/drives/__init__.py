"""Drives by name: published numbers of real drives beside what the engine gives for them.

`docs/accuracy.md` has the rules, the table and what follows from it.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from floatgate.published import Fact, Model, Product, products
from floatgate.published.measure import outcome, value
from floatgate.published.rows import (
    Quotient,
    Row,
    as_data,
    distinct,
    measured,
    of_data,
    plans,
    ratios,
    rule_of,
    runs,
    summary,
)
from floatgate.published.rules import NotModelledError
from floatgate.result.files import make_folder
from floatgate.runs.workers.pool import cores

TITLE = "Drives by name: published numbers beside ours"
SCHEMA = "floatgate.published-rows/1"


class Made(NamedTuple):
    """The rows as data and as a text, and the written files."""

    data: dict[str, Any]
    text: str
    files: list[Path]


def measure(
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Made:
    """Runs all rows, and writes `rows.json` and `rows.md` into a folder.

    Args:
        quick: Only rows that need no steady state, without spans.
        out: The folder, by default `floatgate-results/drives`.
        workers: Runs at a time, by default as many as there are cores.
        progress: Called with the number of done runs, and of all.
    """
    known = products()
    wanted = [plan for plan in plans(known) if not (quick and plan[3].steady)]
    every = list(dict.fromkeys(run for plan in wanted for run in runs(plan, spans=not quick)))
    done = {}
    with ThreadPoolExecutor(workers or cores()) as pool:
        # Not by `map`: a mistake in a run ends the command at once.
        going = [pool.submit(outcome, run) for run in every]
        for number, (run, each) in enumerate(zip(every, going, strict=True)):
            done[run] = each.result()
            if progress is not None:
                progress(number + 1, len(going))
    exact = [
        measured(plan, known, spans=not quick, done=done, counted=counted)
        for plan, counted in zip(wanted, distinct(wanted), strict=True)
    ]
    # Summaries follow from the stored numbers, so that a reader gets the same ones.
    rows = of_data(as_data(exact))
    pairs = [] if quick else quotients(rows, known)
    data = {
        "schema": SCHEMA,
        "quick": quick,
        "rows": as_data(rows),
        "quotients": pairs,
        "summary": summary(rows),
    }
    folder = Path(out) if out is not None else Path("floatgate-results") / "drives"
    make_folder(folder)
    files = [folder / "rows.json", folder / "rows.md"]
    files[0].write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    text = page(rows, pairs)
    files[1].write_text(text, encoding="utf-8")
    return Made(data, text, files)


def page(rows: Iterable[Row], pairs: Iterable[Quotient] = ()) -> str:
    """The tables in Markdown: errors by class, quotients of two drives, and every row."""
    rows, pairs = list(rows), list(pairs)
    lines = table(summary(rows))
    if pairs:
        lines += ["", "| over | under | published | ours | error |", "|---|---|---|---|---|"]
        lines += [quotient(*each) for each in pairs]
    lines += [
        "",
        "| drive | number | unit | published | ours | error | span | sibling | formula |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        error = f"{row.error:+.1%}".replace("%", " %")
        span = f"{row.low:.4g} to {row.high:.4g}" if row.span else "nothing is assumed"
        if not row.identified:
            span += ", not identified"
        if not row.counted:
            span += "; not counted"
        lines.append(
            f"| {row.drive} | {row.what} | {row.unit or '-'} | {row.published:.4g} |"
            f" {row.ours:.4g} | {error} | {span} | {_number(row.sibling)} |"
            f" {_number(row.formula)} |"
        )
    return "\n".join(lines) + "\n"


def table(errors: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines of a summary: in the cell of a baseline its error, ours, and the common rows."""
    lines = [
        "| class | rows | median error | 90 % of rows | sibling, ours | formula, ours |"
        " not identified |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in errors:
        lines.append(
            f"| {each['class']} | {each['rows']} | {_share(each['median'])} |"
            f" {_share(each['p90'])} | {_beside(each['sibling'])} | {_beside(each['formula'])} |"
            f" {each['not_identified']} |"
        )
    return lines


def quotient(over: str, under: str, published: float, ours: float) -> str:
    """The line of two drives."""
    off = f"{ours / published - 1:+.1%}".replace("%", " %")
    return f"| {over} | {under} | {published:.3g} | {ours:.3g} | {off} |"


def _beside(baseline: Mapping[str, Any]) -> str:
    if not baseline["rows"]:
        return "-"
    theirs, ours = _share(baseline["theirs"]), _share(baseline["ours"])
    return f"{theirs}, {ours} ({baseline['rows']})"


def quotients(rows: Iterable[Row], known: Mapping[str, Product]) -> list[Quotient]:
    """The published quotients of two drives beside ours. A drive without a row runs for them."""
    ours = {(row.drive, row.what): row.ours for row in rows}
    models = {model.name: model for product in known.values() for model in product.models}
    for product in known.values():
        facts = {(fact.drive, fact.what): fact for fact in product.facts}
        for fact in product.facts:
            what, _, under = fact.what.partition(" over that of ")
            for key in ((fact.drive, what), (under, what)) if under else ():
                if key not in ours:
                    model = models[key[0]]
                    ours[key] = value(model, rule_of(model, facts[key]))
    return ratios(ours, known)


def predict(asked: Iterable[str]) -> str:
    """Predicts numbers that are kept elsewhere; returns a table of tab-separated values.

    Args:
        asked: Lines with a head: drive, what, unit and conditions, separated by tabs. A row
            may ask for several numbers, separated by ` / `.
    """
    models = {m.name: m for p in products().values() for m in p.models}
    lines = ["drive\twhat\tunit\tconditions\tpredicted"]
    for row in csv.DictReader(asked, delimiter="\t"):
        answers = " / ".join(_answers(row, models))
        lines.append(
            "\t".join((row["drive"], row["what"], row["unit"], row["conditions"], answers))
        )
    return "\n".join(lines) + "\n"


def _answers(row: Mapping[str, str], models: Mapping[str, Model]) -> list[str]:
    words = f"{row['what']} {row['conditions']}"
    if row["what"].startswith("relative life at OP"):
        return _lives(row, models)
    model = models.get(row["drive"])
    if model is None:
        return ["not-modelled: no such drive"]
    if why := _lacking(words, model):
        return [f"not-modelled: {why}"]
    given = []
    for what, conditions in _apart(row["what"], row["conditions"]):
        fact = Fact(row["drive"], what, "", row["unit"], conditions, "", "predicted")
        try:
            given.append(f"{value(model, rule_of(model, fact)):.4g}")
        except NotModelledError:
            given.append("not-modelled: no rule")
    return given


def _lacking(words: str, model: Model) -> str | None:
    """The mechanism that the engine lacks for these words."""
    if model.name.startswith("Samsung 980 ") and "random" in words and "PRO" not in model.name:
        return "map in flash"
    return None


def _apart(what: str, conditions: str) -> list[tuple[str, str]]:
    """A row of several numbers, one by one."""
    if " mean / " in what:
        first = what.split(" mean / ")[0]
        ranks = ("mean", "50 %", "99 %", "99.9 %", "99.99 %")
        return [(f"{first} {rank}", conditions) for rank in ranks]
    for both in ("read / write", "QD1 / QD128"):
        if both in what:
            return [(what.replace(both, one), conditions) for one in both.split(" / ")]
    return [(what, conditions)]


def _lives(row: Mapping[str, str], models: Mapping[str, Model]) -> list[str]:
    """Life over that without spare: the inverse of write amplification."""
    found = []
    for model in (m for name, m in models.items() if name.startswith(row["drive"])):
        fact = Fact(model.name, row["what"], "", "", "", "", "predicted")
        found.append(1 / value(model, rule_of(model, fact)))
    return [f"{each / found[0]:.4g}" for each in found]


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}".replace("%", " %")


def _number(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
