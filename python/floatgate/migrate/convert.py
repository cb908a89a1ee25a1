"""Reads the files of other simulators, and looks whether what they became can run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from floatgate.engine import InputError
from floatgate.migrate import mqsim, ssdsim
from floatgate.migrate.rules import Converted
from floatgate.mistakes import FileError
from floatgate.result.files import reason
from floatgate.runs.run import resolve


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
        InputError: One of them cannot be read, is none of these, or says something impossible.
    """
    theirs: list[Converted | mqsim.Parsed] = []
    for path in map(Path, paths):
        try:
            text = path.read_bytes().decode("utf-8", errors="replace")
        except OSError as error:
            raise FileError(f"{path}: this cannot be read ({reason(error)})") from error
        if mqsim.is_ours(text):
            theirs.append(mqsim.parsed(text, path))
        elif ssdsim.is_ours(text):
            theirs.append(ssdsim.convert(text, path))
        else:
            raise InputError(
                f"{path}: this is no parameter file that can be converted; expected MQSim's"
                " ssdconfig.xml or workload.xml, or SSDSim's page.parameters. Traces need no"
                " conversion, run them as they are"
            )
    joined = mqsim.convert([each for each in theirs if isinstance(each, mqsim.Parsed)], Path(out))
    return [joined.pop(0) if isinstance(each, mqsim.Parsed) else each for each in theirs]


def check(converted: Converted) -> None:
    """Resolves each drive file, so that what cannot run is found now.

    Raises:
        InputError: The engine refuses a drive, with its reasons.
    """
    for name, text in converted.files.items():
        if "floatgate.drive/1" not in text:
            continue
        with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
            file = Path(folder) / name
            file.write_text(text, encoding="utf-8")
            try:
                resolve(file)
            except InputError as error:
                raise InputError(
                    f"{converted.source}: this drive cannot run here\n{error}"
                ) from None
