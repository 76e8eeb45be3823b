"""True statements are proved, false ones never: also where the constant is off by very little."""

import pytest
import sympy
from flint import arb, arb_series

from exactdp import ParameterError
from exactdp.evidence.papers.proofs import (
    NotProvedError,
    prove_equal,
    proved_positive,
    proved_positive_beyond,
)


def test_a_true_inequality_is_proved_on_the_whole_range() -> None:
    assert proved_positive(lambda x: x.exp() - 1 - x / 2, "0.001", 10) > 1


def test_a_minimum_of_1e_9_is_proved_and_a_minimum_of_minus_1e_9_refused() -> None:
    def off(constant: str) -> None:
        # the minimum is at the irrational sqrt 2, which no midpoint meets
        proved_positive(
            lambda x: (x * x - 2) ** 2 + arb(constant),
            0,
            3,
            derivative=lambda x: 4 * x * (x * x - 2),
        )

    off("1e-9")
    with pytest.raises(NotProvedError, match="not positive"):
        off("-1e-9")
    with pytest.raises(NotProvedError):
        off("0")  # true but not strict: never claimed


def test_a_single_point_is_a_range() -> None:
    assert proved_positive(lambda x: x, 1, 1) == 1
    with pytest.raises(NotProvedError):
        proved_positive(lambda x: x - 1, 1, 1)


def test_nan_proves_nothing() -> None:
    with pytest.raises(NotProvedError):
        proved_positive(lambda x: x.log() + 10, -1, 1)


def cosh(x: arb_series) -> arb_series:
    return (x.exp() + (-x).exp()) / 2


@pytest.mark.parametrize("far", ["3", "-3"])
def test_a_touching_point_is_left_by_its_first_derivative_that_does_not_vanish(far: str) -> None:
    # e^(x^2/2) - cosh x = x^4/12 + ...
    proved_positive_beyond(lambda x: (x * x / 2).exp() - cosh(x), 0, far, order=4)
    with pytest.raises(NotProvedError, match="not positive"):
        proved_positive_beyond(
            lambda x: (x * x * arb("0.4999999")).exp() - cosh(x), 0, far, order=2
        )


def test_what_does_not_vanish_at_the_touching_point_is_noticed() -> None:
    with pytest.raises(NotProvedError, match="order 1"):
        proved_positive_beyond(lambda x: x + x * x, 0, 1, order=2)


def test_an_odd_order_changes_sign() -> None:
    proved_positive_beyond(lambda x: x * x * x, 0, 1, order=3)
    proved_positive_beyond(lambda x: -(x * x * x), 0, -1, order=3)
    with pytest.raises(NotProvedError):
        proved_positive_beyond(lambda x: x * x * x, 0, -1, order=3)


@pytest.mark.parametrize(("low", "high"), [(1, 0), ("nan", 1), (0, "inf")])
def test_bad_ranges_are_refused(low: object, high: object) -> None:
    with pytest.raises(ParameterError):
        proved_positive(lambda x: x, low, high)  # type: ignore[arg-type]


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
