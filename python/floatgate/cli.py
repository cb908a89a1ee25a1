"""The command `floatgate`. Heavy modules are imported where they are used: help is instant."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

import floatgate
from floatgate import (
    ConfigError,
    InputError,
    InternalError,
    PolicyError,
    completion,
    engine,
)
from floatgate.comparison_text import MEASURES
from floatgate.finder import Finder

app = typer.Typer(
    name="floatgate",
    help="SSD simulator: how fast, for how long, at what energy, "
    "and which flash-management technique changes that.",
    epilog="Exit codes: 0 done (a worn-out drive included), 2 the input is wrong, "
    "1 a bug of floatgate, 130 Ctrl-C.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
config = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
app.add_typer(config, name="config", help="Look at drive files.")
trace = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
app.add_typer(trace, name="trace", help="Look at workloads.")

Drive = Annotated[str, typer.Argument(metavar="DRIVE", help="A preset's name, or a TOML file.")]
Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A trace file, a trace of the catalogue such as msr:hm_0, a generator such as "
        "random-write, or a TOML file that sets one up.",
    ),
]
Set = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting: ftl.spare-factor=0.2. Repeatable."
    ),
]
Policy = Annotated[
    list[str],
    typer.Option(
        "--policy",
        metavar="FAMILY=NAME[:KEY=VALUE]...",
        autocompletion=completion.policy,
        help="Choose a policy: cost=fixed:level=low. Repeatable.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Seed of every random stream.")
]
Format = Annotated[
    str | None, typer.Option(metavar="NAME", help="The trace's format; by default it is sniffed.")
]
TimeUnit = Annotated[
    str | None, typer.Option(metavar="UNIT", help="Unit of the trace's times: s, ms, us or ns.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="MAP",
        help="What a table's columns hold: time=1:us,op=2,offset=3,size=4:sectors,device=5.",
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="LETTER",
        help="With which event of blkparse a request arrives: Q (queued), D (issued), "
        "C (completed).",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME[,NAME]...", help="Only requests to these devices of the trace."),
]
Process = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Only requests of this process, by name or number."),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Count records that cannot be read, and go on.")
]
Traces = Annotated[
    list[Path] | None,
    typer.Option(
        "--traces",
        metavar="DIR",
        help="Where traces of the catalogue lie; by default FLOATGATE_TRACES. Repeatable.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on standard output.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Store the result in DIR/RUN-ID, and its requests, series and blocks as Parquet.",
    ),
]


def main() -> None:
    """Runs the command line and exits: 2 if the input is wrong, 1 if floatgate is."""
    if (answers := completion.bash_policy()) is not None:
        print("\n".join(answers))
        return
    sys.path.append("")  # policies may lie in the current folder
    try:
        app(prog_name="floatgate")
    except ConfigError as error:
        _fail(str(error), 2)  # a list of errors, each with its lines
    except PolicyError as error:
        if error.__cause__ is not None:
            import traceback

            traceback.print_exception(error.__cause__)
        _fail(f"error: {error}", 2)
    except InputError as error:
        _fail(f"error: {error}", 2)
    except InternalError as error:
        _fail(
            f"floatgate has a bug: {error}\n"
            "The input is not at fault. Please report this with the command and the drive file.",
            1,
        )


def _version(wanted: bool) -> None:
    if wanted:
        print(f"floatgate {floatgate.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def _choices() -> str:
    """What DRIVE and WORKLOAD can be without a file, and what files can be."""

    def paragraph(indent: str, text: str) -> str:
        return textwrap.fill(text, 77, initial_indent=indent, subsequent_indent=" " * len(indent))

    def table(title: str, rows: dict[str, str]) -> str:
        width = max(map(len, rows)) + 2
        lines = [paragraph(f"  {name:<{width}}", what) for name, what in rows.items()]
        return f"\b\n{title}:\n" + "\n".join(lines)

    drives = "\b\nDrives:\n" + paragraph("  ", ", ".join(floatgate.drives()))
    generators = table("Generators", floatgate.generators())
    formats = table("Formats of traces (plain, gzip, zstd or xz)", floatgate.formats())
    return "\n\n".join((drives, generators, formats))


@app.command(epilog=_choices())
def run(
    drive: Drive,
    workload: Workload,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    format: Format = None,
    time_unit: TimeUnit = None,
    columns: Columns = None,
    event: Event = None,
    device: Device = None,
    process: Process = None,
    skip_bad: SkipBad = False,
    traces: Traces = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run WORKLOAD on DRIVE: latency, write amplification and wear, split by cause."""
    from floatgate import text
    from floatgate.progress import Progress

    with Progress(quiet=quiet) as progress:
        result = floatgate.run(
            drive,
            workload,
            policy=policy,
            set=set,
            seed=seed,
            format=format,
            time_unit=time_unit,
            columns=columns,
            event=event,
            device=device or (),
            process=process,
            skip_bad=skip_bad,
            traces=traces,
            out=out,
            progress=progress,
        )
    if as_json:
        print(json.dumps(result.data))
        return
    print(text.page(result, colour=text.colour_wanted()))
    if result.folder is not None:
        print(f"\nResult: {result.folder}")


