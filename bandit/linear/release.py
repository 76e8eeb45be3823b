"""The laws of a release's noise: how much of it, for which claim, and its moments.

    skellam            (epsilon, delta)-DP: the envelope of a vector of norm g
                       (`verify.hints`)
    discrete-laplace   epsilon-DP: what a vector of norm g moves in all D coordinates together,
                       sqrt(D) g at most before rounding, as one number (`additive.vector`)

Both are infinitely divisible: users add shares of them. `radius` takes K(s) = log E e^(sZ), even,
with K(s)/s^2 not falling in s > 0:

    skellam            v (cosh s - 1)
    discrete-laplace   -log(1 - sinh(s/2)^2/sinh(L/2)^2), L = 1/scale, where s < L, else infinite

The second is the sum of y^k/k, k >= 1, y = sinh(s/2)^2/sinh(L/2)^2; both have power series in s^2
without a constant, and no negative coefficient.

The releases of a linear bandit: one mechanism for all its batches, found and certified first.

A batch releases the sum mod 2^bits of its users' integers (`contribution`) and of their shares of
the noise: of one law in every coordinate, of which n shares make the whole. This is

    skellam:variance=v,l2=g,dimension=...,rounding=stochastic,neighbours=add-remove,modulus=2^bits

(see `mechanisms.additive.vector`), or discrete-laplace:scale=..., the same otherwise:
neighbours differ by one user, whose vector is there or all zeros; her share of the noise is in
both. As the noise does not depend on n, all batches are this one mechanism, with one certificate.
Where one user's data are replaced, that is zeroed and filled in again: 2 epsilon, and
(1 + e^epsilon) delta.

Every user is in one batch, and what she does there depends on her own data and on earlier releases
only: the arm is chosen on her side. So the server's whole view is (epsilon, delta)-DP, by adaptive
parallel composition, and contexts, choices and rewards are all hidden in it.

What users spend who take part in several batches of a linear bandit.

All batches release by one mechanism, each with noise of its own. Who is in m of them, at most once
in each, spends what m uses of it cost, whichever they are and however that follows from earlier
releases: adaptive composition. Neighbours differ in all that she ever contributes.

A tree of sums over the batches would not pay, as growing batches are few. Of 13 (T = 10^6) a tree
adds up 3 nodes at most, in place of 13 sums, but who visits once is in 4 nodes: noise of 3 * 4 v in
place of 13 v. Who visits m times moves upper nodes by up to m, and pays with the square: all 13
visits move the nodes by 149 in squared norm, in place of 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...accounting.composition.composed import Use, compose
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ExactInput, ParameterError, ball, decimal_text, whole
from ...exact.precision import enclose, working_precision
from ...exact.roots import float_root
from ...exact.rounding import to_digits
from ...mechanisms.additive.reach import RoundedReach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.skellam import Skellam
from ...verify.audit import Audit, Verdict
from ...verify.certificate import Certificate, MismatchError, certificate_of
from ...verify.fields import NotCertifiedError, use_fields
from ...verify.guarantee import ApproxDP, Guarantee, PureDP
from ...verify.hints import provable_epsilon
from ..evidence import NotVerifiedError
from .contribution import MOST_BITS, Contribution, user_size
from .setting import LinearSetting

Noise = Skellam | DiscreteLaplace

_DIGITS = 6
_STEEPEST = 50.0


@frozen
class Kind:
    """A law by its name, and what it is for.

    claim      of epsilon and delta
    relative   about the standard deviation for them, in so many dimensions, of a vector of norm 1
    first      the first to try, for what a vector is rounded to
    """

    claim: Callable[[Fraction, Fraction], Guarantee]
    relative: Callable[[float, float, int], float]
    first: Callable[[RoundedReach, Fraction, Fraction], Noise]


def up(value: Fraction) -> Fraction:
    """To few digits."""
    return to_digits(value, _DIGITS, ROUND_CEILING)


def more(noise: Noise, ratio: Fraction) -> Noise:
    """Of so many times the variance, or the scale."""
    if isinstance(noise, Skellam):
        return Skellam(up(noise.variance * ratio))
    assert isinstance(noise.scale, Fraction)
    return DiscreteLaplace(up(noise.scale * ratio))


def parameter(noise: Noise) -> tuple[str, Fraction]:
    """As specs have it."""
    if isinstance(noise, Skellam):
        return "variance", noise.variance
    assert isinstance(noise.scale, Fraction)
    return "scale", noise.scale


def deviation(noise: Noise) -> float:
    """The standard deviation, about."""
    return math.sqrt(noise.moments().variance.upper)


def log_moment(noise: Noise, s: arb) -> arb:
    """K(s), s > 0: infinite from where it is."""
    if isinstance(noise, Skellam):
        return 2 * ball(noise.variance) * (s / 2).sinh() ** 2
    rest: arb = 1 - ((s / 2).sinh() / (1 / ball(noise.scale) / 2).sinh()) ** 2
    return -rest.log() if rest > 0 else arb("inf")


def tilt(noise: Noise, far: float) -> float:
    """About the s with K'(s) = far, where Chernoff's bound of P(Z >= far) is best."""
    if isinstance(noise, Skellam):
        return min(math.asinh(far / float(noise.variance)), _STEEPEST)
    scale = float(parameter(noise)[1])  # 2 s/(L^2 - s^2) = far
    return (math.hypot(1, far / scale) - 1) / far


def drawn(noise: Noise, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """So many, by NumPy."""
    if isinstance(noise, Skellam):
        both = rng.poisson(float(noise.variance) / 2, (2, size))
        found: NDArray[np.int64] = both[0] - both[1]
        return found
    return noise.simulate(rng, size)


def _gaussian(epsilon: float, delta: float, dimension: int) -> float:
    """That of Gaussian noise."""

    def excess(log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        above, below = (
            math.erfc((epsilon * sigma - side / sigma) / math.sqrt(2)) / 2 for side in (0.5, -0.5)
        )
        return math.log(max(above - math.exp(epsilon) * below, 1e-300)) - math.log(delta)

    return math.exp(float_root(excess, -12.0, 12.0, 1e-9))


def _of_gaussian(sensitivity: RoundedReach, epsilon: Fraction, delta: Fraction) -> Skellam:
    relative = _gaussian(float(epsilon), float(delta), sensitivity.dimension)
    return Skellam(up(Fraction(float(sensitivity.norm) * relative) ** 2))


KINDS: Mapping[str, Kind] = {
    Skellam.name: Kind(ApproxDP, _gaussian, _of_gaussian),
    DiscreteLaplace.name: Kind(
        lambda epsilon, delta: PureDP(epsilon),
        lambda epsilon, delta, dimension: math.sqrt(2 * dimension) / epsilon,
        lambda sensitivity, epsilon, delta: DiscreteLaplace(up(sensitivity.largest_sum / epsilon)),
    ),
}


_DEVIATIONS = 2048  # of the noise, in units of what is sent: about sqrt(v)
_TO_ROUNDING = 4  # and so many times sqrt(T), that of rounding being at most sqrt(T)/2
_STEP = Fraction(1005, 1000)  # of v, until it is verified
_TRIES = 60
_BITS = 128
WRAPS = Fraction(1, 1024)  # of p: what wrapping may take of it, in all batches together


@frozen
class LinearRelease:
    """A mechanism, for every batch, with its certificate. Raises MismatchError if it is of another.

    overflows: above the probability that a sum overflows in some batch, in some coordinate.
    """

    contribution: Contribution
    noise: Noise
    claim: Guarantee
    overflows: Fraction
    certificate: Certificate

    def __attrs_post_init__(self) -> None:
        content = self.certificate.content
        if self.certificate.verdict is not Verdict.VERIFIED:
            raise MismatchError("the certificate's claim is not VERIFIED")
        if content["claim"] != self.claim.fields():
            raise MismatchError(f"the claim is {self.claim}, but was certified as other")
        if content["uses"] != [use_fields(Use(released(self.contribution, self.noise), 1))]:
            raise MismatchError("the certificate is of another mechanism")

    def share(self, users: int) -> Law:
        """What each of so many users adds to each coordinate."""
        return self.noise.share(users)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of phi, whose norm is at most 1."""
        return deviation(self.noise) / self.contribution.scale

    @property
    def spec(self) -> str:
        """As `exactdp audit` takes it."""
        one, (name, value) = self.contribution, parameter(self.noise)
        return (
            f"{self.noise.name}:{name}={decimal_text(value)},l2={one.scale},"
            f"dimension={one.size},rounding=stochastic,neighbours=add-remove,modulus={one.modulus}"
        )


