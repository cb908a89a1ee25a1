"""The result as a page to read: at most 80 columns, plain where standard output is no terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.policy import FAMILIES
from floatgate.result.run import SOURCES, Result, delays
from floatgate.terminal import control

if TYPE_CHECKING:
    from pathlib import Path

    from floatgate.migrate import Converted

SHAPES_RESULTS = False

WIDTH = 80
BOLD, RED, YELLOW = "1", "31", "33"


def page(result: Result, *, colour: bool = False) -> str:
    """The whole result, section by section; what did not happen is left out."""
    style = Style(colour)
    sections = [
        head(result, style),
        _host(result, style),
        _causes(result, style),
        _flash(result, style),
        _drive(result, style),
        _cells(result, style),
        _policies(result, style),
        _checks(result, style),
        _notes(result, style),
        warnings(result, style),
    ]
    return "\n\n".join(section for section in sections if section)


def colour_wanted() -> bool:
    """Whether standard output is a terminal whose user has not asked for plain text."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


class Style:
    """Colour, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, code: str, text: str) -> str:
        """The text in a colour of the terminal."""
        if not self._colour:
            return text
        return control(f"\033[{code}m") + text + control("\033[0m")


def duration(ns: float | None) -> str:
    """A length of time in the unit that suits it.

    >>> duration(812_345), duration(42), duration(7.2e12), duration(None)
    ('812 us', '42 ns', '2.00 h', '-')
    """
    if ns is None:
        return "-"
    if ns < 999.5:
        return f"{ns:.0f} ns"
    for unit, length, limit in _TIMES:
        if ns < limit:
            return f"{_three(ns / length)} {unit}"
    return f"{_three(ns / 86_400e9)} d"


def size(count: float | None) -> str:
    """A number of bytes in the binary unit that suits it.

    >>> size(4096), size(68_719_476_736), size(512)
    ('4.00 KiB', '64.0 GiB', '512 B')
    """
    if count is None:
        return "-"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1000:
            return f"{_three(count)} {unit}"
        count /= 1024
    return f"{_three(count)} PiB"


def number(value: float | None) -> str:
    """A count in full, other numbers with four digits.

    >>> number(1_234_567), number(1.83), number(None)
    ('1,234,567', '1.83', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, int) or (value.is_integer() and value < 1e15):
        return f"{int(value):,}"
    return f"{value:.4g}"


def short(value: float) -> str:
    """A large count in little room.

    >>> short(950), short(12_345_678)
    ('950', '12.3 M')
    """
    for unit, one in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= one:
            return f"{_three(value / one)} {unit}"
    return number(value)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns under each other, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


_TIMES = (
    ("us", 1e3, 1e6),
    ("ms", 1e6, 1e9),
    ("s", 1e9, 120e9),
    ("min", 60e9, 7_200e9),
    ("h", 3_600e9, 172_800e9),
)


def _three(value: float) -> str:
    """Three digits that count, and no less than the whole part."""
    if isinstance(value, int) or value == 0 or value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.{2 if value < 9.995 else 1}f}"


def section(title: str, body: str, style: Style) -> str:
    """A title, and below it what belongs to it."""
    return f"{style(BOLD, title)}\n{textwrap.indent(body, '  ')}"


def head(result: Result, style: Style) -> str:
    """What ran, how long, and how it ended."""
    end, checks, timing = result.end, result.checks, result.timing
    seed = result.provenance.seed
    title = f"{style(BOLD, result.name)}  (seed {seed}, run {result.run_id})"
    speed = timing["page_ops_per_second"]
    lines = [
        f"{number(checks.requests_served)} requests in {duration(result.simulated_seconds * 1e9)} "
        f"of drive time; simulated in {duration(timing['wall_seconds'] * 1e9)} of wall time",
    ]
    if speed:
        lines[0] += f", {short(speed)} page op/s"
    lines = [wrapped(line) for line in lines]
    if end.state != "completed":
        reason = f": {end.reason}" if end.reason else ""
        lines.append(style(YELLOW, f"Ended at {duration(end.at_ns)}, {end.state}{reason}"))
    return "\n".join([title, *lines])


