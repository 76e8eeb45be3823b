"""How much noise rounding to few bits takes: as proved here, and by the longest vector as usual.

The setting is that of distributed mean estimation and federated learning (Kairouz, Liu, Steinke,
ICML 2021; Agarwal, Kairouz, Liu, NeurIPS 2021): n clients send b bits a coordinate, and the scale
is chosen so that k standard deviations of the sum fit (`fitting_scale`), n z'^2 = z^2 clip^2 for
the noise multiplier z. So the norm before rounding, c = scale clip, depends on n, b, d, k and z
alone.

The least variance of the noise of one release, relative to the z^2 c^2 that a vector of norm c
needs unrounded for the same epsilon at the same delta:

    published     stochastic rounding as if to the longest vector, (c + sqrt(d))^2
    conditional   the published bound with beta = e^(-1/2)
    nearest       min(c + sqrt(d)/2, 2c)^2
    renyi         stochastic rounding by `laws.rounded_envelope.rounded_renyi`, Skellam noise
    best          the same by `rounding.rounded`
    gaussian      Gaussian noise, unrounded, by its exact profile

The target is the epsilon that the Rényi divergence of unrounded Gaussian noise gives, as published:
so the last two may be below 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import astuple, frozen

from ..accounting.composition.rounding import rounded
from ..accounting.divergences.conversion import zcdp_to_epsilon
from ..accounting.divergences.gaussian_dp import largest_mu
from ..accounting.figure import Figure
from ..exact.number import ExactInput, ParameterError, ball, exact, whole
from ..exact.precision import working_precision
from ..exact.search import Grid, Search
from ..mechanisms.laws.skellam import Skellam
from ..protocols.federated.encoder import fitting_scale

_STEP = Fraction(1, 2000)  # relative, of the variances that are tried
_MOST = 40
_BITS = 128


@frozen
class RoundingCost:
    """Factors of variance; see the module. The first three are floats of closed formulas, the last
    three are proved to suffice.

    norm: before rounding, in units of the integers that are sent; epsilon: the target.
    """

    bits: int
    norm: Fraction
    epsilon: Fraction
    published: float
    conditional: float
    nearest: float
    renyi: Fraction
    best: Fraction
    gaussian: Fraction


def rounding_cost(
    bits: int,
    clients: int = 100,
    dimension: int = 2**20,
    deviations: int = 4,
    multiplier: ExactInput = 1,
    delta: ExactInput = "1e-5",
) -> RoundingCost:
    """What each way needs. Takes some seconds."""
    z = exact(multiplier, "multiplier", above=0)
    with working_precision(_BITS):
        share, square = ball(z**2 / clients), ball(Fraction(deviations**2))
        scale = fitting_scale(
            whole(bits, "bits", at_least=1), clients, dimension, Fraction(1), share, square
        )
    if scale is None:
        raise ParameterError(f"bits must be more for {clients} clients, got {bits}")
    norm = Fraction(round(64 * float(scale)), 64)
    level = exact(delta, "delta", above=0, below=1)
    target = Fraction(zcdp_to_epsilon(1 / (2 * z**2), level).value.lower)

    def needed(size: int | None) -> Fraction:
        def suffices(factor: Fraction) -> bool:
            law = Skellam(factor * z**2 * norm**2)
            return bool(rounded(Figure("epsilon", level), law, norm, size).upper <= target)

        return _least(suffices)

    c, root = float(norm), math.sqrt(dimension)
    longest = (c + root) ** 2
    likely = c**2 + root**2 / 4 + c + root / 2
    unrounded = Fraction(largest_mu(target, level))
    return RoundingCost(
        bits,
        norm,
        target,
        longest / c**2,
        min(likely, longest) / c**2,
        min(c + root / 2, 2 * c) ** 2 / c**2,
        needed(None),
        needed(dimension),
        1 / (unrounded * z) ** 2,
    )


def table(costs: list[RoundingCost]) -> str:
    """In Markdown, factors rounded up."""
    head = "| bits | norm | published | conditional | nearest | Rényi | best | Gaussian |"
    lines = [head, "|" + "---:|" * 8]
    for cost in costs:
        cells = [f"{math.ceil(1000 * way) / 1000:.3f}" for way in astuple(cost)[3:]]
        lines.append(f"| {cost.bits} | {float(cost.norm):.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _least(suffices: Callable[[Fraction], bool]) -> Fraction:
    """In steps: it suffices, and one step less does not."""

    def refuse(value: Fraction, met: bool | None) -> None:
        raise ArithmeticError(f"{'every' if met else 'no'} variance suffices")

    search = Search(suffices, Grid(Fraction(1, 2), Fraction(2**_MOST), 17, _STEP), refuse, "factor")
    return search.narrowed(*search.bracketed(Fraction(1)))[1]
