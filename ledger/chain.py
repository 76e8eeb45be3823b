"""The chain of hashes: each row of charges covers the one before, what it charges and to whom.

What is hashed is one JSON list, which can be read in one way only. Whoever changes a row has to
change the hashes of all that follow, so that the last one, kept elsewhere, tells.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256

from attrs import frozen

from .limits import Limit

NOTHING = "0" * 64  # what comes before the first row

OPEN, CHARGE, RESERVE, SETTLE, CANCEL = "open", "charge", "reserve", "settle", "cancel"
_WRITER = json.JSONEncoder(separators=(",", ":"))
STAGES = {OPEN: 0, CHARGE: 0, RESERVE: 0, SETTLE: 1, CANCEL: 1}


@frozen
class Used:
    """A mechanism, how often it is used, and what one use costs, each as it is written."""

    mechanism: str
    times: int
    costs: str


@frozen
class Link:
    """A row of the chain, without its hash. users: their names, sorted."""

    id: int
    action: str
    key: str
    stage: int
    project: str
    neighbours: str
    certificate: str
    at: str
    uses: Sequence[Used] = ()
    users: Sequence[str] = ()
    limits: Sequence[Limit] = ()  # of the first row only

    def hash(self, before: str) -> str:
        """Of this row and of all before it."""
        uses = [[each.mechanism, each.times, each.costs] for each in self.uses]
        limits = [
            [
                limit.name,
                str(limit.claim),
                [level.to_text() for level in limit.levels],
                limit.days or 0,
                limit.project,
            ]
            for limit in self.limits
        ]
        row = [before, self.id, self.action, self.key, self.stage, self.project, self.neighbours]
        row += [self.certificate, self.at, uses, list(self.users), limits]
        return sha256(_WRITER.encode(row).encode()).hexdigest()
