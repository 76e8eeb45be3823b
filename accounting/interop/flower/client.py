"""The client's side: updates become noisy residues before SecAgg+ masks them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ....exact.extra import bring
from ....exact.number import ParameterError
from ....mechanisms.laws.law import Law
from ....mechanisms.protocols.federated import Encoding
from ....mechanisms.samplers.bits import RandomBits, SystemBits
from .carrier import Carrier

if TYPE_CHECKING:
    from flwr.app import Context, Message

_TRAIN = "train"


@frozen
class NoisyUpdates:
    """A mod of Flower's `ClientApp`: `mods=[NoisyUpdates(encoding, share)]`, SecAgg+ included.

    encoding and share are the client's own settings, never the server's word; the server's SecAgg+
    must be that of `secagg_workflow`, or the client refuses. Mods behind it in the list see the
    client's messages before it does; those before it see them masked.

    bits: the operating system's; a seed's only in a simulation. Raises ParameterError for an
    encoding of more than 31 bits.

    >>> from exactdp.mechanisms import Skellam
    >>> encoding = Encoding(clip=1, scale=64, dimension=3, bits=16, rounding="stochastic")
    >>> mod = NoisyUpdates(encoding, Skellam(variance=4))
    >>> mod.residues(np.array([0.5, 0.0, -0.2])).dtype  # what SecAgg+ masks and adds up
    dtype('uint64')
    """

    encoding: Encoding
    share: Law
    bits: RandomBits = field(factory=SystemBits)

    def __attrs_post_init__(self) -> None:
        Carrier(self.encoding.bits)

    def __call__(
        self, message: Message, context: Context, call_next: Callable[[Message, Context], Message]
    ) -> Message:
        """Answer as SecAgg+ does. Raises ParameterError for messages that are not training."""
        kind = message.metadata.message_type
        if kind != _TRAIN:
            raise ParameterError(f"only messages that train are answered with noise, got {kind!r}")
        masks = bring("flwr.client.mod", "flower").secaggplus_mod
        found: Message = masks(message, context, partial(self._trained, call_next=call_next))
        return found

    def residues(self, update: NDArray[np.float64]) -> NDArray[np.uint64]:
        """The update as integers with a share of the noise, mod 2^bits; 0 if it is not finite."""
        known = update if np.isfinite(update).all() else np.zeros_like(update)
        return self.encoding.encode(known, self.bits, self.share)

    def _trained(
        self, message: Message, context: Context, call_next: Callable[[Message, Context], Message]
    ) -> Message:
        """What SecAgg+ asks for when it is about to mask: residues in the place of parameters."""
        from flwr.app import Message
        from flwr.common import Code, FitRes, Status
        from flwr.common import ndarrays_to_parameters as written
        from flwr.common import parameters_to_ndarrays as read
        from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_STATE
        from flwr.compat.common import recorddict_compat as records

        carrier = Carrier(self.encoding.bits)
        carrier.check(context.state.config_records[RECORD_KEY_STATE])
        before = _flat(read(records.recorddict_to_fitins(message.content, True).parameters))
        reply = call_next(message, context)
        after = _flat(read(records.recorddict_to_fitres(reply.content, True).parameters))
        if before.shape != after.shape or len(after) != self.encoding.dimension:
            raise ParameterError(
                f"encoding is of {self.encoding.dimension} coordinates, got a model of "
                f"{len(before)} and an answer of {len(after)}"
            )
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite counts as 0
            update = after - before
        values = carrier.sent(self.residues(update))
        sent = FitRes(Status(Code.OK, ""), written([values]), num_examples=1, metrics={})
        return Message(records.fitres_to_recorddict(sent, False), reply_to=message)


def _flat(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([np.ravel(each).astype(np.float64) for each in arrays])
