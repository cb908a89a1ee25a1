"""`floatgate trace`: workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import floatgate
from floatgate.cli.options import (
    Columns,
    Device,
    Event,
    Format,
    Json,
    Process,
    Quiet,
    SkipBad,
    TimeUnit,
    Traces,
    Workload,
)
from floatgate.cli.show import print_json

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@app.command("list")
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
        print_json("floatgate.traces/1", **catalogue | {"traces": chosen})
    else:
        print(trace_text.page(catalogue, chosen, name))


@app.command()
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
    from floatgate import pages
    from floatgate.description import text
    from floatgate.progress import Progress
    from floatgate.text import colour_wanted

    if plot is not None:
        pages.check(plot)
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
