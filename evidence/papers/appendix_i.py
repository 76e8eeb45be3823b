"""Noise for users who return: equations 14 and 15 of Appendix I, in numbers instead of O(...).

A user takes part in B batches, once in each, and is to have (epsilon, delta)-DP over all of them.
How much noise does each batch need?

*Equation 14*, advanced composition (Theorem 7): each batch is to be (epsilon_i, delta_i)-DP,

    epsilon_i = epsilon/(2 sqrt(2 B log(1/delta'))), delta_i = delta/(2B), delta' = delta/2,

and gets the least noise with which it exactly is. The paper states the theorem for epsilon < 1. By
its source (Dwork, Rothblum, Vadhan, "Boosting and differential privacy", FOCS 2010, Theorem III.3)
B batches are together (sqrt(2 B log(1/delta')) epsilon_i + B epsilon_i (e^epsilon_i - 1),
B delta_i + delta')-DP: the first term is epsilon/2, and what is left to check is that the second
one is at most epsilon/2 as well.

*The same, composed optimally*: each batch is again reduced to one point (epsilon_i, delta_i), with
delta_i as above, but epsilon_i is the largest that the optimal composition theorem for such points
allows: all that any theorem can make of them (Kairouz, Oh, Viswanath, "The composition theorem for
differential privacy", ICML 2015).

*Equation 15*: the Rényi curves of the B batches add up, and Lemma 10 turns them into epsilon, at
the best of all real orders.

*Exact composition*: the least noise with which B batches are (epsilon, delta)-DP, which is what
Remark 8 asks for. No accounting needs less.

So equation 14 over its optimal version is lost by Theorem 7; that one over equation 15 is lost by
keeping only one point of what each batch satisfies; equation 15 over exact composition is what
Lemma 10 loses. The gain of log(B/delta) is of these two first kinds: none of it is owed to Rényi DP
as against (epsilon, delta)-DP, whose exact composition needs the least noise.

All of it holds for up to B batches with noise fixed beforehand; see
`accounting.participation.filters` for what else may be chosen on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from math import log
from typing import TypeAlias

from attrs import frozen
from flint import arb

from ...accounting.composition.composed import compose
from ...accounting.divergences.conversion import renyi_to_epsilon
from ...exact import Enclosure, ExactInput, ParameterError, UndecidedError, ball, exact, whole
from ...exact.precision import refine, working_precision
from ...exact.search import Grid, Search
from ...mechanisms import AdditiveNoise, DiscreteGaussian, Mechanism, RandomizedResponse

Noise: TypeAlias = Callable[[Fraction], Mechanism]  # the mechanism with noise of this variance

WIDTH = Fraction(1, 10**5)
_LEAST, _LARGEST, _DIGITS = Fraction(1, 10**18), Fraction(10**30), 15
_FINER = Fraction(1, 20)  # how much narrower than the variance its epsilon is asked for


@frozen
class NoisePerBatch:
    """The variance of the noise that each of B batches needs, by four ways of accounting.

    Each is an enclosure [refuted, verified]: a variance with which the target is certainly missed,
    and a slightly larger one with which it is certainly met. For Skellam noise the least variance
    lies between them, and every larger one will do (Sk(v + w) is Sk(v) and more noise).

    advanced over optimal is what Theorem 7 loses, optimal over renyi what it costs to know of each
    batch that it is (epsilon_i, delta_i)-DP, and no more; advanced over renyi is the gain of
    Appendix I, log(B/delta) up to constants, and renyi over exact what equation 15 loses.
    """

    batches: int
    advanced: Enclosure  # equation 14
    optimal: Enclosure  # equation 14 with optimal composition of (epsilon_i, delta_i)
    renyi: Enclosure  # equation 15
    exact: Enclosure


def discrete_gaussian(variance: Fraction) -> Mechanism:
    """Noise N_Z(0, variance), of sensitivity 1; the parameter, which its variance barely misses."""
    return AdditiveNoise(DiscreteGaussian(variance), 1)


def noise_per_batch(
    epsilon: ExactInput,
    delta: ExactInput,
    noise: Noise,
    batches: Sequence[ExactInput] = (1, 4, 16, 64),
    width: Fraction = WIDTH,
) -> tuple[NoisePerBatch, ...]:
    """The noise per batch for (epsilon, delta)-DP of a user of so many batches, for each number.

    epsilon > 0, 0 < delta < 1. width: relative, of each variance; where accounting cannot tell so
    close variances apart, they are wider (`Enclosure.is_within`).
    Raises ParameterError where Theorem 7 does not apply, UndecidedError where no variance is found.
    """
    level = exact(epsilon, "epsilon", above=0)
    failure = exact(delta, "delta", above=0, below=1)
    counts = [whole(count, "batches", at_least=1) for count in batches]
    return tuple(_row(level, failure, noise, count, width) for count in counts)


def advanced_share(epsilon: Fraction, delta: Fraction, count: int) -> Enclosure:
    """epsilon_i of Theorem 7 with delta' = delta/2, if the theorem's condition certainly holds."""

    def share() -> arb:
        return ball(epsilon) / (2 * (-2 * count * (ball(delta) / 2).log()).sqrt())

    with working_precision(128):
        second = 2 * count * share() * (share().exp() - 1)
        if not second <= ball(epsilon):
            raise ParameterError(
                f"epsilon must be smaller for Theorem 7, got {float(epsilon):.6g}: its second term "
                f"exceeds epsilon/2 for {count} batches at delta {float(delta):.6g}"
            )
    return refine(share)


def optimal_share(
    epsilon: Fraction, delta: Fraction, count: int, width: Fraction = WIDTH
) -> Enclosure:
    """The largest epsilon_i for which `count` mechanisms that are (epsilon_i, delta/(2 count))-DP
    are together (epsilon, delta)-DP: that of the worst ones, which `RandomizedResponse` is.
    """

    def cost(inverse: Fraction) -> Enclosure:
        worst = RandomizedResponse(1 / inverse, delta / (2 * count))
        return compose((worst, count)).epsilon(delta, width * _FINER)

    inverse = least_noise(cost, Enclosure.exactly(epsilon), count / float(epsilon), width)
    return Enclosure(1 / Fraction(inverse.upper), 1 / Fraction(inverse.lower))


def _row(
    epsilon: Fraction, delta: Fraction, noise: Noise, count: int, width: Fraction
) -> NoisePerBatch:
    finer = width * _FINER
    log_term = log(delta.denominator) - log(delta.numerator)
    # log delta answers to log variance with about this slope, log epsilon with 1/2
    sharp = width * Fraction(min(log_term, 12) / 12)

    def renyi(variance: Fraction) -> Enclosure:
        composition = compose((noise(variance), count))

        def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
            return composition.renyi_curve(orders, finer / 1000)

        return renyi_to_epsilon(curve, delta, width=finer).value

    def exactly(variance: Fraction) -> Enclosure:
        return compose((noise(variance), count)).delta(epsilon, sharp)

    def at_point(share: Enclosure) -> Enclosure:
        """Equation 14's noise: epsilon_i is near sqrt(2 log(1/delta_i)/variance)."""

        def once(variance: Fraction) -> Enclosure:
            deltas = [
                compose(noise(variance)).delta(Fraction(end), sharp)
                for end in (share.lower, share.upper)
            ]
            return deltas[0].hull(deltas[1])

        guess = 2 * log_term / float(share.lower) ** 2
        return least_noise(once, Enclosure.exactly(delta / (2 * count)), guess, width, -log_term)

    target = Enclosure.exactly(epsilon)
    by_renyi = least_noise(renyi, target, 2 * count * log_term / float(epsilon) ** 2, width)
    return NoisePerBatch(
        batches=count,
        advanced=at_point(advanced_share(epsilon, delta, count)),
        optimal=at_point(optimal_share(epsilon, delta, count, finer)),
        renyi=by_renyi,
        exact=least_noise(
            exactly, Enclosure.exactly(delta), float(by_renyi.upper), width, -log_term
        ),
    )


