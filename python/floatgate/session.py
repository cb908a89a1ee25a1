"""A drive inside a program: a session takes requests one by one, in simulated time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from floatgate import build, engine
from floatgate.cache import cache
from floatgate.engine import InputError
from floatgate.mistakes import FileError, NoFileError
from floatgate.result.files import in_the_way
from floatgate.result.run import Result
from floatgate.settings import Policies, Settings, pairs, policies_of, steadied

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType

ARRIVES = ("host.mode=timestamps", "host.speed=1.0")
"""Requests arrive when they are submitted, even if a preset has another host mode."""


class Session(engine.SessionBase):
    """A drive that a program, such as another simulator, drives request by request.

    Simulated time passes only in `submit` and `advance`. The result equals that of
    `floatgate.run` over the requests that came, at the arrivals that `submit` returned.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        policy: Policies by family, as for `floatgate.run`; also those written in Python.
        set: Settings by key, as for `floatgate.run`. `host.mode` is `timestamps`, and
            `host.speed` is 1.
        seed: The seed of every random stream; the drive file's where it is not given.
        steady: Whether the drive is filled and aged by random writes first, as for `floatgate.run`.
        flows: The names of the flows among which an arbiter chooses, at most 256. Their weights,
            depths and priorities are settings (`host.flow`).
        record: A new Parquet file that keeps the requests, for `floatgate.run`. It appears with the
            result.

    Raises:
        InputError: The drive, a setting or a policy is wrong, or needs the requests to come:
            `precondition.fill=touched`, `precondition.age=workload`, the cost policy `oracle`.

    >>> with Session("agcr", set={"precondition.fill": "none"}) as drive:
    ...     arrival = drive.submit("write", 0, 4096)
    ...     arrival = drive.submit("read", 0, 4096, at=5_000_000, token=7)
    ...     done = drive.advance()
    >>> arrival, done["token"].tolist(), done["latency_ns"].tolist()
    (5000000, [0, 7], [600000, 170000])
    """

    _final: Path | None
    _unfinished: Path | None
    _result: Result | None

    def __new__(
        cls,
        drive: str | PathLike[str],
        *,
        policy: Policies = (),
        set: Settings = (),
        seed: int | None = None,
        steady: bool = False,
        flows: Iterable[str] = (),
        record: str | PathLike[str] | None = None,
    ) -> Self:
        """Opens the drive: fills and ages it as its settings say."""
        words, finder = policies_of(policy, set)
        final = None if record is None else Path(record)
        unfinished = None if final is None else _unfinished(final)
        names = [flows] if isinstance(flows, str) else list(flows)
        self = super().__new__(
            cls,
            str(drive),
            build=build.digest(),
            set=[*ARRIVES, *pairs(steadied(set, steady))],
            policy=words,
            seed=seed,
            flows=names,
            cache=cache(),
            record=None if unfinished is None else str(unfinished),
            name="session" if final is None else final.name,
            finder=finder,
        )
        self._final, self._unfinished, self._result = final, unfinished, None
        return self

    def result(self) -> Result:
        """Ends the session and returns its result, as `floatgate.run` gives it.

        Requests inside the drive are served first. Some drives act differently if they know with
        the last request that no more come. For these, a flush tells the drive; it counts and is
        recorded.

        Raises:
            InputError: The session was closed before, or the recording cannot be written.
        """
        if self._result is None:
            self._result = Result(json.loads(self.end()))
            if self._final is not None and self._unfinished is not None:
                _check(self._final)
                self._unfinished.replace(self._final)
        return self._result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._final is not None and not self.is_closed:
            self.result()
        self.close()


def _check(place: Path) -> None:
    if place.suffix != ".parquet":
        raise InputError(f"{place}: expected a name that ends in .parquet")
    if (what := in_the_way(place)) is not None:
        raise FileError(f"{place}: this is {what}; expected the name of a file")
    if place.exists():
        raise FileError(f"{place}: there is such a file already, and it is not replaced")
    if not place.parent.is_dir():
        raise NoFileError(f"{place}: there is no folder `{place.parent}`")


def _unfinished(place: Path) -> Path:
    _check(place)
    return place.parent / f".unfinished-{os.getpid()}-{os.urandom(4).hex()}.parquet"
