"""Decisions: verdicts agree with figures, and nothing below a calibrated least is verified."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from relations.draw import level, scenario
from relations.engine import AtMost, Held, Statement, budget_of, in_python, run
from relations.notions import at_most
from relations.scenarios import Cost, Scenario, spec

from exactdp.exact import Enclosure, decimal_text
from exactdp.verify import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, Verdict, audit

__all__ = ["RELATIONS", "claim_near"]


def claim_near(rng: random.Random, what: Scenario) -> tuple[Claim, Cost, Enclosure]:
    """A claim that may be true or false: near what it bounds."""
    kind = rng.choice(("pure", "approx", "approx", "rdp", "zcdp"))
    cost = {
        "pure": Cost(what, "pure"),
        "approx": Cost(what, "epsilon", level(rng, what)),
        "rdp": Cost(what, "renyi", Fraction(rng.choice((2, 3, 10)))),
        "zcdp": Cost(what, "zcdp"),
    }[kind]
    found = in_python(cost)
    middle = Fraction(found.upper) if found.is_finite() else Fraction(rng.choice((1, 7)))
    factor = rng.choice(("1/2", "0.99", "0.999999", "1", "1.000001", "1.01", "2"))
    near = Fraction(f"{float(middle * Fraction(factor)):.9g}")
    if cost.at is None:
        return (PureDP if kind == "pure" else ZCDP)(near), cost, found
    claim = ApproxDP(near, cost.at) if kind == "approx" else RenyiDP(cost.at, near)
    return claim, cost, found


def verdicts(rng: random.Random) -> Iterator[Statement]:
    """VERIFIED: the bound may hold. REFUTED: it may fail. What was measured meets the figure."""
    what = scenario(rng)
    claim, cost, found = claim_near(rng, what)
    told = audit(budget_of(what), claim, Fraction(1, 10**6))
    text = (
        f"{told.verdict.name} {claim} of {what}, measured {told.measured}, where {cost} = {found}"
    )
    if told.verdict is Verdict.VERIFIED:
        yield AtMost(found, at_most(claim.bound), text)
    elif told.verdict is Verdict.REFUTED:
        yield AtMost(Enclosure.exactly(claim.bound), found, text)
        yield Held(found.upper > claim.bound, "a refuted claim holds with certainty", text)
    yield AtMost(told.measured, found, text)
    yield AtMost(found, told.measured, text)
    # the figure alone decides where it is clear
    clear = found.at_most(claim.bound)
    is_clear = clear is not None
    yield Held(not is_clear or told.verdict is not Verdict.UNDECIDED, "a clear claim is open", text)


def approximate_verdicts(rng: random.Random) -> Iterator[Statement]:
    """(epsilon, delta): VERIFIED where delta(epsilon) <= delta, REFUTED where it is above, and
    decided if and only if that is.
    """
    what = scenario(rng)
    delta = level(rng, what)
    epsilon = Fraction(rng.choice(("0", "0.1", "1", "2.3", "5", "40")))
    figure = in_python(Cost(what, "delta", epsilon))
    told = audit(budget_of(what), ApproxDP(epsilon, delta), Fraction(1, 10**6))
    decided = figure.at_most(delta)
    expected = {True: Verdict.VERIFIED, False: Verdict.REFUTED, None: told.verdict}[decided]
    why = f"approx:{decimal_text(epsilon)},{decimal_text(delta)} of {what}, delta = {figure}"
    yield Held(told.verdict is expected, why, f"{told.verdict.name}, measured {told.measured}")


def typed_verdicts(rng: random.Random) -> Iterator[Statement]:
    """The verdict of the command line is that of the library, its exit code says so."""
    what = Scenario(scenario(rng).uses[:1])
    what = Scenario.of(what.uses[0][0])
    claim, _, _ = claim_near(rng, what)
    shown = run("audit", *what.typed(), "--claim", str(claim), exits={0, 1, 3})
    told = audit(what.uses[0][0].mechanism(), claim)
    opposite = {"VERIFIED", "REFUTED"} == {shown["verdict"], told.verdict.name}
    yield Held(not opposite, f"{claim} of {what}", (shown["verdict"], told.verdict.name))


def least_noise(rng: random.Random) -> Iterator[Statement]:
    """Values below a calibrated least are not verified; it is itself, and its neighbour is not."""
    name = rng.choice(("discrete-gaussian", "discrete-gaussian", "discrete-laplace", "skellam",
                       "discrete-gaussian-sum", "binomial"))  # fmt: skip
    sensitivity = rng.choice((1, 1, 2, 3))
    fixed = {"count": 2} if name == "discrete-gaussian-sum" else {}
    fixed |= {"probability": "1/2"} if name == "binomial" else {}
    delta = Fraction(rng.choice(("1e-6", "0.01", "0.05", "0.05", "0.2", "0.45")))
    epsilon = Fraction(rng.choice(("0.3", "1", "2", "3", "3", "5", "8")))
    claim: Claim = ApproxDP(epsilon, delta)
    if name not in ("binomial", "discrete-laplace") and rng.random() < 0.25:
        claim = rng.choice((RenyiDP(2, epsilon), ZCDP(epsilon / 4)))
    typed = ":".join([name, *[",".join(f"{k}={v}" for k, v in fixed.items())]]).strip(":")
    found = run("calibrate", typed, "--sensitivity", str(sensitivity), "--target", str(claim),
                exits={0})  # fmt: skip
    key, least = str(found["parameter"]), Fraction(str(found["value"]))
    why = (
        f"calibrate {typed} --sensitivity {sensitivity} --target {claim}: {key} {float(least):.6g}"
    )

    def told(value: Fraction) -> Verdict:
        one = spec(name, **fixed, **{key: value}, sensitivity=sensitivity)
        return audit(one.mechanism(), claim, Fraction(1, 10**6)).verdict

    yield Held(told(least) is not Verdict.REFUTED, f"{why} itself", "REFUTED")
    for factor in ("0.05", "0.3", "0.36", "0.37", "0.4", "0.6", "0.8", "0.95", "0.999"):
        value = least * Fraction(factor)
        if name == "binomial":
            value = Fraction(int(value))
        if 0 < value < least:
            value = Fraction(f"{float(value):.9g}")
            yield Held(told(value) is not Verdict.VERIFIED, why, f"{key} = {float(value)} meets it")


RELATIONS = (verdicts, approximate_verdicts, typed_verdicts, least_noise)
