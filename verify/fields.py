"""What a certificate file says of mechanisms and protocols: all numbers in exact text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..accounting.composition.composed import Use
from ..accounting.scenario import is_oriented, neighbours
from ..exact.number import ExactInput, ParameterError, decimal_text, exact, whole
from ..exact.square_root import SquareRoot
from ..mechanisms import AdditiveNoise, Binomial, FinitePair, Law, Mechanism, RandomizedResponse
from ..mechanisms.aggregation import Masking
from ..mechanisms.allocation import Allocation
from ..mechanisms.continuous import ContinuousNoise
from ..mechanisms.fixed_size import FixedSize
from ..mechanisms.protocols.protocol import SumProtocol
from ..mechanisms.protocols.shuffle import ShuffleSum
from ..mechanisms.reach import Reach
from ..mechanisms.rounded import RoundedReach
from ..mechanisms.sampled import Sampled
from ..mechanisms.vector import VectorNoise
from .checker.reading import LAWS
from .family_fields import family_fields

_MIXED = "there are no certificates of lists in which the user comes first in some uses only"


class NotCertifiedError(ValueError):
    """An audit for which no certificate can be made; the message says why."""


def with_user_first(uses: Sequence[Use]) -> Sequence[Use]:
    """The same uses, told so that P is the law with the user wherever users are sampled.

    Both ways round are scenarios of either list, so that all of it may be turned.
    """
    turned = [Use(mechanism.reversed(), times) for mechanism, times in uses]
    return uses if _is_user_first(uses) or not _is_user_first(turned) else turned


def _is_user_first(uses: Sequence[Use]) -> bool:
    return all(getattr(use.mechanism, "removing", True) for use in uses)


def setting_fields(uses: Sequence[Use]) -> dict[str, str]:
    """Who neighbours are, and whether they keep their order over all uses."""
    return {
        "neighbours": neighbours(uses),
        "orientation": "fixed" if is_oriented(uses) else "free",
    }


def made_fields() -> dict[str, str]:
    """Who makes it. When is left to who asks, so that the same audit gives the same bytes."""
    return {"by": "exactdp", "version": _version()}


@cache
def _version() -> str:
    try:
        return version("exactdp")
    except PackageNotFoundError:
        return "unknown"


def time_field(at: datetime) -> str:
    """A time, in UTC to the second. Raises ParameterError for one that names no zone."""
    if at.tzinfo is None:
        raise ParameterError(f"at must name its zone, as datetime.now(UTC) does: {at}")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def use_fields(use: Use) -> dict[str, Any]:
    """A use: a mechanism, and how often."""
    return {"mechanism": mechanism_fields(use.mechanism), "times": str(use.times)}


def mechanism_fields(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism with its exact parameters."""
    if isinstance(mechanism, RandomizedResponse):
        numbers = {"epsilon": mechanism.epsilon, "delta": mechanism.delta}
        return {"kind": "randomized-response", **_texts(numbers)}
    if isinstance(mechanism, FinitePair):
        return {
            "kind": "pair",
            "outcomes": list(mechanism.outcomes),
            "p": [decimal_text(mass) for mass in mechanism.p],
            "q": [decimal_text(mass) for mass in mechanism.q],
            "slack": decimal_text(mechanism.slack),
        }
    if isinstance(mechanism, AdditiveNoise):
        modulus = mechanism.modulus
        return {
            "kind": "additive",
            "law": law_fields(mechanism.law),
            "sensitivity": str(mechanism.sensitivity),
            "modulus": None if modulus is None else str(modulus),
        }
    if isinstance(mechanism, ContinuousNoise):
        if not mechanism.removing:
            raise NotCertifiedError(_MIXED)
        scale, numbers = mechanism.scale, {"sensitivity": mechanism.sensitivity}
        if isinstance(scale, SquareRoot):
            numbers["scale-squared"] = scale.square
        else:
            numbers["scale"] = scale
        return {
            "kind": "continuous",
            "law": mechanism.shape.value,
            **_texts(numbers | {"poisson": mechanism.rate}),
            "neighbours": mechanism.neighbours,
        }
    if isinstance(mechanism, Sampled):
        if not mechanism.removing:
            raise NotCertifiedError(_MIXED)
        inner = mechanism_fields(mechanism.mechanism)
        return {"kind": "sampled", "mechanism": inner, **_texts({"poisson": mechanism.rate})}
    if isinstance(mechanism, FixedSize):
        return {
            "kind": "fixed-size",
            "mechanism": mechanism_fields(mechanism.mechanism),
            "size": str(mechanism.size),
            "population": str(mechanism.population),
        }
    if type(mechanism) is VectorNoise:
        return _vector_fields(mechanism)
    if isinstance(mechanism, Allocation):
        if not mechanism.removing:
            raise NotCertifiedError(_MIXED)
        numbers = {"scale": mechanism.scale, "sensitivity": mechanism.sensitivity}
        counts = {"taken": str(mechanism.taken), "steps": str(mechanism.steps)}
        return {"kind": "allocation", **_texts(numbers), **counts}
    if (found := family_fields(mechanism, mechanism_fields)) is not None:
        return found
    raise NotCertifiedError(f"certificates do not know the mechanism {type(mechanism).__name__}")


