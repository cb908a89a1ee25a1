"""How long does a drive last? The command, the same in Python, and the page."""

import io
import json
import random
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import Floatgate
from floatgate import InputError, Result
from floatgate.cli.progress import Progress
from floatgate.text import lifetime as lifetime_text
from floatgate.text import result as text

SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 32,
    "ftl.spare-factor": 0.3,
    "workload.requests": 20_000,
    "workload.read-share": 0.5,
    "workload.arrivals": "{ constant = { iops = 100 } }",
}
WORN = SMALL | {
    "reliability.initial-cycles": 2900,
    "reliability.initial-rest": "10h",
    "reliability.initial-retention": "1y",
}
WORDS = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def worn() -> Result:
    return floatgate.lifetime("agcr", "random-write", target="3y", set=WORN)


def test_a_life_follows_from_what_was_simulated(worn: Result) -> None:
    life = worn.lifetime
    physical, exported = worn.capacity.physical_bytes, worn.capacity.logical_bytes
    written = life.simulated.host_bytes_written
    per_day = written / life.simulated.seconds * 86_400
    assert life.waf == worn.waf
    assert life.host_bytes_per_day == pytest.approx(per_day)
    tbw = 3000 * physical / worn.waf
    assert life.rated.tbw_bytes == pytest.approx(tbw)
    assert life.rated.dwpd == pytest.approx(tbw / (365 * 3 * exported))
    assert life.rated.years == pytest.approx(tbw / per_day / 365)
    assert life.with_recovery.years >= life.rated.years
    assert life.target.years == 3
    assert life.simulated.cycles.before == 2900
    assert life.simulated.effective_cycles.mean < 2900
    assert worn.provenance.config.reliability.target == "3y"


def test_errors_reach_latency_counts_and_tables(worn: Result, tmp_path: Path) -> None:
    assert worn.host.read.delay_ns_by_cause.ecc == 0, "after ten hours of rest nothing errs"
    tired = WORN | {"reliability.initial-rest": "0s", "reliability.initial-cycles": 2950}
    result = floatgate.lifetime("agcr", "random-write", set=tired, out=tmp_path)
    ecc = result.host.read.delay_ns_by_cause.ecc
    assert ecc > 0
    requests = result.requests()
    read = requests.filter(requests["operation"] == "read")
    assert read["ecc_ns"].mean() == pytest.approx(ecc)
    assert read.filter(read["ecc_ns"] > 0)["ecc_ns"].min() == 100_000
    assert result.series()["ecc_ns"].sum() == requests["ecc_ns"].sum()
    seen = result.lifetime.simulated.pages_read_by_sensings
    assert seen["3"] > 0
    assert sum(seen.values()) == result.flash.read.total - result.flash.unmapped_reads


def test_the_pages_say_what_was_simulated_and_what_follows(worn: Result) -> None:
    page = lifetime_text.page(worn)
    for words in (
        "Cells, as simulated",
        "Life, extrapolated",
        "recovery (printed)",
        "after 3 years",
        "JESD218",
        "enterprise",
    ):
        assert words in page
    for whole in (page, text.page(worn)):
        assert max(map(len, whole.splitlines())) <= 80
    assert "Cells, as simulated" in text.page(worn)
    off = floatgate.run("agcr", "random-write", set={"workload.requests": 200})
    assert "Cells" not in text.page(off)


# ── Enough evidence or none ─────────────────────────────────────────────────────────────────────

NEW = SMALL | {"workload.read-share": 0.0, "workload.requests": 30_000}


def life(workload: object, own: dict[str, object]) -> Any:
    return floatgate.lifetime("agcr", str(workload), set=NEW | own).lifetime


