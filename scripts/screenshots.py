"""Makes pictures of every page: 400, 1200 and 1900 pixels wide, light and dark.

`python scripts/screenshots.py DIR [--widths 400 1200] [--small FILE]` runs a few drives, writes the
report of one run and of several, the drive over time, and opens the page of stored results. Each
page is measured as the tests do; one that is cut, overlaps or has an empty picture ends this with
1, after all have been made. `--small` also writes the small picture of the report for README.
"""

import argparse
import base64
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import floatgate as fg
from floatgate import report

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))

from browser import Browser  # noqa: E402

WIDTHS = (400, 1200, 1900)
DRIVE = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "ftl.spare-factor": 0.15,
    "workload.requests": 40_000,
    "workload.read-share": 0.3,
}


@contextmanager
def pages(folder: Path) -> Iterator[dict[str, Path | str]]:
    """The pages by name, each a file or an address."""
    seen = folder / "one"
    run = fg.run(
        "agcr", "random-write", set=DRIVE, steady=True, out=seen, record=["requests", "series",
        "blocks", "snapshots"],
    )  # fmt: skip
    several = fg.compare(
        "agcr", "random-write", policy={"victim": ["greedy", "fifo", "random"]}, set=DRIVE,
        seed=[1, 2, 3], steady=True, out=folder / "several",
    )  # fmt: skip
    with report.serve(folder) as live:
        yield {
            "report": report.save(report.of(report.load([seen])), folder / "report.html"),
            "compare": several.save_report(folder / "compare.html"),
            "view": fg.view(run, folder / "view.html"),
            "live": live.address,
        }


def shoot(browser: Browser, page: Path | str, file: Path, width: int, *, dark: bool) -> list[str]:
    """Makes one picture. Returns its errors."""
    opened = browser.open(page, width, dark=dark, folded=True)
    deadline = time.monotonic() + 300
    while not browser.run("!!document.querySelector('svg.marks, canvas')"):
        assert time.monotonic() < deadline, f"{page}: nothing is drawn"
        time.sleep(0.05)
    browser.run("window.drawn.then(() => true)")
    browser.screenshot(file)
    return [*opened.errors, *browser.problems()]


def main(words: Sequence[str] | None = None) -> int:
    """Makes all of them, and returns how the script ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--small", type=Path)
    asked = parser.parse_args(words)
    asked.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="floatgate-pages-") as place:
        results, profile = Path(place, "results"), Path(place, "browser")
        with pages(results) as every, Browser(profile) as browser:
            for name, page in every.items():
                for width in asked.widths:
                    for dark in (False, True):
                        file = asked.folder / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                        found = shoot(browser, page, file, width, dark=dark)
                        wrong += bool(found)
                        print(file, *found, sep="\n  ", flush=True)
            if asked.small:
                small(browser, every["compare"], asked.small)
                print(asked.small)
    return 1 if wrong else 0


def small(browser: Browser, page: Path | str, file: Path) -> None:
    """The upper part of the report, small enough for README."""
    browser.open(page, 1200, dark=False, folded=True)
    bottom = "document.querySelectorAll('.plots > section')[5].getBoundingClientRect().bottom"
    height = browser.run(f"Math.ceil({bottom} + 16)")
    clip = {"x": 0, "y": 0, "width": 1200, "height": height, "scale": 0.7}
    answer = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(base64.b64decode(answer["data"]))


if __name__ == "__main__":
    sys.exit(main())
