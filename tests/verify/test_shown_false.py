"""A certificate of false figures is not valid: nothing proves it."""

import copy
from typing import Any

import pytest
from certificates import resealed

import exactdp
from exactdp import check

pytestmark = pytest.mark.contract


def altered(spec: str, claim: str, numbers: tuple[str, str, str]) -> dict[str, Any]:
    """The certificate of a true claim, with another bound, lower and upper end."""
    content = copy.deepcopy(exactdp.certify(spec, claim).content)
    assert check(content).valid
    name = "rho" if "rho" in content["claim"] else "epsilon"
    content["claim"][name], lower, upper = numbers
    content["measured"] = {"lower": lower, "upper": upper}
    return resealed(content)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("spec", "claim", "numbers"),
    [  # the truth is at least 2/3, by one coordinate; 10, all of them; ...
        ("discrete-laplace:scale=3,l1=2", "pure:0.7", ("0.6", "0.59", "0.595")),
        ("discrete-laplace:scale=10,linf=1,dimension=100", "pure:10", ("6.4", "6.3", "6.35")),
        ("discrete-gaussian:sigma2=9,l2=2", "approx:3,1e-3", ("1.73", "1.7", "1.72")),
        ("discrete-gaussian:sigma2=9,l2=2", "rdp:2,0.6", ("0.4", "0.39", "0.395")),
        ("discrete-gaussian:sigma2=9,l2=2", "zcdp:0.3", ("0.2", "0.19", "0.195")),
        # refuted, by figures above the truth: rho is at most epsilon^2/2 = 0.02, and just 0.005
        ("discrete-laplace:scale=5", "zcdp:0.01", ("0.022", "0.0239", "0.0399")),
        ("discrete-gaussian:sigma2=100", "zcdp:0.004", ("0.006", "0.007", "0.008")),
    ],
)
def test_false_figures_are_not_valid(spec: str, claim: str, numbers: tuple[str, str, str]) -> None:
    assert not check(altered(spec, claim, numbers)).valid


def test_figures_that_may_be_true_are_open() -> None:
    """Between what a vector attains and what bounds all of them."""
    spec = "discrete-gaussian:sigma2=9,l2=2"
    found = check(altered(spec, "approx:3,1e-3", ("1.9225", "1.9", "1.9222")))
    assert not found.valid and found.undecided
