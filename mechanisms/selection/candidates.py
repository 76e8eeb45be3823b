"""Which candidate is best? The exponential mechanism, report noisy max, permute and flip.

Each candidate has a score of sensitivity 1.

*The exponential mechanism* chooses y with probability in proportion to w(y) e^(c score(y)). Of two
neighbours the losses of all outcomes differ by at most `epsilon`: bounded range (Durfee, Rogers,
NeurIPS 2019; Dong, Durfee, Rogers, ICML 2020): c = epsilon/2 in general, epsilon where all scores
rise together. Losses in an interval [t - epsilon, t] make a pair that is post-processing of M_t,
the pair with losses t and t - epsilon alone (split each outcome among both ends, so that P and Q
are kept): with g = e^epsilon, x = e^t, P = (g - x)/(g - 1) and Q = P/x at t. Two candidates of
suitable scores have it. So an adversary picks some t in [0, epsilon], at every use, knowing what
was said before: the game of these choices. From below, t on a lattice. From above, pairs of which
each dominates all M_t of a cell, by its largest losses; and, narrower, mixtures. With c = 1 -
e^-epsilon, p = (1 - e^(t-epsilon))/c and -q = (e^-epsilon - e^-t)/c are concave in t. Let t = m a +
(1 - m) b lie between a and b = a + h: p is above m p_a + (1 - m) p_b by at most m (1 - m) h^2/2
times the largest -p'' = e^(t-epsilon)/c, and q below alike, by q'' = e^-t/c. So M_t is
post-processing of a coin of m that tells which of two pairs is used, (p_a, q_a) or (p_b, q_b), each
p raised and each q lowered by h^2/2 times these: no coin helps an adversary who may choose. (Where
the choice is made once for all uses the worst t are known: Dong, Durfee, Rogers, Theorem 3.) Any
t is epsilon^2/8-zCDP (Cesar and Rogers, ALT 2021): f(a) = log E_Q e^(a loss) vanishes at 0 and 1,
and f'' is the variance of a variable in an interval of width epsilon, at most epsilon^2/4; so f(a)
<= a (a - 1) epsilon^2/8 for a > 1, and D_a = f(a)/(a - 1) <= a epsilon^2/8.

*Report noisy max* adds discrete Laplace noise to every score and tells who is largest, the first of
these. Fix the noise of all others: y wins from some noise on, which moves by at most 2 (by 1 where
all scores move the same way), and P(X >= k) falls by e^(-1/scale) a step at most: 2/scale-DP, or
1/scale (`monotone`). *Permute and flip* goes through the candidates in random order and takes each
with probability e^(epsilon (score - best)/2): epsilon-DP (McKenna, Sheldon, NeurIPS 2020). Neither
is less private than randomized response of that epsilon. From below: one candidate against many
alike, its score up and theirs down, is enough to come as near as one likes in the largest loss.
"""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen
from flint import arb

from ...exact.number import ExactInput, ball, exact, whole
from ..bracket import Bracket, Bracketed, RenyiCurve
from ..fields import parameters
from ..fields.schema import YES_OR_NO, Calibrated, entry, key
from ..mechanism import Choice, Mechanism, RandomizedResponse
from ..pairs.pair import ListedPair, Masses, Steps
from .above import mean_above

_TRIED = 16  # parts of the range at which t is tried from below
_NEAR = 10**13  # as near to its end, for the largest loss
_CELLS = 64  # of t, from above
_SCORES = 32  # from below, where t is picked anew in every use
_LARGE = 8  # epsilon: of a larger one, cells are too wide for mixtures
_FINEST = 10_000
_MOST_OTHERS = 64
_FARTHEST = 5000
_WHY = "which scores tell the most is open: some that are attained, and what dominates all"


def _scale(value: ExactInput) -> Fraction:
    """A number above 0."""
    return exact(value, "scale", above=0)


def _candidates(value: ExactInput) -> int:
    """A whole number, 2 to 1e9."""
    return whole(value, "candidates", at_least=2, at_most=10**9)


