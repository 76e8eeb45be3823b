"""A stream under secure aggregation: what its clients send, how often it wraps, who may vanish.

So many clients stay for the whole stream. At the end of a step every one of them sends, mod 2^bits
and under masks, its part of what is released then, and a share of the noise: of a tree the sum of
its rows over the longest interval that ends there (no prefix sum needs another one; what a tree of
all intervals costs is an upper bound), of a matrix the row of C times its rows. Who vanishes in a
step takes both along: the noise of that release is made of the other shares. Who is there is public
and the same for neighbours. If at most d are missing in every step, what is released is
post-processing of the stream whose noise lacks d shares in each (what is known with further,
independent shares), and a release to which she contributes nothing moves by 0.

*Wrapping*: a client moves a row, in a coordinate, by at most the largest entry of a vector times
the most that C adds up there over steps that are far enough apart: M. The sum of all clients' is
within n M, and v + Z leaves [-m/2, m/2 - 1] likeliest where |v| is largest (Z symmetric, unimodal).
From above all entries together, by the union bound; from below all clients alike, in the steps that
cost most, with all that they may send in one coordinate: releases have independent noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import evolve, frozen
from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import START, enclose, refine, working_precision
from ..additive.error import chernoff, wrapping
from ..additive.protocol import missing_users
from ..additive.reach import Reach
from ..additive.vector import VectorNoise
from ..laws.families import BY_VARIANCE
from ..laws.law import Law
from ..laws.search import first_within
from ..mechanism import Mechanism
from .columns import Table, Tree
from .release import DiscreteMatrixNoise, prefix_deviation, read_release

MOST_BITS = 60
_MOST_CLIENTS = 10**9
_NEVER = 1000


@frozen
class SharedStream:
    """noise: what is released while nobody is missing. sigma: of the noise of all clients.

    share: the law of what a client adds to every entry. bits: None where they are not stated.
    dropout: how many shares the spec itself leaves out.
    """

    noise: DiscreteMatrixNoise
    share: Law
    sigma: Fraction
    clients: int
    bits: int | None = None
    dropout: int = 0

    @property
    def dimension(self) -> int:
        """How many numbers a row has: one, where that is not stated."""
        return self.noise.reach.dimension or 1

    @property
    def matrix(self) -> Tree | Table:
        """C."""
        assert isinstance(self.noise.stream.matrix, Tree | Table)
        return self.noise.stream.matrix

    def missing(self, clients: ExactInput) -> DiscreteMatrixNoise:
        """What is released if so many are missing in every step."""
        gone = missing_users(self.clients, clients)
        return evolve(self.noise, law=self.share.sum_of(self.clients - gone))

    def with_sigma(self, sigma: Fraction) -> SharedStream:
        """The same with shares of noise of this deviation, all together."""
        share = BY_VARIANCE[self.share.name](sigma**2 / self.clients)
        noise = evolve(self.noise, law=share.sum_of(self.clients))
        return evolve(self, noise=noise, share=share, sigma=sigma)

    def rows(self) -> Mapping[int, int]:
        """By how many times a vector one client moves a release at most: of how many releases."""
        return self.matrix.moved(self.noise.stream.who)

    def row(self, moved: int, missing: int = 0) -> VectorNoise:
        """One release by itself, that a user moves by so many times a vector."""
        reach, law = self.noise.reach, self.missing(missing).law
        assert reach.l2 is not None
        return VectorNoise(
            law, Reach(l2=reach.l2 * moved, dimension=reach.dimension), None, self.noise.neighbours
        )

    def wrap(self, moved: int, bits: int) -> Enclosure:
        """P(an entry of such a release wraps), for the worst data, nobody missing.

        Below 2^-1000 only that it is no more than so little.
        """
        most = self.clients * moved * self.noise.reach.farthest
        with working_precision(START):
            far = 2 * chernoff(self.noise.law, (1 << bits) // 2 - most, 1)
            if far < arb(2) ** -_NEVER:  # its own digits may be a billion
                return Enclosure(Fraction(0), Fraction(1, 1 << _NEVER))
        found = refine(lambda: wrapping(self.noise.law, most, 1 << bits))
        return found.intersection(Enclosure.probability())

    def any_wrap(self, bits: int) -> Enclosure:
        """P(any entry of the stream wraps), for the worst data."""
        return Enclosure(self._attained(bits), self._wraps_at_most(bits))

    def _wraps_at_most(self, bits: int) -> Fraction:
        each = (
            self.dimension * count * Fraction(self.wrap(moved, bits).upper)
            for moved, count in self.rows().items()
        )
        return min(sum(each, Fraction(0)), Fraction(1))

    def _attained(self, bits: int) -> Fraction:
        moved = self.matrix.released(self.noise.stream.pattern)
        moved[0] = self.dimension * self.matrix.steps - sum(moved.values())

        total = Fraction(0)
        for size, count in moved.items():
            total += count * Fraction(self.wrap(size, bits).lower)
        with working_precision(START):  # 1 - the product of all 1 - p >= 1 - e^-(sum of all p)
            found = enclose(-(-ball(total)).expm1())
        return max(Fraction(found.lower), Fraction(0))

    def fewest_bits(self, failure: Fraction) -> int | None:
        """The least with which all of it wraps at most so often, by the bound; None beyond 60."""
        most = self.clients * max(self.rows()) * self.noise.reach.farthest
        for bits in range(most.bit_length() + 1, MOST_BITS + 1):
            if self._wraps_at_most(bits) <= failure:
                return bits
        return None

    def prefix_error(self, failure: Fraction) -> int | None:
        """No noise of a prefix sum is larger, but with at most this probability, of all of them.

        Of trees; None of matrices.
        """
        if not isinstance(self.matrix, Tree):
            return None
        law = self.noise.law.sum_of(self.matrix.prefix_variance())
        each = failure / (self.dimension * self.matrix.steps)
        return first_within(lambda t: 2 * law.upper_tail(t + 1), each, "P(|noise| > {})")


def read_stream(
    name: str, values: Mapping[str, str]
) -> tuple[Mechanism, dict[str, str], SharedStream | None]:
    """The release, and what clients send of it, where `clients` says how many there are."""
    mechanism, derived = read_release(name, values)
    if "clients" not in values:
        if unused := [key for key in ("bits", "dropout") if key in values]:
            raise ParameterError(f"{unused[0]} is of streams with clients: clients is missing")
        return mechanism, derived, None
    if not isinstance(mechanism, DiscreteMatrixNoise):
        raise ParameterError(
            "clients is of shares of noise on the integers: noise must be discrete-gaussian or "
            "skellam"
        )
    sigma = exact(values["sigma"], "sigma", above=0)
    clients = whole(values["clients"], "clients", at_least=2, at_most=_MOST_CLIENTS)
    share, bits = BY_VARIANCE[mechanism.law.name](sigma**2 / clients), None
    if "bits" in values:
        bits = whole(values["bits"], "bits", at_least=1, at_most=MOST_BITS)
    gone = missing_users(clients, values.get("dropout", 0))
    noise = evolve(mechanism, law=share.sum_of(clients))
    shared = SharedStream(noise, share, sigma, clients, bits, gone)
    here = clients - gone
    derived["shares"] = str(here)
    if isinstance(shared.matrix, Tree):
        left = prefix_deviation(shared.matrix, shared.sigma, Fraction(here, shared.clients))
        derived["prefix_stddev"] = str(left)
    return shared.missing(shared.dropout), derived, shared
