"""Certificates of real vectors that are rounded before the noise.

What the checker proves of them by its own code, how long they become and what hides them but for a
little mass, is compared with all roundings one by one and with sums by mpmath; what it accepts of
changed certificates with the prover.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from certificates import certified, check, edited

from exactdp import Verdict, audit, certify
from exactdp.verify.checker.__main__ import main as checker

# -- how long ---------------------------------------------------------------------------------


# -- but for a little mass --------------------------------------------------------------------


# -- certificates -----------------------------------------------------------------------------

SPEC = "skellam:variance={},l2={},dimension={},neighbours=add-remove,rounding={}"
STOCHASTIC = SPEC.format(25, "5/4", 64, "stochastic")
CONDITIONAL = SPEC.format(25, "5/4", 64, "conditional:0.6065")
CASES = [
    (STOCHASTIC, "approx:3,1e-5", "VERIFIED"),
    (STOCHASTIC, "approx:0.5,1e-5", "REFUTED"),
    (STOCHASTIC, "rdp:2,4", "VERIFIED"),
    (STOCHASTIC, "gdp:2", "VERIFIED"),
    (STOCHASTIC + ",modulus=65536", "rdp:2,4", "VERIFIED"),
    (STOCHASTIC + ",poisson=0.1", "approx:3,1e-5", "VERIFIED"),
    (CONDITIONAL, "approx:5,1e-5", "VERIFIED"),
    (CONDITIONAL, "rdp:2,0.02", "REFUTED"),
    (SPEC.format(16, "1/2", 1, "nearest"), "approx:6,1e-5", "VERIFIED"),
    (SPEC.format(16, 2, 8, "nearest"), "rdp:2,0.3", "REFUTED"),
    (SPEC.format(16, "1/2", 1, "stochastic"), "pure:0.001", "REFUTED"),
    (SPEC.format(16, "1/2", 1, "stochastic"), "rdp:2,0.1", "VERIFIED"),
    (SPEC.format(16, "1/2", 1, "stochastic"), "rdp:2,0.001", "REFUTED"),
    ("discrete-laplace:scale=5,l2=2,dimension=1,neighbours=add-remove,rounding=nearest",
     "pure:0.4", "VERIFIED"),
    ("discrete-laplace:scale=5,l2=2,dimension=1,neighbours=add-remove,rounding=nearest",
     "pure:0.39", "REFUTED"),
]  # fmt: skip


@pytest.mark.contract
@pytest.mark.quick_cases(5)
@pytest.mark.slow_cases(
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic,modulus=65536-rdp:2,4-VERIFIED",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic,poisson=0.1-approx:3,1e-5-VERIFIED",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:0.5,1e-5-REFUTED",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:3,1e-5-VERIFIED",
)
@pytest.mark.parametrize(("spec", "claim", "verdict"), CASES)
def test_what_is_certified(spec: str, claim: str, verdict: str) -> None:
    found = audit(spec, claim)
    assert found.verdict is Verdict[verdict]
    certificate = certify(spec, claim)
    content = certificate.content
    mechanism = content["uses"][0]["mechanism"]
    assert mechanism["kind"] == "rounded-vector"
    assert f"rounding={mechanism['rounding']}" in spec
    told, true = certificate.measured, found.measured
    assert told.lower <= true.upper and true.lower <= told.upper
    flipped = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[verdict]
    assert not check(edited(content, ("verdict",), flipped)).valid


FIELDS = [
    ("l2", "3"),
    ("l2", "30"),
    ("dimension", "1000000"),
    ("rounding", "conditional"),
    ("rounding", "nearest"),
    ("rounding", "none"),
    ("beta", "0.5"),
    ("modulus", "0"),
    ("neighbours", "replace"),
    ("poisson", "2"),
    ("law", {"name": "skellam", "variance": "20"}),
    ("law", {"name": "binomial", "trials": "400", "probability": "1/2"}),
    ("l1", "3"),
]


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), FIELDS)
def test_every_field_counts(name: str, value: object) -> None:
    content = _tight()
    assert check(content).valid
    changed = edited(content, ("uses", 0, "mechanism", name), value)
    assert not check(changed).valid


def _tight() -> dict[str, Any]:
    """Verified as narrowly as it can be, so that nothing dearer passes."""
    content = certified(STOCHASTIC, "approx:3,1e-5")
    high = Fraction(content["measured"]["upper"])
    content["measured"] = {"lower": "0", "upper": str(high)}
    content["claim"]["epsilon"] = str(high)
    return content


@pytest.mark.contract
@pytest.mark.slow_cases(
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:9,1e-5-hint0-True",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:9,1e-5-hint1-False",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:9,1e-5-hint2-False",
    "skellam:variance=25,l2=5/4,dimension=64,neighbours=add-remove,rounding=stochastic-approx:9,1e-5-hint3-False",
    "skellam:variance=25,l2=5/4-approx:9,1e-5-hint7-False",
)
@pytest.mark.parametrize(
    ("spec", "claim", "hint", "valid"),
    [
        (STOCHASTIC, "approx:9,1e-5", {"missed": "1e-6"}, True),
        (STOCHASTIC, "approx:9,1e-5", {"missed": "1e-5"}, False),  # all of delta
        (STOCHASTIC, "approx:9,1e-5", {"missed": "0"}, False),
        (STOCHASTIC, "approx:9,1e-5", {"missed": "1e-6", "sum": "1"}, False),
        (STOCHASTIC, "rdp:2,9", {"missed": "1e-6"}, False),
        (SPEC.format(16, "1/2", 1, "nearest"), "approx:9,1e-5", {"missed": "1e-6"}, False),
        (CONDITIONAL, "approx:9,1e-5", {"missed": "1e-6"}, False),
        ("skellam:variance=25,l2=5/4", "approx:9,1e-5", {"missed": "1e-6"}, False),
    ],
)
def test_what_may_be_missed(spec: str, claim: str, hint: object, valid: bool) -> None:
    content = certified(spec, claim)
    high = content["claim"]["epsilon"]
    told = {**content, "measured": {"lower": "0", "upper": high}, "hints": {"above": [hint]}}
    assert check(told).valid is valid


@pytest.mark.contract
@pytest.mark.parametrize(
    ("norm", "move", "count", "valid"),
    [("3", 3, 1, True), ("3", 1, 9, True), ("3", 4, 1, False), ("3", 1, 10, False),
     ("1/2", 1, 1, True), ("1/2", 2, 1, False), ("1/2", 1, 2, False)],
)  # fmt: skip
def test_only_what_some_vector_is_rounded_to_refutes(
    norm: str, move: int, count: int, valid: bool
) -> None:
    content = certified(SPEC.format(16, norm, 64, "stochastic"), "rdp:2,1e-4")
    content["hints"] = {"along": [[{"move": str(move), "count": str(count)}]]}
    content["measured"] = {"lower": "0.0002", "upper": "inf"}
    assert check(content).valid is valid


@pytest.mark.contract
@pytest.mark.slow
def test_it_says_what_was_rounded_and_how(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path, claim = tmp_path / "c.json", "approx:5,1e-5"
    certify(CONDITIONAL, claim).write(path)
    assert checker([str(path), "--expect", CONDITIONAL, "--claim", claim]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a real vector of at most 1.25 in L2, 64 dimensions" in shown
    assert "missed with probability at most 0.6065" in shown
    assert "one user added or removed; each direction by itself" in shown
    for other in ("stochastic", "nearest", "conditional:0.5"):
        assert (
            checker([str(path), "--expect", CONDITIONAL.replace("conditional:0.6065", other)]) == 1
        )
    odd_ones = (("l2=", "l1=3,l2="), ("add-remove", "replace"), ("5/4", "0"), (":0.6", ":1.6"))
    for old, new in odd_ones:
        odd = CONDITIONAL.replace(old, new)
        with pytest.raises(SystemExit):
            checker([str(path), "--expect", odd])
