"""Bandit instances: coins, clipped Gaussians, tables of rewards, and real ratings."""

from .cells import Cells
from .environment import EASY, HARD, Environment, bernoulli_instance, gaussian_instance
from .fair import fair_instance
from .gaussian import ClippedGaussian
from .instance import instance, read_instance
from .instance_file import default_cache, read_json, write_json
from .letor import read_letor
from .reward_file import read_rewards
from .rewards import RewardLaw, drawn_sums, rounded
from .table import Bernoulli, RewardTable, empirical

__all__ = [
    "EASY",
    "HARD",
    "Bernoulli",
    "Cells",
    "ClippedGaussian",
    "Environment",
    "RewardLaw",
    "RewardTable",
    "bernoulli_instance",
    "default_cache",
    "drawn_sums",
    "empirical",
    "fair_instance",
    "gaussian_instance",
    "instance",
    "read_instance",
    "read_json",
    "read_letor",
    "read_rewards",
    "rounded",
    "write_json",
]
