"""What stands behind a batch: a certificate, or an audit where the checker cannot follow.

Only what is verified may run: `evidence` raises for a protocol that does not meet its claim, and
`admit` for evidence of another protocol than the one that is used, naming what differs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen

from ..accounting.composition.composed import Composition, compose
from ..common.content_cache import ContentCache
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError
from ..mechanisms.additive.protocol import SumProtocol, Trust
from ..mechanisms.continuous import ContinuousNoise, Shape
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ..mechanisms.laws.gaussian_envelope import unit_parameter
from ..mechanisms.mechanism import AdditiveNoise
from ..verify.audit import Verdict, audit
from ..verify.certificate import Certificate, MismatchError
from ..verify.fields import NotCertifiedError, protocol_fields
from ..verify.guarantee import Guarantee, RenyiDP
from ..verify.protocol import certify, leaking

_WIDEST = 400.0  # standard deviation of what is released
_LISTED = 4096  # moduli whose residues are listed
_ROUGH = Fraction(1, 10**6)  # relative width of what several places cost
_NARROW = 8  # sigma2 of a share


@frozen
class Demand:
    """What must be certified of each batch before the algorithm may run.

    relaxation: the epsilon up to which the secure aggregation is simulated.
    """

    claim: Guarantee
    relaxation: ExactInput = 0


class NotVerifiedError(ValueError):
    """A protocol that is not proved to meet the claim that it is to be run with.

    verdict: REFUTED or UNDECIDED.
    """

    def __init__(self, message: str, verdict: Verdict) -> None:
        super().__init__(message, verdict)
        self.message, self.verdict = message, verdict

    def __str__(self) -> str:
        return self.message


@frozen
class Audited:
    """A claim that the prover has verified; its independent checker cannot follow, or not soon.

    What is audited is the sum before its reduction mod m, of which what is released is
    post-processing.
    """

    protocol: SumProtocol
    demand: Demand
    measured: Enclosure


Evidence = Certificate | Audited
Proof: TypeAlias = Callable[[SumProtocol, Demand], Evidence]


@lru_cache(maxsize=4096)
def evidence(protocol: SumProtocol, demand: Demand) -> Evidence:
    """Prove that each batch of the protocol meets the demand, with a certificate where in reach.

    Raises NotVerifiedError where it does not, or where that stays open.
    """
    if _in_reach(protocol, demand):
        try:
            certificate = certify(protocol, demand.claim, relaxation=demand.relaxation)
        except NotCertifiedError:
            pass  # the audit says why, or stands alone
        else:
            if certificate.verdict is Verdict.VERIFIED:
                return certificate
    return audited(protocol, demand)


def audited(protocol: SumProtocol, demand: Demand) -> Audited:
    """What the prover alone says of it. Raises NotVerifiedError as `evidence` does."""
    found = audit(plain_release(protocol, demand), demand.claim)
    if found.verdict is not Verdict.VERIFIED:
        raise NotVerifiedError(
            f"a batch of {protocol.users} users is not verified for {demand.claim}: "
            f"{found.verdict.name}, measured {found.measured}",
            found.verdict,
        )
    return Audited(protocol, demand, found.measured)


def admit(protocol: SumProtocol, demand: Demand, held: Evidence) -> None:
    """Raise MismatchError, naming what differs, unless it is evidence of just this.

    Of this very protocol, and of the claim that is demanded of it.
    """
    claim = held.content["claim"] if isinstance(held, Certificate) else held.demand.claim.fields()
    if claim != demand.claim.fields():
        raise MismatchError(f"claim is {demand.claim}, but what was verified is {claim}")
    if isinstance(held, Certificate):
        held.matches(protocol, relaxation=demand.relaxation)
        return
    certified, used = (
        protocol_fields(each, 0, 0, relaxation)
        for each, relaxation in (
            (held.protocol, held.demand.relaxation),
            (protocol, demand.relaxation),
        )
    )
    for name in certified:
        if certified[name] != used[name]:
            raise MismatchError(f"{name} is {used[name]}, but was audited as {certified[name]}")


@lru_cache(maxsize=4096)
def identity(held: Evidence) -> str:
    """A short name of the evidence, from all that it says."""
    if isinstance(held, Certificate):
        text = json.dumps(held.content, sort_keys=True)
    else:
        fields = protocol_fields(held.protocol, 0, 0, held.demand.relaxation)
        text = f"audited {held.demand.claim} {sorted(fields.items())}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain_release(protocol: SumProtocol, demand: Demand) -> Composition:
    """The sum of a batch before its reduction mod m, and what the aggregation leaks besides."""
    released = protocol.released()
    plain = AdditiveNoise(released.law, released.sensitivity)
    return compose(leaking(plain, demand.relaxation))


def repeated_cost(protocol: SumProtocol, demand: Demand, times: int) -> Enclosure:
    """What one sum costs who has so many of its users' places, and all the rewards of these.

    She moves the sum by up to `times` precision: the same noise, at that sensitivity, mod m where
    residues are few enough to be listed; else before the reduction, which bounds it from above. In
    the local model every place
    sends a message of its own: so many uses. What an aggregation leaks besides is bounded for any
    two inputs. Rényi divergences of wide noise are bounded by those of the Gaussian that hides it
    (docs/envelope.md).
    """
    claim, released = demand.claim, protocol.released()
    if protocol.trust is Trust.LOCAL:
        return claim.measure(times * plain_release(protocol, demand), _ROUGH)
    shift, law, modulus = times * released.sensitivity, released.law, released.modulus
    if isinstance(claim, RenyiDP) and float(law.moments().variance.upper) > _WIDEST**2:
        distance = Fraction(unit_parameter(law).upper) * shift
        hiding = compose(ContinuousNoise(Shape.GAUSSIAN, 1 / distance))
        return Enclosure(Fraction(0), claim.measure(hiding, _ROUGH).upper)
    moved = AdditiveNoise(law, shift, modulus if modulus and modulus <= _LISTED else None)
    found = claim.measure(compose(leaking(moved, demand.relaxation)), _ROUGH)
    return found if moved.modulus == modulus else Enclosure(Fraction(0), found.upper)


def _in_reach(protocol: SumProtocol, demand: Demand) -> bool:
    """Does the checker follow within seconds?

    It sums (epsilon, delta) outcome by outcome, and so rho of narrow discrete Gaussian shares,
    whose sum can be told from a discrete Gaussian.
    """
    if demand.claim.of_losses:
        return float(protocol.released().law.moments().variance.upper) <= _WIDEST**2
    share = protocol.noise
    return not isinstance(share, DiscreteGaussian) or share.sigma2 >= _NARROW


def to_json(held: Evidence) -> dict[str, Any]:
    """All that it says: a whole certificate, or what was audited."""
    if isinstance(held, Certificate):
        return {"id": identity(held), "certificate": held.content}
    return {
        "id": identity(held),
        "audit": {
            "claim": str(held.demand.claim),
            "verdict": Verdict.VERIFIED.value,
            "measured": held.measured.to_json(),
            "protocol": protocol_fields(held.protocol, 0, 0, held.demand.relaxation),
        },
    }


def cached_evidence(folder: Path) -> Proof:
    """Evidence from this folder; where it is not there it is made, and kept if possible.

    Proving it again takes seconds for some mechanisms. Found again by all that it depends on:
    protocol, claim, relaxation and the version of the package. A transcript does not believe what
    is kept: `exactdp check` proves everything again.
    """
    cache = ContentCache(folder)

    def prove(protocol: SumProtocol, demand: Demand) -> Evidence:
        asked = {
            "version": _version(),
            "claim": demand.claim.fields(),
            "protocol": protocol_fields(protocol, 0, 0, demand.relaxation),
        }
        kept = cache.find(asked, partial(_read, protocol, demand))
        if kept is not None:
            return kept
        made = evidence(protocol, demand)
        with contextlib.suppress(OSError):
            cache.keep(asked, to_json(made))
        return made

    return prove


def _read(protocol: SumProtocol, demand: Demand, entry: dict[str, Any]) -> Evidence | None:
    """The evidence that a file holds, if it is of this very protocol and claim."""
    if "audit" in entry:
        held: Evidence = Audited(protocol, demand, Enclosure.from_json(entry["audit"]["measured"]))
        return held if to_json(held) == entry else None
    held = Certificate(json.dumps(entry["certificate"]))
    with contextlib.suppress(MismatchError, ParameterError):
        admit(protocol, demand, held)
        return held
    return None


def _version() -> str:
    try:
        return version("exactdp")
    except PackageNotFoundError:
        return "unknown"
