"""The output of notebooks: whole HTML, names escaped, the numbers of the page."""

import csv
import html.parser
import importlib.util
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import floatgate
import sample
from floatgate import Comparison, Result


class Balanced(html.parser.HTMLParser):
    """Counts opening and closing tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in ("div", "p", "b", "code", "table", "tr", "th", "td", "span"), tag
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> str:
    parser = Balanced()
    parser.feed(text)
    assert not parser.open
    return parser.text


def test_a_run_in_a_notebook(result: Result) -> None:
    result.data["provenance"]["workload"]["name"] = "<script>alert(1)</script>"
    shown = result._repr_html_()
    assert "<script" not in shown
    text = read(shown)
    # As on the page of the terminal: the mean of the sample's reads, most of it behind collection.
    for said in (
        "Write amplification 1.830.",
        "A read took 250 us on average",
        "waiting behind gc",
    ):
        assert said in text


def test_a_comparison_in_a_notebook() -> None:
    runs = [Result(sample.result()) for _ in range(60)]
    variants = [{"victim": f"<b>{i}", "seed": "1"} for i in range(60)]
    failed = [{"variant": {"victim": "x", "seed": "1"}, "kind": "input", "message": "a < b"}]
    shown = Comparison(runs, variants, failed)._repr_html_()
    text = read(shown)
    assert "<b>0" in text, "a name with an angle is a name"
    assert "one seed" in text
    assert "a < b" in text
    assert "and 10 more" in text


def test_what_did_not_occur_has_no_latency_in_a_frame(result: Result) -> None:
    assert not result.host.trim.requests
    row = result.frame()
    assert row["host.trim.latency_ns.mean"].item() is None
    assert row["host.trim.delay_ns_by_cause.bus"].item() is None
    assert row["host.trim.requests"].item() == 0
    assert row["host.read.latency_ns.mean"].item() == result.host.read.latency_ns.mean


@pytest.mark.parametrize("provenance", [False, True])
def test_provenance_is_in_a_frame_on_request(result: Result, provenance: bool) -> None:
    frame = result.frame(provenance=provenance)
    assert frame.columns[0] == "run_id"
    assert ("provenance.seed" in frame.columns) == provenance
    assert ("timing.wall_seconds" in frame.columns) == provenance


def described(monkeypatch: pytest.MonkeyPatch, *, plots: bool) -> str:
    description = floatgate.describe("random-write", set={"workload.requests": 300})
    description.data["workload"]["name"] = "<script>alert(1)</script>"
    found = importlib.util.find_spec

    def finding(name: str, *rest: Any) -> Any:
        return None if name == "vl_convert" else found(name, *rest)

    if not plots:
        monkeypatch.setattr(importlib.util, "find_spec", finding)
    return description._repr_html_()


def test_a_description_in_a_notebook_has_its_numbers_and_a_plot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = described(monkeypatch, plots=True)
    assert "<script" not in shown
    # No request is made: these are names of XML.
    assert not re.findall(r'(?:src|href)="', shown)
    table, svg = re.findall(r"<table>.*</table>|<svg.*</svg>", shown)
    # 300 requests of 4 KiB: the generator says so, not the description.
    assert "<td>300</td>" in table
    assert "<td>4.00 KiB</td>" in table
    marks = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")
    bars = [mark for mark in marks if mark.get("aria-roledescription") == "bar"]
    assert len(bars) == 1, "all requests have one size"


def test_without_the_extra_a_description_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = described(monkeypatch, plots=False)
    assert "<svg" not in shown
    assert "<td>300</td>" in shown
    assert "floatgate[report]" in shown


def test_frames_go_on_to_pandas_excel_and_csv(tmp_path: Path) -> None:
    runs = [Result(sample.result()) for _ in range(2)]
    runs[1].data["waf"] = 2.5
    frame = Comparison(runs, [{"victim": "greedy"}, {"victim": "fifo"}]).frame()
    pandas = frame.to_pandas()
    assert list(pandas["victim"]) == ["greedy", "fifo"]
    assert list(pandas["waf"]) == [1.83, 2.5]
    frame.write_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["victim"], float(row["waf"])) for row in rows] == [("greedy", 1.83), ("fifo", 2.5)]
    frame.write_excel(tmp_path / "runs.xlsx")
    with zipfile.ZipFile(tmp_path / "runs.xlsx") as book:
        words = book.read("xl/sharedStrings.xml").decode()
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert all(f">{word}<" in words for word in ("victim", "greedy", "fifo", "waf"))
    assert "<v>1.83</v>" in sheet
    assert "<v>2.5</v>" in sheet
