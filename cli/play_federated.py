"""`exactdp protocol federated:... --play`: made-up vectors, really masked and summed."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..common.table import Table
from ..exact import (
    Enclosure,
    OutOfTimeError,
    ParameterError,
    exact,
    time_limit,
    whole,
)
from ..exact.rounding import to_digits
from ..mechanisms.specs.spec import read_name
from ..protocols.aggregation.batch import some_of, some_stages
from ..protocols.federated import FederatedResult, Settings, run_round
from ..verify import ApproxDP, Audit, Guarantee, Verdict, audit
from ..verify.certificate import Certificate, certificate_of
from ..verify.hints import provable_epsilon
from . import output
from .measure import epsilon_of
from .parts import at_most, limit, overflow_warning, shown, who_is_summed
from .playing import Choices
from .result import Part

_LARGEST_BATCH = 100_000
_DIGITS = 6  # of the claim that is certified, rounded up


def filled_in(spec: str, **given: str | None) -> str:
    """The spec with whole numbers that it lacks, or has alike. Raises ParameterError otherwise."""
    _, values = read_name(spec, "SPEC")
    for key, text in given.items():
        if text is None:
            continue
        number = whole(text, f"--{key}", at_least=1)
        if key not in values:
            spec += f"{',' if values else ':'}{key}={number}"
            values[key] = text
        elif whole(values[key], key) != number:
            raise ParameterError(f"--{key} must be {key} of SPEC, {values[key]}, got {text}")
    return spec


def play_federated(spec: str, choices: Choices) -> PlayedFederated:
    """Play it, and measure what it cost.

    Raises ParameterError for what is out of range, and where too few remain.
    """
    settings = Settings.read(read_name(spec, "SPEC")[1])
    if settings.dropout or settings.rate != 1:
        raise ParameterError(
            "SPEC must leave dropout and poisson out in a round that is played: clients drop out "
            "by --dropout, and those who are sampled are the clients"
        )
    level, bits = choices.level, choices.bits
    settings.released()  # refuses where nothing is revealed
    clients = settings.clients
    if clients > _LARGEST_BATCH:
        raise ParameterError(f"clients must be at most {_LARGEST_BATCH}, got {clients}")
    leaving, most = choices.missing(clients)
    gone = some_of(clients, leaving, bits)
    with output.working("playing the round"), choices.summing():
        result = run_round(
            settings.encoding,
            settings.share,
            lambda client: _made_up(client, settings),
            clients,
            bits=bits,
            vanish=some_stages(gone, bits),
            dropout=most,
            masks=not choices.plain,
        )
    missing = clients - result.summed
    with output.working("measuring what remains"), time_limit(choices.seconds):
        costs = {
            gone: epsilon_of(settings.missing(gone).released(), 1, level)
            for gone in {missing, max(most, missing)}
        }
    return PlayedFederated(spec, settings, result, len(gone), choices.source, choices.delta, costs)


def _made_up(client: int, settings: Settings) -> NDArray[np.float64]:
    """A client's vector: data, not noise, of norm about the clip."""
    encoding = settings.encoding
    drawn = np.random.default_rng(client).standard_normal(encoding.dimension)
    scaled: NDArray[np.float64] = drawn * (float(encoding.clip) / np.sqrt(encoding.dimension))
    return scaled


@frozen
class Proof:
    """A certificate, of a round with so many shares missing, and the file that holds it."""

    certificate: Certificate
    missing: int
    file: Path


def certified(
    played: PlayedFederated, claim: Guarantee | None, file: Path, note: str | None
) -> Proof:
    """Of the worst round that clients accept; by default of the least epsilon that is provable.

    That may be more than what is measured: some bounds are the prover's alone. Raises
    ParameterError where it cannot be certified, or not be written, and OutOfTimeError.
    """
    missing = max(played.costs)
    released = played.settings.missing(missing).released()
    with output.working("certifying what remains"):
        if claim is None:
            level = exact(played.delta, "delta")
            upper = provable_epsilon(released, level)
            if upper == Decimal("Infinity"):
                raise OutOfTimeError("no epsilon is known to be finite in the time allowed")
            claim = ApproxDP(to_digits(Fraction(upper), _DIGITS, ROUND_CEILING), level)
            least = min(played.costs[missing].lower, upper)
            found = Audit(released, claim, Verdict.VERIFIED, Enclosure(least, upper))
        else:
            found = audit(released, claim)
        proof = output.written(lambda: certificate_of(found), file, note)
    return Proof(proof, missing, file)


