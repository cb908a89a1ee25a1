"""The means to reach a life: throttling and its cost, more spare space, or more flash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, inf
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from floatgate.engine import InputError
from floatgate.life.forward import demand_per_second, fast_forward
from floatgate.life.lifetime import lifetime, recovery_of
from floatgate.result.run import Result
from floatgate.result.scaled import whole_bytes
from floatgate.result.values import Value
from floatgate.settings import Policies, Settings, pairs, policies_of
from floatgate.workloads.reading import Reading, takes_reading

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[str, int, int | None, int], object]
Candidates = Callable[[int, int, str], object]

YEAR = 365 * 86_400.0
MOST_SPARE = 0.5
"""The least share of its flash that a searched drive exports."""
MOST_FLASH = 8
"""The most flash of a searched drive, as a multiple of its own."""
SPARE_STEP = 0.01
"""The accuracy of the least spare factor."""
BLOCKS_STEP = 0.02
"""The accuracy of the least number of blocks, as a share of it."""
BEYOND = 1.25
"""The most blocks that are tried, as a multiple of those that the target needs by the endurance of
the drive's own flash."""

_CAPACITIES = (
    "ftl.spare-factor=",
    "ftl.over-provisioning=",
    "ftl.logical-capacity=",
    "geometry.blocks-per-plane=",
)


class Advice(Value):
    """Changes that reach the target. `data` is the value in JSON; its numbers are attributes."""


class _Drive(NamedTuple):
    """A drive that the search may run."""

    spare_factor: float
    blocks_per_plane: int
    name: str


class _Range(NamedTuple):
    """Drives, each with more than the one before, and the message if none reaches the target."""

    drives: list[_Drive]
    beyond: str

    @property
    def runs(self) -> int:
        """The most drives that are run to find the least that reaches the target."""
        return len(self.drives).bit_length()


class _Tried(NamedTuple):
    """A drive that was run."""

    drive: _Drive
    result: Result
    years: float

    def data(self) -> dict[str, Any]:
        exported, physical = whole_bytes(self.result.data)
        return {
            "spare_factor": (physical - exported) / physical,
            "over_provisioning": (physical - exported) / exported,
            "exported_bytes": exported,
            "physical_bytes": physical,
            "blocks_per_plane": self.drive.blocks_per_plane,
            "waf": self.result.waf,
            "years": None if self.years == inf else self.years,
        }


