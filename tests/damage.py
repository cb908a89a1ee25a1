"""Damaged results for every reader of them: a message, and nothing else.

`python tests/damage.py [ROUNDS [SEED]]` tries ROUNDS of them; `tests/test_damage.py` a few.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import floatgate
from floatgate import report
from floatgate.pictures import view
from floatgate.result.comparison import Comparison
from floatgate.result.folder import SEAL
from floatgate.result.tables import results

READERS: dict[str, Callable[[Path, Path], object]] = {
    "report": lambda folder, page: report.save(report.of(report.load([folder])), page),
    "view": lambda folder, page: view(next(folder.glob("[!.]*/result.json")).parent, page),
    "results": lambda folder, _: results(folder),
    "load": lambda folder, _: str(Comparison.load(folder)),
}
WORDS: list[Any] = [
    None, True, -1, 0, 1e300, 2**70, float("nan"), "", "x", "\x1b[2J", [], [None], {}, {"a": {}},
]  # fmt: skip


def make(folder: Path) -> None:
    """A comparison of two runs with every table."""
    floatgate.compare(
        "agcr",
        "random-write",
        seed=[1, 2],
        set={
            "geometry.channels": 1,
            "geometry.chips-per-channel": 1,
            "geometry.blocks-per-plane": 64,
            "workload.requests": 300,
        },
        out=folder,
        record=("requests", "series", "blocks", "snapshots"),
        workers=1,
    )


def bytes_of(rng: random.Random, path: Path) -> str:
    """Cuts a file, or flips and replaces some of its bytes."""
    data = bytearray(path.read_bytes())
    what = rng.choice(("cut", "flip", "zero", "empty", "more"))
    at = rng.randrange(len(data))
    if what == "cut":
        del data[at:]
    elif what == "flip":
        for _ in range(rng.choice((1, 4, 64))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif what == "zero":
        end = min(len(data), at + rng.choice((1, 16, 512)))
        data[at:end] = bytes(end - at)
    elif what == "empty":
        data.clear()
    else:
        data += b"\0"
    path.write_bytes(data)
    return what


def value_of(rng: random.Random, path: Path) -> str:
    """Puts something else in some place of a JSON file; its seal is gone, as of old results."""
    value = json.loads(path.read_bytes())
    value.pop(SEAL, None)
    place: Any = value
    steps = []
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        steps.append(str(key))
        inside = place[key]
        if not isinstance(inside, dict | list) or not inside or rng.random() < 0.15:
            break
        place = inside
    if isinstance(place, dict) and rng.random() < 0.3:
        del place[key]
        said = "gone"
    else:
        place[key] = rng.choice(WORDS)
        said = repr(place[key])
    path.write_text(json.dumps(value))
    return f"{'.'.join(steps)} = {said}"


def table_of(rng: random.Random, path: Path) -> str:
    """Another table in its place, whose length is stated as it is."""
    import polars as pl

    frame = pl.read_parquet(path)
    what = rng.choice(("no rows", "no column", "other type", "none", "shuffled"))
    column = rng.choice(frame.columns)
    if what == "no rows":
        frame = frame.head(0)
    elif what == "no column":
        frame = frame.drop(column)
    elif what == "other type":
        frame = frame.with_columns(pl.lit("x").alias(column))
    elif what == "none":
        frame = frame.with_columns(pl.lit(None, dtype=frame[column].dtype).alias(column))
    else:
        frame = frame.sample(fraction=1.0, shuffle=True, seed=rng.randrange(99))
    frame.write_parquet(path)
    return f"{what}: {column}"


def damage(rng: random.Random, folder: Path) -> str:
    """Damages one file of a comparison; says which, and how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = rng.choice(files)
    if path.suffix == ".json":
        how = rng.choice((bytes_of, value_of, value_of))(rng, path)
        return f"{path.name}: {how}"
    result = path.parent / "result.json"
    how = rng.choice((bytes_of, table_of))(rng, path)
    if rng.random() < 0.8:  # so that the length says nothing
        value = json.loads(result.read_bytes())
        if SEAL in value:
            value[SEAL]["table_bytes"][path.stem] = path.stat().st_size
            result.write_text(json.dumps(value))
    return f"{path.name}: {how}"


def once(rng: random.Random, whole: Path, folder: Path) -> dict[str, str | BaseException]:
    """Each reader's answer to one damage: `shown`, `refused`, or the exception."""
    place = folder / "damaged"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(whole, place)
    said = damage(rng, place)
    answers: dict[str, str | BaseException] = {"damage": said}
    for name, read in READERS.items():
        try:
            read(place, folder / "page.html")
        except floatgate.InputError as error:
            answers[name] = "refused" if str(error).strip() else error
        except BaseException as error:
            answers[name] = error
        else:
            answers[name] = "shown"
    return answers


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["FLOATGATE_CACHE"] = str(folder / "cache")
        make(folder / "whole")
        for seed in range(first, first + rounds):
            answers = once(random.Random(seed), folder / "whole", folder)
            wrong = {k: v for k, v in answers.items() if isinstance(v, BaseException)}
            if wrong:
                bad += 1
                print(f"seed {seed}: {answers['damage']}: {wrong}")
    sys.exit(f"{bad} of {rounds}" if bad else 0)


if __name__ == "__main__":
    main()
