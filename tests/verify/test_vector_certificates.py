"""Certificates of vectors: beside the boundary, of every law and claim, and never of what is false.

What the checker bounds by its own code is compared with sums by mpmath.
"""

import copy
from fractions import Fraction
from typing import Any

import mpmath
import oracles
import pytest
from certificates import certified, check, edited, resealed
from conformance import truth

from exactdp import Certificate, certify
from exactdp.cli.main import main
from exactdp.verify import parse_claim
from exactdp.verify.checker.__main__ import main as checker

# -- mu_1 -----------------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize(
    ("spec", "pmf", "reach", "spare"),
    [
        ("skellam:variance=2", oracles.skellam(2), 60, 1e-6),
        ("discrete-gaussian:sigma2=3/2", oracles.discrete_gaussian("3/2"), 30, 1e-6),
        ("discrete-laplace:scale=3/2", oracles.discrete_laplace("3/2"), 150, 1e-6),
        ("discrete-gaussian-sum:count=3,sigma2=1/2", oracles.convolution(
            oracles.discrete_gaussian("1/2"), 3, 20).__getitem__, 24, 0.05),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_the_gaussian_of_one_coordinate_is_not_below_it_and_not_far_above(
    spec: str, pmf: Any, reach: int, spare: float
) -> None:
    mu = float(truth.shifts(pmf, reach).mu())
    content = certified(f"{spec},l2=1", f"gdp:{2 * mu}") | {"hints": {"above": ["gaussian"]}}
    for bound, valid in ((mu * (1 + spare), True), (mu * (1 - 1e-6), False)):
        text = f"{bound:.12g}"
        told = {"claim": {"kind": "gdp", "mu": text}, "measured": {"lower": "0", "upper": text}}
        assert check(content | told).valid is valid


# -- certificates ---------------------------------------------------------------------------------

SAMPLED = "skellam:variance=4,l2=2,neighbours=add-remove,poisson=0.1"


@pytest.mark.contract
@pytest.mark.parametrize("spec", [SAMPLED, f"{SAMPLED},modulus=64"])
@pytest.mark.parametrize("claim", ["approx:1.4,1e-4", "approx:0.7,1e-4", "rdp:2,0.02"])
def test_of_sampled_users_either_way_round(spec: str, claim: str) -> None:
    found = certify(spec, claim)
    assert found.content["orientation"] == "fixed"
    assert found.check().valid


# -- what is false --------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize("hints", [
    {"above": ["gaussian"], "along": [[{"move": "3", "count": "1"}]]},
    {"above": ["gaussian"], "along": [[{"move": "2", "count": "1"}, {"move": "1", "count": "1"}]]},
    {"above": ["gaussian"], "along": [[{"move": "1", "count": "5"}]]},
    {"above": ["gaussian"], "along": [[{"move": "2", "count": "1"}, {"move": "2", "count": "1"}]]},
    {"above": ["by one"]},
    {"above": ["squares", "squares"]},
    {"along": [None]},
    {"along": [[{"move": "1", "count": "1"}]]},
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
    """Of both ends at once: 4/5, and hardly less."""
    content = certified("discrete-gaussian:sigma2=5,l2=2", "rdp:2,0.9")
    content["measured"] = {"lower": "0.799999", "upper": "0.800001"}
    right = {"above": ["gaussian"], "along": [[{"move": "2", "count": "1"}]]}
    assert check({**content, "hints": right}).valid
    found = check({**content, "hints": hints})
    assert not found.valid and "\n" not in found.reason


def test_bounds_of_coordinates_are_refused_of_samples_and_of_losses() -> None:
    tilt = {"above": ["squares"]}
    for spec, claim in ((SAMPLED, "rdp:2,900"), ("skellam:variance=4,l2=2", "approx:900,1e-4")):
        content = certified(spec, "rdp:2,900")
        content["claim"] = parse_claim(claim).fields()
        told = {**content, "measured": {"lower": "0", "upper": "900"}}
        assert check({**told, "hints": {}}).valid
        assert "squares bound" in check({**told, "hints": tilt}).reason
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


@pytest.mark.slow_cases("gdp:0.0000316227766")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", ["rdp:2,0.999999999e-9", "gdp:0.0000316227766"])
@pytest.mark.slow
def test_a_gaussian_proves_nothing_below_what_is_true(claim: str) -> None:
    """D_2 is above 1e-9 less 1e-18, mu above 10^-4.5: by the shift of one outcome, of mass p(0)."""
    content = certified("skellam:variance=1e9", "rdp:2,1.0001e-9")
    asked, hints = parse_claim(claim), {"above": ["gaussian"]}
    assert check(resealed(content | {"hints": hints})).valid
    for upper in (str(asked.bound), content["measured"]["upper"]):
        measured = {"lower": "0", "upper": upper}
        changed = content | {"claim": asked.fields(), "measured": measured, "hints": hints}
        assert not check(resealed(changed)).valid
    assert "gaussian of numbers" in check(edited(content, ("hints",), {"above": ["by one"]})).reason
