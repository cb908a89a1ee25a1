"""The shipped files: licences of all that is used, and how to cite it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import floatgate

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

import licences  # noqa: E402


def test_every_dependency_has_a_permissive_licence() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "licences.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "FileNotFoundError" in done.stderr and "cargo" in done.stderr:
        pytest.skip("cargo is not on the path")
    assert (done.returncode, done.stderr) == (0, "")
    named = set(re.findall(r"[\w.-]+", done.stdout))
    assert {"serde", "pyo3", "polars", "numpy", "dask", "jinja2"} <= {n.lower() for n in named}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", True),
        ("(MIT AND GPL-3.0) OR LGPL-2.1", False),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("", False),
    ],
)
def test_an_expression_must_leave_a_permissive_choice(expression: str, expected: bool) -> None:
    assert licences.allowed(expression) is expected


def test_what_may_be_cited_is_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    keys = dict(re.findall(r'^([\w-]+): "?([^"\n]+)"?$', text, re.MULTILINE))
    assert keys["version"] == floatgate.__version__
    assert keys["title"].startswith("floatgate")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.findall(r"^  - (MIT|Apache-2\.0)$", text, re.MULTILINE) == project["license"].split(
        " OR "
    )
