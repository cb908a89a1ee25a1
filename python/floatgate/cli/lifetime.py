"""`floatgate lifetime`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Unpack

import floatgate
from floatgate.cli.declare import ends_with, option
from floatgate.cli.options import (
    Drive,
    Json,
    Out,
    Policy,
    Quiet,
    Scale,
    Seed,
    Set,
    Workload,
    choices,
    opens_files,
    reads,
)
from floatgate.cli.show import kept, place_of, print_json
from floatgate.settings import scaled
from floatgate.words import colour_wanted
from floatgate.workloads.reading import Reading

if TYPE_CHECKING:
    from floatgate.life.advice import Advice


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
            help="The required life of the drive: 5y, 36500h. By default that of the drive file.",
        ),
    ] = None,
    recovery: Annotated[
        str | None,
        option(
            metavar="printed|fitted",
            help="Count the recovery of cells while they rest. By default only rated cycles count.",
        ),
    ] = None,
    advice: Annotated[
        bool,
        option(
            "--advice/--no-advice",
            help="If the target is not reached, run changed drives to find one that reaches it.",
        ),
    ] = True,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    scale: Scale = None,
    seed: Seed = None,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Compute how long DRIVE lasts under WORKLOAD: TBW, DWPD, years.

    The drive is filled and aged by the workload itself, unless it or --set says otherwise, and kept
    for the next time. Of a large drive some dies are simulated, with their share of the rest. Then
    one pass over the workload is simulated. Years and TBW follow from its rate of writing and its
    write amplification: one value, or a range with its reason. If the target is not reached,
    throttles and other drives that reach it follow after the answer.
    """
    from floatgate.cli.progress import Progress, stages
    from floatgate.life.lifetime import in_use, lifetime_data
    from floatgate.runs.run import resolve
    from floatgate.text import lifetime as lifetime_text

    set = scaled(set, scale)

    def ahead() -> list[str]:
        age = resolve(drive, policy=policy, set=set, seed=seed)["precondition"]["age"]
        own = [*set, *in_use(age, set)]
        found = stages(resolve(drive, policy=policy, set=own, seed=seed))
        return [*found, "advice"] if advice else found

    with Progress(quiet=quiet, as_json=as_json) as progress:
        progress.plan(ahead)
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

    def search() -> Advice:
        own = set if target is None else [*set, f"reliability.target={target}"]
        with Progress(quiet=quiet, as_json=as_json) as progress:
            progress.plan(ahead)
            return floatgate.advise(
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
            data = search().data if advice else None
            print_json("floatgate.lifetime/1", **lifetime_data(result), advice=data)
            return
        colour = colour_wanted()
        print(lifetime_text.page(result, counts_recovery=recovery is not None, colour=colour))
        if result.folder is not None:
            print(f"\nResult: {result.folder}")
        sys.stdout.flush()
        # The lifetime is printed already. The changes that reach the target need runs of other
        # drives.
        if advice and (found := lifetime_text.advised(search(), colour=colour)):
            print(f"\n{found}")
