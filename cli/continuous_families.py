"""Calibrating continuous noise: NAME, and which number is looked for.

`gaussian` looks for sigma; `gaussian:sigma=1.1 --find times` for how often it may be used, and
`--find poisson` for the largest probability with which each user may take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..exact import ParameterError, decimal_text, exact
from ..exact.suggest import meant
from ..mechanisms.continuous import ContinuousNoise, Shape
from ..verify import Family
from ..verify.continuous_families import largest_rate, least_noise, most_uses

__all__ = ["ChosenContinuous", "NAMES", "choose_continuous"]

NAMES = tuple(shape.value for shape in Shape)
_SCALES = {Shape.GAUSSIAN: "sigma", Shape.LAPLACE: "scale"}


@dataclass(frozen=True)
class ChosenContinuous:
    """A family, and the spec of each of its members."""

    family: Family
    name: str
    fixed: tuple[str, ...]  # key=value, as in a spec

    def spec(self, value: Fraction) -> str:
        """The spec of the mechanism, or of all its uses, with this value."""
        parameter, found = self.family.parameter, decimal_text(value)
        if parameter == "times":
            return f"{self.name}:{','.join(self.fixed)}*{found}"
        return f"{self.name}:{','.join((f'{parameter}={found}', *self.fixed))}"


def choose_continuous(
    name: str,
    values: Mapping[str, str],
    sensitivity: str | None,
    times: int | None,
    poisson: str | None,
    find: str | None,
    option: str = "--",
) -> ChosenContinuous:
    """Raises ParameterError, in one line, for anything that cannot be calibrated.

    times, poisson: None where they are not given. option: what stands before their names in errors.
    """
    shape = Shape(name)
    scale = _SCALES[shape]
    looked = scale if find is None else find
    known = (scale, "times", "poisson")
    if looked not in known:
        raise ParameterError(
            f"{option}find must be one of {', '.join(known)}, got {looked[:40]!r}"
            f"{meant(looked, known)}"
        )
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
        return ChosenContinuous(family, name, (*rest, *at))
    if scale not in values:
        raise ParameterError(f"{name}: {scale} missing, such as {name}:{scale}=1")
    size = exact(values[scale], scale, above=0)
    noise = ContinuousNoise(shape, size, moved, neighbours, rate)
    own = f"{scale}={decimal_text(size)}"
    if looked == "times":
        return ChosenContinuous(most_uses(noise), name, (own, *rest, *at))
    if neighbours != "add-remove":
        raise ParameterError(f"{option}find poisson needs neighbours=add-remove")
    return ChosenContinuous(largest_rate(noise), name, (own, *rest))
