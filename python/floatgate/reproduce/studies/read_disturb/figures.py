"""What the paper shows, beside what came out."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from floatgate.report.model import Finding, Plot, Sheet, Table
from floatgate.reproduce.studies.read_disturb.runs import (
    ALL,
    BASELINE,
    DOMINATED,
    SCHEMES,
    Run,
    Runs,
    mean,
    percent,
    ratio,
)

RATES = {"MDS": 0.21, "ADS": 0.35, "PROJ": 0.34, "SRC": 0.78, "WEB": 0.81, "Websearch": 0.95}
"""Reprograms for each erase in the pool (section IV.C)."""

MS = 10**6
BINS = (0, 50, 100, 150, 200, 250, 350, 500, 1000)
"""Response times in ms, from each to the next; the last has no end."""


def tables(runs: Runs) -> list[Table]:
    """The numbers that the paper gives."""
    found = [
        Table("Figure 2: refresh among all erases", list(_figure_2(runs)), _FIGURE_2),
        Table("Figure 9: erases", list(_figure_9(runs)), _FIGURE_9),
        Table("Response times of Websearch", list(_responses(runs)), _RESPONSES),
        Table("In-place reprogramming and the pool", list(_pool(runs)), _POOL),
        Table("Wear and memory", list(_wear(runs))),
    ]
    return [table for table in found if table.rows]


_FIGURE_2 = """
The share of Baseline's erases that are for refresh. The heights of the paper's bars are lost. The \
one for SRC follows from its text, as 85 % less for refresh are 57 % less in all. Reads by the \
limit, and written pages by 192, of Table II give 64 % for SRC if each costs an erase."""

_FIGURE_9 = """
Changes against Baseline in the second half of each run. The text gives these numbers only; the \
rest is an order of schemes, which "What the paper says of the order" checks."""

_RESPONSES = """
Reads of the second half. The paper's 22 % are 21.1 % by its own two times. How long reads wait \
depends on how many dies there are, which it does not say: see "How many dies". If the 41 GB of \
pages came evenly in 52 minutes, and a refresh of 331 ms after every 10,000 reads, 261 us would \
mean 15 dies."""

_POOL = """
Reprograms by erases of the pool's blocks, and read-hot blocks that reached their limit outside \
the pool, over the whole run."""


def _figure_2(runs: Runs) -> Iterator[Finding]:
    above, stand_in = 0, False
    there = runs.there(ALL)
    for workload in there:
        run = runs.get(workload, BASELINE)
        share = run.erases().share if run else None
        above += (share or 0.0) > 0.5
        stand_in |= runs.is_stand_in(workload)
        published = 0.57 / 0.85 if workload == "SRC" else None
        yield Finding(workload, "Fig. 2", published, share, "share", runs.is_stand_in(workload))
    if there == list(ALL):
        what = "workloads with more than half for refresh"
        yield Finding(what, "Fig. 2", 5, above, "", stand_in)


def _change(runs: Runs, workload: str, scheme: str, of: str) -> float | None:
    found = runs.ratio(workload, scheme, of)
    return None if found is None else found - 1


def _figure_9(runs: Runs) -> Iterator[Finding]:
    for scheme in ("IPR", "HotLD"):
        for what, of, published in (("for refresh", "refresh", -0.85), ("in all", "all", -0.57)):
            change = _change(runs, "SRC", scheme, of)
            if change is not None:
                yield Finding(
                    f"SRC, {scheme}, {what}",
                    "Fig. 9a",
                    published if scheme == "IPR" else None,
                    change,
                    "share",
                    runs.is_stand_in("SRC"),
                )
    best = [
        (change, workload)
        for workload in runs.there(DOMINATED)
        if (change := _change(runs, workload, "IPR", "refresh")) is not None
    ]
    if best:
        change, workload = min(best)
        whole = runs.there(DOMINATED) == list(DOMINATED)
        yield Finding(
            f"IPR, for refresh, best ({workload})" if whole else "IPR, for refresh, best",
            "abstract",
            -0.85,
            change if whole else None,
            "share",
            whole and any(runs.is_stand_in(w) for _, w in best),
            "" if whole else "the best of six workloads, which are not all here",
        )
    levels = [
        run.counter("shadow_reuses") / erased
        for workload in runs.there(DOMINATED)
        if (run := runs.get(workload, "RL")) and (erased := run.counter("shadow_blocks_erased"))
    ]
    if levels:
        what = "RL: a shadow block is used on before its erase, times"
        yield Finding(
            what, "IV.B", 5.0, mean(levels), "", runs.is_stand_in(runs.there(DOMINATED)[0])
        )
    for workload, what, published, names in (
        ("SRC", "SRC: low-density blocks that used less than 89 % of their reads", 0.13, _UNUSED),
        ("ADS", "ADS: low-density blocks that used all their reads", 1.0, ("low_used_100",)),
    ):
        run = runs.get(workload, "IPR")
        erased = sum(run.counter(name) for name in _USED) if run else 0
        if run and erased:
            share = sum(run.counter(name) for name in names) / erased
            note = "below 90 % here, of the whole run" if names is _UNUSED else "of the whole run"
            stand_in = runs.is_stand_in(workload)
            yield Finding(what, "Fig. 9b", published, share, "share", stand_in, note)


