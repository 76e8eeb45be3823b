"""Evidence for a refutation: an event, an outcome or an order, with the certified excess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..accounting import concentrated, renyi
from ..accounting.largest_loss import largest_loss
from ..accounting.privacy_profile import exceeding, last_above
from ..exact.enclosure import Enclosure
from ..exact.number import ball, decimal_text
from ..exact.precision import refine
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.pair import Pair, ShiftPair, WrappedPair
from .claim import ApproxDP, Claim, PureDP, RenyiDP

__all__ = ["Witness", "find_witness"]


@dataclass(frozen=True)
class Witness:
    """where: what to look at; quantity: what is larger than claimed there; excess: by how much."""

    where: str
    quantity: str
    value: Enclosure
    excess: Enclosure

    def to_json(self) -> dict[str, object]:
        """As JSON: where, quantity, and the two enclosures."""
        return {
            "where": self.where,
            "quantity": self.quantity,
            "value": self.value.to_json(),
            "excess": self.excess.to_json(),
        }


def find_witness(mechanism: Mechanism, claim: Claim, measured: Enclosure) -> Witness | None:
    """Something that refutes the claim for certain, for a claim known to be refuted.

    None where the refutation rests on a proof about the tails alone.
    """
    for pair in _worst_pairs(mechanism):
        witness = _from_pair(pair, claim, measured)
        if witness is not None and witness.excess.greater_than(0) is True:
            return witness
    return None


def _worst_pairs(mechanism: Mechanism) -> Iterable[Pair]:
    for count, pair in enumerate(mechanism.pairs()):
        if count == 64:  # the first pairs are the worst ones wherever that is known
            return
        yield pair


def _from_pair(pair: Pair, claim: Claim, measured: Enclosure) -> Witness | None:
    if isinstance(claim, PureDP):
        return _outcome(pair, claim.epsilon)
    if isinstance(claim, ApproxDP):
        return _event(pair, claim)
    if isinstance(claim, RenyiDP):
        value = refine(lambda: renyi.divergences(pair, [claim.order])[0])
        return _order(claim.order, value, claim.epsilon, "Rényi divergence")
    order = Fraction(2)
    if measured.is_finite():
        found = []

        def search() -> Enclosure:
            found.append(concentrated.supremum(pair))
            return found[-1].value

        refine(search, cap=384)
        order = found[-1].order
        if order == 1:  # nearly attained just above 1
            order = 1 + Fraction(1, 1 << 24)
    value = refine(lambda: renyi.divergences(pair, [order])[0])
    return _order(order, value, claim.rho * order, "Rényi divergence")


def _order(order: Fraction, value: Enclosure, bound: Fraction, quantity: str) -> Witness:
    return Witness(f"order {decimal_text(order)}", quantity, value, _minus(value, bound))


def _minus(value: Enclosure, bound: Fraction) -> Enclosure:
    if not value.is_finite():
        return value
    return Enclosure(Fraction(value.lower) - bound, Fraction(value.upper) - bound)


def _outcome(pair: Pair, epsilon: Fraction) -> Witness | None:
    largest = refine(lambda: largest_loss(pair).value)
    outcome = largest_loss(pair).outcome
    quantity = "log-ratio of probabilities"
    base = pair.unwrapped if isinstance(pair, WrappedPair) else pair
    if outcome is None and isinstance(base, ShiftPair):
        try:
            x = last_above(base, ball(epsilon), None, None)
        except (ArithmeticError, OverflowError):
            return None
        where = f"outcome {x}"
        if isinstance(pair, WrappedPair):
            return None
        value = refine(lambda: base.law.loss(x, base.shift))
        return Witness(where, quantity, value, _minus(value, epsilon))
    if outcome is None:
        return None
    return Witness(f"outcome {outcome}", quantity, largest, _minus(largest, epsilon))


def _event(pair: Pair, claim: ApproxDP) -> Witness | None:
    level = claim.epsilon
    where: list[str] = []

    def gain() -> arb:
        event = exceeding(pair, ball(level), level)
        if event.high is not None:
            low = f"{event.low} <= " if event.low is not None else ""
            where[:] = [f"the event {{{low}outcome <= {event.high}}}"]
        else:
            where[:] = [f"the event {{loss > {decimal_text(level)}}}"]
        return event.p - ball(level).exp() * event.q

    value = refine(gain)
    quantity = "P(event) - e^epsilon Q(event)"
    return Witness(where[0], quantity, value, _minus(value, claim.delta))
