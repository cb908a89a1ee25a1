"""`floatgate policies` and `floatgate chips`: what comes along."""

from __future__ import annotations

from typing import Annotated

import typer

import floatgate
from floatgate import InputError
from floatgate.cli.options import Json
from floatgate.cli.show import print_json


def policies(
    family: Annotated[str | None, typer.Argument(help="Only this family.")] = None,
    as_json: Json = False,
) -> None:
    """List the policies by family; of one FAMILY, with parameters and papers."""
    known = floatgate.policies()
    if family is not None:
        families = list(dict.fromkeys(p["family"] for p in known))
        known = [p for p in known if p["family"] == family]
        if not known:
            raise InputError(f"`{family}` is not a family; there are {', '.join(families)}")
    if as_json:
        print_json("floatgate.policies/1", policies=known)
        return
    from floatgate import text

    print(text.policies(known, details=family is not None))


def chips(
    name: Annotated[str | None, typer.Argument(help="Only this chip, with every source.")] = None,
    as_json: Json = False,
) -> None:
    """List the built-in chips; of one NAME, its pages and where every number comes from."""
    known = floatgate.chips(name)
    if as_json:
        print_json("floatgate.chips/1", chips=known)
        return
    from floatgate import text

    print(text.chips(known) if name is None else text.chip(known[0]))
