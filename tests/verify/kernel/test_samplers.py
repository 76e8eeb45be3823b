"""The samplers that Coq proves: their axioms, and that Python draws the same from the same bits."""

import subprocess

import pytest
from kernel_cases import with_tools
from proved_samplers import CASES, Counted, build, compare, own

from exactdp import time_limit
from exactdp.mechanisms.samplers import SeededBits
from exactdp.verify.kernel.coq import compiled
from exactdp.verify.kernel.theorem import ALLOWED, axioms_in

THEOREMS = ("uniform", "coin", "coin_exp", "laplace", "gaussian")


def test_the_bits_that_are_read_are_counted():
    bits = Counted(SeededBits(1))
    assert bits.take(5) + (bits.take(70) << 5) == SeededBits(1).take(75) and bits.taken == 75


@pytest.mark.slow
@with_tools
def test_python_draws_what_is_proved(tmp_path):
    program = build(tmp_path)
    for case in CASES:
        assert compare(program, case, 1000) == 1000


@pytest.mark.slow
@with_tools
def test_another_order_of_the_same_choices_is_found(tmp_path, monkeypatch):
    """A sign that is drawn the other way round has the same law, and is another program."""
    monkeypatch.setattr(
        "proved_samplers.own",
        lambda case, seed: (
            f"{-int(x)} {n}" for x, n in (each.split() for each in own(case, seed))
        ),
    )
    with pytest.raises(AssertionError):
        compare(build(tmp_path), ("laplace", 10, 1), 100)


@pytest.mark.slow
@with_tools
def test_the_theorems_rest_on_the_four_axioms(tmp_path):
    with time_limit(1800):
        path = ["-R", str(compiled(["Samplers", "Running"])), "ExactDP"]
    every = f"({', '.join(f'@{name}_sampler' for name in THEOREMS)})"
    (tmp_path / "A.v").write_text(
        "From ExactDP Require Import Samplers Running.\n"
        f"Definition every := {every}.\nPrint Assumptions every.\n"
        "Definition runs := (@run_reads, @reads_run).\nPrint Assumptions runs.\n"
    )
    ran = subprocess.run(
        ["coqc", "-q", "-noglob", "-w", "none", *path, "A.v"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    laws, runs = ran.stdout.strip().rsplit("\n", 1)
    assert set(axioms_in(laws)) == set(ALLOWED)
    assert runs == "Closed under the global context"
