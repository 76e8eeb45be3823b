"""The total error of a protocol, |A - sum of rewards|: noise, rounding and wrap-around together.

*For given data* exactly: with b the sum of floor(g x), B how many rewards are rounded up and D the
decoded sum, D is the representative of b + (B + eta) mod m in the window -tau, ..., m - 1 - tau,
and |D - g sum x| <= t keeps it to a run of outcomes. B + eta is one law (`NoisyRounding`).

*For the worst data* between two ends. Below: data for which it is exact. Above, for symmetric
unimodal noise eta: let T(j) = P(eta >= j), linear in between; it is convex on j >= 0, as the PMF
falls there. Continue it to j < 0 by the line of slope -p(0), which stays above P(eta >= j). Let B
have the mean F (its fractions' sum), t be whole, and y = B - F. Then

    P(|eta + y| > t) <= G(y) = T(t - y) + T(t + y),

as t - y and t + y are at most the integers where the tails begin. G is convex and even, so that
E G(B - F) is largest where all fractions are equal (Hoeffding 1956, Theorem 3), and it is
G(0) + int G''(v) (E(R - v)^+ + E(-R - v)^+) dv over v > 0, R = Bin(n, F/n) - F. By (1) of
`rounding` P(R > u) and P(-R > u) are at most P(V > u), V = 1 + (sqrt(n)/2) Z^+, Z normal (for u < 1
that is 1). So whatever the data are

    P(|eta + B - F| > t) <= G(0) + 2 (E G(V) - G(0)) = E G(1 + (sqrt(n)/2) |Z|) + G(1) - G(0).   (2)

The expectation is bounded by chords of G, beyond a point by its steepest slope p(0).

Where the noisy sum is at most t <= min(tau, m - 1 - tau - k g) off there is no wrap-around; so
P(|A - sum x| > t/g) is at most (2) at the smaller of t and that.

*The least accuracy tau and the least modulus m* that meet a failure probability: fewer bits.

A smaller modulus costs no privacy: reduction mod any m is post-processing of the plain sum.

tau, with the theorems' m = n g + 2 tau + 1. A is off by more than tau/g where eta mod m is in
none of the runs [km - tau, km + tau], that is, in a gap of n g outcomes; the gaps begin at
k m + tau + 1, k >= 0, on the right, and mirror that on the left. As tau grows they all move
outward, so for symmetric unimodal noise their probability falls: it is enough that tau meets the
failure probability and tau - 1 does not.

m, with wrap-around alone allowed to fail (the error may be as large as the noise is). With
T(j) = P(eta >= j) and margins a = tau below 0 and b = m - 1 - tau - n g above n g, the worst data
(`wrap_probability`) wrap with probability max(T(a+1) + T(b+ng+1), T(b+1) + T(a+ng+1)). For a given
a + b the larger is least where they differ by at most 1: moving one margin from balance, the
smaller one's tail grows by more than the far one's falls, as the PMF falls on x >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve, frozen
from flint import arb

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, exact, whole
from ..exact.precision import refine
from ..mechanisms.additive.error import (
    largest_error,
    noise_quantile,
    off_ball,
    outside,
    tail_beside,
)
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.laws.law import Law
from ..mechanisms.laws.search import first_within
from .rounding import NoisyRounding, RoundedUp, normal_tail

_BEYOND = "P(|error| > {}/g)"
_ENOUGH = Fraction(1, 1000)  # of the bound: what the last chord may add
_FINE = 32  # chords a standard deviation of the noise
_ZERO = Enclosure.exactly(0)
_FAILING = "the probability of failing at {}"


def data_error(
    base: int, rounded: RoundedUp, noise: Law, window: tuple[int, int] | None, t: Fraction
) -> arb:
    """P(|A - sum x| > t/g), t >= 0, for given data.

    base: the sum of floor(g x). rounded: what rounding adds to it. noise: the total one of those
    present. window: the decoded sums, -tau and m - 1 - tau; None without a modulus.
    """
    total = base + rounded.mean
    low, high, period = math.ceil(total - t), math.floor(total + t), None
    if window is not None:
        bottom, top = window
        low, high, period = max(low, bottom), min(high, top), top - bottom + 1
    law = NoisyRounding(noise, rounded) if rounded.trials else noise
    return outside(law, low - base, high - base, period)


def worst_error(protocol: SumProtocol, threshold: ExactInput, missing: ExactInput = 0) -> Enclosure:
    """sup over data of P(|A - sum of rewards| > t/g), t = threshold, whole: between two ends.

    protocol: with its noise. threshold: t. missing: users whose messages are not there.
    Raises ParameterError for what is out of range.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> worst_error(protocol, threshold=40) <= "0.001"  # off by more than 40/8 = 5
    True
    """
    t = whole(threshold, "threshold", at_least=0)
    absent = whole(missing, "missing", at_least=0, at_most=protocol.users - 1)
    if (largest := largest_error(protocol, absent)) is not None and t >= largest:
        return _ZERO
    narrow = Fraction(1, 10**9)
    lower = refine(lambda: _by_data(protocol, t, absent), width=narrow)
    upper = refine(lambda: _by_convexity(protocol, t, absent), width=narrow)
    return Enclosure(lower.lower, upper.upper).intersection(Enclosure.probability())


def worst_error_quantile(
    protocol: SumProtocol, failure: ExactInput, missing: ExactInput = 0
) -> Enclosure:
    """The least real t with sup over data P(|A - sum of rewards| > t/g) <= failure, enclosed.

    The lower end is a whole t at which that does not hold, the upper end one at which it does.

    protocol: with its noise. failure: above 0, below 1. missing: users whose messages are not
    there. Raises ParameterError for what is out of range.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> worst_error_quantile(protocol, "1e-6")  # in eighths
    Enclosure(54, 57)
    """
    p = exact(failure, "failure", above=0, at_most=1)
    absent = whole(missing, "missing", at_least=0, at_most=protocol.users - 1)
    largest = largest_error(protocol, absent)

    def least(bound: Callable[[SumProtocol, int, int], arb], guess: int) -> int:
        return first_within(lambda t: bound(protocol, t, absent), p, _BEYOND, guess, largest)

    variance = float(protocol.total_noise(absent).moments().variance.upper)
    growth = math.sqrt(1 + (protocol.users - absent) / (4 * variance))
    low = least(_by_data, int(noise_quantile(protocol, p, absent) * growth))
    return Enclosure(Fraction(max(low - 1, 0)), Fraction(least(_by_convexity, low + 2)))


def _by_data(protocol: SumProtocol, t: int, missing: int) -> arb:
    """The largest of: no rounding; all fractions 1/2, the encodings smallest or largest."""
    users, g = protocol.users - missing, protocol.precision
    rounded = RoundedUp(((Fraction(1, 2), users),))
    noise, window = protocol.total_noise(missing), protocol.window
    worst = off_ball(protocol, t, missing)
    # the second is the mirror image of the first where the noise and the window are symmetric
    mirrored = window is None or (noise.symmetric and window[1] - users * g == -window[0])
    for base in {0} if mirrored else {0, users * (g - 1)}:
        worst = worst.max(data_error(base, rounded, noise, window, Fraction(t)))
    return worst


def _by_convexity(protocol: SumProtocol, t: int, missing: int) -> arb:
    """(2), the expectation by chords; without symmetry a union bound."""
    users, noise = protocol.users - missing, protocol.total_noise(missing)
    if protocol.modulus is not None:
        slack = protocol.modulus - 1 - protocol.accuracy - users * protocol.precision
        t = min(t, protocol.accuracy, slack)
    if t < 0:
        return arb(1)
    if not (noise.symmetric and noise.shape_is_proved):
        return _by_union(noise, users, t)
    peak, centre = noise.ball(0), noise.upper_tail(0)
    tails: dict[int, arb] = {}

    def tail(j: int) -> arb:
        if j not in tails:
            tails[j] = noise.upper_tail(j) if j >= 0 else centre - j * peak
        return tails[j]

    def g(y: int) -> arb:
        return tail(t - y) + tail(t + y)

    deviation = float(noise.moments().variance.upper) ** 0.5
    sigma = (arb(users) / 4).sqrt()
    step = max(1, int(min(deviation / _FINE, float(users) ** 0.5 / 4)))
    at, here, mass, density = 1, g(1), arb(1), _density(arb(0))
    total = here - g(0)
    while True:
        # E of the line from here on, over 1 + sigma |Z| >= at
        excess = sigma * density - (at - 1) * mass
        rest = here * mass + peak * excess
        if rest <= total * arb(_ENOUGH.numerator) / _ENOUGH.denominator:
            return total + rest
        there, further = g(at + step), 2 * normal_tail(users, at + step - 1)
        flatter = _density((at + step - 1) / sigma)
        weight = mass - further
        total += here * weight
        total += (there - here) / step * (sigma * (density - flatter) - (at - 1) * weight)
        at, here, mass, density = at + step, there, further, flatter


def _by_union(noise: Law, users: int, t: int) -> arb:
    """P(|eta| > a) + P(|R| > t - a), the least over some a."""
    best = arb(1)
    for part in range(1, 32):
        rest = t * part // 32
        if rest >= 1:
            bound = outside(noise, rest - t, t - rest, None)
            if rest < users:
                bound += normal_tail(users, rest - 1) + normal_tail(users, rest)
            best = best.min(bound)
    return best


def _density(z: arb) -> arb:
    """Twice the normal density: of |Z|."""
    return (-z * z / 2).exp() * (2 / arb.pi()).sqrt()


@frozen
class Least:
    """The least parameters that meet a failure probability, and the next smaller, that do not.

    accuracy, modulus   tau and m; m is None for protocols without a modulus
    failure             what was allowed
    probability         of failing with them, at most `failure`
    neighbour           (tau, m) next below; None where there is none
    exceeding           the probability of failing with the neighbour, above `failure`

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> least = least_accuracy(protocol, "1e-6")
    >>> least.accuracy, least.neighbour, least.exceeding > "1e-6"
    (49, (48, 897), True)
    """

    accuracy: int
    modulus: int | None
    failure: Fraction
    probability: Enclosure
    neighbour: tuple[int, int | None] | None
    exceeding: Enclosure | None

    @property
    def bits_per_user(self) -> int | None:
        """ceil(log2 m), what a user sends; None without a modulus."""
        return None if self.modulus is None else (self.modulus - 1).bit_length()


def least_accuracy(protocol: SumProtocol, failure: ExactInput) -> Least:
    """The least tau with P(A off by more than tau/g) <= failure, m = n g + 2 tau + 1 (or none).

    protocol: whose accuracy and modulus are sought. failure: above 0, below 1.

    Raises ParameterError for noise that is not proved symmetric and unimodal, UndecidedError where
    a probability cannot be told from `failure`.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> least = least_accuracy(protocol, "1e-6")
    >>> least.accuracy, least.modulus
    (49, 899)
    """
    _check_shape(protocol.total_noise())
    p = exact(failure, "failure", above=0, at_most=1)

    def probability(tau: int) -> arb:
        tried = evolve(protocol, accuracy=tau, modulus=_modulus(protocol, tau))
        return off_ball(tried, tau, 0)

    guess = noise_quantile(evolve(protocol, modulus=None), p)
    tau = first_within(probability, p, _FAILING, guess)
    return _least(tau, p, probability, lambda tau: (tau, _modulus(protocol, tau)))


def least_modulus(protocol: SumProtocol, failure: ExactInput) -> Least:
    """The least m, with its window, such that the sum wraps with probability at most `failure`.

    Whatever the data. protocol: whose modulus is sought. failure: above 0, below 1.
    Raises what `least_accuracy` raises, and ParameterError without a modulus.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> least = least_modulus(protocol, "1e-6")
    >>> least.modulus, least.probability <= "1e-6"
    (897, True)
    """
    law = protocol.total_noise()
    _check_shape(law)
    if protocol.modulus is None:
        raise ParameterError("modulus must not be none: the plain sum has no modular overflow")
    p, most = exact(failure, "failure", above=0, at_most=1), protocol.users * protocol.precision

    def probability(margins: int) -> arb:
        small = margins // 2  # the other one is margins - small
        near = law.upper_tail(small + 1)
        return near + tail_beside(law, margins - small + most + 1, 1, near)

    guess = 2 * noise_quantile(evolve(protocol, modulus=None), p)
    margins = first_within(probability, p, _FAILING, guess)

    return _least(margins, p, probability, lambda both: (both - both // 2, most + both + 1))


def _least(
    at: int,
    failure: Fraction,
    probability: Callable[[int], arb],
    placed: Callable[[int], tuple[int, int | None]],
) -> Least:
    """placed: tau and m of what the search has gone through."""

    def shown(at: int) -> Enclosure:
        return refine(lambda: probability(at)).intersection(Enclosure.probability())

    below, exceeding = (None, None) if at == 0 else (placed(at - 1), shown(at - 1))
    return Least(*placed(at), failure, shown(at), below, exceeding)


def _modulus(protocol: SumProtocol, tau: int) -> int | None:
    if protocol.modulus is None:
        return None
    return protocol.users * protocol.precision + 2 * tau + 1


def _check_shape(law: Law) -> None:
    if not (law.symmetric and law.shape_is_proved):
        raise ParameterError(f"noise must be proved symmetric and unimodal, got {law}")
