"""The arguments and options that several commands share."""

from __future__ import annotations

import functools
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import floatgate
from floatgate import InputError
from floatgate.cli import completion
from floatgate.policy import permission

if TYPE_CHECKING:
    from floatgate.cluster import Cluster

Drive = Annotated[str, typer.Argument(metavar="DRIVE", help="A preset's name, or a TOML file.")]
Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A trace file, a trace of the catalogue such as msr:hm_0, a generator such as "
        "random-write, or a TOML file that sets one up or puts several workloads together.",
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
        help="What a table's columns hold: time=1:us,op=2,offset=3,size=4:sectors,device=5; "
        "of a Parquet file, names instead of numbers.",
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
Slice = Annotated[
    str | None,
    typer.Option(
        metavar="FROM..TO", help="Only this stretch of the workload's time: 10min..2h, 10min.."
    ),
]
First = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only so many requests.")]
Footprint = Annotated[
    float | None,
    typer.Option(metavar="FACTOR", help="Move extents of 1 MiB to this part of their number: 0.5."),
]
Speed = Annotated[
    float | None, typer.Option(metavar="FACTOR", help="Let requests arrive so many times as fast.")
]
Repeat = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="The workload so many times in a row.")
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

Snapshots = Annotated[
    bool,
    typer.Option(
        "--snapshots", help="Store the drive over time too, for `floatgate view` and the report."
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes at work; by default one for each core."),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the workers of this Dask scheduler (tcp://HOST:PORT) instead of here.",
    ),
]


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Let the files that are named here run code: policies written in Python.",
    ),
]


def opens_files(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose files may name policies written in Python, which `--allow-code` permits."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, allow_code: bool = False, **options: Any) -> None:
        if allow_code:
            permission.grant()
        command(*arguments, **options)

    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("allow_code", inspect.Parameter.KEYWORD_ONLY, default=False)
    wrapped.__annotations__ = {**command.__annotations__, "allow_code": AllowCode}
    wrapped.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), option.replace(annotation=AllowCode)]
    )
    return wrapped


def executor_of(address: str | None, workers: int | None) -> Cluster | None:
    """The executor for `--cluster`; None stands for this machine.

    Raises:
        InputError: It cannot be used here, or with `--workers`.
    """
    if address is None:
        return None
    if workers is not None:
        raise InputError("either --cluster or --workers: a cluster has the workers that it has")
    from floatgate.cluster import Cluster

    return Cluster(address, say=lambda text: print(text, file=sys.stderr))


def choices() -> str:
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
