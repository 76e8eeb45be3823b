"""A law on finitely many integers, given by its probabilities: everything about it is exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import mpmath
import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, ball, exact, mpf, whole
from .law import Law, Moments

__all__ = ["FiniteLaw"]

_LARGEST_SUPPORT = 1 << 20


@dataclass(frozen=True)
class FiniteLaw(Law):
    """P(X = x) = probabilities[x]; the probabilities sum to exactly 1."""

    masses: tuple[tuple[int, Fraction], ...]  # by outcome, the positive ones

    symmetric = False

    def __init__(self, probabilities: Mapping[int, ExactInput]) -> None:
        if len(probabilities) > _LARGEST_SUPPORT:
            raise ParameterError(
                f"probabilities must list at most {_LARGEST_SUPPORT} outcomes, "
                f"got {len(probabilities)}"
            )
        masses = {
            whole(x, "outcome"): exact(mass, f"probability of {x}", at_least=0, at_most=1)
            for x, mass in probabilities.items()
        }
        total = sum(masses.values())
        if total != 1:
            raise ParameterError(
                f"probabilities must sum to exactly 1, got {float(total):.17g} "
                f"(off by {float(total - 1):.3g})"
            )
        kept = tuple(sorted((x, mass) for x, mass in masses.items() if mass))
        object.__setattr__(self, "masses", kept)

    @property
    def log_concave(self) -> str | None:  # type: ignore[override]
        """Checked exactly: no gap in the support, and p(x)^2 >= p(x-1) p(x+1) throughout."""
        outcomes = [x for x, _ in self.masses]
        values = [mass for _, mass in self.masses]
        whole_range = outcomes[-1] - outcomes[0] == len(outcomes) - 1
        triples = zip(values, values[1:], values[2:], strict=False)
        if whole_range and all(b * b >= a * c for a, b, c in triples):
            return "p(x)^2 >= p(x-1) p(x+1) checked exactly at every outcome"
        return None

    @property
    def support(self) -> tuple[int, int]:
        return self.masses[0][0], self.masses[-1][0]

    def items(self) -> Iterable[tuple[int, Fraction]]:
        """Outcomes of positive probability, in order, with it."""
        return self.masses

    def moments(self) -> Moments:
        mean = sum((x * mass for x, mass in self.masses), Fraction(0))
        variance = sum(((x - mean) ** 2 * mass for x, mass in self.masses), Fraction(0))
        return Moments(Enclosure.exactly(mean), Enclosure.exactly(variance))

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        with mpmath.workdps(digits):
            return mpf(dict(self.masses).get(x, Fraction(0)))

    def ball(self, x: int) -> arb:
        return ball(dict(self.masses).get(x, Fraction(0)))

    def balls(self, low: int, high: int) -> list[arb]:
        masses = dict(self.masses)
        return [ball(masses.get(x, Fraction(0))) for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        masses = {x: float(ball(mass).log().mid()) for x, mass in self.masses}
        logs = [masses.get(int(x), -np.inf) for x in np.ravel(xs)]
        return cast("NDArray[np.float64]", np.reshape(np.array(logs), np.shape(xs)))

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return sum(((z * x).exp() * ball(mass) for x, mass in self.masses), acb(0)).log(analytic)

    def upper_tail(self, t: int) -> arb:
        return ball(sum((mass for x, mass in self.masses if x >= t), Fraction(0)))

    def lower_tail(self, t: int) -> arb:
        return ball(sum((mass for x, mass in self.masses if x <= t), Fraction(0)))

    def tail_quantile(self, p: ExactInput, cap: int = 0) -> int:
        """The smallest t >= 0 with P(|X| > t) <= p, exactly; `cap` is not needed."""
        level = exact(p, "p", above=0, at_most=1)
        outside, t = Fraction(0), 0
        for size, mass in sorted(((abs(x), mass) for x, mass in self.masses), reverse=True):
            outside += mass
            if outside > level:
                t = size
                break
        return t

    def mirrored(self) -> FiniteLaw:
        return FiniteLaw({-x: mass for x, mass in self.masses})

    def n_fold(self, count: int) -> FiniteLaw:
        """The law of the sum of `count` independent copies, by repeated squaring."""
        remaining = whole(count, "count", at_least=1)
        power, result = dict(self.masses), {0: Fraction(1)}
        while remaining:
            if remaining % 2:
                result = _convolved(result, power)
            remaining //= 2
            power = _convolved(power, power) if remaining else power
        return FiniteLaw(result)


def _convolved(left: dict[int, Fraction], right: dict[int, Fraction]) -> dict[int, Fraction]:
    total: dict[int, Fraction] = {}
    for x, p in left.items():
        for y, q in right.items():
            total[x + y] = total.get(x + y, Fraction(0)) + p * q
    return total
