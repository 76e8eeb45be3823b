"""Which claims follow from which, of any mechanism: in exact rationals, by what one line proves.

Where nothing here proves that one claim implies another, it does not count as implied.

    approx   (epsilon, 0) is pure epsilon; what holds at epsilon and delta holds at larger ones
    rdp      the Rényi divergence D_order is non-decreasing in the order: what is certified at an
             order holds at smaller ones
    pure     each loss is at most epsilon: (epsilon, delta) for every delta, and D_order, the
             exponential mean of losses, is at most epsilon; D_order <= order epsilon^2/2 (Bun and
             Steinke 2016, Proposition 3.3): zcdp of epsilon^2/2
    zcdp     rho says that D_order <= order rho at every order
    gdp      mu says that the pair is post-processing of N(mu, 1) against N(0, 1) (Blackwell), of
             which D_order = order mu^2/2: zcdp of mu^2/2

All notions are of both directions of every pair of neighbours, so that each line is of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

Claimed: TypeAlias = "tuple[str, Mapping[str, Fraction]]"  # a kind and its numbers


def implies(given: Claimed, asked: Claimed) -> bool:
    """Does every mechanism of which `given` holds have what is asked? False: not that is known."""
    wanted = _plain(asked)
    return any(_covers(each, wanted) for each in _consequences(_plain(given), wanted))


def _plain(claim: Claimed) -> Claimed:
    kind, numbers = claim
    if kind == "approx" and numbers["delta"] == 0:
        return "pure", {"epsilon": numbers["epsilon"]}
    return claim


def _consequences(given: Claimed, asked: Claimed) -> Iterator[Claimed]:
    """The claim itself, and what follows from it of the kind and at the order that are asked."""
    yield given
    kind, numbers = given
    if kind == "pure":
        epsilon = numbers["epsilon"]
        yield "approx", {"epsilon": epsilon, "delta": Fraction(0)}
        if asked[0] == "rdp":
            yield "rdp", {"order": asked[1]["order"], "epsilon": epsilon}
        yield from _consequences(("zcdp", {"rho": epsilon**2 / 2}), asked)
    elif kind == "gdp":
        yield from _consequences(("zcdp", {"rho": numbers["mu"] ** 2 / 2}), asked)
    elif kind == "zcdp" and asked[0] == "rdp":
        order = asked[1]["order"]
        yield "rdp", {"order": order, "epsilon": order * numbers["rho"]}


def _covers(one: Claimed, other: Claimed) -> bool:
    """Of one kind: is each number as strong? Small ones are, of orders large ones."""
    if one[0] != other[0]:
        return False
    return all(
        number >= other[1][name] if name == "order" else number <= other[1][name]
        for name, number in one[1].items()
    )
