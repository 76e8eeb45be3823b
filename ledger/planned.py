"""A list of uses that is fixed beforehand: exactly composed, where adding up would overestimate.

The whole list is audited when the ledger is made: all its uses together keep the claim. Its levels
count uses, one level for each mechanism, and a charge fits if it fits at every level; what is not
in the list never does.

Whoever takes part in fewer uses has lost no more. The order is free, and may be chosen from what
was released, as may be what each use is asked: `losses.choices` takes the supremum over
all of that, and where a use has one dominating pair, drawing from all pairs beforehand and
revealing each when it is asked for is the same game. But the list is not: a mechanism, or how
often it may be used, that is chosen from what was released needs a limit whose costs add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from ..accounting.composition.composed import Composition, compose
from ..exact import Enclosure, ParameterError
from ..exact.enclosure import UndecidedError
from ..mechanisms.mechanism import Mechanism
from ..verify import Verdict, audit
from ..verify.guarantee import ApproxDP, Guarantee
from . import canonical
from .amounts import Amount
from .levels import USES, Level

_SHOWN = Fraction(1, 1000)  # to which what is spent is told
_NEVER = Enclosure(Decimal("Infinity"), Decimal("Infinity"))


def levels_of(claim: Guarantee, plan: object) -> tuple[Level, ...]:
    """The levels of a plan. Raises ParameterError where its uses together break the claim."""
    if not isinstance(claim, ApproxDP):
        raise ParameterError(f"plan must be of an approx limit, not {claim}: its costs add up")
    uses = canonical.uses_of(plan)
    levels = tuple(
        Level(USES, Fraction(count), mechanism=text) for text, (_, count) in uses.items()
    )
    if (doubt := objection(claim, levels)) is not None:
        raise ParameterError(f"plan {doubt}")
    return levels


def objection(claim: Guarantee, levels: tuple[Level, ...]) -> str | None:
    """Why so many uses are not proved to keep the claim; None where they are."""
    try:
        return _objection(claim, levels)
    except UndecidedError as error:
        return str(error)


@lru_cache(maxsize=64)
def _objection(claim: Guarantee, levels: tuple[Level, ...]) -> str | None:
    """The same. Raises UndecidedError, so that what the time left open is asked again."""
    if not isinstance(claim, ApproxDP) or any(level.kind != USES for level in levels):
        return "mixes uses with what adds up"
    found = audit(composition(levels, [level.room for level in levels]), claim)
    if found.verdict is Verdict.VERIFIED:
        return None
    doubt = f"must be verified to keep {claim}, but it is {found.verdict.name}: {found.measured}"
    if found.verdict is Verdict.UNDECIDED:
        raise UndecidedError(doubt)
    return doubt


def composition(levels: Sequence[Level], counts: Sequence[Fraction]) -> Composition:
    """So many uses of the mechanism of each level."""
    pairs = zip(levels, counts, strict=True)
    return compose(*((canonical.read(one.mechanism), int(count)) for one, count in pairs if count))


def costs(levels: Sequence[Level], mechanism: Mechanism) -> tuple[Enclosure, ...]:
    """A use of the level whose mechanism it is; without end at all of them where there is none."""
    same = [canonical.read(level.mechanism) == mechanism for level in levels]
    return tuple(Enclosure.exactly(int(one)) if any(same) else _NEVER for one in same)


@lru_cache(maxsize=4096)
def report(claim: ApproxDP, levels: tuple[Level, ...], counts: tuple[Amount, ...]) -> Enclosure:
    """The epsilon at the claim's delta of so many uses, to three digits or so."""
    spent = [count for count in counts if count is not None]
    if len(spent) < len(counts):
        return _NEVER
    if not any(spent):
        return Enclosure.exactly(0)
    return composition(levels, spent).epsilon(claim.delta, _SHOWN)
