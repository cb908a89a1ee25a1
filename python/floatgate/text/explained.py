"""What each warning of a result means, and what to do about it: `floatgate explain CODE`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import NamedTuple

from floatgate.engine import InputError
from floatgate.words import BOLD, Style, filled, page_width


class Explained(NamedTuple):
    """A warning: what it means, what to do, and whether it changes what the answer means.

    `add` is what to add to the command, ready to paste, where one thing helps at all times.
    """

    means: str
    do: str
    changes: bool = False
    add: str = ""


WARNINGS: Mapping[str, Explained] = {
    "gc-never-ran": Explained(
        "The drive had free blocks until the end, so no garbage was collected: the run shows a new "
        "drive, which is quicker and writes less to flash than one in use.",
        "Fill and age the drive before the run. If it was aged, the run is too short: give it more "
        "requests.",
        True,
        "--steady",
    ),
    "not-steady": Explained(
        "The drive is aged until the write amplification of a stretch of writes is that of the "
        "stretch before. It was not yet, and the drive had been written as often as ageing may.",
        "Take another workload to age it (precondition.age), or take the numbers as those of a "
        "drive on its way.",
        True,
    ),
    "waf-not-steady": Explained(
        "The first and the second half of the run have write amplifications that differ by more "
        "than 5 %, so neither is the one that lasts.",
        "Begin at the state that the workload itself leaves (precondition.age=workload), or make "
        "the run longer.",
        True,
        "--steady",
    ),
    "no-time": Explained(
        "No request needed flash, the link, the controller or the buffer for any time, so there "
        "are no rates and no latencies.",
        "Fill the drive (precondition.fill), or let reads of pages that were never written take "
        "the time of others (ftl.unmapped-read).",
        True,
        "--set precondition.fill=full",
    ),
    "unmapped-reads": Explained(
        "Reads met pages that hold nothing. A drive answers these without its flash.",
        "Fill what the workload reads, or the whole drive (precondition.fill=touched or full).",
        True,
        "--set precondition.fill=touched",
    ),
    "overloaded": Explained(
        "Requests came faster than the drive serves them. The queue, and with it latency, grew to "
        "the end: a longer run would show a greater latency.",
        "Let the workload come more slowly (host.speed below 1), or ask how much the drive can do "
        "(host.mode=queue-depth).",
        True,
    ),
    "buffer-drained": Explained(
        "Much of the run is the time in which the write buffer emptied after the last request. "
        "Rates count to its end, so they are those of the flash.",
        "Make the run longer, if the rate that the host saw is asked for.",
        True,
    ),
    "uncorrectable": Explained(
        "Reads failed: more bits were wrong than the error correction corrects.",
        "See the lifetime of the drive (`floatgate lifetime`), and reliability.initial-cycles, "
        "initial-retention and the refresh policies.",
        True,
    ),
    "few-samples": Explained(
        "A percentile is trusted here where at least ten requests are beyond it.",
        "Make the run longer, or do not quote that percentile.",
    ),
    "saturated": Explained(
        "Histograms of latency end at 10^13 ns. What took longer counts as that.",
        "See why a request took three hours: most often the drive is overloaded.",
        True,
    ),
    "closed-loop": Explained(
        "The workload says what is asked for, and not when. A new request arrives whenever one is "
        "done, so the drive is always busy, and latency depends on the depth of the queue.",
        "Say the depth (host.queue-depth), or give the workload arrivals (workload.arrivals).",
    ),
    "queue-limit": Explained(
        "The drive takes host.queue-limit requests at most. Others waited outside, and that time "
        "is part of their latency.",
        "Raise host.queue-limit, if that limit is not a property of the drive.",
    ),
    "misaligned": Explained(
        "Most requests begin at the same distance from a 4 KiB boundary, as on a partition that "
        "begins at sector 63. Each then touches one page more than it needs.",
        "Shift the workload by what the warning says.",
    ),
    "partial-writes": Explained(
        "The host wrote parts of mapping units. The drive reads the rest of the unit first, and "
        "writes a whole one.",
        "Choose the mapping unit that the warning names, if the drive is yours to choose.",
    ),
    "no-read-of-written": Explained(
        "No page was read after the run wrote it. What a policy does with written data could not "
        "show in reads.",
        "Take a workload that reads what it writes, if such a policy is compared.",
    ),
    "buffer-never-filled": Explained(
        "The write buffer had room at all times, so writes never saw the speed of flash.",
        "Make the run longer than the buffer is large, if the sustained rate is asked for.",
    ),
    "victim-overridden": Explained(
        "The policy chose victims without a page to free many times in a row. So that the drive "
        "went on, the block with the most to gain was taken.",
        "Mend the policy, or choose another.",
    ),
    "not-repeatable": Explained(
        "A policy written in Python was given as an object. The result says its name, and cannot "
        "say its code.",
        "Name it by its module (`py:module.Class`), so that the run can be made again.",
    ),
    "cells-not-modelled": Explained(
        "The drive file sets the age of its cells, and the model of the cells is off.",
        'Switch it on with reliability.model = "on", or leave these keys out.',
    ),
    "errors-never-mattered": Explained(
        "Every page was read at the first attempt: error correction, retries and what depends on "
        "them could not matter.",
        "Begin later in the life of the drive (reliability.initial-cycles, initial-retention).",
    ),
    "endurance-far": Explained(
        "The run used less than 1 % of the life of the most worn block.",
        "Begin later in the life of the drive (reliability.initial-cycles), or ask "
        "`floatgate lifetime`, which carries the rate of wear on.",
    ),
    "recovery-extrapolated": Explained(
        "Between two cycles blocks rested for a time for which there are no measurements behind "
        "the model of recovery.",
        "Say how long blocks rested before the run (reliability.initial-rest), or leave recovery "
        "out of the answer.",
    ),
}
"""By code, in the order of how much they change."""


OF_A_NEW_DRIVE = {"gc-never-ran", "waf-not-steady"}
"""What goes away, or can, when the drive is filled and aged first."""


def find(code: str) -> Explained:
    """The warning of that code.

    Raises:
        InputError: There is none.
    """
    if code not in WARNINGS:
        near = difflib.get_close_matches(code, WARNINGS, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(WARNINGS)}"
        raise InputError(f"`{code}` is not the code of a warning; {hint}")
    return WARNINGS[code]


def page(code: str | None = None, *, colour: bool = False) -> str:
    """What a warning means and what to do; without a code, all of them.

    Raises:
        InputError: There is no such code.
    """
    style = Style(colour)
    some = WARNINGS if code is None else {code: find(code)}
    return "\n\n".join(_told(name, each, style) for name, each in some.items())


def changes_the_answer(code: str) -> bool:
    """Whether a warning says that the numbers mean something else than one would think."""
    known = WARNINGS.get(code)
    return known is not None and known.changes


def _told(code: str, warning: Explained, style: Style) -> str:
    lines = [filled(warning.means, page_width(), "  ", "  ")]
    lines.append(filled(f"What to do: {warning.do}", page_width(), "  ", "  "))
    if warning.add:
        lines.append(f"  Add: {warning.add}")
    return "\n".join([style(BOLD, code), *lines])
