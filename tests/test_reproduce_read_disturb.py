"""The quick form of `reproduce read-disturb`, without any trace at hand, and what it is made of."""

import json
from pathlib import Path

import numpy as np
import pytest

from floatgate import run as run_drive
from floatgate.reproduce.runner import Reproduction, known, reproduce
from floatgate.reproduce.studies.read_disturb import (
    DIES,
    FACTOR,
    LENGTHS,
    SEED,
    SPARE,
    blocks_for,
    figures,
    order,
    workloads,
)
from floatgate.reproduce.studies.read_disturb.runs import ALL, DOMINATED, SCHEMES, Erases, Run, Runs
from floatgate.reproduce.studies.read_disturb.why import ENDURED, needed
from floatgate.reproduce.studies.read_disturb.workloads import EXTENT, PAGE, Requests, Sample
from floatgate.workloads.convert import convert
from reproduced import quick, sheet


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return quick("read-disturb", tmp_path_factory)


def results(made: Reproduction) -> list[Run]:
    return [Run(run) for run in made.report.runs.runs]


# ── The runs ────────────────────────────────────────────────────────────────────────────────────


def test_limits_are_those_of_the_paper_by_the_factor() -> None:
    limits = set()
    for run in known()["read-disturb"].planned():
        name, _, params = run.part.policy["read-disturb"].partition(":")
        values = dict(param.split("=") for param in params.split(":"))
        limits.add(int(values["limit"]))
        assert ("low-limit" in values) == (name in ("hot-low-density", "ipr"))
        assert int(values.get("low-limit", 10 * 10_000 // FACTOR)) == 100_000 // FACTOR
    assert limits == {10_000 // FACTOR}


def test_the_series_has_the_erases_that_the_scheme_counts(made: Reproduction) -> None:
    assert len(results(made)) == len(SCHEMES)
    for run in results(made):
        whole = run.erases(0, 1)
        assert whole.refresh == run.counter("erases_for_refresh") > 100
        assert whole.other == pytest.approx(run.counter("other_erases"))
        assert whole.all == run.result.flash.erase.total
        first, second = run.erases(0, 0.5), run.erases()
        assert first.refresh + second.refresh == pytest.approx(whole.refresh)
        assert run.result.provenance.workload.stand_in
        assert run.result.capacity.logical_bytes >= 17e9 / FACTOR, "the volume of Table II"


def test_the_sheet_has_what_the_results_say(made: Reproduction) -> None:
    rows = sheet(made, "Figure 9a").rows
    assert [row[1] for row in rows] == list(SCHEMES)
    base = results(made)[0].erases()
    for row, run in zip(rows, results(made), strict=True):
        assert row[0] == "Websearch [stand-in]"
        assert row[5] == f"{run.erases().refresh / base.refresh:.3f}"
        assert row[2] == f"{run.erases().refresh / base.all:.3f}"


def test_low_density_takes_refreshes_away(made: Reproduction) -> None:
    ratios = {row[1]: float(row[5]) for row in sheet(made, "Figure 9a").rows}
    # RedFTL changes how long a refresh takes, not how many there are.
    assert ratios["RedFTL"] == pytest.approx(1, abs=0.05)
    assert ratios["IPR"] < 0.8
    assert ratios["HotLD"] < 0.9
    (row,) = sheet(made, "Why: how reads").rows
    assert row[0] == "SRC, 99 % of the reads on 1 % [stand-in]"
    assert row[2] != ""


def test_every_number_of_a_stand_in_is_marked(made: Reproduction) -> None:
    rows = [row for table in made.report.tables for row in table.rows]
    assert len(rows) > 8
    measured = [row for row in rows if row.ours is not None]
    assert [r.where for r in measured if not r.stand_in] == ["III.E"], "memory needs no workload"


def test_what_a_short_form_cannot_measure_it_does_not(made: Reproduction) -> None:
    rows = [row for table in made.report.tables for row in table.rows]
    for row in rows:
        if row.ours is None:
            assert row.note, f"{row.what}: why is it not measured here?"
        elif row.what.startswith("IPR rate"):
            assert isinstance(row.ours, float)
            assert 0 <= row.ours <= 1, "a block is reprogrammed once between two erases"
    (best,) = (row for row in rows if row.what.startswith("IPR, for refresh, best"))
    assert best.ours is None, "one workload has no best of six"
    assert figures._settled_rate(1.75, 400) == (
        None,
        "1.75 came out: blocks that were reprogrammed are yet to be erased",
    )
    assert figures._settled_rate(0.5, 99) == (None, "99 erases in the pool are too few")
    assert figures._settled_rate(0.5, 100) == (0.5, "")
    assert all("[stand-in]" in row[0] for row in sheet(made, "Figure 9a").rows)
    text = json.dumps([table.title for table in made.report.tables])
    assert "Response times" in text


# ── The order of schemes ────────────────────────────────────────────────────────────────────────


class Counted(Run):
    """A run that has these erases."""

    def __init__(self, refresh: float, other: float) -> None:
        self._erases = Erases(refresh, other)

    def erases(self, begin: float = 0.5, end: float = 1.0) -> Erases:
        return self._erases


def test_claims_hold_within_a_tie() -> None:
    erases = {
        "Baseline": (1000, 100),
        "RedFTL": (1060, 105),
        "RL": (1100, 106),
        "HotLD": (500, 90),
        "IPR": (524, 100),
    }
    counted: dict[tuple[str, str], Run] = {
        (workload, scheme): Counted(*counts)
        for workload in ("SRC", "ADS")
        for scheme, counts in erases.items()
    }
    runs = Runs(counted | {("ADS", "IPR"): Counted(400, 100)})
    found = {(c.words, c.workload): c.holds for c in order.claims(runs)}
    assert found["rrGC: IPR at most as HotLD", "SRC"], "524 is a tie with 500"
    assert not found["rrGC: IPR as HotLD", "ADS"], "400 is not the same as 500"
    assert found["rrGC: HotLD at most as RL", "SRC"]
    assert found["rrGC: RL at most as RedFTL", "SRC"]
    assert not found["rrGC: RedFTL as Baseline", "SRC"]
    assert found["wGC: RedFTL at most as Baseline", "SRC"]
    assert not found["wGC: RL at most as Baseline", "SRC"]
    assert len(found) == 2 * (4 + 4)


def test_the_share_of_reads_that_a_reduction_takes() -> None:
    # All reads on blocks that are erased after eleven limits leave an eleventh of the erases.
    assert needed(-(1 - 1 / ENDURED)) == pytest.approx(1)
    assert needed(-0.85) == pytest.approx(0.935)


# ── The workloads ───────────────────────────────────────────────────────────────────────────────


def sample(reads: int, writes: int, seed: int = 1) -> Sample:
    rng = np.random.default_rng(seed)
    n = reads + writes
    requests = Requests(
        np.arange(n, dtype=np.uint64) * np.uint64(1000),
        rng.permutation(np.repeat([0, 1], [reads, writes])).astype(np.uint8),
        rng.integers(0, 64 * EXTENT // PAGE, n).astype(np.uint64) * np.uint64(PAGE),
        np.full(n, 4096, np.uint32),
    )
    return Sample(requests, n * 1000, 64 * EXTENT, (reads, writes), {"requests": n})


def test_each_read_has_its_turn_and_writes_are_always_there() -> None:
    whole = sample(800, 50)
    parts = list(workloads.rounds(whole, 8, 4, 8 * (50 + 100) - 1, 3))
    assert len(parts) == 8
    times = np.concatenate([part.time for part in parts])
    assert (np.diff(times.astype(np.int64)) >= 0).all()
    assert times[-1] <= 8 * whole.length_ns // 4
    reads = [part.at(np.flatnonzero(part.op == 0)) for part in parts]
    assert all((part.op == 1).sum() == 50 for part in parts)
    assert all(60 < len(part.op) < 140 for part in reads), "drawn anew in every round"
    everything = np.sort(np.concatenate([part.offset for part in reads]))
    assert (everything == np.sort(whole.requests.offset[whole.requests.op == 0])).all()


def test_one_extent_of_so_many_is_kept(tmp_path: Path) -> None:
    # Extent e is read e % 4 times and written once, but for one phase, which is written far more.
    lines = []
    for e in range(32):
        lines += [f"R,{e * EXTENT + 4096},4096"] * (1 + (e % 4 == 3))
        lines += [f"W,{e * EXTENT},512"] * (5 if e % 4 == 2 else 2)
    file = tmp_path / "some.csv"
    file.write_text("\n".join(lines) + "\n")
    workload = tmp_path / "some.parquet"
    convert(file, workload, columns="op=1,offset=2:bytes,size=3:bytes", format="csv")
    found = workloads.sampled(str(workload), 4, {}, None)
    # Reads by phase are 8, 8, 8 and 16 of 40, writes 16, 16, 40 and 16 of 88: the first is nearest
    # to a quarter.
    requests = found.requests
    assert len(requests.op) == 8 * 3
    assert set((requests.offset // EXTENT).tolist()) == set(range(8)), "side by side"
    assert set((requests.offset[requests.op == 0] % EXTENT).tolist()) == {4096}
    assert found.traffic == (40, 88)


def test_a_share_of_the_reads_gathers() -> None:
    whole = sample(20_000, 1000)
    found = workloads.concentrated(whole, 0.9, 1 / 16, 4 * EXTENT, 1)
    reads = found.requests.op == 0
    extents = np.bincount((found.requests.offset[reads] // (4 * EXTENT)).astype(int), minlength=16)
    assert extents.max() / extents.sum() == pytest.approx(0.9 + 0.1 / 16, abs=0.01)
    same = found.requests.offset[~reads] == whole.requests.offset[~reads]
    assert same.all(), "writes stay where they are"


def test_drives_hold_their_volumes() -> None:
    for volume in (10**9, 123_456_789_012):
        for planes in (1, 2, 8):
            blocks = blocks_for(volume, planes)
            room = blocks * planes * workloads.BLOCK * PAGE * (1 - SPARE)
            assert volume <= room < volume + planes * workloads.BLOCK * PAGE
    assert DIES**2 == FACTOR, "a quarter of the dies with a quarter of the blocks each"


@pytest.mark.verify
def test_the_paper_at_full_length(tmp_path: Path) -> None:
    whole = reproduce("read-disturb", out=tmp_path, traces=tmp_path)
    runs = Runs.of(whole.report.runs)
    assert runs.there(ALL) == list(ALL)
    order_of_four = ("IPR at most as HotLD", "HotLD at most as RL", "RL at most as RedFTL")
    found = [c for c in order.claims(runs) if c.words.removeprefix("rrGC: ") in order_of_four]
    assert len(found) == 3 * len(DOMINATED) - 1, "on ADS IPR is said to be as HotLD"
    assert [claim for claim in found if not claim.holds] == []


@pytest.mark.verify
def test_a_sixteenth_says_what_the_whole_says(tmp_path: Path) -> None:
    """Websearch with nothing made smaller, for as many refreshes a block as a sixteenth has in
    375,000 requests: the same erases for refresh by Baseline's, and the same mean read."""
    length = {"workload.duration": LENGTHS["umass:websearch1"]}
    found = {}
    for factor, dies, repeat, count in ((1, 1, 16, 6_000_000), (FACTOR, DIES, 1, 375_000)):
        sample = workloads.sampled("umass:websearch1", factor, length, [tmp_path])
        path = tmp_path / f"{factor}.parquet"
        workloads.write(sample, factor, dies, count, SEED, path)
        channels = 8 // dies
        for name, more in (("refresh", ""), ("ipr", f":low-limit={100_000 // factor}")):
            made = run_drive(
                "read-disturb",
                path,
                policy={
                    "victim": "stable-greedy",
                    "wear": "static",
                    "read-disturb": f"{name}:limit={10_000 // factor}{more}",
                },
                set={
                    "geometry.channels": channels,
                    "geometry.chips-per-channel": 1,
                    "geometry.blocks-per-plane": blocks_for(sample.volume, channels),
                    "run.keep-requests": False,
                },
                repeat=repeat,
                record=["series"],
                out=tmp_path / f"{factor}-{name}",
            )
            found[factor, name] = Run(made)
    whole, part = (
        found[f, "ipr"].erases().refresh / found[f, "refresh"].erases().refresh for f in (1, FACTOR)
    )
    assert found[1, "refresh"].erases().refresh > 5_000
    assert whole == pytest.approx(part, rel=0.08)
    for name in ("refresh", "ipr"):
        assert found[1, name].read_ns == pytest.approx(found[FACTOR, name].read_ns, rel=0.08)
