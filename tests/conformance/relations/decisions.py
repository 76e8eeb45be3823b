"""Decisions: verdicts agree with figures, on the command line and off it."""

import random
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction

from conformance.relations.draw import level, scenario
from conformance.relations.engine import (
    AtMost,
    Held,
    Statement,
    composition_of,
    equal,
    in_python,
    run,
)
from conformance.relations.notions import at_most
from conformance.relations.scenarios import Cost, Scenario, spec

from exactdp import ZCDP, ApproxDP, Audit, Enclosure, OutOfTimeError, PureDP, RenyiDP, Verdict
from exactdp.exact import decimal_text, time_left
from exactdp.verify import Claim, audit


def short(value: Fraction) -> Fraction:
    """To nine digits, as somebody types it; numbers beyond all floats too."""
    few = Context(prec=9)
    return Fraction(few.divide(few.create_decimal(value.numerator), Decimal(value.denominator)))


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
    near = short(middle * Fraction(factor))
    if cost.at is None:
        return (PureDP if kind == "pure" else ZCDP)(near), cost, found
    claim = ApproxDP(near, cost.at) if kind == "approx" else RenyiDP(cost.at, near)
    return claim, cost, found


def is_out_of_time(verdict: Verdict, before: float) -> bool:
    """Is it open for want of time, of which so much was left before?"""
    return verdict is Verdict.UNDECIDED and time_left() < before / 2


def _audited(what: Scenario, claim: Claim) -> Audit:
    """The audit of all uses; OutOfTimeError where it is UNDECIDED for want of time."""
    before = time_left()
    told = audit(composition_of(what), claim, Fraction(1, 10**6))
    if is_out_of_time(told.verdict, before):
        raise OutOfTimeError("the audit has used up its share of the time")
    return told


def verdicts(rng: random.Random) -> Iterator[Statement]:
    """VERIFIED: the bound may hold. REFUTED: it may fail. What was measured meets the figure."""
    what = scenario(rng)
    claim, cost, found = claim_near(rng, what)
    told = _audited(what, claim)
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
    told = _audited(what, ApproxDP(epsilon, delta))
    decided = figure.at_most(delta)
    expected = {True: Verdict.VERIFIED, False: Verdict.REFUTED, None: told.verdict}[decided]
    why = f"approx:{decimal_text(epsilon)},{decimal_text(delta)} of {what}, delta = {figure}"
    yield Held(told.verdict is expected, why, f"{told.verdict.name}, measured {told.measured}")


def typed_verdicts(rng: random.Random) -> Iterator[Statement]:
    """The verdict of the command line is that of the library, its exit code says so."""
    what = scenario(rng)
    claim, _, _ = claim_near(rng, what)
    shown = run("audit", *what.typed(), "--claim", str(claim), exits={0, 1, 3})
    told = _audited(what, claim)
    opposite = {"VERIFIED", "REFUTED"} == {shown["verdict"], told.verdict.name}
    yield Held(not opposite, f"{claim} of {what}", (shown["verdict"], told.verdict.name))


def epsilon_is_a_claim(rng: random.Random) -> Iterator[Statement]:
    """epsilon=E promises pure:E, whatever is typed beside it; of a whole norm alone, no less."""
    epsilon = Fraction(rng.choice(("1e-9", "0.1", "1/3", "1", "2.3", "40")))
    norm = rng.choice(("1", "2", "7", "300"))
    one = spec("discrete-laplace", epsilon=epsilon, **rng.choice(({}, {"sensitivity": norm})))
    kind = rng.choice(("scalar", "vector", "rounded", "continuous", "response"))
    if kind == "vector":
        other = rng.choice(({}, {"l2": "2"}, {"linf": "1", "dimension": "5"}, {"dimension": "3"}))
        norm = rng.choice((norm, "2.5"))
        one = spec("discrete-laplace", epsilon=epsilon, l1=norm, **other)
        if rng.random() < 0.2:
            one = one.but(l1=None)  # refused
    elif kind == "rounded":  # refused
        one = one.but(l2=norm, dimension="3", rounding="nearest", neighbours="add-remove")
    elif kind == "continuous":
        norm = rng.choice((norm, "0.7"))
        one = spec("laplace", epsilon=epsilon, **{rng.choice(("sensitivity", "l1")): norm})
    elif kind == "response":
        one = spec("randomized-response", epsilon=epsilon)
    further: list[dict[str, object]] = [{}, {}, {"neighbours": "add-remove"}]
    further += [{"neighbours": "add-remove", "poisson": each} for each in ("0.1", "1")]
    if kind in ("scalar", "continuous", "response"):
        further += [{"fixed-size": "3/10"}, {"fixed-size": "10/10"}]
    if kind in ("scalar", "vector"):
        further += [{"modulus": each} for each in ("2", "5", "65536")] + [{"users": "4"}]
    added = rng.choice(further)
    told = run(
        "audit",
        one.but(**added).typed(),
        "--claim",
        f"pure:{decimal_text(epsilon)}",
        exits={0, 1, 3},
    )
    text = f"{one} {added}"
    yield Held(told["verdict"] == "VERIFIED", f"pure:{epsilon} of {text}", told["measured"])
    if set(dict(one.keys)) <= {"epsilon", "sensitivity", "l1"} and not added and norm.isdigit():
        yield from equal(Cost(Scenario.of(one), "pure"), Enclosure.exactly(epsilon), text)


RELATIONS = (verdicts, approximate_verdicts, typed_verdicts, epsilon_is_a_claim)
