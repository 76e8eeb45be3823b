"""Privacy filters: a budget that holds however the next mechanism is chosen.

What may depend on earlier outputs, and which result covers it:

*The queries*, for mechanisms fixed beforehand: exact composition (`composed`).

*Also their order, and whether they are used at all*, as long as it is fixed beforehand how often
each one is used at most: exact composition of the most that may be used. A mechanism dominated by
the pair (P, Q) is post-processing of one draw from P or Q, for each query and each two neighbouring
datasets (Blackwell). Draw all of them beforehand; whichever mechanism is chosen next takes the next
of its draws. So the transcript is post-processing of the product of these pairs.

*The mechanisms themselves, or how often they are used*: not covered. To compose exactly what was
used in the end, and to stop when that reaches the target, is not a guarantee ("f-Differential
privacy filters: validity and approximate solutions", arXiv 2602.06756). For instance: first
RandomizedResponse(1/2). Either of RandomizedResponse(1) and RandomizedResponse(0, delta=0.179) may
follow: both lists are (1, 0.18)-DP. But to take the former where the first output spoke for P, and
the latter elsewhere, has delta(1) > 0.24, since the former has its delta there and the latter
everywhere. Filters hold: they count what no choice of the next mechanism can exploit.

*When to stop, with a running report and no limit set beforehand*: `odometer`.

Everywhere the choices may use earlier outputs and randomness of their own, not the data.

Why the filters hold. Fix two neighbouring datasets; P and Q are the laws of the transcript, M_t is
the likelihood ratio P/Q of its first t outputs, L_t = log M_t.

*Pure.* Each factor of M_t is at most e^(epsilon_i), so M_t <= e^(sum of epsilon_i) for every
transcript. Source: Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters: pay-as-you-go
composition", NeurIPS 2016.

*Rényi, one order a > 1.* Let r_i bound the divergence of order a of the i-th mechanism, known once
it is chosen. Given the first t - 1 outputs, E_Q of the a-th power of the t-th factor is at most
e^((a-1) r_t); so M_t^a e^(-(a-1)(r_1 + ... + r_t)) is a supermartingale under Q from 1. If
r_1 + ... + r_T <= r whenever it stops, E_Q M_T^a <= e^((a-1) r): the transcript is (a, r)-RDP; also
where T is finite but not bounded, by Fatou. Source: Feldman, Zrnic, "Individual privacy accounting
via a Rényi filter", NeurIPS 2021.

*zCDP.* If rho_1 + ... + rho_T <= rho then the same holds at every order a with r_i = a rho_i and
r = a rho. All orders share one rule to stop: the transcript is rho-zCDP.

*GDP.* A mechanism that is mu_i-GDP, mu_i known once it is chosen, is post-processing of N(mu_i, 1)
against N(0, 1) (Blackwell). Take that draw from a Brownian motion of drift 1 under P and 0 under Q:
of its increment over the next mu_i^2 units of time, over mu_i. Given all that came before it is
N(mu_i, 1) or N(0, 1). If mu_1^2 + ... + mu_T^2 <= mu^2 whenever it stops, no more than the path up
to the time mu^2 is used, so that the transcript is post-processing of it; and the path is one of
its end alone, N(mu^2, mu^2) against N(0, mu^2): the transcript is mu-GDP, which Gaussian noise
attains. Sources: Smith, Thakurta, "Fully adaptive composition for Gaussian differential privacy",
2022; Koskela, Tobaben, Honkela, "Individual privacy accounting with Gaussian differential privacy",
ICLR 2023. The argument is complete without them.

The order of a Rényi filter is chosen beforehand. "Go on while any of several orders has budget
left" is another rule, and not covered.
"""

from __future__ import annotations

from abc import abstractmethod
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import ClassVar, Self

from attrs import evolve, field, frozen

from ...exact import WIDTH, Enclosure, ExactInput, ParameterError, ball, exact, refine
from ...exact.rounding import to_digits
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose
from ..divergences.conversion import zcdp_to_epsilon
from ..divergences.gaussian_dp import largest_mu
from ..figure import PURE, Figure, read_epsilon, read_failure, read_mu, read_order, read_rho
from .charges import (
    MOST_USES,
    Charges,
    Spending,
    best_order,
    best_order_for,
    read_times,
    surcharge,
    total,
)

_NARROWER = Fraction(1, 10**12)  # each further attempt at a close decision asks for this much more
_ATTEMPTS = 3


