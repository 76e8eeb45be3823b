"""Does a protocol release what a certificate is about? Exact rationals and integers only.

Each of n users adds a share of noise to an integer in 0..g, replaced in neighbouring datasets, and
sends the sum mod m. What must be private is, by trust,

    distributed   the sum: of the shares of the n - d - c users that neither vanish (d) nor tell
                  what they drew (c). What they tell and the missing ones' data say nothing of it.
    shuffled      the multiset of all users' bits, one of them their own, the others noise: that is
                  how many of them are 1, the sum; `share` counts one user's noise bits
    local         each message: one share
    central       what the analyzer releases: its own noise, `share`

Shares are independent, so their laws convolve: Pólya differences add their shapes (shape 1 is the
discrete Laplace law), Skellam laws their variances, binomials their trials; discrete Gaussians are
counted.

*Relaxation.* A secure aggregation that on any data is h-close (every event, both ways, up to the
factor e^h) to a simulator of the sum costs 2h more of pure epsilon, by the triangle inequality
(Chowdhury and Zhou 2023, Theorem 3): it is entered as randomized response of 2h beside the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .binomial import Binomial
from .laws import Law, read_law
from .mechanisms import MODULUS, Additive, Mechanism, Response
from .shape import Reader, choice, held, number, read_each, whole

MASKS = ("mask-neighbours", "mask-threshold", "floor")
TRUSTS = ("central", "distributed", "local", "shuffled")
COVERING = ("users", "precision", "accuracy", "modulus", "share", "trust", "relaxation")


@dataclass(frozen=True)
class Protocol:
    """What a certificate says of the protocol."""

    users: int
    precision: int
    accuracy: int
    modulus: int | None
    share: Law
    trust: str
    dropout: int
    collusion: int
    relaxation: Fraction
    masks: tuple[int, ...] = ()  # k, t and the fewest contributors that users accept, if named

    @property
    def missing(self) -> int:
        """How many users' shares protect nobody."""
        return self.dropout + self.collusion


def objection(
    protocol: Protocol, uses: Sequence[tuple[Mechanism, int]], kind: str, verdict: str
) -> str | None:
    """Why this protocol does not release what is certified; None if it does."""
    present = protocol.users - protocol.missing
    if present < 1:
        return "the protocol has no users left"
    if protocol.masks:
        neighbours, threshold, floor = protocol.masks
        if not (threshold <= neighbours < 2 * threshold and neighbours < protocol.users):
            return "the masks must have k/2 < t <= k < users"
        if not protocol.users - protocol.dropout <= floor <= protocol.users:
            return "the masks' floor lets more users be missing than the dropout that is certified"
    least = protocol.users * protocol.precision + protocol.accuracy + 1
    if protocol.modulus is not None and protocol.modulus < least:
        return "the protocol's modulus is too small to decode its sums"
    (mechanism, times), *others = uses
    leaks = [(Response(2 * protocol.relaxation, Fraction(0)), 1)] if protocol.relaxation else []
    if times != 1 or list(others) != leaks:
        return "the protocol releases one sum, and leaks what its relaxation says"
    if leaks and kind != "pure":
        return "what a relaxed aggregation costs is known of pure epsilon only"
    if not isinstance(mechanism, Additive):
        return "the protocol does not release that kind of mechanism"
    if protocol.trust == "shuffled" and not _is_shuffle(protocol):
        return "what is shuffled is bits, with binomial noise"
    shares = present if protocol.trust in ("distributed", "shuffled") else 1
    released = protocol.share.summed(shares)
    if released is None or released != mechanism.law.summed(1):
        return "the protocol's shares do not add up to that noise"
    if mechanism.sensitivity != protocol.precision:
        return "the protocol's precision is not that sensitivity"
    if mechanism.modulus not in (protocol.modulus, None):
        return "the protocol's modulus is another one"
    if mechanism.modulus != protocol.modulus and verdict != "VERIFIED":
        return "what is refuted before the reduction mod m may hold after it"
    return None


def _is_shuffle(protocol: Protocol) -> bool:
    bits = protocol.precision == 1 and protocol.modulus is None
    return bits and isinstance(protocol.share, Binomial)


_FIELDS: dict[str, Reader] = {
    "users": whole(1),
    "precision": whole(1),
    "accuracy": whole(0),
    "modulus": MODULUS,
    "share": read_law,
    "trust": choice(*TRUSTS, wrong=f"trust must be one of {', '.join(TRUSTS)}"),
    "dropout": whole(0),
    "collusion": whole(0),
    "relaxation": number(at_most=10**4),
}


def read_protocol(data: object) -> Protocol:
    """Read what a certificate says of the protocol, and of the masks if it names them."""
    masked = MASKS if "floor" in held(data) else ()
    found = read_each(data, "protocol", _FIELDS | dict.fromkeys(masked, whole(1)))
    masks = tuple(found.pop(name) for name in masked)
    return Protocol(**found, masks=masks)
