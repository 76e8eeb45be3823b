"""Identities proved symbolically, with sympy: for all values of their symbols at once."""

from __future__ import annotations

import sympy

from .inequality import NotProvedError

__all__ = ["prove_equal"]


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
