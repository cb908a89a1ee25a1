"""Colours of pages and figures, as readers see them who lack one kind of cone."""

import itertools
import math

import pytest

from floatgate.pages import PALETTES
from floatgate.report import figures, notebook

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency" (2009), Table 1, severity 1: the images of linear red, green and blue.
SIGHTS = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
CARDS = {"light": "#ffffff", "dark": "#1b2027"}


def linear(colour: str) -> list[float]:
    """Red, green and blue of sRGB as light."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in shares]


def lab(colour: str, sight: str) -> tuple[float, float, float]:
    """CIE L*a*b* (D65) of a colour as a person sees it."""
    light = linear(colour)
    r, g, b = (
        min(1.0, max(0.0, sum(a * v for a, v in zip(row, light, strict=True))))
        for row in SIGHTS[sight]
    )
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def apart(one: str, other: str, sight: str) -> float:
    return math.dist(lab(one, sight), lab(other, sight))


def luminance(colour: str) -> float:
    r, g, b = linear(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_finds_what_is_confused() -> None:
    # Black and white are 100 apart for everybody; this red and green only for who has all cones.
    for sight in SIGHTS:
        assert apart("#000000", "#ffffff", sight) == pytest.approx(100, abs=0.1)
    assert apart("#b0a000", "#7fb000", "usual") > 20
    assert apart("#b0a000", "#7fb000", "protanopia") < 15
    assert contrast("#ffffff", "#000000") == pytest.approx(21)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", PALETTES)
def test_colours_of_lines_and_bars_are_told_apart(theme: str, sight: str) -> None:
    """The first six, which plots of lines use, by twenty of L*a*b*, all by fifteen."""
    colours = PALETTES[theme]
    assert len(colours) == 10
    for some, least in ((colours[:6], 20), (colours, 15)):
        near = min((apart(a, b, sight), a, b) for a, b in itertools.combinations(some, 2))
        assert near[0] >= least, near


@pytest.mark.parametrize("theme", PALETTES)
def test_colours_are_seen_on_their_paper(theme: str) -> None:
    """Three to one, as WCAG 2 requires of graphics (1.4.11)."""
    for colour in PALETTES[theme]:
        assert contrast(colour, CARDS[theme]) >= 3, colour


def test_figures_and_notebooks_have_the_same_colours_and_grey_keeps_neighbours_apart() -> None:
    assert sorted(figures._STACK) == sorted(PALETTES["light"])
    assert set(notebook._COLOURS) <= {*PALETTES["light"]}
    for one, other in itertools.pairwise(figures._STACK):
        assert contrast(one, other) >= 1.4, (one, other)
