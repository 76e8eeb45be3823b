"""Certificates of Gaussian and Laplace noise, sampled or not: proved again, and none that is false.

What the checker proves is compared with computations by mpmath alone, and every certificate is
changed so that it becomes false: more privacy claimed than there is, or less.
"""

from fractions import Fraction

import mpmath
import pytest
from certificates import check
from continuous_truth import closed, renyi

from exactdp import certify
from exactdp.verify.checker import continuous, continuous_renyi
from exactdp.verify.checker.__main__ import main as checker
from exactdp.verify.checker.arithmetic import interval, precision, value
from exactdp.verify.checker.composition import profile
from exactdp.verify.checker.mechanisms import Continuous
from exactdp.verify.checker.normal import Table, cdf

SGD = "gaussian:sigma=2,neighbours=add-remove,poisson=0.1"
LAP = "laplace:scale=2,neighbours=add-remove,poisson=0.1"


def exactly(f):
    return mpmath.mpf(f.numerator) / f.denominator


@pytest.mark.contract
@pytest.mark.parametrize("spec", [f"{SGD}*2", "laplace:scale=2", f"{LAP}*3"])
def test_the_setting_must_be_named_as_it_is(spec):
    content = certify(spec, "pure:100").content
    other = {"replace": "add-remove", "add-remove": "replace"}[content["neighbours"]]
    turned = {"fixed": "free", "free": "fixed"}[content["orientation"]]
    unnamed = {key: content[key] for key in content if key not in ("neighbours", "orientation")}
    use = content["uses"][0]
    replaced = {**use, "mechanism": {**use["mechanism"], "neighbours": "replace", "poisson": "0.1"}}
    for false in (
        {**content, "neighbours": other},
        {**content, "orientation": turned},
        {**content, "uses": [replaced], "neighbours": "replace"},
        unnamed,
    ):
        outcome = check(false)
        assert not outcome.valid and "not a certificate" in outcome.reason


@pytest.mark.slow_cases("-30.7")
@pytest.mark.parametrize("z", ["-30.7", "-8.123", "-0.126", "0", "0.37", "3.999", "12.25", "41.5"])
def test_normal_distribution_function(z):
    with precision(128), mpmath.workprec(1600):
        truth = mpmath.ncdf(mpmath.mpf(Fraction(z).numerator) / Fraction(z).denominator)
        low, high = map(exactly, value(cdf(interval(Fraction(z)))))
        assert low <= truth <= high <= truth * (1 + mpmath.mpf("1e-3"))
        least, most = Table(128).at(interval(Fraction(z)))
        assert least <= truth * 2**128 <= most and most - least < 200


@pytest.mark.slow
@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize(("q", "t"), [("0.1", "2"), ("0.6", "0.7"), ("0.001", "3")])
def test_one_use_of_the_sampled_gaussian(q, t, removing):
    one = Continuous("gaussian", Fraction(t), Fraction(1), "add-remove", Fraction(q), removing)
    step = Fraction(1, 50)
    with precision(128), mpmath.workdps(40):
        found = continuous.closed_profile([(one, 1)])
        gridded = profile([(one, 1)], Fraction(1, 10**6), Fraction(2), step, True)
        for level in ("0", "0.05", "0.4", "1"):
            truth = closed(*map(mpmath.mpf, (q, t, level)), removing)
            low, high = map(exactly, found(Fraction(level)))
            assert low <= truth <= high and high - low <= mpmath.mpf("1e-30")
            ends = gridded.at_least(Fraction(level)), gridded.at_most(Fraction(level))
            low, high = map(exactly, ends)  # by cells
            assert low <= truth <= high
        order = mpmath.mpf("3.5")
        truth = renyi(mpmath.mpf(q), mpmath.mpf(t), order, removing)
        low, high = map(exactly, continuous_renyi.renyi(one, Fraction(7, 2)))
        assert low - mpmath.mpf("1e-15") <= truth <= high + mpmath.mpf("1e-15")
        assert high - low <= mpmath.mpf("1e-15")


@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("removing", [True, False])
def test_cells_hold_all_of_both_laws(removing):
    for law, noise, rate in (("gaussian", "0.8", "0.02"), ("laplace", "1.3", "0.3")):
        one = Continuous(law, Fraction(noise), Fraction(1), "add-remove", Fraction(rate), removing)
        with precision(128):
            p, q, rest_p, rest_q, _ = continuous.cells(one, Fraction(1, 30), 60)
            for listed, rest in ((p, rest_p), (q, rest_q)):
                low, high = value(sum(listed) + rest)
                assert low <= 1 + Fraction(1, 10**20) and high >= 1
                assert value(rest)[1] < Fraction(1, 10**12)


@pytest.mark.slow_cases("1.25-False", "6-False")
@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("order", ["1.25", "6"])
def test_sampled_laplace_renyi(removing, order):
    one = Continuous("laplace", Fraction(2), Fraction(1), "add-remove", Fraction(1, 5), removing)
    with precision(96), mpmath.workdps(30):
        a, e, q = mpmath.mpf(order), mpmath.mpf("0.5"), mpmath.mpf("0.2")
        power = a if removing else 1 - a

        def term(u):
            return (1 - q + q * mpmath.exp(u)) ** power

        inside = mpmath.quad(lambda u: mpmath.exp(-(e + u) / 2) / 4 * term(u), [-e, 0, e])
        whole = term(-e) / 2 + mpmath.exp(-e) / 2 * term(e) + inside
        low, high = map(exactly, continuous_renyi.renyi(one, Fraction(order)))
        truth = mpmath.log(whole) / (a - 1)
        assert low <= truth <= high and high - low <= mpmath.mpf("1e-6")


@pytest.mark.contract
def test_the_checker_alone_reads_their_specs(tmp_path, capsys):
    path = tmp_path / "c.json"
    certify(SGD, "approx:0.4,1e-5").write(path)
    assert checker([str(path), "--expect", SGD, "--claim", "approx:0.4,1e-5"]) == 0
    assert checker([str(path), "--expect", "gaussian:sigma=2"]) == 1
