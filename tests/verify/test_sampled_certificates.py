"""Certificates of sampled discrete mechanisms: true ones are re-established, false ones are not."""

import copy

import pytest
from certificates import check

from exactdp.mechanisms.spec import parse_use
from exactdp.verify import Verdict, audit, parse_claim
from exactdp.verify.certificate import certificate_of

CASES = [
    ("discrete-laplace:epsilon=1,neighbours=add-remove,poisson=0.1", "pure:0.2"),
    ("discrete-laplace:epsilon=1,neighbours=add-remove,poisson=0.1", "approx:0.1,1e-3"),
    ("discrete-gaussian:sigma2=10,neighbours=add-remove,poisson=0.1", "rdp:3,0.01"),
    ("skellam:variance=4,modulus=9,neighbours=add-remove,poisson=0.5", "rdp:2,0.05"),
    ("binomial:trials=30,probability=1/3,neighbours=add-remove,poisson=0.5", "approx:1,0.01"),
]


@pytest.mark.parametrize(("spec", "claim"), CASES)
def test_re_established_and_not_of_another_rate(spec, claim):
    mechanism = parse_use(spec)[0].mechanism
    found = audit(mechanism, parse_claim(claim))
    assert found.verdict is not Verdict.UNDECIDED
    content = certificate_of(found).content
    assert check(content).valid
    for rate in ("0.11", "0.6", "1"):
        changed = copy.deepcopy(content)
        changed["uses"][0]["mechanism"]["poisson"] = rate
        assert not check(changed).valid
    other = copy.deepcopy(content)
    other["neighbours"] = ["add-remove"]
    assert not check(other).valid
