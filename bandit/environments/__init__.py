"""Bandit instances: coins, clipped Gaussians, tables of rewards, and real ratings."""
