"""Which candidate is best, or above a threshold? Candidates have scores of sensitivity 1.

*The exponential mechanism*, of bounded range epsilon (Durfee, Rogers, NeurIPS 2019): the losses of
all outcomes lie in an interval [t - epsilon, t]. Splitting each among both ends, P and Q kept, such
a pair is post-processing of the pair with these two losses alone, which two candidates attain. For
t between epsilon (i-1)/n and epsilon i/n it lies within n + 1 steps that end at i. For every order
D_a <= a epsilon^2/8: with K(a) = (a-1) D_a, K(0) = K(1) = 0, and K'' is a variance of what lies in
an interval of length epsilon, at most epsilon^2/4: a (a-1) epsilon^2/8 - K is convex and 0 at 0, 1.

*Report noisy max*: discrete Laplace noise on every score, the first of the largest is told. Fix the
noise of all others: a candidate wins from some noise on, which neighbours move by 2 at most (by 1
where all scores move the same way), and P(X >= k) falls by e^(-1/scale) a step at most. *Permute
and flip*: epsilon-DP (McKenna, Sheldon, NeurIPS 2020). No pure epsilon is dearer than randomized
response.

*Sparse vector*, as numbered by Lyu, Su, Li (PVLDB 2017): the threshold's noise Y and those of the
queries X_i; "above" where q_i + X_i >= Y. From above: fix the X of all that are below. Y + 1 in
place of Y, at e^(1/scale of Y), leaves them below, and X + 2 for each of c that are above costs
e^(2/scale of X). From below, runs of queries: 0 under D where D' has 1, for those below, and -1 for
those above:
    P(all q + X < Y, all others >= Y) = sum over t of P(Y = t) and so many tails;
variant 3 tells the last value, 0, so that Y <= 0; variant 5 has no X: two queries (0, 1) against
(1, 0) are "below, above" with Y = 1, and never.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mpmath import iv

from .arithmetic import Interval, OpenError, exp, hull, interval, power
from .deadline import check_time
from .keys import tails
from .laws import SIZE, DiscreteLaplace
from .mechanisms import Family, Finite, Mechanism, Outcomes, Parts, Response, TwoLaws
from .pmf import FARTHEST
from .shape import below_one, number, plainly, read_yes, whole

_Times = tuple[tuple[int, int], ...]  # with this value added, so many variables

_CELLS = 128
_NEAR = 10**13  # as near to its end as t is tried
_MOST_OTHERS = _MOST_ABOVE = _LONGEST = 64
_ANYTHING = TwoLaws((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)), Fraction(0))


def _two(top: Fraction, bottom: Fraction) -> Outcomes:
    """The pair with these two losses, bottom <= 0 < top."""
    high, low = exp(interval(-top)), exp(interval(-bottom))
    p = (low - 1) / (low - high)
    return Outcomes([p, 1 - p], [p * high, (1 - p) * low], top)


@dataclass(frozen=True)
class Exponential(Finite):
    """The exponential mechanism, of this bounded range."""

    words = "the exponential mechanism"

    epsilon: Fraction

    def attained(self) -> Sequence[Outcomes]:
        tops = [Fraction(k, 16) for k in (8, 9, 10, 11, 12, 13, 14, 15)]
        tops.append(1 - Fraction(1, _NEAR))
        return [_two(self.epsilon * top, self.epsilon * (top - 1)) for top in tops]

    def dominating(self) -> Sequence[Outcomes]:
        unit = self.epsilon / _CELLS
        return [_two(i * unit, (i - 1 - _CELLS) * unit) for i in range(1, _CELLS + 1)]


@dataclass(frozen=True)
class Seen(Finite):
    """Something is seen with this probability under D, and with that under D', or not; or the other
    way round. which: of the family, the number of the run.
    """

    family: Family
    which: int
    removing: bool = True

    has_a_side = True

    def attained(self) -> Sequence[Outcomes]:
        p, q = self.family.chances(self.which)  # type: ignore[attr-defined]
        return [Outcomes([p, 1 - p], [q, 1 - q])]


def _chance(first: Fraction, second: Fraction, below: _Times, above: _Times) -> Interval:
    return _summed(first, second, below, above, iv.prec)


@lru_cache(maxsize=64)
def _summed(first: Fraction, second: Fraction, below: _Times, above: _Times, bits: int) -> Interval:
    """P(all of some q + X < Y, all of some >= Y). first: scale of Y; second: of every X."""
    b = exp(interval(-1 / first))
    far = max(abs(q) for q, _ in (*below, *above))
    reach = math.ceil((0.75 * bits + 20 + far / min(first, second)) * float(first)) + far
    if reach > FARTHEST:
        raise OpenError("too many outcomes to sum")

    most = reach + far + 1  # of all places; P(X >= k) of each
    tail = dict(enumerate(tails(DiscreteLaplace(second), -most, most, bits), start=-most))
    found, mass = iv.mpf(0), (1 - b) / (1 + b) * power(b, reach)
    for t in range(-reach, reach + 1):
        check_time()
        seen = mass
        for q, count in below:
            seen *= power(tail[q - t + 1], count)  # P(X < t - q) = P(X >= q - t + 1)
        for q, count in above:
            seen *= power(tail[t - q], count)
        found += seen
        mass = mass / b if t < 0 else mass * b
    return found + hull(iv.mpf(0), 2 * power(b, reach + 1) / (1 + b))


@dataclass(frozen=True)
class NoisyMax(Family):
    """Report noisy max with discrete Laplace noise."""

    words = "report noisy max with discrete Laplace noise"

    scale: Fraction
    candidates: int
    monotone: bool

    @property
    def _moved(self) -> int:
        return 1 if self.monotone else 2

    def above(self) -> Sequence[Parts]:
        return [((Response(self._moved / self.scale, Fraction(0)), 1),)]

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        return [((Seen(self, times), 1),) for times in (40, 4, 1, 0)]

    def chances(self, times: int) -> tuple[Interval, Interval]:
        """That the last one wins, so many scales behind others alike; D' has it further behind."""
        gap, others = min(round(times * self.scale), 5000), min(self.candidates - 1, _MOST_OTHERS)
        both = (gap, gap + self._moved)
        one, other = (_chance(self.scale, self.scale, ((at, others),), ()) for at in both)
        return one, other


