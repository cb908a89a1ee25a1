"""The results of the cell model, in words."""

from __future__ import annotations

from floatgate.result.run import Result
from floatgate.words import Style, duration, number, section, wrapped

HOUR = 3_600e9

LEAST_RATE = 1e-20
"""JESD218 requires nothing below 1e-16."""


def simulated(result: Result, style: Style) -> str:
    """Wear, cells and errors of the run; empty if no years are requested."""
    life = result.data["lifetime"]
    if life is None:
        return ""
    seen = life["simulated"]
    cycles, effective = seen["cycles"], seen["effective_cycles"]
    reads = seen["pages_read_by_sensings"] or {}
    retired = seen["blocks_retired"]
    erases = result.data["wear"]["erases"]
    even = erases["mean"] / erases["max"] if erases["max"] else 1.0
    lines = [
        f"erases of a block in this run: {erases['min']} to {erases['max']}, mean "
        f"{erases['mean']:.2f}, deviation {erases['stddev']:.2f} (mean / max {percent(even)})",
        f"P/E cycles of a block: mean {cycles['mean']:.1f}, max {cycles['max']:.1f} "
        f"({number(cycles['before'])} before the run); {percent(seen['used'])} of life used, "
        f"at most {percent(seen['used_max'])}",
    ]
    if effective and effective["mean"] < cycles["mean"]:
        lines.append(
            f"after recovery they count as {effective['mean']:.1f}, max {effective['max']:.1f} "
            f"({duration(seen['rest_hours'] * HOUR)} of rest between them)"
        )
    read = ", ".join(f"{number(n)} with {m}" for m, n in reads.items() if n)
    if read:
        retries = number(seen["failed_attempts"])
        lost = seen["uncorrectable_pages"]["total"]
        lines.append(f"pages read by sensings at each boundary: {read}; {retries} failed attempts")
        lines.append(
            f"highest raw bit error rate {seen['worst_rber']:.2e}; {number(lost)} uncorrectable "
            f"pages (UBER {error_rate(seen['uber'])})"
        )
    if any(retired.values()):
        lines.append(
            f"blocks retired: {number(retired['worn_out'])} worn out, "
            f"{number(retired['unreadable'])} unreadable"
        )
    title = "Cells, as simulated" if effective else "Wear, as simulated"
    return section(title, "\n".join(map(wrapped, lines)), style)


def error_rate(rate: float | None) -> str:
    """A rate of errors; differences too small for any device to show are left out.

    >>> error_rate(3.1e-05), error_rate(2e-218), error_rate(0.0), error_rate(None)
    ('3.1e-05', '< 1e-20', '0', '-')
    """
    if not rate:
        return "-" if rate is None else "0"
    return f"{rate:.1e}" if rate >= LEAST_RATE else f"< {LEAST_RATE:.0e}"


def percent(share: float | None) -> str:
    """A share in percent. Values far above 100 % are whole numbers."""
    if share is None:
        return "-"
    return f"{100 * share:.3g} %" if share < 10 else f"{100 * share:,.0f} %"
