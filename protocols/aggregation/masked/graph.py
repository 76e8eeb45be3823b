"""Who masks with whom: a sparse random graph that everyone can compute.

Bell, Bonawitz, Gascón, Lepoint and Raykova, "Secure Single-Server Aggregation with
(Poly)Logarithmic Overhead" (CCS 2020), Section 3: the users stand on a circle in a random order,
and each has the k/2 next to it on either side as neighbours (the Harary graph on k and n). The
order comes from public randomness, so no one has to believe the server about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ....exact.number import ParameterError


def check_neighbours(users: int, neighbours: int) -> None:
    """Raise ParameterError unless the circle of `users` has a graph of this degree."""
    even = neighbours % 2 == 0 and 2 <= neighbours < users
    if not (even or neighbours == users - 1 >= 1):
        raise ParameterError(
            f"neighbours must be an even number between 2 and users - 1 = {users - 1}, or "
            f"{users - 1} itself, got {neighbours}"
        )


@frozen
class Circle:
    """The users in the order in which they stand on the circle, and how many neighbours each has.

    neighbours: even, or all others.
    """

    order: tuple[int, ...]
    neighbours: int

    @staticmethod
    def drawn(users: Sequence[int], neighbours: int, seed: bytes) -> Circle:
        """The circle that the public seed determines: the users sorted by SHA-256(seed, user)."""

        def place(user: int) -> bytes:
            return hashlib.sha256(seed + user.to_bytes(8, "little")).digest()

        return Circle(tuple(sorted(users, key=place)), neighbours)

    def near(self) -> dict[int, tuple[int, ...]]:
        """The neighbours of each user."""
        n, order = len(self.order), self.order
        steps = range(1, n) if self._is_complete else self._steps()
        return {
            user: tuple(order[(place + step) % n] for step in steps)
            for place, user in enumerate(order)
        }

    def neighbours_among(self, present: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of each user's neighbours are present.

        present: booleans, in the order of the circle, as is the result.
        """
        counted = present.astype(np.int64)
        if self._is_complete:
            return int(counted.sum()) - counted
        half = self.neighbours // 2
        around = np.concatenate(([0], counted[-half:], counted, counted[:half])).cumsum()
        windows: NDArray[np.int64] = around[2 * half + 1 :] - around[: -2 * half - 1]
        return windows - counted

    @property
    def _is_complete(self) -> bool:
        return self.neighbours == len(self.order) - 1

    def _steps(self) -> tuple[int, ...]:
        half = self.neighbours // 2
        return (*range(-half, 0), *range(1, half + 1))