@frozen
class PlayedFederated:
    """What it came to, and epsilon at delta.

    gone: how many clients dropped out, at any stage. costs: by how many shares are missing: as many
    as really are, and as the floor would accept. note: that not all was found in time, where that
    is so.
    """

    spec: str
    settings: Settings
    result: FederatedResult
    gone: int
    source: str
    delta: str
    costs: Mapping[int, Enclosure]
    proof: Proof | None = None
    note: Mapping[str, str] = field(factory=dict)

    @property
    def certified_spec(self) -> str:
        """What the certificate is of, as `exactdp check --expect` takes it."""
        missing = 0 if self.proof is None else self.proof.missing
        return f"{self.spec},dropout={missing}" if missing else self.spec

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        found, encoding = self.result, self.result.encoding
        privacy = [
            {"missing": gone, "quantity": "epsilon", "delta": self.delta, **cost.to_json()}
            for gone, cost in sorted(self.costs.items())
        ]
        return {
            "mechanism": self.spec,
            "bits_from": self.source,
            "simulation": found.simulated,
            "clients": self.settings.clients,
            "summed": found.summed,
            "missing": self.settings.clients - found.summed,
            "dropped_out": self.gone,
            "clipped": found.clipped,
            "present": dict(found.present),
            "coordinates": encoding.size,
            "squared_sensitivity": encoding.squared_sensitivity,
            "rotation_seed": encoding.seed.hex(),
            "error": str(found.error),
            "bound": found.bound.l2,
            "within": found.within,
            "beyond": found.bound.exceeded,
            "wrap": found.bound.wrap,
            "overflow": found.bound.wrap,
            **overflow_warning(found.bound.failure, found.bound.wrap),
            "neighbours": "add-remove",
            "privacy": privacy,
            **({} if self.proof is None else self._proved(self.proof)),
            **self.note,
            "bits_per_user": encoding.bits * encoding.size,
            "bits_sent": found.bits,
            "seconds": {stage: round(each, 4) for stage, each in found.seconds.items()},
            "megabytes": round(_peak(), 1),
        }

    def _proved(self, proof: Proof) -> dict[str, Any]:
        return {
            "claim": proof.certificate.content["claim"],
            "verdict": proof.certificate.verdict.name,
            "certificate": str(proof.file),
            "certificate_of": self.certified_spec,
        }

    def parts(self) -> Iterator[Part]:
        """What happened, and how long each part took."""
        found, encoding = self.result, self.result.encoding
        clients, within = self.settings.clients, "within" if found.within else "BEYOND"
        state = "a simulation, not a release" if found.simulated else "CSPRNG"
        wrap = at_most(Fraction(found.bound.wrap.upper))
        norm = encoding.squared_sensitivity
        told = {
            "mechanism": self.spec,
            "random bits": f"{self.source}: {state}",
            "summed": who_is_summed(found.summed, clients, self.gone, "clients"),
            "clipped": f"{found.clipped} vectors",
            "sent": f"{encoding.size} integers mod 2^{encoding.bits}; squared L2 norm before "
            f"noise at most {norm}, checked exactly",
            "error in L2": f"{found.error:.6g}, {within} the bound {found.bound.l2:.6g}",
            "P(beyond)": f"{limit(Fraction(found.bound.exceeded.upper))}: "
            f"{at_most(found.bound.failure)} and overflow",
            "P(modular overflow)": f"at most {wrap}, over rotation, rounding and noise",
            **overflow_warning(found.bound.failure, found.bound.wrap),
            **{
                f"ε at δ = {self.delta}, {gone} dropouts": shown(cost)
                for gone, cost in sorted(self.costs.items())
            },
            "adjacency": "a client's vector, or zeros instead; its share of noise in both",
            "a client sends": f"{found.bits / 8e6:.6g} MB in all",
            "memory": f"{_peak():.0f} MB at most, of this process",
        }
        if self.proof is not None:
            kind, *numbers = self.proof.certificate.content["claim"].values()
            said = f"{kind}:{','.join(numbers)} {self.proof.certificate.verdict.name}"
            told["certificate"] = f"{said}: {self.proof.file}"
            told["of"] = self.certified_spec
        told |= self.note
        rows = [(stage, f"{seconds:.3f}") for stage, seconds in found.seconds.items()]
        yield told
        yield Table(("part", "seconds"), rows, right=("seconds",))


def _peak() -> float:
    """The most memory that this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)
