"""`floatgate lifetime`."""

from __future__ import annotations

from typing import Annotated

import typer

import floatgate
from floatgate.cli.options import (
    Columns,
    Device,
    Drive,
    Event,
    Format,
    Json,
    Out,
    Policy,
    Process,
    Quiet,
    Seed,
    Set,
    SkipBad,
    TimeUnit,
    Traces,
    Workload,
)
from floatgate.cli.show import print_json


def lifetime(
    drive: Drive,
    workload: Workload,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long the drive is to last: 5y, 36500h. By default what the drive says.",
        ),
    ] = None,
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
    """Say how long DRIVE lasts under WORKLOAD: TBW, DWPD, years, errors, retention.

    One pass over the workload is simulated with the model of the cells; what takes years follows
    from its rate of writing and its write amplification, and is marked as extrapolated.
    """
    from floatgate import lifetime_text, text
    from floatgate.lifetime import lifetime_data
    from floatgate.progress import Progress

    with Progress(quiet=quiet) as progress:
        result = floatgate.lifetime(
            drive,
            workload,
            target=target,
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
        print_json("floatgate.lifetime/1", **lifetime_data(result))
        return
    print(lifetime_text.page(result, colour=text.colour_wanted()))
    if result.folder is not None:
        print(f"\nResult: {result.folder}")
