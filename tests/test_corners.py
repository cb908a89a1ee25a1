"""The place of the legend in a figure of lines: worked by hand."""

from typing import Any

import pytest

from floatgate.report.corners import Frame, free_corner


def lines(*points: tuple[float, float], **mark: Any) -> dict[str, Any]:
    encoding = {axis: {"field": axis, "scale": mark.pop(axis, {})} for axis in "xy"}
    return {
        "mark": {"type": "line", **mark},
        "encoding": encoding,
        "data": {"name": "d"},
        "datasets": {"d": [{"x": x, "y": y} for x, y in points]},
    }


FRAME, NEEDS = Frame(200, 100), Frame(60, 30)  # with a tenth more: 0.33 by 0.33


@pytest.mark.parametrize(
    ("spec", "corner"),
    [
        (lines((0, 1), (1, 0)), "top-right"),
        (lines((0, 0), (1, 1)), "top-left"),
        (lines((0, 0.5), (0.4, 1), (1, 1), (1, 0)), "bottom-left"),
        (lines((0, 0), (0.1, 1), (1, 1)), "bottom-right"),
        # Between its points a line is there too: straight it passes by, in steps it does not.
        (lines((0, 0), (0.3, 0.7), (1, 1)), "bottom-right"),
        (lines((0, 1), (1, 0.0), interpolate="step-after"), "bottom-left"),
        # The line falls at 0.4 of a linear axis, and at 0.8 of a logarithmic one.
        (lines((1, 1), (40, 1), (41, 0), (100, 0)), "top-right"),
        (lines((1, 1), (40, 1), (41, 0), (100, 0), x={"type": "log"}), "bottom-left"),
        # All four are taken.
        (lines((0, 0), (0, 1), (1, 1), (1, 0), (0, 0)), None),
    ],
)
def test_the_first_free_corner_is_taken(spec: dict[str, Any], corner: str | None) -> None:
    assert free_corner(spec, FRAME, NEEDS) == corner


def test_words_along_an_axis_are_evenly_apart_and_what_is_too_large_goes_nowhere() -> None:
    rows = [{"x": word, "y": y} for word, y in (("p50", 0.0), ("p90", 0.1), ("p99", 1.0))]
    spec = lines() | {"datasets": {"d": rows}}
    assert free_corner(spec, FRAME, NEEDS) == "top-left"
    assert free_corner(spec, FRAME, Frame(190, 30)) is None
    assert free_corner(lines(), FRAME, NEEDS) is None
