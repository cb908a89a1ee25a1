"""The plots of a report as files for a publication: one column wide, legible in grey."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from floatgate import pages
from floatgate.engine import InputError
from floatgate.report.drawing import HEIGHT, STEP, Drawn, file_name
from floatgate.report.model import Report
from floatgate.report.names import Names
from floatgate.report.plots import draw
from floatgate.result.files import make_folder, reason

WIDTH = 3.3 * 72
"""Points: a column of a page with two."""

_FONT = 8
_HEIGHT = 135
_BAR = 15
_SHADES = ["#12355b", "#d1495b", "#edae49", "#2e7f8c", "#8d6a9f", "#9aa5b1", "#00a36c", "#5c4742"]
"""Colours that differ in lightness as well, darkest first in pairs, so that grey keeps neighbours
apart; lines differ in dashes too."""

_STACK = [
    "#12355b",
    "#6ea8d8",
    "#b23a48",
    "#f2b5a7",
    "#2f6b4f",
    "#a9d6a5",
    "#5b4b8a",
    "#c9b8e8",
    "#7a6a53",
    "#e3d5b8",
]
_DASHES = [[1, 0], [4, 2], [1.5, 1.5], [6, 2, 1.5, 2], [8, 3], [3, 1, 1, 1, 1, 1]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]

FORMATS = ("svg", "pdf")
"""What figures can be."""


def save(report: Report, folder: Path, format: str) -> list[Path]:
    """Writes each plot to a file; see `floatgate.report.save_figures`."""
    import vl_convert

    pages.need_packages("a figure")
    if format not in FORMATS:
        raise InputError(f"`{format}` is no format of figures; there are {', '.join(FORMATS)}")
    if not report.runs.runs:
        raise InputError("there is no run to report on")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: this is a file; expected a folder for the figures")
    plots = [plot for plot in draw(report, Names(report.runs)) if plot.spec is not None]
    try:
        make_folder(folder)
    except OSError as error:
        raise InputError(f"{folder}: no figures can be written here ({reason(error)})") from error
    files = []
    for i, plot in enumerate(plots, 1):
        spec = for_print(plot)
        convert = vl_convert.vegalite_to_svg if format == "svg" else vl_convert.vegalite_to_pdf
        path = folder / f"{file_name(i, plot)}.{format}"
        files.append(pages.write(path, convert(spec)))
    return files


def for_print(plot: Drawn) -> dict[str, Any]:
    """The plot as it goes into a publication."""
    spec = copy.deepcopy(plot.spec) or {}
    meta = spec.pop("usermeta")
    labels, beside = meta["labels"], meta["beside"]
    longest = max((len(label) for label in labels), default=0)
    columns = max(1, int((WIDTH - 0.5 * _FONT * beside) // (0.5 * _FONT * longest + 22)))
    spec["width"] = WIDTH
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    # The uppermost number stands half above the axis.
    spec["padding"] = {"left": 1, "right": 3, "top": _FONT / 2 + 1, "bottom": 1}
    stacked = plot.kind in ("causes", "sources", "levels")
    bars = spec["height"] % HEIGHT != 0 or stacked or plot.kind == "bars"
    rows = -(-len(labels) // columns)
    legend_height = (_FONT + 4) * rows + (6 if labels else 0)
    if bars:
        spec["height"] = _bar_height(spec) + 30 + legend_height
    else:
        spec["height"] = _HEIGHT + legend_height
    units = list(_units(spec))
    sources = any("shape" in unit["encoding"] for unit in units)
    for unit in units:
        _mark(unit)
        _dashes(unit, shapes=not sources)
    spec["config"] = _config(columns, stacked)
    return spec


def _bar_height(spec: dict[str, Any]) -> float:
    return float(spec["height"]) / STEP * _BAR


def _units(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The charts of which a chart is made, itself if it has none."""
    layers: Sequence[dict[str, Any]] = spec.get("layer", [])
    if not layers:
        yield spec
    for layer in layers:
        yield from _units(layer)


def _mark(unit: dict[str, Any]) -> None:
    """Lines and marks for a small figure."""
    mark = unit["mark"]
    if mark["type"] == "line":
        mark["strokeWidth"] = 1.1
        if mark.get("point"):
            mark["point"] = {"filled": True, "size": 14}
    elif mark["type"] == "point":
        mark["size"], mark["strokeWidth"] = 22, 0.9
    elif mark["type"] == "rule":
        mark["strokeWidth"] = 0.8


def _dashes(unit: dict[str, Any], *, shapes: bool) -> None:
    """What colour tells apart, dashes do too, and shapes where they say nothing else."""
    encoding = unit["encoding"]
    color = encoding.get("color")
    if unit["mark"]["type"] != "line" or not color or color.get("legend", True) is None:
        return
    domain = color["scale"]["domain"]
    dashes = [_DASHES[i % len(_DASHES)] for i in range(len(domain))]
    pointed = unit["mark"].get("point") and shapes
    if not pointed:
        color["legend"] = {**(color.get("legend") or {}), "symbolType": "stroke", "symbolSize": 220}
    encoding["strokeDash"] = {**color, "scale": {"domain": domain, "range": dashes}}
    if pointed:
        # The legend has the shapes: dashes around them would only blur them. All channels keep it,
        # because one without would take it from the others.
        color["legend"] = {**(color.get("legend") or {}), "symbolStrokeWidth": 0}
        encoding["strokeDash"]["legend"] = color["legend"]
        marks = [_SHAPES[i % len(_SHAPES)] for i in range(len(domain))]
        encoding["shape"] = {**color, "scale": {"domain": domain, "range": marks}}


def _config(columns: int, stacked: bool) -> dict[str, Any]:
    black, grey = "#000000", "#d0d0d0"
    return {
        "background": "white",
        "font": "Liberation Sans, Arial, Helvetica, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "labelColor": black, "titleColor": black, "gridColor": grey, "gridWidth": 0.4,
            "domainColor": black, "domainWidth": 0.6, "tickColor": black, "tickWidth": 0.6,
            "tickSize": 3, "labelFontSize": _FONT, "titleFontSize": _FONT,
            "titleFontWeight": "normal", "titlePadding": 4, "labelPadding": 2,
        },
        "axisY": {"labelLimit": 0.5 * WIDTH},
        "legend": {
            "orient": "bottom", "labelFontSize": _FONT, "labelColor": black, "columns": columns,
            "titleFontSize": _FONT, "titleFontWeight": "normal", "titleColor": black,
            "symbolStrokeWidth": 1.1, "symbolSize": 40, "rowPadding": 1, "columnPadding": 8,
            "labelLimit": WIDTH - 60, "offset": 4, "padding": 0,
        },
        "line": {"color": _SHADES[0]},
        "bar": {"color": _STACK[1]},
        "rule": {"color": black},
        "point": {"color": _SHADES[0]},
        "range": {"category": _STACK if stacked else _SHADES},
    }  # fmt: skip
