"""Drives scaled down: pages, JSON, reports and refusals, and a drive of 16 TB."""

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate import Experiment

SMALL = ["--set", "workload.requests=20_000", "--set", "precondition.fill=full"]

DRIVE = """schema = "floatgate.drive/1"
base = "agcr"
scale = "1/4"
[geometry]
channels = 1
chips-per-channel = 2
"""


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(DRIVE.replace('scale = "1/4"\n', ""))
    return path


def test_a_page_shows_what_was_scaled_and_from_what(drive: Path, floatgate: Floatgate) -> None:
    whole = json.loads(floatgate("run", drive, "random-write", *SMALL, "--json").stdout)
    assert whole["scale"] is None
    words = ["run", drive, "random-write", *SMALL, "--scale", "1/8"]
    found = json.loads(floatgate(*words, "--json").stdout)
    scale = found["scale"]
    assert (scale["of"], scale["blocks_per_plane"]["whole"]) == (8, 512)
    for name in ("physical_bytes", "logical_bytes"):
        assert scale[name]["whole"] == whole["capacity"][name]
        assert scale[name]["simulated"] == found["capacity"][name]
    assert found["host"]["all"]["requests"] == 2_500
    blocks = scale["blocks_per_plane"]["simulated"]
    page = floatgate(*words).stdout
    assert f"scaled down to 1/8: {blocks} of 512 blocks of each plane" in page
    # The resolved drive is that of the whole, with its scale, and gives the same run again.
    config = found["provenance"]["config"]
    assert config["scale"] == "1/8"
    assert config["geometry"] == whole["provenance"]["config"]["geometry"]


def test_the_key_of_a_drive_file_is_the_option(
    drive: Path, tmp_path: Path, floatgate: Floatgate
) -> None:
    path = tmp_path / "scaled.toml"
    path.write_text(DRIVE)
    found = [
        json.loads(floatgate("run", *words, "random-write", *SMALL, "--json").stdout)
        for words in ([path], [drive, "--scale", "1/4"])
    ]
    assert found[0]["scale"] == found[1]["scale"]
    assert found[0]["host"] == found[1]["host"]


def test_comparisons_take_several_scales(drive: Path, tmp_path: Path, floatgate: Floatgate) -> None:
    words = [
        "compare",
        drive,
        "random-write",
        *SMALL,
        "--scale",
        "1/1,1/4",
        "--out",
        tmp_path / "c",
    ]
    found = json.loads(floatgate(*words, "--json").stdout)
    assert [run["scale"] and run["scale"]["of"] for run in found["runs"]] == [None, 4]


def test_experiments_have_the_key_and_sweep_replaces_it(
    drive: Path, tmp_path: Path, floatgate: Floatgate
) -> None:
    path = tmp_path / "e.toml"
    path.write_text(
        'schema = "floatgate.experiment/1"\nname = "e"\ndrive = "small.toml"\n'
        'workload = "random-write"\nscale = ["1/2", "1/4"]\nset."workload.requests" = 8000\n'
    )
    found = json.loads(floatgate("sweep", path, "--out", tmp_path / "a", "--json").stdout)
    assert [run["scale"]["of"] for run in found["runs"]] == [2, 4]
    words = ["sweep", path, "--scale", "1/8", "--out", tmp_path / "b", "--report", "--json"]
    found = json.loads(floatgate(*words).stdout)
    assert [run["scale"]["of"] for run in found["runs"]] == [8]
    report = (tmp_path / "b/report.html").read_text()
    assert "scaled down to 1/8" in report
    wrong = Experiment("x", drive=str(drive), workload="random-write", scale="2/3")
    with pytest.raises(fg.ConfigError, match="1/16"):
        wrong.sweep(out=tmp_path / "c")


