"""Flower: integers pass through its SecAgg+ unchanged, and what the rounds cost is enclosed."""

import logging
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from exactdp import Enclosure, ParameterError
from exactdp.interop import flower
from exactdp.mechanisms import Binomial, DiscreteGaussian, Skellam
from exactdp.mechanisms.samplers import SeededBits
from exactdp.protocols.federated import Encoding, error_bound

from . import flower_stand_in as stand_in

ROOT = Path(__file__).parents[3]
ENCODING = Encoding(clip=1, scale=2, dimension=3, bits=8, rounding="stochastic")
SMALL = Encoding(clip=1, scale=1, dimension=1, bits=8, rounding="nearest")
SHARE = Skellam(variance=4)


def state_of(bits):
    carrier = flower.Carrier(bits)
    return {
        "clipping_range": carrier.clipping_range,
        "target_range": carrier.modulus - 1,
        "mod_range": carrier.modulus,
        "max_weight": 1.0,
    }


@pytest.fixture
def flwr(monkeypatch):
    for name, module in stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)


# -- the carrier ------------------------------------------------------------------------------


def some_residues(bits, size=2000):
    rng = np.random.default_rng(bits)
    found = rng.integers(0, 1 << bits, size, dtype=np.uint64)
    found[:4] = 0, 1, (1 << bits) - 2, (1 << bits) - 1
    return found


@pytest.mark.contract
@pytest.mark.parametrize("bits", range(2, 32))
def test_every_residue_is_carried_unchanged(bits):
    residues, carrier = some_residues(bits), flower.Carrier(bits)
    sent = stand_in.weighed(carrier.sent(residues), 1, state_of(bits))
    assert sent[0] == carrier.modulus - 1
    assert (sent[1:] == residues.astype(np.int64)).all()
    assert (carrier.received(stand_in.unmasked(sent, 1, state_of(bits)), 1) == residues).all()


@pytest.mark.contract
@pytest.mark.parametrize(("bits", "clients"), [(4, 15), (16, 5), (16, 1000), (31, 5), (31, 2**18)])
def test_sums_are_read_back(bits, clients):
    carrier, state = flower.Carrier(bits), state_of(bits)
    total = some_residues(bits)
    sums = np.concatenate(([clients * (carrier.modulus - 1)], total.astype(np.int64)))
    found = stand_in.unmasked(sums, clients, state)
    assert (carrier.received(found, clients) == total).all()


@pytest.mark.contract
def test_what_is_no_sum_is_refused():
    with pytest.raises(ParameterError, match="values must be a sum"):
        flower.Carrier(8).received(np.array([1e6]), 3)
    with pytest.raises(ParameterError, match="clients"):
        flower.Carrier(8).received(np.array([0.5]), 256)
    for bits in (1, 32):
        with pytest.raises(ParameterError, match="bits"):
            flower.Carrier(bits)


@pytest.mark.contract
def test_flowers_own_quantization_carries_them():
    theirs = pytest.importorskip("flwr.common.secure_aggregation.quantization")
    for bits in (2, 16, 31):
        residues, state = some_residues(bits), state_of(bits)
        values = flower.Carrier(bits).sent(residues)
        (found,) = theirs.quantize([values], state["clipping_range"], state["target_range"])
        assert (found == residues.astype(np.int64)).all()


# -- the client and the server ------------------------------------------------------------------


def context(**changes):
    records = {"state": state_of(ENCODING.bits) | changes}
    return SimpleNamespace(state=SimpleNamespace(config_records=records))


def answer_of(mod, update, model, **changes):
    """What leaves a client whose model moves by this update."""
    message = stand_in.Message(stand_in.FitIns([model]))

    def train(asked, _):
        moved = asked.content.parameters[0] + update
        return stand_in.Message(stand_in.FitRes(None, [moved], 600, {"loss": 3.5}))

    return mod(message, context(**changes), train).content


