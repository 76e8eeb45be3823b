"""All statements of the papers that are checked, in the order of the papers.

A new statement is a function under `@claim` in one of the modules named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module

from ...common.suggest import one_of
from .finding import PaperClaim

_MODULES = (
    *("aggregation", "composition", "discrete_gaussian", "discrete_laplace", "elimination"),
    *(
        "local_model",
        "published_baseline",
        "shuffle_bandits",
        "shuffle_privacy",
        "shuffle_tails",
        "skellam_tail",
    ),
    *("theorem1", "theorem2", "vectors"),
)

# The order in which they are told; what is not named here comes last, in the order of the modules.
_ORDER = (
    *("D-fact1", "D-fact3", "D-thm1-privacy", "D-thm1-tau", "D-modulus", "D-rounding"),
    *("D-prop1", "D-claim1", "D-lem3"),
    *("D-thm2-curve", "D-thm2-radius", "D-thm3", "D-fact2", "D-lem4", "D-thm4"),
    *("D-lem2-prob", "D-lem2-pulls", "D-asm1", "D-thm5", "D-lem5", "D-thm6"),
    *("D-lem10", "D-thm7", "D-appI", "D-appB", "D-code", "D-code-dpse"),
    *("V-gaussians", "V-skellam"),
    *("S-thmA1-privacy", "S-thmA1-subgauss", "S-thm3.1", "S-thm3.3", "S-cor3.2"),
)


def _ordered(claims: Iterable[PaperClaim]) -> dict[str, PaperClaim]:
    rank = {name: place for place, name in enumerate(_ORDER)}
    found: dict[str, PaperClaim] = {}
    for claim in sorted(claims, key=lambda claim: rank.get(claim.id, len(rank))):
        if claim.id in found:
            raise ValueError(f"two statements have the id {claim.id}")
        found[claim.id] = claim
    return found


REGISTRY = _ordered(
    found
    for name in _MODULES
    for found in vars(import_module(f".{name}", __package__)).values()
    if isinstance(found, PaperClaim)
)


def find(ids: Sequence[str]) -> list[PaperClaim]:
    """The statements with these ids, each once, in the order of the papers; all if none is given.

    Raises ParameterError for an id that is not one.
    """
    for name in ids:
        one_of(name, REGISTRY, "ID")
    return [claim for name, claim in REGISTRY.items() if not ids or name in ids]
