"""Slow, plain computations of what sampled continuous mechanisms cost, by mpmath alone."""

from itertools import pairwise

import mpmath
from mpmath import mp, mpf


def ratio(q, noise, x):
    """dP'/dQ of the sampled Gaussian."""
    return 1 - q + q * mpmath.exp((2 * x - 1) / (2 * noise**2))


def single_gaussian(q, noise, gamma, removing):
    """int (P - gamma Q)^+ of one use, cut at the point where the densities cross."""
    reach = 14 * noise

    def with_user(x):
        return (1 - q) * mpmath.npdf(x, 0, noise) + q * mpmath.npdf(x, 1, noise)

    def without(x):
        return mpmath.npdf(x, 0, noise)

    if removing:
        odds = (gamma - 1 + q) / q
        if odds <= 0:
            return 1 - gamma
        cut = (2 * noise**2 * mpmath.log(odds) + 1) / 2
        low, high = cut, max(cut, 1) + reach

        def gain(x):
            return with_user(x) - gamma * without(x)
    else:
        if gamma * (1 - q) >= 1:
            return mpf(0)
        cut = (2 * noise**2 * mpmath.log((1 / gamma - 1 + q) / q) + 1) / 2
        low, high = min(cut, 0) - reach, cut

        def gain(x):
            return without(x) - gamma * with_user(x)

    points = mpmath.linspace(low, high, 41)
    return mpmath.quad(gain, points)


def two_gaussians(q, noise, level, removing):
    """delta(level) of two uses: the mean of one's delta(level - L) over the other's L."""

    def weighed(x):
        odds = ratio(q, noise, x)
        loss = mpmath.log(odds) if removing else -mpmath.log(odds)
        mass = mpmath.npdf(x, 0, noise) * (odds if removing else 1)
        return mass * closed(q, noise, level - loss, removing)

    # where delta(level - L) leaves 1 - e^(level - L), or 0, it is smooth but not analytic
    far = 1 + 14 * noise
    edges = [-14 * noise, far]
    for odds in (mpmath.exp(level) / (1 - q), mpmath.exp(-level) / (1 - q)):
        if odds > 1 - q:
            x = (2 * noise**2 * mpmath.log((odds - 1 + q) / q) + 1) / 2
            edges += [x + noise * mpf(k) / 2 for k in range(-3, 4)]
    edges = sorted(x for x in edges if -14 * noise <= x <= far)
    points = [a + (b - a) * k / 4 for a, b in pairwise(edges) for k in range(4)] + [far]
    return mpmath.quad(weighed, points)


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


def renyi(q, noise, order, removing):
    """The Renyi divergence of one use, by quadrature."""
    power = order if removing else 1 - order
    points = mpmath.linspace(min(power, 0) - 14 * noise, max(power, 0) + 14 * noise, 61)
    total = mpmath.quad(lambda x: mpmath.npdf(x, 0, noise) * ratio(q, noise, x) ** power, points)
    return mpmath.log(total) / (order - 1)
