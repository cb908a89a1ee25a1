"""A drive that programs mount: the commands, clients of others, kill -9, mounted file systems."""

import errno
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Floatgate
from floatgate import Control, InputError
from floatgate.live.control import range_of
from floatgate.live.serve import begins_full, slowdown_of

DRIVE = """
schema = "floatgate.drive/1"
name = "little"
[geometry]
channels = 2
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = {blocks}
pages-per-block = 64
page-size = "4KiB"
bits-per-cell = 1
[timing]
bus = "included"
erase = "3ms"
read = "50us"
program = "600us"
[reliability]
endurance = {endurance}
[ftl]
spare-factor = 0.25
unmapped-read = "zero"
[ftl.gc]
start = 2
stop = 2
[precondition]
fill = "none"
[buffer]
size = "256KiB"
power-loss-protected = false
"""
LONG = 120.0


def drive_file(folder: Path, *, blocks: int = 320, endurance: int = 1_000_000) -> Path:
    path = folder / "little.toml"
    path.write_text(DRIVE.format(blocks=blocks, endurance=endurance))
    return path


class NotServedError(AssertionError):
    """A server that ended before it began to serve, with its output."""


class Served:
    """A server of the command line."""

    def __init__(self, folder: Path, *words: str, first: Sequence[str] = ()) -> None:
        self.folder, self.words = folder, words
        self.socket, self.control = folder / "s", folder / "c"
        self.clients: list[Client] = []
        self.command = [*first, sys.executable, "-m", "floatgate", "serve", *words, "--json"]
        self.command += ["--unix", "s", "--control", "c"]
        self.errors = (folder / "errors").open("wb")
        self.process = subprocess.Popen(
            self.command, cwd=folder, stdout=subprocess.PIPE, stderr=self.errors
        )
        end = time.monotonic() + LONG
        while "serving " not in (folder / "errors").read_text():
            if self.process.poll() is not None or time.monotonic() > end:
                self.close()
                raise NotServedError((folder / "errors").read_text())
            time.sleep(0.02)

    @property
    def uri(self) -> str:
        return f"nbd+unix:///?socket={self.socket}"

    def client(self) -> "Client":
        self.clients.append(Client(self.socket))
        return self.clients[-1]

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for client in self.clients:
            client.socket.close()
        assert self.process.stdout
        self.process.stdout.close()
        self.errors.close()

    def end(self) -> dict[str, Any]:
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=LONG)
        assert self.process.returncode == 0, (self.folder / "errors").read_text()
        return dict(json.loads(out))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    made = []

    def make(
        *words: str, drive: str | None = None, first: Sequence[str] = (), **how: int
    ) -> Served:
        path = drive or str(drive_file(tmp_path, **how))
        made.append(Served(tmp_path, path, *words, first=first))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Client:
    """A client of NBD: one command at a time."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LONG)
        here = os.getcwd()
        os.chdir(path.parent)  # paths of sockets are short
        try:
            self.socket.connect(path.name)
        except OSError:
            self.socket.close()
            raise
        finally:
            os.chdir(here)
        try:
            self.shake_hands()
        except OSError:  # The server was killed meanwhile.
            self.socket.close()
            raise

    def shake_hands(self) -> None:
        assert self.take(16) == b"NBDMAGICIHAVEOPT"
        self.take(2)
        self.socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
        self.size, _ = struct.unpack(">QH", self.take(10))

    def take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the server has gone")
            data += piece
        return data

    def ask(self, code: int, offset: int = 0, size: int = 0, data: bytes = b"") -> bytes:
        head = struct.pack(">IHHQQI", 0x25609513, 0, code, 1, offset, size)
        self.socket.sendall(head + data)
        magic, error, _ = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        if error:
            raise OSError(error, os.strerror(error))
        return self.take(size) if code == 0 else b""

    def read(self, offset: int, size: int) -> bytes:
        return self.ask(0, offset, size)

    def write(self, offset: int, data: bytes) -> None:
        self.ask(1, offset, len(data), data)

    def flush(self) -> None:
        self.ask(3)


def same(live: dict[str, Any], again: dict[str, Any]) -> None:
    """A run of the recording gave the result of the server, to the byte."""
    digests = {result["provenance"]["workload"]["sha256"] for result in (live, again)}
    assert len(digests) == 1
    for result in (live, again):
        result["timing"] = result["provenance"]["workload"] = None
    assert json.dumps(live) == json.dumps(again)


def replayed(floatgate: Floatgate) -> dict[str, Any]:
    ran = floatgate("run", "trace.toml", "trace", "--json", "--time-unit", "s")
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def test_a_served_drive_gives_its_result_and_the_recording_the_same(
    served: Callable[..., Served], floatgate: Floatgate, tmp_path: Path
) -> None:
    server = served("--record", "trace", "--out", "stored")
    client = server.client()
    for i in range(200):
        client.write(i * 4096, bytes([i]) * 4096)
        if i % 20 == 0:
            client.flush()
    assert client.read(100 * 4096, 4096) == bytes([100]) * 4096
    page = floatgate("top", "c", "--every", "0.1")
    assert page.returncode == 0, page.stderr
    assert "little" in page.stdout
    assert "write" in page.stdout
    assert all(len(line) <= 100 for line in page.stdout.splitlines())
    smart = json.loads(floatgate("smart", "c", "--json").stdout)
    assert smart["host_write_commands"] == 200
    assert smart["data_units_written"] == -(-200 * 4096 // 512_000)
    assert smart["percent_used"] == 0
    assert smart["avail_spare"] == 100
    assert "avail_spare" in floatgate("smart", "c").stdout
    result = server.end()
    assert not server.socket.exists()
    assert not server.control.exists()
    (stored,) = (tmp_path / "stored").glob("*/result.json")
    assert json.loads(stored.read_text())["host"] == result["host"]
    assert floatgate("report", "stored", "-o", "report.html").returncode == 0
    live = result["timing"]["live"]
    assert live["connections"] == 1
    assert live["recording_error"] is None
    same(result, replayed(floatgate))


def test_faults_come_through_the_control_socket(
    served: Callable[..., Served], floatgate: Floatgate, tmp_path: Path
) -> None:
    server = served()
    client = server.client()
    client.write(1 << 20, bytes(range(256)) * 16)
    assert floatgate("fault", "c", "--fail-reads", "1MiB:4KiB").returncode == 0
    with pytest.raises(OSError, match="Input/output"):
        client.read(1 << 20, 512)
    assert floatgate("fault", "c", "--heal").returncode == 0
    assert client.read(1 << 20, 4096) == bytes(range(256)) * 16
    client.flush()
    client.write(0, b"x" * 4096)
    assert floatgate("fault", "c", "--cut-power").returncode == 0
    with pytest.raises((OSError, ConnectionError), match=r"gone|reset|pipe"):
        client.read(0, 512)
    client = server.client()
    assert client.read(0, 4096) == bytes(4096), "what a volatile buffer held is lost"
    assert client.read(1 << 20, 4096) == bytes(range(256)) * 16, "what was flushed is there"
    with Control(server.control) as control:
        assert control.smart()["unsafe_shutdowns"] == 1
    for wrong in ([], ["--heal", "--cut-power"], ["--fail-reads", "x"], ["--fail-reads", "1:0"]):
        ended = floatgate("fault", "c", *wrong)
        assert ended.returncode == 2
        assert ended.stderr.startswith("error[input::")
    server.end()
    ended = floatgate("top", "c")
    assert ended.returncode == 2
    assert "c: no drive is controlled there" in ended.stderr


def test_after_kill_9_the_store_opens_with_what_was_flushed(
    served: Callable[..., Served], floatgate: Floatgate, tmp_path: Path
) -> None:
    """Versions rise; the data of a flush that was answered before the kill is there, or later
    data."""
    flushed: dict[int, int] = {}
    written: dict[int, int] = {}
    version = 0
    for round_ in range(6):
        server = served("--store", "store", "--record", "trace")
        client = server.client()
        for page, newest in written.items():
            data = client.read(page * 4096, 4096)
            found = int.from_bytes(data[:8], "little")
            assert data == struct.pack("<Q", found) * 512, f"page {page} is of one version"
            assert flushed.get(page, 0) <= found <= newest, (round_, page)
            written[page] = found
        for step in range(150 + 37 * round_):
            version += 1
            page = version * 7919 % 400
            client.write(page * 4096, struct.pack("<Q", version) * 512)
            written[page] = version
            if step % 11 == 10:
                client.flush()
                flushed = dict(written)
        server.kill()
    # The socket that it left is taken over, the recording goes on, and all rounds are one run.
    server = served("--store", "store", "--record", "trace")
    result = server.end()
    assert result["timing"]["live"]["recovered_requests"] > 0
    assert result["host"]["write"]["requests"] > 150
    same(result, replayed(floatgate))


class Pipelined:
    """Writes and flushes with up to eight inside, until the server has gone. Returns the
    answers."""

    def __init__(self, rng: random.Random, pages: int) -> None:
        self.rng, self.pages = rng, pages
        self.version = 0
        self.sent = dict.fromkeys(range(pages), 0)
        """The newest version of each page that was sent."""
        self.safe = dict.fromkeys(range(pages), 0)
        """The newest that a flush or FUA answered for."""
        self.answered = dict(self.safe)
        """The newest that any answer came for."""
        self.later = self.lost = 0
        """Pages that were later than necessary; those that lost answered writes."""

    def work(self, client: Client) -> None:
        inside: dict[int, tuple[bool, dict[int, int]]] = {}
        with suppress(OSError, ConnectionError):
            for cookie in itertools.count():
                if self.rng.random() < 0.06:
                    head = struct.pack(">IHHQQI", 0x25609513, 0, 3, cookie, 0, 0)
                    inside[cookie] = True, dict(self.answered)
                else:
                    # Not a page that is inside: of two at once either may come first.
                    busy = {
                        page for _, brings in inside.values() if len(brings) == 1 for page in brings
                    }
                    page = self.rng.choice([p for p in range(self.pages) if p not in busy])
                    self.version += 1
                    fua = self.rng.random() < 0.1
                    self.sent[page] = self.version
                    head = struct.pack(">IHHQQI", 0x25609513, fua, 1, cookie, page * 4096, 4096)
                    head += struct.pack("<Q", self.version) * 512
                    inside[cookie] = fua, {page: self.version}
                client.socket.sendall(head)
                while len(inside) >= 8:
                    magic, error, done = struct.unpack(">IIQ", client.take(16))
                    assert (magic, error) == (0x67446698, 0)
                    safe, brings = inside.pop(done)
                    for page, version in brings.items():
                        self.answered[page] = max(self.answered[page], version)
                        if safe:
                            self.safe[page] = max(self.safe[page], version)

    def check(self, client: Client, name: str) -> None:
        """Each page is its last safe version or a later one."""
        for page in range(self.pages):
            data = client.read(page * 4096, 4096)
            found = int.from_bytes(data[:8], "little")
            assert data == struct.pack("<Q", found) * 512, f"{name}: page {page} is of one version"
            assert self.safe[page] <= found <= self.sent[page], f"{name}: page {page}"
            self.later += found > self.safe[page]
            self.lost += found < self.answered[page]
            self.safe[page] = self.answered[page] = found


@pytest.mark.verify
@pytest.mark.parametrize("clock", ["fast", "real:slowdown=2"])
def test_kill_9_at_random_moments_loses_nothing_that_was_flushed(
    served: Callable[..., Served], floatgate: Floatgate, clock: str
) -> None:
    """Also while it opens its store and finds its state again."""
    rng = random.Random(clock)
    writer = Pipelined(rng, 96)
    words = ("--store", "store", "--record", "trace", "--clock", clock)
    for round_ in range(50):
        server = served(*words)
        writer.check(server.client(), f"round {round_}")
        end = threading.Timer(rng.uniform(0, 0.4), server.process.kill)
        end.start()
        with suppress(OSError, ConnectionError):
            writer.work(server.client())
        end.join()
        server.process.wait()
        if round_ % 5 == 0:
            early = subprocess.Popen(server.command, cwd=server.folder, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 1.5))
            early.kill()
            early.wait()
    server = served(*words)
    writer.check(server.client(), "at the end")
    print(
        f"{writer.version} versions: {writer.later} later than they had to be, {writer.lost} lost"
    )
    # The kills came where they could hurt.
    assert writer.later > 0
    assert writer.lost > 0
    same(server.end(), replayed(floatgate))


def test_a_store_without_a_recording_says_where_the_drive_begins(
    served: Callable[..., Served], tmp_path: Path
) -> None:
    server = served("--store", "store")
    server.client().write(0, b"a" * 4096)
    server.end()
    assert "preconditioned" not in (tmp_path / "errors").read_text()
    server = served("--store", "store")
    assert server.client().read(0, 4096) == b"a" * 4096
    server.end()
    assert "starts from its preconditioned state" in (tmp_path / "errors").read_text()


def is_kept_through_a_full_host(server: Served, page: int, fill: Callable[[bool], None]) -> None:
    """Writes that find no room are refused and nothing else is, until there is room again."""
    client = server.client()
    client.write(0, b"a" * 4096)
    client.flush()
    fill(True)
    client.write(page * 4096, b"b" * 4096)  # The buffer takes it.
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            client.flush()
        with pytest.raises(OSError, match="No space"):
            client.write(page * 4096, b"c" * 4096)
    assert client.read(0, 4096) == b"a" * 4096
    assert client.read(page * 4096, 4096) == b"b" * 4096
    with Control(server.control) as control:
        assert control.status()["host_full"] == 4
    fill(False)
    client.flush()
    client.write((page + 1) * 4096, b"d" * 4096)
    client.flush()
    server.kill()
    server = Served(server.folder, *server.words)
    try:
        client = server.client()
        assert client.read(page * 4096, 8192) == b"b" * 4096 + b"d" * 4096
    finally:
        server.close()


def test_a_full_host_refuses_writes_and_the_server_goes_on(
    served: Callable[..., Served], tmp_path: Path
) -> None:
    """As no file may be longer than a megabyte; the file of the store is sparse."""
    server = served("--store", str(tmp_path / "store"))

    def fill(full: bool) -> None:
        limit = 1 << 20 if full else resource.RLIM_INFINITY
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    is_kept_through_a_full_host(server, 1000, fill)


def test_a_full_file_system_refuses_writes_and_the_server_goes_on(
    served: Callable[..., Served], tmp_path: Path
) -> None:
    needs("mount")
    if os.geteuid() != 0:
        pytest.skip("only root mounts")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)])
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        server = served("--store", str(small / "store"), "--record", str(small / "trace"))

        def fill(full: bool) -> None:
            if not full:
                return (small / "other").unlink()
            with suppress(OSError), (small / "other").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))

        is_kept_through_a_full_host(server, 1000, fill)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_a_preset_that_fills_what_a_workload_reads_is_served_full() -> None:
    assert begins_full("agcr")
    assert not begins_full("modern-tlc-small")
    assert not begins_full("agcr", set={"precondition.fill": "touched"}), "it is asked for"


def test_what_cannot_be_served_is_refused_in_words(floatgate: Floatgate, tmp_path: Path) -> None:
    drive = str(drive_file(tmp_path))
    (tmp_path / "file").write_text("precious")
    for words, said in [
        ((drive, "--unix", "file"), "not a socket"),
        ((drive, "--unix", "s", "--listen", "127.0.0.1:0"), "one place"),
        ((drive, "--listen", "0.0.0.0:0"), "--insecure"),
        ((drive, "--store", "file"), "not a store"),
        ((drive, "--record", "file"), "file: "),
        ((drive, "--clock", "slow"), "`slow` is not a clock"),
        ((drive, "--clock", "real:slowdown=0"), "between"),
        ((drive, "--set", "precondition.fill=touched"), "touched"),
        ((drive, "--policy", "cost=oracle"), "`oracle` must know the requests"),
        (("nodrive",), "neither a drive file"),
    ]:
        ended = floatgate("serve", *words, "--json")
        assert ended.returncode == 2, ended.stderr
        assert ended.stdout == "", ended.stderr
        assert said in ended.stderr, ended.stderr
    assert (tmp_path / "file").read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "little.toml"]
    for text in ("", "1", "1:2:3", "a:b", "1KB:2"):
        with pytest.raises(InputError, match="range of bytes"):
            range_of(text)
    assert slowdown_of("real") == 1.0
    assert slowdown_of("fast") is None


# ── Clients of others ───────────────────────────────────────────────────────────────────────────


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def call(*command: str) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1000)
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def test_nbdinfo_sees_what_the_drive_is(served: Callable[..., Served]) -> None:
    needs("nbdinfo")
    server = served()
    (export,) = json.loads(call("nbdinfo", "--json", server.uri))["exports"]
    assert export["export-size"] == 2 * 320 * 64 * 4096 * 3 // 4
    assert (export["block_size_minimum"], export["block_size_preferred"]) == (512, 4096)
    assert export["block_size_maximum"] == 32 << 20
    for can in ("can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_df"):
        assert export[can], can
    assert not export["is_read_only"]
    assert export["contexts"] == ["base:allocation"]
    assert "little" in call("nbdinfo", "--list", server.uri)
    server.end()


def test_nbdcopy_both_ways_compares_equal(
    served: Callable[..., Served], floatgate: Floatgate, tmp_path: Path
) -> None:
    needs("nbdcopy")
    server = served("--record", "trace")
    image = tmp_path / "image"
    size = 2 * 320 * 64 * 4096 * 3 // 4
    with image.open("wb") as file:
        for i in range(0, size, 3 << 20):  # with holes
            file.seek(i)
            file.write((i.to_bytes(8, "little") * (1 << 17))[: min(1 << 20, size - i)])
        file.truncate(size)
    call("nbdcopy", "--flush", str(image), server.uri)
    call("nbdcopy", server.uri, str(tmp_path / "back"))
    call("cmp", str(image), str(tmp_path / "back"))
    same(server.end(), replayed(floatgate))


def test_qemu_reads_what_it_wrote(served: Callable[..., Served]) -> None:
    needs("qemu-io", "qemu-img")
    server = served()
    steps = (
        "write -P 0x5a 0 64k", "read -P 0x5a 0 64k", "discard 0 64k", "read -P 0 0 64k",
        "write -f -P 7 1M 512", "read -P 7 1M 512", "write -z 1M 4k", "read -P 0 1M 4k", "flush",
    )  # fmt: skip
    said = call("qemu-io", "-f", "raw", server.uri, *(w for s in steps for w in ("-c", s)))
    assert "failed" not in said, said
    assert "error" not in said.lower(), said
    call("qemu-img", "bench", "-w", "-c", "2000", "-d", "32", "-s", "4096", "-f", "raw", server.uri)
    assert json.loads(call("qemu-img", "map", "--output=json", "-f", "raw", server.uri))
    server.end()


def fio(uri: str, *options: str, first: Sequence[str] = ()) -> dict[str, Any]:
    """The only job of a run, which met no error."""
    command = [*first, "fio", "--name=t", "--ioengine=nbd", f"--uri={uri}", "--output-format=json"]
    said = call(*command, *options)
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    assert job["error"] == 0
    return dict(job)


# The files that fio would keep of a stopped verification go to the working folder.
VERIFY = (
    "--rw=randrw",
    "--bs=512-64k",
    "--iodepth=32",
    "--verify=crc32c",
    "--verify_fatal=1",
    "--verify_state_save=0",
)


def test_fio_verifies_what_it_wrote(
    served: Callable[..., Served], floatgate: Floatgate, tmp_path: Path
) -> None:
    needs("fio")
    server = served("--record", "trace")
    job = fio(server.uri, *VERIFY, "--size=32M")
    assert job["read"]["total_ios"] > 500
    trims = fio(server.uri, "--rw=randtrim", "--bs=16k", "--size=8M")
    assert trims["trim"]["total_ios"] == 512
    result = server.end()
    assert result["host"]["trim"]["requests"] == 512
    same(result, replayed(floatgate))


@contextmanager
def mounted(server: Served, folder: Path, *, make: bool) -> Iterator[tuple[Path, str]]:
    """A file system of the drive, through nbdfuse and a loop device."""
    disk, tree = folder / "disk", folder / "tree"
    disk.mkdir(exist_ok=True)
    tree.mkdir(exist_ok=True)
    fuse = subprocess.Popen(["nbdfuse", str(disk / "nbd"), server.uri])
    loop = None
    try:
        end = time.monotonic() + LONG
        while not (disk / "nbd").exists():
            assert fuse.poll() is None, "nbdfuse has ended"
            assert time.monotonic() < end
            time.sleep(0.02)
        if make:
            call("mke2fs", "-q", "-F", "-t", "ext4", "-e", "remount-ro", str(disk / "nbd"))
        loop = call("losetup", "-f", "--show", str(disk / "nbd")).strip()
        call("mount", loop, str(tree))
        yield tree, loop
    finally:
        subprocess.run(["umount", str(tree)], capture_output=True)
        if loop:
            subprocess.run(["losetup", "-d", loop], capture_output=True)
        subprocess.run(["umount", "-l", str(disk)], capture_output=True)
        fuse.terminate()
        with suppress(subprocess.TimeoutExpired):
            fuse.wait(10)
        fuse.kill()
        fuse.wait()


def needs_mounts() -> None:
    needs("nbdfuse", "losetup", "mke2fs", "e2fsck", "mount", "fstrim")
    if os.geteuid() != 0:
        pytest.skip("only root mounts")
    if not Path("/dev/fuse").exists() or not Path("/dev/loop-control").exists():
        pytest.skip("there is no /dev/fuse, or no /dev/loop-control")


def test_a_file_system_lives_on_the_drive(served: Callable[..., Served], tmp_path: Path) -> None:
    needs_mounts()
    server = served()
    source = Path(__file__).parent
    with mounted(server, tmp_path, make=True) as (tree, _):
        shutil.copytree(source, tree / "copy", ignore=shutil.ignore_patterns("__pycache__"))
        (tree / "large").write_bytes(os.urandom(8 << 20))
        os.sync()
        (tree / "large").unlink()
        os.sync()
        with Control(server.control) as control:
            before = control.status()["host"]["trim"]["bytes"]
            said = call("fstrim", "-v", str(tree))
            trimmed = control.status()["host"]["trim"]["bytes"] - before
        assert trimmed >= 8 << 20, said
    with mounted(server, tmp_path, make=False) as (tree, _):
        call("diff", "-r", "-x", "__pycache__", str(source), str(tree / "copy"))
    image = tmp_path / "image"
    call("nbdcopy", server.uri, str(image))
    call("e2fsck", "-f", "-n", str(image))
    server.end()


@pytest.mark.verify
def test_what_ext4_synced_survives_twenty_power_cuts(
    served: Callable[..., Served], tmp_path: Path
) -> None:
    needs_mounts()
    server = served()
    synced: dict[str, bytes] = {}
    for cut in range(20):
        with mounted(server, tmp_path, make=cut == 0) as (tree, _):
            for name, content in synced.items():
                assert (tree / name).read_bytes() == content, (cut, name)
            for i in range(12):
                name, content = f"file-{i}", os.urandom(1000 + 5000 * i)
                with (tree / name).open("wb") as file:
                    file.write(content)
                    file.flush()
                    if i % 3:
                        os.fsync(file.fileno())
                        synced[name] = content
            with Control(server.control) as control:
                control.cut_power()
    with mounted(server, tmp_path, make=False) as (tree, _):
        for name, content in synced.items():
            assert (tree / name).read_bytes() == content, name
    image = tmp_path / "image"
    call("nbdcopy", server.uri, str(image))
    call("e2fsck", "-f", "-n", str(image))
    assert server.end()["timing"]["live"]["power_cuts"] == 20


@pytest.mark.verify
def test_ext4_goes_on_reading_when_the_drive_is_worn_out(
    served: Callable[..., Served], tmp_path: Path
) -> None:
    needs_mounts()
    server = served(endurance=12)
    content = os.urandom(4 << 20)
    with mounted(server, tmp_path, make=True) as (tree, loop):
        (tree / "kept").write_bytes(content)
        os.sync()
        with Control(server.control) as control, suppress(OSError):
            while control.status()["state"] == "serving":
                with (tree / "worn").open("wb") as file:
                    for _ in range(16):
                        file.write(os.urandom(1 << 20))
                    file.flush()
                    os.fsync(file.fileno())
        # The journal can no longer be written, and ext4 refuses commands that need it.
        refused: set[int | None] = set()
        end = time.monotonic() + LONG
        while errno.EROFS not in refused and time.monotonic() < end:
            try:
                (tree / f"more-{len(refused)}").write_bytes(content)
                os.sync()
            except OSError as error:
                refused.add(error.errno)
        assert errno.EROFS in refused, refused
        call("blockdev", "--flushbufs", loop)
        assert (tree / "kept").read_bytes() == content
    assert server.end()["end"]["state"] == "worn-out"


@pytest.mark.verify
def test_fio_verifies_for_ten_minutes(served: Callable[..., Served]) -> None:
    needs("fio")
    server = served()
    job = fio(server.uri, *VERIFY, "--size=64M", "--time_based", "--runtime=600")
    assert job["read"]["total_ios"] > 10_000
    server.end()


@pytest.mark.verify
def test_served_as_fast_as_is_said(served: Callable[..., Served], tmp_path: Path) -> None:
    needs("fio", "nbdkit")
    job = ("--rw=randrw", "--bs=4k", "--iodepth=32", "--size=64M", "--time_based", "--runtime=10")
    server = served(drive="modern-tlc-small")
    ours = fio(server.uri, *job)
    server.end()
    other = subprocess.Popen(["nbdkit", "-f", "-U", str(tmp_path / "n"), "memory", "1G"])
    try:
        while not (tmp_path / "n").exists():
            time.sleep(0.05)
        theirs = fio(f"nbd+unix:///?socket={tmp_path / 'n'}", *job)
    finally:
        other.terminate()
        other.wait()
    rates = [sum(job[way]["iops"] for way in ("read", "write")) for job in (ours, theirs)]
    print(f"{rates[0]:.0f} IOPS, nbdkit's memory plug-in {rates[1]:.0f}")
    assert rates[0] >= 20_000, rates


PERCENTILES = {"p50": "50.000000", "p99": "99.000000"}


@contextmanager
def processors_awake() -> Iterator[None]:
    """Processors that do not sleep, where the system lets us ask (PM QoS).

    A halted processor of a virtual machine needs 0.2 ms to wake, which is neither the drive's
    time nor the server's.
    """
    try:
        asked = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
    except OSError:
        yield
        return
    try:
        os.write(asked, struct.pack("i", 0))
        yield
    finally:
        os.close(asked)


def reads_in_real_time(
    served: Callable[..., Served], slowdown: float, depth: int, fill: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Percentiles of reads in ns: those that fio measured on the wall clock, and those that the
    drive simulated.

    At real-time priority if that may be had: otherwise other work of the machine is measured too.
    """
    first = ["chrt", "-f", "60"] if shutil.which("chrt") and os.geteuid() == 0 else []
    server = served("--clock", f"real:slowdown={slowdown}", "--set", f"precondition.fill={fill}",
                    drive="modern-tlc-small", first=first)  # fmt: skip
    with processors_awake():
        job = fio(server.uri, "--rw=randread", "--bs=4k", f"--iodepth={depth}", "--size=32M",
                  "--time_based", "--runtime=20", first=first)  # fmt: skip
    latency, seen = server.end()["host"]["read"]["latency_ns"], job["read"]["clat_ns"]["percentile"]
    return {p: seen[key] for p, key in PERCENTILES.items()}, {p: latency[p] for p in PERCENTILES}


