"""Every command with every other command's file and socket, and with foreign peers: a message and
exit code 2, never a traceback and never an endless wait."""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import floatgate as fg
from conftest import Floatgate
from forks import Forks
from processes import LONG
from test_live import Served, drive_file

sys.path.append(str(Path(__file__).parent.parent / "scripts"))
from docsite.examples import EXAMPLES

EXPERIMENT = """
schema = "floatgate.experiment/1"
name = "some"
drive = "agcr"
workload = "random-write"
set."workload.requests" = 100
set."geometry.blocks-per-plane" = 64
"""
SMALL = ["--set", "geometry.blocks-per-plane=64", "--set", "geometry.channels=1"]

# Inputs of each command, `X` in their place, and which of the things below it takes.
COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "run drive": (["run", "X", "random-write", "--set", "workload.requests=10"], {"drive"}),
    "run workload": (["run", "agcr", "X", *SMALL], {"trace", "workload", "recording"}),
    "compare": (["compare", "agcr", "X", *SMALL], {"trace", "workload", "recording"}),
    "lifetime": (["lifetime", "X", "random-write", "--set", "workload.requests=10"], {"drive"}),
    "config check": (["config", "check", "X"], {"drive"}),
    "config show": (["config", "show", "X"], {"drive"}),
    "config convert": (["config", "convert", "X", "-o", "converted"], {"mqsim", "ssdsim"}),
    "trace describe": (["trace", "describe", "X"], {"trace", "workload", "recording"}),
    "trace convert": (
        ["trace", "convert", "X", "-o", "some.parquet", "--force"],
        {"trace", "workload", "recording"},
    ),
    "trace fit": (["trace", "fit", "X", "-o", "fit.toml"], {"trace", "recording"}),
    "sweep": (["sweep", "X", "--dry-run"], {"experiment"}),
    "report": (["report", "X", "-o", "page.html"], {"result", "result folder"}),
    "view": (["view", "X", "-o", "view.html"], {"result", "result folder"}),
    "results": (["results", "SELECT 1", "X"], {"result folder"}),
    "top": (["top", "X", "--every", "0.1"], {"control socket"}),
    "smart": (["smart", "X"], {"control socket"}),
    "fault": (["fault", "X", "--heal"], {"control socket"}),
    "serve store": (["serve", "D", "--unix", "U", "--store", "X"], set()),
    "serve record": (["serve", "D", "--unix", "U", "--record", "X"], set()),
    "serve unix": (["serve", "D", "--unix", "X"], set()),
    "serve control": (["serve", "D", "--unix", "U", "--control", "X"], set()),
}  # fmt: skip


def drive_text() -> str:
    return 'schema = "floatgate.drive/1"\nbase = "agcr"\n[geometry]\nblocks-per-plane = 64\n'


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """One input of each kind that a command can be given, by its kind."""
    folder = tmp_path_factory.mktemp("t")
    stored = fg.run(
        "agcr",
        "random-write",
        set={"workload.requests": 100, "geometry.blocks-per-plane": 64, "geometry.channels": 1},
        out=folder / "results",
        record=("requests", "series", "blocks", "snapshots"),
    ).folder
    assert stored is not None
    texts = {
        "drive": ("drive.toml", drive_text()),
        "workload": (
            "work.toml",
            'schema = "floatgate.workload/1"\n[[part]]\nworkload = "t.trace"\n',
        ),
        "trace": ("t.trace", "".join(f"{i * 100000} 0 {i * 16} 8 {i % 2}\n" for i in range(50))),
        "experiment": ("e.toml", EXPERIMENT),
        "mqsim": ("ssdconfig.xml", EXAMPLES["ssdconfig.xml"]),
        "ssdsim": ("page.parameters", EXAMPLES["page.parameters"]),
        "not UTF-8": ("latin.toml", "# caf\xe9\n"),
        "UTF-16": ("wide.toml", drive_text()),
        "empty": ("empty", ""),
    }
    encodings = {"not UTF-8": "latin-1", "UTF-16": "utf-16"}
    made = {}
    for kind, (name, text) in texts.items():
        made[kind] = folder / name
        made[kind].write_bytes(text.encode(encodings.get(kind, "utf-8")))
    made["result"] = stored / "result.json"
    made["result folder"] = stored
    made["table"] = stored / "requests.parquet"
    made["directory"] = folder / "directory"
    made["directory"].mkdir()
    made["FIFO"] = folder / "fifo"
    os.mkfifo(made["FIFO"])
    made["endless device"] = Path("/dev/zero")
    made["sparse"] = folder / "sparse.toml"
    with made["sparse"].open("wb") as sparse:
        sparse.truncate(10 << 30)
    made["nothing"] = folder / "nothing.toml"
    made["long name"] = folder / ("x" * 300)
    made["no UTF-8 name"] = folder / os.fsdecode(b"caf\xe9.toml")
    made["no UTF-8 name"].write_text(drive_text())
    first = Served(folder, str(drive_file(folder)), "--record", "rec", "--store", "store")
    for page in range(10):
        first.client().write(page * 4096, bytes(4096))
    first.end()
    first.close()
    served = Served(folder, str(drive_file(folder)))
    made["recording"] = folder / "rec"
    made["store"] = folder / "store"
    made["NBD socket"], made["control socket"] = served.socket, served.control
    yield made
    served.close()


