"""The costs of a ledger, proved by the checker of certificates: code that shares no number with it.

For a mechanism and what was charged for one use of it a certificate is made that says "no more than
this", and its checker has to accept it. What it cannot follow within the time is told; that is no
proof of the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt

from ..accounting.composition.composed import Composition, compose
from ..exact import OutOfTimeError, ParameterError, time_limit
from ..verify import Verdict, audit
from ..verify.certificate import NotCertifiedError, certificate_of
from ..verify.guarantee import ZCDP, GaussianDP, Guarantee, PureDP, RenyiDP
from . import canonical
from .levels import MU2, PURE, RHO, USES, Level
from .limits import Limit
from .planned import composition
from .written import read_costs

_BITS = 200


def unproved(limits: Sequence[Limit], mechanism: str, costs: str, seconds: float) -> Iterator[str]:
    """Which costs of this mechanism the checker cannot establish, and why; nothing if all of them.

    seconds: for each. A cost that is recorded as infinite needs no proof.
    """
    use = compose(canonical.read(mechanism))
    known: set[Guarantee] = set()
    for limit, levels in zip(limits, read_costs(costs), strict=True):
        for level, (_, upper) in zip(limit.levels, levels, strict=True):
            if upper is None or level.kind == USES or (claim := _claim(level, upper)) in known:
                continue
            known.add(claim)
            if (doubt := _doubt(use, claim, seconds)) is not None:
                yield f"{mechanism} {level.title}: {doubt}"


def unproved_plans(limits: Sequence[Limit], seconds: float) -> Iterator[str]:
    """Which plans the checker cannot establish to keep their claims, and why."""
    for limit in limits:
        if limit.is_planned:
            whole = composition(limit.levels, [level.room for level in limit.levels])
            if (doubt := _doubt(whole, limit.claim, seconds)) is not None:
                yield f"plan of {limit.name}: {doubt}"


def _doubt(use: Composition, claim: Guarantee, seconds: float) -> str | None:
    """Why the checker does not accept that the claim holds; None where it does."""
    try:
        with time_limit(seconds):
            found = audit(use, claim)
            if found.verdict is not Verdict.VERIFIED:
                raise NotCertifiedError(f"the claim is {found.verdict.name}")
            certificate_of(found)
    except (NotCertifiedError, OutOfTimeError, ArithmeticError, ParameterError) as error:
        return " ".join(str(error).split())
    return None


def _claim(level: Level, cost: Fraction) -> Guarantee:
    """That one use costs no more."""
    if level.order is not None:
        return RenyiDP(level.order, cost)
    if level.kind == PURE:
        return PureDP(cost)
    if level.kind == RHO:
        return ZCDP(cost)
    assert level.kind == MU2
    return GaussianDP(_root(cost))


def _root(square: Fraction) -> Fraction:
    """The root where it is rational, else a little below it."""
    exact = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if exact**2 == square:
        return exact
    return Fraction(isqrt(int(square * 4**_BITS)), 2**_BITS)