@frozen
class TwoLosses(ListedPair):
    """Losses epsilon part/parts and epsilon (part - width)/parts, and no others."""

    epsilon: Fraction
    part: int
    parts: int
    width: int

    def masses(self) -> Masses:
        top, bottom = self.part, self.part - self.width
        unit = ball(self.epsilon) / self.parts
        p = (unit * bottom).expm1() / (-unit * self.width).expm1()
        rest = -(unit * top).expm1() * (-unit * self.width).exp() / (-unit * self.width).expm1()
        return (p, rest), (p * (-unit * top).exp(), rest * (-unit * bottom).exp())

    def steps(self) -> Steps | None:
        if self.parts > _FINEST:  # two losses are listed sooner than they meet on such a lattice
            return None
        return Steps(self.epsilon / self.parts, (self.part, self.part - self.width))

    def name_of(self, outcome: int) -> str:
        return ("the candidate whose score rises", "the other one")[outcome]


@frozen
class Raised(ListedPair):
    """M_t at t = epsilon part/parts, 0 < part < parts, raised: for mixtures with its neighbours."""

    epsilon: Fraction
    part: int
    parts: int

    def masses(self) -> Masses:
        end, h = ball(self.epsilon), ball(self.epsilon) / self.parts
        t, whole = h * self.part, -(-end).expm1()
        p, q = -(t - end).expm1() / whole, -(t - end).expm1() / whole * (-t).exp()
        p += (t + h - end).exp() * h**2 / (2 * whole)
        q -= (h - t).exp() * h**2 / (2 * whole)
        return (p, 1 - p), (q, 1 - q)

    def name_of(self, outcome: int) -> str:
        return ("the candidate whose score rises", "the other one")[outcome]


def two_losses(epsilon: Fraction, parts: int, width: int) -> tuple[TwoLosses, ...]:
    """That of this width at each of so many parts of the range.

    For t between epsilon (i-1)/parts and epsilon i/parts the losses of M_t lie between those of
    parts + 1 steps that end at i; at i itself they are those of parts steps.
    """
    return tuple(TwoLosses(epsilon, part, parts, width) for part in range(1, parts + 1))


def raised(epsilon: Fraction, parts: int) -> tuple[Raised, ...]:
    """At all t between the ends: with what dominates both cells there, they dominate all."""
    return tuple(Raised(epsilon, part, parts) for part in range(1, parts))


