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
from functools import reduce
from itertools import islice

from attrs import frozen

from ...exact.budget import OutOfTimeError, spend
from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ball, exact
from ...exact.precision import CAP, WIDTH, enclose, refine
from ...exact.square_root import SquareRoot, squared
from ...mechanisms.allocation import Allocation, allocation
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.laws.law import Law
from ...mechanisms.mechanism import Mechanism, either_way, ways
from ...mechanisms.pair import MixturePair, Pair, Reducible, SampledPair
from ...mechanisms.sampled import dearest_ways
from ..divergences import concentrated, renyi
from ..divergences.finite_sums import is_listed
from ..divergences.gaussian_dp import bounded_mu, gaussian_mu, of_laplace, root_of
from ..divergences.largest_loss import largest_loss
from ..divergences.privacy_profile import delta_of, epsilon_of
from ..figure import Figure
from ..losses.continuous import allocated, profile
from ..losses.continuous.mixture import LineLaw
from ..losses.continuous.uses import batched_renyi, continuous_loss, continuous_noise, single_law
from ..sampling import loss_of

_ZERO = Enclosure.exactly(0)
_FEW_RESIDUES = 64
_SLACK_CAP = 192  # bits
_RHO_CAP, _MU_CAP = 384, 768
_COARSE = Fraction(1, 10**9)
_ORDERS = tuple(map(Fraction, ("1.001", "1.2", "1.5", "2", "3", "5", "8", "16", "32", "64")))
_OPEN = "which order is the worst of sampled Laplace is open"


