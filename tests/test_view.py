"""The picture of a drive over time: the page's computations, and its look in a browser."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import floatgate as fg
from browser import Browser
from conftest import Floatgate, both_fonts, looks
from floatgate import InputError, Result
from floatgate.pictures import picture
from floatgate.report import load

SMALL = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 32,
    "ftl.spare-factor": 0.2,
    "precondition.fill": "full",
    "workload.requests": 20_000,
    "workload.read-share": 0.4,
    "timing.bus": '{ rate = "333MT/s", command = "300ns" }',
}
BLOCKS = 2 * 2 * 4 * 32


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A run that reclaims blocks, with snapshots."""
    out = tmp_path_factory.mktemp("run")
    done = fg.run(
        "agcr", "zipf", set=SMALL, policy={"read-disturb": "refresh:limit=400"},
        out=out, record=["blocks", "snapshots"],
    )  # fmt: skip
    assert done.flash.erase.gc > 20
    return done


@pytest.fixture(scope="module")
def page(run: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fg.view(run, tmp_path_factory.mktemp("page") / "view.html")


def drive_at(run: Result, at: int) -> pl.DataFrame:
    """The blocks at an instant: of each, the latest row up to then."""
    seen = run.snapshots().filter(pl.col("at_ns") <= at)
    return seen.group_by("block").last().sort("block")


def test_the_tables_hold_the_drive(run: Result) -> None:
    snapshots, occupancy = run.snapshots(), run.occupancy()
    last, blocks = drive_at(run, snapshots["at_ns"].to_list()[-1]), run.blocks()
    for name in ("state", "role", "mode", "erases", "valid_slots", "written_slots"):
        assert last[name].to_list() == blocks[name].to_list()
    assert last.height == BLOCKS
    dies = occupancy.filter(pl.col("part") == "die")
    busy = dies["busy_ns"].to_numpy()
    parts = dies.select(pl.sum_horizontal(pl.col("^busy_.+_ns$"))).to_series().to_numpy()
    assert (busy == parts).all(), "the sources add up"
    assert busy.sum() > 0
    channels = occupancy.filter(pl.col("part") == "channel")
    assert channels["busy_ns"].sum() > 0
    assert channels["busy_gc_ns"].null_count() == channels.height


@looks
def test_the_page_shows_the_drive_at_every_instant(
    browser: Browser, page: Path, run: Result, width: int, dark: bool
) -> None:
    opened = browser.open(page, width, dark=dark)
    assert opened.errors == []
    assert opened.requests == [page.as_uri()]
    assert browser.problems() == []
    times = browser.run("pictures[0].data.times")
    assert len(times) > 10
    # There and back again: state that time changed comes back.
    for frame in (len(times) - 1, 0, len(times) // 2, 3):
        browser.run(f"pictures[0].show({frame})")
        expected = drive_at(run, times[frame])
        for name in ("valid_slots", "written_slots", "erases", "reads_since_erase"):
            shown = browser.run(f"[...pictures[0].now.{name}]")
            assert shown == expected[name].to_list(), name
    for canvas in ("map", "busy"):
        colours = browser.run(
            f"(() => {{ const c = document.querySelector('canvas.{canvas}');"
            "const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "return new Set(new Uint32Array(pixels.buffer)).size; })()"
        )
        assert colours > 3, f"{canvas} shows something"


def test_the_slider_changes_the_picture_and_a_click_shows_one_die(
    browser: Browser, page: Path
) -> None:
    browser.open(page, 1280, dark=False)
    image = "document.querySelector('canvas.map').toDataURL()"
    slide = (
        "{{ const s = document.querySelector('.instant'); s.value = {};"
        " s.dispatchEvent(new Event('input')); }}"
    )
    browser.run(slide.format(0))
    first = browser.run(image)
    browser.run(slide.format(browser.run("pictures[0].data.times.length - 1")))
    last = browser.run(image)
    assert first != last
    browser.run(slide.format(0))
    assert browser.run(image) == first
    choose = (
        "{{ const s = document.querySelector('.measure'); s.value = '{}';"
        " s.dispatchEvent(new Event('input')); }}"
    )
    browser.run("pictures[0].show(pictures[0].data.times.length >> 1)")
    drawn = set()
    for measure in browser.run(
        "[...document.querySelector('.measure').options].map((o) => o.value)"
    ):
        browser.run(choose.format(measure))
        drawn.add(browser.run(image))
    assert len(drawn) >= 4, "pages, wear, reads and states differ"
    browser.run(
        "document.querySelector('canvas.map').dispatchEvent("
        "new MouseEvent('click', { clientX: 0, clientY: 0, bubbles: true }))"
    )
    browser.run("pictures[0].only = 3; pictures[0].draw()")
    assert not browser.run("document.querySelector('.whole').hidden")
    assert browser.run("pictures[0].describe(3 * 4 * 32 + 33)").startswith(
        "channel 1, chip 1, die 0, plane 1, block 1: "
    )
    browser.run("document.querySelector('.whole').click()")
    assert browser.run("pictures[0].only") is None