@app.command(epilog=_choices())
def compare(
    drive: Annotated[
        str,
        typer.Argument(metavar="DRIVE", help="A preset's name, or a TOML file; or a list of them."),
    ],
    workload: Annotated[
        str,
        typer.Argument(
            metavar="WORKLOAD",
            help="A trace file, a generator such as random-write, or a TOML file that sets one "
            "up; or a list of them.",
        ),
    ],
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            metavar="FAMILY=NAME[:KEY=VALUE]...,...",
            autocompletion=completion.policy,
            help="Policies of a family: cost=fixed:level=low,fixed:level=high. Repeatable.",
        ),
    ] = [],  # noqa: B006
    set: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE,...",
            help="Values of a setting: ftl.spare-factor=0.07,0.2. Repeatable.",
        ),
    ] = [],  # noqa: B006
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="N,...", help="Seeds of every random stream."),
    ] = None,
    format: Format = None,
    time_unit: TimeUnit = None,
    columns: Columns = None,
    event: Event = None,
    device: Device = None,
    process: Process = None,
    skip_bad: SkipBad = False,
    traces: Traces = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes at work; by default one for each core."),
    ] = None,
    bars: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help=f"Draw this measure as bars: {', '.join(MEASURES)}."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Store the results here; by default in a folder of floatgate-results that is "
            "named by what is compared.",
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run every combination of the values given, and show the results side by side.

    Wherever one value can stand, so can a list with commas; a comma within quotes or brackets
    belongs to its value. Every run is checked before the first starts, and each result is stored
    as soon as it is there.
    """
    from floatgate import comparison_text, text
    from floatgate.progress import RunsProgress
    from floatgate.variants import expand, folder_name

    if bars is not None and bars not in MEASURES:
        raise InputError(f"--bars: `{bars}` is not a measure; there are {', '.join(MEASURES)}")
    if out is None:
        variants = expand(drive, workload, policy, set, seed)
        out = Path("floatgate-results") / folder_name(variants)
    try:
        with RunsProgress(quiet=quiet) as progress:
            comparison = floatgate.compare(
                drive,
                workload,
                policy=policy,
                set=set,
                seed=seed,
                format=format,
                time_unit=time_unit,
                columns=columns,
                event=event,
                device=device or (),
                process=process,
                skip_bad=skip_bad,
                traces=traces,
                out=out,
                workers=workers,
                progress=progress,
            )
    except KeyboardInterrupt:
        if out.exists():
            print(f"Results so far: {out}", file=sys.stderr)
        raise
    failed = comparison_text.failures(comparison)
    if not comparison.runs:
        _fail(failed, comparison.exit_code)
    if as_json:
        print(json.dumps(comparison.data))
        if failed:
            print(failed, file=sys.stderr)
    else:
        print(comparison_text.page(comparison, colour=text.colour_wanted(), bars=bars))
        print(f"\nResults: {out}")
    sys.exit(comparison.exit_code)


@app.command()
def policies(
    family: Annotated[str | None, typer.Argument(help="Only this family.")] = None,
    as_json: Json = False,
) -> None:
    """List the policies by family; of one FAMILY, with parameters and papers."""
    known = floatgate.policies()
    if family is not None:
        families = list(dict.fromkeys(p["family"] for p in known))
        known = [p for p in known if p["family"] == family]
        if not known:
            raise InputError(f"`{family}` is not a family; there are {', '.join(families)}")
    if as_json:
        _print_json("floatgate.policies/1", policies=known)
        return
    from floatgate import text

    print(text.policies(known, details=family is not None))


@app.command()
def chips(
    name: Annotated[str | None, typer.Argument(help="Only this chip, with every source.")] = None,
    as_json: Json = False,
) -> None:
    """List the built-in chips; of one NAME, its pages and where every number comes from."""
    known = floatgate.chips(name)
    if as_json:
        _print_json("floatgate.chips/1", chips=known)
        return
    from floatgate import text

    print(text.chips(known) if name is None else text.chip(known[0]))


@trace.command("list")
def list_traces(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A group, a publisher, or one trace with all facts."),
    ] = None,
    traces: Traces = None,
    as_json: Json = False,
) -> None:
    """List the published traces that have names, and say which of them are there."""
    from floatgate import trace_text

    catalogue = floatgate.traces(traces)
    chosen = trace_text.chosen(catalogue, name)
    if as_json:
        _print_json("floatgate.traces/1", **catalogue | {"traces": chosen})
    else:
        print(trace_text.page(catalogue, chosen, name))


@config.command()
def show(
    drive: Drive,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Print DRIVE as a run would have it, as a drive file that gives the same drive.

    With --json, also where each setting comes from.
    """
    file, resolved = engine.resolve(drive, policy=policy, set=set, seed=seed, finder=Finder())
    if as_json:
        _print_json("floatgate.config/1", **json.loads(resolved))
    else:
        print(file, end="")


