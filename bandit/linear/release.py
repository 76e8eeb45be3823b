"""The releases of a linear bandit: one mechanism for all its batches, found and certified first.

A batch releases the sum mod 2^bits of its users' integers (`contribution`) and of their shares of
the noise: of one law in every coordinate (`law`), of which n shares make the whole. This is

    skellam:variance=v,l2=g,dimension=...,rounding=stochastic,neighbours=add-remove,modulus=2^bits

(see `mechanisms.additive.vector`), or discrete-laplace:scale=..., the same otherwise:
neighbours differ by one user, whose vector is there or all zeros; her share of the noise is in
both. As the noise does not depend on n, all batches are this one mechanism, with one certificate.
Where one user's data are replaced, that is zeroed and filled in again: 2 epsilon, and
(1 + e^epsilon) delta.

Every user is in one batch, and what she does there depends on her own data and on earlier releases
only: the arm is chosen on her side. So the server's whole view is (epsilon, delta)-DP, by adaptive
parallel composition, and contexts, choices and rewards are all hidden in it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import frozen
from flint import arb

from ...accounting.composition.composed import Use, compose
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ParameterError, decimal_text
from ...exact.precision import enclose, working_precision
from ...mechanisms.additive.reach import RoundedReach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.laws.law import Law
from ...verify.audit import Audit, Verdict
from ...verify.certificate import Certificate, MismatchError, certificate_of
from ...verify.fields import NotCertifiedError, use_fields
from ...verify.guarantee import ApproxDP, Guarantee
from ...verify.hints import provable_epsilon
from ..evidence import NotVerifiedError
from .contribution import MOST_BITS, Contribution, user_size
from .law import KINDS, Noise, deviation, log_moment, more, parameter, tilt
from .setting import LinearSetting

_DEVIATIONS = 2048  # of the noise, in units of what is sent: about sqrt(v)
_TO_ROUNDING = 4  # and so many times sqrt(T), that of rounding being at most sqrt(T)/2
_STEP = Fraction(1005, 1000)  # of v, until it is verified
_TRIES = 60
_BITS = 128
WRAPS = Fraction(1, 1024)  # of p: what wrapping may take of it, in all batches together


@frozen
class LinearRelease:
    """A mechanism, for every batch, with its certificate. Raises MismatchError if it is of another.

    wraps: what the probability that a sum wraps in some batch, in some coordinate, is at most.
    """

    contribution: Contribution
    noise: Noise
    claim: Guarantee
    wraps: Fraction
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
    reach = RoundedReach(contribution.scale, contribution.size, "stochastic")
    return VectorNoise(noise, reach, contribution.modulus, "add-remove")


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
        contribution, wraps = _wide_enough(setting, scale, noise)
        mechanism = released(contribution, noise)
        upper = _upper(mechanism, claim)
        if upper <= epsilon:
            return LinearRelease(
                contribution, noise, claim, wraps, _certificate(mechanism, claim, Fraction(upper))
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
        wraps = wraps_of(setting, contribution, noise)
        if wraps <= WRAPS * setting.confidence:
            return contribution, wraps
    raise ParameterError(f"horizon must be smaller: sums need more than {MOST_BITS} bits")


def wraps_of(setting: LinearSetting, contribution: Contribution, noise: Noise) -> Fraction:
    """With at most which probability some coordinate of some batch's sum wraps."""
    found = wrap_bound(contribution, noise, _largest(setting)) * len(setting.batches)
    return min(found, Fraction(1))


def _largest(setting: LinearSetting) -> int:
    """The users of the largest batch."""
    ends = setting.batches
    return max(after - before for before, after in zip((0, *ends), ends, strict=False))


def wrap_bound(contribution: Contribution, noise: Noise, users: int) -> Fraction:
    """With at most which probability some coordinate of a batch's sum wraps.

    Every coordinate of g phi lies in [-g, g], and so does what it is rounded to, as g is whole. So
    the sum wraps only where |Z_j| >= R = 2^(bits-1) - n g for the noise Z_j of one of D
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
