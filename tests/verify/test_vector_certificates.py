"""Certificates of vectors: beside the boundary, of every law and claim, and never of what is false.

What the checker bounds by its own code (mu_1, norms) is compared with sums by mpmath and with all
vectors one by one; what it accepts of changed certificates with the prover, which shares no code.
"""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import pytest
from certificates import (
    certified,
    check,
    edited,
    resealed,
    with_bound,
)

from exactdp import (
    Certificate,
    Verdict,
    audit,
    certify,
)
from exactdp.accounting import compose
from exactdp.cli.main import main
from exactdp.mechanisms.spec import parse
from exactdp.verify import parse_claim
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker import laws
from exactdp.verify.checker.__main__ import main as checker
from exactdp.verify.checker.reach import Reach
from exactdp.verify.checker.unit import distance, unit_parameter

# -- mu_1 and norms -------------------------------------------------------------------------------


def _convolved(masses: dict[int, Any], count: int) -> dict[int, Any]:
    found = {0: mpmath.mpf(1)}
    for _ in range(count):
        sums: dict[int, Any] = {}
        for (x, p), (y, q) in product(found.items(), masses.items()):
            sums[x + y] = sums.get(x + y, 0) + p * q
        found = sums
    return found


def _masses(law: Any, reach: int) -> dict[int, Any]:
    """Weights of every outcome, from the definition of the law."""
    if isinstance(law, laws.Skellam):
        v = mpmath.mpf(law.variance.numerator) / law.variance.denominator
        return {k: mpmath.besseli(abs(k), v) for k in range(-reach, reach + 1)}
    if isinstance(law, laws.DiscreteLaplace):
        rate = mpmath.mpf(law.scale.denominator) / law.scale.numerator
        return {k: mpmath.exp(-rate * abs(k)) for k in range(-reach, reach + 1)}
    if isinstance(law, laws.PolyaDifference):
        b = mpmath.exp(-mpmath.mpf(law.scale.denominator) / law.scale.numerator)
        s = mpmath.mpf(law.shape.numerator) / law.shape.denominator
        one = [mpmath.rf(s, k) / mpmath.factorial(k) * b**k for k in range(reach)]
        return {k: mpmath.fsum(one[j] * one[j + abs(k)] for j in range(reach - abs(k)))
                for k in range(-reach // 2, reach // 2 + 1)}  # fmt: skip
    s2 = mpmath.mpf(law.sigma2.numerator) / law.sigma2.denominator
    count = getattr(law, "count", 1)
    narrow = reach if count == 1 else 9
    one_gaussian = {k: mpmath.exp(-(k**2) / (2 * s2)) for k in range(-narrow, narrow + 1)}
    return _convolved(one_gaussian, count)


def _steps(law: Any, reach: int, last: int) -> list[Any]:
    """t(k+1) - t(k), t(k) = -Phi^-1(P(X >= k)), for |k| <= last."""
    masses = _masses(law, reach)
    whole = mpmath.fsum(masses.values())

    def t(k: int) -> Any:
        tail = mpmath.fsum(p for x, p in masses.items() if x >= k) / whole
        return mpmath.findroot(lambda z: mpmath.erfc(z / mpmath.sqrt(2)) / 2 - tail, 0.4 * k)

    found = [t(k) for k in range(last + 2)]
    return [after - here for here, after in pairwise(found)]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("law", "reach", "spare"),
    [
        (laws.Skellam(Fraction(2)), 60, 1e-9),
        (laws.DiscreteGaussian(Fraction(3, 2)), 30, 1e-9),
        (laws.DiscreteLaplace(Fraction(3, 2)), 90, 1e-9),
        (laws.PolyaDifference(Fraction(5, 2), Fraction(1)), 90, 1e-9),
        (laws.DiscreteGaussianSum(3, Fraction(1, 2)), 27, 0.05),
        (laws.DiscreteGaussianSum(4, Fraction(1, 5)), 27, 0.12),
    ],
    ids=str,
)
def test_mu_1_is_bounded_from_above_and_not_by_much(law: Any, reach: int, spare: float) -> None:
    with mpmath.workdps(30):
        largest = max(_steps(law, reach, 4))
    found = float(unit_parameter(law))
    assert float(largest) - 1e-12 <= found <= float(largest) * (1 + spare)


@pytest.mark.parametrize("variance", ["10001", "1e6", "1e12"])
def test_wide_laws(variance: str) -> None:
    v = Fraction(variance)
    with mpmath.workdps(40):
        x = mpmath.mpf(v.numerator)
        at_0 = mpmath.besseli(0, x) * mpmath.exp(-x)
        truth = 2 * mpmath.sqrt(2) * mpmath.erfinv(at_0)
        plain = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 / mpmath.sqrt(2 * mpmath.pi * x))
        for law, least in ((laws.Skellam(v), truth), (laws.DiscreteGaussian(v), plain)):
            found = mpmath.mpf(unit_parameter(law).numerator) / unit_parameter(law).denominator
            assert least * (1 - mpmath.mpf("1e-25")) <= found <= least * (1 + mpmath.mpf("1e-9"))
    far = distance(laws.Skellam(v), 17)
    assert far**2 >= 17 * unit_parameter(laws.Skellam(v)) ** 2 >= far**2 * (1 - Fraction(1, 10**40))


