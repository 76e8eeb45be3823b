"""delta(epsilon) of composed mechanisms, and its inverse epsilon(delta).

The losses of the uses' pairs add up (`losses.product` says which pairs, and what is charged for
besides). Their sum is measured exactly where it lives on a lattice or has few enough values to
list, and from both sides otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce
from itertools import accumulate, islice
from typing import NamedTuple, TypeAlias

from flint import arb, ctx

from ...exact.budget import OutOfTimeError, spend, within
from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import CAP, WIDTH, enclose_between, refine, working_precision
from ...losses.choices import adaptive_delta, adaptive_epsilon
from ...losses.lattice import A_SECOND, BITS, refined
from ...losses.planning import Sketch, Sketches, saddle
from ..divergences.privacy_profile import Event, root_near, value_at
from ..figure import Figure
from ..grid.blocks import BlockLoss
from ..grid.cells import TwoWayLoss
from ..scenario import Scenario, Use
from .composite import NO_LATTICE, Together, saddle_towards
from .continuous import profile
from .continuous.inversion import Parts
from .lattice import LatticeTail
from .listed import ListedLoss
from .of_pair import listed_law
from .product import MOST_OUTCOMES, Product, outcomes, product_of

WORK = 4.0  # about how many seconds losses off a lattice may take where the width asks for more
_MOST_LISTED = 150_000  # values of a composed loss that are listed
_NEGLIGIBLE = Fraction(1, 10**300)  # nobody asks how much less delta is than this
_EXACT = 3e6  # units for exact sums, before losses are moved to a lattice
OFF_LATTICE = Fraction(1, 10**6)  # the width of sums off a lattice, where no other is wanted
_CLOSE, _EVERY = 35.0, 20.0  # so far below delta, in its logarithm, is what is left out; steps
FIRST_TAIL = -150.0  # the logarithm of the mass left out before delta is known, about
_BELOW_DELTA = 20.0  # by so much less in its logarithm may be left out of what is played out
_BOTH_ENDS = 4  # so much narrower is each of two that an answer lies between
_OF_GAP = Fraction(1, 100)  # of what is open between two, their own width
_CANDIDATES = 2  # of several pairs, so many are tried for the lower bound

LEAST_LOG_DELTA = -1e5
_NEAR_ZERO = 0.01  # below this level it is checked whether epsilon is 0
_ROUGHLY, _LITTLE = Fraction(1, 1000), 0.2  # width and seconds of work, in little time
_FIRST_POINTS, _FEWEST = 1 << 12, 1 << 10  # of the first lattice; of outcomes in blocks
_MOST_TOGETHER = 100_000  # outcomes of all uses of a list, in little time
_FEW_PAIRS, _ANY = 4, -50.0  # whose outcomes are counted, at such a logarithm of a delta

BETWEEN = "it was measured between distributions that dominate and what is certain"
_OPEN_CHOICE = "which of several pairs of neighbours an adversary picks is open"
_ORDER = "the releases count in whichever order costs most, not in the order listed"

Enough: TypeAlias = Callable[[Enclosure], bool]


def never(_: Enclosure) -> bool:
    """Nothing is narrow enough."""
    return False


def coarse(uses: Scenario, figure: Figure) -> Enclosure:
    """delta at an epsilon, or epsilon at a delta, on as fine a lattice as takes little time.

    Raises OutOfTimeError where listing the outcomes alone takes too long, and DoesNotApplyError.
    """
    spend(sum(map(_listed, uses)))
    return composed(uses, figure, _ROUGHLY, CAP, _LITTLE, points=_FEWEST)


def most_costly(uses: Scenario) -> Scenario:
    """The uses of fewest outcomes, so of least noise, of a list that takes long: it costs more."""
    counts, places = zip(*sorted((_listed(use), at) for at, use in enumerate(uses)), strict=True)
    few = sum(total <= _MOST_TOGETHER for total in accumulate(counts))
    return tuple(uses[at] for at in places[: max(few, 1)])


def _listed(use: Use) -> int:
    """How many outcomes are listed of it, at most."""
    if profile.has_no_outcomes(use.mechanism):
        return 0
    pairs = islice(use.mechanism.pairs(), _FEW_PAIRS)
    with suppress(ArithmeticError):
        return sum(min(outcomes(pair, _ANY), MOST_OUTCOMES) for pair in pairs)
    return MOST_OUTCOMES  # more than anybody lists


class _Task(NamedTuple):
    """delta at an epsilon, or epsilon at a delta, and how it is wanted.

    log_delta: where delta is, about. width, cap: of what is exact. goal: the width of sums off a
    lattice. work: about how many seconds these may take. enough: what makes a narrower enclosure
    needless. points: if any, losses are moved to a lattice of so many at first, whatever else is
    known of them.
    """

    is_delta: bool
    at: Fraction
    log_delta: float
    width: Fraction
    cap: int
    goal: Fraction
    work: float
    enough: Enough
    points: int


def composed(
    uses: Scenario,
    figure: Figure,
    width: Fraction,
    cap: int,
    work: float = WORK,
    enough: Enough = never,
    points: int = 0,
) -> Enclosure:
    """delta at an epsilon >= 0, or the least epsilon >= 0 at a delta > 0, of these uses together
    in this scenario (`_Task`).

    Off a lattice less narrowly than what is exact, where nothing else is asked.
    """
    return _composed(partial(product_of, uses), figure, width, cap, work, enough, points)


def of_noise(parts: Parts, figure: Figure, width: Fraction) -> Enclosure:
    """The same of continuous noise alone, all in one direction; on a lattice where need be."""
    narrow = profile.measured(parts, figure, width)
    if narrow.is_within(width):
        return narrow
    product = Product((), tuple(profile.merged(parts)))
    with suppress(ArithmeticError, OutOfTimeError):
        narrow = narrow.intersection(_composed(lambda _: product, figure, width, CAP))
    return narrow


def _composed(
    product: Callable[[float], Product],
    figure: Figure,
    width: Fraction,
    cap: int,
    work: float = WORK,
    enough: Enough = never,
    points: int = 0,
) -> Enclosure:
    """product: what is composed, where delta has about this logarithm."""
    at, is_delta = figure.at, figure.quantity == "delta"
    assert at is not None
    with working_precision(BITS):
        log_delta = (
            _log_delta(product(math.inf).fixed(0), at) if is_delta else float(ball(at).log().mid())
        )
    goal = OFF_LATTICE if width == WIDTH and work == WORK else width
    task = _Task(is_delta, at, log_delta, width, cap, goal, work, enough, points)
    return _over_choices(product(log_delta), task)


def _log_delta(product: Product, epsilon: Fraction) -> float:
    """The logarithm of delta there, about, at the working precision."""
    level, log_tail = float(ball(epsilon).mid()), FIRST_TAIL
    while True:
        losses = product.losses(log_tail)
        composite = Together(losses)
        if not losses or composite.is_void():
            return 0.0
        if not ball(composite.largest()) < level or composite.missing() <= 0:
            break
        if log_tail < LEAST_LOG_DELTA:
            return LEAST_LOG_DELTA
        log_tail *= 4
    sketches = Sketches(Sketch.of(*loss.sketch(), times) for loss, times in losses)
    return max(min(sketches.saddle(None, level).log_delta, 0.0), LEAST_LOG_DELTA)


def _over_choices(product: Product, task: _Task) -> Enclosure:
    """The largest over all choices of pairs.

    From fixed ones below and dominating pairs above; where these leave a gap, by playing it out.
    """
    if product.is_exact:
        return _measured(product, task)
    answer = _between(product, task._replace(goal=max(task.goal, _ROUGHLY)))
    has_end = answer.is_finite() and answer.upper
    gap = 1 - Fraction(answer.lower) / Fraction(answer.upper) if has_end else Fraction(1)
    ends = max(gap * _OF_GAP, task.goal / _BOTH_ENDS)  # so narrow is each worth to be
    if ends < _ROUGHLY:
        answer = answer.intersection(_between(product, task._replace(goal=ends)))
    if task.points or answer.is_within(task.goal) or not product.is_played:
        return answer
    try:
        with working_precision(BITS):
            some = product.tails(max(task.log_delta, LEAST_LOG_DELTA) - _BELOW_DELTA)
            menus = [([listed_law(pair, at) for pair in of.pairs], of.times) for of, at in some]
        play = adaptive_delta if task.is_delta else adaptive_epsilon
        played = play(menus, task.at, task.goal / _BOTH_ENDS, task.work / 2)
        return answer.intersection(played.found_by("adaptive choices, played out"))
    except (OutOfTimeError, DoesNotApplyError):
        return answer


def _between(product: Product, task: _Task) -> Enclosure:
    """From what fixed choices cost, the first ones of a list, to what dominates all of them."""
    candidates = min(_CANDIDATES, max(len(factor.among) for factor in product.factors))
    share = task._replace(work=task.work / 2 / (candidates + 1))
    most = _measured(product, share)
    if not most.upper:
        return most
    fixed = [_measured(product.fixed(choice), share) for choice in range(candidates)]
    least = reduce(Enclosure.maximum, fixed)
    by = tuple(dict.fromkeys((*least.by, *most.by)))
    found = Enclosure(least.lower, most.upper, why=least.why, by=by).because(_OPEN_CHOICE)
    return found.because(_ORDER) if len(product.factors) > 1 else found


# -- which way ------------------------------------------------------------------------------------

_BY_LARGEST, _BY_LATTICE = "largest loss", "losses moved to a lattice"
_BY_EVENTS = {LatticeTail: "losses on a lattice", ListedLoss: "listed losses"}


def _measured(product: Product, task: _Task) -> Enclosure:
    """With one pair for each use, or one that dominates: at its ends, exactly, or on a lattice."""
    with working_precision(BITS):
        composite = product.composite(FIRST_TAIL)
        if task.is_delta:
            if composite.is_beyond(task.at):
                return composite.beyond(ball(task.at).exp()).found_by(_BY_LARGEST)
            most = Enclosure.probability()
        else:
            is_void, target = composite.is_void(), ball(task.at)
            if is_void and composite.beyond(arb(1)).at_most(task.at):
                return Enclosure.exactly(0)
            if is_void or composite.surely() > target:
                return composite.never_below(target)
            most = composite.up_to_largest(task.at)
            if most.upper == 0:
                return most
    if not task.points and (kind := _exactly(product, task)) is not None:
        with suppress(OutOfTimeError), within(_EXACT):
            return _by_events(product, kind, task, most).found_by(_BY_EVENTS[kind])
    try:
        return _by_lattice(product, task).intersection(most)
    except ArithmeticError:  # no lattice holds it
        if task.is_delta or not most.is_finite():
            raise
        return most


def _exactly(product: Product, task: _Task) -> type[LatticeTail | ListedLoss] | None:
    """How events {L > level} are measured exactly; None where losses are moved to a lattice."""
    with working_precision(BITS):
        log_tail = _log_tail(task.log_delta)
        some = [*product.tails(log_tail)]
        if product.continuous or any(of.closed is None and of.has_many(at) for of, at in some):
            return None
        if product.composite(log_tail).lattice() is not None:
            return LatticeTail
        if sum(outcomes(of.pairs[0], at) for of, at in some) > 2 * _MOST_LISTED:
            return None
        # of all values, so many are listed on the way at most
        values = (math.comb(len(of.listed(at)) + of.times, of.times) for of, at in some)
        return ListedLoss if math.prod(values) <= _MOST_LISTED else None


def _log_tail(log_delta: float) -> float:
    """The logarithm of the P-mass that may be left out at the working precision."""
    return log_delta - 0.7 * ctx.prec - 10


def _by_events(
    product: Product, kind: type[LatticeTail | ListedLoss], task: _Task, most: Enclosure
) -> Enclosure:
    """From above only where a pair dominates several: each precision has its own."""
    met = False

    def exact() -> Enclosure:
        tail = _log_tail(task.log_delta)
        composite, off = product.composite(tail), product.charges()
        at = ball(task.at)
        line = (
            saddle(composite.cumulant, None, float(at.mid()))
            if task.is_delta
            else saddle_towards(composite, at)
        )
        if line is None:
            return composite.never_below(at)
        events = (
            LatticeTail(composite, line)
            if kind is LatticeTail
            else ListedLoss([(of.listed(at), of.times) for of, at in product.tails(tail)])
        )

        def exceeding(level: arb, exact_level: Fraction | None = None) -> Event:
            """With what the event may have lost or gained."""
            event, odds = events.exceeding(level, exact_level), level.exp()
            excess = event.excess + off.p + odds * off.q + off.above(odds)
            return event._replace(p=event.p - off.p, q=event.q + off.q, excess=excess)

        if task.is_delta:
            value = value_at(at, exceeding(at, task.at))
            return enclose_between(value.lower().min(arb(1)), value.upper()).intersection(most)
        if line.level < _NEAR_ZERO and value_at(arb(0), exceeding(arb(0))) <= at:
            return Enclosure.exactly(0)
        return root_near(arb(line.level), at, exceeding, most).intersection(most)

    def above() -> Enclosure:
        nonlocal met
        found = exact()
        met = found.is_within(task.width) or found.upper < _NEGLIGIBLE
        return Enclosure(Fraction(0), found.upper)

    if product.is_exact:
        return refine(exact, width=task.width, cap=task.cap)
    return refine(above, width=task.width, cap=task.cap, enough=lambda _: met)


def _by_lattice(product: Product, task: _Task) -> Enclosure:
    """Losses moved to ever finer lattices, until that is narrow enough or the work is done."""
    enclosure: Enclosure | None = None
    with working_precision(BITS):
        # what is left out is alike for figures near by
        tail = _EVERY * math.floor((task.log_delta - _CLOSE) / _EVERY)
        losses = product.losses(tail)
        attained = product.attained(losses, tail, task.log_delta)
        wide = any(isinstance(loss, BlockLoss | TwoWayLoss) for loss, _ in losses)
        answers = refined(
            losses,
            attained=attained,
            delta=None if task.is_delta else ball(task.at),
            epsilon=ball(task.at) if task.is_delta else None,
            charged=product.charges(),
            width=float(task.goal),
            units=task.work * A_SECOND,
            points=task.points or (_FEWEST if wide else _FIRST_POINTS),
        )
        try:
            for answer in answers:
                enclosure = enclose_between(answer.lower, answer.upper)
                if task.enough(enclosure):
                    break
        except OutOfTimeError:
            if enclosure is None or answer.cost < _LITTLE * A_SECOND:  # `coarse` tells more
                raise
    assert enclosure is not None
    if not enclosure.is_within(task.goal):
        enclosure = enclosure.because(NO_LATTICE if attained is None else BETWEEN)
    return enclosure.found_by(_BY_LATTICE)