def trace(folder: Path, pages: Iterable[int], page: int = 4096) -> Path:
    """Writes of pages, a millisecond apart."""
    rows = (f"{n * 1_000_000} 0 {p * 8} {page // 512} 0" for n, p in enumerate(pages))
    path = folder / "writes.ascii"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("own", "fill", "age"),
    [
        ({}, "full", "workload"),
        ({"precondition.age": "random"}, "full", "random"),
        ({"precondition.age": "none"}, "full", "none"),
        ({"precondition.fill": "none"}, "none", "workload"),
    ],
)
def test_a_drive_is_full_and_aged_by_its_workload_unless_somebody_says_otherwise(
    own: dict[str, object], fill: str, age: str
) -> None:
    result = floatgate.lifetime("agcr", "random-write", set=NEW | {"workload.requests": 50} | own)
    assert result.provenance.config.precondition == {"fill": fill, "age": age}


def test_a_drive_that_ages_by_its_file_keeps_to_it(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'schema = "floatgate.drive/1"\nname = "own"\nsummary = "ages by itself"\nbase = "agcr"\n'
        '[precondition]\nfill = "touched"\nage = "random"\n[sources]\nprecondition = "assumed"\n'
    )
    own = NEW | {"workload.requests": 50, "workload.read-share": 0.5}
    result = floatgate.lifetime(path, "random-write", set=own)
    assert result.provenance.config.precondition == {"fill": "touched", "age": "random"}


@pytest.mark.parametrize(
    ("workload", "own"),
    [
        ("random-write", {}),
        ("random-write", {"workload.span": "1MiB"}),
        pytest.param("zipf", {"workload.size": "2KiB"}, marks=pytest.mark.verify),
        ("hot-cold", {}),
    ],
)
def test_years_do_not_hang_on_the_state_before_the_run(
    workload: str, own: dict[str, object]
) -> None:
    """With any ageing: the same years, or a range that contains them."""
    wanted = life(workload, own)
    assert wanted.why is None
    assert wanted.simulated.waf_steady
    for age in ("random", "none"):
        # Of a long run the beginning is a small part; of a short one it is all there is.
        for requests in (3_000, 30_000, 300_000):
            asked = own | {"precondition.age": age, "workload.requests": requests}
            other = life(workload, asked)
            if other.why is None:
                assert other.rated.years == pytest.approx(wanted.rated.years, rel=0.25), asked
            else:
                for term in (other.rated, other.with_recovery):
                    assert term.years is term.tbw_bytes is term.dwpd is None
                target = other.target
                assert target.used is target.cycles is other.cycle_hours is None
                ends = other.range.years
                assert ends.low <= wanted.rated.years <= ends.high, asked
                agree = (ends.low >= target.years) == (ends.high >= target.years)
                assert target.reached == (ends.low >= target.years if agree else None)
    # A run that writes all flash again and again makes its own state, unless data stay in the
    # order in which they were filled.
    long = own | {"workload.requests": 300_000}
    assert life(workload, long | {"precondition.age": "random"}).why is None
    assert "stays as it was filled" in life(workload, long | {"precondition.age": "none"}).why