def least_noise(
    cost: Callable[[Fraction], Enclosure],
    target: Enclosure,
    guess: float,
    width: Fraction,
    slope: float = -0.5,
) -> Enclosure:
    """An amount whose cost certainly exceeds the target, and a slightly larger one that meets it.

    cost: a positive number (epsilon, say) that tends to fall as the amount grows, enclosed at least
    ten times more narrowly than `width`. target: as known. guess: where to look first, and slope:
    of log cost in log amount there, about. width: relative, at least 1e-12. Where the cost falls
    strictly, the least amount that meets the target is inside.
    Wider than asked where what lies between is too close to call, which `Enclosure.is_within`
    tells. Raises UndecidedError where no two such amounts are found.
    """

    def met(amount: Fraction) -> bool | None:
        found = cost(amount)
        if found.at_most(target.lower):
            return True
        return False if found.greater_than(target.upper) else None

    def refuse(amount: Fraction, met: bool | None) -> None:
        what = "misses" if met else "meets"
        raise UndecidedError(f"nothing near {float(amount):.6g} certainly {what} the target")

    search = Search(met, Grid(_LEAST, _LARGEST, _DIGITS, width), refuse, "noise")
    bound, near = Fraction(target.upper), float(width)
    middle, _ = search.located(lambda amount, _: cost(amount), bound, guess, (width,), near, -slope)
    with suppress(UndecidedError):  # of the middle of the nearest two, too close to call
        search.around(middle, width / 3)
    low, high = search.nearest()
    while low is not None and high is not None and high - low > width * high:
        for share in (1, 3):  # the middle was: beside it they may be told
            search.ask(search.grid.rounded(low + share * (high - low) / 4))
        if search.nearest() == (low, high):
            break
        low, high = search.nearest()
    if low is None or high is None:
        raise UndecidedError(f"no two amounts near {float(middle):.6g} are certainly told apart")
    return Enclosure(low, high)
