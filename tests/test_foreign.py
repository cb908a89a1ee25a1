"""Files of other people run nothing, and their contents cannot command a terminal."""

import subprocess
import sys
from pathlib import Path

import pytest

import floatgate as api
from conftest import Floatgate
from floatgate import terminal
from floatgate.result.tables import query

TELLTALE = """
from pathlib import Path
Path("was-run").touch()

class Greedy:
    def choose(self, plane, demand, random):
        return int(plane.blocks[plane.gain.argmax()])
"""
DRIVE = """
base = "agcr"
[policies]
victim = "py:telltale.Greedy"
"""
EXPERIMENT = """
schema = "floatgate.experiment/1"
name = "theirs"
drive = "agcr"
workload = "random-write"
policy.victim = ["greedy", "py:telltale.Greedy"]
set."workload.requests" = 1000
"""
FEW = "--set=workload.requests=1000"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder that was unpacked: a module, a drive and an experiment that name it."""
    (tmp_path / "telltale.py").write_text(TELLTALE)
    (tmp_path / "theirs.toml").write_text(DRIVE)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("config", "check", "theirs.toml"),
        ("config", "show", "theirs.toml"),
        ("run", "theirs.toml", "random-write", FEW),
        ("compare", "theirs.toml", "random-write", FEW, "--set=run.seed=1,2"),
        ("lifetime", "theirs.toml", "random-write", FEW),
        ("sweep", "experiment.toml"),
        ("trace", "describe", "random-write", "--drive", "theirs.toml", FEW),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_file_that_names_code_is_refused(
    words: tuple[str, ...], theirs: Path, floatgate: Floatgate
) -> None:
    done = floatgate(*words)
    assert done.returncode == 2, done
    assert not done.stdout
    assert not (theirs / "was-run").exists()
    if words[0] != "trace":
        assert "wants to run code: `py:telltale.Greedy`" in done.stderr
        assert "--allow-code" in done.stderr
    if words[0] not in ("trace", "sweep"):
        assert str(theirs / "telltale.py") in done.stderr


def test_with_permission_it_runs(theirs: Path, floatgate: Floatgate) -> None:
    assert floatgate("config", "check", "theirs.toml", "--allow-code").returncode == 0
    assert (theirs / "was-run").exists()
    run = floatgate("run", "theirs.toml", "random-write", FEW, "--allow-code")
    assert "py:telltale.Greedy" in run.stdout
    swept = floatgate("sweep", "experiment.toml", "--allow-code")
    assert swept.returncode == 0, swept.stderr


def test_what_is_typed_needs_no_permission(theirs: Path, floatgate: Floatgate) -> None:
    typed = "--policy=victim=py:telltale.Greedy"
    assert floatgate("run", "agcr", "random-write", FEW, typed).returncode == 0
    both = "--policy=victim=greedy,py:telltale.Greedy"
    done = floatgate("compare", "agcr", "random-write", FEW, both)
    assert done.returncode == 0, done.stderr
    # The typed name is one, and the file's is another.
    other = floatgate("run", "theirs.toml", "random-write", FEW, "--policy=cost=py:other.Cost")
    assert other.returncode == 2


def test_in_python_a_file_needs_permission_too(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(theirs)
    before = list(sys.path)
    with pytest.raises(api.ConfigError, match="wants to run code"):
        api.resolve("theirs.toml")
    with pytest.raises(api.ConfigError, match="wants to run code"):
        api.sweep("experiment.toml")
    assert not (theirs / "was-run").exists()
    with api.allow_code():
        assert api.resolve("theirs.toml")["policies"]["victim"]["name"] == "py:telltale.Greedy"
    assert (theirs / "was-run").exists()
    assert sys.path == before
    with pytest.raises(api.ConfigError), api.allow_code(), api.allow_code(False):
        api.resolve("theirs.toml")


COMMAND = [str(Path(sys.executable).parent / "floatgate")]
MODULE = [sys.executable, "-m", "floatgate"]


@pytest.mark.parametrize(
    ("start", "names"),
    [
        (COMMAND, ("anywidget", "click", "polars", "json", "ctypes", "floatgate")),
        # Python itself puts the current folder first until `floatgate` has begun.
        (MODULE, ("anywidget", "click", "altair")),
    ],
    ids=["command", "module"],
)
def test_the_current_folder_is_no_place_for_modules(
    start: list[str], names: tuple[str, ...], tmp_path: Path
) -> None:
    """`report` imports `anywidget` through altair, where that is installed."""
    for name in names:
        (tmp_path / f"{name}.py").write_text('from pathlib import Path\nPath("was-run").touch()\n')

    def floatgate(*words: str) -> None:
        subprocess.run([*start, *words], check=True, cwd=tmp_path, capture_output=True, timeout=300)

    floatgate("run", "agcr", "random-write", FEW, "--out=stored")
    floatgate("report", "stored", "-o", "report.html")
    floatgate("results", "SELECT waf FROM runs", "stored")
    assert (tmp_path / "report.html").exists()
    assert not (tmp_path / "was-run").exists()


# ── Questions in SQL ────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, and a file of the user's next to it."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "secret.csv").write_text("word\nhush\n")
    api.run("agcr", "random-write", set={"workload.requests": 1000}, out=folder)
    return folder


ATTACKS = {
    "read_csv": "SELECT * FROM read_csv('{secret}')",
    "read_text": "SELECT * FROM read_text('{secret}')",
    "a file as a table": "SELECT * FROM '{secret}'",
    "glob": "SELECT * FROM glob('{folder}/*')",
    "copy": "COPY runs TO '{folder}/new.csv'",
    "attach": "ATTACH '{folder}/new.db'",
    "network": "SELECT * FROM read_csv('https://example.invalid/x.csv')",
    "extension": "INSTALL httpfs",
    "settings": "SET enable_external_access = true",
    "rows": "SELECT * FROM range(1000000000000)",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_question_sees_the_tables_of_runs_and_nothing_else(attack: str, stored: Path) -> None:
    sql = ATTACKS[attack].format(secret=stored / "secret.csv", folder=stored)
    with pytest.raises(api.InputError):
        query(sql, stored)
    assert not list(stored.glob("new*"))


def test_unless_it_may(stored: Path) -> None:
    sql = ATTACKS["read_csv"].format(secret=stored / "secret.csv")
    assert query(sql, stored, unsafe=True) == (["word"], [("hush",)])
    assert query("SELECT count(*) FROM requests", stored)[1] == [(1000,)]


# ── Commands of a terminal ──────────────────────────────────────────────────────────────────────


def test_names_cannot_command_a_terminal(tmp_path: Path, floatgate: Floatgate) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    trace = tmp_path / f"{evil}.csv"
    trace.write_text("0,3,w,0,4096\n")
    run = floatgate("run", "agcr", trace.name, "--columns=time=1:us,op=3,offset=4,size=5:bytes")
    assert r"\x1b]0;owned\x07\x1b[2J.csv" in run.stdout, run
    trace.write_text("no trace\n")
    refused = floatgate("run", "agcr", trace.name)
    assert refused.returncode == 2
    assert r"\x1b[2J" in refused.stderr
    asked = floatgate("run", f"{evil}", "random-write")
    for done in (run, refused, asked):
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr


def test_what_is_ours_still_goes_through(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal.Shown(sys.stdout))
    print(terminal.control("\x1b[1m") + "bold\x1b[2J" + terminal.control("\x1b[0m"))
    assert capsys.readouterr().out == "\x1b[1mbold\\x1b[2J\x1b[0m\n"


@pytest.mark.parametrize("code", [0, 7, 8, 0x0D, 0x1B, 0x7F, 0x9B, 0x202E, 0x2066])
def test_every_kind_of_control_character_is_shown(code: int) -> None:
    assert terminal.visible(chr(code)).isprintable()
    assert terminal.visible(f"a{chr(code)}b") != f"a{chr(code)}b"
