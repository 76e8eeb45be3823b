"""What a certificate file says of mechanisms and protocols: all numbers in exact text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..accounting.composition.composed import Use
from ..accounting.scenario import is_oriented, neighbours
from ..exact.number import ExactInput, ParameterError, decimal_text, exact, whole
from ..mechanisms import Binomial, Law, Mechanism
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.additive.shuffle import ShuffleSum
from ..mechanisms.fields.schema import parts, written
from ..protocols.aggregation import Masking
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
    """A mechanism with its exact parameters, as its class names them (`fields.schema`)."""
    if not getattr(mechanism, "removing", True):
        raise NotCertifiedError(_MIXED)
    if (found := family_fields(mechanism, mechanism_fields)) is not None:
        return found
    kind: str | None = getattr(mechanism, "kind", None)
    if kind is None:
        name = type(mechanism).__name__
        raise NotCertifiedError(f"certificates do not know the mechanism {name}")
    return {"kind": kind, **{name: _field(one) for name, one in parts(mechanism).items()}}


def _field(value: Any) -> Any:
    if isinstance(value, Law):
        return law_fields(value)
    return mechanism_fields(value) if hasattr(value, "pairs") else written(value)


def law_fields(law: Law) -> dict[str, Any]:
    """A law by its name and parameters."""
    if law.name not in LAWS:
        raise NotCertifiedError(f"certificates do not know the distribution {type(law).__name__}")
    fields = law.fields()
    if fields is None:
        raise NotCertifiedError(f"certificates do not know the formula in {law}")
    return fields


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
