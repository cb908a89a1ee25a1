"""What the differences rest on: how reads are concentrated, and one rule changed at a time."""

from __future__ import annotations

from floatgate.report.model import Sheet
from floatgate.reproduce.studies.read_disturb.runs import BASELINE, SCHEMES, Runs, percent, ratio

ENDURED = 11
"""Limits that a block of IPR goes through before its erase: one, then that of low density."""


def sheets(runs: Runs) -> list[Sheet]:
    """A sheet for each question that has runs."""
    found = [_concentration(runs), _rules(runs), _dies(runs)]
    return [sheet for sheet in found if sheet.rows]


def needed(change: float) -> float:
    """The share of reads that low-density blocks have to take for a change of rrGC erases."""
    return -change / (1 - 1 / ENDURED)


def _concentration(runs: Runs) -> Sheet:
    rows = []
    labels = [label for label in runs.there() if label.startswith("SRC, ")]
    for workload in [*runs.there(("SRC",)), *labels] if labels else []:
        rows.append(
            [
                runs.shown(workload),
                *(
                    percent(
                        None if (found := runs.ratio(workload, s, "refresh")) is None else found - 1
                    )
                    for s in ("HotLD", "IPR")
                ),
                *(
                    percent(
                        None if (found := runs.ratio(workload, s, "all")) is None else found - 1
                    )
                    for s in ("HotLD", "IPR")
                ),
                _taken(runs, workload),
            ]
        )
    return Sheet(
        "Why: how reads are concentrated",
        ("reads", "rrGC, HotLD", "IPR", "all erases, HotLD", "IPR", "reads on low density, IPR"),
        rows,
        "SRC with its own writes and other reads, against Baseline. A read-hot block of IPR serves "
        f"{ENDURED} limits before its erase instead of one, so 85 % less for refresh takes "
        f"{100 * needed(-0.85):.0f} % of the reads on low-density blocks (or while such blocks are "
        "read-hot); the rest is refreshed as before. The last column is that share over the whole "
        "run, its beginning included.",
    )


def _taken(runs: Runs, workload: str) -> str:
    """The share of the reads that low-density blocks which were erased had served."""
    run, base = runs.get(workload, "IPR"), runs.get(workload, BASELINE)
    if run is None or base is None or not base.counter("refreshes"):
        return ""
    low = sum(
        run.counter("low_used_100" if n == 10 else f"low_used_{n}0" if n else "low_used_0")
        * (n + (0.5 if n < 10 else 0.0))
        for n in range(11)
    )
    return percent(low / base.counter("refreshes"))


def _rules(runs: Runs) -> Sheet:
    rows = []
    for workload in ("SRC",):
        changed = [s for s in runs.schemes(workload) if s not in SCHEMES]
        if not changed:
            continue
        for scheme in sorted(
            [*SCHEMES[1:], *changed], key=lambda s: SCHEMES.index(s.split(",")[0])
        ):
            run = runs.get(workload, scheme)
            if run is not None:
                ratios = [
                    ratio(runs.ratio(workload, scheme, of)) for of in ("refresh", "other", "all")
                ]
                rows.append([runs.shown(workload), scheme, *ratios])
    return Sheet(
        "Why: one rule changed at a time",
        ("workload", "scheme", "rrGC", "wGC", "all"),
        rows,
        "Erases in the second half, by those of Baseline.",
    )


def _dies(runs: Runs) -> Sheet:
    rows = []
    labels = [label for label in runs.there() if label.startswith("Websearch, ")]
    places = {label.partition(", ")[2]: label for label in labels}
    if labels:
        places["8 dies"] = "Websearch"
    for dies in sorted(places, key=lambda words: int(words.split()[0])):
        label = places[dies]
        base, ipr = runs.get(label, BASELINE), runs.get(label, "IPR")
        if base and ipr and base.read_ns and ipr.read_ns:
            rows.append(
                [
                    dies,
                    f"{base.read_ns / 1e3:.0f} us",
                    f"{ipr.read_ns / 1e3:.0f} us",
                    f"{100 * (ipr.read_ns / base.read_ns - 1):+.1f} %",
                    ratio(runs.ratio(label, "IPR", "refresh")),
                ]
            )
    mark = " [stand-in]" if labels and runs.is_stand_in(labels[0]) else ""
    return Sheet(
        f"How many dies, Websearch{mark}",
        ("of the paper's drive", "mean read, Baseline", "IPR", "change", "rrGC of IPR"),
        rows,
        "The paper: 261 us, 206 us, -21.1 %; it does not say how many dies there are.",
    )
