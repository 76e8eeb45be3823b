"""From text to a family of mechanisms that differ in one number: `NAME` or `NAME:key=value,...`.

The keys fix everything else. More noise is often a post-processing of less, also where users are
sampled, norms bound a vector, or sums are reduced mod m: independent noise is added to what is
released, and that passes through mixtures and reductions. N(0, s^2) plus independent
N(0, t^2 - s^2) is N(0, t^2); Lap(s) plus what is 0 with probability s^2/t^2 and else Lap(t) is
Lap(t), as the characteristic functions show: 1/(1 + t^2 x^2) = (s^2/t^2 + (1 - s^2/t^2)/(1 + t^2
x^2))/(1 + s^2 x^2). Fewer releases are more with some dropped. Sampling at a lower rate q' < q:
where each output is replaced, with probability 1 - q'/q, by a draw from Q (the release without the
user), Q stays and (1-q) Q + q P becomes (1-q') Q + q' P.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from attrs import evolve, frozen

from ..accounting.composition.composed import compose
from ..common.suggest import meant, one_of
from ..exact.number import ParameterError, decimal_text, exact, whole
from ..mechanisms.additive.vector import vector
from ..mechanisms.fields.schema import Calibrated
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.pairs.pair import FinitePair
from ..mechanisms.sampled import Sampled
from ..mechanisms.specs.catalogue import entries
from ..mechanisms.specs.spec import Values, built, parse, read_name
from .audit import audit
from .calibration import MOST_NOISE, Family
from .guarantee import Guarantee
from .monotone import Cover, gaussian_order

__all__ = ["Chosen", "calibrated_names", "choose"]

_ROUNDS = " (exactdp protocol federated:... --target finds the least noise of a round)"
_LARGEST = (10_000, 1000)  # epsilons, of which the keys allow one
_MIXED = Cover.monotone(
    "a report of less epsilon is one of more that is mixed with noise, user by user"
)
_MORE_NOISE = "more noise is a post-processing of less, also where users are sampled"
_USES = Cover.monotone("fewer releases are more of which some are dropped")
_RATE = Cover.monotone(
    "sampling at a lower rate is a post-processing: outputs replaced at random by what is released "
    "without the user"
)
_CONTINUOUS = {
    "gaussian": Calibrated("sigma", 1, _MORE_NOISE),
    "laplace": Calibrated("scale", 1, _MORE_NOISE),
}
_REPORTS = {"unary-encoding", "count-mean-sketch", "subset-selection", "hadamard-response"}
_REPORTS |= {"one-bit-mean"}
_OTHERS = {
    **_CONTINUOUS,
    "noisy-max": Calibrated("scale", 0, None),
    **dict.fromkeys(("tree", "matrix", "sqrt-toeplitz", "blt"), Calibrated("sigma", 0, None)),
    **dict.fromkeys(
        ("permute-and-flip", "sparse-vector", "partition-selection", *sorted(_REPORTS)),
        Calibrated("epsilon", 0, None, falls=False),
    ),
}
_MOST_USES, _LEAST_RATE = 10**9, Fraction(1, 10**18)
_NORMS = {"sensitivity", "l2", "l1", "linf"}
_OF_VECTORS = ("l2", "l1", "dimension", "rounding", "poisson")
_BY_L2, _BY_L1 = ("skellam", "discrete-gaussian"), "discrete-laplace"  # where their l1 is given
# What may be done with noise that is added: more of it stays a post-processing of less.
_ADDED = {*_NORMS, "dimension", "rounding", "modulus"}
_ADDED |= {"neighbours", "poisson", "fixed-size", "allocation"}


def calibrated_names() -> list[str]:
    """The names that `choose` reads."""
    return [name for name, one in entries().items() if one.calibrated or name in _OTHERS]


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


def choose(
    text: str,
    sensitivity: str | None,
    times: int | None,
    poisson: str | None = None,
    find: str | None = None,
    option: str = "--",
    **norms: str | None,
) -> Chosen:
    """Read NAME. Raises ParameterError, in one line, for anything that cannot be calibrated.

    times, poisson: None where they are not given. norms: l2, l1, dimension and rounding, of
    vectors; so are these where NAME names a norm and little besides. option: what stands before
    all their names in errors.
    """
    name, values = read_name(text, "NAME")
    options = {"sensitivity": sensitivity, "poisson": poisson, **norms}
    extra = {key: value for key, value in options.items() if value is not None}
    norms = {key: value for key, value in norms.items() if value is not None}
    vectors = bool(norms.keys() & {"l2", "l1"}) or (find is None and _is_vector(name, values))
    if vectors:
        _check_vectors(name, values, extra)
    for key in () if vectors else norms:
        raise ParameterError(f"{option}{key} is for vectors: give {option}l2 or {option}l1 as well")
    for key, other in {"sensitivity": sensitivity, "find": find}.items() if vectors else ():
        if other is not None:
            norm = "l1" if "l1" in norms else "l2"
            raise ParameterError(f"{option}{key} must not be given with {option}{norm}")
    if find == "epsilon0" or (find is None and name in _REPORTS):
        return _largest_report(name, values, extra, option)
    if find == "threshold":
        return _least_threshold(name, _merged(name, values, extra, option))
    elsewhere = _ROUNDS if name == "federated" else ""
    entry = entries()[one_of(name, calibrated_names(), "NAME", elsewhere)]
    kind = entry.calibrated or _OTHERS[name]
    looked = kind.parameter if find is None else find
    sampled = ("poisson",) if "poisson" in entry.keys else ()
    one_of(looked, (kind.parameter, "times", *sampled, "threshold", "epsilon0"), f"{option}find")
    if looked in extra or (times is not None and looked == "times"):
        raise ParameterError(f"{option}{looked} is what is looked for: it must not be given")
    for key in extra:
        if key not in entry.keys:
            raise ParameterError(f"{option}{key} must not be given: {name} has none")
    extra |= _checked(name, sensitivity, poisson, option)
    merged = _merged(name, values, extra, option)
    if looked in merged:
        raise ParameterError(f"{name}: {looked!r} is what is looked for: it must not be given")
    keys = {**kind.defaults, **merged}
    fixed = len(keys) - len(extra)
    if vectors:
        fixed, keys = 0, _vector_keys(name, keys)
    elif name in _CONTINUOUS:
        plain = not keys.keys() - {"sensitivity", "poisson", "neighbours", kind.parameter}
        fixed, keys = 0, _continuous_keys(keys, looked) if plain else keys
    elif "neighbours" not in keys and (looked == "poisson" or "poisson" in keys):
        keys["neighbours"] = "add-remove"
    if looked == "poisson" and keys["neighbours"] != "add-remove":
        raise ParameterError(f"{option}find poisson needs neighbours=add-remove")

    def build(value: Fraction) -> Mechanism:
        return built(name, keys if looked == "times" else {**keys, looked: str(value)})

    family = _family(kind, keys, build, looked, times)
    if vectors:
        family = evolve(family, by_bracket=True)
        if (one := vector(build(Fraction(1)))) is None or one.is_one_number:
            raise ParameterError("one coordinate of the vector moves only: give its sensitivity")
    typed = tuple(f"{key}={value}" for key, value in keys.items())
    return Chosen(family, name, typed[:fixed], typed[fixed:])


def _is_vector(name: str, values: Values) -> bool:
    """Are the keys those of vectors, and no others?"""
    if name not in (*_BY_L2, _BY_L1) or not values.keys() & {"l2", "l1"}:
        return False
    return values.keys() <= {*_OF_VECTORS, "neighbours"}


def _check_vectors(name: str, values: Values, extra: Values) -> None:
    """Are the keys of the spec, and those besides, of vectors, and is this noise for them?"""
    for key in values:
        if key not in (*_OF_VECTORS, "neighbours"):
            raise ParameterError(
                f"{name}: {key[:40]!r} does not go with a norm beside NAME{meant(key, _OF_VECTORS)}"
                "; write the norm in NAME as well"
            )
    typed = values.keys() | extra.keys()
    names = (*_BY_L2, _BY_L1) if "l1" in typed else _BY_L2
    if name not in names:
        raise ParameterError(
            f"NAME must be {' or '.join(names)} for vectors, got {name[:40]!r}{meant(name, names)}"
        )
    if {"rounding", "l1"} <= typed:
        raise ParameterError("rounding is for vectors of a norm l2, and no l1")


def _vector_keys(name: str, typed: Values) -> dict[str, str]:
    """Of integer vectors with noise of this name in each coordinate; rounded, of real ones."""
    keys = {key: decimal_text(exact(typed[key], key)) for key in _OF_VECTORS[:3] if key in typed}
    rate = decimal_text(exact(typed.get("poisson", "1"), "poisson"))
    besides = {"rounding": typed["rounding"]} if "rounding" in typed else {}
    besides |= {} if rate == "1" else {"poisson": rate}
    # of a sampled or rounded vector a user is added or removed
    neighbours = "add-remove" if besides else "replace"
    if typed.get("neighbours", neighbours) != neighbours:
        raise ParameterError(f"{name}: neighbours must be {neighbours} of these vectors")
    return keys | ({"neighbours": neighbours} if besides else {}) | besides


def _checked(name: str, sensitivity: str | None, poisson: str | None, option: str) -> Values:
    """What is typed of these two options. Raises ParameterError, naming the option."""
    keys: dict[str, str] = {}
    if sensitivity is not None:
        named = f"{option}sensitivity"
        moved = (
            exact(sensitivity, named, above=0)
            if name in _CONTINUOUS
            else whole(sensitivity, named, at_least=1, at_most=10**9)
        )
        keys["sensitivity"] = decimal_text(moved)
    if poisson is not None:
        keys["poisson"] = decimal_text(exact(poisson, f"{option}poisson", above=0, at_most=1))
    return keys


def _merged(name: str, values: Values, extra: Values, option: str) -> dict[str, str]:
    """The keys of the spec and those that are given as options. Raises where one is both."""
    for key in extra:
        if key in values:
            raise ParameterError(f"{name}: {key} must not be given twice, by {option}{key} too")
    return {**values, **extra}


def _continuous_keys(typed: Values, looked: str) -> dict[str, str]:
    """One number with this noise, all of whose keys are written."""
    sampled = looked == "poisson" or exact(typed.get("poisson", "1"), "poisson") != 1
    keys = {key: value for key, value in typed.items() if key not in _ADDED}
    keys["sensitivity"] = decimal_text(exact(typed.get("sensitivity", "1"), "sensitivity", above=0))
    keys["neighbours"] = typed.get("neighbours", "add-remove" if sampled else "replace")
    if sampled and "poisson" in typed:
        keys["poisson"] = decimal_text(exact(typed["poisson"], "poisson", above=0, at_most=1))
    return keys


def _family(
    kind: Calibrated,
    keys: Values,
    build: Callable[[Fraction], Mechanism],
    looked: str,
    times: int | None,
) -> Family:
    if looked == "poisson":
        build(Fraction(1, 2))  # bad values are refused here
        most, least = Fraction(1), _LEAST_RATE
        return Family("poisson", build, 0.01, False, False, lambda *_: _RATE, most, least=least)
    if looked == "times":
        once = build(Fraction(1))
        return Family(
            "times",
            lambda count: compose((once, count)),
            start=1000.0,
            is_whole=True,
            falls=False,
            order=lambda *_: _USES,
            largest=Fraction(_MOST_USES),
        )
    law = getattr(build(Fraction(kind.start)), "law", None)
    terms = law.gaussians if isinstance(law, DiscreteGaussian | DiscreteGaussianSum) else None
    more = keys.keys() - {*kind.defaults, *(_ADDED if kind.falls else {"categories", "shuffled"})}
    moved = max(float(exact(keys.get(key, "1"), key)) for key in _NORMS)
    rate = float(exact(keys.get("poisson", "1"), "poisson"))

    def order(claim: Guarantee, uses: int) -> Cover | None:
        if kind.proof is not None and not more:
            return Cover.monotone(kind.proof)
        if terms is None or keys.keys() - {*kind.defaults, "sensitivity"}:
            return None
        return gaussian_order(terms, int(moved), claim, uses)

    return Family(
        kind.parameter,
        build,
        kind.start * (moved * max(rate * math.sqrt(times or 1), 0.7)) ** kind.power,
        kind.is_whole,
        kind.falls,
        order,
        largest=_largest(build) if kind.parameter == "epsilon" else MOST_NOISE,
        halved=kind.is_open and kind.proof is not None,
    )


def _least_threshold(name: str, given: Values) -> Chosen:
    """Of counts per key with this noise: the keys of the spec but for its threshold."""
    fixed, with_threshold = _spelt(name, given, "threshold", {"threshold"}, "a threshold")
    least = exact(given.get("sensitivity", "1"), "sensitivity", above=0)

    def build(value: Fraction) -> Mechanism:
        if value < least:  # refused: one user's part of a count would be released for certain
            return Sampled(FinitePair(("with", "without"), (1, 0), (0, 1)))
        return with_threshold(value)

    def order(claim: Guarantee, uses: int) -> Cover | None:
        if audit(compose((build(least), uses)), claim).verified:
            raise ParameterError(
                f"every threshold meets the target, from the sensitivity {decimal_text(least)} on"
            )
        return Cover.monotone("at a higher threshold what lies below it is withheld besides")

    build(least)  # bad values of other keys are refused here
    start = max(10.0, 10 * float(least))
    family = Family("threshold", build, start, is_whole=True, order=order, halved=True)
    return Chosen(family, name, fixed)


def _largest_report(name: str, values: Values, given: Values, option: str) -> Chosen:
    """Of users' own reports, shuffled or not: the keys of the spec but for its epsilon."""
    if given:
        raise ParameterError(f"{option}sensitivity and {option}poisson do not go with epsilon0")
    fixed, build = _spelt(name, values, "epsilon", {"epsilon", "shuffled"}, "an epsilon0")
    if name == "subset-selection" and "size" not in values:
        raise ParameterError("subset-selection: size must be given: the best one jumps")
    build(Fraction(1))  # bad values of other keys are refused here
    family = Family(
        "epsilon", build, falls=False, order=lambda *_: _MIXED, largest=_largest(build), halved=True
    )
    return Chosen(family, name, fixed)


def _spelt(
    name: str, given: Values, looked: str, keys: set[str], what: str
) -> tuple[tuple[str, ...], Callable[[Fraction], Mechanism]]:
    """The keys that are fixed, as they are spelt, and the mechanism with a value of this one.

    keys: that names of such a family allow; what: they are looked for, in words.
    """
    names = [each for each, one in entries().items() if keys <= one.keys.keys()]
    if name not in names:
        raise ParameterError(
            f"NAME must be one of {', '.join(names)} to find {what}, got {name[:40]!r}"
        )
    if looked in given:
        raise ParameterError(f"{name}: {looked} is what is looked for")
    fixed = tuple(f"{key}={value}" for key, value in given.items())
    return fixed, lambda value: parse(f"{name}:{','.join((*fixed, f'{looked}={value}'))}").mechanism


def _largest(build: Callable[[Fraction], Mechanism]) -> Fraction:
    """The largest epsilon that the key allows."""
    for value in _LARGEST:
        with suppress(ParameterError):
            build(Fraction(value))
            return Fraction(value)
    return Fraction(_LARGEST[-1])
