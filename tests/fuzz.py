"""Damaged traces and drive files for the readers: no panic, no hang, no unbounded memory.

`python tests/fuzz.py [SECONDS [SEED]]`, or `make fuzz`. Whatever the input, the answer must be a
result or an `InputError`. An input that gets another answer is kept in `fuzz-failures/`.
"""

import faulthandler
import gzip
import lzma
import random
import resource
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import floatgate
from floatgate import engine

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
    kind = b"R" if i % 2 else b"WS"
    line = b"  8,16   8 %8d %5d.000000000   723  %s %3s %d + 8 [kworker/u81:0]\n"
    return b"".join(line % (i, i, event, kind, i * 16) for event in (b"Q", b"D"))


def wiscsee(i: int) -> bytes:
    return b"7 D %s %d 4096 %d.5 0.1 True\n" % (b"read" if i % 2 else b"write", i * 8192, i)


def fio(i: int) -> bytes:
    head = b"fio version 3 iolog\n0 /dev/a add\n" if i == 0 else b""
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


def once(rng: random.Random, folder: Path) -> tuple[Path, str | Exception]:
    """One input; returns its file, and `accepted`, `refused` or what went wrong."""
    path = folder / rng.choice(("some.trace", "some.toml"))
    try:
        if path.suffix == ".toml":
            path.write_bytes(drive(rng))
            floatgate.resolve(path)
        else:
            path.write_bytes(trace(rng))
            beyond = rng.choice(("refuse", "wrap", "compact"))
            skip = rng.random() < 0.3
            floatgate.run("agcr", path, set={"host.out-of-range": beyond}, skip_bad=skip)
    except floatgate.InputError as error:
        return path, "refused" if str(error).strip() else error
    except Exception as error:
        return path, error
    return path, "accepted"


def main(seconds: float = 60, seed: int | None = None) -> int:
    """Returns the number of failures."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seed = time.time_ns() if seed is None else seed
    print(f"fuzzing for {seconds:g} s, seed {seed}", flush=True)
    end, count, accepted, failures = time.monotonic() + seconds, 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end:
            faulthandler.dump_traceback_later(HANG, exit=True)
            path, answer = once(random.Random(f"{seed}/{count}"), Path(name))
            count += 1
            accepted += answer == "accepted"
            if isinstance(answer, Exception):
                failures += 1
                kept = Path("fuzz-failures") / f"{seed}-{count}{path.suffix}"
                kept.parent.mkdir(exist_ok=True)
                kept.write_bytes(path.read_bytes())
                print(f"{kept}: {answer!r}", file=sys.stderr)
    faulthandler.cancel_dump_traceback_later()
    print(f"{count} inputs: {accepted} accepted, {failures} failures")
    return failures


if __name__ == "__main__":
    arguments = dict(zip(("seconds", "seed"), map(int, sys.argv[1:]), strict=False))
    sys.exit(main(**arguments) > 0)
