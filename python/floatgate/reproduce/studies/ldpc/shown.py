"""Measurements as text, as Markdown and as a plot."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import pages
from floatgate.pages.letters import keep_widths
from floatgate.reproduce.studies.ldpc.fit import Fit
from floatgate.words import table as aligned

COLOURS = {1: "#12355b", 3: "#d1495b", 7: "#2e7f8c"}


def write(data: Mapping[str, Any], folder: Path) -> list[Path]:
    """Writes the value, the tables and, where it can be drawn, the plot."""
    files = [
        pages.write(folder / "ldpc.json", json.dumps(data, indent=1) + "\n"),
        pages.write(folder / "ldpc.md", markdown(data)),
    ]
    if importlib.util.find_spec("vl_convert") is not None:
        import vl_convert

        (svg,) = keep_widths([vl_convert.vegalite_to_svg(plot(data))])
        files.append(pages.write(folder / "ldpc.svg", svg))
    return files


def text(data: Mapping[str, Any]) -> str:
    """The tables for a terminal."""
    return "\n\n".join(f"{title}\n{aligned(rows)}" for title, rows in tables(data))


def markdown(data: Mapping[str, Any]) -> str:
    """The tables for a document."""
    parts = ["# The measured LDPC code", "Made by `floatgate reproduce ldpc`; not to be edited."]
    for title, rows in tables(data):
        head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
        lines = [head, ["---"] * len(head), *body]
        parts.append(f"## {title}")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def tables(data: Mapping[str, Any]) -> list[tuple[str, list[list[str]]]]:
    """All tables: a title, and rows of which the first is the head."""
    variants = "Effects of single changes, where a tenth of the frames fail"
    return [
        ("Correctable raw bit error rate", _limits(data)),
        ("AGCR's levels with these limits", _pairs(data)),
        *([(variants, _changes(data))] if data["variants"] else []),
        ("A page kept for a million hours at 3000 cycles", _kept(data)),
        ("Frames that fail", _points(data)),
    ]


def _thousandths(value: float, digits: int = 1) -> str:
    return f"{1e3 * value:.{digits}f}e-3"


def _between(value: Mapping[str, float]) -> str:
    low, high = (f"{1e3 * value[key]:.2f}" for key in ("low", "high"))
    return f"{_thousandths(value['rber'], 2)} [{low}, {high}]"


def _curves(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], float]]:
    """Sensings, what was counted with them, and the limit in the table in use."""
    for curve, limit in zip(data["curves"], data["levels"]["table"]["limits"], strict=True):
        yield str(curve["sensings"]), curve, limit


def _limits(data: Mapping[str, Any]) -> list[list[str]]:
    head = ["sensings", "at 1e-2 failures", "at 1e-4", "at 3.3e-11, extrapolated", "table in use",
            "difference", "bound for the rate"]  # fmt: skip
    rows = []
    for name, curve, limit in _curves(data):
        found = [*(curve["correctable"][key] for key in ("1e-2", "1e-4")), curve["extrapolated"]]
        apart = f"{100 * (curve['extrapolated']['rber'] / limit - 1):+.0f} %"
        bound = _thousandths(curve["limit"])
        rows.append([name, *map(_between, found), _thousandths(limit, 0), apart, bound])
    return [head, *rows]


def _pairs(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [
        ["limits", "reads of 800, 600, 450 µs writes", "writes that 70, 170, 310 µs reads allow"]
    ]
    for name, of in data["levels"].items():
        times = (p["read_us"] for p in of["pairs"])
        reads = ", ".join("lost" if us is None else f"{us:.0f}" for us in times)
        writes = ", ".join(f"{w['write_us']:.0f}" for w in of["widest"])
        rows.append([name, f"{reads} µs", f"{writes} µs"])
    return rows


def _kept(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [["references", "errors of a plain read", *(f"bits told by {m}" for m in COLOURS)]]
    for model, words in (("page", "where levels were"), ("page-tracked", "where they are")):
        of = [row for row in data["kept"] if row["model"] == model]
        told = [f"{row['information']:.3f}" for row in of]
        rows.append([words, _thousandths(of[0]["rber"]), *told])
    return rows


def _changes(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [["change", "code rate", *(f"{m} sensing{'s'[: m > 1]}" for m in COLOURS)]]
    for name in dict.fromkeys(variant["name"] for variant in data["variants"]):
        of = {v["sensings"]: v for v in data["variants"] if v["name"] == name}
        any_one = next(iter(of.values()))
        cells = [_between(of[m]) if m in of else "" for m in COLOURS]
        rows.append([any_one["what"], f"{any_one['rate']:.3f}", *cells])
    return rows


def _points(data: Mapping[str, Any]) -> list[list[str]]:
    head = ["sensings", "raw error rate", "frames", "failed", "undetected", "rate [95 %]", "rounds"]
    rows = []
    for name, curve, _ in _curves(data):
        for p in curve["points"]:
            counts = [str(p[key]) for key in ("frames", "failed", "undetected")]
            rate, low, high = (f"{r:.2e}" for r in (p["failure_rate"], *p["interval"]))
            shown = f"{rate} [{low}, {high}]"
            rows.append([name, _thousandths(p["rber"]), *counts, shown, f"{p['mean_rounds']:.1f}"])
    return [head, *rows]


def plot(data: Mapping[str, Any]) -> dict[str, Any]:
    """The failure rate over the raw bit error rate, as Vega-Lite."""
    counted, lines, limits = [], [], []
    for name, curve, limit in _curves(data):
        for p in curve["points"]:
            low, high = p["interval"]
            row = {"sensings": name, "rber": p["rber"], "low": max(low, 1e-6), "high": high}
            counted.append(row | {"rate": p["failure_rate"] or high, "seen": bool(p["failed"])})
        fit = Fit(*(curve["fit"][key] for key in ("a", "b", "centre")))
        lowest, highest = fit.where(1e-6)[0], fit.where(0.99)[0]
        for i in range(41):
            rber = lowest * (highest / lowest) ** (i / 40)
            lines.append({"sensings": name, "rber": rber, "rate": fit.share(rber)})
        limits.append({"sensings": name, "rber": limit})

    def y(field: str) -> dict[str, Any]:
        return _channel(
            field, "quantitative", title="share of codewords that fail",
            scale={"type": "log", "domain": [1e-6, 1]},
            axis={"format": "~e", "values": [10.0**-i for i in range(7)]},
        )  # fmt: skip

    x = _channel(
        "rber", "quantitative", title="raw bit error rate, sensed once",
        scale={"domain": [0.003, 0.023], "nice": False}, axis={"format": ".3f"},
    )  # fmt: skip
    names = {"domain": [str(m) for m in COLOURS], "range": list(COLOURS.values())}
    colour = _channel("sensings", "nominal", title="sensings", scale=names)
    shapes = {"domain": [True, False], "range": ["circle", "triangle-down"]}
    shape = _channel("seen", "nominal", legend=None, scale=shapes)
    seen = [row for row in counted if row["seen"]]
    layers = [
        _layer(limits, "rule", {"strokeDash": [4, 3]}, x=x, color=colour),
        _layer(lines, "line", {"strokeWidth": 1}, x=x, y=y("rate"), color=colour),
        _layer(seen, "rule", {}, x=x, y=y("low"), y2={"field": "high"}, color=colour),
        _layer(counted, "point", {"filled": True, "size": 36, "opacity": 1}, x=x, y=y("rate"),
               color=colour, shape=shape),
    ]  # fmt: skip
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    size = {"width": 520, "height": 320, "background": "white"}
    return {"$schema": schema, **size, "layer": layers}


def _channel(field: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, **more}


def _layer(
    values: Sequence[Mapping[str, Any]], mark: str, style: Mapping[str, Any], **encoding: Any
) -> dict[str, Any]:
    return {"data": {"values": values}, "mark": {"type": mark, **style}, "encoding": encoding}
