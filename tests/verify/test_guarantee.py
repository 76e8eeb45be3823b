"""Guarantees: text and fields there and back, and a new notion of privacy made by one class."""

import warnings
from fractions import Fraction

import mpmath
import oracles
import pytest
from attrs import field, frozen

from exactdp import NotCertifiedError, Verdict
from exactdp.accounting.figure import Figure, read_delta
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
from exactdp.verify import Family, audit, calibrate
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker import check, divergences
from exactdp.verify.checker import notions as checked
from exactdp.verify.checker.notions import Notion
from exactdp.verify.checker.statement import described, read
from exactdp.verify.guarantee import ClaimWarning, Guarantee, parse_claim
from exactdp.verify.search import Axis, claimed, search
from exactdp.verify.witness import at_event


@frozen
class TotalVariation(Guarantee):
    """The total variation distance of the outputs of neighbours is at most delta."""

    kind = "tv"
    bounds = "delta"

    delta: Fraction = field(converter=read_delta)

    @property
    def figure(self) -> Figure:
        return Figure("delta", Fraction(0))

    def witness(self, pair, measured):
        return at_event(pair, Fraction(0), self.delta)


def test_a_new_notion_is_one_class() -> None:
    one = AdditiveNoise(DiscreteLaplace(1), 1)  # its total variation is tanh(1/2) = 0.46211715...
    good, bad = TotalVariation("0.462118"), TotalVariation("0.462117")
    assert str(good) == "tv:0.462118" and good.quantity == "delta"
    verified, refuted = audit(one, good), audit(one, bad)
    assert verified.verdict is Verdict.VERIFIED and refuted.verdict is Verdict.REFUTED
    assert refuted.witness.where.startswith("the event")
    with mpmath.workdps(60):
        oracles.assert_holds(verified.measured, mpmath.tanh(mpmath.mpf(1) / 2))
    family = Family("scale", lambda scale: AdditiveNoise(DiscreteLaplace(scale), 1))
    found = calibrate(family, good)
    assert found.neighbour < found.value < 1 and 1 - found.value < Fraction(1, 10**5)
    question = claimed(lambda at: AdditiveNoise(DiscreteLaplace(at["scale"]), 1), lambda at: bad)
    assert search([Axis("scale", [2, 1])], question, seconds=60).violation.point["scale"] == 1
    with pytest.raises(NotCertifiedError):
        certificate_of(verified)


def test_and_one_row_of_the_checker(monkeypatch) -> None:
    def proves(uses, numbers, end, above, by, covered):
        found = divergences.delta(uses[0][0], Fraction(0), 80.0, above, by.listed)
        return found <= end if above else found >= end

    row = Notion(("delta",), "total variation {delta}", proves, "delta")
    monkeypatch.setitem(checked.NOTIONS, "tv", row)
    one = AdditiveNoise(DiscreteLaplace(1), 1)
    for delta, verdict in (("0.462118", "VERIFIED"), ("0.462117", "REFUTED")):
        content = certificate_of(audit(one, TotalVariation(delta))).content
        assert check(content).valid
        assert f"{verdict}: total variation {delta}" in described(read(content))
        measured = content["measured"]
        wrong = {"lower": "0", "upper": "0.46211"}
        if verdict == "REFUTED":
            wrong = {"lower": "0.46212", "upper": "inf"}
        assert wrong != measured
        forged = {name: each for name, each in content.items() if name not in ("made", "digest")}
        assert not check(forged | {"version": 1, "measured": wrong}).valid


@pytest.mark.parametrize("text", ["approx:1e-6,1", "approx:1e-6, 0.5", "approx:0,0.1"])
def test_a_claim_that_looks_swapped_is_warned_of(text: str) -> None:
    with pytest.warns(ClaimWarning, match="may be meant the other way"):
        parse_claim(text)


@pytest.mark.parametrize("text", ["approx:1,1e-6", "approx:0.05,0.04", "approx:3,0.5", "pure:0"])
def test_others_are_not(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_claim(text)
