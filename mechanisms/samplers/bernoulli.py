"""Coins of rational probability p, and of probability e^(-gamma) for a rational gamma.

Source of the second: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy",
NeurIPS 2020, Algorithm 1 (after von Neumann 1951).
"""

from __future__ import annotations

from ...exact.number import ExactInput, exact
from .bits import RandomBits
from .uniform import below

__all__ = ["bernoulli", "bernoulli_exp", "coin", "coin_exp"]


def bernoulli(probability: ExactInput, bits: RandomBits) -> bool:
    """True with this exact rational probability. Raises ParameterError outside 0..1."""
    p = exact(probability, "probability", at_least=0, at_most=1)
    return coin(p.numerator, p.denominator, bits)


def bernoulli_exp(gamma: ExactInput, bits: RandomBits) -> bool:
    """True with probability e^(-gamma), gamma >= 0 rational. Raises ParameterError otherwise."""
    g = exact(gamma, "gamma", at_least=0)
    return coin_exp(g.numerator, g.denominator, bits)


def coin(numerator: int, denominator: int, bits: RandomBits) -> bool:
    """True with probability numerator/denominator in [0, 1]: of `denominator` equal chances."""
    return below(denominator, bits) < numerator


def coin_exp(numerator: int, denominator: int, bits: RandomBits) -> bool:
    """True with probability e^(-gamma), gamma = numerator/denominator >= 0.

    gamma <= 1: let K be the first k >= 1 at which a coin of probability gamma/k fails. Then
    P(K > k) = gamma^k/k!, so P(K odd) = sum_k (-1)^k gamma^k/k! = e^(-gamma).
    gamma > 1: e^(-gamma) is a product of floor(gamma) factors 1/e and one for what is left.
    """
    whole, rest = divmod(numerator, denominator)
    for _ in range(whole):
        k = 2  # the first coin, of probability 1, does not fail
        while not below(k, bits):
            k += 1
        if k % 2 == 0:
            return False
    k, bound = 1, denominator
    while below(bound, bits) < rest:
        k += 1
        bound += denominator
    return k % 2 == 1
