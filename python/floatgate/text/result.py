"""The result as a page to read: the answer first, bookkeeping last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.result import declared
from floatgate.result.answers import FEW, amplification, answer
from floatgate.result.run import Result
from floatgate.result.scaled import in_words
from floatgate.result.units import UNITS, is_number, unit_of, within
from floatgate.result.values import OPERATIONS, called, data, delays, flat, slowest
from floatgate.text import explained
from floatgate.words import (
    BOLD,
    RED,
    YELLOW,
    Style,
    duration,
    filled,
    hanging,
    number,
    page_width,
    section,
    short,
    size,
    table,
    three,
    wrapped,
)


def page(result: Result, *, colour: bool = False) -> str:
    """The whole result, section by section; parts that did not happen are left out."""
    style = Style(colour)
    sections = [
        head(result, style),
        warnings(result, style, changing=True),
        _host(result, style),
        _causes(result, style),
        _flows(result, style),
        _flash(result, style),
        _drive(result, style),
        _cells(result, style),
        *_others(result, style),
        _policies(result, style),
        _notes(result, style),
        warnings(result, style, changing=False),
        _checks(result, style),
        effort(result),
    ]
    return "\n\n".join(section for section in sections if section)


def head(result: Result, style: Style, first: str = "") -> str:
    """The run, its results, and its end; `first` has lines on other requested output."""
    end = result.end
    lines = [style(BOLD, result.name)]
    if end.state != "completed":
        reason = f": {end.reason}" if end.reason else ""
        lines.append(style(YELLOW, f"Ended at {duration(end.at_ns)}, {end.state}{reason}"))
    said = [first, wrapped(" ".join(answer(result)))]
    return "\n".join([*lines, *filter(None, said)])


def effort(result: Result) -> str:
    """The name of the run, and its cost."""
    timing = result.timing
    took = f"simulated in {duration(timing['wall_seconds'] * 1e9)} of wall time"
    if timing["cpu_seconds"] is not None:
        took += f" ({duration(timing['cpu_seconds'] * 1e9)} of processor time)"
    kinds = {"page_ops_per_second": "page op/s", "requests_per_second": "requests/s"}
    rates = [f"{short(timing[key])} {unit}" for key, unit in kinds.items() if timing[key]]
    facts = [
        f"Run {result.run_id}, seed {result.provenance.seed}",
        f"{number(result.checks.requests_served)} requests in "
        f"{duration(result.simulated_seconds * 1e9)} of drive time",
        took,
        *([f"{' and '.join(rates)} of wall time, once preconditioned"] if rates else []),
    ]
    return filled("; ".join(facts), page_width())


def _host(result: Result, style: Style) -> str:
    seconds = result.simulated_seconds
    rows = [["", "requests", "data", "IOPS", "mean", "p50", "p99", "p99.9", "max"]]
    for op in _operations(result):
        host = result.host[op]
        latency = host.latency_ns
        times = [duration(latency[key]) for key in ("mean", "p50", "p99", "p99_9", "max")]
        iops = _iops(host.requests, seconds)
        rows.append([op, short(host.requests), data(op, host.bytes), iops, *times])
    body = table(rows)
    cells = result.flash.page_latency_ns
    pages = [f"{op} {duration(cells[op]['mean'])}" for op in ("read", "write") if cells[op]["mean"]]
    if pages:
        body += f"\nmean time of a page operation: {', '.join(pages)}"
    return section("Host requests: latency from arrival to completion", body, style)


def _iops(requests: int, seconds: float) -> str:
    """Requests a second; a few requests have no rate."""
    return short(float(f"{requests / seconds:.3g}")) if seconds and requests >= 10 else "-"


def _operations(result: Result) -> list[str]:
    """The host operations that occurred, and their sum where there are several."""
    ops = [op for op in OPERATIONS[:-1] if result.host[op].requests]
    return [*ops, "all"] if len(ops) > 1 else ops


def _causes(result: Result, style: Style) -> str:
    """The causes of a request's time: the causes below each other, the operations side by side."""
    ops = _operations(result)
    if len(ops) > 4:
        ops.remove("all")  # Five do not fit a line.
    body = _split({op: delays(result.host[op]) for op in ops})
    shown = section("Mean latency by cause", body, style) if body else ""
    body = _split({op: slowest(result.host[op]) for op in ops})
    if body and any(of.slowest.requests <= FEW * of.requests for of in map(result.host.get, ops)):
        shares = ", ".join(_slow(op, result.host[op]) for op in ops)
        title = "Why p99 is high: the slowest requests by cause"
        shown += "\n\n" + section(title, f"{body}\n{wrapped(f'slowest: {shares}')}", style)
    return shown