@pytest.mark.verify
@pytest.mark.parametrize("depth", [1, 32])
def test_real_time_is_what_the_recording_says(served: Callable[..., Served], depth: int) -> None:
    """Other work of the machine only adds to it: one of three runs must be quiet enough."""
    needs("fio")
    for _ in range(3):
        seen, simulated = reads_in_real_time(served, 100, depth, "full")
        for p in PERCENTILES:
            print(f"depth {depth} {p}: {seen[p] / 100:.0f} ns seen, {simulated[p]} ns simulated")
        if all(seen[p] / 100 <= 1.05 * simulated[p] for p in PERCENTILES):
            break
    for p in PERCENTILES:
        assert seen[p] / 100 == pytest.approx(simulated[p], rel=0.05)


@pytest.mark.verify
@pytest.mark.parametrize("depth", [1, 32])
def test_at_a_tenth_of_its_pace_the_way_there_and_back_is_the_rest(
    served: Callable[..., Served], depth: int
) -> None:
    """It is measured with a drive of no time, slowed down until its answers take as long.

    A client that has slept for half a millisecond wakes up some 10 us later than one that has slept
    for 50 us. So with answers at once it would be too short.
    """
    needs("fio")
    seen, simulated = reads_in_real_time(served, 10, depth, "full")
    # ns: a read of 4 KiB is 21.5 us in the controller, and 585 ns on the link at 7 GB/s. Without
    # data it takes 4.46 us at the buffer. With them it takes 300 ns of a command, 40.95 us of the
    # array and 2.56 us on the channel.
    at_once, alone = 21_500 + 585 + 4_460, 21_500 + 585 + 300 + 40_950 + 2_560
    there, none = reads_in_real_time(served, 10 * alone / at_once, 1, "none")
    assert none == dict.fromkeys(PERCENTILES, at_once)
    for p in PERCENTILES:
        way = there[p] - 10 * alone
        print(f"depth {depth} {p}: {seen[p]} ns seen, {10 * simulated[p]} due, the way {way}; "
              f"{seen[p] / 10 / simulated[p] - 1:+.1%} with it")  # fmt: skip
        assert (seen[p] - way) / 10 == pytest.approx(simulated[p], rel=0.05)


