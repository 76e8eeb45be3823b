"""The least accuracy tau and the least modulus m that meet a failure probability: fewer bits.

A smaller modulus costs no privacy: reduction mod any m is post-processing of the plain sum.

*tau*, with the theorems' m = n g + 2 tau + 1. A is off by more than tau/g where eta mod m is in
none of the runs [km - tau, km + tau], that is, in a gap of n g outcomes; the gaps begin at
k m + tau + 1, k >= 0, on the right, and mirror that on the left. As tau grows they all move
outward, so for symmetric unimodal noise their probability falls: it is enough that tau meets the
failure probability and tau - 1 does not.

*m*, with wrap-around alone allowed to fail (the error may be as large as the noise is). With
T(j) = P(eta >= j) and margins a = tau below 0 and b = m - 1 - tau - n g above n g, the worst data
(`wrap_probability`) wrap with probability max(T(a+1) + T(b+ng+1), T(b+1) + T(a+ng+1)). For a given
a + b the larger is least where they differ by at most 1: moving one margin from balance, the
smaller one's tail grows by more than the far one's falls, as the PMF falls on x >= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from attrs import evolve, frozen
from flint import arb

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, exact
from ..exact.precision import refine
from ..mechanisms.additive.error import noise_quantile, off_ball, tail_beside
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.laws.law import Law
from ..mechanisms.laws.search import first_within

_FAILING = "the probability of failing at {}"


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

    def with_accuracy(tau: int) -> SumProtocol:
        return evolve(protocol, accuracy=tau, modulus=_modulus(protocol, tau))

    def probability(tau: int) -> arb:
        return off_ball(with_accuracy(tau), tau, 0)

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
    shown, below = _shown(lambda: probability(at)), None if at == 0 else placed(at - 1)
    exceeding = None if at == 0 else _shown(lambda: probability(at - 1))
    return Least(*placed(at), failure, shown, below, exceeding)


def _modulus(protocol: SumProtocol, tau: int) -> int | None:
    if protocol.modulus is None:
        return None
    return protocol.users * protocol.precision + 2 * tau + 1


def _shown(compute: Callable[[], arb]) -> Enclosure:
    return refine(compute).intersection(Enclosure.probability())


def _check_shape(law: Law) -> None:
    if not (law.symmetric and law.shape_is_proved):
        raise ParameterError(f"noise must be proved symmetric and unimodal, got {law}")
