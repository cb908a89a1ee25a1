"""Damaged files for every reader of the package: no panic, no hang, no unbounded memory.

`python tests/fuzz.py [--seconds N] [--inputs N] [--seed N] [READER...]`, or `make fuzz`. The answer
to any input must be something sound or an `InputError`. An input that gets another answer is kept
in `fuzz-failures/`. Traces and drive files go through whole runs here; `fuzz/` has the readers of
the Rust crates alone, by coverage, and `damage.py` pages and lists of results.
"""

from __future__ import annotations

import argparse
import faulthandler
import functools
import gzip
import json
import lzma
import random
import resource
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import floatgate
from damage import value_of
from floatgate import engine
from floatgate.experiments.model import Experiment
from floatgate.migrate import convert
from floatgate.result.folder import RESULT, SEAL
from floatgate.result.run import Result
from floatgate.workloads import parquet

sys.path.append(str(Path(__file__).parent.parent / "scripts"))
from docsite.examples import EXAMPLES

MEMORY = 4 << 30  # bytes of address space; a few hundred MiB are in use
HANG = 60  # seconds for one input


def ssdsim(i: int) -> bytes:
    return b"%d 0 %d 8 %d\n" % (i * 1_000_000, i * 16, i % 2)


def disksim(i: int) -> bytes:
    return b"%.6f 0 %d 8 %d\n" % (i * 0.5, i * 16, i % 2)


def msr(i: int) -> bytes:
    kind = b"Read" if i % 2 else b"Write"
    return b"%d,srv,0,%s,%d,4096,500\n" % (128166372003061629 + i * 9999, kind, i * 8192)


def spc(i: int) -> bytes:
    return b"0,%d,4096,%s,%.6f\n" % (i * 16, b"r" if i % 2 else b"W", i * 0.001)


def vscsi(i: int) -> bytes:
    """Serial number, bytes, SGL count, command, version, block, microseconds."""
    return struct.pack("<IIIHHQQ", i, 4096, 1, 0x28 + 2 * (i % 2), 1 << 8, i * 16, 10**15 + i * 500)


def alibaba(i: int) -> bytes:
    return b"%d,%s,%d,4096,%d\n" % (i % 3, b"R" if i % 2 else b"W", i * 8192, 1577808 * 10**9 + i)


def tencent(i: int) -> bytes:
    return b"%d,%d,8,%d,%d\n" % (1538323200 + i, i * 16, i % 2, i % 3)


def systor(i: int) -> bytes:
    kind = b"R" if i % 2 else b"W"
    return b"%d.013118000,0.000806000,%s,4,%d,4096\n" % (1456135200 + i, kind, i * 8192)


def blkparse(i: int) -> bytes:
    kind = b"R" if i % 2 else (b"WS", b"WFS", b"WSM")[i // 2 % 3]
    line = b"  8,16   8 %8d %5d.000000000   723  %s %3s %d + 8 [kworker/u81:0]\n"
    return b"".join(line % (i, i, event, kind, i * 16) for event in (b"Q", b"D"))


def wiscsee(i: int) -> bytes:
    return b"7 D %s %d 4096 %d.5 0.1 True\n" % (b"read" if i % 2 else b"write", i * 8192, i)


def fio(i: int) -> bytes:
    head = b"fio version 3 iolog\n0 /dev/a add\n" if i == 0 else b""
    if i % 7 == 3:
        return b"%d /dev/a sync 0 0\n" % i
    return head + b"%d /dev/a %s %d 4096\n" % (i, b"read" if i % 2 else b"write", i * 8192)


def msps(i: int) -> bytes:
    kind = b"DiskRead" if i % 2 else b"DiskWrite"
    line = b"%s, %d, System (   4), 480, 0xfffffa80, 0x%010x, 0x00001000, 283, 0, 0x060043\n"
    return (b"BeginHeader\nEndHeader\n" if i == 0 else b"") + line % (kind, i * 999, i * 8192)


FORMATS: list[Callable[[int], bytes]] = [
    ssdsim, disksim, msr, spc, vscsi, alibaba, tencent, systor, blkparse, wiscsee, fio, msps,
]  # fmt: skip
PACKERS: list[Callable[[bytes], bytes]] = [
    bytes, bytes, gzip.compress, lzma.compress, lambda raw: b"\x28\xb5\x2f\xfd" + raw,
]  # fmt: skip
WORDS = [
    b"", b"0", b"-1", b"1e9", b"nan", b"99999999999999999999", b"18446744073709551615",
    b"\n", b"\r\n", b" ", b"\t", b",", b"\0", b"\xff", b"\xc3", b'"', b"=", b"[", b"]", b"{", b"}",
    b"a.b.c", b'"40us"', b'"0B"', b'"-1ns"', b"base", b"true", b"[ftl]", b"#",
]  # fmt: skip


def damage(rng: random.Random, data: bytes) -> bytes:
    """A few cuts, copies, flips and insertions."""
    out = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(out) + 1)
        end = min(len(out), at + rng.choice((0, 1, 2, 8, 64)))
        what = rng.randrange(5)
        if what == 0:
            out[at:end] = rng.choice(WORDS)
        elif what == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif what == 2:
            del out[at:end]
        elif what == 3:
            out[at:at] = out[at:end] * rng.choice((1, 2, 100))
        else:
            out = out[: max(at, 1)]
    return bytes(out)


