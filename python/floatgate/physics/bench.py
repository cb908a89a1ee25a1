"""The virtual test bench: the procedures by which chips are measured, on a simulated one."""

from __future__ import annotations

import json
from typing import Any

from floatgate import engine
from floatgate.lists import chips
from floatgate.policy.finder import Finder

BLOCKS = 16
"""Blocks of each sample, as many as Grupp et al. measured (MICRO 2009)."""

QUICK_BLOCKS = 4


def bench(chip: str, *, samples: int = 2, blocks: int = BLOCKS, seed: int = 1) -> dict[str, Any]:
    """Measures a built-in chip as Grupp et al. did: times, power, wear, disturb.

    docs/bench.md explains each number, and whether the model was given it or produces it.

    Args:
        chip: The name of a chip.
        samples: The number of samples in sockets, 1 to 64.
        blocks: The number of blocks of each that are measured, 1 to 256.
        seed: The seed of the errors, below 2^63.

    Raises:
        InputError: There is no such chip, or a number is out of range.
    """
    for name, value, least, most in (
        ("samples", samples, 1, 64),
        ("blocks", blocks, 1, 256),
        ("seed", seed, 0, 2**63 - 1),
    ):
        if not least <= value <= most:
            raise engine.InputError(f"`{name}` is {value}: it must be from {least} to {most}")
    found = engine.bench(
        chip, samples=samples, blocks=blocks, seed=seed, progress=None, finder=Finder()
    )
    if found is None:
        chips(chip)  # says which there are
        raise engine.InternalError(f"the bench of `{chip}` has no result")
    return dict(json.loads(found))
