"""Slow, plain computations of what sampled continuous mechanisms cost, by mpmath alone."""

import mpmath
from mpmath import mp, mpf


def ratio(q, noise, x):
    """dP'/dQ of the sampled Gaussian."""
    return 1 - q + q * mpmath.exp((2 * x - 1) / (2 * noise**2))


def closed(q, noise, level, removing):
    """delta(level) of one use, level of either sign, by the normal distribution function."""
    gamma, mu = mpmath.exp(level), 1 / noise
    if removing:
        odds, scale = (gamma - 1 + q) / q, q
        if odds <= 0:
            return 1 - gamma
    else:
        scale = 1 - gamma * (1 - q)
        if scale <= 0:
            return mpf(0)
        odds = gamma * q / scale
    at = mpmath.log(odds)
    return scale * (mpmath.ncdf(mu / 2 - at / mu) - odds * mpmath.ncdf(-mu / 2 - at / mu))


def by_inversion(parts, level, c, spacing, count, removing):
    """delta(level) of several uses: the inversion integral as a sum, nodes on the real axis.

    parts: (q, noise, times). The caller chooses spacing and count, and tries others beside them.
    """
    tables = []
    for q, noise, times in parts:
        power = c + 1 if removing else -c
        step = noise * min(1, noise) / 12
        low, high = min(power, 0) - 13 * noise, max(power, 0) + 13 * noise
        weights, turns = [], []
        for k in range(int((high - low) / step) + 1):
            x = low + k * step
            log_ratio = mpmath.log(ratio(q, noise, x))
            weight = step * mpmath.npdf(x, 0, noise) * mpmath.exp(power * log_ratio)
            if weight > mpf(10) ** -mp.dps:
                weights.append(weight)
                turns.append(mpmath.expj(spacing * (log_ratio if removing else -log_ratio)))
        tables.append((weights, turns, times))
    total = mpf(0)
    for j in range(count):
        s = mpmath.mpc(c, spacing * j)
        value = mpmath.exp(-s * level) / (s * (s + 1))
        for weights, turns, times in tables:
            value *= mpmath.fsum(weights) ** times
            weights[:] = [weight * turn for weight, turn in zip(weights, turns, strict=True)]
        total += value.real * (spacing if j else spacing / 2)
    return total / mpmath.pi