@pytest.mark.parametrize(
    ("own", "steady", "why"),
    [
        ({"precondition.age": "none", "workload.requests": 100}, None, "the drive was new"),
        ({"precondition.age": "none", "workload.requests": 5_000}, None, "too few for a mean"),
        ({"precondition.age": "none", "workload.requests": 16_000}, False, "the drive was new"),
        ({"workload.requests": 100}, None, "the run is too short for a drive of this size"),
        (
            {"precondition.age": "random", "workload.span": "16MiB", "workload.requests": 6_000},
            False,
            "too short to bring it to the state that this workload leaves",
        ),
        (
            {"precondition.age": "random", "precondition.fill": "none", "workload.requests": 90},
            None,
            "precondition.age found no pages to overwrite",
        ),
    ],
)
def test_with_little_evidence_there_is_a_range_with_its_reason(
    own: dict[str, object], steady: bool | None, why: str
) -> None:
    result = floatgate.lifetime("agcr", "random-write", target="3y", set=NEW | own)
    found = result.lifetime
    assert found.simulated.waf_steady is steady
    assert why in found.why
    assert found.rated.years is None
    low, high = found.range.years.low, found.range.years.high
    assert 0 < low <= high
    # Years and bytes at the two write amplifications, by the formulas of docs/physics.md.
    most, least = (
        3000 * result.capacity.physical_bytes / found.range.waf[end] for end in ("low", "high")
    )
    assert (found.range.tbw_bytes.low, found.range.tbw_bytes.high) == pytest.approx((least, most))
    # The most counts to the request that would be next, the least to the last one only.
    n = result.provenance.workload.requests
    assert high == pytest.approx(most / found.host_bytes_per_day / 365 * n / (n - 1))
    assert low == pytest.approx(least / found.host_bytes_per_day / 365, rel=0.05)
    page = lifetime_text.page(result)
    first = " ".join(page.split())
    assert re.search(r"The drive lasts [\d.,]+ to [\d.,]+ years", first)
    assert f"It is a range because {found.why}" in first
    if "precondition.age" in own:
        return
    assert high <= 2 * low
    more = re.search(r"`--set (workload.requests)=(\d+)` is enough", found.why)
    assert more is not None, found.why
    enough = floatgate.lifetime(
        "agcr", "random-write", target="3y", set=NEW | own | {more[1]: int(more[2])}
    ).lifetime
    assert enough.why is None
    assert low <= enough.rated.years <= high


def test_without_writes_nothing_wears() -> None:
    own = {"workload.read-share": 1.0, "workload.requests": 500}
    result = floatgate.lifetime("agcr", "random-write", target="3y", set=NEW | own)
    found = result.lifetime
    assert "nothing was written" in found.why
    assert found.range is None
    advice = floatgate.advise(result, "agcr", "random-write", set=NEW | own)
    assert (advice.reached, advice.years, advice.why, advice.runs) == (None, None, found.why, 0)
    page = lifetime_text.page(result, advice)
    assert f"No life can be extrapolated: {found.why}" in " ".join(page.split())
    assert "To reach" not in page


@pytest.mark.parametrize("drive", ["agcr", "c-mlc64", "modern-tlc-small"])
def test_more_of_a_trace_gives_years_within_the_range_of_less(drive: str, tmp_path: Path) -> None:
    """The named `--repeat` is enough, and its result was possible before."""
    order = random.Random(4)
    pages = [order.randrange(4_000) for _ in range(1_500)] * 2
    own = {"geometry.blocks-per-plane": 96, "ftl.spare-factor": 0.3}
    if drive == "agcr":
        own |= {"geometry.channels": 2, "geometry.chips-per-channel": 2}
    path = trace(tmp_path, pages[: 200 if drive == "agcr" else None] * 2, 16_384)
    short = floatgate.lifetime(drive, path, set=own).lifetime
    assert short.why is not None
    low, high = short.range.years.low, short.range.years.high
    assert high <= 2 * low
    more = re.search(r"`--repeat (\d+)` is enough", short.why)
    assert more is not None, short.why
    long = floatgate.lifetime(drive, path, set=own, repeat=int(more[1])).lifetime
    assert long.why is None
    assert low <= long.rated.years <= high


@pytest.mark.parametrize(
    ("drive", "enough"), [("c-mlc64", 400_000), ("modern-tlc-small", 1_000_000)]
)
def test_a_drive_that_sets_the_pace_has_the_years_of_a_long_run_in_its_range(
    drive: str, enough: int
) -> None:
    """Without times the first requests are taken quickly, before anything is collected.

    On an aged drive, too, they are quicker than later ones, by up to a tenth. Its planes collect at
    times that become independent of one another only after several drive writes.
    """
    own = {"geometry.blocks-per-plane": 24, "ftl.spare-factor": 0.4}
    short, long = (
        floatgate.lifetime(drive, "random-write", set=own | {"workload.requests": n}).lifetime
        for n in (5_000, enough)
    )
    assert long.why is None
    if short.why is None:
        assert short.waf == pytest.approx(long.waf, rel=0.02)
        assert short.rated.years == pytest.approx(long.rated.years, rel=0.1)
    else:
        assert short.range.years.low <= long.rated.years <= short.range.years.high


