"""What the users of one round have agreed on before it begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....exact.number import ExactInput, ParameterError, whole
from ...samplers.bits import RandomBits
from .graph import Circle, check_neighbours

__all__ = ["MOST_NEIGHBOURS", "ROUND_BYTES", "Terms"]

VERSION = 1
ROUND_BYTES = 16
MOST_NEIGHBOURS = 32  # by default
_LARGEST_USER = 2**63 - 1


@dataclass(frozen=True)
class Terms:
    """The terms of a round; all keys are bound to them, so that other terms give other keys.

    modulus     m, the one that the certificate names
    users       who may take part: distinct integers, sorted
    neighbours  k, of each user
    threshold   t, the neighbours that must remain to unmask: k/2 < t <= k
    length      integers in a message
    round_id    16 bytes that no other round has
    seed        32 bytes of public randomness that nobody chose: the graph comes from them
    """

    modulus: int
    users: tuple[int, ...]
    neighbours: int
    threshold: int
    length: int
    round_id: bytes
    seed: bytes

    def __post_init__(self) -> None:
        whole(self.modulus, "modulus", at_least=1)
        if len(self.users) < 2 or list(self.users) != sorted(set(self.users)):
            raise ParameterError("users must be at least 2 distinct integers, sorted")
        for user in (self.users[0], self.users[-1]):
            whole(user, "users", at_least=0, at_most=_LARGEST_USER)
        check_neighbours(len(self.users), self.neighbours)
        least = self.neighbours // 2 + 1
        whole(self.threshold, "threshold", at_least=least, at_most=self.neighbours)
        whole(self.length, "length", at_least=1)
        if len(self.round_id) != ROUND_BYTES or len(self.seed) != 32:
            raise ParameterError("round_id must be 16 bytes, and seed 32")

    @staticmethod
    def drawn(
        modulus: ExactInput,
        users: Iterable[int],
        bits: RandomBits,
        *,
        neighbours: int | None = None,
        threshold: int | None = None,
        length: int = 1,
    ) -> Terms:
        """Terms with a fresh round and graph.

        neighbours: by default 32, or all others where there are fewer. threshold: by default the
        least above two thirds of them, so that almost a third of them may vanish, and almost a
        third collude with a server that lies.
        """
        chosen = tuple(sorted(users))
        degree = min(MOST_NEIGHBOURS, len(chosen) - 1) if neighbours is None else neighbours
        return Terms(
            whole(modulus, "modulus", at_least=1),
            chosen,
            degree,
            2 * degree // 3 + 1 if threshold is None else threshold,
            length,
            bits.take(8 * ROUND_BYTES).to_bytes(ROUND_BYTES, "little"),
            bits.take(256).to_bytes(32, "little"),
        )

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
            "length": self.length,
            "round": self.round_id.hex(),
            "seed": self.seed.hex(),
        }
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).digest()

    def context(self, purpose: bytes, one: int, other: int | None = None) -> bytes:
        """What a key is for: protocol and version, round, modulus (by the digest), users."""
        pair = sorted((one, one if other is None else other))
        ends = b"".join(user.to_bytes(8, "little") for user in pair)
        return b"exactdp masked sum 1 " + purpose + b" " + self.digest + self.round_id + ends

    @cached_property
    def circle(self) -> Circle:
        """The graph of the round."""
        return Circle.drawn(self.users, self.neighbours, self.seed)

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
