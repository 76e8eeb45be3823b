"""An exact end of an enclosure as a float or as formatted text, rounded up and never down."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

from .number import ParameterError

_SPARE = 30  # digits beyond those that are shown
_MOST_DIGITS = 10_000  # that are written out


def is_infinite(end: Fraction | Decimal | int) -> bool:
    """Is it plus or minus infinity?"""
    return isinstance(end, Decimal) and end.is_infinite()


def opposite(end: Fraction | Decimal) -> Fraction | Decimal:
    """Minus the number, with all of its digits."""
    return end.copy_negate() if isinstance(end, Decimal) else -end


def float_above(end: Fraction | Decimal) -> float:
    """The least float that is not below."""
    try:
        near = float(end)
    except OverflowError:  # only a Fraction
        near = math.inf if end > 0 else -math.inf
    return math.nextafter(near, math.inf) if _is_below(near, end) else near


def float_below(end: Fraction | Decimal) -> float:
    """The largest float that is not above."""
    return 0.0 - float_above(opposite(end))


def to_digits(value: Fraction, digits: int, rounding: str) -> Fraction:
    """The number in so many decimal digits, rounded as `decimal` names it."""
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def format_above(end: Fraction | Decimal, spec: str) -> str:
    """Format as a float would be ("e", "f", "g" or "%"), rounded up.

    Decimal's own formatting rounds as the context says; the digits before it are rounded up too,
    and rounding up twice stays above.
    """
    if not end or is_infinite(end):
        return format(float(end), spec)
    size = end.adjusted() if isinstance(end, Decimal) else _size(end)
    places = int("".join(c for c in spec.rpartition(".")[2] if c.isdigit()) or 6)
    if abs(size) + places > _MOST_DIGITS and not spec.endswith(("e", "E", "g", "G")):
        raise ParameterError(f"format {spec!r} would write more than {_MOST_DIGITS} digits")
    if "." not in spec:
        spec = f"{spec[:-1]}.6{spec[-1]}"  # as floats do
    digits = places + _SPARE + (max(size, 0) if abs(size) <= _MOST_DIGITS else 0)
    context = Context(prec=digits, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
    with localcontext(context):
        shown = Decimal(end.numerator) / end.denominator if isinstance(end, Fraction) else +end
        return format(shown, spec)


def _is_below(near: float, end: Fraction | Decimal) -> bool:
    if math.isinf(near):
        return near < 0 and not is_infinite(end)
    if isinstance(end, Fraction):
        return Fraction(near) < end
    return Decimal(near) < end  # exact, however large the exponent


def _size(number: Fraction) -> int:
    """About the decimal exponent, not too small."""
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    return int(bits * 0.30103) + 1