_USED = ("low_used_0", *(f"low_used_{n}0" for n in range(1, 10)), "low_used_100")
_UNUSED = _USED[:9]


def waits(run: Run) -> pl.DataFrame:
    """Response times in ns of the reads that met a refresh, in the second half of a run."""
    file = run.result.table_file("requests")
    if file is None:
        return pl.DataFrame({"latency_ns": []}, schema={"latency_ns": pl.UInt64})
    half = int(run.rows["end"][-1]) // 2
    reads = pl.scan_parquet(file).filter(
        (pl.col("operation") == "read")
        & (pl.col("queue_refresh_ns") > 0)
        & (pl.col("arrival_ns") >= half)
    )
    return reads.select("latency_ns").collect()


def _within(found: pl.DataFrame, low: int, high: int | None) -> int:
    times = found["latency_ns"]
    return int(((times >= low * MS) & (times < (high or 10**9) * MS)).sum())


def _responses(runs: Runs) -> Iterator[Finding]:
    base, ipr = runs.get("Websearch", BASELINE), runs.get("Websearch", "IPR")
    if not base or not ipr or not base.read_ns or not ipr.read_ns:
        return
    mark = runs.is_stand_in("Websearch")
    yield Finding("mean read, Baseline", "IV.C", 261e3, base.read_ns, "ns", mark)
    yield Finding("mean read, IPR", "IV.C", 206e3, ipr.read_ns, "ns", mark)
    change = ipr.read_ns / base.read_ns - 1
    yield Finding("mean read, IPR against Baseline", "IV.C", 206 / 261 - 1, change, "share", mark)
    counts = [_within(waits(run), 250, 350) for run in (base, ipr)]
    if counts[0]:
        what = "reads that took 250 to 350 ms, IPR against Baseline"
        yield Finding(what, "Fig. 10", -0.52, counts[1] / counts[0] - 1, "share", mark)
    redftl = runs.get("Websearch", "RedFTL")
    if redftl and counts[0]:
        change = _within(waits(redftl), 250, 350) / counts[0] - 1
        what = "the same, RedFTL"
        yield Finding(what, "Fig. 10", "many less", change, "share", mark)


def _pool(runs: Runs) -> Iterator[Finding]:
    for workload in runs.there(DOMINATED):
        run = runs.get(workload, "IPR")
        if run and (erases := run.counter("pool_erases")):
            rate = run.counter("reprogrammed_blocks") / erases
            ours, note = _settled_rate(rate, erases)
            mark = runs.is_stand_in(workload) and ours is not None
            yield Finding(f"IPR rate, {workload}", "IV.C", RATES[workload], ours, "", mark, note)
    for workload in runs.there(DOMINATED):
        run = runs.get(workload, "IPR")
        if run and (hot := run.counter("read_hot_refreshes")):
            share = run.counter("skipped_outside_pool") / hot
            published = 0.6 if workload == "Websearch" else "at most 6 %"
            what = f"read-hot blocks outside the pool, {workload}"
            yield Finding(what, "IV.C", published, share, "share", runs.is_stand_in(workload))


ENOUGH = 100
"""Erases without which a rate of theirs is not taken."""


