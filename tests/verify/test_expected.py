"""What the checker alone reads of SPEC: the same uses as the package, or an error, soon."""

import pytest

from exactdp.accounting.composition.composed import Use
from exactdp.mechanisms.spec import parse
from exactdp.verify.checker import CertificateError
from exactdp.verify.checker.expected import spec_fields
from exactdp.verify.checker.reading import read_use
from exactdp.verify.fields import use_fields


@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:epsilon=0.1",
        "discrete-laplace:epsilon=0.1,sensitivity=3,modulus=64",
        "discrete-laplace:epsilon=0.1,l1=3,dimension=2",
        "discrete-gaussian:sigma=3,l2=2",
        "laplace:epsilon=0.5,sensitivity=2",
        "gaussian:sigma=2,l2=3,neighbours=add-remove,poisson=0.1",
        "randomized-response:epsilon=1",
        "gaussian:sigma=4.8448/10,l2=1e2/40,neighbours=add-remove,poisson=1.5/100",
        "discrete-gaussian:sigma=2,fixed-size=100/10000",
        "discrete-gaussian:sigma=1.5/0.5",
        "discrete-gaussian:rho=0.005,sensitivity=3",
        "discrete-gaussian:rho=0.1,l2=4,dimension=9",
        "gaussian:sigma2=9/4,neighbours=add-remove,poisson=0.1",
        "gaussian:rho=1/2,sensitivity=3",
        "gaussian:rho=2,l2=3",
        "skellam:variance=9,neighbours=add-remove,poisson=1/3",
    ],
)
def test_as_the_package_reads_it(text):
    held = read_use(use_fields(Use(parse(text).mechanism, 1)))
    assert read_use(spec_fields(text)) == held


@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:epsilon=0.1,scale=10",
        "discrete-laplace:epsilon=0.1,l2=3",
        "discrete-laplace:epsilon=0",
        "discrete-laplace:epsilon=1e999999999",
        "discrete-laplace:epsilon=1e9999",
        "discrete-laplace:epsilon=١",
        "discrete-laplace:epsilon=1_0",
        "discrete-laplace:epsilon=nan",
        "discrete-laplace:epsilon=1.5/0",
        "discrete-laplace:epsilon=1.5/-1",
        "discrete-laplace:epsilon=1.5/2/3",
        "discrete-gaussian:sigma=1e999999999",
        "discrete-gaussian:sigma=1e-9999",
        "laplace:epsilon=1e999999999",
        "laplace:epsilon=1,scale=1",
        "laplace:l1=2,sensitivity=1,scale=3",
        "gaussian:sigma=2,scale=3",
        "gaussian:sigma=2,rho=3",
        "gaussian:sigma2=4,rho=3",
        "gaussian:rho=0",
        "discrete-gaussian:rho=1,sigma=1",
        "discrete-gaussian:rho=1,sigma2=1",
        "discrete-gaussian:rho=1,linf=2,dimension=3",
        "discrete-gaussian:rho=1,l2=4,dimension=4,rounding=stochastic,neighbours=add-remove",
        "discrete-gaussian-sum:count=2,rho=1",
        "skellam:rho=1",
        "geometric:scale=1",
        "skellam",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(CertificateError):
        spec_fields(text)
