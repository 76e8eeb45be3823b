"""Flower's two sides: clients that add exact noise under SecAgg+, and the server that adds them up.

Flower's SecAgg+ clips each coordinate, rounds and masks, and adds no noise. Here a client's update
(its parameters less those that it was sent) becomes integers by `Encoding`: clipped in L2, rotated,
scaled, rounded within an exact bound of the norm; a share of the noise is added, drawn exactly from
the operating system's CSPRNG; and SecAgg+ adds the result up mod 2^bits, as `Carrier` proves. What
is released is sum (R_i + N_i) mod 2^bits over the clients that answer, and nothing else of theirs:

* The weight, `num_examples`, is 1 for all. Another would tell the server, in clear, how many
  examples a client has, would multiply its integers beyond the norm bound, and its share with them.
* Metrics are left out, and messages that ask for anything but training are refused: evaluation and
  initial parameters from clients would be releases that nobody counts.
* An update with a coordinate that is not finite counts as 0, so that no such client falls silent.
* A client that vanishes before it sends its masked vector takes its share with it; the sum of the
  others' has the law of as many shares as there are messages in the sum, whatever Flower's server
  says of them later, and that number is what the account is told.

What is assumed, and certified for nobody else:

* Whether a client answers, and which are asked, does not depend on the data. Nothing is credited
  for sampling clients, since the server knows whom it asked.
* The server follows the protocol, and the masks hide single messages. Flower draws each from a seed
  that is folded to 32 bits (`pseudo_rand_gen`): against a server that tries all seeds only the
  client's own share protects it. `FederatedAccount.epsilon(..., masked=False)` is what is left
  then. Against everyone who sees models and not the messages this does not matter.

Whoever uses them finds them in `exactdp.interop.flower`, with the account of what rounds cost.

*The client's side*: updates become noisy residues, which SecAgg+ masks and adds up mod M = 2^bits.

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

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..common.extra import bring
from ..exact.budget import OutOfTimeError, time_limit
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, exact, whole
from ..mechanisms.laws.law import Law
from ..mechanisms.samplers.bits import RandomBits, SystemBits
from .federated import Encoding

if TYPE_CHECKING:
    from flwr.app import Context, Message
    from flwr.common import FitIns, FitRes, Parameters
    from flwr.server.client_manager import ClientManager
    from flwr.server.client_proxy import ClientProxy
    from flwr.server.strategy import Strategy
    from flwr.server.workflow import SecAggPlusWorkflow

    Aggregated: TypeAlias = tuple[Parameters | None, dict[str, Any]]

__all__ = ["Carrier", "CertifiedStrategy", "NoisyUpdates", "secagg_workflow"]

_TRAIN = "train"
_MOST_CLIENTS = 1 << 18
_MOST_BITS = 31
_SECONDS = 60  # for the figure of a round

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


class Account(Protocol):
    """Counts rounds, and says what they cost: see `exactdp.interop.flower.FederatedAccount`."""

    encoding: Encoding

    def record(self, asked: ExactInput, summed: ExactInput) -> object: ...
    def epsilon(self, delta: ExactInput) -> Enclosure: ...


def secagg_workflow(
    encoding: Encoding,
    num_shares: int | float,
    reconstruction_threshold: int | float,
    timeout: float | None = None,
) -> SecAggPlusWorkflow:
    """Flower's SecAgg+ with settings under which it carries residues mod 2^bits (see `Carrier`).

    encoding: what clients send. num_shares, reconstruction_threshold, timeout: as Flower has them.
    Its warning of an overflow does not apply: sums are meant to wrap.
    Raises ParameterError for more than 31 bits.

    >>> encoding = Encoding(clip=1, scale=64, dimension=3, bits=16, rounding="stochastic")
    >>> secagg_workflow(encoding, 5, 3).modulus_range
    65536
    """
    carrier = Carrier(encoding.bits)
    found: SecAggPlusWorkflow = bring("flwr.server.workflow", "flower").SecAggPlusWorkflow(
        num_shares,
        reconstruction_threshold,
        max_weight=1.0,
        clipping_range=carrier.clipping_range,
        quantization_range=carrier.modulus - 1,
        modulus_range=carrier.modulus,
        timeout=timeout,
    )
    return found


class CertifiedStrategy:
    """A strategy of Flower around another: decodes each sum, and logs what the rounds cost so far.

    The other strategy samples the clients, and is handed the model plus the mean of the updates as
    every client's answer, so that averages of answers, and what is made of them, are as ever. It
    must bring the initial parameters, and evaluates at the server only.

    A round whose sum cannot be unmasked never comes here, releases nothing, and costs nothing. The
    line, by Flower's own logger, is

        privacy of round 3: 4 of 5 clients answered, 1 shares missing; epsilon so far within
        [LOWER, UPPER] at delta = 1e-5

    strategy: the other one, with `initial_parameters`. account: of the rounds. delta: of that line.
    Raises ParameterError for a delta out of range.

    >>> from exactdp.interop.flower import FederatedAccount
    >>> from exactdp.mechanisms import Skellam
    >>> from flwr.server.strategy import FedAvg
    >>> encoding = Encoding(clip=1, scale=64, dimension=3, bits=16, rounding="stochastic")
    >>> account = FederatedAccount(encoding, Skellam(variance=4))
    >>> CertifiedStrategy(FedAvg(), account, delta="1e-5").certified  # epsilon after each round
    []
    """

    def __init__(self, strategy: Strategy, account: Account, delta: ExactInput = "1e-6") -> None:
        self.strategy, self.account = strategy, account
        self.delta = exact(delta, "delta", above=0, below=1)
        self.certified: list[Enclosure] = []  # epsilon after each round
        self._delta_text = str(delta)
        self._model: list[NDArray[Any]] = []
        self._asked = 0

    def __repr__(self) -> str:
        return f"CertifiedStrategy({self.strategy!r})"

    def initialize_parameters(self, client_manager: ClientManager) -> Parameters:
        """The other strategy's. Raises ParameterError where it has none."""
        found = self.strategy.initialize_parameters(client_manager)
        if found is None:
            raise ParameterError(
                "strategy must have initial_parameters: a client's would be released without noise"
            )
        return found

    def configure_fit(
        self, server_round: int, parameters: Parameters, client_manager: ClientManager
    ) -> list[tuple[ClientProxy, FitIns]]:
        """The other strategy's; the model and the number of clients are remembered."""
        found = list(self.strategy.configure_fit(server_round, parameters, client_manager))
        self._model = bring("flwr.common", "flower").parameters_to_ndarrays(parameters)
        self._asked = len(found)
        return found

    def aggregate_fit(
        self,
        server_round: int,
        results: list[tuple[ClientProxy, FitRes]],
        failures: list[tuple[ClientProxy, FitRes] | BaseException],
    ) -> Aggregated:
        """Count the round, decode its sum and let the other strategy have the new model."""
        if results:
            self._decode(server_round, results)
        found: Aggregated = self.strategy.aggregate_fit(server_round, results, failures)
        return found

    def configure_evaluate(
        self, server_round: int, parameters: Parameters, client_manager: ClientManager
    ) -> list[Any]:
        """No client evaluates: what it says would be released without noise."""
        return []

    def aggregate_evaluate(
        self, server_round: int, results: list[Any], failures: list[Any]
    ) -> tuple[None, dict[str, Any]]:
        """Nothing came."""
        return None, {}

    def evaluate(
        self, server_round: int, parameters: Parameters
    ) -> tuple[float, dict[str, Any]] | None:
        """The other strategy's, at the server."""
        found: tuple[float, dict[str, Any]] | None
        found = self.strategy.evaluate(server_round, parameters)
        return found

    def _decode(self, server_round: int, results: list[tuple[ClientProxy, FitRes]]) -> None:
        """Every answer becomes the new model; the round is counted first, whatever comes."""
        self._count(server_round, len(results))
        flower = bring("flwr.common", "flower")
        values = flower.parameters_to_ndarrays(results[0][1].parameters)  # the same in all
        encoding = self.account.encoding
        total = Carrier(encoding.bits).received(values[0], len(results))
        update = encoding.decode(total, len(results))
        parts = np.split(update, np.cumsum([each.size for each in self._model])[:-1])
        moved = [
            (each + part.reshape(each.shape)).astype(each.dtype)
            for each, part in zip(self._model, parts, strict=True)
        ]
        for _, result in results:
            result.parameters = flower.ndarrays_to_parameters(moved)

    def _count(self, server_round: int, summed: int) -> None:
        self.account.record(self._asked, summed)
        found = Enclosure.unknown()
        with suppress(OutOfTimeError), time_limit(_SECONDS):
            found = self.account.epsilon(self.delta)
        self.certified.append(found)
        ends = found.to_json()
        logging.getLogger("flwr").info(
            "privacy of round %s: %s of %s clients answered, %s shares missing; "
            "epsilon so far within [%s, %s] at delta = %s",
            *(server_round, summed, self._asked, self._asked - summed),
            *(ends["lower"], ends["upper"], self._delta_text),
        )
