"""Events of dp_accounting and histories of Opacus: read, written, and refused by name."""

import doctest
import json
import sys
from fractions import Fraction
from types import ModuleType

import dp_accounting
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant

import exactdp
from exactdp import ParameterError
from exactdp.accounting.interop import opacus
from exactdp.cli.main import main
from exactdp.interop import (
    UnsupportedEventError,
    from_dp_event,
    from_json,
    from_opacus,
    opacus_accountant,
    register_opacus,
    to_dp_event,
)

GAUSSIAN = dp_event.GaussianDpEvent(2.5)
SAMPLED = dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN)
SPEC = "gaussian:sigma=2.5,neighbours=add-remove"
SMALL = Fraction(1, 10**12)


def several(*parts):
    return exactdp.compose(*parts)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("event", "meant"),
    [
        (GAUSSIAN, SPEC),
        (SAMPLED, f"{SPEC},poisson=0.1"),
        (dp_event.SelfComposedDpEvent(SAMPLED, 30), f"{SPEC},poisson=0.1*30"),
        (dp_event.LaplaceDpEvent(4), "laplace:scale=4,neighbours=add-remove"),
        (dp_event.PoissonSampledDpEvent(1.0, GAUSSIAN), SPEC),
        (dp_event.SingleEpochTreeAggregationDpEvent(2.5, [3, 4]), f"{SPEC}*3"),
        (
            dp_event.DiscreteLaplaceDpEvent(0.5, 3),
            "discrete-laplace:scale=2,sensitivity=3,neighbours=add-remove",
        ),
        (
            dp_event.PoissonSampledDpEvent(0.1, dp_event.SelfComposedDpEvent(GAUSSIAN, 4)),
            "gaussian:sigma=1.25,neighbours=add-remove,poisson=0.1",
        ),
        (
            dp_event.SampledWithoutReplacementDpEvent(9, 2, GAUSSIAN),
            "gaussian:sigma=2.5,sensitivity=2,fixed-size=2/9",
        ),
        (dp_event.ZCDpEvent(0.1), "guarantee:zcdp:0.1,neighbours=add-remove"),
    ],
)
def test_what_an_event_means(event, meant):
    assert from_dp_event(event) == exactdp.mechanism(meant)


@pytest.mark.contract
def test_compositions_are_flattened_and_nothing_is_nothing():
    inner = dp_event.ComposedDpEvent([GAUSSIAN, dp_event.NoOpDpEvent(), SAMPLED])
    event = dp_event.ComposedDpEvent(
        [dp_event.SelfComposedDpEvent(inner, 4), GAUSSIAN,
         dp_event.PoissonSampledDpEvent(0.0, GAUSSIAN)]
    )  # fmt: skip
    assert from_dp_event(event) == several((SPEC, 5), (f"{SPEC},poisson=0.1", 4))
    with pytest.raises(ParameterError, match="empty"):
        from_dp_event(dp_event.NoOpDpEvent())


@pytest.mark.contract
def test_their_figures_agree():
    events = [
        dp_event.SelfComposedDpEvent(SAMPLED, 20),
        dp_event.RandomizedResponseDpEvent(0.4, 5),
        dp_event.LaplaceDpEvent(3),
    ]
    for event in events:
        accountant = PLDAccountant(value_discretization_interval=1e-4)
        if isinstance(event, dp_event.RandomizedResponseDpEvent):
            relation = dp_accounting.NeighboringRelation.REPLACE_ONE
            accountant = PLDAccountant(relation)
        accountant.compose(event)
        theirs, ours = accountant.get_epsilon(1e-6), from_dp_event(event).epsilon("1e-6")
        assert ours.lower <= theirs * (1 + 1e-9) and theirs <= float(ours) * (1 + 1e-3)


@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [f"{SPEC}*7", f"{SPEC},poisson=0.3", "laplace:scale=3,sensitivity=2,neighbours=add-remove",
     "discrete-laplace:scale=4,sensitivity=3"],
)  # fmt: skip
def test_there_and_back_is_no_better(spec):
    """Floats are rounded towards less privacy: what comes back costs at least as much."""
    first = exactdp.mechanism(spec)
    back = from_dp_event(to_dp_event(first))
    assert back.renyi(3).upper >= first.renyi(3).lower
    assert back.renyi(3).at_most(first.renyi(3).upper * (1 + SMALL)) is True


@pytest.mark.contract
def test_randomized_response_is_written_with_a_little_less_noise():
    first = exactdp.mechanism("randomized-response:epsilon=1")
    back = from_dp_event(to_dp_event(first))
    assert 1 <= back.pure().lower <= back.pure().upper <= 1 + SMALL


@pytest.mark.contract
@pytest.mark.parametrize(
    ("event", "named"),
    [
        (dp_event.ZCDpEvent(0.1, 0.1), "ZCDpEvent"),
        (dp_event.NonPrivateDpEvent(), "NonPrivateDpEvent"),
        (dp_event.RepeatAndSelectDpEvent(GAUSSIAN, 3.0, 1.0), "RepeatAndSelectDpEvent"),
        (dp_event.PoissonSampledDpEvent(0.1, SAMPLED), "PoissonSampledDpEvent of PoissonSampled"),
        (
            dp_event.ComposedDpEvent(
                [
                    dp_event.SampledWithoutReplacementDpEvent(9, 2, GAUSSIAN),
                    dp_event.LaplaceDpEvent(1),
                ]
            ),
            "neighboring_relation",
        ),
    ],
)
def test_what_cannot_be_accounted_for_is_named(event, named):
    with pytest.raises(UnsupportedEventError, match=named):
        from_dp_event(event)
    with pytest.raises(UnsupportedEventError, match="AdditiveNoise"):
        to_dp_event(exactdp.mechanism("skellam:variance=9"))