def _slow(op: str, host: Mapping[str, Any]) -> str:
    """The slowest requests of an operation: their share, and the least of their latencies."""
    found = host["slowest"]
    share = three(100 * found["requests"] / host["requests"])
    name = "all requests" if op == "all" else f"{op}{'es' if op.endswith('sh') else 's'}"
    return f"{share} % of {name} ({duration(found['from_ns'])} or more)"


def _split(split: Mapping[str, Mapping[str, float]]) -> str:
    """A table of mean delays by cause and operation; empty without any."""
    ops = list(split)
    if not all(split.values()):
        return ""
    rows = []
    for cause in next(iter(split.values()), {}):
        means = [split[op][cause] for op in ops]
        if not any(means):
            continue
        row = [called(cause)]
        for op, mean in zip(ops, means, strict=True):
            whole = sum(split[op].values())
            row += [duration(mean), f"{100 * mean / whole:.1f} %" if whole else "-"]
        rows.append(row)
    header = ["", *(cell for op in ops for cell in (op, ""))]
    return table([header, *rows]) if rows else ""


def _flows(result: Result, style: Style) -> str:
    """The share of each flow."""
    flows = result.data["host"].get("flows") or {}
    seconds = result.simulated_seconds
    rows = [["", "requests", "data", "IOPS", "mean", "p99", "p99.9", "max"]]
    for name, flow in flows.items():
        host = flow["all"]
        latency = host["latency_ns"]
        times = [duration(latency[key]) for key in ("mean", "p99", "p99_9", "max")]
        iops = _iops(host["requests"], seconds)
        rows.append([_shortened(name), short(host["requests"]), size(host["bytes"]), iops, *times])
    return section("Flows", table(rows), style) if flows else ""


def _shortened(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:15]}..."


def beside(compared: Mapping[str, Any], *, colour: bool = False) -> str:
    """The slowdown of flows by each other; `compared` is the result of `floatgate.runs.alone`."""
    rows = [["", "mean here", "alone", "slowdown"]]
    for name, flow in compared["flows"].items():
        slowdown = flow["slowdown"]
        times = [duration(flow[key]) for key in ("mean_ns", "alone_mean_ns")]
        rows.append([_shortened(name), *times, f"{slowdown:.2f}" if slowdown else "-"])
    fairness = compared["fairness"]
    said = "cannot be told" if fairness is None else f"{fairness:.3f}"
    body = f"{table(rows)}\nfairness, the least slowdown over the greatest: {said}"
    return section("Beside the other flows and alone", body, Style(colour))


def _flash(result: Result, style: Style) -> str:
    flash = result.flash
    kinds = [k for k in ("read", "program", "reprogram") if flash[k].total or k != "reprogram"]
    kinds.append("erase")
    often = ("host", "gc")
    known = [s for s in flash.program if s != "total"]
    sources = [s for s in known if s in often or any(flash[k][s] for k in kinds)]
    body = ""
    for form in (number, short):
        rows = [["", *sources, "total"]]
        for kind in kinds:
            label = f"{kind} {'blocks' if kind == 'erase' else 'pages'}"
            rows.append([label, *(form(flash[kind][column]) for column in [*sources, "total"])])
        body = table(rows)
        if len(body.splitlines()[-1]) + 2 <= page_width():
            break
    facts = []
    demands = {s: n for s, n in flash.gc_erase_by_demand.items() if s != "total" and n}
    if len(demands) > 1:
        facts.append(f"GC erases forced by {_list(demands)}")
    facts += [f"{number(flash[key])} {words}" for key, words in _FLASH_FACTS.items() if flash[key]]
    if (left := result.data["end"]["work_left"]) and left["die_seconds"]:
        work = _list({"page moves": left["moves"], "erases": left["erases"]})
        time = duration(left["die_seconds"] * 1e9)
        facts.append(f"left to do at the end: {work}, {time} of die time")
    if facts:
        body += "\n" + wrapped("; ".join(facts))
    waf = "" if result.waf is None else f": write amplification {amplification(result)}"
    return section(f"Flash operations by source{waf}", body, style)


