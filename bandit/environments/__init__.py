"""Bandit instances: coins, clipped Gaussians, tables of rewards, and real ratings."""

from .cells import Cells
from .environment import EASY, HARD, Environment, bernoulli_instance, gaussian_instance
from .gaussian import ClippedGaussian
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
    "drawn_sums",
    "empirical",
    "gaussian_instance",
    "rounded",
]
