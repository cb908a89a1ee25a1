"""The conversion of other simulators' files, as pages to read."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from floatgate.words import hanging, page_width

if TYPE_CHECKING:
    from pathlib import Path

    from floatgate.migrate.rules import Converted


def conversion(all_of: Sequence[Converted], out: Path) -> str:
    """The conversion of other simulators' files, on one screen."""
    lines: list[str] = []
    lost: dict[str, list[str]] = {}
    for converted in all_of:
        words = Counter(fate.word for fate in converted.fates)
        lines += [
            hanging(
                f"{converted.source} ({converted.simulator}) -> ",
                ", ".join(str(out / name) for name in converted.files if "-flow-" not in name),
            ),
            f"  {len(converted.fates)} parameters: {words['carried']} carried over, "
            f"{words['settled']} with nothing to set, {words['lost']} not carried over",
        ]
        for fate in converted.lost:
            names = lost.setdefault(fate.note, [])
            if (name := fate.name.rpartition(": ")[2]) not in names:
                names.append(name)
    if lost:
        lines += ["", "Not carried over:"]
        for note, names in sorted(lost.items(), key=lambda item: -len(item[1])):
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            said = f"{names[0]}{more}: {note}"
            lines.append("  " + textwrap.shorten(said, page_width() - 2, placeholder=" …"))
    notes = [note for converted in all_of for note in converted.notes]
    if notes:
        lines += ["", "Read as the other simulator reads it:"]
        lines += [hanging("  ", note) for note in notes]
    missing = [name for converted in all_of for name in converted.missing]
    if missing:
        lines += ["", "Still missing:", *(f"  {name}" for name in missing)]
    runs = [run for converted in all_of for run in converted.runs]
    if runs:
        lines += ["", "Run them:"]
        for drive, work in runs:
            begin, end = f"  floatgate run {out / drive}", f"{out / work}"
            fits = len(f"{begin} {end}") <= page_width()
            lines += [f"{begin} {end}"] if fits else [f"{begin} \\", f"    {end}"]
    lines += ["", "`--list` gives the outcome for each parameter."]
    return "\n".join(lines)


def fates(all_of: Sequence[Converted]) -> str:
    """The fate of each parameter of other simulators' files."""
    from floatgate.experiments.toml import inline

    heads = {
        "carried": "carried over",
        "settled": "with nothing to set",
        "lost": "not carried over",
    }
    lines: list[str] = []
    for converted in all_of:
        for word, head in heads.items():
            some = [fate for fate in converted.fates if fate.word == word]
            if not some:
                continue
            total = len(converted.fates)
            lines += ["", f"{converted.source}: {head} ({len(some)} of {total}):"]
            for fate in some:
                became = ", ".join(f"{key} = {inline(value)}" for key, value in fate.ours.items())
                what = f"{became} ({fate.note})" if became and fate.note else became or fate.note
                lines += [f"  {fate.name} = {fate.value}".rstrip(" ="), hanging("      ", what)]
    return "\n".join(lines).lstrip("\n")
