"""A theorem read back: the uses and the claim that it is about, as certificates say it.

And what is proved and says nothing: of any noise whatever, or of what nobody runs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..checker.binomial import Binomial
from ..checker.laws import DiscreteGaussian, DiscreteLaplace, Law, Skellam
from ..checker.mechanisms import Additive, Mechanism, Response, Sampled, TwoLaws, Vector
from ..checker.reach import Reach
from ..checker.statement import Statement
from .form import Form, Numbers, fraction
from .words import grouped, is_number


def stated(form: Form, numbers: Numbers, neighbours: str = "replace") -> Statement:
    """What it says, pure claims as approximate ones of delta = 0, which they are.

    neighbours: of its uses, which it says nothing of: it holds of whatever neighbours there are.
    No uses where a denominator is 0: such a theorem is of nothing, and has no proof.
    """
    uses: tuple[tuple[Mechanism, int], ...]
    try:
        if "W" in form.given:
            uses = tuple((_of_four(t, u, s), k) for k, t, u, s in grouped(numbers, "W", 4))
        elif "V" in form.given:
            nines = grouped(numbers, "V", 9)
            uses = tuple((_of_nine(nine[1:], neighbours), nine[0]) for nine in nines)
        elif "U" in form.given:
            uses = tuple((_of_eleven(*each[1:]), each[0]) for each in grouped(numbers, "U", 11))
        else:
            uses = ((_mechanism(form, numbers), _whole(numbers, "k", 1)),)
        epsilon, delta = fraction(numbers, "a", "b"), fraction(numbers, "n", "d")
        order = fraction(numbers, "c", "o") if form.kind == "rdp" else Fraction(0)
    except ZeroDivisionError:
        uses, epsilon, delta, order = (), Fraction(0), Fraction(0), Fraction(0)
    if neighbours == "add-remove":
        uses = tuple((_with_a_user(mechanism), times) for mechanism, times in uses)
    verdict = "VERIFIED" if form.verified else "REFUTED"
    anything = (Fraction(0), Fraction(0))  # a theorem measures nothing
    claims = {
        "zcdp": {"rho": epsilon},
        "rdp": {"order": order, "epsilon": epsilon},
        "approx": {"epsilon": epsilon, "delta": delta},
    }
    return Statement(uses, form.kind, claims[form.kind], verdict, anything)


def vacuity(said: Statement) -> str | None:
    """Why what is VERIFIED says nothing of any noise; None where it says something.

    What is REFUTED breaks an inequality at some event: it always says something.
    """
    if said.verdict != "VERIFIED":
        return None
    if said.numbers.get("delta", 0) >= 1:
        return "at a delta of 1 or more it holds of any mechanism"
    if not any(times for _, times in said.uses):
        return "nothing is used"
    reasons = [_idle(mechanism) for mechanism, times in said.uses if times]
    return None if None in reasons else reasons[0]


def _idle(mechanism: Mechanism) -> str | None:
    """Why what comes out tells nothing of the data, or is not there."""
    match mechanism:
        case Sampled(rate=0) | Vector(rate=0):
            return "nobody takes part"
        case Sampled():
            return _idle(mechanism.mechanism)
        case Additive(sensitivity=0):
            return "the sensitivity is 0: neighbours have the same answer"
        case Additive(modulus=0):
            return "there are no values mod 0"
        case Additive(modulus=1):
            return "mod 1 all values are 0"
        case Vector(reach=Reach(l2=l2, l1=l1)) if any(each and each < 1 for each in (l2, l1)):
            return "the sensitivity is below 1: neighbours have the same answer"
        case Response(epsilon=0, delta=0):
            return "randomized response of epsilon 0 has no regard for its bit"
        case TwoLaws() if mechanism.p == mechanism.q:
            return "both laws of the pair are the same"
    return None


def _with_a_user(mechanism: Mechanism) -> Mechanism:
    """The same of neighbours of whom one has a user more, as certificates say it."""
    if isinstance(mechanism, Additive | Response | TwoLaws):
        return Sampled(mechanism, Fraction(1))
    return mechanism


def _mechanism(form: Form, numbers: Numbers) -> Mechanism:
    if "two_tables" in form.statement:
        return TwoLaws(_table(numbers, "A"), _table(numbers, "B"), Fraction(0))
    if "esponse" in form.statement:
        return Response(fraction(numbers, "e", "f"), Fraction(0))
    law: Law
    if "binomial" in form.statement:
        fair = "u" not in numbers
        chance = Fraction(1, 2) if fair else fraction(numbers, "u", "v")
        law = Binomial(_whole(numbers, "t"), chance)
    elif "skellam" in form.statement:
        law = Skellam(2 * fraction(numbers, "t", "u"))
    elif "discrete_gaussian" in form.statement:
        law = DiscreteGaussian(fraction(numbers, "t", "u"))
    else:
        law = DiscreteLaplace(fraction(numbers, "t", "u"))
    # `m` is a modulus where the statement has one, elsewhere a hint
    modulus = _whole(numbers, "m") if "noise_mod_dp" in form.statement else None
    return Additive(law, _whole(numbers, "s", 1), modulus)


def _of_four(t: int, u: int, s: int) -> Mechanism:
    """A use of a list: of sensitivity 0 it is randomized response."""
    if s == 0:
        return Response(Fraction(u, t), Fraction(0))
    return Additive(DiscreteLaplace(Fraction(t, u)), s, None)


def _of_nine(rest: tuple[int, ...], neighbours: str) -> Additive | Vector:
    """A use of a list of discrete Gaussian noise; what is 0 bounds nothing."""
    t, u, c, e, p, q, m, n = rest
    law = DiscreteGaussian(Fraction(t, u))
    l2, l1 = Fraction(c, e), Fraction(p, q)
    if is_number(c, p, m, n):
        return Additive(law, m, None)
    reach = Reach(l2 or None, l1 or None, Fraction(m) if m else None, n or None)
    return Vector(law, reach, None, neighbours, Fraction(1))


def _of_eleven(x: int, y: int, *rest: int) -> Mechanism:
    """The same of users of whom each takes part with probability x/y."""
    one, rate = _of_nine(rest, "add-remove"), Fraction(x, y)
    return Sampled(one, rate) if isinstance(one, Additive) else replace(one, rate=rate)


def _whole(numbers: Numbers, name: str, default: int | None = None) -> int:
    number = numbers.get(name, default)
    assert isinstance(number, int)
    return number


def _table(numbers: Numbers, name: str) -> tuple[Fraction, ...]:
    weights = numbers[name]
    assert not isinstance(weights, int)
    whole = sum(weights)
    shares = {weight: Fraction(weight, whole) for weight in set(weights)}
    return tuple(shares[weight] for weight in weights)
