"""What no private algorithm beats: the known lower bound of regret, for an instance of coins.

Azize, Wu, Honda, Orabona, Ito and Basu, "Optimal Regret of Bernoulli Bandits under Global
Differential Privacy" (arXiv 2505.05613): every epsilon-global DP algorithm whose regret is o(T^a)
for each a > 0 on every instance of Bernoulli arms has

    liminf Reg(T)/log T >= sum over arms with mu_a < mu* of (mu* - mu_a)/d(mu_a, mu*),
    d(x, y) = inf over z in [x, y] of epsilon (z - x) + kl(z, y),   x <= y,

kl being the divergence of coins. The derivative in z is epsilon + logit z - logit y, increasing, so
that the infimum is at z = max(x, z0), z0 = y/(y + (1 - y) e^epsilon). Without privacy z = x: Lai
and Robbins (1985), which holds for every algorithm. Where every user randomizes a coin with
epsilon-local DP, what she sends is a post-processing of randomized response (Kairouz, Oh and
Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015), so that d is at most the
kl of the responses, of means (1 + x (e^epsilon - 1))/(1 + e^epsilon); and local DP is global too.

These are limits: at any one T the bound times log T is a yardstick, which a run may stay below.
They are of *pure* DP; of algorithms with another notion only Lai and Robbins' is said. Rewards
other than coins have another infimum, over all laws: nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from flint import arb

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, ball, exact, whole
from ..exact.precision import refine
from .environments.environment import Environment
from .environments.rewards import Bernoulli, RewardLaw, RewardTable


class Barrier(Enum):
    """Which algorithms a bound is for."""

    NONE = "every algorithm"
    GLOBAL = "global DP"
    LOCAL = "local DP"


def hardness(
    x: ExactInput, y: ExactInput, epsilon: ExactInput, barrier: Barrier = Barrier.GLOBAL
) -> Enclosure:
    """d(x, y) for 0 <= x < y <= 1: how much one pull of an arm of mean x tells about mean y."""
    low = exact(x, "x", at_least=0, at_most=1)
    high = exact(y, "y", at_least=0, at_most=1)
    if high <= low:
        raise ParameterError(f"y must be above x = {float(low)}, got {float(high)}")
    budget = exact(epsilon, "epsilon", above=0)
    return refine(lambda: _hardness(low, high, budget, barrier))


def lower_bound(
    environment: Environment, epsilon: ExactInput, barrier: Barrier = Barrier.GLOBAL
) -> Enclosure | None:
    """sum over arms of gap/d, the bound of liminf Reg(T)/log T; None unless all arms are coins.

    The means of Bernoulli arms are those floats that the rewards are drawn with, exactly.
    """
    means = coins(environment)
    if means is None:
        return None
    best, budget = max(means), exact(epsilon, "epsilon", above=0)
    if best == 1 and barrier is Barrier.NONE:
        return Enclosure.exactly(0)  # kl is infinite: any other answer than 1 rules a mean of 1 out

    def value() -> arb:
        parts = (
            ball(best - it) / _hardness(it, best, budget, barrier) for it in means if it < best
        )
        return sum(parts, arb(0))

    return refine(value)


def coins(environment: Environment) -> list[Fraction] | None:
    """The exact mean of each arm; None unless all arms are coins."""
    means = [mean for arm in environment.arms if (mean := _coin(arm)) is not None]
    return means if len(means) == len(environment.arms) else None


def _coin(arm: RewardLaw) -> Fraction | None:
    """The exact mean of a law on 0 and 1; None for any other."""
    if isinstance(arm, Bernoulli):
        return Fraction(arm.mean)
    if isinstance(arm, RewardTable) and set(arm.values) <= {Fraction(0), Fraction(1)}:
        return dict(zip(arm.values, arm.probabilities, strict=True)).get(Fraction(1), Fraction(0))
    return None


def at_horizon(bounds: Iterable[Enclosure], horizon: ExactInput) -> Enclosure:
    """The mean of such bounds, times log T."""
    found = list(bounds)
    rounds = whole(horizon, "horizon", at_least=1)
    mean = Enclosure.total(found).times(Fraction(1, len(found)))
    log = refine(lambda: arb(rounds).log())
    return Enclosure(*(Fraction(a) * Fraction(b) for a, b in _ends(mean, log)))


def _ends(a: Enclosure, b: Enclosure) -> Iterable[tuple[Fraction, Fraction]]:
    for left, right in ((a.lower, b.lower), (a.upper, b.upper)):
        yield Fraction(left), Fraction(right)


def _hardness(low: Fraction, high: Fraction, budget: Fraction, barrier: Barrier) -> arb:
    if barrier is Barrier.NONE:
        return _kl(ball(low), ball(high))
    near = _global(low, high, budget)
    if barrier is Barrier.GLOBAL:
        return near
    growth = ball(budget).exp()
    answers = ((1 + ball(mean) * (growth - 1)) / (1 + growth) for mean in (low, high))
    return near.min(_kl(*answers))


def _global(low: Fraction, high: Fraction, epsilon: Fraction) -> arb:
    x, y, budget = ball(low), ball(high), ball(epsilon)
    if high == 1:
        return budget * (1 - x)  # z = 1: any other answer than 1 rules a mean of 1 out
    z = x.max(y / (y + (1 - y) * budget.exp()))  # between them, also where the maximum is open
    return budget * (z - x) + _kl(z, y)


def _kl(x: arb, y: arb) -> arb:
    """x log(x/y) + (1 - x) log((1 - x)/(1 - y)); infinite where y is 1 and x is not."""
    if y == 1:
        return arb("inf")
    if x == 0:
        return -(1 - y).log()
    return x * (x / y).log() + (1 - x) * ((1 - x) / (1 - y)).log()
