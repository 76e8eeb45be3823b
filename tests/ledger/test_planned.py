"""Limits of a list of uses that is fixed beforehand."""

import sqlite3
from fractions import Fraction

import pytest
from attrs import evolve

from exactdp import Ledger, ParameterError, Verdict
from exactdp.accounting import compose
from exactdp.ledger import DamagedError, Limit, RefusedError, planned
from exactdp.ledger.checking import check_at
from exactdp.ledger.levels import Level
from exactdp.ledger.proving import unproved_plans
from exactdp.mechanisms import FinitePair
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify import audit, parse_claim

TABLE = FinitePair(("a b", "c%,"), ("1/2", "1/2"), ("2/5", "3/5"))
ANSWERS, COUNT = "randomized-response:epsilon=0.1", "discrete-laplace:epsilon=0.2"
PLAN = [f"{ANSWERS}*10", f"{COUNT}*3", (TABLE, 2)]
CLAIM = "approx:1.4206,1e-3"
OPEN = {"verdict": Verdict.UNDECIDED}


@pytest.fixture(scope="module")
def limit():
    return Limit.of(CLAIM, plan=PLAN)


def whole():
    return compose((parse(ANSWERS).mechanism, 10), (parse(COUNT).mechanism, 3), (TABLE, 2))


def test_it_is_less_than_what_adds_up(limit):
    """By what adds up, pure epsilon or Rényi divergences, so many uses would not fit."""
    cost = whole().epsilon("1e-3")
    assert Fraction("1.4205") < cost.lower < cost.upper < Fraction("1.4206")
    plain = Limit.of(CLAIM)
    spent = [Fraction(0)] * len(plain.levels)
    for use in whole().uses:
        each = [Fraction(one.lower) for one in plain.costs(use.mechanism)]
        spent = [held + use.times * one for held, one in zip(spent, each, strict=True)]
    assert not plain.fits(spent)


def test_all_of_it_fits_in_any_order_and_nothing_besides(tmp_path, limit):
    with Ledger.create(f"{tmp_path}/spent.db", limit) as ledger:
        ledger.charge(f"{COUNT}*2", "ada", "1")
        ledger.charge([f"{ANSWERS}*10", TABLE], ["ada", "bob"], "2")
        with pytest.raises(RefusedError, match="still fits is 1"):
            ledger.charge(f"{COUNT}*2", "ada", "3")
        for other in ("discrete-laplace:epsilon=0.19", f"{ANSWERS}9", f"{ANSWERS}*1"):
            with pytest.raises(RefusedError, match="still fits is 0"):
                ledger.charge(other, ["bob", "ada"], "4")
        with pytest.raises(RefusedError):  # all of a charge, or nothing of it
            ledger.charge([COUNT, "discrete-laplace:epsilon=0.3"], "eve", "5")
        with ledger.permit(TABLE, "ada", "6"):
            pass
        ledger.charge(COUNT, "ada", "7")
        assert {one.user for one in ledger.balances()} == {"ada", "bob"}
        (ada,) = (one for one in ledger.balances() if one.user == "ada")
        true = whole().epsilon("1e-3")
        assert ada.spent.lower <= true.upper and true.lower <= ada.spent.upper
        assert ada.left.lower >= 0
        assert ledger.check().valid
    with Ledger.open(f"{tmp_path}/spent.db") as again:
        assert again.limits == (limit,)
        with pytest.raises(RefusedError):
            again.charge(TABLE, "ada", "8")


def test_what_is_cancelled_is_free_again(tmp_path, limit):
    with Ledger.create(f"{tmp_path}/spent.db", limit) as ledger:
        permit = ledger.reserve(f"{COUNT}*3", "ada", "1")
        with pytest.raises(RefusedError):
            ledger.charge(COUNT, "ada", "2")
        permit.cancel()
        ledger.charge(f"{COUNT}*3", "ada", "3")
        assert ledger.check().valid


def test_a_plan_must_be_verified():
    with pytest.raises(ParameterError, match=r"plan must be verified to keep .* REFUTED"):
        Limit.of("approx:1.4205,1e-3", plan=PLAN)
    with pytest.raises(ParameterError, match="plan must be of an approx limit"):
        Limit.of("zcdp:9", plan=PLAN)
    for nothing in ([], "", "no-such:x=1"):
        with pytest.raises(ParameterError):
            Limit.of(CLAIM, plan=nothing)


def test_levels_prove_the_claim_or_are_objected_to(limit):
    assert limit.objection() is None
    assert list(unproved_plans([limit], 20)) == []
    for changed in (
        (*limit.levels[:-1], Level("uses", Fraction(99), mechanism=limit.levels[-1].mechanism)),
        (*limit.levels, Level("pure", limit.claim.epsilon)),
    ):
        assert "plan" in Limit(limit.claim, changed).objection()
    wide = Limit(limit.claim, (Level("uses", Fraction(99), mechanism=COUNT),))
    assert "REFUTED" in next(unproved_plans([wide], 20))


def test_what_time_left_open_is_asked_again(monkeypatch):
    """A busy moment is not remembered: the same plan is proved when there is time."""
    tight = "approx:1.42057,1e-3"
    levels = Limit.of(CLAIM, plan=PLAN).levels
    with monkeypatch.context() as busy:
        busy.setattr(planned, "audit", lambda what, claim: evolve(audit(what, claim), **OPEN))
        doubt = planned.objection(parse_claim(tight), levels)
        assert "UNDECIDED" in doubt
    assert planned.objection(parse_claim(tight), levels) is None


def test_levels_read_back(limit):
    for level in limit.levels:
        text = level.to_text()
        assert " " not in text and Level.from_text(text) == level
    for wrong in ("uses:0,x", "uses:1/2,x", "uses:-1,x", "uses:x", "uses:1,a b", "uses:1,%41"):
        with pytest.raises(ValueError):
            Level.from_text(wrong)


def test_a_plan_that_nobody_made_is_not_audited(tmp_path, monkeypatch) -> None:
    """To compose a million uses takes long: the hash of the first row tells before that."""
    url, one = str(tmp_path / "a.db"), "randomized-response:epsilon=0.1"
    Ledger.create(url, Limit.of("approx:2,1e-4", plan=f"{one}*10")).close()
    with sqlite3.connect(url) as connection:
        changed = connection.execute(
            "UPDATE limits SET levels = replace(levels, 'uses:10,', 'uses:1000000,')"
        )
        assert changed.rowcount == 1

    def audited(*given):
        raise AssertionError("audited")

    monkeypatch.setattr("exactdp.ledger.planned.audit", audited)
    found = check_at(url)
    assert (found.valid, found.reason) == (False, "row 0: its hash is not that of the limits")
    with pytest.raises(DamagedError, match="row 0"):
        Ledger.open(url)
