"""A new law is one class and one line in `families`: a toy, named in specs like any other.

The sum of two discrete Laplace variables, by its own formulas; it is the Pólya difference of shape
2, which shares none of them.
"""

from fractions import Fraction

import pytest
from attrs import field, frozen

import exactdp
from exactdp import NotCertifiedError, ParameterError, Verdict
from exactdp.exact.number import ball
from exactdp.exact.precision import refine
from exactdp.mechanisms.fields.schema import Calibrated, key
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace
from exactdp.mechanisms.laws.families import FAMILIES
from exactdp.mechanisms.laws.law import Law, Moments
from exactdp.mechanisms.laws.polya import read_scale


@frozen
class Twice(Law):
    """P(X = x) = ((1-b)/(1+b))^2 b^|x| (|x| + (1+b^2)/(1-b^2)), b = e^(-1/scale)."""

    scale: Fraction = field(converter=read_scale, metadata=key("of each of the two"))

    name = "twice"
    says = "an integer query plus two discrete Laplace variables"
    example = "scale=3"
    calibrated = Calibrated("scale", 1, "two of a larger scale are two of a smaller one, and more")
    log_concave = "a convolution of two laws that are"

    @property
    def mgf_domain(self):
        return -1 / self.scale, 1 / self.scale

    def loss_limit(self, shift):
        return shift / self.scale

    def ball(self, x):
        b = (-1 / ball(self.scale)).exp()
        whole = abs(x) + (1 + b**2) / (1 - b**2)
        return ((1 - b) / (1 + b)) ** 2 * b ** abs(x) * whole

    def cumulant(self, z, analytic=False):
        return 2 * DiscreteLaplace(self.scale).cumulant(z, analytic)

    def upper_tail(self, t):
        if t <= 0:
            return 1 - self.upper_tail(1 - t)
        b = (-1 / ball(self.scale)).exp()
        return self.ball(t) / (1 - b) + ((1 - b) / (1 + b)) ** 2 * b ** (t + 1) / (1 - b) ** 2

    def moments(self):
        mean, variance = DiscreteLaplace(self.scale).moments()
        return Moments(mean, refine(lambda: 2 * ball(variance.upper)).hull(variance.times(2)))


@pytest.fixture(autouse=True)
def _named(monkeypatch):
    monkeypatch.setitem(FAMILIES, "twice", Twice)


@pytest.mark.parametrize(
    "more", ["", ",sensitivity=4", ",modulus=12", ",neighbours=add-remove,poisson=1/4"]
)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.quick_cases(2)
def test_every_figure_is_that_of_the_same_law_by_another_name(more, times):
    found, same = (
        times * exactdp.mechanism(name + more)
        for name in ("twice:scale=3", "polya-difference:shape=2,scale=3")
    )
    for ask in ("epsilon", "delta", "renyi", "pure"):
        at = {"epsilon": ["1e-6"], "delta": ["0.5"], "renyi": [2]}.get(ask, [])
        one, other = (getattr(each, ask)(*at) for each in (found, same))
        one.intersection(other)
        assert one.is_finite() and one.is_within(Fraction(1, 10**5)), ask


def test_it_is_audited_calibrated_and_refused_a_certificate():
    verdicts = [exactdp.audit("twice:scale=3", f"pure:{most}").verdict for most in ("1/3", "0.33")]
    assert verdicts == [Verdict.VERIFIED, Verdict.REFUTED]
    found = exactdp.calibrate("twice", "approx:1,1e-6")
    same = exactdp.calibrate("polya-difference:shape=2", "approx:1,1e-6")
    assert abs(found.value / same.value - 1) < Fraction(1, 10**8)
    with pytest.raises(NotCertifiedError):
        exactdp.certify("twice:scale=3", "pure:1/3")
    with pytest.raises(ParameterError, match="scale"):
        exactdp.mechanism("twice:scale=-1")
