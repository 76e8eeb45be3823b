"""The sparse vector technique: which of many queries are above a threshold, for the first few.

Queries are of whole numbers, of sensitivity 1, chosen on the way; noise is discrete Laplace. With
epsilon_1 = share epsilon, epsilon_2 = epsilon - epsilon_1, c answers, Y the threshold's noise and
X_i that of query i, "above" is said where q_i + X_i >= T + Y, else "below". The variants, as
numbered by Lyu, Su, Li, "Understanding the sparse vector technique for differential privacy", PVLDB
10(6), 2017, Figure 1, with the scales of Y and X:

1. (theirs) 1/epsilon_1 and 2c/epsilon_2; ends after c are above.
2. (Dwork, Roth 2014) c/epsilon_1 and 2c/epsilon_2; Y is drawn anew after each that is above; ends
   after c.
3. (Roth 2011) 1/epsilon_1 and c/epsilon_2; in place of "above" q_i + X_i is told.
4. (Lee, Clifton 2014) 1/epsilon_1 and 1/epsilon_2, share 1/4; ends after c.
5. (Stoddard, Chen, Machanavajjhala 2014) 1/epsilon_1, and no X; never ends.
6. (Chen, Xiao, Zhang, Xu 2015) 1/epsilon_1 and 1/epsilon_2; never ends.

*From above.* Fix the X of all that were said to be below. Their queries move by at most 1, and so
does what Y must exceed: with Y + 1 in place of Y, which costs e^(1/scale of Y), all are below
again. Then q_i + X_i >= T + Y + 1 holds with X_i + 2, which costs e^(2/scale of X) for each that is
above. That is 1/scale_Y + 2c/scale_X: epsilon for 1, (share + 2c (1 - share)) epsilon for 4, and
for 2 epsilon/c for each of c parts. No mechanism of pure epsilon is less private than randomized
response.

*From below.* A run of queries whose answers have some probability under D, and less under D':
m queries that are to be below, 0 and 1, then those that are to be above, 0 and -1. Its probability
is a sum over Y (`above`). With Y + 1 for D' each Y >= 0 counts e^-(1/scale_Y + 2c/scale_X) times as
much under D' as under D; Y < 0 counts next to nothing where many more are below than above. For 3
and 6 the ratio grows with m without end, and for 5 the two queries (0, 1) against (1, 0) have
"below, above" with 0 < Y <= 1 only, and never.
"""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import field, frozen
from flint import arb

from ...exact.number import ExactInput, ball, exact, whole
from ..bracket import Bracket, Bracketed, Parts
from ..fields import parameters
from ..fields.schema import entry, key
from ..laws.discrete_laplace import DiscreteLaplace
from ..mechanism import Choice
from ..pairs.pair import FinitePair, ListedPair, Masses, ResponsePair
from .above import mean_above

_LONGEST = 64  # queries of a run that are to be below
_MOST_ABOVE = 64
_NEGLIGIBLE = 64  # e^-64 is
_MOST_TERMS = 1000  # of a sum over Y
_ANYTHING = FinitePair(("D", "D'"), (1, 0), (0, 1))


def _answers(value: ExactInput) -> int:
    """A whole number, 1 to 1e6."""
    return whole(value, "answers", at_least=1, at_most=10**6)


def _variant(value: ExactInput) -> int:
    """A whole number, 1 to 6."""
    return whole(value, "variant", at_least=1, at_most=6)


def _share(value: ExactInput | None) -> Fraction | None:
    """A number between 0 and 1."""
    if value is None:
        return None
    return exact(value, "share", above=0, below=1)


