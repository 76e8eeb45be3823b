"""The server's side: SecAgg+ as the clients want it, sums decoded, the account of the rounds."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...common.extra import bring
from ...exact import Enclosure, ExactInput, OutOfTimeError, ParameterError, exact, time_limit
from ..federated import Encoding
from .client import Carrier

if TYPE_CHECKING:
    from flwr.common import FitIns, FitRes, Parameters
    from flwr.server.client_manager import ClientManager
    from flwr.server.client_proxy import ClientProxy
    from flwr.server.strategy import Strategy
    from flwr.server.workflow import SecAggPlusWorkflow

    Aggregated: TypeAlias = tuple[Parameters | None, dict[str, Any]]

_SECONDS = 60  # for the figure of a round


class Account(Protocol):
    """Counts rounds, and says what they cost: `exactdp.interop.flower.FederatedAccount` does."""

    encoding: Encoding

    def record(self, asked: ExactInput, summed: ExactInput) -> object:
        """Count a round whose sum was released, by the clients that were asked and are in it."""

    def epsilon(self, delta: ExactInput) -> Enclosure:
        """Where epsilon of all rounds lies at this delta."""


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
