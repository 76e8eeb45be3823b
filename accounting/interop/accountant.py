"""An accountant for whatever takes one of dp_accounting's: its figures are certified.

    from exactdp.interop import ExactAccountant
    dp_accounting.calibrate_dp_mechanism(ExactAccountant, make_event, epsilon, delta)

Epsilon and delta are upper ends, rounded up: never below the truth. `reading` has the events,
`account` says how their costs add up.
"""

from __future__ import annotations

from dp_accounting import DpEvent, NeighboringRelation, PrivacyAccountant

from ...exact.number import exact
from ...exact.rounding import float_above
from ..figure import Figure
from .account import Parts, at_most
from .reading import UnsupportedEventError, read

_LARGEST = 1e5


class ExactAccountant(PrivacyAccountant):  # type: ignore[misc]
    """dp_accounting's `PrivacyAccountant`, with certified upper ends of epsilon and delta.

    neighboring_relation: as in dp_accounting's own accountants, with the same events under each.

    >>> import dp_accounting
    >>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
    >>> round(ExactAccountant().compose(step, 1000).get_epsilon(1e-5), 6)
    1.828237
    """

    def __init__(
        self, neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE
    ) -> None:
        super().__init__(neighboring_relation)
        self._parts: Parts = ()

    def _maybe_compose(
        self, event: DpEvent, count: int, do_compose: bool
    ) -> PrivacyAccountant.CompositionErrorDetails | None:
        try:
            found = tuple(read(event, self._neighboring_relation.name))
        except UnsupportedEventError as error:
            named = error.event if isinstance(error.event, DpEvent) else event
            return self.CompositionErrorDetails(named, str(error))
        if do_compose:
            self._parts += tuple((part, times * count) for part, times, _ in found)
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """The least epsilon at this delta, rounded up. Raises ParameterError for a bad delta."""
        delta = exact(float(target_delta), "target_delta", at_least=0, at_most=1)
        return float_above(at_most(self._parts, Figure("epsilon", delta)))

    def get_delta(self, target_epsilon: float) -> float:
        """The least delta at this epsilon >= 0, rounded up."""
        given = min(float(target_epsilon), _LARGEST)  # delta does not rise
        epsilon = exact(given, "target_epsilon", at_least=0)
        return min(float_above(at_most(self._parts, Figure("delta", epsilon))), 1.0)
