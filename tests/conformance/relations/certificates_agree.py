"""No two valid certificates contradict each other: claims about a scenario, or about one and a part
of it, where one verdict excludes the other by a theorem.

Sources of what implies what: Bun and Steinke (TCC 2016), Propositions 1.3 and 1.4; Mironov (CSF
2017), Propositions 3 and 9.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import prod

from conformance.relations.decisions import claim_near, short
from conformance.relations.draw import any_spec, level, table
from conformance.relations.engine import Held, Statement, composition_of
from conformance.relations.notions import rational
from conformance.relations.scenarios import Scenario, pmf
from mpmath import iv

from exactdp import ZCDP, ApproxDP, Certificate, NotCertifiedError, PureDP, RenyiDP, Verdict
from exactdp.verify import Claim, audit
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker import check
from exactdp.verify.checker.implied import Claimed, implies
from exactdp.verify.checker.statement import read_claim


def certificates(rng: random.Random) -> Iterator[Statement]:
    """Claims in several notions about a list, and about a part of it.

    A certificate proves both ends of its measured enclosure: the claim holds with the upper one in
    place of its bound, and with nothing below the lower one.
    """
    whole = _small(rng)
    part = Scenario(whole.uses[:1])
    claims = _claims(rng, whole)
    proved = [(what, claim, held)
              for claim in claims for what in dict.fromkeys((whole, part))
              if (held := _certificate(what, claim)) is not None]  # fmt: skip
    for (what, claim, held), (other, denied, refusal) in permutations(proved, 2):
        high, low = held.measured.upper, refusal.measured.lower
        text = f"{held.verdict.name} {claim} ({held.measured}) of {what}, "
        text += f"{refusal.verdict.name} {denied} ({refusal.measured}) of {other}"
        if isinstance(high, Fraction) and (what == whole or other == part):
            follows = implied(_bounded(claim, high), denied, _rarest(what))
            yield Held(follows is None or not low > follows, "two valid certificates", text)
        if what == other and refusal.verdict is Verdict.REFUTED is not held.verdict:
            yield Held(not implies(_read(claim), _read(denied)), "what the checker infers", text)


def _read(claim: Claim) -> Claimed:
    return read_claim(claim.fields())


def _small(rng: random.Random) -> Scenario:
    if rng.random() < 0.5:
        first = table(rng, 2)
        tables = [first, rng.choice((first.swapped(), table(rng, 2)))][: rng.choice((1, 2, 2))]
        slack = rng.choice((Fraction(0), Fraction(0), Fraction(1, 100)))
        return Scenario.of(*((pmf(one, slack), rng.choice((1, 1, 2))) for one in tables))
    return Scenario.of((any_spec(rng), rng.choice((1, 1, 1, 2, 3))))


def _claims(rng: random.Random, what: Scenario) -> list[Claim]:
    """One near what it bounds, and the same number in other notions."""
    claim, _, _ = claim_near(rng, what)
    bound = claim.bound * Fraction(rng.choice(("1", "1", "0.85", "0.7")))
    bound = short(bound)
    others: list[Claim] = [
        PureDP(bound),
        ApproxDP(bound, "1e-30"),
        ApproxDP(bound, level(rng, what)),
        RenyiDP(rng.choice((2, 64, 1000)), bound),
        ZCDP(bound),
    ]
    return [claim, *rng.sample(others, 2)]


def _certificate(what: Scenario, claim: Claim) -> Certificate | None:
    told = audit(composition_of(what), claim, Fraction(1, 10**6))
    if told.verdict is Verdict.UNDECIDED:
        return None
    try:
        made = certificate_of(told)
    except NotCertifiedError:
        return None
    return made if check(made.content).valid else None


def _rarest(what: Scenario) -> Fraction | None:
    """At most every positive mass of every outcome of all files together; None if not all files."""
    if any(one.table is None or "slack" in one for one, _ in what.uses):
        return None
    return prod(
        (min(mass for mass in one.table.p + one.table.q if mass) ** k
         for one, k in what.uses if one.table is not None),
        start=Fraction(1),
    )  # fmt: skip


def implied(claim: Claim, other: Claim, rarest: Fraction | None) -> Fraction | None:
    """A bound with which the other claim follows from the first; None where none is known.

    rarest: all masses are 0 or at least this. Then P(x) <= e^epsilon Q(x) + delta at each outcome
    makes the pure epsilon at most log(e^epsilon + delta/rarest), if delta < rarest.
    """
    found = []
    pure = _pure_above(claim, rarest)
    if pure is not None:
        found.append(_from_pure(pure, other))
    if isinstance(claim, ZCDP):
        orders = (other.order,) if isinstance(other, RenyiDP) else (2, 16, 100)
        found += [claim.rho] if isinstance(other, ZCDP) else [
            bound for order in orders
            if (bound := _from_renyi(RenyiDP(order, claim.rho * order), other)) is not None
        ]  # fmt: skip
    if isinstance(claim, RenyiDP) and (bound := _from_renyi(claim, other)) is not None:
        found.append(bound)
    if isinstance(claim, ApproxDP) and isinstance(other, ApproxDP) and claim.delta <= other.delta:
        found.append(claim.epsilon)
    return min(found, default=None)


def _bounded(claim: Claim, bound: Fraction) -> Claim:
    if isinstance(claim, ApproxDP):
        return ApproxDP(bound, claim.delta)
    return RenyiDP(claim.order, bound) if isinstance(claim, RenyiDP) else type(claim)(bound)


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


def _from_pure(epsilon: Fraction, other: Claim) -> Fraction:
    if isinstance(other, PureDP | ApproxDP):
        return epsilon
    order = other.order if isinstance(other, RenyiDP) else Fraction(1)
    return min(epsilon, order * epsilon**2 / 2)


def _from_renyi(claim: RenyiDP, other: Claim) -> Fraction | None:
    if isinstance(other, RenyiDP) and claim.order >= other.order:
        return claim.epsilon
    if not isinstance(other, ApproxDP) or not other.delta:
        return None
    delta = other.delta
    doubt = -rational(iv.log(iv.mpf(delta.numerator) / delta.denominator), "a")
    return claim.epsilon + doubt / (claim.order - 1)


RELATIONS = (certificates,)
