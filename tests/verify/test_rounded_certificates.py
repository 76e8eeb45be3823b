"""Certificates of real vectors that are rounded before the noise.

What the checker proves of them by its own code, how long they become and what hides them but for a
little mass, is compared with all roundings one by one and with sums by mpmath; what it accepts of
changed certificates with the prover.
"""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from certificates import certified, check, edited

from exactdp import Verdict, audit, certify
from exactdp.mechanisms import laws as known_laws
from exactdp.mechanisms.laws.rounded_envelope import rounded_distance
from exactdp.verify.checker import laws
from exactdp.verify.checker.__main__ import main as checker
from exactdp.verify.checker.rounded import Rounded
from exactdp.verify.checker.rounded_distance import lost, mostly

ROUNDINGS = ("stochastic", "conditional:0.6065", "conditional:1e-9", "nearest")


def _rounded(norm: Fraction, dimension: int, text: str) -> Rounded:
    name, _, beta = text.partition(":")
    return Rounded(norm, dimension, name, Fraction(beta) if beta else None)


# -- how long ---------------------------------------------------------------------------------


def _ways(y: list[Fraction], name: str) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every vector that y may be rounded to in one try, and its probability."""
    if name == "nearest":
        yield tuple(math.floor(each + Fraction(1, 2)) for each in y), Fraction(1)
        return
    for up in product((0, 1), repeat=len(y)):
        parts = [each - math.floor(each) for each in y]
        chance = math.prod(part if u else 1 - part for part, u in zip(parts, up, strict=True))
        if chance:
            yield tuple(math.floor(each) + u for each, u in zip(y, up, strict=True)), chance


@pytest.mark.parametrize("text", ROUNDINGS)
def test_nothing_that_is_sent_is_longer(text: str) -> None:
    drawn = random.Random(text)
    for _ in range(60):
        d = drawn.randint(1, 4)
        y = [Fraction(drawn.randint(-12, 12), drawn.choice([1, 2, 5, 8])) for _ in range(d)]
        square = sum(each**2 for each in y)
        norm = Fraction(math.isqrt(math.floor(square * 10**8)) + 1, 10**4)
        reach = _rounded(norm, d, text)
        assert square <= norm**2
        beta, missed = reach.beta, Fraction(0)
        for sent, chance in _ways(y, reach.rounding):
            long = sum(each**2 for each in sent)
            if beta is not None and long > reach.squared_bound:
                missed += chance
                continue
            assert long <= reach.squared_bound and max(map(abs, sent)) <= math.ceil(norm)
            if any(sent):
                assert long <= reach.largest_square
                assert max(map(abs, sent)) <= reach.farthest
                assert sum(map(abs, sent)) <= reach.largest_sum
        assert missed <= (beta or 0)


# -- but for a little mass --------------------------------------------------------------------


def _delta(p: dict[int, Any], q: dict[int, Any], level: Any) -> Any:
    return mpmath.fsum(max(p[k] - mpmath.exp(level) * q[k], 0) for k in p)


def _mpf(number: Fraction) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator


def _of_gaussians(mu: Any, level: Any) -> Any:
    return mpmath.ncdf(mu / 2 - level / mu) - mpmath.exp(level) * mpmath.ncdf(-mu / 2 - level / mu)


@pytest.mark.parametrize("missed", ["1e-2", "1e-4", "1e-8"])
@pytest.mark.parametrize(("variance", "norm"), [("1", "1/2"), ("4", "5/4"), ("9", "7/3")])
def test_a_vector_is_hidden_by_the_gaussian_and_what_is_missed(
    variance: str, norm: str, missed: str
) -> None:
    b, c = Fraction(missed), Fraction(norm)
    far = mostly(laws.Skellam(Fraction(variance)), Rounded(c, 1, "stochastic"), b)
    given = rounded_distance(known_laws.Skellam(variance), c, 1, b)
    assert given <= far * (1 + Fraction(1, 10**12))  # the prover has c + sqrt(d) besides
    with mpmath.workdps(30):
        v, (mu, b_, less) = mpmath.mpf(variance), map(_mpf, (far, b, lost(b)))
        q = {k: mpmath.besseli(abs(k), v) * mpmath.exp(-v) for k in range(-60, 61)}
        for y in (c, c * 2 / 3, c / 5):
            m, f = math.floor(y), _mpf(y % 1)
            p = {k: (1 - f) * q.get(k - m, 0) + f * q.get(k - m - 1, 0) for k in q}
            for level in (0, 0.3, 1, 2, 4):
                assert _delta(p, q, level) <= _of_gaussians(mu, level) + b_
                shorter = level + mpmath.log(1 - b_)
                assert _delta(q, p, level) <= _of_gaussians(mu, shorter) + mpmath.mpf("1e-25")
        assert less * (1 + mpmath.mpf("1e-25")) >= -mpmath.log(1 - b_)


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