def trace(rng: random.Random) -> bytes:
    make = rng.choice(FORMATS)
    raw = b"".join(make(i) for i in range(rng.choice((1, 5, 40))))
    if rng.random() < 0.7:
        return rng.choice(PACKERS)(damage(rng, raw))
    return damage(rng, rng.choice(PACKERS)(raw))


def drive(rng: random.Random) -> bytes:
    """A whole drive file, one that inherits, or lines of both."""
    name, text = rng.choice(engine.presets())
    lines = text.encode().splitlines(keepends=True)
    if rng.random() < 0.5:
        lines = [f'base = "{name}"\n'.encode(), *rng.sample(lines, min(len(lines), 8))]
    return damage(rng, b"".join(lines))


EXPERIMENTS = [
    """schema = "floatgate.experiment/1"
name = "spare"
title = "A title"
prose = "A paragraph."
drive = "agcr"
workload = ["random-write", "zipf"]
measures = ["waf", "host.write.latency_ns.p99"]
record = ["snapshots"]
seed = [1, 2]
[policy]
victim = ["greedy", "fifo"]
[set]
"ftl.spare-factor" = { from = 0.1, to = 0.3, steps = 3 }
"host.queue-depth" = 1
[[published]]
what = "the text"
measure = "waf"
value = 1.9
where = { victim = "greedy" }
tolerance = 0.1
[[plots]]
kind = "lines"
x = "ftl.spare-factor"
measure = "waf"
[quick.set]
"workload.requests" = 1000
""",
    """schema = "floatgate.experiment/1"
name = "blocks"
[[runs]]
drive = "agcr"
workload = "random-write"
[runs.set]
"ftl.gc.start" = [2, 3]
"timing.erase" = { from = "1ms", to = "3ms", by = "1ms" }
[[runs]]
drive = ["agcr", "agcr-128g"]
workload = "random-read"
seed = { from = 1, to = 3, by = 1 }
exclude = [{ drive = "agcr-128g", seed = 1 }]
[runs.cases.which]
one = { set = { "ftl.spare-factor" = 0.2 } }
two = { policy = { cost = "agcr" } }
""",
]


def experiment(rng: random.Random, folder: Path) -> None:
    """An experiment file: read, put out into runs, written and read again."""
    path = folder / "some.toml"
    path.write_bytes(damage(rng, rng.choice(EXPERIMENTS).encode()))
    given = Experiment.load(path)
    given.planned()
    str((given.published, given.plots, given.prose))
    text = given.to_toml()
    # The written text is the same, not the read values: NaN differs from itself.
    assert Experiment.parse(text, folder=folder).to_toml() == text
    given.quick()


@functools.cache
def stored() -> tuple[dict[str, Any], dict[str, bytes]]:
    """The value of a stored result's file, and the tables beside it."""
    with tempfile.TemporaryDirectory() as name:
        set: dict[str, float] = {
            "workload.requests": 50,
            "geometry.channels": 1,
            "geometry.chips-per-channel": 1,
        }
        set |= {"geometry.blocks-per-plane": 16, "ftl.spare-factor": 0.5}
        result = floatgate.run("agcr", "random-write", set=set, out=name)
        assert result.folder is not None
        tables = {path.stem: path.read_bytes() for path in result.folder.glob("*.parquet")}
        value = json.loads((result.folder / RESULT).read_bytes())
    assert len(tables) >= 3
    return value, tables


def result(rng: random.Random, folder: Path) -> None:
    """A result's file, with its description of itself or without; and all that is made of it."""
    value, _ = stored()
    path = folder / RESULT
    if rng.random() < 0.2:
        value = {key: inside for key, inside in value.items() if key != SEAL}
    raw = json.dumps(value, indent=1).encode()
    path.write_bytes(raw)
    if rng.random() < 0.4:
        path.write_bytes(damage(rng, raw))
    else:
        value_of(rng, path)
    read = Result.load(path)
    str((read, repr(read), read.run_id, read.to_json()))
    assert read.frame().height == 1
    for rows in (read.latencies(), read.delays(), read.flash_operations()):
        assert rows.height > 0