def pure_epsilon(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least epsilon for which the mechanism is (epsilon, 0)-DP; infinite if there is none."""
    if (own := without_outcomes(mechanism)) is not None:
        return own.pure(width)
    return _refined(mechanism, lambda pair: largest_loss(pair).value, width, cap)


def delta(
    mechanism: Mechanism, epsilon: ExactInput, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The least delta for which the mechanism is (epsilon, delta)-DP, epsilon >= 0."""
    level = exact(epsilon, "epsilon", at_least=0)
    if (own := without_outcomes(mechanism)) is not None:
        return own.at(Figure("delta", level), width)
    return _refined(mechanism, lambda pair: enclose(delta_of(pair, ball(level), level)), width, cap)


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
        return own.at(Figure("epsilon", level), width)
    has_slack = any(pair.slack for pair in islice(mechanism.pairs(), 1))
    return _refined(
        mechanism,
        lambda pair: epsilon_of(pair, level),
        width,
        min(cap, _SLACK_CAP) if has_slack else cap,  # which more bits make no narrower
    )


def renyi_divergence(
    mechanism: Mechanism, order: ExactInput, width: Fraction = WIDTH, cap: int = CAP
) -> Enclosure:
    """The Rényi divergence of this order > 1: the least epsilon of (order, epsilon)-RDP."""
    at = exact(order, "order", above=1)
    if (own := without_outcomes(mechanism)) is not None:
        return own.renyi(at, width)
    return _refined(mechanism, lambda pair: renyi.divergence(pair, at), width, cap)


def renyi_curve(
    mechanism: Mechanism, orders: Sequence[ExactInput], width: Fraction = WIDTH, cap: int = CAP
) -> list[Enclosure]:
    """The Rényi divergence at each of these orders > 1."""
    return [renyi_divergence(mechanism, order, width, cap) for order in orders]


def zcdp(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least rho for which the mechanism is rho-zCDP."""
    if (own := without_outcomes(mechanism)) is not None:
        return own.zcdp(width)
    cap = min(cap, _RHO_CAP)
    return _refined(mechanism, lambda pair: concentrated.supremum(pair).value, width, cap)


def gaussian_dp(mechanism: Mechanism, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
    """The least mu for which the mechanism is mu-GDP; infinite if there is none.

    Where the outcomes are sampled or the shape is not enough, from two sides (`gaussian_dp`).
    One way round is enough: if the trade-off function of (P, Q) is at least one that is its own
    inverse, so is that of (Q, P).
    """
    if (own := without_outcomes(mechanism)) is not None:
        found = own.gdp(width, cap)
    else:
        found = refine(
            lambda: _largest(mechanism, gaussian_mu),
            width=width,
            enough=lambda found: bool(found.why),  # more bits tell no more
            cap=min(cap, _MU_CAP),
        )
    if found.is_within(width) or found.lower == Decimal("Infinity"):
        return found
    return bounded_mu(
        found,
        lambda level: delta(mechanism, level, _COARSE, cap),
        lambda: pure_epsilon(mechanism, _COARSE, cap),
        lambda: zcdp(mechanism, _COARSE, cap),
        width,
    )


def _refined(
    mechanism: Mechanism, measure: Callable[[Pair], Enclosure], width: Fraction, cap: int
) -> Enclosure:
    return refine(lambda: _largest(mechanism, measure), width=width, cap=cap)


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
    best, ceiling = _ZERO, _ZERO
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
                    ceiling = ceiling.maximum(measure(pair.unwrapped))
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


# -- without outcomes -----------------------------------------------------------------------------


def without_outcomes(mechanism: Mechanism) -> _Allocated | _Noise | None:
    """The figures of what has no pairs of laws on outcomes; None for what has."""
    if (one := allocation(mechanism)) is not None:
        return _Allocated(mechanism, one)
    if (noise := continuous_noise(mechanism)) is None:
        return None
    loss = continuous_loss(mechanism)
    return _Noise(mechanism, noise, loss if isinstance(loss, FixedSize) else None)


@frozen
class _Allocated:
    mechanism: Mechanism
    one: Allocation

    def pure(self, width: Fraction) -> Enclosure:
        return Enclosure.infinite()  # the loss has no bound, of either sign

    def at(self, figure: Figure, width: Fraction) -> Enclosure:
        return self._largest(lambda one: allocated.measured([(one, 1)], figure, width))

    def renyi(self, order: Fraction, width: Fraction) -> Enclosure:
        return self._largest(lambda one: allocated.allocated_renyi(one, order, width))

    def zcdp(self, width: Fraction) -> Enclosure:
        return allocated.allocated_rho(self.one)

    def gdp(self, width: Fraction, cap: int) -> Enclosure:
        """Given the steps it is so many uses of the Gaussian."""
        square = self.one.taken * (self.one.sensitivity / self.one.scale) ** 2
        return Enclosure(Fraction(0), root_of(Enclosure.exactly(square)).upper)

    def _largest(self, measure: Callable[[Allocation], Enclosure]) -> Enclosure:
        found = (allocation(way) for way in ways(self.mechanism))
        return reduce(Enclosure.maximum, (measure(one) for one in found if one is not None))


@frozen
class _Noise:
    """Gaussian or Laplace. noise: as at its rate on the whole. batches: of some users only."""

    mechanism: Mechanism
    noise: ContinuousNoise
    batches: FixedSize | None

    def pure(self, width: Fraction) -> Enclosure:
        if self.noise.shape is Shape.LAPLACE and any(rate == 1 for _, rate in self._rates):
            return _exactly(self.noise.move)
        return self._largest(lambda law: refine(law.largest, width=width))

    def at(self, figure: Figure, width: Fraction) -> Enclosure:
        return self._largest(lambda law: profile.measured([(law, 1)], figure, width))

    def renyi(self, order: Fraction, width: Fraction) -> Enclosure:
        if self.batches is not None:
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
        largest = loss_of(ball(max(rate for _, rate in self._rates)), True, ball(move))
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
        return found if self.noise.rate == 1 else Enclosure(Fraction(0), found.upper)

    @property
    def _rates(self) -> Sequence[tuple[Fraction | int, Fraction]]:
        """Those that may be told, with their probabilities."""
        return getattr(either_way(self.mechanism), "rates", None) or ((1, self.noise.rate),)

    @property
    def _is_gaussian(self) -> bool:
        return self.noise.shape is Shape.GAUSSIAN

    def _largest(self, measure: Callable[[LineLaw], Enclosure]) -> Enclosure:
        each = (measure(single_law(way)) for way in ways(self.mechanism))
        return reduce(Enclosure.maximum, each, _ZERO)


def _exactly(value: Fraction | SquareRoot) -> Enclosure:
    """The point, or as narrow as the root of a rational can be told."""
    if isinstance(value, SquareRoot):
        return root_of(Enclosure.exactly(value.square))
    return Enclosure.exactly(value)
