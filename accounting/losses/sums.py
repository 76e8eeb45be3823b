"""delta(epsilon) of composed mechanisms, and its inverse epsilon(delta).

The losses of the uses' pairs add up (`losses.product` says which pairs, and what is charged for
besides). Their sum is measured exactly where it lives on a lattice or has few enough values to
list, and from both sides otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from ...exact.deadline import OutOfTimeError, check_time
from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose_between, refine, working_precision
from ...losses.lattice import BITS, Answer, refined
from ..divergences.privacy_profile import Event, root_near, value_at
from ..scenario import Scenario
from .adaptive import Menu, adaptive_delta, adaptive_epsilon
from .composite import NO_LATTICE, Composite, Saddle, saddle_at, saddle_for
from .distance import total_variation
from .lattice import LatticeTail
from .law import Atoms
from .listed import ListedLoss, count_values
from .product import Charges, Product, product_of

WORK = 4.0  # about how many seconds losses off a lattice may take where the width asks for more
_MOST_LISTED = 150_000  # values of a composed loss that are listed
_NEGLIGIBLE = Fraction(1, 10**300)  # nobody asks how much less delta is than this
_UNITS = 2e7  # of work, that about a second of the processor does
_FIRST_POINTS = 1 << 14
FIRST_TAIL = -150.0  # the logarithm of the mass left out before delta is known, about
_BELOW_DELTA = 20.0  # by so much less in its logarithm may be left out of what is played out
_CANDIDATES = 2  # of several pairs, so many are tried for the lower bound

LEAST_LOG_DELTA = -1e5
_NEAR_ZERO = 0.01  # below this level it is checked whether epsilon is 0
_LARGE_DELTA = Fraction(1, 10)  # from here on as well, before anything else
_COARSE = Fraction(1, 10**6)

_OPEN_CHOICE = "which of several pairs of neighbours an adversary picks is open"
_ORDER = "the releases count in whichever order costs most, not in the order listed"


def composed_delta(
    uses: Scenario, epsilon: Fraction, width: Fraction, cap: int, work: float = WORK
) -> Enclosure:
    """The least delta for which these uses are (epsilon, delta)-DP in this scenario."""
    with working_precision(BITS):
        level = float(ball(epsilon).mid())
        plain = product_of(uses, math.inf).fixed(0).composite(FIRST_TAIL)
        void = plain.is_void() or not plain.parts
        log_delta = 0.0 if void else max(saddle_at(plain, level).log_delta, LEAST_LOG_DELTA)
    return over_choices(
        product_of(uses, log_delta),
        lambda product, share: _delta(product, epsilon, log_delta, width, cap, share * work),
        lambda menus, share: adaptive_delta(menus, epsilon, width, share * work),
        log_delta,
        width,
    )


def composed_epsilon(
    uses: Scenario, delta: Fraction, width: Fraction, cap: int, work: float = WORK
) -> Enclosure:
    """The least epsilon >= 0 for which these uses are (epsilon, delta)-DP, delta > 0."""
    if delta == 1:
        return Enclosure.exactly(0)
    if delta >= _LARGE_DELTA and composed_delta(uses, Fraction(0), _COARSE, cap, work).at_most(
        delta
    ):
        return Enclosure.exactly(0)
    log_delta = float(ball(delta).log().mid())
    return over_choices(
        product_of(uses, log_delta),
        lambda product, share: _epsilon(product, delta, log_delta, width, cap, share * work),
        lambda menus, share: adaptive_epsilon(menus, delta, width, share * work),
        log_delta,
        width,
    )


def over_choices(
    product: Product,
    measure: Callable[[Product, float], Enclosure],
    play: Callable[[Sequence[Menu], float], Enclosure] | None,
    log_delta: float,
    width: Fraction,
) -> Enclosure:
    """The largest over all choices of pairs.

    From fixed ones below and dominating pairs above; where these leave a gap, by playing it out.
    measure: of what is composed, with a share of the work allowed. play: of menus, likewise; None
    where that is not possible.
    """
    if not product.factors:  # nothing is released
        return Enclosure.exactly(0)
    if product.is_exact:
        return measure(product, 1.0)
    candidates = min(_CANDIDATES, max(len(factor.among) for factor in product.factors))
    share = 0.5 / (candidates + 1)
    most = measure(product, share)
    found = measure(product.fixed(0), share)
    for choice in range(1, candidates):
        found = found.maximum(measure(product.fixed(choice), share))
    by = tuple(dict.fromkeys((*found.by, *most.by)))
    found = Enclosure(found.lower, most.upper, why=found.why, by=by).because(_OPEN_CHOICE)
    if len(product.factors) > 1:
        found = found.because(_ORDER)
    if play is None or found.is_within(width) or not product.is_listed:
        return found
    try:
        with working_precision(BITS):
            menus = product.menus(max(log_delta, LEAST_LOG_DELTA) - _BELOW_DELTA)
        return found.intersection(play(menus, 0.5).found_by("adaptive choices, played out"))
    except (OutOfTimeError, DoesNotApplyError):
        return found


# -- which way ------------------------------------------------------------------------------------

_Exceeding: TypeAlias = Callable[[arb, "Fraction | None"], Event]
_Events: TypeAlias = Callable[[Product, float, Saddle], _Exceeding]


def _events(product: Product, log_delta: float) -> _Events | None:
    """How events {L > level} are measured exactly; None where it is moved to a lattice."""
    with working_precision(BITS):
        tail = _log_tail(log_delta)
        if product.composite(tail).lattice() is not None:
            return _on_lattice
        if product.outcomes(tail) > 2 * _MOST_LISTED:
            return None
        return _in_list if count_values(product.atoms(tail)) <= _MOST_LISTED else None


def _on_lattice(product: Product, log_tail: float, saddle: Saddle) -> _Exceeding:
    composite = product.composite(log_tail)
    lattice = composite.lattice()
    assert lattice is not None
    return LatticeTail(composite, lattice, saddle).exceeding


def _in_list(product: Product, log_tail: float, saddle: Saddle) -> _Exceeding:
    parts = product.atoms(log_tail)
    composite, values = Composite(parts), ListedLoss(parts)
    escaping, missing = composite.escaping(), composite.missing().upper()

    def exceeding(level: arb, exact_level: Fraction | None = None) -> Event:
        event = values.exceeding(level)
        return event._replace(p=event.p + escaping, excess=event.excess + missing)

    return exceeding


_BY_LARGEST, _BY_GRID = "largest loss", "losses moved to a lattice"
_BY_EVENTS: dict[_Events, str] = {_on_lattice: "losses on a lattice", _in_list: "listed losses"}


def _log_tail(log_delta: float) -> float:
    """The logarithm of the P-mass that may be left out at the working precision."""
    return log_delta - 0.7 * ctx.prec - 10


def _refined(
    product: Product, exact: Callable[[], Enclosure], width: Fraction, cap: int
) -> Enclosure:
    """`refine`; from above only where a pair dominates several: each precision has its own."""
    if product.is_exact:
        return refine(exact, width=width, cap=cap)
    met = False

    def above() -> Enclosure:
        nonlocal met
        found = exact()
        met = found.is_within(width) or found.upper < _NEGLIGIBLE
        return Enclosure(Fraction(0), found.upper)

    return refine(above, width=width, cap=cap, enough=lambda _: met)


# -- delta(level) ---------------------------------------------------------------------------------


def _delta(
    product: Product, epsilon: Fraction, log_delta: float, width: Fraction, cap: int, work: float
) -> Enclosure:
    flat = _beyond_all_losses(product, epsilon)
    if flat is not None:
        return flat.found_by(_BY_LARGEST)
    events = _events(product, log_delta)
    if events is None:
        return _delta_on_grid(product, epsilon, log_delta, width, work).found_by(_BY_GRID)

    def exact() -> Enclosure:
        tail, here = _log_tail(log_delta), ball(epsilon)
        saddle = saddle_at(product.composite(tail), float(here.mid()))
        event = events(product, tail, saddle)(here, epsilon)
        value = value_at(here, product.charges().to_event(event, here))
        return enclose_between(value.lower().min(arb(1)), value.upper().min(arb(1)))

    return _refined(product, exact, width, cap).found_by(_BY_EVENTS[events])


def _beyond_all_losses(product: Product, epsilon: Fraction) -> Enclosure | None:
    """delta(epsilon) where no finite loss exceeds epsilon for certain; None elsewhere."""
    with working_precision(BITS):
        composite = product.composite(FIRST_TAIL)
        if not composite.is_void():
            summit, level = composite.summit(), ball(epsilon)
            if not (composite.largest() <= level if summit is None else summit <= epsilon):
                return None
        return infinite_losses(composite, product.charges(), ball(epsilon).exp())


def infinite_losses(composite: Composite, charges: Charges, odds: arb) -> Enclosure:
    """delta(level) by infinite losses alone, odds = e^level."""
    exactly = composite.exactly_escaping()
    if exactly is not None and charges.are_none and composite.missing() == 0:
        return Enclosure.exactly(exactly)
    lower = composite.escaping() - charges.below(odds)
    upper = composite.escaping() + composite.missing() + charges.above(odds)
    return enclose_between(lower.min(arb(1)), upper.min(arb(1)))


def _narrowed(answers: Iterator[Answer], width: Fraction, work: float) -> Enclosure:
    """The first that is as narrow, or the last for which so many seconds of work are enough."""
    enclosure = Enclosure.unknown()
    for answer in answers:
        check_time()
        enclosure = enclose_between(answer.lower, answer.upper)
        if enclosure.is_within(width) or answer.next_cost > work * _UNITS:
            break
    return enclosure if enclosure.is_within(width) else enclosure.because(NO_LATTICE)


def _delta_on_grid(
    product: Product, epsilon: Fraction, log_delta: float, width: Fraction, work: float
) -> Enclosure:
    with working_precision(BITS):
        parts, level = product.atoms(_log_tail(log_delta)), ball(epsilon)
        answers = refined(parts, epsilon=level, charged=product.charges(), points=_FIRST_POINTS)
        return _narrowed(answers, width, work)


# -- epsilon(delta) -------------------------------------------------------------------------------


def _epsilon(
    product: Product, delta: Fraction, log_delta: float, width: Fraction, cap: int, work: float
) -> Enclosure:
    with working_precision(BITS):
        composite, charges = product.composite(FIRST_TAIL), product.charges()
        if composite.is_void():
            if infinite_losses(composite, charges, arb(1)).at_most(delta):
                return Enclosure.exactly(0)
            return never_below(composite, ball(delta), charges)
        largest = largest_level(composite, charges, delta)
    distance = total_variation(product)
    if largest.upper == 0 or (distance is not None and distance <= delta):
        return Enclosure.exactly(0)
    events = _events(product, log_delta)
    if events is None:
        found = _epsilon_on_grid(product, delta, log_delta, width, work).found_by(_BY_GRID)
        return found.intersection(Enclosure(Fraction(0), largest.upper))

    def exact() -> Enclosure:
        target, tail, charges = ball(delta), _log_tail(log_delta), product.charges()
        saddle = towards(product.composite(tail), target, charges)
        if saddle is None:
            return never_below(product.composite(tail), target, charges)
        measured = events(product, tail, saddle)

        def exceeding(level: arb) -> Event:
            return charges.to_event(measured(level, None), level)

        if saddle.level < _NEAR_ZERO and value_at(arb(0), exceeding(arb(0))) <= target:
            return Enclosure.exactly(0)
        found = root_near(arb(saddle.level), target, exceeding, largest)
        return found.intersection(Enclosure(Fraction(0), largest.upper))

    return _refined(product, exact, width, cap).found_by(_BY_EVENTS[events])


def largest_level(composite: Composite, charges: Charges, delta: Fraction) -> Enclosure:
    """A level >= 0 beyond which delta(level) is at most this delta, where one is known for certain.

    So it is beyond the largest finite loss, where infinite ones weigh no more: also just as much.
    """
    summit = composite.summit()
    if summit is not None:
        summit = max(summit, Fraction(0))
        beyond = infinite_losses(composite, charges, ball(summit).exp())
        return Enclosure.exactly(summit) if beyond.at_most(delta) else Enclosure.infinite()
    if not infinite_losses(composite, charges, arb(1)).at_most(delta) or not charges.are_none:
        return Enclosure.infinite()
    return enclose_between(arb(0), composite.largest().max(arb(0)))


def never_below(composite: Composite, target: arb, charges: Charges) -> Enclosure:
    """epsilon where infinite losses alone may weigh more than the target.

    Infinite if they are certain; else Q may give their outcomes up to less_q + slack, so that
    delta(level) >= escaping - less_p - slack - e^level (less_q + slack).
    """
    gain = composite.escaping() - charges.less_p - charges.slack - target
    leak = charges.less_q + charges.slack
    if not gain > 0:
        return Enclosure.unknown()
    return (
        Enclosure.infinite() if leak == 0 else enclose_between((gain / leak).log(), arb.pos_inf())
    )


def towards(composite: Composite, target: arb, charges: Charges) -> Saddle | None:
    """The saddle point where delta(level) is about the target; None if it never falls so low."""
    rest = composite.escaping() - charges.less_p - charges.slack
    if rest > target:
        return None
    finite = (target - rest).mid().max(target.mid() * arb(2) ** -ctx.prec)
    saddle = saddle_for(composite, float(finite.log().mid()))
    return saddle if saddle.level > 0 else saddle_at(composite, 0.0)


def _epsilon_on_grid(
    product: Product, delta: Fraction, log_delta: float, width: Fraction, work: float
) -> Enclosure:
    with working_precision(BITS):
        parts, target, charges = product.atoms(_log_tail(log_delta)), ball(delta), product.charges()
        composite = Composite(parts)
        if composite.escaping() - charges.less_p - charges.slack > target:
            return never_below(composite, target, charges)
        bracket = enclose_between(*_by_top_losses(parts, target, charges))
        if bracket.is_within(width):
            return bracket
        answers = refined(parts, delta=target, charged=charges, points=_FIRST_POINTS)
        return _narrowed(answers, width, work).intersection(bracket)


def _by_top_losses(
    parts: Sequence[tuple[Atoms, int]], target: arb, charges: Charges
) -> tuple[arb, arb]:
    """Bounds of epsilon from the largest loss alone: narrow where delta is below its probability.

    Below, the root of the event that all uses have their largest loss (or an infinite one); above,
    the largest loss, beyond which only infinite losses count.
    """
    composite = Composite(parts)
    escaping, p, loss = composite.escaping(), arb(1), arb(0)
    for law, times in parts:
        if not len(law):
            return arb(0), arb.pos_inf()
        top = max(range(len(law)), key=lambda x: float(law.losses[x].mid()))
        p *= law.masses[top] ** times
        loss += law.losses[top] * times
    odds = loss.exp()
    gain = p + escaping - charges.below(odds) - target
    low = (gain / p).log() + loss if gain > 0 else arb(0)
    largest = composite.largest()
    rest = escaping + composite.missing() + charges.above(largest.exp())
    return low.max(arb(0)), largest if rest <= target else arb.pos_inf()
