"""Evidence for a refutation: an event, an outcome or an order, with the certified excess."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from attrs import frozen
from flint import arb

from ..accounting.divergences import concentrated, renyi
from ..accounting.divergences.gaussian_dp import separation
from ..accounting.divergences.largest_loss import largest_loss
from ..accounting.divergences.privacy_profile import Event, exceeding, last_above
from ..exact import Enclosure, ball, decimal_text, enclose, refine, working_precision
from ..mechanisms.pairs.pair import Pair, ShiftPair

_BITS, _EVENTS = 192, 12


@frozen
class Witness:
    """where: what to look at; quantity: what is larger than claimed there; excess: by how much.

    value: what is certain of it.

    >>> import exactdp
    >>> witness = exactdp.audit("skellam:variance=100", "rdp:2,0.0099").witness
    >>> witness.where, witness.excess > 0
    ('order 2', True)
    """

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


def at_order(pair: Pair, order: Fraction, bound: Fraction) -> Witness:
    """The Rényi divergence of this order, above its bound or not."""
    value = refine(lambda: renyi.divergence(pair, order))
    return Witness(f"order {decimal_text(order)}", "Rényi divergence", value, value.plus(-bound))


def steepest_order(pair: Pair) -> Fraction:
    """About where divergence/order is largest, finite over all orders."""
    found = []

    def search() -> Enclosure:
        found.append(concentrated.supremum(pair))
        return found[-1].value

    refine(search, cap=384)
    order = found[-1].order
    return 1 + Fraction(1, 1 << 24) if order == 1 else order  # 1: nearly attained just above


def at_outcome(pair: Pair, epsilon: Fraction) -> Witness | None:
    """An outcome of large loss: the largest, or one far enough out where that is a limit."""
    outcome = largest_loss(pair).outcome
    if outcome is not None:
        value = refine(lambda: largest_loss(pair).value)
    elif isinstance(pair, ShiftPair):  # approached only: an outcome far enough out will do
        try:
            x = last_above(pair, ball(epsilon), None, None)
        except (ArithmeticError, OverflowError):
            return None
        outcome, value = str(x), refine(lambda: pair.law.loss(x, pair.shift))
    else:
        return None
    quantity = "log-ratio of probabilities"
    return Witness(f"outcome {outcome}", quantity, value, value.plus(-epsilon))


def at_separation(pair: Pair, mu: Fraction) -> Witness | None:
    """An event that separates the two laws by more than mu, of some that may (`gaussian_dp`)."""
    quantity = "Phi^-1(P(event)) - Phi^-1(Q(event))"
    largest = largest_loss(pair)
    if largest.value.lower == Decimal("Infinity") and largest.outcome is not None:
        infinite = Enclosure.infinite()
        return Witness(f"outcome {largest.outcome}, of one only", quantity, infinite, infinite)
    best: Witness | None = None
    for share in range(_EVENTS):
        level = (mu * mu / 2 + 4 * mu) * share / _EVENTS
        with working_precision(_BITS):
            event = exceeding(pair, ball(level), level)
            p, q = event.p, event.q
            if not (p > 0 and q > 0 and p < 1 and q < 1):
                continue
            value = enclose(separation(p, 1 - p, q, 1 - q))
        if best is None or value.lower > best.value.lower:
            where = _set(event) or f"the event {{loss > {decimal_text(level)}}}"
            best = Witness(where, quantity, value, value.plus(-mu))
            if value.lower > mu:
                break
    return best


def at_event(pair: Pair, level: Fraction, delta: Fraction) -> Witness:
    """The event of all losses above the level, whose mass exceeds delta or not."""
    where: list[str] = []

    def gain() -> arb:
        event = exceeding(pair, ball(level), level)
        where[:] = [_set(event) or f"the event {{loss > {decimal_text(level)}}}"]
        return event.p - ball(level).exp() * event.q

    value = refine(gain)
    quantity = "P(event) - e^epsilon Q(event)"
    return Witness(where[0], quantity, value, value.plus(-delta))


def _set(event: Event) -> str | None:
    """The event by its outcomes, where they are known."""
    if event.high is None:
        return None
    low = f"{event.low} <= " if event.low is not None else ""
    return f"the event {{{low}outcome <= {event.high}}}"
