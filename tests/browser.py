"""Opens pages in headless Chromium, over a pipe with the protocol of its developer tools."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

import pytest

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--remote-debugging-pipe",
)  # fmt: skip
_SECONDS = 90


class NoAnswerError(AssertionError):
    """The browser did not answer a command in time."""


FONT_SETS = {"dejavu": "DejaVu Sans", "liberation": "Liberation Sans"}
"""Fonts that pages are tried with, by the family that stands for each: the first ones are a seventh
wider. A browser that has one set has no other font, so a page looks alike on every machine."""


class Opened(NamedTuple):
    """The events while a page was opened and drew itself."""

    errors: list[str]
    requests: list[str]


class Browser:
    """One browser for several pages; `pytest.skip` where there is none.

    Args:
        folder: For the browser's files.
        fonts: A key of `FONT_SETS`, whose fonts are the only ones; by default those of the machine.
    """

    def __init__(self, folder: Path, fonts: str | None = None) -> None:
        found = shutil.which("chromium") or shutil.which("chromium-browser")
        if not found:
            skip("there is no chromium to draw the page")
        self._environment = dict(os.environ)
        if fonts:
            self._environment["FONTCONFIG_FILE"] = str(_only(fonts, folder))
        self._command = [found, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._start()

    def _start(self) -> None:
        # The browser reads commands from the descriptor 3 and writes to 4. Descriptors out of
        # their way first, then a Python that puts them there and becomes the browser.
        (read, self._to), (self._from, write) = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (read, write)]
        become = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
        become += "os.execv(sys.argv[3], sys.argv[3:])"
        command = [sys.executable, "-c", become, *map(str, theirs), *self._command]
        self._process = subprocess.Popen(
            command, pass_fds=theirs, start_new_session=True, env=self._environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for fd in (read, write, *theirs):
            os.close(fd)
        self._left = b""
        self._last = 0
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._end(5)

    def _end(self, patience: float) -> None:
        os.close(self._to)
        os.close(self._from)
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command, and its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        for answer in self._messages(method):
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self._events.append(answer)
        raise AssertionError("the browser has ended")

    def resize(self, width: int) -> None:
        """Makes the window that wide."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def open(self, page: Path | str, width: int, *, dark: bool, folded: bool = False) -> Opened:
        """Opens a page (a file or an address) that wide, and waits until its plots are drawn.

        Details are opened too, unless the page is to stay `folded`. A browser that
        does not answer, as was seen once, is started anew, once.
        """
        try:
            return self._open(page, width, dark, folded)
        except NoAnswerError:
            self._end(0)
            self._start()
            return self._open(page, width, dark, folded)

    def _open(self, page: Path | str, width: int, dark: bool, folded: bool) -> Opened:
        # The page before may be asking for its numbers, which are not those of this one.
        self.leave()
        self.run("1")
        self._events.clear()
        self.resize(width)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        until = time.monotonic() + _SECONDS
        while not self.run("document.readyState === 'complete' && 'drawn' in window"):
            assert time.monotonic() < until, "the page does not load"
            time.sleep(0.05)
        if not folded:
            # A drawing of the page when they open hears of it before this does.
            self.run(
                "Promise.all([...document.querySelectorAll('.more:not([open])')].map((part) =>"
                " new Promise((done) => { part.addEventListener('toggle', done, { once: true });"
                " part.open = true; }))).then(() => true)"
            )
        self.run("window.drawn.then(() => document.fonts.ready).then(() => true)")
        return self.opened()

    @property
    def process(self) -> int:
        """The process of the browser, which leads a group."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the browser has not ended."""
        return self._process.poll() is None

    def leave(self) -> None:
        """Leaves the page, which does nothing from then on."""
        if self.is_alive():
            self.call("Page.navigate", url="about:blank")

    def opened(self) -> Opened:
        """The events since the page was opened."""
        self.run("1")  # Events before its answer have been heard.
        return Opened(list(self._errors()), [
            event["params"]["request"]["url"]
            for event in self._events
            if event.get("method") == "Network.requestWillBeSent"
        ])  # fmt: skip

    def run(self, program: str) -> Any:
        """The value of a program in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=program, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def problems(self) -> list[str]:
        """Mistakes in how the page looks: cut, beyond the edge, overlapping, or empty."""
        return list(self.run(_PROBLEMS))

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _errors(self) -> Iterator[str]:
        for event in self._events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield str(params["exceptionDetails"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                if params["type"] in ("error", "warning", "assert"):
                    yield str(params["args"])
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] != "verbose":
                yield str(params["entry"])

    def _messages(self, method: str) -> Iterator[dict[str, Any]]:
        until = time.monotonic() + _SECONDS
        while True:
            while b"\0" in self._left:
                message, _, self._left = self._left.partition(b"\0")
                yield json.loads(message)
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise NoAnswerError(f"the browser does not answer {method}")
            more = os.read(self._from, 1 << 20)
            if not more:
                return
            self._left += more


def skip(reason: str) -> NoReturn:
    """Skips a test that needs a browser; where one is required, the test fails."""
    assert not os.environ.get("FLOATGATE_REQUIRE_BROWSER"), reason
    pytest.skip(reason)


def font_folders(fonts: str) -> set[Path]:
    """The folders of a set's fonts; empty if they are not installed."""
    if not shutil.which("fc-list"):
        return set()
    command = ["fc-list", "--format", "%{file}\\n", f":family={FONT_SETS[fonts]}"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {Path(line).parent for line in listed.splitlines()}


def _only(fonts: str, folder: Path) -> Path:
    """A configuration of fontconfig with the fonts of one set."""
    folders = font_folders(fonts)
    if not folders:
        skip(f"the fonts `{FONT_SETS[fonts]}` are not installed")
    folder.mkdir(exist_ok=True)
    places = "".join(f"<dir>{place}</dir>" for place in sorted(folders))
    file = folder / "fonts.conf"
    file.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f"{places}<cachedir>{folder}</cachedir>"
        '<match target="pattern"><edit name="family" mode="append_last">'
        f"<string>{FONT_SETS[fonts]}</string></edit></match></fontconfig>"
    )
    return file


