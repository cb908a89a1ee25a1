"""`floatgate trace`: workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Unpack

import floatgate
from floatgate.cli.declare import App, Argument, option
from floatgate.cli.options import Json, Quiet, Traces, Workload, reads
from floatgate.cli.show import print_json
from floatgate.workloads.reading import Reading

Covered = Annotated[
    str, option(metavar="DRIVE", help="The drive that a generator without workload.span covers.")
]
SetUp = Annotated[
    list[str],
    option(
        metavar="KEY=VALUE", help="Set a key of the workload: workload.requests=1000. Repeatable."
    ),
]

app = App(help="Look at workloads.")


@app.command("list")
def list_traces(
    name: Annotated[
        str | None,
        Argument(metavar="NAME", help="A group, a publisher, or one trace with all facts."),
    ] = None,
    traces: Traces = None,
    as_json: Json = False,
) -> None:
    """List the published traces that have names, and whether their files are there."""
    from floatgate.text import traces as trace_text

    catalogue = floatgate.traces(traces)
    chosen = trace_text.chosen(catalogue, name)
    if as_json:
        print_json("floatgate.traces/1", **catalogue | {"traces": chosen})
    else:
        print(trace_text.page(catalogue, chosen, name))


@app.command()
@reads
def describe(
    workload: Workload,
    page_size: Annotated[str, option(metavar="SIZE", help="The size of a page.")] = "4KiB",
    epochs: Annotated[
        str | None,
        option(
            metavar="TIME,...", help="Lengths of epochs whose write demand is compared: 1min,2h."
        ),
    ] = None,
    memory: Annotated[
        str | None,
        option(
            metavar="SIZE", help="Memory for the records of pages. Beyond it, pages are sampled."
        ),
    ] = None,
    drive: Covered = "agcr",
    set: SetUp = [],  # noqa: B006
    plot: Annotated[
        Path | None, option(metavar="FILE", help="Write a page with plots (HTML).")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Describe WORKLOAD: mix, sizes, rate, order, and the accesses to its pages."""
    from floatgate import pages
    from floatgate.cli.progress import Progress
    from floatgate.words import colour_wanted
    from floatgate.workloads.describe import text

    if plot is not None:
        pages.check(plot)
    with Progress(quiet=quiet, as_json=as_json) as progress:
        description = floatgate.describe(
            workload,
            page_size,
            epochs=epochs and epochs.split(","),
            memory=memory,
            drive=drive,
            set=set,
            progress=progress,
            **reading,
        )
    if plot is not None:
        description.save_page(plot)
    if as_json:
        print(json.dumps(description.data))
        return
    print(text.page(description.name, description.data, colour=colour_wanted()))
    if plot is not None:
        print(f"\nPage: {plot}")


@app.command()
@reads
def convert(
    workload: Workload,
    out: Annotated[Path, option("--out", "-o", metavar="FILE", help="The file: NAME.parquet.")],
    force: Annotated[bool, option("--force", help="Replace an existing file.")] = False,
    drive: Covered = "agcr",
    set: SetUp = [],  # noqa: B006
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Write WORKLOAD as a Parquet file, which every command reads back at once.

    The file records the source of its requests; a stand-in stays one.
    """
    from floatgate.cli.progress import Progress
    from floatgate.words import number

    with Progress(quiet=quiet, as_json=as_json) as progress:
        said = floatgate.convert(
            workload,
            out,
            force=force,
            drive=drive,
            set=set,
            progress=progress,
            **reading,
        )
    size = out.stat().st_size
    if as_json:
        workload_said = {key: value for key, value in said.items() if key != "schema"}
        print_json("floatgate.conversion/1", path=str(out), bytes=size, workload=workload_said)
        return
    name = said["name"] + (" [stand-in]" if said["stand_in"] else "")
    print(f"{name}: {number(said['requests'])} requests in {out}, {number(size)} bytes")


@app.command()
@reads
def fit(
    trace: Annotated[
        str, Argument(metavar="TRACE", help="A trace file, or a name of the catalogue.")
    ],
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="The file to store it in (TOML)."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Print the profile that a stand-in of TRACE is made from: a workload, once stored.

    For a trace of the catalogue that you do not have it prints the published facts.
    """
    from floatgate.cli.progress import Progress

    if output is not None and output.suffix != ".toml":
        raise floatgate.InputError(f"{output}: a profile is TOML; expected a name ending in .toml")
    with Progress(quiet=quiet, as_json=as_json) as progress:
        profile = floatgate.fit(
            trace,
            progress=progress,
            **reading,
        )
    if output is not None:
        profile.save(output)
    if as_json:
        print_json("floatgate.profile/1", profile=profile.data)
    elif output is None:
        print(profile.text, end="")
    else:
        print(f"Stored {output}: run it, or describe it, as a workload.")
