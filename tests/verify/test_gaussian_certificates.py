"""Certificates of Gaussian DP: beside the boundary, and never of what is false."""

from __future__ import annotations

from fractions import Fraction

import pytest
from certificates import audits, check, edited, mutations, reconstructed

from exactdp.accounting import Composition, compose
from exactdp.exact import Enclosure
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.spec import parse
from exactdp.verify import GaussianDP, Verdict, audit
from exactdp.verify.certificate import NotCertifiedError, certificate_of

NARROW = {  # what the checker knows from both sides
    "skellam": compose(AdditiveNoise(Skellam(25), 1)),
    "skellam, moved by 2": compose(AdditiveNoise(Skellam(4), 2)),
    "discrete gaussian": compose(AdditiveNoise(DiscreteGaussian("7.3"), 3)),
    "discrete laplace": compose(AdditiveNoise(DiscreteLaplace(10), 2)),
    "response": compose(RandomizedResponse(1)),
    "laplace": compose(parse("laplace:scale=3,sensitivity=2").mechanism),
    "gaussians": compose(*(parse(f"gaussian:sigma={sigma}").mechanism for sigma in (2, 3, 7))),
    "sampled gaussian": compose(
        (parse("gaussian:sigma=2,neighbours=add-remove,poisson=0.1").mechanism, 3)
    ),
}
ABOVE = {  # what it bounds from above only
    "several": (compose((AdditiveNoise(DiscreteGaussian(100), 1), 50)), "0.72"),
    "two kinds": (compose(AdditiveNoise(Skellam(100), 1), RandomizedResponse("0.1")), "0.17"),
    "sampled": (
        compose(parse("discrete-laplace:epsilon=1,neighbours=add-remove,poisson=0.1").mechanism),
        "1.3",
    ),
    "reduced": (compose(AdditiveNoise(DiscreteGaussian(9), 1, 16)), "0.34"),
}


@pytest.mark.slow_cases(
    "discrete gaussian",
    "discrete laplace",
    "skellam, moved by 2",
)
@pytest.mark.parametrize("name", NARROW)
def test_beside_the_boundary(name: str) -> None:
    for found in audits(NARROW[name], GaussianDP("0.5")):
        certificate = certificate_of(found)
        assert certificate.verdict is found.verdict
        assert certificate.check().valid
        bound = Fraction(found.measured.upper)
        for low, high in ((bound * 2, bound * 3), (0, bound / 2)):
            ends = {"lower": str(low), "upper": str(high)}
            moved = edited(certificate.content, ("measured",), ends)
            assert not check(moved).valid


@pytest.mark.parametrize("name", ABOVE)
def test_from_above(name: str) -> None:
    composition, mu = ABOVE[name]
    found = audit(composition, GaussianDP(mu))
    assert found.verdict is Verdict.VERIFIED
    certificate = certificate_of(found)
    assert certificate.check().valid
    tighter = Fraction(found.measured.lower) * Fraction(99, 100)
    content = edited(certificate.content, ("measured", "upper"), str(tighter))
    assert not check(content).valid


def test_from_below_several_uses_are_known_by_their_divergence() -> None:
    """None alone costs 0.11; all together, by their Rényi divergence of order 2, 0.707."""
    found = audit(ABOVE["several"][0], GaussianDP("0.7"))
    assert found.verdict is Verdict.REFUTED
    content = certificate_of(found).content
    assert check(content).valid
    assert not check(edited(content, ("claim", "mu"), "0.71")).valid


def test_no_mutation_that_is_false_is_accepted() -> None:
    content = certificate_of(audit(NARROW["discrete laplace"], GaussianDP("1"))).content
    for changed in list(mutations(content))[::12]:
        if check(changed).valid:
            composition, claim = reconstructed(changed)
            measured = claim.measure(composition)
            told = Enclosure.from_json(changed["measured"])
            assert told.lower <= measured.upper and measured.lower <= told.upper
            assert measured.at_most(claim.bound) is (changed["verdict"] == "VERIFIED")


@pytest.mark.slow
def test_what_has_no_certificate_says_so() -> None:
    unknown: Composition = compose(AdditiveNoise(PolyaDifference(2, 3), 1, 5))
    with pytest.raises(NotCertifiedError, match="mu of this law is not known"):
        certificate_of(audit(unknown, GaussianDP(3)))
