"""Certificates of random allocation: against integrals by mpmath alone, and none that is false."""

from fractions import Fraction

import mpmath
import pytest
from certificates import check, edited, in_words
from mpmath import mpf

from exactdp import certify
from exactdp.verify.checker.composition import delta
from exactdp.verify.checker.mechanisms import Allocation

SPEC = "gaussian:sigma={},neighbours=add-remove,allocation={}"
SLOW = pytest.mark.slow
CASES = [  # what holds, and what does not
    pytest.param(SPEC.format(2, "1/4"), "approx:0.9,1e-3", marks=SLOW),
    (SPEC.format(2, "1/4"), "approx:0.5,1e-3"),
    pytest.param(SPEC.format(1, "1/100*3"), "approx:0.8,1e-4", marks=SLOW),
    pytest.param(SPEC.format(2, "2/9*2"), "approx:2.5,1e-3", marks=SLOW),
    pytest.param(SPEC.format(2, "3/20"), "approx:0.2,1e-3", marks=SLOW),
    (SPEC.format(1, "2/10*3"), "zcdp:3.1"),
    (SPEC.format(1, "2/10*3"), "gdp:2.5"),
    (SPEC.format(1, "2/10*3"), "rdp:2,6.1"),
    (SPEC.format(1, "1/10"), "pure:30"),
    (SPEC.format(1, "3/3"), "approx:7,1e-5"),
]


def delta_of_two(sigma, level, removing):
    """E_Q (S - g)+ or E_Q (1 - g S)+ of two steps: an integral over one ratio of a closed form."""
    mu, g = 1 / mpf(sigma), mpmath.exp(mpf(level))

    def call(k):  # E (e^u - k)+ with u of N(-mu^2/2, mu^2)
        if k <= 0:
            return 1 - k
        far = -mpmath.log(k) / mu
        return mpmath.ncdf(far + mu / 2) - k * mpmath.ncdf(far - mu / 2)

    def excess(at):  # E (S - at)+
        def given(z):
            return mpmath.npdf(z) * call(2 * at - mpmath.exp(mu * z - mu**2 / 2)) / 2

        split = (mpmath.log(2 * at) + mu**2 / 2) / mu
        return mpmath.quad(given, [-12, -4, 0, split, split + 4, split + 12])

    return excess(g) if removing else g * (excess(1 / g) - 1 + 1 / g)


@pytest.mark.slow_cases("2.5-True")
@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("sigma", [pytest.param("1", marks=SLOW), "2.5"])
def test_two_steps(sigma, removing):
    one = Allocation(Fraction(sigma), Fraction(1), 1, 2, removing)
    with mpmath.workdps(25):
        for level in ("0", "0.1", "0.4", "1"):
            truth = delta_of_two(sigma, level, removing)
            asked = [(one, 1)], Fraction(level), Fraction(1, 1000), Fraction(1, 40)
            ends = (delta(*asked, above, True) for above in (False, True))
            low, high = (mpf(end.numerator) / end.denominator for end in ends)
            assert low <= truth <= high <= truth * mpf("1.03") + mpf("1e-4")
            assert low >= truth * mpf("0.97") - mpf("1e-4")


@pytest.mark.contract
@pytest.mark.parametrize(("spec", "claim"), CASES)
def test_proved_again_and_no_false_one(spec, claim):
    content = certify(spec, claim).content
    assert check(content).valid
    assert (content["neighbours"], content["orientation"]) == ("add-remove", "fixed")
    assert "chosen at random" in in_words(content)
    turned = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[content["verdict"]]
    assert not check(edited(content, ("verdict",), turned)).valid
    if content["measured"]["lower"] == "inf":
        return
    scale = Fraction(content["uses"][0]["mechanism"]["scale"])
    factor = Fraction(1, 4) if content["verdict"] == "VERIFIED" else 4
    false = edited(content, ("uses", 0, "mechanism", "scale"), str(scale * factor))
    assert not check(false).valid
    if content["measured"]["upper"] == "inf":
        return
    if content["measured"]["lower"] != "0" or "approx" not in claim:
        half = str(Fraction(content["measured"]["upper"]) / 4)
        assert not check(edited(content, ("measured",), {"lower": "0", "upper": half})).valid
