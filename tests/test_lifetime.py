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
    done = floatgate("lifetime", "agcr", "random-write", "--target", "3y", *WORDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "TBW" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    done = floatgate("lifetime", "agcr", "random-write", *WORDS, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert data["schema"] == "floatgate.lifetime/1"
    assert data["lifetime"]["target"]["years"] == 5
    assert data["provenance"]["config"]["reliability"]["model"] == "on"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--set", "reliability.model=off"), "leave out `reliability.model=off`"),
        (("--target", "5"), "write it as text with its unit"),
        (("--target", "1min"), "`reliability.target` is 1min"),
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
