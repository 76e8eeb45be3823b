"""Published bounds for vectors, against their formulas in floats and against a stated figure."""

import math
from fractions import Fraction

import pytest

from exactdp.accounting import compose
from exactdp.accounting.interop.foreign import TFF, TFF_ORDERS, gaussians_tau, published_renyi
from exactdp.accounting.methods.classical import DoesNotApplyError
from exactdp.accounting.methods.comparison import compare
from exactdp.exact import working_precision
from exactdp.mechanisms.additive.coordinate_rounding import Conditional
from exactdp.mechanisms.additive.reach import Reach
from exactdp.mechanisms.additive.vector import VectorNoise
from exactdp.mechanisms.laws import DiscreteGaussian, DiscreteGaussianSum, Skellam


def skellam(order: int, variance: float, square: float, total: float) -> float:
    rest = ((2 * order - 1) * square + 6 * total) / (4 * variance**2)
    return order * square / (2 * variance) + min(rest, 3 * total / (2 * variance))


def gaussians(order: int, n: int, sigma2: float, square: float, total: float, d: int) -> float:
    tau = 10 * sum(math.exp(-2 * math.pi**2 * sigma2 * k / (k + 1)) for k in range(1, n))
    scale = math.sqrt(n * sigma2)
    return min(
        order * square / scale**2 / 2 + tau * d,
        order / 2 * (square / scale**2 + 2 * total / scale * tau + tau**2 * d),
        order / 2 * (math.sqrt(square) / scale + math.sqrt(d) * tau) ** 2,
    )


@pytest.mark.parametrize("order", [2, 3, 17, 128])
def test_the_formulas(order: int) -> None:
    reach = Reach(7, dimension=100)
    with working_precision(128):
        found = float(published_renyi(VectorNoise(Skellam(30), reach))(Fraction(order)))
        assert found == pytest.approx(skellam(order, 30, 49, 49), rel=1e-12)
        for law, n, sigma2 in (
            (DiscreteGaussian(2), 1, 2),
            (DiscreteGaussianSum(9, "0.7"), 9, 0.7),
        ):
            found = float(published_renyi(VectorNoise(law, reach))(Fraction(order)))
            assert found == pytest.approx(gaussians(order, n, sigma2, 49, 49, 100), rel=1e-12)


def test_far_terms_are_in_a_bracket() -> None:
    with working_precision(128):
        found = gaussians_tau(5000, Fraction(1, 2))
        truth = 10 * sum(math.exp(-(math.pi**2) * k / (k + 1)) for k in range(1, 5000))
        assert float(found.lower()) <= truth * (1 + 1e-12)
        assert truth * (1 - 1e-12) <= float(found.upper())


@pytest.mark.slow
def test_a_stated_figure() -> None:
    """google-research/federated, issue 66: epsilon 6 by the library's own accounting."""
    scale, deviation, clients = 350, Fraction("11.43585395098052"), 16
    beta = Fraction(math.exp(-0.5))
    square = Conditional(beta).squared_bound(Fraction(3 * scale), 1 << 24)
    reach = Reach(Fraction(math.isqrt(square * 10**20) + 1, 10**10), dimension=1 << 24)
    mechanism = VectorNoise(Skellam(clients * (deviation * scale) ** 2), reach)
    (exact, told) = compare(compose((mechanism, 150)), "0.01", names=["exact", TFF])
    assert told.value is not None and exact.value is not None
    assert float(told.value) == pytest.approx(6, rel=1e-4)
    assert 0.8 * float(told.value) < exact.value.lower < exact.value.upper < told.value.lower


def test_where_it_does_not_apply() -> None:
    sampled = VectorNoise(Skellam(9), Reach(2), None, "add-remove", Fraction(1, 2))
    with pytest.raises(DoesNotApplyError, match="none is sampled"):
        published_renyi(sampled)
    with pytest.raises(DoesNotApplyError, match="dimension"):
        published_renyi(VectorNoise(DiscreteGaussianSum(2, 1), Reach(2)))
    assert TFF_ORDERS[-1] == 256
