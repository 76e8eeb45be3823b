"""The client's side: updates become noisy residues, which SecAgg+ masks and adds up mod M = 2^bits.

Flower's client multiplies its values by w/T, w = round(T num_examples/max_weight); clips them to
[-c, c]; adds c, multiplies by T/(2c), and rounds at random between the two neighbouring 32-bit
integers; adds masks mod `modulus_range`. (`flwr.client.mod.secure_aggregation`.) With

    num_examples = max_weight = 1,   T = M - 1,   c = T/2,   modulus_range = M <= 2^31,

a residue 0 <= r < M handed over as the float r - c is carried unchanged: w = T, so that the factor
is 1.0; |r - c| <= c, so that clipping does nothing; r - c is a multiple of 1/2 below 2^31, hence a
float, and so is their sum r; the quantizer is T/(2c) = 1.0; r is its own ceiling and fits into 32
bits; and it is lowered where a uniform number in [0, 1) is below r - r = 0: never. A smaller T,
which would leave room for sums as Flower advises, would clip: sums of clipped values are no
function of the sum, and sums of residues that are not reduced again would show how often each
wrapped.

The masks cancel mod M, whatever their law. The server adds mod M, in 64 bits: S = sum r_i mod M of
n clients; and the weights: n T mod M = M - n. It hands the strategy, in floats,

    v = (S - n c) T/(M - n),

where S - n c is a multiple of 1/2 below n 2^31 in size, exact in floats. Four roundings follow, two
there and two here: of T/(M - n), of the product, and of the inverse of both. So v (M - n)/T, read
back, is off by less than 5 2^-53 n 2^31 <= 5/16 for n <= 2^18: the nearest S is the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...common.extra import bring
from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.laws.law import Law
from ...mechanisms.samplers.bits import RandomBits, SystemBits
from ..federated import Encoding

if TYPE_CHECKING:
    from flwr.app import Context, Message

_TRAIN = "train"
_MOST_CLIENTS = 1 << 18
_MOST_BITS = 31

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


def _bits(value: ExactInput) -> int:
    return whole(value, "bits", at_least=2, at_most=_MOST_BITS)


@frozen
class Carrier:
    """SecAgg+ with these bits: what it must be set to, what it is handed, and what comes back.

    Raises ParameterError for bits that it cannot carry: all but 2 to 31.

    >>> import numpy as np
    >>> carrier = Carrier(16)
    >>> carrier.sent(np.array([0, 65535], dtype=np.uint64)).tolist()
    [-32767.5, 32767.5]
    """

    bits: int = field(converter=_bits)

    @property
    def modulus(self) -> int:
        """M = 2^bits."""
        return 1 << self.bits

    @property
    def clipping_range(self) -> float:
        """c = (M - 1)/2."""
        return (self.modulus - 1) / 2

    def check(self, state: Mapping[str, Any]) -> None:
        """Raise ParameterError if a client's state of SecAgg+ has other settings.

        With others the server would be sent other integers than those that were noised.
        """
        wanted = {
            "clipping_range": self.clipping_range,
            "target_range": self.modulus - 1,
            "mod_range": self.modulus,
            "max_weight": 1,
        }
        for name, value in wanted.items():
            if state.get(name) != value:
                raise ParameterError(
                    f"the server's SecAgg+ must have {name} {value} for {self.bits} bits, "
                    f"got {state.get(name)}"
                )

    def sent(self, residues: Words) -> Floats:
        """What SecAgg+ is handed for these residues mod M."""
        return residues.astype(np.float64) - self.clipping_range

    def received(self, values: Floats, clients: ExactInput) -> Words:
        """The sum mod M of the residues of so many clients, from what SecAgg+ hands the strategy.

        Raises ParameterError for values that are no such sum.
        """
        count = whole(clients, "clients", at_least=1, at_most=min(_MOST_CLIENTS, self.modulus - 1))
        given = np.asarray(values, dtype=np.float64)
        sums = given * ((self.modulus - count) / (self.modulus - 1)) + count * self.clipping_range
        found = np.rint(sums)
        if not ((found >= 0) & (found < self.modulus)).all():
            raise ParameterError(f"values must be a sum of {count} clients mod {self.modulus}")
        return found.astype(np.uint64)


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
