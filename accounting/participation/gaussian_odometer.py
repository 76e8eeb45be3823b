"""A privacy odometer in the currency of Gaussian DP: mu^2, with no limit set beforehand.

What a report is, and when it is valid, is said in `odometer`: E_P (1 - e^(e_T - L_T))^+ <= delta.

Level j has a distance mu_j and a share delta_j of delta, all of them fixed beforehand; the deltas
sum to at most delta. The report is the epsilon_j of the first level whose mu_j^2 is at least the
sum of the mu_i^2 spent, where N(mu_j, 1) against N(0, 1) is (epsilon_j, delta_j)-DP.

*Why it is valid.* For each j let t_j be the moment before what is spent first exceeds mu_j^2. The
transcript up to min(T, t_j) is mu_j-GDP (`filters`, *GDP*), hence (epsilon_j, delta_j)-DP: with L
its loss, E_P (1 - e^(epsilon_j - L))^+ <= delta_j. Where the report at T is that of level j, no
more than mu_j^2 is spent, so that T <= t_j and L = L_T. The sum over j is at most delta.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from attrs import evolve, field, frozen

from ...exact import Enclosure, ExactInput
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose
from ..divergences.gaussian_bounds import squared
from ..levels import read_failure
from .charges import Charges, admit, measured, read_times, total, with_use

_LEAST, _RATIO, _LEVELS = Fraction(1, 32), Fraction(5, 4), 40  # up to a mu of about 190


@frozen
class GaussianOdometer:
    """What was spent so far, as the epsilon of (epsilon, delta)-DP. An immutable value.

    delta: of the whole run. charges: what was spent. Raises ParameterError for a delta out of
    range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> GaussianOdometer("1e-6").spend(one, times=4).epsilon() > "0.4"
    True
    """

    delta: Fraction = field(converter=read_failure)
    charges: Charges = field(default=(), kw_only=True)

    def spend(self, mechanism: Mechanism, times: ExactInput = 1) -> GaussianOdometer:
        """The odometer after so many uses more. No cost is refused; the report may be infinite.

        Raises ParameterError for neighbours other than those of what was spent before.
        """
        count = read_times(times)
        admit(self.charges, mechanism)
        known = (charge.each for charge in self.charges if charge.mechanism == mechanism)
        cost = next(known, None)
        if cost is None:
            cost = measured(lambda: squared(compose(mechanism).gdp()))
        return evolve(self, charges=with_use(self.charges, mechanism, count, cost))

    def spent(self) -> Enclosure:
        """The sum of the squares of all mu."""
        return total(self.charges)

    def epsilon(self) -> Enclosure:
        """The report: of the level that was reached, 0 before anything is spent."""
        spent = self.spent()
        if spent.upper == 0:
            return Enclosure.exactly(0)
        for mu, share in self._levels():
            if spent.at_most(mu**2):
                return _report(mu, share)
        return Enclosure.infinite()

    def _levels(self) -> Iterator[tuple[Fraction, Fraction]]:
        """mu_j, and delta/(j (j + 1)): those sum to less than delta."""
        for j in range(1, _LEVELS + 1):
            yield _LEAST * _RATIO ** (j - 1), self.delta / (j * (j + 1))


@lru_cache(maxsize=256)
def _report(mu: Fraction, delta: Fraction) -> Enclosure:
    return compose(ContinuousNoise(Shape.GAUSSIAN, 1, mu)).epsilon(delta)
