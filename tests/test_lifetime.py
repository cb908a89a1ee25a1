"""How long does a drive last? The command, the same in Python, and the page."""

import json
from pathlib import Path

import pytest

import floatgate
from conftest import Floatgate
from floatgate import InputError, Result, lifetime_text, text

SMALL = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 32,
    "ftl.spare-factor": 0.3,
    "precondition.fill": "full",
    "precondition.age": "random",
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
        "Life, extrapolated at this rate",
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


def test_a_workload_without_writes_wears_nothing() -> None:
    reads = SMALL | {"workload.read-share": 1.0, "workload.requests": 500}
    result = floatgate.lifetime("agcr", "random-write", set=reads)
    assert result.lifetime.rated.years is None
    assert "no life can be extrapolated" in lifetime_text.page(result)


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
        (("--set", "reliability.model=off"), "leave out `reliability.model=off`"),
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


def test_python_says_the_same_of_a_model_that_is_off() -> None:
    with pytest.raises(InputError, match="needs the model of the cells"):
        floatgate.lifetime("agcr", "random-write", set={"reliability.model": "off"})


# ── What reaches a target ───────────────────────────────────────────────────────────────────────

TIGHT = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 48,
    "ftl.spare-factor": 0.15,
    "precondition.age": "random",
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
        # All rated cycles are spread over the target, and so much less than the demand is served.
        rate = each["programmed_bytes_per_second"]
        assert rate == pytest.approx(3000 * tight.capacity.physical_bytes / target, rel=0.01)
        share = tight.lifetime.rated.years / tight.lifetime.target.years
        assert each["served_share"] == pytest.approx(share, rel=0.02)
        # 60 pages a second: what is not served is waited for.
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
    # They are what a run of just that drive says, and a little less does not reach it.
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
    # Three months are tens of times what it stands.
    assert "even without write amplification" in advice["over_provisioning"]["why"]
    assert "times the flash" in advice["capacity"]["why"]
    assert advice["runs"] == 0
    assert len(advice["throttles"]) == 2
    untimed = words[: words.index("workload.arrivals={ constant = { iops = 60 } }") - 1]
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
