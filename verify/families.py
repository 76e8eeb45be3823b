"""From text to a family of mechanisms that differ in one number: `NAME` or `NAME:key=value,...`.

The keys fix the other parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction

from attrs import evolve

from ..accounting.composition.composed import compose
from ..exact.number import ParameterError, decimal_text, exact, whole
from ..exact.suggest import meant, one_of
from ..mechanisms.catalogue import entries
from ..mechanisms.laws.closed_forms import Gaussians
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.pair import FinitePair
from ..mechanisms.sampled import Sampled
from ..mechanisms.spec import Values, parse, read_name
from .audit import audit
from .calibration import Family
from .continuous_families import NAMES, Chosen, choose_continuous
from .gaussian_order import gaussian_order
from .guarantee import Guarantee
from .order import Cover, Monotone

__all__ = ["Chosen", "calibrated_names", "choose"]


_ROUNDS = " (exactdp protocol federated:... --target finds the least noise of a round)"
_LARGEST = (10_000, 1000)  # epsilons, of which the keys allow one
_MIXED = Monotone("a report of less epsilon is one of more that is mixed with noise, user by user")


def calibrated_names() -> list[str]:
    """The names that `choose` reads."""
    return [*(name for name, one in entries().items() if one.calibrated), *NAMES]


def choose(
    text: str,
    sensitivity: str | None,
    times: int | None,
    poisson: str | None = None,
    find: str | None = None,
    option: str = "--",
) -> Chosen:
    """Read NAME. Raises ParameterError, in one line, for anything that cannot be calibrated.

    times, poisson: None where they are not given. option: what stands before their names in errors.
    """
    name, values = read_name(text, "NAME")
    if find == "threshold":
        return _least_threshold(name, values, sensitivity, poisson, option)
    if find == "epsilon0":
        return _largest_report(name, values, sensitivity or poisson, option)
    if name in NAMES:
        return choose_continuous(name, values, sensitivity, times, poisson, find, option)
    named = f"{option}sensitivity"
    elsewhere = _ROUNDS if name == "federated" else ""
    one = entries()[one_of(name, calibrated_names(), "NAME", elsewhere)]
    kind = one.calibrated
    assert kind is not None
    if poisson is not None:
        raise ParameterError(f"{option}poisson is for {' and '.join(NAMES)} only, got {name}")
    if find not in (None, kind.parameter):
        also = f"or threshold or epsilon0; times and poisson are found of {' and '.join(NAMES)}"
        raise ParameterError(
            f"{option}find must be {kind.parameter} for {name} ({also}), got {find[:40]!r}"
        )
    _check(name, kind.parameter, values, kind.defaults, named)
    given, moved = dict(kind.defaults) | values, 1
    after: tuple[str, ...] = ()
    if "sensitivity" in one.keys:
        if sensitivity is None:
            raise ParameterError(f"{named} must be given: a whole number, at least 1")
        moved = whole(sensitivity, named, at_least=1, at_most=10**9)
        after = (f"sensitivity={moved}",)
    elif sensitivity is not None:
        raise ParameterError(f"{named} must not be given: {name} has none")
    fixed = tuple(f"{key}={value}" for key, value in given.items())
    about = {**given, **dict(each.split("=") for each in after)}

    def build(value: Fraction) -> Mechanism:
        found: Mechanism = one.build({**about, kind.parameter: str(value)})
        return found

    law = getattr(build(Fraction(kind.start)), "law", None)  # bad values are refused here
    terms = law.gaussians if isinstance(law, Gaussians) else None

    def order(claim: Guarantee, uses: int) -> Cover | None:
        if kind.proof is not None:
            return Monotone(kind.proof)
        return None if terms is None else gaussian_order(terms, moved, claim, uses)

    start = kind.start * (moved * math.sqrt(times or 1)) ** kind.power
    family = Family(kind.parameter, build, start, kind.is_whole, kind.falls, order)
    if kind.parameter == "epsilon":
        family = evolve(family, largest=_largest(build))
    if kind.is_open:
        family = evolve(family, halved=kind.proof is not None)
    return Chosen(family, name, fixed, after)


def _least_threshold(
    name: str, values: Values, sensitivity: str | None, poisson: str | None, option: str
) -> Chosen:
    """Of counts per key with this noise: the keys of the spec but for its threshold."""
    given = dict(values)
    for key, value in (("sensitivity", sensitivity), ("poisson", poisson)):
        if value is not None:
            if key in given:
                raise ParameterError(f"{name}: {key} must not be given twice, by {option}{key} too")
            given[key] = value
    if "threshold" in given:
        raise ParameterError(f"{name}: threshold is what is looked for")
    _check_name(name, {"threshold"}, "a threshold")
    least = exact(given.get("sensitivity", "1"), "sensitivity", above=0)

    def build(value: Fraction) -> Mechanism:
        if value < least:  # refused: one user's part of a count would be released for certain
            return Sampled(FinitePair(("with", "without"), (1, 0), (0, 1)))
        return parse(f"{name}:{','.join((*fixed, f'threshold={value}'))}").mechanism

    def order(claim: Guarantee, uses: int) -> Cover | None:
        if audit(compose((build(least), uses)), claim).verified:
            raise ParameterError(
                f"every threshold meets the target, from the sensitivity {decimal_text(least)} on"
            )
        return Monotone("at a higher threshold what lies below it is withheld besides")

    fixed = tuple(f"{key}={value}" for key, value in given.items())
    build(least)  # bad values of other keys are refused here
    start = max(10.0, 10 * float(least))
    family = Family("threshold", build, start, is_whole=True, order=order, halved=True)
    return Chosen(family, name, fixed)


def _largest_report(name: str, values: Values, given: str | None, option: str) -> Chosen:
    """Of users' own reports, shuffled or not: the keys of the spec but for its epsilon."""
    if given is not None:
        raise ParameterError(f"{option}sensitivity and {option}poisson do not go with epsilon0")
    _check_name(name, {"epsilon", "shuffled"}, "an epsilon0")
    if "epsilon" in values:
        raise ParameterError(f"{name}: epsilon is what is looked for")
    if name == "subset-selection" and "size" not in values:
        raise ParameterError("subset-selection: size must be given: the best one jumps")
    fixed = tuple(f"{key}={value}" for key, value in values.items())

    def build(value: Fraction) -> Mechanism:
        return parse(f"{name}:{','.join((*fixed, f'epsilon={value}'))}").mechanism

    build(Fraction(1))  # bad values of other keys are refused here
    family = Family(
        "epsilon", build, falls=False, order=lambda *_: _MIXED, largest=_largest(build), halved=True
    )
    return Chosen(family, name, fixed)


def _largest(build: Callable[[Fraction], Mechanism]) -> Fraction:
    """The largest epsilon that the key allows."""
    for value in _LARGEST:
        with suppress(ParameterError):
            build(Fraction(value))
            return Fraction(value)
    return Fraction(_LARGEST[-1])


def _check_name(name: str, keys: set[str], what: str) -> None:
    names = [each for each, one in entries().items() if keys <= one.keys.keys()]
    if name not in names:
        raise ParameterError(
            f"NAME must be one of {', '.join(names)} to find {what}, got {name[:40]!r}"
        )


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
