"""Users who return, and the ledger that keeps what they have spent.

Round t of every run, counted from 0, is that of user t mod N: "PREFIX" and that number. So nobody
is twice in a batch of one arm that has at most N users, and everybody returns: in later batches, in
other runs, in whatever else is charged to the same ledger.

Before anything of a release is drawn, its users are charged for it, durably. What is charged is
released: so its noise is of the operating system's generator, and no seed determines it. The key
says what the release is of, and has a random part of its own: a run that is repeated, or was killed
and begins again, draws other values, which are other releases, and is charged for them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..exact.number import ParameterError
from .evidence import plain_release
from .plan import Plan
from .release import Batch
from .simulation import Permit

if TYPE_CHECKING:
    from ..ledger import Ledger


@frozen
class Accounts:
    """A ledger by its URL; how many users there are, and how their names begin."""

    url: str
    users: int
    prefix: str = "user "

    def opened(self) -> Ledger:
        """The ledger. Raises ParameterError where there is none."""
        from ..ledger import Ledger

        return Ledger.open(self.url)

    def admit(self, plan: Plan) -> None:
        """Raise ParameterError where releases are not proved, or a batch has too few users."""
        if plan.algorithm.demand is None:
            raise ParameterError(
                f"--ledger: no release of {plan.algorithm.name} is proved, so that none has a cost"
            )
        largest = max((batch.users for batch in plan.batches.values()), default=1)
        if self.users < largest:
            raise ParameterError(
                f"users must be at least {largest}, the largest batch, in which everyone takes "
                f"part once, got {self.users}"
            )

    def identity(self, ledger: Ledger) -> dict[str, Any]:
        """Which ledger and users these are."""
        return {"ledger": ledger.opening(), "users": self.users, "prefix": self.prefix}

    def permit(
        self, ledger: Ledger, plan: Plan, about: Mapping[str, Any], start: int = 0
    ) -> Permit:
        """What charges the users of a release. about: what is run, for the key. start: run 0."""
        demand = plan.algorithm.demand
        assert demand is not None
        wanted = demand(plan.setting)
        whole = {**about, "users": self.users, "once": secrets.token_hex(16)}
        name = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]

        def charge(run: int, batch: Batch, arm: int, first: int) -> None:
            assert batch.release.protocol is not None
            rounds = range(first, first + batch.users)
            ledger.charge(
                plain_release(batch.release.protocol, wanted),
                [f"{self.prefix}{each % self.users}" for each in rounds],
                f"bandit {name}, run {start + run}, batch {batch.number}, arm {arm}",
            )

        return charge
