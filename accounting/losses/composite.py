"""The sum of independent privacy losses, and where to look for its tail.

Losses of independent uses add up, so that transforms multiply. delta(level) is an integral of
e^(K(s) - s level)/(s (s + 1)) over any line Re s = c > 0, K = log E e^(sL); on the line through the
saddle point the integrand hardly oscillates. Saddle points are found in floats: a poor one costs
time, never soundness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeGuard

from attrs import field, frozen
from flint import acb, arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose_between
from ...losses.lattice import Charged
from ...losses.planning import Cumulant, Saddle, saddle
from .law import Atoms, Lattice, LossLaw, Probability

NO_LATTICE = "non-lattice privacy-loss distribution (PLD)"  # why what is composed may stay wide

_FINEST = 10_000  # how many times finer than a part's lattice that of the sum may be
_LONGEST = 20_000  # bits of an exact probability


@frozen
class Together:
    """Losses, each taken so many times, all independent; what is charged for besides."""

    parts: Sequence[tuple[LossLaw, int]]
    charges: Charged = field(factory=Charged)

    @property
    def infinite(self) -> Probability:
        """P(L = infinity): 1 minus the probability that no part is; exact where that is short."""
        exactly = [
            (p, n)
            for p, n in ((law.infinite, n) for law, n in self.parts)
            if isinstance(p, Fraction)
        ]
        bits = [p.denominator.bit_length() * n for p, n in exactly if p % 1]
        if len(exactly) == len(self.parts) and max(bits, default=0) <= _LONGEST:
            return 1 - math.prod(((1 - p) ** n for p, n in exactly), start=Fraction(1))
        stay = arb(0)
        for law, n in self.parts:
            escaping = law.escaping()
            if not escaping < 1:
                return 1 - (1 - escaping).max(arb(0)) ** n
            stay += n * (-escaping).log1p()
        return -stay.expm1()

    def missing(self) -> arb:
        """At most this P-mass is left out of `transform`."""
        return sum((times * law.missing() for law, times in self.parts), arb(0))

    def surely(self) -> arb:
        """delta is nowhere less: infinite losses, but for what is charged."""
        return ball(self.infinite) - self.charges.p

    def beyond(self, odds: arb) -> Enclosure:
        """delta(level) by infinite losses alone, odds = e^level."""
        infinite = self.infinite
        if isinstance(infinite, Fraction) and self.charges.are_none and self.missing() == 0:
            return Enclosure.exactly(infinite)
        lower = self.surely() - odds * self.charges.q
        upper = ball(infinite) + self.missing() + self.charges.above(odds)
        return enclose_between(lower.min(arb(1)), upper.min(arb(1)))

    def is_beyond(self, epsilon: Fraction) -> bool:
        """Does no finite loss exceed epsilon, for certain? What is left out may be larger."""
        if self.is_void():
            return True
        top = self.largest()
        over = top <= epsilon if isinstance(top, Fraction) else top <= ball(epsilon)
        return bool(over and self.missing() <= 0)

    def up_to_largest(self, delta: Fraction) -> Enclosure:
        """The level >= 0 of this delta: at most the largest finite loss, where infinite ones weigh
        no more; also just as much.
        """
        top = self.largest()
        level = ball(top).max(arb(0))
        ratio = arb(1) if self.charges.are_none else level.exp()
        if not (ratio.is_finite() and self.beyond(ratio).at_most(delta)):
            return Enclosure.unknown()
        if isinstance(top, Fraction):
            return Enclosure(Fraction(0), max(top, Fraction(0)))
        return enclose_between(arb(0), level)

    def never_below(self, target: arb) -> Enclosure:
        """epsilon where infinite losses alone may weigh more than the target.

        Infinite if they are certain; else Q may give their outcomes up to `charges.q`, so that
        delta(level) >= surely - e^level charges.q.
        """
        gain, leak = self.surely() - target, self.charges.q
        if not gain > 0:
            return Enclosure.unknown()
        if leak == 0:
            return Enclosure.infinite()
        return enclose_between((gain / leak).log(), arb.pos_inf())

    def is_void(self) -> bool:
        """Does some part have no finite loss at all?"""
        return any(
            law.infinite == 1 or (isinstance(law, Atoms) and not len(law)) for law, _ in self.parts
        )

    def largest(self) -> Fraction | arb:
        """No finite loss is above this, which is the largest where it is an exact number."""
        lattice = self.lattice()
        unit, summit = (lattice.unit, lattice.summit) if lattice else (None, None)
        if isinstance(unit, Fraction) and summit is not None and self.shift() == 0:
            return unit * summit
        return sum((times * law.largest() for law, times in self.parts), arb(0))

    def shift(self) -> arb:
        """By how much the sum's values lie off its lattice: what parts of one loss only add."""
        constant = (times * law.losses[0] for law, times in self.parts if _is_constant(law))
        return sum(constant, arb(0))

    def lattice(self) -> Lattice | None:
        """Where the sum lives: lattices of one unit add up to one whose step divides all steps.

        Up to its `shift`, since a single loss may be any number.
        None where that step is so much finer that the sum hardly repeats itself.
        """
        some = [(law.lattice, n) for law, n in self.parts if not _is_constant(law)]
        finite = [(part, n) for part, n in some if part is not None]
        moving = [(part, n) for part, n in finite if part.origin or part.step]
        steps = [part.step for part, _ in moving]
        whole = math.lcm(*(step.denominator for step in steps))
        step = Fraction(math.gcd(*(int(step * whole) for step in steps)), whole)
        units = {part.unit for part, _ in moving} or {Fraction(1)}
        if len(finite) < len(some) or len(units) > 1 or max(steps, default=0) > _FINEST * step:
            return None
        summits = [n * part.summit for part, n in moving if part.summit is not None]
        summit = sum(summits, Fraction(0)) if len(summits) == len(moving) else None
        origin = sum((n * part.origin for part, n in moving), Fraction(0))
        return Lattice(units.pop(), origin, step or Fraction(1), summit)

    def transform(self, s: acb) -> acb:
        """E e^(sL) over the outcomes with a finite loss."""
        total = acb(1)
        for law, times in self.parts:
            total *= law.transform(s) ** times
        return total

    def size(self, s: acb) -> arb:
        """An upper bound of |transform| on the ball s."""
        total = arb(1)
        for law, times in self.parts:
            total *= abs(law.transform(s)).upper() ** times
        return total

    def cumulant(self, c: float) -> Cumulant:
        """K and its derivatives at c, in floats."""
        value = slope = curvature = 0.0
        for law, times in self.parts:
            one = law.cumulant(c)
            value += times * one.value
            slope += times * one.slope
            curvature += times * max(one.curvature, 0.0)
        return Cumulant(value, slope, curvature)


