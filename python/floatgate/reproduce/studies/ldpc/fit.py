"""The law that failure rates are fitted with, and what it says beyond them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

_NORMAL = NormalDist()
_SURE = _NORMAL.inv_cdf(0.975)
_ROOT = math.sqrt(2)


class Fit(NamedTuple):
    """A share of failures Φ(a + b·x), with the covariance of a and b.

    x is the raw bit error rate over `centre`, less one.

    A long code fails if the channel happens to be worse than it bears. So its failures follow the
    normal law of that chance (finite-length scaling: Amraoui, Montanari, Richardson and Urbanke,
    2009).
    """

    a: float
    b: float
    centre: float
    covariance: tuple[float, float, float] = (0.0, 0.0, 0.0)
    chi_square: float = 0.0
    degrees: int = 0

    def where(self, share: float) -> tuple[float, float, float]:
        """The rate at which this share fails, and its interval of 95 %."""
        x = (_NORMAL.inv_cdf(share) - self.a) / self.b
        aa, ab, bb = self.covariance
        deviation = math.sqrt(max(aa + 2 * x * ab + x * x * bb, 0.0)) / abs(self.b)
        low, high = x - _SURE * deviation, x + _SURE * deviation
        return self._rate(x), self._rate(low), self._rate(high)

    def share(self, rate: float) -> float:
        """How many fail at a rate."""
        return _NORMAL.cdf(self.a + self.b * (rate / self.centre - 1))

    def data(self) -> dict[str, Any]:
        """The fit as JSON."""
        return {"a": self.a, "b": self.b, "centre": self.centre, "chi_square": self.chi_square,
                "degrees_of_freedom": self.degrees}  # fmt: skip

    def _rate(self, x: float) -> float:
        return self.centre * (1 + x)


def fitted(points: Sequence[Mapping[str, Any]]) -> Fit:
    """The likeliest law of some points with `rber`, `frames` and `failed` (probit regression).

    Points without a failure, or without a success, count as every other: they say how few fail.

    Raises:
        ValueError: Fewer than two points have both failures and successes.
    """
    seen = [p for p in points if 0 < p["failed"] < p["frames"]]
    if len({p["rber"] for p in seen}) < 2:
        raise ValueError("a law needs two points with failures and successes")
    centre = sum(p["rber"] for p in seen) / len(seen)
    counted = [(p["rber"] / centre - 1, p["failed"], p["frames"]) for p in points]
    a, b = _guess([(x, k / n) for x, k, n in counted if 0 < k < n])
    covariance, likelihood = (0.0, 0.0, 0.0), _likelihood(counted, a, b)
    for _ in range(100):
        (da, db), covariance = _step(counted, a, b)
        # The whole step where it leads up, else a part of it.
        part = 1.0
        while _likelihood(counted, a + part * da, b + part * db) < likelihood and part > 1e-6:
            part /= 2
        a, b = a + part * da, b + part * db
        before, likelihood = likelihood, _likelihood(counted, a, b)
        if likelihood - before < 1e-9:
            break
    expected = [(k, n, n * _NORMAL.cdf(a + b * x)) for x, k, n in counted]
    # Points at which hardly any failure is expected, or hardly any success, test nothing.
    tested = [(k, n, e) for k, n, e in expected if 1 < e < n - 1]
    chi = sum((k - e) ** 2 / (e * (1 - e / n)) for k, n, e in tested)
    return Fit(a, b, centre, covariance, chi, len(tested) - 2)


def where_logarithmic(points: Sequence[Mapping[str, Any]], share: float) -> float:
    """The rate at which this share fails by the same law in the logarithm of the rate.

    Beyond the points the two laws differ by the uncertainty of their choice.
    """
    scale = points[0]["rber"]
    moved = [{**p, "rber": 10 + math.log(p["rber"] / scale)} for p in points]
    return float(scale * math.exp(fitted(moved).where(share)[0] - 10))


def _guess(shares: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The line through the outermost points."""
    (x0, low), (x1, high) = min(shares), max(shares)
    z0, z1 = _NORMAL.inv_cdf(low), _NORMAL.inv_cdf(high)
    b = max((z1 - z0) / (x1 - x0), 1.0)
    return (z0 + z1 - b * (x0 + x1)) / 2, b


def _tails(eta: float) -> tuple[float, float]:
    """Φ(eta) and Φ(-eta), both exact where small."""
    return max(math.erfc(-eta / _ROOT) / 2, 1e-300), max(math.erfc(eta / _ROOT) / 2, 1e-300)


def _likelihood(counted: Sequence[tuple[float, int, int]], a: float, b: float) -> float:
    total = 0.0
    for x, k, n in counted:
        fail, succeed = _tails(a + b * x)
        total += k * math.log(fail) + (n - k) * math.log(succeed)
    return total


def _step(
    counted: Sequence[tuple[float, int, int]], a: float, b: float
) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """A step of Fisher's scoring, and the covariance that his information gives."""
    aa = ab = bb = ga = gb = 0.0
    for x, k, n in counted:
        fail, succeed = _tails(a + b * x)
        density = _NORMAL.pdf(a + b * x)
        weight = n * density * density / (fail * succeed)
        slope = (k - n * fail) * density / (fail * succeed)
        aa, ab, bb = aa + weight, ab + weight * x, bb + weight * x * x
        ga, gb = ga + slope, gb + slope * x
    determinant = aa * bb - ab * ab
    step = (bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant
    return step, (bb / determinant, -ab / determinant, aa / determinant)