def test_the_page_says_how_much_of_the_workload_it_is_from(tmp_path: Path) -> None:
    order = random.Random(1)
    pages = [order.randrange(11_000) for _ in range(3_000)]
    page = " ".join(lifetime_text.page(run_on(trace(tmp_path, pages))).split())
    assert "Extrapolated from 3.00 s of the workload" in page
    assert "WARNING: that is less than a day" in page
    assert page.index("WARNING") < page.index("Life, extrapolated")
    twice = " ".join(lifetime_text.page(run_on(trace(tmp_path, pages), repeat=2)).split())
    assert "Extrapolated from 3.00 s of the workload, repeated 2 times" in twice
    # A generator follows its settings, for a run of any length.
    generated = " ".join(lifetime_text.page(floatgate.lifetime("agcr", "zipf", set=NEW)).split())
    assert "Extrapolated from 300 s" in generated or "Extrapolated from 5.00 min" in generated
    assert "WARNING" not in generated
    # A day and more needs no warning.
    slow = [f"{n * 60 * 10**9} 0 {p * 8} 8 0" for n, p in enumerate(pages)]
    path = tmp_path / "slow.ascii"
    path.write_text("\n".join(slow) + "\n")
    assert "WARNING" not in lifetime_text.page(run_on(path))


def run_on(path: Path, **reading: Any) -> Result:
    return floatgate.lifetime("agcr", path, set=NEW, **reading)


def test_requests_beyond_the_drive_are_packed_unless_somebody_says_otherwise(
    tmp_path: Path,
) -> None:
    order = random.Random(1)
    far = [order.randrange(4_000) + 10**7 for _ in range(3_000)]
    result = run_on(trace(tmp_path, far))
    assert result.provenance.workload.out_of_range == "compact"
    wide = [n * 256 for n in range(3_000)]  # an extent of 1 MiB for each
    assert run_on(trace(tmp_path, wide)).provenance.workload.out_of_range == "wrap"
    refusing = NEW | {"host.out-of-range": "refuse"}
    with pytest.raises(InputError, match="beyond the drive"):
        floatgate.lifetime("agcr", trace(tmp_path, far), set=refusing)


def test_a_trace_says_nothing_of_pages_that_it_writes_once(tmp_path: Path) -> None:
    """They die when the trace is repeated, in the order in which they were written."""
    scattered = [n * 4001 % 11_000 for n in range(11_000)]
    once = life(trace(tmp_path, scattered), {})
    assert once.simulated.waf_steady is False
    assert "only 0.0 % of the workload's page writes overwrite" in once.why
    half = life(trace(tmp_path, scattered[:2750] * 4), {})
    assert half.why is None


def test_a_trace_need_not_be_the_same_all_along(tmp_path: Path) -> None:
    """One pass must agree with the next; morning and evening need not."""
    order = random.Random(1)
    pages = [order.randrange(11_000) for _ in range(25_000)] + [n % 64 for n in range(25_000)]
    whole = floatgate.lifetime("agcr", str(trace(tmp_path, pages)), set=NEW)
    assert whole.lifetime.why is None
    assert "waf-not-steady" not in [warning["code"] for warning in whole.warnings]
    twice = floatgate.lifetime("agcr", str(trace(tmp_path, pages)), set=NEW, repeat=2)
    assert twice.lifetime.rated.years == pytest.approx(whole.lifetime.rated.years, rel=0.02)


