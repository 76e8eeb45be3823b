"""A theorem read back: the uses and the claim that it is about, as certificates say it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..checker.binomial import Binomial
from ..checker.laws import DiscreteGaussian, DiscreteLaplace, Law, Skellam
from ..checker.mechanisms import Additive, Mechanism, Response, Sampled, TwoLaws, Vector
from ..checker.reach import Reach
from ..checker.reading import Statement
from .form import Form, Numbers
from .words import grouped, is_number


def stated(form: Form, numbers: Numbers, neighbours: str = "replace") -> Statement:
    """What it says, pure claims as approximate ones of delta = 0, which they are.

    neighbours: of its vectors, which it says nothing of: it holds of whatever neighbours there are.
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
        epsilon, delta = _ratio(numbers, "a", "b"), _ratio(numbers, "n", "d")
        order = _ratio(numbers, "c", "o") if form.kind == "rdp" else Fraction(0)
    except ZeroDivisionError:
        uses, epsilon, delta, order = (), Fraction(0), Fraction(0), Fraction(0)
    verdict = "VERIFIED" if form.verified else "REFUTED"
    anything = (Fraction(0), Fraction(0))  # a theorem measures nothing
    if form.kind == "zcdp":
        return Statement(uses, "zcdp", {"rho": epsilon}, verdict, anything, None)
    if form.kind == "rdp":
        at = {"order": order, "epsilon": epsilon}
        return Statement(uses, "rdp", at, verdict, anything, None)
    said = {"epsilon": epsilon, "delta": delta}
    return Statement(uses, "approx", said, verdict, anything, None)


def _mechanism(form: Form, numbers: Numbers) -> Mechanism:
    law: Law
    match form.module:
        case "DiscreteLaplace" | "Lattice" | "ListSums":
            law = DiscreteLaplace(_ratio(numbers, "t", "u"))
        case "DiscreteGaussian" | "Concentrated" | "GaussianUses":
            law = DiscreteGaussian(_ratio(numbers, "t", "u"))
        case "Skellam" | "SkellamUses":
            law = Skellam(2 * _ratio(numbers, "t", "u"))
        case "Binomial":
            law = Binomial(_whole(numbers, "t"), _ratio(numbers, "u", "v"))
        case "BinomialTail" | "BinomialUses":
            law = Binomial(_whole(numbers, "t"), Fraction(1, 2))
        case "RandomizedResponse" | "ResponseUses" | "RenyiPairs" if not form.given:
            return Response(_ratio(numbers, "e", "f"), Fraction(0))
        case "Pairs" | "RenyiPairs" | "PairUses":
            return TwoLaws(_table(numbers, "A"), _table(numbers, "B"), Fraction(0))
        case other:
            raise AssertionError(f"no mechanism of {other}")
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


def _ratio(numbers: Numbers, top: str, bottom: str) -> Fraction:
    """A quotient of two of the numbers; a form may have 0/1 for good."""
    return Fraction(_whole(numbers, top, 0), _whole(numbers, bottom, 1))


def _table(numbers: Numbers, name: str) -> tuple[Fraction, ...]:
    weights = numbers[name]
    assert not isinstance(weights, int)
    whole = sum(weights)
    shares = {weight: Fraction(weight, whole) for weight in set(weights)}
    return tuple(shares[weight] for weight in weights)
