from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb

from exactdp import Enclosure, ParameterError, UndecidedError
from exactdp.exact.number import Logarithm
from exactdp.exact.precision import enclose, working_precision
from exactdp.mechanisms.laws import contour
from exactdp.mechanisms.laws import law as law_module
from exactdp.mechanisms.laws.binomial import Binomial
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.laws.finite import FiniteLaw
from exactdp.mechanisms.laws.law import Law
from exactdp.mechanisms.laws.polya import Polya
from exactdp.mechanisms.laws.skellam import Skellam

LAWS: list[Law] = [
    Binomial(40, "0.3"),
    DiscreteGaussian("0.1"),
    DiscreteGaussian(30),
    DiscreteGaussianSum(8, "0.7"),
    DiscreteLaplace("5/2"),
    FiniteLaw({-2: "1/4", 0: "1/3", 1: "5/12"}),
    Polya("1/3", 4),
    Polya(5, 4),
    PolyaDifference("1/3", 4),
    PolyaDifference(5, 4),
    Skellam(13),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=repr)


def summed(count: int, sigma2: str) -> oracles.Pmf:
    """By direct convolution, right to 30 digits as far as one summand reaches."""
    reach = int(16 * float(Fraction(sigma2)) ** 0.5) + 5
    found = oracles.convolution(oracles.discrete_gaussian(sigma2), count, reach)
    return lambda x: found.get(x, mpmath.mpf(0))


def named(one: object) -> str:
    return str(one) if isinstance(one, Law) else ""


# Each law, its definition written out in mpmath, and how far from 0 its tails are asked for.
KNOWN = [
    *((Binomial(n, q), lambda n=n, q=q: oracles.binomial(n, q), max(1, n - 1))
      for n, q in ((1, "1/3"), (9, "1/3"), (60, "39/40"))),
    *((DiscreteGaussian(s), lambda s=s: oracles.discrete_gaussian(s), 9)
      for s in ("1e-4", "0.05", "0.16", "1/6", "0.17", "1", "7/3", "100")),
    *((DiscreteGaussianSum(n, s), lambda n=n, s=s: summed(n, s), 5)
      for n, s in ((2, "0.3"), (3, "1"), (5, "0.05"), (7, "2"), (4, "20"), (10, "0.16"))),
    *((DiscreteLaplace(b), lambda b=b: oracles.discrete_laplace(b), 40)
      for b in ("1/2", "5/2", "7")),
    *((Polya(r, b), lambda r=r, b=b: oracles.polya(r, b), 40)
      for r, b in product(("1e-6", "17", "1/2", "3/2"), ("0.2", "5/3"))),
    *((PolyaDifference(r, b), lambda r=r, b=b: oracles.polya_difference(r, b), 40)
      for r, b in product(("1e-6", "17", "1/2", "3/2"), ("0.2", "5/3"))),
    *((Skellam(v), lambda v=v: oracles.skellam(v), 11) for v in ("0.01", "1", "7/2", "100")),
]  # fmt: skip
WIDE = [
    *((DiscreteGaussian(2500), lambda: oracles.discrete_gaussian(2500)),),
    *((Skellam(2500), lambda: oracles.skellam(2500)),),
    *((kind(r, 20), lambda r=r, pmf=pmf: pmf(r, 20)) for r in ("0.1", "8", "700")
      for kind, pmf in ((Polya, oracles.polya), (PolyaDifference, oracles.polya_difference))),
]  # fmt: skip