def _every(l2: Fraction | None, l1: Fraction | None, linf: Fraction | None, dimension: int) -> Any:
    """|v|_2^2, |v|_1, |v|_inf of all vectors within these norms."""
    for v in product(range(6), repeat=dimension):
        square, whole, far = sum(x * x for x in v), sum(v), max(v)
        if all(
            most is None or norm <= most
            for norm, most in ((square, l2 and l2**2), (whole, l1), (far, linf))
        ):
            yield square, whole, far, v


@pytest.mark.parametrize("seed", range(12))
def test_norms_of_all_vectors_within_reach(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(6):
        norms = [drawn.choice([None, Fraction(drawn.randint(8, 40), 8)]) for _ in range(3)]
        dimension = drawn.randint(1, 3)
        reach = Reach(*norms, dimension)
        if not reach.is_bounded:
            continue
        found = list(_every(*norms, dimension))
        if norms[0] is None or norms[0] <= 5:
            assert reach.farthest == max(far for _, _, far, _ in found)
            assert reach.largest_square >= max(square for square, _, _, _ in found)
            assert reach.largest_sum >= max(whole for _, whole, _, _ in found)
        held = {v for *_, v in found}
        for v in product(range(4), repeat=dimension):
            counts = {x: v.count(x) for x in v if x}
            assert reach.contains(counts) is (v in held)


# -- certificates ---------------------------------------------------------------------------------

SAMPLED = "skellam:variance=4,l2=2,neighbours=add-remove,poisson=0.1"


@pytest.mark.contract
@pytest.mark.parametrize("spec", [SAMPLED, f"{SAMPLED},modulus=64"])
@pytest.mark.parametrize("claim", ["approx:1.4,1e-4", "approx:0.7,1e-4", "rdp:2,0.02"])
def test_of_sampled_users_either_way_round(spec: str, claim: str) -> None:
    found = certify(spec, claim)
    assert found.content["orientation"] == "fixed"
    assert found.check().valid


def test_lists_of_vectors_numbers_and_sampled_noise() -> None:
    uses = [
        (parse("discrete-gaussian:sigma2=9,l2=3,neighbours=add-remove").mechanism, 3),
        (parse("discrete-laplace:scale=10,neighbours=add-remove").mechanism, 2),
        (parse("gaussian:sigma=4,neighbours=add-remove,poisson=0.1").mechanism, 5),
    ]
    measured = compose(*uses).renyi(2)
    for factor, verdict in (("1.001", Verdict.VERIFIED), ("0.999", Verdict.REFUTED)):
        bound = Fraction(measured.upper) * Fraction(factor)
        found = audit(compose(*uses), with_bound(parse_claim("rdp:2,1"), bound))
        assert found.verdict is verdict
        certificate = certificate_of(found)
        assert certificate.check().valid
        assert certificate.content["hints"]["above"][1:] == [None, None]


# -- what is false --------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize("hints", [
    {"above": ["gaussian"], "along": [[{"move": "3", "count": "1"}]]},
    {"above": ["gaussian"], "along": [[{"move": "2", "count": "1"}, {"move": "1", "count": "1"}]]},
    {"above": ["gaussian"], "along": [[{"move": "1", "count": "5"}]]},
    {"above": ["gaussian"], "along": [[{"move": "2", "count": "1"}, {"move": "2", "count": "1"}]]},
    {"above": [{"square": "0.19", "sum": "0"}]},
    {"above": [{"square": "0", "sum": "0.3"}]},
    {"along": [None]},
    {"above": ["gaussian", None]},
    {"above": ["gauss"]},
    {"above": [["gaussian"]]},
    {"along": [[]]},
    {"along": [{"move": "1"}]},
    {"along": [[{"move": "0", "count": "1"}]]},
    {"along": [[{"move": "1", "count": "-1"}]]},
    {"beside": [None]},
    [],
    "gaussian",
])  # fmt: skip
def test_hints_of_what_is_not_within_reach_or_too_little(hints: object) -> None:
    content = certified("discrete-gaussian:sigma2=5,l2=2", "rdp:2,0.9")
    assert check(content).valid
    found = check({**content, "hints": hints})
    assert not found.valid and "\n" not in found.reason


