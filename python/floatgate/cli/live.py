"""`floatgate serve`, `top` and `smart`: a drive that programs can mount."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

from floatgate.cli.declare import Argument, ends_with, option
from floatgate.cli.options import Drive, Json, Policy, Quiet, Seed, Set, choices, opens_files
from floatgate.cli.show import kept, place_of
from floatgate.mistakes import IncompleteError
from floatgate.words import colour_wanted

SHAPES_RESULTS = False

SOCKET = Path("floatgate.sock")
"""The default address of a drive."""


@ends_with(choices)
@opens_files
def serve(
    drive: Drive,
    unix: Annotated[
        Path | None,
        option(metavar="PATH", help=f"A Unix socket for clients; by default {SOCKET}."),
    ] = None,
    listen: Annotated[
        str | None,
        option(metavar="HOST:PORT", help="An address of loopback instead; port 0: any free one."),
    ] = None,
    insecure: Annotated[
        bool,
        option("--insecure", help="Allow addresses beyond loopback, without protection."),
    ] = False,
    store: Annotated[
        str,
        option(metavar="FILE", help="A file that keeps the data; or `memory`."),
    ] = "memory",
    clock: Annotated[
        str,
        option(metavar="CLOCK", help="fast, or real:slowdown=N for time N times as slow."),
    ] = "fast",
    record: Annotated[
        Path | None,
        option(metavar="TRACE", help="Record every request; `floatgate run` replays it."),
    ] = None,
    control: Annotated[
        Path | None,
        option(
            metavar="PATH",
            help="The socket for `top`, `smart` and planted faults; by default beside that for "
            "clients (PATH.control, or floatgate-PORT.control).",
        ),
    ] = None,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    out: Annotated[
        Path | None,
        option(metavar="DIR", help="Store the result and its tables in DIR/RUN-ID."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve DRIVE as a block device over NBD: any program can read, write and mount it.

    SIGTERM or Ctrl-C ends it: outstanding requests are answered, and the result is printed.
    """
    from floatgate.cli.progress import Progress
    from floatgate.live.serve import begins_full
    from floatgate.live.serve import serve as serves
    from floatgate.text import result as text

    if unix is None and listen is None:
        unix = SOCKET
    reopened = store != "memory" and Path(store).exists()
    recovers = reopened and record is not None and record.exists()
    if begins_full(drive, policy, set):
        print(
            f"{drive} fills only the pages that a workload reads; a live drive begins full "
            "(precondition.fill)",
            file=sys.stderr,
        )
    places: list[str] = []
    with Progress(quiet=quiet) as progress:
        told = False

        def look(stage: str, done: int, total: int | None, now_ns: int) -> None:
            nonlocal told
            if stage == "serving" and not told:
                told = True
                if reopened and not recovers:
                    print(
                        f"{store}: the data are kept; the drive around them starts from its "
                        "preconditioned state, as there is no recording to recover it from",
                        file=sys.stderr,
                    )
                at, watched = places
                print(
                    f"serving {drive} at {at}\n"
                    f"control socket: {watched} (floatgate top {shlex.quote(watched)})\n"
                    "clients measure the time of this machine; the drive's own latencies are in "
                    "`floatgate top` and in the result",
                    file=sys.stderr,
                    flush=True,
                )
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
            opened=lambda *both: places.extend(both),
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


Controls = Annotated[
    Path, Argument(metavar="CONTROL", help="The control socket of `floatgate serve`.")
]


def top(
    control: Controls,
    every: Annotated[
        float, option(metavar="SECONDS", help="Seconds between two pages.", min=0.1)
    ] = 1.0,
    pages: Annotated[int | None, option(metavar="N", help="End after N pages.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Watch a served drive: rates, latencies, write amplification, load and wear.

    On a terminal the page is drawn anew until Ctrl-C; elsewhere it is printed once.
    """
    import time

    from floatgate import Control
    from floatgate.terminal import control as sequence
    from floatgate.text import live as text

    live = sys.stdout.isatty() and not as_json
    from_the_top = sequence("\033[H\033[J") if live else ""
    left = pages if pages is not None else (None if live else 1)
    with Control(control) as drive:
        before = drive.status()
        while left is None or left > 0:
            time.sleep(every)
            now = drive.status()
            if as_json:
                print(json.dumps(now))
            else:
                print(from_the_top + text.page(before, now), flush=True)
            before = now
            left = None if left is None else left - 1


def smart(control: Controls, as_json: Json = False) -> None:
    """Show the health of a served drive, under the names of nvme-cli."""
    from floatgate import Control
    from floatgate.text import live as text

    with Control(control) as drive:
        health = drive.smart()
    print(json.dumps(health) if as_json else text.health(health))


def fault(
    control: Controls,
    cut_power: Annotated[
        bool, option("--cut-power", help="Take the power away and bring it back.")
    ] = False,
    fail_reads: Annotated[
        str | None,
        option(metavar="OFFSET:SIZE", help="Make reads of these bytes fail: 1MiB:4KiB."),
    ] = None,
    heal: Annotated[bool, option("--heal", help="End all planted failures of reads.")] = False,
) -> None:
    """Plant a fault in a served drive."""
    from floatgate import Control
    from floatgate.live.control import range_of

    if [cut_power, fail_reads is not None, heal].count(True) != 1:
        raise IncompleteError("give one of --cut-power, --fail-reads OFFSET:SIZE, --heal")
    extent = None if fail_reads is None else range_of(fail_reads)
    with Control(control) as drive:
        if cut_power:
            drive.cut_power()
        elif extent is not None:
            drive.fail_reads(*extent)
        else:
            drive.heal()
