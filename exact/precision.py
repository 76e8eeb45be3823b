"""Working precision, and how it rises by itself until an enclosure is narrow enough.

FLINT's precision is a setting of the module, for all threads at once. It is changed in one place,
`working_precision`, and restored there; everything that computes with balls runs inside it. Threads
take turns at it: digits are the same in any of them, and nothing is lost, since the interpreter
lets only one compute anyway.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from fractions import Fraction
from threading import RLock

from flint import arb, ctx

from .budget import OutOfTimeError, spend
from .enclosure import Enclosure

WIDTH = Fraction(1, 10**12)  # the relative width that every result meets unless it says otherwise
START = 96  # bits
_MOST_EXPONENT = 10**17
_DECIMAL = Context(prec=50, Emin=-_MOST_EXPONENT, Emax=_MOST_EXPONENT)
CAP = 6144  # bits; an enclosure that is still too wide here stays wide, and says so


_turn = RLock()


def _after_fork() -> None:
    """A child has one thread: nobody else of the parent's is at it."""
    global _turn
    _turn = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of this many bits inside the block."""
    with _turn:
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before


def enclose(value: arb) -> Enclosure:
    """Turn a ball into an enclosure, rounded outward to decimals."""
    if value.is_nan() or not value.is_finite():
        if value.is_nan() or not value.rad().is_zero():
            return Enclosure(Decimal("-Infinity"), Decimal("Infinity"))
        end = Decimal("Infinity") if value > 0 else Decimal("-Infinity")
        return Enclosure(end, end)
    # arb.mid_rad_10exp: the ball is contained in (mid +- rad) * 10^exp
    mid, rad, exponent = (int(part) for part in value.mid_rad_10exp(ctx.prec // 3))
    if exponent < -_MOST_EXPONENT:  # rounded outward, to 0 on the near side
        return Enclosure(_scaled(min(mid - rad, 0), exponent), _scaled(max(mid + rad, 0), exponent))
    return Enclosure(_scaled(mid - rad, exponent), _scaled(mid + rad, exponent))


def enclose_between(lower: arb, upper: arb) -> Enclosure:
    """From a lower to an upper bound of a number that is not negative; either may be infinite."""
    least = max(enclose(lower.lower()).lower, Decimal(0))
    return Enclosure(least, enclose(upper.upper()).upper)


def upper_float(value: arb) -> float:
    """A float that is not below the ball; infinity where nothing is known."""
    found = math.nextafter(float(value.upper()), math.inf)
    return math.inf if math.isnan(found) else found


def lower_float(value: arb) -> float:
    """A float that is not above the ball; minus infinity where nothing is known."""
    return -upper_float(-value)


def floor_of(value: arb) -> int:
    """The floor of the ball's midpoint. Raises ArithmeticError where that is no number."""
    found = value.mid().floor().unique_fmpz()
    if found is None:
        raise ArithmeticError("a number is too large for the working precision")
    return int(found)


def refine(
    compute: Callable[[], arb | Enclosure],
    *,
    width: Fraction = WIDTH,
    enough: Callable[[Enclosure], bool] | None = None,
    cap: int = CAP,
) -> Enclosure:
    """Raise the precision until `compute` gives a relative width of at most `width`.

    compute: evaluated inside `working_precision`, deterministic.
    enough: another condition that ends the search (a comparison that is decided, say).
    Returns the narrowest enclosure that was reached; where the cap, or a width that more bits do
    not reduce, or a `time_limit`, ends the search it is wider than asked, which
    `Enclosure.is_within` tells. Raises OutOfTimeError where the time ends before any is reached.
    """
    bits, best = START, None
    while True:
        before = best
        with working_precision(bits):
            try:
                spend()
                result = compute()
            except OutOfTimeError:
                if before is None:
                    raise
                return before
            found = result if isinstance(result, Enclosure) else enclose(result)
            best = found if before is None else before.intersection(found)
        is_enough = best.is_within(width) or (enough is not None and enough(best))
        if is_enough or bits >= cap or (bits >= 4 * START and _stalled(before, best)):
            return best
        bits = min(2 * bits, cap)


def _stalled(before: Enclosure | None, now: Enclosure) -> bool:
    """Did twice the bits not even halve the width? Then it is not the precision that it lacks."""
    if before is None or not (before.is_finite() and now.is_finite()):
        return False
    gaps = [_DECIMAL.subtract(_about(one.upper), _about(one.lower)) for one in (before, now)]
    return _DECIMAL.add(gaps[1], gaps[1]) > gaps[0]


def _about(end: Fraction | Decimal) -> Decimal:
    if isinstance(end, Decimal):
        return end
    return _DECIMAL.divide(Decimal(end.numerator), Decimal(end.denominator))


def _scaled(digits: int, exponent: int) -> Decimal:
    if exponent < -_MOST_EXPONENT:  # beyond what a Decimal holds
        return Decimal((0 if digits >= 0 else 1, (min(abs(digits), 1),), -_MOST_EXPONENT))
    return Decimal((0 if digits >= 0 else 1, tuple(map(int, str(abs(digits)))), exponent))
