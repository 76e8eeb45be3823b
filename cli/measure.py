"""The quantities that a command was asked for, in the order in which they are reported."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from ..accounting.composition.composed import Composition, compose
from ..accounting.composition.known import Known
from ..accounting.figure import UPPER_BOUND, Figure
from ..accounting.losses.sums import OFF_LATTICE, WORK
from ..accounting.methods.classical import DoesNotApplyError
from ..accounting.solve import cost
from ..exact import WIDTH, Enclosure, OutOfTimeError, budget, exact, spend
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.sampling.allocation import allocation

if TYPE_CHECKING:
    from ..accounting.methods.comparison import Method

_ANYTHING = Enclosure.unknown()
_PROBABILITY = Enclosure.probability()
_SHOWN = Fraction(1, 1000)  # relative; mostly the two bounds are farther apart
_LARGE = 100  # an epsilon of which nobody would speak
_PATIENT = 50.0  # seconds for one figure of a width that was asked for


@frozen
class Request:
    """What to measure; numbers as the user wrote them. deltas ask for ε, epsilons for δ."""

    pure: bool = False
    orders: tuple[str, ...] = ()
    epsilons: tuple[str, ...] = ()
    deltas: tuple[str, ...] = ()
    zcdp: bool = False
    gdp: bool = False

    def is_empty(self) -> bool:
        """Is nothing asked for?"""
        asked = (self.pure, self.orders, self.epsilons, self.deltas, self.zcdp, self.gdp)
        return not any(asked)


@frozen
class Width:
    """The relative width of every figure; one that was asked for is worth more work."""

    relative: Fraction = WIDTH
    is_asked: bool = False

    @property
    def work(self) -> float:
        """About how many seconds one figure may take where losses live on no lattice."""
        return _PATIENT if self.is_asked else WORK

    def is_missed(self, value: Enclosure) -> bool:
        """Is this wider than was asked, or than sums off a lattice, or is a reason known?"""
        if value.is_within(self.relative):
            return False
        return self.is_asked or bool(value.why) or not value.is_within(OFF_LATTICE)


@frozen
class Measured:
    """One certified figure: "renyi" at order 2, say. note: why it is wider than asked.

    poisson: the same figure of Poisson sampling, where users are allocated to steps at random.
    """

    quantity: str
    given: tuple[str, str] | None
    value: Enclosure
    note: str | None = None
    poisson: Enclosure | None = None

    @property
    def figure(self) -> Figure:
        """The number that it is."""
        if self.given is not None:
            return Figure(self.quantity, exact(self.given[1], self.given[0]))
        return Figure("epsilon", Fraction(0)) if self.quantity == "pure" else Figure(self.quantity)

    @property
    def is_undecided(self) -> bool:
        """Is nothing known of the value that would bound it?"""
        if self.quantity == "delta" and self.value == _PROBABILITY:
            return self.note != UPPER_BOUND
        return not self.value.is_finite() and self.value.lower != self.value.upper

    def to_json(self) -> dict[str, Any]:
        """The result as in the contract: quantity, what it was asked at, lower and upper."""
        shown: dict[str, Any] = {"quantity": self.quantity}
        if self.given is not None:
            shown[self.given[0]] = self.given[1]
        shown |= self.value.to_json() | {"methods": list(self.value.by)}
        if self.poisson is not None:
            shown["poisson"] = self.poisson.to_json()
        return shown if self.note is None else shown | {"note": self.note}


def measure(
    composition: Composition, request: Request, width: Width, method: Method | None = None
) -> list[Measured]:
    """Measure in the order pure, orders, epsilons, deltas, zcdp, gdp.

    method: how δ and ε are found, where that is not exactly. Raises ParameterError for a number
    that is out of range, before anything is computed, and DoesNotApplyError where the method has
    nothing to say.
    """
    if method is None:
        delta = partial(composition.delta, work=width.work)
        epsilon = partial(composition.epsilon, work=width.work)
    else:
        delta, epsilon = partial(method.delta, composition), partial(method.epsilon, composition)
    wanted: list[tuple[str, tuple[str, str] | None, Callable[[Fraction], Enclosure]]] = [
        *([("pure", None, composition.pure)] if request.pure else []),
        *_each("renyi", "order", request.orders, composition.renyi, above=1),
        *_each("delta", "epsilon", request.epsilons, delta, at_least=0),
        *_each("epsilon", "delta", request.deltas, epsilon, at_least=0, at_most=1),
        *([("zcdp", None, composition.zcdp)] if request.zcdp else []),
        *([("gdp", None, composition.gdp)] if request.gdp else []),
    ]
    results = []
    for quantity, given, compute in wanted:
        value, note = _attempt(partial(compute, width.relative))
        if quantity == "delta":
            value = value.intersection(_PROBABILITY)
        if note is None and width.is_missed(value):
            note = _wide(width, value.why)
        if quantity == "epsilon" and given and value.lower == math.inf and method is None:
            note = _infinite(composition, exact(given[1], "delta"))
        results.append(Measured(quantity, given, value, note))
    return results if method is not None else _closed(composition, results, width)


def _infinite(composition: Composition, level: Fraction) -> str:
    """Why no epsilon is enough, of a composition of which that is certain."""
    if level == 0:
        return "no ε is enough: the privacy loss is not bounded, so δ = 0 is never met"
    least = budget.quickly(partial(composition.delta, _LARGE), _PROBABILITY, budget.SECOND).lower
    if least <= level:
        return "no ε is enough: δ does not fall to this"
    return f"no ε is enough: at ε = {_LARGE} δ is still {float(least):.3g}"


def _closed(composition: Composition, results: list[Measured], width: Width) -> list[Measured]:
    """Where nothing was found of a figure, what the others tell of it."""
    if not any(each.is_undecided for each in results):
        return results
    known, closed = Known(composition.uses, cost), []
    for each in results:
        known.learn(each.figure, each.value)
    for each in results:
        value = budget.quickly(partial(known.of, each.figure), each.value)
        found = evolve(each, value=value) if each.is_undecided else each
        if found.is_undecided != each.is_undecided:
            found = evolve(found, note=_wide(width, value.why))
        closed.append(found)
    return closed


def with_poisson(
    results: list[Measured], composition: Composition, request: Request, width: Width
) -> list[Measured]:
    """These results beside those of Poisson sampling at the same rates, where users are allocated.

    It is what is often reported in place of random allocation: not a bound of it.
    """
    if not any(map(allocation, (use.mechanism for use in composition.uses))):
        return results
    instead: list[tuple[Mechanism, int]] = []
    for mechanism, times in composition.uses:
        one = allocation(mechanism)
        other, steps = (mechanism, 1) if one is None else one.poisson()
        instead.append((other, steps * times))
    others = measure(compose(*instead), request, width)
    pairs = zip(results, others, strict=True)
    return [evolve(result, poisson=other.value) for result, other in pairs]


def _each(
    quantity: str,
    key: str,
    texts: Sequence[str],
    compute: Callable[[Fraction, Fraction], Enclosure],
    **limits: int,
) -> list[tuple[str, tuple[str, str], Callable[[Fraction], Enclosure]]]:
    """The quantity at each of these numbers, which are read here."""
    levels = [exact(text, key, **limits) for text in texts]
    return [
        (quantity, (key, text), partial(compute, level))
        for text, level in zip(texts, levels, strict=True)
    ]


def _attempt(compute: Callable[[], Enclosure]) -> tuple[Enclosure, str | None]:
    """The value; with a note, and [0, inf] or what is true of all, where none is found."""
    found = _ANYTHING
    try:
        found = compute()
        if found in (_ANYTHING, Enclosure.probability()):
            spend()
        return found, None
    except DoesNotApplyError:
        raise
    except OutOfTimeError:
        return found, "undecided in the time allowed (--time S or --budget UNITS allows more)"
    except (ArithmeticError, NotImplementedError) as error:
        return _ANYTHING, f"undecided: {error}"


def epsilon_of(mechanism: Mechanism, times: int, delta: Fraction) -> Enclosure:
    """With both bounds, as far as the time allows; at least what is quick."""
    return _attempt(lambda: compose((mechanism, times)).epsilon(delta, _SHOWN))[0]


def _wide(width: Width, reasons: Sequence[str]) -> str:
    """That a figure is wide, why, and what may be done about it."""
    if UPPER_BOUND in reasons:
        return UPPER_BOUND
    why = f": {'; '.join(reasons)}" if reasons else " at the precision or in the time allowed"
    if reasons and not width.is_asked:
        why += f" (--width {float(width.relative):g} allows more work)"
    most = width.relative if width.is_asked or reasons else OFF_LATTICE
    return f"wider than {float(most):.2g}{why}"


def read_width(text: str | None) -> Width:
    """Read --width, a relative width above 0 and below 1; None where it is not given."""
    if text is None:
        return Width()
    return Width(exact(text, "width", above=0, below=1), is_asked=True)
