"""The checker accepts what is proved, on either side of the boundary, and shares no code."""

import ast
from fractions import Fraction
from pathlib import Path

import pytest
from certificates import check, edited

import exactdp.verify.checker as checker
from exactdp import audit, certify, compose

FOLDER = Path(checker.__file__).parent
ALLOWED = {"__future__", "collections", "contextlib", "dataclasses", "fractions", "functools"}
ALLOWED |= {"argparse", "decimal", "html", "json", "os", "pathlib", "stat", "sys", "zipfile"}
ALLOWED |= {"contextvars", "heapq", "itertools", "math", "mpmath", "re", "threading", "time"}
ALLOWED |= {"bisect", "typing"}
ALLOWED |= {"datetime", "hashlib", "pkgutil"}


@pytest.mark.contract
def test_shares_no_code_with_the_prover():
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= ALLOWED, file
            if isinstance(node, ast.ImportFrom):
                if node.level:
                    assert node.level == 1, file  # only its own files
                else:
                    assert node.module.split(".")[0] in ALLOWED, file


@pytest.mark.contract
@pytest.mark.parametrize(
    ("specs", "claims"),
    [
        (["discrete-laplace:scale=3,sensitivity=2,modulus=11"], ["pure:{}", "approx:{},1e-4"]),
        (["binomial:trials=30,probability=1/3,modulus=11"], ["pure:{}", "rdp:5/2,{}"]),
        (["randomized-response:epsilon=0.3,delta=1e-6*10"], ["approx:{},1e-4"]),
        (["discrete-laplace:scale=10*5", "randomized-response:epsilon=0.3*5"], ["approx:{},1e-4"]),
        (["randomized-response:epsilon=0.3*5", "discrete-gaussian:sigma2=50*3"], ["rdp:2,{}"]),
    ],
)
def test_accepts_true_and_false_claims_a_billionth_beside_the_boundary(specs, claims):
    for claim in claims:
        measured = audit(compose(*specs), claim.format(1)).measured
        for end, verdict, off in ((measured.upper, "VERIFIED", 1), (measured.lower, "REFUTED", -1)):
            bound = Fraction(end) * (1 + off * Fraction(1, 10**9))
            found = certify(compose(*specs), claim.format(bound))
            assert found.verdict.name == verdict and check(found.content).valid
            assert found.measured.lower <= measured.lower and measured.upper <= found.measured.upper


@pytest.mark.contract
@pytest.mark.slow
def test_what_is_too_long_to_sum_is_not_valid():
    content = certify("skellam:variance=9,sensitivity=2", "approx:1,1e-4").content
    place = ("uses", 0, "mechanism", "law", "variance")
    found = check(edited(content, place, "1e12"))
    assert not found.valid and "could not be re-established" in found.reason
    assert found.undecided


@pytest.mark.contract
@pytest.mark.parametrize("claim", ["pure:2", "approx:2,1e-4", "rdp:5/2,2", "zcdp:2"])
@pytest.mark.parametrize(
    "spec", ["discrete-laplace:scale=3", "skellam:variance=9", "binomial:trials=30,probability=1/3"]
)
def test_a_huge_sensitivity_ends_at_once_and_is_not_verified(spec, claim):
    content = certify("randomized-response:epsilon=1", claim).content
    content["uses"] = certify(spec, "pure:1/1000").content["uses"]
    changed = edited(content, ("uses", 0, "mechanism", "sensitivity"), "999999999")
    assert not check(changed).valid