def _vector_fields(vector: VectorNoise) -> dict[str, Any]:
    if not vector.removing:
        raise NotCertifiedError(_MIXED)
    reach, modulus = vector.reach, vector.modulus
    return {
        "kind": "vector" if isinstance(reach, Reach) else "rounded-vector",
        "law": law_fields(vector.law),
        **(_reach_fields(reach) if isinstance(reach, Reach) else _rounded_fields(reach)),
        "dimension": None if reach.dimension is None else str(reach.dimension),
        "modulus": None if modulus is None else str(modulus),
        "neighbours": vector.neighbours,
        **_texts({"poisson": vector.rate}),
    }


def _reach_fields(reach: Reach) -> dict[str, str | None]:
    norms = {"l2": reach.l2, "l1": reach.l1, "linf": reach.linf}
    return {name: None if most is None else decimal_text(most) for name, most in norms.items()}


def _rounded_fields(reach: RoundedReach) -> dict[str, str | None]:
    rounding, _, beta = reach.rounding.text.partition(":")
    return {"l2": decimal_text(reach.norm), "rounding": rounding, "beta": beta or None}


def law_fields(law: Law) -> dict[str, Any]:
    """A law by its name and parameters."""
    if law.name not in LAWS:
        raise NotCertifiedError(f"certificates do not know the law {type(law).__name__}")
    fields = law.fields()
    if fields is None:
        raise NotCertifiedError(f"certificates do not know the formula in {law}")
    return fields


def _texts(numbers: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: decimal_text(number) for name, number in numbers.items()}


def protocol_fields(
    protocol: SumProtocol | ShuffleSum,
    dropout: int,
    collusion: int,
    relaxation: ExactInput,
    masking: Masking | None = None,
) -> dict[str, Any]:
    """The section of a certificate that names the protocol, and the masks if it is to."""
    ways = {
        "dropout": str(whole(dropout, "dropout", at_least=0)),
        "collusion": str(whole(collusion, "collusion", at_least=0)),
        "relaxation": decimal_text(exact(relaxation, "relaxation", at_least=0)),
    }
    if masking is not None:
        ways |= {
            "mask-neighbours": str(masking.neighbours),
            "mask-threshold": str(masking.threshold),
            "floor": str(masking.floor),
        }
    if isinstance(protocol, ShuffleSum):
        precision, accuracy, modulus, trust = 1, 0, None, "shuffled"
        share: Law = Binomial(protocol.noise_bits, protocol.success)
    else:
        precision, accuracy, modulus = protocol.precision, protocol.accuracy, protocol.modulus
        share, trust = protocol.noise, protocol.trust.value
    return {
        "users": str(protocol.users),
        "precision": str(precision),
        "accuracy": str(accuracy),
        "modulus": None if modulus is None else str(modulus),
        "share": law_fields(share),
        "trust": trust,
        **ways,
    }
