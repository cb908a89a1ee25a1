"""Years of a workload that repeats, in seconds of computing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack

from floatgate import build, engine
from floatgate.cache import cache
from floatgate.mistakes import UnknownNameError
from floatgate.result.values import Value
from floatgate.settings import Policies, Settings, pairs, policies_of
from floatgate.workloads.reading import Reading, how_to_read, takes_reading

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl


@takes_reading
def fast_forward(
    drive: str | PathLike[str],
    workload: str | PathLike[str] | None = None,
    *,
    demand: float | Sequence[float] | pl.DataFrame | None = None,
    waf: float | None = None,
    page_write: str | None = None,
    target: str | None = None,
    step: str | None = None,
    bins: int = 1000,
    epochs: int = 1000,
    periods: tuple[int, int] = (0, 0),
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> FastForward:
    """Advances a new drive to the requested lifetime, under a workload that repeats.

    The throttle works as in a run, period by period. Delayed writes come later (host mode
    `shifted`), in the same order. Wear is the mean of all blocks. `docs/fast-forward.md` lists the
    exact parts, and the error against a fully simulated life.

    >>> import floatgate
    >>> life = floatgate.fast_forward("ready-32g", demand=2e6, waf=2.0, target="30d")
    >>> round(life.programmed_bytes / (30 * 86_400 * 2e6 * 2.0), 9)
    1.0

    Args:
        drive: The name of a preset, or a drive file (TOML).
        workload: A trace file, a trace of the catalogue or a timed generator. Its writes in each
            second, from the first request to the last, are one cycle.
        demand: Instead of a workload, the bytes that the host writes in each second of a cycle, at
            most 10^15 each; a single number is a constant rate. Or a frame like that of
            `demand_per_second`.
        waf: Bytes programmed for each byte of the host, 0.001 to 10,000. By default it comes from
            a run of the workload on the drive, without throttle.
        page_write: The time of a page write without throttle, `"600us"`; by default from the same
            run, or, with a demand in numbers, the time of a program.
        target: The life to advance to, `"5y"` by default. With a throttle, the throttle's own.
        step: How long each number of `demand` lasts, `"1s"` by default. Longer steps are faster,
            but hide bursts within them.
        bins: Spans of the series.
        epochs: Rows of the table of epochs, at most.
        periods: The first period to be kept by itself, and the number of such periods.
        policy: Policies by family, as for `run`; this function is about those of `throttle`.
        set: Settings by key, as for `run`.
        seed: The seed of the run that measures `waf` and `page_write`.
        progress: Called some ten times a second with the stage (`filling`, `ageing`, `running`,
            `fast-forward`), requests or periods done, their total, and a time in ns.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The outcome, divided into simulated and extrapolated parts.

    Raises:
        InputError: The drive, a policy, the workload or an option is wrong; the message says
            where.
    """
    words, finder = policies_of(policy, set)
    text = engine.fast_forward(
        str(drive),
        None if workload is None else str(workload),
        build=build.digest(),
        demand=None if demand is None else _columns(demand),
        waf=waf,
        page_write=page_write,
        target=target,
        step=step,
        keep=(bins, epochs, *periods),
        set=pairs(set),
        policy=words,
        seed=seed,
        reading=how_to_read(**reading),
        cache=cache(),
        progress=progress,
        finder=finder,
    )
    return FastForward(json.loads(text))


@takes_reading
def demand_per_second(
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    set: Settings = (),
    seed: int | None = None,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> pl.DataFrame:
    """The bytes that a workload writes in each second, from its first request to its last.

    Use it to read a long workload once, and to fast-forward many drives or policies under it.

    Args:
        drive: The name of a preset, or a drive file (TOML): its pages count, and addresses are
            folded into it.
        workload: As for `fast_forward`.
        set: Settings by key, as for `run`; those of the workload too.
        seed: The seed of a generated workload.
        progress: As for `fast_forward`; the stage is `reading`.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        A row per second: `bytes`, and `pages`, the pages of the drive that they touch.

    Raises:
        InputError: As `fast_forward` does.
    """
    import polars as pl

    _, finder = policies_of((), set)
    columns = engine.demand(
        str(drive),
        str(workload),
        set=pairs(set),
        seed=seed,
        reading=how_to_read(**reading),
        progress=progress,
        finder=finder,
    )
    return pl.DataFrame(dict(zip(("bytes", "pages"), columns, strict=True)))


def _columns(
    demand: float | Sequence[float] | pl.DataFrame,
) -> tuple[list[float], list[float] | None]:
    """Bytes of each second, and pages if they are known."""
    import polars as pl

    if isinstance(demand, pl.DataFrame):
        missing = [name for name in ("bytes", "pages") if name not in demand.columns]
        if missing:
            raise UnknownNameError(
                f"a table of demand has a row per second with `bytes` and `pages`: there is no "
                f"`{missing[0]}` among {', '.join(demand.columns) or 'no columns'}"
            )
        bytes_, pages = (demand[name].cast(pl.Float64).to_list() for name in ("bytes", "pages"))
        return bytes_, pages
    rates = [demand] if isinstance(demand, int | float) else demand
    return [float(rate) for rate in rates], None


class FastForward(Value):
    """The result of a fast-forward.

    The numbers of the JSON value are attributes: `life.programmed_bytes`, `life.delay.stops`. A
    part that does not exist is None, for example `worn_out` of a drive that lasts.
    """

    def __repr__(self) -> str:
        years = self.data["life_seconds"] / (365 * 86_400)
        return f"<FastForward of {self.data['config']['name']}: {years:.2f} years>"

    def over_time(self) -> pl.DataFrame:
        """One row per span: its begin, its rate, the mean delay of a page, the share of stops.

        The delay is in ns, null if nothing was written. Stops are times when writes waited for
        capacity.
        """
        import polars as pl

        series = dict(self.data["series"])
        width = series.pop("bin_seconds")
        rows = len(series["page_delay_ns"])
        return pl.DataFrame({"begin_seconds": [width * i for i in range(rows)]} | series)

    def epochs_table(self) -> pl.DataFrame:
        """One row per epoch of a dynamic throttle, the first ones: as planned, and as it was."""
        import polars as pl

        return pl.DataFrame(self.data["epochs"], infer_schema_length=None)

    def delay_distribution(self) -> pl.DataFrame:
        """Points of the distribution of page delays: ns, and the share of pages up to it."""
        import polars as pl

        points = self.data["delay"]["page_delay_ns"]["below"]
        return pl.DataFrame(points, schema=["delay_ns", "share"], orient="row")
