"""Certificates of random allocation: against integrals by mpmath alone, and none that is false."""

from fractions import Fraction

import mpmath
import pytest
from certificates import check, edited, in_words
from mpmath import mpf

from exactdp import CertificateError, certify
from exactdp.verify.checker.composition import profile
from exactdp.verify.checker.expected import spec_fields
from exactdp.verify.checker.mechanisms import Allocation, Continuous
from exactdp.verify.checker.reading import read, read_use

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


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("sigma", [pytest.param("1", marks=SLOW), "2.5"])
def test_two_steps(sigma, removing):
    one = Allocation(Fraction(sigma), Fraction(1), 1, 2, removing)
    found = profile([(one, 1)], Fraction(1, 1000), Fraction(2), Fraction(1, 40), True)
    with mpmath.workdps(25):
        for level in ("0", "0.1", "0.4", "1"):
            truth = delta_of_two(sigma, level, removing)
            ends = found.at_least(Fraction(level)), found.at_most(Fraction(level))
            low, high = (mpf(end.numerator) / end.denominator for end in ends)
            assert low <= truth <= high <= truth * mpf("1.03") + mpf("1e-4")
            assert low >= truth * mpf("0.97") - mpf("1e-4")


@pytest.mark.slow
@pytest.mark.parametrize("steps", [pytest.param(3, marks=SLOW), 10])
@pytest.mark.parametrize("removing", [pytest.param(True, marks=SLOW), False])
def test_between_the_sum_of_all_steps_and_the_same_step_always(steps, removing):
    one = Allocation(Fraction(1), Fraction(1), 1, steps, removing)
    goal, step = Fraction(1, 1000), Fraction(1, 20)
    found = profile([(one, 2)], goal, Fraction(4), step, True)
    share = Fraction(round(10**6 / steps**0.5), 10**6)
    less, more = (
        profile([(Continuous("gaussian", Fraction(1), moved, "add-remove", Fraction(1)), 2)],
                goal, Fraction(4), step, True)
        for moved in (share, Fraction(1))
    )  # fmt: skip
    for level in map(Fraction, ("0.2", "1", "3")):
        assert less.at_least(level) <= found.at_most(level)
        assert found.at_least(level) <= more.at_most(level)


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


@pytest.mark.parametrize(
    ("field", "value"),
    [("taken", "0"), ("taken", "11"), ("steps", "0"), ("steps", "20000000"), ("scale", "0")],
)
def test_what_is_no_allocation_is_refused(field, value):
    use = spec_fields(SPEC.format(1, "2/10"))
    read_use(use)
    with pytest.raises(CertificateError):
        read_use(edited(use, ("mechanism", field), value))


def test_what_is_expected_is_read_as_it_is_typed():
    spec = SPEC.format(2, "1/4*5")
    content = certify(spec, "gdp:1.2").content
    assert read_use(spec_fields(spec)) == read(content).uses[0]
    with pytest.raises(CertificateError, match="add-remove"):
        spec_fields("gaussian:sigma=1,allocation=1/4")


@pytest.mark.slow
def test_beside_a_vector_nothing_is_proved_that_nothing_shows():
    """What refutes is sought along the sum of all steps."""
    vector = "skellam:variance=4,l2=2,dimension=3,neighbours=add-remove"
    content = certify(vector, "approx:5,1e-3").content
    uses = [*content["uses"], spec_fields(SPEC.format(1, "2/9"))]
    hints = {"above": ["gaussian", None], "along": [None, None], "step": "0.1"}
    both = {**content, "uses": uses, "orientation": "fixed", "hints": hints}
    for low, high in (("0", "0.1"), ("4", "5")):
        measured = {"lower": low, "upper": high}
        assert not check(edited(both, ("measured",), measured)).valid
