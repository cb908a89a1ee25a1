"""`floatgate config`: drive files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import floatgate
from floatgate import engine
from floatgate.cli.declare import App, Argument, option
from floatgate.cli.options import Drive, Json, Policy, Seed, Set, opens_files
from floatgate.cli.show import print_json
from floatgate.mistakes import ConflictError, FileError
from floatgate.policy.finder import Finder
from floatgate.policy.permission import typed
from floatgate.result.files import reason
from floatgate.words import hanging, page_width

app = App(help="Look at drive files.")


@app.command()
@opens_files
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
    file, resolved = engine.resolve(
        drive, policy=policy, set=set, seed=seed, finder=Finder(typed([*policy, *set]))
    )
    if as_json:
        print_json("floatgate.config/1", **json.loads(resolved))
    else:
        print(file, end="")


@app.command()
@opens_files
def check(
    drive: Drive,
    policy: Policy = [],  # noqa: B006
    set: Set = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Say whether DRIVE can run; every mistake is shown with its place.

    Warnings name settings that would change nothing in a run, or that hold the rest of the drive
    back. Inherited settings are listed if the drive would be another one without them.
    """
    finder = Finder(typed([*policy, *set]))
    _, text = engine.resolve(drive, policy=policy, set=set, seed=None, finder=finder)
    resolved = json.loads(text)
    inherited = json.loads(engine.inherited(drive, policy=policy, set=set, finder=finder))
    name = resolved["config"].get("name", drive)
    if as_json:
        print_json(
            "floatgate.check/1",
            name=name,
            valid=True,
            warnings=resolved["warnings"],
            inherited=inherited,
        )
        return
    print(f"{name}: this drive can run")
    for warning in resolved["warnings"]:
        print(hanging("warning: ", f"{warning['text']} [{warning['code']}]", page_width()))
    if inherited:
        from floatgate.text import lists

        print(lists.inherited(inherited))


@app.command()
def schema() -> None:
    """Print the JSON Schema of drive files, for editors."""
    print(json.dumps(floatgate.schema(), indent=2, ensure_ascii=False))


@app.command()
def convert(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="MQSim's ssdconfig.xml or workload.xml, or SSDSim's page.parameters.",
        ),
    ],
    out: Annotated[Path, option("--out", "-o", metavar="DIR", help="The new files.")] = Path(),
    force: Annotated[bool, option("--force", help="Replace existing files.")] = False,
    list_all: Annotated[
        bool, option("--list", help="Also list the result of each parameter.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make drive and workload files from those of MQSim and SSDSim.

    A drive and its workloads belong together: give both, as each completes
    the other. The command lists parameters that it could not convert, with the reason; --list and
    --json have every parameter. Traces need no conversion: their formats are read as they are.
    """
    from floatgate import pages
    from floatgate.migrate import convert as theirs
    from floatgate.text import migration

    converted = theirs.convert(*files, out=out)
    named = [name for each in converted for name in each.files]
    for name in named:
        if named.count(name) > 1:
            raise ConflictError(f"two of the files would become `{name}`")
        if (out / name).exists() and not force:
            raise FileError(f"{out / name}: this exists already; --force replaces it")
    for each in converted:
        theirs.check(each)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{out}: this folder cannot be made ({reason(error)})") from error
    for each in converted:
        for name, content in each.files.items():
            pages.write(out / name, content)
    if as_json:
        print_json(
            "floatgate.conversion/1",
            files=[
                {
                    "source": each.source,
                    "simulator": each.simulator,
                    "files": [str(out / name) for name in each.files],
                    "parameters": [
                        {
                            "name": f.name,
                            "value": f.value,
                            "fate": f.word,
                            "ours": dict(f.ours),
                            "note": f.note,
                        }
                        for f in each.fates
                    ],
                    "runs": [[str(out / name) for name in run] for run in each.runs],
                    "missing": list(each.missing),
                    "notes": list(each.notes),
                }
                for each in converted
            ],
        )
        return
    print(migration.conversion(converted, out))
    if list_all:
        print(f"\n{migration.fates(converted)}")
