"""Other accountants' mechanisms: dp_accounting's `DpEvent`s (`reading`), and Opacus's history."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...common.extra import bring
from ...exact.number import ParameterError, ball, exact, is_list, whole
from ...exact.precision import lower_float, working_precision
from ...exact.rounding import float_above, float_below
from ...exact.square_root import SquareRoot
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ..composition.composed import Composition, Use, compose
from .account import RenyiBound
from .profiles import ProfiledPair
from .reading import RELATIONS, NeighboursError, UnsupportedEventError, read

if TYPE_CHECKING:
    from dp_accounting import DpEvent

_NAMES = {Shape.GAUSSIAN: "GaussianDpEvent", Shape.LAPLACE: "LaplaceDpEvent"}


def from_dp_event(event: DpEvent | Mapping[str, Any], relation: str | None = None) -> Composition:
    """The composition that a dp_accounting event describes.

    event: of dp_accounting, or a dict of it, as JSON has it.
    relation: dp_accounting's name of who is a neighbour (`reading.RELATIONS`); None for the first
    under which it accounts for the event. Raises UnsupportedEventError, which names what cannot be
    read, or has no mechanism here: `ExactAccountant` bounds a few events more, from above.

    >>> from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
    >>> composition = from_dp_event(SelfComposedDpEvent(GaussianDpEvent(10.0), 50))
    >>> f"{composition.epsilon('1e-5'):.3f}"
    '2.944'
    """
    tried = RELATIONS if relation is None else (relation,)
    for last, one in enumerate(tried, 1):
        try:
            found = list(read(event, one))
            break
        except NeighboursError:
            if last == len(tried):
                raise
    for part, _, name in found:
        if part is None or isinstance(part, ProfiledPair | RenyiBound):
            raise UnsupportedEventError(f"{name} cannot be accounted for here", event)
    if not found:
        raise ParameterError("event must release something: it is empty")
    return Composition([Use(part, times) for part, times, _ in found])  # type: ignore[arg-type]


def from_opacus(source: object) -> Composition:
    """The composition of an Opacus accountant: (noise multiplier, sample rate, steps) each.

    source: an accountant, its `state_dict()`, or the history itself.

    Raises ParameterError for anything else.

    >>> from_opacus([(1.1, 0.01, 10)]).times
    10
    """
    held = source.get("history") if isinstance(source, Mapping) else source
    held = getattr(held, "history", held)
    if not is_list(held) or not held:
        raise ParameterError("history must be a list of (noise multiplier, sample rate, steps)")
    uses = []
    for index, entry in enumerate(held):
        if not is_list(entry) or len(entry) != 3:
            raise ParameterError(f"history, entry {index} must be three numbers, got {entry!r:.60}")
        sigma = exact(entry[0], f"history, entry {index}, noise multiplier", above=0)
        rate = exact(entry[1], f"history, entry {index}, sample rate", above=0, at_most=1)
        steps = whole(entry[2], f"history, entry {index}, steps", at_least=1)
        uses.append(Use(ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove", rate), steps))
    return Composition(uses)


def from_json(data: object) -> Composition:
    """What a JSON file holds: an event, or the history of an Opacus accountant.

    data: what `json.load` gives. Raises UnsupportedEventError for anything else.

    >>> from_json({"mechanism": "exactdp", "history": [[1.1, 0.01, 10]]}).times
    10
    """
    if isinstance(data, Mapping) and "class_name" in data:
        return from_dp_event(data)
    if isinstance(data, list) or (isinstance(data, Mapping) and "history" in data):
        return from_opacus(data)
    raise ParameterError(
        'it must hold a dp_accounting event ("class_name": ...) or an Opacus history: a list of '
        "(noise multiplier, sample rate, steps)"
    )


def to_dp_event(what: Mechanism | Composition) -> DpEvent:
    """The dp_accounting event of a mechanism or composition; numbers as floats, pessimistically.

    what: a mechanism, or a composition. Raises UnsupportedEventError for one that dp_accounting has
    no event for, and ImportError where dp_accounting is not installed.

    >>> import exactdp
    >>> to_dp_event(exactdp.mechanism("gaussian:sigma=2,neighbours=add-remove,poisson=1/100"))
    PoissonSampledDpEvent(sampling_probability=0.01, event=GaussianDpEvent(noise_multiplier=2.0))
    """
    events = bring("dp_accounting.dp_event", "interop")
    found = []
    for each, times in compose(what).uses:
        one = _event(each, events)
        found.append(one if times == 1 else events.SelfComposedDpEvent(one, times))
    return found[0] if len(found) == 1 else events.ComposedDpEvent(found)


def _event(mechanism: Mechanism, events: Any) -> DpEvent:
    if isinstance(mechanism, ContinuousNoise) and mechanism.removing:
        size = mechanism.scale / mechanism.sensitivity  # in units of the sensitivity
        noise = getattr(events, _NAMES[mechanism.shape])(_below(size))
        if mechanism.rate == 1:
            return noise
        return events.PoissonSampledDpEvent(float_above(mechanism.rate), noise)
    if isinstance(mechanism, AdditiveNoise) and mechanism.modulus is None:
        law = mechanism.law
        if isinstance(law, DiscreteLaplace) and isinstance(law.scale, Fraction):
            return events.DiscreteLaplaceDpEvent(float_above(1 / law.scale), mechanism.sensitivity)
    if isinstance(mechanism, RandomizedResponse) and not mechanism.delta:
        with working_precision(128):
            lies = 2 / (1 + ball(mechanism.epsilon).exp())
            return events.RandomizedResponseDpEvent(max(lower_float(lies), 0.0), 2)
    raise UnsupportedEventError(f"{type(mechanism).__name__} has no event in dp_accounting")


def _below(number: Fraction | SquareRoot) -> float:
    """The largest float that is not above; of a root, that or the next."""
    if isinstance(number, Fraction):
        return float_below(number)
    near = float(number)
    return near if Fraction(near) ** 2 <= number.square else math.nextafter(near, -math.inf)