class Inner:
    """A strategy that takes the first answer."""

    def __init__(self, instructions, initial=None):
        self.instructions, self.initial = instructions, initial

    def initialize_parameters(self, manager):
        return self.initial

    def configure_fit(self, server_round, parameters, manager):
        return self.instructions

    def aggregate_fit(self, server_round, results, failures):
        return (results[0][1].parameters if results else None), {}

    def evaluate(self, server_round, parameters):
        return 0.5, {}


def test_a_round(flwr, caplog, monkeypatch):
    told = Enclosure(Fraction(3, 2), Fraction(7, 4))  # the account has tests of its own
    monkeypatch.setattr(flower.FederatedAccount, "epsilon", lambda self, delta: told)
    model = np.array([0.5, -0.25, 1.0])
    updates = np.array([[0.4, 0.1, 0], [0.2, 0, 0.3], [5, 0, 0], [np.nan, np.inf, 1]])
    mod = flower.NoisyUpdates(ENCODING, SHARE, SeededBits(7))
    sent = [answer_of(mod, each, model) for each in updates]
    for each in sent:
        assert (each.num_examples, each.metrics, each.status) == (1, {}, (0, ""))
    account = flower.FederatedAccount(ENCODING, SHARE)
    strategy = flower.CertifiedStrategy(Inner([None] * 5), account, delta="1e-5")
    assert len(strategy.configure_fit(1, [model], None)) == 5
    total = sum(each.parameters[0] for each in sent)
    found = stand_in.unmasked(total, 4, state_of(ENCODING.bits))
    results = [(None, stand_in.FitRes(None, [found], 1)) for _ in sent]
    with caplog.at_level(logging.INFO, logger="flwr"):
        (moved,), _ = strategy.aggregate_fit(1, results, [])
    meant = model + np.array([[0.4, 0.1, 0], [0.2, 0, 0.3], [1, 0, 0], [0, 0, 0]]).mean(axis=0)
    bound = float(error_bound(ENCODING, SHARE, 4, "1e-6").l2)
    assert 0 < np.linalg.norm(moved - meant) <= bound
    assert account.rounds == [flower.Round(5, 4)]
    assert "4 of 5 clients answered, 1 shares missing" in caplog.text
    assert "epsilon so far within [1.5, 1.75] at delta = 1e-5" in caplog.text
    assert strategy.certified == [told]


def test_noise_and_rounding_are_in_what_is_sent():
    mod = flower.NoisyUpdates(ENCODING, SHARE, SeededBits(3))
    drawn = np.array([mod.residues(np.zeros(3)) for _ in range(500)]).astype(np.int64)
    centred = np.where(drawn >= 2**7, drawn - 2**8, drawn)
    # zero is rounded to zero, so that only the share is left: variance 4, 2000 draws
    assert 4 * 0.8 < centred.var() < 4 * 1.2


def test_what_is_not_training_is_refused(flwr):
    mod = flower.NoisyUpdates(ENCODING, SHARE)
    for kind in ("evaluate", "query", "train.more"):
        message = stand_in.Message(stand_in.FitIns([np.zeros(3)]), kind)
        with pytest.raises(ParameterError, match="only messages that train"):
            mod(message, context(), lambda asked, _: asked)


@pytest.mark.parametrize(
    "changes",
    [{"clipping_range": 8.0}, {"target_range": 2**7}, {"mod_range": 2**16}, {"max_weight": 1000}],
)
def test_a_server_with_other_settings_is_refused(flwr, changes):
    mod = flower.NoisyUpdates(ENCODING, SHARE)
    with pytest.raises(ParameterError, match=next(iter(changes))):
        answer_of(mod, np.zeros(3), np.zeros(3), **changes)


def test_a_model_of_another_size_is_refused(flwr):
    with pytest.raises(ParameterError, match="encoding is of 3"):
        answer_of(flower.NoisyUpdates(ENCODING, SHARE), np.zeros(4), np.zeros(4))


