"""`exactdp calibrate` of continuous noise: in sigma, in uses and in the sampling probability."""

from fractions import Fraction

import mpmath
import pytest
from commands import answer, refused

import exactdp
from exactdp import ParameterError
from exactdp.cli.main import main

pytestmark = pytest.mark.contract

BILLIONTH = Fraction(1, 10**9)


def calibrate(capsys, *arguments):
    return answer(capsys, "calibrate", *arguments)


def known():
    """30 uses of q = 0.2, sigma = 2 at order 3: E r^3 of r = 1 - q + q e^loss, term by term."""
    q, each = mpmath.mpf("0.2"), mpmath.mpf(1) / 8
    terms = (
        mpmath.binomial(3, k) * (1 - q) ** (3 - k) * q**k * mpmath.exp(each * (k * k - k))
        for k in range(4)
    )
    return 30 * mpmath.log(mpmath.fsum(terms)) / 2


def check(capsys, shown, target, times):
    """The value is verified and its neighbour refuted, audited again from their specs."""
    value, neighbour = Fraction(shown["value"]), Fraction(shown["neighbour"]["value"])
    if shown["parameter"] == "times":
        assert neighbour == value + 1
    else:
        assert 0 < abs(value - neighbour) <= BILLIONTH * max(value, neighbour)
    for found, verdict, code in ((shown, "VERIFIED", 0), (shown["neighbour"], "REFUTED", 1)):
        spec = found["spec"] if times is None else f"{found['spec']}*{times}"
        assert found["verdict"] == verdict
        assert main(["audit", spec, "--claim", target]) == code
        capsys.readouterr()
    assert shown["least"]["proved"] and shown["from_on"]["proved"]
    return value


@pytest.mark.parametrize(
    ("name", "find", "options", "truth"),
    [
        ("gaussian", None, ("--poisson", "0.2", "--times", "30"), 2),
        ("gaussian:sigma=2", "times", ("--poisson", "0.2"), 30),
        ("gaussian:sigma=2", "poisson", ("--times", "30"), Fraction(1, 5)),
    ],
)
def test_where_a_known_divergence_lies(capsys, name, find, options, truth):
    target = f"rdp:3,{mpmath.nstr(known() * (1 + mpmath.mpf('1e-8')), 12)}"
    more = ("--find", find) if find else ()
    shown = calibrate(capsys, name, "--target", target, *options, *more)
    times = None if find == "times" else 30
    assert shown["parameter"] == (find or "sigma") and shown["times"] == times
    value = check(capsys, shown, target, times)
    assert abs(value - truth) <= truth * Fraction(1, 10**7)


def test_laplace_has_a_closed_form(capsys):
    # log(1 + q (e^(s/b) - 1)) = 1/2
    shown = calibrate(
        capsys, "laplace", "--sensitivity", "2", "--poisson", "0.1", "--target", "pure:0.5"
    )
    value = check(capsys, shown, "pure:0.5", 1)
    truth = 2 / mpmath.log(1 + mpmath.expm1(0.5) / 0.1)
    assert abs(mpmath.mpf(value.numerator) / value.denominator / truth - 1) < 1e-9
    assert shown["parameter"] == "scale"


def test_unsampled_gaussians_replace_or_add_and_remove(capsys):
    # rho = K s^2/(2 sigma^2)
    for name in ("gaussian", "gaussian:neighbours=add-remove"):
        words = (name, "--sensitivity", "1.5", "--times", "8", "--target", "zcdp:0.25")
        assert check(capsys, calibrate(capsys, *words), "zcdp:0.25", 8) == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "find", "options", "truth"),
    [
        ("gaussian", None, ("--poisson", "0.01", "--times", "1000"), 1),
        ("gaussian:sigma=1", "times", ("--poisson", "0.01"), 1000),
        ("gaussian:sigma=1", "poisson", ("--times", "1000"), Fraction(1, 100)),
    ],
)
def test_where_a_known_epsilon_lies(capsys, name, find, options, truth):
    target = "approx:1.8282367,1e-5"  # the truth, 1.82823667, rounded up: found apart
    more = ("--find", find) if find else ()
    shown = calibrate(capsys, name, "--target", target, *options, *more)
    value = check(capsys, shown, target, None if find == "times" else 1000)
    assert abs(value - truth) <= truth * Fraction(1, 10**7)


