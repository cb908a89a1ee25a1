"""The measurement of the LDPC code: its law, its frames, and the results that are committed."""

import json
import random
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from conftest import Floatgate
from floatgate import engine
from floatgate.reproduce.studies import ldpc
from floatgate.reproduce.studies.ldpc import shown
from floatgate.reproduce.studies.ldpc.fit import fitted

COMMITTED = Path(__file__).parent.parent / "docs" / "ldpc" / "ldpc.json"


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(COMMITTED.read_text())
    assert value["schema"] == ldpc.SCHEMA
    return value


def test_the_law_is_found_again_within_its_interval() -> None:
    normal, draw = NormalDist(), random.Random(1)
    half, slope = 9.2e-3, 0.055
    rates = [0.0098, 0.0093, 0.0089, 0.0085, 0.0080, 0.0076, 0.004]
    shares = [normal.cdf((rate / half - 1) / slope) for rate in rates]
    expected = half * (1 + slope * normal.inv_cdf(0.01))
    within = 0
    for _ in range(100):
        points = [
            {"rber": rate, "frames": n, "failed": sum(draw.random() < share for _ in range(n))}
            for rate, share, n in zip(
                rates, shares, [200, 200, 200, 500, 500, 500, 100], strict=True
            )
        ]
        fit = fitted(points)
        rate, low, high = fit.where(0.01)
        assert rate == pytest.approx(expected, rel=0.03)
        assert low < rate < high
        assert fit.share(rate) == pytest.approx(0.01)
        within += low <= expected <= high
    # 95 % are to be within; fewer than 86 of 100 come by chance once in ten thousand times.
    assert within >= 86


def test_a_law_needs_two_points_that_tell() -> None:
    nothing = [{"rber": 1e-3, "frames": 10, "failed": 0}, {"rber": 2e-3, "frames": 10, "failed": 3}]
    with pytest.raises(ValueError, match="two points"):
        fitted(nothing)


def test_the_frames_do_not_depend_on_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = {
        1: [(9.6e-3, 80), (8.8e-3, 80)],
        3: [(2e-2, 80), (1.86e-2, 80)],
        7: [(2.2e-2, 80), (2.08e-2, 80)],
    }
    monkeypatch.setattr(ldpc, "GRID", grid)
    monkeypatch.setattr(ldpc, "QUICK", 1)
    monkeypatch.setattr(ldpc, "_CHUNK", {"lanes": 30})
    seen: list[tuple[int, int]] = []
    one = ldpc.measure(quick=True, out=tmp_path / "1", workers=1)
    two = ldpc.measure(
        quick=True, out=tmp_path / "2", workers=2, progress=lambda *at: seen.append(at)
    )
    assert one.data == two.data
    assert seen[-1] == (480, 480)
    assert {path.name for path in one.files} >= {"ldpc.json", "ldpc.md"}
    points = [p for curve in one.data["curves"] for p in curve["points"]]
    assert sum(p["frames"] for p in points) == 480
    assert 40 < sum(p["failed"] for p in points) < 440
    for p in points:
        assert p["raw_error_rate"] == pytest.approx(p["rber"], rel=0.03)
        assert p["interval"][0] < p["failure_rate"] < p["interval"][1]
    assert "Correctable raw bit error rate" in one.text


def test_agcrs_levels_follow_from_the_table_in_use() -> None:
    """AGCR's Table 1: writes of 800, 600 and 450 µs, reads of 70, 170 and 310 µs."""
    table = json.loads(engine.ldpc_levels([4e-3, 7e-3, 1e-2]))
    assert table["table"] == [4e-3, 7e-3, 1e-2]
    assert [p["write_us"] for p in table["pairs"]] == pytest.approx([800, 600, 450])
    assert [p["read_us"] for p in table["pairs"]] == pytest.approx([70, 170, 310])
    # The widest step that a way of sensing allows is at least the one that it is paired with.
    for pair, widest in zip(table["pairs"], table["widest"], strict=True):
        assert widest["read_us"] == pair["read_us"]
        assert widest["write_us"] <= pair["write_us"]


def test_what_is_committed_is_whole(committed: dict[str, Any]) -> None:
    assert committed["quick"] is False
    assert committed["base"] == dict(ldpc.BASE)
    assert committed["code"]["data_bits"] == 8 * 4096
    assert 0.88 <= committed["code"]["rate"] <= 0.93
    assert committed["code"]["cycles"]["4"] == 0
    for curve in committed["curves"]:
        counted = [(p["rber"], p["frames"]) for p in curve["points"]]
        assert counted == [tuple(point) for point in ldpc.GRID[curve["sensings"]]]
        for p in curve["points"]:
            low, high = engine.ldpc_interval(p["failed"], p["frames"])
            assert p["interval"] == pytest.approx([low, high])
            # Errors are independent, so that their number has the variance of the law.
            bits = p["frames"] * committed["code"]["bits"]
            assert abs(p["raw_errors"] - bits * p["rber"]) < 5 * (bits * p["rber"]) ** 0.5
        again = fitted(curve["points"])
        assert again.data() == pytest.approx(curve["fit"])
        # The law describes the counts: beyond this once in a thousand times.
        assert curve["fit"]["chi_square"] < {2: 13.8, 3: 16.3, 4: 18.5}[again.degrees]
    names = [variant.name for variant in ldpc.VARIANTS]
    assert list(dict.fromkeys(v["name"] for v in committed["variants"])) == names
    # The tables that are committed are those of these numbers.
    assert (COMMITTED.parent / "ldpc.md").read_text() == shown.markdown(committed)


def test_what_is_committed_comes_out_again(committed: dict[str, Any]) -> None:
    """The first frames of a point, within the exact interval (99.9 %) of its whole."""
    curve = committed["curves"][1]
    point = curve["points"][1]
    rber, frames = point["rber"], 200
    request = ldpc.request(curve["sensings"], rber, f"curve/{curve['sensings']}/{rber}")
    counts = json.loads(engine.ldpc_frames(json.dumps(request), 0, frames))
    rate = point["failure_rate"]
    deviation = (frames * rate * (1 - rate)) ** 0.5
    assert abs(counts["failed"] - frames * rate) < 3.3 * deviation + 1
    assert counts["failed"] > 0


def test_it_reads_no_traces(floatgate: Floatgate) -> None:
    done = floatgate("reproduce", "ldpc", "--traces", ".")
    assert done.returncode == 2
    assert "reads no traces" in done.stderr
    assert "did you mean `ldpc`" in floatgate("reproduce", "ldpd").stderr


@pytest.mark.verify
def test_the_quick_form_gives_the_curves(tmp_path: Path) -> None:
    made = ldpc.measure(quick=True, out=tmp_path)
    limits = [curve["correctable"]["1e-2"]["rber"] for curve in made.data["curves"]]
    assert limits == pytest.approx([8.2e-3, 1.74e-2, 2.0e-2], rel=0.03)
