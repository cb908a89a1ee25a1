"""Passes of random order, beside those that fio makes."""

import shutil
import subprocess
from pathlib import Path

import pytest

import floatgate

PLACES = 1024
PASSES = 3


def passes(offsets: list[int]) -> list[list[int]]:
    assert len(offsets) == PLACES * PASSES
    return [offsets[i : i + PLACES] for i in range(0, len(offsets), PLACES)]


def ours(folder: Path, order: str, reads: float) -> list[int]:
    settings = {
        "workload.requests": PLACES * PASSES,
        "host.queue-depth": 1,  # rows come in the order in which requests complete
        "workload.order": order,
        "workload.span": f"{4 * PLACES}KiB",
        "workload.read-share": reads,
    }
    out = folder / f"{order} {reads}"
    result = floatgate.run("modern-tlc-small", "permutation", set=settings, out=out)
    return [offset // 4096 for offset in result.requests()["offset_bytes"].to_list()]


def of_fio(folder: Path, *options: str) -> list[int]:
    """Page numbers in the order in which fio issues them; nothing is read or written."""
    log = folder / "io.log"
    command = ["fio", "--name=a", "--ioengine=null", "--bs=4k", f"--size={4 * PLACES}k",
               f"--io_size={4 * PLACES * PASSES}k", f"--filename={folder / 'none'}",
               f"--write_iolog={log}", *options]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    rows = [line.split() for line in log.read_text().splitlines()]
    return [int(row[-2]) // 4096 for row in rows if row[-3] in ("read", "write")]


def character(offsets: list[int]) -> tuple[bool, bool]:
    """Whether each pass goes once over every place, and whether all have one order."""
    every = passes(offsets)
    return all(sorted(each) == list(range(PLACES)) for each in every), all(
        each == every[0] for each in every
    )


@pytest.mark.parametrize(
    ("order", "reads"),
    [
        ("redrawn", 0.5),
        ("repeated", 0.0),
        pytest.param("redrawn", 0.0, marks=pytest.mark.verify),
        pytest.param("repeated", 0.5, marks=pytest.mark.verify),
    ],
)
def test_each_pass_goes_once_over_every_address(order: str, reads: float, tmp_path: Path) -> None:
    offsets = ours(tmp_path, order, reads)
    assert character(offsets) == (True, order == "repeated")
    first = offsets[:PLACES]
    # On average a random order has one place in common with the sequence.
    assert sum(i == place for i, place in enumerate(first)) < 10


@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
@pytest.mark.parametrize(
    ("order", "mode"),
    [
        ("redrawn", "randwrite"),
        ("repeated", "randrw"),
        pytest.param("redrawn", "randrw", marks=pytest.mark.verify),
        pytest.param("repeated", "randwrite", marks=pytest.mark.verify),
    ],
)
def test_fio_has_the_same_two_orders(order: str, mode: str, tmp_path: Path) -> None:
    again = "0" if order == "redrawn" else "1"
    assert character(of_fio(tmp_path, f"--rw={mode}", f"--randrepeat={again}")) == character(
        ours(tmp_path, order, 0.5 if mode == "randrw" else 0.0)
    )
