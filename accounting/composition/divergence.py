"""How private one use of a mechanism is: the largest divergence over all pairs that count.

Both ways round count (`Mechanism.reversed`); lists of uses are in `composed`. Every figure is an
enclosure of the truth, of relative width 1e-12 unless asked otherwise. What has no outcomes to list
(`without_outcomes`: continuous noise, sampled or not, batches of it, and random allocation) is
measured by what is known of its loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from itertools import islice

from ...exact.budget import OutOfTimeError, spend
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import CAP, WIDTH, enclose, refine
from ...exact.square_root import SquareRoot, squared
from ...mechanisms.laws.law import Law
from ...mechanisms.mechanism import Mechanism, ways
from ...mechanisms.pairs.pair import MixturePair, Pair, Reducible, SampledPair
from ...mechanisms.pairs.sampling import Sampling
from ...mechanisms.sampled import dearest_ways
from ...mechanisms.sampling.allocation import Allocation, allocation
from ...mechanisms.sampling.fixed_size import TwoWay
from ..divergences import concentrated, renyi
from ..divergences.finite_sums import is_listed
from ..divergences.gaussian_dp import bounded_mu, gaussian_mu, of_laplace, root_of
from ..divergences.largest_loss import largest_loss
from ..divergences.privacy_profile import delta_of, epsilon_of
from ..figure import MU, PURE, RHO, Figure
from ..losses.continuous import allocated, profile
from ..losses.continuous.profile import continuous_loss, single_law, two_way_renyi
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.continuous.sampled_noise import LineLaw, SampledNoise
from ..scenario import Use, worst

_ZERO = Enclosure.exactly(0)
_FEW_RESIDUES = 64
_CAPS, _SLACK_CAP = {"zcdp": 384, "gdp": 768}, 192  # bits, which more make no narrower
_COARSE = Fraction(1, 10**9)
_ORDERS = tuple(map(Fraction, ("1.001", "1.2", "1.5", "2", "3", "5", "8", "16", "32", "64")))
_OPEN = "which order is the worst of sampled Laplace is open"


def figure_of(
    mechanism: Mechanism, figure: Figure, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The figure of one use, the worse way round.

    mu where the outcomes are sampled or the shape is not enough is known from two sides
    (`gaussian_dp`). One way round is enough: if the trade-off function of (P, Q) is at least one
    that is its own inverse, so is that of (Q, P).
    """
    if figure == Figure("epsilon", Fraction(1)):
        return _ZERO
    if (found := without_outcomes(mechanism, figure, width, cap)) is None:
        has_slack = any(pair.slack for pair in islice(mechanism.pairs(), 1))
        most = _SLACK_CAP if has_slack else _CAPS.get(figure.quantity, cap)
        found = refine(
            lambda: worst(
                dearest_ways(mechanism),
                lambda way: _largest(way.pairs(), partial(_measured, figure)),
            ),
            width=width,
            enough=lambda found: figure in (MU, RHO) and bool(found.why),  # more bits tell no more
            cap=min(cap, most),
        )
    if figure != MU or found.is_within(width) or found.lower == Decimal("Infinity"):
        return found
    return bounded_mu(found, lambda other: figure_of(mechanism, other, _COARSE, cap), width)


