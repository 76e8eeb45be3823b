"""Continuous and sampled noise, from the command line: DP-SGD's figures and what is refused."""

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from exactdp.cli.main import main
from exactdp.verify.checker.__main__ import main as alone

pytestmark = pytest.mark.contract

SGD = "gaussian:sigma={sigma},sensitivity=1,neighbours=add-remove,poisson={rate}*{times}"
TABLE = [  # found apart, by inversion of the exact transform at two step sizes
    ("0.01", "1", "1000", "1e-5", 1.8282367),
    ("0.01", "1", "1000", "1e-10", 3.2904438),
    ("256/60000", "1.1", "14062", "1e-5", 2.3815969),
    ("0.001", "0.8", "10000", "1e-10", 2.1921719),
    ("0.1", "2", "100", "1e-5", 2.3373996),
    ("0.5", "5", "64", "1e-10", 5.3561675),
]


def composed(capsys, *words):
    assert main(["compose", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("rate", "sigma", "times", "delta", "truth"), TABLE)
def test_sampled_gaussian(capsys, rate, sigma, times, delta, truth):
    spec = SGD.format(rate=rate, sigma=sigma, times=times)
    shown = composed(capsys, spec, "--delta", delta)
    assert shown["neighbours"] == "add-remove" and "same way round" in shown["orientation"]
    (result,) = shown["results"]
    lower, upper = float(result["lower"]), float(result["upper"])
    assert truth - 6e-8 <= lower <= upper <= truth + 6e-8


def test_certificate_and_check(capsys, tmp_path):
    path = tmp_path / "sgd.json"
    spec = "gaussian:sigma=2,neighbours=add-remove,poisson=0.1"
    words = ["audit", spec, "--claim", "approx:0.4,1e-5", "--certificate", str(path)]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["check", str(path), "--expect", spec, "--claim", "approx:0.4,1e-5"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "taking part with probability 0.1" in told and "one user added or removed" in told
    for other in (spec.replace("0.1", "0.2"), "gaussian:sigma=2", f"{spec}*2"):
        assert main(["check", str(path), "--expect", other]) == 1


LAPLACE_RATES = [None, "0.01", "1/2", "0.999"]


@pytest.mark.parametrize("rate", LAPLACE_RATES)
@pytest.mark.parametrize("scale", ["0.05", "2", "1e4"])
def test_one_use_of_laplace_noise_by_its_closed_form(capsys, rate, scale):
    spec = f"laplace:scale={scale}" + (f",neighbours=add-remove,poisson={rate}" if rate else "")
    targets = ("1e-300", "1e-9", "1e-3", "0.2")
    words = [word for delta in targets for word in ("--delta", delta)]
    results = composed(capsys, spec, *words, "--pure")["results"]
    with mpmath.workdps(320):
        q, e = (
            mpmath.mpf(1) if rate is None else mpmath.fraction(*ratio(rate)),
            1 / mpmath.mpf(scale),
        )
        pure, *found = results
        for result, delta in zip(found, targets, strict=True):
            target = mpmath.mpf(delta)
            lower, upper = mpmath.mpf(result["lower"]), mpmath.mpf(result["upper"])
            assert upper - lower <= 1e-12 * upper <= 1.1e-12 * mpmath.mpf(pure["upper"])
            most, least = (profile_of_laplace(q, e, level) for level in (lower, upper))
            assert most >= target or lower == 0
            assert least <= target


def ratio(text):
    return Fraction(text).as_integer_ratio()


def profile_of_laplace(q, e, level):
    """delta(level) by cases of where the densities of the mixture and of the shift cross."""

    def plain(at):
        return max(-mpmath.expm1((at - e) / 2), 0) if at >= -e else -mpmath.expm1(at)

    odds = 1 + mpmath.expm1(level) / q
    removed = q * plain(mpmath.log(odds)) if odds > 0 else -mpmath.expm1(level)
    rest = 1 - mpmath.exp(level) * (1 - q)
    added = rest * plain(level + mpmath.log(q / rest)) if rest > 0 else mpmath.mpf(0)
    return max(removed, added)


def test_histories_of_several_files_add_up(capsys, tmp_path):
    """Each --from adds its uses, also where it is the same file."""
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"history": [[1.0, 0.01, 500]]}))
    words = ["--from", str(path), "--from", str(path), "--delta", "1e-5"]
    spec = SGD.format(sigma=1, rate="0.01", times=1000)
    assert (
        composed(capsys, *words)["results"] == composed(capsys, spec, "--delta", "1e-5")["results"]
    )


def test_irrational_noise_has_certificates(capsys, tmp_path):
    path = str(tmp_path / "certificate.json")
    spec = "gaussian:sigma2=2"
    assert main(["audit", spec, "--claim", "zcdp:1/4", "--certificate", path]) == 0
    assert json.loads(Path(path).read_text())["uses"][0]["mechanism"]["scale-squared"] == "2"
    for read in (main, alone):
        words = ["check", path] if read is main else [path]
        assert read([*words, "--expect", spec, "--claim", "zcdp:1/4"]) == 0
        assert read([*words, "--expect", "gaussian:rho=1/5"]) == 1
