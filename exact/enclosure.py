"""A closed interval that is known to contain the true real number.

Comparisons have three answers: `at_most` and its like say True (certainly), False (certainly not)
or None (cannot tell); `<=`, `==` and their like answer too, but raise UndecidedError for None.
Text and JSON are rounded outward, so that what is read back still contains the truth; `float` and
formats such as ".4f" keep the upper end only, rounded up: what is safe to say of a cost of privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import reduce
from html import escape
from typing import TypeAlias

from attrs import evolve, field, frozen

from .errors import ContradictionError as ContradictionError
from .errors import UndecidedError as UndecidedError
from .number import ExactInput, ParameterError, exact, whole
from .rounding import float_above, format_above, is_infinite, opposite

Endpoint: TypeAlias = Fraction | Decimal  # Decimal also for the infinities

_INFINITY = Decimal("Infinity")
_PRINTED_DIGITS = 25
_HUGE = 5000  # decimal exponents beyond this are compared by magnitude, never expanded


@frozen
class Enclosure:
    """The interval [lower, upper]; a point where both are equal; "inf" where unbounded.

    why: what keeps it from being narrower besides precision and time, in words, as far as that is
    known. by: the methods that found its ends, as far as they are named. Both go along with what is
    made of the number, and are no part of its value.

    `<`, `<=`, `>`, `>=`, `==` and `!=` (hence `in`) compare the true number with an exact one (int,
    Fraction, Decimal, text, or a float, which stands for the decimal that it prints as), and raise
    UndecidedError where the answer is not certain. Two enclosures are compared in order as the
    numbers in them, but `==` says whether they are the same interval: as values they are keys and
    members of lists. `float(...)` is the upper end, rounded up; `bool(...)` raises TypeError.

    >>> third = Enclosure(Fraction(33, 100), Fraction(34, 100))
    >>> third <= 1, third > "0.3"
    (True, True)
    >>> third < "1/3"
    Traceback (most recent call last):
        ...
    exactdp.exact.errors.UndecidedError: [0.33, 0.34] cannot be told from 1/3
    >>> third == "0.35", Enclosure.exactly(2) == 2
    (False, True)
    >>> float(third), f"{third:.1f}"
    (0.34, '0.4')

    `+`, `-`, `*` and `/` with another enclosure or an exact number give what certainly contains the
    result, whatever the two numbers have to do with each other (`third - third` contains 0, and
    more); `round(third, 1)` rounds both ends outward.

    >>> 2 * third + 1, 1 / third > "2.9", round(third, 1)
    (Enclosure(1.66, 1.68), True, Enclosure(0.3, 0.4))
    """

    __array_ufunc__ = None  # of numpy's numbers: these operators, not numpy's

    lower: Endpoint
    upper: Endpoint
    why: tuple[str, ...] = field(default=(), eq=False, kw_only=True)
    by: tuple[str, ...] = field(default=(), eq=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        for end in (self.lower, self.upper):
            if not isinstance(end, int | Fraction | Decimal):
                raise ParameterError(f"an enclosure ends at exact numbers, got {end!r}")
            if isinstance(end, Decimal) and end.is_nan():
                raise ParameterError("an enclosure cannot end at NaN")
        if _less(self.upper, self.lower):
            low, high = (_written(end, ROUND_HALF_EVEN) for end in (self.lower, self.upper))
            raise ParameterError(f"lower {low} is above upper {high}")

    @staticmethod
    def exactly(value: Fraction | int) -> Enclosure:
        """The point `value`."""
        return Enclosure(Fraction(value), Fraction(value))

    @staticmethod
    def infinite() -> Enclosure:
        """The value +infinity, proved."""
        return Enclosure(_INFINITY, _INFINITY)

    @staticmethod
    def unknown() -> Enclosure:
        """Nothing but that the number is not negative, as no divergence is."""
        return Enclosure(Fraction(0), _INFINITY)

    @staticmethod
    def probability() -> Enclosure:
        """Nothing but that the number lies between 0 and 1."""
        return Enclosure(Fraction(0), Fraction(1))

    @staticmethod
    def from_json(data: dict[str, str]) -> Enclosure:
        """Read what `to_json` wrote: the two outward-rounded decimal strings."""
        if set(data) != {"lower", "upper"}:
            raise ParameterError(f'an enclosure has the keys "lower" and "upper", got {list(data)}')
        return Enclosure(_read(data["lower"], "lower"), _read(data["upper"], "upper"))

    def to_json(self) -> dict[str, str]:
        """Both ends as decimal text, rounded outward; "inf" where infinite."""
        return {
            "lower": _written(self.lower, ROUND_FLOOR),
            "upper": _written(self.upper, ROUND_CEILING),
        }

    def at_most(self, value: Endpoint | int) -> bool | None:
        """Is the true number <= value? None where it cannot be told."""
        if not _less(value, self.upper):
            return True
        return False if _less(value, self.lower) else None

    def at_least(self, value: Endpoint | int) -> bool | None:
        """Is the true number >= value? None where it cannot be told."""
        if not _less(self.lower, value):
            return True
        return False if _less(self.upper, value) else None

    def less_than(self, value: Endpoint | int) -> bool | None:
        """Is the true number < value? None where it cannot be told."""
        answer = self.at_least(value)
        return None if answer is None else not answer

    def greater_than(self, value: Endpoint | int) -> bool | None:
        """Is the true number > value? None where it cannot be told."""
        answer = self.at_most(value)
        return None if answer is None else not answer

    def __le__(self, other: Enclosure | ExactInput) -> bool:
        ends = _ends(other)
        return self._told(other, not _less(ends[0], self.upper), _less(ends[1], self.lower))

    def __lt__(self, other: Enclosure | ExactInput) -> bool:
        ends = _ends(other)
        return self._told(other, _less(self.upper, ends[0]), not _less(self.lower, ends[1]))

    def __ge__(self, other: Enclosure | ExactInput) -> bool:
        ends = _ends(other)
        return self._told(other, not _less(self.lower, ends[1]), _less(self.upper, ends[0]))

    def __gt__(self, other: Enclosure | ExactInput) -> bool:
        ends = _ends(other)
        return self._told(other, _less(ends[1], self.lower), not _less(ends[0], self.upper))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Enclosure):
            return self.lower == other.lower and self.upper == other.upper
        try:
            value, _ = _ends(other)  # type: ignore[arg-type]
        except ParameterError:  # no number
            return NotImplemented
        outside = _less(value, self.lower) or _less(self.upper, value)
        return self._told(other, not outside and not _less(self.lower, self.upper), outside)

    def __hash__(self) -> int:
        point = self.lower == self.upper  # which equals a number
        return hash(self.lower if point else (self.lower, self.upper))

    def _told(self, other: object, is_true: bool, is_false: bool) -> bool:
        if not (is_true or is_false):
            raise UndecidedError(f"{self} cannot be told from {other}")
        return is_true

    def __add__(self, other: Enclosure | ExactInput) -> Enclosure:
        return self._with(other, _added)

    __radd__ = __add__

    def __neg__(self) -> Enclosure:
        return self.negated()

    def __sub__(self, other: Enclosure | ExactInput) -> Enclosure:
        return self + -_enclosing(other)

    def __rsub__(self, other: Enclosure | ExactInput) -> Enclosure:
        return -self + other

    def __mul__(self, other: Enclosure | ExactInput) -> Enclosure:
        return self._with(other, _multiplied)

    __rmul__ = __mul__

    def __truediv__(self, other: Enclosure | ExactInput) -> Enclosure:
        divisor = _enclosing(other)
        if divisor.contains(0) or not divisor.is_finite():
            raise ZeroDivisionError(f"{divisor} may be 0 or infinite: no divisor")
        low, high = _fraction(divisor.lower, False), _fraction(divisor.upper, True)
        if not (isinstance(low, Fraction) and isinstance(high, Fraction) and low and high):
            raise ZeroDivisionError(f"{divisor} is too near 0 or too large: no divisor")
        return self * evolve(divisor, lower=1 / high, upper=1 / low)

    def __rtruediv__(self, other: Enclosure | ExactInput) -> Enclosure:
        return _enclosing(other) / self

    def __round__(self, digits: int = 0) -> Enclosure:
        unit = Fraction(10) ** whole(digits, "digits", at_least=-_HUGE, at_most=_HUGE)
        low, high = _fraction(self.lower, False), _fraction(self.upper, True)
        low = low if isinstance(low, Decimal) else Fraction(math.floor(low * unit)) / unit
        high = high if isinstance(high, Decimal) else Fraction(math.ceil(high * unit)) / unit
        return evolve(self, lower=low, upper=high)

    def _with(
        self, other: Enclosure | ExactInput, made: Callable[[Endpoint, Endpoint], Endpoint]
    ) -> Enclosure:
        """What is made of two numbers, monotonically in each: between its values at the ends."""
        second = _enclosing(other)
        ones, others = (
            (_fraction(each.lower, False), _fraction(each.upper, True)) for each in (self, second)
        )
        ends = [made(one, two) for one in ones for two in others]
        by = tuple(dict.fromkeys((*self.by, *second.by)))
        found = Enclosure(reduce(_smaller, ends), reduce(_larger, ends), why=self.why, by=by)
        return found.because(*second.why)

    def __float__(self) -> float:
        return float_above(self.upper)

    def __bool__(self) -> bool:
        raise TypeError("an enclosure is not true or false: ask .lower, .upper or a comparison")

    def contains(self, value: Endpoint | int) -> bool:
        """Does the interval contain `value`?"""
        return not _less(value, self.lower) and not _less(self.upper, value)

    def because(self, *reasons: str) -> Enclosure:
        """The same, with these reasons for its width besides those that it has."""
        return evolve(self, why=tuple(dict.fromkeys((*self.why, *reasons))))

    def found_by(self, method: str) -> Enclosure:
        """The same, found by this method unless another one is named already."""
        return self if self.by else evolve(self, by=(method,))

    def intersection(self, other: Enclosure) -> Enclosure:
        """What both enclosures of the same number leave of it.

        Raises ContradictionError where they do not meet.
        """
        if self.at_most(other.upper) is False or other.at_most(self.upper) is False:
            raise ContradictionError(f"one number lies in {self!r} and in {other!r}")
        return self._made(
            other, _larger(self.lower, other.lower), _smaller(self.upper, other.upper)
        )

    def hull(self, other: Enclosure) -> Enclosure:
        """The smallest interval that contains both."""
        return self._made(
            other, _smaller(self.lower, other.lower), _larger(self.upper, other.upper)
        )

    def maximum(self, other: Enclosure) -> Enclosure:
        """The larger of two numbers."""
        lower, upper = _larger(self.lower, other.lower), _larger(self.upper, other.upper)
        return self._made(other, lower, upper)

    def minimum(self, other: Enclosure) -> Enclosure:
        """The smaller of two numbers."""
        lower, upper = _smaller(self.lower, other.lower), _smaller(self.upper, other.upper)
        return self._made(other, lower, upper)

    def times(self, factor: Fraction | int) -> Enclosure:
        """The number times a factor >= 0."""
        lower, upper = (
            end if is_infinite(end) else factor * Fraction(end) for end in (self.lower, self.upper)
        )
        return Enclosure(lower, upper, why=self.why, by=self.by)

    def plus(self, other: Enclosure | Fraction) -> Enclosure:
        """The sum of two numbers, not of opposite infinities."""
        added = other if isinstance(other, Enclosure) else Enclosure.exactly(other)
        return self._made(added, _sum(self.lower, added.lower), _sum(self.upper, added.upper))

    def over(self, other: Enclosure) -> Enclosure:
        """The ratio of two numbers >= 0: infinite over 0, but 0 over 0 may be anything."""
        nothing = Fraction(0) if self.lower <= 0 else _INFINITY
        lower = _ratio(self.lower, other.upper, nothing)
        return self._made(other, lower, _ratio(self.upper, other.lower, _INFINITY))

    def negated(self) -> Enclosure:
        """Minus the number."""
        return Enclosure(opposite(self.upper), opposite(self.lower), why=self.why, by=self.by)

    def _made(self, other: Enclosure, lower: Endpoint, upper: Endpoint) -> Enclosure:
        """An enclosure of what is made of both numbers."""
        ends = [one for one in (self, other) if one.lower is lower or one.upper is upper]
        by = tuple(dict.fromkeys(method for one in ends or (self, other) for method in one.by))
        return Enclosure(lower, upper, why=self.why, by=by).because(*other.why)

    @staticmethod
    def total(parts: Iterable[Enclosure]) -> Enclosure:
        """The sum of these numbers, not of opposite infinities."""
        return reduce(Enclosure.plus, parts, Enclosure.exactly(0))

    def is_finite(self) -> bool:
        """Are both ends finite?"""
        return not (is_infinite(self.lower) or is_infinite(self.upper))

    def is_within(self, relative: Fraction) -> bool:
        """Is it a proved infinity, or a finite interval of at most this relative width?"""
        if not self.is_finite():
            return self.lower == self.upper
        if self.lower == self.upper:
            return True
        gap, size = _magnitudes(self.lower, self.upper)
        return gap <= relative * size

    def __str__(self) -> str:
        """Only digits that are certain, and in brackets what is not."""
        if self.lower == self.upper:
            return _written(self.lower, ROUND_FLOOR)
        low, high = self.to_json().values()
        if not self.is_finite():
            return f"[{low}, {high}]"
        shared = _common_digits(Decimal(low), Decimal(high))
        return shared or f"[{_short(low, ROUND_FLOOR)}, {_short(high, ROUND_CEILING)}]"

    def __format__(self, spec: str) -> str:
        """Of a numeric format, as ".4f" or ".3g", the upper end rounded up; else as text."""
        if spec.endswith(("e", "E", "f", "F", "g", "G", "%")):
            return format_above(self.upper, spec)
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"Enclosure({', '.join(self.to_json().values())})"

    def _repr_html_(self) -> str:
        ends = ", ".join(self.to_json().values())
        return f'<span title="certified: [{ends}]">{escape(str(self))}</span>'


def _ends(number: Enclosure | ExactInput) -> tuple[Endpoint, Endpoint]:
    """Both ends of what an enclosure is compared with."""
    if isinstance(number, Enclosure):
        return number.lower, number.upper
    value: Endpoint | None = None  # of a Decimal whatever its exponent, also an infinite one
    if isinstance(number, (str, Decimal)) or (isinstance(number, float) and math.isinf(number)):
        with suppress(ArithmeticError):
            value = Decimal(number)
    if not isinstance(value, Decimal) or value.is_nan():
        value = exact(number, "the number compared with")
    return value, value


def _enclosing(number: Enclosure | ExactInput) -> Enclosure:
    """A number as what contains it."""
    return number if isinstance(number, Enclosure) else Enclosure(*_ends(number))


def _fraction(end: Endpoint, up: bool) -> Endpoint:
    """The end as a fraction or an infinity; outward, where its digits would be too many."""
    if not isinstance(end, Decimal):
        return Fraction(end)
    if end.is_infinite() or not end or abs(end.adjusted()) <= _HUGE:
        return end if end.is_infinite() else Fraction(end)
    away = up == (end > 0)  # from 0
    size = Fraction(10) ** _HUGE
    if end.adjusted() > 0:
        return _INFINITY.copy_sign(end) if away else size * (1 if end > 0 else -1)
    return (1 if end > 0 else -1) / size if away else Fraction(0)


def _added(a: Endpoint, b: Endpoint) -> Endpoint:
    if is_infinite(a) and is_infinite(b) and a != b:
        raise ParameterError("infinity minus infinity is no number")
    return _sum(a, b)


def _multiplied(a: Endpoint, b: Endpoint) -> Endpoint:
    if not (is_infinite(a) or is_infinite(b)):
        return Fraction(a) * Fraction(b)
    if not a or not b:
        raise ParameterError("infinity times 0 is no number")
    return _INFINITY if (a > 0) == (b > 0) else -_INFINITY


def _smaller(a: Endpoint, b: Endpoint) -> Endpoint:
    return a if _less(a, b) else b


def _larger(a: Endpoint, b: Endpoint) -> Endpoint:
    return b if _less(a, b) else a


def _sum(a: Endpoint, b: Endpoint) -> Endpoint:
    if is_infinite(a) or is_infinite(b):
        return a if is_infinite(a) else b
    return Fraction(a) + Fraction(b)


def _ratio(a: Endpoint, b: Endpoint, by_zero: Endpoint) -> Endpoint:
    if is_infinite(a):
        return a
    if is_infinite(b):
        return Fraction(0)
    return Fraction(a) / Fraction(b) if b > 0 else by_zero


def _less(a: Endpoint | int, b: Endpoint | int) -> bool:
    if isinstance(a, Decimal):
        return a < b if isinstance(b, Decimal) else _decimal_below(a, Fraction(b))
    if isinstance(b, Decimal):
        return _decimal_below(b.copy_negate(), -Fraction(a))
    return a < b


def _decimal_below(a: Decimal, b: Fraction) -> bool:
    """a < b, exactly, without expanding a decimal of huge exponent into digits."""
    if a.is_infinite():
        return a < 0
    if abs(a.adjusted()) <= _HUGE or not a:
        return Fraction(a) < b
    if not b or (a > 0) != (b > 0):
        return a < 0
    bits = abs(b.numerator).bit_length() - b.denominator.bit_length()
    digits = round(bits * 0.30103)  # |b| is near 10^digits
    if abs(a.adjusted() - digits) <= 2 + abs(bits) // 10**6:
        return Fraction(a) < b
    return (a.adjusted() < digits) == (a > 0)


def _magnitudes(lower: Endpoint, upper: Endpoint) -> tuple[Fraction, Fraction]:
    """The gap and the larger absolute end, on a common scale that keeps them small; 0 has none."""
    ends = [end or Decimal(0) for end in (lower, upper)]
    scale = max(end.adjusted() if isinstance(end, Decimal) else 0 for end in ends if end)
    shifted = [
        Fraction(end.scaleb(-scale, _wide(end)))
        if isinstance(end, Decimal)
        else Fraction(end) / Fraction(10) ** scale
        for end in ends
        if not (isinstance(end, Decimal) and end.adjusted() - scale < -_HUGE)
    ]
    if len(shifted) < 2:  # one end is smaller than the other by thousands of digits
        return abs(shifted[0]), abs(shifted[0])
    return abs(shifted[1] - shifted[0]), max(map(abs, shifted))


def _wide(number: Decimal) -> Context:
    return Context(prec=len(number.as_tuple().digits) + 2, Emax=10**17, Emin=-(10**17))


def _written(end: Endpoint, rounding: str, digits: int = _PRINTED_DIGITS) -> str:
    if is_infinite(end):
        return "inf" if end > 0 else "-inf"
    context = Context(prec=digits, rounding=rounding, Emax=10**17, Emin=-(10**17))
    if isinstance(end, Fraction):
        rounded = context.divide(Decimal(end.numerator), Decimal(end.denominator))
    else:
        rounded = context.plus(end)
    return _plain(rounded.normalize(context), digits)


def _short(text: str, rounding: str) -> str:
    return _written(Decimal(text), rounding, 6)


def _common_digits(low: Decimal, high: Decimal) -> str | None:
    """The longest decimal that is certain to within one unit of its last digit."""
    for digits in range(17, 2, -1):
        nearest = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=10**17, Emin=-(10**17))
        if (shared := nearest.plus(low)) == nearest.plus(high):
            return _plain(shared, digits)
    return None


def _plain(number: Decimal, digits: int) -> str:
    if -7 <= number.adjusted() < digits:
        return format(number, "f")
    return str(number).replace("E", "e")


def _read(text: str, name: str) -> Decimal:
    if text in ("inf", "-inf"):
        return Decimal(text)
    try:
        value = Decimal(text)
    except ArithmeticError as error:
        raise ParameterError(f"{name} must be decimal text, got {text!r}") from error
    if not value.is_finite():
        raise ParameterError(f"{name} must be decimal text, got {text!r}")
    return value