@pytest.mark.slow_cases(
    "DiscreteGaussianSum(count=4, sigma2=Fraction(20, 1))--",
    "PolyaDifference(shape=Fraction(17, 1), scale=Fraction(5, 3))--",
    "PolyaDifference(shape=Fraction(3, 2), scale=Fraction(5, 3))--",
)
@pytest.mark.quick_cases(9)
@pytest.mark.parametrize(("law", "make", "far"), KNOWN, ids=named)
def test_probabilities_tails_and_moments_are_those_of_the_definition(law, make, far) -> None:
    low, high = law.support
    with mpmath.workdps(50):
        truth = make()
        reach = 30 * max(1, int(float(law.moments().variance.upper) ** 0.5)) + 280
        masses = {x: truth(x) for x in range(-reach if low is None else low,
                                             (reach if high is None else high) + 1)}  # fmt: skip
        for x in (-7, 0, 1, far):
            matches(law, x, masses.get(x, mpmath.mpf(0)))
        for t in {1, 2, 9, far} if far > 9 else {1, far}:
            upper = mpmath.fsum(p for x, p in masses.items() if x >= t)
            below = mpmath.fsum(p for x, p in masses.items() if x <= -t)
            oracles.assert_holds(law.sf(t - 1), upper)
            oracles.assert_holds(law.cdf(t - 1), mpmath.fsum(p for x, p in masses.items() if x < t))
            oracles.assert_holds(law.cdf(-t), below)
            oracles.assert_holds(law.two_sided_tail(t - 1), upper + below)
        mean = mpmath.fsum(x * p for x, p in masses.items())
        square = mpmath.fsum(x * x * p for x, p in masses.items())
        moments = law.moments()
        assert abs(mean - oracles.real(Fraction(moments.mean.lower))) < 1e-11 * (1 + abs(mean))
        oracles.assert_holds(moments.variance, square - mean**2)


def matches(law: Law, x: int, truth: mpmath.mpf) -> None:
    """By balls, by mpmath and by floats."""
    if not truth:
        assert law.probability(x).upper == law.pmf(x) == 0
        return
    oracles.assert_holds(law.probability(x), truth)
    assert mpmath.almosteq(law.pmf(x), truth, mpmath.mpf(10) ** -30)
    quick = law.log_pmf(np.array([x]))[0]
    assert quick == pytest.approx(float(mpmath.log(truth)), rel=1e-11, abs=1e-12)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("law", "make"), WIDE, ids=named)
