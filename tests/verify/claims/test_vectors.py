"""Published bounds for vectors: which points are certified, and what cannot pass."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp.accounting import compose
from exactdp.mechanisms.laws import Skellam
from exactdp.mechanisms.reach import Reach
from exactdp.mechanisms.vector import VectorNoise
from exactdp.verify.claims import vectors
from exactdp.verify.claims.finding import NotProvedError, Truth
from exactdp.verify.claims.registry import find


@pytest.mark.slow_cases("V-gaussians")
@pytest.mark.parametrize("name", ["V-gaussians", "V-skellam"])
def test_they_hold_where_the_envelope_is_below(name: str) -> None:
    (claim,) = find([name])
    finding = claim.check()
    assert finding.truth is Truth.HOLDS
    assert "certified" in finding.evidence


def test_what_is_certified_is_above_the_truth() -> None:
    mechanism = VectorNoise(Skellam(4), Reach(1, dimension=1 << 10))
    point = vectors.point(mechanism, Fraction(4), 8)
    truth = compose(mechanism).renyi(8)
    assert truth.at_most(Fraction(point.certified.upper)) is True
    assert point.ratio >= 1


def test_a_bound_below_the_truth_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    real = vectors.published_renyi
    monkeypatch.setattr(vectors, "published_renyi", lambda *given: real(*given) / 4)
    with pytest.raises(NotProvedError):
        find(["V-skellam"])[0].check()
