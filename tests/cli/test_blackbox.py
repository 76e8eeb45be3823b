"""`exactdp blackbox`: JSON, exit codes, tables; always one line on stderr where input is bad."""

import json
import sys

import pytest
from commands import refused, said

pytestmark = pytest.mark.contract

MODULE = """
import math

import numpy as np


class Noise:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def draw(self, x, size, rng):
        p = -math.expm1(-self.epsilon)
        return x + rng.geometric(p, size) - rng.geometric(p, size)


half = Noise(0.5)
many = Noise(0.7)


def reduced(x, size, rng):
    return half.draw(x, size, rng) % 1001


def one(x, rng):
    return int(half.draw(x, 1, rng)[0])


def alone(x):
    return x


def no_input():
    return 1


def broken(x, size, rng):
    return ["a"] * size


def leaves(x, size, rng):
    raise SystemExit(1)


number = 5
"""
PROGRAM = """
import random, sys
value, size = int(sys.argv[1]), int(sys.argv[2])
for _ in range(size):
    print(value if random.random() < 0.75 else 1 - value)
"""
LAW = "discrete-laplace:epsilon=0.5"


@pytest.fixture(autouse=True)
def _samplers(tmp_path, monkeypatch):
    (tmp_path / "their_samplers.py").write_text(MODULE)
    (tmp_path / "their_exit.py").write_text("raise SystemExit(0)")
    (tmp_path / "response.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    sys.modules.pop("their_samplers", None)


def blackbox(capsys, *arguments):
    return said(capsys, "blackbox", *arguments)


@pytest.mark.parametrize("law", [[], ["--law", LAW]])
@pytest.mark.parametrize(("name", "code"), [("half.draw", 0), ("many.draw", 1)])
@pytest.mark.parametrize("claim", ["pure:0.5", "approx:0.5,1e-6"])
def test_verdict_and_exit_code(capsys, name, code, claim, law):
    found, out = blackbox(
        capsys, f"their_samplers:{name}", "--claim", claim, "--samples", "1e5", "--inputs", "0,1",
        "--seed", "1", "--json", *law,
    )  # fmt: skip
    shown = json.loads(out)
    assert found == code
    assert shown["verdict"] == ("NO VIOLATION FOUND", "VIOLATION FOUND")[code]
    assert (shown["claim"].split(":")[0], shown["samples"]) == (claim.split(":")[0], 100_000)
    assert (shown["error"], shown["seed"]) == (1e-6, 1)
    assert float(shown["epsilon"]["lower"]) < (0.5, 0.7)[code]
    assert (float(shown["epsilon"]["lower"]) > 0.5) == bool(code)
    assert 0.5 < float(shown["power"]["epsilon"]) < 0.6
    assert ("fits" in shown) == bool(law)
    if law:
        assert [fit["verdict"] for fit in shown["fits"]] == [shown["verdict"]] * 2
        assert [test["chosen_by"] for test in shown["tests"]] == ["claimed law", "training samples"]


def test_a_law_that_is_not_followed_is_a_violation(capsys):
    """Less noise than claimed, though still enough for the claim."""
    code, out = blackbox(
        capsys, "their_samplers:half.draw", "--claim", "pure:0.5", "--samples", "20000",
        "--law", "discrete-laplace:epsilon=0.4", "--seed", "1",
    )  # fmt: skip
    assert code == 1
    assert "is not followed" in out


def test_a_small_modulus_leaves_the_law_unchecked(capsys):
    code, out = blackbox(
        capsys, "their_samplers:reduced", "--claim", "pure:0.5", "--samples", "1000", "--json",
        "--law", LAW + ",modulus=31", "--seed", "1",
    )  # fmt: skip
    shown = json.loads(out)
    assert (code, "fits" in shown) == (0, False)
    assert "modulus 31" in shown["note"]


@pytest.mark.parametrize("name", ["one", "alone"])
def test_functions_that_draw_once(capsys, name):
    code, _ = blackbox(
        capsys, f"their_samplers:{name}", "--claim", "pure:0.5", "--samples", "1000", "--seed", "1"
    )
    assert code == (0 if name == "one" else 1)


def test_several_pairs_share_the_error(capsys):
    code, out = blackbox(
        capsys, "their_samplers:half.draw", "--claim", "pure:0.5", "--samples", "1000", "--json",
        "--inputs", "0,1", "--inputs", "5,6", "--error", "1e-6",
    )  # fmt: skip
    shown = json.loads(out)
    assert code == 0
    assert [test["inputs"] for test in shown["tests"]] == [["0", "1"], ["5", "6"]]
    assert all(4.99e-7 < test["error"] <= 5e-7 for test in shown["tests"])


@pytest.mark.parametrize(("claim", "code"), [("pure:0.5", 1), ("pure:1.1", 0)])
def test_a_program(capsys, claim, code):
    command = f"{sys.executable} response.py {{input}} {{size}}"
    found, out = blackbox(capsys, "--command", command, "--claim", claim, "--samples", "5000")
    assert found == code
    assert ("NO VIOLATION FOUND" in out) == (code == 0)


@pytest.mark.parametrize("name", ["half.draw", "many.draw"])
def test_tables_fit_80_columns_and_say_what_a_negative_answer_means(capsys, name):
    code, out = blackbox(
        capsys, f"their_samplers:{name}", "--claim", "approx:0.5,1e-6", "--samples", "20000",
        "--seed", "1",
    )  # fmt: skip
    assert max(map(len, out.splitlines())) <= 80
    assert ("does not mean" in " ".join(out.split())) == (code == 0)
    assert ("power" in out) == (code == 0)


HALF = "their_samplers:half.draw"
CLAIM = ["--claim", "pure:0.5"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "MODULE:FUNCTION"),
        ([HALF, *CLAIM, "--command", "prog {input} {size}"], "MODULE:FUNCTION"),
        ([HALF], "claim"),
        ([HALF, "--claim", "pure:-1"], "epsilon"),
        ([HALF, "--claim", "zcdp:1"], "claim"),
        ([HALF, *CLAIM, "--samples", "0"], "samples"),
        ([HALF, *CLAIM, "--samples", "many"], "samples"),
        ([HALF, *CLAIM, "--error", "2"], "error"),
        ([HALF, *CLAIM, "--inputs", "0"], "inputs"),
        ([HALF, *CLAIM, "--inputs", "0,1,2"], "inputs"),
        ([HALF, *CLAIM, "--inputs", "a,b"], "raised"),
        ([HALF, *CLAIM, "--seed", "-1"], "--seed"),
        ([HALF, *CLAIM, "--law", "nonsense"], "no known mechanism"),
        ([HALF, *CLAIM, "--law", LAW, "--inputs", "0,2"], "sensitivity"),
        ([HALF, *CLAIM, "--law", "randomized-response:epsilon=1"], "law"),
        (["their_samplers", *CLAIM], "MODULE:FUNCTION"),
        (["their_samplers:nothing", *CLAIM], "nothing"),
        (["no_such_module:draw", *CLAIM], "no_such_module"),
        (["their_exit:draw", *CLAIM], "SystemExit"),
        (["their_samplers:number", *CLAIM], "not a function"),
        (["their_samplers:no_input", *CLAIM], "no input"),
        (["their_samplers:broken", *CLAIM], "numbers"),
        (["their_samplers:leaves", *CLAIM], "SystemExit"),
        (["--command", "prog", *CLAIM], "{input}"),
        (["--command", "/nowhere/prog {input} {size}", *CLAIM], "cannot be run"),
        (["--command", "sleep {input}5 {size}", *CLAIM, "--timeout", "0.1"], "longer than"),
        (["--command", "echo {input} {size}", *CLAIM], "shape"),
        (["--command", "echo no {input} {size}", *CLAIM], "'no'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    refused(capsys, ["blackbox", *arguments], named)
