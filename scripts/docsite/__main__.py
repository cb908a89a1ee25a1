"""The command: builds the site into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from docsite.build import build


def main() -> None:
    """Builds the site, and says where it begins."""
    parser = argparse.ArgumentParser(prog="docsite", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages go")
    parser.add_argument(
        "--no-figures", action="store_true", help="leave the runs behind the figures out"
    )
    words = parser.parse_args()
    pages = build(words.folder, figures=not words.no_figures)
    print(f"{len(pages)} pages: {words.folder / 'index.html'}")


if __name__ == "__main__":
    main()
