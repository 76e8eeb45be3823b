"""The binomial law: all outcomes, or of many trials a window around the mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import iv

from .arithmetic import Interval, OpenError, certainly, exp, hull, interval, log, total, upper
from .deadline import check_time
from .noise import Logarithm, Noise
from .pmf import FARTHEST, Pmf, geometric, reach_where
from .shape import below_one, number, plainly

_FEW = 500  # trials of which all outcomes are listed


@dataclass(frozen=True)
class Binomial(Noise):
    """Successes in independent trials. Log-concave: p(x+1)/p(x) = (n - x)/(x + 1) odds falls."""

    trials: int
    probability: Fraction | Logarithm

    ends = True

    @property
    def is_fair(self) -> bool:
        """Is it symmetric about half its trials?"""
        return self.probability == Fraction(1, 2)

    def chance(self) -> Interval:
        """The probability of a success."""
        if isinstance(self.probability, Fraction):
            return interval(self.probability)
        found = interval(self.probability.factor) * log(interval(self.probability.argument))
        if not (certainly(found > 0) and certainly(found < 1)):
            raise OpenError("a probability is not certainly between 0 and 1")
        return found

    def summed(self, count: int) -> Binomial:
        """The law of a sum of so many."""
        return Binomial(count * self.trials, self.probability)

    def pmf(self, bits: float | None) -> Pmf:
        """The probabilities; those not listed are below about 2^-bits together; None: all."""
        n, chance = self.trials, self.chance()
        odds = chance / (1 - chance)
        if bits is None and n > FARTHEST:
            raise OpenError("too many outcomes to sum")
        if bits is None or n <= _FEW:
            masses = [exp(n * log(1 - chance))]
            for x in range(n):
                check_time()
                masses.append(masses[-1] * odds * (n - x) / (x + 1))
            return Pmf(0, masses, iv.mpf(0))
        rough = float(chance.mid)
        centre, variance, nats = round(n * rough), n * rough * (1 - rough), 0.7 * bits + 8
        reach = reach_where(lambda k: k * k > 2 * nats * (variance + k / 3))  # Bernstein
        low, high = max(centre - reach, 0), min(centre + reach, n)
        right = [iv.mpf(1)]  # up to a common factor
        for x in range(centre, high):
            check_time()
            right.append(right[-1] * odds * (n - x) / (x + 1))
        left = [iv.mpf(1)]
        for x in range(centre, low, -1):
            check_time()
            left.append(left[-1] * x / (odds * (n - x + 1)))
        beyond = iv.mpf(0)
        if high < n:  # the ratios fall: geometric
            beyond = upper(right[-1] * geometric(odds * (n - high) / (high + 1)))
        if low > 0:
            below = upper(left[-1] * geometric(low / (odds * (n - low + 1))))
            beyond = below if certainly(below > beyond) else beyond
        weights = [*reversed(left[1:]), *right]
        top = 1 / (total(weights) + hull(iv.mpf(0), 2 * beyond))
        return Pmf(low, [weight * top for weight in weights], upper(beyond * top))


def read_chance(fields: Mapping[str, Any], name: str) -> Fraction | Logarithm:
    """Read a probability: a number, or {factor, log}."""
    if not isinstance(fields[name], dict):
        return below_one(fields, name)
    read = plainly(name, Logarithm, "", factor=number(), log=number(least=1))
    return read(fields[name])
