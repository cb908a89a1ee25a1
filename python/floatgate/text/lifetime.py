"""The lifetime of a result as text: what was simulated, and what follows from it."""

from __future__ import annotations

from typing import Any

from floatgate.life.advice import Advice
from floatgate.result.run import Result
from floatgate.text import result as text
from floatgate.text.result import Style, duration, number, section, size, table

SHAPES_RESULTS = False

HOUR = 3_600e9
DAYS_OF_A_YEAR = 365.0
LEAST_RATE = 1e-20
"""JESD218 asks for no less than 1e-16."""
MOST_YEARS = 100
"""The equations of retention know nothing of longer times."""


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
        _life(result, style, counts_recovery=counts_recovery),
        _advice(advice, style) if advice is not None else "",
        simulated(result, style),
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
            f"pages (UBER {_rate(seen['uber'])})"
        )
    if any(retired.values()):
        lines.append(
            f"blocks retired: {number(retired['worn_out'])} worn out, "
            f"{number(retired['unreadable'])} unreadable"
        )
    return section("Cells, as simulated", "\n".join(map(text.wrapped, lines)), style)


def _life(result: Result, style: Style, *, counts_recovery: bool) -> str:
    """Years, and what they are worked out from; or why none are named."""
    life = result.data["lifetime"]
    if life["why"] is not None:
        lines = [f"no life can be extrapolated: {life['why']}"]
        if life["waf"] is not None:
            lines.append(f"the run: {_rates(result)}")
        return section("Life", "\n".join(map(text.wrapped, lines)), style)
    terms = {"rated": life["rated"]}
    model = life["with_recovery"]["model"]
    terms[f"recovery ({model})"] = life["with_recovery"]
    counted = life["with_recovery"] if counts_recovery else life["rated"]
    target = life["target"]
    first = (
        f"{_years(counted['years'])}, {_tb(counted)} written (TBW): the target of "
        f"{target['years']:.4g} years is {_reached(target, counts_recovery=counts_recovery)}"
    )
    rows = [["", "years", "TBW", "DWPD", "P/E cycles"]]
    for name, term in terms.items():
        rows.append(
            [name, _cell(term["years"]), _tb(term), _cell(term["dwpd"]), _cell(term["cycles"])]
        )
    body = text.wrapped(first) + "\n" + table(rows)
    if not life["with_recovery"]["supported"]:
        body += f"\n{style(text.YELLOW, 'beyond what the recovery model has support for')}"
    facts = [
        f"from {_rates(result)}; a cycle of every block takes "
        f"{duration(life['cycle_hours'] * HOUR)}",
        _before(result),
        f"after {target['years']:.4g} years: {number(round(target['cycles']))} cycles, "
        f"{_percent(target['used'])} of life used ({_percent(target['used_effective'])} with "
        "recovery)",
        f"data keep for {_keep(target['retention_hours'])} then, for "
        f"{_keep(life['end_of_life']['retention_hours'])} at the end of the rated cycles",
    ]
    body += "\n" + "\n".join(map(text.wrapped, facts))
    return section("Life, extrapolated", body, style)


def _rates(result: Result) -> str:
    """What the run wrote, at which write amplification."""
    life = result.data["lifetime"]
    steady = life["simulated"]["waf_steady"]
    state = {True: "steady", False: "NOT STEADY", None: "too short to say whether steady"}[steady]
    closed = result.data["provenance"]["config"]["host"]["mode"] == "queue-depth"
    pace = ", as fast as the drive takes them," if closed else ""
    return (
        f"{size(life['host_bytes_per_day'])} of host writes a day{pace} and write amplification "
        f"{life['waf']:.3f} ({state}), over {duration(life['simulated']['seconds'] * 1e9)}"
    )


def _before(result: Result) -> str:
    """The state in which the run began, and what is taken for granted."""
    before = result.data["provenance"]["config"]["precondition"]
    words = {"none": "empty", "touched": "holding what is read", "full": "full"}
    fill = before["fill"]
    filled = words[fill] if isinstance(fill, str) else f"{_percent(fill)} full"
    aged = {
        "none": "not aged",
        "random": "aged by random writes",
        "workload": "aged by this workload",
    }[before["age"]]
    levelled = result.data["policies"]["wear"]["name"] != "none"
    even = "" if levelled else " (nothing levels it: policy wear=none)"
    return f"the drive began {filled} and {aged}; wear is taken to be even{even}"


def _years(years: float | None) -> str:
    return "no end" if years is None else f"{_cell(years)} years"


def _reached(target: dict[str, Any], *, counts_recovery: bool) -> str:
    if target["reached"]:
        return "reached"
    if not target["reached_with_recovery"]:
        return "NOT reached"
    return "reached with recovery" if counts_recovery else "NOT reached without recovery"


def _advice(advice: Advice, style: Style) -> str:
    """What reaches the target; nothing where it is reached."""
    data = advice.data
    if data["reached"] is not False:
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
        f"{_years(found['years'])}"
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
    """A rate of errors; what no device could show is not told apart.

    >>> _rate(3.1e-05), _rate(2e-218), _rate(0.0), _rate(None)
    ('3.1e-05', '< 1e-20', '0', '-')
    """
    if not rate:
        return "-" if rate is None else "0"
    return f"{rate:.1e}" if rate >= LEAST_RATE else f"< {LEAST_RATE:.0e}"


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.3g} %" if share < 10 else f"{100 * share:,.0f} %"


def _tb(term: dict[str, Any]) -> str:
    """JESD218's terabytes, of 10^12 bytes."""
    found = term["tbw_bytes"]
    return "no limit" if found is None else f"{_cell(float(found) / 1e12)} TB"


def _cell(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


def _keep(hours: float | None) -> str:
    if hours is None:
        return "ever"
    if hours == 0:
        return "no time"
    years = hours / 24 / DAYS_OF_A_YEAR
    if years > MOST_YEARS:
        return f"more than {MOST_YEARS} years"
    return f"{years:.3g} years" if years >= 1 else duration(hours * HOUR)
