"""The catalogue of published traces: facts about them, and which of them are at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from floatgate import engine

Folders = str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None
"""A folder, several, or None: those that FLOATGATE_TRACES names."""


def traces(folders: Folders = None) -> dict[str, Any]:
    """Returns the catalogue.

    Args:
        folders: The folder, or folders, in or below which traces lie; by default those that the
            environment variable FLOATGATE_TRACES names.

    Returns:
        `traces` has every trace with its publisher's facts, the numbers of its sources
        (`statistics`) and whether its files are there (`presence`). `groups` has those that papers
            used. `also_there` has further files in the folders that look like traces.

    Raises:
        InputError: A folder does not exist or cannot be searched.
    """
    return dict(json.loads(engine.traces(trace_folders(folders))))


def trace_folders(folders: Folders) -> list[str]:
    """The folders as a list, those of the environment where none are given."""
    if folders is None:
        named = os.environ.get("FLOATGATE_TRACES", "")
        return [folder for folder in named.split(os.pathsep) if folder]
    if isinstance(folders, str | os.PathLike):
        return [os.fspath(folders)]
    return [os.fspath(folder) for folder in folders]
