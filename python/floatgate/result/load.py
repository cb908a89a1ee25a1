"""The input of a report: folders of runs, read and checked as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from floatgate.engine import InputError
from floatgate.hints import file_hint
from floatgate.mistakes import NoFileError, kind_of
from floatgate.result.comparison import Comparison
from floatgate.result.folder import RESULT
from floatgate.result.lists import LIST, named, read_list
from floatgate.result.run import Result
from floatgate.result.values import flat


def load(results: Sequence[str | PathLike[str]]) -> Comparison:
    """Reads runs: the folder of one, a folder of many, a `result.json`, or several of these.

    The varied settings are taken from the `comparison.json` if one folder is named. Otherwise they
    are found by comparing the resolved configurations. A run that is named twice is included once.

    Raises:
        InputError: Something is not a result, or has a format that this version does not read; all
            are listed.
    """
    if not results:
        raise InputError("a report needs results: the folder of a run, or one with several")
    mistakes: list[InputError] = []
    found: list[Comparison | list[Result]] = []
    for given in map(Path, results):
        found.append(_one(given, mistakes))
    if mistakes:
        if len(mistakes) == 1:
            raise mistakes[0]
        raise kind_of(mistakes)("\n".join(map(str, mistakes)))
    if len(found) == 1 and isinstance(found[0], Comparison):
        return found[0]
    runs: dict[str, Result] = {}
    failed: list[dict[str, Any]] = []
    for each in found:
        for run in each.runs if isinstance(each, Comparison) else each:
            runs.setdefault(run.run_id, run)
        failed += each.failed if isinstance(each, Comparison) else []
    several = list(runs.values())
    return Comparison(several, differences(several), failed)


def differences(runs: Sequence[Result]) -> list[dict[str, str]]:
    """The settings that distinguish each run from the others, named as in a comparison.

    Settings that come with a drive are not listed with it.
    """
    if not runs:
        return []
    tables = [_settings(run) for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    varied = [key for key in keys if len({table.get(key) for table in tables}) > 1]
    if "drive" in varied:
        of_drive = {
            key
            for key in varied
            if key != "drive"
            and len({(t.get("drive"), t.get(key)) for t in tables})
            == len({t.get("drive") for t in tables})
        }
        varied = [key for key in varied if key not in of_drive]
    return [{key: table.get(key, "-") for key in varied} for table in tables]


def _settings(run: Result) -> dict[str, str]:
    """Drive, workload, policies, settings, seed, version and build of a run, as texts."""
    config = dict(run.data["provenance"]["config"])
    name = str(config.pop("name", "drive"))
    for key in ("schema", "summary", "run"):
        config.pop(key, None)
    policies = config.pop("policies", {})
    seed = str(run.data["provenance"]["seed"])
    table = {"drive": name, "workload": run.workload}
    for family, policy in policies.items():
        params = "".join(f":{key}={_word(value)}" for key, value in flat(policy) if key != "name")
        table[family] = f"{policy.get('name', '')}{params}"
    table |= {key: _word(value) for key, value in flat(config, lists=True)}
    build = str(run.data["provenance"].get("build") or "-").removeprefix("sha256:")[:12]
    return table | {
        "seed": seed,
        "version": str(run.data["provenance"]["version"]),
        "build": build,
    }


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _one(path: Path, mistakes: list[InputError]) -> Comparison | list[Result]:
    """The runs that a path names; mistakes are added to the list."""
    # A pipe, a socket or a device is refused when it is opened.
    if path.exists() and not path.is_dir():
        if path.name == LIST:
            return _one(path.parent, mistakes)
        return _results([path], mistakes)
    if (path / RESULT).exists():
        return _results([path / RESULT], mistakes)
    if (path / LIST).exists():
        return _comparison(path, mistakes)
    if not path.is_dir():
        mistakes.append(NoFileError(f"{path}: there is no such file or folder; {file_hint(path)}"))
        return []
    inside = sorted(path.glob(f"[!.]*/{RESULT}"))
    if not inside:
        mistakes.append(
            InputError(
                f"{path}: this is not a folder of results; expected `{RESULT}`, `{LIST}` or "
                "folders of runs in it, as `floatgate run --out` and `floatgate compare` leave them"
            )
        )
    return _called(path, _results(inside, mistakes), mistakes)


def _called(
    folder: Path, runs: list[Result], mistakes: list[InputError]
) -> Comparison | list[Result]:
    """Runs named as the user typed them, in that order, if an interrupted command left a list."""
    try:
        known = {path.name: variant for path, variant in named(folder)}
    except InputError as error:
        mistakes.append(error)
        return runs
    if not runs or not all(run.run_id in known for run in runs):
        return runs
    order = {name: at for at, name in enumerate(known)}
    runs = sorted(runs, key=lambda run: order[run.run_id])
    return Comparison(runs, [known[run.run_id] for run in runs])


def _comparison(folder: Path, mistakes: list[InputError]) -> Comparison | list[Result]:
    try:
        value = read_list(folder / LIST)
    except InputError as error:
        mistakes.append(error)
        return []
    before = len(mistakes)
    runs = _results([folder / name / RESULT for name in value["runs"]], mistakes)
    return [] if len(mistakes) > before else Comparison(runs, value["variants"], value["failed"])


def _results(paths: Iterable[Path], mistakes: list[InputError]) -> list[Result]:
    runs = []
    for path in paths:
        try:
            run = Result.from_file(path)
        except InputError as error:
            mistakes.append(error)
            continue
        if (why := run.flaw()) is not None:
            mistakes.append(InputError(f"{path.parent}: {why}; make the run again"))
        runs.append(run)
    return runs
