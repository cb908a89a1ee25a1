"""What was measured, as text, as Markdown and as a plot."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import pages
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

        svg = vl_convert.vegalite_to_svg(plot(data))
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
    made = [
        ("Correctable raw bit error rate", _limits(data)),
        ("AGCR's levels with these limits", _pairs(data)),
        ("Frames that fail", _points(data)),
    ]
    made.insert(2, ("A page kept for a million hours at 3000 cycles", _kept(data)))
    if data["variants"]:
        made.insert(2, ("What single changes do, where a tenth of the frames fail", _changes(data)))
    return made


def _rate(value: float) -> str:
    return f"{value:.2e}"


def _between(value: Mapping[str, float]) -> str:
    return f"{1e3 * value['rber']:.2f}e-3 [{1e3 * value['low']:.2f}, {1e3 * value['high']:.2f}]"


def _limits(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [
        [
            "sensings",
            "at 1e-2 failures",
            "at 1e-4",
            "at 3.3e-11, extrapolated",
            "table in use",
            "difference",
            "bound for the rate",
        ]
    ]
    for curve, limit in zip(data["curves"], data["levels"]["table"]["limits"], strict=True):
        promised = curve["extrapolated"]
        rows.append(
            [
                str(curve["sensings"]),
                _between(curve["correctable"]["1e-2"]),
                _between(curve["correctable"]["1e-4"]),
                _between(promised),
                f"{1e3 * limit:.0f}e-3",
                f"{100 * (promised['rber'] / limit - 1):+.0f} %",
                f"{1e3 * curve['limit']:.1f}e-3",
            ]
        )
    return rows


def _pairs(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [
        ["limits", "reads of 800, 600, 450 µs writes", "writes that 70, 170, 310 µs reads allow"]
    ]
    for name, of in data["levels"].items():
        reads = ", ".join(
            "lost" if p["read_us"] is None else f"{p['read_us']:.0f}" for p in of["pairs"]
        )
        writes = ", ".join(f"{w['write_us']:.0f}" for w in of["widest"])
        rows.append([name, f"{reads} µs", f"{writes} µs"])
    return rows


def _kept(data: Mapping[str, Any]) -> list[list[str]]:
    rows = [["references", "errors of a plain read", *(f"bits told by {m}" for m in COLOURS)]]
    for model, words in (("page", "where levels were"), ("page-tracked", "where they are")):
        of = [row for row in data["kept"] if row["model"] == model]
        told = [f"{row['information']:.3f}" for row in of]
        rows.append([words, f"{1e3 * of[0]['rber']:.1f}e-3", *told])
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
    rows = [
        ["sensings", "raw error rate", "frames", "failed", "undetected", "rate [95 %]", "rounds"]
    ]
    for curve in data["curves"]:
        for p in curve["points"]:
            low, high = p["interval"]
            rows.append(
                [
                    str(curve["sensings"]),
                    f"{1e3 * p['rber']:.1f}e-3",
                    str(p["frames"]),
                    str(p["failed"]),
                    str(p["undetected"]),
                    f"{_rate(p['failure_rate'])} [{_rate(low)}, {_rate(high)}]",
                    f"{p['mean_rounds']:.1f}",
                ]
            )
    return rows


def plot(data: Mapping[str, Any]) -> dict[str, Any]:
    """The failure rate over the raw bit error rate, as Vega-Lite."""
    counted, lines, limits = [], [], []
    for curve, limit in zip(data["curves"], data["levels"]["table"]["limits"], strict=True):
        name = str(curve["sensings"])
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
    x = {
        "field": "rber",
        "type": "quantitative",
        "title": "raw bit error rate, sensed once",
        "scale": {"domain": [0.003, 0.023], "nice": False},
        "axis": {"format": ".3f"},
    }

    def y(field: str) -> dict[str, Any]:
        title = "share of codewords that fail"
        scale = {"type": "log", "domain": [1e-6, 1]}
        axis = {"format": "~e", "values": [10.0**-i for i in range(7)]}
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": axis,
        }

    colour = {
        "field": "sensings",
        "type": "nominal",
        "title": "sensings",
        "scale": {"domain": [str(m) for m in COLOURS], "range": list(COLOURS.values())},
    }
    shape = {
        "field": "seen",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [True, False], "range": ["circle", "triangle-down"]},
    }
    layers: Sequence[Mapping[str, Any]] = [
        {
            "data": {"values": limits},
            "mark": {"type": "rule", "strokeDash": [4, 3]},
            "encoding": {"x": x, "color": colour},
        },
        {
            "data": {"values": lines},
            "mark": {"type": "line", "strokeWidth": 1},
            "encoding": {"x": x, "y": y("rate"), "color": colour},
        },
        {
            "data": {"values": [row for row in counted if row["seen"]]},
            "mark": {"type": "rule"},
            "encoding": {"x": x, "y": y("low"), "y2": {"field": "high"}, "color": colour},
        },
        {
            "data": {"values": counted},
            "mark": {"type": "point", "filled": True, "size": 36, "opacity": 1},
            "encoding": {"x": x, "y": y("rate"), "color": colour, "shape": shape},
        },
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 520,
        "height": 320,
        "background": "white",
        "layer": list(layers),
    }
