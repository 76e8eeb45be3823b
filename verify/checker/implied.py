"""What a reader expects a certificate to be about, and which claims follow from which.

Of any mechanism, in exact rationals, by what one line proves.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from .arithmetic import gathered
from .kinds import read_use
from .mechanisms import NEIGHBOURS
from .scenarios import neighbours_of
from .shape import CertificateError, shown
from .statement import VERDICTS, Statement, read_claim

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


@dataclass(frozen=True)
class Expected:
    """What a certificate must be, to be of use to who reads it.

    uses        fields of all uses, in any order; none: any will do
    claim       fields of a claim that must be verified, or refuted if the verdict is REFUTED
    at_most     fields of another claim that must be verified
    verdict     VERIFIED or REFUTED; None: VERIFIED where a claim is named, else any
    neighbours  replace or add-remove; None: any
    """

    uses: Sequence[Mapping[str, Any]] = ()
    claim: Mapping[str, Any] | None = None
    at_most: Mapping[str, Any] | None = None
    verdict: str | None = None
    neighbours: str | None = None

    def __post_init__(self) -> None:
        for name, held, allowed in (
            ("verdict", self.verdict, VERDICTS),
            ("neighbours", self.neighbours, NEIGHBOURS),
        ):
            if held is not None and held not in allowed:
                raise CertificateError(f"{name} must be {' or '.join(allowed)}, got {shown(held)}")
        if self.at_most is not None and self.verdict == "REFUTED":
            raise CertificateError("what holds at most is VERIFIED: verdict must not be REFUTED")

    @property
    def is_anything(self) -> bool:
        """Will every certificate do?"""
        others = (self.claim, self.at_most, self.verdict, self.neighbours)
        return not self.uses and all(each is None for each in others)


ANYTHING = Expected()


def difference(statement: Statement, expected: Expected) -> str | None:
    """How the certificate is of something else; None where it is what was expected."""
    wanted = gathered(read_use(dict(each)) for each in expected.uses)
    if wanted and wanted != gathered(statement.uses):
        return "it is of other releases than expected"
    found = neighbours_of(statement.uses)
    if expected.neighbours is not None and found != {expected.neighbours}:
        return f"it is of neighbours that differ by {' or '.join(sorted(found))}, not as expected"
    claims = [each for each in (expected.claim, expected.at_most) if each is not None]
    verdict = expected.verdict or ("VERIFIED" if claims else statement.verdict)
    if statement.verdict != verdict:
        return f"it is {statement.verdict}, and {verdict} was expected"
    held = (statement.kind, statement.numbers)
    for asked in map(read_claim, map(dict, claims)):
        if verdict == "VERIFIED" and not implies(held, asked):
            return "it is of another claim, which is not known to imply the one expected"
        if verdict == "REFUTED" and not implies(asked, held):
            return "it is of another claim, which is not known to follow from the one expected"
    return None
