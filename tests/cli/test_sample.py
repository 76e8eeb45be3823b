"""`exactdp sample`: what is drawn, the stream of lines, and what is refused."""

import os
import subprocess
import sys

import pytest
from commands import refused

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

FEW = ("--size", "9", "--seed", "5")
LAPLACE = "discrete-laplace:scale=10"


def lines(capsys, *arguments):
    assert main(["sample", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "spec",
    [
        *(LAPLACE, "polya-difference:shape=0.9,scale=10", "skellam:variance=100"),
        *("discrete-gaussian:sigma2=100", "discrete-gaussian-sum:count=128,sigma2=0.25"),
        *("binomial:trials=1000,probability=1/2", "published:epsilon=0.1,batch=1024"),
        *("theorem1:epsilon=0.5,batch=1024,horizon=1000000", "randomized-response:epsilon=1"),
        "theorem2:epsilon=0.5,batch=1024,horizon=1000000,scaling=10",
        "theorem4:epsilon=0.5,batch=1024,horizon=1000000,scaling=10",
        "theorem5:epsilon=0.5,batch=1024,horizon=1000000",
        "theorem6:epsilon=0.5,batch=1024,horizon=1000000",
    ],
)
def test_one_integer_a_line_and_the_seed_determines_them(capsys, spec):
    first = lines(capsys, spec, "--size", "40", "--seed", "7")
    assert len(first) == 40
    assert all(str(int(line)) == line for line in first)
    assert lines(capsys, spec, "--size", "40", "--seed", "7") == first
    assert lines(capsys, spec, "--size", "40", "--seed", "8") != first
    assert len(lines(capsys, spec, "--size", "3")) == 3  # without a seed


def test_a_seed_is_said_to_be_a_simulation(capsys):
    for extra in ((), ("--share-of", "3")):
        assert main(["sample", LAPLACE, *FEW, *extra]) == 0
        error = capsys.readouterr().err
        assert error == "simulation: seed 5 determines these draws, none is a release\n"
        assert main(["sample", LAPLACE, "--size", "3", *extra]) == 0
        assert capsys.readouterr().err == ""


def test_a_modulus_reduces_sums_and_shares(capsys):
    spec = f"{LAPLACE},modulus=7"
    for extra in ((), ("--share-of", "3")):
        found = {int(line) for line in lines(capsys, spec, "--size", "300", "--seed", "1", *extra)}
        assert found == set(range(7))


def test_shares_are_narrower_than_the_sum(capsys):
    share = lines(capsys, LAPLACE, "--size", "400", "--seed", "1", "--share-of", "1000")
    assert sum(line == "0" for line in share) > 380


def test_randomized_response_answers_for_the_bit_0(capsys):
    spec = "randomized-response:epsilon=3"
    found = [int(line) for line in lines(capsys, spec, "--size", "2000", "--seed", "1")]
    assert 40 < sum(found) < 160  # 2000/(1 + e^3) = 94.9, standard deviation 9.5


def test_outcomes_of_a_pair_by_name(capsys, tmp_path):
    file = tmp_path / "pair.csv"
    file.write_text("outcome,p,q\nyes,0.75,0.25\nno,0.25,0.75\n")
    found = lines(capsys, f"pmf:file={file}", "--size", "1000", "--seed", "1")
    assert set(found) == {"yes", "no"}
    assert 650 < found.count("yes") < 850


def test_nothing_is_asked_for(capsys):
    assert lines(capsys, LAPLACE, "--size", "0") == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((LAPLACE,), "--size"),
        ((LAPLACE, "--size", "-1"), "size"),
        ((LAPLACE, "--size", "1.5"), "size"),
        ((LAPLACE, "--size", "many"), "size"),
        ((LAPLACE, "--size", "1e30"), "--size must be an exact number at least 0 and at most"),
        (("discrete-laplace:scale=0", "--size", "1"), "scale"),
        (("laplace:scale=1", "--size", "1"), "laplace"),
        ((LAPLACE, "--size", "1", "--seed", "-1"), "seed"),
        ((LAPLACE, "--size", "1", "--share-of", "0"), "users"),
        (("discrete-gaussian:sigma2=1", "--size", "1", "--share-of", "2"), "users"),
        (("binomial:trials=9,probability=0.5", "--size", "1", "--share-of", "2"), "trials"),
        (("randomized-response:epsilon=1", "--size", "1", "--share-of", "2"), "noise"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    refused(capsys, ["sample", *arguments], named)


def test_theorem3_draws_what_a_perfect_aggregation_releases(capsys):
    # Theorem 3's noise is that of Theorem 1 at epsilon/2, where tau and m differ
    assert main(["sample", "theorem3:epsilon=1,batch=64,horizon=100", *FEW]) == 0
    drawn = capsys.readouterr().out
    plain = "discrete-laplace:epsilon=0.5,sensitivity=4,modulus=353"
    assert main(["sample", plain, *FEW]) == 0
    assert drawn == capsys.readouterr().out


def test_an_incomplete_column_is_refused(capsys, tmp_path):
    file = tmp_path / "pair.csv"
    file.write_text("outcome,p,q\nyes,0.75,0.25\nno,0.2499,0.75\n")
    assert main(["sample", f"pmf:file={file},slack=0.001", "--size", "1"]) == 2
    assert "slack" in capsys.readouterr().err


@pytest.mark.slow
def test_a_reader_that_has_enough_ends_it():
    command = [sys.executable, "-m", "exactdp.cli", "sample", LAPLACE, "--size", "1e12"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        int(process.stdout.readline())
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.slow
def test_progress_on_a_terminal_leaves_the_lines_alone():
    pty = pytest.importorskip("pty")
    own, terminal = pty.openpty()
    command = [sys.executable, "-m", "exactdp.cli", "sample", LAPLACE, "--size", "2000"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, check=True)
    os.close(terminal)
    os.close(own)
    assert len([int(line) for line in done.stdout.split()]) == 2000