def _host(result: Result, style: Style) -> str:
    seconds = result.simulated_seconds
    rows = [["", "requests", "data", "IOPS", "mean", "p50", "p99", "p99.9", "max"]]
    for op in _operations(result):
        host = result.host[op]
        latency = host.latency_ns
        times = [duration(latency[key]) for key in ("mean", "p50", "p99", "p99_9", "max")]
        iops = short(float(f"{host.requests / seconds:.3g}")) if seconds else "-"
        rows.append([op, short(host.requests), size(host.bytes), iops, *times])
    body = table(rows)
    cells = result.flash.page_latency_ns
    pages = [f"{op} {duration(cells[op]['mean'])}" for op in ("read", "write") if cells[op]["mean"]]
    if pages:
        body += f"\npage latency in flash, mean: {', '.join(pages)}"
    return section("Host requests: latency from arrival to completion", body, style)


def _operations(result: Result) -> list[str]:
    """The host operations that occurred, and their sum where there are several."""
    ops = [op for op in ("read", "write", "trim") if result.host[op].requests]
    return [*ops, "all"] if len(ops) > 1 else ops


def _causes(result: Result, style: Style) -> str:
    """Where a request's time goes: the causes below each other, the operations side by side."""
    ops = _operations(result)
    split = {op: delays(result.host[op]) for op in ops}
    rows = []
    for cause in next(iter(split.values()), {}):
        means = [split[op][cause] for op in ops]
        if not any(means):
            continue
        row = [_CAUSES.get(cause) or f"waiting behind {cause.removeprefix('queue.')}"]
        for op, mean in zip(ops, means, strict=True):
            whole = sum(split[op].values())
            row += [duration(mean), f"{100 * mean / whole:.1f} %" if whole else "-"]
        rows.append(row)
    if not rows:
        return ""
    header = ["", *(cell for op in ops for cell in (op, ""))]
    return section("Mean latency by cause", table([header, *rows]), style)


_CAUSES = {
    "throttle": "throttled",
    "bus": "on the channel",
    "array": "in the flash array",
    "ecc": "in error correction",
}


def _flash(result: Result, style: Style) -> str:
    flash = result.flash
    kinds = [k for k in ("read", "program", "reprogram") if flash[k].total or k != "reprogram"]
    kinds.append("erase")
    sources = [s for s in SOURCES if s in ("host", "gc") or any(flash[k][s] for k in kinds)]
    body = ""
    for form in (number, short):
        rows = [["", *sources, "total"]]
        for kind in kinds:
            label = f"{kind} {'blocks' if kind == 'erase' else 'pages'}"
            rows.append([label, *(form(flash[kind][column]) for column in [*sources, "total"])])
        body = table(rows)
        if len(body.splitlines()[-1]) + 2 <= WIDTH:
            break
    facts = []
    demands = {s: n for s, n in flash.gc_erase_by_demand.items() if s != "total" and n}
    if len(demands) > 1:
        facts.append(f"GC erases forced by {_list(demands)}")
    facts += [f"{number(flash[key])} {words}" for key, words in _FLASH_FACTS.items() if flash[key]]
    if facts:
        body += "\n" + wrapped("; ".join(facts))
    waf = "" if result.waf is None else f": write amplification {result.waf:.3f}"
    return section(f"Flash operations by source{waf}", body, style)


_FLASH_FACTS = {
    "unmapped_reads": "reads of pages never written",
    "rmw_reads": "reads for read-modify-write",
    "skipped_pages": "pages skipped",
    "uncorrectable": "uncorrectable reads",
}


