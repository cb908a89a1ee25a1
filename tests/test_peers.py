"""`make bench-peers`: the files of others, their contents, a run beside a program that counts."""

import random
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import floatgate
from floatgate.migrate.convert import check, convert

sys.path.append(str(Path(__file__).parent.parent / "scripts"))

from peers import answers, files, plain, run, separation
from peers.answers import Counts


def test_the_files_of_the_others_are_of_the_same_drive(tmp_path: Path) -> None:
    ours = run.resolved(1024, 64)
    assert files.sectors(ours) * 512 == 32 * 1024 * 64 * 4096 * 7 // 8
    assert files.spare(ours) == 0.125
    written = files.mqsim(ours, "job.trace") | files.ssdsim(ours)
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "job.trace").write_text("0 0 0 8 1\n")
    # Read back by the converter of their files to ours, which was written apart.
    for given in (["ssdconfig.xml", "workload.xml"], ["page.parameters"]):
        (converted, *_) = convert(*(tmp_path / name for name in given))
        check(converted)
        name = next(name for name in converted.files if "workload" not in name)
        (tmp_path / name).write_text(converted.files[name])
        back = floatgate.resolve(tmp_path / name)
        keys = [key for key in ours["geometry"] if key != "bits-per-cell"]
        assert {key: back["geometry"][key] for key in keys} == {
            key: ours["geometry"][key] for key in keys
        }
        assert files.sectors(back) == files.sectors(ours)
        for key in ("read", "program", "erase"):
            assert files.nanoseconds(back["timing"][key]) == files.nanoseconds(ours["timing"][key])
        assert back["policies"]["victim"]["name"] == "greedy"
        assert back["ftl"]["gc"]["start"] == ours["ftl"]["gc"]["start"] == 51
        assert back["buffer"]["size"] == ours["buffer"]["size"] == "0B"


def test_a_trace_comes_round_in_a_smaller_drive_as_a_whole() -> None:
    frame = pl.DataFrame(
        {
            "time_ns": [0, 5, 6, 7],
            "op": ["read", "write-fua", "trim", "write"],
            "offset": [63 * 512, 1_000 * 512, 0, 4096],
            "size": [4096, 513, 4096, 0],
        }
    )
    folded = files.folded(frame, 808)
    # 800 sectors are left for where a request of at most 8 begins; nothing of size 0, no trims.
    assert folded.rows() == [(1, 0, 63, 8, 1), (6, 0, 200, 2, 0)]
    assert files.ascii_lines(folded) == b"1 0 63 8 1\n6 0 200 2 0\n"


def test_the_trace_for_ssdsim_has_a_read_a_write_and_a_last_line() -> None:
    made = files.for_ssdsim(b"1 0 63 8 1\n6 0 200 2 0\n").decode()
    assert made.splitlines() == [
        "0 0 0 8 0", "0 0 0 8 1", "1 0 63 8 1", "6 0 200 2 0", "1000000006 0 0 8 1",
    ]  # fmt: skip
    assert not made.endswith("\n")


def test_requests_that_are_made_up_are_pages_of_the_drive() -> None:
    frame = files.requests(1000, 20, True, 50, seed=1)
    assert frame["time_ns"].to_list() == [20 * n for n in range(1, 1001)]
    assert set(frame["sector"].to_list()) == {8 * page for page in range(50)}
    assert set(frame["read"].to_list()) == {0}


MQSIM = """<?xml version="1.0"?><MQSim_Results><Host><Host.IO_Flow><Name>x</Name>
<Request_Count>7</Request_Count><Read_Request_Count>3</Read_Request_Count>
<Write_Request_Count>4</Write_Request_Count></Host.IO_Flow></Host>
<SSDDevice><SSDDevice.FTL Issued_Flash_Read_CMD="9" Issued_Flash_Program_CMD="5"
Issued_Flash_Multiplane_Program_CMD="2" Issued_Flash_Suspend_Program_CMD="50"
Issued_Flash_Program_CMD_For_Mapping="60"/></SSDDevice></MQSim_Results>"""

SSDSIM = """program count:     999   include the flash write count leaded by read requests
read request count:   {reads}
write request count:  5
write flash count: {programs}
"""


def test_what_the_others_say_is_read() -> None:
    assert answers.of_mqsim(MQSIM) == Counts(3, 4, 7)
    assert answers.of_ssdsim(SSDSIM.format(reads=1, programs=10)) == Counts(0, 4, 9)
    assert answers.of_ssdsim(SSDSIM.format(reads=4, programs=10)) == Counts(3, 4, None)
    for wrong in ("", "<a/>", MQSIM.replace(">4<", ">four<")):
        with pytest.raises(ValueError, match="not a result of MQSim"):
            answers.of_mqsim(wrong)
    with pytest.raises(ValueError, match="lacks its read request count"):
        answers.of_ssdsim("write flash count: 1\nmulti read request count: 2")