def carried_out(
    forks: Forks, commands: Sequence[Sequence[str]], *folders: Path
) -> list[tuple[int | None, str, str]]:
    """The exit code and the texts of each command; None stands for one that did not end.

    Each has a folder of its own, or all have the same.
    """
    places = folders if len(folders) > 1 else folders * len(commands)
    pairs = zip(commands, places, strict=True)
    return [forks.run([*words], folder, limited=True)[:3] for words, folder in pairs]


# The commands that read as another one does, which is there.
TWINS = ("compare", "lifetime", "config show", "trace convert", "trace fit", "fault")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.verify if name in TWINS else ()) for name in COMMANDS],
)
def test_what_is_not_meant_for_a_command_is_a_message(
    name: str, things: dict[str, Path], tmp_path: Path, forks: Forks
) -> None:
    template, takes = COMMANDS[name]
    known = {"D": str(things["drive"]), "U": "socket"}
    commands = [
        [str(path) if word == "X" else known.get(word, word) for word in template]
        for path in things.values()
    ]
    for kind, (code, out, err) in zip(things, carried_out(forks, commands, tmp_path), strict=True):
        assert code == (0 if kind in takes else 2), (kind, code, err)
        if kind not in takes:
            assert err.startswith("error["), (kind, err)
            assert not out, kind
            assert err.count("error[") <= 10, (kind, err)
            named = things[kind].name.replace(os.fsdecode(b"\xe9"), r"\xe9")
            if kind != "nothing" or not name.startswith("serve"):
                assert named in err, (kind, err)
            assert not re.search("codec|Errno", err), (kind, err)
            assert f"did you mean `{things[kind]}`" not in err, (kind, err)
            assert "Traceback" not in err, (kind, err)
    assert not things["nothing"].exists(), "what is refused leaves nothing behind"


FOREIGN: dict[str, bytes | None] = {
    "closes at once": b"",
    "hangs": None,
    "an answer that is cut": b'{"drive": "x", "state"',
    "not JSON": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "not UTF-8": b'{"drive": "\xff\xfe"}\n',
    "binary": b"J\0\0\0\x0a8.0.36\0\n",
    "a list": b"[]\n",
    "a number": b"5\n",
    "null": b"null\n",
    "nothing in it": b"{}\n",
    "its schema alone": b'{"schema": "floatgate.live/1"}\n',
    "an error that is not a text": b'{"error": 5}\n',
    "deep": b"[" * 100_000 + b"\n",
    "without an end": b"x" * (2 << 20),
    "not finite": b'{"faults": NaN}\n',
    "beyond all numbers": b'{"faults": 1' + b"0" * 400 + b"}\n",
    "a text as a number": b'{"faults": "1"}\n',
    "the socket for clients": b"NBDMAGICIHAVEOPT\0\3",
}


