"""The browser of the tests itself."""

import os
import signal
from pathlib import Path

import pytest

import browser as module
from browser import Browser, NoAnswerError


def test_a_browser_that_does_not_answer_is_started_anew_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>t</title><script>window.drawn = Promise.resolve()</script>")
    with Browser(tmp_path / "browser") as opened:
        monkeypatch.setattr(module, "_SECONDS", 2)
        before = opened.process
        os.killpg(before, signal.SIGSTOP)
        with pytest.raises(NoAnswerError, match="does not answer"):
            opened.run("1")
        monkeypatch.setattr(module, "_SECONDS", 10)
        assert opened.open(page, 400, dark=False).errors == []
        assert opened.process != before
        assert opened.run("document.title") == "t"


def test_a_page_is_not_asked_for_what_the_page_before_asks(tmp_path: Path) -> None:
    busy, quiet = tmp_path / "busy.html", tmp_path / "quiet.html"
    drawn = "window.drawn = Promise.resolve()"
    asks = "setInterval(() => { new Image().src = 'gone.png?' + Math.random(); }, 1)"
    busy.write_text(f"<title>busy</title><script>{drawn}; {asks}</script>")
    quiet.write_text(f"<title>quiet</title><script>{drawn}</script>")
    with Browser(tmp_path / "browser") as opened:
        for _ in range(8):
            opened.open(busy, 400, dark=False)
            assert opened.open(quiet, 1200, dark=True).requests == [quiet.as_uri()]
