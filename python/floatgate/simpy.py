"""A drive in a simulation with SimPy: a process writes `yield drive.read(offset, length)`.

SimPy is not installed with floatgate: `pip install simpy`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import simpy

from floatgate.engine import InputError
from floatgate.result.run import Result
from floatgate.session import Session

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
"""Nanoseconds of each unit that an environment may count in."""


class Completion(NamedTuple):
    """The value of an event: the value that a process gets from `yield`."""

    at_ns: int
    latency_ns: int
    """From its arrival in the drive until it was done, in ns."""


class WornOutError(Exception):
    """The drive wore out before a request was done; the process that waits for it gets this."""


class Drive:
    """A drive whose requests are events of an environment.

    The drive follows the clock of the environment. A request arrives at the present time, or a few
    ns later if something else happens in the drive at that instant.

    Args:
        env: The environment.
        session: The drive. Only this object may submit requests to it from now on.
        unit: The unit in which the environment counts time: `ns`, `us`, `ms` or `s`.

    Raises:
        InputError: There is no such unit, or the environment is ahead of the time that a drive can
            simulate.

    >>> import simpy
    >>> from floatgate import Session
    >>> env = simpy.Environment()
    >>> drive = Drive(env, Session("agcr", set={"precondition.fill": "none"}), unit="us")
    >>> def reader():
    ...     done = yield drive.read(0, 4096)
    ...     print(env.now, done.latency_ns)
    >>> process = env.process(reader())
    >>> env.run()
    170 170000
    """

    def __init__(self, env: simpy.Environment, session: Session, unit: str = "ns") -> None:
        if unit not in UNITS:
            raise InputError(f"`{unit}` is not a unit of time; there are {', '.join(UNITS)}")
        self.env = env
        self.session = session
        self._scale = UNITS[unit]
        self._start = session.now_ns - self._env_ns()
        self._waiting: dict[int, simpy.Event] = {}
        self._next_token = 0
        self._alarm = 0

    def read(self, offset: int, length: int, **how: Any) -> simpy.Event:
        """A read; an event whose value is a `Completion`. `how` as for `submit`."""
        return self.submit("read", offset, length, **how)

    def write(self, offset: int, length: int, *, fua: bool = False, **how: Any) -> simpy.Event:
        """A write; with `fua` it is done when its data survive a loss of power."""
        return self.submit("write-fua" if fua else "write", offset, length, **how)

    def trim(self, offset: int, length: int, **how: Any) -> simpy.Event:
        """A trim."""
        return self.submit("trim", offset, length, **how)

    def flush(self, **how: Any) -> simpy.Event:
        """A flush: it is done when everything that was written before survives a loss of power."""
        return self.submit("flush", 0, 0, **how)

    def submit(
        self,
        op: str,
        offset: int,
        length: int,
        *,
        hint: int = 0,
        flow: int | str | None = None,
        prio: bool = False,
    ) -> simpy.Event:
        """A request of any kind, with the arguments of `floatgate.Session.submit`.

        Raises:
            InputError: An argument is wrong, or the drive is worn out.
        """
        token = self._next_token
        # Arrivals at one instant of the environment may have advanced the drive some ns beyond it.
        at = max(self._now(), self.session.now_ns)
        self.session.submit(op, offset, length, at=at, token=token, hint=hint, flow=flow, prio=prio)
        self._next_token += 1
        event = self._waiting[token] = self.env.event()
        self._follow()
        return event

    def result(self) -> Result:
        """Ends the session and returns its result; see `floatgate.Session.result`."""
        return self.session.result()

    def _env_ns(self) -> int:
        return round(self.env.now * self._scale)

    def _now(self) -> int:
        """The time of the environment, in ns of the drive."""
        return self._env_ns() + self._start

    def _follow(self) -> None:
        """Advances the drive to the present, and returns at the drive's next event."""
        now = self._now()
        done = self.session.advance(max(now, self.session.now_ns)) if self._waiting else None
        if done is not None:
            for token, at, latency in zip(
                *(column.tolist() for column in done.values()), strict=True
            ):
                self._succeed(self._waiting.pop(token), Completion(at, latency), at)
        if not self._waiting:
            return
        if self.session.worn_out_at_ns is not None:
            waiting, self._waiting = self._waiting, {}
            for event in waiting.values():
                event.fail(WornOutError(f"the drive wore out at {self.session.worn_out_at_ns} ns"))
            return
        upcoming = self.session.next_at()
        assert upcoming is not None, "requests are inside, and something happens to them"
        self._alarm += 1
        self._after(upcoming, self._ring, self._alarm)

    def _ring(self, alarm: int) -> None:
        # A request that came meanwhile has set another.
        if alarm == self._alarm:
            self._follow()

    def _succeed(self, event: simpy.Event, value: Completion, at: int) -> None:
        if at <= self._now():
            event.succeed(value)
        else:
            self._after(at, lambda _: event.succeed(value), 0)

    def _after(self, at: int, act: Any, argument: int) -> None:
        """Calls `act` at a time of the drive."""
        wait = max(at - self._now(), 0)
        whole = isinstance(self.env.now, int) and wait % self._scale == 0
        delay = wait // self._scale if whole else wait / self._scale
        timeout = self.env.timeout(delay)
        assert timeout.callbacks is not None
        timeout.callbacks.append(lambda _: act(argument))
