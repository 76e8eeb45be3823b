"""Which methods of accounting are usual for a composition, besides the exact one."""

from __future__ import annotations

from ...mechanisms.continuous import continuous
from ...mechanisms.vector import vector
from ..composition.composed import Composition
from ..methods.comparison import EXACT, METHODS, Method
from .distributed import TFF
from .foreign import FOREIGN


def usual(composition: Composition) -> list[str | Method]:
    """Those of `METHODS`, and what is widely used for continuous noise or for vectors."""
    found: list[str | Method] = [name for name in METHODS if name != EXACT.name]
    if all(continuous(use.mechanism) for use in composition.uses):
        found += FOREIGN.values()
    if all(vector(use.mechanism) for use in composition.uses):
        found.append(TFF)
    return found
