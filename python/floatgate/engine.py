"""The only access to the compiled engine: no other module imports `floatgate._core`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from floatgate._core import *  # noqa: F403
from floatgate._core import InternalError

if TYPE_CHECKING:
    from floatgate._core import Reading as Reading


def _no_tables(*_: object) -> object:
    raise InternalError("nobody has said who opens tables")


AS_IT_IS: Reading = {
    "format": None,
    "time_unit": None,
    "columns": None,
    "event": None,
    "devices": (),
    "process": None,
    "flow_by": None,
    "skip_bad": False,
    "traces": (),
    "slice": None,
    "first": None,
    "footprint": None,
    "speed": None,
    "repeat": None,
    "tables": _no_tables,
}
"""The reading of a workload if no option specifies another."""


def tried(*settings: str) -> dict[str, Any]:
    """The result of random writes on the drive `agcr` with these settings; nothing is stored."""
    text = run(  # noqa: F405
        "agcr",
        "random-write",
        build="",
        set=settings,
        policy=(),
        seed=None,
        reading=AS_IT_IS,
        cache=None,
        progress=None,
        rows=None,
        tables=(),
        finder=cast(Any, None),  # Never called: there are only built-in policies.
    )
    return dict(json.loads(text))
