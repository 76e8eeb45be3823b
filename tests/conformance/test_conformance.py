"""Every check of the list on every case; bad values of every key of every mechanism."""

import inspect
import json
from fractions import Fraction

import brute_force
import mpmath
import pytest
from conformance.cases import CASES, TABLES
from conformance.checks import (
    CHECKS,
    HEAVY,
    KINKED,
    LIGHT,
    QUICK,
    THOROUGH,
    WIDE,
    bad_values_are_refused,
    nothing_false_is_proved,
    number,
    samples_follow_the_law,
)
from conformance.further import FURTHER
from conformance.lists import allocated_renyi, listings
from oracles import exactly

import exactdp
from exactdp.cli.main import main

with mpmath.workdps(brute_force.DIGITS):
    LISTINGS = listings()


def rows():
    """Every check on every case, but samplers only of noise; those that take seconds are slow."""
    for place, case in enumerate((*CASES, *FURTHER)):
        for check in CHECKS:
            if check is samples_follow_the_law and case.noise is None:
                continue
            dear = HEAVY if case in CASES else [c for c in CHECKS if c not in LIGHT]
            slow = (case.is_slow and check is not QUICK) or (case.is_heavy and check in dear)
            slow |= case.is_heaviest and check not in LIGHT
            slow |= "dropout=256" in case.spec and check is not QUICK
            slow |= check in THOROUGH and (place + THOROUGH.index(check)) % 6 != 0
            few = "discrete-laplace" in case.spec or check not in dear
            marks = [pytest.mark.slow, *([] if few else [pytest.mark.marathon])] if slow else []
            yield pytest.param(case, check, marks=marks, id=f"{case}-{check.__name__}")


@pytest.mark.contract
@pytest.mark.parametrize(("case", "check"), list(rows()))
def test_every_mechanism(case, check, request):
    wanted = [name for name in inspect.signature(check).parameters if name != "case"]
    check(case, **{name: request.getfixturevalue(name) for name in wanted})


@pytest.mark.contract
@pytest.mark.slow
def test_bad_values_of_every_key_are_refused_in_one_line(capsys):
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["mechanisms"]
    files = {"local": "local.csv", "pmf": "pair.csv", "matrix": "lower.csv", "blt": "blt.json"}
    for one in listed:
        example, file = one["example"], files.get(one["name"])
        if file is not None:
            example = example.replace(example.split("file=")[1].split(",")[0], f"{TABLES}/{file}")
        bad_values_are_refused(example, [key["key"] for key in one["keys"]], capsys)


each_list = pytest.mark.parametrize("one", [
    pytest.param(one, marks=pytest.mark.slow if one.is_slow else (), id=f"{one}-{one.level}")
    for one in LISTINGS
])  # fmt: skip


@pytest.mark.contract
@pytest.mark.quick_cases(8)
@each_list
def test_lists_of_releases_cost_what_sums_over_their_losses_say(one):
    listed = exactdp.compose(*one.releases)
    truth, answer = exactly(one.make(number(one.level))), listed.delta(one.level)
    assert Fraction(answer.lower) - one.slack <= truth <= Fraction(answer.upper) + one.slack
    assert not one.is_exact or answer.is_within(
        Fraction(1, 100) if "exponential" in str(one) else 5 * WIDE if str(one) in KINKED else WIDE
    )
    back, level = listed.epsilon(Fraction(answer.upper)), Fraction(one.level)
    assert Fraction(back.lower) <= level
    assert level <= Fraction(listed.epsilon(Fraction(answer.lower)).upper)


@pytest.mark.contract
@pytest.mark.quick_cases(4)
@each_list
def test_no_certificate_of_a_list_proves_what_is_false(one):
    listed, claim = exactdp.compose(*one.releases), f"approx:{one.level},{{}}"
    nothing_false_is_proved(listed, claim, one.make(number(one.level)), one.is_exact)


@pytest.mark.contract
@pytest.mark.parametrize(("sigma", "steps", "taken"), [("1", 2, 1), ("2", 3, 1), ("2", 3, 2)])
def test_steps_drawn_at_random_have_the_divergence_of_a_mean_of_ratios(sigma, steps, taken):
    spec = f"gaussian:sigma={sigma},neighbours=add-remove,allocation={taken}/{steps}"
    truth, slack = exactly(allocated_renyi(sigma, steps, taken)), Fraction(1, 10**9)
    for times in (1, 5):
        answer = (times * exactdp.mechanism(spec)).renyi("2")
        assert times * truth <= Fraction(answer.upper) + slack
        assert Fraction(answer.lower) <= times * truth * Fraction("1.2")  # or of Q from P
