"""How private one use of a mechanism is: the largest divergence over all pairs that count.

Both ways round count (`Mechanism.reversed`); lists of uses are in `composed`. Every figure is an
enclosure of the truth, of relative width 1e-12 unless asked otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice

from ...exact.budget import OutOfTimeError, spend
from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ball, exact
from ...exact.precision import CAP, WIDTH, enclose, refine, refine_each
from ...mechanisms.laws.law import Law
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.pair import MixturePair, Pair, Reducible, SampledPair
from ...mechanisms.sampled import dearest_ways
from ..divergences import concentrated, renyi
from ..divergences.finite_sums import is_listed
from ..divergences.gaussian_dp import bounded_mu, gaussian_mu
from ..divergences.largest_loss import largest_loss
from ..divergences.privacy_profile import delta_of, epsilon_of
from .one_use import without_outcomes

_ZERO = Enclosure.exactly(0)
_ANYTHING = Enclosure.unknown()
_FEW_RESIDUES = 64
_SLACK_CAP = 192  # bits
_MU_CAP = 768
_COARSE = Fraction(1, 10**9)


def pure_epsilon(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least epsilon for which the mechanism is (epsilon, 0)-DP; infinite if there is none."""
    if (own := without_outcomes(mechanism)) is not None:
        return own.pure(width)
    return refine(
        lambda: _largest(mechanism, lambda pair: largest_loss(pair).value), width=width, cap=cap
    )