PEER = """#!{python}
import sys
lines = [line.split() for line in open("job.trace")][{skip}:]
reads = sum(line[4] == "1" for line in lines)
open("workload_scenario_1.xml", "w").write(
    "<R><Host.IO_Flow><Read_Request_Count>%d</Read_Request_Count><Write_Request_Count>%d"
    "</Write_Request_Count></Host.IO_Flow><D.FTL Issued_Flash_Program_CMD='%d'/></R>"
    % (reads, len(lines) - reads, len(lines) - reads))
{end}
"""


def peer(path: Path, skip: int = 0, end: str = "") -> Path:
    """A program in the place of MQSim: it counts the lines of its trace and simulates nothing."""
    path.write_text(PEER.format(python=sys.executable, skip=skip, end=end))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_it_runs_side_by_side_and_tells_who_did_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--share=0.0001", "--rounds=2", "--only=empty", "--mqsim"]
    assert run.main([*words, str(peer(tmp_path / "same"))]) == 0
    said = capsys.readouterr()
    assert "| random writes, to an empty drive | 200 | " in said.out
    assert " x**) |" in said.out
    assert said.err == ""
    assert run.main([*words, str(peer(tmp_path / "less", skip=1))]) == 1
    assert "MQSim: 199 of 200 requests" in capsys.readouterr().err
    assert run.main([*words, str(peer(tmp_path / "ends", end="sys.exit('no such drive')"))]) == 1
    assert "MQSim: ended with code 1: no such drive" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run.main(["--share=1"])
    assert "nobody to compare with" in capsys.readouterr().err


def test_what_runs_is_the_least_of_processor_time() -> None:
    job = run.Job("a job", (64, 64), b"1 0 0 8 1\n2 0 0 8 0\n")
    counts = Counts(1, 1, 1)
    took = {
        "floatgate": run.Took([0.5, 0.2], counts=counts),
        "MQSim": run.Took([4.0, 6.0], counts=counts),
        "SSDSim": run.Took(failed="it stood still"),
    }
    line, wrong = run.row(job, took, [*took, "not taking part"])
    assert line == "| a job | 2 | 0.20 s | 4.00 s (**20.0 x**) | - |  |"
    assert wrong == ["a job, SSDSim: it stood still"]


@pytest.mark.parametrize("choices", [plain.SEPBITS, plain.FLOATGATES], ids=["sepbit", "floatgate"])
def test_plain_loops_move_nothing_in_order_and_little_at_random(choices: plain.Choices) -> None:
    in_order = [*range(400)] * 5
    draw = random.Random(3)
    at_random = [*range(400), *(draw.randrange(400) for _ in range(4000))]
    for scheme, *_ in separation.SCHEMES:
        for victim, _ in separation.VICTIMS:
            waf = plain.waf(in_order, 20, scheme, victim, 0.15, choices)
            assert waf == 1.0, "a segment empties before it is the best victim"
    # A victim has at most as many valid pages as the mean segment, of which 15 % are garbage.
    assert 1 < plain.waf(at_random, 20, "NoSep", "Greedy", 0.15, choices) < 1 / 0.15


def collected(pages: int, choices: plain.Choices, writes: int) -> dict[int, int]:
    """The number of the segment that each write collects, if any.

    A segment has one page, so its number is that of its write. Every page is written, and then the
    first one again and again.
    """
    store = plain.Store(pages, 1, "NoSep", "Greedy", 0.5, choices)
    found = {}
    for write in range(writes):
        before = {store.number[each] for each in store.closed}
        store.write(write if write < pages else 0)
        gone = before - {store.number[each] for each in store.closed}
        if gone:
            (found[write],) = gone
    return found


def test_equal_victims_go_by_the_order_of_a_hash_table() -> None:
    # Beside four valid pages there may be four invalid ones. The fifth copy leaves at write 8: of
    # the copies 0 and 4 to 7 the first. All segments fit a table of 16, so number 16 is the first
    # in it, 17 the second, and 28 has the place of 12, which came there before it.
    found = collected(4, plain.SEPBITS, 32)
    assert found == {
        8: 0,
        **{write: write - 5 for write in range(9, 17)},
        **{write: write - 1 for write in range(17, 29)},
        **{29: 12, 30: 28, 31: 13},
    }
    # With eight pages and up to nine copies the table has 32 places.
    found = collected(8, plain.SEPBITS, 35)
    assert found == {16: 0, **{write: write - 9 for write in range(17, 33)}, 33: 32, 34: 33}
    # By address: write 44 is the first without a new address. It gets that of write 0, so its copy
    # is the next to leave. Before a write its last copy is valid, so two more of them stay.
    found = collected(4, plain.FLOATGATES, 47)
    assert found == {10: 0, **{write: write - 7 for write in range(11, 45)}, 45: 44, 46: 45}