def _drive(result: Result, style: Style) -> str:
    capacity, wear = result.capacity, result.wear
    lines = [
        f"{size(capacity.logical_bytes)} of {size(capacity.physical_bytes)} exported: "
        f"over-provisioning {100 * capacity.over_provisioning:.1f} %, "
        f"spare factor {100 * capacity.spare_factor:.1f} %",
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
    if result.energy_joules:
        parts = {k: v for k, v in result.energy_joules.items() if k != "total" and v}
        lines.append(f"energy {number(result.energy_joules.total)} J ({_list(parts)})")
        if split := result.data.get("energy_split"):
            lines.append(_energy_split(split))
    return section("Drive", "\n".join(map(wrapped, lines)), style)


def _buffer(buffer: Mapping[str, Any]) -> str:
    """What the write buffer did, in pages."""
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


def _energy_split(split: Mapping[str, Any]) -> str:
    """Who the energy was for, and what the host pays for a byte."""
    sources = {source: joules for source, joules in split["source"].items() if joules}
    shown = f"of its operations: {_list(sources)}" if sources else "none of it for operations"
    if split["per_host_byte"] is not None:
        shown += f"; {number(split['per_host_byte'] * 1e9)} nJ for each byte of the host"
    return shown


def _spread(values: Mapping[str, Any]) -> str:
    low, high = number(values["min"]), number(values["max"])
    return f"{low} to {high}, mean {number(values['mean'])}, deviation {number(values['stddev'])}"


def _list(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(count)}" for name, count in counts.items())


def _cells(result: Result, style: Style) -> str:
    """What the model of the cells showed, where it is on."""
    from floatgate.text.lifetime import simulated

    return simulated(result, style)


def _policies(result: Result, style: Style) -> str:
    lines = []
    for family, policy in result.policies.items():
        if not policy["counters"]:
            continue  # "none" does nothing
        params = ", ".join(f"{key} {value}" for key, value in policy["params"].items())
        counters = "; ".join(
            f"{key.replace('_', ' ')} {number(value) if _is_number(value) else value}"
            for key, value in policy["counters"].items()
        )
        what = policy["name"] + (f" ({params})" if params else "")
        what += f": {counters}" if counters else ""
        lines.append(hanging(f"{family:<13} ", what))
    return section("Policies", "\n".join(lines), style) if lines else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checks(result: Result, style: Style) -> str:
    checks = result.checks
    body = [
        f"requests generated {number(checks.requests_generated)}, "
        f"served {number(checks.requests_served)}",
        f"programs {number(checks.programs)}, "
        f"host pages and moves {number(checks.host_plus_moves)}",
        f"pages mapped {number(checks.mapped)}, pages valid {number(checks.valid)}",
    ]
    if checks.little_law_error is not None:
        body.append(f"Little's law holds within {100 * abs(checks.little_law_error):.2g} %")
    if checks.passed:
        return section("Checks passed", "\n".join(body), style)
    return section(style(RED, "CHECKS FAILED: do not trust this result"), "\n".join(body), style)


def _notes(result: Result, style: Style) -> str:
    """What was found and decided when the workload was opened."""
    workload = result.data["provenance"]["workload"]
    lines = [hanging("- ", note) for note in workload["notes"]]
    if workload["stand_in"]:
        from floatgate.workloads.stand_ins import expectation

        lines.append(hanging("- ", expectation()))
    return section("Workload", "\n".join(lines), style) if lines else ""


def warnings(result: Result, style: Style) -> str:
    """Where a number should not be trusted, or a setting could not matter."""
    lines = [hanging("- ", f"{w['text']} [{w['code']}]") for w in result.warnings]
    return section(style(YELLOW, "Warnings"), "\n".join(lines), style) if lines else ""


def wrapped(text: str) -> str:
    """A fact on lines that fit a section."""
    return textwrap.fill(text, WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False)


def hanging(label: str, text: str) -> str:
    """A paragraph whose lines stand beside its label."""
    indent = " " * len(label)
    return textwrap.fill(
        text, WIDTH - 2, initial_indent=label, subsequent_indent=indent, break_on_hyphens=False
    )


def policies(known: Iterable[Mapping[str, Any]], *, details: bool = False) -> str:
    """The policies by family; with details, their parameters and where they were proposed."""
    lines: list[str] = []
    family = None
    for policy in known:
        if policy["family"] != family:
            family = policy["family"]
            lines += ["", f"{family}: {policy['question']}"]
        label = policy["name"] + (" *" if policy["default"] else "")
        lines.append(hanging(f"  {label:<16} ", policy["summary"]))
        if not details:
            continue
        facts = [
            f"{p['name']}: {p['values']}, by default {p['default']}; {p['summary']}"
            for p in policy["params"]
        ]
        facts += [f"{key} {', '.join(policy[key])}" for key in ("needs", "forbids") if policy[key]]
        facts.append(f"from: {policy['paper']}")
        lines += [hanging(" " * 19, fact) for fact in facts]
    if details and family in FAMILIES:
        own = f"Your own in Python: a class like floatgate.policy.{FAMILIES[family].__name__}."
        lines.append(hanging("  py:module.Class  ", own))
    lines += ["", "* the policy of a drive that names none"]
    return "\n".join(lines).lstrip("\n")


def conversion(all_of: Sequence[Converted], out: Path) -> str:
    """What became of other simulators' files, on one screen."""
    lines: list[str] = []
    lost: dict[str, list[str]] = {}
    for converted in all_of:
        words = Counter(fate.word for fate in converted.fates)
        lines += [
            hanging(
                f"{converted.source} ({converted.simulator}) -> ",
                ", ".join(str(out / name) for name in converted.files if "-flow-" not in name),
            ),
            f"  {len(converted.fates)} parameters: {words['carried']} carried over, "
            f"{words['settled']} with nothing to set, {words['lost']} not carried over",
        ]
        for fate in converted.lost:
            names = lost.setdefault(fate.note, [])
            if (name := fate.name.rpartition(": ")[2]) not in names:
                names.append(name)
    if lost:
        lines += ["", "Not carried over:"]
        for note, names in sorted(lost.items(), key=lambda item: -len(item[1])):
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            said = f"{names[0]}{more}: {note}"
            lines.append("  " + textwrap.shorten(said, WIDTH - 2, placeholder=" …"))
    missing = [name for converted in all_of for name in converted.missing]
    if missing:
        lines += ["", "Not there yet, and needed:", *(f"  {name}" for name in missing)]
    runs = [run for converted in all_of for run in converted.runs]
    if runs:
        lines += ["", "Run them:"]
        lines += [f"  floatgate run {out / drive} {out / work}" for drive, work in runs]
    lines += ["", "`--list` says what each parameter became."]
    return "\n".join(lines)


def fates(all_of: Sequence[Converted]) -> str:
    """What became of each parameter of other simulators' files."""
    from floatgate.migrate import written

    heads = {
        "carried": "carried over",
        "settled": "with nothing to set",
        "lost": "not carried over",
    }
    lines: list[str] = []
    for converted in all_of:
        for word, head in heads.items():
            some = [fate for fate in converted.fates if fate.word == word]
            if not some:
                continue
            total = len(converted.fates)
            lines += ["", f"{converted.source}: {head} ({len(some)} of {total}):"]
            for fate in some:
                became = ", ".join(f"{key} = {written(value)}" for key, value in fate.ours.items())
                what = f"{became} ({fate.note})" if became and fate.note else became or fate.note
                lines += [f"  {fate.name} = {fate.value}", hanging("      ", what)]
    return "\n".join(lines).lstrip("\n")


def chips(known: Iterable[Mapping[str, Any]]) -> str:
    """The chips below each other: pages, times, endurance and the bandwidth that follows."""
    rows = [
        ["", "bits", "page", "read", "program", "erase", "cycles", "MB/s", "MB/s"],
        ["", "/cell", "KiB", "us", "us", "ms", "", "read", "program"],
    ]
    rows += [
        [
            chip["name"],
            number(chip["bits_per_cell"]),
            number(chip["page_bytes"] / 1024),
            _range(chip["read_ns"], 1e3),
            _range(chip["program_ns"], 1e3),
            _range([chip["erase_ns"]], 1e6),
            number(chip["endurance"]),
            _three(chip["read_mb_per_s"]),
            _three(chip["program_mb_per_s"]),
        ]
        for chip in known
    ]
    about = (
        "MB/s: page after page on one plane, transfers included.\n"
        "`floatgate chips NAME` has more, and the source of every number."
    )
    return f"{table(rows)}\n\n{about}"


def chip(known: Mapping[str, Any], *, colour: bool = False) -> str:
    """One chip: its array, times and energies, and every setting under its source."""
    style = Style(colour)
    energy = known["energy_joules"]
    array = [
        f"{size(known['chip_bytes'])}: dies {number(known['dies_per_chip'])}, planes in each "
        f"{number(known['planes_per_die'])}, blocks in each {number(known['blocks_per_plane'])}, "
        f"pages in each {number(known['pages_per_block'])}, of {size(known['page_bytes'])}",
        f"bits per cell {number(known['bits_per_cell'])}, "
        f"rated cycles {number(known['endurance'])}",
        _page_order(known),
    ]
    times = [
        f"read {_range(known['read_ns'], 1e3)} us, program {_range(known['program_ns'], 1e3)} us, "
        f"erase {duration(known['erase_ns'])}, transfer {duration(known['transfer_ns'])}",
        f"page after page on one plane: read {_three(known['read_mb_per_s'])} MB/s, "
        f"program {_three(known['program_mb_per_s'])} MB/s",
    ]
    sections = [
        wrapped(f"{style(BOLD, known['name'])}  {known['summary']}"),
        section("Array", "\n".join(map(wrapped, array)), style),
        section("Times", "\n".join(map(wrapped, times)), style),
    ]
    if energy:
        joules = [
            f"read {_range(energy['read'], 1e-6)} uJ, program {_range(energy['program'], 1e-6)} "
            f"uJ, erase {_range([energy['erase']], 1e-6)} uJ"
        ]
        if known["idle_watts"] is not None:
            joules.append(f"idle {number(known['idle_watts'] * 1e3)} mW")
        sections.append(section("Energy", "\n".join(map(wrapped, joules)), style))
    sections.append(section("Sources", _by_source(known["settings"]), style))
    return "\n\n".join(sections)


def _range(values: Sequence[float], unit: float) -> str:
    """A value in a unit; where page types differ, the least and the largest."""
    low, high = min(values) / unit, max(values) / unit
    return _three(low) if low == high else f"{_three(low)}-{_three(high)}"


def _page_order(known: Mapping[str, Any]) -> str:
    """Which pages are of which type, and what programming a page again spoils."""
    types, pages = known["page_types"], known["pages_per_block"]
    if known["bits_per_cell"] == 1:
        return "programming a page again disturbs no other page (WOM-safe: all)"
    first = [page for page, kind in enumerate(types) if kind == 0]
    last = [page for page, kind in enumerate(types) if kind == known["bits_per_cell"] - 1]
    shown = [", ".join(map(str, some[:6])) + " ..., " + str(some[-1]) for some in (first, last)]
    return (
        f"pages {shown[0]} hold first bits, {shown[1]} last bits; programming one of the latter "
        f"again spoils the earlier pages of its cells "
        f"(WOM-safe: {number(known['wom_safe_pages'])} of {number(pages)})"
    )


def _by_source(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """Settings with their values, gathered under the source that they share."""
    groups: dict[str, list[str]] = {}
    for key, setting in settings.items():
        value = setting["value"]
        shown = "/".join(map(str, value)) if isinstance(value, list) else str(value)
        groups.setdefault(setting["source"], []).append(f"{key} {shown}")
    lines = []
    for source, members in groups.items():
        lines += [hanging("", f"{source}:"), hanging("    ", "; ".join(members))]
    return "\n".join(lines)