def test_the_page_names_years_first_and_no_rate_that_nobody_could_see(worn: Result) -> None:
    page = lifetime_text.page(worn)
    years, tb = worn.lifetime.rated.years, worn.lifetime.rated.tbw_bytes / 1e12
    said = " ".join(page.splitlines()[1:4])
    found = re.match(r"The drive lasts ([\d.]+) years(?: \(.*?\))?, ([\d.]+) TB written", said)
    assert found, "the first line below the title"
    assert float(found[1]) == pytest.approx(years, rel=1e-3)
    assert float(found[2]) == pytest.approx(tb, rel=1e-3)
    assert page.index("Life") < page.index("Cells, as simulated")
    for exponent in re.findall(r"e-(\d+)", page):
        assert int(exponent) <= 20
    assert "wear is taken to be even (nothing levels it: policy wear=none)" in " ".join(
        page.split()
    )
    levelled = floatgate.lifetime("agcr", "random-write", set=WORN, policy={"wear": "static"})
    assert "wear is taken to be even\n" in lifetime_text.page(levelled)


def test_years_need_no_model_of_the_cells(floatgate: Floatgate) -> None:
    """They follow from rated cycles and write amplification; the page names the missing facts."""
    few = ("--set", "workload.requests=5000")
    small = ("--set", "geometry.blocks-per-plane=24", "--set", "ftl.logical-capacity=1GB", *few)
    done = floatgate("lifetime", "modern-tlc-small", "random-write", "--no-advice", *small)
    assert (done.returncode, done.stderr) == (0, "")
    flat = " ".join(done.stdout.split())
    assert re.search(r"The drive lasts [\d.,]+ (to [\d.,]+ )?years", flat)
    assert "Not applied: retention, errors and recovery, because `pages.program`" in flat
    assert "JESD218" not in flat
    # An option that the user types is the user's mistake.
    typed = ("--set", "reliability.model=on")
    done = floatgate("lifetime", "modern-tlc-small", "random-write", *small, *typed)
    assert done.returncode == 2
    assert "pages.program" in done.stderr
    wrong = floatgate("lifetime", "modern-tlc-small", "random-write", "--set", "ftl.gc.start=x")
    assert "--set argument 1" in wrong.stderr
    assert "reliability.model" not in wrong.stderr


def test_a_model_that_is_off_changes_no_years() -> None:
    on = floatgate.lifetime("agcr", "random-write", set=SMALL)
    off = floatgate.lifetime("agcr", "random-write", set=SMALL | {"reliability.model": "off"})
    assert off.lifetime.not_modelled == "`reliability.model` is off"
    assert on.lifetime.not_modelled is None
    # Reading takes longer where errors are corrected, so that a few blocks are collected later.
    assert off.lifetime.rated.years == pytest.approx(on.lifetime.rated.years, rel=0.01)
    assert off.lifetime.rated.tbw_bytes == pytest.approx(on.lifetime.rated.tbw_bytes, rel=0.01)
    for key in ("with_recovery", "end_of_life", "jesd218"):
        assert off.data["lifetime"][key] is None
        assert on.data["lifetime"][key] is not None
    assert off.run_id != on.run_id
    page = lifetime_text.page(off)
    assert "Wear, as simulated" in page
    assert max(map(len, page.splitlines())) <= 80


def test_a_run_that_names_years_is_not_the_run_of_the_same_drive() -> None:
    life = floatgate.lifetime("agcr", "random-write", set=SMALL)
    own = SMALL | {
        "reliability.model": "on",
        "precondition.fill": "full",
        "precondition.age": "workload",
    }
    run = floatgate.run("agcr", "random-write", set=own)
    assert run.provenance.config_hash == life.provenance.config_hash
    assert run.run_id != life.run_id
    assert "range" not in run.data["lifetime"]


