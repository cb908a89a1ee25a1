"""`floatgate sweep`, `floatgate results` and `floatgate reproduce`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from floatgate.cli.declare import Argument, option
from floatgate.cli.options import (
    ClusterAddress,
    Json,
    Quiet,
    Scale,
    Traces,
    Workers,
    executor_of,
    opens_files,
)
from floatgate.cli.show import comma_separated, print_json, several
from floatgate.mistakes import ConflictError, FileError, NoFileError
from floatgate.words import colour_wanted, duration, filled, hanging, page_width, size

if TYPE_CHECKING:
    from floatgate import Comparison
    from floatgate.report.live import Live
    from floatgate.runs.batch import Standing
    from floatgate.runs.sweep import Prepared

Results = Annotated[
    Path | None,
    option("--out", metavar="DIR", help="The results; by default floatgate-results/NAME."),
]
Quick = Annotated[bool, option("--quick", help="Run the quick form of the file.")]


@opens_files
def sweep(
    experiment: Annotated[Path, Argument(metavar="EXPERIMENT", help="An experiment file (TOML).")],
    quick: Quick = False,
    scale: Scale = None,
    traces: Traces = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    out: Results = None,
    dry_run: Annotated[
        bool,
        option("--dry-run", help="Only print the number of runs, and their time and memory."),
    ] = False,
    report: Annotated[
        bool, option("--report", help="Write a page with tables and plots, DIR/report.html.")
    ] = False,
    watch: Annotated[
        bool,
        option(
            "--watch",
            help="Show finished runs on a page that this machine alone can open; its address "
            "is printed, and it stays until Ctrl-C.",
        ),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the missing runs of an experiment.

    A sweep that was stopped, by Ctrl-C or otherwise, is resumed by the same command.
    """
    from floatgate.cli.progress import RunsProgress
    from floatgate.cli.watch import watched
    from floatgate.runs.sweep import carry_on, prepare

    executor = executor_of(cluster, workers)
    with RunsProgress(quiet=quiet, as_json=as_json) as progress:
        prepared = prepare(
            experiment, quick=quick, scale=scale, out=out, traces=traces, progress=progress
        )
    if dry_run:
        if watch:
            raise ConflictError("either --dry-run, which makes no run, or --watch")
        _dry_run(prepared, executor.cores() if executor else workers, as_json)
        return
    live = _live(prepared) if watch else None
    with watched(live) if live else nullcontext():
        try:
            with RunsProgress(quiet=quiet, as_json=as_json) as progress:

                def told(standing: Standing) -> None:
                    progress(standing)
                    if live:
                        live.standing = standing

                comparison = carry_on(prepared, workers=workers, executor=executor, progress=told)
        except KeyboardInterrupt:
            done = prepared.done()
            print(
                f"{done} of {len(prepared.plans)} runs are done: {prepared.out}\n"
                "The same command goes on from there.",
                file=sys.stderr,
            )
            raise
        _show(prepared, comparison, report, as_json)


def _show(prepared: Prepared, comparison: Comparison, report: bool, as_json: bool) -> NoReturn:
    """Prints the results, with a report if one is requested, and ends the command."""
    from floatgate.reproduce import claims
    from floatgate.text import comparison as comparison_text

    whole = claims.report_of(prepared.experiment, comparison)
    page = Path(prepared.out) / "report.html"
    if report and comparison.runs:
        claims.save(whole, page)

    def words() -> str:
        first = prepared.experiment.measures
        parts = [comparison_text.page(comparison, colour=colour_wanted(), first=first)]
        parts += [claims.table_text(table) for table in whole.tables]
        parts.append(f"Results: {prepared.out}" + (f"\nReport: {page}" if report else ""))
        return "\n\n".join(parts)

    several(comparison, prepared.out, words, as_json)


