"""The lifetime of a result as text: what was simulated, and what follows from it."""

from __future__ import annotations

from typing import Any

from floatgate.life.advice import Advice
from floatgate.result.run import Result
from floatgate.text.cells import HOUR, error_rate, percent, simulated
from floatgate.text.result import effort, head, warnings
from floatgate.words import YELLOW, Style, duration, number, section, size, table, wrapped

DAYS_OF_A_YEAR = 365.0
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
        head(result, style, _lasts(result, counts_recovery=counts_recovery)),
        _life(result, style),
        _advice(advice, style) if advice is not None else "",
        simulated(result, style),
        _classes(result, style),
        warnings(result, style),
        effort(result),
    ]
    return "\n\n".join(part for part in sections if part)


def _lasts(result: Result, *, counts_recovery: bool) -> str:
    """How long the drive lasts, or why no years are named."""
    life = result.data["lifetime"]
    if life["why"] is not None:
        return f"No life can be extrapolated: {life['why']}."
    counted = life["with_recovery"] if counts_recovery else life["rated"]
    years, target = counted["years"], life["target"]
    lasts = "The drive has no end" if years is None else f"The drive lasts {_cell(years)} years"
    if years is not None and years < 1:
        lasts += f" ({duration(years * DAYS_OF_A_YEAR * 24 * HOUR)})"
    return (
        f"{lasts}, {_tb(counted)} written (TBW): the target of {target['years']:.4g} years is "
        f"{_reached(target, counts_recovery=counts_recovery)}."
    )


def _life(result: Result, style: Style) -> str:
    """What the years are worked out from."""
    life = result.data["lifetime"]
    if life["why"] is not None:
        if life["waf"] is None:
            return ""
        return section("Life", wrapped(f"the run: {_rates(result)}"), style)
    terms = {"rated": life["rated"]}
    model = life["with_recovery"]["model"]
    terms[f"recovery ({model})"] = life["with_recovery"]
    target = life["target"]
    rows = [["", "years", "TBW", "DWPD", "P/E cycles"]]
    for name, term in terms.items():
        rows.append(
            [name, _cell(term["years"]), _tb(term), _cell(term["dwpd"]), _cell(term["cycles"])]
        )
    body = table(rows)
    if not life["with_recovery"]["supported"]:
        body += f"\n{style(YELLOW, 'beyond what the recovery model has support for')}"
    facts = [
        f"from {_rates(result)}; a cycle of every block takes "
        f"{duration(life['cycle_hours'] * HOUR)}",
        _before(result),
        f"after {target['years']:.4g} years: {number(round(target['cycles']))} cycles, "
        f"{percent(target['used'])} of life used ({percent(target['used_effective'])} with "
        "recovery)",
        f"data keep for {_keep(target['retention_hours'])} then, for "
        f"{_keep(life['end_of_life']['retention_hours'])} at the end of the rated cycles",
    ]
    body += "\n" + "\n".join(map(wrapped, facts))
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
    filled = words[fill] if isinstance(fill, str) else f"{percent(fill)} full"
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
        return section(title, wrapped(f"nothing can be said: {data['why']}"), style)
    rows = [["throttle", "programmed", "served", "page write", "mean", "p99", "longest"]]
    for each in data["throttles"]:
        delay, service = each["page_delay_ns"], each["page_write_ns"]
        times = (service, each["page_response_ns"], service + delay["p99"], service + delay["max"])
        name = each["policy"].removeprefix("throttle=").partition(":")[0]
        rate = f"{size(each['programmed_bytes_per_second'])}/s"
        rows.append([name, rate, percent(each["served_share"]), *map(duration, times)])
    body = table(rows)
    facts = [
        "`page write` is without throttle; `mean`, `p99` and `longest` are page writes with it",
        _drive("over-provisioning", data["over_provisioning"]),
        _drive("capacity", data["capacity"]),
    ]
    if above := [
        row[0]
        for row, each in zip(rows[1:], data["throttles"], strict=True)
        if each["page_write_ns"] + each["page_delay_ns"]["p99"] < each["page_response_ns"]
    ]:
        facts.append(
            f"the mean of {', '.join(above)} is above its p99, because the slowest 1 % of its page "
            "writes raise it"
        )
    facts.append(f"found by {data['runs']} runs of other drives, without throttle")
    body += "\n" + "\n".join(map(wrapped, facts))
    return section(title, body, style)


def _drive(what: str, data: dict[str, Any]) -> str:
    """A drive that reaches the target, or why none was found."""
    found = data["found"]
    if found is None:
        return f"{what}: none was found: {data['why']}"
    terms = (
        f"{size(found['exported_bytes'])} of {size(found['physical_bytes'])} of flash (spare "
        f"factor {found['spare_factor']:.3f}, over-provisioning "
        f"{percent(found['over_provisioning'])}): write amplification {found['waf']:.3f}, "
        f"{_years(found['years'])}"
    )
    means = "the same flash exporting" if what == "over-provisioning" else "more flash, exporting"
    return f"{what}: {means} {terms}"


def _classes(result: Result, style: Style) -> str:
    classes = result.data["lifetime"]["jesd218"]
    rows = [["", "kept for", "UBER limit", "end of life", "", "at target", ""]]
    for name, c in classes.items():
        verdicts = [_verdict(c["meets_end_of_life"]), _verdict(c["meets_at_target"])]
        rates = [error_rate(c["uber_end_of_life"]), error_rate(c["uber_at_target"])]
        kept = duration(c["retention_hours"] * HOUR)
        cells = [x for pair in zip(rates, verdicts, strict=True) for x in pair]
        rows.append([name, kept, error_rate(c["uber_limit"]), *cells])
    return section("JESD218, from the model of the cells", table(rows), style)


def _verdict(meets: bool | None) -> str:
    return "" if meets is None else "meets" if meets else "FAILS"


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
