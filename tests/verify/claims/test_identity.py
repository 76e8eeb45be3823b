"""Identities are proved, near misses are not."""

from __future__ import annotations

import pytest
import sympy

from exactdp.verify.claims.identity import prove_equal
from exactdp.verify.claims.inequality import NotProvedError


def test_an_identity_is_proved() -> None:
    x, y = sympy.symbols("x y", positive=True)
    prove_equal((x + y) ** 2, x**2 + 2 * x * y + y**2)
    prove_equal(sympy.cosh(x) ** 2 - sympy.sinh(x) ** 2, sympy.Integer(1))


def test_a_near_miss_is_refused() -> None:
    x = sympy.symbols("x", positive=True)
    with pytest.raises(NotProvedError):
        prove_equal(x, x + sympy.Rational(1, 10**30))
    with pytest.raises(NotProvedError):
        prove_equal(sympy.sqrt(x) ** 2, -x)
