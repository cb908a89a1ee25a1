"""`floatgate serve`, `top` and `smart`: a drive that programs can mount."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

import floatgate
from floatgate.cli.options import Drive, Json, Policy, Quiet, Seed, Set
from floatgate.cli.show import kept, place_of
from floatgate.words import colour_wanted

SHAPES_RESULTS = False

SOCKET = Path("floatgate.sock")
"""Where clients find a drive if nothing is said of that."""


def serve(
    drive: Drive,
    unix: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help=f"A Unix socket for clients; by default {SOCKET}."),
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="An address of loopback instead.")
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Allow addresses beyond loopback, without protection."),
    ] = False,
    store: Annotated[
        str,
        typer.Option(metavar="FILE", help="A file that keeps the data; or `memory`."),
    ] = "memory",
    clock: Annotated[
        str,
        typer.Option(metavar="CLOCK", help="fast, or real:slowdown=N for time N times as slow."),
    ] = "fast",
    record: Annotated[
        Path | None,
        typer.Option(metavar="TRACE", help="Record every request; `floatgate run` replays it."),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A socket for `top`, `smart` and planted faults."),
    ] = None,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store the result in DIR/RUN-ID.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve DRIVE as a block device over NBD: any program can read, write and mount it.

    SIGTERM or Ctrl-C ends it: what was asked is answered, and the result is printed.
    """
    from floatgate.cli.progress import Progress
    from floatgate.live.serve import serve as serves
    from floatgate.text import result as text

    if unix is None and listen is None:
        unix = SOCKET
    at = f"nbd://{listen}" if unix is None else f"nbd+unix:///?socket={unix}"
    with Progress(quiet=quiet) as progress:
        told = False

        def look(stage: str, done: int, total: int | None, now_ns: int) -> None:
            nonlocal told
            if stage == "serving" and not told:
                told = True
                print(f"serving {drive} at {at}", file=sys.stderr, flush=True)
            progress(stage, done, total, now_ns)

        result = serves(
            drive,
            unix=unix,
            listen=listen,
            insecure=insecure,
            control=control,
            store=None if store == "memory" else store,
            clock=clock,
            record=record,
            policy=policy,
            set=set,
            seed=seed,
            out=out,
            progress=look,
        )
    with kept(lambda: place_of(result)):
        if as_json:
            print(json.dumps(result.data))
            return
        print(text.page(result, colour=colour_wanted()))
        if record is not None:
            print(f"\nThe same run again: floatgate run {record}.toml {record}")
        if result.folder is not None:
            print(f"\nResult: {result.folder}")
