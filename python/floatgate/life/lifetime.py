"""How long a drive lasts under a workload: a run with the model of the cells."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, Unpack

from floatgate.mistakes import ConflictError, UnknownNameError
from floatgate.result.run import Result
from floatgate.runs.run import resolve, run
from floatgate.settings import Policies, Settings, pairs
from floatgate.workloads.reading import Reading, takes_reading

MODEL = "reliability.model"
RECOVERIES = ("printed", "fitted")


@takes_reading
def lifetime(
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    target: str | None = None,
    recovery: str | None = None,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> Result:
    """Runs a workload on a drive with the model of its cells, and says how long that goes well.

    The drive is full and aged by the workload itself (`precondition.fill = "full"`,
    `age = "workload"`), unless its file says how it ages or the settings say otherwise. Then one
    pass over the workload is simulated; `result.lifetime` has what it showed in `simulated`, and
    beside it what follows for years at the same rate of writing and write amplification. Where the
    pass is no evidence of years, what would follow is None and `result.lifetime.why` says why.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        workload: What `floatgate.run` takes.
        target: How long the drive is to last, such as `"5y"`; `reliability.target` by default.
        recovery: By default the rated cycles count, and recovery stands beside them. `"printed"` or
            `"fitted"` says that cells heal while they rest, by READY's constants as printed or as
            fitted to its Table 2.
        policy: Policies by family, as in `floatgate.run`.
        set: Settings by key; `reliability.model` is on whatever the drive says.
        seed: The seed of every random stream.
        out: The folder in which the run is stored.
        progress: As in `floatgate.run`.
        **reading: How a trace is read, and what is done to it (docs/traces.md):

    Returns:
        The result of the run.

    Raises:
        InputError: As `floatgate.run` does; or the settings switch the model of the cells off.
    """
    own = pairs(set)
    settings = [f"{MODEL}=on", *own, *recovery_of(recovery)]
    if target is not None:
        settings.append(f"reliability.target={target}")
    resolved = resolve(drive, policy=policy, set=settings, seed=seed)
    if resolved["reliability"]["model"] != "on":
        raise ConflictError(f"a lifetime needs the model of the cells: leave out `{MODEL}=off`")
    settings += in_use(resolved["precondition"]["age"], own)
    return run(
        drive,
        workload,
        policy=policy,
        set=settings,
        seed=seed,
        out=out,
        progress=progress,
        **reading,
    )


def in_use(age: str, own: list[str]) -> list[str]:
    """The settings that make a drive one in use, unless it or the user says how it ages.

    >>> in_use("none", ["ftl.spare-factor=0.2"])
    ['precondition.fill=full', 'precondition.age=workload']
    >>> in_use("none", ["precondition.age=none"]), in_use("random", [])
    (['precondition.fill=full'], [])
    """
    said = {pair.partition("=")[0].strip() for pair in own}
    aged_by_file = age != "none" and "precondition.age" not in said
    if "precondition" in said or aged_by_file:
        return []
    wanted = {"precondition.fill": "full", "precondition.age": "workload"}
    return [f"{key}={value}" for key, value in wanted.items() if key not in said]


def recovery_of(recovery: str | None) -> list[str]:
    """The setting of a recovery that counts.

    >>> recovery_of(None), recovery_of("fitted")
    ([], ['reliability.recovery=fitted'])

    Raises:
        InputError: There is none of that name.
    """
    if recovery is None:
        return []
    if recovery not in RECOVERIES:
        raise UnknownNameError(
            f"`recovery` is `{recovery}`: it is printed (the constants in READY's text) or fitted "
            "(to its Table 2); leave it out to count rated cycles only"
        )
    return [f"reliability.recovery={recovery}"]


def lifetime_data(result: Result) -> dict[str, Any]:
    """What `floatgate lifetime --json` prints of the run."""
    keys = ("provenance", "end", "waf", "wear", "capacity", "lifetime", "warnings", "timing")
    return {key: result.data[key] for key in keys}
