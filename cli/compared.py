"""Every method's ε at one δ, beside the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ..accounting import Composition
from ..accounting.interop.foreign import usual
from ..accounting.methods.comparison import EXACT, Reported, compare
from ..exact import Enclosure
from .measure import Measured, Request, Width, measure


@frozen
class Comparison:
    """What each method reports at this δ, the exact ε first."""

    delta: str
    reported: Sequence[Reported]

    def ratio(self, reported: Reported) -> Enclosure | None:
        """How many times the exact ε this is; None where that is 0 or one of them is infinite."""
        exact, other = self.reported[0].value, reported.value
        if exact is None or other is None or not (exact.is_finite() and other.is_finite()):
            return None
        if not exact.lower > 0:
            return None
        if reported.method is EXACT:
            return Enclosure.exactly(1)
        return other.over(exact)

    def to_json(self) -> dict[str, Any]:
        """One object for each method, with its figures where it applies and is computed."""
        return {"delta": self.delta, "methods": [self._shown(each) for each in self.reported]}

    def _shown(self, reported: Reported) -> dict[str, Any]:
        shown: dict[str, Any] = {"method": reported.method.name, "title": reported.method.title}
        shown["applies"] = reported.value is not None
        if reported.open:
            shown["computed"] = False  # whether it applies is open
        if reported.value is not None:
            shown |= reported.value.to_json()
            ratio = self.ratio(reported)
            shown["times_exact"] = None if ratio is None else ratio.to_json()
        return shown | ({"remark": reported.remark} if reported.remark else {})


def compared(
    composition: Composition, results: Sequence[Measured], width: Width, method: str
) -> list[Comparison]:
    """All methods at every δ at which ε was measured by this one."""
    exact = [result for result in results if result.quantity == "epsilon"]
    deltas = [result.given[1] for result in exact if result.given]
    if method != EXACT.name:
        exact = measure(composition, Request(deltas=tuple(deltas)), width)
    others = usual(composition)
    return [
        Comparison(
            delta,
            [
                Reported(EXACT, found.value, found.note or ""),
                *compare(composition, delta, width.relative, others),
            ],
        )
        for delta, found in zip(deltas, exact, strict=True)
    ]
