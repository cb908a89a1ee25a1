"""The meaning of each warning and error, and the remedy: `floatgate explain CODE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from floatgate.hints import hint, nearest
from floatgate.mistakes import UnknownNameError
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
        "Begin at the state that the workload itself leaves: fill the drive, and age it by the "
        "workload. After --steady alone, random writes have aged it, and a workload with skew "
        "moves on from there. If the workload has aged the drive, make the run longer.",
        True,
        "--steady --set precondition.age=workload",
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
    "work-left": Explained(
        "Garbage collection and other jobs were behind when the run ended. A result counts up to "
        "the end of the run, so this work is neither in the write amplification nor in the energy.",
        "Make the run longer until end.work_left is a small part of it.",
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
    "small-buffer": Explained(
        "A write keeps its place in the buffer until it is programmed. The buffer holds less than "
        "all dies program at once, so some dies always have nothing to program.",
        "Give the buffer at least one program unit for each die. Two let one come in while the "
        "other is programmed: buffer.units-per-die = 2, instead of buffer.size.",
        True,
    ),
    "spare-in-reserve": Explained(
        "Garbage collection keeps `ftl.gc.stop` blocks of each plane free, and the host and "
        "collection each write into an open one. These blocks hold no old data. They do not become "
        "fewer as `geometry.blocks-per-plane` does, so a drive that is made small loses spare, and "
        "its write amplification is higher than that of the large drive.",
        "Give the spare factor that the warning names, or more blocks: `geometry.pages-per-block` "
        "makes a drive as small, and leaves the share of the reserve as it was.",
        True,
    ),
    "idle-policy": Explained(
        "A policy, or a part of it, changed nothing: the drive or the requests have nothing that "
        "it could choose among. Results are those of the family's default policy, or differ by "
        "the policy's costs alone.",
        "Give the drive what the warning names, or take another policy.",
    ),
    "victim-overridden": Explained(
        "The policy chose victims without a page to free many times in a row. So that the drive "
        "went on, the block with the most to gain was taken.",
        "Mend the policy, or choose another.",
    ),
    "not-repeatable": Explained(
        "A policy written in Python was given as an object. The result says its name, and cannot "
        "say its code.",
        "Name it by its module (`py:module.Class`), so that the run can be repeated.",
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


ADDED = {
    "--steady": "the drive is filled, and random writes age it before the run.",
    "--set precondition.age=workload": "the workload itself ages the drive before the run.",
    "--steady --set precondition.age=workload": "the drive is filled, and the workload itself ages "
    "it before the run.",
    "--set precondition.fill=full": "every page holds something before the run.",
    "--set precondition.fill=touched": "what the run reads is written before it.",
}
"""The effect of the options that some warnings advise."""


def to_add(codes: Iterable[str], before: Mapping[str, Any]) -> dict[str, str]:
    """The options to add because of these warnings, and their effect.

    Args:
        codes: Those of the warnings.
        before: How the drive was prepared; what it was is not advised.
    """
    wanted = dict.fromkeys(WARNINGS[code].add for code in codes if code in WARNINGS)
    by_workload = "--steady --set precondition.age=workload"
    if by_workload in wanted:
        wanted.pop("--steady", None)
    if before["age"] != "none":
        wanted.pop("--steady", None)
        aged = wanted.pop(by_workload, False) is None and before["age"] == "random"
        wanted |= {"--set precondition.age=workload": None} if aged else {}
    if any(words.startswith("--steady") for words in wanted) or before["fill"] not in (
        "none",
        "touched",
    ):
        wanted = {words: None for words in wanted if "fill=" not in words}
    if before["fill"] == "touched":
        wanted.pop("--set precondition.fill=touched", None)
    return {words: ADDED[words] for words in wanted if words}


class Mistake(NamedTuple):
    """A kind of mistake in the input.

    `wrong` and `right` are an example of it, where a line or two can be one: options of a run, a
    whole command, or lines of a drive file or of an experiment.
    """

    means: str
    do: str
    wrong: str = ""
    right: str = ""


ERRORS: Mapping[str, Mistake] = {
    "config::syntax": Mistake(
        "The file is not TOML.",
        "Look at the place of the mark: most often a quote or a bracket is missing, or a comma "
        "stands for a point. Text and values with units are in quotes, numbers are not.",
        "[ftl]\nspare-factor = 0,2",
        "[ftl]\nspare-factor = 0.2",
    ),
    "config::argument": Mistake(
        "An option is not of the form that it has.",
        "`--set` takes KEY=VALUE, `--policy` takes FAMILY=NAME, and parameters after colons.",
        "--set ftl.spare-factor",
        "--set ftl.spare-factor=0.2",
    ),
    "config::unknown-key": Mistake(
        "A key that no drive has, or one that stands in another section.",
        "See `floatgate config show DRIVE`, which prints all settings of a drive.",
        "--set ftl.spare=0.2",
        "--set ftl.spare-factor=0.2",
    ),
    "config::type": Mistake(
        "The value is a text where a number is meant, or the other way round.",
        "Write whole numbers with digits alone (1000000 or 1_000_000), shares as fractions (0.2).",
        "--set workload.requests=1M",
        "--set workload.requests=1_000_000",
    ),
    "config::unit": Mistake(
        "A time, size or rate without its unit, or with one that there is not.",
        "Times have ns, us, ms, s, min, h, d, y; sizes B, KiB, MiB, GiB, TiB (kB, MB, GB, TB are "
        "decimal); rates MB/s, MT/s and so on.",
        "--set timing.erase=3",
        "--set timing.erase=3ms",
    ),
    "config::value": Mistake(
        "The value is of the right type, and the setting does not allow it: it is out of range, is "
        "none of the words that there are, or does not go with another setting.",
        "Take a value of those that the message names.",
        "--set host.mode=queue",
        "--set host.mode=queue-depth",
    ),
    "config::missing": Mistake(
        "A setting has no default, and the drive does not give it.",
        "Begin with a drive or a chip that has it, and say only what differs.",
        "[geometry]\nchannels = 2",
        'base = "agcr"\n[geometry]\nchannels = 2',
    ),
    "config::conflict": Mistake(
        "Two settings say the same thing, or exclude each other. The message names both, and why.",
        "Leave one of them out, or change it as the message says.",
        "--set ftl.spare-factor=0.2 --set ftl.over-provisioning=0.25",
        "--set ftl.spare-factor=0.2",
    ),
    "config::inherit": Mistake(
        "The `base` or `chip` of a drive is not there, is something else, or leads back to it.",
        "`floatgate drives` and `floatgate chips` list the names; paths are seen from the file.",
        'base = "agrc"',
        'base = "agcr"',
    ),
    "config::geometry": Mistake(
        "The sizes are fine one by one, and make no drive that can be simulated.",
        "Make the drive smaller: fewer channels, chips or blocks, or larger pages.",
        "--set geometry.channels=4096 --set geometry.chips-per-channel=4096",
        "--set geometry.channels=4",
    ),
    "config::over-capacity": Mistake(
        "The drive exports more than it has flash.",
        "Export less, or give it more blocks.",
        "--set ftl.logical-capacity=1TiB",
        "--set ftl.logical-capacity=24GiB",
    ),
    "config::too-few-spare": Mistake(
        "Garbage collection needs free blocks in every plane, and there are too few beyond what is "
        "exported.",
        "Export less (a greater spare factor), or give a plane more blocks.",
        "--set ftl.spare-factor=0.001",
        "--set ftl.spare-factor=0.1",
    ),
    "config::policy": Mistake(
        "There is no such policy or parameter, or the policy does not fit the drive or another "
        "policy.",
        "`floatgate policies` lists them all; of one FAMILY, with parameters and needs.",
        "--policy victim=best",
        "--policy victim=greedy",
    ),
    "experiment::entry": Mistake(
        "An entry of an experiment is not known, not of the form that it has, missing, or does not "
        "go with another.",
        "The message shows the line and says what is possible there. `floatgate init` writes an "
        "experiment with comments.",
        'drive = "agcr"\nworklaod = "zipf"',
        'drive = "agcr"\nworkload = "zipf"',
    ),
    "input::unknown-name": Mistake(
        "There is no command, option, drive, workload, policy, chip, measure, plot or table of "
        "this name.",
        "Take what the message says that was meant, or one of those that it lists.",
        "floatgate drives agrc",
        "floatgate drives agcr",
    ),
    "input::value": Mistake(
        "A value or a file is not what is asked for in its place: of another form or kind, or out "
        "of range.",
        "The message says what is expected there.",
        "floatgate chips c-mlc64 --bench --seed one",
        "floatgate chips c-mlc64 --bench --seed 1",
    ),
    "input::missing": Mistake(
        "Something is needed that is not given: an argument, an option beside another one, or runs "
        "to show.",
        "Add what the message names; `--help` of a command has an example.",
        "floatgate chips --bench",
        "floatgate chips c-mlc64 --bench",
    ),
    "input::conflict": Mistake(
        "Things are given that exclude each other, or one of them twice.",
        "Leave one of them out.",
        "floatgate compare agcr zipf --seed 1,2 --json --csv",
        "floatgate compare agcr zipf --seed 1,2 --csv",
    ),
    "file::missing": Mistake(
        "There is no file or folder of this name.",
        "Look at the spelling and at the folder from which the path is seen; the message names "
        "what is like it.",
        "floatgate config show drives/agcr",
        "floatgate config show agcr",
    ),
    "file::unusable": Mistake(
        "A file or folder is there and cannot be read or written: it is of another kind, lacks "
        "permission, is in the way of a new one, or the disk is full.",
        "Name another place, or do what the message says.",
        "floatgate config show /",
        "floatgate config show agcr",
    ),
    "service::address": Mistake(
        "Nobody answers at an address, another service does, it cannot be listened at, or the "
        "machines there have other files or another build of floatgate.",
        "See that what should answer runs, and that the address is the one which it prints. "
        "`floatgate serve` has two sockets: one for clients, and one for `top`, `smart` and "
        "`fault`.",
    ),
    "system::memory": Mistake(
        "The drive, or what else a command needs, takes more memory than the system gives.",
        "Make the drive smaller (fewer blocks, or larger pages), or run fewer at the same time.",
    ),
    "system::package": Mistake(
        "A part of floatgate needs Python packages that are not installed.",
        "Install the extra that the message names.",
    ),
    "trace::file": Mistake(
        "A trace cannot be opened or read to its end, or holds no request.",
        "Look at the path, and whether the file was copied whole. `floatgate trace list` says "
        "which traces of the catalogue are there.",
    ),
    "trace::compression": Mistake(
        "The compressed data of a trace end early, or are damaged.",
        "Copy or load the file again; its size tells whether it is whole.",
    ),
    "trace::format": Mistake(
        "The lines of a file look like none of the formats of traces that are known.",
        "Name the format (--format), or for a table of your own its columns (--columns): "
        "docs/reference/trace-formats.md describes each.",
    ),
    "trace::record": Mistake(
        "A line or record of a trace is not of its format.",
        "Mend the line that the message names, or leave out such lines with --skip-bad, which "
        "counts them.",
    ),
    "trace::clock": Mistake(
        "The times of a trace cannot be meant as they stand: they run backwards, or over ages.",
        "Name the unit of time (--time-unit), or the column that has the arrival.",
    ),
    "trace::range": Mistake(
        "A request of the workload ends beyond the drive.",
        "Say how the workload is made to fit (host.out-of-range=compact or wrap), or take a "
        "larger drive.",
    ),
    "workload::parameter": Mistake(
        "An option says of a workload how it is read or made, and it does not go with it or is "
        "out of range.",
        "The message names the option and what it can be. `floatgate trace describe WORKLOAD` "
        "shows what the workload is.",
    ),
    "policy::failed": Mistake(
        "A policy written in Python raised an error, or gave an answer that it may not give.",
        "The traceback above the message shows its line; docs/extending.md says what may "
        "be answered.",
    ),
}
"""By code, as messages have it in brackets."""


def page(code: str | None = None, *, colour: bool = False) -> str:
    """The meaning of a warning or an error, and the remedy; without a code, all of them.

    Raises:
        InputError: There is no such code.
    """
    style = Style(colour)
    known: dict[str, Explained | Mistake] = {**WARNINGS, **ERRORS}
    # The last part of an error's code is enough; several may share it.
    some = [name for name in known if code in (None, name, name.partition("::")[2])]
    if not some:
        near = nearest(str(code), known)
        said = hint(str(code), near) if near else "`floatgate explain` has all of them"
        raise UnknownNameError(f"`{code}` is not the code of a warning or error; {said}")
    return "\n\n".join(_told(name, known[name], style) for name in some)


def changes_the_answer(code: str) -> bool:
    """Whether a warning says that the numbers mean something else than one would think."""
    known = WARNINGS.get(code)
    return known is not None and known.changes


def _told(code: str, what: Explained | Mistake, style: Style) -> str:
    lines = [filled(what.means, page_width(), "  ", "  ")]
    lines.append(filled(f"What to do: {what.do}", page_width(), "  ", "  "))
    if isinstance(what, Mistake):
        if what.wrong:
            lines.append("  An example of several cases that have this code:")
        for label, text in (("Wrong:", what.wrong), ("Right:", what.right)):
            for line in text.splitlines():
                lines.append(filled(line, page_width(), f"  {label} ", " " * 9))
                label = " " * len(label)
    elif what.add:
        lines.append(f"  Add: {what.add}")
    return "\n".join([style(BOLD, code), *lines])