def _live(prepared: Prepared) -> Live:
    """The page of a sweep."""
    from floatgate.report.live import Live

    names = [plan.job.run_id for plan in prepared.plans]
    return Live(
        [Path(prepared.out)],
        title=prepared.experiment.title,
        # A run that has no name beforehand can be any that is stored there.
        only=None if None in names else filter(None, names),
        measures=prepared.experiment.measures,
    )


def results(
    sql: Annotated[
        str | None,
        Argument(metavar="SQL", help='A question: "SELECT victim, waf FROM runs".'),
    ] = None,
    folders: Annotated[
        list[Path] | None,
        Argument(metavar="DIR...", help="Folders of results; by default floatgate-results."),
    ] = None,
    as_json: Json = False,
    csv: Annotated[bool, option("--csv", help="Print comma-separated values.")] = False,
    unsafe_sql: Annotated[
        bool,
        option(
            "--unsafe-sql", help="Let the question read other files, and load extensions of DuckDB."
        ),
    ] = False,
    serve: Annotated[
        bool,
        option(
            "--serve",
            help="Instead of a question: show the results of DIR... on a page that this machine "
            "alone can open, to filter and compare, until Ctrl-C.",
        ),
    ] = False,
) -> None:
    """Ask stored results a question in SQL (DuckDB).

    The table runs has a row for each run: the varied settings, and every number, named by its path
    with underscores, such as host_write_latency_ns_p99. Other tables are requests, series, blocks,
    snapshots and occupancy (with run_id). Without a question: the columns of runs.
    """
    from floatgate.result.tables import query

    if as_json and csv:
        raise ConflictError("either --json or --csv")
    if serve:
        if as_json or csv or unsafe_sql:
            raise ConflictError("--serve shows a page: leave out --json, --csv and --unsafe-sql")
        _serve([*([Path(sql)] if sql else []), *(folders or [])] or [Path("floatgate-results")])
        return
    question = sql or "SELECT column_name, column_type FROM (DESCRIBE runs)"
    columns, rows = query(question, folders or ["floatgate-results"], unsafe=unsafe_sql)
    if as_json:
        values = [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]
        print_json("floatgate.results/1", columns=columns, rows=values)
    elif csv:
        print(comma_separated([columns, *rows]))
    else:
        print(_table(columns, rows))


def _serve(folders: list[Path]) -> None:
    from floatgate.cli.watch import stay
    from floatgate.report.live import Live

    for folder in folders:
        if not folder.is_dir():
            if folder.exists():
                raise FileError(f"{folder}: this is not a folder; expected a folder of results")
            raise NoFileError(f"{folder}: there is no such folder; expected one with results")
    stay(Live(folders))