def test_probabilities_of_wide_laws_are_those_of_the_definition(law, make) -> None:
    with mpmath.workdps(45):
        truth = make()
        for x in (0, 1, 50, 403):
            matches(law, x, truth(x))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("law", [
    *(Skellam(v) for v in ("0.3", "100", "1e10")),
    *(PolyaDifference(r, b) for r in ("1e-6", "1/2", "20", "1e4") for b in ("1", "1e4")),
    DiscreteGaussianSum(60, "0.8"),  # a window longer than its period
], ids=str)  # fmt: skip
def test_windows_agree_with_single_probabilities(law) -> None:
    with working_precision(128):
        for low, high in ((-3, 1500), (50, 60), (-60, -50), (0, 0)):
            window = law.balls(low, high)
            assert len(window) == high - low + 1
            for x in (low, high, (low + high) // 2):
                assert window[x - low].overlaps(law.ball(x))
            assert min(p.rel_accuracy_bits() for p in window) > 80
        total = sum(law.balls(-800, 800), arb(0)) + 2 * law.upper_tail(801)
        assert abs(total - 1) < 1e-20


def interval(law: Law, reach: int) -> range:
    low, high = law.support
    return range(-reach if low is None else low, (reach if high is None else high) + 1)


@every_law
def test_the_transform_is_the_sum_and_the_slope_its_derivative(law: Law) -> None:
    xs = interval(law, 500)
    with working_precision(160):
        masses = law.balls(xs[0], xs[-1])
        for z in (acb("0.05", 1), acb("-0.1", "3.1"), acb("0.11")):
            exponent, factor = law.transform(z)
            total = sum((p * (z * x).exp() for x, p in zip(xs, masses, strict=True)), acb(0))
            assert abs(exponent.exp() * factor - total).upper() < 1e-20
            if (slope := law.slope(z)) is not None:
                step = arb(2) ** -40
                there, here = law.transform(z + step)[0], law.transform(z - step)[0]
                assert abs((there - here) / (2 * step) - slope).upper() < 1e-18


@every_law
def test_transforms_of_wide_balls_contain_those_of_their_points(law: Law) -> None:
    with working_precision(128):
        for middle in (acb("0.05", 1), acb("0.1", "3.0"), acb("-0.1", 2)):
            wide = acb(arb(middle.real.mid(), 0.03), arb(middle.imag.mid(), 0.15))
            exponent, factor = law.transform(wide)
            slope = law.slope(wide)
            product = exponent.exp() * factor
            for point in (middle.mid(), middle.mid() + acb(0.029, -0.14)):
                k, f = law.transform(point)
                value = k.exp() * f
                if product.is_finite():
                    assert product.real.overlaps(value.real) and product.imag.overlaps(value.imag)
                if slope is not None and slope.is_finite() and law.slope(point) is not None:
                    assert slope.overlaps(law.slope(point))


@every_law
def test_shape_is_what_the_probabilities_show(law: Law) -> None:
    xs = interval(law, 40)
    with working_precision(200):
        p = law.balls(xs[0], xs[-1])
        bends = [b * b - a * c for a, b, c in zip(p, p[1:], p[2:], strict=False)]
        if law.log_concave:
            assert not any(bend < 0 for bend in bends)
        if law.log_convex_sides:
            assert law.symmetric and not any(bend > 0 for bend in bends[xs.index(0) :])
        if law.symmetric:
            assert all(a.overlaps(b) for a, b in zip(p, p[::-1], strict=True))
        assert not (law.log_concave and law.log_convex_sides)


@pytest.mark.quick_cases(4)
@pytest.mark.slow_cases("PolyaDifference(shape=Fraction(5, 1), scale=Fraction(4, 1))")
@every_law
def test_quantile_is_the_first_crossing(law: Law) -> None:
    for p in (1, "0.4", "1e-3"):
        t = law.tail_quantile(p)
        assert law.two_sided_tail(t).at_most(Fraction(p)) is True
        assert t == 0 or law.two_sided_tail(t - 1).at_most(Fraction(p)) is False


@every_law
def test_sums_of_independent_copies(law: Law) -> None:
    double = law.sum_of(2)
    xs = interval(law, 200)
    with working_precision(128):
        masses = dict(zip(xs, law.balls(xs[0], xs[-1]), strict=True))
        for x in (-2, 0, 3):
            folded = sum((p * masses.get(x - y, arb(0)) for y, p in masses.items()), arb(0))
            assert abs(folded - double.ball(x)) < 1e-15
    assert law.sum_of(1).sum_of(6) == law.sum_of(2).sum_of(3) == law.sum_of(6)
    with pytest.raises(ParameterError):
        law.sum_of(0)


def test_a_path_outside_the_domain_is_refused() -> None:
    law = PolyaDifference("1/3", 3)
    beyond, left = acb("0.4"), acb("-0.1")
    with working_precision(96):
        for start, integrate in (
            (beyond, contour.probability),
            (beyond, contour.upper_tail),
            (left, contour.upper_tail),
            (-left, contour.lower_tail),
            (acb(0), contour.lower_tail),
        ):
            with pytest.raises(ArithmeticError, match="path starts"):
                integrate(law, 5, [start, start + acb(0, arb.pi())])


def test_infinite_outside_the_domain_of_the_generating_function() -> None:
    law = PolyaDifference("1/2", 4)
    assert not law.mgf("1/4").is_finite() and not law.mgf("-0.25").is_finite()
    assert law.mgf("0.2499").is_finite()
    assert Polya(1, 4).mgf(-100).is_finite() and not Polya(1, 4).mgf("1/4").is_finite()


def test_a_comparison_that_stays_open_is_an_error() -> None:
    law = Skellam(3)
    edge = law.two_sided_tail(4, width=Fraction(1, 10**120))
    with pytest.raises(UndecidedError, match=r"P\(\|X\| > 4\)"):
        law.tail_quantile(Fraction(edge.lower), cap=192)
    with working_precision(160):
        above = enclose(2 * law.upper_tail(5)).upper
    assert law.tail_quantile(Fraction(above)) == 4


@pytest.mark.parametrize("sign", [1, -1])
def test_a_point_that_cannot_be_told_from_the_end_of_a_domain_is_undecided(sign, monkeypatch):
    """Not said to be outside, where the function is infinite."""
    end = Logarithm(Fraction(2))
    assert Law._beyond(Fraction(69, 100), end, 1) is False
    assert Law._beyond(Fraction(69, 100), end, -1) is True
    monkeypatch.setattr(
        law_module, "refine", lambda *given, **more: Enclosure(Fraction(-1), Fraction(1))
    )
    with pytest.raises(UndecidedError):
        Law._beyond(Fraction(69, 100), end, sign)
