"""Random valid drives under random workloads: does every run end, add up and repeat itself?

`python tests/roam.py [--seconds N] [--seed N] [--out FOLDER]`, or `make roam SECONDS=N`. A seed
draws a drive, its policies and a workload. The run is made three times: without a cache, with an
empty cache, and from the cache that the second made. Each run is a process of its own with a limit
of processor time and of memory. A finding is shrunk (settings are removed while it stays), printed
as a command and stored in the folder. The exit code is 1 where anything was found.

The lists of policies, of their parameters and of generators come from the package, so a new one is
drawn without a change here. `test_roam.py` fails for a key of drive files that is neither drawn nor
left out by name.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import floatgate
from floatgate.result.run import Result

MEMORY = 3 << 30
"""Bytes of address space for one run; such a drive takes some ten MiB."""
BASE_SECONDS = 3.0
"""Processor time that any run may take."""
SECONDS_A_PAGE = 200e-6
"""Processor time for each page that is written beforehand, requested or moved: a hundred times the
time of a page operation."""
AGED_PAGES = 64 << 17
"""The most pages that ageing of a small drive writes: 64 stretches (`precondition.rs`)."""
SECONDS_AN_AGED_PAGE = 4e-6
"""Processor time for each of them and for `MOVES` pages that move for it."""
MOVES = 40
"""Write amplification of most drives is below. That of a policy that passes over the best victims
can be above."""
HANG = 600
"""Processor seconds after which the three runs of a draw are ended: a minute more than twice the
ageing of a drive whose write amplification is 300."""

Settings = dict[str, Any]
"""Keys of a drive file and their values."""


def whole(rng: random.Random, least: float, most: float) -> int:
    """A whole number, as likely from 1 to 10 as from 10 to 100."""
    low, high = math.log(max(least, 0.5)), math.log(most + 0.5)
    return min(int(most), max(int(least), round(math.exp(rng.uniform(low, high)))))


def duration(rng: random.Random, least: float, most: float) -> str:
    """A time from `least` to `most` seconds; one in twenty is a million times as long."""
    seconds = math.exp(rng.uniform(math.log(least), math.log(most)))
    if rng.random() < 0.05:
        seconds = min(seconds * 1e6, 60.0)
    return f"{max(1, round(seconds * 1e9))}ns"


def chance(rng: random.Random, share: float) -> bool:
    return rng.random() < share


def kib(size: float) -> str:
    return f"{max(1, int(size))}KiB"


@dataclass(frozen=True)
class Draw:
    """A drive, its policies and its requests."""

    seed: int
    drive: Settings
    policy: dict[str, str]
    workload: str
    """The name of a generator, or of a file in `files`."""
    files: dict[str, str] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> tuple[Path, str]:
        """Writes the files. Returns the drive's and the workload as `run` takes it."""
        for name, text in self.files.items():
            (folder / name).write_text(text)
        lines = [f"{key} = {toml(value)}" for key, value in sorted(self.drive.items())]
        path = folder / "drive.toml"
        path.write_text("\n".join(['schema = "floatgate.drive/1"', 'name = "roam"', *lines, ""]))
        return path, str(folder / self.workload) if self.workload in self.files else self.workload

    def command(self, drive: Path, workload: str) -> str:
        """The same run as a command."""
        words = ["floatgate", "run", str(drive), workload]
        for name, value in self.policy.items():
            words += ["--policy", f"{name}={value}"]
        for name, value in self.reading.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


# The parts of a drive. Each adds its keys to those that are there.


