"""The lifetime of a result as text: what was simulated, and what follows from it."""

from __future__ import annotations

from typing import Any

from floatgate import text
from floatgate.advice import Advice
from floatgate.result import Result
from floatgate.text import Style, duration, number, section, size, table

SHAPES_RESULTS = False

HOUR = 3_600e9
DAYS_OF_A_YEAR = 365.0


def page(
    result: Result,
    advice: Advice | None = None,
    *,
    counts_recovery: bool = False,
    colour: bool = False,
) -> str:
    """What `floatgate lifetime` prints; `counts_recovery` is whether recovery was asked for."""
    style = Style(colour)
    sections = [
        text.head(result, style),
        simulated(result, style),
        _extrapolated(result, style, counts_recovery=counts_recovery),
        _advice(advice, style) if advice is not None else "",
        _classes(result, style),
        text.warnings(result, style),
    ]
    return "\n\n".join(part for part in sections if part)


def simulated(result: Result, style: Style) -> str:
    """What the run showed of cells and errors; nothing without the model of the cells."""
    life = result.data["lifetime"]
    if life is None:
        return ""
    seen = life["simulated"]
    cycles, effective = seen["cycles"], seen["effective_cycles"]
    reads = seen["pages_read_by_sensings"]
    lost = seen["uncorrectable_pages"]["total"]
    retired = seen["blocks_retired"]
    erases = result.data["wear"]["erases"]
    even = erases["mean"] / erases["max"] if erases["max"] else 1.0
    lines = [
        f"erases of a block in this run: {erases['min']} to {erases['max']}, mean "
        f"{erases['mean']:.2f}, deviation {erases['stddev']:.2f} (mean / max {_percent(even)})",
        f"P/E cycles of a block: mean {cycles['mean']:.1f}, max {cycles['max']:.1f} "
        f"({number(cycles['before'])} before the run); {_percent(seen['used'])} of life used, "
        f"at most {_percent(seen['used_max'])}",
    ]
    if effective["mean"] < cycles["mean"]:
        lines.append(
            f"after recovery they count as {effective['mean']:.1f}, max {effective['max']:.1f} "
            f"({duration(seen['rest_hours'] * HOUR)} of rest between them)"
        )
    read = ", ".join(f"{number(n)} with {m}" for m, n in reads.items() if n)
    if read:
        retries = number(seen["failed_attempts"])
        lines.append(f"pages read by sensings at each boundary: {read}; {retries} failed attempts")
        lines.append(
            f"highest raw bit error rate {seen['worst_rber']:.2e}; {number(lost)} uncorrectable "
            f"pages (UBER {seen['uber']:.1e})"
        )
    if any(retired.values()):
        lines.append(
            f"blocks retired: {number(retired['worn_out'])} worn out, "
            f"{number(retired['unreadable'])} unreadable"
        )
    return section("Cells, as simulated", "\n".join(map(text.wrapped, lines)), style)


def _extrapolated(result: Result, style: Style, *, counts_recovery: bool) -> str:
    life = result.data["lifetime"]
    if life["waf"] is None:
        body = "nothing was written, so nothing wears: no life can be extrapolated"
        return section("Life", body, style)
    steady = life["simulated"]["waf_steady"]
    state = {True: "steady", False: "NOT STEADY", None: "too short to say whether steady"}[steady]
    lines = [
        f"from {size(life['host_bytes_per_day'])} of host writes a day and write amplification "
        f"{life['waf']:.3f} ({state}), over {duration(life['simulated']['seconds'] * 1e9)}; "
        f"a cycle of every block takes {duration(life['cycle_hours'] * HOUR)}",
    ]
    body = "\n".join(map(text.wrapped, lines))
    model = life["with_recovery"]["model"]
    rows = [["", "P/E cycles", "TBW", "DWPD", "years"]]
    for name, term in (
        ("rated", life["rated"]),
        (f"recovery ({model})", life["with_recovery"]),
    ):
        rows.append([name, *map(_cell, (term["cycles"], _tb(term), term["dwpd"], term["years"]))])
    body += "\n" + table(rows)
    if not life["with_recovery"]["supported"]:
        body += f"\n{style(text.YELLOW, 'beyond what the recovery model has support for')}"
    target = life["target"]
    years = f"{target['years']:g} years"
    facts = [
        f"after {years}: {number(round(target['cycles']))} cycles, {_percent(target['used'])} of "
        f"life used ({_percent(target['used_effective'])} with recovery): "
        + _reached(target, counts_recovery=counts_recovery),
        f"data keep for {_keep(target['retention_hours'])} then, for "
        f"{_keep(life['end_of_life']['retention_hours'])} at the end of the rated cycles",
    ]
    body += "\n" + "\n".join(map(text.wrapped, facts))
    return section("Life, extrapolated at this rate", body, style)


