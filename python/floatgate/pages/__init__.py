"""The basis of all pages: one HTML file each, with plots, light and dark, without a network."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
from pathlib import Path

from floatgate.cache import kept
from floatgate.mistakes import FileError, PackageError
from floatgate.pages.terms import Terms
from floatgate.result.files import in_the_way, reason, replace

SHAPES_RESULTS = False

PALETTES = {
    "light": (
        "#1f6fd1", "#da5e4b", "#00a294", "#77234e", "#2a1a7a",
        "#bf8a05", "#4c8db0", "#6d1602", "#725f10", "#e345f9",
    ),
    "dark": (
        "#6aa9ff", "#dd9069", "#52e0bb", "#c05a8d", "#746cf8",
        "#f0e37a", "#cef2ff", "#b8463f", "#9aa02e", "#d9c1ff",
    ),
}  # fmt: skip
"""Colours of lines and bars by theme. Readers who see no red or no green can tell them apart as
well, the first six best: `tests/test_colours.py` measures it."""

_PACKAGES = ("altair", "jinja2", "vl_convert")


def need_packages(what: str = "a page with plots") -> None:
    """Raises an error that says how to install the packages of the extra `report`.

    Raises:
        InputError: One of them is missing.
    """
    if any(importlib.util.find_spec(package) is None for package in _PACKAGES):
        raise PackageError(
            f"{what} needs the packages of the extra `report`:"
            " python -m pip install 'floatgate[report]'"
        )


def check(path: Path) -> None:
    """Checks before any work whether a page could be written here. Makes nothing.

    Raises:
        InputError: A package of the extra `report` is missing, or the path cannot be a file.
    """
    need_packages()
    folder = path.absolute().parent
    _check_place(path)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{path}: no page can be written here, `{folder}` is not a writable folder")


def _check_place(path: Path) -> None:
    if (what := in_the_way(path)) is not None:
        raise FileError(f"{path}: this is {what}; expected the name of a file for the page")


def write(path: Path, content: str | bytes) -> Path:
    """Writes a file, which appears whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    _check_place(path)
    try:
        replace(path, content)
    except OSError as error:
        raise FileError(f"{path}: this cannot be written ({reason(error)})") from error
    return path


def render(template: str, **values: object) -> str:
    """A page from a template of this package, such as `report/page.html`.

    Templates extend `pages/base.html`, which draws `specs`, one in each element `.plot`. With
    `plots=False` it leaves out the program that draws them. With `nonce`, its scripts and styles
    carry the nonce of the answer that serves the page.
    """
    bundle = _bundle() if values.get("plots", True) is not False else ""
    return piece(template, bundle=bundle, palettes=PALETTES, **values)


def piece(template: str, **values: object) -> str:
    """A part of a page, from a template of its own. Its filter `terms` explains abbreviations."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("floatgate", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    terms = Terms()
    environment.filters["terms"] = terms
    return environment.get_template(template).render(terms=terms, **values)


_PLOTTER = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def _bundle() -> str:
    """The program that draws plots. Putting it together takes a second, so the cache keeps it."""
    from importlib.metadata import version

    import vl_convert

    known = re.sub(r"[^\w.]", "_", version("vl-convert-python"))
    name = f"{known}-{hashlib.sha256(_PLOTTER.encode()).hexdigest()[:16]}.js"
    return kept(name, lambda: vl_convert.javascript_bundle(_PLOTTER).encode()).decode()
