"""Certificates of protocols: what a batch releases is certified, and nothing else may be used.

    certificate = certify(protocol, PureDP("0.5"))      # or with dropout=, collusion=
    certificate.matches(protocol)                       # raises MismatchError, naming the field
    through(certificate, aggregation)                   # S, if it sums mod the certified modulus,
                                                        # with the masks that it names

A certificate is of the released value, reduced mod m, or of the sum before the reduction, of which
the other is post-processing: then what is verified carries over. It also covers fewer missing users
than it names: the noise with more independent shares is post-processing of the noise with fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import evolve

from ..accounting.composition.composed import Composition, compose
from ..exact.number import ExactInput, ParameterError, exact, whole
from ..mechanisms import (
    AdditiveNoise,
    DiscreteGaussianSum,
    DiscreteLaplace,
    RandomizedResponse,
    Skellam,
)
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.additive.shuffle import ShuffleSum
from ..protocols.aggregation import Masking
from ..protocols.aggregation.aggregation import SecureAggregation
from .audit import Verdict, audit
from .certificate import Certificate, MismatchError, certificate_of, certificate_stating
from .fields import NotCertifiedError, protocol_fields
from .guarantee import ZCDP, Guarantee, PureDP, RenyiDP

_LISTED = 4096  # moduli up to which the reduced value is audited first

_WIDE = 200_000  # variances above which the checker lists no outcomes

_Aggregation = TypeVar("_Aggregation", bound=SecureAggregation)


def certify(
    protocol: SumProtocol | ShuffleSum,
    claim: Guarantee,
    dropout: ExactInput = 0,
    collusion: ExactInput = 0,
    relaxation: ExactInput = 0,
    masking: Masking | None = None,
) -> Certificate:
    """Audit what one batch of the protocol releases, and certify the verdict: VERIFIED or REFUTED.

    dropout, collusion: how many users' shares may be missing or known (`SumProtocol.released`).
    relaxation: the epsilon up to which the secure aggregation is simulated (pure claims only).
    masking: the masks to be named; users then accept no sum with more missing than `dropout`.
    Raises NotCertifiedError where the audit is UNDECIDED or its checker cannot follow.
    """
    missing, known = whole(dropout, "dropout"), whole(collusion, "collusion")
    fields = protocol_fields(protocol, missing, known, relaxation, masking)
    if masking is not None and masking.floor < protocol.users - missing:
        raise ParameterError(
            f"masking must have a floor of at least users - dropout = {protocol.users - missing}, "
            f"got {masking.floor}"
        )
    released = protocol.released(missing, known)
    if (
        leaking(released, relaxation) == released
        and (direct := _direct(released, claim, fields)) is not None
    ):
        return direct
    reason = NotCertifiedError("an UNDECIDED audit has no certificate")
    for mechanism in _views(released, claim):
        found = audit(leaking(mechanism, relaxation), claim)
        if found.verdict is Verdict.VERIFIED or (
            found.verdict is Verdict.REFUTED and mechanism.modulus == released.modulus
        ):
            try:
                return certificate_of(found, fields)
            except NotCertifiedError as error:
                reason = error
    raise reason


def leaking(released: AdditiveNoise, relaxation: ExactInput) -> AdditiveNoise | Composition:
    """What is released, by an aggregation that is simulated up to e^relaxation only.

    Each of two neighbours' transcripts is that close to a simulated one, so that nothing more is
    told than by an independent answer of twice this epsilon.
    """
    leak = 2 * exact(relaxation, "relaxation", at_least=0)
    return compose(released, RandomizedResponse(leak)) if leak else released


def through(certificate: Certificate, aggregation: _Aggregation) -> _Aggregation:
    """The aggregation itself, if it sums mod the modulus that the certificate names.

    Messages reduced mod m and summed in another modulus, or over the integers, release more than
    was certified (`mismatch`). Where the certificate names masks, the aggregation must have the
    same neighbours and threshold, and no lower floor. Raises MismatchError.
    """
    held = certificate.content.get("protocol")
    if held is None:
        raise MismatchError("the certificate names no protocol")
    if held["modulus"] is None or int(held["modulus"]) != aggregation.modulus:
        raise MismatchError(
            f"modulus is {aggregation.modulus}, but was certified as {held['modulus']}"
        )
    if "floor" in held:
        names = ("mask-neighbours", "mask-threshold", "floor")
        certified = Masking(*(int(held[name]) for name in names))
        used = _masking(aggregation, range(int(held["users"])))
        if used is None or evolve(used, floor=certified.floor) != certified:
            raise MismatchError(f"masks are {used}, but were certified as {certified}")
        if used.floor < certified.floor:
            raise MismatchError(f"floor is {used.floor}, but was certified as {certified.floor}")
    return aggregation


def _masking(aggregation: SecureAggregation, users: Iterable[int]) -> Masking | None:
    """The masks of a round of so many users; None for an aggregation without masks."""
    found = getattr(aggregation, "masking", None)
    return None if found is None else found(users)


def _direct(
    released: AdditiveNoise, claim: Guarantee, fields: Mapping[str, Any]
) -> Certificate | None:
    """Of the sum before the reduction, where an audit would be slow and the checker is not."""
    law = released.law
    closed = isinstance(law, DiscreteGaussianSum | Skellam) and isinstance(claim, ZCDP)
    if isinstance(law, Skellam) and isinstance(claim, RenyiDP):
        closed = law.variance > _WIDE
    plain = AdditiveNoise(law, released.sensitivity)
    return certificate_stating(plain, claim, fields) if closed else None


def _views(released: AdditiveNoise, claim: Guarantee) -> Iterator[AdditiveNoise]:
    """What is released, and the same before the reduction; first the one that is easier to audit.

    Listing the residues of a large modulus, for every shift, is slow; the discrete Laplace law has
    closed forms for pure epsilon.
    """
    if released.modulus is None:
        yield released
        return
    plain = AdditiveNoise(released.law, released.sensitivity)
    closed = (type(released.law), type(claim)) == (DiscreteLaplace, PureDP)
    yield from (released, plain) if closed or released.modulus <= _LISTED else (plain, released)
