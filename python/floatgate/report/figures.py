"""The plots of a report as files for a publication: one or two columns wide, legible in grey."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate import pages
from floatgate.engine import InputError
from floatgate.hints import hint
from floatgate.mistakes import FileError, IncompleteError, UnknownNameError
from floatgate.pages.letters import FONT, Words, keep_widths, longest, widths
from floatgate.report.corners import Frame, free_corner
from floatgate.report.drawing import HEIGHT, STEP, Drawn, file_name
from floatgate.report.model import Report
from floatgate.report.names import Names
from floatgate.report.plots import draw
from floatgate.result.files import make_folder, reason

WIDTHS = {1: 3.5 * 72, 2: 7.2 * 72}
"""Points: a column of a page with two, and both of them."""

_FONT = 8
_HEIGHT = 135
_BAR = 15
_STACK = (
    "#2a1a7a", "#4c8db0", "#77234e", "#da5e4b", "#6d1602",
    "#00a294", "#725f10", "#e345f9", "#1f6fd1", "#bf8a05",
)  # fmt: skip
"""The colours of the pages, dark and light in turn, so that neighbours of a bar differ in grey."""

_DASHES = [[1, 0], [4, 2], [1.5, 1.5], [6, 2, 1.5, 2], [8, 3], [3, 1, 1, 1, 1, 1]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]

FORMATS = ("svg", "pdf")
"""The formats of figures."""


def save(
    report: Report, folder: Path, format: str, only: Sequence[str] = (), columns: int = 1
) -> list[Path]:
    """Writes each plot to a file; see `floatgate.report.save_figures`."""
    import vl_convert

    pages.need_packages("a figure")
    if format not in FORMATS:
        raise UnknownNameError(f"`{format}` is not a format of figures; {hint(format, FORMATS)}")
    if columns not in WIDTHS:
        raise InputError(f"a figure is 1 or 2 columns wide, not {columns}")
    if not report.runs.runs:
        raise IncompleteError("there is no run to report on")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: this is a file; expected a folder for the figures")
    every = [plot for plot in draw(report, Names(report.runs)) if plot.spec is not None]
    plots = {f"{file_name(i, plot)}.{format}": plot for i, plot in enumerate(every, 1)}
    plots = _named(plots, only)
    try:
        make_folder(folder)
    except OSError as error:
        raise FileError(f"{folder}: no figures can be written here ({reason(error)})") from error
    known = widths(words for plot in plots.values() for words in _words(plot))
    specs = [for_print(plot, columns, known) for plot in plots.values()]
    # A PDF has its font inside; an SVG is set in a font of the reader's machine.
    made: Sequence[str | bytes] = (
        keep_widths([vl_convert.vegalite_to_svg(spec) for spec in specs])
        if format == "svg"
        else [vl_convert.vegalite_to_pdf(spec) for spec in specs]
    )
    return [pages.write(folder / name, each) for name, each in zip(plots, made, strict=True)]


def _words(plot: Drawn) -> Iterator[Words]:
    """The words for which a figure leaves room: those of its legend, and those beside its bars."""
    meta = (plot.spec or {})["usermeta"]
    return (Words(text, _FONT) for text in (*meta["labels"], *meta["places"]))


def _named(plots: Mapping[str, Drawn], only: Sequence[str]) -> dict[str, Drawn]:
    """The requested plots, by the names of their files.

    Raises:
        InputError: One does not exist.
    """
    names = {file: _called(file) for file in plots}
    for name in only:
        if name not in names.values():
            said = hint(name, dict.fromkeys(names.values()))
            raise UnknownNameError(f"there is no figure `{name}`; {said}")
    return {file: plot for file, plot in plots.items() if not only or names[file] in only}


def _called(file: str) -> str:
    """The name of a figure: its file without number and format.

    >>> _called("03-latency-of-writes.svg")
    'latency-of-writes'
    """
    return file.partition("-")[2].rpartition(".")[0]


def for_print(plot: Drawn, columns: int, known: Mapping[Words, float]) -> dict[str, Any]:
    """The plot as it goes into a publication; `known` are the widths of its words."""
    spec = copy.deepcopy(plot.spec) or {}
    meta = spec.pop("usermeta")
    labels = meta["labels"]
    label, place = (longest(meta[which], _FONT, known) for which in ("labels", "places"))
    width = WIDTHS[columns]
    # An axis without words has numbers.
    legend_columns = max(1, int((width - (place or 4 * _FONT)) // (label + 22)))
    spec["width"] = width
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    # The uppermost number stands half above the axis.
    spec["padding"] = {"left": 1, "right": 3, "top": _FONT / 2 + 1, "bottom": 1}
    stacked = plot.kind in ("causes", "sources", "levels")
    bars = spec["height"] % HEIGHT != 0 or stacked or plot.kind == "bars"
    rows = -(-len(labels) // legend_columns)
    legend_height = (_FONT + 4) * rows + (6 if labels else 0)
    corner = None
    if bars:
        spec["height"] = _bar_height(spec) + 30 + legend_height
    else:
        # Lines usually leave a corner free: the legend goes there.
        frame = Frame(width - 45, _HEIGHT - 30)
        needs = Frame(label + 34, (_FONT + 4) * (len(labels) + 1) + 4)
        corner = free_corner(spec, frame, needs) if labels else None
        spec["height"] = _HEIGHT + (0 if corner else legend_height)
    units = list(_units(spec))
    sources = any("shape" in unit["encoding"] for unit in units)
    for unit in units:
        _mark(unit)
        _dashes(unit, shapes=not sources)
    spec["config"] = _config(width, legend_columns, stacked)
    if corner:
        spec["config"]["legend"] |= {
            "orient": corner, "columns": 1, "offset": 3, "padding": 2, "fillColor": "#ffffff",
        }  # fmt: skip
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
    elif mark["type"] == "text":
        mark["fontSize"], mark["dx"] = _FONT, 2
    elif mark["type"] == "rule":
        mark["strokeWidth"] = 0.8


def _dashes(unit: dict[str, Any], *, shapes: bool) -> None:
    """Dashes distinguish lines as colours do. So do shapes if these have no other meaning."""
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
        # The legend has the shapes, because dashes around them would blur them. All channels keep
        # it, because one without would take it from the others.
        color["legend"] = {**(color.get("legend") or {}), "symbolStrokeWidth": 0}
        encoding["strokeDash"]["legend"] = color["legend"]
        marks = [_SHAPES[i % len(_SHAPES)] for i in range(len(domain))]
        encoding["shape"] = {**color, "scale": {"domain": domain, "range": marks}}


def _config(width: float, columns: int, stacked: bool) -> dict[str, Any]:
    black, grey = "#000000", "#d0d0d0"
    return {
        "background": "white",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": black, "titleColor": black, "gridColor": grey, "gridWidth": 0.4,
            "domainColor": black, "domainWidth": 0.6, "tickColor": black, "tickWidth": 0.6,
            "tickSize": 3, "labelSeparation": 4, "labelFontSize": _FONT, "titleFontSize": _FONT,
            "titleFontWeight": "normal", "titlePadding": 4, "labelPadding": 2,
        },
        "axisY": {"labelLimit": 0.5 * width},
        "legend": {
            "orient": "bottom", "labelFontSize": _FONT, "labelColor": black, "columns": columns,
            "titleFontSize": _FONT, "titleFontWeight": "normal", "titleColor": black,
            "symbolStrokeWidth": 1.1, "symbolSize": 40, "rowPadding": 1, "columnPadding": 8,
            "labelLimit": width - 60, "offset": 4, "padding": 0,
        },
        "line": {"color": pages.PALETTES["light"][0]},
        "bar": {"color": _STACK[1], "stroke": "#ffffff", "strokeWidth": 0.5},
        "rule": {"color": black},
        "point": {"color": pages.PALETTES["light"][0]},
        "style": {name: {"color": black} for name in ("inside", "beside", "unity")},
        "range": {"category": list(_STACK if stacked else pages.PALETTES["light"])},
    }  # fmt: skip