def released(contribution: Contribution, noise: Noise) -> VectorNoise:
    """What the sum of a batch reveals."""
    sensitivity = RoundedReach(contribution.scale, contribution.size, "stochastic")
    return VectorNoise(noise, sensitivity, contribution.modulus, "add-remove")


def certified_release(setting: LinearSetting) -> LinearRelease:
    """The noise for the setting's epsilon and delta, verified, and its certificate.

    Raises NotVerifiedError where none is.
    """
    if setting.epsilon is None:
        raise ParameterError("epsilon must be given for a release")
    kind, epsilon, size = KINDS[setting.release], setting.epsilon, user_size(setting.dimension)
    claim = kind.claim(epsilon, setting.delta)
    relative = kind.relative(float(epsilon), float(setting.delta), size)
    wanted = max(_DEVIATIONS, _TO_ROUNDING * math.sqrt(setting.horizon))
    scale = 1 << max(4, math.ceil(math.log2(wanted / relative)))
    noise = kind.first(RoundedReach(scale, size, "stochastic"), epsilon, setting.delta)
    for _ in range(_TRIES):
        contribution, overflows = _wide_enough(setting, scale, noise)
        mechanism = released(contribution, noise)
        upper = _upper(mechanism, claim)
        if upper <= epsilon:
            return LinearRelease(
                contribution,
                noise,
                claim,
                overflows,
                _certificate(mechanism, claim, Fraction(upper)),
            )
        noise = more(noise, _STEP)
    raise NotVerifiedError(
        f"no noise was verified for {claim} of a batch: the largest tried has {{}} {{}}".format(
            *map(str, parameter(noise))
        ),
        Verdict.UNDECIDED,
    )