@contextmanager
def peer(path: Path, answer: bytes | None) -> Iterator[None]:
    """Somebody at a socket who answers everybody in the same way; None: not at all."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))
        listener.listen()
        done = threading.Event()

        def serve() -> None:
            while True:
                try:
                    stream, _ = listener.accept()
                except OSError:
                    return
                with stream, suppress(OSError):
                    if answer is None:
                        done.wait(LONG)
                    stream.sendall(answer or b"")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


ASKED: list[Callable[[fg.Control], object]] = [
    fg.Control.status, fg.Control.smart, fg.Control.heal, fg.Control.cut_power,
]  # fmt: skip


@pytest.mark.parametrize("how", FOREIGN)
def test_a_foreign_peer_is_a_message(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("floatgate.live.control._SECONDS", 0.5)
    with peer(tmp_path / "d.sock", FOREIGN[how]):
        for ask in ASKED:
            with (
                pytest.raises(fg.InputError, match=r"^d\.sock: ") as refused,
                fg.Control("d.sock") as drive,
            ):
                ask(drive)
            assert refused.value.code == "service::address"
            if how == "the socket for clients":
                assert "this is the socket for clients (NBD)" in str(refused.value)


def test_every_command_that_asks_a_drive_refuses_a_foreign_peer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, floatgate: Floatgate
) -> None:
    monkeypatch.chdir(tmp_path)
    with peer(tmp_path / "d.sock", FOREIGN["not JSON"]):
        for words in (["smart", "d.sock"], ["top", "d.sock"], ["fault", "d.sock", "--heal"]):
            done = floatgate(*words)
            assert (done.returncode, done.stdout) == (2, "")
            said = "error[service::address]: d.sock: this is another service"
            assert done.stderr.startswith(said)


# ── Texts ───────────────────────────────────────────────────────────────────────────────────────

WORKLOAD = 'schema = "floatgate.workload/1"\n[[part]]\nworkload = "zipf"\n'
POLICY = """
from floatgate.policy import Cost

class Own(Cost):
    def initial(self):
        return "medium"

    def level(self, write):
        return "medium"
