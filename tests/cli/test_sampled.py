"""Neighbours and Poisson sampling of discrete mechanisms, from the command line."""

import pytest
from commands import answer, refused

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

SAMPLED = "neighbours=add-remove,poisson=0.1"


@pytest.mark.slow_cases(
    "polya-difference:shape=1,scale=2,modulus=9,neighbours=add-remove,poisson=0.1"
)
@pytest.mark.parametrize(
    "spec",
    [
        f"discrete-laplace:epsilon=0.5,{SAMPLED}",
        f"polya-difference:shape=1,scale=2,modulus=9,{SAMPLED}",
        f"binomial:trials=3,probability=1/3,{SAMPLED}",
        f"randomized-response:epsilon=0.5,{SAMPLED}",
    ],
)
def test_every_result_names_neighbours_and_sampling(capsys, spec):
    words = [spec, "--pure", "--order", "2", "--delta", "1e-3"]
    found = answer(capsys, "compose", *words)
    assert found["neighbours"] == "add-remove"
    assert found["orientation"].startswith("the same way round in every use")
    assert found["sampling"] == "Poisson subsampling with probability 0.1"
    assert all(float(result["lower"]) >= 0 for result in found["results"])
    assert main(["compose", *words]) == 0
    out = capsys.readouterr().out
    assert "add-remove" in out and "probability 0.1" in out


def test_noise_is_drawn_as_without_sampling(capsys):
    drawn = []
    for keys in ("", f",{SAMPLED}"):
        assert main(["sample", f"skellam:variance=4{keys}", "--size", "5", "--seed", "1"]) == 0
        drawn.append(capsys.readouterr().out.split())
    assert len(drawn[0]) == 5 and drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["audit", "skellam:variance=4,poisson=0.1"], "neighbours=add-remove"),
        (["audit", "skellam:variance=4,neighbours=both"], "neighbours"),
        (["audit", f"skellam:variance=4,users=2,{SAMPLED}"], "users make the noise"),
        (["audit", f"theorem1:epsilon=1,batch=9,horizon=9,{SAMPLED}"], "neighbours"),
    ],
)
def test_refused(capsys, words, told):
    refused(capsys, words, told)