def _upper(mechanism: VectorNoise, claim: Guarantee) -> Endpoint:
    if isinstance(claim, ApproxDP):
        return provable_epsilon(mechanism, claim.delta)
    return claim.measure(compose(mechanism)).upper


def _certificate(mechanism: VectorNoise, claim: Guarantee, upper: Fraction) -> Certificate:
    audit = Audit(mechanism, claim, Verdict.VERIFIED, Enclosure(Fraction(0), upper))
    try:
        return certificate_of(audit)
    except NotCertifiedError as error:
        raise NotVerifiedError(f"{claim} of a batch: {error}", Verdict.UNDECIDED) from error


def _wide_enough(setting: LinearSetting, scale: int, noise: Noise) -> tuple[Contribution, Fraction]:
    """As few bits as let a sum wrap in some batch with probability at most `WRAPS` p."""
    for bits in range((_largest(setting) * scale).bit_length() + 1, MOST_BITS + 1):
        contribution = Contribution(setting.dimension, scale, bits)
        overflows = wraps_of(setting, contribution, noise)
        if overflows <= WRAPS * setting.confidence:
            return contribution, overflows
    raise ParameterError(f"horizon must be smaller: sums need more than {MOST_BITS} bits")


def wraps_of(setting: LinearSetting, contribution: Contribution, noise: Noise) -> Fraction:
    """With at most which probability some coordinate of some batch's sum overflows."""
    found = wrap_bound(contribution, noise, _largest(setting)) * len(setting.batches)
    return min(found, Fraction(1))


def _largest(setting: LinearSetting) -> int:
    """The users of the largest batch."""
    ends = setting.batches
    return max(after - before for before, after in zip((0, *ends), ends, strict=False))


def wrap_bound(contribution: Contribution, noise: Noise, users: int) -> Fraction:
    """With at most which probability some coordinate of a batch's sum overflows.

    Every coordinate of g phi lies in [-g, g], and so does what it is rounded to, as g is whole. So
    the sum overflows only where |Z_j| >= R = 2^(bits-1) - n g for the noise Z_j of one of D
    coordinates: with probability at most 2 D e^(K(t) - t R), at any t > 0 (Chernoff).
    """
    room = contribution.modulus // 2 - users * contribution.scale
    if room <= 0:
        return Fraction(1)
    with working_precision(_BITS):
        t = arb(tilt(noise, room))
        found = 2 * contribution.size * (log_moment(noise, t) - t * room).exp()
        found = found.max(arb(2) ** -_BITS)  # tinier numbers take long to write out
        return min(Fraction(enclose(found).upper), Fraction(1))


_WIDTH = Fraction(1, 1000)
_ROOM = Fraction(10_001, 10_000)  # above what is measured, for the certificate


@frozen
class Returning:
    """What so many batches cost together.

    delta        given for `epsilon`
    epsilon      the least for which they are (epsilon, delta)-DP
    pure         their pure epsilon, where each has one
    certificate  of an epsilon just above
    """

    batches: int
    delta: Fraction
    epsilon: Enclosure
    pure: Enclosure | None
    certificate: Certificate


def returning(release: LinearRelease, batches: ExactInput, delta: Fraction, most: int) -> Returning:
    """Of a user who is in so many of `most` batches. Raises ParameterError for more than those.

    Raises NotVerifiedError where the checker does not follow.
    """
    count = whole(batches, "returning", at_least=1, at_most=most)
    together = count * compose(released(release.contribution, release.noise))
    epsilon = together.epsilon(delta, width=_WIDTH, work=1)
    pure = together.pure() if isinstance(release.claim, PureDP) else None
    claimed = ApproxDP(to_digits(Fraction(epsilon.upper) * _ROOM, _DIGITS, ROUND_CEILING), delta)
    try:
        bound = Enclosure(Fraction(0), claimed.bound)
        certificate = certificate_of(Audit(together, claimed, Verdict.VERIFIED, bound))
    except NotCertifiedError as error:
        raise NotVerifiedError(f"{count} batches: {error}", Verdict.UNDECIDED) from error
    return Returning(count, delta, epsilon, pure, certificate)
