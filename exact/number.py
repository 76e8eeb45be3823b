"""Exact real parameters: what a user writes, taken at its word.

`int`, `Fraction`, `Decimal` and text such as "0.1", "1/3", "1e-6" or "4.8448/10" are the rationals
that they name. A float stands for the decimal that it prints as: `0.1` is 1/10. NaN, infinities,
booleans and anything out of range are refused, by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeGuard

from attrs import frozen
from flint import arb, fmpq

from .errors import ParameterError as ParameterError

ExactInput: TypeAlias = int | float | str | Fraction | Decimal

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_TEXT = 1000
_MOST_BITS = 10_000
_LARGEST_EXPONENT = 1000  # what is made of such numbers can still be written down


class Formula(Protocol):
    """An exact real that is not rational, known by its formula; a hashable value."""

    def __hash__(self) -> int: ...

    def ball(self) -> arb:
        """Enclose it at the working precision."""
        ...


Real: TypeAlias = Fraction | Formula


@contextmanager
def located(where: object) -> Iterator[None]:
    """Name a place in what is wrong with its content, or with reading or writing it."""
    try:
        yield
    except ParameterError as error:
        raise type(error)(f"{where}: {error}") from error
    except OSError as error:
        raise ParameterError(f"{where}: {error.strerror or error}") from error


@frozen
class Quotient:
    """numerator / denominator, the denominator known by its formula."""

    numerator: Fraction
    denominator: Formula

    def ball(self) -> arb:
        return ball(self.numerator) / self.denominator.ball()


@frozen
class Logarithm:
    """log argument, argument > 0."""

    argument: Fraction

    def ball(self) -> arb:
        if 0.5 < self.argument < 2:
            return ball(self.argument - 1).log1p()  # also where the argument is all but 1
        return ball(self.argument).log()  # also where it is all but 0


@frozen
class Linear:
    """offset + factor number, the number known by its formula."""

    offset: Fraction
    factor: Fraction
    number: Formula

    def fields(self) -> dict[str, str] | None:
        """How a certificate writes factor times log; None for anything else."""
        if self.offset or not isinstance(self.number, Logarithm):
            return None
        return {"factor": decimal_text(self.factor), "log": decimal_text(self.number.argument)}

    def ball(self) -> arb:
        return ball(self.offset) + ball(self.factor) * self.number.ball()


def linear(offset: Fraction, factor: Fraction, number: Real) -> Real:
    """offset + factor number, as simply as it is known."""
    if isinstance(number, Fraction):
        return offset + factor * number
    if isinstance(number, Linear):
        return linear(offset + factor * number.offset, factor * number.factor, number.number)
    return number if offset == 0 and factor == 1 else Linear(offset, factor, number)


def exact(
    value: object,
    name: str,
    *,
    above: int | None = None,
    at_least: int | None = None,
    below: int | None = None,
    at_most: int | None = None,
) -> Fraction:
    """Read `value` as the exact rational that it names, inside the stated range.

    value: int, Fraction, Decimal, text, or a float, which stands for the decimal that it prints as.
    name: of the parameter. Raises ParameterError, naming it, its value and what is allowed.

    above, at_least, below, at_most: the range, where there is one.

    >>> exact("1e-6", "delta", above=0, below=1)
    Fraction(1, 1000000)
    >>> exact(2, "delta", below=1)
    Traceback (most recent call last):
        ...
    exactdp.exact.errors.ParameterError: delta must be an exact number below 1, got 2
    """
    allowed = _range_text(above, at_least, below, at_most)
    number = _rational(value, name, allowed)
    inside = (
        (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if not inside:
        raise ParameterError(f"{name} must be {allowed}, got {_shown(value)}")
    return number


def whole(
    value: object, name: str, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    """Read `value` as an integer (also `3.0` or "1e6"), inside the stated range.

    at_least, at_most: the range. Raises ParameterError as `exact`, naming the parameter by its
    name.

    >>> whole("1e6", "users", at_least=1)
    1000000
    """
    number = exact(value, name, at_least=at_least, at_most=at_most)
    if number.denominator != 1:
        raise ParameterError(f"{name} must be a whole number, got {_shown(value)}")
    return number.numerator


def positive(value: object, name: str) -> Fraction:
    """Read `value` as an exact positive number of workable size: 1e-9 to 1e15."""
    number = exact(value, name, above=0)
    if not Fraction(1, 10**9) <= number <= 10**15:
        raise ParameterError(f"{name} must be between 1e-9 and 1e15, got {_shown(value)}")
    return number


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Is it a sequence, and no text?"""
    return isinstance(value, Sequence) and not isinstance(value, str)


