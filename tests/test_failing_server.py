"""Every call on the store or the recording of a served drive fails once. Flushed data is there
afterwards, a client gets an error, and the next server opens the remains."""

from __future__ import annotations

import re
import shutil
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from failing import Failing, library
from test_failing_calls import ERRORS, some
from test_live import LONG, Client, NotServedError, Served, drive_file

WORDS = ("little.toml", "--store", "kept/store", "--record", "kept/trace")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return library(tmp_path_factory.mktemp("library"))


class Pages:
    """The writes of a client, and those that a flush acknowledged."""

    def __init__(self) -> None:
        self.written: dict[int, int] = {}
        self.flushed: dict[int, int] = {}
        self.refused = 0

    def work(self, client: Client) -> None:
        for version in range(1, 41):
            page = version * 7 % 16
            self.written[page] = version
            try:
                client.write(page * 4096, struct.pack("<Q", version) * 512)
                if version % 5 == 0:
                    answered = dict(self.written)
                    client.flush()
                    self.flushed = answered
            except ConnectionError:
                raise
            except OSError:
                self.refused += 1

    def check(self, client: Client, where: str) -> None:
        for page, newest in self.written.items():
            data = client.read(page * 4096, 4096)
            found = int.from_bytes(data[:8], "little")
            assert data == struct.pack("<Q", found) * 512, f"{where}: page {page} is torn"
            assert self.flushed.get(page, 0) <= found <= newest, f"{where}: page {page} is lost"


def served(folder: Path, failing: Failing, at: int, error: int) -> tuple[Pages, str]:
    """Serves a drive, one of whose calls fails, to a client. Returns the writes and the output."""
    environment = failing.environment(at, error, {})
    given = [f"{k}={v}" for k, v in environment.items() if k.startswith(("FAIL_", "LD_PRELOAD"))]
    pages = Pages()
    try:
        server = Served(folder, *WORDS, first=["env", *given])
    except NotServedError:
        return pages, (folder / "errors").read_text()
    try:
        with suppress(ConnectionError):
            pages.work(server.client())
        server.process.terminate()
        server.process.communicate(timeout=LONG)
        assert server.process.returncode in (0, 2)
    finally:
        server.close()
    return pages, (folder / "errors").read_text()


def fails_soundly(folder: Path, failing: Failing, at: int, error: int) -> bool:
    """Lets one call fail and checks everything. Whether anybody was told."""
    shutil.rmtree(folder / "kept", ignore_errors=True)
    (folder / "kept").mkdir()
    pages, said = served(folder, failing, at, error)
    where = f"call {at} fails with {error}\n{said}"
    assert not re.search("Traceback|panicked", said), where
    for name in ("s", "c"):
        assert not (folder / name).exists(), f"{where}: a socket is left"
    try:
        server = Served(folder, *WORDS)
    except NotServedError as refused:
        # A recording that broke off does not lead to the data; a new one goes on from them.
        if "recording" not in str(refused):
            raise AssertionError(f"{where}: the next server does not open it: {refused}") from None
        server = Served(folder, *WORDS[:-1], "kept/another")
    try:
        pages.check(server.client(), where)
        server.end()
    finally:
        server.close()
    return bool(pages.refused or "error" in said or "recording" in said)


def begun(built: Path, tmp_path: Path) -> tuple[Failing, int]:
    """The drive, and how many calls there are when none fails."""
    drive_file(tmp_path)
    failing = Failing(built, tmp_path / "scratch", [tmp_path / "kept"])
    assert not fails_soundly(tmp_path, failing, 0, ERRORS[0])
    return failing, failing.count()


def test_a_call_that_fails_loses_nothing_that_was_flushed(built: Path, tmp_path: Path) -> None:
    failing, count = begun(built, tmp_path)
    assert count > 30
    told = [fails_soundly(tmp_path, failing, at, ERRORS[at % 3]) for at in some(count, 6)]
    assert any(told)


@pytest.mark.verify
def test_every_call_fails_in_every_way(built: Path, tmp_path: Path) -> None:
    failing, count = begun(built, tmp_path)
    print(f"serve: {count} calls fail with each of {len(ERRORS)} errors")
    for at in range(1, count + 1):
        for error in ERRORS:
            fails_soundly(tmp_path, failing, at, error)
