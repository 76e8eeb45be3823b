"""Exact samplers: from random bits to integers, with no floating point in between.

`release` takes the operating system's bits and no others (`SimulationError`); `simulated_release`
draws the same from a seed's, and marks it. `draw` is for laws alone.
"""

from typing import TYPE_CHECKING

from ...exact.lazy import lazily
from .bits import NoSamplerError, RandomBits, SeededBits, SimulatedInt, SimulationError, SystemBits
from .coins import Table, bernoulli_real, rounded

if TYPE_CHECKING:
    from ..selection.chosen import AboveThreshold
    from ..specs.released import (
        Release,
        Simulation,
        draw,
        release,
        share_of_noise,
        simulated_release,
    )

__all__ = ["AboveThreshold", "NoSamplerError"]
__all__ += ["RandomBits", "Release", "SeededBits", "SimulatedInt", "Simulation", "SimulationError"]
__all__ += ["SystemBits", "Table", "bernoulli_real", "draw", "release", "rounded"]
__all__ += ["share_of_noise", "simulated_release"]

_DRAWS = ["Release", "Simulation", "draw", "release", "share_of_noise", "simulated_release"]
__getattr__ = lazily(
    __name__, {"..selection.chosen": ["AboveThreshold"], "..specs.released": _DRAWS}
)
