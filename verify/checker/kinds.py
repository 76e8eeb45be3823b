"""From the fields of a certificate to mechanisms: anything unexpected is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeGuard

from . import local, selection, shape
from .guarantees import read_guarantee
from .keys import Optimal, Thresholded
from .laws import SymmetricLaw
from .mechanisms import (
    RATE,
    READERS,
    Additive,
    Continuous,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
)
from .releases import read_stream
from .shape import CertificateError
from .shuffled import read_shuffled


def read_use(data: object) -> tuple[Mechanism, int]:
    """Read a mechanism, and how often it is used."""
    found = shape.read_each(data, "use", {"mechanism": _mechanism, "times": shape.whole(1, 10**9)})
    return found["mechanism"], found["times"]


def _mechanism(fields: Mapping[str, Any], name: str) -> Mechanism:
    wrong = f"mechanism kind must be {', '.join(KINDS)}"
    return KINDS[shape.read_choice(fields[name], "kind", KINDS, wrong)](fields[name])


def _sampled(one: Mechanism, rate: Fraction) -> Sampled:
    if not isinstance(one, Additive | Response | TwoLaws):
        raise CertificateError("what is sampled must be additive, randomized-response or pair")
    return Sampled(one, rate)


def _batches(one: Mechanism, size: int, population: int) -> FixedSize:
    if not (isinstance(one, Response) or _is_log_concave(one)):
        raise CertificateError(
            "mechanism of batches must be randomized-response, continuous with neighbours replace, "
            "or additive with a symmetric log-concave law and no modulus"
        )
    if size > population:
        raise CertificateError("size must be at most the population")
    return FixedSize(one, size, population)


def _is_log_concave(noise: Mechanism) -> TypeGuard[Additive | Continuous]:
    if isinstance(noise, Continuous):
        return noise.neighbours == "replace"
    if not isinstance(noise, Additive) or noise.modulus is not None:
        return False
    return isinstance(noise.law, SymmetricLaw) and noise.law.is_log_concave


def _thresholded(
    noise: Mechanism, threshold: Fraction, keys: int, names: bool, rate: Fraction
) -> Thresholded:
    plain = isinstance(noise, Continuous) and noise.neighbours == "add-remove" and noise.rate == 1
    if isinstance(noise, Additive) and isinstance(noise.law, SymmetricLaw):
        plain = noise.modulus is None
    if not plain:
        raise CertificateError(
            "noise of counts must be additive, symmetric, with no modulus; or continuous, with "
            "neighbours add-remove and poisson 1"
        )
    assert isinstance(noise, Additive | Continuous)
    if threshold < noise.sensitivity:
        raise CertificateError("threshold must be at least the sensitivity")
    if isinstance(noise, Additive) and threshold.denominator != 1:
        raise CertificateError("threshold of noise on the integers must be a whole number")
    if rate < 1 and (keys > 1 or names):
        raise CertificateError("poisson below 1 is of one key, with its count")
    return Thresholded(noise, threshold, keys, names, rate)


_KEYS = shape.whole(1, 10**6)
KINDS: dict[str, Callable[[object], Mechanism]] = {
    **{kind: READERS[kind] for kind in ("additive", "randomized-response", "pair", "continuous")},
    "sampled": shape.plainly("sampled", _sampled, mechanism=_mechanism, poisson=RATE),
    "fixed-size": shape.plainly("fixed-size", _batches, mechanism=_mechanism, size=shape.whole(1),
        population=shape.whole(1)),
    **{kind: READERS[kind] for kind in ("allocation", "vector", "rounded-vector")},
    **local.READERS,
    **selection.READERS,
    "guarantee": read_guarantee,
    "shuffled": read_shuffled,
    "threshold": shape.plainly("threshold", _thresholded, noise=_mechanism,
        threshold=shape.number(at_most=10**30), keys=_KEYS, names=shape.read_yes, poisson=RATE),
    "partition-selection": shape.plainly("partition-selection", Optimal,
        epsilon=shape.number(above=Fraction(0), at_most=1000), delta=shape.below_one, keys=_KEYS),
    "stream": read_stream,
}  # fmt: skip