@dataclass(frozen=True)
class PermuteAndFlip(Family):
    """Permute and flip."""

    words = "permute and flip"

    epsilon: Fraction

    def above(self) -> Sequence[Parts]:
        return [((Response(self.epsilon, Fraction(0)), 1),)]

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        return [((Flipped(self.epsilon, others), 1),) for others in (1, 2, 9)]


@dataclass(frozen=True)
class Flipped(Finite):
    """Is one candidate chosen, as good as all others under D, by 2 worse under D'?"""

    epsilon: Fraction
    others: int
    removing: bool = True

    has_a_side = True

    def attained(self) -> Sequence[Outcomes]:
        p, odds = interval(Fraction(1, self.others + 1)), exp(interval(-self.epsilon))
        largest = self.epsilon if self.removing else None
        return [Outcomes([p, 1 - p], [p * odds, 1 - p * odds], largest)]


@dataclass(frozen=True)
class SparseVector(Family):
    """One run of the sparse vector technique. share: of epsilon for the threshold's noise."""

    words = "the sparse vector technique"

    epsilon: Fraction
    answers: int
    share: Fraction
    variant: int

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Of the threshold's noise, and of each query's."""
        first, c = self.share * self.epsilon, self.answers
        times = {1: 2 * c, 2: 2 * c, 3: c}.get(self.variant, 1)
        return (c if self.variant == 2 else 1) / first, times / (self.epsilon - first)

    def above(self) -> Sequence[Parts]:
        first, second = self.scales
        if self.variant in (3, 5, 6):
            return [((_ANYTHING, 1),)]
        pure = 1 / first + 2 * self.answers / second
        return [((Response(self.epsilon if self.variant == 2 else pure, Fraction(0)), 1),)]

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        lengths = [_LONGEST, 8, 1]
        if self.variant == 3:
            lengths = [min(math.ceil(2 * self.answers / (1 - self.share)), _LONGEST**2), 1]
        times = self.answers if self.variant == 2 else 1
        lengths = [1] if self.variant == 5 else lengths
        return [((Seen(self, low), times),) for low in lengths]

    def chances(self, low: int) -> tuple[Interval, Interval]:
        """Of so many below, and then above, under D and D'."""
        first, second = self.scales
        b, c = exp(interval(-1 / first)), exp(interval(-1 / second))
        if self.variant == 5:
            return (1 - b) / (1 + b) * b, iv.mpf(0)
        if self.variant == 3:
            whole = (1 - c) / (1 + c) * (1 - b) / (1 + b) / (1 - b * power(c, low))
            one, other = (whole * power(power(c, q + 1) / (1 + c), low) for q in (0, 1))
            return one, other
        high = 1 if self.variant == 2 else min(self.answers, _MOST_ABOVE)
        return (
            _chance(first, second, ((0, low),), ((0, high),)),
            _chance(first, second, ((1, low),), ((-1, high),)),
        )


# -- from the fields of a certificate -------------------------------------------------------------


_EPSILON = number(above=Fraction(0), at_most=1000)

READERS: dict[str, Callable[[object], Mechanism]] = {
    "exponential": plainly("exponential", Exponential, epsilon=_EPSILON),
    "noisy-max": plainly("noisy-max", NoisyMax, scale=SIZE, candidates=whole(2, 10**9),
        monotone=read_yes),
    "permute-and-flip": plainly("permute-and-flip", PermuteAndFlip, epsilon=_EPSILON),
    "sparse-vector": plainly("sparse-vector", SparseVector, epsilon=_EPSILON,
        answers=whole(1, 10**6), share=below_one, variant=whole(1, 6)),
}  # fmt: skip