"""
READERS: dict[str, tuple[str, str, list[str]]] = {
    "drive": ("d.toml", drive_text(), ["config", "check", "d.toml"]),
    "base": (
        "base.toml", drive_text(), ["config", "check", "on.toml"],
    ),
    "workload": ("w.toml", WORKLOAD, ["trace", "describe", "w.toml", "--first", "10"]),
    "experiment": ("e.toml", EXPERIMENT, ["sweep", "e.toml", "--dry-run"]),
    "mqsim": ("x.xml", EXAMPLES["ssdconfig.xml"], ["config", "convert", "x.xml", "-o", "made"]),
    "ssdsim": (
        "p.parameters", EXAMPLES["page.parameters"],
        ["config", "convert", "p.parameters", "-o", "made"],
    ),
    "policy": (
        "own.py", POLICY,
        ["config", "check", "agcr", "--policy", "cost=py:own.Own"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_text_takes_what_editors_of_other_systems_write(
    name: str, tmp_path: Path, forks: Forks
) -> None:
    file, text, words = READERS[name]
    forms = {
        "mark": "\ufeff" + text,
        "CRLF": text.replace("\n", "\r\n"),
        "both": "\ufeff" + text.replace("\n", "\r\n"),
        "blank lines": "\n \n\t\n" + text,
    }
    encoded = {form: other.encode() for form, other in forms.items()}
    foreign = ("utf-16", "utf-16-le", "utf-16-be")
    encoded |= {encoding: text.lstrip().encode(encoding) for encoding in foreign}
    folders = [tmp_path / form for form in encoded]
    for folder, data in zip(folders, encoded.values(), strict=True):
        folder.mkdir()
        (folder / "on.toml").write_text('base = "base.toml"\n')
        (folder / file).write_bytes(data)
    answers = carried_out(forks, [words] * len(folders), *folders)
    for form, (code, out, err) in zip(encoded, answers, strict=True):
        if form in forms:
            assert code == 0, (form, err)
            continue
        assert (code, out) == (2, ""), form
        assert "UTF-16" in err, (form, err)
        assert "iconv -f UTF-16" in err, (form, err)


def test_a_file_of_results_may_be_large_and_is_never_endless(
    tmp_path: Path, floatgate: Floatgate
) -> None:
    place = tmp_path / "result.json"
    with place.open("wb") as file:
        file.truncate(3 << 30)
    for words in (["report", "result.json"], ["view", "result.json"], ["results", "SELECT 1", "."]):
        done = floatgate(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "result.json: this is larger than 256 MiB" in done.stderr


# ── Combinations ────────────────────────────────────────────────────────────────────────────────


def test_combinations_are_counted_before_they_are_made(
    tmp_path: Path, floatgate: Floatgate
) -> None:
    many = "{ from = 1, to = 1000 }"
    (tmp_path / "e.toml").write_text(
        EXPERIMENT.replace(
            'set."workload.requests" = 100',
            f'set."workload.requests" = {many}\nset."workload.seed" = {many}\nseed = {many}',
        )
    )
    listed = ",".join(map(str, range(1, 1001)))
    compare = ["compare", "agcr", "zipf", "--seed", listed]
    for key in ("workload.requests", "workload.seed"):
        compare += ["--set", f"{key}={listed}"]
    for words in (["sweep", "e.toml", "--dry-run"], compare):
        done = floatgate(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "1,000 x 1,000 x 1,000 = 1,000,000,000 combinations" in " ".join(done.stderr.split())


# ── The system refuses ──────────────────────────────────────────────────────────────────────────


def test_what_the_system_refuses_anywhere_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command need catch these: the last one to hear of them says so."""
    from floatgate import cli

    with pytest.raises(UnicodeEncodeError) as surrogate:
        "caf\udce9".encode()
    errors: list[tuple[BaseException, str]] = [
        (OSError(36, "File name too long", "some-file"), "error[file::unusable]: some-file: "),
        (FileNotFoundError(2, "No such file", "gone"), "error[file::missing]: gone: "),
        (OSError("without a number"), "error[file::unusable]: "),
        (MemoryError(), "error[system::memory]: "),
        (surrogate.value, "error[file::unusable]: `caf\\xe9`: this is not UTF-8"),
    ]
    for error, said in errors:

        def fails(_: object, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(cli, "_obey", fails)
        monkeypatch.setattr(sys, "stdout", sys.stdout)
        monkeypatch.setattr(sys, "stderr", sys.stderr)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        monkeypatch.undo()
        assert ended.value.code == 2
        assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    "words",
    [
        ["report", "stored", "-o", "X.html"],
        ["view", "stored", "-o", "X.html"],
        ["trace", "convert", "zipf", "--first", "10", "-o", "X.parquet", "--force"],
        ["config", "convert", "drive.xml", "-o", ".", "--force"],
        ["trace", "describe", "zipf", "--first", "10", "--plot", "X.html"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("kind", ["pipe", "socket", "link to a pipe"])
def test_nothing_but_a_regular_file_is_replaced(
    kind: str, words: list[str], things: dict[str, Path], tmp_path: Path, forks: Forks
) -> None:
    """A file takes its name by a rename, which would put it in the place of a device as well."""
    name = next((word for word in words if word.startswith("X.")), "drive.toml")
    place = tmp_path / name
    (tmp_path / "drive.xml").write_text(EXAMPLES["ssdconfig.xml"])
    (tmp_path / "stored").symlink_to(things["result folder"])
    with socket.socket(socket.AF_UNIX) as bound:
        if kind == "socket":
            bound.bind(os.path.relpath(place))
        elif kind == "pipe":
            os.mkfifo(place)
        else:
            os.mkfifo(tmp_path / "pipe")
            place.symlink_to("pipe")
        before = place.lstat()
        ((code, out, err),) = carried_out(forks, [words], tmp_path)
    assert (code, out) == (2, ""), err
    assert f"{name}: this is a pipe, a socket or a device" in err
    after = place.lstat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert not [path for path in tmp_path.iterdir() if "unfinished" in path.name]
