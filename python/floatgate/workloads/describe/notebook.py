"""The display of a description in notebooks: HTML that needs no script and no network."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from floatgate import pages
from floatgate.engine import InputError
from floatgate.pages.letters import keep_widths
from floatgate.workloads.describe import plots

SHAPES_RESULTS = False

_WIDTH, _HEIGHT = 560, 160


def of_description(name: str, data: Mapping[str, Any]) -> str:
    """The few numbers that a reader wants first, and the first plot of the page.

    That is the rate over time, or the sizes where the workload has no times. Without the packages
    of the extra `report` there is no plot, and a line says so.
    """
    facts = plots.facts(data)
    header = "".join(f"<th>{escape(title)}</th>" for title, _ in facts)
    cells = "".join(f"<td>{escape(value)}</td>" for _, value in facts)
    table = f"<table><tr>{header}</tr><tr>{cells}</tr></table>"
    return f"<div><b>{escape(name)}</b>{table}{_plot(data)}</div>"


def _plot(data: Mapping[str, Any]) -> str:
    try:
        pages.need_packages("a plot")
    except InputError as error:
        return f"<p>{escape(str(error))}</p>"
    import vl_convert

    section = next(iter(plots.sections(data)), None)
    if section is None:
        return ""
    title, says, chart = section
    spec = chart.properties(width=_WIDTH, height=_HEIGHT).to_dict()
    # A notebook may be dark, and the plot's words are not.
    spec["config"] = {**spec.get("config", {}), "background": "white"}
    (svg,) = keep_widths([vl_convert.vegalite_to_svg(spec)])
    return f"<p><b>{escape(title)}.</b> {escape(says)}</p>{svg}"
