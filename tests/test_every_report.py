"""The report of every included study, at three widths: nothing is cut and nothing scrolls."""

import pytest

from browser import Browser
from floatgate.reproduce.runner import known
from reproduced import quick

CHEAP = {"physics"}
"""The study whose quick form takes least; `make verify` opens the others too."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in CHEAP else pytest.mark.verify) for n in known()]
)
def test_the_report_of_a_study_fits_every_width(
    name: str, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = quick(name, tmp_path_factory).page
    for width in (400, 1200, 1900):
        opened = browser.open(page, width, dark=False)
        assert opened.errors == []
        assert opened.requests == [page.as_uri()]
        assert browser.problems() == [], width
