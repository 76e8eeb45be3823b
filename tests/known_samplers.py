"""Samplers with a known law, for tests: seeded, vectorised, as exact as any test can tell."""

import math

import numpy as np


def laplace(epsilon):
    """The input plus discrete Laplace noise of this pure epsilon: a difference of geometrics."""
    success = -math.expm1(-epsilon)
    return lambda x, size, rng: x + rng.geometric(success, size) - rng.geometric(success, size)


def of_law(law, reach=400):
    """The input plus noise from the table of a law's PMF."""
    points = np.arange(-reach, reach + 1)
    masses = np.exp(law.log_pmf(points))
    masses /= masses.sum()
    return lambda x, size, rng: x + rng.choice(points, size, p=masses)


def modulo(sampler, modulus):
    """Another sampler's output mod m."""
    return lambda x, size, rng: sampler(x, size, rng) % modulus
