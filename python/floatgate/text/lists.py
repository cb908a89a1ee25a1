"""Built-in policies and chips, as pages to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from floatgate import measured
from floatgate.policy import FAMILIES
from floatgate.words import (
    BOLD,
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


def policies(known: Iterable[Mapping[str, Any]], *, details: bool = False) -> str:
    """The policies by family; with details, their parameters and where they were proposed."""
    lines: list[str] = []
    family = None
    for policy in known:
        if policy["family"] != family:
            family = policy["family"]
            lines += ["", filled(f"{family}: {policy['question']}", page_width())]
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
    lines += ["", "* the default policy"]
    return "\n".join(lines).lstrip("\n")


def inherited(known: Iterable[Mapping[str, Any]]) -> str:
    """Settings that a drive file inherits, by the file that gives them."""
    by_file: dict[str, list[str]] = {}
    for each in known:
        default = each["default"]
        other = "no default" if default is None else f"default {_toml(default)}"
        line = f"{each['key']} = {_toml(each['value'])}"
        by_file.setdefault(each["from"], []).append(hanging("  ", f"{line} ({other})"))
    lines = ["Inherited settings that change the drive (and defaults):"]
    for file, settings in by_file.items():
        lines += [filled(f"from {file}", page_width()), *settings]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """A value as a drive file has it; for a policy its name, for another section its keys.

    >>> _toml("any"), _toml({"read": "4uJ", "erase": "1mJ"}), _toml({"name": "fifo"}), _toml(True)
    ('"any"', '{ read, erase }', '"fifo"', 'true')
    """
    if not isinstance(value, dict):
        return json.dumps(value)
    return _toml(value["name"]) if [*value] == ["name"] else f"{{ {', '.join(value)} }}"


def drives(known: Iterable[Mapping[str, Any]]) -> str:
    """The drives: their capacity, their flash and interface, and assumed values."""
    known = list(known)
    rows = [["", "capacity", "flash", "page", "dies", "link", "assumed"]]
    rows += [
        [
            drive["name"],
            size(drive["exported_bytes"]),
            _CELLS.get(drive["bits_per_cell"], f"{drive['bits_per_cell']} bits"),
            size(drive["page_bytes"]),
            number(drive["dies"]),
            _link(drive),
            f"{_assumed(drive)} of {len(drive['settings'])}",
        ]
        for drive in known
    ]
    width = max(len(drive["name"]) for drive in known)
    summaries = [hanging(f"{d['name']:<{width}}  ", d["summary"], page_width()) for d in known]
    about = [
        "assumed: settings without a source, among those that should have one.",
        "`floatgate drives NAME` has each of them.",
    ]
    parts = [table(rows), _speeds(known), "\n".join(summaries), "\n".join(map(wrapped, about))]
    return "\n\n".join(parts)


def _span(value: float | Sequence[float], unit: float = 1) -> str:
    """A number, or the least and the greatest that it can be.

    >>> _span(7.5), _span([4.35e12, 9.82e12], 1e12)
    ('7.50', '4.35-9.82')
    """
    ends = [value] if isinstance(value, int | float) else value
    return "-".join(three(end / unit) for end in ends)


def _speeds(known: Sequence[Mapping[str, Any]]) -> str:
    """How fast the drives are, and how much can be written to them, as it was measured."""
    rows = [["", "IOPS", "MB/s", "MB/s", "WAF", "TBW"], ["", "read", "read", "write", "", "TB"]]
    for drive in known:
        found = drive["measured"]
        cells = ["-"] * 5
        if found is not None:
            cells = [
                short(found["read_iops"]),
                three(found["read_mb_per_s"]),
                three(found["write_mb_per_s"]),
                _span(found["waf"]),
                _span(found["tbw_bytes"], 1e12),
            ]
        rows.append([drive["name"], *cells])
    shipped = {d["name"]: d["measured"] for d in known if d["measured"] is not None}
    about = [
        "IOPS: random reads of 4 KiB, 256 at a time. MB/s: requests of 128 KiB in order, 32 at a "
        "time. WAF: write amplification of random writes of 4 KiB on the full drive, aged by them. "
        "TBW: terabytes that these writes can bring until the rated cycles are used.",
        f"Measured with the build and shipped, digest {measured.digest_of_all(shipped)}; nothing "
        "is measured here.",
    ]
    if len(shipped) < len(known):
        about.append(f"-: its settings changed since; `{measured.RENEW}` measures it.")
    return f"{table(rows)}\n\n" + "\n".join(map(wrapped, about))


_CELLS = {1: "SLC", 2: "MLC", 3: "TLC", 4: "QLC"}


def _link(drive: Mapping[str, Any]) -> str:
    """The rate of the link to the host.

    >>> _link({"link": "3360MB/s"}), _link({"link": None})
    ('3360 MB/s', 'no limit')
    """
    return re.sub(r"(?<=\d)(?=[A-Za-z])", " ", drive["link"] or "no limit")


def _assumed(drive: Mapping[str, Any]) -> int:
    return sum(each["source"].startswith("assumed") for each in drive["settings"].values())


def drive(known: Mapping[str, Any], *, colour: bool = False) -> str:
    """One drive: its size and flash, and every setting under its source."""
    style = Style(colour)
    cells = _CELLS.get(known["bits_per_cell"], f"{known['bits_per_cell']} bits a cell")
    facts = [
        f"{size(known['exported_bytes'])} exported of {size(known['physical_bytes'])} of flash",
        f"{cells}, {number(known['dies'])} dies, pages of {size(known['page_bytes'])}",
        f"link: {_link(known)}",
        *_measured(known["measured"]),
    ]
    sections = [
        wrapped(f"{style(BOLD, known['name'])}  {known['summary']}"),
        section("Drive", "\n".join(map(wrapped, facts)), style),
        section("Sources", _by_source(known["settings"]), style),
    ]
    return "\n\n".join(sections)


def _measured(found: Mapping[str, Any] | None) -> list[str]:
    """The speeds of one drive, as facts."""
    if found is None:
        return []
    return [
        f"{short(found['read_iops'])} random reads of 4 KiB a second, 256 at a time",
        f"{three(found['read_mb_per_s'])} MB/s read and {three(found['write_mb_per_s'])} MB/s "
        "written in order, in requests of 128 KiB, 32 at a time",
        f"{_span(found['tbw_bytes'], 1e12)} TB written until the rated cycles are used, at the "
        f"write amplification {_span(found['waf'])} of random writes of 4 KiB",
        f"measured with the build and shipped, digest {found['digest']}",
    ]


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
            three(chip["read_mb_per_s"]),
            three(chip["program_mb_per_s"]),
        ]
        for chip in known
    ]
    about = (
        "MB/s: page after page on one plane, transfers included.",
        "`floatgate chips NAME` has more, and the source of every number.",
    )
    return f"{table(rows)}\n\n" + "\n".join(map(wrapped, about))


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
        f"page after page on one plane: read {three(known['read_mb_per_s'])} MB/s, "
        f"program {three(known['program_mb_per_s'])} MB/s",
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
    """A value in a unit; if page types differ, the least and the largest."""
    low, high = min(values) / unit, max(values) / unit
    return three(low) if low == high else f"{three(low)}-{three(high)}"


def _page_order(known: Mapping[str, Any]) -> str:
    """The type of each page, and the pages that a second program destroys."""
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
    """Settings with their values, grouped under their common source."""
    groups: dict[str, list[str]] = {}
    for key, setting in settings.items():
        value = setting["value"]
        shown = "/".join(map(str, value)) if isinstance(value, list) else str(value)
        groups.setdefault(setting["source"], []).append(f"{key} {shown}")
    lines = []
    for source, members in groups.items():
        lines += [hanging("", f"{source}:"), hanging("    ", "; ".join(members))]
    return "\n".join(lines)
