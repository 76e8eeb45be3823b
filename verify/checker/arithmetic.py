"""Intervals with outward rounding: mpmath's `iv`, and integers in fixed point.

`iv` adds, multiplies, divides and takes roots correctly rounded outward. Its exp, log and powers
are within a few units in the last place: here each is widened by 2^8 such units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from threading import RLock
from typing import Any, TypeAlias, TypeVar, cast

from mpmath import iv

from .deadline import check_time

Interval: TypeAlias = Any  # an `iv.mpf`; mpmath has no types
End: TypeAlias = Fraction | float  # of floats only the infinity
Enclosure: TypeAlias = tuple[End, End]
_Held = TypeVar("_Held")
_Key = TypeVar("_Key")
INFINITY = math.inf
_LARGEST_EXPONENT = 1 << 20
_ONE_THREAD = RLock()  # another's precision would be taken for that of what is rounded here
_LONGEST_COEFFICIENT = 14_000  # Python writes no integers of 4,301 digits
_ROOT = 256  # bits of roots behind the point


class OpenError(ArithmeticError):
    """What cannot be re-established here; it may be true all the same."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with intervals whose ends have so many bits; one thread at a time, as `iv` is one."""
    with _ONE_THREAD:
        before = iv.prec
        iv.prec = bits
        try:
            yield
        finally:
            iv.prec = before


def interval(number: Fraction | int) -> Interval:
    """The narrowest interval around a rational."""
    check_time()
    return iv.mpf(number.numerator) / number.denominator


def root_below(square: Fraction) -> Fraction:
    """At most the root, and exactly where it is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt((square.numerator << 2 * _ROOT) // square.denominator), 1 << _ROOT)


def root_above(square: Fraction) -> Fraction:
    """And at least."""
    least = root_below(square)
    return least if least**2 == square else least + Fraction(1, 1 << _ROOT)


def hull(low: Interval, high: Interval) -> Interval:
    """From the lower end of `low` to the upper end of `high`."""
    return iv.make_mpf((low._mpi_[0], high._mpi_[1]))


def lower(x: Interval) -> Interval:
    """The lower end, as a point."""
    return iv.make_mpf((x._mpi_[0],) * 2)


def upper(x: Interval) -> Interval:
    """The upper end, as a point."""
    return iv.make_mpf((x._mpi_[1],) * 2)


def middle(x: Interval) -> Fraction:
    """Some number near the middle."""
    return Fraction(value(x)[0] + value(x)[1]) / 2


def exp(x: Interval) -> Interval:
    """e^x."""
    check_time()
    return iv.exp(x) * _slack(iv.prec)


def log(x: Interval) -> Interval:
    """log x, x > 0."""
    check_time()
    found = iv.log(x)
    size = abs(found) + _unit(iv.prec)  # near 1 the error may be absolute
    return found + _slack_less_1(iv.prec) * size


def power(x: Interval, exponent: int) -> Interval:
    """x^exponent, x >= 0: `iv` truncates on the way, with guard bits."""
    check_time()
    return x**exponent * _slack(iv.prec)


@lru_cache
def _slack_less_1(bits: int) -> Interval:
    return _slack(bits) - 1


@lru_cache
def _slack(bits: int) -> Interval:
    unit = iv.ldexp(iv.mpf(1), 8 - bits)
    return hull(1 - unit, 1 + unit)


@lru_cache
def _unit(bits: int) -> Interval:
    return iv.ldexp(iv.mpf(1), -bits)


def repeated(one: _Held, count: int, joined: Callable[[_Held, _Held], _Held]) -> _Held:
    """So many of them joined, count > 0: by squaring."""
    found: _Held | None = None
    while True:
        if count & 1:
            found = one if found is None else joined(found, one)
        count >>= 1
        if not count:
            assert found is not None
            return found
        one = joined(one, one)


def convolve(a: list[int], b: list[int], bits: int, up: bool) -> list[int]:
    """The product of polynomials with coefficients >= 0, in fixed point, each rounded one way.

    Kronecker's substitution: evaluated at a power of ten so large that nothing carries over.
    Decimals, since Python multiplies long ones by a fast transform (of integers: exactly).
    """
    check_time()
    largest = max(a) * max(b) * min(len(a), len(b))
    if largest.bit_length() > _LONGEST_COEFFICIENT:
        raise OpenError("a polynomial has too long coefficients")
    slot = len(str(largest))
    count = len(a) + len(b) - 1
    context = Context(prec=(count + 1) * slot, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
    whole = context.multiply(_packed(a, slot), _packed(b, slot))
    raw = format(whole, "f").zfill(count * slot)
    check_time()
    more = (1 << bits) - 1 if up else 0
    return [(int(raw[k - slot : k]) + more) >> bits for k in range(count * slot, 0, -slot)]


def _packed(a: list[int], slot: int) -> Decimal:
    return Decimal("".join(str(each).zfill(slot) for each in reversed(a)))


def total(terms: Iterable[Interval]) -> Interval:
    """The sum."""
    found = iv.mpf(0)
    for term in terms:
        check_time()
        found += term
    return found


def gathered(parts: Iterable[tuple[_Key, _Held]]) -> dict[_Key, _Held]:
    """The sum of all that stands under each key, in the order in which keys come."""
    found: dict[_Key, _Held] = {}
    for key, part in parts:
        check_time()
        found[key] = cast("Any", found[key]) + part if key in found else part
    return found


def certainly(answer: bool | None) -> bool:
    """Is an `iv` comparison true of every pair of numbers in its two intervals?"""
    check_time()
    return answer is True


def at_least(x: Interval, least: int) -> Interval:
    """max(x, least)."""
    bound = iv.mpf(least)
    if certainly(x >= bound):
        return x
    return bound if certainly(x <= bound) else hull(bound, x)


def floor(x: Interval, bits: int) -> int:
    """The largest integer that is certainly <= 2^bits x."""
    return _shifted(x._mpi_[0], bits)


def ceiling(x: Interval, bits: int) -> int:
    """The least integer that is certainly >= 2^bits x."""
    sign, man, exponent, size = x._mpi_[1]
    return -_shifted((1 - sign if man else 0, man, exponent, size), bits)


def _shifted(raw: tuple[int, int, int, int], bits: int) -> int:
    sign, man, exponent, _ = raw
    check_time()
    number = -int(man) if sign else int(man)
    move = exponent + bits
    if move > _LARGEST_EXPONENT:
        raise OpenError("a number is too large")
    return number << move if move >= 0 else number >> -move  # >> rounds down


def value(x: Interval) -> Enclosure:
    """Both ends, exactly."""
    low, high = (_exactly(raw) for raw in x._mpi_)
    return low, high


def _exactly(raw: tuple[int, int, int, int]) -> End:
    sign, man, exponent, _ = raw
    if not man and exponent:
        raise OpenError("an interval is unbounded")
    number = -int(man) if sign else int(man)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise OpenError("a number is too large or too small")
    return Fraction(number << exponent) if exponent >= 0 else Fraction(number, 1 << -exponent)
