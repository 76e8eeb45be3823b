"""Instances of coins, and evidence in name only where what is tested are decisions."""

from exactdp import Enclosure
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.rewards import Bernoulli
from exactdp.bandit.evidence import Audited


def coins(*means):
    return Environment("coins", tuple(map(Bernoulli, means)))


def unproved(protocol, demand):
    return Audited(protocol, demand, Enclosure.exactly(0))