@frozen
class Run(ListedPair):
    """Some answers, or any others, to queries that D and D' answer differently by 1.

    variant: of which the answers are. low, high: how many are to be below, and then above.
    """

    variant: int
    threshold_scale: Fraction
    scale: Fraction
    low: int
    high: int

    def masses(self) -> Masses:
        if self.variant == 5:
            seen = DiscreteLaplace(self.threshold_scale).ball(1)
            return (seen, 1 - seen), (arb(0), arb(1))  # what is never seen under D'
        seen, never = (self._told if self.variant == 3 else self._said)()
        return (seen, 1 - seen), (never, 1 - never)

    def _said(self) -> tuple[arb, arb]:
        """Of so many below, then so many above."""
        scales = self.threshold_scale, self.scale
        return (
            mean_above(*scales, {0: self.low}, {0: self.high}),
            mean_above(*scales, {1: self.low}, {-1: self.high}),
        )

    def _told(self) -> tuple[arb, arb]:
        """Of so many below, then the value 0, so that Y <= 0: P(q + X < t) = b^(q+1-t)/(1+b)."""
        first, b = (-1 / ball(self.threshold_scale)).exp(), (-1 / ball(self.scale)).exp()
        value = (1 - b) / (1 + b) * (1 - first) / (1 + first) / (1 - first * b**self.low)
        seen, never = (value * (b ** (q + 1) / (1 + b)) ** self.low for q in (0, 1))
        return seen, never

    def name_of(self, outcome: int) -> str:
        if self.variant == 5:
            said, ours, theirs = "below, above", "0, 1", "1, 0"
        else:
            last = "the value 0" if self.variant == 3 else f"{self.high} times above"
            said = f"{self.low} times below, {last}"
            ours = f"{self.low} times 0, {self.high} times 0"
            theirs = f"{self.low} times 1, {self.high} times {0 if self.variant == 3 else -1}"
        run = f"{said} to queries that D answers {ours}, D' {theirs}, threshold 0"
        return run if outcome == 0 else f"not {run}"


@frozen
class SparseVector(Bracketed):
    """One run of the sparse vector technique. share: of epsilon for the threshold's noise.

    Raises ParameterError for numbers out of range.
    """

    epsilon: Fraction = field(
        converter=parameters.epsilon, metadata=key("what it is stated to have")
    )
    answers: int = field(converter=_answers, default=1, metadata=key("how many may be above"))
    given_share: Fraction | None = field(
        converter=_share,
        default=None,
        metadata=key(
            "of epsilon for the threshold's noise", "1/2, and 1/4 of variant 4", name="share"
        ),
    )
    variant: int = field(
        converter=_variant, default=1, metadata=key("as Lyu, Su and Li number them; 1, 2 hold")
    )

    kind = "sparse-vector"
    says = "which queries are above a threshold, for the first few that are"
    example = "epsilon=1,answers=1"

    @property
    def share(self) -> Fraction:
        """Of epsilon for the threshold's noise."""
        usual = Fraction(1, 4) if self.variant == 4 else Fraction(1, 2)
        return usual if self.given_share is None else self.given_share

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Of the threshold's noise, and of each query's."""
        first, count = self.share * self.epsilon, self.answers
        second = self.epsilon - first
        each = {1: 2 * count, 2: 2 * count, 3: count}.get(self.variant, 1)
        return (count if self.variant == 2 else 1) / first, each / second

    @property
    def pure(self) -> Fraction | None:
        """The epsilon that is proved; None where there is none."""
        if self.variant in (3, 5, 6):
            return None
        own, each = self.scales
        total = 1 / own + 2 * self.answers / each
        return self.epsilon if self.variant == 2 else total

    def bracket(self) -> Bracket:
        """Between some runs, and randomized response or anything at all."""
        if self.pure is None:
            why = "no epsilon holds for runs of any length, of which a few were looked at"
            lower = [self._run(low, low) for low in self._lengths()]
            return Bracket(lower, [_ANYTHING], reason=why)
        upper = Choice((ResponsePair(self.pure),))  # randomized response of an epsilon of any size
        high = 1 if self.variant == 2 else min(self.answers, _MOST_ABOVE)
        why = "which queries tell the most is open: some that are attained, and what dominates all"
        lower = [self._run(low, high) for low in self._lengths()]
        if high < self.answers or high == _MOST_ABOVE:
            lower += self._longer()
        return Bracket(lower, [upper], reason=why)

    def _longer(self) -> list[Parts]:
        """As many above as may be, and so many more below, where no long sum is needed for that.

        For Y >= 0 its ratio is that of the bound, and by so many more below Y < 0 has no weight.
        """
        own, each = self.scales
        more = math.ceil(_NEGLIGIBLE * each)
        few = _NEGLIGIBLE / (1 / own + self.answers / each) + 8 * each < _MOST_TERMS
        return [self._run(self.answers + more, self.answers)] if few and self.variant != 2 else []

    def _lengths(self) -> tuple[int, ...]:
        if self.variant == 5:
            return (1,)
        if self.variant == 3:
            # each that is below costs epsilon_2/c more
            return 1, min(math.ceil(2 * self.answers / (1 - self.share)), _LONGEST**2)
        return 1, 8, _LONGEST

    def _run(self, low: int, high: int) -> Parts:
        run = Run(self.variant, *self.scales, low, 1 if self.variant in (3, 5) else high)
        return ((run, self.answers if self.variant == 2 else 1),)


ENTRIES = {SparseVector.kind: entry(SparseVector)}
