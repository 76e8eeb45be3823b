"""What a certificate file says of mechanisms, claims and protocols: all numbers in exact text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..accounting.composed import Use
from ..accounting.scenario import is_oriented
from ..exact.number import ExactInput, Logarithm, Real, decimal_text, exact, whole
from ..mechanisms.aggregation.masking import Masking
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ..mechanisms.laws.discrete_gaussian_sum import DiscreteGaussianSum
from ..mechanisms.laws.discrete_laplace import DiscreteLaplace
from ..mechanisms.laws.finite import FiniteLaw
from ..mechanisms.laws.law import Law
from ..mechanisms.laws.polya import PolyaDifference
from ..mechanisms.laws.skellam import Skellam
from ..mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ..mechanisms.pair import FinitePair
from ..mechanisms.papers import InvertedScale
from ..mechanisms.protocols.protocol import SumProtocol
from ..mechanisms.protocols.shuffle import Linear, ShuffleSum
from .claim import ApproxDP, Claim, PureDP, RenyiDP

__all__ = [
    "NotCertifiedError",
    "claim_fields",
    "protocol_fields",
    "setting_fields",
    "use_fields",
]


class NotCertifiedError(ValueError):
    """An audit for which no certificate can be made; the message says why."""


def setting_fields(uses: Sequence[Use]) -> dict[str, str]:
    """Who neighbours are, and whether they keep their order over all uses."""
    return {"neighbours": "replace", "orientation": "fixed" if is_oriented(uses) else "free"}


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
    raise NotCertifiedError(f"certificates do not know the mechanism {type(mechanism).__name__}")


def law_fields(law: Law) -> dict[str, Any]:
    """A law by its name and parameters."""
    if isinstance(law, DiscreteLaplace):
        if isinstance(law.scale, Fraction):
            return {"name": "discrete-laplace", "scale": decimal_text(law.scale)}
        if isinstance(law.scale, InvertedScale):
            return {"name": "discrete-laplace", "inverted-scale": decimal_text(law.scale.scale)}
    if isinstance(law, PolyaDifference):
        texts = _texts({"shape": law.shape, "scale": _rational(law.scale, law)})
        return {"name": "polya-difference", **texts}
    if isinstance(law, Skellam):
        return {"name": "skellam", "variance": decimal_text(law.variance)}
    if isinstance(law, DiscreteGaussian):
        return {"name": "discrete-gaussian", "sigma2": decimal_text(law.sigma2)}
    if isinstance(law, DiscreteGaussianSum):
        texts = {"count": str(law.count), "sigma2": decimal_text(law.sigma2)}
        return {"name": "discrete-gaussian-sum", **texts}
    if isinstance(law, Binomial):
        chance = _chance_fields(law)
        return {"name": "binomial", "trials": str(law.trials), "probability": chance}
    if isinstance(law, FiniteLaw):
        return {
            "name": "finite",
            "outcomes": [str(x) for x in law.outcomes],
            "masses": [decimal_text(mass) for mass in law.masses],
        }
    raise NotCertifiedError(f"certificates do not know the law {type(law).__name__}")


def _chance_fields(law: Binomial) -> str | dict[str, str]:
    """An exact probability, or factor times log as in the shuffle protocol."""
    chance = law.success
    if isinstance(chance, Linear) and isinstance(chance.number, Logarithm) and not chance.offset:
        return _texts({"factor": chance.factor, "log": chance.number.argument})
    return decimal_text(_rational(chance, law))


def _rational(number: Real, law: Law) -> Fraction:
    if not isinstance(number, Fraction):
        raise NotCertifiedError(f"certificates do not know the formula in {law}")
    return number


def claim_fields(claim: Claim) -> dict[str, str]:
    """A claim by its kind and numbers."""
    if isinstance(claim, PureDP):
        return {"kind": "pure", **_texts({"epsilon": claim.epsilon})}
    if isinstance(claim, ApproxDP):
        return {"kind": "approx", **_texts({"epsilon": claim.epsilon, "delta": claim.delta})}
    if isinstance(claim, RenyiDP):
        return {"kind": "rdp", **_texts({"order": claim.order, "epsilon": claim.epsilon})}
    return {"kind": "zcdp", **_texts({"rho": claim.rho})}


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
        return {
            "users": str(protocol.users),
            "precision": "1",
            "accuracy": "0",
            "modulus": None,
            "share": law_fields(Binomial(protocol.noise_bits, protocol.success)),
            "trust": "shuffled",
            **ways,
        }
    modulus = protocol.modulus
    return {
        "users": str(protocol.users),
        "precision": str(protocol.precision),
        "accuracy": str(protocol.accuracy),
        "modulus": None if modulus is None else str(modulus),
        "share": law_fields(protocol.noise),
        "trust": protocol.trust.value,
        **ways,
    }