@takes_reading
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
    candidates: Candidates | None = None,
    **reading: Unpack[Reading],
) -> Advice:
    """Finds changes that make a drive reach its target life, by runs of other drives.

    Throttles are advanced to the target by `fast_forward`, with the write amplification and page
    times of `result`. Over-provisioning and capacity are searched. Every drive of the search runs
    the whole workload, because each has its own write amplification.

    Args:
        result: The result of `floatgate.lifetime` for the same arguments. If that reaches its
            target, nothing is searched.
        drive: The name of a preset, or a drive file (TOML).
        workload: The workload that `lifetime` took.
        recovery: As for `lifetime`.
        policy: Policies by family. A throttle among them is left out.
        set: Settings by key.
        seed: The seed of every random stream.
        progress: As in `floatgate.run`.
        candidates: Called before another drive is run, with its number, the greatest possible
            number, and its description.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        `reached`, which is None if `result` gives no years. If it is false: `throttles`,
            `over_provisioning` and `capacity`, or `why` there is no answer.

    Raises:
        InputError: As `floatgate.run` does.
    """
    search = _Search(
        result, drive, workload, recovery, policy, set, seed, progress, candidates, reading
    )
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
        candidates: Candidates | None,
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
        # A drive has one capacity, so keys that set another than the tried one are removed.
        self._kept = [each for each in self.settings if not each.startswith(_CAPACITIES)]
        self.seed = seed
        self.progress = progress
        self.candidates = candidates
        self.reading = reading
        self.target = float(base.lifetime.target.years)
        self.runs = self.most = 0

    def advice(self) -> dict[str, Any]:
        """The whole value."""
        years, most = self.years(self.base), self.most_years()
        reached = None if years is None or years < self.target <= most else years >= self.target
        found: dict[str, Any] = {
            "target_years": self.target,
            "recovery": self.recovery,
            "years": None if years == inf else years,
            "reached": reached,
            "why": self.base.lifetime.why if reached is None else None,
        }
        nothing: dict[str, Any] = {
            "throttles": [],
            "over_provisioning": None,
            "capacity": None,
            "runs": 0,
        }
        if years is None or reached is not False:
            return found | nothing
        try:
            demand = self.demand()
        except InputError as error:
            # A drive that is written as fast as it can has no rate at which to compare.
            return found | {"why": str(error)} | nothing
        throttles = list(self.throttles(demand))
        searches = self.over_provisioning(years), self.capacity(years)
        self.most = sum(search.runs for search in searches)
        spare, flash = (self.least(search) for search in searches)
        return found | {
            "throttles": throttles,
            "over_provisioning": spare,
            "capacity": flash,
            "runs": self.runs,
        }

    def years(self, result: Result) -> float | None:
        """The life that counts: the least of a range; infinite if rest heals everything.

        None if it is not known.
        """
        return self._years(result, "low")

    def most_years(self) -> float:
        """The same for the drive itself: the greatest of a range."""
        years = self._years(self.base, "high")
        return inf if years is None else years

    def _years(self, result: Result, end: str) -> float | None:
        life = result.lifetime
        if life.range is not None:
            which = "years" if self.recovery is None else "years_with_recovery"
            # A drive without a model of its cells has no recovery to count.
            years = (life.range[which] or life.range["years"])[end]
        elif life.why is not None:
            return None
        else:
            recovers = self.recovery is not None and life.with_recovery is not None
            years = (life.with_recovery if recovers else life.rated).years
        return inf if years is None else float(years)

    @property
    def waf(self) -> float:
        """The write amplification that counts: the greatest of a range."""
        found = self.base.lifetime.range
        return float(self.base.waf if found is None else found.waf.high)

    @property
    def worn_waf(self) -> float:
        """The same in programs at full density that wear the flash as much.

        A page of an SLC cache takes a larger share of its block's cycle, which wears less.
        """
        if self.base.data["slc_cache"] is None:
            return self.waf
        rated, (_, flash) = self.base.lifetime.rated, whole_bytes(self.base.data)
        of_run = float(rated.cycles) * float(flash) / float(rated.tbw_bytes)
        return self.waf * of_run / float(self.base.waf)

    def demand(self) -> pl.DataFrame:
        """The bytes that the workload writes in each second."""
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
        """Each throttle that reaches the target, and its cost."""
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
                waf=self.worn_waf,
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

    def over_provisioning(self, years: float) -> _Range:
        """Spare space of the same flash, from the drive's own to the most."""
        exported, physical = whole_bytes(self.base.data)
        own = (physical - exported) / physical
        at_best = years * self.waf / self.least_waf
        if at_best < self.target:
            why = f"even without moving a page this flash stands {at_best:.3g} years"
            return _Range([], why)
        blocks = int(self.base.provenance.config.geometry["blocks-per-plane"])
        steps = int((MOST_SPARE - own) / SPARE_STEP + 1e-9)
        spares = [round(own + (k + 1) * SPARE_STEP, 4) for k in range(steps)]
        drives = [_Drive(spare, blocks, f"a spare factor of {spare:.4g}") for spare in spares]
        return _Range(drives, f"not up to a spare factor of {MOST_SPARE:g}")

    def capacity(self, years: float) -> _Range:
        """More flash below a drive of the same exported capacity."""
        exported, physical = whole_bytes(self.base.data)
        own = int(self.base.provenance.config.geometry["blocks-per-plane"])
        least = self.target / (years * self.waf / self.least_waf)
        if least > MOST_FLASH:
            why = f"even without moving a page it would take {least:,.0f} times the flash"
            return _Range([], why)
        # Fewer moved pages at best, and as many as now at worst. A little more is added, because
        # states differ.
        most = ceil(BEYOND * own * self.target / years)
        blocks, drives = max(own + 1, ceil(own * least)), []
        while blocks <= most:
            spare = 1 - exported / (physical * blocks / own)
            drives.append(_Drive(round(spare, 9), blocks, f"{blocks} blocks in a plane"))
            blocks += max(1, int(BLOCKS_STEP * blocks))
        return _Range(drives, f"not with {most} blocks in a plane")

    @property
    def least_waf(self) -> float:
        """The write amplification if collection moved no page."""
        program = self.base.flash.program
        return float(self.base.waf) * float(program.host) / float(program.total)

    def least(self, search: _Range) -> dict[str, Any]:
        """The first drive of a range that reaches the target. More of the same is never worse."""
        found: _Tried | str = search.beyond
        low, high = 0, len(search.drives)
        while low < high:
            middle = (low + high) // 2
            drive = search.drives[middle]
            try:
                result = self._run(drive)
            except InputError as error:
                # Too much for the workload or the geometry: less may be valid.
                found, high = f"{drive.name} cannot be tried: {_first_line(error)}", middle
                continue
            years = self.years(result)
            if years is None:
                why = f"with {drive.name} no years can be named: {result.lifetime.why}"
                return {"found": None, "why": why}
            if years >= self.target:
                found, high = _Tried(drive, result, years), middle
            else:
                low = middle + 1
        if isinstance(found, str):
            return {"found": None, "why": found}
        return {"found": found.data(), "why": None}

    def _run(self, drive: _Drive) -> Result:
        self.runs += 1
        if self.candidates is not None:
            self.candidates(self.runs, self.most, drive.name)
        own = [
            f"geometry.blocks-per-plane={drive.blocks_per_plane}",
            f"ftl.spare-factor={drive.spare_factor}",
        ]
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
