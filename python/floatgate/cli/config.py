"""`floatgate config`: drive files."""

from __future__ import annotations

import json

import typer

import floatgate
from floatgate import engine
from floatgate.cli.options import Drive, Json, Policy, Seed, Set
from floatgate.cli.show import print_json
from floatgate.finder import Finder

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@app.command()
def show(
    drive: Drive,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Print DRIVE as a run would have it, as a drive file that gives the same drive.

    With --json, also where each setting comes from.
    """
    file, resolved = engine.resolve(drive, policy=policy, set=set, seed=seed, finder=Finder())
    if as_json:
        print_json("floatgate.config/1", **json.loads(resolved))
    else:
        print(file, end="")


@app.command()
def check(
    drive: Drive,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Say whether DRIVE can run; every mistake is shown with its place."""
    resolved = floatgate.resolve(drive, policy=policy, set=set)
    name = resolved.get("name", drive)
    if as_json:
        print_json("floatgate.check/1", name=name, valid=True)
    else:
        print(f"{name}: this drive can run")


@app.command()
def schema() -> None:
    """Print the JSON Schema of drive files, for editors."""
    print(json.dumps(floatgate.schema(), indent=2, ensure_ascii=False))
