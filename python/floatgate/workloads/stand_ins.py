"""Profiles: the statistics that a stand-in of a trace is made from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from floatgate import engine
from floatgate.mistakes import FileError
from floatgate.policy.finder import Finder
from floatgate.workloads.reading import Reading, how_to_read, takes_reading

if TYPE_CHECKING:
    from os import PathLike


@takes_reading
def fit(
    trace: str | PathLike[str],
    *,
    progress: Callable[[str, int, int | None, int], object] | None = None,
    **reading: Unpack[Reading],
) -> Profile:
    """Fits the model of stand-ins to a trace, in two passes over it.

    `docs/stand-ins.md` explains the parameters, and `docs/measured/stand-ins.md` the errors of
    stand-ins.

    Args:
        trace: A trace file, or a trace of the catalogue such as `msr:hm_0`. If its files are
            absent, the profile is that of its published statistics.
        progress: Called some ten times a second with the stage (`looking`, `fitting`), the requests
            done, their total (None if unknown) and the trace's time in ns.
        **reading: Options of reading a trace, and of changing it (docs/traces.md):

    Returns:
        The profile. Saved as a file it is a workload: `run("agcr", "profile.toml")`.

    Raises:
        InputError: The trace cannot be read, or too little is published of it.
    """
    text = engine.fit(
        str(trace), reading=how_to_read(**reading), progress=progress, finder=Finder()
    )
    return Profile(text)


class Profile:
    """The statistics that a stand-in reproduces, as the text of a TOML file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data: dict[str, Any] = tomllib.loads(text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Profile of {self.data['stands-for']}: {self.data['fitted-to']}>"

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the profile to a file, whose name should end in `.toml`.

        Raises:
            InputError: The file cannot be written.
        """
        try:
            Path(path).write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}") from None


def expected_error(measure: str) -> float | None:
    """Returns the error to expect when a stand-in takes the place of its trace.

    As `docs/measured/stand-ins.md` explains, it is the median, over the traces that the model is
    judged on, of the relative error; for shares, of the difference.

    Args:
        measure: As in results and descriptions: `"waf"`, `"host.read.latency_ns.mean"`,
            `"characters.reads_on_read_only"`.

    Returns:
        The error as a part of 1, or None if it was not judged.
    """
    judged = _errors().get(measure)
    return None if judged is None else float(judged["typical"])


def _errors() -> dict[str, dict[str, float]]:
    text = (Path(__file__).parent / "stand_in_errors.json").read_text(encoding="utf-8")
    return dict(json.loads(text)["measures"])


GOOD = 0.1
"""A stand-in is good for numbers from which it is typically no further."""

_NAMED = {
    "waf": "write amplification",
    "agcr.read": "the change of read latency by a policy",
    "agcr.write": "the change of write latency by a policy",
    "host.read.latency_ns.mean": "the mean latency of reads",
    "host.write.latency_ns.mean": "the mean latency of writes",
}


def expectation() -> str:
    """Returns the good and the bad uses of stand-ins, with the errors to expect."""
    errors = {name: _errors()[measure] for measure, name in _NAMED.items()}

    def listed(good: bool) -> str:
        return ", ".join(
            f"{name} (typically {typical:.0f} %, at worst {worst:.0f} %)"
            for name, error in errors.items()
            for typical, worst in [(100 * error["typical"], 100 * error["worst"])]
            if (error["typical"] <= GOOD) == good
        )

    return (
        "a stand-in has the statistics of its trace, not its requests. It is good for "
        f"{listed(True)}, and not for {listed(False)}. These are the errors to expect of traces "
        "that the model knows (docs/measured/stand-ins.md). A stand-in made from published "
        "statistics alone is worse by an unknown amount"
    )
