"""The arguments and options that several commands share."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import floatgate
from floatgate.cli import completion
from floatgate.cli.declare import Argument, option
from floatgate.mistakes import ConflictError, IncompleteError
from floatgate.policy import permission
from floatgate.words import filled, page_width
from floatgate.workloads.reading import Reading

if TYPE_CHECKING:
    from floatgate.cluster import Cluster


def _readings() -> Iterator[tuple[str, Any]]:
    """The options of `Reading`, each with its name and its annotation."""
    for name, hint in get_type_hints(Reading, include_extras=True).items():
        (known,) = hint.__metadata__
        shown = option(
            f"--{name.replace('_', '-')}",
            metavar=known.metavar or None,
            help=known.help + (" Repeatable." if known.type == list[Path] else ""),
            min=known.least,
        )
        flag = known.type is bool
        yield name, Annotated[bool if flag else known.type | None, shown]


READINGS = dict(_readings())

Drive = Annotated[
    str, Argument("DRIVE", "A preset's name, or a TOML file.", completion.drive, files=True)
]
Workload = Annotated[
    str,
    Argument(
        metavar="WORKLOAD",
        help="A trace file, a trace of the catalogue such as msr:hm_0, a generator such as "
        "random-write, or a TOML file that sets one up or combines several.",
        completes=completion.workload,
        files=True,
    ),
]
SomeWorkload = Annotated[str | None, get_args(Workload)[1]]
Flow = Annotated[
    list[str],
    option(
        "--flow",
        metavar="NAME=WORKLOAD[:KEY=VALUE]...",
        help="One of several workloads side by side, in the place of WORKLOAD: "
        "db=random-read:weight=4. Repeatable.",
    ),
]
Set = Annotated[
    list[str],
    option(
        "--set",
        metavar="KEY=VALUE",
        completes=completion.setting,
        help="Override a setting: ftl.spare-factor=0.2. Repeatable.",
    ),
]
Policy = Annotated[
    list[str],
    option(
        "--policy",
        metavar="FAMILY=NAME[:KEY=VALUE]...",
        completes=completion.policy,
        help="Choose a policy: cost=fixed:level=low. Repeatable.",
    ),
]
Scale = Annotated[
    str | None,
    option(
        "--scale",
        metavar="1/N",
        help="Simulate an N-th of the blocks of each plane, with that share of the capacity, the "
        "span and the requests.",
    ),
]
Seed = Annotated[
    int | None, option("--seed", metavar="N", min=0, help="Seed of every random stream.")
]
Steady = Annotated[
    bool,
    option(
        "--steady",
        help="Fill the drive and age it by random writes before the run. Kept in a cache.",
    ),
]
Traces = Annotated[list[Path] | None, get_args(READINGS["traces"])[1]]
Json = Annotated[bool, option("--json", help="Print exactly one JSON object on standard output.")]
Quiet = Annotated[bool, option("--quiet", "-q", help="Show no progress.")]
Out = Annotated[
    Path | None,
    option(
        "--out",
        metavar="DIR",
        help="Store the result in DIR/RUN-ID, and its requests, series and blocks as Parquet.",
    ),
]

Snapshots = Annotated[
    bool,
    option(
        "--snapshots", help="Store the drive over time too, for `floatgate view` and the report."
    ),
]
Workers = Annotated[
    int | None,
    option(metavar="N", min=1, help="Processes at work; by default one for each core."),
]
ClusterAddress = Annotated[
    str | None,
    option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the workers of this Dask scheduler (tcp://HOST:PORT) instead of here.",
    ),
]

AllowCode = Annotated[
    bool,
    option(
        "--allow-code",
        help="Let the files that are named here run code: policies written in Python.",
    ),
]


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option for each key of `Reading` in the place of its `**reading`."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    return _with(command, own, READINGS)


def opens_files(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose files may name policies written in Python, which `--allow-code` permits."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, allow_code: bool = False, **options: Any) -> None:
        if allow_code:
            permission.grant()
        command(*arguments, **options)

    own = list(inspect.signature(command, eval_str=True).parameters.values())
    return _with(wrapped, own, {"allow_code": AllowCode})


def _with(
    command: Callable[..., None], own: Sequence[inspect.Parameter], more: Mapping[str, Any]
) -> Callable[..., None]:
    """A command in the form that `declare` expects: its own parameters, then options."""
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if get_args(hint)[0] is bool else None,
            annotation=hint,
        )
        for name, hint in more.items()
    ]
    parameters = [*own, *options]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def executor_of(address: str | None, workers: int | None) -> Cluster | None:
    """The executor for `--cluster`; None stands for this machine.

    Raises:
        InputError: It cannot be used here, or with `--workers`.
    """
    if address is None:
        return None
    if workers is not None:
        raise ConflictError("either --cluster or --workers: a cluster has the workers that it has")
    from floatgate.cluster import Cluster

    return Cluster(address, say=lambda text: print(text, file=sys.stderr))


def recorded(snapshots: bool) -> tuple[str, ...]:
    """The tables that a stored run has."""
    from floatgate.result.folder import TABLES

    return (*TABLES, "snapshots") if snapshots else TABLES


def choices() -> str:
    """The built-in drives and generators, and the formats of files."""

    def paragraph(indent: str, text: str) -> str:
        # Help is indented by two columns.
        return filled(text, page_width() - 2, indent, " " * len(indent))

    def table(title: str, rows: dict[str, str]) -> str:
        width = max(map(len, rows)) + 2
        lines = [paragraph(f"  {name:<{width}}", what) for name, what in rows.items()]
        return f"\b\n{title}:\n" + "\n".join(lines)

    drives = "\b\nDrives:\n" + paragraph("  ", ", ".join(floatgate.drives()))
    generators = table("Generators", floatgate.generators())
    formats = table("Formats of traces (plain, gzip, zstd or xz)", floatgate.formats())
    return "\n\n".join((drives, generators, formats))


def of_flows(workload: str | None, flow: Sequence[str]) -> str:
    """WORKLOAD, or the flows of `--flow`.

    Raises:
        InputError: Neither is given, or both.
    """
    if bool(flow) == (workload is not None):
        what = "both are given" if flow else "neither is given"
        raise IncompleteError(f"expected WORKLOAD, or flows by --flow NAME=WORKLOAD; {what}")
    return workload if workload is not None else floatgate.flows(flow)
