"""delta(epsilon) of composed mechanisms, and its inverse epsilon(delta).

The losses of the uses' pairs add up (`losses.product` says which pairs, and what is charged for
besides). Their sum is measured exactly where it lives on a lattice or has few enough values to
list, and from both sides otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from ...exact.deadline import OutOfTimeError
from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose_between, refine, working_precision
from ...exact.roots import met_near
from ..divergences.privacy_profile import Event, root_near, value_at
from ..figure import Figure
from ..scenario import Scenario
from .adaptive import Menu, adaptive_delta, adaptive_epsilon
from .composite import NO_LATTICE, Composite, Saddle, saddle_at, saddle_for
from .distance import total_variation
from .lattice import LatticeTail
from .law import Atoms
from .listed import ListedLoss, count_values
from .product import Charges, Product, product_of
from .smoothed import SmoothedProfile, sigma_within

WORK = 4.0  # about how many seconds losses off a lattice may take where the width asks for more
_MOST_LISTED = 150_000  # values of a composed loss that are listed
_NEGLIGIBLE = Fraction(1, 10**300)  # nobody asks how much less delta is than this
_SMOOTHED_BITS = 128
FIRST_TAIL = -150.0  # the logarithm of the mass left out before delta is known, about
_BELOW_DELTA = 20.0  # by so much less in its logarithm may be left out of what is played out
_CANDIDATES = 2  # of several pairs, so many are tried for the lower bound

LEAST_LOG_DELTA = -1e5
_NEAR_ZERO = 0.01  # below this level it is checked whether epsilon is 0
_LARGE_DELTA = Fraction(1, 10)  # from here on as well, before anything else
_COARSE = Fraction(1, 10**6)
_MOST_STEPS = 40
_ATTEMPTS = 3

_OPEN_CHOICE = "which of several pairs of neighbours an adversary picks is open"
_ORDER = "the releases count in whichever order costs most, not in the order listed"


def is_smoothed(uses: Scenario, log_delta: float) -> bool:
    """Do their losses live on no lattice, and have more values than are listed? That takes long.

    Also where an adversary chooses among several pairs.
    """
    product = product_of(uses, log_delta)
    with working_precision(_SMOOTHED_BITS):
        if not product.factors or product.composite(_log_tail(log_delta)).is_void():
            return False
    return not product.is_exact or _events(product, log_delta) is None


def smoothed_width(uses: Scenario, figure: Figure, width: Fraction, work: float) -> float:
    """About how narrow, relatively, smoothing makes it in so much work; at least this width.

    0 where it is exact, or as narrow as that, without.
    """
    assert figure.at is not None
    is_epsilon = figure.quantity == "epsilon"
    with working_precision(_SMOOTHED_BITS):
        at = ball(figure.at)
        log_delta = float(at.log().mid()) if is_epsilon else FIRST_TAIL + 100
        product = product_of(uses, log_delta)
        parts, charges = product.atoms(_log_tail(log_delta)), product.charges()
        composite = Composite(parts)
        if not product.is_exact or composite.is_void():
            return 0.0
        saddle = towards(composite, at, charges) if is_epsilon else None
        if not is_epsilon:
            saddle = saddle_at(composite, float(at.mid()))
        elif enclose_between(*_by_top_losses(parts, at, charges)).is_within(width):
            return 0.0
        if saddle is None or saddle.log_delta < LEAST_LOG_DELTA:
            return 0.0
        sigma_for = _sigma_for_epsilon if is_epsilon else _sigma_for_delta
        asked = sigma_for(float(width), saddle)
        return float(width) * (sigma_within(parts, saddle, asked, work) / asked) ** 2


def _sigma_for_delta(width: float, saddle: Saddle) -> float:
    return math.sqrt(0.9 * width / (saddle.c * (saddle.c + 1)))


def _sigma_for_epsilon(width: float, saddle: Saddle) -> float:
    spread = width * max(saddle.level, _NEAR_ZERO)
    return math.sqrt(0.9 * spread / (saddle.c + 1))


def composed_delta(
    uses: Scenario, epsilon: Fraction, width: Fraction, cap: int, work: float = WORK
) -> Enclosure:
    """The least delta for which these uses are (epsilon, delta)-DP in this scenario."""
    with working_precision(_SMOOTHED_BITS):
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
        with working_precision(_SMOOTHED_BITS):
            menus = product.menus(max(log_delta, LEAST_LOG_DELTA) - _BELOW_DELTA)
        return found.intersection(play(menus, 0.5).found_by("adaptive choices, played out"))
    except (OutOfTimeError, DoesNotApplyError):
        return found


# -- which way ------------------------------------------------------------------------------------

_Exceeding: TypeAlias = Callable[[arb, "Fraction | None"], Event]
_Events: TypeAlias = Callable[[Product, float, Saddle], _Exceeding]


def _events(product: Product, log_delta: float) -> _Events | None:
    """How events {L > level} are measured exactly; None where the loss must be smoothed."""
    with working_precision(_SMOOTHED_BITS):
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


_BY_LARGEST, _BY_SMOOTHING = "largest loss", "smoothed losses"
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
        return _attempts(
            width, lambda asked: _smoothed_delta(product, epsilon, log_delta, asked, work)
        ).found_by(_BY_SMOOTHING)

    def exact() -> Enclosure:
        tail, here = _log_tail(log_delta), ball(epsilon)
        saddle = saddle_at(product.composite(tail), float(here.mid()))
        event = events(product, tail, saddle)(here, epsilon)
        value = value_at(here, product.charges().to_event(event, here))
        return enclose_between(value.lower().min(arb(1)), value.upper().min(arb(1)))

    return _refined(product, exact, width, cap).found_by(_BY_EVENTS[events])


def _beyond_all_losses(product: Product, epsilon: Fraction) -> Enclosure | None:
    """delta(epsilon) where no finite loss exceeds epsilon for certain; None elsewhere."""
    with working_precision(_SMOOTHED_BITS):
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


def _attempts(width: Fraction, measured: Callable[[float], tuple[Enclosure, bool]]) -> Enclosure:
    """Ask the smoothed losses for less width until it is met, or the work allowed ends it."""
    asked = float(width)
    for _ in range(_ATTEMPTS):
        found, limited = measured(asked)
        if limited or found.is_within(width):
            break
        asked /= 2.5
    return found.because(NO_LATTICE)


def _smoothed_delta(
    product: Product, epsilon: Fraction, log_delta: float, width: float, work: float
) -> tuple[Enclosure, bool]:
    """The enclosure, and whether the work allowed is what made it no narrower."""
    with working_precision(_SMOOTHED_BITS):
        parts, here = product.atoms(_log_tail(log_delta)), ball(epsilon)
        composite, charges = Composite(parts), product.charges()
        saddle = saddle_at(composite, float(here.mid()))
        profile = SmoothedProfile(parts, saddle, _sigma_for_delta(width, saddle), work)
        lower, upper = profile.bounds(here)
        odds = here.exp()
        lower, upper = lower - charges.below(odds), upper + charges.above(odds)
        return enclose_between(lower.min(arb(1)), upper.min(arb(1))), profile.limited


# -- epsilon(delta) -------------------------------------------------------------------------------


def _epsilon(
    product: Product, delta: Fraction, log_delta: float, width: Fraction, cap: int, work: float
) -> Enclosure:
    with working_precision(_SMOOTHED_BITS):
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
        found = _attempts(
            width, lambda asked: _smoothed_epsilon(product, delta, log_delta, asked, work)
        ).found_by(_BY_SMOOTHING)
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


def _smoothed_epsilon(
    product: Product, delta: Fraction, log_delta: float, width: float, work: float
) -> tuple[Enclosure, bool]:
    """The enclosure, and whether the work allowed is what made it no narrower."""
    with working_precision(_SMOOTHED_BITS):
        parts, target, charges = product.atoms(_log_tail(log_delta)), ball(delta), product.charges()
        saddle = towards(Composite(parts), target, charges)
        if saddle is None:
            return never_below(Composite(parts), target, charges), True
        low, high = _by_top_losses(parts, target, charges)
        if enclose_between(low, high).is_within(Fraction(width)):
            return enclose_between(low, high), True
        profile = SmoothedProfile(parts, saddle, _sigma_for_epsilon(width, saddle), work)

        def bounds(level: arb) -> tuple[arb, arb]:
            lower, upper = profile.bounds(level)
            return lower - charges.below(level.exp()), upper + charges.above(level.exp())

        if saddle.level < _NEAR_ZERO and bounds(arb(0))[1] <= target:
            return Enclosure.exactly(0), True
        level = _rough_root(profile, saddle, log_delta)
        gap = math.exp(profile.roughly(level)[1] - log_delta) / saddle.c
        start, step = arb(level), arb(1e-14 * (1 + level))
        above = met_near(lambda at: bool(bounds(at)[1] <= target), start, step)
        below = met_near(lambda at: bool(bounds(at)[0] >= target), start, -1.001 * gap - step)
        low = low if below is None else low.max(below)
        high = high if above is None else high.min(above)
        return enclose_between(low, high), profile.limited


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


def _rough_root(profile: SmoothedProfile, saddle: Saddle, log_delta: float) -> float:
    """About where delta(level) is e^log_delta: its logarithm falls by about c a unit of level."""
    level = saddle.level
    for _ in range(_MOST_STEPS):
        step = (profile.roughly(level)[0] - log_delta) / saddle.c
        level = max(level + step, 0.0)
        if abs(step) < 1e-15 * (1 + level):
            break
    return level
