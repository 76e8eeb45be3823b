"""What uses of vectors cost: no more than what dominates them, no less than what they dominate.

Each use is put between lists of uses of other mechanisms (`mechanisms.additive.vector` has the
proofs, `rounded` beside it those of real vectors that are rounded): all vectors along some
direction within reach, from below; all by their Gaussian envelope, or all in one coordinate, from
above. Which of these is the worst, or the best, may differ from figure to figure.

*The dearest vector is known* (`Reach.dearest`, as where one cell of a histogram becomes another):
then its cost is exact, that of as many uses of one number as it has coordinates.

*What adds up over coordinates* (pure epsilon, Rényi divergence at each order, rho, which is at most
the sum of suprema) is c(|v_1|) + c(|v_2|) + ..., c(k) the cost of one number that moves by k. Where
c(k) <= a k^2 + b k for all k within reach, a, b >= 0, it is at most a |v|_2^2 + b |v|_1: the best
such a and b are a vertex of these constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce

from attrs import evolve, frozen

from ...exact.budget import in_any_case, in_time, unhurried
from ...exact.enclosure import Enclosure, Endpoint
from ...mechanisms.additive.coordinate_rounding import Stochastic
from ...mechanisms.additive.rounded import RoundedReach
from ...mechanisms.additive.vector import VectorNoise, vector
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.dominating import Dominating, Parts, Profiled, RenyiCurve, dominated
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError, distance
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, OneWay, either_way
from ...mechanisms.sampled import RandomRate, bare
from ..figure import PURE, RHO, Figure
from ..scenario import Use
from . import divergence
from .rounding import is_trimmable, rounded, trimmed_cost
from .single import attained, own_delta, own_epsilon_below

OPEN = "the worst-case neighbour is not known: between one that is attained and what dominates all"

MOST_MOVES = 16  # of one coordinate, each of which is measured
_MOST_USES = 10**9
_FEW_RESIDUES = 64
_FARTHEST = 10**9  # that one number may move
_ATTAINED = Fraction(1, 10**5)  # width of what vectors attain: less than the gap above it, mostly
_GUARANTEED = Fraction(1, 10**5)  # width of what bounds all that have a guarantee: the same
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_ANYTHING = Enclosure.unknown()

Uses = tuple[Use, ...]


@frozen
class Sides:
    """Lists of uses that cost at most as much as these, and lists that cost at least as much.

    likely: those of the latter that can be the least at a delta. slower: more of `above`, for where
    the others leave a gap. exact: a list that costs the same, where one is known. complete: do
    these uses cost what the dearest of `below` does? guaranteed: what bounds Rényi divergences of
    some uses, and how often; others: all the other uses. why: what is open in between. pure: a list
    of the same pure epsilon. own: measures these uses itself.
    """

    uses: Uses
    below: tuple[Uses, ...]
    above: tuple[Uses, ...]
    likely: tuple[Uses, ...]
    exact: Uses | None = None
    complete: bool = False
    guaranteed: tuple[tuple[RenyiCurve, int], ...] = ()
    others: Uses = ()
    why: tuple[str, ...] = (OPEN,)
    slower: tuple[Uses, ...] = ()
    pure: Uses | None = None
    own: Profiled | None = None

    def near(self, figure: Figure) -> Sides:
        """With what is attained at this figure besides, by what is known by a guarantee only."""
        if not self.guaranteed or figure.adds_up:
            return self
        more: list[Uses] = []
        nothing: list[Uses] = []
        for uses in in_time(partial(attained, self.uses, figure), nothing):
            sides = sides_of(uses)
            more += [uses] if sides is None else sides.below[:1]
        return evolve(self, below=(*self.below, *more))

    @property
    def is_reduced(self) -> bool:
        """Are all vectors reduced mod a number so small that all residues are seen often?"""
        found = (vector(use.mechanism) for use in self.uses)
        return all(one is None or (one.modulus or _FARTHEST) <= _FEW_RESIDUES for one in found)

    def dominating(self, measure: Callable[[Uses], Enclosure]) -> Enclosure:
        """The least of what dominates: its upper end bounds these uses, its lower end nothing."""
        return min(map(measure, self.likely), key=lambda one: one.upper)

    def between(
        self,
        figure: Figure,
        measure: Callable[[Uses, Fraction], Enclosure],
        width: Fraction,
        besides: Callable[[], Enclosure] = Enclosure.unknown,
    ) -> Enclosure:
        """From the largest of those below to the least of those above.

        A figure that adds up over uses is computed for every list of `above`, to the full width.
        Others: for the likely lists only, and for those below to _ATTAINED at the narrowest.

        measure: of a list of uses, to a relative width. besides: what else is known.
        """
        dominating, roughly = self.above, width
        if not figure.adds_up:
            dominating, roughly = self.likely, max(width, _ATTAINED)
            width = max(width, _GUARANTEED) if self.guaranteed else width
        alike = [] if self.exact is None else [(self.exact,)]
        for lists in (*alike, *([self.below] if self.complete else [])):
            each = [in_time(partial(measure, uses, width), _ANYTHING) for uses in lists]
            found = reduce(Enclosure.maximum, each)
            if found.is_finite() or found.lower == _INFINITY:
                return found
        above = {uses: in_any_case(partial(measure, uses, width), _ANYTHING) for uses in dominating}
        known = in_any_case(besides, _ANYTHING)
        if known.lower == _INFINITY:
            return known
        lower = [above[uses] for uses in self.below if uses in above]
        for uses in self.below:
            if uses not in above:
                asked = partial(measure, uses, roughly)
                lower.append((in_time if lower else in_any_case)(asked, _ANYTHING))
        found = _between(lower, list(above.values()), self.why).intersection(known)
        for uses in self.slower:
            if not found.is_within(roughly):
                asked = partial(measure, uses, width)
                found = found.intersection(Enclosure(_ZERO, in_time(asked, _ANYTHING).upper))
        return found

    def total(self, figure: Figure, measure: Callable[[Uses], Enclosure]) -> Enclosure:
        """What adds up over uses and coordinates, at most; anything where one use is unknown."""
        parts = [measure(self.others)] if self.guaranteed and self.others else []
        for curve, times in self.guaranteed:
            end = _at_most(curve, figure)  # some that have the guarantee attain what has no bound
            parts.append(Enclosure(_ZERO if end != _INFINITY else end, end).times(times))
        for use in () if self.guaranteed else self.uses:
            part = _by_coordinates(use, figure, measure)
            if part is None:
                return _ANYTHING
            parts.append(part.times(use.times))
        found = Enclosure.total(parts)
        return found if found.lower == _INFINITY else Enclosure(_ZERO, found.upper)

    def besides(self, figure: Figure) -> Enclosure:
        """What else is known of epsilon, delta or a Rényi divergence: by what measures itself; of
        rounding at random, at most the mixture that it is; of binomial noise, that of a law which
        is all but the same. Else, and out of time, nothing is known.
        """
        at, is_renyi = figure.at, figure.quantity == "renyi"
        assert at is not None
        if self.own is not None and not is_renyi:
            if figure.quantity == "delta":
                return own_delta(self.own, at, _ATTAINED)
            return own_epsilon_below(self.own, at)
        if (found := rounded_at_random(self.uses)) is not None:
            one, reach, times = found
            cost = partial(rounded, figure, one.law, reach.norm, reach.dimension, times, one.rate)
            with suppress(NoEnvelopeError):
                return in_any_case(cost, _ANYTHING)
        each = [(vector(use.mechanism), use.times) for use in self.uses]
        binomial = [(one, times) for one, times in each if one is not None and is_trimmable(one)]
        if is_renyi or len(binomial) < len(each):
            return _ANYTHING
        return in_time(partial(trimmed_cost, binomial, figure), _ANYTHING)


def rounded_at_random(uses: Sequence[Use]) -> tuple[VectorNoise, RoundedReach, int] | None:
    """The vector, its reach and how often it is used, where all uses are of one such; else None."""
    mechanism, times = uses[0]
    one = vector(mechanism)
    if len(uses) > 1 or one is None or not isinstance(one.reach, RoundedReach):
        return None
    return (one, one.reach, times) if isinstance(one.reach.rounding, Stochastic) else None


def sides_of(uses: Sequence[Use]) -> Sides | None:
    """The lists on both sides of these uses; None where all have pairs of laws of their own.

    Nothing is known without them: they are found whatever time is left.
    """
    with unhurried():
        found = [_dominating(use.mechanism) for use in uses]
        return _sides(uses, found) if any(found) else None


def _sides(uses: Sequence[Use], found: Sequence[Dominating | None]) -> Sides:
    bounds = [one for one in found if one is not None]
    alone = found[0] if len(uses) == uses[0].times == 1 else None

    def lists(pick: Callable[[Dominating], Sequence[Parts]]) -> tuple[Uses, ...]:
        choices = [None if one is None else pick(one) for one in found]
        return tuple(dict.fromkeys(_turns(uses, choices)))

    def few(one: Uses) -> bool:
        return sum(use.times for use in one) <= _MOST_USES

    def alike(pick: Callable[[Dominating], Parts | None]) -> Uses | None:
        """The list of what each costs by itself, where all are so told."""
        if any(pick(one) is None for one in bounds):
            return None
        (listed,) = lists(lambda one: (pick(one) or (),))
        return listed if few(listed) else None

    above = lists(lambda one: one.upper)
    has_pure, is_slow = any(one.pure for one in bounds), any(one.slower for one in bounds)
    each = list(zip(found, uses, strict=True))
    return Sides(
        tuple(uses),
        tuple(one for one in lists(lambda one: one.lower) if one and few(one)),
        above,
        above[:1] if any(one.one_suffices for one in bounds) else above,
        alike(lambda one: one.exact),
        alone is not None and alone.complete,
        tuple((one.curve, use.times) for one, use in each if one is not None and one.curve),
        tuple(use for one, use in each if one is None or not one.curve),
        tuple(dict.fromkeys(one.why for one in bounds)),
        lists(lambda one: one.slower or one.upper) if is_slow else (),
        alike(lambda one: one.pure or one.exact or None) if has_pure else None,
        None if alone is None or isinstance(uses[0].mechanism, OneWay) else alone.own,
    )


def _dominating(mechanism: Mechanism) -> Dominating | None:
    """What a use lies between; None where it has pairs of laws of its own."""
    if (one := vector(mechanism)) is not None:
        return _of_vector(one)
    known, inner = dominated(mechanism), either_way(mechanism)
    if isinstance(inner, RandomRate) and (one := vector(inner.mechanism)) is not None:
        return _of_vector_at(inner, one)
    found = None if known is None else known.dominating()
    if found is None or found.envelope is None:
        return found
    noise = ContinuousNoise(Shape.GAUSSIAN, Fraction(1), distance(*found.envelope))
    around = evolve(noise, neighbours=getattr(mechanism, "neighbours", "replace"))
    return evolve(found, upper=(*found.upper, ((around, 1),)))


def _turns(uses: Sequence[Use], choices: Sequence[Sequence[Parts] | None]) -> Iterator[Uses]:
    """The first, second, ... list of each use together: the last of each where it has no more."""
    for turn in range(max((len(lists) for lists in choices if lists is not None), default=0)):
        found: list[Use] = []
        for use, lists in zip(uses, choices, strict=True):
            if lists is None:
                found.append(use)
            elif lists:
                parts = lists[min(turn, len(lists) - 1)]
                is_fixed = isinstance(use.mechanism, OneWay)  # which of the two datasets is first
                found += [
                    Use(OneWay(part) if is_fixed else part, count * use.times)
                    for part, count in parts
                ]
        yield tuple(found)


def _of_vector(one: VectorNoise) -> Dominating:
    """Along directions within reach; by the Gaussian envelope, or all in one coordinate."""
    lower = [tuple(one.along(direction)) for direction in one.directions()]
    dearest, upper, light = one.dearest(), [((_enveloped(one), 1),)], True
    if one.reach.largest_sum <= _FARTHEST:
        upper.append(((one.of_one_number(), 1),))
        # may all in one coordinate cost less than the envelope, at some delta? Not where that has
        # tails like a Gaussian's and |v|_1 is much above |v|_2: that saves time only
        light = one.reach.largest_sum**2 <= 2 * one.reach.largest_square
        light = light or divergence.figure_of(AdditiveNoise(one.law), PURE).is_finite()
    exact = None if dearest is None else tuple(dearest)
    return Dominating(lower, upper, exact, one_suffices=not light, why=OPEN)


def _of_vector_at(sampled: RandomRate, one: VectorNoise) -> Dominating:
    """The same at rates that are drawn and told: what bounds the vector, sampled alike."""
    known = _of_vector(evolve(one, neighbours="add-remove"))
    upper = [((evolve(sampled, mechanism=bare(part)), 1),) for ((part, _),) in known.upper]
    alone = one.reach.alone()
    lower = [((evolve(sampled, mechanism=bare(part)), 1),) for part, _ in one.along(alone) if alone]
    return evolve(known, lower=lower, upper=upper, exact=None)


def _between(
    lower: Sequence[Enclosure], upper: Sequence[Enclosure], why: Sequence[str]
) -> Enclosure:
    least = max((one.lower for one in lower), default=_ZERO)
    best = min(upper, key=lambda one: one.upper)
    said = tuple(dict.fromkeys(reason for one in (*lower, best) for reason in one.why))
    ends = [one for one in lower if one.lower is least] + [best]
    by = tuple(dict.fromkeys(method for one in ends for method in one.by))
    return Enclosure(least, best.upper, why=said, by=by).because(*why)


def _enveloped(one: VectorNoise) -> Mechanism:
    """The Gaussian that dominates it; one number where only one moves, or no envelope is known.

    Of a vector that is rounded at random it dominates the longest that may be sent; what is proved
    of the mixture itself belongs beside it.
    """
    if one.is_one_number:
        return one.of_one_number()
    try:
        far = distance(one.law, one.reach.largest_square)
    except NoEnvelopeError:
        return one.of_one_number()
    return ContinuousNoise(Shape.GAUSSIAN, Fraction(1), far, one.neighbours, one.rate, one.removing)


def _by_coordinates(
    use: Use, figure: Figure, measure: Callable[[Uses], Enclosure]
) -> Enclosure | None:
    """What all coordinates of one use add up to, at most; None where that is not known."""
    one = vector(use.mechanism)
    if one is None:
        found = _dominating(use.mechanism)
        if found is None:
            return measure((Use(use.mechanism, 1),))
        return (
            None if found.rho is None else Enclosure(_ZERO, _at_most(RenyiCurve(found.rho), figure))
        )
    if one.rate == 1 and isinstance(one.law, DiscreteGaussian):  # a/(2 sigma2) a unit of |v|_2^2
        end = _at_most(RenyiCurve(one.reach.largest_square / (2 * one.law.sigma2)), figure)
        if end != _INFINITY:
            return Enclosure(_ZERO, end)
    if one.rate != 1 or one.reach.farthest > MOST_MOVES:
        return None
    moves = range(1, one.reach.farthest + 1)
    costs = [measure(tuple(Use(*part) for part in one.along({move: 1}))).upper for move in moves]
    if _INFINITY in costs:
        return _ANYTHING
    square, total = one.reach.largest_square, one.reach.largest_sum
    slope, level = least_tilt([Fraction(cost) for cost in costs], square, total)
    return Enclosure(_ZERO, slope * square + level * total)


def _at_most(curve: RenyiCurve, figure: Figure) -> Endpoint:
    """Of a figure that adds up."""
    if figure.quantity == "renyi":
        assert figure.at is not None
        return curve.at(figure.at)
    return curve.rho if figure == RHO else _INFINITY


def least_tilt(costs: Sequence[Fraction], square: int, total: int) -> tuple[Fraction, Fraction]:
    """Those a, b >= 0 with a k^2 + b k >= cost of k for which a square + b total is least.

    Divided by k: a k + b >= cost/k =: r(k). For a given a the least b is the largest r(k) - a k,
    so that the whole is convex and linear between slopes of the upper hull of the r(k).
    """
    rates = [(move, cost / move) for move, cost in enumerate(costs, start=1)]
    slopes = {_ZERO, max(rate / move for move, rate in rates)}
    slopes |= {(s - r) / (j - i) for i, r in rates for j, s in rates if j > i and s > r}
    tilts = [
        (slope, max(_ZERO, *(rate - slope * move for move, rate in rates))) for slope in slopes
    ]
    return min(tilts, key=lambda tilt: tilt[0] * square + tilt[1] * total)
