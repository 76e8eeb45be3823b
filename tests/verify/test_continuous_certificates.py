"""Certificates of Gaussian and Laplace noise, sampled or not: proved again, and none that is false.

What the checker proves is compared with computations by mpmath alone, and every certificate is
changed so that it becomes false: more privacy claimed than there is, or less.
"""

from fractions import Fraction

import mpmath
import pytest
from certificates import check

from exactdp import certify
from exactdp.verify.checker import continuous
from exactdp.verify.checker.__main__ import main as checker
from exactdp.verify.checker.arithmetic import interval, precision, value
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


@pytest.mark.contract
def test_the_checker_alone_reads_their_specs(tmp_path, capsys):
    path = tmp_path / "c.json"
    certify(SGD, "approx:0.4,1e-5").write(path)
    assert checker([str(path), "--expect", SGD, "--claim", "approx:0.4,1e-5"]) == 0
    assert checker([str(path), "--expect", "gaussian:sigma=2"]) == 1
