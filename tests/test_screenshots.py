"""`make screenshots`: every page, each measured, and the small picture of README."""

import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

import screenshots  # noqa: E402


def shape(picture: bytes) -> tuple[int, int]:
    """The width and height of a PNG."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


@pytest.mark.verify
@pytest.mark.usefixtures("browser")
def test_every_page_is_pictured_and_none_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {**screenshots.DRIVE, "workload.requests": 3_000}
    monkeypatch.setattr(screenshots, "DRIVE", few)
    code = screenshots.main([str(tmp_path / "all"), "--widths", "400"])
    assert code == 0, capsys.readouterr().out
    names = sorted(path.name for path in (tmp_path / "all").iterdir())
    assert names == sorted(
        f"{page}-400-{theme}.png"
        for page in ("report", "compare", "view", "live")
        for theme in ("light", "dark")
    )
    for name in names:
        width, height = shape((tmp_path / "all" / name).read_bytes())
        assert width == 400
        assert height > 900


def test_the_picture_of_readme_is_small_and_there() -> None:
    picture = ROOT / "docs" / "reports" / "report.png"
    assert "](docs/reports/report.png)" in (ROOT / "README.md").read_text()
    assert picture.stat().st_size <= 150_000
    assert shape(picture.read_bytes())[0] <= 1200
