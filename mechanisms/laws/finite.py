"""A law on finitely many integers, given by exact probabilities; everything about it is exact."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import mpmath
from ...exact.number import ExactInput, ParameterError, ball, exact, mpf, whole
from ...exact.precision import CAP, WIDTH
from .law import Law, Moments

__all__ = ["FiniteLaw"]


@dataclass(frozen=True)
class FiniteLaw(Law):
    """The outcomes of positive probability in rising order, and their probabilities."""

    outcomes: tuple[int, ...]
    masses: tuple[Fraction, ...]

    def __init__(self, probabilities: Mapping[int, ExactInput]) -> None:
        read = {
            whole(x, "outcome"): exact(p, f"probability of {x}", at_least=0, at_most=1)
            for x, p in probabilities.items()
        }
        if (total := sum(read.values())) != 1:
            raise ParameterError(f"probabilities must sum to exactly 1, got {total}")
        positive = sorted((x, p) for x, p in read.items() if p)
        object.__setattr__(self, "outcomes", tuple(x for x, _ in positive))
        object.__setattr__(self, "masses", tuple(p for _, p in positive))
        mirror = [(-x, p) for x, p in reversed(positive)]
        object.__setattr__(self, "symmetric", mirror == positive)
        if self._is_log_concave():
            reason = "p(x)^2 >= p(x-1) p(x+1) at each of the finitely many x, without gaps"
            object.__setattr__(self, "log_concave", reason)

    @property
    def support(self) -> tuple[int, int]:
        return self.outcomes[0], self.outcomes[-1]

    def moments(self) -> Moments:
        pairs = list(zip(self.outcomes, self.masses, strict=True))
        mean = Fraction(sum(x * p for x, p in pairs))
        variance = Fraction(sum((x - mean) ** 2 * p for x, p in pairs))
        return Moments(Enclosure.exactly(mean), Enclosure.exactly(variance))

    def mirrored(self) -> FiniteLaw:
        return FiniteLaw({-x: p for x, p in zip(self.outcomes, self.masses, strict=True)})

    def mass(self, x: int) -> Fraction:
        """P(X = x)."""
        place = bisect_left(self.outcomes, x)
        found = place < len(self.outcomes) and self.outcomes[place] == x
        return self.masses[place] if found else Fraction(0)

    def mass_from(self, t: int) -> Fraction:
        """P(X >= t)."""
        return 1 - self._below[bisect_left(self.outcomes, t)]

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        with mpmath.workdps(digits + 15):
            return mpf(self.mass(x))

    def ball(self, x: int) -> arb:
        return ball(self.mass(x))

    def balls(self, low: int, high: int) -> list[arb]:
        return [self.ball(x) for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        logs = [math.log(p.numerator) - math.log(p.denominator) for p in self.masses]
        values = np.array([-np.inf, *logs])
        places = {x: place for place, x in enumerate(self.outcomes, start=1)}
        wanted = np.asarray(xs, dtype=np.int64)
        chosen = [places.get(int(x), 0) for x in wanted.ravel()]
        return values[np.array(chosen, dtype=np.int64)].reshape(wanted.shape)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.transform(z)[1].log(analytic=analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        terms = (ball(p) * (z * x).exp() for x, p in zip(self.outcomes, self.masses, strict=True))
        return acb(0), sum(terms, acb(0))

    def upper_tail(self, t: int) -> arb:
        return ball(self.mass_from(t))

    def lower_tail(self, t: int) -> arb:
        return ball(1 - self.mass_from(t + 1))

    def probability(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(self.mass(whole(x, "x")))

    def cdf(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(1 - self.mass_from(whole(x, "x") + 1))

    def survival(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(self.mass_from(whole(x, "x") + 1))

    def two_sided_tail(self, t: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(self._mass_outside(whole(t, "t", at_least=0)))

    def tail_quantile(self, p: ExactInput, cap: int = CAP) -> int:
        level = exact(p, "p", above=0, at_most=1)
        candidates = sorted({0, *(abs(x) for x in self.outcomes)})
        return next(t for t in candidates if self._mass_outside(t) <= level)

    @cached_property
    def _below(self) -> tuple[Fraction, ...]:
        """P(X < x) for the outcomes x, and 1."""
        return tuple(accumulate(self.masses, initial=Fraction(0)))

    def _mass_outside(self, t: int) -> Fraction:
        return self.mass_from(t + 1) + 1 - self.mass_from(-t)

    def _is_log_concave(self) -> bool:
        p = self.masses
        bent = any(b * b < a * c for a, b, c in zip(p, p[1:], p[2:], strict=False))
        return not bent and len(p) == self.outcomes[-1] - self.outcomes[0] + 1
