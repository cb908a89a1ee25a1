"""`floatgate run` and `floatgate compare`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

import floatgate
from floatgate import InputError
from floatgate.cli import completion
from floatgate.cli.options import (
    ClusterAddress,
    Drive,
    Flow,
    Json,
    Out,
    Policy,
    Quiet,
    Seed,
    Set,
    Snapshots,
    SomeWorkload,
    Steady,
    Workers,
    executor_of,
    of_flows,
    reads,
)
from floatgate.cli.show import comma_separated, kept, place_of, several
from floatgate.result.folder import TABLES
from floatgate.result.measures import MEASURES, find
from floatgate.words import colour_wanted
from floatgate.workloads.reading import Reading


@reads
def run(
    drive: Drive,
    workload: SomeWorkload = None,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    steady: Steady = False,
    flow: Flow = [],  # noqa: B006
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Run each flow without the others too: who slows whom down."),
    ] = False,
    out: Out = None,
    snapshots: Snapshots = False,
    as_json: Json = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Run WORKLOAD on DRIVE: latency, write amplification and wear, split by cause."""
    from floatgate.cli.progress import Progress
    from floatgate.runs.alone import alone as runs_alone
    from floatgate.runs.alone import compared
    from floatgate.text import result as text

    what = of_flows(workload, flow)

    if snapshots and out is None:
        raise InputError("--snapshots is stored beside the result: say where with --out DIR")
    with Progress(quiet=quiet) as progress:
        how = {"policy": policy, "set": set, "seed": seed, "steady": steady, "out": out}
        more: Any = how | {"record": _record(snapshots), "progress": progress} | reading
        result = floatgate.run(drive, what, **more)
        lost = compared(result, runs_alone(result, drive, what, **more)) if alone else None
    with kept(lambda: place_of(result)):
        if as_json:
            print(json.dumps(result.data | ({"alone": lost} if lost else {})))
            return
        print(text.page(result, colour=colour_wanted()))
        if lost:
            print(f"\n{text.beside(lost, colour=colour_wanted())}")
        if result.folder is not None:
            print(f"\nResult: {result.folder}")


@reads
def compare(
    drive: Annotated[
        str,
        typer.Argument(metavar="DRIVE", help="A preset's name, or a TOML file; or a list of them."),
    ],
    workload: Annotated[
        str | None,
        typer.Argument(
            metavar="WORKLOAD",
            help="A trace file, a generator such as random-write, or a TOML file that sets one "
            "up; or a list of them.",
        ),
    ] = None,
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
    steady: Steady = False,
    flow: Flow = [],  # noqa: B006
    workers: Workers = None,
    cluster: ClusterAddress = None,
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="Look at these first: short names as for --bars, or paths of numbers in the "
            "result, such as host.write.latency_ns.p99_99.",
        ),
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
    snapshots: Snapshots = False,
    as_json: Json = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print comma-separated values, a line for each run.")
    ] = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Run every combination of the values given, and show the results side by side.

    Wherever one value can stand, so can a list with commas; a comma within quotes or brackets
    belongs to its value. Every run is checked before the first starts, and each result is stored
    as soon as it is there. What is stored is not made again when the command is repeated.
    """
    from floatgate.cli.progress import RunsProgress
    from floatgate.runs.variants import expand, folder_name
    from floatgate.settings import steadied
    from floatgate.text import comparison as comparison_text

    if bars is not None and bars not in MEASURES:
        raise InputError(f"--bars: `{bars}` is not a measure; there are {', '.join(MEASURES)}")
    if as_json and csv:
        raise InputError("either --json or --csv")
    first = list(filter(None, (measures or "").split(",")))
    executor = executor_of(cluster, workers)
    what = of_flows(workload, flow)
    if out is None:
        variants = expand(drive, what, policy, steadied(set, steady), seed)
        out = Path("floatgate-results") / folder_name(variants)
    try:
        with RunsProgress(quiet=quiet) as progress:
            comparison = floatgate.compare(
                drive,
                what,
                policy=policy,
                set=set,
                seed=seed,
                steady=steady,
                out=out,
                record=_record(snapshots),
                workers=workers,
                executor=executor,
                progress=progress,
                **reading,
            )
    except KeyboardInterrupt:
        if out.exists():
            print(f"Results so far: {out}", file=sys.stderr)
            print("The same command goes on from there.", file=sys.stderr)
        raise

    for name in first:
        find(name, comparison.runs)

    def words() -> str:
        if csv:
            return comma_separated(comparison_text.rows(comparison, first))
        page = comparison_text.page(comparison, colour=colour_wanted(), bars=bars, first=first)
        return f"{page}\n\nResults: {out}"

    several(comparison, out, words, as_json)


def _record(snapshots: bool) -> tuple[str, ...]:
    return (*TABLES, "snapshots") if snapshots else TABLES
