"""A user of a round: a state machine that answers each of the server's messages once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ....exact.number import ParameterError, whole
from ....mechanisms.samplers.bits import RandomBits, SystemBits
from ..aggregation import AggregationError, Stage, residue
from .keys import (
    PRIME,
    SHARE_BYTES,
    Channel,
    Mask,
    agree,
    check,
    new_key,
    pair_mask,
    public_half,
    secret_half,
    self_mask,
    split,
    under,
)
from .messages import (
    Confirmation,
    Confirmations,
    DeliveredShares,
    FromServer,
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


class User:
    """One user. Each method takes the server's message and returns what to send.

    A message that is out of order, repeated, of another round, tampered with or not of the
    expected type raises RefusedError and changes nothing. AggregationError: fewer neighbours are
    left than the threshold, or fewer contributors than the floor, so that this user goes no
    further. What one neighbour sent wrongly (a share, a confirmation) counts as missing: nobody
    can stop the round by it.

    identity: among the terms' users. terms: of the round, the same for all.
    message: an integer in 0, ..., m - 1, or a sequence of as many as the terms say.
    bits: the operating system's by default; others are for tests and simulation.

    >>> terms = Terms.drawn(16, range(3), SystemBits())
    >>> user = User(0, 9, terms)
    >>> user.advertise().sender
    0
    """

    def __init__(
        self,
        identity: int,
        message: Any,
        terms: Terms,
        bits: RandomBits | None = None,
    ) -> None:
        whole(identity, "identity", at_least=0)
        if identity not in terms.near:
            raise ParameterError(f"identity must be one of the users of the round, got {identity}")
        self.identity, self.terms, self.stage = identity, terms, Stage.KEYS
        self._message = self._read(message)
        self._bits = SystemBits() if bits is None else bits
        self._masking, self._sealing = new_key(self._bits), new_key(self._bits)
        self._seed = self._bits.take(256).to_bytes(32, "little")
        self._public: dict[int, bytes] = {}  # of neighbours: their masking keys
        self._channels: dict[int, Channel] = {}
        self._held: dict[int, tuple[int, int]] = {}  # by owner: a share of its seed and of its key
        self._masked: frozenset[int] = frozenset()  # the neighbours whose masks are in the input
        self._present: frozenset[int] = frozenset()
        self._digest = b""

    def advertise(self) -> KeyAdvertisement:
        """Begin: the public keys."""
        if self.stage is not Stage.KEYS:
            raise RefusedError(f"user {self.identity} has advertised its keys already")
        self.stage = Stage.SHARES
        return KeyAdvertisement(
            self.terms.round_id,
            self.identity,
            self.terms.modulus,
            self.terms.digest,
            public_half(self._masking),
            public_half(self._sealing),
        )

    def share_keys(self, message: NeighbourKeys) -> SealedShares:
        """Share the secret half of the masking key and the seed of the self-mask."""
        self._check(message, NeighbourKeys, Stage.SHARES)
        points = self.terms.near[self.identity]
        for each in message.keys:
            check_round(each, self.terms)
            if each.sender not in points:
                refuse(each, f"user {self.identity} has no such neighbour")
            if each.modulus != self.terms.modulus:
                refuse(each, f"its modulus is {each.modulus}, agreed is {self.terms.modulus}")
            if each.terms != self.terms.digest:
                refuse(each, "it is for other terms")
        self._enough(len(message.keys), "advertised keys")
        channels = {}
        for each in message.keys:
            try:
                context = self.terms.context(b"seal", self.identity, each.sender)
                key = agree(self._sealing, each.sealing_key, context)
            except ValueError:
                refuse(each, "its sealing key is of small order")
            channels[each.sender] = Channel(key, self.identity, each.sender)
        places = [points[other] for other in channels]
        threshold = self.terms.threshold
        seeds = split(int.from_bytes(self._seed, "little"), threshold, places, self._bits)
        keys = split(secret_half(self._masking), threshold, places, self._bits)
        shares = {other: (seeds[points[other]], keys[points[other]]) for other in channels}
        sealed = []
        for other, channel in channels.items():
            content = b"".join(share.to_bytes(SHARE_BYTES, "little") for share in shares[other])
            sealed.append((other, channel.seal(content)))
        self._channels = channels
        self._public = {each.sender: each.masking_key for each in message.keys}
        self.stage = Stage.INPUT
        commitment = hashlib.sha256(self._seed).digest()
        checks = tuple((other, check(seed) + check(key)) for other, (seed, key) in shares.items())
        return SealedShares(self.terms.round_id, self.identity, commitment, tuple(sealed), checks)

    def mask(self, message: DeliveredShares) -> MaskedInput | MaskedVector:
        """Keep the neighbours' shares, and send the message under all masks.

        A share that does not open, or is none, is not kept: its owner has one fewer holder.
        """
        self._check(message, DeliveredShares, Stage.INPUT)
        held = {}
        for owner, sealed in message.shares:
            if owner not in self._channels:
                refuse(message, f"user {owner} is no neighbour that advertised keys")
            content = self._channels[owner].open(sealed)
            if content is not None:
                halves = content[:SHARE_BYTES], content[SHARE_BYTES:]
                seed, key = (int.from_bytes(half, "little") for half in halves)
                if max(seed, key) < PRIME:
                    held[owner] = seed, key
        self._enough(len(held), "shared their keys")
        masks = [self_mask(self.terms, self.identity, self._seed)]
        senders = frozenset(owner for owner, _ in message.shares)
        for other in sorted(senders):
            try:
                public = self._public[other]
                masks.append(pair_mask(self.terms, self.identity, self._masking, other, public))
            except ValueError:
                refuse(message, f"the masking key of user {other} is of small order")
        sent = self._under(masks)
        self._held, self._masked, self.stage = held, senders, Stage.CONFIRMATION
        return sent

    def confirm(self, message: Present) -> Confirmation:
        """Tell the neighbours which list of those present the server has shown.

        A list of fewer than the floor is not accepted: the noise of those on it would not do.
        """
        self._check(message, Present, Stage.CONFIRMATION)
        present = self.terms.unpacked(message.listed)
        if present is None:
            refuse(message, "it is no list of the round's users")
        if self.identity not in present:
            refuse(message, "it says that this user has vanished")
        near = self.terms.near[self.identity].keys() & present
        unknown = near - self._masked
        if unknown:
            refuse(message, f"user {min(unknown)} is in it, whose shares never came")
        if len(present) < self.terms.floor:
            raise AggregationError(
                f"{len(present)} of {len(self.terms.users)} users are present, user "
                f"{self.identity} unmasks no sum of fewer than the {self.terms.floor} needed"
            )
        loneliest = self.terms.loneliest(message.listed)
        assert loneliest is not None
        self._enough(loneliest[1], "are present", loneliest[0])
        self._present = present
        self._digest = hashlib.sha256(self.terms.digest + message.listed).digest()
        self.stage = Stage.UNMASKING
        return Confirmation(
            self.terms.round_id,
            self.identity,
            tuple((other, self._channels[other].confirm(self._digest)) for other in sorted(near)),
        )

    def unmask(self, message: Confirmations) -> Unmasking:
        """Open one share of each neighbour: of its self-mask if it is present, else of its key.

        Once, and by the one list that this user and its neighbours have confirmed.
        """
        self._check(message, Confirmations, Stage.UNMASKING)
        for other, _ in message.tags:
            if other not in self._channels or other not in self._present:
                refuse(message, f"user {other} is no neighbour that is present")
        same = sum(self._channels[other].confirms(tag, self._digest) for other, tag in message.tags)
        self._enough(same, "confirmed the same list")
        self.stage = Stage.DONE
        present, held = self._present, self._held
        return Unmasking(
            self.terms.round_id,
            self.identity,
            tuple((owner, shares[0]) for owner, shares in held.items() if owner in present),
            tuple((owner, shares[1]) for owner, shares in held.items() if owner not in present),
        )

    # -- what a message is: integers here, arrays in `vectors` --------------------------------

    def _read(self, message: Any) -> Any:
        values = (message,) if isinstance(message, int) else tuple(message)
        if len(values) != self.terms.length:
            raise ParameterError(
                f"the message of user {self.identity} must hold {self.terms.length} integers, "
                f"got {len(values)}"
            )
        return tuple(residue(value, self.terms.modulus, self.identity) for value in values)

    def _under(self, masks: Sequence[Mask]) -> MaskedInput | MaskedVector:
        values = under(self._message, masks, self.terms.modulus)
        return MaskedInput(self.terms.round_id, self.identity, self.terms.modulus, values)

    def _check(self, message: FromServer, kind: type[FromServer], stage: Stage) -> None:
        if type(message) is not kind:
            raise RefusedError(
                f"user {self.identity} refused a {type(message).__name__}: "
                f"a {kind.__name__} is expected"
            )
        check_round(message, self.terms)
        if message.recipient != self.identity:
            refuse(message, f"it came to user {self.identity}")
        if self.stage is not stage:
            order = "repeated" if self.stage.value > stage.value else "out of order"
            refuse(message, f"it is {order}")

    def _enough(self, count: int, did: str, user: int | None = None) -> None:
        """user: of whose neighbours so many did; None: of this one's."""
        terms, whose = self.terms, self.identity if user is None else user
        if count < terms.threshold:
            raise AggregationError(
                f"{count} of the {terms.neighbours} neighbours of user {whose} {did}, "
                f"{terms.threshold} are needed"
            )
