"""What other accountants take: Google's dp_accounting, and any that is given a Rényi curve.

What is handed over is certified to be pessimistic. What those libraries then compute from it, in
floats, is their affair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ...exact.enclosure import Endpoint
from ...exact.number import ExactInput, ParameterError, ball, exact
from ...exact.precision import working_precision
from ...mechanisms.mechanism import Mechanism
from ..budget import Budget, compose
from .grid_laws import dominating_laws
from .loss_grid import Grid, GridLaw

if TYPE_CHECKING:
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

__all__ = ["rdp_epsilons", "to_dp_accounting"]

_BITS = 192
_SHORT = 20  # bits of a step whose multiples are exact floats, up to 2^33 of them
_ULP = Fraction(1, 2**52)


def to_dp_accounting(
    what: Mechanism | Budget, interval: float = 1e-4, tail: ExactInput = "1e-20"
) -> PrivacyLossDistribution:
    """A `dp_accounting.pld` PrivacyLossDistribution that dominates the mechanism or budget.

    For a mechanism, its delta at every epsilon is at least the true one, also as dp_accounting
    evaluates it in floats, and so is that of every exact composition. The excess is of second order
    in the interval (see `loss_grid`). A budget is composed by dp_accounting itself, whose Fourier
    transforms in floats have errors of about 1e-16 in delta, and more where they wrap around.

    interval: the step of the grid of losses, dp_accounting's `value_discretization_interval`; laws
        can be composed only if theirs are equal. With a power of two, such as 2**-13, losses that
        are its multiples stay where they are.
    tail: P-mass on either side that may be taken to have the largest possible loss.
    A `FinitePair` gets two directions, "remove" for (p, q) and "add" for (q, p); anything else one
    for both. A modulus too large to be enumerated is ignored, which is pessimistic too.

    Raises ImportError where dp_accounting is not installed: `pip install "exactdp[interop]"`.
    Source: Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic
    function", AISTATS 2022, Theorem 10 (the largest profile dominates, adaptively).
    """
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError as error:
        raise ImportError('dp_accounting is needed: pip install "exactdp[interop]"') from error
    step, share = _step(interval), exact(tail, "tail", above=0, below=1)
    if isinstance(what, Budget):
        total = None
        for mechanism, times in what.uses:
            one = to_dp_accounting(mechanism, interval, share)
            part = one.self_compose(times) if times > 1 else one
            total = part if total is None else total.compose(part)
        assert total is not None  # a budget has at least one use
        return total
    with working_precision(_BITS):
        grid = Grid(step, Fraction(0) if step.numerator.bit_length() <= _SHORT else _ULP)
        pmfs = [_pmf(law, float(step)) for law in dominating_laws(what, grid, share)]
    return PrivacyLossDistribution(*pmfs)


def rdp_epsilons(what: Mechanism | Budget, orders: Sequence[ExactInput]) -> list[float]:
    """The Rényi divergence at each order > 1, rounded up to floats (math.inf where infinite).

    For accountants that take a curve, such as `dp_accounting.rdp.compute_epsilon(orders, rdp,
    delta)`. Since these take the orders as floats, each is evaluated at the next float that is not
    below it; divergences rise with the order.
    """
    wanted = [exact(order, "order", above=1) for order in orders]
    with working_precision(_BITS):
        floats = [Fraction(_float_above(ball(order))) for order in wanted]
    budget = what if isinstance(what, Budget) else compose(what)
    return [_rounded_up(value.upper) for value in budget.renyi_curve(floats)]


def _step(interval: float) -> Fraction:
    step = exact(interval, "interval", above=0, at_most=1)
    if step < Fraction(1, 10**9):
        raise ParameterError(f"interval must be between 1e-9 and 1, got {interval!r}")
    return Fraction(float(step))  # dp_accounting multiplies by the binary number


def _pmf(law: GridLaw, interval: float) -> PLDPmf:
    """The law in floats, larger by what one evaluation of delta may lose: a sum of n products."""
    from dp_accounting.pld import pld_pmf

    points = law.points()
    factor = ball(1 + (len(points) + 16) * _ULP)
    masses = {k: _float_above(law.masses[k] * factor) for k in points}
    infinite = min(_float_above(law.infinite * factor), 1.0)
    return pld_pmf.create_pmf(masses or {0: 0.0}, interval, infinite, pessimistic_estimate=True)


def _float_above(value: arb) -> float:
    """A float that is certainly not below; the least one but for rounding."""
    nearest = float(value.upper())
    while not arb(nearest) >= value:
        nearest = math.nextafter(nearest, math.inf)
    return nearest


def _rounded_up(end: Endpoint) -> float:
    if isinstance(end, Decimal) and end.is_infinite():
        return math.inf
    number = Fraction(end)
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)