def test_a_lifetime_is_that_of_the_whole_drive(drive: Path, floatgate: Floatgate) -> None:
    words = ["lifetime", drive, "random-write", "--no-advice", "--set", "workload.requests=400_000"]
    words += ["--set", "workload.rate=500"]
    whole, part = [
        json.loads(floatgate(*words, *more, "--json").stdout)["lifetime"]
        for more in ([], ["--scale", "1/4"])
    ]
    for name in ("tbw_bytes", "years"):
        ours, theirs = (_ends(life, name) for life in (part, whole))
        assert ours == pytest.approx(theirs, rel=0.05), name
    page = floatgate(*words, "--scale", "1/4").stdout
    assert "Years and bytes are those of the whole drive" in " ".join(page.split())


def _ends(life: dict[str, Any], name: str) -> list[float]:
    found = life["rated"][name]
    ends = life["range"] and life["range"][name]
    return [found, found] if found is not None else [ends["low"], ends["high"]]


def test_sessions_and_forecasts_refuse_a_scaled_drive(drive: Path) -> None:
    with pytest.raises(fg.InputError, match="a session moves no addresses"):
        fg.Session(str(drive), set={"scale": "1/4", "precondition.fill": "full"})
    with pytest.raises(fg.InputError, match="shortens the life of a block"):
        fg.fast_forward(str(drive), "random-write", set={"scale": "1/4"})


def test_flows_are_sampled_as_a_whole(drive: Path, floatgate: Floatgate) -> None:
    words = ["run", drive, "--flow", "a=random-write", "--flow", "b=random-read", *SMALL]
    found = json.loads(floatgate(*words, "--scale", "1/4", "--json").stdout)
    sample, requests = found["scale"]["sample"], found["scale"]["requests"]
    assert requests["whole"] == 40_000
    assert requests["simulated"] == pytest.approx(10_000, rel=0.15)
    assert sample["faster"] == pytest.approx(4, rel=0.15)


def test_an_estimate_counts_the_scaled_drive(drive: Path, floatgate: Floatgate) -> None:
    def memory(*more: str) -> int:
        words = ["run", drive, "random-write", *SMALL, *more, "--json"]
        return int(json.loads(floatgate(*words).stdout)["capacity"]["physical_bytes"])

    assert memory("--scale", "1/8") < memory() / 7


SIXTEEN = """schema = "floatgate.drive/1"
base = "modern-qlc-coarse"
[geometry]
channels = {channels}
chips-per-channel = {chips}
[ftl]
over-provisioning = 0.28
[precondition]
fill = "full"
age = "random"
[host]
mode = "queue-depth"
queue-depth = 256
[workload]
size = "16KiB"
requests = {requests}
"""


def _measured(text: str, folder: Path, *more: str) -> tuple[dict[str, Any], float, int]:
    """A run in a process of its own: the result, seconds of processor time, bytes of memory."""
    path = folder / "drive.toml"
    path.write_text(text)
    words = [sys.executable, "-m", "floatgate", "run", str(path), "random-write", "--json", *more]
    out = folder / "out.json"
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        os.environ["FLOATGATE_CACHE"] = str(folder / "cache")
        with out.open("w") as to:
            os.dup2(to.fileno(), 1)
        os.execv(sys.executable, words)
    _, status, used = os.wait4(child, 0)
    assert status == 0
    return json.loads(out.read_text()), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


@pytest.mark.verify
def test_a_drive_of_16_tb_is_like_one_of_1_tb(tmp_path: Path) -> None:
    # 107 GB of each die: 152 dies export 16 TB, 10 export 1.08 TB. A die gets 400,000 writes.
    text = SIXTEEN.format(channels=38, chips=4, requests=1_216_000_000)
    large, seconds, memory = _measured(text, tmp_path, "--scale", "1/20")
    assert large["scale"]["logical_bytes"]["whole"] > 16e12
    assert "scaled-too-far" not in [w["code"] for w in large["warnings"]]
    assert seconds <= 1200, "ten minutes on two cores"
    assert memory <= 4 << 30
    text = SIXTEEN.format(channels=5, chips=2, requests=4_000_000)
    small, _, _ = _measured(text, tmp_path)
    assert 1e12 < small["capacity"]["logical_bytes"] < 1.2e12
    assert large["waf"] == pytest.approx(small["waf"], rel=0.01)
