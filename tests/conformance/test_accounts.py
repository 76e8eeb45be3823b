"""Accounts of several releases: filters, odometers, returning users, ledgers, other accountants.

Truth is whole decision trees of randomized response, sums of closed forms, integrals by hand.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import brute_force
import mpmath
import numpy as np
import oracles
import pytest
from commands import answer, refused
from mpmath import mpf

import exactdp
from exactdp import Enclosure, ParameterError, interop
from exactdp.accounting import (
    GaussianFilter,
    GaussianOdometer,
    OverspentError,
    ParticipationError,
    PureFilter,
    RenyiFilter,
    RenyiOdometer,
    ReturningUsers,
    ZcdpFilter,
    plan,
    zcdp_to_epsilon,
)
from exactdp.cli.main import main
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    RandomizedResponse,
)

LAPLACE = AdditiveNoise(DiscreteLaplace(10), 1)  # 1/10-DP
WIDER = AdditiveNoise(DiscreteLaplace(40), 1)
GAUSSIAN = AdditiveNoise(DiscreteGaussian(50), 1)  # 1/100-zCDP
ALMOST = Fraction(1, 10**9)
Outputs = tuple[bool, ...]


# -- filters and odometers: every transcript ------------------------------------------------------


def transcripts(start: Any, rule: Callable[[Outputs], Fraction | None]) -> Iterator[Any]:
    """(P, Q, the state) of each run of at most six outputs; `rule` picks the next response."""
    stack = [(start, (), mpf(1), mpf(1))]
    while stack:
        state, outputs, p, q = stack.pop()
        epsilon = rule(outputs) if len(outputs) < 6 else None
        mechanism = None if epsilon is None else RandomizedResponse(epsilon)
        if mechanism is None or (hasattr(state, "fits") and not state.fits(mechanism)):
            yield p, q, state
            continue
        odds = mpmath.exp(oracles.real(mechanism.epsilon))
        fresh = state.spend(mechanism)
        stack.append((fresh, (*outputs, True), p * odds / (1 + odds), q / (1 + odds)))
        stack.append((fresh, (*outputs, False), p / (1 + odds), q * odds / (1 + odds)))


def bold(outputs: Outputs) -> Fraction:
    """More after what speaks for P, and again what was used before."""
    return Fraction(1, 4) * (1 + sum(outputs[-3:]))


def ahead(outputs: Outputs) -> Fraction | None:
    """Stops as soon as the loss is large."""
    return None if abs(2 * sum(outputs) - len(outputs)) >= 3 else Fraction(1, 2)


def test_filters_hold_for_every_transcript() -> None:
    for start, orders in ((RenyiFilter("3.5", "0.9"), ("3.5",)), (ZcdpFilter("0.4"), ("1.5", "4"))):
        pairs = [(p, q) for p, q, _ in transcripts(start, bold)]
        assert abs(mpmath.fsum(p for p, _ in pairs) - 1) < mpf(10) ** -40
        for one_way in (pairs, [(q, p) for p, q in pairs]):
            for order in orders:
                limit = "0.9" if order == "3.5" else str(0.4 * float(order))
                assert brute_force.renyi(one_way, order) <= mpf(limit)
            for delta in ("0.2", "0.01"):
                level = oracles.real(start.guarantee(delta).upper)
                assert brute_force.delta(one_way, level) <= mpf(delta)
    pairs = [(p, q) for p, q, _ in transcripts(PureFilter(2), bold)]
    assert max(abs(mpmath.log(p / q)) for p, q in pairs) <= 2 + mpf(10) ** -40
    found = sorted(transcripts(GaussianFilter("1.1"), bold), key=lambda each: -each[0] / each[1])
    p = q = mpf(0)
    for more_p, more_q, _ in found[:-1]:
        p, q = p + more_p, q + more_q
        assert p <= mpmath.ncdf(mpf("1.1") + mpmath.sqrt(2) * mpmath.erfinv(2 * q - 1))


@pytest.mark.parametrize("delta", ["0.3", "0.02"])
@pytest.mark.parametrize("start", [lambda d: RenyiOdometer(d, ["1/2", 1, 2]), GaussianOdometer])
def test_odometers_are_right_whenever_one_stops(start: Callable[[str], Any], delta: str) -> None:
    reports: dict[Any, mpf] = {}
    found = []
    for p, q, state in transcripts(start(delta), ahead):
        if state not in reports:
            reports[state] = oracles.real(Fraction(state.epsilon().upper))
        found.append((p, q, reports[state]))
    for one_way in (found, [(q, p, e) for p, q, e in found]):
        assert mpmath.fsum(max(p - mpmath.exp(e) * q, 0) for p, q, e in one_way) <= mpf(delta)


def test_odometers_count_every_use() -> None:
    for start in (RenyiOdometer("1e-6"), GaussianOdometer("1e-6")):
        assert start.epsilon() == Enclosure.exactly(0)
        together = start.spend(GAUSSIAN, 5).spend(WIDER, 2)
        assert together == start.spend(GAUSSIAN, 2).spend(WIDER, 2).spend(GAUSSIAN, 3)
        last = Fraction(0)
        for times in (1, 20, 400):
            report = Fraction(start.spend(GAUSSIAN, times).epsilon().upper)
            assert report > last
            last = report
    gaussian = exactdp.mechanism("gaussian:sigma=1").uses[0].mechanism
    spent = GaussianOdometer("1e-5").spend(gaussian)
    assert spent.spent() == Enclosure.exactly(1)
    truth = mpmath.findroot(lambda e: _gaussian_delta(1, e) - mpf("1e-5"), 4)
    assert oracles.exactly(truth) < spent.epsilon().upper < 2 * oracles.exactly(truth)
    assert RenyiOdometer("1e-6").spend(LAPLACE, 3).epsilon().contains(Fraction(3, 10))


def test_filters_count_every_use_and_refuse_the_next() -> None:
    spent = PureFilter(1).spend(LAPLACE, 3).spend(WIDER, 4).spend(LAPLACE, 2)
    assert spent.spent() == Enclosure.exactly(Fraction(6, 10))
    assert spent.left() == Enclosure.exactly(Fraction(4, 10)) and spent.most(LAPLACE) == 4
    assert spent.fits(LAPLACE, 4) and spent.fits(WIDER, 16) and not spent.fits(WIDER, 17)
    with pytest.raises(OverspentError):
        spent.spend(LAPLACE, 5)
    assert ZcdpFilter("0.1").spend(GAUSSIAN, 4).most(GAUSSIAN) == 6
    assert GaussianFilter(1).most(exactdp.mechanism("gaussian:sigma=3").uses[0].mechanism) == 9
    pure = RenyiFilter("2", "0.1").spend(GAUSSIAN).spend(GAUSSIAN, 3)
    assert abs(Fraction(pure.spent().upper) - Fraction(8, 100)) < ALMOST
    for filter_, name in ((PureFilter, "epsilon"), (ZcdpFilter, "rho"), (GaussianFilter, "mu")):
        with pytest.raises(ParameterError, match=name):
            filter_("-1")
    with pytest.raises(ParameterError, match="epsilon"):
        GaussianFilter.for_target("-1/2", "1e-5")


def test_no_order_fits_more_uses_than_the_one_that_is_chosen() -> None:
    for mechanism in (LAPLACE, GAUSSIAN):
        chosen = RenyiFilter.for_target(3, "1e-6", mechanism).most(mechanism)
        for order in ("7", "9", "12", "16", "24", "64"):
            other = RenyiFilter.for_target(3, "1e-6", order=order).most(mechanism)
            assert other <= chosen + 1
    nothing = RandomizedResponse(0)
    assert RenyiFilter.for_target(1, "1e-6", nothing).most(nothing) >= 10**9
    for found in (RenyiFilter.for_target(2, "1e-5"), ZcdpFilter.for_target(2, "1e-5"),
                  GaussianFilter.for_target(2, "1e-5")):  # fmt: skip
        assert 2 * (1 - ALMOST) < found.guarantee("1e-5").upper <= 2


def test_one_notion_tells_of_another_what_theorems_say() -> None:
    e = oracles.real("0.7")
    odds = mpmath.exp(e)
    truth = mpmath.log((odds**3 + odds**-2) / (1 + odds)) / 2
    pure = exactdp.compose(RandomizedResponse("0.7"))
    oracles.assert_holds(pure.renyi(3), truth)
    oracles.assert_holds(pure.zcdp(), e * mpmath.tanh(e / 2))
    for delta in ("1e-6", "0.01"):
        d = oracles.real(delta)
        each = (r * mpf("0.1") + mpmath.log(1 / (r * d)) / (r - 1) + mpmath.log(1 - 1 / r)
                for r in map(mpf, ("1.5", "3", "7", "12", "13", "20")))  # fmt: skip
        assert zcdp_to_epsilon("0.1", delta).value.upper <= oracles.exactly(min(each))
    assert exactdp.compose(RandomizedResponse(0)).renyi(2) == Enclosure.exactly(0)
    for tried in (lambda: pure.renyi(1), lambda: zcdp_to_epsilon("-1/2", "0.1")):
        with pytest.raises(ParameterError):
            tried()


def test_noise_of_any_shape_costs_what_its_outcomes_say() -> None:
    for masses, moved in (({0: "0.5", 1: "0.1", 2: "0.4"}, 2), ({0: "0.3", 1: "0.4", 3: "0.3"}, 1)):
        noise = exactdp.compose(AdditiveNoise(FiniteLaw(masses), moved))
        for level in ("0", "0.2", "1"):
            odds = mpmath.exp(mpf(level))
            truth = max(
                mpmath.fsum(max(mpf(masses.get(x, 0)) - odds * mpf(masses.get(x - d, 0)), 0)
                            for x in range(-4, 8))
                for d in range(-moved, moved + 1)
            )  # fmt: skip
            oracles.assert_holds(noise.delta(level), truth)
    once = {-2: "0.25", 0: "0.5", 2: "0.125", 6: "0.125"}
    twice: dict[int, mpf] = {}
    for (x, p), (y, q) in product(once.items(), repeat=2):
        twice[x + y] = twice.get(x + y, mpf(0)) + mpf(p) * mpf(q)
    law = FiniteLaw(once).sum_of(2)
    assert {x: mpf(p.numerator) / p.denominator for x, p in law.table} == twice


# -- returning users ------------------------------------------------------------------------------


@pytest.mark.slow
def test_returning_users_pay_for_their_own_batches() -> None:
    users = (
        ReturningUsers(limit=6)
        .after(LAPLACE, ["ada", "bo"])
        .after(WIDER, ["ada"], times=3)
        .after(LAPLACE, ["ada", "cy"], run="second")
    )
    assert [users.batches(user) for user in ("ada", "bo", "cy", "nobody")] == [5, 1, 1, 0]
    assert users.batches("ada", run="second") == 1
    cost = users.composition("ada")
    assert cost is not None and cost.pure() == Enclosure.exactly(Fraction(275, 1000))
    assert users.composition("bo", run="second") is None
    with pytest.raises(ParticipationError, match="7 batches"):
        users.after(LAPLACE, ["bo", "ada"], times=2)
    assert users.after(LAPLACE, ["ada"]).batches("ada") == 6
    with pytest.raises(ParticipationError, match=r"dee.* once within"):
        users.after(LAPLACE, ["cy", "dee", "dee"])
    with pytest.raises(ParameterError, match="collection"):
        users.after(LAPLACE, "ada")
    spent, worst = users.spent("ada", "1e-6"), users.worst("1e-6")
    assert spent["basic"] == worst["basic"]
    for name, value in spent.items():
        assert value is None or worst[name].upper >= value.lower, name
    one = plan(LAPLACE, 3, "1e-6")["basic"]
    assert Fraction("0.29999") < one.lower and one.upper <= Fraction(3, 10)
    left = users.remaining("ada", LAPLACE, epsilon=1, delta="1e-6")
    assert left["exact"].certain == 1 and left["basic"].certain == 1  # of six batches five are over
    left = users.remaining("bo", WIDER, epsilon="0.16", delta="1e-300")
    assert left["basic"].certain == 2  # 1/10 and twice 1/40


# -- ledgers, by command line ---------------------------------------------------------------------

LIMITS = (  # the limit, a release, its cost and how many fit
    ("pure:1", "discrete-laplace:scale=10", Fraction(1, 10), 10),
    ("zcdp:0.1", "discrete-gaussian:sigma2=20", Fraction(1, 40), 4),
    ("gdp:1", "gaussian:sigma=3", Fraction(1, 9), 9),
    ("rdp:3,0.1", "gaussian:sigma=10", Fraction(3, 200), 6),
    ("zcdp:1/2", "guarantee:zcdp:1/7", Fraction(1, 7), 3),
)


@pytest.mark.contract
@pytest.mark.parametrize(("limit", "spec", "cost", "most"), LIMITS)
def test_ledgers_charge_what_fits_and_refuse_the_next(
    limit: str, spec: str, cost: Fraction, most: int, tmp_path: Path, capsys: Any
) -> None:
    url = str(tmp_path / "a.db")
    assert main(["ledger", "init", url, "--limit", limit]) == 0
    first = f"{spec}*{most - 1}"
    assert (
        main(["ledger", "charge", url, first, "--user", "ada", "--user", "bo", "--key", "a"]) == 0
    )
    assert (
        main(["ledger", "charge", url, first, "--user", "ada", "--user", "bo", "--key", "a"]) == 0
    )
    assert main(["ledger", "charge", url, f"{spec}*2", "--user", "ada", "--key", "b"]) == 1
    assert main(["ledger", "charge", url, spec, "--user", "ada", "--key", "b"]) == 0
    assert main(["ledger", "charge", url, spec, "--user", "ada", "--user", "cy", "--key", "c"]) == 1
    assert main(["ledger", "charge", url, spec, "--user", "ada", "--key", "a"]) == 2
    capsys.readouterr()
    for user, uses in (("ada", most), ("bo", most - 1)):
        shown = answer(capsys, "ledger", "show", url, "--user", user)
        spent = Fraction(shown["spent"]["upper"])
        assert uses * cost <= spent * (1 + ALMOST) and spent <= uses * cost * (1 + ALMOST)
        assert sum(each["times"] for each in shown["entries"]) == uses
    assert main(["ledger", "check", url]) == 0


# -- what other accountants were told -------------------------------------------------------------


def _gaussian_delta(mu: object, level: mpf) -> mpf:
    mu = mpf(mu)
    return mpmath.ncdf(mu / 2 - level / mu) - mpmath.exp(level) * mpmath.ncdf(-mu / 2 - level / mu)


def _hockey(p: list[tuple[str, str]], q: list[tuple[str, str]], level: mpf) -> mpf:
    """sup of P(S) - e^level Q(S) for mixtures (weight, mean) of N(m, 1) with a rising ratio."""

    def mass(side: list[tuple[str, str]], z: mpf) -> mpf:
        return mpmath.fsum(mpf(w) * mpmath.ncdf(mpf(m) - z) for w, m in side)

    def ratio(z: mpf) -> mpf:
        sums = [mpmath.fsum(mpf(w) * mpmath.exp(mpf(m) * (z - mpf(m) / 2)) for w, m in side)
                for side in (p, q)]  # fmt: skip
        return mpmath.log(sums[0] / sums[1]) - level

    low, high = mpf(-60), mpf(60)
    for _ in range(120):
        z = (low + high) / 2
        low, high = (z, high) if ratio(z) < 0 else (low, z)
    return max(mpf(0), mass(p, z) - mpmath.exp(level) * mass(q, z))


def _both(p: list[tuple[str, str]], q: list[tuple[str, str]], level: mpf) -> mpf:
    """The same of (P, Q) and of (Q, P)."""
    g = mpmath.exp(level)
    return max(_hockey(p, q, level), 1 - g + g * _hockey(p, q, -level))


def _events() -> Iterator[tuple[str, Any, str, Callable[[mpf], mpf]]]:
    """A name, an event, the relation of neighbours, delta by hand."""
    from dp_accounting import dp_event

    gaussian = dp_event.GaussianDpEvent(2.0)
    still, none = [("0.5", "0"), ("0.3", "0.5"), ("0.2", "1")], [("1", "0")]
    yield ("mixture", dp_event.MixtureOfGaussiansDpEvent(2.0, [0, 1, 2], [0.5, 0.3, 0.2]),
           "ADD_OR_REMOVE_ONE", lambda e: _both(still, none, e))  # fmt: skip
    up, down = [("0.75", "0"), ("0.25", "0.5")], [("0.75", "0"), ("0.25", "-0.5")]
    yield ("replaced", dp_event.PoissonSampledDpEvent(0.25, gaussian), "REPLACE_ONE",
           lambda e: _both(up, down, e))  # fmt: skip
    some = [("0.75", "0"), ("0.25", "0.5")]
    yield ("sampled", dp_event.PoissonSampledDpEvent(0.25, gaussian), "ADD_OR_REMOVE_ONE",
           lambda e: _both(some, none, e))  # fmt: skip
    yield ("gaussian", gaussian, "REPLACE_ONE", lambda e: _gaussian_delta(1, e))

    def with_replacement(level: mpf) -> mpf:
        """Twice of five: once with 8/25, twice with 1/25."""
        q = mpf(9) / 25
        odds = mpmath.log(1 + mpmath.expm1(level) / q)
        return mpf(8) / 25 * _gaussian_delta(1, odds) + mpf(1) / 25 * _gaussian_delta(2, odds)

    yield ("with replacement", dp_event.SampledWithReplacementDpEvent(5, 2, gaussian),
           "REPLACE_ONE", with_replacement)  # fmt: skip

    def truncated(level: mpf) -> mpf:
        """Of three others less than two are there with 1/2; else the user takes another's place."""
        rate = mpf(1) / 2

        def moved(q: mpf, mu: int) -> mpf:
            odds = 1 + mpmath.expm1(level) / q
            return q * _gaussian_delta(mu, mpmath.log(odds)) if odds > 0 else -mpmath.expm1(level)

        return (moved(rate, mpf(1) / 2) / 2 + mpf(3) / 8 * moved(rate * 2 / 3, 1)
                + mpf(1) / 8 * moved(rate / 2, 1))  # fmt: skip

    yield ("truncated", dp_event.TruncatedSubsampledGaussianDpEvent(4, 0.5, 2, 2.0),
           "ADD_OR_REMOVE_ONE", truncated)  # fmt: skip


