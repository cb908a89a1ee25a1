"""What notebooks show: whole HTML, nothing of a name taken for HTML, the numbers of the page."""

import html.parser

import pytest

import sample
from floatgate import Comparison, Result


class Balanced(html.parser.HTMLParser):
    """Counts what opens and what closes."""

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
