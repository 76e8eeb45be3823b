"""`--budget`: a limit of work, which ends a command at the same step on every machine."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod

import pytest

import exactdp
from exactdp.cli.main import main

LISTS = (
    ["skellam:variance=100,l2=4*1000"],
    ["polya-difference:shape=1/2,scale=20*100"],
    ["skellam:variance=100*20", "laplace:scale=10*5"],
)


ENDS = "lower", "upper"


def ends(enclosure):
    return enclosure.lower, enclosure.upper


def value(capsys, words):
    assert main(["compose", *words, "--delta", "1e-6", "--json"]) in (0, 3)
    return json.loads(capsys.readouterr().out)["results"][0]


@pytest.mark.contract
@pytest.mark.slow_cases("skellam:variance=100,l2=4*1000", "polya-difference:shape=1/2,scale=20*100")
@pytest.mark.parametrize("uses", LISTS, ids=" ".join)
def test_less_work_gives_a_wider_bracket_of_the_same_figure(capsys, uses):
    little, again = (value(capsys, [*uses, "--budget", "1"]) for _ in "ab")
    more = value(capsys, [*uses, "--budget", "1e9"])
    # what is kept from the first time may tell more of what is open the second time
    assert [little[end] for end in ENDS] == [again[end] for end in ENDS]
    assert Decimal(little["lower"]) <= Decimal(more["upper"]) < Decimal("Infinity")
    assert Decimal(more["lower"]) <= Decimal(little["upper"]) < Decimal("Infinity")
    assert Decimal(little["lower"]) > 0


@pytest.mark.contract
@pytest.mark.slow_cases("polya-difference:shape=1/2,scale=20*100", "skellam:variance=100,l2=4*1000")
@pytest.mark.parametrize("uses", LISTS, ids=" ".join)
def test_figures_in_python_take_a_budget_in_any_thread(uses):
    """Four threads at once are told what one is; and what is told meets what more work tells."""
    releases = exactdp.mechanism(uses)

    def figures(budget):
        curve = releases.renyi([2, 3], budget=budget)
        return [*curve, releases.epsilon("1e-6", budget=budget), releases.gdp(budget=budget)]

    with ThreadPoolExecutor(4) as pool:
        one, *others = pool.map(figures, [1000] * 4)
    assert all(list(map(ends, other)) == list(map(ends, one)) for other in others)
    for little, more in zip(one, figures("1e8"), strict=True):
        little.intersection(more)  # or they contradict each other
    assert not exactdp.audit(releases, "pure:1e-9", budget=1).verified
    with pytest.raises(exactdp.ParameterError, match="budget must be"):
        releases.delta(1, budget=0)


@pytest.mark.contract
@pytest.mark.parametrize("wrong", ["0", "x", "nan", "1e13"])
def test_bad_budgets_are_one_line(capsys, wrong):
    assert main(["compose", "gaussian:sigma=1", "--delta", "1e-6", "--budget", wrong]) == 2
    error = capsys.readouterr().err
    assert "--budget" in error and error.count("\n") == 1


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "discrete-gaussian:sigma2=100,sensitivity=3145728,modulus=1048576,neighbours=add-remove,"
        "poisson=0.9 --order 2 --time 1",  # noise far narrower than its shift
        "gaussian:sigma=7,neighbours=add-remove,poisson=1e-9*20 --epsilon 3",  # delta of 1e-336
    ],
)
def test_what_is_far_out_takes_little_memory(words):
    code = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "from exactdp.cli.main import main\n"
        f"main(['compose', *{words.split()}, '--json'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    (result,) = json.loads(done.stdout)["results"]
    assert Decimal(result["lower"]) <= Decimal(result["upper"]) < Decimal("Infinity"), done.stderr


@pytest.mark.contract
def test_work_ends_where_no_digits_tell_an_epsilon_from_zero(tmp_path):
    """At a delta that is exactly delta(0), which sums in balls never meet exactly."""
    pairs = [
        (Fraction(p), Fraction(q))
        for p, q in (("0", "1/9"), ("0", "1/3"), ("3/4", "5/9"), ("1/4", "0"))
    ]
    rows = [f"{name},{p},{q}" for name, (p, q) in zip("abcd", pairs, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join(["outcome,p,q", *rows]) + "\n")
    three = [[prod(side) for side in zip(*each, strict=True)] for each in product(pairs, repeat=3)]
    delta = sum(max(p - q, Fraction(0)) for p, q in three)
    releases = exactdp.mechanism(f"pmf:file={tmp_path / 'table.csv'},neighbours=add-remove*3")
    answer = releases.epsilon(delta)
    assert answer.lower == 0 <= answer.upper < Decimal("1e-20")


@pytest.mark.contract
def test_work_ends_the_search_for_rho_over_many_residues():
    """Every order sums over all 40,000 of them."""
    noise = exactdp.mechanism("discrete-gaussian:sigma2=0.05,sensitivity=3,modulus=40000")
    answer = noise.zcdp(budget=1_000_000)
    assert 0 <= answer.lower <= 90 <= answer.upper  # 3^2/(2 * 0.05), as unreduced