@pytest.mark.contract
@pytest.mark.slow
def test_events_of_dp_accounting_cost_what_is_computed_by_hand() -> None:
    dp_accounting = pytest.importorskip("dp_accounting")
    for name, event, relation, truth in _events():
        neighbours = dp_accounting.NeighboringRelation[relation]
        accountant = interop.ExactAccountant(neighbours)
        assert accountant.supports(event) and accountant.get_delta(0.5) == 0, name
        accountant.compose(event)
        for level in ("0", "0.1", "0.5", "1"):
            exactly = truth(mpf(level))
            found = accountant.get_delta(float(level))
            assert exactly <= found * (1 + 1e-12) <= exactly * (1 + mpf("2e-3")) + 1e-12, name
        twice = interop.ExactAccountant(neighbours).compose(event, 2)
        assert accountant.get_delta(0.5) < twice.get_delta(0.5) < 1
        back = accountant.get_epsilon(float(truth(mpf("0.5"))))
        assert 0.5 * (1 - 1e-9) <= back <= 0.51, name


@pytest.mark.contract
def test_events_are_read_from_files(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "event.json"
    sampled = {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.25,
               "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}}  # fmt: skip
    both = [("0.75", "0"), ("0.25", "0.5")], [("1", "0")]
    gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}
    level = mpf(1) / 2
    mixed = _both(*both, level)
    for event, truth in (
        (sampled, mixed),
        (gaussian, _gaussian_delta("0.5", level)),
        ({"class_name": "ComposedDpEvent", "events": [sampled, {"class_name": "NoOpDpEvent"}]},
         mixed),
        ({"class_name": "SelfComposedDpEvent", "count": 4, "event": gaussian},
         _gaussian_delta(1, level)),
        ({"class_name": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 2.0,
          "step_counts": [3, 5]}, _gaussian_delta(mpmath.sqrt(3) / 2, level)),
        ({"class_name": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 4},
         (5 - mpmath.exp(level)) / 8),
    ):  # fmt: skip
        path.write_text(json.dumps(event))
        (found,) = answer(capsys, "compose", "--from", str(path), "--epsilon", "0.5")["results"]
        exactly, high = oracles.exactly(truth), Fraction(found["upper"])
        assert Fraction(found["lower"]) <= exactly * (1 + ALMOST)
        assert exactly * (1 - ALMOST) <= high <= exactly * (1 + 3 * ALMOST) + ALMOST
    bad: Any
    for bad in ({"class_name": "GaussianDpEvent"}, {"class_name": "ADpEvent"}, [], {},
                {"class_name": "GaussianDpEvent", "noise_multiplier": -1},
                {"class_name": "SelfComposedDpEvent", "count": -1, "event": sampled}):  # fmt: skip
        path.write_text(json.dumps(bad))
        refused(capsys, ["compose", "--from", str(path), "--epsilon", "0.5"], "")


@pytest.mark.contract
def test_histories_of_opacus_are_read_and_its_own_figure_is_shown(capsys: Any) -> None:
    assert interop.from_opacus([(2.0, 0.25, 3), (1.0, 1.0, 2)]) == exactdp.compose(
        "gaussian:sigma=2,neighbours=add-remove,poisson=1/4*3",
        "gaussian:sigma=1,neighbours=add-remove*2",
    )
    # by opacus.accountants.analysis.rdp of Opacus 1.6.0
    spec = "gaussian:sigma=1,neighbours=add-remove,poisson=0.01*1000"
    found = answer(capsys, "compose", spec, "--delta", "1e-5", "--compare")
    text = json.dumps(found)
    (own,) = [each for each in _methods(found) if each["method"] == "opacus"]
    assert abs(float(own["upper"]) - 2.1013652716430564) < 1e-9, text[:200]
    (ours,) = found["results"]
    assert float(ours["upper"]) < float(own["lower"])
    for each in _methods(found):  # nobody's bound is below what is exact
        if each["applies"] and each["method"] != "pld":
            assert float(each["upper"]) >= float(ours["lower"])


def _methods(found: Any) -> list[dict[str, Any]]:
    if isinstance(found, dict):
        if "methods" in found and found["methods"] and isinstance(found["methods"][0], dict):
            return list(found["methods"])
        found = list(found.values())
    return [one for each in found if isinstance(each, dict | list) for one in _methods(each)]


@pytest.mark.contract
def test_what_others_are_handed_is_never_too_little() -> None:
    pytest.importorskip("dp_accounting")
    for spec, times, pmf in (("discrete-laplace:scale=2", 3, oracles.discrete_laplace(2)),
                             ("skellam:variance=9", 1, oracles.skellam(9))):  # fmt: skip
        total = exactdp.mechanism(f"{spec}*{times}")
        pld = interop.to_dp_accounting(total)
        for level in (0.0, 0.3, 0.7):
            truth, found = total.delta(str(level)), pld.get_delta_for_epsilon(level)
            assert float(truth.lower) <= found <= float(truth.upper) * 1.001
        if times == 1:
            pair = brute_force.shifted(pmf, 1, 40)
            orders = [2, 3.5, 8]
            for order, found in zip(orders, interop.rdp_epsilons(total, orders), strict=True):
                truth = float(brute_force.renyi(pair, str(order)))
                assert truth * (1 - 1e-12) <= found <= truth * (1 + 1e-12)
    with pytest.raises(ParameterError, match="interval"):
        interop.to_dp_accounting(exactdp.mechanism("discrete-laplace:scale=2"), 1e-10)
    gaussian = exactdp.mechanism("gaussian:sigma=1")
    assert interop.rdp_epsilons(gaussian, [2, 3]) == [1, 1.5]


@pytest.mark.contract
def test_arguments_of_tensorflow_federated_mean_what_it_makes_of_them() -> None:
    from scipy.special import erfcinv

    given = {"noise_multiplier": 1.1, "expected_clients_per_round": 10, "bits": 12, "l2_clip": 0.3}
    text = interop.spec_from_tff(given, 7)
    keys = dict(part.split("=") for part in text.partition(":")[2].split(","))
    k, n, local = math.sqrt(2) * erfcinv(1e-4), 10, 1.1 * 0.3 / math.sqrt(10)
    scale = math.sqrt(2.0**24 - n * k**2) / (2 * k * math.sqrt(0.09 * n**2 / 8 + n * local**2))
    assert abs(float(Fraction(keys["scale"])) / scale - 1) < 2**-23
    assert abs(float(Fraction(keys["local-stddev"])) / (scale * local) - 1) < 2**-23
    assert (keys["clients"], keys["bits"], keys["dimension"]) == ("10", "12", "7")
    for missing in given:
        with pytest.raises(ParameterError, match=missing):
            interop.spec_from_tff({key: each for key, each in given.items() if key != missing}, 7)
    with pytest.raises(ParameterError, match="other"):
        interop.spec_from_tff(given | {"other": 1}, 7)
    older = {"mechanism": "skellam", "l2_clip": 1, "bits": 16, "num_clients": 100, "beta": 0,
             "dim": 1000, "scale": 64, "local_stddev": "1/32"}  # fmt: skip
    text = interop.spec_from_params(older)
    assert "local-stddev=2," in text and "scale=64," in text and "clients=100" in text


@pytest.mark.slow
def test_accounts_of_flower_count_the_shares_that_were_summed() -> None:
    from exactdp.mechanisms import Skellam
    from exactdp.mechanisms.samplers import SeededBits
    from exactdp.protocols.federated import Encoding

    encoding = Encoding(clip=1, scale=1, dimension=1, bits=16, rounding="nearest")
    account = interop.flower.FederatedAccount(encoding, Skellam(4), neighbours="add-remove")
    assert account.epsilon("1e-5") == Enclosure.exactly(0)
    assert account.record(asked=5, summed=4).missing == 1
    for masked, variance in ((True, 16), (False, 4)):
        (use,) = account.composition(masked=masked).uses
        assert use.mechanism.law.variance == variance and use.times == 1
        moved = int(use.mechanism.reach.largest_square**0.5)
        pair = brute_force.shifted(oracles.skellam(variance), moved, 60)
        truth = oracles.exactly(brute_force.epsilon(pair, "1e-5"))
        found = account.epsilon("1e-5", masked=masked)
        assert found.lower <= truth * (1 + ALMOST) and found.upper >= truth * (1 - ALMOST)
    for vector in ([0.0], [0.25], [-7.0]):  # nothing moves, what is small, what is clipped
        sent = encoding.integers(vector, SeededBits(1))
        assert [round(min(abs(each), 1)) for each in vector] == [abs(int(one)) for one in sent]
    for asked, summed in ((5, 6), (0, 0), (5, 0)):
        with pytest.raises(ParameterError):
            account.record(asked, summed)
    account.colluding = 2  # of the second round's shares nothing is left
    account.record(asked=5, summed=2)
    assert account.epsilon("1e-5") == Enclosure.infinite()


# -- the papers' claims about them ----------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.slow
def test_noise_for_returning_users_is_what_equations_14_and_15_make_of_it(capsys: Any) -> None:
    """For one batch, where the variance is so large that integers make no difference."""
    (told,) = answer(capsys, "claims", "D-appI")
    (curve,) = answer(capsys, "claims", "D-thm2-curve")
    assert (told["verdict"], curve["verdict"]) == ("FAILS", "HOLDS")
    for e, delta, name in (("0.5", "1e-6", "epsilon = 1/2, delta = 1e-06, B = 1"),
                           ("1", "1e-5", "epsilon = 1, delta = 1e-05, B = 1")):  # fmt: skip
        level, target = mpf(e), mpf(delta)

        def least(meets: Callable[[mpf], bool]) -> mpf:
            low, high = mpf(1), mpf(10) ** 7
            for _ in range(60):
                middle = mpmath.sqrt(low * high)
                low, high = (low, middle) if meets(middle) else (middle, high)
            return high

        def at(share: mpf, level: mpf) -> mpf:
            return least(lambda v: _gaussian_delta(1 / mpmath.sqrt(v), level) <= share)

        orders = [1 + mpf(10) ** (mpf(k) / 200) for k in range(-200, 700)]
        rest = [(a / 2, mpmath.log(1 / (a * target)) / (a - 1) + mpmath.log(1 - 1 / a))
                for a in orders]  # fmt: skip
        renyi = least(lambda v, e=level, of=rest: min(a / v + more for a, more in of) <= e)
        advanced = at(target / 2, level / (2 * mpmath.sqrt(2 * mpmath.log(2 / target))))
        optimal, exactly = at(target / 2, level), at(target, level)
        numbers = [
            float(one)
            for one in re.findall(r"(?:= |7 |only )([0-9.]+[0-9])", told["evidence"][name])
        ]
        wanted = [advanced / renyi, advanced / optimal, optimal / renyi, renyi / exactly]
        for found, truth in zip(numbers, wanted, strict=True):
            assert abs(found / truth - 1) < 1e-2, (name, numbers, wanted)


# -- many who shuffle -----------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.slow
def test_forty_who_shuffle_cost_what_their_histograms_say() -> None:
    """Every histogram of 4 categories, all others at a third value; in floats, known to 1e-12."""
    odds = math.exp(3)
    own, off = odds / (odds + 3), 1 / (odds + 3)

    def reported(table: np.ndarray, value: int) -> np.ndarray:
        """With a report more; the last category is what is left."""
        found = table * (own if value == 3 else off)
        for axis in range(3):
            moved = np.roll(table, 1, axis)  # the last is 0: so many do not report
            found = found + moved * (own if value == axis else off)
        return found

    crowd = np.zeros((42,) * 3)
    crowd[0, 0, 0] = 1
    for _ in range(39):
        crowd = reported(crowd, 2)
    p, q = reported(crowd, 0), reported(crowd, 1)
    for level in ("1/5", "1"):
        g = math.exp(Fraction(level))
        truth = Fraction(float(np.maximum(p - g * q, 0).sum()))
        found = exactdp.mechanism("randomized-response:epsilon=3,categories=4,shuffled=40")
        answered = found.delta(level)
        assert answered.lower <= truth + Fraction(1, 10**11)
        assert answered.upper >= truth - Fraction(1, 10**11)
        assert answered.is_within(Fraction(1, 10**4))
