"""What it takes to reach a life: throttling and its price, or more spare space, or more flash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from floatgate.engine import InputError
from floatgate.forward import demand_per_second, fast_forward
from floatgate.lifetime import lifetime, recovery_of
from floatgate.result import Numbers, Result
from floatgate.run import Policies, Reading, Settings, pairs, policies_of

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[str, int, int | None, int], object]

YEAR = 365 * 86_400.0
MOST_SPARE = 0.5
"""A drive that exports less than this of its flash is not looked for."""
MOST_FLASH = 8
"""Nor is one with more than so many times its flash."""
SPARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, MOST_SPARE)
SPARE_STEP = 0.01
"""How exactly the least spare factor is found."""
BLOCKS_STEP = 0.02
"""How exactly the least number of blocks is found, as a share of it."""


_CAPACITIES = (
    "ftl.spare-factor=",
    "ftl.over-provisioning=",
    "ftl.logical-capacity=",
    "geometry.blocks-per-plane=",
)


class Advice(Numbers):
    """What reaches the target. `data` is the value in JSON; its numbers are attributes."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.data = data


class _Tried(NamedTuple):
    """A drive that was run."""

    spare_factor: float
    blocks_per_plane: int
    result: Result
    years: float

    def data(self) -> dict[str, Any]:
        capacity = self.result.capacity
        return {
            "spare_factor": capacity.spare_factor,
            "over_provisioning": capacity.over_provisioning,
            "exported_bytes": capacity.logical_bytes,
            "physical_bytes": capacity.physical_bytes,
            "blocks_per_plane": self.blocks_per_plane,
            "waf": self.result.waf,
            "years": self.years,
        }