@pytest.mark.parametrize("place", [["--listen", "127.0.0.1:0"], ["--unix", "d.sock"]])
def test_a_server_prints_its_sockets_and_where_latencies_are(
    place: list[str], tmp_path: Path, floatgate: Floatgate
) -> None:
    """Nobody has named a port or a control socket."""
    words = ["serve", str(drive_file(tmp_path)), *place]
    command = [sys.executable, "-m", "floatgate", *words, "--quiet"]
    with (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=errors)
    try:
        end = time.monotonic() + LONG
        while "in the result" not in (said := (tmp_path / "errors").read_text()):
            assert process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(0.02)
        if place[0] == "--listen":
            found = re.search(r"at nbd://127\.0\.0\.1:(\d+)\n", said)
            assert found is not None, said
            port = int(found[1])
            assert port != 0
            with socket.create_connection(("127.0.0.1", port), timeout=LONG) as client:
                assert client.recv(8) == b"NBDMAGIC"
            expected = f"floatgate-{port}.control"
        else:
            assert "at nbd+unix:///?socket=d.sock\n" in said
            expected = "d.sock.control"
        assert f"control socket: {expected} (floatgate top {expected})\n" in said
        assert "clients measure the time of this machine; the drive's own latencies are in" in said
        done = floatgate("smart", expected, "--json")
        assert json.loads(done.stdout)["power_cycles"] == 1
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(LONG)
    assert process.returncode == 0
    assert not (tmp_path / expected).exists()
