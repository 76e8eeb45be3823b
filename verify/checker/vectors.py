"""Vectors between other mechanisms: what a certificate says of them follows from what it costs to
use single numbers and Gaussian noise.

*From above*, each vector by what its hint says:

    gaussian     the Gaussian that dominates, of the distance mu_1 |v|_2 (`unit`); of discrete
                 Gaussian noise Rényi divergences are at most those at |v|_2/sigma (`releases`);
                 so of one number, whose noise may be too wide to sum up
    one number   all of |v|_1 in one coordinate: T_d, the trade-off function of (X + d, X), d >= 0,
                 is linear between its points (P(X >= k), 1 - P(X >= k - d)) where p is log-concave,
                 so that T_(d+e) is T_e after 1 - T_d. Moving one coordinate after the other no test
                 does better than this chain; Blackwell (1953)
    by one       where no coordinate moves by more than 1: as many uses of a number that moves by 1
                 as coordinates can. A vector that moves fewer is what is left of that one when
                 further noise is added to what is seen, which does not depend on the data; the
                 noise is symmetric, so that signs change nothing
    square, sum  numbers a, b >= 0 with c(k) <= a k^2 + b k for every k within reach, c(k) the cost
                 of one number that moves by k: pure epsilon and Rényi divergences add up over
                 coordinates, rho is at most their sum, so that it is at most a |v|_2^2 + b |v|_1
    missed       of real vectors rounded at random: a Gaussian again, shorter than the longest that
                 they may become, but for this probability in each use (`rounded_distance`)

What real vectors are rounded to is as short as `rounded` proves, which all but the last rest on.

*From below*: coordinates of one vector within reach, which the hint names, as so many uses of one
number; sampled only one coordinate, since the user is in all of them or in none. All coordinates of
smaller size are within reach as well, so that a number moved by at most k may stand for one that
moves by k. A vector that a real one is rounded to with some probability only is moved by in a
sample, then. What no hint names counts as nothing.

*Random allocation* of several steps to each user. From above: deal floor(t/k) of the t steps to
each of k groups at random, then choose one step in each: by symmetry all sets of k steps are as
likely, and given the groups that is k uses of one step of floor(t/k); divergences are jointly
convex. By the same, k uses of the Gaussian in which all users take part. From below: the sum of all
steps is post-processing. One step each is listed (`allocation`) where (epsilon, delta) is claimed.

Where one coordinate moves alone, only its noise tells anything: it is a number, seen mod `modulus`,
on both sides. Without a hint any other vector is bounded by the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from . import divergences
from .arithmetic import INFINITY, OpenError, precision
from .concentrated import rho_at_most
from .laws import DiscreteGaussian
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Curve,
    Family,
    Mechanism,
    Parts,
    Sampled,
    Vector,
)
from .reach import Reach
from .reading import Above, Along, Missed, Statement, Tilt
from .rounded import Rounded
from .rounded_distance import lost, mostly
from .scenarios import Uses
from .unit import distance

_BITS = 128
_MOST_MOVES = 64
_FINE = 10**20  # units of a root
_OPEN = "what it lies between is not inside what is measured"


@dataclass(frozen=True)
class Part:
    """A statement about mechanisms that are no vectors, and why it would be needed, in words.

    others: if that was not proved, one that will do as well.
    """

    statement: Statement
    needed: str = ""
    others: tuple[Part, ...] = ()


def parts(statement: Statement) -> list[Part]:
    """What together implies the statement: itself, or one about each side of its vectors and of
    what else lies between others.
    """
    statement = _with(statement, _exactly)
    if not any(isinstance(one, Family) for one, _ in statement.uses):
        return _sides(statement)
    low, high = statement.measured
    found = []
    for up, measured in ((True, (Fraction(0), high)), (False, (low, INFINITY))):
        if measured != (0, INFINITY):
            sides = [_sides(replace(way, measured=measured)) for way in _ways(statement, up)]
            if not all(sides):
                raise OpenError("no use is left that would cost what is measured")
            first, *others = [one for one, *_ in sides]
            found.append(replace(first, needed=_OPEN, others=tuple(others)))
    return found


def _exactly(one: Family, hint: Along) -> Parts | None:
    """What it is, where it is exactly that."""
    above = one.above()
    return above[0] if len(above) == 1 and one.below(hint) == above else None


def _ways(statement: Statement, up: bool) -> list[Statement]:
    """What dominates, or is attained, in place of what is known by others: each proof at once."""
    each: dict[tuple[Family, Along], Sequence[Parts]] = {}
    for (one, _), hint in zip(statement.uses, statement.along, strict=True):
        if isinstance(one, Family):
            each[one, hint] = one.above() if up else one.below(hint)

    def turn(at: int) -> Statement:
        def chosen(one: Family, hint: Along) -> Parts:
            return each[one, hint][min(at, len(each[one, hint]) - 1)]

        return _with(statement, chosen)

    return [turn(at) for at in range(max(map(len, each.values())))]


def _with(statement: Statement, chosen: Callable[[Family, Along], Parts | None]) -> Statement:
    """With what is chosen in place of what is known by others; None leaves it there."""
    found: list[tuple[tuple[Mechanism, int], Above, Along]] = []
    hints = zip(statement.uses, statement.above, statement.along, strict=True)
    for (one, times), above, along in hints:
        parts = chosen(one, along) if isinstance(one, Family) else None
        if parts is None:
            found.append(((one, times), above, along))
        else:
            found += [((part, each * times), None, ()) for part, each in parts]
    uses, every, all_along = zip(*found, strict=True) if found else ((), (), ())
    return replace(statement, uses=uses, above=every, along=all_along)


def _sides(statement: Statement) -> list[Part]:
    """Itself, or one about each side of its vectors."""
    each = zip(statement.uses, statement.above, strict=True)
    if not any(isinstance(one, Vector) or h or _has_sides(one, statement) for (one, _), h in each):
        return [Part(statement)]
    low, high = statement.measured
    found = []
    if high != INFINITY:
        uses, spent = _above(statement)
        numbers, more = _without(statement)
        left = Fraction(high) - spent - more
        if left < 0:
            raise OpenError("what bounds the vectors is more than what is measured")
        if uses:
            bound = (Fraction(0), left)
            found.append(replace(statement, uses=uses, numbers=numbers, measured=bound))
    if low > 0:
        uses = _below(statement)
        if not uses:
            raise OpenError("no vector is named that costs as much as what is measured")
        found.append(replace(statement, uses=uses, measured=(low, INFINITY)))
    return [Part(each, _OPEN) for each in found]


def attained(statement: Statement) -> Statement | None:
    """That a vector within reach costs at most what is measured: the named one, or the farthest in
    one coordinate. Where this is false, the statement is. None where no vector is.
    """
    if not any(isinstance(one, Family | Vector) for one, _ in statement.uses):
        return None
    statement = _with(statement, lambda one, hint: one.below(hint)[0])
    uses: list[tuple[Mechanism, int]] = []
    for (one, times), moves in zip(statement.uses, statement.along, strict=True):
        if isinstance(one, Allocation):
            uses.append((_sum(one), times))
        elif not isinstance(one, Vector):
            uses.append((one, times))
        elif isinstance(one.reach, Reach):
            counts, chance = _counts(one, moves or [(one.reach.farthest, 1)])
            uses += [
                (_moved(one, move, one.modulus, chance), k * times) for move, k in counts.items()
            ]
    measured = (Fraction(0), statement.measured[1])
    return replace(statement, uses=tuple(uses), measured=measured) if uses else None


def _above(statement: Statement) -> tuple[tuple[tuple[Mechanism, int], ...], Fraction]:
    """Uses that cost at least as much, and what is spent on others already."""
    uses: list[tuple[Mechanism, int]] = []
    spent = Fraction(0)
    for (one, times), hint in zip(statement.uses, statement.above, strict=True):
        if isinstance(one, Allocation) and _has_sides(one, statement):
            uses.append(_each_step(one, times, statement))
        elif hint == "gaussian" and isinstance(one, Additive | Sampled):
            uses.append((_gaussian_of_number(one), times))
        elif not isinstance(one, Vector):
            uses.append((one, times))
        elif isinstance(hint, Tilt):
            _check_tilt(statement, one, hint)
            spent += times * (hint.square * one.reach.largest_square)
            spent += times * (hint.sum * one.reach.largest_sum)
        elif isinstance(hint, Missed):
            uses.append((_mostly(one, hint.chance), times))
        elif hint == "gaussian" or (hint is None and not _is_one_number(one)):
            uses.append((_gaussian(one, statement.kind), times))
        elif _is_one_number(one):
            uses.append((_moved(one, one.reach.farthest, one.modulus), times))
        elif hint == "by one":
            if not isinstance(one.reach, Reach) or one.reach.farthest > 1 or one.rate < 1:
                raise OpenError("by one is of integer vectors moved by 1 at most, and no samples")
            uses.append((_moved(one, 1, one.modulus), times * one.reach.largest_sum))
        else:
            uses.append((_moved(one, one.reach.largest_sum, None), times))
    return tuple(uses), spent


def _without(statement: Statement) -> tuple[Mapping[str, Fraction], Fraction]:
    """The claim's numbers, of what is left of delta, and how much is lost of epsilon."""
    each = zip(statement.uses, statement.above, strict=True)
    chances = (times * hint.chance for (_, times), hint in each if isinstance(hint, Missed))
    missed = sum(chances, Fraction(0))
    if not missed:
        return statement.numbers, missed
    if statement.kind != "approx" or missed >= statement.numbers["delta"]:
        raise OpenError("missed is taken from delta, and must be less")
    return {**statement.numbers, "delta": statement.numbers["delta"] - missed}, lost(missed)


