"""The command line: its output and error streams, and its exit codes."""

import io
import json
import os
import pty
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate import InputError
from processes import LONG, at_once, at_work, wait_for

ROOT = Path(__file__).parent.parent
SMALL = ("agcr", "random-write", "--set", "workload.requests=2000")
NARROW = ("--set", "geometry.channels=1")


def _processor_seconds(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_is_instant_and_loads_nothing_heavy(
    floatgate: Floatgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Compiled beforehand, as installing a package does, under any setting of the machine of the
    # tests.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    assert floatgate("--help").returncode == 0
    # Processor time, by that of a bare interpreter (some 10 ms), which is longer where much else
    # runs. One library for numbers would cost as much again.
    bare = min(_processor_seconds(sys.executable, "-c", "pass") for _ in range(5))
    help_takes = min(
        _processor_seconds(sys.executable, "-m", "floatgate", "--help") for _ in range(5)
    )
    assert 0 < help_takes <= 25 * max(bare, 0.01)
    probe = "import sys, floatgate.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    modules = loaded.stdout.decode().split()
    assert "floatgate.engine" in modules
    assert not {"numpy", "polars", "rich", "altair", "pydantic"} & set(modules)


def test_importing_the_package_loads_next_to_nothing() -> None:
    probe = "import sys, floatgate; print(*(n for n in sys.modules if n.startswith('floatgate')))"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    assert loaded.stdout.decode().split() == [
        "floatgate.result",
        "floatgate.result.shown",
        "floatgate",
    ]


_CODES = {
    "run agcr zipf --seed x": "input::value",
    "run agcr zipf --seed -1": "input::value",
    "run agcr zipf more": "input::value",
    "run agcr zipf --json=3": "input::value",
    "run agcr zipf --seed": "input::missing",
    "run": "input::missing",
    "sweep drvie.toml": "file::missing",
    "report reslts": "file::missing",
    "results SELECT reslts": "file::missing",
}
"""The exit codes other than that of an unknown name."""


@pytest.mark.parametrize(
    ("line", "said"),
    {
        "runn": "`runn` is not a command of floatgate; did you mean `run`?",
        "config shw agcr": "`shw` is not a command of floatgate config; did you mean `show`?",
        "run agcr zipf --stedy": "`--stedy` is not an option of floatgate run; "
        "did you mean `--steady`?",
        "run agcr zipf --seed x": "`--seed`: expected a whole number from 0 on, not `x`; "
        "see `floatgate run --help`",
        "run agcr zipf --seed -1": "`--seed`: expected a whole number from 0 on, not `-1`; "
        "see `floatgate run --help`",
        "run agcr zipf --seed": "`--seed` needs a value; see `floatgate --help`",
        "run": "floatgate run needs DRIVE; see `floatgate run --help`",
        "run agcr zipf more": "floatgate run takes no further argument: `more`; "
        "see `floatgate run --help`",
        "run agcr zipf --json=3": "`--json` takes no value; see `floatgate --help`",
        "sweep drvie.toml": "drvie.toml: there is no such file; did you mean `drive.toml`?",
        "report reslts": "reslts: there is no such file or folder; did you mean `results`?",
        "results SELECT reslts": "reslts: there is no such folder; did you mean `results`?",
        "compare agcr zipf --bars waff": "--bars: `waff` is not a measure; did you mean `waf`?",
        "explain gc-never-run": "`gc-never-run` is not the code of a warning or error; "
        "did you mean `gc-never-ran`?",
        "drives agrc": "`agrc` is not a built-in drive; did you mean `agcr`?",
        "chips C-MLC64": "`C-MLC64` is not a chip; did you mean `c-mlc64`?",
        "policies victm": "`victm` is not a family; did you mean `victim`?",
        "reproduce gc-lwas": "`gc-lwas` is not a study; did you mean `gc-laws`?",
        "trace list mrs": "`mrs` is not a group",
    }.items(),
)
def test_what_is_wrong_is_said_in_one_way_with_what_was_meant(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from floatgate import cli

    code = _CODES.get(line, "input::unknown-name")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drive.toml").touch()
    (tmp_path / "results").mkdir()
    for more in ([], ["--json"]):
        if more and not line.startswith(("run agcr zipf --st", "drives", "chips")):
            continue
        monkeypatch.setattr(sys, "argv", ["floatgate", *line.split(), *more])
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            cli._answer()
        assert ended.value.code == 2
        assert out.getvalue() == ""
        assert err.getvalue().startswith(f"error[{code}]: {said}"), err.getvalue()
        assert err.getvalue().count("\n") == 1


def test_an_error_with_a_code_names_its_explanation(floatgate: Floatgate) -> None:
    done = floatgate("run", "agcr", "zipf", "--set", "timing.erase=3", "--set", "host.mod=x")
    assert done.returncode == 2
    for code in ("config::unit", "config::unknown-key"):
        assert f"error[{code}]" in done.stderr
        assert f"`floatgate explain {code}` has an example" in done.stderr
    told = floatgate("explain", "config::unit")
    assert "Right: --set timing.erase=3ms" in told.stdout


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run",),
        ("compare",),
        ("drives",),
        ("explain",),
        ("init",),
        ("policies",),
        ("chips",),
        ("lifetime",),
        ("config",),
        ("config", "show"),
        ("config", "check"),
        ("trace",),
        ("trace", "describe"),
        ("trace", "list"),
    ],
)
def test_every_command_has_help(floatgate: Floatgate, words: tuple[str, ...]) -> None:
    done = floatgate(*words, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: floatgate" if words else "Usage:")
    assert done.stderr == ""


def test_run_prints_a_page_of_80_columns(floatgate: Floatgate) -> None:
    done = floatgate("run", *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2,000 requests" in done.stdout
    assert "Checks passed" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\033" not in done.stdout


def test_json_is_exactly_one_object(floatgate: Floatgate) -> None:
    schemas = {
        ("run", *SMALL): "floatgate.run/2",
        ("compare", *SMALL, "--seed", "1,2"): "floatgate.compare/1",
        ("lifetime", *SMALL, *NARROW, "--no-advice"): "floatgate.lifetime/1",
        ("policies",): "floatgate.policies/1",
        ("drives",): "floatgate.drives/1",
        ("drives", "agcr"): "floatgate.drives/1",
        ("chips",): "floatgate.chips/1",
        ("chips", "b-mlc32"): "floatgate.chips/1",
        ("config", "show", "agcr"): "floatgate.config/1",
        ("config", "check", "agcr"): "floatgate.check/1",
        ("trace", "list"): "floatgate.traces/1",
    }
    for words, schema in schemas.items():
        done = floatgate(*words, "--json")
        assert (done.returncode, done.stderr) == (0, ""), words
        assert json.loads(done.stdout)["schema"] == schema


def test_what_changes_nothing_is_told_before_a_run_and_after_it(floatgate: Floatgate) -> None:
    """The same words from `config check` and from the run; each code is explained."""
    words = ["modern-tlc-small", "--set", "buffer.size=96KiB", "--policy", "throttle=ready"]
    few = ["--set", "workload.requests=500", "--set", "precondition.fill=none"]
    check = floatgate("config", "check", *words)
    assert (check.returncode, check.stderr) == (0, "")
    told = json.loads(floatgate("config", "check", *words, "--json").stdout)["warnings"]
    assert [warning["code"] for warning in told] == ["small-buffer", "idle-policy"]
    assert "at most 50 % of the dies busy" in told[0]["text"]
    flat = " ".join(check.stdout.split())
    ran = json.loads(floatgate("run", words[0], "random-write", *words[1:], *few, "--json").stdout)
    for warning in told:
        assert f"warning: {warning['text']} [{warning['code']}]" in flat
        assert warning in ran["warnings"]
        assert floatgate("explain", warning["code"]).returncode == 0


def test_every_preset_keeps_its_dies_busy_however_many_there_are(floatgate: Floatgate) -> None:
    def asked(what: str, drive: str, *more: str) -> Any:
        words = [word for setting in more for word in ("--set", setting)]
        return json.loads(floatgate("config", what, drive, *words, "--json").stdout)

    for preset in json.loads(floatgate("drives", "--json").stdout)["drives"]:
        for chips in (2, 4):
            name = preset["name"]
            found = asked("check", name, f"geometry.chips-per-channel={chips}")
            assert found["warnings"] == [], name
    for dies, size in ((8, "3MiB"), (16, "6MiB"), (32, "12MiB")):
        config = asked("show", "modern-tlc", f"geometry.channels={dies}")["config"]
        assert config["buffer"]["size"] == size
    # A size of one's own replaces it, and the other way round.
    own = asked("show", "modern-tlc", "buffer.size=1MiB")["config"]["buffer"]
    assert own["size"] == "1MiB"
    assert "units-per-die" not in own
    both = floatgate("config", "check", "agcr", "--set", "buffer.size=1MiB",
                     "--set", "buffer.units-per-die=2")  # fmt: skip
    assert both.returncode == 2
    assert "exclude each other" in both.stderr


def test_equal_runs_give_equal_results(floatgate: Floatgate) -> None:
    results = [json.loads(floatgate("run", *SMALL, "--json").stdout) for _ in range(2)]
    for result in results:
        del result["timing"]
    assert results[0] == results[1]
    assert json.dumps(results[0]) == json.dumps(results[1])


def test_another_seed_gives_another_run(floatgate: Floatgate) -> None:
    mapped = set()
    for seed in ("1", "2", "3"):
        words = ("run", *SMALL, "--set", "workload.span=4MiB", "--seed", seed, "--json")
        result = json.loads(floatgate(*words).stdout)
        assert result["provenance"]["seed"] == int(seed)
        mapped.add(result["checks"]["mapped"])
    assert len(mapped) > 1


def test_a_result_is_stored_whole(floatgate: Floatgate, tmp_path: Path) -> None:
    done = floatgate("run", *SMALL, "--out", "kept/here")
    assert done.returncode == 0
    folder = tmp_path / done.stdout.splitlines()[-1].removeprefix("Result: ")
    assert folder.parent == tmp_path / "kept" / "here"
    assert json.loads((folder / "result.json").read_text())["schema"] == "floatgate.run/2"
    tables = [f"{table}.parquet" for table in ("blocks", "requests", "series")]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*tables, "result.json"])
    assert list(folder.parent.iterdir()) == [folder]


WRONG = {
    "no such drive": (("run", "agrc", "random-write"), "agcr"),
    "no such drive file": (("run", "missing.toml", "random-write"), "missing.toml"),
    "no such trace": (("run", "agcr", "missing.csv"), "missing.csv"),
    "no such generator": (("run", "agcr", "random-wirte"), "random-write"),
    "a folder as trace": (("run", "agcr", "."), "directory"),
    "no such key": (("run", *SMALL, "--set", "ftl.spare-facto=0.2"), "spare-factor"),
    "no such workload key": (("run", *SMALL, "--set", "workload.request=1"), "requests"),
    "a bare number": (("run", *SMALL, "--set", "timing.erase=3"), "timing.erase"),
    "no value": (("run", *SMALL, "--set", "ftl.spare-factor"), "ftl.spare-factor"),
    "no such family": (("run", *SMALL, "--policy", "vctim=fifo"), "victim"),
    "no such policy": (("run", *SMALL, "--policy", "victim=greeedy"), "greedy"),
    "no such parameter": (("run", *SMALL, "--policy", "cost=fixed:lvl=low"), "level"),
    "no such option": (("run", *SMALL, "--sed", "1"), "--seed"),
    "a negative seed": (("run", *SMALL, "--seed", "-1"), "--seed"),
    "a file as result folder": (("run", *SMALL, "--out", "file"), "not a folder"),
    "no such family to list": (("policies", "vctim"), "victim"),
    "no such chip": (("chips", "c-mlc65"), "c-mlc64"),
    "nothing to run": (("run", "agcr"), "WORKLOAD"),
    "a drive that cannot be": (
        ("config", "check", "agcr", "--set", "geometry.pages-per-block=0"),
        "pages-per-block",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_explained(floatgate: Floatgate, tmp_path: Path, case: str) -> None:
    (tmp_path / "file").write_text("")
    words, hint = WRONG[case]
    done = floatgate(*words, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_drive_file_runs_and_its_mistakes_have_a_place(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    drive = tmp_path / "mine.toml"
    drive.write_text('schema = "floatgate.drive/1"\nname = "mine"\nbase = "agcr"\n')
    done = floatgate("config", "check", "mine.toml")
    assert (done.returncode, done.stdout) == (0, "mine: this drive can run\n")
    drive.write_text(drive.read_text() + "\n[ftl.gc]\nstrat = 2\n")
    done = floatgate("config", "check", "mine.toml")
    assert done.returncode == 2
    assert "mine.toml:6" in done.stderr
    assert "start" in done.stderr


def test_a_resolved_drive_is_a_drive_file(floatgate: Floatgate, tmp_path: Path) -> None:
    settings = ("--set", "ftl.spare-factor=0.2", "--policy", "victim=fifo", "--seed", "9")
    shown = floatgate("config", "show", "agcr", *settings)
    (tmp_path / "shown.toml").write_text(shown.stdout)
    again = floatgate("config", "show", "shown.toml")
    assert again.stdout == shown.stdout
    sources = json.loads(floatgate("config", "show", "agcr", *settings, "--json").stdout)["sources"]
    assert sources["ftl.spare-factor"] == "--set"


def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    program = f"{limit}; import floatgate.cli; floatgate.cli.main()"
    command = [sys.executable, "-c", program, "run", *SMALL, "--out", "new/results", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be stored" in done.stderr
    assert list(tmp_path.iterdir()) == []


def endless(folder: Path, *words: str, stderr: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "floatgate", "run", "agcr", "random-write", *words]
    command += ["--set", "workload.requests=100000000000", "--set", "precondition.fill=none"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, cwd=folder)


@pytest.mark.parametrize("words", [(), ("--out", "new/results")])
def test_ctrl_c_ends_a_run_at_once(tmp_path: Path, words: tuple[str, ...]) -> None:
    run = endless(tmp_path, *words, stderr=subprocess.PIPE)
    wait_for(lambda: at_work(run.pid))
    if words:
        wait_for(lambda: any(p.stat().st_size for p in tmp_path.rglob("requests.parquet")))
    assert run.poll() is None
    with at_once(run.pid):
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=LONG)
    assert (run.returncode, out) == (130, b""), err.decode()
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_progress_is_drawn_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    run = endless(tmp_path, stderr=theirs)
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + LONG
    while b"left" not in shown and time.monotonic() < deadline:
        if select.select([ours], [], [], 0.5)[0]:
            shown += os.read(ours, 4096)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=LONG)
    os.close(ours)
    assert re.search(rb"running .* requests/s .*drive at .* left", shown)


def commands_in(document: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    # A served drive ends when somebody says so.
    blocks = [block for block in blocks if "floatgate serve" not in block]
    whole = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    lines = [line.split("  #")[0].strip() for line in whole]
    # So does a page that is served.
    return [line for line in lines if line.startswith("floatgate ") and "--serve" not in line]


@pytest.mark.parametrize("as_printed", [False, pytest.param(True, marks=pytest.mark.verify)])
def test_the_commands_of_the_readme_work(floatgate: Floatgate, as_printed: bool) -> None:
    """`make test` runs them with few requests, one seed, and no search for advice."""
    shorter = {
        r"(?<=workload\.requests=)\d+": "2000",
        r"(?<=--seed )[\d,]+": "1",
        r"^floatgate lifetime": "floatgate lifetime --no-advice",
    }
    commands = commands_in("README.md")
    assert len(commands) >= 4
    for command in commands:
        for pattern, short in ({} if as_printed else shorter).items():
            command = re.sub(pattern, short, command)
        done = floatgate(*shlex.split(command)[1:])
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout, command


def test_the_python_of_the_readme_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 1
    for block in blocks:
        command = [sys.executable, "-c", block]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


GREAT = 2**64


@pytest.mark.parametrize("option", ["--seed", "--first", "--repeat"])
def test_numbers_beyond_what_anything_counts_are_refused(floatgate: Floatgate, option: str) -> None:
    for command in ("run", "compare"):
        done = floatgate(command, "agcr", "random-write", option, str(GREAT), "-q")
        assert done.returncode == 2, done.stderr
        assert f"{2**63 - 1}" in done.stderr
    given: dict[str, Any] = {option.removeprefix("--"): GREAT}
    with pytest.raises(InputError, match=str(GREAT)):
        fg.run("agcr", "random-write", **given)


def test_times_that_no_clock_has_are_refused_wherever_they_come_from(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    trace = tmp_path / "long.csv"
    trace.write_text("0,W,0,4096\n280000000000000,R,0,4096\n")  # 8.9 years
    read = [str(trace), "--columns=time=1:us,op=2,offset=3,size=4"]
    seldom = ["random-write", "--set=workload.requests=20", "--set=workload.rate=1e-10"]
    stored = tmp_path / "stored.parquet"
    for command in (
        ["run", "agcr", *read, "--speed=0.01"],
        ["run", "agcr", *read, "--set=host.speed=0.01"],
        ["run", "agcr", *read, "--repeat=1000000000000"],
        ["run", "agcr", *seldom],
        ["trace", "describe", *read, "--speed=0.01"],
        ["trace", "describe", *seldom],
        ["trace", "convert", *read, "--speed=0.01", f"--out={stored}"],
        ["trace", "convert", *seldom, f"--out={stored}"],
    ):
        done = floatgate(*command, "-q")
        assert done.returncode == 2, (command, done.stderr)
        assert "error[trace::clock]" in done.stderr
        assert "146 years" in done.stderr
    assert not stored.exists()


def test_a_drive_that_is_behind_is_said_to_serve_and_not_to_be_asked(floatgate: Floatgate) -> None:
    little = ["--set=geometry.channels=1", "--set=geometry.chips-per-channel=1"]
    asked = ["--set=workload.requests=5000", "--set=workload.rate=100000"]
    done = floatgate("run", "agcr", "random-write", *little, *asked, "-q")
    assert done.returncode == 0, done.stderr
    assert "a second were served (" in done.stdout
    assert "a second arrived" not in done.stdout
