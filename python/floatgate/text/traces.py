"""The catalogue of traces as a page to read: at most 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from floatgate.hints import nearest
from floatgate.mistakes import UnknownNameError
from floatgate.words import duration, hanging, number, page_width, short, table

Trace = Mapping[str, Any]


def chosen(catalogue: Mapping[str, Any], name: str | None) -> list[Trace]:
    """The traces of a group or a publisher, or the one trace that has the name."""
    traces: list[Trace] = catalogue["traces"]
    if name is None:
        return traces
    for group in catalogue["groups"]:
        if group["name"] == name:
            of = {trace["name"]: trace for trace in traces}
            return [of[member] for member in group["traces"]]
    publishers = list(dict.fromkeys(trace["name"].split(":")[0] for trace in traces))
    if name in publishers:
        return [trace for trace in traces if trace["name"].startswith(f"{name}:")]
    for trace in traces:
        if name == trace["name"] or name in trace["aliases"]:
            return [trace]
    raise UnknownNameError(_unknown(catalogue, name, publishers))


def _unknown(catalogue: Mapping[str, Any], name: str, publishers: Sequence[str]) -> str:
    groups = [group["name"] for group in catalogue["groups"]]
    names = [n for trace in catalogue["traces"] for n in (trace["name"], *trace["aliases"])]
    complete = [full for full in names if full.partition(":")[2] == name]
    near = complete or nearest(name, [*groups, *publishers, *names])
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return (
        f"`{name}` is not a group ({', '.join(groups)}), no publisher ({', '.join(publishers)}) "
        f"and no trace of the catalogue{hint}"
    )


def page(catalogue: Mapping[str, Any], traces: Sequence[Trace], name: str | None) -> str:
    """Facts about the traces, and which of them are available."""
    groups = {group["name"]: group for group in catalogue["groups"]}
    if name in groups:
        title = f"{name}: {groups[name]['title']}"
        sections = [_wrapped(title), _rows(traces), _wrapped(groups[name]["choice"])]
    elif len(traces) == 1 and name is not None and ":" in name:
        return _details(traces[0], groups)
    else:
        sections = []
        for collection, members in groupby(traces, key=lambda trace: trace["collection"]):
            sections.append(f"{_wrapped(collection)}\n{_listed(list(members))}")
    if name is None and catalogue["also_there"]:
        sections.append(_also_there(catalogue["also_there"]))
    sections.append(_total(catalogue, traces, name))
    return "\n\n".join(sections)


def _listed(traces: Sequence[Trace]) -> str:
    """Traces with files one by one; those that are put together of them in one line."""
    whole = [trace["name"] for trace in traces if trace["parts"]]
    text = _rows([trace for trace in traces if not trace["parts"]])
    if whole:
        text += "\n" + _wrapped(f"Whole servers: {', '.join(whole)}", "  ")
    return text


def _rows(traces: Iterable[Trace]) -> str:
    rows = []
    for trace in traces:
        known = trace["statistics"]
        cells = [("requests", "{:,} requests", 1), ("read_share", "{:.0f} % reads", 100)]
        rows.append(
            [
                trace["name"],
                *(_cell(known.get(key), form, unit) for key, form, unit in cells),
                _state(trace),
            ]
        )
    return textwrap.indent(table(rows), "  ")


def _cell(known: Mapping[str, Any] | None, form: str, unit: int) -> str:
    if known is None:
        return ""
    return ("~" if known["kind"] == "recalled" else "") + form.format(known["value"] * unit)


def _state(trace: Trace) -> str:
    presence = trace["presence"]
    files = presence["files"]
    match presence["state"]:
        case "there":
            return f"there, {_bytes(sum(file['bytes'] for file in files))}"
        case "partly" if trace["parts"]:
            return f"{len(files)} of {len(trace['parts'])} volumes there"
        case "partly":
            return f"{len(files)} of {trace['file_count']} files there"
        case "packed":
            return "to be unpacked"
        case "unpublished":
            return f"never published{_stand_in(trace)}"
        case _:
            return f"not there{_stand_in(trace)}"


def _stand_in(trace: Trace) -> str:
    return "" if trace["stand_in_lacks"] else ": stand-in"


def _also_there(files: Sequence[Mapping[str, Any]]) -> str:
    shown = 20
    rows = [
        [file["path"].replace("\\", "/").rpartition("/")[2], _bytes(file["bytes"])]
        for file in files
    ]
    text = "Also there, to be named by their paths\n"
    text += textwrap.indent(table(rows[:shown]), "  ")
    return text + (f"\n  and {len(rows) - shown} more" if len(rows) > shown else "")


def _total(catalogue: Mapping[str, Any], traces: Sequence[Trace], name: str | None) -> str:
    there = {t["name"] for t in catalogue["traces"] if t["presence"]["state"] == "there"}
    published = [t for t in traces if t["page"] and (name is not None or not t["parts"])]
    count = sum(trace["name"] in there for trace in published)
    text = f"{count} of {len(published)} published traces are there"
    if name is None:
        groups = [
            f"{group['name']} {sum(t in there for t in group['traces'])} of {len(group['traces'])}"
            for group in catalogue["groups"]
        ]
        text += f". Groups of the papers: {', '.join(groups)}"
    where = ", ".join(catalogue["folders"])
    hint = (
        f"Looked in and below {where}."
        if where
        else "No folder was looked in: --traces DIR or FLOATGATE_TRACES names one."
    )
    lines = [text + ".", hint]
    if any("recalled" in (s["kind"] for s in t["statistics"].values()) for t in traces):
        lines.insert(0, "~ quoted from memory, not read again.")
    return "\n".join(map(_wrapped, lines))


def _details(trace: Trace, groups: Mapping[str, Mapping[str, Any]]) -> str:
    """Everything that is known of one trace."""
    lines = [f"{trace['name']}: {trace['title']}", _hanging("of", trace["collection"])]
    if trace["aliases"]:
        lines.append(_hanging("also called", ", ".join(trace["aliases"])))
    if trace["parts"]:
        lines.append(_hanging("consists of", ", ".join(trace["parts"])))
    if trace["file_names"]:
        lines.append(_hanging("files", _files(trace)))
    if trace["page"]:
        lines.append(_hanging("download", _download(trace)))
    if trace["licence"]:
        lines.append(_hanging("terms", trace["licence"]))
    for name in trace["groups"]:
        lines.append(_hanging("used by", f"{name}: {groups[name]['title']}"))
    lines.append(_hanging("here", _state(trace)))
    if trace["presence"]["state"] in ("missing", "unpublished", "partly"):
        lacks = trace["stand_in_lacks"]
        can = f"no source gives {', or '.join(lacks)}" if lacks else "runs as its stand-in"
        lines.append(_hanging("otherwise", can))
    lines += [" " * 13 + file["path"] for file in trace["presence"]["files"]]
    if trace["presence"]["missing"]:
        lines.append(_hanging("missing", ", ".join(trace["presence"]["missing"])))
    sources: dict[str, str] = {}
    rows = []
    for key, known in trace["statistics"].items():
        said = [known, *known["otherwise"]]
        marks = [sources.setdefault(_cited(s), f"[{len(sources) + 1}]") for s in said]
        texts = [f"{_figure(key, s['value'])} {m}" for s, m in zip(said, marks, strict=True)]
        rows.append(_hanging(_LABELS[key], ", otherwise ".join(texts), 25))
    if rows:
        lines += ["", *rows, ""]
        lines += [_hanging(mark, text, 4) for text, mark in sources.items()]
    return "\n".join(lines)


def _files(trace: Trace) -> str:
    names = " or ".join(trace["file_names"])
    count = trace["file_count"]
    text = f"{count} files {names}" if count > 1 else names
    packed = f" ({_bytes(trace['packed_bytes'])} compressed)" if trace["packed_bytes"] else ""
    return f"{text}{packed}, plain or with .gz, .zst or .xz"


def _download(trace: Trace) -> str:
    parts = [trace["page"]]
    if trace["set"]:
        parts.append(trace["set"])
    if archive := trace["archive"]:
        parts.append(
            archive["name"] + (f" of {_bytes(archive['bytes'])}" if archive["bytes"] else "")
        )
    return ", ".join(parts)


def _cited(said: Mapping[str, Any]) -> str:
    kind = "derived from" if said["kind"] == "derived" else said["kind"]
    return f"({kind}) {said['source']}"


def _bytes(count: float) -> str:
    """As publishers give sizes: in powers of ten."""
    return f"{short(float(count))}{'' if count >= 1000 else ' '}B"


def _figure(key: str, value: float) -> str:
    if key.endswith("_share") or "_share_" in key or key == "alike_half_hours":
        return f"{100 * value:.1f} %"
    if key.endswith("_seconds"):
        return duration(value * 1e9)
    if key.endswith("bytes") and "pages" not in key:
        return _bytes(value)
    return number(value)


_LABELS = {
    "requests": "requests",
    "reads": "reads",
    "writes": "writes",
    "read_share": "reads of requests",
    "read_share_of_bytes": "reads of bytes",
    "mean_size_bytes": "mean size",
    "mean_read_bytes": "mean size of a read",
    "mean_write_bytes": "mean size of a write",
    "bytes": "data moved",
    "page_traffic_read_bytes": "read in 32 KiB pages",
    "page_traffic_written_bytes": "written in 32 KiB pages",
    "written_per_hour_bytes": "written in an hour",
    "duration_seconds": "duration",
    "pages": "4 KiB pages touched",
    "pages_written": "4 KiB pages written",
    "addresses": "distinct addresses",
    "span_bytes": "address space",
    "devices": "devices",
    "waf": "write amplification",
    "alike_half_hours": "steady half hours",
}


def _wrapped(text: str, indent: str = "") -> str:
    return hanging(indent, text, page_width())


def _hanging(label: str, text: str, width: int = 13) -> str:
    return hanging(label.ljust(width), text, page_width())