def _settled_rate(rate: float, erases: float) -> tuple[float | None, str]:
    """Reprograms for each erase: a block has one at most between two erases."""
    if erases < ENOUGH:
        return None, f"{erases:.0f} erases in the pool are too few"
    if rate > 1:
        return None, f"{rate:.2f} came out: blocks that were reprogrammed are yet to be erased"
    return rate, ""


def _wear(runs: Runs) -> Iterator[Finding]:
    for scheme, what in (
        ("IPR", "wear of a cycle with a reprogram, flat"),
        ("IPR, wear by rate", "wear of a cycle with a reprogram, by the rate of its block"),
    ):
        run = runs.get("Websearch", scheme)
        # A cycle ends, and wears, with its erase.
        ended = sum(run.counter(name) for name in _USED) if run else 0
        if run and ended:
            blocks = run.result.blocks()
            extra = float(blocks["effective_cycles"].sum()) - float(blocks["erases"].sum())
            stand_in = runs.is_stand_in("Websearch")
            kind = "input" if scheme == "IPR" else "output"
            yield Finding(what, "Fig. 7", 1.2, 1 + extra / ended, "x", stand_in, "", kind)
    run = runs.get("Websearch", "IPR")
    if run:
        blocks = run.result.blocks()
        first = _per_plane(blocks) - _per_plane(blocks) // 5
        pool, outside = (
            blocks.filter(pl.col("block") >= first),
            blocks.filter(pl.col("block") < first),
        )
        if outside["erases"].sum():
            stand_in = runs.is_stand_in("Websearch")
            # An erase of each block, at least, in the pool and outside.
            few = min(_mean_of(pool["erases"]), _mean_of(outside["erases"])) < 1
            note = "blocks were erased less than once each" if few else ""
            both = _mean_of(pool["effective_cycles"]) / _mean_of(outside["erases"])
            spread = _spread(blocks["effective_cycles"])
            for what, ours, unit in (
                ("effective cycles in the pool by real ones outside", both, "x"),
                ("effective cycles of all blocks: standard deviation by mean", spread, "share"),
            ):
                found = None if few else ours
                mark = stand_in and not few
                yield Finding(what, "Fig. 11", "highly even", found, unit, mark, note)
    largest = max(
        (run.result for w in runs.there() if (run := runs.get(w, "IPR"))),
        key=lambda result: result.capacity.physical_bytes,
        default=None,
    )
    if largest:
        memory = largest.policies["read-disturb"].dram_bytes / largest.capacity.physical_bytes
        note = "the monitored tenth is rounded down in each plane"
        words = "memory of IPR at 128 GB"
        yield Finding(words, "III.E", 1.37e6, memory * 128 * 2**30, "bytes", note=note)


def _per_plane(blocks: pl.DataFrame) -> int:
    return len(blocks["block"].unique())


def _mean_of(values: pl.Series) -> float:
    return float(values.sum()) / len(values)


def _spread(values: pl.Series) -> float:
    """The standard deviation by the mean."""
    mean = _mean_of(values)
    return (_mean_of((values.cast(pl.Float64) - mean) ** 2)) ** 0.5 / mean if mean else 0.0


# ── Sheets ──────────────────────────────────────────────────────────────────────────────────────


def sheets(runs: Runs) -> list[Sheet]:
    """The figures as tables."""
    found = [_breakdown(runs), _used(runs), _histogram(runs), _figure_11(runs), _steady(runs)]
    return [sheet for sheet in found if sheet.rows]


def _breakdown(runs: Runs) -> Sheet:
    rows = []
    for workload in runs.there(ALL):
        base = runs.get(workload, BASELINE)
        for scheme in SCHEMES:
            run = runs.get(workload, scheme)
            if not base or not run or not base.erases().all:
                continue
            whole, own = base.erases().all, run.erases()
            cells = [ratio(n / whole) for n in (own.refresh, own.other, own.all)]
            changes = [ratio(runs.ratio(workload, scheme, of)) for of in ("refresh", "other")]
            latency = "" if run.read_ns is None else f"{run.read_ns / 1e3:.0f} us"
            rows.append([runs.shown(workload), scheme, *cells, *changes, latency])
    return Sheet(
        "Figure 9a: erases by cause",
        ("workload", "scheme", "rrGC", "wGC", "all", "rrGC/Baseline", "wGC/Baseline", "mean read"),
        rows,
        "The first three are parts of all of Baseline's erases, as in the figure.",
    )


