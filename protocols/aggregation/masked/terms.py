"""What the users of one round have agreed on before it begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ....exact.number import ExactInput, ParameterError, decimal_text, exact, whole
from ....mechanisms.samplers.bits import RandomBits
from ..aggregation import Masking
from .graph import FAILURE, Circle, check_graph, check_neighbours, least_graph, least_threshold

VERSION = 2
ROUND_BYTES = 16
_BEACON_BYTES = 32
_LARGEST_USER = 2**63 - 1


@frozen(slots=False)
class Terms:
    """The terms of a round; all keys are bound to them, so that other terms give other keys.

    No user unmasks a sum of fewer than `floor` messages, and no terms are made with which a server
    that lies could learn more than the sum with a probability above `failure`.

    modulus     m, the one that the certificate names
    users       who may take part: distinct integers, sorted
    neighbours  k, of each user
    threshold   t, the neighbours that must remain to unmask: k/2 < t <= k
    dropout     the most users that may be missing from the sum
    corrupt     the most users that may collude with the server, beside which `failure` is stated
    failure     the most that the probability may be that a server that lies learns more
    length      integers in a message
    round_id    16 bytes that no other round has
    beacon      32 bytes of public randomness that nobody could foresee or choose when the rest was
                fixed (`drawn` says who may own it): the graph comes from them

    >>> from exactdp.mechanisms.samplers import SystemBits
    >>> terms = Terms.drawn(16, range(10), SystemBits(), dropout=2)
    >>> terms.neighbours, terms.threshold, terms.floor
    (9, 6, 8)
    """

    modulus: int
    users: tuple[int, ...]
    neighbours: int
    threshold: int
    dropout: int
    corrupt: int
    failure: Fraction
    length: int
    round_id: bytes
    beacon: bytes

    def __attrs_post_init__(self) -> None:
        whole(self.modulus, "modulus", at_least=1)
        listed = _sorted(self.users)
        if len(set(listed)) < max(2, len(listed)) or self.users != listed:
            raise ParameterError("users must be a tuple of at least 2 distinct integers, sorted")
        for user in (self.users[0], self.users[-1]):
            whole(user, "users", at_least=0, at_most=_LARGEST_USER)
        check_neighbours(len(self.users), self.neighbours)
        least = self.neighbours // 2 + 1
        whole(self.threshold, "threshold", at_least=least, at_most=self.neighbours)
        whole(self.dropout, "dropout", at_least=0, at_most=len(self.users) - 2)
        whole(self.corrupt, "corrupt", at_least=0, at_most=len(self.users) - 1)
        exact(self.failure, "failure", above=0, at_most=1)
        whole(self.length, "length", at_least=1)
        for name, size in (("round_id", ROUND_BYTES), ("beacon", _BEACON_BYTES)):
            held = getattr(self, name)
            if type(held) is not bytes or len(held) != size:
                raise ParameterError(f"{name} must be {size} bytes")
        check_graph(len(self.users), self.neighbours, self.threshold, self.corrupt, self.failure)

    @staticmethod
    def drawn(
        modulus: ExactInput,
        users: Iterable[int],
        bits: RandomBits,
        *,
        neighbours: ExactInput | None = None,
        threshold: ExactInput | None = None,
        dropout: ExactInput = 0,
        corrupt: ExactInput | None = None,
        failure: ExactInput = FAILURE,
        length: int = 1,
        beacon: bytes | None = None,
    ) -> Terms:
        """Terms with a fresh round and graph.

        corrupt: by default a tenth of the users, but one at least where there are three or more.
        neighbours, threshold: by default the fewest with which a server that lies learns more than
        the sum with probability at most `failure` (`graph`). beacon: the output of a public
        randomness beacon (drand, say) of a time after the users have agreed on everything else;
        by default drawn from `bits`, which is right where one process plays everybody. Raises
        ParameterError for a graph that may fail more often, and where none is good enough.
        """
        chosen = _sorted(users)
        n = len(chosen)
        if n < 2:
            raise ParameterError(f"users must be at least 2, got {n}")
        known = min(max(1, n // 10), n - 2) if corrupt is None else corrupt
        known = whole(known, "corrupt", at_least=0, at_most=n - 1)
        most = whole(dropout, "dropout", at_least=0, at_most=n - 2)
        allowed = exact(failure, "failure", above=0, at_most=1)
        if neighbours is None:
            k, least = least_graph(n, known, most, allowed)
        else:
            k = whole(neighbours, "neighbours", at_least=1)
            least = least_threshold(n, k, known, allowed) if threshold is None else 0
        return Terms(
            whole(modulus, "modulus", at_least=1),
            chosen,
            k,
            least if threshold is None else whole(threshold, "threshold", at_least=1),
            most,
            known,
            allowed,
            length,
            bits.take(8 * ROUND_BYTES).to_bytes(ROUND_BYTES, "little"),
            bits.take(8 * _BEACON_BYTES).to_bytes(_BEACON_BYTES, "little")
            if beacon is None
            else beacon,
        )

    @property
    def floor(self) -> int:
        """The fewest messages that a sum may have: users refuse to unmask one of fewer."""
        return len(self.users) - self.dropout

    @property
    def masking(self) -> Masking:
        """What a certificate names of these terms."""
        return Masking(self.neighbours, self.threshold, self.floor)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of all terms and of the protocol's version."""
        written = {
            "protocol": "exactdp masked sum",
            "version": VERSION,
            "modulus": str(self.modulus),
            "users": self.users,
            "neighbours": self.neighbours,
            "threshold": self.threshold,
            "dropout": self.dropout,
            "corrupt": self.corrupt,
            "failure": decimal_text(self.failure),
            "length": self.length,
            "round": self.round_id.hex(),
            "beacon": self.beacon.hex(),
        }
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).digest()

    def context(self, purpose: bytes, one: int, other: int | None = None) -> bytes:
        """What a key is for: protocol and version, round, modulus (by the digest), users."""
        pair = sorted((one, one if other is None else other))
        ends = b"".join(user.to_bytes(8, "little") for user in pair)
        return b"exactdp masked sum 2 " + purpose + b" " + self.digest + self.round_id + ends

    @cached_property
    def circle(self) -> Circle:
        """The graph of the round.

        Only the beacon and the users' numbers go into it: whoever could choose either knowing the
        other could try until the graph suits.
        """
        return Circle.drawn(self.users, self.neighbours, self.beacon)

    @cached_property
    def near(self) -> dict[int, dict[int, int]]:
        """The neighbours of each user, with the point at which each holds a share of its keys."""
        return {
            user: {other: place + 1 for place, other in enumerate(others)}
            for user, others in self.circle.near().items()
        }

    # -- lists of users, one bit each, in the order of the circle -----------------------------

    def packed(self, present: Iterable[int]) -> bytes:
        """A set of users as bits."""
        chosen = frozenset(present)
        return np.packbits([user in chosen for user in self.circle.order]).tobytes()

    def unpacked(self, listed: bytes) -> frozenset[int] | None:
        """The set of users; None if these are not bits of a set."""
        present = self._bits(listed)
        if present is None:
            return None
        return frozenset(self.circle.order[place] for place in np.flatnonzero(present).tolist())

    def loneliest(self, listed: bytes) -> tuple[int, int] | None:
        """The one in this list with the fewest neighbours in it, and how many; None for no list."""
        present = self._bits(listed)
        if present is None or not present.any():
            return None
        counts = self.circle.neighbours_among(present)
        place = int(np.where(present, counts, len(self.users)).argmin())
        return self.circle.order[place], int(counts[place])

    def _bits(self, listed: bytes) -> NDArray[np.bool_] | None:
        n = len(self.users)
        if len(listed) != (n + 7) // 8:
            return None
        bits = np.unpackbits(np.frombuffer(listed, dtype=np.uint8))
        return None if bits[n:].any() else bits[:n].astype(bool)


def _sorted(users: Iterable[int]) -> tuple[int, ...]:
    """These, sorted. Raises ParameterError for what is not integers."""
    if not isinstance(users, Iterable):
        raise ParameterError(f"users must be integers, got {users!r:.40}")
    listed = list(users)
    for user in listed:
        if type(user) is not int:
            raise ParameterError(f"users must be integers, got {user!r:.40}")
    return tuple(sorted(listed))