def ball(value: Real | Decimal | int | arb) -> arb:
    """Enclose an exact real, or an end of an enclosure, at the working precision; a ball as is."""
    if isinstance(value, Decimal):
        if value.is_infinite():
            return arb.pos_inf() if value > 0 else arb.neg_inf()
        value = Fraction(value)
    if isinstance(value, (int, Fraction)):
        return arb(fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else value.ball()


def log_about(value: Fraction | Decimal) -> float:
    """Its logarithm in floats, also where it is too small or too large for one; value > 0."""
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int), "an infinity has no logarithm"
        return math.log(int("".join(map(str, digits)))) + exponent * math.log(10)
    return math.log(value.numerator) - math.log(value.denominator)


def decimal_text(value: Fraction | int) -> str:
    """Write a rational exactly: as a decimal where it ends, as a ratio otherwise.

    By way of Decimal, which writes any number of digits; int stops at 4300.

    value: a rational. Raises nothing.

    >>> decimal_text(Fraction(1, 8)), decimal_text(Fraction(1, 3))
    ('0.125', '1/3')
    """
    number = Fraction(value)
    twos, fives, rest = 0, 0, number.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return f"{Decimal(number.numerator):f}/{Decimal(number.denominator):f}"
    places = max(twos, fives)
    sign, digits, _ = Decimal(number.numerator * 10**places // number.denominator).as_tuple()
    plain = Decimal((sign, digits, -places))
    shown = format(plain, "f")
    return shown if len(shown) <= 20 else str(plain).lower()


def brief_text(value: Fraction | int) -> str:
    """Write it exactly, and shortly where it is a power of ten: 1e-6.

    >>> brief_text(Fraction(1, 10**6)), brief_text(Fraction(3, 4))
    ('1e-6', '0.75')
    """
    power = len(str(value.denominator)) - 1
    one = power > 2 and value == Fraction(1, 10**power)
    return f"1e-{power}" if one else decimal_text(value)


def _rational(value: object, name: str, allowed: str) -> Fraction:
    if isinstance(value, bool):
        raise ParameterError(f"{name} must be {allowed}, got {value}")
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _LARGEST_EXPONENT:
            raise ParameterError(f"{name} must be {allowed}, got {_shown(value)}")
        return Fraction(value)
    if isinstance(value, float):
        value = repr(float(value))  # a numpy float is a float as well
    elif type(value).__module__ == "numpy":
        value = str(value)
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be {allowed}, got a {type(value).__name__}")
    written = value.strip()
    if len(written) <= _LONGEST_TEXT:
        above, slash, below = written.partition("/")
        top, bottom = _decimal(above), _decimal(below) if slash else Fraction(1)
        if top is not None and bottom is not None and bottom > 0:
            number = top / bottom
            if max(abs(number.numerator), number.denominator).bit_length() <= _MOST_BITS:
                return number
    raise ParameterError(f"{name} must be {allowed}, got {_shown(value)}")


def _decimal(text: str) -> Fraction | None:
    """The number that digits, a point and an exponent write; None for anything else."""
    if (match := _DECIMAL.fullmatch(text)) is None:
        return None
    exponent = (match.group(3) or "e0")[1:]
    if len(exponent) >= 8 or abs(int(exponent)) > _LARGEST_EXPONENT:
        return None
    return Fraction(text)


def _range_text(
    above: int | None, at_least: int | None, below: int | None, at_most: int | None
) -> str:
    limits = [f"above {above}"] if above is not None else []
    limits += [f"at least {at_least}"] if at_least is not None else []
    limits += [f"below {below}"] if below is not None else []
    limits += [f"at most {at_most}"] if at_most is not None else []
    return " ".join(["an exact number", " and ".join(limits)]).strip()


def _shown(value: object) -> str:
    if isinstance(value, (int, Fraction)):
        number = Fraction(value)
        bits = max(abs(number.numerator), number.denominator).bit_length()
        if bits > _MOST_BITS:  # longer than Python writes down
            return f"a number of {bits} bits"
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
