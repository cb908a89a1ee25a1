"""The lifetime of a result as text: the simulated part, and the conclusions."""

from __future__ import annotations

import re
from typing import Any

from floatgate.life.advice import Advice
from floatgate.result.run import Result
from floatgate.result.scaled import in_words
from floatgate.text.cells import HOUR, error_rate, percent, simulated
from floatgate.text.result import effort, head, warnings
from floatgate.words import YELLOW, Style, duration, number, section, size, table, wrapped

DAYS_OF_A_YEAR = 365.0
DAY = 86_400.0
ENDS = ("low", "high")
MOST_YEARS = 100
"""The equations of retention do not cover longer times."""


def page(
    result: Result,
    advice: Advice | None = None,
    *,
    counts_recovery: bool = False,
    colour: bool = False,
) -> str:
    """The output of `floatgate lifetime`; `counts_recovery` is whether recovery was requested."""
    style = Style(colour)
    sections = [
        head(result, style, _lasts(result, counts_recovery=counts_recovery)),
        _life(result, style),
        advised(advice, colour=colour) if advice is not None else "",
        simulated(result, style),
        _classes(result, style),
        warnings(result, style),
        effort(result),
    ]
    return "\n\n".join(part for part in sections if part)


def _lasts(result: Result, *, counts_recovery: bool) -> str:
    """How long the drive lasts, or why that is not known; then the simulated time behind it."""
    life = result.data["lifetime"]
    found = life["range"]
    if life["why"] is not None and found is None:
        return wrapped(f"No life can be extrapolated: {life['why']}.")
    target = life["target"]
    if found is None:
        counted = (counts_recovery and life["with_recovery"]) or life["rated"]
        years, written = counted["years"], _tb(counted)
        ends, lived = (years, years), _cell(years)
    else:
        recovers = counts_recovery and found["years_with_recovery"] is not None
        counted = found["years_with_recovery"] if recovers else found["years"]
        ends = (counted["low"], counted["high"])
        lived = _span(*ends)
        tbw = found["tbw_bytes"]
        written = f"{_span(*(end / 1e12 for end in (tbw['low'], tbw['high'])))} TB"
    lasts = f"The drive lasts {lived} years" if ends[0] is not None else "The drive has no end"
    known = [end for end in ends if end is not None]
    if len(known) == len(ends) and max(known) < 1:
        spans = dict.fromkeys(duration(end * DAYS_OF_A_YEAR * 24 * HOUR) for end in known)
        lasts += f" ({' to '.join(spans)})"
    said = [
        f"{lasts}, {written} written (TBW): the target of {target['years']:.4g} years is "
        f"{_reached(target, counts_recovery=counts_recovery)}.",
        _covered(result),
    ]
    if found is not None:
        said.append(f"It is a range because {life['why']}.")
    said += _left_out(result)
    return "\n".join(map(wrapped, said))


def _span(low: float | None, high: float | None) -> str:
    """One number, or two if they differ as printed.

    >>> _span(1.23, 4.56), _span(2.0, 2.00001), _span(3.0, None)
    ('1.23 to 4.56', '2', '3 to no limit')
    """
    return " to ".join(dict.fromkeys((_end(low), _end(high))))


def _end(value: float | None) -> str:
    """An end of a range, to three digits."""
    return _cell(value) if value is None or value >= 1000 else f"{value:.3g}"


def _covered(result: Result) -> str:
    """The time of the workload from which years are extrapolated; a warning if it is short."""
    simulated = result.data["lifetime"]["simulated"]["seconds"]
    workload = result.data["provenance"]["workload"]
    repeat = re.search(r"\brepeat=(\d+)", workload["reading"] or "")
    rounds = int(repeat[1]) if repeat else 1
    covered = duration(simulated / rounds * 1e9)
    times = f", repeated {number(rounds)} times" if rounds > 1 else ""
    said = f"Extrapolated from {covered} of the workload{times}, {_rates(result)}."
    if simulated / rounds < DAY and workload["sha256"] is not None:
        said += " WARNING: that is less than a day, and other times may write more or less."
    return said


