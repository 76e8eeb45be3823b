"""Exact samplers: from random bits to integers, with no floating point in between.

`release` takes the operating system's bits and no others (`SimulationError`); `simulated_release`
draws the same from a seed's, and marks it. `draw` and `draw_share` are for laws alone.
"""

from .bernoulli import bernoulli, bernoulli_exp
from .binomial import binomial
from .bits import (
    RandomBits,
    SeededBits,
    SimulatedInt,
    SimulationError,
    SystemBits,
    for_release,
    is_simulated,
)
from .discrete_gaussian import discrete_gaussian
from .discrete_laplace import discrete_laplace
from .draw import draw, draw_share
from .finite import Table
from .geometric import failures, geometric
from .poisson import poisson, skellam
from .polya import polya, polya_difference
from .reals import bernoulli_real
from .released import (
    Release,
    Simulation,
    release,
    share_of_noise,
    share_release,
    simulated_release,
)
from .rounding import rounded
from .uniform import uniform

__all__ = [
    "RandomBits",
    "Release",
    "SeededBits",
    "SimulatedInt",
    "Simulation",
    "SimulationError",
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
    "for_release",
    "geometric",
    "is_simulated",
    "poisson",
    "polya",
    "polya_difference",
    "release",
    "rounded",
    "share_of_noise",
    "share_release",
    "simulated_release",
    "skellam",
    "uniform",
]
