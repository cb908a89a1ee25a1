"""What all pages share: one HTML file each, with plots, light and dark, without a network."""

from __future__ import annotations

import functools
import importlib.util
import os
from pathlib import Path

from floatgate.engine import InputError
from floatgate.result.files import reason, replace

SHAPES_RESULTS = False

_PACKAGES = ("altair", "jinja2", "vl_convert")


def need_packages(what: str = "a page with plots") -> None:
    """Raises an error that says how to install the packages of the extra `report`.

    Raises:
        InputError: One of them is missing.
    """
    if any(importlib.util.find_spec(package) is None for package in _PACKAGES):
        raise InputError(
            f"{what} needs the packages of the extra `report`:"
            " python -m pip install 'floatgate[report]'"
        )


def check(path: Path) -> None:
    """Before any work: whether a page could be written here. Makes nothing.

    Raises:
        InputError: A package of the extra `report` is missing, or the place is no file's.
    """
    need_packages()
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; expected the name of a file for the page")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no page can be written here, `{folder}` is no writable folder")


def write(path: Path, content: str | bytes) -> Path:
    """Writes a file, which appears whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    try:
        replace(path, content)
    except OSError as error:
        raise InputError(f"{path}: this cannot be written ({reason(error)})") from error
    return path


def render(template: str, **values: object) -> str:
    """A page from a template of this package, such as `report/page.html`.

    Templates extend `pages/base.html`, which draws `specs`, one in each element `.plot`; with
    `plots=False` it leaves the program that does so out.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("floatgate", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    bundle = _bundle() if values.get("plots", True) is not False else ""
    return environment.get_template(template).render(bundle=bundle, **values)


@functools.cache
def _bundle() -> str:
    """The program that draws plots; putting it together takes a second."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