def test_the_server_asks_no_client_for_anything_else():
    strategy = flower.CertifiedStrategy(Inner([]), flower.FederatedAccount(ENCODING, SHARE))
    assert strategy.configure_evaluate(1, None, None) == []
    assert strategy.evaluate(1, None) == (0.5, {})
    assert strategy.aggregate_fit(1, [], []) == (None, {}) and strategy.certified == []
    with pytest.raises(ParameterError, match="initial_parameters"):
        strategy.initialize_parameters(None)


def test_the_workflow_has_the_settings_that_clients_check(flwr):
    shares, settings = flower.secagg_workflow(ENCODING, 5, 3, timeout=9.0)
    settings["target_range"] = settings.pop("quantization_range")
    settings["mod_range"] = settings.pop("modulus_range")
    assert shares == (5, 3) and settings.pop("timeout") == 9.0
    flower.Carrier(ENCODING.bits).check(settings)


def test_without_flower_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "flwr", None)
    for name in [each for each in sys.modules if each.startswith("flwr.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"exactdp\[flower\]"):
        flower.secagg_workflow(ENCODING, 5, 3)


# -- the account ----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [SHARE, DiscreteGaussian(sigma2=4)])
def test_rounds_with_other_numbers_of_shares_compose(share):
    account = flower.FederatedAccount(SMALL, share)
    assert account.epsilon("1e-5") == Enclosure.exactly(0)
    for summed in (5, 4, 5):
        assert account.record(5, summed).missing == 5 - summed
    assert account.composition().uses == ((account.mechanism(5), 2), (account.mechanism(4), 1))
    assert account.mechanism(4).law == share.sum_of(4)
    assert account.composition(masked=False).uses == ((account.mechanism(1), 3),)


def test_colluding_clients_take_their_shares_out():
    account = flower.FederatedAccount(SMALL, SHARE, colluding=2)
    account.record(5, 5)
    assert account.composition().uses == ((account.mechanism(3), 1),)
    account.record(5, 2)
    assert account.epsilon("1e-5") == Enclosure.infinite()


@pytest.mark.parametrize("encoding", [ENCODING, Encoding(1, "1e6", 10**6, 31, "stochastic")])
def test_the_reach_is_the_integer_norm_bound(encoding):
    for neighbours, factor in (("replace", 4), ("add-remove", 1)):
        account = flower.FederatedAccount(encoding, SHARE, neighbours=neighbours)
        reach = account.mechanism(1).reach
        assert reach.l2**2 >= factor * encoding.squared_sensitivity
        assert int(reach.l2**2) == factor * encoding.squared_sensitivity


def test_what_cannot_be_accounted_for_is_refused():
    with pytest.raises(ParameterError, match="symmetric"):
        flower.FederatedAccount(ENCODING, Binomial(trials=10, probability="1/3"))
    with pytest.raises(ParameterError, match="neighbours"):
        flower.FederatedAccount(ENCODING, SHARE, neighbours="swap")
    account = flower.FederatedAccount(ENCODING, SHARE)
    for asked, summed in ((0, 0), (5, 0), (5, 6)):
        with pytest.raises(ParameterError):
            account.record(asked, summed)
    assert account.rounds == []


# -- Flower itself --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_simulation_with_flower_itself():
    pytest.importorskip("flwr")
    pytest.importorskip("ray")
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "flower_round.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    lines = re.findall(
        r"privacy of round (\d): (\d) of 5 clients answered, (\d) shares missing; "
        r"epsilon so far within \[([\d.]+), ([\d.]+)\] at delta = 1e-5",
        ran.stdout + ran.stderr,
    )
    counts = [tuple(map(int, line[:3])) for line in lines]
    assert counts == [(1, 5, 0), (2, 4, 1), (3, 5, 0)]
    ends = [tuple(map(Fraction, line[3:])) for line in lines]
    assert all(low <= high for low, high in ends)
    assert ends[0][1] < ends[1][0] and ends[1][1] < ends[2][0]
    losses = [float(word) for word in re.search(r"^loss (.*)$", ran.stdout, re.M)[1].split()]
    assert len(losses) == 4 and losses[-1] < losses[0]
