"""The server of a round: it collects a stage's messages, closes the stage, and answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ..aggregation import AggregationError, Stage
from .keys import (
    KEY_BYTES,
    SECRET_BITS,
    Mask,
    check,
    combine,
    is_sound,
    pair_mask,
    public_half,
    self_mask,
    under,
)
from .messages import (
    DIGEST_BYTES,
    SENT,
    Confirmation,
    Confirmations,
    DeliveredShares,
    FromUser,
    KeyAdvertisement,
    MaskedInput,
    MaskedVector,
    NeighbourKeys,
    Present,
    RefusedError,
    SealedShares,
    Unmasking,
    check_round,
    refuse,
)
from .terms import Terms

_Answer = TypeVar("_Answer")


class Server:
    """Collects with `receive`; `keys`, `shares`, `present`, `confirmations` and `result` close.

    terms: of the round.

    Who has not sent a stage's message when it is closed has vanished, and what comes later is
    refused. `receive` raises RefusedError, and nothing has changed; closing raises
    AggregationError where too few remain.

    >>> from exactdp.mechanisms.samplers import SystemBits
    >>> from exactdp.protocols.aggregation.masked import User
    >>> terms = Terms.drawn(16, range(3), SystemBits())
    >>> server = Server(terms)
    >>> for identity in terms.users:
    ...     server.receive(User(identity, 9, terms).advertise())
    >>> sorted(server.keys())  # to whom it sends their neighbours' keys
    [0, 1, 2]
    """

    def __init__(self, terms: Terms) -> None:
        self.terms, self.stage = terms, Stage.KEYS
        self._by_stage: dict[Stage, dict[int, Any]] = {stage: {} for stage in SENT.values()}
        self._keys: dict[int, KeyAdvertisement] = self._by_stage[Stage.KEYS]
        self._shares: dict[int, SealedShares] = self._by_stage[Stage.SHARES]
        self._inputs: dict[int, Any] = self._by_stage[Stage.INPUT]
        self._confirmed: dict[int, Confirmation] = self._by_stage[Stage.CONFIRMATION]
        self._unmaskings: dict[int, Unmasking] = self._by_stage[Stage.UNMASKING]

    def heard(self, stage: Stage) -> frozenset[int]:
        """Who has sent the message of this stage."""
        return frozenset(self._by_stage[stage])

    def receive(self, message: FromUser) -> None:
        """Take one message of the open stage, or refuse it."""
        sent = SENT.get(type(message))
        if sent is None:
            raise RefusedError(
                f"the server refused a {type(message).__name__}: it is no user's message"
            )
        check_round(message, self.terms)
        if message.sender not in self.terms.near:
            refuse(message, "the round has no such user")
        if sent is not self.stage:
            late = sent.value < self.stage.value
            refuse(message, "its stage is closed" if late else "it is out of order")
        if message.sender in self._by_stage[sent]:
            refuse(message, "it is repeated")
        if sent is not Stage.KEYS and message.sender not in self._by_stage[Stage(sent.value - 1)]:
            refuse(message, "its sender has vanished before")
        match message:
            case KeyAdvertisement():
                self._check_modulus(message)
                if message.terms != self.terms.digest:
                    refuse(message, "it is for other terms")
                if not (is_sound(message.masking_key) and is_sound(message.sealing_key)):
                    refuse(message, "a key of it is of small order")
            case SealedShares():
                self._check_users(message, (user for user, _ in message.shares), self._keys)
            case MaskedInput() | MaskedVector():
                self._check_modulus(message)
                self._check_input(message)
            case Confirmation():
                self._check_users(message, (user for user, _ in message.tags), self._inputs)
            case Unmasking():
                # A holder may lack shares: its owner may have sealed something else.
                gone = self._shares.keys() - self._inputs.keys()
                for pairs, there in ((message.self_masks, self._inputs), (message.keys, gone)):
                    if not {user for user, _ in pairs} <= {*self._near(message.sender, there)}:
                        refuse(message, "it is not for the sender's neighbours that are there")
        self._by_stage[sent][message.sender] = self._kept(message)

    def keys(self) -> dict[int, NeighbourKeys]:
        """Close the key advertisement; what to send to whom."""
        self._close(Stage.KEYS)
        return self._answers(NeighbourKeys, self._keys, lambda user, other: self._keys[other])

    def shares(self) -> dict[int, DeliveredShares]:
        """Close the sharing of keys; what to send to whom."""
        self._close(Stage.SHARES)
        sealed = {user: dict(message.shares) for user, message in self._shares.items()}
        return self._answers(
            DeliveredShares, self._shares, lambda user, owner: (owner, sealed[owner][user])
        )

    def present(self) -> dict[int, Present]:
        """Close the masked inputs: these are summed, if enough remain to unmask them."""
        self._close(Stage.INPUT)
        if len(self._inputs) < self.terms.floor:
            raise AggregationError(
                f"{len(self._inputs)} of {len(self.terms.users)} users remained at the stage "
                f"INPUT, at least {self.terms.floor} are needed"
            )
        for user in self._shares:
            near = self._near(user, self._inputs)
            if (near or user in self._inputs) and len(near) < self.terms.threshold:
                raise AggregationError(
                    f"{len(near)} of the {self.terms.neighbours} neighbours of user {user} "
                    f"remained at the stage {self.stage.name}, {self.terms.threshold} are needed"
                )
        listed = self.terms.packed(self._inputs)
        return {user: Present(self.terms.round_id, user, listed) for user in self._inputs}

    def confirmations(self) -> dict[int, Confirmations]:
        """Close the confirmations of who is present; what to send to whom."""
        self._close(Stage.CONFIRMATION)
        tags = {user: dict(message.tags) for user, message in self._confirmed.items()}
        return self._answers(
            Confirmations, self._confirmed, lambda user, other: (other, tags[other][user])
        )

    def result(self) -> Any:
        """Close the round: the sum mod m of the messages of those present, unmasked: a tuple."""
        self._close(Stage.UNMASKING)
        seeds, keys = self._gathered()
        masks = []
        for user in self._inputs:
            key, sign = self_mask(self.terms, user, self._seed(user, seeds[user]))
            masks.append((key, -sign))
        for user, shares in keys.items():
            own = self._masking_key(user, shares)
            # What the vanished user would have added is what its neighbours lack.
            for other in self._near(user, self._inputs):
                public = self._keys[other].masking_key
                masks.append(pair_mask(self.terms, user, own, other, public))
        return self._unmasked(masks)

    # -- what a message is: integers here, arrays in `vectors` --------------------------------

    def _check_input(self, message: MaskedInput | MaskedVector) -> None:
        if not isinstance(message, MaskedInput):
            refuse(message, "a MaskedInput is expected")
        if len(message.values) != self.terms.length:
            refuse(message, f"it must hold {self.terms.length} integers")
        if max(message.values) >= self.terms.modulus:
            refuse(message, f"its values must be below {self.terms.modulus}")

    def _kept(self, message: FromUser) -> Any:
        """What remains of a message that has been received."""
        return message

    def _unmasked(self, masks: Sequence[Mask]) -> Any:
        inputs = (message.values for message in self._inputs.values())
        total = [sum(column) for column in zip(*inputs, strict=True)]
        return under(total, masks, self.terms.modulus)

    def _gathered(self) -> tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]]:
        """By owner and point: shares of the seeds of the present, of the keys of the vanished.

        Only those that their owner committed to: others would give another secret.
        """
        seeds: dict[int, dict[int, int]] = {user: {} for user in self._inputs}
        keys: dict[int, dict[int, int]] = {
            user: {}
            for user in self._shares.keys() - self._inputs.keys()
            if self._near(user, self._inputs)
        }
        near, half = self.terms.near, DIGEST_BYTES
        checks = {owner: dict(message.checks) for owner, message in self._shares.items()}
        for holder, message in self._unmaskings.items():
            for owner, share in message.self_masks:
                if check(share) == checks[owner][holder][:half]:
                    seeds[owner][near[owner][holder]] = share
            for owner, share in message.keys:
                if check(share) == checks[owner][holder][half:]:
                    keys[owner][near[owner][holder]] = share
        return seeds, keys

    def _seed(self, user: int, shares: Mapping[int, int]) -> bytes:
        secret = self._combined(user, shares, "self-mask")
        seed = None if secret is None else secret.to_bytes(KEY_BYTES, "little")
        if seed is None or hashlib.sha256(seed).digest() != self._shares[user].commitment:
            raise AggregationError(f"shares of the self-mask of user {user} were tampered with")
        return seed

    def _masking_key(self, user: int, shares: Mapping[int, int]) -> X25519PrivateKey:
        secret = self._combined(user, shares, "key")
        if secret is not None:
            key = X25519PrivateKey.from_private_bytes(secret.to_bytes(KEY_BYTES, "little"))
            if public_half(key) == self._keys[user].masking_key:
                return key
        raise AggregationError(f"shares of the key of user {user} were tampered with")

    def _combined(self, user: int, shares: Mapping[int, int], what: str) -> int | None:
        """The secret; None if it cannot be one."""
        if len(shares) < self.terms.threshold:
            raise AggregationError(
                f"too many shares of the {what} of user {user} were tampered with or are missing: "
                f"{len(shares)} are good, {self.terms.threshold} are needed"
            )
        secret = combine(dict(islice(shares.items(), self.terms.threshold)))
        return secret if secret < 2**SECRET_BITS else None

    def _answers(
        self, kind: Callable[..., _Answer], there: Collection[int], part: Callable[[int, int], Any]
    ) -> dict[int, _Answer]:
        """To each of those there, the parts that come from its neighbours among them."""
        return {
            user: kind(
                self.terms.round_id,
                user,
                tuple(part(user, other) for other in self._near(user, there)),
            )
            for user in there
        }

    def _near(self, user: int, present: Collection[int]) -> list[int]:
        return [other for other in self.terms.near[user] if other in present]

    def _check_modulus(self, message: KeyAdvertisement | MaskedInput | MaskedVector) -> None:
        if message.modulus != self.terms.modulus:
            refuse(message, f"its modulus is {message.modulus}, agreed is {self.terms.modulus}")

    def _check_users(
        self, message: FromUser, named: Iterable[int], present: Collection[int]
    ) -> None:
        """It must be for all neighbours of its sender that are in `present`, and no others."""
        if set(named) != set(self._near(message.sender, present)):
            refuse(message, "it is not for the sender's neighbours that are there")

    def _close(self, stage: Stage) -> None:
        if self.stage is not stage:
            raise RefusedError(f"the server is at {self.stage.name}, not at {stage.name}")
        count, needed = len(self._by_stage[stage]), self.terms.threshold + 1
        if count < needed:
            raise AggregationError(
                f"{count} of {len(self.terms.users)} users remained at the stage "
                f"{stage.name}, at least {needed} are needed"
            )
        self.stage = stage.next
