"""Serving a drive as a block device."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from floatgate import build, engine
from floatgate.cache import cache
from floatgate.lists import drives
from floatgate.mistakes import UnknownNameError
from floatgate.result.folder import TABLES
from floatgate.result.recording import Recording
from floatgate.result.run import Result
from floatgate.runs.run import resolve
from floatgate.settings import Policies, Settings, pairs, policies_of

if TYPE_CHECKING:
    from os import PathLike
    from types import FrameType


def serve(
    drive: str | PathLike[str],
    *,
    unix: str | PathLike[str] | None = None,
    listen: str | None = None,
    insecure: bool = False,
    control: str | PathLike[str] | None = None,
    store: str | PathLike[str] | None = None,
    clock: str = "fast",
    record: str | PathLike[str] | None = None,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    opened: Callable[[str, str], object] | None = None,
) -> Result:
    """Serves a drive to programs that speak NBD, until SIGTERM or Ctrl-C.

    Programs use it as a block device: `docs/live.md` says how. In the main thread the two signals
    end it in order: outstanding requests are answered, data are brought to the disk, and the result
    is returned.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        unix: The path of a Unix socket for clients, which only the user can open.
        listen: `HOST:PORT` instead; beyond loopback only with `insecure`. Port 0 is any free one.
        insecure: Allows addresses beyond loopback. There is no encryption and no password.
        control: The path of a second socket, by which the drive is watched and told of faults; by
            default `UNIX.control`, or `floatgate-PORT.control` in the current folder.
        store: The file that keeps the data of the drive; None: memory, for as long as it is served.
        clock: `fast`, or `real:slowdown=N`: simulated time passes N times as slowly as wall time.
        record: The file that stores all requests; `run` of it gives the same result.
        policy: Policies by family, as for `run`.
        set: Settings by key, as for `run`; requests arrive when they are submitted, with any
            `host.mode`.
        seed: The seed of every random stream; by default that of the drive file.
        out: The folder in which the result is stored, as `OUT/RUN-ID/` with `result.json` and its
            tables `requests`, `series` and `blocks`.
        progress: Called about ten times a second. The arguments are the stage, the work done (page
            writes, then requests), how much there is, and the simulated time in ns. Stages are
            `filling`, `ageing`, `recovering` while a recording is replayed, and `serving` as soon
            as clients can connect.
        opened: Called once, before the drive is prepared, with the address for clients as NBD names
            it (with the port that was free) and the path of the control socket.

    Returns:
        The result, as `run` gives it; `timing.live` describes the service.

    Raises:
        InputError: The drive, a setting, a policy or a place is wrong; the message gives the place.
    """
    if begins_full(drive, policy, set):
        set = [*pairs(set), "precondition.fill=full"]
    words, finder = policies_of(policy, set)
    slowdown = slowdown_of(clock)
    with Recording(out) if out is not None else nullcontext() as folder, _stoppable() as stop:
        text = engine.serve(
            str(drive),
            build=build.digest(),
            set=pairs(set),
            policy=words,
            seed=seed,
            cache=cache(),
            unix=None if unix is None else str(unix),
            listen=listen,
            insecure=insecure,
            control=None if control is None else str(control),
            store=None if store is None else str(store),
            record=None if record is None else str(record),
            slowdown=slowdown,
            stop=stop,
            opened=opened or (lambda *_: None),
            progress=progress,
            rows=folder.take if folder else None,
            tables=TABLES,
            finder=finder,
        )
        result = Result(json.loads(text))
        if folder:
            result.folder = folder.keep(result.data)
    return result


def begins_full(drive: str | PathLike[str], policy: Policies = (), set: Settings = ()) -> bool:
    """Whether a preset is served full, because it would fill only the pages that a workload reads.

    The reads of a live drive are not known beforehand. A drive file, or a setting, that needs them
    is refused.
    """
    given = pairs(set)
    if str(drive) not in drives() or any(one.startswith("precondition.fill") for one in given):
        return False
    return bool(resolve(drive, policy=policy, set=set)["precondition"]["fill"] == "touched")


def slowdown_of(clock: str) -> float | None:
    """How many times as slowly simulated time passes; None for `fast`.

    Raises:
        InputError: There is no such clock.

    >>> slowdown_of("real:slowdown=10")
    10.0
    """
    if clock == "fast":
        return None
    found = re.fullmatch(r"real(?::slowdown=([0-9.]+))?", clock)
    try:
        if found:
            return float(found[1] or 1)
    except ValueError:
        pass
    raise UnknownNameError(
        f"`{clock}` is not a clock; there are fast and real:slowdown=N, N a number"
    )


@contextmanager
def _stoppable() -> Iterator[engine.Stop]:
    """An event that SIGTERM and the first Ctrl-C set.

    The second Ctrl-C ends the process at once.
    """
    stop = engine.Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    asked = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked = True
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