class OverspentError(Exception):
    """A use that does not, or not certainly, fit into what is left. Nothing was spent."""

    def __init__(self, mechanism: Mechanism, times: int, cost: Enclosure, left: Enclosure) -> None:
        self.mechanism, self.times, self.cost, self.left = mechanism, times, cost, left
        certain = cost.greater_than(left.upper) is True
        super().__init__(
            f"{times} x {mechanism} {'does not' if certain else 'cannot be told to'} fit: "
            f"cost {cost}, left {left}"
        )


@frozen
class Filter(Spending):
    """A limit on a cost that adds up, and what was spent of it so far. An immutable value."""

    limits: ClassVar[str] = "epsilon"  # the field of what all uses together may cost

    @property
    def limit(self) -> Fraction:
        """What all uses together may cost."""
        found = getattr(self, self.limits)
        assert isinstance(found, Fraction)
        return found

    def cost(self, mechanism: Mechanism, width: Fraction = WIDTH) -> Enclosure:
        """What one use costs: the number that is limited, of mu its square."""
        return self.costs(mechanism, width)[0]

    @abstractmethod
    def guarantee(self, delta: ExactInput) -> Enclosure:
        """The epsilon of (epsilon, delta)-DP of all uses that the filter ever accepts, together."""

    def spent(self) -> Enclosure:
        """What all accepted uses cost together."""
        return total(self.charges)

    def left(self) -> Enclosure:
        """The limit less what was spent."""
        return self.limit - self.spent()

    def fits(self, mechanism: Mechanism, times: ExactInput = 1) -> bool | None:
        """May it be used so many times more? True only where that is certain, None if unknown."""
        return self._tried(self.charged(mechanism, read_times(times)))[0]

    def spend(self, mechanism: Mechanism, times: ExactInput = 1) -> Self:
        """The filter after so many uses more, if they certainly fit.

        Raises OverspentError otherwise. This value does not change in any case.
        """
        count = read_times(times)
        wanted = self.charged(mechanism, count)
        answer, charges = self._tried(wanted)
        if answer is not True:
            cost = _cost_of(mechanism, wanted).times(count)
            raise OverspentError(mechanism, count, cost, self.left())
        return evolve(self, charges=charges)

    def most(self, mechanism: Mechanism) -> int:
        """How many more uses certainly fit (at most 10^9)."""
        each = _cost_of(mechanism, self.charged(mechanism, 1)).upper
        room = self.left().lower
        if each == Decimal("Infinity") or room < 0:
            return 0
        if each == 0:
            return MOST_USES
        count = min(int(Fraction(room) / Fraction(each)), MOST_USES)
        # a limit that is met exactly may need the narrower costs of `fits`
        return count + 1 if count < MOST_USES and self.fits(mechanism, count + 1) else count

    def _tried(self, charges: Charges) -> tuple[bool | None, Charges]:
        """Do they fit, and the charges, with costs narrowed where the decision is close."""
        width = WIDTH
        for _ in range(_ATTEMPTS):
            spent = total(charges)
            if spent.at_most(self.limit) is not None or not spent.is_finite():
                break
            width *= _NARROWER
            charges = tuple(
                charge._replace(each=(charge.each[0].intersection(self.cost(charge[0], width)),))
                for charge in charges
            )
        return total(charges).at_most(self.limit), charges


def _cost_of(mechanism: Mechanism, charges: Charges) -> Enclosure:
    return next(charge.each[0] for charge in charges if charge.mechanism == mechanism)


@frozen
class PureFilter(Filter):
    """All uses together are epsilon-DP: their pure epsilons add up to at most this.

    epsilon: what may be spent. charges: what was. Raises ParameterError for anything else, and
    `spend` OverspentError.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> spent = PureFilter(1).spend(one, times=4)
    >>> spent.left() > "0.59", spent.fits(one, 7)
    (True, False)
    """

    figures = (PURE,)

    epsilon: Fraction = field(converter=read_epsilon)

    def guarantee(self, delta: ExactInput = 0) -> Enclosure:
        exact(delta, "delta", at_least=0, at_most=1)
        return Enclosure.exactly(self.epsilon)