def geometry(rng: random.Random, drive: Settings) -> None:
    bits = rng.choice((1, 2, 2, 3, 3, 4))
    planes = rng.choice((1, 1, 2, 4))
    wordlines = whole(rng, 2, 24)
    page = rng.choice((2, 4, 4, 8, 16)) << 10
    drive |= {
        "geometry.channels": whole(rng, 1, 4),
        "geometry.chips-per-channel": whole(rng, 1, 3),
        "geometry.dies-per-chip": rng.choice((1, 1, 2)),
        "geometry.planes-per-die": planes,
        "geometry.blocks-per-plane": whole(rng, 24, 96),
        "geometry.pages-per-block": wordlines * bits,
        "geometry.page-size": f"{page}B",
        "geometry.bits-per-cell": bits,
        "host.sector": rng.choice(("512B", "512B", "4KiB" if page >= 4096 else "512B")),
    }
    if chance(rng, 0.3):
        drive["pages.order"] = rng.choice(("cyclic", "shadow", "shadow-pairs"))
    if chance(rng, 0.3):
        drive["pages.program"] = rng.choice(("page", "wordline", "two-step"))
    units = [unit for unit in (page, page // 2, page // 4) if unit >= 4096]
    if units and chance(rng, 0.4):
        drive["ftl.mapping-unit"] = f"{rng.choice(units)}B"
    if planes > 1 and chance(rng, 0.4):
        drive["ftl.program-planes"] = planes
        if chance(rng, 0.3):
            # A coarse map: a page of each of several planes.
            across = rng.choice([n for n in range(2, planes + 1) if planes % n == 0])
            drive["ftl.mapping-unit"] = f"{across * page}B"
    if chance(rng, 0.2):
        drive["ftl.program-wait"] = duration(rng, 1e-6, 1e-3)
    superblocks(rng, drive)
    spare = rng.uniform(0.2, 0.6)
    key = rng.choice(("spare", "spare", "over", "capacity"))
    if key == "spare":
        drive["ftl.spare-factor"] = round(spare, 3)
    elif key == "over":
        drive["ftl.over-provisioning"] = round(spare / (1 - spare), 3)
    else:
        drive["ftl.logical-capacity"] = kib(pages(drive) * page * (1 - spare) / 1024)


def superblocks(rng: random.Random, drive: Settings) -> None:
    """Blocks that are collected together, and parity. Some do not fit the drive."""
    dies = math.prod(
        drive[f"geometry.{size}"] for size in ("channels", "chips-per-channel", "dies-per-chip")
    )
    groups = drive["geometry.planes-per-die"] // drive.get("ftl.program-planes", 1)
    together = 0
    if chance(rng, 0.4):
        fit = [n for n in range(1, dies + 1) if dies % n == 0]
        drive["ftl.superblock"] = rng.choice(("plane-group", "die", "drive", rng.choice(fit)))
        chosen = drive["ftl.superblock"]
        words = {"plane-group": 0, "die": 1, "drive": dies}
        together = words[chosen] if isinstance(chosen, str) else chosen
    if chance(rng, 0.25):
        drive["ftl.parity"] = rng.choice((0, 2, 4, max(2, together * groups)))
    if chance(rng, 0.2):
        drive["ftl.fdp.handles"] = whole(rng, 1, 4)
        drive |= some(
            rng,
            {
                "ftl.fdp.reclaim-unit": rng.choice((1, 2, 4)),
                "ftl.fdp.isolation": rng.choice(("initial", "persistent")),
                "ftl.fdp.spill": chance(rng, 0.3),
                "ftl.fdp.keep-sequential": chance(rng, 0.5),
            },
            0.4,
        )


def pages(drive: Settings) -> int:
    """Pages of the flash."""
    parts = (
        "channels chips-per-channel dies-per-chip planes-per-die blocks-per-plane pages-per-block"
    )
    return math.prod(drive[f"geometry.{part}"] for part in parts.split())


def timing(rng: random.Random, drive: Settings) -> None:
    bits = drive["geometry.bits-per-cell"]

    def each(least: float, most: float) -> Any:
        if chance(rng, 0.6):
            return duration(rng, least, most)
        return [duration(rng, least, most) for _ in range(bits)]

    how = rng.choice(("plain", "plain", "levels", "physics"))
    drive["timing.erase"] = duration(rng, 1e-4, 1e-2)
    if how == "levels":
        for level in ("high", "medium", "low"):
            drive[f"timing.levels.{level}.program"] = each(1e-4, 2e-3)
            drive[f"timing.levels.{level}.read"] = each(1e-5, 3e-4)
    elif how == "physics":
        drive |= {
            "timing.physics.program": duration(rng, 1e-4, 2e-3),
            "timing.physics.steps": sorted(rng.sample(range(6, 20), 3)),
            "timing.physics.sense": duration(rng, 1e-5, 1e-4),
            "timing.physics.transfer": duration(rng, 1e-6, 1e-4),
            "timing.physics.retention": rng.choice(("30d", "1y")),
        }
    else:
        drive |= {"timing.program": each(1e-4, 2e-3), "timing.read": each(1e-5, 3e-4)}
        if "ftl.mapping-unit" in drive and chance(rng, 0.4):
            drive["timing.read-partial"] = duration(rng, 1e-5, 1e-4)
    if how != "physics" and chance(rng, 0.5):
        bus: Settings = {
            "rate": rng.choice(("33MT/s", "333MT/s", "1200MT/s")),
            "width-bits": rng.choice((8, 8, 16)),
            "command": duration(rng, 1e-8, 1e-6),
        }
        if chance(rng, 0.3):
            bus["first"] = "data"
        drive["timing.bus"] = bus
        if chance(rng, 0.4):
            drive["timing.cache"] = rng.choice(("reads", "programs", "all"))
    else:
        drive["timing.bus"] = "included"
    if chance(rng, 0.7):
        drive |= {
            "slc.read": duration(rng, 1e-5, 1e-4),
            "slc.program": duration(rng, 5e-5, 1e-3),
            **some(
                rng, {"slc.erase": duration(rng, 1e-4, 1e-2), "slc.endurance": whole(rng, 1, 10**5)}
            ),
        }
    if chance(rng, 0.3):
        drive |= {
            "timing.suspend.operations": rng.choice(("all", "programs", "erases", "none")),
            "timing.suspend.pause": duration(rng, 1e-6, 5e-5),
            "timing.suspend.resume": duration(rng, 1e-6, 5e-5),
            "timing.suspend.limit": whole(rng, 1, 64),
        }
        if chance(rng, 0.5):
            drive["timing.suspend.min-progress"] = duration(rng, 1e-6, 1e-4)
        if chance(rng, 0.3):
            drive["timing.suspend.erase-loops"] = whole(rng, 1, 8)
    if chance(rng, 0.3):
        drive |= {
            "energy.read": f"{whole(rng, 1, 100)}uJ",
            "energy.program": f"{whole(rng, 10, 1000)}uJ",
            "energy.erase": f"{whole(rng, 10, 1000)}uJ",
            **(
                {
                    "slc.energy.read": f"{whole(rng, 1, 100)}uJ",
                    "slc.energy.program": f"{whole(rng, 10, 1000)}uJ",
                    "slc.energy.erase": f"{whole(rng, 10, 1000)}uJ",
                }
                if "slc.read" in drive
                else {}
            ),
        }
        if chance(rng, 0.5):
            drive |= {"energy.transfer-out": "2uJ", "energy.transfer-in": "3uJ"}
        if chance(rng, 0.5):
            drive["energy.idle-power"] = "27.3mW"


def reliability(rng: random.Random, drive: Settings) -> None:
    if chance(rng, 0.4):
        drive["reliability.endurance"] = whole(rng, 3, 5000)
    if chance(rng, 0.25):
        drive["reliability.model"] = "on"
        drive |= some(
            rng,
            {
                "reliability.read-start": rng.choice(("lowest", "last", "needed")),
                "reliability.program-speed": rng.choice(("fresh", "wear")),
                "reliability.uncorrectable": rng.choice(("retire", "keep")),
                "reliability.initial-rest": duration(rng, 1, 1e5),
                "reliability.initial-retention": duration(rng, 1, 1e7),
                "reliability.correctable": [0.002, 0.005, 0.012],
                "reliability.codeword": rng.choice(("1KiB", "2KiB", "16KiB")),
                "reliability.code-rate": round(rng.uniform(0.7, 0.95), 3),
                "reliability.uber": rng.choice((1e-13, 1e-16)),
            },
        )
    if chance(rng, 0.2):
        endurance = drive.get("reliability.endurance", 3000)
        drive["reliability.initial-cycles"] = rng.randrange(endurance)
    drive |= some(
        rng,
        {
            "reliability.recovery": rng.choice(("printed", "fitted")),
            "reliability.target": rng.choice(("1d", "1y", "5y")),
        },
        0.15,
    )


def some(rng: random.Random, keys: Settings, share: float = 0.35) -> Settings:
    """Some of the keys."""
    return {key: value for key, value in keys.items() if chance(rng, share)}


def management(rng: random.Random, drive: Settings) -> None:
    start = rng.choice((2, 2, 2, 3, 4))
    stop = start + rng.choice((0, 1, 1, 2))
    drive |= some(
        rng,
        {
            "ftl.gc.start": start,
            "ftl.gc.stop": stop,
            "ftl.gc.foreground": rng.choice(("all", "one")),
            "ftl.gc.pace": rng.choice(("burst", "per-write")),
            "ftl.unmapped-read": rng.choice(("flash", "zero")),
            "ftl.pending-read": rng.choice(("wait", "memory")),
            "ftl.multi-plane": rng.choice(("off", "aligned", "any")),
            "ftl.copyback": rng.choice((1, 2, 255)),
            "ftl.mapping": "page",
            "ftl.free-block": rng.choice(("oldest", "least-worn")),
        },
    )
    if chance(rng, 0.15):
        drive["ftl.gc.trigger"] = rng.choice(
            ("free-blocks", {"garbage": round(rng.uniform(0.02, 0.4), 3)})
        )
    if chance(rng, 0.3):
        drive |= {"ftl.gc.start": start, "ftl.gc.stop": stop}
        drive["ftl.gc.background-stop"] = stop + rng.choice((0, 1, 3))
    if "ftl.gc.start" in drive:
        drive.setdefault("ftl.gc.stop", stop)


def outside(rng: random.Random, drive: Settings) -> None:
    """The ways in and out: host, link, controller and buffer."""
    drive |= some(
        rng,
        {
            "host.mode": rng.choice(("timestamps", "shifted", "queue-depth", "think-time")),
            "host.queue-depth": whole(rng, 1, 256),
            "host.queue-limit": rng.choice((1, 8, 1024)),
            "host.speed": rng.choice((0.01, 0.5, 3.0, 1e5)),
        },
        0.3,
    )
    drive["host.out-of-range"] = rng.choice(("wrap", "compact"))
    if chance(rng, 0.3):
        drive |= some(
            rng,
            {
                "link.rate": rng.choice(("500MB/s", "3.5GB/s")),
                "link.latency": duration(rng, 1e-7, 1e-5),
                "link.duplex": rng.choice(("full", "half")),
                "controller.read": duration(rng, 1e-7, 1e-5),
                "controller.write": duration(rng, 1e-7, 1e-5),
                "controller.rate": "4GB/s",
                "controller.cores": whole(rng, 1, 16),
                "controller.read-latency": duration(rng, 1e-7, 1e-5),
            },
            0.5,
        )
        for of in ("read", "write"):
            if chance(rng, 0.2):
                drive[f"controller.{of}-jitter.p50"] = duration(rng, 1e-7, 1e-6)
                drive[f"controller.{of}-jitter.p99"] = duration(rng, 1e-6, 1e-4)
    if chance(rng, 0.5):
        page = int(drive["geometry.page-size"][:-1])
        size = page * whole(rng, 1, 4096)
        if chance(rng, 0.1):
            size = max(page, size // 1000 // page * page)
        drive |= {"buffer.size": f"{size}B"}
        if chance(rng, 0.2):
            drive |= {"buffer.units-per-die": rng.choice((1, 2, 8))}
            del drive["buffer.size"]
        drive |= some(
            rng,
            {
                "buffer.kind": rng.choice(("none", "write-back", "write-through")),
                "buffer.power-loss-protected": chance(rng, 0.5),
                "buffer.latency": duration(rng, 1e-7, 1e-5),
                "buffer.access": duration(rng, 1e-8, 1e-6),
                "buffer.rate": rng.choice(("500MB/s", "8.9GB/s")),
                "buffer.flush-above": rng.choice((0.0, 0.5, 0.9, 1.0)),
            },
            0.5,
        )


def before(rng: random.Random, drive: Settings) -> None:
    drive["precondition.fill"] = rng.choice(("none", "touched", "full", "full", 0.5))
    if drive["precondition.fill"] == "full":
        drive["precondition.age"] = rng.choice(("none", "random", "random", "workload"))
    drive["run.seed"] = rng.randrange(1 << 32)
    drive |= some(rng, {"run.series-interval": duration(rng, 1e-5, 1), "run.keep-requests": False})


VALUES: list[tuple[str, Callable[[random.Random, re.Match[str]], str]]] = [
    (r"one of (.*)", lambda rng, at: rng.choice(at[1].split(", "))),
    (
        r"a whole number from (\d+) to (\d+)",
        lambda rng, at: str(whole(rng, int(at[1]), int(at[2]))),
    ),
    (
        r"a number from ([\d.e-]+) to ([\d.e-]+)",
        lambda rng, at: f"{rng.uniform(float(at[1]), float(at[2])):.3g}",
    ),
    (r"a time with its unit, at least (\d+\w+)", lambda rng, at: rng.choice((at[1], period(rng)))),
    (
        "a size with its unit",
        lambda rng, at: rng.choice(("0B", kib(rng.choice((16, 64, 256, 1024))), "3MiB", "1TB")),
    ),
]
"""How the list of policies names the values of a parameter, and how one is drawn."""


def period(rng: random.Random) -> str:
    return rng.choice(("1s", "7s", "90s", "10min", "5h", "7d", "1y", "5y"))


def policies(rng: random.Random, handles: bool) -> dict[str, str]:
    """For some families, a policy with some of its parameters.

    A drive with placement handles has its separation policy by itself.
    """
    families: dict[str, list[dict[str, Any]]] = {}
    for policy in floatgate.policies():
        families.setdefault(policy["family"], []).append(policy)
    chosen = {}
    for family, known in families.items():
        if not chance(rng, 0.35) or (family == "separation" and handles):
            continue
        policy = rng.choice(known)
        words = [policy["name"]]
        for param in policy["params"]:
            if chance(rng, 0.4):
                words.append(f"{param['name']}={value_of(rng, param['values'])}")
        chosen[family] = ":".join(words)
    return chosen


def value_of(rng: random.Random, values: str) -> str:
    for form, draw in VALUES:
        if at := re.fullmatch(form, values):
            return draw(rng, at)
    raise AssertionError(f"the list of policies has values of a new form: {values!r}")


def workload(rng: random.Random, drive: Settings) -> tuple[str, dict[str, str], dict[str, Any]]:
    """A generator set up in the drive file, a trace, or several flows."""
    how = rng.choice(("generator", "generator", "trace", "flows"))
    span = pages(drive) * int(drive["geometry.page-size"][:-1])
    requests = whole(rng, 50, 3000)
    reading: dict[str, Any] = {}
    if chance(rng, 0.1):
        reading["repeat"] = rng.choice((2, 5))
    if how == "trace":
        name, text = rng.choice(TRACES)(rng, requests, span)
        return name, {name: text}, reading
    if how == "flows":
        parts = []
        timed = chance(rng, 0.5)
        for name in ("a", "b", "c")[: rng.choice((2, 3))]:
            pattern = rng.choice(sorted(floatgate.generators()))
            own = [f'pattern = "{pattern}"', f"requests = {whole(rng, 20, 800)}"]
            if pattern not in FIXED_SHARES:
                own.append(f"read-share = {rng.choice((0.0, 0.5, 1.0))}")
            if timed:
                own.append(f"rate = {whole(rng, 1, 100_000)}")
            parts.append((name, "\n".join(own) + "\n"))
        files = {f"{name}.toml": text for name, text in parts}
        lines = ['schema = "floatgate.workload/1"']
        for name, _ in parts:
            lines += ["[[part]]", f'workload = "{name}.toml"', f'flow = "{name}"']
            if chance(rng, 0.4):
                lines.append(f"weight = {whole(rng, 1, 256)}")
            if chance(rng, 0.5):
                lines.append(f"hint = {rng.choice((0, 1, 2, 3, 255))}")
            if chance(rng, 0.3):
                lines.append(f'priority = "{rng.choice(("normal", "high"))}"')
            if not timed and chance(rng, 0.3):
                lines.append(f"depth = {whole(rng, 1, 64)}")
            elif timed and chance(rng, 0.3):
                lines.append(f"queue-depth = {whole(rng, 1, 64)}")
        files["mix.toml"] = "\n".join([*lines, ""])
        return "mix.toml", files, {}
    pattern = rng.choice(sorted(floatgate.generators()))
    drive["workload.requests"] = requests
    if chance(rng, 0.5):
        drive["workload.rate"] = float(
            f"{math.exp(rng.uniform(math.log(1e-4), math.log(1e6))):.3g}"
        )
    elif chance(rng, 0.3):
        drive["workload.arrivals"] = {"constant": {"iops": float(whole(rng, 1, 100_000))}}
    drive |= some(
        rng,
        {
            "workload.flush-every": whole(rng, 1, 500),
            "workload.fua-share": rng.choice((0.01, 0.5, 1.0)),
            "workload.seed": rng.randrange(1000),
            "workload.shift": rng.choice(("4KiB", "512B")),
        },
        0.15,
    )
    if pattern == "kv-offload":
        object_size = rng.choice((16, 24, 64))
        sessions = rng.choice((1, 3, 16))
        drive |= {
            "workload.sessions": sessions,
            "workload.object-size": kib(min(object_size, span // 1024 // sessions // 4 * 4)),
            "workload.size": rng.choice(("4KiB", "16KiB", "128KiB")),
            "workload.prefix-hits": rng.choice((0.0, 0.5, 0.99)),
            "workload.eviction": rng.choice(("overwrite", "trim")),
            "workload.tenants": rng.choice((0, 1, sessions)),
        }
        return pattern, {}, reading
    if pattern in FIXED_SHARES:
        return pattern, {}, reading
    reads = rng.choice((0.0, 0.0, 0.3, 0.9))
    drive["workload.read-share"] = reads
    if chance(rng, 0.2):
        drive["workload.trim-share"] = round(rng.uniform(0, 1 - reads), 2)
    if chance(rng, 0.4):
        size = rng.choice(("512B", "4KiB", "24KiB", "256KiB", "1MiB"))
        drive["workload.size"] = size
        if drive["host.sector"] != "512B" and size == "512B":
            drive["workload.size"] = "4KiB"
    if chance(rng, 0.3):
        drive["workload.span"] = kib(max(1024, span / 1024 / rng.choice((4, 100))) // 4 * 4)
    if pattern == "zipf":
        drive["workload.theta"] = rng.choice((0.5, 0.99, 1.5))
    if pattern == "hot-cold":
        drive |= {"workload.hot-data": 0.1, "workload.hot-writes": rng.choice((0.5, 0.99))}
    if pattern == "permutation":
        drive["workload.order"] = rng.choice(("redrawn", "repeated"))
    return pattern, {}, reading


FIXED_SHARES = ("jesd219-enterprise",)
"""Generators that take no shares and sizes."""


def arrivals(rng: random.Random, requests: int) -> Iterator[tuple[float, str, int, int]]:
    """Seconds, operation, 4 KiB unit, units: bursts, long idle times, hot places."""
    now = 0.0
    gap = rng.choice((1e-6, 1e-4, 1e-2, 10.0, 3600.0))
    for _ in range(requests):
        if chance(rng, 0.3):
            now += rng.expovariate(1 / gap)
        if chance(rng, 0.002):
            now += 1e5
        unit = whole(rng, 1, 100_000) if chance(rng, 0.5) else rng.randrange(64)
        yield now, rng.choice("RWW"), unit, rng.choice((1, 1, 2, 16))


def ascii_trace(rng: random.Random, requests: int, _: int) -> tuple[str, str]:
    lines = (
        f"{int(at * 1e9)} 0 {unit * 8} {units * 8} {int(op == 'R')}"
        for at, op, unit, units in arrivals(rng, requests)
    )
    return "t.ascii", "\n".join(lines) + "\n"


def msr_trace(rng: random.Random, requests: int, _: int) -> tuple[str, str]:
    lines = (
        f"{128166372003061629 + int(at * 1e7)},srv,0,{'Read' if op == 'R' else 'Write'},"
        f"{unit * 4096},{units * 4096},500"
        for at, op, unit, units in arrivals(rng, requests)
    )
    return "t.csv", "\n".join(lines) + "\n"


def spc_trace(rng: random.Random, requests: int, _: int) -> tuple[str, str]:
    lines = (
        f"0,{unit * 8},{units * 4096},{op},{at:.6f}"
        for at, op, unit, units in arrivals(rng, requests)
    )
    return "t.spc", "\n".join(lines) + "\n"


def fio_trace(rng: random.Random, requests: int, _: int) -> tuple[str, str]:
    lines = ["fio version 3 iolog", "0 /dev/a add", "0 /dev/a open"]
    for at, op, unit, units in arrivals(rng, requests):
        what = "read" if op == "R" else rng.choice(("write", "write", "write", "trim"))
        lines.append(f"{int(at * 1e9)} /dev/a {what} {unit * 4096} {units * 4096}")
    return "t.iolog", "\n".join(lines) + "\n"


TRACES = [ascii_trace, msr_trace, spc_trace, fio_trace]

LEFT_OUT = {
    "base": "every drive is drawn from nothing",
    "chip": "every drive is drawn from nothing",
    "schema": "a name",
    "name": "a name",
    "summary": "text",
    "sources": "text",
    "workload.duration": "for stand-ins",
    "workload.created-reads": "for stand-ins",
    "workload.align": "follows the size",
    "host.flow": "drawn as keys of the parts of a workload",
    "host.only": "a choice among flows",
}
"""Keys of drive files that are not drawn, each with the reason."""


def scaled(rng: random.Random, drive: Settings) -> None:
    """A larger drive of which a part is simulated, about as large as those that are whole."""
    fits = drive.get("reliability.model") != "on" and "ftl.logical-capacity" not in drive
    if fits and chance(rng, 0.15):
        of = rng.choice((2, 3, 8))
        drive |= {"scale": f"1/{of}"}
        drive["geometry.blocks-per-plane"] *= of


def draw(seed: int) -> Draw:
    """The drive, the policies and the workload of a seed. Not every draw is valid: see `mended`."""
    rng = random.Random(seed)
    drive: Settings = {}
    for part in (geometry, timing, reliability, management, outside, before, scaled):
        part(rng, drive)
    name, files, reading = workload(rng, drive)
    chosen = policies(rng, "ftl.fdp.handles" in drive)
    if chance(rng, 0.5):  # most drives of many policies at once are refused
        for family in rng.sample(sorted(chosen), max(0, len(chosen) - 2)):
            del chosen[family]
    return Draw(seed, drive, chosen, name, files, reading)


# The settings of a run.


@dataclass(frozen=True)
class Outcome:
    """The outcome of the three runs: nothing, a refusal, or a fault of a kind."""

    kind: str
    text: str = ""

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("good", "refused")


def blocks(data: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every block of latencies in a result."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "latency_ns" and isinstance(value, dict) and "p50" in value:
                yield f"{path}.{key}", value
            else:
                yield from blocks(value, f"{path}.{key}")
    elif isinstance(data, list):
        for nth, value in enumerate(data):
            yield from blocks(value, f"{path}[{nth}]")


STEPS = ("min", "p50", "p90", "p99", "p99_9", "p99_99", "max")


def out_of_order(block: dict[str, Any]) -> str | None:
    """The two values of a block of latencies that contradict each other."""
    values = [(step, block[step]) for step in STEPS if block.get(step) is not None]
    for (low, a), (high, b) in pairwise(values):
        if a > b:
            return f"{low} {a} > {high} {b}"
    if block.get("mean") is not None and values:
        # The mean is a double: the last digits of a sum of many are lost.
        slack = 1 + 1e-9 * abs(block["mean"])
        if not block["min"] - slack <= block["mean"] <= block["max"] + slack:
            return f"mean {block['mean']} outside {block['min']} … {block['max']}"
    return None


ABSURD = re.compile(r"\bnan\b|\binf\b|\bNone\b|(?<![\w.-])-\d|\d\.\d+ T (requests|page)")
"""Words that no page has, after any run."""


def faults(result: Result, draw: Draw) -> Iterator[str]:
    """Everything about a result that cannot be."""
    data = result.data
    if data["checks"]["passed"] is False:
        yield "checks.passed is false"
    for path, block in blocks(data["host"]):
        if wrong := out_of_order(block):
            yield f"{path}: {wrong}"
    for name, kinds in data["flash"].items():
        if isinstance(kinds, dict) and "total" in kinds:
            counts = [value for key, value in kinds.items() if key != "total"]
            if all(isinstance(count, int) for count in counts) and sum(counts) != kinds["total"]:
                yield f"flash.{name}: {counts} is not {kinds['total']}"
    energy = data["energy_joules"]
    if energy is not None:
        parts = sum(value for key, value in energy.items() if key != "total" and value)
        if not math.isclose(parts, energy["total"], rel_tol=1e-9, abs_tol=1e-12):
            yield f"energy_joules: the parts are {parts}, the total {energy['total']}"
    for kind in ("read", "write", "trim", "flush", "all"):
        block = data["host"][kind]
        delays = block["delay_ns_by_cause"]
        summed = sum(delays["queue"].values()) + sum(
            value for key, value in delays.items() if key != "queue"
        )
        if not math.isclose(summed, block["latency_ns"]["mean"], rel_tol=1e-6, abs_tol=1.0):
            yield f"host.{kind}: causes add up to {summed}, not {block['latency_ns']['mean']}"
    codes = {warning["code"] for warning in data["warnings"]}
    if data["waf"] is not None and data["waf"] > 100 and not codes:
        yield f"write amplification {data['waf']} without a warning"
    page = str(result)
    if found := ABSURD.search(page):
        line = page[: found.start()].count("\n")
        yield f"the page says: {page.splitlines()[line].strip()!r}"


def work(result: Result) -> int:
    """Pages that the run and its preconditioning had to handle."""
    data = result.data
    flash = data["flash"]
    moved = sum(flash[verb]["total"] for verb in ("read", "program", "reprogram"))
    config = data["provenance"]["config"]
    size = config["geometry"]
    whole_drive = math.prod(value for key, value in size.items() if isinstance(value, int))
    return int(moved + 4 * whole_drive + 4 * data["host"]["all"]["requests"])


def ageing(result: Result) -> float:
    """Processor seconds that ageing may take before the run.

    No result has its number of pages. Its write amplification is that of the run, or the one that
    a warning names.
    """
    data = result.data
    if data["provenance"]["config"]["precondition"]["age"] == "none":
        return 0
    told = " ".join(each["text"] for each in data["warnings"] if each["code"] == "not-steady")
    shown = [float(waf) for waf in re.findall(r"it was ([\d.]+) over", told)]
    most = max(data["waf_pages"] or 0, *shown, MOVES)
    return SECONDS_AN_AGED_PAGE * AGED_PAGES * most / MOVES


def once(draw: Draw, drive: Path, workload: str, cache: str) -> str:
    """One run, as text that is equal for equal runs."""
    os.environ["FLOATGATE_CACHE"] = cache
    before = time.process_time()
    result = floatgate.run(str(drive), workload, policy=draw.policy, **draw.reading)
    spent = time.process_time() - before
    for fault in faults(result, draw):
        raise AssertionError(fault)
    allowed = BASE_SECONDS + SECONDS_A_PAGE * work(result) + ageing(result)
    if spent > allowed:
        raise TimeoutError(f"{spent:.1f} s of processor time; {allowed:.1f} s are allowed")
    return json.dumps({key: value for key, value in result.data.items() if key != "timing"})


PLAIN_TIMES: Settings = {"timing.program": "600us", "timing.read": "60us"}
NEEDED = ("geometry.", "timing.erase", "timing.bus", "host.out-of-range")
"""The beginnings of keys that every draw keeps."""


def mended(draw: Draw, error: str) -> Draw | None:
    """The draw without the setting that a refusal names, if it names one that can go."""
    if "cannot be packed" in error and draw.drive["host.out-of-range"] != "wrap":
        return replace(draw, drive=draw.drive | {"host.out-of-range": "wrap"})
    for name in re.findall(r"`([^`\s]+)`", error):
        family = name.split("=")[0].removeprefix("policies.")
        if family in draw.policy:
            return replace(draw, policy={k: v for k, v in draw.policy.items() if k != family})
        under = [key for key in draw.drive if key == name or key.startswith(f"{name}.")]
        if under and not name.startswith(NEEDED):
            less = {k: v for k, v in draw.drive.items() if k not in under}
            if not any(
                key.startswith(("timing.program", "timing.levels", "timing.ph")) for key in less
            ):
                less |= PLAIN_TIMES
            return replace(draw, drive=less)
    return None


def valid(draw: Draw, folder: Path) -> Draw | Outcome:
    """The draw as the package takes it: the settings that a refusal names are dropped, one after
    the other.

    A drive is mended without its workload first, since that costs no run.
    """
    for _ in range(40):
        drive, _ = draw.write(folder)
        try:
            floatgate.resolve(str(drive), policy=draw.policy)
            return draw
        except floatgate.InputError as error:
            if (less := mended(draw, str(error))) is None:
                return Outcome("refused", str(error))
            draw = less
    return Outcome("refused", "forty refusals one after the other")


def inside(draw: Draw, folder: Path) -> Outcome:
    """The three runs, in this process."""
    drive, workload = draw.write(folder)
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    try:
        texts = [once(draw, drive, workload, where) for where in ("", str(cache), str(cache))]
    except floatgate.InputError as error:
        return Outcome("refused", str(error))
    except AssertionError as error:
        return Outcome("wrong", str(error))
    except TimeoutError as error:
        return Outcome("slow", str(error))
    except MemoryError:
        return Outcome("memory", f"more than {MEMORY >> 20} MiB")
    except BaseException as error:  # a panic is one, too
        return Outcome("panic", f"{type(error).__name__}: {error}")
    for nth, name in ((1, "that makes the cache"), (2, "from the cache")):
        if texts[nth] != texts[0]:
            return Outcome("unequal", f"the run {name} differs from the run without one")
    return Outcome("good")


def together(
    draw: Draw, folder: Path, tell: Callable[[Draw], None] = lambda _: None
) -> tuple[Draw, Outcome]:
    """Mends the draw, then runs it; where only the workload is refused, mends it once more.

    `tell` hears of what is run before it runs, as a run may not come back.
    """
    for _ in range(5):
        ready = valid(draw, folder)
        if isinstance(ready, Outcome):
            return draw, ready
        tell(ready)
        draw, outcome = ready, inside(ready, folder)
        less = mended(draw, outcome.text) if outcome.kind == "refused" else None
        if less is None:
            return draw, outcome
        draw = less
    return draw, outcome


def attempt(draw: Draw, folder: Path) -> tuple[Draw, Outcome]:
    """Mends the draw and makes the three runs, in a process of its own.

    Returns the draw that was run, and its outcome.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (HANG, HANG + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            # A panic of the engine prints itself; the finding has it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(writer, "w") as pipe:
                tell = partial(print, file=pipe, flush=True)
                ran, outcome = together(draw, folder, lambda one: tell(json.dumps(asdict(one))))
                tell(json.dumps(asdict(ran)))
                tell(json.dumps(asdict(outcome)))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = [json.loads(line) for line in pipe]
    _, status = os.waitpid(child, 0)
    if told and "kind" in told[-1]:
        return Draw(**told[-2]), Outcome(**told[-1])
    draw = Draw(**told[-1]) if told else draw
    ended = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {status >> 8}"
    return draw, Outcome(
        "ended", f"the process ended with {ended} (over {HANG} s of processor time?)"
    )


def smaller(draw: Draw) -> Iterator[Draw]:
    """The draw with one thing less."""
    if draw.reading:
        yield replace(draw, reading={})
    for family in draw.policy:
        yield replace(draw, policy={k: v for k, v in draw.policy.items() if k != family})
    for family, text in draw.policy.items():
        words = text.split(":")
        for nth in range(1, len(words)):
            fewer = ":".join(words[:nth] + words[nth + 1 :])
            yield replace(draw, policy=draw.policy | {family: fewer})
    for key in draw.drive:
        if not key.startswith(NEEDED):
            yield replace(draw, drive={k: v for k, v in draw.drive.items() if k != key})
    for key, value in draw.drive.items():
        counts = key == "workload.requests" or key.startswith("geometry.")
        if counts and isinstance(value, int) and value > 1:
            yield replace(draw, drive=draw.drive | {key: value // 2})
    for name, text in draw.files.items():
        lines = text.splitlines(keepends=True)
        if not name.endswith(".toml") and len(lines) > 8:
            yield replace(draw, files=draw.files | {name: "".join(lines[: len(lines) // 2])})


def shrunk(draw: Draw, found: Outcome, folder: Path, seconds: float = 60) -> Draw:
    """The smallest draw found in that time that has a fault of the same kind."""
    end = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < end:
        again = False
        for less in smaller(draw):
            if time.monotonic() > end:
                break
            ran, outcome = attempt(less, folder / "shrink")
            if outcome.kind == found.kind:
                draw, again = ran, True
                break
    return draw


def report(draw: Draw, found: Outcome, out: Path) -> None:
    """Prints a finding and stores the files of its smallest form."""
    small = shrunk(draw, found, out)
    small, again = attempt(small, out / str(draw.seed))
    drive, workload = small.write(out / str(draw.seed))
    print(f"seed {draw.seed}: {found.kind}: {found.text}")
    print(f"  smaller: {again.kind}: {again.text}")
    print(f"  {small.command(drive, workload)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random drives under random workloads.")
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, help="only this draw")
    parser.add_argument("--from", dest="first", type=int, default=None, help="the first seed")
    parser.add_argument("--out", default="floatgate-results/roam", help="where findings go")
    given = parser.parse_args()
    out = Path(given.out).absolute()
    counts: dict[str, int] = {}
    reasons: dict[str, int] = {}
    end = time.monotonic() + given.seconds
    first = given.first if given.first is not None else random.SystemRandom().randrange(1 << 40)
    seeds = [given.seed] if given.seed is not None else range(first, first + (1 << 30))
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            if given.seed is None and time.monotonic() > end:
                break
            one = draw(seed)
            one, found = attempt(one, Path(scratch) / "run")
            counts[found.kind] = counts.get(found.kind, 0) + 1
            if found.kind == "refused":
                first_line = re.sub(r"[\d.]+", "#", found.text.split("\n")[0])[:90]
                reasons[first_line] = reasons.get(first_line, 0) + 1
            if found.is_fault:
                report(one, found, out)
    total = sum(counts.values())
    said = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    print(f"{total} draws from seed {first if given.seed is None else given.seed}: {said}")
    if os.environ.get("ROAM_REASONS"):
        for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
            print(f"  refused {count}: {reason}")
    return int(any(Outcome(kind).is_fault for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