@frozen
class Exponential(Bracketed):
    """The exponential mechanism, of this bounded range."""

    epsilon: Fraction = field(
        converter=parameters.epsilon,
        metadata=key("the span of its losses: 2 x scale x sensitivity"),
    )

    kind = "exponential"
    says = "the exponential mechanism, as one whose losses span epsilon at most"
    calibrated = Calibrated(
        "epsilon",
        0,
        "what spans no more than less spans no more than this",
        falls=False,
        is_open=True,
    )
    example = "epsilon=1"

    def bracket(self) -> Bracket:
        """Between some M_t, as an adversary picks them, and what dominates all.

        M_t the other way round is M_(epsilon - t).
        """
        parts = _TRIED
        tried = [TwoLosses(self.epsilon, part, parts, parts) for part in range(parts // 2, parts)]
        tried.append(TwoLosses(self.epsilon, _NEAR - 1, _NEAR, _NEAR))
        cells = two_losses(self.epsilon, _CELLS, _CELLS + 1)
        lower, upper = list[Mechanism](tried), [Choice(cells, is_mutual=True)]
        curve = RenyiCurve(self.epsilon**2 / 8)
        if self.epsilon > _LARGE:
            return Bracket(lower, upper, curve=curve, reason=_WHY)
        some = two_losses(self.epsilon, _SCORES, _SCORES)[:-1]
        lower.append(Choice(some, is_mutual=True))
        narrow = (cells[0], cells[-1], *raised(self.epsilon, _CELLS))
        upper.append(Choice(narrow, is_mutual=True))
        return Bracket(lower, upper, curve=curve, reason=_WHY)

    def in_closed_form(self, quantity: str, at: Fraction) -> arb:
        """ "delta" at an epsilon >= 0, "epsilon" at a delta in (0, 1], "renyi" at an order > 1."""
        span = ball(self.epsilon)
        whole = -(-span).expm1()
        if quantity == "delta":
            if at >= self.epsilon:
                return arb(0)
            return (ball((at - self.epsilon) / 2)).expm1() ** 2 / whole
        if quantity == "epsilon":
            return (span + 2 * (-(ball(at) * whole).sqrt()).log1p()).max(arb(0))
        a, less = ball(at), -((1 - ball(at)) * span).expm1()
        high = span + (-(-a * span).expm1()).log()  # log A
        x = ((a - 1) / a).log() + high - less.log()
        return x + (high - a.log() - span.expm1().log()) / (a - 1)


@frozen
class OneAgainstAll(ListedPair):
    """Report noisy max: does the last candidate win, whose score is `behind` that of all others?

    Under D; under D' by `moved` more.
    """

    scale: Fraction
    others: int
    behind: int
    moved: int

    def masses(self) -> Masses:
        wins = [
            mean_above(self.scale, self.scale, {gap: self.others}, {})
            for gap in (self.behind, self.behind + self.moved)
        ]
        return (wins[0], 1 - wins[0]), (wins[1], 1 - wins[1])

    def name_of(self, outcome: int) -> str:
        who = ("the last candidate", "another than the last candidate")[outcome]
        return f"{who} wins, {self.behind} behind {self.others} others (D' {self.moved} more)"


@frozen
class NoisyMax(Bracketed):
    """Report noisy max with discrete Laplace noise, of so many candidates."""

    scale: Fraction = field(converter=_scale, metadata=key("P(x) falls as e^(-|x|/scale)"))
    candidates: int = field(converter=_candidates, metadata=key("how many there are"))
    monotone: bool = field(
        default=False, metadata=key("do all scores move the same way?", takes=YES_OR_NO)
    )

    kind = "noisy-max"
    says = "which of some candidates has the largest score with discrete Laplace noise"
    example = "scale=2,candidates=10"

    def __attrs_post_init__(self) -> None:
        exact(self.moved / self.scale, f"{self.moved}/scale", at_most=10_000)  # as of `odds`

    @property
    def moved(self) -> int:
        """By how much neighbours move two scores apart."""
        return 1 if self.monotone else 2

    def bracket(self) -> Bracket:
        """Between one candidate against others alike, and randomized response."""
        others, reach = min(self.candidates - 1, _MOST_OTHERS), round(self.scale)
        gaps = dict.fromkeys(min(k * reach, _FARTHEST) for k in (0, 1, 4, 40))
        lower = [OneAgainstAll(self.scale, others, gap, self.moved) for gap in gaps]
        dominating = RandomizedResponse(self.moved / self.scale)
        return Bracket(lower, [dominating], reason=_WHY)


@frozen
class Flipped(ListedPair):
    """Permute and flip: is one candidate chosen, whose score is `behind` that of all others?

    Under D; under D' by 2 less, behind >= 2. Among `others` + 1 it comes first of those that are
    not skipped with probability e^(-epsilon behind/2)/(others + 1).
    """

    epsilon: Fraction
    others: int
    behind: int

    def masses(self) -> Masses:
        odds = [(-ball(self.epsilon) * gap / 2).exp() for gap in (self.behind - 2, self.behind)]
        chosen = [each / (self.others + 1) for each in odds]
        return (chosen[0], 1 - chosen[0]), (chosen[1], 1 - chosen[1])

    def name_of(self, outcome: int) -> str:
        who = ("one candidate", "another one")[outcome]
        return f"{who} is chosen, which is {self.behind - 2} behind {self.others} (D' 2 more)"


@frozen
class PermuteAndFlip(Bracketed):
    """Permute and flip, of any candidates."""

    epsilon: Fraction = field(converter=parameters.epsilon, metadata=key("pure epsilon"))

    kind = "permute-and-flip"
    says = "permute and flip: a candidate of a high score; never worse than the exponential one"
    example = "epsilon=1"

    def bracket(self) -> Bracket:
        """Between one candidate against others alike, and randomized response."""
        lower = [Flipped(self.epsilon, others, 2) for others in (1, 2, 9)]
        return Bracket(lower, [RandomizedResponse(self.epsilon)], reason=_WHY)


ENTRIES = {one.kind: entry(one) for one in (Exponential, NoisyMax, PermuteAndFlip)}
