"""The command: builds the site into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from docsite.build import build
from docsite.reference import drive_files


def main() -> None:
    """Builds the site and prints the path of its first page."""
    parser = argparse.ArgumentParser(prog="docsite", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the pages go")
    parser.add_argument("--keys", type=Path, help="only write the table of keys to this file")
    parser.add_argument(
        "--no-figures", action="store_true", help="leave the runs behind the figures out"
    )
    words = parser.parse_args()
    if words.keys:
        words.keys.write_text(drive_files(), encoding="utf-8")
        return
    if words.folder is None:
        parser.error("name the folder of the pages")
    pages = build(words.folder, figures=not words.no_figures)
    print(f"{len(pages)} pages: {words.folder / 'index.html'}")


if __name__ == "__main__":
    main()