@pytest.fixture(scope="module")
def repeated() -> NDArray[np.int64]:
    """A short recording again and again, as in the table: one choice changes all that follow."""
    draw = np.random.default_rng(3)
    once = np.concatenate([np.arange(1_000), draw.zipf(1.3, 1_500) % 1_000])
    return np.tile(once.astype(np.int64), 3)


@pytest.mark.parametrize("victim", separation.VICTIMS, ids=lambda pair: pair[0])
def test_with_its_choices_the_loop_gives_the_last_digit_of_floatgate(
    repeated: NDArray[np.int64], victim: tuple[str, str]
) -> None:
    for scheme, _, ours in separation.SCHEMES:
        args = (repeated.tolist(), 20, scheme, victim[0], separation.GARBAGE)
        waf = separation.by_garbage(ours, victim[1], repeated, 20)
        assert waf == plain.waf(*args, plain.FLOATGATES), scheme
        assert waf > 1.05
        assert waf != plain.waf(*args, plain.SEPBITS), "the choices matter here"


def test_each_choice_changes_a_number(repeated: NDArray[np.int64]) -> None:
    def wafs(choices: plain.Choices) -> list[float]:
        each = [("SepBIT", "Greedy"), ("SepBIT", "CostBenefit"), ("DAC", "CostBenefit")]
        return [plain.waf(repeated.tolist(), 20, *one, 0.15, choices) for one in each]

    ours = wafs(plain.FLOATGATES)
    for name, theirs in vars(plain.SEPBITS).items():
        assert wafs(replace(plain.FLOATGATES, **{name: theirs})) != ours, name


def test_the_comparison_fails_if_a_loop_differs_from_its_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the place of both simulators: the loops, times a factor for one scheme."""
    factors = {"theirs": 1.0, "ours": 1.0}
    names = {ours: name for name, _, ours in separation.SCHEMES}
    victims = {ours: name for name, ours in separation.VICTIMS}

    def loop(whose: str, scheme: str, victim: str, pages: Any, slots: int) -> float:
        choices = plain.SEPBITS if whose == "theirs" else plain.FLOATGATES
        waf = plain.waf(pages.tolist(), slots, scheme, victim, separation.GARBAGE, choices)
        return waf * factors[whose] if scheme == "DAC" else waf

    class Peer:
        def __init__(self, *_: object) -> None: ...

        def waf(self, scheme: str, classes: int, victim: str, pages: Any, slots: int) -> float:
            return round(loop("theirs", scheme, victim, pages, slots), 6)

    def by_garbage(separated: str, victim: str, pages: Any, slots: int) -> float:
        return loop("ours", names[separated], victims[victim], pages, slots)

    ((name, pages), *_) = separation.made_up(400, 2)
    monkeypatch.setattr(separation, "SepBIT", Peer)
    monkeypatch.setattr(separation, "by_garbage", by_garbage)
    monkeypatch.setattr(separation, "SEGMENTS", 20)
    monkeypatch.setattr(separation, "recorded_lists", lambda folders: iter(()))
    monkeypatch.setattr(separation, "made_up", lambda *_: [(name, pages)])
    (tmp_path / "target" / "classes").mkdir(parents=True)
    words = ["--sepbit", str(tmp_path)]
    assert separation.main(words) == 0
    table, alone = capsys.readouterr().out.split("\n\n")
    assert len(table.splitlines()) == 2 + 8
    assert {line.count("|") for line in table.splitlines()} == {7}
    assert {line.count("|") for line in alone.splitlines()} == {len(vars(plain.SEPBITS)) + 3}
    for whose, factor in (("theirs", 1.00001), ("ours", 1 + 1e-8)):
        factors[whose] = factor
        assert separation.main(words) == 1, whose
        factors[whose] = 1.0


def test_numbers_of_the_other_simulator_may_differ_by_one_per_cent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert separation.compared("near", 2.0, 2.01)
    assert not separation.compared("far", 2.0, 2.1)
    assert separation.compared("explained", 2.0, 2.1, (2.0, 2.1))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[3].strip() for line in lines] == ["", "", "2.000000"]
