"""Functions that show results.

Results themselves know nothing of them; the package `floatgate` sets them.

Words and plots are made from results, so results cannot use either. The functions that `print` and
`Comparison.save_report` need are set when the package is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Showing(NamedTuple):
    """The functions that show results to people."""

    run: Callable[[Any], str] = repr
    """The page of a run in words."""
    comparison: Callable[[Any], str] = repr
    """The page of a comparison in words."""
    run_as_html: Callable[[Any], str] = repr
    """A run as notebooks show it."""
    comparison_as_html: Callable[[Any], str] = repr
    """A comparison as notebooks show it."""
    report: Callable[[Any, Any, str | None], Path] | None = None
    """Writes the report of a comparison to a path, with a title."""


_showing = Showing()


def by(showing: Showing) -> None:
    """From now on, these functions show results."""
    global _showing
    _showing = showing


def showing() -> Showing:
    """A place that shows results."""
    return _showing