def test_bounds_of_coordinates_are_refused_of_samples_and_of_losses() -> None:
    tilt = {"above": [{"square": "100", "sum": "100"}]}
    for spec, claim in ((SAMPLED, "rdp:2,900"), ("skellam:variance=4,l2=2", "approx:900,1e-4")):
        content = certified(spec, "rdp:2,900")
        content["claim"] = parse_claim(claim).fields()
        told = {**content, "measured": {"lower": "0", "upper": "900"}}
        assert check({**told, "hints": {}}).valid
        assert "a k^2 + b k" in check({**told, "hints": tilt}).reason
    content = certified(SAMPLED, "rdp:2,0.0001")
    for move, count, valid in (("2", "1", True), ("1", "2", False), ("1", "4", False)):
        hints = {"along": [[{"move": move, "count": count}]]}
        told = {**content, "hints": hints, "measured": {"lower": "0.001", "upper": "inf"}}
        assert check(told).valid is valid


@pytest.mark.contract
@pytest.mark.parametrize("law", ["binomial", "polya-difference"])
def test_laws_that_are_not_log_concave_are_no_certificates(law: str) -> None:
    content = copy.deepcopy(certified("skellam:variance=4,l2=2", "rdp:2,2"))
    numbers = {"trials": "9", "probability": "1/3"}
    if law != "binomial":
        numbers = {"shape": "0.9", "scale": "3"}
    content["uses"][0]["mechanism"]["law"] = {"name": law, **numbers}
    assert "symmetric and log-concave" in check(content).reason


@pytest.mark.contract
def test_the_checker_alone_reads_and_says_it(tmp_path: Any, capsys: Any) -> None:
    spec = "discrete-gaussian:sigma2=20,l2=4,neighbours=add-remove*300"
    path = tmp_path / "c.json"
    certify(spec, "rdp:4,500").write(path)
    assert checker([str(path), "--expect", spec, "--claim", "rdp:4,500"]) == 0
    shown = capsys.readouterr().out
    assert "integer vectors moved by at most 4 in L2, any dimension" in shown
    assert "discrete gaussian noise (sigma2 20) in every coordinate, used 300 times" in shown
    assert "one user added or removed" in shown
    for other in ("l2=5", "l2=4,linf=2", "l2=4,dimension=7", "l2=4,modulus=9", "sensitivity=4"):
        assert checker([str(path), "--expect", spec.replace("l2=4", other)]) == 1
    for odd in ("l2=0", "dimension=2", "l2=4,sensitivity=2", "l2=4,fixed-size=1/2"):
        with pytest.raises(SystemExit):
            checker([str(path), "--expect", f"skellam:variance=400,{odd}"])
    assert Certificate.read(path).check().valid


def _largest_moment(sigma2: int, square: int, rows: int, order: int) -> Any:
    """log E_Q (P/Q)^order/(order - 1), the most over who moves row by row, given what was seen.

    What is seen does not enter: the largest moment of a row of each size is its own sum over x.
    """
    weights = [mpmath.exp(-mpmath.mpf(x * x) / (2 * sigma2)) for x in range(-200, 201)]

    def moment(v: int) -> Any:
        top = (order * (x - v) ** 2 - (order - 1) * x * x for x in range(-200, 201))
        return mpmath.fsum(mpmath.exp(-mpmath.mpf(t) / (2 * sigma2)) for t in top) / sum(weights)

    best = {0: mpmath.mpf(1)}  # by what is spent
    for _ in range(rows):
        more = dict(best)
        for spent, found in best.items():
            for v in range(1, 20):
                if spent + v * v <= square:
                    place = spent + v * v
                    more[place] = max(more.get(place, 0), found * moment(v))
        best = more
    return mpmath.log(max(best.values())) / (order - 1)


