"""`floatgate lifetime`."""

from __future__ import annotations

from typing import Annotated, Unpack

import floatgate
from floatgate.cli.declare import ends_with, option
from floatgate.cli.options import (
    Drive,
    Json,
    Out,
    Policy,
    Quiet,
    Seed,
    Set,
    Workload,
    choices,
    opens_files,
    reads,
)
from floatgate.cli.show import kept, place_of, print_json
from floatgate.words import colour_wanted
from floatgate.workloads.reading import Reading


@ends_with(choices)
@opens_files
@reads
def lifetime(
    drive: Drive,
    workload: Workload,
    target: Annotated[
        str | None,
        option(
            metavar="TIME",
            help="How long the drive is to last: 5y, 36500h. By default what the drive says.",
        ),
    ] = None,
    recovery: Annotated[
        str | None,
        option(
            metavar="printed|fitted",
            help="Count on what cells recover while they rest. By default rated cycles count.",
        ),
    ] = None,
    advice: Annotated[
        bool,
        option(
            "--advice/--no-advice",
            help="If the target is not reached, find what reaches it: runs of other drives.",
        ),
    ] = True,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Say how long DRIVE lasts under WORKLOAD, and what makes it last: TBW, DWPD, years.

    The drive is filled and aged by the workload itself, unless it or --set says otherwise, and kept
    for the next time. Then one pass over the workload is simulated with the model of the cells;
    what takes years follows from its rate of writing and its write amplification, if they last:
    otherwise no years are named. Where the target is not reached, throttles and other drives that
    reach it are found.
    """
    from floatgate.cli.progress import Progress
    from floatgate.life.lifetime import lifetime_data
    from floatgate.text import lifetime as lifetime_text

    with Progress(quiet=quiet, as_json=as_json) as progress:
        result = floatgate.lifetime(
            drive,
            workload,
            target=target,
            recovery=recovery,
            policy=policy,
            set=set,
            seed=seed,
            out=out,
            progress=progress,
            **reading,
        )
        advised = None
        if advice:
            own = set if target is None else [*set, f"reliability.target={target}"]
            advised = floatgate.advise(
                result,
                drive,
                workload,
                recovery=recovery,
                policy=policy,
                set=own,
                seed=seed,
                progress=progress,
                candidates=progress.candidate,
                **reading,
            )
    with kept(lambda: place_of(result)):
        if as_json:
            found = None if advised is None else advised.data
            print_json("floatgate.lifetime/1", **lifetime_data(result), advice=found)
            return
        page = lifetime_text.page(
            result, advised, counts_recovery=recovery is not None, colour=colour_wanted()
        )
        print(page)
        if result.folder is not None:
            print(f"\nResult: {result.folder}")