def _reached(target: dict[str, Any], *, counts_recovery: bool) -> str:
    if target["reached"]:
        return "reached"
    if not target["reached_with_recovery"]:
        return "NOT reached"
    return "reached with recovery" if counts_recovery else "NOT reached without recovery"


def _advice(advice: Advice, style: Style) -> str:
    """What reaches the target; nothing where it is reached."""
    data = advice.data
    if data["reached"]:
        return ""
    title = f"To reach {data['target_years']:.4g} years"
    if data["why"]:
        return section(title, text.wrapped(f"nothing can be said: {data['why']}"), style)
    rows = [["throttle", "programmed", "served", "page write", "mean", "p99", "longest"]]
    for each in data["throttles"]:
        delay, service = each["page_delay_ns"], each["page_write_ns"]
        times = (service, each["page_response_ns"], service + delay["p99"], service + delay["max"])
        name = each["policy"].removeprefix("throttle=").partition(":")[0]
        rate = f"{size(each['programmed_bytes_per_second'])}/s"
        rows.append([name, rate, _percent(each["served_share"]), *map(duration, times)])
    body = table(rows)
    facts = [
        "`page write` is without throttle; `mean`, `p99` and `longest` are page writes with it",
        _drive("over-provisioning", data["over_provisioning"]),
        _drive("capacity", data["capacity"]),
    ]
    facts.append(f"found by {data['runs']} runs of other drives, without throttle")
    body += "\n" + "\n".join(map(text.wrapped, facts))
    return section(title, body, style)


def _drive(what: str, data: dict[str, Any]) -> str:
    """A drive that reaches the target, or why none was found."""
    found = data["found"]
    if found is None:
        return f"{what}: none was found: {data['why']}"
    terms = (
        f"{size(found['exported_bytes'])} of {size(found['physical_bytes'])} of flash (spare "
        f"factor {found['spare_factor']:.3f}, over-provisioning "
        f"{_percent(found['over_provisioning'])}): write amplification {found['waf']:.3f}, "
        f"{found['years']:.4g} years"
    )
    means = "the same flash exporting" if what == "over-provisioning" else "more flash, exporting"
    return f"{what}: {means} {terms}"


def _classes(result: Result, style: Style) -> str:
    classes = result.data["lifetime"]["jesd218"]
    rows = [["", "kept for", "UBER limit", "end of life", "", "at target", ""]]
    for name, c in classes.items():
        verdicts = [_verdict(c["meets_end_of_life"]), _verdict(c["meets_at_target"])]
        rates = [_rate(c["uber_end_of_life"]), _rate(c["uber_at_target"])]
        kept = duration(c["retention_hours"] * HOUR)
        cells = [x for pair in zip(rates, verdicts, strict=True) for x in pair]
        rows.append([name, kept, _rate(c["uber_limit"]), *cells])
    return section("JESD218, from the model of the cells", table(rows), style)


def _verdict(meets: bool | None) -> str:
    return "" if meets is None else "meets" if meets else "FAILS"


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1e}" if rate else "0"


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.3g} %" if share < 10 else f"{100 * share:,.0f} %"


def _tb(term: dict[str, Any]) -> float | None:
    found = term["tbw_bytes"]
    return None if found is None else float(found) / 1e12


def _cell(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


def _keep(hours: float | None) -> str:
    if hours is None:
        return "ever"
    if hours == 0:
        return "no time"
    years = hours / 24 / DAYS_OF_A_YEAR
    return f"{years:.3g} years" if years >= 1 else duration(hours * HOUR)