def test_the_command_prints_a_page_or_one_object(floatgate: Floatgate) -> None:
    done = floatgate("lifetime", "agcr", "random-write", "--target", "3y", "--no-advice", *WORDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "TBW" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "To reach" not in done.stdout
    done = floatgate("lifetime", "agcr", "random-write", "--no-advice", *WORDS, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert data["schema"] == "floatgate.lifetime/1"
    assert data["advice"] is None
    assert data["lifetime"]["target"]["years"] == 5
    assert data["provenance"]["config"]["reliability"]["model"] == "on"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--target", "5"), "write it as text with its unit"),
        (("--target", "1min"), "`reliability.target` is 1min"),
        (("--recovery", "some"), "it is printed (the constants in READY's text) or fitted"),
        (("--set", "reliability.initial-cycles=3000"), "worn out before the run"),
    ],
)
def test_wrong_input_is_explained(floatgate: Floatgate, words: tuple[str, ...], says: str) -> None:
    done = floatgate("lifetime", "agcr", "random-write", "--json", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


# ── Ways to reach a target ──────────────────────────────────────────────────────────────────────

TIGHT = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 48,
    "ftl.spare-factor": 0.15,
    "workload.requests": 20_000,
    "workload.arrivals": "{ constant = { iops = 60 } }",
}
"""Written for 1.5 times as long as it stands."""


@pytest.fixture(scope="module")
def tight() -> Result:
    free = floatgate.lifetime("ready-32g", "random-write", set=TIGHT)
    hours = round(free.lifetime.rated.years * 365 * 24 * 1.5)
    return floatgate.lifetime("ready-32g", "random-write", target=f"{hours}h", set=TIGHT)


@pytest.fixture(scope="module")
def advice(tight: Result) -> floatgate.Advice:
    target = tight.provenance.config.reliability.target
    return floatgate.advise(
        tight, "ready-32g", "random-write", set=TIGHT | {"reliability.target": target}
    )


def test_throttles_that_keep_the_target_are_slower_by_what_they_hold_back(
    tight: Result, advice: floatgate.Advice
) -> None:
    assert not advice.reached
    assert [each["policy"].partition(":")[0] for each in advice.throttles] == [
        "throttle=static",
        "throttle=dynamic",
    ]
    target = tight.lifetime.target.years * 365 * 86_400
    for each in advice.throttles:
        # All rated cycles are spread over the target, and less than the demand is served by this
        # factor.
        rate = each["programmed_bytes_per_second"]
        assert rate == pytest.approx(3000 * tight.capacity.physical_bytes / target, rel=0.01)
        share = tight.lifetime.rated.years / tight.lifetime.target.years
        assert each["served_share"] == pytest.approx(share, rel=0.02)
        # 60 pages a second: writes that are not served wait.
        waited = (1 / each["served_share"] - 1) / 60 * 1e9
        assert each["page_response_ns"] - each["page_write_ns"] == pytest.approx(waited, rel=0.01)


def test_drives_that_reach_the_target_are_the_least_that_do(
    tight: Result, advice: floatgate.Advice
) -> None:
    years = tight.lifetime.target.years
    spare, capacity = advice.over_provisioning.found, advice.capacity.found
    for found in (spare, capacity):
        assert years <= found["years"] < 1.2 * years
        assert found["waf"] < tight.waf
    assert spare["physical_bytes"] == tight.capacity.physical_bytes
    assert spare["exported_bytes"] < tight.capacity.logical_bytes
    assert capacity["exported_bytes"] == pytest.approx(tight.capacity.logical_bytes, rel=1e-3)
    # They agree with a run of just that drive, and a little less does not reach the target.
    for change, reaches in ((0.0, True), (-0.02, False)):
        own = {"ftl.spare-factor": round(spare["spare_factor"] + change, 4)}
        life = floatgate.lifetime("ready-32g", "random-write", set=TIGHT | own).lifetime
        assert (life.rated.years >= years) == reaches
    own = {"geometry.blocks-per-plane": capacity["blocks_per_plane"] - 2}
    less = 1 - capacity["exported_bytes"] / (
        capacity["physical_bytes"] * (1 - 2 / capacity["blocks_per_plane"])
    )
    own["ftl.spare-factor"] = less
    life = floatgate.lifetime("ready-32g", "random-write", set=TIGHT | own).lifetime
    assert life.rated.years < years


