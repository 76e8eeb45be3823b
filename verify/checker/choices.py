"""Which choices prove an end of a certificate that does not name them: tried in a fixed order.

This is the only place that searches: older certificates name few choices, and whoever makes new
ones asks here. What is found proves nothing by itself (`proof`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product

from .arithmetic import End, OpenError
from .composition import NO_LATTICE
from .concentrated import Cover, share
from .divergences import renyi
from .hints import DIRECTIONS, Above, Hints, Missed, Orders
from .mechanisms import Additive, Curve, Family, Mechanism, Vector
from .noise import Noise
from .notions import Numbers
from .proof import facing, is_proved
from .rounded import Rounded
from .scenarios import Uses, scenarios
from .vectors import attained, dominated

_VECTORS: tuple[Above, ...] = (None, "gaussian", "by one", "one number", "squares")
_MISSED = [Fraction(1, 10**n) for n in (1, 2, 3)]  # of delta
_BY_ORDER = ("zcdp", "gdp")
_ORDERS = ("1", "2", "101/100", "3/2", "4", "16", "64")  # before the best is searched for
_THIRDS, _LEAST, _LARGEST = 36, -8.0, 12.0  # log2(order - 1)
_MOST_ORDERS, _NARROWEST = 400, Fraction(1, 1 << 20)


def found(
    uses: Uses, kind: str, numbers: Numbers, end: End, above: bool, given: Hints
) -> Hints | None:
    """Choices that prove it, with those that are given; None: none of those that are known do.

    Raises OpenError where something has no bounds here.
    """
    reason = ""
    for hints in _ways(uses, kind, numbers, end, above, given):
        covers = _Covers()
        try:
            if is_proved(uses, kind, numbers, end, above, hints, covers):
                above_all = hints.above if {*hints.above} - {None, 0} else ()
                below_all = hints.below if any(hints.below) else ()
                return replace(hints, above=above_all, below=below_all, cover=covers.named)
        except OpenError as error:
            if not reason or NO_LATTICE in str(error):  # which a step would help
                reason = str(error)
    if reason:
        raise OpenError(reason)
    return None


def _ways(
    uses: Uses, kind: str, numbers: Numbers, end: End, above: bool, given: Hints
) -> Iterator[Hints]:
    delta = numbers.get("delta", Fraction(0))
    approx = delta > 0
    lists = [*(_dominating(uses, delta, given) if above else _attained(uses, kind, given))]
    listings = (False, True) if _has_listings(uses) else (False,)
    searches = (False, True) if not above and kind in _BY_ORDER and not given.order else (False,)
    for search, hints, listed in product(searches, lists, listings):
        hints = replace(hints, listed=listed)
        with suppress(OpenError):
            if above:
                yield from _above_by_order(uses, kind, approx, end, hints)
                continue
            ways = scenarios(attained(uses, hints, approx))
            for name in DIRECTIONS if len(ways) > 1 and not hints.direction else (hints.direction,):
                yield from _below_by_order(uses, kind, replace(hints, direction=name), search)


def _dominating(uses: Uses, delta: Fraction, given: Hints) -> Iterator[Hints]:
    """Each list of what is known by others, each way to bound vectors; numbers by Gaussians."""
    lists = [len(one.above()) for one, _ in uses if isinstance(one, Family)]
    for at in range(max(lists, default=1)):
        for way in [_VECTORS[0]] if given.above else [*_VECTORS, *_missed(uses, delta)]:
            named = given.above or [_named(one, way) for one, _ in uses]
            if way is not _VECTORS[0] and way not in named:
                continue
            sizes = iter(lists)
            above = (
                min(at, next(sizes) - 1) if isinstance(one, Family) else name
                for (one, _), name in zip(uses, named, strict=True)
            )
            yield replace(given, above=tuple(above))
    numbers_too = tuple(
        "gaussian" if isinstance(_noise(one), Additive) else None for one, _ in uses
    )
    if not given.above and any(numbers_too):
        yield replace(given, above=numbers_too)


def _named(one: Mechanism, way: Above) -> Above:
    """How this is bounded, where vectors are to be bounded so."""
    if not isinstance(one, Vector) or (way == "by one" and one.reach.farthest > 1):
        return None
    return way if not isinstance(way, Missed) or _is_random(one) else None


def _missed(uses: Uses, delta: Fraction) -> list[Above]:
    times = sum(count for one, count in uses if _is_random(one))
    shares = (delta * share / (times or 1) for share in _MISSED)
    return [Missed(_short(each)) for each in shares if times and each]


def _is_random(one: Mechanism) -> bool:
    reach = one.reach if isinstance(one, Vector) else None
    return isinstance(reach, Rounded) and reach.rounding == "stochastic"


def _short(number: Fraction) -> Fraction:
    """In two digits, rounded down."""
    places = 2 - math.floor(math.log10(number))
    return Fraction(math.floor(number * 10**places), 10**places)


def _attained(uses: Uses, kind: str, given: Hints) -> Iterator[Hints]:
    """The lists of rare events first, or, where means of losses count, those of likely ones."""
    lists = [len(one.below()) if isinstance(one, Family) else 1 for one, _ in uses]
    order = range(max(lists, default=1))
    for at in order if kind in ("pure", "approx") else reversed(order):
        yield replace(given, below=tuple(min(at, size - 1) for size in lists))


def _has_listings(uses: Uses) -> bool:
    """Is something mod m, or so wide that it need not be listed?"""
    noises = [_noise(one) for one, _ in uses]
    return any(getattr(one, "modulus", None) for one in noises) or any(map(_is_wide, noises))


def _is_wide(one: Mechanism) -> bool:
    law = getattr(_noise(one), "law", None)
    return isinstance(law, Noise) and law.is_wide and not isinstance(one, Vector | Family)


def _noise(one: Mechanism) -> Mechanism:
    held: Mechanism = getattr(one, "mechanism", one)
    return held


def _above_by_order(uses: Uses, kind: str, approx: bool, end: End, hints: Hints) -> Iterator[Hints]:
    """At the order that shows the least delta, where Rényi divergences do."""
    left = dominated(uses, hints, kind, approx).uses if approx else ()
    curves = [one for one, _ in left if isinstance(one, Curve)]
    if not curves or hints.order:
        yield hints
        return
    most = min((one.order for one in curves if one.order), default=Fraction(1 << 14))

    def spare(order: Fraction) -> End:
        spent = sum((times * renyi(one, order, True, False) for one, times in left), Fraction(0))
        return (order - 1) * (end - spent)

    yield replace(hints, order=_best(spare, most))
    yield replace(hints, order=most)


def _below_by_order(uses: Uses, kind: str, hints: Hints, search: bool) -> Iterator[Hints]:
    """At the order that shows most of rho, or of mu."""
    if kind not in _BY_ORDER or hints.order:
        yield hints
    elif search:
        (one, *_) = facing(attained(uses, hints, False), hints)
        best = _best(lambda order: share(one, order, hints.listed), Fraction(1 << 12))
        yield replace(hints, order=best)
    else:
        least = 1 if kind == "zcdp" else 2
        yield from (replace(hints, order=Fraction(o)) for o in _ORDERS if Fraction(o) >= least)


def _best(score: Callable[[Fraction], End], most: Fraction) -> Fraction:
    """About the order with the largest score, by thirds."""
    low, high = _LEAST, min(_LARGEST, math.log2(most - 1))
    best: tuple[End, Fraction] = (-math.inf, most)

    def at(power: float) -> tuple[End, Fraction]:
        order = min(1 + Fraction(math.floor(2.0 ** (power + 24)), 1 << 24), most)
        return score(order), order

    for _ in range(_THIRDS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        try:
            one, two = at(left), at(right)
        except OpenError:  # too large an order
            high = right
            continue
        best = max(best, one, two)
        low, high = (left, high) if one[0] < two[0] else (low, right)
    return best[1]


class _Covers:
    """Covers the orders, each time by the ones before if these will do."""

    def __init__(self) -> None:
        self._lists: list[Orders] = []

    def __call__(self, cover: Cover) -> bool:
        if not (self._lists and cover.along(self._lists[-1])):
            orders = _covering(cover)
            if orders is None:
                return False
            self._lists.append(orders)
        else:
            self._lists.append(self._lists[-1])
        return True

    @property
    def named(self) -> tuple[Orders, ...]:
        """The lists, the last of which is not said again."""
        kept = list(self._lists)
        while len(kept) > 1 and kept[-1] == kept[-2]:
            kept.pop()
        return tuple(kept)


def _covering(cover: Cover) -> Orders | None:
    """From order 1 upward, by steps that double, or are halved until they are proved."""
    orders, width = [Fraction(1)], Fraction(1, 8)
    for _ in range(_MOST_ORDERS):
        here = orders[-1]
        if cover.is_settled(here):
            return tuple(orders)
        with suppress(OpenError):  # too large an order
            if cover.holds(here, here + width):
                orders.append(here + width)
                width *= 4
        width /= 2
        if width < _NARROWEST * here or here > 1 << 20:
            break
    return None