def _below(statement: Statement) -> tuple[tuple[Mechanism, int], ...]:
    """Uses that cost at most as much."""
    uses: list[tuple[Mechanism, int]] = []
    for (one, times), moves in zip(statement.uses, statement.along, strict=True):
        if isinstance(one, Allocation) and _has_sides(one, statement):
            uses.append((_sum(one), times))
        elif not isinstance(one, Vector):
            uses.append((one, times))
        elif _is_one_number(one) and isinstance(one.reach, Reach):
            uses.append((_moved(one, one.reach.farthest, one.modulus), times))
        elif moves:
            counts, chance = _counts(one, moves)
            uses += [
                (_moved(one, move, one.modulus, chance), k * times) for move, k in counts.items()
            ]
    return tuple(uses)


def _is_one_number(one: Vector) -> bool:
    return one.reach.dimension == 1 or one.reach.largest_square == 1


def _counts(one: Vector, moves: Sequence[tuple[int, int]]) -> tuple[Mapping[int, int], Fraction]:
    """How many coordinates move by how much, and with which probability."""
    counts = dict(moves)
    chance = one.reach.chance(counts)
    if len(counts) != len(moves) or not chance:
        raise OpenError("the vector that is named is not within reach")
    if one.rate < 1 and sum(counts.values()) > 1:
        raise OpenError("of users who are sampled only one coordinate may be named")
    return counts, chance