def _used(runs: Runs) -> Sheet:
    rows = []
    for workload in runs.there(ALL):
        run = runs.get(workload, "IPR")
        counts = [run.counter(name) for name in _USED] if run else []
        if sum(counts):
            below = [sum(counts[:n]) / sum(counts) for n in (1, 3, 5, 7, 9, 10)]
            rows.append([runs.shown(workload), f"{sum(counts):.0f}", *map(percent, below)])
    return Sheet(
        "Figure 9b: how far low-density blocks were used",
        ("workload", "erased", *(f"below {n} %" for n in (10, 30, 50, 70, 90, 100))),
        rows,
        "Of the low-density blocks of IPR that were erased, those that had used less than so much "
        "of the reads that they endure.",
    )


def _histogram(runs: Runs) -> Sheet:
    rows = []
    labels = [f"{low} to {high} ms" for low, high in _bins()]
    labels[-1] = f"above {BINS[-1]} ms"
    for scheme in (*SCHEMES, *(f"{scheme}, preemptible" for scheme in SCHEMES)):
        run = runs.get("Websearch", scheme)
        found = waits(run) if run else None
        if run and found is not None and found.height:
            met = [_within(found, low, high) for low, high in _bins()]
            latency = f"{(run.read_ns or 0) / 1e3:.0f} us"
            shown = (f"{1e6 * n / run.reads:.0f}" for n in (found.height, *met))
            rows.append([scheme, latency, *shown])
    mark = " [stand-in]" if runs.is_stand_in("Websearch") else ""
    return Sheet(
        f"Figure 10: reads that met a refresh, Websearch{mark}",
        ("scheme", "mean of all reads", "reads that met one", *labels),
        rows,
        "Of a million reads of the second half of a run, by response time. A refresh of a whole "
        "block takes 326 ms and its erase 5 ms.",
    )


def _bins() -> list[tuple[int, int | None]]:
    return list(zip(BINS, (*BINS[1:], None), strict=True))


def _figure_11(runs: Runs) -> Sheet:
    rows = []
    for scheme in (BASELINE, "IPR"):
        run = runs.get("Websearch", scheme)
        if run is None:
            continue
        blocks = run.result.blocks()
        tenth = (pl.col("block") * 10 // _per_plane(blocks)).alias("tenth")
        means = blocks.group_by(tenth).agg(
            pl.col("erases").mean(), pl.col("effective_cycles").mean()
        )
        for at, real, effective in means.sort("tenth").iter_rows():
            rows.append(
                [scheme, f"{10 * at} to {10 * at + 10} %", f"{real:.1f}", f"{effective:.1f}"]
            )
    mark = " [stand-in]" if runs.is_stand_in("Websearch") else ""
    return Sheet(
        f"Figure 11: cycles by the address of blocks, Websearch{mark}",
        ("scheme", "blocks of a plane", "real", "effective"),
        rows,
        "Means over blocks. The pool is the last fifth.",
    )


def _steady(runs: Runs) -> Sheet:
    rows = []
    for workload in runs.there(ALL):
        for scheme in SCHEMES:
            run = runs.get(workload, scheme)
            if run is None:
                continue
            whole, half = run.erases(0, 1), run.erases()
            shares = [percent(share) for share in (whole.share, *run.shares)]
            verdict = "settled" if run.is_steady else "still moving"
            rows.append([runs.shown(workload), scheme, f"{half.all:.0f}", *shares, verdict])
    return Sheet(
        "Were the shares stable?",
        ("workload", "scheme", "erases counted", "rrGC, all of it", "third quarter", "fourth", ""),
        rows,
        "The share of refresh among the erases of a quarter of the run. It has settled if it moves "
        "by no more than two points from the third to the fourth.",
    )


def plots(runs: Runs) -> Iterator[Plot]:
    """Figure 9a, and the response times."""
    for of, title in (("refresh", "Erases for refresh"), ("all", "All erases")):
        values = [
            ({"workload": runs.shown(workload), "scheme": scheme}, found)
            for workload in runs.there(ALL)
            for scheme in SCHEMES
            if (found := runs.ratio(workload, scheme, of)) is not None
        ]
        if values:
            yield Plot(
                "values", f"{title}, against Baseline", x="workload", by="scheme", values=values
            )
