"""A whole round of masked aggregation in one process, with users who vanish on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ....exact.number import ExactInput, ParameterError, whole
from ....mechanisms.samplers.bits import RandomBits, SimulatedInt, SystemBits, is_simulated
from ..aggregation import AggregationError, Masking, Round, Stage, read_modulus
from .graph import FAILURE
from .messages import FromUser, bits_of
from .server import Server
from .terms import Terms
from .user import User
from .vectors import VectorServer, VectorUser


def _bits(given: RandomBits | None) -> RandomBits:
    return SystemBits() if given is None else given


@frozen
class MaskedSum:
    """Secure aggregation with masks: every user and the server, played in this process.

    modulus     m, the one that the certificate names
    neighbours  k, even, or all others; None for as few as keep to `failure`
    threshold   neighbours that must remain, above k/2; None for the least that keeps to it
    bits        the operating system's; others are for tests and simulation: sums are marked then
    dropout     the most users that may be missing from a sum
    corrupt     the most that may collude with the server; None for a tenth of the users
    failure     the most that the probability may be that a server that lies learns more

    Raises ParameterError for a modulus below 1.

    >>> MaskedSum(modulus=16).aggregate({1: 9, 2: 9, 3: 1})
    3
    """

    modulus: int = field(converter=read_modulus)
    neighbours: ExactInput | None = None
    threshold: ExactInput | None = None
    bits: RandomBits = field(default=None, converter=_bits)
    dropout: ExactInput = field(default=0, kw_only=True)
    corrupt: ExactInput | None = field(default=None, kw_only=True)
    failure: ExactInput = field(default=FAILURE, kw_only=True)

    def masking(self, users: Iterable[int]) -> Masking:
        """What a certificate names of the masks of a round of these users."""
        return self._terms(users, 1).masking

    def aggregate(
        self, messages: Mapping[int, int], vanish: Mapping[int, Stage] | None = None
    ) -> int:
        """The sum mod m of the messages of those who sent their masked input, by user.

        messages: in 0, ..., m - 1. vanish: users, and the first stage at which they send nothing.
        Raises ParameterError for a message out of range, and for masks that may fail more often
        than was stated; AggregationError if too few remain.
        """
        played = self.play({user: (each,) for user, each in messages.items()}, vanish)
        return SimulatedInt(played.sums[0]) if played.simulated else played.sums[0]

    def play(
        self,
        messages: Mapping[int, Sequence[int]],
        vanish: Mapping[int, Stage] | None = None,
    ) -> Round:
        """The same for messages of several integers, all as long, with what happened."""
        lengths = {len(each) for each in messages.values()}
        if len(lengths) > 1:
            raise ParameterError(f"messages must be of one length, got {sorted(lengths)}")
        terms = self._terms(messages, lengths.pop() if lengths else 1)
        users = {user: User(user, messages[user], terms, self.bits) for user in terms.users}
        return _play(Server(terms), users, vanish or {}, self.bits)

    def play_vectors(
        self,
        messages: Mapping[int, Callable[[], NDArray[np.uint64]]],
        length: ExactInput,
        vanish: Mapping[int, Stage] | None = None,
    ) -> Round:
        """The same for arrays of `length` integers, made one after the other when they are sent.

        Nothing is kept of an array but what it adds to the sum. The modulus must be a power of two,
        2 to 2^64; raises ParameterError for any other.
        """
        terms = self._terms(messages, whole(length, "length", at_least=1))
        users = {user: VectorUser(user, messages[user], terms, self.bits) for user in terms.users}
        return _play(VectorServer(terms), users, vanish or {}, self.bits)

    def _terms(self, users: Iterable[int], length: int) -> Terms:
        return Terms.drawn(
            self.modulus,
            users,
            self.bits,
            neighbours=self.neighbours,
            threshold=self.threshold,
            dropout=self.dropout,
            corrupt=self.corrupt,
            failure=self.failure,
            length=length,
        )


def _play(
    server: Server,
    users: Mapping[int, User],
    vanish: Mapping[int, Stage],
    bits: RandomBits,
) -> Round:
    if unknown := vanish.keys() - users.keys():
        raise ParameterError(f"vanish names {min(unknown)}, no user")
    terms = server.terms
    # the stage, what the server sends to whom, and how a user answers it
    answers: list[tuple[Stage, Callable[[], Mapping[int, Any]], Callable[[User, Any], FromUser]]]
    answers = [
        (Stage.SHARES, server.keys, User.share_keys),
        (Stage.INPUT, server.shares, User.mask),
        (Stage.CONFIRMATION, server.present, User.confirm),
        (Stage.UNMASKING, server.confirmations, User.unmask),
    ]
    sent: dict[int, int] = dict.fromkeys(terms.users, 0)
    clock = [time.perf_counter()]

    def stays(user: int, stage: Stage) -> bool:
        return user not in vanish or vanish[user].value > stage.value

    def deliver(message: FromUser) -> None:
        sent[message.sender] += bits_of(message, terms)
        server.receive(message)

    for identity, user in users.items():
        if stays(identity, Stage.KEYS):
            deliver(user.advertise())
    for stage, close, answer in answers:
        clock.append(time.perf_counter())
        for identity, message in close().items():
            if stays(identity, stage):
                try:
                    reply = answer(users[identity], message)
                except AggregationError:  # too few of its neighbours are left: it leaves as well
                    continue
                deliver(reply)
    clock.append(time.perf_counter())
    sums = server.result()
    clock.append(time.perf_counter())
    return Round(
        terms,
        sums,
        server.heard(Stage.INPUT),
        {stage: len(server.heard(stage)) for stage in Stage if stage is not Stage.DONE},
        dict(zip(Stage, (end - start for start, end in pairwise(clock)), strict=True)),
        max(sent.values()),
        is_simulated(bits),
    )
