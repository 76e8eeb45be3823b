"""Identities proved symbolically, and inequalities over a whole continuous range, in balls.

An identity is proved with sympy, for all values of its symbols at once. The argument of an
inequality: a function evaluated on a ball that covers a piece of the range gives a ball that
contains all its values there (FLINT's balls keep inclusion). Where that one is positive the
inequality is proved on the piece; where it is not, the piece is halved. Finitely many pieces that
cover the range are a proof for every real number in it: nothing is sampled.

A point where both sides agree defeats subdivision. There `proved_positive_beyond` takes derivatives
(Taylor's theorem with the remainder of Lagrange); these are computed by power series arithmetic in
balls, never by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import sympy
from flint import arb, arb_series

from ...exact.enclosure import Enclosure, UndecidedError
from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import refine, working_precision

Figures: TypeAlias = Mapping[str, Any]  # by name: a number, an enclosure, a text, a list of Figures

BITS = 128
_MOST_PIECES = 20_000
_NARROW = Fraction(1, 10**18)


class NotProvedError(ArithmeticError):
    """A step is false, or what was tried does not suffice to prove it."""


def require(certain: bool | None, otherwise: str) -> None:
    """Raise NotProvedError unless this is certain; None is not."""
    if certain is not True:
        raise NotProvedError(otherwise)


def figure(compute: Callable[[], arb]) -> Enclosure:
    """Enclose a number to 18 digits."""
    return refine(compute, width=_NARROW)


def certain(compute: Callable[[], arb]) -> bool:
    """Is the number positive (True) or negative (False)? For certain.

    Raises UndecidedError where the highest precision allowed cannot tell it from zero.
    """
    found = refine(
        compute, width=Fraction(0), enough=lambda gap: gap.greater_than(0) is not None
    ).greater_than(0)
    if found is None:
        raise UndecidedError("a comparison stayed open at the highest precision allowed")
    return found


def proved_positive(
    function: Callable[[arb], arb],
    low: ExactInput,
    high: ExactInput,
    *,
    derivative: Callable[[arb], arb] | None = None,
) -> int:
    """Prove function(x) > 0 for every real x in [low, high]; how many pieces it took.

    derivative: of the function; where given, the mean value form f(c) + f'(X) (X - c), which
    contains f(X) by the mean value theorem, is tried as well. It saves pieces where f is small.
    Raises NotProvedError, with a certified counterexample where one was met.
    """
    start, end = exact(low, "low"), exact(high, "high")
    if start > end:
        raise ParameterError(f"high must be at least low, got {float(start)} and {float(end)}")
    pending, done = [(start, end)], 0
    with working_precision(BITS):
        while pending:
            left, right = pending.pop()
            middle = (left + right) / 2
            x, centre = ball(left).union(ball(right)), ball(middle)  # x contains the whole piece
            if function(x) > 0 or (
                derivative is not None and function(centre) + derivative(x) * (x - centre) > 0
            ):
                done += 1
                continue
            near, value = f"near {float(middle):.12g}", function(centre)
            require(not value <= 0, f"not positive {near}: {value}")
            require(done + len(pending) < _MOST_PIECES, f"too many pieces {near}")
            size = max(abs(left), abs(right), Fraction(1))
            require((right - left) * 2**BITS >= size, f"{BITS} bits do not suffice {near}")
            pending += [(middle, right), (left, middle)]
    return done


def proved_positive_beyond(
    function: Callable[[arb_series], arb_series], touch: ExactInput, far: ExactInput, *, order: int
) -> int:
    """Prove f(x) > 0 for every x between `touch` (excluded) and `far` (included; on either side).

    f and its derivatives below `order` vanish at `touch`. That is the caller's to prove (a symbolic
    identity, evenness, a value known in closed form); here it is only checked in balls. By Taylor's
    theorem f(x) = f^(order)(y) (x - touch)^order / order! with y between the two, so it is enough
    that (x - touch)^order f^(order) is positive throughout, which is proved by subdivision.
    function: in power series arithmetic, which gives all its derivatives.
    Raises NotProvedError as `proved_positive` does, and where a value at `touch` is not zero.
    """
    start, end = exact(touch, "touch"), exact(far, "far")
    if start == end:
        raise ParameterError(f"far must differ from touch, got {float(end):.6g}")
    length = whole(order, "order", at_least=1) + 1
    sign = 1 if end > start else (-1) ** order

    def highest(x: arb) -> arb:
        coefficient: arb = function(arb_series([x, 1], prec=length))[order]
        return sign * coefficient

    with working_precision(BITS):
        at_touch = function(arb_series([ball(start), 1], prec=length))
        for j in range(order):
            vanishes = at_touch[j].contains(0)
            require(vanishes, f"the derivative of order {j} at {start} is {at_touch[j]}")
    return proved_positive(highest, min(start, end), max(start, end))


def prove_equal(left: sympy.Expr, right: sympy.Expr) -> None:
    """Prove that both sides are the same function of their symbols.

    Raises NotProvedError where their difference is not reduced to 0 symbolically: it may differ
    from 0, or sympy may not see that it does not. No number is ever put in.
    """
    difference = sympy.sympify(left) - sympy.sympify(right)
    for step in (sympy.simplify, _combined):
        if step(difference) == 0:
            return
    raise NotProvedError(f"not proved to be equal: {left} and {right}")


def _combined(expression: sympy.Expr) -> sympy.Expr:
    powers = sympy.powsimp(sympy.expand(sympy.expand_log(expression, force=False)))
    return sympy.simplify(sympy.factor(sympy.together(powers)))
