"""`floatgate compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Unpack

import floatgate
from floatgate.cli import completion
from floatgate.cli.declare import Argument, ends_with, example, option
from floatgate.cli.options import (
    ClusterAddress,
    Flow,
    Json,
    Quiet,
    Snapshots,
    Steady,
    Workers,
    choices,
    executor_of,
    of_flows,
    opens_files,
    reads,
    recorded,
)
from floatgate.cli.show import comma_separated, several
from floatgate.hints import hint
from floatgate.mistakes import ConflictError, UnknownNameError
from floatgate.result.measures import MEASURES, could_be, find
from floatgate.settings import scaled
from floatgate.words import colour_wanted
from floatgate.workloads.reading import Reading


@ends_with(choices)
@example(
    "floatgate compare modern-tlc-small random-write \\",
    "    --steady --seed 1,2,3 --policy victim=greedy,fifo \\",
    "    --set ftl.spare-factor=0.08,0.16",
)
@opens_files
@reads
def compare(
    drive: Annotated[
        str,
        Argument(
            metavar="DRIVE",
            help="A preset's name, or a TOML file; or a list of them.",
            completes=completion.drive,
            files=True,
        ),
    ],
    workload: Annotated[
        str | None,
        Argument(
            metavar="WORKLOAD",
            help="A trace file, a generator such as random-write, or a TOML file that sets one "
            "up; or a list of them.",
            completes=completion.workload,
            files=True,
        ),
    ] = None,
    policy: Annotated[
        list[str],
        option(
            "--policy",
            metavar="FAMILY=NAME[:KEY=VALUE]...,...",
            completes=completion.policy,
            help="Policies of a family: cost=fixed:level=low,fixed:level=high. Repeatable.",
        ),
    ] = [],  # noqa: B006
    set: Annotated[
        list[str],
        option(
            "--set",
            metavar="KEY=VALUE,...",
            completes=completion.setting,
            help="Values of a setting: ftl.spare-factor=0.07,0.2. Repeatable.",
        ),
    ] = [],  # noqa: B006
    scale: Annotated[
        str | None,
        option(
            "--scale",
            metavar="1/N,...",
            help="Simulate an N-th of the blocks of each plane, with that share of the capacity, "
            "the span and the requests.",
        ),
    ] = None,
    seed: Annotated[
        str | None,
        option("--seed", metavar="N,...", help="Seeds of every random stream."),
    ] = None,
    steady: Steady = False,
    flow: Flow = [],  # noqa: B006
    workers: Workers = None,
    cluster: ClusterAddress = None,
    measures: Annotated[
        str | None,
        option(
            metavar="NAME,...",
            help="Look at these first: short names as for --bars, or paths of numbers in the "
            "result, such as host.write.latency_ns.p99_99.",
        ),
    ] = None,
    bars: Annotated[
        str | None,
        option(metavar="MEASURE", help=f"Draw this measure as bars: {', '.join(MEASURES)}."),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            metavar="DIR",
            help="Store the results here; by default in a folder of floatgate-results that is "
            "named by the compared settings.",
        ),
    ] = None,
    snapshots: Snapshots = False,
    as_json: Json = False,
    csv: Annotated[
        bool, option("--csv", help="Print comma-separated values, a line for each run.")
    ] = False,
    quiet: Quiet = False,
    **reading: Unpack[Reading],
) -> None:
    """Run every combination of the values given, and show the results side by side.

    Give any option a comma-separated list; a comma within quotes or brackets belongs to its
    value. Every run is checked before the first starts, and each result is stored
    as soon as it is there. Stored results are reused if you repeat the command.
    """
    from floatgate.cli.progress import RunsProgress
    from floatgate.runs.variants import expand, folder_name
    from floatgate.settings import steadied
    from floatgate.text import comparison as comparison_text

    if bars is not None and bars not in MEASURES:
        raise UnknownNameError(f"--bars: `{bars}` is not a measure; {hint(bars, MEASURES)}")
    if as_json and csv:
        raise ConflictError("either --json or --csv")
    first = list(filter(None, (measures or "").split(",")))
    could_be(first)
    executor = executor_of(cluster, workers)
    what = of_flows(workload, flow)
    set = scaled(set, scale)
    if out is None:
        variants = expand(drive, what, policy, steadied(set, steady), seed)
        out = Path("floatgate-results") / folder_name(variants)
    try:
        with RunsProgress(quiet=quiet, as_json=as_json) as progress:
            comparison = floatgate.compare(
                drive,
                what,
                policy=policy,
                set=set,
                seed=seed,
                steady=steady,
                out=out,
                record=recorded(snapshots),
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
