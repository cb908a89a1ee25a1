"""`floatgate drives`, `policies`, `chips`, `explain` and `init`: the included lists."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import floatgate
from floatgate.cli import completion
from floatgate.cli.declare import Argument, option
from floatgate.cli.options import Json
from floatgate.cli.show import print_json
from floatgate.mistakes import IncompleteError
from floatgate.words import colour_wanted

if TYPE_CHECKING:
    from floatgate.published import Product


def drives(
    name: Annotated[
        str | None,
        Argument(help="Only this drive, with every source.", completes=completion.drive),
    ] = None,
    write: Annotated[
        Path | None,
        option("--write", metavar="DIR", help="Write the drive files of a published drive."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the built-in drives; of one NAME, where every number comes from.

    NAME is also a published drive, such as `samsung-pm9a3`, or a file (`.toml`) like those of
    `presets/published`: it shows the published facts, the role of each, and the assumed values.
    """
    from floatgate import published

    product = None
    if name is not None:
        product = published.read(name) if name.endswith(".toml") else published.named(name)
    if write is not None:
        if product is None:
            raise IncompleteError("`--write` needs the name of a published drive")
        _write(product, write)
        return
    if product is not None and name not in floatgate.drives():
        _published(product, as_json)
        return
    known = [floatgate.drive_facts(each) for each in ([name] if name else floatgate.drives())]
    if as_json:
        print_json("floatgate.drives/1", drives=known)
        return
    from floatgate.text import lists

    print(lists.drive(known[0], colour=colour_wanted()) if name else lists.drives(known))
    if product is not None:
        print()
        _published(product, as_json)


def _published(product: Product, as_json: bool) -> None:
    """A published drive: facts, roles, assumed values, and the drive file of each model."""
    from floatgate.published import drive
    from floatgate.text import published

    if as_json:
        models = [
            {
                "name": model.name,
                "capacity": model.capacity,
                "raw": model.raw,
                "dies": model.dies,
                "assumed": sorted(model.assumed),
                "drive": drive.text(model),
            }
            for model in product.models
        ]
        facts = [asdict(fact) for fact in product.facts]
        print_json("floatgate.published/1", name=product.name, models=models, facts=facts)
        return
    print(published.page(product))


def _write(product: Product, folder: Path) -> None:
    """Writes the drive file of each model, and prints the paths."""
    from floatgate.published import drive
    from floatgate.result.files import make_folder

    make_folder(folder)
    for model in product.models:
        path = folder / f"{drive.name_of(model)}.toml"
        path.write_text(drive.text(model), encoding="utf-8")
        print(path)


def explain(
    code: Annotated[
        str | None, Argument(help="The word in brackets.", completes=completion.code)
    ] = None,
) -> None:
    """Explain the CODE of a warning or error; without one, all of them."""
    from floatgate.text import explained

    print(explained.page(code, colour=colour_wanted()))


def init(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="By default the current folder.")
    ] = Path(),
) -> None:
    """Write a drive, a workload, an experiment and a policy to start from, with comments."""
    from floatgate import starter

    for path in starter.write(folder):
        print(path)
    here = "" if folder == Path() else f"cd {folder}; "
    policy = "--policy victim=greedy,py:policy.Oldest --seed 1,2,3"
    print(f"\nFirst: {here}floatgate run drive.toml workload.toml")
    print("Your policy: floatgate compare drive.toml workload.toml", policy, sep=" \\\n    ")
    print("Your experiment: floatgate sweep experiment.toml")


def policies(
    family: Annotated[
        str | None, Argument(help="Only this family.", completes=completion.family)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the policies by family; of one FAMILY, with parameters and papers."""
    known = floatgate.policies(family)
    if as_json:
        print_json("floatgate.policies/1", policies=known)
        return
    from floatgate.text import lists

    print(lists.policies(known, details=family is not None))


def chips(
    name: Annotated[
        str | None,
        Argument(help="Only this chip, with every source.", completes=completion.chip),
    ] = None,
    bench: Annotated[
        bool, option("--bench", help="Measure the chip NAME on the virtual test bench.")
    ] = False,
    blocks: Annotated[
        int | None,
        option(metavar="N", help="Blocks of each sample on the bench; by default 16."),
    ] = None,
    seed: Annotated[
        int | None, option(metavar="N", help="The seed of the bench; by default 1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the built-in chips; of one NAME, its pages and where every number comes from."""
    if bench:
        _bench(name, blocks, seed, as_json)
        return
    if blocks is not None or seed is not None:
        raise IncompleteError("`--blocks` and `--seed` are for the bench: add `--bench`")
    known = floatgate.chips(name)
    if as_json:
        print_json("floatgate.chips/1", chips=known)
        return
    from floatgate.text import lists

    print(lists.chips(known) if name is None else lists.chip(known[0]))


def _bench(name: str | None, blocks: int | None, seed: int | None, as_json: bool) -> None:
    from floatgate.physics.bench import BLOCKS
    from floatgate.text import bench as bench_text

    if name is None:
        raise IncompleteError("`--bench` needs the NAME of a chip; `floatgate chips` lists them")
    found = floatgate.bench(
        name, blocks=BLOCKS if blocks is None else blocks, seed=1 if seed is None else seed
    )
    if as_json:
        print_json("floatgate.bench/1", **found)
        return
    print(bench_text.page(found, colour=colour_wanted()))
