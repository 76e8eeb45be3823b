"""The stages of a round, and the refusals that user and server share."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn

from .messages import (
    Confirmation,
    FromServer,
    FromUser,
    KeyAdvertisement,
    MaskedInput,
    RefusedError,
    SealedShares,
    Unmasking,
)
from .terms import Terms

__all__ = ["SENT", "Stage", "check_round", "refuse"]


class Stage(Enum):
    """What a user sends next."""

    KEYS = 0
    SHARES = 1
    INPUT = 2
    CONFIRMATION = 3
    UNMASKING = 4
    DONE = 5

    @property
    def next(self) -> Stage:
        """The stage after this one."""
        return Stage(self.value + 1)


SENT: dict[type[FromUser], Stage] = {
    KeyAdvertisement: Stage.KEYS,
    SealedShares: Stage.SHARES,
    MaskedInput: Stage.INPUT,
    Confirmation: Stage.CONFIRMATION,
    Unmasking: Stage.UNMASKING,
}


def refuse(message: FromUser | FromServer, why: str) -> NoReturn:
    """Refuse a message by its name and its user."""
    user = message.sender if hasattr(message, "sender") else message.recipient
    whose = "of" if hasattr(message, "sender") else "to"
    raise RefusedError(f"{type(message).__name__} {whose} user {user} refused: {why}")


def check_round(message: FromUser | FromServer, terms: Terms) -> None:
    """Refuse what was sent in another round."""
    if message.round_id != terms.round_id:
        refuse(message, "it belongs to another round")