@frozen
class RenyiFilter(Filter):
    """All uses together are (order, epsilon)-RDP, at this one order above 1.

    charges: what was spent. Raises ParameterError for numbers out of range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> RenyiFilter(2, 1).spend(one, times=4).left() > "0.95"
    True
    """

    order: Fraction = field(converter=read_order)
    epsilon: Fraction = field(converter=read_epsilon)

    @staticmethod
    def for_target(
        epsilon: ExactInput,
        delta: ExactInput,
        mechanism: Mechanism | None = None,
        order: ExactInput | None = None,
    ) -> RenyiFilter:
        """The largest Rényi filter whose uses together are (epsilon, delta)-DP, 0 < delta < 1.

        order: beforehand, at which order to count; if not given, the one at which most uses of
        `mechanism` fit; if that is not given either, most uses of a Gaussian mechanism. Found in
        floats: the guarantee holds at any order, and is flat around the best one.
        """
        level, failure = read_epsilon(epsilon), read_failure(delta)
        if order is not None:
            chosen = read_order(order)
        elif mechanism is None:
            chosen = best_order(level, failure)
        else:
            chosen = best_order_for(mechanism, level, failure)
        return RenyiFilter(chosen, _room(level, failure, chosen))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The Rényi divergence of this order."""
        return (Figure("renyi", self.order),)

    def guarantee(self, delta: ExactInput) -> Enclosure:
        failure = exact(delta, "delta", above=0, at_most=1)
        value = refine(lambda: ball(self.epsilon) + surcharge(self.order, failure))
        return value.maximum(Enclosure.exactly(0))


@frozen
class ZcdpFilter(Filter):
    """All uses together are rho-zCDP.

    rho: what may be spent. charges: what was. Errors as of `PureFilter`: Raises ParameterError.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> ZcdpFilter("0.5").spend(one, times=4).left() > "0.47"
    True
    """

    limits, figures = "rho", (Figure("zcdp"),)

    rho: Fraction = field(converter=read_rho)

    @staticmethod
    def for_target(epsilon: ExactInput, delta: ExactInput) -> ZcdpFilter:
        """The largest rho (to about 1e-11) that Lemma 10 turns into this (epsilon, delta)-DP.

        rho-zCDP is (a, a rho)-RDP: any order a proves that rho = (epsilon - surcharge)/a will do,
        and at the best one an error in a shows only in second order.
        """
        level, failure = read_epsilon(epsilon), read_failure(delta)
        order = best_order(level, failure)
        return ZcdpFilter(_room(level, failure, order, order))

    def guarantee(self, delta: ExactInput) -> Enclosure:
        return zcdp_to_epsilon(self.rho, exact(delta, "delta", above=0, at_most=1)).value


@frozen
class GaussianFilter(Filter):
    """All uses together are mu-GDP: their costs, mu_i^2 each, add up to at most mu^2.

    charges: what was spent. Raises ParameterError for a mu that is not above 0.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> GaussianFilter(1).spend(one, times=4).left() > "0.9"
    True
    """

    figures = (Figure("gdp"),)

    mu: Fraction = field(converter=read_mu)

    @property
    def limit(self) -> Fraction:
        """mu^2."""
        return self.mu**2

    @staticmethod
    def for_target(epsilon: ExactInput, delta: ExactInput) -> GaussianFilter:
        """The largest mu (to about 1e-11) of which mu-GDP is this (epsilon, delta)-DP."""
        level, failure = read_epsilon(epsilon), read_failure(delta)
        return GaussianFilter(_shaved(Fraction(largest_mu(level, failure))))

    def guarantee(self, delta: ExactInput) -> Enclosure:
        failure = exact(delta, "delta", above=0, at_most=1)
        if not self.mu:
            return Enclosure.exactly(0)
        return compose(ContinuousNoise(Shape.GAUSSIAN, 1, self.mu)).epsilon(failure)


def _room(epsilon: Fraction, delta: Fraction, order: Fraction, per: Fraction | int = 1) -> Fraction:
    """What may be spent at this order, over `per`."""
    room = refine(lambda: (ball(epsilon) - surcharge(order, delta)) / ball(per))
    if not room.lower > 0:
        raise ParameterError(
            f"order {float(order):.6g} leaves nothing to spend for epsilon {float(epsilon):.6g} "
            f"and delta {float(delta):.6g}"
        )
    return _shaved(Fraction(room.lower))


def _shaved(room: Fraction) -> Fraction:
    """A little below, in twelve digits, so that also the computed guarantee meets the target."""
    return to_digits(room * (1 - Fraction(4, 10**12)), 12, ROUND_FLOOR)
