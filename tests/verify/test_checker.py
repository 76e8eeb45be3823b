"""The checker accepts what is proved, on either side of the boundary, and shares no code."""

import ast
from fractions import Fraction
from pathlib import Path

import pytest
from certificates import (
    COMPOSITIONS,
    KINDS,
    MECHANISMS,
    OFF_LATTICE,
    SLOW,
    audits,
    check,
    edited,
    with_bound,
)

import exactdp.verify.checker as checker
from exactdp import ZCDP, ApproxDP, PureDP
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, RandomizedResponse
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of

FOLDER = Path(checker.__file__).parent
ALLOWED = {"__future__", "collections", "contextlib", "dataclasses", "fractions", "functools"}
ALLOWED |= {"argparse", "decimal", "html", "json", "os", "pathlib", "stat", "sys", "zipfile"}
ALLOWED |= {"contextvars", "heapq", "itertools", "math", "mpmath", "re", "threading", "time"}
ALLOWED |= {"typing"}
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


CASES = [
    pytest.param(name, kind, marks=pytest.mark.slow if (name, kind) in SLOW else ())
    for name in MECHANISMS
    for kind in KINDS
]


@pytest.mark.quick_cases(25)
@pytest.mark.slow_cases(
    "binomial mod-zcdp",
    "gaussian mod-approx",
    "gaussian-approx",
    "polya 0.9-rdp",
    "polya 2.5-rdp",
    "polya mod-pure",
    "polya mod-rdp",
    "skellam mod-approx",
    "skellam-approx",
)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_accepts_true_and_false_claims_beside_the_boundary(name, kind):
    _accepts(audits(MECHANISMS[name], KINDS[kind]))


@pytest.mark.parametrize("kind", ["pure", "approx", "rdp"])
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_accepts_compositions_beside_the_boundary(name, kind):
    _accepts(audits(COMPOSITIONS[name], KINDS[kind]))


@pytest.mark.parametrize("name", ["gaussian", "response", "pair"])
def test_accepts_zcdp_of_several_uses(name):
    _accepts(audits(COMPOSITIONS[name], KINDS["zcdp"]))


def test_accepts_zcdp_of_several_mechanisms():
    both = compose((RandomizedResponse("0.3"), 5), (AdditiveNoise(DiscreteGaussian(50), 2), 3))
    _accepts([audit(both, ZCDP("0.5")), audit(both, ZCDP("0.3"))])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) for name in OFF_LATTICE]
)
def test_accepts_composed_losses_off_any_lattice(name):
    _accepts(audits(OFF_LATTICE[name], KINDS["approx"], nearness="1e-3"))


def _accepts(audits):
    found = list(audits)
    assert found
    for one in found:
        certificate = certificate_of(one)  # which its checker has accepted
        assert certificate.verdict is one.verdict
        assert certificate.measured.lower <= one.measured.lower
        assert one.measured.upper <= certificate.measured.upper
    assert check(certificate.content).valid


def test_a_verdict_must_follow_from_what_is_measured():
    content = certificate_of(audit(MECHANISMS["laplace"], PureDP(1))).content
    turned = check(edited(content, ("verdict",), "REFUTED"))
    assert not turned.valid and "does not follow" in turned.reason


def test_a_figure_beside_the_truth_is_no_figure():
    content = certificate_of(audit(MECHANISMS["skellam"], ApproxDP(3, "1e-4"))).content
    beside = {"lower": "2.9", "upper": "2.91"}
    found = check(edited(content, ("measured",), beside))
    assert not found.valid and "does not contain" in found.reason


@pytest.mark.slow
def test_what_is_too_long_to_sum_is_not_valid():
    content = certificate_of(audit(MECHANISMS["skellam"], ApproxDP(1, "1e-4"))).content
    place = ("uses", 0, "mechanism", "law", "variance")
    found = check(edited(content, place, "1e12"))
    assert not found.valid and "could not be re-established" in found.reason
    assert found.undecided


@pytest.mark.parametrize("name", ["laplace", "skellam", "binomial"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_huge_sensitivity_ends_at_once_and_is_not_verified(name, kind):
    first = audit(MECHANISMS["response"], with_bound(KINDS[kind], Fraction(2)))
    content = certificate_of(first).content
    content["uses"] = certificate_of(audit(MECHANISMS[name], PureDP(1))).content["uses"]
    changed = edited(content, ("uses", 0, "mechanism", "sensitivity"), "999999999")
    assert not check(changed).valid