_FLASH_FACTS = {
    "unmapped_reads": "reads of pages never written",
    "pending_reads": "reads of pages on their way to flash",
    "rmw_reads": "reads for read-modify-write",
    "skipped_pages": "pages skipped",
    "uncorrectable": "uncorrectable reads",
}


def prepared(result: Result) -> str:
    """How the drive was filled and aged before the run."""
    before = result.provenance.config.precondition
    fills = {"none": "empty", "touched": "filled as far as it is read", "full": "full"}
    fill = fills.get(str(before.fill), f"filled ({before.fill})")
    ages = {"random": "aged by random writes", "workload": "aged by the workload itself"}
    return f"before the run: {fill}, {ages.get(before.age, 'not aged')}"


def _drive(result: Result, style: Style) -> str:
    capacity, wear = result.capacity, result.wear
    lines = [
        f"{size(capacity.logical_bytes)} of {size(capacity.physical_bytes)} exported: "
        f"over-provisioning {100 * capacity.over_provisioning:.1f} %, "
        f"spare factor {100 * capacity.spare_factor:.1f} %",
        *filter(None, [in_words(result.data)]),
        prepared(result),
        f"erases per block: {_spread(wear.erases)}",
    ]
    if _spread(wear.effective) != _spread(wear.erases):
        lines.append(f"effective P/E cycles per block: {_spread(wear.effective)}")
    blocks = {"free": "free_blocks", "low-density": "low_density_blocks", "bad": "bad_blocks"}
    counts = {name: capacity[key] for name, key in blocks.items() if capacity[key]}
    if counts:
        lines.append(f"blocks at the end: {_list(counts)}")
    if result.data.get("buffer"):
        lines.append(_buffer(result.data["buffer"]))
    if result.data.get("slc_cache"):
        lines.append(_slc_cache(result.data["slc_cache"]))
    if result.energy_joules:
        parts = {k: v for k, v in result.energy_joules.items() if k != "total" and v}
        lines.append(f"energy {number(result.energy_joules.total)} J ({_list(parts, ' J')})")
        if split := result.data.get("energy_split"):
            lines.append(_energy_split(split))
    return section("Drive", "\n".join(map(wrapped, lines)), style)


def _buffer(buffer: Mapping[str, Any]) -> str:
    """The work of the write buffer, in pages."""
    most, pages = number(buffer["most"]), number(buffer["pages"])
    counts = {"absorbed": "absorbed", "sent": "flushed", "reads answered": "read_hits"}
    counts |= {"writes that waited": "waited", "left": "left"}
    did = {name: buffer[key] for name, key in counts.items() if buffer[key]}
    shown = f"write buffer: {most} of {pages} pages taken at most"
    if did:
        shown += f"; {_list(did)}"
    if drain := buffer.get("drain_ns"):
        shown += f"; emptied {duration(drain)} after the last request"
    return shown


def _slc_cache(cache: Mapping[str, Any]) -> str:
    """The data that the SLC cache took and folded, and its fill at the end."""
    taken = {"taken": "cached_bytes", "written past it": "direct_bytes", "folded": "folded_bytes"}
    did = ", ".join(f"{name} {size(cache[key])}" for name, key in taken.items())
    shown = f"SLC cache: {did}; {size(cache['used_bytes'])} of {size(cache['room_bytes'])} in use"
    if cache["full_ns"]:
        shown += f"; without room for {duration(cache['full_ns'])}"
    return shown


def _energy_split(split: Mapping[str, Any]) -> str:
    """Energy by source, and for each byte of the host."""
    sources = {source: joules for source, joules in split["source"].items() if joules}
    shown = f"by source: {_list(sources, ' J')}" if sources else "none of it by operations"
    if split["per_host_byte"] is not None:
        shown += f"; {number(split['per_host_byte'] * 1e9)} nJ for each byte of the host"
    return shown


def _spread(values: Mapping[str, Any]) -> str:
    low, high = number(values["min"]), number(values["max"])
    return f"{low} to {high}, mean {number(values['mean'])}, deviation {number(values['stddev'])}"