def _is_constant(law: LossLaw) -> TypeGuard[Atoms]:
    """Has it one finite loss, which lies on no lattice that is known?"""
    return isinstance(law, Atoms) and len(law) == 1 and law.lattice is None


def saddle_towards(composite: Together, target: arb) -> Saddle | None:
    """The saddle point where delta is about the target; None if it never falls so low."""
    rest = composite.surely()
    if rest > target:
        return None
    finite = (target - rest).mid().max(target.mid() * arb(2) ** -ctx.prec)
    return saddle(composite.cumulant, float(finite.log().mid()), None)


def period(
    composite: Together, c: float, level: float, goal: float
) -> tuple[float, tuple[float, float]]:
    """Lambda that makes aliases e^-goal small, and the b to the left and right that prove it.

    An alias at distance Lambda is at most M(b) e^(-b level - |b - c| Lambda), which is compared
    with M(c) e^(-c level). A poor choice here costs width or time only.
    """
    here = composite.cumulant(c)

    def apart(b: float) -> tuple[float, float]:
        rise = composite.cumulant(b).value - here.value - (b - c) * level
        return (rise + goal) / abs(b - c), b

    reach = 4 * math.sqrt(2 * goal / max(here.curvature, 1e-300))
    reach = min(reach, 10 * (c + goal))  # where the largest loss is near, the curvature vanishes
    right, right_b = min(apart(c + reach * 2.0**-k) for k in range(16))
    left, left_b = min(apart(c - min(c, reach) * 2.0 ** (-k / 2)) for k in range(12))
    return max(right, left), (left_b, right_b)


def aliases(sizes: Mapping[float, arb], c: arb, length: arb, level: arb) -> arb:
    """An upper bound of all aliases, Lambda = length apart; sizes: M(b), b to either side of c.

    Those on one side add up to at most M(b) e^(-b level) sum of e^(-|b - c| Lambda r) over r >= 1.
    """
    total = arb(0)
    for b, size in sizes.items():
        decay = (-abs(arb(b) - c) * length).exp()
        total += size * (-b * level).exp() * decay / (1 - decay)
    return total
