"""Speeds and TBW of the included drives: shipped, and of the presets as they are."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import floatgate
from conftest import Floatgate
from floatgate import engine, lists, measured
from floatgate.policy.finder import Finder
from floatgate.text import lists as pages


def resolved(name: str, *settings: str) -> dict[str, Any]:
    told = engine.resolve(name, set=settings, policy=(), seed=None, finder=Finder())[1]
    found: dict[str, Any] = json.loads(told)
    return found


def quantity(text: str) -> float:
    """A time such as `40950ns` in seconds."""
    number = text.rstrip("nums")
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[text[len(number) :]]


def stale(known: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name in floatgate.drives():
        if name not in known:
            yield f"{name} was never measured"
        elif known[name]["digest"] != measured.digest(resolved(name)["config"]):
            yield f"{name} changed since it was measured"


def test_the_numbers_are_of_the_presets_as_they_are() -> None:
    wrong = [*stale(measured.drives())]
    assert not wrong, f"{', '.join(wrong)}: run `{measured.RENEW}`"
    assert set(measured.drives()) == set(floatgate.drives())
    # A preset that changes is noticed: any setting of it.
    known = measured.drives()
    for setting in ("timing.erase=1ms", "ftl.gc.stop=4", "reliability.endurance=7"):
        other = measured.digest(resolved("agcr", setting)["config"])
        assert measured.of("agcr", resolved("agcr", setting)["config"]) is None
        assert [*stale(known | {"agcr": known["agcr"] | {"digest": other}})] == [
            "agcr changed since it was measured"
        ]


@pytest.mark.parametrize("name", floatgate.drives())
def test_the_numbers_agree_with_the_drive(name: str) -> None:
    """TBW by its formula, and no die faster than its reads and programs allow."""
    drive, found = resolved(name), measured.drives()[name]
    config, shape = drive["config"], drive["config"]["geometry"]
    dies = shape["channels"] * shape["chips-per-channel"] * shape["dies-per-chip"]
    planes, page = dies * shape["planes-per-die"], drive["capacity"]["page_bytes"]
    rated = config["reliability"]["endurance"] * drive["capacity"]["physical_bytes"]
    # If it is a range, the least write amplification belongs to the greatest TBW.
    wafs, tbws = (
        [of] if isinstance(of, float) else of for of in (found["waf"], found["tbw_bytes"])
    )
    for waf, tbw in zip(sorted(wafs), sorted(tbws, reverse=True), strict=True):
        assert waf * tbw == pytest.approx(rated, rel=0.01)
        assert waf >= 1
    times = config["timing"]
    if not isinstance(times.get("read"), list | str):
        return  # by cost level
    least = {
        op: min(quantity(at) for at in ([times[op]] if isinstance(times[op], str) else times[op]))
        for op in ("read", "program")
    }
    at_once = planes if config["ftl"].get("multi-plane", "off") != "off" else dies
    assert 0 < found["read_iops"] <= 1.005 * at_once / least["read"]
    assert 0 < found["read_mb_per_s"] <= 1.005 * planes * page / least["read"] / 1e6
    assert 0 < found["write_mb_per_s"] <= 1.005 * planes * page / least["program"] / 1e6


def test_the_listing_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, floatgate: Floatgate
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the listing runs a drive")

    monkeypatch.setattr(engine, "run", refuse)
    facts = [lists.drive_facts(name) for name in lists.drives()]
    page = pages.drives(facts)
    assert "IOPS" in page
    assert measured.digest_of_all(measured.drives()) in page
    told = json.loads(floatgate("drives", "--json").stdout)["drives"]
    assert {each["name"]: each["measured"] for each in told} == measured.drives()


def test_a_drive_that_changed_since_shows_no_number() -> None:
    facts = [lists.drive_facts(name) for name in lists.drives()]
    facts[0]["measured"] = None
    page = pages.drives(facts)
    assert measured.RENEW in page
    rows = [line.split() for line in page.splitlines() if line.startswith(f"{facts[0]['name']} ")]
    assert ["-"] * 5 in [row[1:] for row in rows]
