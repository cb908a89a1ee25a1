"""The slowdown of flows by each other: each flow's run without the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from floatgate.engine import InputError
from floatgate.result.folder import TABLES
from floatgate.result.run import Result
from floatgate.runs.run import run
from floatgate.settings import Policies, Settings, pairs, steadied
from floatgate.workloads.reading import Reading

if TYPE_CHECKING:
    from os import PathLike


def alone(
    result: Result,
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    steady: bool = False,
    out: str | PathLike[str] | None = None,
    record: Iterable[str] = TABLES,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> dict[str, Result]:
    """Runs each flow of a run as if the others were silent (`host.only`); by name.

    Args:
        result: The run of all flows, which was made with the other arguments.
        drive: As for `floatgate.run`, and so are the others.
        workload: The workload of all flows.
        policy: Policies by family.
        set: Settings by key.
        seed: The seed of every random stream.
        steady: Whether the drive was filled and aged first.
        out: Where the runs are stored.
        record: Which tables are stored.
        progress: Called as that of `floatgate.run`.
        **reading: How a trace is read.

    Raises:
        InputError: The workload is one flow, so no other flow can slow it down.
    """
    flows = result.data["host"]["flows"]
    if not flows or len(flows) < 2:
        raise InputError(
            f"{result.workload}: this is one flow; expected several, such as `--flow a=random-read "
            "--flow b=random-write`"
        )
    settings = pairs(steadied(set, steady))
    return {
        name: run(
            drive,
            workload,
            policy=policy,
            set=[*settings, f"host.only={_quoted(name)}"],
            seed=seed,
            out=out,
            record=record,
            progress=progress,
            **reading,
        )
        for name in flows
    }


def _quoted(name: str) -> str:
    return "'" + name + "'" if "'" not in name else '"' + name.replace('"', '\\"') + '"'


def compared(result: Result, runs: Mapping[str, Result]) -> dict[str, Any]:
    """Each flow's slowdown by the others, and the fairness.

    The slowdown of a flow is its mean latency with the others divided by that without them. It is
    None if one of the two is 0 or the flow had no requests. Fairness is the least slowdown divided
    by the greatest: 1 if all are slowed down alike.
    """
    flows, slowdowns = {}, []
    for name, own in runs.items():
        here = _mean(result, name)
        there = _mean(own, name)
        slowdown = here / there if here and there else None
        slowdowns.append(slowdown or 0.0)
        flows[name] = {
            "run_id": own.run_id,
            "mean_ns": here,
            "alone_mean_ns": there,
            "slowdown": slowdown,
        }
    whole = slowdowns and all(slowdowns)
    return {"flows": flows, "fairness": min(slowdowns) / max(slowdowns) if whole else None}


def _mean(result: Result, flow: str) -> float:
    return float(result.data["host"]["flows"][flow]["all"]["latency_ns"]["mean"])
