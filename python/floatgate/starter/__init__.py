"""Files to begin with: a drive, a workload, an experiment and a policy, with comments."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from floatgate import pages
from floatgate.mistakes import FileError
from floatgate.result.files import make_folder

SHAPES_RESULTS = False

NAMES = ("drive.toml", "workload.toml", "experiment.toml", "policy.py")


def write(folder: str | os.PathLike[str]) -> list[Path]:
    """Writes the files into a folder, and returns their paths. Nothing is replaced.

    Raises:
        InputError: One of them exists already, or the folder cannot be written.
    """
    targets = [Path(folder) / name for name in NAMES]
    there = [str(path) for path in targets if path.exists()]
    if there:
        raise FileError(
            f"{', '.join(there)}: there already; name another folder: floatgate init DIR"
        )
    make_folder(Path(folder))
    for target in targets:
        pages.write(target, (files(__package__) / target.name).read_text(encoding="utf-8"))
    return targets
