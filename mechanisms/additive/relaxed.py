"""Relaxed secure aggregation, over which Theorem 3 is private: its guarantee as a value.

Cheu and Yan, "Pure Differential Privacy from Secure Intermediaries" (2021), as Definition 9 of
Chowdhury and Zhou (ICLR 2023): S is an (epsilon, failure)-relaxation of the sum mod m if there are
a simulator SIM and a post-processing POST with, for every input y of sum Sigma(y),

    | log P(S(y) in E) / P(SIM(Sigma(y)) in E) | <= epsilon  for all events E,
    the statistical distance of POST(S(y)) and Sigma(y) is at most failure.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING
from fractions import Fraction

from attrs import field, frozen
from flint import arb

from ...exact.number import ExactInput, ParameterError, ball, exact
from ...exact.precision import refine
from ...exact.rounding import to_digits
from ..laws.law import Law
from ..mechanism import RandomizedResponse
from .protocol import SumProtocol

_WIDTH = Fraction(1, 10**25)
_DIGITS = 20  # significant ones to which an irrational epsilon' is rounded up


def _epsilon(value: ExactInput) -> Fraction:
    return exact(value, "epsilon", at_least=0)


def _failure(value: ExactInput) -> Fraction:
    return exact(value, "failure", at_least=0, at_most=1)


@frozen
class RelaxedAggregation:
    """S that leaks and may be wrong.

    epsilon  hat epsilon, the most that it leaks. failure: hat q, how often it may be wrong

    Raises ParameterError for what is out of range.

    >>> RelaxedAggregation(epsilon="0.1", failure="1e-9").leak
    Fraction(1, 5)
    """

    epsilon: Fraction = field(converter=_epsilon)
    failure: Fraction = field(converter=_failure)

    @property
    def leak(self) -> Fraction:
        """What it adds to the privacy loss of the sum: 2 epsilon.

        S(y) is replaced by SIM(Sigma(y)) and back, epsilon each (the triangle inequality of the
        log ratio); between the two, SIM is post-processing of the sum.
        """
        return 2 * self.epsilon

    def released(
        self, protocol: SumProtocol, dropout: ExactInput = 0, collusion: ExactInput = 0
    ) -> RandomizedResponse:
        """What is guaranteed of a sum that this aggregation forms: (leak + epsilon', 0)-DP.

        epsilon' is the pure epsilon of the noise of the users who are left. Relaxed security
        promises no more than a bound of the log ratio, so the mechanism is the pair that dominates
        all mechanisms with that bound (`ResponsePair`): an audit of it is one of the guarantee,
        and refutes what the guarantee does not give, whatever one implementation leaks.
        Raises ParameterError for noise of infinite pure epsilon, and where nobody is left.
        """
        noisy = protocol.released(dropout, collusion)
        return RandomizedResponse(self.leak + largest_loss_of_noise(noisy.law, noisy.sensitivity))


def largest_loss_of_noise(law: Law, sensitivity: int) -> Fraction:
    """Bound the pure epsilon of noise of proved shape on Z, hence of its reduction mod any m.

    *p log-concave:* log p(x)/p(x - d) falls in x, so its supremum is its limit at -infinity, and
    the largest d is the worst. *p symmetric, log-convex on x >= 0:* the loss rises up to x = 0
    and falls from there to d, so its supremum is log p(0)/p(d), for the largest d again
    (`AdditiveNoise.pairs`). A rational is given exactly, anything else rounded up to 20 digits.
    Raises ParameterError where it is infinite or not known.
    """
    if law.log_convex_sides:
        return _rounded_up(lambda: law.loss(0, sensitivity))
    limit = law.loss_limit(sensitivity)
    if not law.log_concave or law.support != (None, None) or limit is None:
        raise ParameterError(f"noise {law} has no finite pure epsilon that is known")
    return limit if isinstance(limit, Fraction) else _rounded_up(lambda: ball(limit))


def _rounded_up(compute: Callable[[], arb]) -> Fraction:
    found = refine(compute, width=_WIDTH)
    if not found.is_within(_WIDTH):
        raise ParameterError(f"the pure epsilon of the noise is known to {found} only")
    return to_digits(Fraction(found.upper), _DIGITS, ROUND_CEILING)
