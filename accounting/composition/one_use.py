"""One use of what has no outcomes to list: its figures by what is known of its loss.

Continuous noise, sampled or not, batches of it, and random allocation; `without_outcomes` says
which a mechanism is. Both ways round count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from attrs import frozen

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, refine
from ...exact.square_root import SquareRoot, squared
from ...mechanisms.allocation import Allocation, allocation
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.mechanism import Mechanism, either_way, ways
from ..divergences import concentrated
from ..divergences.gaussian_dp import of_laplace, root_of
from ..losses.continuous import allocated, profile
from ..losses.continuous.mixture import LineLaw
from ..losses.continuous.uses import batch_law, batched_renyi, continuous_noise, single_law
from ..sampling import pure_removed

_COARSE = Fraction(1, 10**9)
_ORDERS = tuple(map(Fraction, ("1.001", "1.2", "1.5", "2", "3", "5", "8", "16", "32", "64")))
_ZERO = Fraction(0)
_OPEN = "which order is the worst of sampled Laplace is open"


def without_outcomes(mechanism: Mechanism) -> _Allocated | _Noise | None:
    """The figures of what has no pairs of laws on outcomes; None for what has."""
    if (one := allocation(mechanism)) is not None:
        return _Allocated(mechanism, one)
    if (noise := continuous_noise(mechanism)) is None:
        return None
    return _Noise(mechanism, noise, batch_law(mechanism))


@frozen
class _Allocated:
    mechanism: Mechanism
    one: Allocation

    def pure(self, width: Fraction) -> Enclosure:
        return Enclosure.infinite()  # the loss has no bound, of either sign

    def delta(self, epsilon: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda one: allocated.allocated_delta([(one, 1)], epsilon, width))

    def epsilon(self, delta: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda one: allocated.allocated_epsilon([(one, 1)], delta))

    def renyi(self, order: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda one: allocated.allocated_renyi(one, order, width))

    def zcdp(self, width: Fraction) -> Enclosure:
        return allocated.allocated_rho(self.one)

    def gdp(self, width: Fraction, cap: int) -> Enclosure:
        """Given the steps it is so many uses of the Gaussian."""
        square = self.one.taken * (self.one.sensitivity / self.one.scale) ** 2
        return Enclosure(_ZERO, root_of(Enclosure.exactly(square)).upper)

    def _largest(self, measure: Callable[[Allocation], Enclosure]) -> Enclosure:
        found = (allocation(way) for way in ways(self.mechanism))
        return reduce(Enclosure.maximum, (measure(one) for one in found if one is not None))


@frozen
class _Noise:
    """Gaussian or Laplace. noise: as at its rate on the whole. batches: None if sampled else."""

    mechanism: Mechanism
    noise: ContinuousNoise
    batches: FixedSize | None

    def pure(self, width: Fraction) -> Enclosure:
        if self.noise.shape is Shape.LAPLACE and any(rate == 1 for _, rate in self._rates):
            return _exactly(self.noise.move)
        return self._largest(lambda law: refine(law.largest, width=width))

    def delta(self, epsilon: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda law: profile.delta([(law, 1)], epsilon, width))

    def epsilon(self, delta: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda law: profile.epsilon([(law, 1)], delta, width))

    def renyi(self, order: Fraction, width: Fraction) -> Enclosure:
        if self.batches is not None and self.batches.rate != 1:
            return batched_renyi(self.batches, order, width)
        if self._is_gaussian and self.noise.rate == 1:
            return Enclosure.exactly(order * squared(self.noise.move) / 2)
        return self._largest(lambda law: profile.renyi(law, order, width))

    def zcdp(self, width: Fraction) -> Enclosure:
        """Sampling is at most the mechanism without it, whichever dataset comes first.

        (1-q) Q + q P against Q, and the reverse, are at most P against Q, by quasi-convexity. For
        the Gaussian, the user removed, that is attained in the limit of large orders: ((1-q) Q + q
        P)^a >= (q P)^a loses at most a log(1/q)/(a - 1), which vanishes against the order a. The
        Laplace is measured at a few orders for a lower bound; both ways round no loss is above that
        of the user removed, at the largest rate, whose square is at least twice rho (Bun and
        Steinke, TCC 2016, Proposition 1.4).
        """
        move = self.noise.move
        if isinstance(move, SquareRoot) or self._is_gaussian:
            return Enclosure.exactly(squared(move) / 2)
        if self.noise.rate == 1:
            return refine(lambda: concentrated.laplace_supremum(move).value, width=width, cap=384)
        upper = refine(lambda: concentrated.laplace_supremum(move).value, width=_COARSE).upper
        largest = pure_removed(ball(max(rate for _, rate in self._rates)), ball(move))
        upper = min(upper, enclose(largest**2 / 2).upper)
        least = max(Fraction(self.renyi(order, _COARSE).lower) / order for order in _ORDERS)
        return Enclosure(least, upper).because(_OPEN)

    def gdp(self, width: Fraction, cap: int) -> Enclosure:
        """mu, without the profile.

        Sampling, of any kind, is at most the mechanism without it: who takes part is the same on
        both sides, and where it is not the user nothing is told of the user.
        """
        move = self.noise.move
        if self._is_gaussian:
            found = _exactly(move)
        else:
            found = refine(lambda: of_laplace(ball(move)), width=width, cap=cap)
        return found if self.noise.rate == 1 else Enclosure(_ZERO, found.upper)

    @property
    def _rates(self) -> Sequence[tuple[Fraction | int, Fraction]]:
        """Those that may be told, with their probabilities."""
        return getattr(either_way(self.mechanism), "rates", None) or ((1, self.noise.rate),)

    @property
    def _is_gaussian(self) -> bool:
        return self.noise.shape is Shape.GAUSSIAN

    def _largest(self, measure: Callable[[LineLaw], Enclosure]) -> Enclosure:
        each = (measure(single_law(way)) for way in ways(self.mechanism))
        return reduce(Enclosure.maximum, each, Enclosure.exactly(0))


def _exactly(value: Fraction | SquareRoot) -> Enclosure:
    """The point, or as narrow as the root of a rational can be told."""
    if isinstance(value, SquareRoot):
        return root_of(Enclosure.exactly(value.square))
    return Enclosure.exactly(value)
