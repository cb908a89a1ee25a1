"""The relation of a drive that was scaled down to the whole one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.words import number, size


def blocks_per_plane(data: Mapping[str, Any]) -> int:
    """The blocks of each plane that a run simulated."""
    scale = data.get("scale")
    if scale:
        return int(scale["blocks_per_plane"]["simulated"])
    return int(data["provenance"]["config"]["geometry"]["blocks-per-plane"])


def whole_bytes(data: Mapping[str, Any]) -> tuple[int, int]:
    """The bytes that the whole drive exports, and those of its flash."""
    scale, capacity = data.get("scale"), data["capacity"]
    if scale:
        return scale["logical_bytes"]["whole"], scale["physical_bytes"]["whole"]
    return capacity["logical_bytes"], capacity["physical_bytes"]


def in_words(data: Mapping[str, Any]) -> str:
    """The whole drive from which a result was scaled down; empty if it was not scaled."""
    scale = data.get("scale")
    if not scale:
        return ""
    blocks, logical = scale["blocks_per_plane"], scale["logical_bytes"]
    said = [
        f"scaled down to 1/{scale['of']}: {number(blocks['simulated'])} of "
        f"{number(blocks['whole'])} blocks of each plane, {size(logical['simulated'])} of "
        f"{size(logical['whole'])} exported"
    ]
    buffer = scale["buffer_bytes"]
    if buffer["simulated"] != buffer["whole"]:
        said.append(f"a write buffer of {size(buffer['simulated'])}, not {size(buffer['whole'])}")
    if requests := scale["requests"]:
        said.append(
            f"{number(requests['simulated'])} of {number(requests['whole'])} requests, "
            f"{number(scale['sample']['faster'])} times as fast"
        )
    else:
        said.append("requests and span likewise")
    if error := scale["waf_error"]:
        said.append(f"write amplification within {100 * error:.2g} % by its number of blocks")
    return "; ".join(said)
