"""Samplers of all kinds: functions that draw once, programs, and what goes wrong with them."""

import sys

import numpy as np
import pytest

from exactdp import ParameterError, PureDP
from exactdp.verify.blackbox import Command, OneByOne, SampleVerdict, audit_sampler
from exactdp.verify.blackbox.sampler import draw

RNG = np.random.default_rng(1)
PROGRAM = """
import random, sys
value, size = int(sys.argv[1]), int(sys.argv[2])
random.seed(sys.argv[3])
for _ in range(size):
    print(value if random.random() < 0.75 else 1 - value)
"""


def command(code, tail="{input} {size} {seed}", **options):
    return Command(f"{sys.executable} -c '{code}' {tail}", **options)


def test_functions_that_draw_once():
    found = draw(OneByOne(lambda x, rng: x + int(rng.integers(3))), 5, 100, RNG)
    assert found.shape == (100,)
    assert set(found.tolist()) == {5, 6, 7}


def test_floats_that_are_integers_and_booleans_are_read():
    assert draw(lambda x, size, rng: np.full(size, 3.0), 0, 4, RNG).tolist() == [3] * 4
    assert draw(lambda x, size, rng: [True, False], 0, 2, RNG).tolist() == [1, 0]
    big = np.array([2**40, -5], dtype=object)
    assert draw(lambda x, size, rng: big, 0, 2, RNG).tolist() == [2**40, -5]


def test_a_program():
    found = audit_sampler(command(PROGRAM), PureDP("0.5"), samples=2000, rng=1)
    assert found.verdict is SampleVerdict.VIOLATION
    assert audit_sampler(command(PROGRAM), PureDP("0.5"), samples=2000, rng=1) == found
    assert audit_sampler(command(PROGRAM), PureDP("1.1"), samples=2000, rng=1).verdict is (
        SampleVerdict.NONE
    )


def test_inputs_reach_a_program_as_they_are():
    code = 'import sys; print(int(sys.argv[1] == "a b; $HOME"))'
    assert draw(command(code), "a b; $HOME", 1, RNG).tolist() == [1]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('print("1.5.2")', "must print integers below 2.62, or floats, got '1.5.2'"),
        ('print("0x1p3")', "or floats, got '0x1p3'"),
        ("print(10**30)", "must print integers"),
        ("print(1)", "shape"),
        ("import sys; sys.exit(3)", "ended with code 3: 'no message'"),
        ("raise KeyError(5)", "ended with code 1: 'KeyError: 5'"),
    ],
)
def test_programs_that_fail(code, said):
    with pytest.raises(ParameterError, match=said):
        draw(command(code), 0, 2, RNG)


def test_programs_that_cannot_run_or_do_not_end():
    with pytest.raises(ParameterError, match="cannot be run"):
        draw(Command("/nowhere/prog {input} {size}"), 0, 2, RNG)
    with pytest.raises(ParameterError, match="longer than"):
        draw(command("import time; time.sleep(60)", timeout="0.1"), 0, 2, RNG)


@pytest.mark.parametrize(
    "template",
    ["", "prog", "prog {input}", "prog {size}", "prog '{input} {size}", "{input} {size}"],
)
def test_bad_templates(template):
    with pytest.raises(ParameterError, match="command"):
        Command(template)


def test_a_program_that_prints_floats():
    found = draw(command('print(0.1, -5e-324, 3, "nan", "-inf", 1e300)'), 0, 6, RNG)
    assert found.dtype == np.float64
    assert [repr(one) for one in found.tolist()] == [
        "0.1",
        "-5e-324",
        "3.0",
        "nan",
        "-inf",
        "1e+300",
    ]
