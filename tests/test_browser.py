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