def delta(
    mechanism: Mechanism, epsilon: ExactInput, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The least delta for which the mechanism is (epsilon, delta)-DP, epsilon >= 0."""
    level = exact(epsilon, "epsilon", at_least=0)
    if (own := without_outcomes(mechanism)) is not None:
        return own.delta(level, width)
    return refine(
        lambda: _largest(mechanism, lambda pair: enclose(delta_of(pair, ball(level), level))),
        width=width,
        cap=cap,
    )


def total_variation(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The total variation distance of neighbouring outputs, which is delta at epsilon = 0.

    mechanism: one use. Raises ParameterError where it is no mechanism.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> f"{total_variation(AdditiveNoise(DiscreteLaplace(10))):.4f}"
    '0.0500'
    """
    return delta(mechanism, 0, width, cap)


def epsilon(
    mechanism: Mechanism, delta: ExactInput, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The least epsilon >= 0 for which the mechanism is (epsilon, delta)-DP."""
    level = exact(delta, "delta", at_least=0, at_most=1)
    if level == 0:
        return pure_epsilon(mechanism, width, cap)
    if level == 1:
        return _ZERO
    if (own := without_outcomes(mechanism)) is not None:
        return own.epsilon(level, width)
    return refine(
        lambda: _largest(
            mechanism,
            lambda pair: epsilon_of(pair, level, largest_loss(pair).value),
        ),
        width=width,
        cap=min(cap, _SLACK_CAP) if _has_slack(mechanism) else cap,
    )


def renyi_divergence(
    mechanism: Mechanism, order: ExactInput, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The Rényi divergence of this order > 1: the least epsilon of (order, epsilon)-RDP."""
    return renyi_curve(mechanism, [order], width, cap)[0]


def renyi_curve(
    mechanism: Mechanism, orders: Sequence[ExactInput], width: Fraction = WIDTH, cap: int = CAP
) -> list[Enclosure]:
    """The Rényi divergence at each of these orders > 1."""
    wanted = [exact(order, "order", above=1) for order in orders]
    if (own := without_outcomes(mechanism)) is not None:
        return [own.renyi(order, width) for order in wanted]
    return refine_each(
        lambda indices: _largest_curve(mechanism, [wanted[index] for index in indices]),
        len(wanted),
        width=width,
        cap=cap,
    )


def zcdp(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least rho for which the mechanism is rho-zCDP."""
    if (own := without_outcomes(mechanism)) is not None:
        return own.zcdp(width)
    return refine(
        lambda: _largest(mechanism, lambda pair: concentrated.supremum(pair).value),
        width=width,
        cap=min(cap, 384),
    )


def gaussian_dp(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least mu for which the mechanism is mu-GDP; infinite if there is none.

    Where the outcomes are sampled or the shape is not enough, from two sides (`gaussian_dp`).
    One way round is enough: if the trade-off function of (P, Q) is at least one that is its own
    inverse, so is that of (Q, P).
    """
    own = without_outcomes(mechanism)
    found = _gaussian_mu(mechanism, width, cap) if own is None else own.gdp(width, cap)
    if found.is_within(width) or found.lower == Decimal("Infinity"):
        return found
    return bounded_mu(
        found,
        lambda level: delta(mechanism, level, _COARSE, cap),
        lambda: pure_epsilon(mechanism, _COARSE, cap),
        lambda: zcdp(mechanism, _COARSE, cap),
        width,
    )


def _gaussian_mu(mechanism: Mechanism, width: Fraction, cap: int) -> Enclosure:
    """What is known of mu without the profile."""
    return refine(
        lambda: _largest(mechanism, gaussian_mu),
        width=width,
        enough=lambda found: bool(found.why),  # more bits tell no more
        cap=min(cap, _MU_CAP),
    )


def _has_slack(mechanism: Mechanism) -> bool:
    """Is what is known of a pair no narrower with more bits?"""
    return any(pair.slack for pair in islice(mechanism.pairs(), 1))


def _largest(mechanism: Mechanism, measure: Callable[[Pair], Enclosure]) -> Enclosure:
    """Measure the pairs that can still matter, either way round, and take the largest."""
    best = _ZERO
    for way in dearest_ways(mechanism):
        best = best.maximum(_largest_of(way.pairs(), measure))
        if not best.is_finite() and best.lower == best.upper:
            break
    return best


def _largest_of(pairs: Iterable[Pair], measure: Callable[[Pair], Enclosure]) -> Enclosure:
    """The largest over these pairs, measured in order.

    For a law of proved shape, without a wrap, every divergence grows with the shift (see
    `AdditiveNoise.pairs`), sampled or not, and wrapping is post-processing: once a shift's
    unwrapped divergence is below what another one certainly has, all smaller shifts are. Moduli too
    large to enumerate are bracketed by bounds that grow with the shift up to m/2: the largest
    speaks for all.
    """
    best, ceiling = _ZERO, _ANYTHING
    is_capped = False  # does the ceiling speak for all pairs?
    largest: int | None = None
    settled: set[Law] = set()  # an asymmetric law and its mirror image are settled one by one
    try:
        for pair in pairs:
            spend()
            wrapped = pair.reduced
            few = wrapped is not None and wrapped.modulus <= _FEW_RESIDUES
            if few and isinstance(pair, SampledPair | MixturePair):  # quicker listed than left out
                pass
            elif wrapped is not None and wrapped.law.shape_is_proved:
                assert isinstance(pair, Reducible)
                law = wrapped.law
                if largest is None:
                    largest = wrapped.shift
                if wrapped.shift == largest:
                    unwrapped = measure(pair.unwrapped)
                    ceiling = unwrapped if ceiling is _ANYTHING else ceiling.maximum(unwrapped)
                    is_capped = law.symmetric
                else:
                    is_capped = True
                    if not is_listed(wrapped):
                        return best
                    if law in settled:
                        continue
                    if best.at_least(measure(pair.unwrapped).upper) is True:
                        settled.add(law)
                        if law.symmetric or len(settled) == 2:
                            return best
                        continue
            best = best.maximum(measure(pair))
            if not best.is_finite() and best.lower == best.upper:
                break
    except OutOfTimeError:
        if not is_capped:
            raise
        return Enclosure(best.lower, ceiling.upper)
    return best


def _both_ways(mechanism: Mechanism) -> Iterator[Pair]:
    for way in dearest_ways(mechanism):
        yield from way.pairs()


def _largest_curve(mechanism: Mechanism, orders: Sequence[Fraction]) -> Sequence[Enclosure]:
    best = [_ZERO] * len(orders)
    for pair in _both_ways(mechanism):
        if pair.reduced is not None:  # which shifts matter depends on the order
            return [
                _largest(mechanism, lambda pair: renyi.divergences(pair, [order])[0])  # noqa: B023
                for order in orders
            ]
        values = renyi.divergences(pair, orders)
        best = [old.maximum(new) for old, new in zip(best, values, strict=True)]
    return best
