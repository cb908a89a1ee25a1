"""The modules that a command loads: the start is most of a short run, and modules are most of the
start."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from floatgate.cli import app

HEAVY = {
    "altair", "asyncio", "bz2", "csv", "dask", "dataclasses", "duckdb", "fcntl", "hashlib",
    "jinja2", "lzma", "mmap", "multiprocessing", "numpy", "polars", "pyarrow", "pydantic",
    "queue", "random", "rich", "shutil", "tempfile", "typer", "xml",
}  # fmt: skip
"""Modules that only some commands need, or that load more than they are used for: `hashlib`
OpenSSL, `shutil` every compression, `tempfile` random numbers."""
RUN = ("run", "agcr", "zipf", "--set=workload.requests=10", "--set=geometry.blocks-per-plane=64")


def loaded(folder: Path, *words: str) -> list[str]:
    """The modules that a command loads beside those of Python's own start."""
    start = [sys.executable, "-X", "importtime"]
    done = subprocess.run([*start, "-m", "floatgate", *words], cwd=folder, capture_output=True,
                          text=True, check=True)  # fmt: skip
    plain = subprocess.run([*start, "-c", ""], capture_output=True, text=True, check=True)
    names = [re.findall(r"(?m)^import time: .*\| +(\S+)$", each.stderr) for each in (done, plain)]
    return [name for name in names[0] if name not in names[1]]


@pytest.mark.parametrize(
    ("words", "most"),
    [(("--help",), 108), (("run", "--help"), 123), (RUN, 129), ((*RUN, "--json"), 123)],
)
def test_a_command_loads_what_it_needs(words: tuple[str, ...], most: int, tmp_path: Path) -> None:
    names = loaded(tmp_path, *words)
    assert "floatgate.cli" in names
    found = {name.partition(".")[0] for name in names} & HEAVY
    # Click lays its help out with `shutil`.
    assert found <= ({"bz2", "lzma", "shutil"} if "--help" in words else set())
    assert not {"floatgate.result.measures", "floatgate.workloads.parquet"} & set(names)
    # Each is a file that is found, read and carried out: some 0.3 ms.
    assert len(names) <= most, f"{len(names)}: {names}"


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    root = app.group("floatgate")
    context = click.Context(root)
    formatter = click.HelpFormatter(width=78)
    root.format_commands(context, formatter)
    listed = formatter.getvalue()
    names = root.list_commands(context)
    assert len(names) == 19
    for name in names:
        command = root.get_command(context, name)
        assert command is not None
        # It is wrapped and not cut.
        own = command.get_short_help_str(1000).split()
        assert not own[-1].endswith("...")
        wrapped = r"\s+".join(map(re.escape, own))
        assert re.search(rf"(?m)^  {name}\s+{wrapped}$", listed), name


ENDED = """
import atexit, os, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import floatgate.process

class Cyclic:
    def __del__(self):
        os.write(1, b"taken apart")

def last():
    time.sleep(0.2)
    print("thread")

kept = Cyclic()
atexit.register(print, "atexit")
threading.Thread(target=last).start()
threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
pool = ThreadPoolExecutor(1)
pool.submit(time.sleep, 0.1)
floatgate.process.main()
"""
"""A process in which somebody else is at work too when the command is done."""


@pytest.mark.parametrize(("words", "code"), [(("--version",), 0), (("run", "no-such-drive"), 2)])
def test_a_process_ends_when_all_is_done_and_is_not_taken_apart(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDED, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    # Text that waits in a buffer when the process ends comes too.
    lines = done.stdout.splitlines()
    # On a busy machine the command's own line comes after that of the thread.
    assert "thread" in lines
    assert lines[-1] == "atexit"
    assert done.stderr.startswith("error[") == bool(code)
