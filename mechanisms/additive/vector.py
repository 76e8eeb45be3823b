"""Integer vectors with noise of one law in every coordinate, independently.

Neighbours move the query by an integer vector v within `reach`; more may be known of where nobody
sees it (the dimension, say). Real vectors that are rounded have a reach of their own
(`RoundedReach`). What bounds the cost from above and from below are other mechanisms:

*One number is enough, from above.* Let p be symmetric (about 0, or where its centre is) and
log-concave, T_d the trade-off function
of (X + d, X): it is linear between the points (P(X >= k), 1 - P(X >= k - d)), k in Z. Then T_(d+e)
is T_e after 1 - T_d: that takes P(X >= k) to P(X >= k-d) to P(X >= k-d-e), is linear between these
points, and both are linear between the same ones. Moving one coordinate after the other, by
|v_1|, |v_2|, ..., each of independent noise, no test does better than this chain: its level a
becomes at most 1 - T_|v1|(a), and so on. So (X + v, X) is at least as private as (X + |v|_1, X) in
one dimension; by Blackwell's theorem it is post-processing of it, sampled or not.

*The Gaussian envelope, from above*: N(mu |v|_2, 1) against N(0, 1) (`laws.gaussian_envelope`).

*From below*: any v within reach. Its coordinates are as many uses of one number.

Reducing every coordinate mod m is post-processing, which moves by v mod m at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attrs import evolve, field, frozen

from ...exact.number import ParameterError
from ..bracket import Bracket
from ..continuous import dominating_gaussian
from ..fields import parameters
from ..fields.schema import INNER, SPREAD
from ..laws.gaussian_envelope import NoEnvelopeError
from ..laws.law import Law
from ..mechanism import AdditiveNoise, Mechanism, either_way
from ..pairs.pair import Pair
from ..sampled import (
    NEIGHBOURS_KEY,
    POISSON,
    RandomRate,
    Sampled,
    bare,
    check_neighbours,
    sampling_rate,
)
from .reach import Direction, Reach, RoundedReach

OPEN = "the worst-case neighbour is not known: between one that is attained and what dominates all"
_FARTHEST = 10**9  # that one number may move


def _law(law: Law) -> Law:
    if law.log_concave is None or not law.balanced:
        raise ParameterError(
            "vectors (l2, l1, linf, dimension) need noise that is symmetric and log-concave, which "
            f"{law.name} is not"
        )
    return law


@frozen
class VectorNoise:
    """An integer vector plus noise of this law in every coordinate, reduced mod `modulus` if given.

    reach: by what neighbours move it. rate: of Poisson sampling, 1 for none. removing: whether P,
    of the pair (P, Q), is the dataset with the user.
    """

    law: Law = field(converter=_law, metadata=INNER)
    reach: Reach | RoundedReach = field(metadata=SPREAD)
    modulus: int | None = field(
        default=None, converter=parameters.modulus, metadata=parameters.MODULUS
    )
    neighbours: str = field(default="replace", metadata=NEIGHBOURS_KEY)
    rate: Fraction = field(converter=sampling_rate, default=Fraction(1), metadata=POISSON)
    removing: bool = True

    @property
    def kind(self) -> str:
        """What certificates call it."""
        return "vector" if isinstance(self.reach, Reach) else "rounded-vector"

    def __attrs_post_init__(self) -> None:
        check_neighbours(self.neighbours, self.rate)
        if self.neighbours == "replace" and not isinstance(self.reach, Reach):
            raise ParameterError(
                "rounding needs neighbours=add-remove: where a user's data is replaced, two "
                "rounded vectors differ, by more than either is long"
            )

    @property
    def is_one_number(self) -> bool:
        """Does only one coordinate ever move? Then its noise alone counts, and all is exact."""
        return self.reach.dimension == 1 or self.reach.largest_square == 1

    def at_rate(self, rate: Fraction, removing: bool) -> Mechanism:
        """The same of users who take part with this probability; neighbours add-remove."""
        if self.rate != 1:
            raise ParameterError("mechanism must be one of which nobody is sampled yet")
        return evolve(self, neighbours="add-remove", rate=rate, removing=removing)

    def pairs(self) -> Iterable[Pair]:
        """It has no single pair that is known to dominate and is attained."""
        raise ParameterError(
            "a vector's cost is bounded by those of other mechanisms: this takes single numbers "
            "(compose(mechanism) has epsilon, delta, Rényi divergences, rho and pure epsilon of it)"
        )

    def reversed(self) -> Mechanism:
        """With the other dataset first; the same where nothing but the noise is random.

        (The law is symmetric.)
        """
        if self.rate == 1 and not self.reach.is_random:
            return self
        return evolve(self, removing=not self.removing)

    def of_one_number(self) -> Mechanism:
        """What dominates it: all of |v|_1 in one coordinate; itself where only one moves."""
        if self.is_one_number:
            return self._moved(self.reach.farthest, self.modulus)
        return self._moved(self.reach.largest_sum, None)

    def bracket(self) -> Bracket:
        """Along directions within reach, and by what dominates all vectors."""
        attained = [self.along(direction) for direction in self.directions()]
        dominating = [[(one, 1)] for one in self.dominating()]
        if (worst := self.dearest()) is not None:
            attained, dominating = [worst, *attained], [worst, *dominating]
        return Bracket(filter(None, attained), dominating, reason=OPEN)

    def bracket_at(self, sampled: RandomRate) -> Bracket:
        """The same at rates that are drawn and told: what bounds the vector, sampled alike."""

        def alike(part: Mechanism) -> Mechanism:
            return evolve(sampled, mechanism=bare(part))

        known = evolve(self, neighbours="add-remove").bracket()
        alone = self.reach.alone()
        attained = [(part, times) for part, times in self.along(alone) if alone]
        single = evolve(known, attained=[attained] if attained else [])
        dominating = [parts for parts in known.dominating if parts[0][1] == len(parts) == 1]
        return evolve(single, dominating=dominating).in_form(alike)

    def dominating(self) -> list[Mechanism]:
        """The Gaussian envelope, and all in one coordinate where that may cost less at some delta.

        It may not where it has tails like a Gaussian's and |v|_1 is much above |v|_2; leaving it
        out then saves time only.
        """
        square, whole = self.reach.largest_square, self.reach.largest_sum
        light = self.law.loss_limit(1) is not None or whole**2 <= 2 * square
        instead = [self.of_one_number()] if light and whole <= _FARTHEST else []
        return [self.enveloped(), *instead]

    def enveloped(self) -> Mechanism:
        """The Gaussian that dominates it; one number where only one moves, or none is known.

        Of a vector that is rounded at random it dominates the longest that may be sent; what is
        proved of the mixture itself belongs beside it (`accounting.composition.rounding`).
        """
        if self.is_one_number:
            return self.of_one_number()
        try:
            noise = dominating_gaussian(self.law, self.reach.largest_square, self.neighbours)
        except NoEnvelopeError:
            return self.of_one_number()
        return noise if self.rate == 1 else noise.at_rate(self.rate, self.removing)

    def along(self, direction: Direction) -> list[tuple[Mechanism, int]]:
        """What releasing it is at least as dear as: uses of one number each.

        Sampled, only for a direction of one coordinate: the user is in all of them, or in none. The
        empty one: a unit vector, or 0, at random (`RoundedReach`); none if nothing is drawn.
        """
        if not direction:
            return self._by_chance()
        return [(self._moved(move, self.modulus), count) for move, count in direction.items()]

    def directions(self) -> list[Direction]:
        """Some directions that may cost most, of those whose cost is known."""
        if self.rate == 1:
            return self.reach.directions()
        return [self.reach.alone()]

    def dearest(self) -> list[tuple[Mechanism, int]] | None:
        """Uses of one number each that cost exactly what it does; None where none are known to."""
        if self.rate != 1:
            return None
        direction = self.reach.dearest()
        return None if direction is None else self.along(direction)

    def _by_chance(self) -> list[tuple[Mechanism, int]]:
        if isinstance(self.reach, Reach) or not self.reach.is_random:
            return []
        unit = AdditiveNoise(self.law, 1, self.modulus)
        return [(Sampled(unit, self.rate * self.reach.chance, self.removing), 1)]

    def _moved(self, move: int, modulus: int | None) -> Mechanism:
        noise = AdditiveNoise(self.law, move, modulus)
        if self.neighbours == "replace":
            return noise
        return Sampled(noise, self.rate, self.removing)


def vector(mechanism: Mechanism) -> VectorNoise | None:
    """The vector that this is, either way round; None for anything else."""
    inner = either_way(mechanism)
    return inner if isinstance(inner, VectorNoise) else None
