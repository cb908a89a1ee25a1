"""Commands whose n-th call on a path below some folders fails: `failing_calls.c` preloaded.

Calls of the C library are seen, which are those of Python and of Rust's standard library. The few
that `rustix` makes by itself (opening a store, holes in it) are not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from forks import Forks

SOURCE = Path(__file__).with_name("failing_calls.c")


def library(folder: Path) -> Path:
    """Builds the library that lets calls fail; skips the test where there is no compiler."""
    cc = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if cc is None or not sys.platform.startswith("linux"):
        pytest.skip("failing calls need Linux and a C compiler")
    made = folder / "failing_calls.so"
    words = [cc, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(made)]
    subprocess.run([*words, str(SOURCE), "-ldl"], check=True)
    return made


@dataclass(frozen=True)
class Call:
    """A call on a path below one of the folders."""

    name: str
    path: str
    source: str = ""
    """For a rename: the name before."""


@dataclass
class Done:
    """The effect of a command; a code of `None` stands for one that did not end."""

    code: int | None
    stdout: str
    stderr: str
    calls: list[Call]
    count: int


class Failing:
    """Runs commands, of whose calls below `folders` one may fail, in a forked process each."""

    def __init__(self, library: Path, scratch: Path, folders: list[Path]) -> None:
        self.library, self.scratch, self.folders = library, scratch, folders
        self.forks: Forks | None = None
        scratch.mkdir(exist_ok=True)

    def environment(self, at: int, error: int, extra: Mapping[str, str]) -> dict[str, str]:
        count, log = self.scratch / "count", self.scratch / "log"
        count.write_bytes(bytes(8))
        log.write_bytes(b"")
        return {
            **os.environ,
            "LD_PRELOAD": str(self.library),
            "FAIL_UNDER": ":".join(map(str, self.folders)),
            "FAIL_COUNT": str(count),
            "FAIL_LOG": str(log),
            "FAIL_AT": str(at),
            "FAIL_ERRNO": str(error),
            **extra,
        }

    def run(
        self, words: list[str], at: int = 0, error: int = 0, *, cwd: Path, **extra: str
    ) -> Done:
        """Runs `floatgate WORDS`; the call number `at` fails with `error`, for 0 none."""
        if self.forks is None:
            self.forks = Forks(LD_PRELOAD=str(self.library))
        done = self.forks.run(words, cwd, self.environment(at, error, extra))
        return Done(done.code, done.out, done.err, self.calls(), self.count())

    def close(self) -> None:
        """Ends the process that forks, if there is one."""
        if self.forks is not None:
            self.forks.close()

    def count(self) -> int:
        return int.from_bytes((self.scratch / "count").read_bytes(), "little")

    def calls(self) -> list[Call]:
        calls, source = [], ""
        for line in (self.scratch / "log").read_text().splitlines():
            _, name, path = line.split(" ", 2)
            if name == "renamed":
                source = path
                continue
            calls.append(Call(name, path, source if name == "rename" else ""))
            source = ""
        return calls


def not_durable(calls: list[Call], mark: str) -> list[str]:
    """Files that could be lost or torn although the file `mark` beside them is in its place.

    A folder counts as complete when the file called `mark` gets its name in it. By then every file
    that was renamed into the folder, and `mark` itself, must have been synced after its last write.
    The names in the folder must have been synced after the last of them.
    """
    written: dict[str, int] = {}
    synced: dict[str, int] = {}
    placed: dict[str, dict[str, str]] = {}
    named: dict[str, int] = {}
    wrong = []
    for nth, call in enumerate(calls, 1):
        if call.name.startswith(("write", "pwrite", "ftruncate")):
            written[call.path] = nth
        elif call.name in ("fsync", "fdatasync"):
            synced[call.path] = nth
        elif call.name == "rename":
            folder, name = os.path.split(call.path)
            beside = placed.setdefault(folder, {})
            beside[name] = call.source
            if name == mark:
                wrong += [
                    f"{other} is not synced when {mark} appears"
                    for other, source in beside.items()
                    if synced.get(source, 0) <= written.get(source, 0) or source not in written
                ]
                if len(beside) > 1 and synced.get(folder, 0) < named.get(folder, 0):
                    wrong.append(f"the names beside {mark} are not synced when it appears")
            named[folder] = nth
    return wrong
