"""The quantities that a command was asked for, in the order in which they are reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial

from ..accounting import Composition
from ..accounting.composition import WORK
from ..accounting.methods.comparison import EXACT, DoesNotApplyError, Method
from ..exact import WIDTH, Enclosure, ExactInput, OutOfTimeError, exact, time_left, time_limit

__all__ = ["Measured", "Request", "Width", "measure", "read_width"]

_ANYTHING = Enclosure(Fraction(0), Decimal("Infinity"))  # no divergence is negative
_PROBABILITY = Enclosure(Fraction(0), Fraction(1))
_SHARE = 0.95  # of the time that is left, so that what was found can still be shown
_PATIENT = 50.0  # seconds for one figure of a width that was asked for


@dataclass(frozen=True)
class Request:
    """What to measure; numbers as the user wrote them. deltas ask for ε, epsilons for δ."""

    pure: bool = False
    orders: tuple[str, ...] = ()
    epsilons: tuple[str, ...] = ()
    deltas: tuple[str, ...] = ()
    zcdp: bool = False

    def is_empty(self) -> bool:
        """Is nothing asked for?"""
        return not (self.pure or self.orders or self.epsilons or self.deltas or self.zcdp)


@dataclass(frozen=True)
class Width:
    """The relative width of every figure; one that was asked for is worth more work."""

    relative: Fraction = WIDTH
    is_asked: bool = False

    @property
    def work(self) -> float:
        """About how many seconds one figure may take where losses live on no lattice."""
        return _PATIENT if self.is_asked else WORK


@dataclass(frozen=True)
class Measured:
    """One certified figure: "renyi" at order 2, say. note: why it is wider than asked."""

    quantity: str
    given: tuple[str, str] | None
    value: Enclosure
    note: str | None = None

    @property
    def is_undecided(self) -> bool:
        """Is nothing known of the value that would bound it?"""
        if self.quantity == "delta" and self.value == _PROBABILITY:
            return True
        return not self.value.is_finite() and self.value.lower != self.value.upper

    def to_json(self) -> dict[str, str]:
        """The result as in the contract: quantity, what it was asked at, lower and upper."""
        shown = {"quantity": self.quantity}
        if self.given is not None:
            shown[self.given[0]] = self.given[1]
        shown |= self.value.to_json()
        return shown if self.note is None else shown | {"note": self.note}


def measure(
    composition: Composition, request: Request, width: Width, method: Method = EXACT
) -> list[Measured]:
    """Measure in the order pure, orders, epsilons, deltas, zcdp; δ and ε by this method.

    Raises ParameterError for a number that is out of range, before anything is computed, and
    DoesNotApplyError where the method has nothing to say.
    """
    orders = [exact(text, "order", above=1) for text in request.orders]
    epsilons = [exact(text, "epsilon", at_least=0) for text in request.epsilons]
    deltas = [exact(text, "delta", at_least=0, at_most=1) for text in request.deltas]
    once, relative = ("",), width.relative

    def delta(level: Fraction) -> Enclosure:
        if method is EXACT:
            return composition.delta(level, relative, work=width.work)
        return method.delta(composition, level, relative)

    def epsilon(level: Fraction) -> Enclosure:
        if method is EXACT:
            return composition.epsilon(level, relative, work=width.work)
        return method.epsilon(composition, level, relative)

    def renyi(order: Fraction) -> Enclosure:
        return composition.renyi(order, relative)

    groups: list[tuple[str, str, Sequence[str], list[Callable[[], Enclosure]]]] = [
        ("pure", "", once * request.pure, [lambda: composition.pure(relative)]),
        ("renyi", "order", request.orders, [partial(renyi, order) for order in orders]),
        ("delta", "epsilon", request.epsilons, [partial(delta, level) for level in epsilons]),
        ("epsilon", "delta", request.deltas, [partial(epsilon, level) for level in deltas]),
        ("zcdp", "", once * request.zcdp, [lambda: composition.zcdp(relative)]),
    ]
    results = []
    waiting = sum(len(texts) for _, _, texts, _ in groups)
    for quantity, key, texts, computed in groups:
        is_composed = composition.times > 1 and quantity in ("delta", "epsilon") and method is EXACT
        for text, compute in zip(texts, computed, strict=False):
            value, note = _attempt(compute, _SHARE * time_left() / waiting)
            waiting -= 1
            if note is None and not value.is_within(relative):
                near = min(Fraction(value.upper), Fraction(1)) if quantity == "delta" else text
                why = _reasons(composition, near) if is_composed else composition.why_between()
                note = _wide(width, why)
            results.append(Measured(quantity, (key, text) if key else None, value, note))
    return results


def _attempt(compute: Callable[[], Enclosure], seconds: float) -> tuple[Enclosure, str | None]:
    """The value; [0, inf] with a note where none is found."""
    try:
        with time_limit(seconds):
            return compute(), None
    except DoesNotApplyError:
        raise
    except OutOfTimeError:
        return _ANYTHING, "undecided in the time allowed (--time S allows more)"
    except (ArithmeticError, NotImplementedError) as error:
        return _ANYTHING, f"undecided: {error}"


def _reasons(composition: Composition, delta: ExactInput) -> list[str]:
    try:
        return composition.why_wide(delta)
    except OutOfTimeError:
        return []


def _wide(width: Width, reasons: Sequence[str]) -> str:
    """That a figure is wide, why, and what may be done about it."""
    why = f": {'; '.join(reasons)}" if reasons else " at the precision or in the time allowed"
    if reasons and not width.is_asked:
        why += f" (--width {float(width.relative):g} allows more work)"
    return f"wider than {float(width.relative):.2g}{why}"


def read_width(text: str | None) -> Width:
    """Read --width, a relative width above 0 and below 1; None where it is not given."""
    if text is None:
        return Width()
    return Width(exact(text, "width", above=0, below=1), is_asked=True)
