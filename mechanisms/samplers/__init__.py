"""Exact samplers: from random bits to integers, with no floating point in between.

`draw`, `sampler` and `draw_share` are for releases (`SystemBits`) and for tests (`SeededBits`);
`simulate` alone computes in floats, and is for simulation only.
"""

from .bernoulli import bernoulli, bernoulli_exp
from .binomial import binomial
from .bits import RandomBits, SeededBits, SystemBits
from .discrete_gaussian import discrete_gaussian
from .discrete_laplace import discrete_laplace
from .draw import Sampler, draw, sampler
from .finite import Table
from .geometric import failures, geometric
from .poisson import poisson, skellam
from .polya import polya, polya_difference
from .reals import bernoulli_real
from .released import Release, release, share_release
from .rounding import rounded
from .shares import draw_share, share_of
from .simulated import simulate
from .uniform import uniform

__all__ = [
    "RandomBits",
    "Release",
    "Sampler",
    "SeededBits",
    "SystemBits",
    "Table",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_real",
    "binomial",
    "discrete_gaussian",
    "discrete_laplace",
    "draw",
    "draw_share",
    "failures",
    "geometric",
    "poisson",
    "polya",
    "polya_difference",
    "release",
    "rounded",
    "sampler",
    "share_of",
    "share_release",
    "simulate",
    "skellam",
    "uniform",
]
