"""Reading what other accountants were told: dp_accounting's `DpEvent`s, and Opacus's history.

Neither library is needed to read: an event is known by the name of its class and its fields, as an
object or as JSON (`{"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}`, the fields of its
named tuple). Floats stand for the decimals that they print as.

Sampling comes first: one event of a sampled dataset is one use. Several events of the same sample
are not several sampled uses, and refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import working_precision
from ...exact.square_root import SquareRoot
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ...mechanisms.pair import FinitePair
from ..composition.composed import Composition, Use

if TYPE_CHECKING:
    from dp_accounting import DpEvent

_MOST_DEEP = 50
_SHAPES = {"GaussianDpEvent": Shape.GAUSSIAN, "LaplaceDpEvent": Shape.LAPLACE}
_NAMES = {shape: name for name, shape in _SHAPES.items()}


class UnsupportedEventError(ParameterError):
    """An event, or a mechanism, that has no counterpart here; the message names it."""


def from_dp_event(event: DpEvent | Mapping[str, Any]) -> Composition:
    """The composition that a dp_accounting event describes, for neighbours that add or remove.

    Gaussian, Laplace, each Poisson-sampled or not, discrete Laplace, randomized response, trees of
    one epoch (h uses of Gaussian noise, h nodes of which hold a record's data), and these composed.
    Randomized response and discrete Laplace noise replace one user's data here, so that they
    compose with each other only. Raises UnsupportedEventError for anything else, naming it.
    """
    uses = list(_uses(event, 1, 0))
    if not uses:
        raise ParameterError("event must release something: it is empty")
    return Composition(uses)


def from_opacus(source: object) -> Composition:
    """The composition of an Opacus accountant: (noise multiplier, sample rate, steps) each.

    source: an accountant, its `state_dict()`, or the history itself.
    """
    held = source.get("history") if isinstance(source, Mapping) else source
    held = getattr(held, "history", held)
    if not isinstance(held, Sequence) or isinstance(held, str) or not held:
        raise ParameterError("history must be a list of (noise multiplier, sample rate, steps)")
    uses = []
    for index, entry in enumerate(held):
        if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 3:
            raise ParameterError(f"history, entry {index} must be three numbers, got {entry!r:.60}")
        sigma = exact(entry[0], f"history, entry {index}, noise multiplier", above=0)
        rate = exact(entry[1], f"history, entry {index}, sample rate", above=0, at_most=1)
        steps = whole(entry[2], f"history, entry {index}, steps", at_least=1)
        uses.append(Use(_continuous(Shape.GAUSSIAN, sigma, rate), steps))
    return Composition(uses)


def from_json(data: object) -> Composition:
    """What a JSON file holds: an event, or the history of an Opacus accountant."""
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

    Raises UnsupportedEventError for a mechanism that dp_accounting has no event for, and
    ImportError where dp_accounting is not installed.
    """
    try:
        from dp_accounting import ComposedDpEvent, SelfComposedDpEvent
    except ImportError as error:
        raise ImportError('dp_accounting is needed: pip install "exactdp[interop]"') from error
    uses = what.uses if isinstance(what, Composition) else (Use(what, 1),)
    events = [
        _event(each) if times == 1 else SelfComposedDpEvent(_event(each), times)
        for each, times in uses
    ]
    return events[0] if len(events) == 1 else ComposedDpEvent(events)


# -- reading --------------------------------------------------------------------------------------


def _uses(event: object, times: int, depth: int) -> Iterable[Use]:
    name = _name(event)
    if depth > _MOST_DEEP:
        raise ParameterError(f"event must be at most {_MOST_DEEP} levels deep")
    if name == "NoOpDpEvent":
        return
    if name == "ComposedDpEvent":
        for each in _field(event, "events"):
            yield from _uses(each, times, depth + 1)
    elif name == "SelfComposedDpEvent":
        count = whole(_field(event, "count"), f"{name}, count", at_least=0)
        if count:
            yield from _uses(_field(event, "event"), times * count, depth + 1)
    elif name == "SingleEpochTreeAggregationDpEvent":
        steps = _field(event, "step_counts")
        most = max(whole(each, f"{name}, step_counts") for each in _listed(steps))
        if most > 0:  # a tree of so many leaves has so many levels
            yield Use(_noise(event, "GaussianDpEvent"), times * most.bit_length())
    elif name == "PoissonSampledDpEvent":
        rate = exact(
            _field(event, "sampling_probability"), f"{name}, sampling_probability", at_least=0,
            at_most=1,
        )  # fmt: skip
        inner = _field(event, "event")
        if rate == 1:
            yield from _uses(inner, times, depth + 1)
        elif _name(inner) not in _SHAPES:
            raise UnsupportedEventError(f"{name} of {_name(inner)} cannot be accounted for here")
        elif rate:
            yield Use(_noise(inner, _name(inner), rate), times)
    else:
        yield Use(_mechanism(event, name), times)


def _mechanism(event: object, name: str) -> Mechanism:
    if name in _SHAPES:
        return _noise(event, name)
    if name == "DiscreteLaplaceDpEvent":
        parameter = exact(_field(event, "noise_parameter"), f"{name}, noise_parameter", above=0)
        return AdditiveNoise(DiscreteLaplace(1 / parameter), _field(event, "sensitivity"))
    if name == "RandomizedResponseDpEvent":
        noise = exact(
            _field(event, "noise_parameter"), f"{name}, noise_parameter", at_least=0, at_most=1
        )
        buckets = whole(_field(event, "num_buckets"), f"{name}, num_buckets", at_least=2)
        each = noise / buckets
        own, rest = 1 - noise + each, (buckets - 2) * each
        if not rest:
            return FinitePair(("own", "other"), (own, each), (each, own))
        return FinitePair(("own", "other", "rest"), (own, each, rest), (each, own, rest))
    raise UnsupportedEventError(f"{name} cannot be accounted for here")


def _noise(event: object, name: str, rate: Fraction = Fraction(1)) -> ContinuousNoise:
    scale = exact(_field(event, "noise_multiplier"), f"{_name(event)}, noise_multiplier", above=0)
    return _continuous(_SHAPES[name], scale, rate)


def _continuous(shape: Shape, scale: Fraction, rate: Fraction) -> ContinuousNoise:
    return ContinuousNoise(shape, scale, 1, "add-remove", rate)


def _name(event: object) -> str:
    name = event.get("class_name") if isinstance(event, Mapping) else type(event).__name__
    if not isinstance(name, str):
        raise ParameterError("event must name its class, such as GaussianDpEvent")
    return name[:60]


def _field(event: object, key: str) -> Any:
    held = event.get(key) if isinstance(event, Mapping) else getattr(event, key, None)
    if held is None:
        raise ParameterError(f"{_name(event)}: {key} is missing")
    return held


def _listed(steps: ExactInput | Sequence[ExactInput]) -> Sequence[ExactInput]:
    return steps if isinstance(steps, list | tuple) else [steps]  # type: ignore[list-item]


# -- writing --------------------------------------------------------------------------------------


def _event(mechanism: Mechanism) -> DpEvent:
    from dp_accounting import dp_event

    if isinstance(mechanism, ContinuousNoise) and mechanism.removing:
        noise = getattr(dp_event, _NAMES[mechanism.shape])(
            _below(mechanism.scale / mechanism.sensitivity)  # in units of the sensitivity
        )
        if mechanism.rate == 1:
            return noise
        return dp_event.PoissonSampledDpEvent(-_below(-mechanism.rate), noise)
    if isinstance(mechanism, AdditiveNoise) and mechanism.modulus is None:
        law = mechanism.law
        if isinstance(law, DiscreteLaplace) and isinstance(law.scale, Fraction):
            return dp_event.DiscreteLaplaceDpEvent(-_below(-1 / law.scale), mechanism.sensitivity)
    if isinstance(mechanism, RandomizedResponse) and not mechanism.delta:
        with working_precision(128):
            lies = 2 / (1 + ball(mechanism.epsilon).exp())
            found = math.nextafter(float(lies.lower()), 0.0)
        return dp_event.RandomizedResponseDpEvent(found, 2)
    raise UnsupportedEventError(f"{type(mechanism).__name__} has no event in dp_accounting")


def _below(number: Fraction | SquareRoot) -> float:
    """The largest float that is not above; of a root, the largest or the next."""
    near = float(number)
    if isinstance(number, SquareRoot):
        return near if Fraction(near) ** 2 <= number.square else math.nextafter(near, -math.inf)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)