def _moved(
    one: Vector, move: int, modulus: int | None, chance: Fraction = Fraction(1)
) -> Mechanism:
    noise, rate = Additive(one.law, move, modulus), one.rate * chance
    return noise if rate == 1 else Sampled(noise, rate)


def _gaussian(one: Vector, kind: str) -> Mechanism:
    if kind in ("rdp", "zcdp") and one.rate == 1 and isinstance(one.law, DiscreteGaussian):
        return Curve(one.reach.largest_square / (2 * one.law.sigma2), None)
    return _hidden_by(one, distance(one.law, one.reach.largest_square))


def _gaussian_of_number(one: Additive | Sampled) -> Mechanism:
    noise = one.mechanism if isinstance(one, Sampled) else one
    if not isinstance(noise, Additive):
        raise OpenError("gaussian bounds vectors, and numbers with noise on the integers")
    rate = one.rate if isinstance(one, Sampled) else Fraction(1)
    far = distance(noise.law, noise.shift**2)
    neighbours = "add-remove" if isinstance(one, Sampled) else "replace"
    return Continuous("gaussian", Fraction(1), far, neighbours, rate)


def _has_sides(one: Mechanism, statement: Statement) -> bool:
    """Is it an allocation that is put between others?"""
    if not isinstance(one, Allocation):
        return False
    exact = statement.kind == "approx" and statement.numbers["delta"] > 0
    return not exact or one.taken > 1 or one.steps == 1


def _each_step(one: Allocation, times: int, statement: Statement) -> tuple[Mechanism, int]:
    steps = one.steps // one.taken
    if statement.kind == "approx" and steps > 1:
        return replace(one, taken=1, steps=steps), one.taken * times
    return _always(one, Fraction(1)), one.taken * times


def _sum(one: Allocation) -> Mechanism:
    squared = one.taken**2 * _FINE**2 // one.steps
    return _always(one, Fraction(math.isqrt(squared), _FINE))


def _always(one: Allocation, share: Fraction) -> Mechanism:
    moved = one.sensitivity * share
    return Continuous("gaussian", one.scale, moved, one.neighbours)


def _mostly(one: Vector, chance: Fraction) -> Mechanism:
    if not isinstance(one.reach, Rounded):
        raise OpenError("missed is of vectors that are rounded")
    return _hidden_by(one, mostly(one.law, one.reach, chance))


def _hidden_by(one: Vector, far: Fraction) -> Mechanism:
    return Continuous("gaussian", Fraction(1), far, one.neighbours, one.rate)


def _check_tilt(statement: Statement, one: Vector, tilt: Tilt) -> None:
    """Is c(k) <= a k^2 + b k, for every k within reach?"""
    if one.rate < 1 or statement.kind not in ("pure", "rdp", "zcdp"):
        raise OpenError("a k^2 + b k bounds what adds up over coordinates only, and no samples")
    if one.reach.farthest > _MOST_MOVES:
        raise OpenError(f"a k^2 + b k is checked of moves up to {_MOST_MOVES} only")
    with precision(_BITS):
        for k in range(1, one.reach.farthest + 1):
            uses: Uses = [(Additive(one.law, k, one.modulus), 1)]
            if not _is_at_most(statement, uses, tilt.square * k**2 + tilt.sum * k):
                raise OpenError(f"that a move by {k} costs at most a k^2 + b k was not proved")


def _is_at_most(statement: Statement, uses: Uses, most: Fraction) -> bool:
    if statement.kind == "zcdp":
        return rho_at_most(uses, most, full=True)
    if statement.kind == "pure":
        return divergences.pure(uses[0][0], full=True)[1] <= most
    return divergences.renyi(uses[0][0], statement.numbers["order"], full=True)[1] <= most
