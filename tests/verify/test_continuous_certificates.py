"""Certificates of Gaussian and Laplace noise, sampled or not: proved again, and none that is false.

What the checker proves is compared with computations by mpmath alone, and every certificate is
changed so that it becomes false: more privacy claimed than there is, or less.
"""

from fractions import Fraction

import mpmath
import pytest
from certificates import check
from continuous_truth import closed, renyi

from exactdp import audit
from exactdp.accounting.composition.composed import Use
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.verify.certificate import NotCertifiedError, certificate_of
from exactdp.verify.checker import continuous, continuous_renyi
from exactdp.verify.checker.__main__ import main as checker
from exactdp.verify.checker.arithmetic import interval, precision, value
from exactdp.verify.checker.composition import profile
from exactdp.verify.checker.mechanisms import Continuous
from exactdp.verify.checker.normal import Table, cdf
from exactdp.verify.fields import use_fields, with_user_first

SGD = "gaussian:sigma=2,neighbours=add-remove,poisson=0.1"
LAP = "laplace:scale=2,neighbours=add-remove,poisson=0.1"
CASES = [  # what holds, by little or much, and what does not
    ("gaussian:sigma=10,sensitivity=2*25", "zcdp:0.5"),
    ("gaussian:sigma=10,sensitivity=2*25", "zcdp:0.4999"),
    ("gaussian:sigma=10*25", "approx:1.9931,1e-5"),
    ("gaussian:sigma=10*25", "approx:1.993,1e-5"),
    ("gaussian:sigma=2", "pure:5"),
    (SGD, "approx:0.3691,1e-5"),
    (SGD, "approx:0.369,1e-5"),
    (f"{SGD}*30", "rdp:2.5,0.1079"),
    (f"{SGD}*30", "rdp:2.5,0.1078"),
    (f"{SGD}*30", "zcdp:3.75"),
    pytest.param(f"{SGD}*30", "zcdp:3.7", marks=pytest.mark.slow),
    (f"{SGD}*2", "pure:3"),
    ("laplace:scale=2,sensitivity=3*2", "pure:3"),
    ("laplace:scale=2", "approx:0.29,0.1"),
    ("laplace:scale=2", "rdp:3,0.3"),
    ("laplace:scale=2", "zcdp:0.125"),
    (f"{LAP}*5", "pure:0.3143"),
    (f"{LAP}*5", "pure:0.3142"),
    pytest.param(f"{LAP}*5", "rdp:3,0.017", marks=pytest.mark.slow),
    pytest.param(f"{SGD}*30", "approx:1.3,1e-5", marks=pytest.mark.slow),
    pytest.param(f"{SGD}*30", "approx:1.29,1e-5", marks=pytest.mark.slow),
    pytest.param(f"{LAP}*40", "approx:1.3,1e-5", marks=pytest.mark.slow),
]


def exactly(f):
    return mpmath.mpf(f.numerator) / f.denominator


def scaled(text, factor):
    return str(Fraction(text) * factor)


def false_ones(content):
    """The same file with its numbers changed so far that what it says is false."""
    more = 3 if content["verdict"] == "VERIFIED" else Fraction(1, 3)
    use = content["uses"][0]
    for key, factor in (("scale", 1 / Fraction(more)), ("sensitivity", more)):
        changed = {**use["mechanism"], key: scaled(use["mechanism"][key], factor)}
        yield key, {**content, "uses": [{**use, "mechanism": changed}]}
    if use["mechanism"]["poisson"] != "1" and "rho" not in content["claim"]:  # rho stays
        changed = {**use["mechanism"], "poisson": scaled(use["mechanism"]["poisson"], more)}
        yield "poisson", {**content, "uses": [{**use, "mechanism": changed}]}
    if content["verdict"] == "VERIFIED" or Fraction(use["times"]) % 3 == 0:
        yield "times", {**content, "uses": [{**use, "times": scaled(use["times"], more)}]}
    low, high = (content["measured"][end] for end in ("lower", "upper"))
    if high != "inf":
        for factor in (Fraction(2), Fraction(1, 2)):
            ends = {"lower": scaled(low, factor), "upper": scaled(high, factor)}
            claim = {**content["claim"], "rho" if "rho" in content["claim"] else "epsilon": "0"}
            moved = {**content, "measured": ends, "claim": claim, "verdict": "REFUTED"}
            yield f"measured times {factor}", moved


@pytest.mark.slow_cases(
    "gaussian:sigma=10*25-approx:1.993,1e-5",
    "gaussian:sigma=2,neighbours=add-remove,poisson=0.1*30-rdp:2.5,0.1079",
    "gaussian:sigma=2,neighbours=add-remove,poisson=0.1*30-zcdp:3.75",
    "gaussian:sigma=2,neighbours=add-remove,poisson=0.1-approx:0.369,1e-5",
)
@pytest.mark.parametrize(("spec", "claim"), CASES)
def test_proved_again_and_no_false_one(spec, claim):
    certificate = certificate_of(audit(spec, claim))
    assert check(certificate.content).valid
    content = certificate.content
    if content["measured"]["lower"] == "inf":
        return
    for what, false in false_ones(content):
        assert not check(false).valid, what
    flipped = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[content["verdict"]]
    assert not check({**content, "verdict": flipped}).valid


@pytest.mark.parametrize("spec", [f"{SGD}*2", "laplace:scale=2", f"{LAP}*3"])
def test_the_setting_must_be_named_as_it_is(spec):
    content = certificate_of(audit(spec, "pure:100")).content
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


@pytest.mark.slow_cases(
    "-30.7",
)
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


@pytest.mark.slow_cases(
    "True",
)
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


@pytest.mark.slow_cases(
    "1.25-False",
    "6-False",
)
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


def test_the_other_way_round_first_is_the_same_list_and_some_of_both_are_refused():
    one, other = (
        ContinuousNoise(Shape.GAUSSIAN, 2, 1, "add-remove", "0.1", removing=way)
        for way in (True, False)
    )
    told = [certificate_of(audit(each, "approx:1,1e-5")).content["uses"] for each in (one, other)]
    assert told[0] == told[1]
    with pytest.raises(NotCertifiedError, match="in some uses only"):
        [use_fields(use) for use in with_user_first([Use(one, 1), Use(other, 1)])]


def test_the_checker_alone_reads_their_specs(tmp_path, capsys):
    path = tmp_path / "c.json"
    certificate_of(audit(SGD, "approx:0.4,1e-5")).write(path)
    assert checker([str(path), "--expect", SGD, "--claim", "approx:0.4,1e-5"]) == 0
    assert checker([str(path), "--expect", "gaussian:sigma=2"]) == 1
