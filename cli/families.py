"""From text to a family of mechanisms that differ in one number: `NAME` or `NAME:key=value,...`.

The keys fix the other parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ..exact import ParameterError, decimal_text, whole
from ..exact.suggest import meant
from ..mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    Law,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from ..verify import FLIPS, SCALE, TRIALS, VARIANCE, Claim, Cover, Family, gaussian_order
from .spec import Values, read_name

__all__ = ["Chosen", "choose"]

_Noise: TypeAlias = Callable[[Fraction, Values], Law]
_Order: TypeAlias = Callable[[Values, int, Claim, int], "Cover | None"]  # as in Family


@dataclass(frozen=True)
class Chosen:
    """A family, and the spec of each of its members."""

    family: Family
    name: str
    fixed: tuple[str, ...]  # key=value, as in a spec
    sensitivity: int | None

    def spec(self, value: Fraction) -> str:
        """The spec of the mechanism with this value."""
        parts = [*self.fixed, f"{self.family.parameter}={decimal_text(value)}"]
        if self.sensitivity is not None:
            parts.append(f"sensitivity={self.sensitivity}")
        return f"{self.name}:{','.join(parts)}"


@dataclass(frozen=True)
class _Kind:
    """A noise: the number that is looked for, where the search starts, the keys with defaults.

    power: the noise grows with this power of the sensitivity times the root of the uses, about.
    order: what is known of all other values, given the keys and the sensitivity.
    """

    parameter: str
    law: _Noise
    power: int
    order: _Order
    defaults: tuple[tuple[str, str], ...] = ()
    start: float = 1.0
    is_whole: bool = False


_KINDS: dict[str, _Kind] = {
    "discrete-laplace": _Kind(
        "scale", lambda value, _: DiscreteLaplace(value), 1, lambda *_: SCALE
    ),
    "skellam": _Kind("variance", lambda value, _: Skellam(value), 2, lambda *_: VARIANCE),
    "discrete-gaussian": _Kind(
        "sigma2",
        lambda value, _: DiscreteGaussian(value),
        2,
        lambda _, moved, claim, times: gaussian_order(1, moved, claim, times),
    ),
    "discrete-gaussian-sum": _Kind(
        "sigma2",
        lambda value, given: DiscreteGaussianSum(given["count"], value),
        2,
        lambda given, moved, claim, times: gaussian_order(
            whole(given["count"], "count"), moved, claim, times
        ),
        (("count", "1"),),
    ),
    "polya-difference": _Kind(
        "scale",
        lambda value, given: PolyaDifference(given["shape"], value),
        1,
        lambda *_: SCALE,
        (("shape", "1"),),
    ),
    "binomial": _Kind(
        "trials",
        lambda value, given: Binomial(value, given["probability"]),
        2,
        lambda *_: TRIALS,
        (("probability", "1/2"),),
        start=100,
        is_whole=True,
    ),
}
_RESPONSE = "randomized-response"
_NAMES = (*_KINDS, _RESPONSE)


def choose(text: str, sensitivity: str | None, times: int, named: str = "--sensitivity") -> Chosen:
    """Read NAME. Raises ParameterError, in one line, for anything that cannot be calibrated.

    named: what the sensitivity is called in errors.
    """
    name, values = read_name(text, "NAME")
    if name not in _NAMES:
        raise ParameterError(
            f"NAME must be one of {', '.join(_NAMES)}, got {name[:40]!r}{meant(name, _NAMES)}"
        )
    if name == _RESPONSE:
        _check(name, "epsilon", values, (), named)
        if sensitivity is not None:
            raise ParameterError(f"{named} must not be given: {name} has none")
        family = Family("epsilon", RandomizedResponse, falls=False, order=lambda *_: FLIPS)
        return Chosen(family, name, (), None)
    kind = _KINDS[name]
    _check(name, kind.parameter, values, [key for key, _ in kind.defaults], named)
    if sensitivity is None:
        raise ParameterError(f"{named} must be given: a whole number, at least 1")
    moved = whole(sensitivity, named, at_least=1, at_most=10**9)
    given = dict(kind.defaults) | values

    def build(value: Fraction) -> AdditiveNoise:
        return AdditiveNoise(kind.law(value, given), moved)

    start = kind.start * (moved * math.sqrt(times)) ** kind.power

    def order(claim: Claim, uses: int) -> Cover | None:
        return kind.order(given, moved, claim, uses)

    family = Family(kind.parameter, build, start, kind.is_whole, order=order)
    build(Fraction(kind.start))  # bad values of the other keys are refused here
    return Chosen(family, name, tuple(f"{key}={value}" for key, value in given.items()), moved)


def _check(name: str, parameter: str, values: Values, allowed: Iterable[str], named: str) -> None:
    keys = ", ".join(allowed) or "none"
    for key in values:
        if key == "modulus":
            raise ParameterError(
                f"{name}: modulus must not be given: what the plain sum meets holds mod m as well"
            )
        if key == "sensitivity":
            raise ParameterError(f"{name}: sensitivity must be given by {named}")
        if key == parameter:
            raise ParameterError(f"{name}: {key} is what is looked for; keys are {keys}")
        if key not in allowed:
            raise ParameterError(
                f"{name}: {key[:40]!r} is not known{meant(key, allowed)}; keys are {keys}"
            )
