"""`floatgate run`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Unpack

import floatgate
from floatgate.cli.declare import ends_with, example, option
from floatgate.cli.options import (
    Drive,
    Flow,
    Json,
    Out,
    Policy,
    Quiet,
    Scale,
    Seed,
    Set,
    Snapshots,
    SomeWorkload,
    Steady,
    choices,
    of_flows,
    opens_files,
    reads,
    recorded,
)
from floatgate.cli.show import kept, place_of
from floatgate.mistakes import IncompleteError
from floatgate.settings import scaled
from floatgate.words import colour_wanted
from floatgate.workloads.reading import Reading


@ends_with(choices)
@example(
    "floatgate run modern-tlc-small random-write --steady",
    "floatgate run modern-tlc my-trace.csv.zst \\",
    "    --set host.out-of-range=compact --out results",
)
@opens_files
@reads
def run(
    drive: Drive,
    workload: SomeWorkload = None,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    scale: Scale = None,
    seed: Seed = None,
    steady: Steady = False,
    flow: Flow = [],  # noqa: B006
    alone: Annotated[
        bool,
        option("--alone", help="Also run each flow alone, to show who slows whom down."),
    ] = False,
    out: Out = None,
    snapshots: Snapshots = False,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Run WORKLOAD on DRIVE: latency, write amplification and wear, split by cause."""
    from floatgate.cli.ageing import Foretold
    from floatgate.cli.progress import Progress, stages

    what = of_flows(workload, flow)
    set = scaled(set, scale)

    if snapshots and out is None:
        raise IncompleteError("--snapshots is stored beside the result: say where with --out DIR")
    with Progress(quiet=quiet, as_json=as_json) as progress:

        def resolved() -> dict[str, Any]:
            return _resolved(drive, policy, set, seed, steady)

        progress.plan(lambda: stages(resolved()))
        how = {"policy": policy, "set": set, "seed": seed, "steady": steady, "out": out}
        told = Foretold(progress, drive, resolved)
        watch = progress if quiet or as_json else told
        more: Any = how | {"record": recorded(snapshots), "progress": watch} | reading
        result = floatgate.run(drive, what, **more)
        lost = _lost(result, drive, what, more) if alone else None
    with kept(lambda: place_of(result)):
        if as_json:
            print(json.dumps(result.data | ({"alone": lost} if lost else {})))
            return
        from floatgate.text import result as text

        print(text.page(result, colour=colour_wanted()))
        if lost:
            print(f"\n{text.beside(lost, colour=colour_wanted())}")
        if result.folder is not None:
            print(f"\nResult: {result.folder}")


def _resolved(
    drive: str, policy: list[str], set: list[str], seed: int | None, steady: bool
) -> dict[str, Any]:
    """The drive as the run has it."""
    from floatgate.runs.run import resolve
    from floatgate.settings import steadied

    return resolve(drive, policy=policy, set=steadied(set, steady), seed=seed)


def _lost(result: floatgate.Result, drive: str, workload: str, more: Any) -> Any:
    from floatgate.runs.alone import alone, compared

    return compared(result, alone(result, drive, workload, **more))
