"""Gaussian noise by its rho, and by a square whose root is not rational."""

from fractions import Fraction

import pytest

import exactdp
from exactdp import ParameterError
from exactdp.exact import decimal_text

_WIDTH = Fraction(1, 10**6)
LOW, HIGH = Fraction(141421356237309, 10**14), Fraction(14142135623731, 10**13)  # of sqrt 2


@pytest.mark.parametrize(
    "more",
    ["", ",neighbours=add-remove,poisson=0.01*100", ",fixed-size=10/1000", ",sensitivity=7*3"],
)
def test_an_irrational_sigma_lies_between_rational_ones(more):
    keys, star, times = more.partition("*")
    each = [f"sigma={decimal_text(LOW)}", "sigma2=2", f"sigma={decimal_text(HIGH)}"]
    less, root, noisier = (exactdp.mechanism(f"gaussian:{one}{keys}{star}{times}") for one in each)
    for ask in (lambda m: m.epsilon("1e-4", _WIDTH), lambda m: m.delta("0.1", _WIDTH)):
        assert ask(root).lower <= ask(less).upper
        assert ask(noisier).lower <= ask(root).upper


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("discrete-gaussian:rho=1/2", "discrete-gaussian:sigma2=1"),
        ("discrete-gaussian:rho=0.005,sensitivity=3", "discrete-gaussian:sigma2=900,sensitivity=3"),
        (
            "discrete-gaussian:rho=0.1,l2=4,dimension=9",
            "discrete-gaussian:sigma2=80,l2=4,dimension=9",
        ),
        ("gaussian:rho=1/2,sensitivity=3", "gaussian:sigma=3,sensitivity=3"),
        ("gaussian:rho=2,l2=3", "gaussian:sigma=3/2,l2=3"),
        ("gaussian:rho=1", "gaussian:sigma2=0.5"),
    ],
)
def test_rho_is_another_way_to_say_sigma(text, same):
    assert exactdp.mechanism(text) == exactdp.mechanism(same)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gaussian:rho=0", "rho must be"),
        ("discrete-gaussian:sensitivity=1", "exactly one of sigma2 (or sigma) and rho"),
        ("discrete-gaussian:rho=1e-20", "sensitivity^2/(2 rho) must be between"),
        ("discrete-gaussian:rho=1,linf=1,dimension=4", "vectors of a known l2: give l2 as well"),
        (
            "discrete-gaussian:rho=1,l2=4,dimension=4,rounding=stochastic,neighbours=add-remove",
            "rho is for integer vectors",
        ),
        (
            "gaussian:rho=1,neighbours=add-remove,allocation=1/9",
            "allocation needs a rational sigma",
        ),
        ("laplace:rho=1", "'rho' is not known"),
    ],
)
def test_what_is_refused(text, told):
    with pytest.raises(ParameterError) as error:
        exactdp.mechanism(text)
    assert told in str(error.value)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("claim", "verdict"), [("gdp:1", True), ("gdp:0.999999999999999999", False)]
)
def test_roots_add_up_to_a_rational(claim, verdict):
    uses = exactdp.compose("gaussian:sigma2=4/3", "gaussian:sigma=1,sensitivity=1/2")
    found = exactdp.audit(uses, claim)
    assert (found.verified, found.refuted) == (verdict, not verdict)
