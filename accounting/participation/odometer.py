"""Privacy odometers: what has been spent so far, with no limit set beforehand.

Mechanisms may be chosen from earlier outputs (as in `filters`, whose notation this uses), and so
may the moment T to stop; the report e_T, read from the transcript, is valid there:

    E_P (1 - e^(e_T - L_T))^+ <= delta,

which says that for each event S of the transcript up to T, and each number e,

    P(S and e_T <= e) <= e^e Q(S and e_T <= e) + delta.

So if a rule always stops at a report of at most e, the whole run is (e, delta)-DP; otherwise this
bounds what the runs that do can reveal. It is a statement about one rule to stop, whichever it is;
not about all reports at once.

*One order a > 1.* With R_t = r_1 + ... + r_t the supermartingale of the Rényi filter reads
E_P e^((a-1)(L_T - R_T)) <= 1 (T finite). Since (1 - e^(c-x))^+ <= e^((a-1)(x-c)) (1/a)(1-1/a)^(a-1)
for all real x and c (both sides touch at e^(c-x) = 1 - 1/a), with x = L_T - R_T the report R_T + c
is valid as soon as e^(-(a-1)c) (1/a)(1-1/a)^(a-1) <= delta: c = surcharge(a, delta) as in Lemma
10. What was spent may be random, because only L_T - R_T enters.

*Several orders.* Order a_j gets delta_j; the least of the reports is valid for the sum of the
delta_j, since (1 - e^(min_j e_j - L))^+ <= sum_j (1 - e^(e_j - L))^+. The orders are those that
suit targets which double from level to level, delta_j = delta/(j (j+1)): they sum to less than
delta. (Filters with doubling budgets would report the limit of the level reached. Here it is what
was spent at the level's order, which is never more.)

*Pure.* L_T <= the sum of the pure epsilons always: that sum is one more report, and costs no delta.

*Gaussian DP*, in mu^2. Level j has a distance mu_j and a share delta_j of delta, all of them fixed
beforehand; the deltas sum to at most delta. The report is the epsilon_j of the first level whose
mu_j^2 is at least the sum of the mu_i^2 spent, where N(mu_j, 1) against N(0, 1) is (epsilon_j,
delta_j)-DP. For each j let t_j be the moment before what is spent first exceeds mu_j^2.
The transcript up to min(T, t_j) is mu_j-GDP (`filters`, *GDP*), hence (epsilon_j, delta_j)-DP: with
L its loss, E_P (1 - e^(epsilon_j - L))^+ <= delta_j. Where the report at T is that of level j, no
more than mu_j^2 is spent, so that T <= t_j and L = L_T. The sum over j is at most delta.

Sources: Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters: pay-as-you-go composition",
NeurIPS 2016; Feldman, Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021;
Lécuyer, "Practical privacy filters and odometers with Rényi differential privacy and applications
to differentially private deep learning", 2021. The argument above is complete without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Self

from attrs import evolve, field, frozen

from ...exact import Enclosure, ExactInput, ParameterError, exact, refine
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose
from ..figure import MU, PURE, Figure, read_failure
from .charges import Spending, best_order, read_times, surcharge, total

_TARGETS = tuple(Fraction(2) ** power for power in range(-3, 6))  # 1/8 ... 32
_DISTANCES = [Fraction(1, 32) * Fraction(5, 4) ** j for j in range(40)]  # up to about 190


@frozen
class Odometer(Spending):
    """What was spent so far. An immutable value. delta: of the whole run, 0 < delta < 1."""

    delta: Fraction = field(converter=read_failure)

    def spend(self, mechanism: Mechanism, times: ExactInput = 1) -> Self:
        """The odometer after so many uses more. No cost is refused; the report may be infinite.

        Raises ParameterError for neighbours other than those of what was spent before.
        """
        return evolve(self, charges=self.charged(mechanism, read_times(times)))

    def _shared(self, levels: Sequence[Fraction]) -> Iterable[tuple[Fraction, Fraction]]:
        """Each with its share delta/(j (j+1)): those sum to less than delta."""
        return ((level, self.delta / (j * (j + 1))) for j, level in enumerate(levels, 1))


class Level(NamedTuple):
    """An order at which costs are counted, and the share of delta that its report uses."""

    order: Fraction
    delta: Fraction

    def report(self, cost: Enclosure) -> Enclosure:
        """The epsilon for what was spent at this order."""
        return cost.plus(refine(lambda: surcharge(self.order, self.delta)))


def _read_targets(values: Sequence[ExactInput]) -> tuple[Fraction, ...]:
    if not values:
        raise ParameterError("targets must have at least one epsilon")
    return tuple(exact(value, "targets", above=0) for value in values)


@frozen
class RenyiOdometer(Odometer):
    """What was spent so far, as the epsilon of (epsilon, delta)-DP. An immutable value.

    delta: of the whole run, 0 < delta < 1. targets: the epsilons near which the report is to be
    good, nearest first; best when they double. charges: at each level, then the pure epsilons.

    Raises ParameterError for numbers out of range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> RenyiOdometer("1e-6").spend(one, times=4).epsilon() < 1
    True
    """

    targets: tuple[Fraction, ...] = field(default=_TARGETS, converter=_read_targets)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The order that suits each target, and its share of delta."""
        shared = self._shared(self.targets)
        return tuple(Level(best_order(target, share), share) for target, share in shared)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The Rényi divergence at each level, then the pure epsilon."""
        return *(Figure("renyi", level.order) for level in self.levels), PURE

    def epsilon(self) -> Enclosure:
        """The report: the least over all levels, 0 before anything is spent.

        It is the formula's value that is enclosed: `upper` holds in any case.
        """
        levels = self.levels
        least = total(self.charges, len(levels))
        for index, level in enumerate(levels):
            least = least.minimum(level.report(total(self.charges, index)))
        return least.maximum(Enclosure.exactly(0))


@frozen
class GaussianOdometer(Odometer):
    """What was spent so far, as the epsilon of (epsilon, delta)-DP. An immutable value.

    delta: of the whole run. charges: what was spent. Raises ParameterError for a delta out of
    range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> GaussianOdometer("1e-6").spend(one, times=4).epsilon() > "0.4"
    True
    """

    figures = (MU,)

    def spent(self) -> Enclosure:
        """The sum of the squares of all mu."""
        return total(self.charges)

    def epsilon(self) -> Enclosure:
        """The report: of the level that was reached, 0 before anything is spent."""
        spent = self.spent()
        if spent.upper == 0:
            return Enclosure.exactly(0)
        for mu, share in self._shared(_DISTANCES):
            if spent.at_most(mu**2):
                return _report(mu, share)
        return Enclosure.infinite()


@lru_cache(maxsize=256)
def _report(mu: Fraction, delta: Fraction) -> Enclosure:
    return compose(ContinuousNoise(Shape.GAUSSIAN, 1, mu)).epsilon(delta)
