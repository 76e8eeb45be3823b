"""What other accountants report of sampled Gaussians, beside the truth."""

import sys
from types import ModuleType

import pytest

import exactdp
from exactdp.accounting.interop.foreign import OPACUS, PLD, PRV
from exactdp.accounting.methods.comparison import DoesNotApplyError, compare
from exactdp.cli.main import main

SGD = "gaussian:sigma={},neighbours=add-remove,poisson={}*{}"


@pytest.mark.parametrize(
    ("rate", "sigma", "times", "delta", "theirs"),
    [  # by opacus.accountants.analysis.rdp of Opacus 1.6.0
        ("0.01", "1", 1000, "1e-5", 2.1013652716430564),
        ("0.1", "2", 100, "1e-10", 4.058700929885537),
    ],
)
def test_opacus_is_what_opacus_says(rate, sigma, times, delta, theirs):
    run = exactdp.mechanism(SGD.format(sigma, rate, times))
    (reported,) = compare(run, delta, names=[OPACUS])
    assert reported.value.lower <= theirs * (1 + 1e-10)
    assert reported.value.upper >= theirs * (1 - 1e-10)
    assert reported.value.is_within(1e-9)
    assert reported.value.lower >= run.epsilon(delta).upper


def test_opacus_never_goes_below_nothing():
    run = exactdp.mechanism(SGD.format(100, "0.001", 1))
    (reported,) = compare(run, "0.99", names=[OPACUS])
    assert reported.value.lower == reported.value.upper == 0


def test_pld_is_near_the_truth():
    run = exactdp.mechanism(SGD.format("2", "0.1", 20))
    (reported,) = compare(run, "1e-6", names=[PLD])
    assert float(reported.value) == pytest.approx(float(run.epsilon("1e-6")), rel=1e-3)
    (reported,) = compare(exactdp.mechanism("skellam:variance=9"), "1e-6", names=[PLD])
    assert reported.value is None and "AdditiveNoise has no event" in reported.remark


def test_prv_is_asked_as_its_users_ask_it(monkeypatch):
    asked = {}

    class Mechanism:
        def __init__(self, sampling_probability, noise_multiplier):
            self.numbers = (sampling_probability, noise_multiplier)

    class Accountant:
        def __init__(self, *, prvs, max_self_compositions, eps_error, delta_error):
            asked["prvs"] = [each.numbers for each in prvs]
            asked["times"] = max_self_compositions

        def compute_epsilon(self, delta, times):
            assert times == asked["times"]
            if delta > 0.5:
                raise RuntimeError("out of memory")
            return 0.5, 0.75, 1.0

    module = ModuleType("prv_accountant")
    module.PoissonSubsampledGaussianMechanism, module.PRVAccountant = Mechanism, Accountant
    monkeypatch.setitem(sys.modules, "prv_accountant", module)
    run = exactdp.compose((SGD.format("2", "0.1", 1), 20), "gaussian:sigma=4,neighbours=add-remove")
    (reported,) = compare(run, "1e-6", names=[PRV])
    assert (reported.value.lower, reported.value.upper) == (0.5, 1)
    assert asked == {"prvs": [(0.1, 2.0), (1.0, 4.0)], "times": [20, 1]}
    (reported,) = compare(run, "0.9", names=[PRV])
    assert reported.value is None and "out of memory" in reported.remark
    monkeypatch.setitem(sys.modules, "prv_accountant", None)
    (reported,) = compare(run, "1e-6", names=[PRV])
    assert reported.remark == "prv_accountant is not installed"


def test_each_is_labelled_and_asked_for_epsilon_only(capsys):
    run = exactdp.mechanism("laplace:scale=2")
    for method in (OPACUS, PLD, PRV):
        with pytest.raises(DoesNotApplyError):
            method.delta(run, 1, None)
    (reported,) = compare(run, "1e-6", names=[OPACUS])
    assert reported.value is None and "Gaussian" in reported.remark
    assert main(["compose", "gaussian:sigma=3", "--delta", "1e-5", "--compare"]) == 0
    told = capsys.readouterr().out
    assert "as Opacus reports it" in told and "dp_accounting, privacy-loss" in told
    assert main(["compose", "randomized-response:epsilon=1", "--delta", "1e-5", "--compare"]) == 0
    assert "Opacus" not in capsys.readouterr().out
