"""Certificates of batches of a fixed size: true ones are re-established, false ones are not."""

from dataclasses import replace
from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest
from certificates import check, edited
from mpmath import mpf
from subsets import fixed_size, neighbours, released, together

from exactdp import CertificateError, NotCertifiedError, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, FixedSize, RandomizedResponse
from exactdp.mechanisms.spec import parse_use
from exactdp.verify import audit, parse_claim
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker import mechanisms as checked
from exactdp.verify.checker.arithmetic import precision
from exactdp.verify.checker.composition import profile
from exactdp.verify.checker.continuous import closed_profile
from exactdp.verify.checker.expected import spec_fields
from exactdp.verify.checker.mechanisms import Continuous
from exactdp.verify.checker.reading import read_use

LAPLACE = "discrete-laplace:epsilon=1,fixed-size=2/5"
RESPONSE = "randomized-response:epsilon=1,fixed-size=2/5"
SLOW = pytest.mark.slow
CONTINUOUS = {"kind": "continuous", "law": "gaussian", "scale": "2", "sensitivity": "1"}


def audited(specs, claim):
    uses = [(spec.mechanism, times) for spec, times in map(parse_use, specs)]
    return audit(compose(*uses), claim)


def test_an_open_claim_has_none():
    found = audited([f"{RESPONSE}*20"], parse_claim("rdp:2,3.4"))
    assert found.verdict is Verdict.UNDECIDED and "is open" in str(found.note)
    with pytest.raises(NotCertifiedError, match="batches of a fixed size is open"):
        certificate_of(found)


# -- against sums over all batches ----------------------------------------------------------------

# others' data, the user's old and new data: of bits, and the query asks for any bit that is set
DATA = [((0, 0, 0), 1, 0), ((0, 0, 0), 0, 1), ((1, 1, 1), 0, 1), ((0, 0, 1), 1, 0)]
SIZE = 2
with mpmath.workdps(brute_force.DIGITS):
    _PMF = {x: oracles.discrete_laplace(1)(x) for x in range(-62, 63)}
    KEPT = mpmath.e / (1 + mpmath.e)
KINDS = {
    "discrete Laplace": (
        AdditiveNoise(DiscreteLaplace(1)),
        sum,
        lambda total: {x: _PMF[x - total] for x in range(-60, 61)},
    ),
    "randomized response": (RandomizedResponse(1), max, lambda bit: {bit: KEPT, 1 - bit: 1 - KEPT}),
}
ASKED = {
    "rdp:3/2,{}": lambda pair: brute_force.renyi(pair, "3/2"),
    "rdp:3,{}": lambda pair: brute_force.renyi(pair, 3),
    "approx:{},1e-3": lambda pair: brute_force.epsilon(pair, "1e-3"),
}


@pytest.mark.slow_cases("discrete Laplace-2")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", KINDS)
def test_less_than_some_dataset_costs_is_never_accepted(name, times):
    plain, query, response = KINDS[name]
    uses = compose((FixedSize(plain, SIZE, 4), times))
    with mpmath.workdps(30):
        pairs = [
            neighbours(
                *(released(fixed_size((*others, own), SIZE), query, response) for own in own_data)
            )
            for others, *own_data in DATA
        ]
        if times == 2 and name == "discrete Laplace":
            pairs = [[each for each in pair if each[0] > mpf(10) ** -9] for pair in pairs]
        pairs = [pair if times == 1 else together(pair, pair) for pair in pairs]
    for claim, measure in ASKED.items():
        truth = max(map(measure, pairs))
        true, false = (
            mpmath.nstr(truth * factor, 20) for factor in (mpf("1.3"), 1 - mpf(10) ** -4)
        )
        content = certificate_of(audit(uses, parse_claim(claim.format(true)))).content
        assert check(content).valid
        low = str(Fraction(content["measured"]["lower"]) * Fraction(99, 100))
        lowered = edited(content, ("measured",), {"lower": low, "upper": false})
        assert not check(lowered).valid


# -- what is no certificate -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("size",), "6"),
        (("size",), "0"),
        (("mechanism", "modulus"), "9"),
        (("mechanism", "law"), {"name": "binomial", "trials": "4", "probability": "1/2"}),
        (("mechanism", "law"), {"name": "polya-difference", "shape": "0.9", "scale": "2"}),
        (("mechanism", "law"), {"name": "finite", "outcomes": ["0"], "masses": ["1"]}),
        (("mechanism",), CONTINUOUS | {"neighbours": "add-remove", "poisson": "1"}),
        (("mechanism",), CONTINUOUS | {"neighbours": "add-remove", "poisson": "1/2"}),
        (("mechanism",), {"kind": "pair", "outcomes": ["a"], "p": ["1"], "q": ["1"], "slack": "0"}),
    ],
)
def test_batches_of_which_nothing_is_known_are_refused(path, value):
    use = spec_fields(LAPLACE)
    read_use(use)
    with pytest.raises(CertificateError, match=r"size|mechanism of batches"):
        read_use(edited(use, ("mechanism", *path), value))


def test_neighbours_have_to_be_named_and_to_be_those():
    content = certificate_of(audited([LAPLACE], parse_claim("pure:1"))).content
    assert not check(edited(content, ("neighbours",), "add-remove")).valid
    unnamed = {key: content[key] for key in content if key not in ("neighbours", "orientation")}
    assert not check(unnamed).valid
    with pytest.raises(CertificateError, match="replace"):
        spec_fields(f"{LAPLACE},neighbours=add-remove")


# -- continuous noise -----------------------------------------------------------------------------


def batches(law, noise, size, population):
    inner = Continuous(law, Fraction(noise), Fraction(1), "replace", Fraction(1))
    return checked.FixedSize(inner, size, population)


@pytest.mark.parametrize(("law", "noise"), [("gaussian", "0.8"), ("laplace", "1.5")])
def test_one_batch_of_continuous_noise(law, noise):
    """Largest where all others have the user's new data: q H of (P, Q) at 1 + (g - 1)/q."""
    with precision(128), mpmath.workdps(40):
        q, t = mpf(2) / 7, mpf(noise)
        found = closed_profile([(batches(law, noise, 2, 7), 1)])
        for level in ("0", "0.1", "0.4"):
            inner = mpmath.log(1 + (mpmath.exp(mpf(level)) - 1) / q)
            if law == "gaussian":
                above = mpmath.ncdf(1 / (2 * t) - inner * t)
                plain = above - mpmath.exp(inner) * mpmath.ncdf(-1 / (2 * t) - inner * t)
            else:
                plain = max(1 - mpmath.exp((inner - 1 / t) / 2), 0)
            low, high = (mpf(end.numerator) / end.denominator for end in found(Fraction(level)))
            assert low <= q * plain <= high <= low + mpf("1e-30")


@pytest.mark.parametrize(
    ("law", "noise"), [pytest.param("gaussian", "1", marks=SLOW), ("laplace", "1.5")]
)
def test_several_batches_cost_at_least_what_any_turns_of_theirs_do(law, noise):
    """Some have the user's new data in one use, and the old data in the next."""
    one, goal, step = batches(law, noise, 1, 3), Fraction(1, 1000), Fraction(1, 10)
    both = (replace(one.attained, removing=way) for way in (True, False))
    most = profile([(one, 2)], goal, Fraction(3), step, True)
    least = profile([(way, 1) for way in both], goal, Fraction(3), step / 2, True)
    for level in ("0.1", "0.8", "1.5"):
        at = Fraction(level)
        assert least.at_least(at) <= most.at_most(at) and most.at_least(at) <= most.at_most(at)