def test_the_search_says_which_drive_of_how_many_it_runs(
    floatgate: Floatgate, tight: Result, advice: floatgate.Advice
) -> None:
    words = [word for key, value in TIGHT.items() for word in ("--set", f"{key}={value}")]
    target = tight.provenance.config.reliability.target
    done = floatgate("lifetime", "ready-32g", "random-write", *words, "--target", target, "--json")
    assert (done.returncode, done.stderr) == (0, ""), "a program listens"
    assert json.loads(done.stdout)["advice"] == advice.data
    done = floatgate("lifetime", "ready-32g", "random-write", *words, "--target", target)
    lines = done.stderr.splitlines()
    assert len(lines) == advice.runs
    most = {int(line.partition(" of at most ")[2].partition(":")[0]) for line in lines}
    assert len(most) == 1
    assert len(lines) <= most.pop() <= 14
    for n, line in enumerate(lines):
        assert line.startswith(f"4/4 advice {n + 1} of at most ")
    assert "a spare factor of" in lines[0]
    assert "blocks in a plane" in lines[-1]
    done = floatgate("lifetime", "ready-32g", "random-write", *words, "--target", target, "--quiet")
    assert done.stderr == ""


def test_on_a_terminal_the_line_of_progress_names_the_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    progress = Progress()
    progress.candidate(3, 11, "a spare factor of 0.2")
    progress("running", 50, 100, 10**9)
    line = screen.getvalue().rpartition("\033[K")[2]
    assert line.startswith("advice 3 of at most 11: a spare factor of 0.2  running  50 %")
    assert "\n" not in screen.getvalue()
    assert len(line) < shutil.get_terminal_size().columns


def test_the_page_says_what_reaches_the_target(tight: Result, advice: floatgate.Advice) -> None:
    page = lifetime_text.page(tight, advice)
    assert max(map(len, page.splitlines())) <= 80
    flat = " ".join(page.split())
    found = advice.over_provisioning.found
    assert f"spare factor {found['spare_factor']:.3f}" in flat
    assert "more flash, exporting" in flat
    assert "erases of a block in this run" in flat


def test_what_cannot_be_reached_is_said(floatgate: Floatgate) -> None:
    words = [word for key, value in TIGHT.items() for word in ("--set", f"{key}={value}")]
    done = floatgate("lifetime", "ready-32g", "random-write", *words, "--target", "90d", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    advice = json.loads(done.stdout)["advice"]
    # Three months are tens of times its endurance.
    assert "even without moving a page" in advice["over_provisioning"]["why"]
    assert "times the flash" in advice["capacity"]["why"]
    assert advice["runs"] == 0
    assert len(advice["throttles"]) == 2
    untimed = words[: words.index("workload.arrivals={ constant = { iops = 60 } }") - 1]
    untimed += ["--set", "workload.requests=100000"]
    done = floatgate("lifetime", "ready-32g", "random-write", *untimed, "--quiet")
    assert done.returncode == 0
    assert "have no times" in done.stdout


def test_recovery_counts_when_it_is_asked_for() -> None:
    rates = {"workload.arrivals": "{ constant = { iops = 2 } }", "workload.requests": 4_000}
    own = TIGHT | rates
    counted = floatgate.lifetime(
        "ready-32g", "random-write", recovery="fitted", target="2d", set=own
    )
    life = counted.lifetime
    assert counted.provenance.config.reliability.recovery == life.with_recovery.model == "fitted"
    assert life.rated.years < life.with_recovery.years
    # A third of an hour between two cycles is less than Table 2 of READY knows of.
    assert not life.with_recovery.supported
    page = lifetime_text.page(counted, counts_recovery=True)
    assert "beyond what the recovery model has support for" in page
    for recovery, years in ((None, life.rated.years), ("fitted", life.with_recovery.years)):
        found = floatgate.advise(counted, "ready-32g", "random-write", recovery=recovery, set=own)
        assert (found.years, found.reached, found.runs) == (years, True, 0)
    with pytest.raises(InputError, match="leave it out to count rated cycles"):
        floatgate.lifetime("ready-32g", "random-write", recovery="both")
