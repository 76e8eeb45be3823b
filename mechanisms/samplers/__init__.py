"""Exact samplers: from random bits to integers, with no floating point in between.

`release` takes the operating system's bits and no others (`SimulationError`); `simulated_release`
draws the same from a seed's, and marks it. `draw` and `draw_share` are for laws alone.
"""

from typing import TYPE_CHECKING

from ...exact.lazy import lazily

if TYPE_CHECKING:
    from .bits import RandomBits, SeededBits, SimulatedInt, SimulationError, SystemBits
    from .finite import Table
    from .reals import bernoulli_real
    from .released import (
        Release,
        Simulation,
        draw,
        draw_share,
        release,
        share_of_noise,
        share_release,
        simulated_release,
    )
    from .rounding import rounded

__all__ = ["RandomBits", "Release", "SeededBits", "SimulatedInt", "Simulation", "SimulationError"]
__all__ += ["SystemBits", "Table", "bernoulli_real", "draw", "draw_share", "release", "rounded"]
__all__ += ["share_of_noise", "share_release", "simulated_release"]

_BITS = ["RandomBits", "SeededBits", "SimulatedInt", "SimulationError", "SystemBits"]
_DRAWS = ["Release", "Simulation", "draw", "draw_share", "release", "share_of_noise"]
_DRAWS += ["share_release", "simulated_release"]
__getattr__ = lazily(
    __name__,
    {
        ".bits": _BITS,
        ".finite": ["Table"],
        ".reals": ["bernoulli_real"],
        ".released": _DRAWS,
        ".rounding": ["rounded"],
    },
)
