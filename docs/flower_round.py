"""Five clients train a logistic model in Flower's simulation, under SecAgg+ with exact noise.

    pip install "exactdp[flower]" "flwr[simulation]"
    python docs/flower_round.py

In the second round a client vanishes, and its share of the noise with it.
"""

import numpy as np
from flwr.client import NumPyClient
from flwr.clientapp import ClientApp
from flwr.common import ndarrays_to_parameters
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg
from flwr.server.workflow import DefaultWorkflow
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

from exactdp.interop import flower
from exactdp.mechanisms import Skellam
from exactdp.protocols.federated import Encoding

CLIENTS, ROUNDS, FEATURES, EXAMPLES = 5, 3, 10, 200
ENCODING = Encoding(
    clip=1, scale=32, dimension=FEATURES + 1, bits=16, rounding="conditional:0.6065"
)
SHARE = Skellam(variance=256)  # of one client, in every coordinate


def examples(client):
    """Labels that a hidden model gives, with noise: the same each time."""
    truth = np.random.default_rng(0).normal(size=FEATURES)
    rng = np.random.default_rng(client + 1)
    x = rng.normal(size=(EXAMPLES, FEATURES))
    return x, (x @ truth + 0.5 + rng.logistic(size=EXAMPLES) > 0).astype(float)


def chances(weights, bias, x):
    """Of the label 1."""
    return 1 / (1 + np.exp(-(x @ weights + bias[0])))


def loss(parameters, x, y):
    """The mean of -log(the chance of the label)."""
    p = chances(*parameters, x)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))


class Client(NumPyClient):
    """Gradient steps on its own examples."""

    def __init__(self, number):
        self.number = number

    def fit(self, parameters, config):
        if self.number == CLIENTS - 1 and config["round"] == 2:
            raise ConnectionError("vanished")
        x, y = examples(self.number)
        weights, bias = (each.copy() for each in parameters)
        for _ in range(20):
            residual = y - chances(weights, bias, x)
            weights += 0.2 * residual @ x / len(y)
            bias += 0.2 * residual.mean()
        return [weights, bias], len(y), {"loss": loss([weights, bias], x, y)}


client_app = ClientApp(
    lambda context: Client(context.node_config["partition-id"]).to_client(),
    mods=[flower.NoisyUpdates(ENCODING, SHARE)],
)
server_app = ServerApp()


@server_app.main()
def main(grid, context):
    """Train, and say after each round what it cost."""
    x, y = examples(CLIENTS)  # the server's own
    inner = FedAvg(
        min_fit_clients=CLIENTS,
        min_available_clients=CLIENTS,
        initial_parameters=ndarrays_to_parameters([np.zeros(FEATURES), np.zeros(1)]),
        on_fit_config_fn=lambda number: {"round": number},
        evaluate_fn=lambda number, parameters, _: (loss(parameters, x, y), {}),
    )
    account = flower.FederatedAccount(ENCODING, SHARE)
    strategy = flower.CertifiedStrategy(inner, account, delta="1e-5")
    secagg = flower.secagg_workflow(ENCODING, CLIENTS, 3)
    legacy = LegacyContext(context, ServerConfig(num_rounds=ROUNDS), strategy)
    DefaultWorkflow(fit_workflow=secagg)(grid, legacy)
    losses = [value for _, value in legacy.history.losses_centralized]
    print("loss", *(f"{value:.3f}" for value in losses), flush=True)


if __name__ == "__main__":
    run_simulation(
        server_app,
        client_app,
        num_supernodes=CLIENTS,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