_PROBLEMS = """(() => {
  const found = [], width = innerWidth;
  const name = (e) => `${e.tagName.toLowerCase()}.${e.getAttribute("class") || ""}`
    + ` "${(e.textContent || "").trim().slice(0, 40)}"`;
  const root = document.documentElement;
  if (Math.max(root.scrollWidth, document.body.scrollWidth) > width)
    found.push("the page scrolls sideways");
  for (const e of document.body.querySelectorAll("*")) {
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || !e.checkVisibility()) continue;
    if (e.closest(".vega-actions")) continue;
    if (box.right > width + 0.5 || box.left < -0.5) found.push(`beyond the edge: ${name(e)}`);
    if (!(e instanceof HTMLElement) || e.matches("select, option, input")) continue;
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
      found.push(`wider than its place: ${name(e)}`);
  }
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const folded = (e) => e.closest("details:not([open])");
  const plots = [...document.querySelectorAll(".plot")].filter((e) => !folded(e));
  if (!plots.length && !document.querySelector("canvas")) found.push("no plots");
  for (const plot of plots) {
    const title = plot.getAttribute("aria-label").split(".")[0];
    const svg = plot.querySelector("svg.marks");
    if (!svg) { found.push(`${title}: not drawn`); continue; }
    const marks = [...svg.querySelectorAll(".role-mark path, .role-mark line, .role-mark rect")];
    const seen = marks.filter((mark) => {
      const box = mark.getBoundingClientRect();
      return box.width + box.height > 0 && !mark.getAttribute("class")?.includes("background");
    });
    if (!seen.length) found.push(`${title}: no marks`);
    const whole = svg.getBoundingClientRect();
    // The box around slanted words is larger than they are: these are left out.
    const texts = [...svg.querySelectorAll("text")]
      .filter((t) => t.textContent.trim() && +getComputedStyle(t).opacity > 0)
      .filter((t) => !/rotate\\((?!-?90\\b|0\\b)/.test(t.getAttribute("transform") || ""))
      .map((t) => [t.textContent, t.getBoundingClientRect()]);
    for (const [words, box] of texts) {
      if (words.includes("\u2026")) found.push(`${title}: "${words}" is cut`);
      if (box.left < whole.left - 1 || box.right > whole.right + 1 ||
          box.top < whole.top - 1 || box.bottom > whole.bottom + 1)
        found.push(`${title}: "${words}" leaves the plot`);
    }
    texts.forEach(([a, box], i) => texts.slice(i + 1).forEach(([b, other]) => {
      if (overlap(box, other)) found.push(`${title}: "${a}" and "${b}" overlap`);
    }));
  }
  for (const head of document.querySelectorAll("th button")) {
    // A heading of one word stands on one line.
    const range = document.createRange();
    range.selectNodeContents(head);
    const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.bottom / 4)));
    if (head.checkVisibility() && !/[\\s-]/.test(head.textContent) && tops.size > 1)
      found.push(`the word "${head.textContent}" is split`);
  }
  for (const axis of document.querySelectorAll(".axis")) {
    const spans = [...axis.children].map((e) => [e.textContent, e.getBoundingClientRect()]);
    spans.slice(1).forEach(([words, box], i) => {
      const [before, last] = spans[i];
      if (box.left < last.right + 2 && box.top < last.bottom && box.bottom > last.top)
        found.push(`"${before}" and "${words}" touch`);
    });
  }
  for (const canvas of document.querySelectorAll("canvas")) {
    if (!canvas.checkVisibility()) continue;
    const { width, height } = canvas, context = canvas.getContext("2d");
    const pixels = width && height ? context.getImageData(0, 0, width, height).data.buffer : [];
    if (new Set(new Uint32Array(pixels)).size < 2) found.push(`${name(canvas)}: an empty picture`);
  }
  for (const frame of document.querySelectorAll(".plots > section")) {
    const plot = frame.querySelector(".plot");
    if (!frame.checkVisibility()) continue;
    const empty = frame.getBoundingClientRect().bottom - plot.getBoundingClientRect().bottom;
    if (empty > 180) found.push(`${name(plot)}: ${empty} pixels of its frame are empty`);
  }
  const sections = [...document.querySelectorAll("section, dl.facts div")]
    .map((e) => e.getBoundingClientRect());
  sections.forEach((a, i) => sections.slice(i + 1).forEach((b) => {
    if (overlap(a, b)) found.push("two sections overlap");
  }));
  return found;
})()"""
