"""READY's Eq. 1 to 3, apart from the engine's own: how many cycles cells take that rest."""

from __future__ import annotations

import math

MARGIN_VOLTS = 0.65

RECOVERY = {"printed": (5.63e-2, 1.0), "fitted": (0.0702, 0.0128)}
"""`C_e`, and `t_0` in hours: as printed, and as they fit Table 2."""

SUPPORTED_HOURS = (2.8, 25.3)
"""The idle times that the rows of Table 2 span."""


def achievable(idle_hours: float, recovery: str) -> float:
    """Cycles until the shift reaches the margin, with so many hours between two.

    >>> round(achievable(0.0, "printed")), round(achievable(24.0, "printed"))
    (3036, 4451)
    >>> round(achievable(5.0, "fitted"), -1)
    8580.0
    """
    efficiency, onset = RECOVERY[recovery]
    rest = 1.0 - efficiency * math.log(idle_hours / onset) if idle_hours > onset else 1.0
    low, high = 0.0, 1e9
    for _ in range(100):
        n = (low + high) / 2
        if (2.97e-3 * n**0.62 + 2.0e-2 * n**0.3) * rest < MARGIN_VOLTS:
            low = n
        else:
            high = n
    return low


def sustainable(hours: float, recovery: str) -> float:
    """Cycles that cells take which are spread evenly over so many hours.

    >>> round(sustainable(5 * 8760, "printed")), round(sustainable(5 * 8760, "fitted"), -1)
    (4020, 8620.0)
    """
    low, high = 1.0, 1e9
    for _ in range(100):
        n = (low + high) / 2
        if n < achievable(hours / n, recovery):
            low = n
        else:
            high = n
    return low