def table(rng: random.Random, folder: Path) -> None:
    """A Parquet table: of a run, under any result; or as a trace."""
    value, tables = stored()
    data = {key: inside for key, inside in value.items() if key != SEAL}
    name = rng.choice(sorted(tables))
    raw = requests() if rng.random() < 0.5 else tables[name]
    path = folder / f"{name}.parquet"
    path.write_bytes(damage_anywhere(rng, raw))
    if raw is tables[name]:
        Result(data, folder)._table(name)
        return
    columns = rng.choice((None, None, "op=op,offset=offset,size=size,time=time_ns:ns"))
    opened = parquet.open_table(str(path), columns, None, [], False, False, False, None)
    pieces = opened.pieces()
    try:
        while pieces.next() is not None:
            pass
    except parquet.TableError:
        pass  # The engine makes an error of it, with the row.


@functools.cache
def requests() -> bytes:
    """A trace as `floatgate.convert` writes it."""
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "some.trace", Path(name) / "some.parquet"
        path.write_bytes(b"".join(fio(i) for i in range(50)))
        floatgate.convert(path, out)
        return out.read_bytes()


def damage_anywhere(rng: random.Random, raw: bytes) -> bytes:
    """Damage, half of it in the description of a Parquet file, which is at its end."""
    if rng.random() < 0.5:
        return damage(rng, raw)
    cut = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    return raw[:cut] + damage(rng, raw[cut:])


def whole_run(rng: random.Random, folder: Path) -> None:
    """A trace or a drive file, and the run of it."""
    path = folder / rng.choice(("some.trace", "some.toml"))
    if path.suffix == ".toml":
        path.write_bytes(drive(rng))
        floatgate.resolve(path)
    else:
        path.write_bytes(trace(rng))
        beyond = rng.choice(("refuse", "wrap", "compact"))
        skip = rng.random() < 0.3
        floatgate.run("agcr", path, set={"host.out-of-range": beyond}, skip_bad=skip)


def foreign(rng: random.Random, folder: Path) -> None:
    """Parameters of another simulator, alone or a drive with its workloads."""
    names = rng.choice([["ssdconfig.xml"], ["workload.xml"], ["page.parameters"],
                        ["ssdconfig.xml", "workload.xml"]])  # fmt: skip
    paths = [folder / name for name in names]
    for path in paths:
        raw = EXAMPLES[path.name].encode()
        path.write_bytes(damage(rng, raw) if rng.random() < 0.7 else raw)
    for converted in convert.convert(*paths, out=folder):
        convert.check(converted)


READERS: dict[str, Callable[[random.Random, Path], None]] = {
    "foreign": foreign, "runs": whole_run, "experiments": experiment, "results": result,
    "tables": table,
}  # fmt: skip


def once(rng: random.Random, folder: Path, reader: str = "runs") -> str | BaseException:
    """One input: `accepted`, `refused`, or the fault."""
    try:
        READERS[reader](rng, folder)
    except floatgate.InputError as error:
        return "refused" if str(error).strip() else error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        return error
    return "accepted"


def feed(reader: str, seconds: float, inputs: float, seed: int) -> int:
    """Feeds a reader until one of the limits; the number of failures."""
    end, count, accepted, failures = time.monotonic() + seconds, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end and count < inputs:
            faulthandler.dump_traceback_later(HANG, exit=True)
            answer = once(random.Random(f"{seed}/{count}"), Path(name), reader)
            count += 1
            accepted += answer == "accepted"
            if isinstance(answer, BaseException):
                failures += 1
                kept = Path("fuzz-failures") / f"{reader}-{seed}-{count}"
                shutil.copytree(name, kept, dirs_exist_ok=True)
                print(f"{kept}: {answer!r}", file=sys.stderr)
    faulthandler.cancel_dump_traceback_later()
    print(f"{reader}: {count} inputs: {accepted} accepted, {failures} failures", flush=True)
    return failures


def main() -> int:
    """Returns the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("readers", nargs="*", choices=[[], *READERS], metavar="READER")
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--inputs", type=float, default=float("inf"), help="for each reader")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(f"seed {given.seed}", flush=True)
    readers = given.readers or list(READERS)
    return sum(feed(reader, given.seconds, given.inputs, given.seed) for reader in readers)


if __name__ == "__main__":
    sys.exit(main() > 0)
