"""The page that a person reads."""

import re

import floatgate
import sample
from floatgate import Result, words
from floatgate.result.values import OPERATIONS, SOURCES
from floatgate.text import lists
from floatgate.text import result as text


def test_every_part_of_a_result_is_told_in_80_columns(result: Result) -> None:
    page = text.page(result)
    assert max(map(len, page.splitlines())) <= words.page_width()
    for said in (
        "agcr, msr:hm_0 [stand-in]\n",
        "seed 1; 300,000 requests in 2.00 h of drive time",
        "write amplification 1.830",
        "waiting behind gc",
        "812 us",
        "erases per block: 3 to 9",
        "fixed (level medium): programs 366,000",
        "Checks passed",
        "3 bad records skipped",
        "[few-samples]",
        "57.6 GiB of 64.0 GiB exported",
        "energy 26.75 J (read 1.5, program 20.25, erase 3, transfer 2)",
        "of its operations: host 14.75, gc 12; 16.25 nJ for each byte of the host",
    ):
        assert said in page, said


def test_the_rates_say_what_they_are_rates_of(result: Result) -> None:
    page = " ".join(text.effort(result).split())
    assert (
        "simulated in 420 ms of wall time (410 ms of processor time); "
        "5.30 M page op/s and 1.25 M requests/s of wall time, once preconditioned"
    ) in page
    result.data["timing"] |= {"cpu_seconds": None, "requests_per_second": None}
    page = " ".join(text.effort(result).split())
    assert page.endswith("420 ms of wall time; 5.30 M page op/s of wall time, once preconditioned")


def test_the_chips_are_told_in_80_columns() -> None:
    known = floatgate.chips()
    assert len(known) == 13
    page = lists.chips(known)
    assert max(map(len, page.splitlines())) <= words.page_width()
    for chip in known:
        assert f"\n{chip['name']} " in page
        details = lists.chip(floatgate.chips(chip["name"])[0])
        assert max(map(len, details.splitlines())) <= words.page_width(), details
        assert "Sources" in details
    details = lists.chip(floatgate.chips("c-mlc64")[0])
    for said in (
        "pages 0, 1, 3, 5, 7, 9 ..., 125 hold first bits",
        "WOM-safe: 64 of 128",
        "program 327-1418 us",
        "measured.program-per-bit 0.66nJ/2.86nJ",
        "derived: Grupp Table 3, energy of a read over its peak power:",
    ):
        assert said in details, said


def test_the_write_buffer_is_told_where_there_is_one(result: Result) -> None:
    assert "write buffer" not in text.page(result)
    counts = {"absorbed": 0, "read_hits": 7, "flushed": 9_000, "waited": 5, "left": 0}
    result.data["buffer"] = {"pages": 192, "most": 192, "drain_ns": 1_500_000, **counts}
    page = " ".join(text.page(result).split())
    assert (
        "write buffer: 192 of 192 pages taken at most; sent 9,000, reads answered 7, "
        "writes that waited 5; emptied 1.50 ms after the last request"
    ) in page
    assert "absorbed" not in page


def test_what_did_not_happen_is_left_out(result: Result) -> None:
    page = text.page(result)
    for said in ("trim", "reprogram", "throttled", "refresh", "bad 0"):
        assert said not in page, said


def test_large_counts_still_fit(result: Result) -> None:
    for kind in ("read", "program", "reprogram", "erase"):
        result.data["flash"][kind] = dict.fromkeys([*SOURCES, "total"], 123_456_789_012)
    for op in OPERATIONS:
        result.data["host"][op]["requests"] = 123_456_789_012
        result.data["host"][op]["bytes"] = 10**15 - 1
        for key in result.data["host"][op]["latency_ns"]:
            result.data["host"][op]["latency_ns"][key] = 123.4e12
    page = text.page(result)
    assert max(map(len, page.splitlines())) <= words.page_width()
    assert "123 G" in page


def test_a_run_without_requests_or_energy_has_a_page(result: Result) -> None:
    for op in OPERATIONS:
        result.data["host"][op]["requests"] = 0
    result.data |= {"energy_joules": None, "waf": None, "warnings": [], "simulated_seconds": 0.0}
    page = text.page(result)
    assert "Warnings" not in page
    assert "energy" not in page


def test_a_worn_out_drive_and_a_failed_check_are_seen(result: Result) -> None:
    result.data["end"] = {
        "state": "worn-out",
        "at_ns": 3_600_000_000_000,
        "reason": "no block left",
        "work_left": None,
    }
    result.data["checks"]["passed"] = None
    page = text.page(result)
    assert "Ended at 60.0 min, worn-out: no block left" in page
    assert "Checks passed, but for those that do not apply" in page
    assert "left to do" not in page
    result.data["checks"]["passed"] = False
    assert "CHECKS FAILED" in text.page(result)


def test_what_is_left_to_do_is_told(result: Result) -> None:
    page = " ".join(text.page(result).split())
    assert "left to do at the end: page moves 96, erases 1, 50.0 ms of die time" in page


def test_colour_only_when_asked_for(result: Result) -> None:
    plain, colour = text.page(result), text.page(result, colour=True)
    assert "\033" not in plain
    assert "\033" in colour
    assert re.sub(r"\033\[\d*m", "", colour) == plain


def test_durations_change_units_where_they_should() -> None:
    shown = [words.duration(ns) for ns in (0, 999, 1000, 999_499, 5e8, 119e9, 120e9, 9e12, 1e15)]
    assert shown == [
        "0 ns", "999 ns", "1.00 us", "999 us", "500 ms", "119 s", "2.00 min", "2.50 h", "11.6 d",
    ]  # fmt: skip


def test_the_answer_says_why_p99_is_high(result: Result) -> None:
    # Of 1,000 reads 12 took 90 us or more: 1 us in the array and 3 us on the channel of each 4.
    host = result.data["host"]["read"]
    split = sample.result()["host"]["flush"]["delay_ns_by_cause"]
    host["requests"] = 1_000
    host["latency_ns"]["p99"] = 91_000
    told = {"requests": 12, "from_ns": 90_000, "delay_ns_by_cause": split | {"array": 1, "bus": 3}}
    host["slowest"] = told
    said = " ".join(text.page(result).split())
    assert "p99 91.0 us (the slowest 1.20 %: 75 % on the channel)" in said
    assert "Why p99 is high: the slowest requests by cause" in said
    assert "read 1.20 % from 90.0 us on" in said
    # Where half are as slow, that is no tail; and older results do not know.
    for slowest in (told | {"requests": 500}, None):
        host["slowest"] = slowest
        assert "p99 91.0 us. A write" in " ".join(text.page(result).split())
