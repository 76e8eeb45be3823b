"""Certificates of vectors with fair binomial noise: against all outcomes; none that is false."""

from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import pytest
from certificates import check, edited
from mpmath import mpf

from exactdp import CertificateError, Verdict, certify
from exactdp.verify.checker.kinds import read_use
from exactdp.verify.checker.specs import spec_fields

TRIALS, DELTA = 12, Fraction(1, 20)
SPEC = f"binomial:trials={TRIALS},probability=1/2"


def delta(vector, level, times=1):
    """Of all outcomes of so many uses of this vector."""
    mass = [Fraction(comb(TRIALS, x), 2**TRIALS) for x in range(TRIALS + 1)]
    moves = [move for move in vector for _ in range(times)]
    with mpmath.workdps(30):
        odds, found = mpmath.exp(mpf(level.numerator) / level.denominator), mpf(0)
        for seen in product(*(range(min(0, d), TRIALS + 1 + max(0, d)) for d in moves)):
            p = q = Fraction(1)
            for x, d in zip(seen, moves, strict=True):
                p *= mass[x] if 0 <= x <= TRIALS else 0
                q *= mass[x - d] if 0 <= x - d <= TRIALS else 0
            found += max(mpf(p.numerator) / p.denominator - odds * q.numerator / q.denominator, 0)
        return found


@pytest.mark.contract
@pytest.mark.parametrize(
    ("reach", "vector", "claims"),
    [
        ("l1=2,linf=1", (1, 1), ("2.5", "0.5")),
        ("l1=2,linf=1", (1, -1), ("2.5", "0.5")),
        ("l2=2,dimension=2", (2, 0), ("3", "0.4")),
        ("l2=3/2,dimension=2", (1, 1), ("3", "0.4")),
    ],
)
def test_what_is_certified_holds_of_the_vector(reach, vector, claims):
    for bound in claims:
        found = certify(f"{SPEC},{reach}", f"approx:{bound},{DELTA}")
        content = found.content
        assert check(content).valid
        low, high = (content["measured"][end] for end in ("lower", "upper"))
        if high != "inf":
            assert delta(vector, Fraction(high)) <= mpf(DELTA.numerator) / DELTA.denominator
        if "linf" in reach:
            assert delta(vector, Fraction(low)) >= mpf(DELTA.numerator) / DELTA.denominator
        turned = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[found.verdict.name]
        assert not check(edited(content, ("verdict",), turned)).valid
        trials = "4" if found.verdict is Verdict.VERIFIED else "400"
        law = {"name": "binomial", "trials": trials, "probability": "1/2"}
        assert not check(edited(content, ("uses", 0, "mechanism", "law"), law)).valid


def test_noise_that_is_not_fair_is_refused():
    use = spec_fields(f"{SPEC},l1=2,linf=1")
    read_use(use)
    law = {"name": "binomial", "trials": "12", "probability": "1/3"}
    with pytest.raises(CertificateError, match="symmetric"):
        read_use(edited(use, ("mechanism", "law"), law))


@pytest.mark.contract
def test_a_gaussian_does_not_bound_it():
    content = certify(f"{SPEC},l1=2,linf=1", f"approx:2.5,{DELTA}").content
    hints = {**content["hints"], "above": ["gaussian"]}
    outcome = check(edited(content, ("hints",), hints))
    assert outcome.undecided and "envelope" in outcome.reason