def advise(
    result: Result,
    drive: str | PathLike[str],
    workload: str | PathLike[str],
    *,
    recovery: str | None = None,
    policy: Policies = (),
    set: Settings = (),
    seed: int | None = None,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> Advice:
    """What a drive needs to last as long as it should, found by runs of other drives.

    Throttles are advanced to the target by `fast_forward`, with the write amplification and page
    times of `result`. Over-provisioning and capacity are searched: every drive that is looked at
    runs the whole workload, because its write amplification is its own.

    Args:
        result: What `floatgate.lifetime` gave for the same arguments. If that reaches its target,
            nothing is searched.
        drive: The name of a preset, or a drive file (TOML).
        workload: What `lifetime` took.
        recovery: As for `lifetime`.
        policy: Policies by family. A throttle among them is left out.
        set: Settings by key.
        seed: The seed of every random stream.
        progress: As in `floatgate.run`.
        **reading: How a trace is to be read, as in `floatgate.run`.

    Returns:
        `reached`, and where it is not: `why` nothing can be said, or `throttles`,
        `over_provisioning` and `capacity`.

    Raises:
        InputError: As `floatgate.run` does.
    """
    search = _Search(result, drive, workload, recovery, policy, set, seed, progress, reading)
    return Advice(search.advice())


class _Search:
    def __init__(
        self,
        base: Result,
        drive: str | PathLike[str],
        workload: str | PathLike[str],
        recovery: str | None,
        policy: Policies,
        set: Settings,
        seed: int | None,
        progress: Progress | None,
        reading: Reading,
    ) -> None:
        words, _ = policies_of(policy)
        self.base = base
        self.drive = drive
        self.workload = workload
        self.recovery = recovery
        throttled = any(word.startswith("throttle=") for word in words)
        free = [word for word in words if not word.startswith("throttle=")]
        self.policy: Policies = free if throttled else policy
        self.settings = pairs(set)
        # A drive has one capacity: what says another than the one that is tried goes.
        self._kept = [each for each in self.settings if not each.startswith(_CAPACITIES)]
        self.seed = seed
        self.progress = progress
        self.reading = reading
        self.target = float(base.lifetime.target.years)
        self.runs = 0

    def advice(self) -> dict[str, Any]:
        """The whole value."""
        years = self.years(self.base)
        found: dict[str, Any] = {
            "target_years": self.target,
            "recovery": self.recovery,
            "years": years,
            "reached": years is None or years >= self.target,
            "why": None,
        }
        nothing: dict[str, Any] = {
            "throttles": [],
            "over_provisioning": None,
            "capacity": None,
            "runs": 0,
        }
        if found["reached"] or years is None:
            return found | nothing
        try:
            demand = self.demand()
        except InputError as error:
            # A drive that is written as fast as it can has no rate of its own to compare at.
            return found | {"why": str(error)} | nothing
        return found | {
            "throttles": list(self.throttles(demand)),
            "over_provisioning": self.over_provisioning(years),
            "capacity": self.capacity(years),
            "runs": self.runs,
        }

    def years(self, result: Result) -> float | None:
        """The life that counts; None: nothing is written, so nothing wears."""
        life = result.lifetime
        term = life.rated if self.recovery is None else life.with_recovery
        return None if term.years is None else float(term.years)

    def demand(self) -> pl.DataFrame:
        """What the workload writes in each second."""
        return demand_per_second(
            self.drive,
            self.workload,
            set=self.settings,
            seed=self.seed,
            progress=self.progress,
            **self.reading,
        )

    # ── Throttles ────────────────────────────────────────────────────────────────────────────────

    def throttles(self, demand: pl.DataFrame) -> Iterator[dict[str, Any]]:
        """Each throttle that keeps the target, and what it costs."""
        names = ["static", "dynamic"]
        if self.recovery is not None:
            names.append(f"ready:recovery={self.recovery}")
        wanted = float(demand["bytes"].sum()) / demand.height
        resolved = self.base.provenance.config.reliability.target
        for name in names:
            policy = f"{name}:target={resolved}"
            life = fast_forward(
                self.drive,
                demand=demand,
                waf=float(self.base.waf),
                page_write=f"{round(self.base.flash.page_latency_ns.write.mean)}ns",
                target=resolved,
                bins=1,
                epochs=0,
                policy={"throttle": policy},
                set=[*self.settings, *recovery_of(self.recovery)],
                progress=self.progress,
            )
            delay = life.delay.page_delay_ns
            yield {
                "policy": f"throttle={policy}",
                "programmed_bytes_per_second": life.programmed_bytes / life.target_seconds,
                "served_share": life.host_bytes / (wanted * life.target_seconds),
                "page_write_ns": life.page_write_ns,
                "page_response_ns": life.delay.page_response_ns,
                "page_delay_ns": {key: delay[key] for key in ("mean", "p50", "p99", "max")},
            }

    # ── Drives ───────────────────────────────────────────────────────────────────────────────────

    def over_provisioning(self, years: float) -> dict[str, Any]:
        """The least spare space of the same flash that reaches the target."""
        at_best = years * float(self.base.waf)
        if at_best < self.target:
            why = f"even without write amplification this flash stands {at_best:.3g} years"
            return {"found": None, "why": why}
        own = float(self.base.capacity.spare_factor)
        low, high = own, None
        for spare in (spare for spare in SPARES if spare > own + SPARE_STEP / 2):
            try:
                tried = self._with_spare(spare)
            except InputError as error:
                why = f"a spare factor of {spare:g} cannot be tried: {_first_line(error)}"
                return {"found": None, "why": why}
            if tried.years >= self.target:
                high = tried
                break
            low = spare
        if high is None:
            why = f"not up to a spare factor of {MOST_SPARE:g}"
            return {"found": None, "why": why}
        while high.spare_factor - low > SPARE_STEP * 1.5:
            tried = self._with_spare(round((low + high.spare_factor) / 2, 4))
            if tried.years >= self.target:
                high = tried
            else:
                low = tried.spare_factor
        return {"found": high.data(), "why": None}

    def capacity(self, years: float) -> dict[str, Any]:
        """The least flash that reaches the target while the drive exports what it does."""
        own = int(self.base.provenance.config.geometry["blocks-per-plane"])
        least = self.target / (years * float(self.base.waf))
        if least > MOST_FLASH:
            why = f"even without write amplification it would take {least:,.0f} times the flash"
            return {"found": None, "why": why}
        # Write amplification only falls with more flash, and never below one.
        most = ceil(own * self.target / years)
        low, high = own, None
        ahead = most
        try:
            while high is None or high.blocks_per_plane - low > max(1, BLOCKS_STEP * low):
                tried = self._with_blocks(ahead)
                if tried.years >= self.target:
                    high = tried
                elif high is None:
                    # A drive whose state is not yet steady may need a little more.
                    low, ahead = ahead, ahead + max(1, ahead // 10)
                    if ahead > 4 * most:
                        return {"found": None, "why": f"not with {ahead} blocks in a plane"}
                    continue
                else:
                    low = ahead
                ahead = (low + high.blocks_per_plane) // 2
        except InputError as error:
            if high is None:
                why = f"{ahead} blocks in a plane cannot be tried: {_first_line(error)}"
                return {"found": None, "why": why}
        return {"found": high.data(), "why": None}

    def _with_spare(self, spare: float) -> _Tried:
        blocks = int(self.base.provenance.config.geometry["blocks-per-plane"])
        change = [f"geometry.blocks-per-plane={blocks}", f"ftl.spare-factor={spare:g}"]
        result = self._run(change)
        return _Tried(spare, blocks, result, self._years_of(result))

    def _with_blocks(self, blocks: int) -> _Tried:
        capacity = self.base.capacity
        own = int(self.base.provenance.config.geometry["blocks-per-plane"])
        spare = 1 - capacity.logical_bytes / (capacity.physical_bytes * blocks / own)
        change = [f"geometry.blocks-per-plane={blocks}", f"ftl.spare-factor={spare:.9f}"]
        result = self._run(change)
        return _Tried(float(result.capacity.spare_factor), blocks, result, self._years_of(result))

    def _years_of(self, result: Result) -> float:
        years = self.years(result)
        return float("inf") if years is None else years

    def _run(self, own: list[str]) -> Result:
        self.runs += 1
        return lifetime(
            self.drive,
            self.workload,
            target=self.base.provenance.config.reliability.target,
            recovery=self.recovery,
            policy=self.policy,
            set=[*self._kept, *own],
            seed=self.seed,
            progress=self.progress,
            **self.reading,
        )


def _first_line(error: InputError) -> str:
    return str(error).partition("\n")[0]
