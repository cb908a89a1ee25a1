"""Measures the included drives for `floatgate drives`: `make measure-drives`.

`docs/drives.md` defines the numbers. `--only NAME` measures one drive and keeps the others;
`--show` prints the file instead of writing it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import floatgate
from floatgate import engine, measured
from floatgate.policy.finder import Finder

DEPTH = 256
"""Reads of 4 KiB that are inside the drive at a time."""

STREAMS = 32
"""Requests of 128 KiB that are inside the drive at a time."""

REQUESTS = (1_000_000, 10_000_000, 50_000_000)
"""Random writes that a lifetime is taken from: the fewest that give one value. With `--requests N`
at most N."""

SEED = 1

# Speed depends on dies, channels and the link, not on the number of blocks: few are quick to fill.
SMALL = {"geometry.blocks-per-plane": 64, "ftl.spare-factor": 0.3}


def rate(drive: str, workload: str, depth: int, requests: int, **more: Any) -> floatgate.Result:
    """A closed loop on a small drive that is full."""
    own = {
        "host.mode": "queue-depth",
        "host.queue-depth": depth,
        "workload.requests": requests,
        "precondition.fill": "full",
        "precondition.age": "none",
        **SMALL,
        **more,
    }
    return floatgate.run(drive, workload, set=own, seed=SEED)


def measure(drive: str, config: dict[str, Any]) -> dict[str, Any]:
    """The numbers of one drive."""
    reads = rate(drive, "random-read", DEPTH, 50_000)
    stream = rate(drive, "sequential-read", STREAMS, 10_000)
    written = rate(drive, "sequential-write", STREAMS, 20_000)
    life = lifetime(drive)
    return {
        "digest": measured.digest(config),
        "read_iops": three(reads.host.all.requests / reads.simulated_seconds),
        "read_mb_per_s": three(stream.host.all.bytes / stream.simulated_seconds / 1e6),
        "write_mb_per_s": three(written.host.all.bytes / written.simulated_seconds / 1e6),
        **life,
    }


def lifetime(drive: str) -> dict[str, Any]:
    """Write amplification and TBW under random writes: one value each, or a range."""
    most = int(sys.argv[sys.argv.index("--requests") + 1]) if "--requests" in sys.argv else None
    for requests in REQUESTS:
        if most is not None and requests > most:
            break
        own = {"workload.requests": requests}
        found = floatgate.lifetime(drive, "random-write", set=own, seed=SEED).data["lifetime"]
        if found["range"] is None:
            return {"waf": three(found["waf"]), "tbw_bytes": three(found["rated"]["tbw_bytes"])}
    ends = {key: found["range"][key] for key in ("waf", "tbw_bytes")}
    return {key: [three(of["low"]), three(of["high"])] for key, of in ends.items()}


def three(value: float) -> float:
    """Three digits, as they are shown."""
    return float(f"{value:.3g}")


def main() -> None:
    """Measures all drives, or the one that is named, and stores the numbers."""
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    found = measured.drives() if only else {}
    # A drive that takes long is not lost with the next one.
    for name in floatgate.drives():
        if only in (None, name):
            text = engine.resolve(name, set=(), policy=(), seed=None, finder=Finder())[1]
            found[name] = measure(name, json.loads(text)["config"])
            print(name, found[name], flush=True)
            text = json.dumps({"version": engine.version(), "drives": found}, indent=1) + "\n"
            if "--show" not in sys.argv:
                measured.FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