def test_the_keyboard_goes_through_blocks_and_instants(browser: Browser, page: Path) -> None:
    browser.open(page, 1280, dark=False)

    def press(key: str, of: str = "map") -> None:
        browser.run(
            f"document.querySelector('canvas.{of}').dispatchEvent("
            f"new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        )

    def detail() -> str:
        return str(browser.run("document.querySelector('.detail').textContent"))

    assert browser.run("document.querySelector('canvas.map').tabIndex") == 0
    plain = browser.run("document.querySelector('canvas.map').toDataURL()")
    browser.run("document.querySelector('canvas.map').focus()")
    press("ArrowRight")
    assert detail().startswith("channel 0, chip 0, die 0, plane 0, block 0: ")
    press("ArrowRight")
    assert "plane 0, block 1: " in detail()
    press("ArrowDown")
    across = browser.run("pictures[0].l.across")
    assert f"plane 0, block {across + 1}: " in detail()
    assert browser.run("document.querySelector('canvas.map').toDataURL()") != plain
    for _ in range(across):
        press("ArrowRight")
    assert "plane 1, " in detail()
    for _ in range(10 * across):
        press("ArrowRight")
    assert detail().startswith("channel 1, "), "beyond the gap is the next channel, and an end"
    press("Enter")
    assert browser.run("pictures[0].only") == 1
    press("Escape")
    assert browser.run("pictures[0].only") is None
    press("Home", "busy")
    press("ArrowRight", "busy")
    assert browser.run("pictures[0].frame") == 1
    press("End", "busy")
    press("ArrowRight", "busy")
    assert browser.run("pictures[0].frame === pictures[0].data.times.length - 1")
    # The time stands below the map, with the instants from the first to the last.
    box = "document.querySelector('{}').getBoundingClientRect().{}"
    assert browser.run(f"{box.format('.instant', 'top')} >= {box.format('canvas.map', 'bottom')}")
    ends = browser.run("[...document.querySelectorAll('.instants span')].map((s) => s.textContent)")
    assert len(ends) >= 2
    assert ends[-1] == browser.run("document.querySelector('output').textContent")


@both_fonts
def test_the_report_has_the_picture(browser: Browser, run: Result, tmp_path: Path) -> None:
    assert run.folder is not None
    page = load([run.folder]).save_report(tmp_path / "report.html")
    opened = browser.open(page, 400, dark=False)
    assert (opened.errors, browser.problems()) == ([], [])
    assert browser.run("pictures.length") == 1
    assert browser.run("document.querySelectorAll('.plot svg.marks').length") > 3


def test_a_picture_that_unpacks_slowly_is_waited_for_and_drawn_when_shown(
    browser: Browser, run: Result, tmp_path: Path
) -> None:
    """Details open before the columns are unpacked: `drawn` waits for the canvases too."""
    assert run.folder is not None
    page = load([run.folder]).save_report(tmp_path / "report.html")
    slowly = (
        "{ const stream = Blob.prototype.stream; Blob.prototype.stream = function () {"
        " const held = new TransformStream();"
        " setTimeout(() => stream.call(this).pipeTo(held.writable), 150);"
        " return held.readable; }; }"
    )
    added = browser.call("Page.addScriptToEvaluateOnNewDocument", source=slowly)
    try:
        opened = browser.open(page, 400, dark=False)
        assert (opened.errors, browser.problems()) == ([], [])
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    # Folded and opened again at another width, it fills that width.
    width = "document.querySelector('canvas.map').width"
    browser.run("document.querySelector('.more').open = false")
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=1200, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    browser.run("new Promise((done) => setTimeout(() => done(1), 400))")
    browser.run("document.querySelector('.more').open = true")
    browser.run("new Promise((done) => setTimeout(() => window.drawn.then(() => done(1)), 100))")
    assert (
        browser.run(width) == browser.run("document.querySelector('canvas.map').clientWidth") > 600
    )
    assert browser.problems() == []


def test_large_drives_are_shown_in_cells_and_long_runs_in_fewer_instants(
    run: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    import base64
    import zlib

    def column(shown: dict[str, Any], name: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        text = shown["cell"] if name == "cell" else shown["numbers"][name]
        return np.frombuffer(zlib.decompress(base64.b64decode(str(text))), "<u4")

    def replayed(shown: dict[str, Any], name: str, cells: int) -> list[int]:
        now = np.zeros(cells, np.uint32)
        now[column(shown, "cell")] = column(shown, name)  # Of equal cells, the last row stays.
        return now.tolist()

    whole = picture(run)
    final = drive_at(run, 1 << 62)
    for name in ("erases", "valid_slots"):
        assert replayed(whole, name, BLOCKS) == final[name].to_list()
    thinned = picture(run, rows=200)
    assert 2 <= len(thinned["times"]) < len(whole["times"])
    assert thinned["times"][-1] == whole["times"][-1]
    assert sum(thinned["counts"]) < sum(whole["counts"])
    assert replayed(thinned, "valid_slots", BLOCKS) == final["valid_slots"].to_list()
    monkeypatch.setattr("floatgate.pictures.CELLS", BLOCKS // 4)
    cells = picture(run)
    assert (cells["group"], cells["blocks"]) == (4, 8)
    means = final["erases"].to_numpy().reshape(-1, 4).mean(axis=1).astype(int).tolist()
    assert replayed(cells, "erases", BLOCKS // 4) == means


def test_the_command_line_writes_the_page_and_says_what_is_missing(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    settings = [f"--set={key}={value}" for key, value in SMALL.items()]
    words = ["run", "agcr", "random-write", *settings, "--quiet"]
    alone = floatgate(*words, "--snapshots")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "--snapshots is stored beside the result: say where with --out DIR" in alone.stderr
    floatgate(*words, "--out", "plain")
    plain = next((tmp_path / "plain").iterdir())
    refused = floatgate("view", str(plain))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "snapshots.parquet" in refused.stderr
    assert "`--snapshots`" in refused.stderr
    assert not (tmp_path / "view.html").exists()
    floatgate(*words, "--out", "seen", "--snapshots")
    done = floatgate("view", str(next((tmp_path / "seen").iterdir())), "-o", "seen.html")
    assert (done.returncode, done.stdout) == (0, "Page: seen.html\n")
    text = (tmp_path / "seen.html").read_text()
    assert "http" not in text
    with pytest.raises(InputError, match="is not a table"):
        fg.run("agcr", "random-write", record=["snapshot"])