@pytest.mark.quick_cases(2)
@pytest.mark.contract
@pytest.mark.parametrize(
    ("spec", "square", "sigma2"),
    [
        ("tree:steps=1024,sigma=10,noise=discrete-gaussian", 11, 100),
        ("tree:steps=4,sigma=3,noise=discrete-gaussian,participations=2", 10, 9),
        ("discrete-gaussian:sigma=10,l2=3.32", 11, 100),
        ("discrete-gaussian:sigma=10,l2=30", 900, 100),
    ],
)
def test_what_is_known_in_squares_is_certified_in_squares(
    capsys: Any, tmp_path: Any, spec: str, square: int, sigma2: int
) -> None:
    """At the very bound, sens^2/(2 sigma^2), sens irrational or not; and refuted below."""
    rho = Fraction(square, 2 * sigma2)
    if square < 20:
        truth = _largest_moment(sigma2, square, square, 2)
        assert abs(truth - float(2 * rho)) < 1e-12
    file = str(tmp_path / "certificate.json")
    for claim, below in (
        (f"zcdp:{rho}", f"zcdp:{rho * Fraction(99999, 100000)}"),
        (f"rdp:2,{2 * rho}", f"rdp:2,{2 * rho * Fraction(999, 1000)}"),
    ):
        assert main(["audit", spec, "--claim", claim, "--certificate", file]) == 0
        assert main(["check", file, "--expect", spec, "--claim", claim]) == 0
        assert main(["audit", spec, "--claim", below]) == 1
    assert "no certificate" not in capsys.readouterr().out


@pytest.mark.contract
def test_a_vector_of_very_many_coordinates_is_audited(capsys: Any, tmp_path: Any) -> None:
    spec, file = "discrete-gaussian:sigma=1000,l2=1e5", str(tmp_path / "certificate.json")
    assert main(["audit", spec, "--claim", "zcdp:5000", "--certificate", file]) == 0
    assert main(["check", file, "--expect", spec]) == 0


@pytest.mark.quick_cases(2)
@pytest.mark.contract
@pytest.mark.parametrize(
    ("spec", "claim"),
    [
        ("skellam:variance=1e9", "rdp:2,1.000000001e-9"),
        ("skellam:variance=1e9", "approx:0.0001,1e-6"),
        ("skellam:variance=1e9", "gdp:0.0000317"),
        ("skellam:variance=1e9,sensitivity=1000,modulus=1000000", "rdp:2,0.0010001"),
        ("discrete-gaussian:sigma2=1e9", "approx:0.0001,1e-6"),
        ("discrete-gaussian-sum:count=1000,sigma2=1e6", "approx:0.0001,1e-6"),
        pytest.param("skellam:variance=1e9", "zcdp:5.0000001e-10", marks=pytest.mark.slow),
        pytest.param(
            "skellam:variance=1e9,sensitivity=1000,neighbours=add-remove,poisson=0.1*100",
            "approx:0.1,1e-3",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_noise_too_wide_to_sum_up_is_certified_by_its_gaussian(
    capsys: Any, tmp_path: Any, spec: str, claim: str
) -> None:
    file = tmp_path / "certificate.json"
    assert main(["audit", spec, "--claim", claim, "--certificate", str(file)]) == 0
    assert main(["check", str(file), "--expect", spec, "--claim", claim]) == 0
    assert checker([str(file), "--claim", claim]) == 0
    assert "no certificate" not in capsys.readouterr().out


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", ["rdp:2,0.999999999e-9", "gdp:0.0000316227766"])
def test_a_gaussian_proves_nothing_below_what_is_true(claim: str) -> None:
    """D_2 is above 1e-9 less 1e-18, mu above 10^-4.5: by the shift of one outcome, of mass p(0)."""
    content = certified("skellam:variance=1e9", "rdp:2,1.0001e-9")
    asked, hints = parse_claim(claim), {"above": ["gaussian"]}
    assert content["hints"] == hints and check(resealed(content)).valid
    for upper in (str(asked.bound), content["measured"]["upper"]):
        measured = {"lower": "0", "upper": upper}
        changed = content | {"claim": asked.fields(), "measured": measured, "hints": hints}
        assert not check(resealed(changed)).valid
    assert "gaussian of numbers" in check(edited(content, ("hints", "above", 0), "by one")).reason
