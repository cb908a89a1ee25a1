"""How long a drive lasts under a workload: a run with the model of the cells."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, Unpack

from floatgate.engine import ConfigError, InputError
from floatgate.mistakes import ConflictError, UnknownNameError
from floatgate.result.run import Result
from floatgate.runs.run import resolve, simulated
from floatgate.settings import Policies, Settings, pairs
from floatgate.workloads.reading import Reading, takes_reading

MODEL = "reliability.model"
BEYOND = "host.out-of-range"
OUT_OF_RANGE = "trace::range"
"""The code of a request beyond the drive."""
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
    """Runs a workload on a drive, and estimates the years and bytes until the drive is worn out.

    The drive is full and aged by the workload itself (`precondition.fill = "full"`, `age =
    "workload"`), unless its file says how it ages or the settings say otherwise. Then one pass over
    the workload is simulated. `result.lifetime.simulated` has the numbers of the pass. Years and
    bytes follow from the same rate of writing and the same write amplification. If the write
    amplification is not known to one value, `result.lifetime.why` gives the reason, and
    `result.lifetime.range` has the least and the greatest years.

    A drive of more than two million pages is simulated in part: some of its dies, with their share
    of the capacity, the buffer, the link and the load. `result.lifetime.part` names the part.
    Errors and retention come from the model of the cells, if the drive has one. Otherwise
    `result.lifetime.not_modelled` gives the reason.

    Requests beyond the drive are packed into it (`host.out-of-range = "compact"`), or taken modulo
    its capacity where that is not enough (`"wrap"`), unless the settings say otherwise.

    Args:
        drive: The name of a preset, or a drive file (TOML).
        workload: A workload as `floatgate.run` takes it.
        target: The required life of the drive, such as `"5y"`; `reliability.target` by default.
        recovery: By default the rated cycles count, and recovery is shown beside them. With
        `"printed"` or `"fitted"` cells recover while they rest, by READY's constants as printed or
        as fitted to its Table 2.
        policy: Policies by family, as in `floatgate.run`.
        set: Settings by key. `reliability.model` is on by default, where the drive has a model.
        seed: The seed of every random stream.
        out: The folder in which the run is stored.
        progress: As in `floatgate.run`.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The result of the run.

    Raises:
        InputError: As `floatgate.run` does.
    """
    own = pairs(set)
    settings = [*own, *recovery_of(recovery)]
    if target is not None:
        settings.append(f"reliability.target={target}")
    resolved = resolve(drive, policy=policy, set=settings, seed=seed)
    unmodelled = ""
    try:
        if resolved["reliability"]["model"] != "on":
            if MODEL in _keys(own):
                raise ConflictError(f"`{MODEL}` is off")
            resolve(drive, policy=policy, set=[f"{MODEL}=on", *settings], seed=seed)
            settings.insert(0, f"{MODEL}=on")
    except (ConfigError, ConflictError) as error:
        # Without this setting the drive was valid, so the model does not fit the drive.
        unmodelled = str(error).partition("\n")[0].partition("]: ")[2] or str(error)
    settings += in_use(resolved["precondition"]["age"], own)
    rules = [[], *([f"{BEYOND}={rule}"] for rule in ("compact", "wrap"))]
    refused: InputError | None = None
    for rule in rules[:1] if BEYOND in _keys(own) else rules:
        try:
            return simulated(
                drive,
                workload,
                policy=policy,
                set=[*settings, *rule],
                seed=seed,
                out=out,
                progress=progress,
                reading=reading,
                years=unmodelled,
            )
        except InputError as error:
            if error.code != OUT_OF_RANGE:
                raise
            refused = refused or error
    assert refused is not None
    raise refused


def _keys(settings: list[str]) -> set[str]:
    """The keys that settings set.

    >>> _keys(["a.b=1", "c = 2"]) == {"a.b", "c"}
    True
    """
    return {pair.partition("=")[0].strip() for pair in settings}


def in_use(age: str, own: list[str]) -> list[str]:
    """The settings that make a drive one in use, unless it or the user says how it ages.

    >>> in_use("none", ["ftl.spare-factor=0.2"])
    ['precondition.fill=full', 'precondition.age=workload']
    >>> in_use("none", ["precondition.age=none"]), in_use("random", [])
    (['precondition.fill=full'], [])
    """
    said = _keys(own)
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
    """The output of `floatgate lifetime --json` for the run."""
    keys = ("provenance", "end", "waf", "wear", "capacity", "lifetime", "warnings", "timing")
    return {key: result.data[key] for key in keys}
