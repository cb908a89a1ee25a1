"""The place for a legend in a plot of lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

SHAPES_RESULTS = False


class Frame(NamedTuple):
    """A width and a height."""

    width: float
    height: float


_CORNERS = {"top-right": (1, 1), "top-left": (0, 1), "bottom-left": (0, 0), "bottom-right": (1, 0)}
"""In the order in which they are taken; the sides are those of the axes."""


def free_corner(spec: Mapping[str, Any], frame: Frame, needs: Frame) -> str | None:
    """The first corner of a plot in which a box of this size covers nothing.

    Args:
        spec: A chart of lines and points over two axes of numbers.
        frame: The area between its axes.
        needs: The size of the legend.
    """
    # Axes end at round numbers, at an unknown distance beyond the last point, so nothing is near.
    wide, high = 1.1 * needs.width / frame.width, 1.1 * needs.height / frame.height
    if wide > 0.75 or high > 0.75:
        return None
    points = list(_drawn(spec))
    if not points:
        return None
    for name, (right, top) in _CORNERS.items():
        if not any(
            (x > 1 - wide if right else x < wide) and (y > 1 - high if top else y < high)
            for x, y in points
        ):
            return name
    return None


_BETWEEN = 40
"""The number of places along a line that are checked."""


def _drawn(spec: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """The points that are drawn, as shares of both axes."""
    layers = [layer for layer in spec.get("layer", [spec]) if "encoding" in layer]
    found: list[tuple[str, list[tuple[Any, float, float]]]] = []
    scales: dict[str, Any] = {"x": {}, "y": {}}
    words = _Words()
    for layer in layers:
        encoding, mark = layer["encoding"], layer["mark"]
        if not all("field" in encoding.get(axis, {}) for axis in "xy"):
            continue
        for axis in "xy":
            scales[axis] = scales[axis] or encoding[axis].get("scale") or {}
        x, y = (encoding[axis]["field"] for axis in "xy")
        by = encoding.get("color", {}).get("field", "")
        data = (layer.get("data") or spec.get("data") or {}).get("name")
        rows: Sequence[Mapping[str, Any]] = spec.get("datasets", {}).get(data, ())
        # A rule that spans a range has an end of its own.
        ends = [y, encoding["y2"]["field"]] if "y2" in encoding else [y]
        points = [
            (
                (row.get(by), row[x] if len(ends) > 1 else None),
                words.number(row[x]),
                words.number(row[end]),
            )
            for row in rows
            for end in ends
            if row.get(x) is not None and row.get(end) is not None
        ]
        steps = str(mark.get("interpolate", "")).startswith("step")
        found.append(("step" if steps else mark["type"], points))
    to_x = _share([x for _, points in found for _, x, _ in points], scales["x"])
    to_y = _share([y for _, points in found for _, _, y in points], scales["y"])
    for kind, points in found:
        last: dict[Any, tuple[float, float]] = {}
        for by, x, y in points:
            at = to_x(x), to_y(y)
            yield at
            if kind in ("line", "step", "rule") and by in last:
                yield from _between(last[by], at, steps=kind == "step")
            last[by] = at


class _Words:
    """Words along an axis have their places in order, at equal distances."""

    def __init__(self) -> None:
        self._places: dict[str, float] = {}

    def number(self, value: Any) -> float:
        """The place of a word; a number is its own."""
        if isinstance(value, str):
            return self._places.setdefault(value, float(len(self._places)))
        return float(value)


def _between(
    one: tuple[float, float], other: tuple[float, float], *, steps: bool
) -> Iterator[tuple[float, float]]:
    for i in range(1, _BETWEEN):
        share = i / _BETWEEN
        x = one[0] + share * (other[0] - one[0])
        y = one[1] + share * (other[1] - one[1])
        if steps:
            yield x, one[1]
            yield other[0], y
        else:
            yield x, y


def _share(values: Sequence[float], scale: Mapping[str, Any]) -> Any:
    """From a number to its place along an axis."""
    log = scale.get("type") == "log"
    domain = list(scale.get("domain") or ())
    every = [*values, *domain, *([0.0] if scale.get("zero") and not log else [])]
    if log:
        every = [math.log10(value) for value in every if value > 0]
    low, high = min(every, default=0.0), max(every, default=1.0)
    span = high - low or 1.0

    def share(value: float) -> float:
        if log:
            value = math.log10(value) if value > 0 else low
        return (value - low) / span

    return share