def _left_out(result: Result) -> list[str]:
    """The parts that were not simulated or not applied."""
    life = result.data["lifetime"]
    said = []
    if scaled := in_words(result.data):
        said.append(f"Simulated: {scaled}. Years and bytes are those of the whole drive.")
    part, missing = life.get("part"), life.get("not_modelled")
    if part:
        said.append(
            f"Simulated: {part['dies']} of {part['dies_of_drive']} dies, with their share of the "
            f"capacity, the buffer and the link, and one page of every {part['of']} consecutive "
            "ones."
        )
    if missing:
        said.append(f"Not applied: retention, errors and recovery, because {missing}.")
    return said


def _life(result: Result, style: Style) -> str:
    """The evidence for the years."""
    life = result.data["lifetime"]
    found, recovery = life["range"], life["with_recovery"]
    if life["why"] is not None and found is None:
        if life["waf"] is None:
            return ""
        return section("Life", wrapped(f"the run: {_rates(result)}"), style)
    rows = [["", "years", "TBW", "DWPD", "P/E cycles"]]
    facts = [_before(result)]
    if found is not None:
        tbw = (found["tbw_bytes"][end] / 1e12 for end in ENDS)
        ranges = [found[key] for key in ("years", "dwpd", "waf", "cycle_hours")]
        years, dwpd, waf, hours = (_span(*(each[end] for end in ENDS)) for each in ranges)
        rows.append(["rated", years, f"{_span(*tbw)} TB", dwpd, _cell(life["rated"]["cycles"])])
        if recovery:
            recovered = _span(*(found["years_with_recovery"][end] for end in ENDS))
            facts.append(f"with recovery ({recovery['model']}) {recovered} years")
        facts.append(f"write amplification {waf}; a cycle of every block takes {hours} hours")
    else:
        terms = {"rated": life["rated"]}
        if recovery:
            terms[f"recovery ({recovery['model']})"] = recovery
        for name, term in terms.items():
            rows.append(
                [name, _cell(term["years"]), _tb(term), _cell(term["dwpd"]), _cell(term["cycles"])]
            )
        target = life["target"]
        cycles = duration(life["cycle_hours"] * HOUR)
        used = f"{percent(target['used'])} of life used"
        if recovery:
            used += f" ({percent(target['used_effective'])} with recovery)"
        facts += [
            f"a cycle of every block takes {cycles}",
            f"after {target['years']:.4g} years: {number(round(target['cycles']))} cycles, {used}",
        ]
    body = table(rows)
    if found is None and recovery and not recovery["supported"]:
        body += f"\n{style(YELLOW, 'beyond what the recovery model has support for')}"
    if life["end_of_life"]:
        at_end = _keep(life["end_of_life"]["retention_hours"])
        kept = f"data keep for {at_end} at the end of the rated cycles"
        if found is None:
            kept = (
                f"data keep for {_keep(life['target']['retention_hours'])} then, for {at_end} at "
                "the end of the rated cycles"
            )
        facts.append(kept)
    body += "\n" + "\n".join(map(wrapped, facts))
    return section("Life, extrapolated", body, style)


def _rates(result: Result) -> str:
    """The bytes that the run wrote, and its write amplification."""
    life = result.data["lifetime"]
    closed = result.data["provenance"]["config"]["host"]["mode"] == "queue-depth"
    pace = ", as fast as the drive takes them," if closed else ""
    return (
        f"{size(life['host_bytes_per_day'])} of host writes a day{pace} and write amplification "
        f"{life['waf']:.3f} in the run"
    )


def _before(result: Result) -> str:
    """The state in which the run began, and the assumptions."""
    before = result.data["provenance"]["config"]["precondition"]
    words = {"none": "empty", "touched": "filled as far as it is read", "full": "full"}
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
    if target["reached_with_recovery" if counts_recovery else "reached"] is None:
        return "within that range"
    if target["reached"]:
        return "reached"
    if not target["reached_with_recovery"]:
        return "NOT reached"
    return "reached with recovery" if counts_recovery else "NOT reached without recovery"


def advised(advice: Advice, *, colour: bool = False) -> str:
    """The changes that reach the target; empty if it is reached, or if that is not known."""
    data, style = advice.data, Style(colour)
    if data["reached"] is not False:
        return ""
    title = f"To reach {data['target_years']:.4g} years"
    if data["why"]:
        return section(title, wrapped(f"not known: {data['why']}"), style)
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
    if classes is None:
        return ""
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
