"""No two valid certificates contradict each other: claims about a scenario, or about one and a part
of it, where one verdict excludes the other by a theorem.

Sources of what implies what: Bun and Steinke (TCC 2016), Propositions 1.3 and 1.4; Mironov (CSF
2017), Propositions 3 and 9.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from mpmath import iv
from relations.decisions import claim_near
from relations.draw import any_spec, level, table
from relations.engine import Held, Statement, budget_of
from relations.notions import rational
from relations.scenarios import Scenario, pmf

from exactdp.verify import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, Verdict, audit
from exactdp.verify.certificate import Certificate, NotCertifiedError, certificate_of
from exactdp.verify.checker import check

__all__ = ["RELATIONS"]


def certificates(rng: random.Random) -> Iterator[Statement]:
    """Claims about a list, and about a part of it."""
    whole = _small(rng)
    part = Scenario(whole.uses[:1]) if rng.random() < 0.5 else whole
    first, second = _certified(rng, part), _certified(rng, whole)
    for one, other in ((first, second), (second, first)):
        if one is None or other is None:
            continue
        (claim, held), (denied, refusal) = one, other
        if held.verdict is not Verdict.VERIFIED or refusal.verdict is not Verdict.REFUTED:
            continue
        is_of_part = part == whole or (one is second)  # what holds of all holds of a part
        impossible = is_of_part and implies(claim, denied, _rarest(whole))
        text = f"VERIFIED {claim} ({held.measured}) and REFUTED {denied} ({refusal.measured})"
        yield Held(not impossible, f"two valid certificates of {whole}, {part}", text)


def _small(rng: random.Random) -> Scenario:
    if rng.random() < 0.5:
        first = table(rng, 2)
        tables = [first, rng.choice((first.swapped(), table(rng, 2)))][: rng.choice((1, 2, 2))]
        slack = rng.choice((Fraction(0), Fraction(0), Fraction(1, 100)))
        return Scenario.of(*((pmf(one, slack), rng.choice((1, 1, 2))) for one in tables))
    return Scenario.of((any_spec(rng), rng.choice((1, 1, 1, 2, 3))))


def _certified(rng: random.Random, what: Scenario) -> tuple[Claim, Certificate] | None:
    claim, _, found = claim_near(rng, what)
    if rng.random() < 0.3 and found.is_finite():  # about the same number in another notion
        bound = claim.bound
        approximate = ApproxDP(bound, rng.choice((level(rng, what), "1e-30")))
        claim = rng.choice((PureDP(bound), approximate, RenyiDP(1000, bound)))
    told = audit(budget_of(what), claim, Fraction(1, 10**6))
    if told.verdict is Verdict.UNDECIDED:
        return None
    try:
        made = certificate_of(told)
    except NotCertifiedError:
        return None
    return (claim, made) if check(made.content).valid else None


def _rarest(what: Scenario) -> Fraction | None:
    """At most every positive mass of every outcome of all files together; None if not all files."""
    if any(one.table is None or "slack" in one for one, _ in what.uses):
        return None
    return prod(
        (min(mass for mass in one.table.p + one.table.q if mass) ** k
         for one, k in what.uses if one.table is not None),
        start=Fraction(1),
    )  # fmt: skip


def implies(claim: Claim, other: Claim, rarest: Fraction | None) -> bool:
    """Does the first claim imply the other, for certain?

    rarest: all masses are 0 or at least this. Then P(x) <= e^epsilon Q(x) + delta at each outcome
    makes the pure epsilon at most log(e^epsilon + delta/rarest), if delta < rarest.
    """
    pure = _pure_above(claim, rarest)
    if pure is not None and _from_pure(pure, other):
        return True
    if isinstance(claim, ApproxDP) and isinstance(other, ApproxDP):
        return claim.epsilon <= other.epsilon and claim.delta <= other.delta
    if isinstance(claim, RenyiDP):
        if isinstance(other, RenyiDP):
            return claim.epsilon <= other.epsilon and claim.order >= other.order
        return _from_renyi(claim, other)
    if isinstance(claim, ZCDP):
        if isinstance(other, ZCDP):
            return claim.rho <= other.rho
        if isinstance(other, RenyiDP):
            return claim.rho * other.order <= other.epsilon
        orders = (Fraction(text) for text in ("1.1", "2", "4", "16", "100"))
        return any(_from_renyi(RenyiDP(order, claim.rho * order), other) for order in orders)
    return False


def _pure_above(claim: Claim, rarest: Fraction | None) -> Fraction | None:
    if isinstance(claim, PureDP):
        return claim.epsilon
    if isinstance(claim, ApproxDP) and claim.delta == 0:
        return claim.epsilon
    if not isinstance(claim, ApproxDP) or rarest is None or claim.delta >= rarest:
        return None
    if claim.epsilon > 1000:
        return None
    odds = iv.exp(iv.mpf(claim.epsilon.numerator) / claim.epsilon.denominator)
    share = claim.delta / rarest
    return rational(iv.log(odds + iv.mpf(share.numerator) / share.denominator), "b")


def _from_pure(epsilon: Fraction, other: Claim) -> bool:
    if isinstance(other, PureDP | ApproxDP):
        return epsilon <= other.epsilon
    if isinstance(other, RenyiDP):
        return min(epsilon, other.order * epsilon**2 / 2) <= other.epsilon
    return min(epsilon, epsilon**2 / 2) <= other.rho


def _from_renyi(claim: RenyiDP, other: Claim) -> bool:
    if not isinstance(other, ApproxDP) or not other.delta:
        return False
    delta = other.delta
    doubt = -rational(iv.log(iv.mpf(delta.numerator) / delta.denominator), "a")
    return claim.epsilon + doubt / (claim.order - 1) <= other.epsilon


RELATIONS = (certificates,)
