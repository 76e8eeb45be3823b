"""Discrete Gaussian noise N_Z(0, sigma2), in integers only.

Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
Algorithm 3.
"""

from __future__ import annotations

import math

from .bernoulli import coin_exp
from .bits import RandomBits
from .discrete_laplace import discrete_laplace_exp

__all__ = ["discrete_gaussian_ratio"]


def discrete_gaussian_ratio(n: int, d: int, bits: RandomBits) -> int:
    """X with P(X = x) proportional to e^(-x^2/(2 sigma2)), sigma2 = n/d > 0.

    Y is discrete Laplace of scale t = floor(sqrt(sigma2)) + 1, accepted with probability
    e^(-gamma), gamma = (|Y| - sigma2/t)^2/(2 sigma2): the exponents |y|/t + gamma add up to
    y^2/(2 sigma2) + const. In integers, gamma = (|Y| d t - n)^2/(2 n d t^2).
    """
    t = math.isqrt(n // d) + 1
    step, under = d * t, 2 * n * d * t * t
    while True:
        y = discrete_laplace_exp(t, 1, bits)
        if coin_exp((abs(y) * step - n) ** 2, under, bits):
            return y
