"""Gaussian and Laplace noise as families for calibration: in its scale, its uses, its sampling.

More noise is a post-processing of less. N(0, s^2) plus independent N(0, t^2 - s^2) is N(0, t^2);
Lap(s) plus what is 0 with probability s^2/t^2 and else Lap(t) is Lap(t), as the characteristic
functions show: 1/(1 + t^2 x^2) = (s^2/t^2 + (1 - s^2/t^2)/(1 + t^2 x^2))/(1 + s^2 x^2). It passes
through mixtures, so the same holds of sampled users. Fewer uses are more with some releases
dropped. Sampling at a lower rate q' < q: where each output is replaced, with probability
1 - q'/q, by a draw from Q (the law without the user), Q stays and (1-q) Q + q P becomes
(1-q') Q + q' P.

`gaussian` looks for sigma; `gaussian:sigma=1.1`, to find `times`, for how often it may be used, and
to find `poisson`, for the largest probability with which each user may take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from ..accounting.composition.composed import compose
from ..exact.number import ExactInput, ParameterError, decimal_text, exact, whole
from ..exact.suggest import meant, one_of
from ..mechanisms.continuous import ContinuousNoise, Shape
from .calibration import Family
from .order import Monotone

NAMES = tuple(shape.value for shape in Shape)

_MOST_USES = 10**9
_LEAST_RATE = Fraction(1, 10**18)
_NOISE = Monotone("more noise is a post-processing of less, also where users are sampled")
_USES = Monotone("fewer releases are more of which some are dropped")
_RATE = Monotone(
    "sampling at a lower rate is a post-processing: outputs replaced at random by what is released "
    "without the user"
)


def least_noise(
    shape: Shape,
    sensitivity: ExactInput = 1,
    neighbours: str = "replace",
    rate: ExactInput = 1,
    times: ExactInput = 1,
) -> Family:
    """In sigma of a Gaussian, or the scale of a Laplace; times: only to know where to look."""
    moved, chance = exact(sensitivity, "sensitivity", above=0), _rate(rate)
    uses = whole(times, "times", at_least=1, at_most=_MOST_USES)

    def build(scale: Fraction) -> ContinuousNoise:
        return ContinuousNoise(shape, scale, moved, neighbours, chance)

    build(Fraction(1))  # bad values are refused here
    start = float(moved) * max(0.7, float(chance) * uses**0.5)
    return Family(shape.parameter, build, start, order=lambda *_: _NOISE)


def most_uses(mechanism: ContinuousNoise) -> Family:
    """In times: how often this mechanism may be used."""
    return Family(
        "times",
        lambda times: compose((mechanism, times)),
        1000.0,
        is_whole=True,
        falls=False,
        order=lambda *_: _USES,
        largest=Fraction(_MOST_USES),
    )


def largest_rate(mechanism: ContinuousNoise) -> Family:
    """In poisson: the probability with which each user takes part; neighbours add or remove one."""

    def build(rate: Fraction) -> ContinuousNoise:
        return ContinuousNoise(
            mechanism.shape, mechanism.scale, mechanism.sensitivity, "add-remove", rate
        )

    return Family(
        "poisson",
        build,
        0.01,
        falls=False,
        order=lambda *_: _RATE,
        largest=Fraction(1),
        least=_LEAST_RATE,
    )


@frozen
class Chosen:
    """A family, and the spec of each of its members: key=value before and after its own value."""

    family: Family
    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def spec(self, value: Fraction) -> str:
        """The spec of the mechanism, or of all its uses, with this value."""
        parameter, found = self.family.parameter, decimal_text(value)
        if parameter == "times":
            return f"{self.name}:{','.join(self.before + self.after)}*{found}"
        return f"{self.name}:{','.join((*self.before, f'{parameter}={found}', *self.after))}"


def choose_continuous(
    name: str,
    values: Mapping[str, str],
    sensitivity: str | None,
    times: int | None,
    poisson: str | None,
    find: str | None,
    option: str = "--",
) -> Chosen:
    """Raises ParameterError, in one line, for anything that cannot be calibrated.

    times, poisson: None where they are not given. option: what stands before their names in errors.
    """
    shape = Shape(name)
    scale = shape.parameter
    looked = scale if find is None else find
    known = (scale, "times", "poisson")
    one_of(looked, known, f"{option}find")
    for given, parameter in ((times, "times"), (poisson, "poisson")):
        if given is not None and looked == parameter:
            raise ParameterError(f"{option}{parameter} is what is looked for: it must not be given")
    moved = exact("1" if sensitivity is None else sensitivity, f"{option}sensitivity", above=0)
    rate = exact("1" if poisson is None else poisson, f"{option}poisson", above=0, at_most=1)
    sampled = rate != 1 or looked == "poisson"
    allowed = ("neighbours",) if looked == scale else (scale, "neighbours")
    for key in values:
        if key not in allowed:
            told = "is what is looked for" if key == scale else f"is not known{meant(key, allowed)}"
            raise ParameterError(f"{name}: {key[:40]!r} {told}; keys are {', '.join(allowed)}")
    neighbours = values.get("neighbours", "add-remove" if sampled else "replace")
    rest = (f"sensitivity={decimal_text(moved)}", f"neighbours={neighbours}")
    at = (f"poisson={decimal_text(rate)}",) if rate != 1 else ()
    if looked == scale:
        family = least_noise(shape, moved, neighbours, rate, times or 1)
        return Chosen(family, name, (), (*rest, *at))
    if scale not in values:
        raise ParameterError(f"{name}: {scale} missing, such as {name}:{scale}=1")
    size = exact(values[scale], scale, above=0)
    noise = ContinuousNoise(shape, size, moved, neighbours, rate)
    own = f"{scale}={decimal_text(size)}"
    if looked == "times":
        return Chosen(most_uses(noise), name, (), (own, *rest, *at))
    if neighbours != "add-remove":
        raise ParameterError(f"{option}find poisson needs neighbours=add-remove")
    return Chosen(largest_rate(noise), name, (), (own, *rest))


def _rate(rate: ExactInput) -> Fraction:
    return exact(rate, "poisson", above=0, at_most=1)
