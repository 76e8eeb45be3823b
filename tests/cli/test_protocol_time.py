"""`exactdp protocol --time S`: what is known when the time is over, whichever figure is late."""

import json

import pytest

from exactdp import Composition, OutOfTimeError
from exactdp.cli import in_time
from exactdp.cli.main import main

SUM = ["theorem1:epsilon=1,batch=8,horizon=100", "--dropout", "1"]
SHUFFLED = ["shuffle-sum:epsilon=0.5,delta=1e-2,users=20", "--dropout", "2"]
FEDERATED = [
    "federated:mechanism=skellam,clip=1,scale=2,clients=4,local-stddev=4,dimension=3,bits=16",
    *("--dropout", "1", "--target", "approx:2,1e-5"),
]


@pytest.mark.slow_cases("False-words2", "True-words2")
@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("words", [SUM, SHUFFLED, FEDERATED])
@pytest.mark.parametrize("as_json", [True, False])
def test_it_answers_even_if_nothing_is_found(capsys, monkeypatch, words, as_json):
    def over(self, compute, nothing):
        self.late = True
        return nothing

    monkeypatch.setattr(in_time.Figures, "find", over)
    assert main(["protocol", *words, *(["--json"] if as_json else [])]) == 3
    said = capsys.readouterr().out
    assert in_time.LATE in " ".join(said.split())
    if as_json:
        assert json.loads(said)["note"] == in_time.LATE


@pytest.mark.quick_cases(1)
@pytest.mark.contract
@pytest.mark.parametrize("words", [SUM, SHUFFLED, FEDERATED])
def test_it_answers_in_next_to_no_time(capsys, words):
    assert main(["protocol", *words, "--time", "0.001", "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)


@pytest.mark.contract
@pytest.mark.parametrize("words", [SUM, SHUFFLED, FEDERATED])
def test_bad_input_comes_before_any_figure(capsys, words):
    assert main(["protocol", words[0], "--dropout", "-1", "--time", "1e-9"]) == 2
    assert main(["protocol", *words, "--time", "0"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.contract
@pytest.mark.parametrize("spec", ["theorem1:epsilon=1,batch=8,horizon=100", FEDERATED[0]])
def test_a_round_is_shown_even_if_its_cost_is_not_found(capsys, monkeypatch, spec):
    pytest.importorskip("cryptography")

    def over(*_, **__):
        raise OutOfTimeError("the time allowed is over")

    monkeypatch.setattr(Composition, "pure", over)
    monkeypatch.setattr(Composition, "epsilon", over)
    monkeypatch.setattr(Composition, "renyi", over)
    assert main(["protocol", "--play", spec, "--plain", "--seed", "1", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["summed"] in (4, 8)