def reproduce(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="The study to reproduce; by default the list of studies."),
    ] = None,
    quick: Annotated[
        bool, option("--quick", help="Fewer points: at most a minute on two cores.")
    ] = False,
    traces: Traces = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    out: Results = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce published results, on a page that compares both."""
    from floatgate.cli.progress import RunsProgress
    from floatgate.report.verdicts import RULE, counts, headline, in_words, verdict
    from floatgate.reproduce import claims
    from floatgate.reproduce.runner import known, measurements, verdicts
    from floatgate.reproduce.runner import reproduce as make
    from floatgate.text.comparison import failures

    if name is None:
        titles = {n: e.title for n, e in known().items()} | measurements()
        became = verdicts()
        if as_json:
            listed = [{"name": n, "title": t, **became.get(n, {})} for n, t in titles.items()]
            print_json("floatgate.reproduce/1", experiments=listed)
            return
        width = max(map(len, titles))
        for n, title in titles.items():
            print(f"{n:<{width}}  {title}")
            for form, of in became.get(n, {}).items():
                groups = ((group, in_words(counted)) for group, counted in of.items())
                if said := "; ".join(f"{group}: {words}" for group, words in groups if words):
                    print(f"{'':<{width}}  {form} form, without traces: {said}")
        return
    if name in measurements():
        _measure(name, quick, traces, workers, out, as_json, quiet)
        return
    executor = executor_of(cluster, workers)
    try:
        with RunsProgress(quiet=quiet, as_json=as_json) as progress:
            made = make(
                name,
                quick=quick,
                traces=traces,
                out=out,
                workers=workers,
                executor=executor,
                progress=progress,
            )
    except KeyboardInterrupt:
        print("The same command resumes after the completed runs.", file=sys.stderr)
        raise
    failed = failures(made.report.runs)
    if as_json:
        tables = [
            {
                "title": table.title,
                "rows": [row._asdict() | {"verdict": verdict(row)} for row in table.rows],
            }
            for table in made.report.tables
        ]
        print_json(
            "floatgate.reproduction/1",
            name=name,
            quick=quick,
            report=str(made.page),
            verdicts=counts(made.report.tables),
            says=made.report.says,
            tables=tables,
            sheets=[asdict(sheet) for sheet in made.report.sheets],
            missed=list(made.missed),
            failed=made.report.runs.failed,
        )
        if failed:
            print(failed, file=sys.stderr)
    else:
        parts = [made.report.title]
        parts += map(claims.table_text, made.report.tables)
        if any(row.stand_in for table in made.report.tables for row in table.rows):
            parts.append(fill(f"[stand-in]: {made.report.doubt}.", 78))
        if made.missed:
            parts.append("Outside its tolerance:\n" + "\n".join(f"  {m}" for m in made.missed))
        if failed:
            parts.append(failed)
        found, became_of = headline(made.report)
        if became_of:
            parts += [fill(found, 78)] * bool(found) + [fill(f"{became_of} {RULE}", 78)]
        parts.append(f"Report: {made.page}")
        print("\n\n".join(parts))
    sys.exit(made.report.runs.exit_code)


def _measure(
    name: str,
    quick: bool,
    traces: Traces,
    workers: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measurements without an experiment to sweep."""
    import importlib

    from floatgate.cli.progress import FramesProgress

    if traces:
        raise ConflictError(f"`{name}` reads no traces: leave out --traces")
    module = importlib.import_module(f"floatgate.reproduce.studies.{name}")
    with FramesProgress(quiet=quiet, as_json=as_json) as progress:
        made = module.measure(quick=quick, out=out, workers=workers, progress=progress)
    if as_json:
        print_json(f"floatgate.{name}/1", **{k: v for k, v in made.data.items() if k != "schema"})
    else:
        written = "\n".join(f"  {path}" for path in made.files)
        print(f"{module.TITLE}\n\n{made.text}\n\nWritten:\n{written}")


def _dry_run(prepared: Any, workers: int | None, as_json: bool) -> None:
    from floatgate.runs.estimate import estimate

    found = estimate(prepared.plans, workers)
    if as_json:
        print_json(
            "floatgate.dry-run/1",
            name=prepared.experiment.name,
            out=prepared.out,
            runs=found.runs,
            done=found.done,
            seconds=found.seconds,
            bytes=found.bytes,
            workers=found.workers,
            how=found.how,
        )
        return
    head = f"{prepared.experiment.title}: {found.runs} runs, {found.done} of them done"
    lines = [filled(head, page_width(), later="  ")]
    if found.done < found.runs:
        time = (
            f"about {duration(1e9 * found.seconds)} with {found.workers} runs at a time, "
            f"{found.how}; right within a factor of three"
        )
        memory = (
            f"at most {size(found.bytes)}: 12 bytes for each physical page and 112 MiB for each "
            "run at work"
        )
        lines += [
            hanging("  time    ", time, page_width()),
            hanging("  memory  ", memory, page_width()),
        ]
    lines.append(f"  results {prepared.out}")
    print("\n".join(lines))


def _table(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    shown = [columns, *(["" if cell is None else _cell(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)] if columns else []
    right = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        for i in range(len(columns))
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in shown
    )


def _cell(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _plain(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, str | int | float | bool) else str(cell)
