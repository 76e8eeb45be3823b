"""Counts per key, released only where they reach a threshold with their noise.

Datasets are D with a user and D' without. The user is in at most `keys` keys and adds to each count
a part of at most `sensitivity`, d. A key is released, with count + Z, where count + Z >= threshold;
a key that nobody holds never is. Keys are independent given the counts: a pair of neighbours is a
product over the user's keys, each of one of two kinds.

*A key that she alone holds.* With T(d) = P(d + Z >= threshold), something is seen with probability
T(d) where D' shows nothing, ever; what exactly is seen tells no more. T(d) rises in d, and the pair
(T, 1-T) against (0, 1) becomes that of a smaller T by forgetting what was seen now and then: d =
sensitivity is the worst, and it is attained.

*A key that others hold too.* What is released is post-processing of count + Z, whose pair is worst
at d = sensitivity (`AdditiveNoise.pairs`). As the count grows, less and less is withheld, and the
pair tends to that one in total variation: every divergence comes as close as one likes.

So all that a single use can do is dominated by one of the lists "j keys of the first kind, keys - j
of the second", j = 0, ..., keys, and each of them is attained, or is a limit of what is. Over
several uses j may change, key by key: a `Choice` lets it, and dominates. Both kinds in every key at
once, T beside the plain noise, dominate as well: that is what adding epsilons and deltas does, but
for composing exactly.

With Poisson sampling of one key all this is true of the mixtures: post-processing stays such.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, TypeAlias

from attrs import evolve, field, frozen
from flint import arb, ctx

from ...exact.number import ExactInput, ParameterError, ball, decimal_text, exact, whole
from ..bracket import Bracket, Bracketed, Parts
from ..continuous import ContinuousNoise, Shape
from ..fields import parameters
from ..fields.schema import key
from ..mechanism import AdditiveNoise, Choice, Mechanism
from ..pairs.pair import FinitePair, ListedPair, Masses, ShiftPair, sampled
from ..sampled import Sampled, sampling_rate

Noise: TypeAlias = AdditiveNoise | ContinuousNoise
_LISTED = 16  # keys; of more, not every number that she alone may hold is tried


@frozen
class Alone(ListedPair):
    """A key that nobody else holds: something is seen, or nothing."""

    noise: Noise
    threshold: Fraction

    def masses(self) -> Masses:
        seen, unseen = released(self.noise, self.threshold, self.noise.sensitivity)
        return (seen, unseen), (arb(0), arb(1))

    def name_of(self, outcome: int) -> str:
        return ("the key is released", "nothing is released")[outcome]


def released(noise: Noise, threshold: Fraction, count: Fraction | int) -> tuple[arb, arb]:
    """P(count + Z >= threshold), and P(count + Z < threshold), at the working precision."""
    return _released(noise, threshold, Fraction(count), ctx.prec)


@lru_cache(maxsize=4096)
def _released(noise: Noise, threshold: Fraction, count: Fraction, bits: int) -> tuple[arb, arb]:
    short = threshold - count
    if isinstance(noise, AdditiveNoise):
        least = -(-short.numerator // short.denominator)
        return noise.law.upper_tail(least), noise.law.lower_tail(least - 1)
    far = ball(abs(short) / noise.scale)
    tail = (-far).exp() / 2 if noise.shape is Shape.LAPLACE else (far / arb(2).sqrt()).erfc() / 2
    return (tail, 1 - tail) if short >= 0 else (1 - tail, tail)


def _threshold(value: ExactInput) -> Fraction:
    return exact(value, "threshold")


@frozen
class Thresholded(Bracketed):
    """Noisy counts, each released where it reaches the threshold; a user is in so many keys.

    Raises ParameterError for a threshold below the sensitivity, for noise that is reduced, and for
    users that are sampled where each may hold several keys.
    """

    noise: Noise
    threshold: Fraction = field(
        converter=_threshold,
        metadata=key(
            "counts per key, released from here on; add-remove",
            takes="a whole number, at least sensitivity",
        ),
    )
    keys: int = field(
        converter=parameters.keys,
        default=1,
        metadata=key("how many counts a user is in, with threshold"),
    )
    rate: Fraction = field(converter=sampling_rate, default=Fraction(1))
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"

    def __attrs_post_init__(self) -> None:
        noise, threshold = self.noise, self.threshold
        if isinstance(noise, AdditiveNoise):
            if noise.modulus is not None:
                raise ParameterError("threshold must not be given with modulus: counts have none")
            whole(decimal_text(threshold), "threshold")
            if not noise.law.shape_is_proved:
                raise ParameterError("threshold needs noise whose worst neighbours are known")
        if threshold < noise.sensitivity:
            raise ParameterError(
                f"threshold must be at least sensitivity = {decimal_text(noise.sensitivity)}, the "
                f"most that one user adds to a count, got {decimal_text(threshold)}"
            )
        if self.rate != 1 and self.keys != 1:
            raise ParameterError(
                "poisson needs keys=1: a user who is not drawn is in none of her keys, which are "
                "then no longer independent"
            )

    def reversed(self) -> Mechanism:
        """With the other dataset first."""
        return evolve(self, removing=not self.removing)

    def bracket(self) -> Bracket:
        """Between so many keys of either kind, and any choice of them."""
        alone = Sampled(Alone(self.noise, self.threshold), self.rate, self.removing)
        shared, keys = self._shared(), self.keys
        tried = range(keys + 1) if keys <= _LISTED else (0, 1, keys)
        lower = [_uses((alone, j), (shared, keys - j)) for j in tried]
        upper = [_uses((alone, keys), (shared, keys))]
        if not isinstance(shared, ContinuousNoise):
            either = Choice((*alone.pairs(), *shared.pairs()), "add-remove")
            upper.append(_uses((either, keys)))
        why = "in how many of her keys a user is alone, at each use, is open"
        return Bracket(lower, upper, is_complete=keys <= _LISTED, reason=why)

    def _shared(self) -> Mechanism:
        noise = self.noise
        if isinstance(noise, ContinuousNoise):
            return evolve(noise, neighbours="add-remove", rate=self.rate, removing=self.removing)
        if noise.law.balanced:
            return Sampled(noise, self.rate, self.removing)
        # a count that only rises with the user: the pair (p(x - sensitivity), p(x))
        raised: ShiftPair | FinitePair = ShiftPair(noise.law.mirrored(), noise.sensitivity)
        if isinstance(listed := next(iter(noise.pairs())), FinitePair):
            raised = listed.swapped()  # the largest shift; both ways round are among the noise's
        return Choice((sampled(raised, self.rate, self.removing),), "add-remove")


def read_threshold(values: Mapping[str, str], noise: Noise) -> Thresholded:
    """Of a spec's keys. Raises ParameterError for those that it cannot stand beside."""
    if "threshold" not in values:
        raise ParameterError("keys and names need threshold: what is withheld below it?")
    if values.get("neighbours", "add-remove") != "add-remove":
        raise ParameterError("threshold needs neighbours=add-remove: a key is hidden with its user")
    for other in ("l2", "l1", "linf", "dimension", "rounding", "fixed-size", "allocation", "users"):
        if other in values:
            raise ParameterError(
                f"{other} must not be given with threshold: counts are single numbers"
            )
    rate = exact(values.get("poisson", "1"), "poisson")
    return Thresholded(
        noise, exact(values["threshold"], "threshold"), values.get("keys", "1"), rate
    )


def _uses(*parts: tuple[Mechanism, int]) -> Parts:
    return tuple(part for part in parts if part[1])