HISTORY = [(2.5, 0.1, 30), (2.5, 0.2, 4), (2.5, 0.1, 5)]


@pytest.mark.contract
def test_a_history_of_opacus():
    meant = several((f"{SPEC},poisson=0.1", 35), (f"{SPEC},poisson=0.2", 4))
    assert from_opacus(HISTORY) == meant
    assert from_opacus({"history": HISTORY, "mechanism": "rdp"}) == meant
    assert from_json({"history": [list(entry) for entry in HISTORY]}) == meant


@pytest.mark.contract
@pytest.mark.parametrize(
    "history",
    [[], None, 7, "text", [(1, 2)], [(0, 0.1, 1)], [(1, 1.5, 1)], [(1, 0.1, 0)], [(1, 0.1, 1.5)],
     [(float("nan"), 0.1, 1)], ["abc"]],
)  # fmt: skip
def test_other_histories_are_refused(history):
    with pytest.raises(ParameterError, match="history"):
        from_opacus(history)


@pytest.mark.contract
def test_compose_from_a_file(capsys, tmp_path):
    path = tmp_path / "event.json"
    gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": 2.5}
    sampled = {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.1}
    event = {"class_name": "SelfComposedDpEvent", "count": 30, "event": sampled}
    path.write_text(json.dumps(event | {"event": sampled | {"event": gaussian}}))
    told = []
    for words in (["--from", str(path), SPEC], [SPEC, f"{SPEC},poisson=0.1*30"]):
        assert main(["compose", *words, "--delta", "1e-5", "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out)["results"])
    assert told[0] == told[1]
    path.write_text(json.dumps([[2.5, 0.1, 30]]))
    assert main(["compose", "--from", str(path), "--order", "2", "--json"]) == 0
    (use,) = json.loads(capsys.readouterr().out)["mechanisms"]
    assert use["times"] == 30 and exactdp.mechanism(use["spec"]).times == 1


@pytest.mark.contract
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"class_name": "ZCDpEvent", "rho": 1, "xi": 1}', "ZCDpEvent cannot be accounted for"),
        ('{"class_name": "GaussianDpEvent"}', "noise_multiplier is missing"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": NaN}', "noise_multiplier"),
        ('{"class_name": 3}', "name its class"),
        ("{}", "must hold"),
        ("[[1, 0.1]]", "three numbers"),
        ("nothing", "not JSON"),
    ],
)
def test_other_files_are_refused(capsys, tmp_path, content, told):
    path = tmp_path / "bad.json"
    path.write_text(content)
    assert main(["compose", "--from", str(path), "--pure"]) == 2
    err = capsys.readouterr().err
    assert told in err and err.count("\n") == 1
    assert main(["compose", "--pure"]) == 2 and "--from" in capsys.readouterr().err


@pytest.fixture
def stand_in(monkeypatch):
    """A module with the interface of opacus.accountants, where Opacus is not installed."""

    class IAccountant:
        def __init__(self):
            self.history = []

        def state_dict(self):
            return {"history": list(self.history), "mechanism": self.mechanism()}

        def load_state_dict(self, state):
            assert state["mechanism"] == self.mechanism()
            self.history = state["history"]

    registered = {}
    module = ModuleType("opacus.accountants")
    module.IAccountant = IAccountant
    module.register_accountant = lambda name, kind, force=False: registered.update({name: kind})
    module.create_accountant = lambda mechanism: registered[mechanism]()
    monkeypatch.setitem(sys.modules, "opacus", ModuleType("opacus"))
    monkeypatch.setitem(sys.modules, "opacus.accountants", module)
    return registered


@pytest.mark.contract
@pytest.mark.slow
def test_an_accountant_for_opacus(stand_in):
    register_opacus()
    accountant = stand_in["exactdp"]()
    assert (accountant.mechanism(), len(accountant), accountant.get_epsilon(1e-5)) == (
        "exactdp", 0, 0.0,
    )  # fmt: skip
    for _ in range(3):
        accountant.step(noise_multiplier=2.5, sample_rate=0.1)
    accountant.step(noise_multiplier=2.0, sample_rate=0.1)
    assert accountant.history == [(2.5, 0.1, 3), (2.0, 0.1, 1)] and len(accountant) == 2
    truth = several((f"{SPEC},poisson=0.1", 3), (f"{SPEC},poisson=0.1".replace("2.5", "2"), 1))
    found = accountant.get_epsilon(delta=1e-5)
    assert truth.epsilon("1e-5").lower <= found <= float(truth.epsilon("1e-5")) * (1 + 1e-15)
    other = stand_in["exactdp"]()
    other.load_state_dict(accountant.state_dict())
    assert from_opacus(other) == truth and other.get_epsilon(1e-5) == found
    other.step(noise_multiplier=0.0, sample_rate=0.1)
    assert other.get_epsilon(1e-5) == float("inf")


def test_the_examples_of_opacus(stand_in):
    tried = doctest.testmod(opacus)
    assert tried.attempted and not tried.failed


@pytest.mark.contract
def test_without_opacus_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opacus.accountants", None)
    with pytest.raises(ImportError, match=r"exactdp\[opacus\]"):
        opacus_accountant()


@pytest.mark.contract
@pytest.mark.slow
def test_with_opacus_itself():
    accountants = pytest.importorskip("opacus.accountants")
    register_opacus()
    ours, theirs = accountants.create_accountant("exactdp"), accountants.RDPAccountant()
    for each in (ours, theirs):
        for _ in range(50):
            each.step(noise_multiplier=1.0, sample_rate=0.01)
    assert 0 < ours.get_epsilon(1e-5) <= theirs.get_epsilon(1e-5)
    assert from_opacus(theirs) == from_opacus(ours)