def _sampled_delta(rate, sigma, epsilon):
    """Of (1-q) N(0, s^2) + q N(1, s^2) beside N(0, s^2), and the other way round; 50 digits."""
    with mpmath.workdps(50):
        q, s, e = (mpmath.mpf(x.numerator) / x.denominator for x in (rate, sigma, epsilon))

        def above(t, mean):
            return mpmath.erfc((t - mean) / s / mpmath.sqrt(2)) / 2

        def cut(ratio):  # where 1 - q + q e^((x - 1/2)/s^2) is this
            return s * s * mpmath.log((ratio - 1 + q) / q) + mpmath.mpf(1) / 2

        t = cut(mpmath.exp(e))
        found = (1 - q) * above(t, 0) + q * above(t, 1) - mpmath.exp(e) * above(t, 0)
        if mpmath.exp(-e) > 1 - q:
            t = cut(mpmath.exp(-e))
            mixed = (1 - q) * (1 - above(t, 0)) + q * (1 - above(t, 1))
            found = max(found, 1 - above(t, 0) - mpmath.exp(e) * mixed)
        return found


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("sigma", "delta"), [("1/10", "1e-9"), ("1/10", "1e-14"), ("1/4", "1e-7"), ("1/100", "0.5")]
)
def test_a_rate_at_the_edge_of_what_is_tried(capsys, sigma, delta):
    """Where epsilon is 0 up to nearly the rate that is sought, and large beyond."""
    given = (f"gaussian:sigma={sigma}", "--find", "poisson", "--target", f"approx:1/10,{delta}")
    found = calibrate(capsys, *given)
    ends = Fraction(found["value"]), Fraction(found["neighbour"]["value"])
    low, high = (_sampled_delta(each, Fraction(sigma), Fraction(1, 10)) for each in ends)
    goal = Fraction(delta)
    assert low <= mpmath.mpf(goal.numerator) / goal.denominator <= high


def test_from_python():
    found = exactdp.calibrate("gaussian:sigma=2", "zcdp:1", find="times")
    assert (found.parameter, found.value, found.neighbour) == ("times", 8, 9)
    with pytest.raises(ParameterError, match=r"^times is what is looked for"):
        exactdp.calibrate("gaussian:sigma=2", "zcdp:1", find="times", times=3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gaussian:sigma=1"], "'sigma' is what is looked for"),
        (["gaussian", "--find", "times"], "takes one of sigma"),
        (["gaussian:sigma=1", "--find", "times", "--times", "3"], "--times"),
        (["gaussian:sigma=1", "--find", "poisson", "--poisson", "0.1"], "--poisson"),
        (["gaussian:sigma=1", "--find", "steps"], "did you mean 'times'"),
        (["gaussian:sigma=1", "--find", "rate"], "--find must be one of sigma, times, poisson"),
        (["gaussian:sigma=1,neighbours=replace", "--find", "poisson"], "add-remove"),
        (["gaussian:neighbours=replace", "--poisson", "0.1"], "add-remove"),
        (["gaussian", "--poisson", "2"], "--poisson"),
        (["gaussian", "--sensitivity", "0"], "--sensitivity"),
        (["exponential", "--poisson", "0.1"], "--poisson must not be given: exponential has none"),
        (["gaussian:sigma=10", "--find", "poisson"], "is met by every poisson between 1e-18 and 1"),
        (["gaussian:sigma=1e-3", "--find", "times"], "is met by no times between 1 and"),
    ],
)
def test_refused(capsys, words, told):
    refused(capsys, ["calibrate", *words, "--target", "rdp:2,0.5"], told)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("gaussian:sigma=1/10 --find poisson --target approx:1/10,1e-19", "met by no poisson"),
        ("exponential --target pure:2000", "met by every epsilon between 1e-15 and 1000"),
        (
            "unary-encoding --find epsilon0 --target pure:20000",
            "every epsilon between 1e-15",
        ),
        ("unary-encoding --find epsilon0 --target pure:1e-17", "epsilon = 0 meets it"),
    ],
)
def test_what_lies_beyond_the_range_is_said_of_the_range(capsys, words, told):
    refused(capsys, ["calibrate", *words.split()], told)
