"""The page that a person reads."""

import re
from pathlib import Path
from typing import Any

import pytest

import floatgate
import sample
from floatgate import Advice, Result, words
from floatgate.result.values import OPERATIONS, SOURCES
from floatgate.text import comparison as comparison_text
from floatgate.text import explained, lifetime, lists, live
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
        "energy 26.75 J (read 1.5 J, program 20.25 J, erase 3 J, transfer 2 J)",
        "by source: host 14.75 J, gc 12 J; 16.25 nJ for each byte of the host",
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


def test_no_rate_and_no_sum_counts_the_addresses_of_trims(tmp_path: Path) -> None:
    """Two writes of 8 KiB and a read of 4 KiB carry 20 KiB; 3 GiB of trims carry nothing."""
    gib, requests = 1 << 30, [("write", 0, 8192), ("write", 8192, 8192), ("read", 0, 4096)]
    requests += [("trim", i << 30, gib) for i in range(3)]
    trace = tmp_path / "trims.iolog"
    lines = [f"{i} d {op} {at} {size}" for i, (op, at, size) in enumerate(requests)]
    trace.write_text("\n".join(["fio version 3 iolog", "0 d add", "0 d open", *lines, ""]))
    data = 2 * 8192 + 4096

    settings = {"host.out-of-range": "compact"}
    run = floatgate.run("modern-tlc-small", trace, set=settings)
    assert (run.host.all.bytes, run.host.trim.bytes) == (data, 3 * gib)
    rate = f"({words.size(data / run.simulated_seconds)}/s)"
    page = text.page(run)
    assert rate in page
    trims = {line.split()[0]: line.split()[2] for line in page.splitlines() if "  trim " in line}
    assert trims["trim"] == "-"
    assert "3.00 GiB of addresses" in page
    html = run._repr_html_()
    assert rate in html
    assert "<td>trim</td><td>3</td><td>-</td>" in html
    shown = floatgate.compare("modern-tlc-small", trace, set=settings, seed=[1, 2], workers=1)
    bars = comparison_text.page(shown, bars="host.all.bytes", first=["host.all.bytes"])
    assert bars.count("20.0 KiB") == 4  # in the table and beside the bars

    described = floatgate.describe(trace)
    of = described.requests
    assert (of.all.bytes, of.all.bytes_share, of.all.mean_bytes) == (data, 1, data / 3)
    assert of.read.bytes_share + of.write.bytes_share == 1
    assert of.trim.bytes_share is None
    line = next(line for line in str(described).splitlines() if line.split()[:1] == ["trim"])
    assert line.split() == ["trim", "3", "50.0", "%", "-", "-", "1.00", "GiB"]


def test_top_shows_no_throughput_of_trims() -> None:
    latency = dict.fromkeys(("mean", "p50", "p99", "p99_9", "max"), 1000)

    def status(now: int, count: int) -> dict[str, Any]:
        of = {"requests": count, "bytes": count * 10**6, "latency_ns": latency}
        return {
            "drive": "agcr", "state": "serving", "now_ns": now, "wall_seconds": 1.0, "clients": 1,
            "host": {"write": of, "trim": of}, "die_busy_ns": 0, "dies": 1, "inside_ns": 0,
            "waf": None, "erases": {"min": 0, "max": 0, "mean": 0.0}, "endurance": 3000,
            "free_blocks": 1, "unsafe_bytes": 0, "power_cuts": 0, "media_errors": 0, "host_full": 0,
        }  # fmt: skip

    page = live.page(status(0, 0), status(10**9, 7)).splitlines()
    shown = {line.split()[0]: line.split()[1:3] for line in page if line[:5] in ("write", "trim ")}
    assert shown == {"write": ["7", "7.0"], "trim": ["7", "-"]}


@pytest.mark.parametrize(("few", "shown"), [(1, "1"), (5, "5"), (999, "999"), (1_000, "")])
def test_rates_and_write_amplification_of_few_say_of_how_many(
    result: Result, few: int, shown: str
) -> None:
    plural = "" if few == 1 else "s"
    result.data["host"]["all"]["requests"] = few
    result.data["flash"]["program"]["host"] = few
    page = " ".join(text.page(result).split())
    assert (f"/s), from only {shown} request{plural}." in page) == bool(shown)
    told = page.count(f"amplification 1.830, from only {shown} page write{plural}")
    assert told == (2 if shown else 0)
    assert page.count("from only") == (3 if shown else 0)


def test_who_asked_nothing_is_told_no_rate(result: Result) -> None:
    """A server ends with a flush of its own, which takes the time of the write buffer."""
    for op in ("read", "write", "trim"):
        result.data["host"][op]["requests"] = 0
    flush = sample.host(1, 0, 4_000.0, 0.0)
    result.data["host"] |= {"flush": flush, "all": flush}
    result.data |= {"simulated_seconds": 4e-6, "waf": None}
    page = text.page(result)
    assert "No request read, wrote or trimmed anything." in page
    assert "a second" not in page
    assert re.search(r"^  flush +1 +- +- ", page, re.MULTILINE)


@pytest.mark.parametrize(("p99", "said"), [(799_999, True), (812_345, False), (10**7, False)])
def test_a_percentile_below_the_mean_is_explained(result: Result, p99: int, said: bool) -> None:
    result.data["host"]["write"]["latency_ns"] |= {"mean": 812_345.0, "p99": p99}
    result.data["host"]["read"]["latency_ns"]["p99"] = 10**7
    page = " ".join(text.page(result).split())
    assert (", below the mean, which the slowest 1 % raise." in page) == said


@pytest.mark.parametrize("above", [True, False])
def test_a_throttle_whose_mean_is_above_its_p99_is_explained(above: bool) -> None:
    """A page write takes 600 us, and with the throttle 5 ms on average."""
    delay = {"mean": 4_400_000, "p50": 0, "p99": 4_399_999 if above else 4_400_000, "max": 10**10}
    throttle = {
        "policy": "throttle=static:target=5y", "programmed_bytes_per_second": 1e6,
        "served_share": 0.5, "page_write_ns": 600_000, "page_response_ns": 5_000_000,
        "page_delay_ns": delay,
    }  # fmt: skip
    none = {"found": None, "why": "it is so"}
    data = {
        "reached": False, "target_years": 5.0, "why": None, "throttles": [throttle],
        "over_provisioning": none, "capacity": none, "runs": 0,
    }  # fmt: skip
    page = " ".join(lifetime.advised(Advice(data)).split())
    assert ("the mean of static is above its p99" in page) == above


def test_an_example_is_called_one() -> None:
    page = explained.page("config::conflict")
    assert "An example of several cases that have this code:\n  Wrong: --set" in page
    assert "An example" not in explained.page("waf-not-steady")


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
    host["latency_ns"] |= {"mean": 20_000, "p99": 91_000}
    told = {"requests": 12, "from_ns": 90_000, "delay_ns_by_cause": split | {"array": 1, "bus": 3}}
    host["slowest"] = told
    said = " ".join(text.page(result).split())
    assert "p99 91.0 us (the slowest 1.20 %: 75 % on the channel)" in said
    assert "Why p99 is high: the slowest requests by cause" in said
    assert "slowest: 1.20 % of reads (90.0 us or more)" in said
    # If half are as slow, there is no tail; and older results do not know.
    for slowest in (told | {"requests": 500}, None):
        host["slowest"] = slowest
        assert "p99 91.0 us. A write" in " ".join(text.page(result).split())
