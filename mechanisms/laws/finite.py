"""A law on finitely many integers, given by exact probabilities; everything about it is exact."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import field, frozen
from flint import acb, arb, fmpq, fmpq_poly
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, ball, decimal_text, exact, whole
from ...exact.precision import CAP, WIDTH
from ..samplers.bits import RandomBits
from ..samplers.coins import Table
from . import floats
from .law import Law, Moments


def _read(probabilities: Mapping[int, ExactInput]) -> tuple[tuple[int, Fraction], ...]:
    read = {
        whole(x, "outcome"): exact(p, f"probability of {x}", at_least=0, at_most=1)
        for x, p in probabilities.items()
    }
    if (total := sum(read.values())) != 1:
        raise ParameterError(f"probabilities must sum to exactly 1, got {total}")
    return tuple(sorted((x, p) for x, p in read.items() if p))


@frozen(slots=False)
class FiniteLaw(Law):
    """The outcomes of positive probability in rising order, and their probabilities.

    probabilities: of whole numbers; they sum to exactly 1. Raises ParameterError for anything else.

    >>> FiniteLaw({0: "1/4", 3: "3/4"}).moments().mean
    Enclosure(2.25, 2.25)
    """

    table: tuple[tuple[int, Fraction], ...] = field(alias="probabilities", converter=_read)

    name = "finite"

    @cached_property
    def outcomes(self) -> tuple[int, ...]:
        """In rising order."""
        return tuple(x for x, _ in self.table)

    @cached_property
    def masses(self) -> tuple[Fraction, ...]:
        """Their probabilities."""
        return tuple(p for _, p in self.table)

    @cached_property
    def symmetric(self) -> bool:
        return self.table == tuple((-x, p) for x, p in reversed(self.table))

    @cached_property
    def log_concave(self) -> str | None:
        p = self.masses
        bent = any(b * b < a * c for a, b, c in zip(p, p[1:], p[2:], strict=False))
        if bent or len(p) != self.outcomes[-1] - self.outcomes[0] + 1:
            return None
        return "p(x)^2 >= p(x-1) p(x+1) at each of the finitely many x, without gaps"

    @property
    def support(self) -> tuple[int, int]:
        return self.outcomes[0], self.outcomes[-1]

    def moments(self) -> Moments:
        mean = Fraction(sum(x * p for x, p in self.table))
        variance = Fraction(sum((x - mean) ** 2 * p for x, p in self.table))
        return Moments(Enclosure.exactly(mean), Enclosure.exactly(variance))

    def listed(self) -> FiniteLaw:
        return self

    def mirrored(self) -> FiniteLaw:
        return FiniteLaw({-x: p for x, p in self.table})

    def mass(self, x: int) -> Fraction:
        """P(X = x)."""
        place = bisect_left(self.outcomes, x)
        found = place < len(self.outcomes) and self.outcomes[place] == x
        return self.masses[place] if found else Fraction(0)

    def mass_from(self, t: int) -> Fraction:
        """P(X >= t)."""
        return 1 - self._below[bisect_left(self.outcomes, t)]

    def ball(self, x: int) -> arb:
        return ball(self.mass(x))

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.transform(z)[1].log(analytic=analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        terms = (ball(p) * (z * x).exp() for x, p in self.table)
        return acb(0), sum(terms, acb(0))

    def upper_tail(self, t: int) -> arb:
        return ball(self.mass_from(t))

    def lower_tail(self, t: int) -> arb:
        return ball(1 - self.mass_from(t + 1))

    def probability(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(self.mass(whole(x, "x")))

    def cdf(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        return Enclosure.exactly(1 - self.mass_from(whole(x, "x") + 1))

    def sf(self, x: int, width: Fraction = WIDTH) -> Enclosure:
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

    def _sum(self, count: int) -> Law:
        """A power of the generating polynomial, on the lattice of the outcomes."""
        low, high = self.support
        step = math.gcd(*(x - low for x in self.outcomes)) or 1
        dense = [fmpq(0)] * ((high - low) // step + 1)
        for x, p in self.table:
            dense[(x - low) // step] = fmpq(p.numerator, p.denominator)
        power = enumerate((fmpq_poly(dense) ** count).coeffs())
        return FiniteLaw({count * low + step * k: Fraction(int(c.p), int(c.q)) for k, c in power})

    def sampler(self) -> Callable[[RandomBits], int]:
        table = Table(self.masses)
        return lambda bits: self.outcomes[table.draw(bits)]

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        floats.check_width(floats.spread(max(map(abs, self.support))))
        levels = np.cumsum([float(mass) for mass in self.masses])[:-1]
        outcomes = np.array(self.outcomes, dtype=np.int64)
        return outcomes[np.searchsorted(levels, rng.random(size), side="right")]

    def fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "outcomes": [str(x) for x in self.outcomes],
            "masses": [decimal_text(mass) for mass in self.masses],
        }