def added_up(
    uses: Sequence[Use], figure: Figure, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """What the uses of one scenario come to, of what adds up."""
    each = (figure_of(use.mechanism, figure, width, cap).times(use.times) for use in uses)
    return Enclosure.total(each)


def _measured(figure: Figure, pair: Pair) -> Enclosure:
    """Of one pair, at the working precision."""
    if figure.at is None:
        return gaussian_mu(pair) if figure == MU else concentrated.supremum(pair).value
    if figure == PURE:
        return largest_loss(pair).value
    if figure.quantity == "delta":
        return enclose(delta_of(pair, ball(figure.at), figure.at))
    measure = renyi.divergence if figure.quantity == "renyi" else epsilon_of
    return measure(pair, figure.at)


def _largest(pairs: Iterable[Pair], measure: Callable[[Pair], Enclosure]) -> Enclosure:
    """The largest over these pairs, measured in order.

    For a law of proved shape, without a wrap, every divergence grows with the shift (see
    `AdditiveNoise.pairs`), sampled or not, and wrapping is post-processing: once a shift's
    unwrapped divergence is below what another one certainly has, all smaller shifts are. Moduli too
    large to enumerate are bracketed by bounds that grow with the shift up to m/2: the largest
    speaks for all.
    """
    best, ceilings = _ZERO, dict[Law, Enclosure]()  # of what is unwrapped, at the largest shift
    done: set[Law] = set()  # an asymmetric law and its mirror image are done one by one
    try:
        for pair in pairs:
            spend()
            wrapped = pair.reduced
            is_quick = isinstance(pair, SampledPair | MixturePair)  # where residues are few
            is_quick &= wrapped is not None and wrapped.modulus <= _FEW_RESIDUES
            if wrapped is not None and wrapped.law.shape_is_proved and not is_quick:
                assert isinstance(pair, Reducible)
                law = wrapped.law
                if law not in done:
                    most = measure(pair.unwrapped)
                    ceilings.setdefault(law, most)
                    if best.at_least(most.upper) is True:
                        done.add(law)
                if law in done:
                    if law.balanced or len(done) == 2:
                        return best
                    continue
                if not is_listed(wrapped):  # the largest shift speaks for all
                    done.add(law)
            best = best.maximum(measure(pair))
            if not best.is_finite() and best.lower == best.upper:
                break
    except OutOfTimeError:
        if not any(law.balanced for law in ceilings) and len(ceilings) < 2:
            raise
        return Enclosure(best.lower, reduce(Enclosure.maximum, ceilings.values()).upper)
    return best


# -- without outcomes -----------------------------------------------------------------------------


def without_outcomes(
    mechanism: Mechanism, figure: Figure, width: Fraction, cap: int
) -> Enclosure | None:
    """The figure of what has no pairs of laws on outcomes; None for what has."""
    loss = continuous_loss(mechanism)
    if isinstance(loss, Allocation):
        return _of_allocation(mechanism, loss, figure, width)
    return None if loss is None else _of_noise(mechanism, loss, figure, width, cap)


def _of_allocation(
    mechanism: Mechanism, one: Allocation, figure: Figure, width: Fraction
) -> Enclosure:
    if figure == PURE:
        return Enclosure.infinite()  # the loss has no bound, of either sign
    square = Enclosure.exactly(one.taken * (one.sensitivity / one.scale) ** 2)
    if figure == RHO:  # of the user removed, and at most this added
        return square.times(Fraction(1, 2))
    if figure == MU:  # given the steps it is so many uses of the Gaussian
        return Enclosure(Fraction(0), root_of(square).upper)

    def measured(one: Allocation) -> Enclosure:
        if figure.quantity == "renyi" and figure.at is not None:
            return allocated.allocated_renyi(one, figure.at, width)
        return allocated.measured([(one, 1)], figure, width)

    return worst([steps for way in ways(mechanism) if (steps := allocation(way))], measured)


def _of_noise(
    mechanism: Mechanism, loss: LineLaw | TwoWay, figure: Figure, width: Fraction, cap: int
) -> Enclosure:
    """Gaussian or Laplace.

    *mu.* Sampling, of any kind, is at most the mechanism without it: who takes part is the same on
    both sides, and where it is not the user nothing is told of the user.
    """
    law = single_law(mechanism)
    noise = max((part for _, part in law.parts), key=lambda part: part.sampling.rate)
    move, is_sampled = noise.move, law.sampling.rate < 1
    is_gaussian = isinstance(noise, SampledGaussian)
    if figure == MU:
        found = _exactly(move)
        if not is_gaussian:
            found = refine(lambda: of_laplace(ball(move)), width=width, cap=cap)
        return Enclosure(Fraction(0), found.upper) if is_sampled else found
    if figure == RHO:
        return _rho(mechanism, noise, is_sampled, width)
    if figure == PURE and not is_gaussian and noise.sampling.rate == 1:
        return _exactly(move)

    def measured(law: LineLaw) -> Enclosure:
        if figure == PURE:
            return refine(law.largest, width=width)
        if figure.quantity != "renyi" or figure.at is None:
            return profile.measured([(law, 1)], figure, width)
        if isinstance(loss, TwoWay):
            return two_way_renyi(loss, figure.at, width)
        if is_gaussian and not is_sampled:
            return Enclosure.exactly(figure.at * squared(move) / 2)
        return profile.renyi(law, figure.at, width)

    return worst(ways(mechanism), lambda way: measured(single_law(way))).maximum(_ZERO)


def _rho(mechanism: Mechanism, noise: SampledNoise, is_sampled: bool, width: Fraction) -> Enclosure:
    """Sampling is at most the mechanism without it, whichever dataset comes first. noise: at the
    largest rate.

    (1-q) Q + q P against Q, and the reverse, are at most P against Q, by quasi-convexity. For the
    Gaussian, the user removed, that is attained in the limit of large orders: ((1-q) Q + q P)^a >=
    (q P)^a loses at most a log(1/q)/(a - 1), which vanishes against the order a. The Laplace is
    measured at a few orders for a lower bound; both ways round no loss is above that of the user
    removed, at the largest rate, whose square is at least twice rho (Bun and Steinke, TCC 2016,
    Proposition 1.4).
    """
    move = noise.move
    if isinstance(move, SquareRoot) or isinstance(noise, SampledGaussian):
        return Enclosure.exactly(squared(move) / 2)
    whole = refine(lambda: concentrated.of_laplace(move), width=width, cap=_CAPS["zcdp"])
    if not is_sampled:
        return whole
    largest = Sampling(noise.sampling.rate).loss(ball(move))
    upper = min(whole.upper, enclose(largest**2 / 2).upper)
    each = (figure_of(mechanism, Figure("renyi", a), _COARSE).times(1 / a) for a in _ORDERS)
    return Enclosure(max(one.lower for one in each), upper).because(_OPEN)


def _exactly(value: Fraction | SquareRoot) -> Enclosure:
    """The point, or as narrow as the root of a rational can be told."""
    if isinstance(value, SquareRoot):
        return root_of(Enclosure.exactly(value.square))
    return Enclosure.exactly(value)
