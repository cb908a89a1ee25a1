"""Traces through the command line: real ones where they are at hand, and broken ones."""

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from conftest import Floatgate
from floatgate import Result

COMPACT = ("--set", "host.out-of-range=compact")
# The requests of each trace, and a drive that is large enough for it.
REAL = {
    "msps-dtrs-30000s.trace.zst": (127_043, "agcr"),
    "umass-financial1-10k.ascii.zst": (10_000, "agcr"),
    "cloudphysics-vm-2h.vscsi.zst": (113_872, "agcr"),
    "wiscsee-sqlite-wal-ext4.txt.zst": (5_008, "agcr"),
    # 137,309 lines of the queue, of which 46 are a flush and a write.
    "hadoop-eternity10.blkparse.txt.zst": (137_309 + 46, "agcr-128g"),
}


def real(name: str) -> Path:
    folder = os.environ.get("FLOATGATE_TRACES")
    if not folder:
        pytest.skip("FLOATGATE_TRACES names no folder of real traces")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"{name} is not in FLOATGATE_TRACES")
    return path


@pytest.mark.parametrize("name", REAL)
def test_a_real_trace_runs_whole(floatgate: Floatgate, name: str) -> None:
    requests, drive = REAL[name]
    done = floatgate("run", drive, str(real(name)), *COMPACT, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["checks"]["passed"]
    assert result["checks"]["requests_served"] == requests
    assert result["provenance"]["workload"]["name"] == name
    assert len(result["provenance"]["workload"]["sha256"]) == 64
    for op in ("read", "write"):
        host = result["host"][op]
        causes = host["delay_ns_by_cause"]
        parts = sum(causes["queue"].values()) + sum(v for k, v in causes.items() if k != "queue")
        assert parts == pytest.approx(host["latency_ns"]["mean"], rel=1e-9)


def test_the_misaligned_partition_is_pointed_out(floatgate: Floatgate) -> None:
    done = floatgate("run", "agcr", str(real("cloudphysics-vm-2h.vscsi.zst")), *COMPACT)
    assert "workload.shift=512B" in " ".join(done.stdout.split())


def ssdsim(count: int) -> bytes:
    return b"".join(b"%d 0 %d 8 %d\n" % (i * 1_000_000, i * 8, i % 2) for i in range(count))


GOOD = ssdsim(5000)
# The content of the file, and the words that the message must have about it.
BROKEN = {
    "empty": (b"", ["empty"]),
    "blank lines only": (b"\n\n\n", []),
    "garbage in the middle": (ssdsim(3000) + b"rubbish\n" + GOOD, [":3001", "Hint"]),
    "too few columns": (ssdsim(10) + b"10000000 0 8\n", [":11", "expected"]),
    "size 0": (ssdsim(10) + b"10000000 0 8 0 1\n", [":11"]),
    "a negative time": (ssdsim(10) + b"-5 0 8 8 1\n", [":11"]),
    "an unknown operation": (ssdsim(10) + b"10000000 0 8 8 7\n", [":11"]),
    "an absurd size": (ssdsim(10) + b"10000000 0 8 99999999999 1\n", [":11"]),
    "beyond the drive": (
        ssdsim(10) + b"10000000 0 99999999999 8 1\n",
        ["out-of-range", "packs the"],
    ),
    "binary": (bytes(range(256)) * 64, ["format"]),
    "gzip, cut": (gzip.compress(GOOD)[:-2000], []),
    "gzip, damaged": (gzip.compress(GOOD)[:500] + b"x" * 9 + gzip.compress(GOOD)[509:], []),
    "zstd magic and no more": (b"\x28\xb5\x2f\xfd", []),
}


CODES = {
    "empty": "file",
    "blank lines only": "file",
    "beyond the drive": "range",
    "binary": "format",
    "gzip, cut": "compression",
    "gzip, damaged": "compression",
    "zstd magic and no more": "compression",
}
"""The kind of mistake, if it is not one of a record."""


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_trace_is_refused_with_its_place(
    floatgate: Floatgate, tmp_path: Path, case: str
) -> None:
    content, words = BROKEN[case]
    (tmp_path / "some.trace").write_bytes(content)
    done = floatgate("run", "agcr", "some.trace", "--out", "results", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(rf"error\[trace::{CODES.get(case, 'record')}\]: some.trace", done.stderr)
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["some.trace"]


def test_bad_records_are_counted_and_skipped_if_asked(floatgate: Floatgate, tmp_path: Path) -> None:
    (tmp_path / "some.trace").write_bytes(ssdsim(300) + b"rubbish\n" + b"more of it\n")
    done = floatgate("run", "agcr", "some.trace", "--skip-bad", "--json")
    assert done.returncode == 0, done.stderr
    workload = json.loads(done.stdout)["provenance"]["workload"]
    assert (workload["requests"], workload["skipped"]) == (300, 2)


def test_plain_and_compressed_are_the_same(floatgate: Floatgate, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(GOOD)
    (tmp_path / "packed").write_bytes(gzip.compress(GOOD[:900]) + gzip.compress(GOOD[900:]))
    hosts = [
        json.loads(floatgate("run", "agcr", f"./{name}", "--json").stdout)["host"]
        for name in ("plain", "packed")
    ]
    assert hosts[0] == hosts[1]
    assert hosts[0]["all"]["requests"] == 5000


def test_format_and_time_unit_can_be_said(floatgate: Floatgate, tmp_path: Path) -> None:
    (tmp_path / "some.trace").write_bytes(GOOD)
    words = ("run", "agcr", "some.trace", "--json")
    slow = floatgate(*words, "--format", "ssdsim-ascii", "--time-unit", "us")
    assert json.loads(slow.stdout)["simulated_seconds"] == pytest.approx(4999, rel=0.01)
    for option, wrong, known in (
        ("--format", "ssdsm", "ssdsim-ascii"),
        ("--time-unit", "h", "ms"),
        ("--columns", "op=1,offset=2", "size"),
        ("--event", "X", "Q (queued)"),
        ("--event", "Q", "blkparse"),
        ("--process", "sh", "names no processes"),
        ("--device", "7", "such as 0"),
    ):
        done = floatgate(*words, option, wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert known in done.stderr


def test_a_table_needs_its_columns(floatgate: Floatgate, tmp_path: Path) -> None:
    lines = [f"{'R' if i % 2 else 'W'};{i * 8};8;{i * 100}" for i in range(300)]
    (tmp_path / "mine.csv").write_text("\n".join(["what;where;sectors;us", *lines]))
    done = floatgate("run", "agcr", "mine.csv")
    assert done.returncode == 2
    assert "--columns" in done.stderr
    columns = "time=4:us,op=1,offset=2:sectors,size=3:sectors"
    done = floatgate("run", "agcr", "mine.csv", "--columns", columns, "--json")
    result = json.loads(done.stdout)
    assert result["host"]["read"]["bytes"] == result["host"]["write"]["bytes"] == 150 * 4096
    assert result["simulated_seconds"] == pytest.approx(0.03, rel=0.1)
    assert result["provenance"]["workload"]["reading"] == f"columns={columns}"
    done = floatgate("run", "agcr", "mine.csv", "--columns", "op=1,offset=2,size=3", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`size=3:sectors`" in done.stderr, "sizes that look like blocks"
    columns = "op=1,offset=2:bytes,size=3:bytes"
    done = floatgate("run", "agcr", "mine.csv", "--columns", columns, "--json")
    warnings = [warning["code"] for warning in json.loads(done.stdout)["warnings"]]
    assert "closed-loop" in warnings, "without times, as fast as the drive can"


def blkparse(count: int) -> str:
    line = "8,{} 0 {} {}.0 {} {} W {} + 8 [{}]\n"
    return "".join(
        line.format(16 * (1 + i % 2), i, i, 70 + i % 3, event, i * 8, "abc"[i % 3])
        for i in range(count)
        for event in "QD"
    )


def test_a_slice_is_another_run(floatgate: Floatgate, tmp_path: Path) -> None:
    (tmp_path / "some.trace").write_text(blkparse(60))
    ids = set()
    for words, requests in (
        ((), 60),
        (("--event", "D"), 60),
        (("--device", "8:16"), 30),
        (("--device", "8:16,8:32"), 60),
        (("--process", "a"), 20),
        (("--process", "71"), 20),
        (("--device", "8:32", "--process", "c"), 10),
    ):
        done = floatgate("run", "agcr", "some.trace", *words, "--json", "--out", "kept")
        assert done.returncode == 0, done.stderr
        result = Result(json.loads(done.stdout))
        assert result.host.all.requests == requests, words
        assert all(word in result.name for word in words if not word.startswith("--"))
        ids.add(result.run_id)
    assert len(ids) == 7
    assert {path.name for path in (tmp_path / "kept").iterdir()} == ids


def test_how_a_trace_is_read_means_nothing_for_a_generator(floatgate: Floatgate) -> None:
    done = floatgate("run", "agcr", "random-write", "--device", "3")
    assert done.returncode == 2
    assert "device=3" in done.stderr


def test_a_file_sets_a_generator_up(floatgate: Floatgate, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('pattern = "zipf"\nrequests = 700\nread-share = 0.5\n')
    done = floatgate("run", "agcr", "mine.toml", "--json")
    assert json.loads(done.stdout)["checks"]["requests_served"] == 700, done.stderr
    more = floatgate("run", "agcr", "mine.toml", "--json", "--set", "workload.requests=900")
    assert json.loads(more.stdout)["checks"]["requests_served"] == 900
    file.write_text('pattern = "zipf"\nrequest = 700\n')
    done = floatgate("run", "agcr", "mine.toml", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.toml" in done.stderr
    assert "requests" in done.stderr
