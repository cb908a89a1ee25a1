"""Predicts published numbers that are kept elsewhere: `predict_drives.py ASKED > FILE`.

ASKED has a head and tab-separated columns: drive, what, unit, conditions. The answers come from
the presets of `presets/published` by the rules of `docs/accuracy.md`, and depend on nothing else.
"""

from __future__ import annotations

import sys
from pathlib import Path

from floatgate.reproduce.studies.drives import predict


def main() -> None:
    """Prints the predictions of a file."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    sys.stdout.write(predict(lines))


if __name__ == "__main__":
    main()