def _list(counts: Mapping[str, float], unit: str = "") -> str:
    return ", ".join(f"{name} {number(count)}{unit}" for name, count in counts.items())


def _cells(result: Result, style: Style) -> str:
    """The results of the cell model, if it is on."""
    from floatgate.text.cells import simulated

    return simulated(result, style)


def _others(result: Result, style: Style) -> list[str]:
    """The sections that have no form of their own, field by field."""
    shown = []
    for each in declared.others():
        value = result.data.get(each.name)
        if value is None:
            continue
        rows = {within(path): _field(path, v) for path, v in flat(value, each.name, lists=True)}
        width = max(map(len, rows), default=0)
        lines = [hanging(f"{name:<{width}}  ", field) for name, field in rows.items()]
        body = "\n".join([wrapped(each.about), *lines])
        shown.append(section(each.name, body, style))
    return shown


def _field(path: str, value: object) -> str:
    """A value of a section with its unit, for a table."""
    if value is None:
        return "-"
    if isinstance(value, list):
        rows = all(isinstance(each, Mapping) for each in value)
        return "; ".join(map(_row, value)) if rows else ", ".join(map(str, value))
    if not is_number(value):
        return str(value)
    assert isinstance(value, int | float)
    if unit := unit_of(path):
        return UNITS[unit].show(value)
    found = declared.at(path)
    return f"{number(value)} {found[0] if found else ''}".strip()


def _row(table: Mapping[str, Any]) -> str:
    """A table of a list, in one line."""
    return ", ".join(
        f"{key} {'-' if value is None else number(value) if is_number(value) else value}"
        for key, value in table.items()
    )


def _policies(result: Result, style: Style) -> str:
    lines = []
    for family, policy in result.policies.items():
        if not policy["counters"]:
            continue  # "none" does nothing
        params = ", ".join(f"{key} {value}" for key, value in policy["params"].items())
        counters = "; ".join(
            f"{key.replace('_', ' ')} {number(value) if is_number(value) else value}"
            for key, value in policy["counters"].items()
        )
        what = policy["name"] + (f" ({params})" if params else "")
        what += f": {counters}" if counters else ""
        lines.append(hanging(f"{family:<13} ", what))
    return section("Policies", "\n".join(lines), style) if lines else ""


def _checks(result: Result, style: Style) -> str:
    checks = result.checks
    body = [
        f"requests generated {number(checks.requests_generated)}, "
        f"served {number(checks.requests_served)}",
        f"programs {number(checks.programs)}, "
        f"host pages and moves {number(checks.host_plus_moves)}"
        + (f", padding {number(checks.padding)}" if checks.padding else ""),
        f"pages mapped {number(checks.mapped)}, pages valid {number(checks.valid)}",
    ]
    if checks.little_law_error is not None:
        body.append(f"Little's law holds within {100 * abs(checks.little_law_error):.2g} %")
    if checks.passed is None:
        title = "Checks passed, but for those that do not apply to a drive whose life ended"
        return section(title, "\n".join(body), style)
    if checks.passed:
        return section("Checks passed", "\n".join(body), style)
    return section(style(RED, "CHECKS FAILED: do not trust this result"), "\n".join(body), style)


def _notes(result: Result, style: Style) -> str:
    """Findings and decisions at the opening of the workload."""
    workload = result.data["provenance"]["workload"]
    lines = [hanging("- ", note) for note in workload["notes"]]
    if workload["stand_in"]:
        from floatgate.workloads.stand_ins import expectation

        lines.append(hanging("- ", expectation()))
    return section("Workload", "\n".join(lines), style) if lines else ""


def warnings(result: Result, style: Style, *, changing: bool | None = None) -> str:
    """Numbers that should not be trusted, and settings without an effect.

    Args:
        result: The result whose warnings are shown.
        style: Colour, or none.
        changing: Only those that change the meaning of the result, or only the others.
    """
    told = [
        w for w in result.warnings if changing in (None, explained.changes_the_answer(w["code"]))
    ]
    lines = [hanging("- ", f"{w['text']} [{w['code']}]") for w in told]
    before = result.provenance.config.precondition
    for words, why in explained.to_add([w["code"] for w in told], before).items():
        lines.append(hanging("  ", f"Add {words}: {why}"))
    title = style(YELLOW, explained.title(changing))
    return section(title, "\n".join(lines), style) if lines else ""
