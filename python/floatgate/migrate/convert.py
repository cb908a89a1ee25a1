"""Reads the files of other simulators, and checks whether the converted ones can run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from floatgate import engine
from floatgate.engine import ConfigError, InputError
from floatgate.experiments.toml import inline
from floatgate.migrate import mqsim, ssdsim
from floatgate.migrate.rules import Converted
from floatgate.mistakes import as_one
from floatgate.runs.run import resolve

LARGEST = 16 << 20
"""Bytes of a file of parameters, at most."""


def convert(
    *paths: str | os.PathLike[str], out: str | os.PathLike[str] = "."
) -> Sequence[Converted]:
    """Reads parameter files of MQSim (drive or workload, XML) and SSDSim (`page.parameters`).

    A drive and the workloads of MQSim that are given together are one conversion: the space, the
    wrapping and the caching of a flow follow from both.

    Args:
        paths: The files.
        out: The folder that the results are meant for; they name traces as seen from there.

    Raises:
        InputError: One of them cannot be read, is not of these formats, or has impossible values.
    """
    theirs: list[Converted | mqsim.Parsed] = []
    for path in map(Path, paths):
        # Comments may be in any encoding; no value is beyond ASCII but the path of a trace.
        text = engine.text_of(path, "parameters of MQSim or SSDSim", LARGEST, lossy=True)
        if mqsim.is_ours(text):
            theirs.append(mqsim.parsed(text, path))
        elif ssdsim.is_ours(text):
            theirs.append(ssdsim.convert(text, path))
        else:
            raise InputError(
                f"{path}: this is not a parameter file that can be converted; expected MQSim's"
                " ssdconfig.xml or workload.xml, or SSDSim's page.parameters. Traces need no"
                " conversion, run them as they are"
            )
    joined = mqsim.convert([each for each in theirs if isinstance(each, mqsim.Parsed)], Path(out))
    return [joined.pop(0) if isinstance(each, mqsim.Parsed) else each for each in theirs]


def check(converted: Converted) -> None:
    """Resolves each drive file, so that an invalid one is found now.

    Raises:
        InputError: The engine refuses a drive. The message names the parameters that the settings
            at fault come from.
    """
    for text in converted.files.values():
        if "floatgate.drive/1" not in text:
            continue
        with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
            file = Path(folder) / "drive.toml"
            file.write_text(text, encoding="utf-8")
            try:
                resolve(file)
            except ConfigError as error:
                mistakes = [_of_theirs(each, text, converted) for each in error.errors]
                raise as_one([error], mistakes) from None


def _of_theirs(error: str, text: str, converted: Converted) -> str:
    """Errors of the engine about a generated drive file, in terms of its parameters."""
    code, _, message = error.partition("\n")[0].partition(": ")
    advice = "".join(f"; {line}" for line in re.findall(r"^ *= help: (.*)$", error, re.MULTILINE))
    paths = _paths(text)
    shown = map(int, re.findall(r"^ *(\d+) \| ", error, re.MULTILINE))
    at_fault = [paths[number] for number in shown if number in paths]
    # The words of a key also stand in sentences: `blocks per plane`.
    said = f"{message}{advice}".replace("-", " ")
    at_fault += [path for path in paths.values() if _words(path) in said]
    became = []
    for path in dict.fromkeys(at_fault):
        for fate in converted.fates:
            ours = next((key for key in fate.ours if path == key or path.startswith(f"{key}.")), "")
            if not ours:
                continue
            line = getattr(fate.value, "line", None)
            place = converted.source if line is None else f"{converted.source}:{line}"
            note = f" ({fate.note})" if fate.note else ""
            setting = f"`{ours} = {inline(fate.ours[ours])}`"
            became.append(f"  {place}: {fate.name} = {fate.value} became {setting}{note}")
            advice = advice.replace(f"a {path.rpartition('.')[2]} of", f"`{fate.name}` =")
    head = f"{code}: {converted.source}: this drive cannot run here: {message}{advice}"
    return "\n".join([head, *became])


def _words(path: str) -> str:
    """The last word of a key, as used in sentences."""
    return path.rpartition(".")[2].replace("-", " ")


def _paths(text: str) -> dict[int, str]:
    """The setting in each line of a generated drive file."""
    paths: dict[int, str] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            table = line.strip("[]") + "."
        elif " = " in line:
            paths[number] = table + line.partition(" = ")[0]
    return paths
