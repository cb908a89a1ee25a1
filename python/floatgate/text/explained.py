"""The meaning of each warning and error, and the remedy: `floatgate explain CODE`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from floatgate.hints import hint, nearest
from floatgate.mistakes import UnknownNameError
from floatgate.words import BOLD, Style, filled, page_width


class Explained(NamedTuple):
    """A warning: its meaning, the advice, and whether it changes the meaning of the result.

    `add` has options to add to the command, ready to paste, if the same ones always help.
    """

    means: str
    do: str
    changes: bool = False
    add: str = ""


WARNINGS: Mapping[str, Explained] = {
    "gc-never-ran": Explained(
        "The drive had free blocks until the end, so no garbage was collected. The run shows a new "
        "drive, which is faster and writes less to flash than one in use.",
        "Fill and age the drive before the run. If it was aged, the run is too short: give it more "
        "requests.",
        True,
        "--steady",
    ),
    "not-steady": Explained(
        "Ageing ends when the write amplification of a stretch of writes equals that of the "
        "stretch before. Here it reached the limit of writes before that.",
        "Age the drive by another workload (precondition.age). Otherwise the numbers are those of"
        " a drive that is not yet steady.",
        True,
    ),
    "waf-not-steady": Explained(
        "The first and the second half of the run have write amplifications that differ by more "
        "than 5 %, so neither half shows the steady state.",
        "Begin at the state that the workload itself leaves: fill the drive, and age it by the "
        "workload. After --steady alone, random writes have aged it, and a workload with skew "
        "changes that state. If the workload has aged the drive, make the run longer.",
        True,
        "--steady --set precondition.age=workload",
    ),
    "no-time": Explained(
        "No request used the flash, the link, the controller or the buffer for any time. So there"
        " are no rates and no latencies.",
        "Fill the drive (precondition.fill), or let reads of pages that were never written take "
        "the time of others (ftl.unmapped-read).",
        True,
        "--set precondition.fill=full",
    ),
    "unmapped-reads": Explained(
        "Reads went to pages that hold no data. A drive answers these without its flash.",
        "Fill the pages that the workload reads, or the whole drive (precondition.fill=touched or"
        " full).",
        True,
        "--set precondition.fill=touched",
    ),
    "overloaded": Explained(
        "Requests came faster than the drive serves them. The queue and the latency grew until "
        "the end, so a longer run would show a greater latency.",
        "Slow the workload down (host.speed below 1), or measure the greatest rate of the drive "
        "(host.mode=queue-depth).",
        True,
    ),
    "buffer-drained": Explained(
        "Much of the run is the time in which the write buffer emptied after the last request. "
        "Rates count to its end, so they are those of the flash.",
        "Make the run longer if you want the rate that the host saw.",
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
    "scaled-too-far": Explained(
        "The drive is scaled down (`scale`), and so few blocks are left in each plane that write "
        "amplification may differ by more than 1 % from that of the whole drive.",
        "Scale less: the warning names the greatest divisor that keeps it within 1 %.",
        True,
    ),
    "scaled-latencies": Explained(
        "The drive is scaled down (`scale`). Pages go to whichever plane is free, so the planes' "
        "shares of the data differ by chance, and more so if a plane has few pages. A plane with "
        "more data collects more and is read more, which makes waits longer.",
        "Scale less: the warning names the greatest divisor that keeps latencies within 5 %.",
        True,
    ),
    "scaled-trace": Explained(
        "The drive is scaled down (`scale`), and of the trace a sample of its addresses was "
        "simulated. Its requests come in smaller bursts, or write more or less, than those of the "
        "trace, so latencies may differ.",
        "Scale less, or simulate the whole drive if latencies matter.",
        True,
    ),
    "few-samples": Explained(
        "A percentile is reliable only if at least ten requests are beyond it.",
        "Make the run longer, or do not quote that percentile.",
    ),
    "closed-loop": Explained(
        "The workload has no arrival times. A new request arrives whenever one is done, so the "
        "drive is always busy, and latency depends on the depth of the queue.",
        "Set the depth (host.queue-depth), or give the workload arrivals (workload.arrivals).",
    ),
    "queue-limit": Explained(
        "The drive accepts at most host.queue-limit requests. Others waited outside, and that "
        "time is part of their latency.",
        "Raise host.queue-limit, if that limit is not a property of the drive.",
    ),
    "misaligned": Explained(
        "Most requests begin at the same distance from a 4 KiB boundary, as on a partition that "
        "begins at sector 63. Each then touches one page more than it needs.",
        "Shift the workload by the distance in the warning.",
    ),
    "partial-writes": Explained(
        "The host wrote parts of mapping units. The drive reads the rest of the unit first, and "
        "writes a whole one.",
        "If you can change the drive, choose the mapping unit that the warning names.",
    ),
    "no-read-of-written": Explained(
        "No page was read after the run wrote it. So the effect of a policy on written "
        "data could not show in reads.",
        "Take a workload that reads pages that it writes, if such a policy is compared.",
    ),
    "buffer-never-filled": Explained(
        "The write buffer always had space, so no write waited for flash.",
        "For the sustained rate, write more than the buffer holds.",
    ),
    "small-buffer": Explained(
        "A write keeps its place in the buffer until it is programmed. The buffer holds less than "
        "all dies program at once, so some dies always have nothing to program.",
        "Give the buffer at least one program unit for each die. With two, one is filled while "
        "the other is programmed: buffer.units-per-die = 2, instead of buffer.size.",
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
        "A policy, or a part of it, had no effect, because the drive or the requests gave it no "
        "choice. Results equal those of the family's default policy, or differ only by the "
        "policy's costs.",
        "Add the part that the warning names to the drive, or take another policy.",
    ),
    "victim-overridden": Explained(
        "The policy repeatedly chose victims without a page to free. So the drive took the block "
        "with the most to gain instead.",
        "Correct the policy, or choose another.",
    ),
    "not-repeatable": Explained(
        "A policy written in Python was given as an object. The result has its name, but not its "
        "code.",
        "Name it by its module (`py:module.Class`), so that the run can be repeated.",
    ),
    "cells-not-modelled": Explained(
        "The drive file sets the age of its cells, but the model of the cells is off.",
        'Switch it on with reliability.model = "on", or leave these keys out.',
    ),
    "errors-never-mattered": Explained(
        "Every page was read at the first attempt, so error correction and retries had no effect.",
        "Begin later in the life of the drive (reliability.initial-cycles, initial-retention).",
    ),
    "endurance-far": Explained(
        "The run used less than 1 % of the life of the most worn block.",
        "Begin later in the life of the drive (reliability.initial-cycles), or run `floatgate "
        "lifetime`, which extrapolates the rate of wear.",
    ),
    "recovery-extrapolated": Explained(
        "Blocks rested between two cycles for a time outside the measurements behind the model of"
        " recovery.",
        "Set the rest before the run (reliability.initial-rest), or do not count recovery.",
    ),
}
"""By code, in the order of how much they change."""


ADDED = {
    "--steady": "the drive is filled, and random writes age it before the run.",
    "--set precondition.age=workload": "the workload itself ages the drive before the run.",
    "--steady --set precondition.age=workload": "the drive is filled, and the workload itself ages "
    "it before the run.",
    "--set precondition.fill=full": "every page holds data before the run.",
    "--set precondition.fill=touched": "the pages that the run reads are written before it.",
}
"""The effect of the options that some warnings advise."""


def to_add(codes: Iterable[str], before: Mapping[str, Any]) -> dict[str, str]:
    """The options to add because of these warnings, and their effect.

    Args:
        codes: Those of the warnings.
        before: The preconditioning of the drive; advice does not repeat it.
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

    `wrong` and `right` are an example of it, if a line or two are enough. They are options of a
    run, a whole command, or lines of a drive file or of an experiment.
    """

    means: str
    do: str
    wrong: str = ""
    right: str = ""


ERRORS: Mapping[str, Mistake] = {
    "config::syntax": Mistake(
        "The file is not TOML.",
        "Look at the mark. Often a quote or a bracket is missing, or a comma is used as a decimal"
        " point. Text and values with units are in quotes, numbers are not.",
        "[ftl]\nspare-factor = 0,2",
        "[ftl]\nspare-factor = 0.2",
    ),
    "config::argument": Mistake(
        "An option has the wrong form.",
        "`--set` takes KEY=VALUE, `--policy` takes FAMILY=NAME, and parameters after colons.",
        "--set ftl.spare-factor",
        "--set ftl.spare-factor=0.2",
    ),
    "config::unknown-key": Mistake(
        "The key is unknown, or it belongs to another section.",
        "See `floatgate config show DRIVE`, which prints all settings of a drive.",
        "--set ftl.spare=0.2",
        "--set ftl.spare-factor=0.2",
    ),
    "config::type": Mistake(
        "The value is a text instead of a number, or the other way round.",
        "Write whole numbers with digits only (1000000 or 1_000_000), shares as fractions (0.2).",
        "--set workload.requests=1M",
        "--set workload.requests=1_000_000",
    ),
    "config::unit": Mistake(
        "A time, size or rate has no unit, or an unknown one.",
        "Times have ns, us, ms, s, min, h, d, y; sizes B, KiB, MiB, GiB, TiB (kB, MB, GB, TB are "
        "decimal); rates MB/s, MT/s and so on.",
        "--set timing.erase=3",
        "--set timing.erase=3ms",
    ),
    "config::value": Mistake(
        "The value is of the right type, but the setting does not allow it. It is out of range, is "
        "not one of the possible words, or does not fit another setting.",
        "Take one of the values that the message names.",
        "--set host.mode=queue",
        "--set host.mode=queue-depth",
    ),
    "config::missing": Mistake(
        "A setting has no default, and the drive does not give it.",
        "Begin with a drive or a chip that has it, and set only the differences.",
        "[geometry]\nchannels = 2",
        'base = "agcr"\n[geometry]\nchannels = 2',
    ),
    "config::conflict": Mistake(
        "Two settings set the same thing, or exclude each other. The message names both, with the"
        " reason.",
        "Leave one of them out, or change it as the message suggests.",
        "--set ftl.spare-factor=0.2 --set ftl.over-provisioning=0.25",
        "--set ftl.spare-factor=0.2",
    ),
    "config::inherit": Mistake(
        "The `base` or `chip` of a drive does not exist, is of another kind, or inherits from the"
        " drive itself.",
        "`floatgate drives` and `floatgate chips` list the names; paths are relative to the file.",
        'base = "agrc"',
        'base = "agcr"',
    ),
    "config::geometry": Mistake(
        "Each size is valid, but together they make a drive that cannot be simulated.",
        "Make the drive smaller: fewer channels, chips or blocks, or larger pages.",
        "--set geometry.channels=4096 --set geometry.chips-per-channel=4096",
        "--set geometry.channels=4",
    ),
    "config::over-capacity": Mistake(
        "The drive exports more than its flash holds.",
        "Export less, or give it more blocks.",
        "--set ftl.logical-capacity=1TiB",
        "--set ftl.logical-capacity=24GiB",
    ),
    "config::too-few-spare": Mistake(
        "Garbage collection needs free blocks in every plane, and the exported capacity leaves "
        "too few.",
        "Export less (a greater spare factor), or give a plane more blocks.",
        "--set ftl.spare-factor=0.001",
        "--set ftl.spare-factor=0.1",
    ),
    "config::policy": Mistake(
        "There is no such policy or parameter, or the policy does not fit the drive or another "
        "policy.",
        "`floatgate policies` lists them all, and `floatgate policies FAMILY` those of one family"
        " with parameters and needs.",
        "--policy victim=best",
        "--policy victim=greedy",
    ),
    "experiment::entry": Mistake(
        "An entry of an experiment is unknown, has the wrong form, is missing, or does not fit "
        "another.",
        "The message shows the line and the possible entries. `floatgate init` writes an "
        "experiment with comments.",
        'drive = "agcr"\nworklaod = "zipf"',
        'drive = "agcr"\nworkload = "zipf"',
    ),
    "input::unknown-name": Mistake(
        "There is no command, option, drive, workload, policy, chip, measure, plot or table of "
        "this name.",
        "Take the suggestion of the message, or a name of its list.",
        "floatgate drives agrc",
        "floatgate drives agcr",
    ),
    "input::value": Mistake(
        "A value or a file has the wrong form or kind, or is out of range.",
        "The message names the expected form.",
        "floatgate chips c-mlc64 --bench --seed one",
        "floatgate chips c-mlc64 --bench --seed 1",
    ),
    "input::missing": Mistake(
        "An argument, an option that another one needs, or the runs to show are missing.",
        "Add the missing part that the message names; `--help` of a command has an example.",
        "floatgate chips --bench",
        "floatgate chips c-mlc64 --bench",
    ),
    "input::conflict": Mistake(
        "Two options exclude each other, or one is given twice.",
        "Leave one of them out.",
        "floatgate compare agcr zipf --seed 1,2 --json --csv",
        "floatgate compare agcr zipf --seed 1,2 --csv",
    ),
    "file::missing": Mistake(
        "There is no file or folder of this name.",
        "Check the spelling, and the folder to which the path is relative. The message names "
        "similar files.",
        "floatgate config show drives/agcr",
        "floatgate config show agcr",
    ),
    "file::unusable": Mistake(
        "A file or folder exists but cannot be read or written. It is of another kind, lacks "
        "permission, is in the way of a new one, or the disk is full.",
        "Name another place, or follow the message.",
        "floatgate config show /",
        "floatgate config show agcr",
    ),
    "service::address": Mistake(
        "Nobody answers at an address, another service does, it cannot be listened at, or the "
        "machines there have other files or another build of floatgate.",
        "Check that the server runs, and that the address is the one that it prints. `floatgate "
        "serve` has two sockets: one for clients, and one for `top`, `smart` and `fault`.",
    ),
    "system::memory": Mistake(
        "The drive, or other data of the command, needs more memory than the system gives.",
        "Make the drive smaller (fewer blocks, or larger pages), or run fewer at the same time.",
    ),
    "system::package": Mistake(
        "A part of floatgate needs Python packages that are not installed.",
        "Install the extra that the message names.",
    ),
    "trace::file": Mistake(
        "A trace cannot be opened or read to its end, or holds no request.",
        "Look at the path, and whether the file was copied whole. `floatgate trace list` shows "
        "which traces of the catalogue are present.",
    ),
    "trace::compression": Mistake(
        "The compressed data of a trace end early, or are damaged.",
        "Copy or load the file again, and compare its size with the original.",
    ),
    "trace::format": Mistake(
        "The lines of a file do not match any known format of traces.",
        "Name the format (--format), or for a table of your own its columns (--columns): "
        "docs/reference/trace-formats.md describes each.",
    ),
    "trace::record": Mistake(
        "A line or record of a trace is not of its format.",
        "Correct the line that the message names, or skip such lines with --skip-bad, which "
        "counts them.",
    ),
    "trace::clock": Mistake(
        "The times of a trace are not plausible: they run backwards, or cover centuries.",
        "Name the unit of time (--time-unit), or the column that has the arrival.",
    ),
    "trace::range": Mistake(
        "A request of the workload ends beyond the drive.",
        "Make the workload fit (host.out-of-range=compact or wrap), or take a larger drive.",
    ),
    "workload::parameter": Mistake(
        "An option for reading or generating a workload does not fit it, or is out of range.",
        "The message names the option and its possible values. `floatgate trace describe "
        "WORKLOAD` describes the workload.",
    ),
    "policy::failed": Mistake(
        "A policy written in Python raised an error, or gave an answer that is not allowed.",
        "The traceback above the message shows its line; docs/extending.md lists the allowed "
        "answers.",
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
    # The last part of an error's code is enough; several codes may share it.
    some = [name for name in known if code in (None, name, name.partition("::")[2])]
    if not some:
        near = nearest(str(code), known)
        said = hint(str(code), near) if near else "`floatgate explain` has all of them"
        raise UnknownNameError(f"`{code}` is not the code of a warning or error; {said}")
    return "\n\n".join(_told(name, known[name], style) for name in some)


def changes_the_answer(code: str) -> bool:
    """Whether a warning changes the meaning of the numbers."""
    known = WARNINGS.get(code)
    return known is not None and known.changes


def title(changing: bool | None) -> str:
    """The heading of warnings: those that change the meaning of the numbers, or the others."""
    return "Minor warnings" if changing is False else "Warnings"


def _told(code: str, what: Explained | Mistake, style: Style) -> str:
    lines = [filled(what.means, page_width(), "  ", "  ")]
    lines.append(filled(f"Advice: {what.do}", page_width(), "  ", "  "))
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