@config.command()
def check(
    drive: Drive,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Say whether DRIVE can run; every mistake is shown with its place."""
    resolved = floatgate.resolve(drive, policy=policy, set=set)
    name = resolved.get("name", drive)
    if as_json:
        _print_json("floatgate.check/1", name=name, valid=True)
    else:
        print(f"{name}: this drive can run")


@config.command()
def schema() -> None:
    """Print the JSON Schema of drive files, for editors."""
    print(json.dumps(floatgate.schema(), indent=2, ensure_ascii=False))


@trace.command()
def describe(
    workload: Workload,
    page_size: Annotated[str, typer.Option(metavar="SIZE", help="What pages are.")] = "4KiB",
    epochs: Annotated[
        str | None,
        typer.Option(metavar="TIME,...", help="Epochs whose write demand is compared: 1min,2h."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="For the records of pages; what is more is sampled."),
    ] = None,
    drive: Annotated[
        str, typer.Option(metavar="DRIVE", help="Covered by a generator without workload.span.")
    ] = "agcr",
    set: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE", help="Set the workload up: workload.requests=1000. Repeatable."
        ),
    ] = [],  # noqa: B006
    format: Format = None,
    time_unit: TimeUnit = None,
    columns: Columns = None,
    event: Event = None,
    device: Device = None,
    process: Process = None,
    skip_bad: SkipBad = False,
    traces: Traces = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots (HTML).")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what WORKLOAD is like: mix, sizes, rate, order, and what its pages see."""
    from floatgate.description import plots, text
    from floatgate.progress import Progress
    from floatgate.text import colour_wanted

    if plot is not None:
        plots.check(plot)
    with Progress(quiet=quiet) as progress:
        description = floatgate.describe(
            workload,
            page_size,
            epochs=epochs and epochs.split(","),
            memory=memory,
            drive=drive,
            set=set,
            format=format,
            time_unit=time_unit,
            columns=columns,
            event=event,
            device=device or (),
            process=process,
            skip_bad=skip_bad,
            traces=traces,
            progress=progress,
        )
    if plot is not None:
        description.save_page(plot)
    if as_json:
        print(json.dumps(description.data))
        return
    print(text.page(description, colour=colour_wanted()))
    if plot is not None:
        print(f"\nPage: {plot}")


def _print_json(schema: str, **values: Any) -> None:
    print(json.dumps({"schema": schema, **values}))


def _fail(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
