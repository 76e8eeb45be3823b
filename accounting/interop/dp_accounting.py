"""What other accountants take: Google's dp_accounting, and any that is given a Rényi curve.

What is handed over is certified to be pessimistic, and composed here. What those libraries then
compose from it, in floats, is their affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ...common.extra import bring
from ...exact import ExactInput, ParameterError, ball, exact, working_precision
from ...exact.precision import upper_float
from ...exact.rounding import float_above
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import Composition, compose
from ..composition.loss_grid import GridPLD, composition_laws

if TYPE_CHECKING:
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_BITS = 192
_SHORT = 20  # bits of a step whose multiples are exact floats, up to 2^33 of them
_ULP = Fraction(1, 2**52)
_LIST_LOSS = ball(Fraction(1, 2**48))


def to_dp_accounting(
    what: Mechanism | Composition, interval: float = 1e-4, tail: ExactInput = "1e-20"
) -> PrivacyLossDistribution:
    """A `dp_accounting.pld` PrivacyLossDistribution that dominates the mechanism or composition.

    Its delta at every epsilon is at least the true one, also as dp_accounting evaluates it in
    floats; the excess is of second order in the interval (see `loss_grid`). Uses are composed here,
    in integers rounded up (`loss_grid`), with 4e-15 added to delta for what dp_accounting
    may lose where it is asked for a list of epsilons. For a single mechanism nothing
    is added: there a list may come out lower by that much, one epsilon never.

    Not covered: what dp_accounting composes further (`compose`, `self_compose`) goes through its
    Fourier transforms in floats, whose errors can make delta too small by 1e-16 to 1e-12. Hand over
    the whole composition instead. Nor can it compose a law all of whose mass is infinite.

    what: a mechanism, or a composition.
    interval: the step of the grid of losses, dp_accounting's `value_discretization_interval`; laws
        can be composed only if theirs are equal. With a power of two, such as 2**-13, losses that
        are its multiples stay where they are.
    tail: P-mass on either side that may be taken to have the largest possible loss.
    A `FinitePair` gets two directions, "remove" for (p, q) and "add" for (q, p); anything else one
    for both. A modulus too large to be enumerated is ignored, which is pessimistic too.

    Raises ImportError where dp_accounting is not installed: `pip install "exactdp[interop]"`.
    Source: Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic
    function", AISTATS 2022, Theorem 10 (the largest profile dominates, adaptively).

    >>> import exactdp
    >>> pld = to_dp_accounting(exactdp.mechanism("discrete-laplace:epsilon=0.1*20"))
    >>> round(pld.get_epsilon_for_delta(1e-6), 6)
    1.788609
    """
    module = bring("dp_accounting.pld.privacy_loss_distribution", "interop")
    step, share = exact(interval, "interval", at_most=1), exact(tail, "tail", above=0, below=1)
    if step < Fraction(1, 10**9):
        raise ParameterError(f"interval must be between 1e-9 and 1, got {interval!r}")
    step = Fraction(float(step))  # dp_accounting multiplies by the binary number
    composition = compose(what)
    with working_precision(_BITS):
        laws = composition_laws(composition, step, share)
        pmfs = [_pmf(law, step, composition.times > 1) for law in laws]
    pld: PrivacyLossDistribution = module.PrivacyLossDistribution(*pmfs)
    return pld


def rdp_epsilons(what: Mechanism | Composition, orders: Sequence[ExactInput]) -> list[float]:
    """The Rényi divergence at each order > 1, rounded up to floats (math.inf where infinite).

    For accountants that take a curve, such as `dp_accounting.rdp.compute_epsilon(orders, rdp,
    delta)`. Since these take the orders as floats, each is evaluated at the next float that is not
    below it; divergences rise with the order.

    what: a mechanism or a composition. orders: above 1. Raises ParameterError for others.

    >>> import exactdp
    >>> rdp_epsilons(exactdp.mechanism("gaussian:sigma=1"), [2, 3])
    [1.0, 1.5]
    """
    wanted = [exact(order, "order", above=1) for order in orders]
    floats = [Fraction(float_above(order)) for order in wanted]
    return [float_above(value.upper) for value in compose(what).renyi_curve(floats)]


def _pmf(law: GridPLD, step: Fraction, composed: bool) -> PLDPmf:
    """The law in floats, larger by what one evaluation of delta or epsilon may lose.

    Let there be n points up to a loss M, u = 2^-53, S = P(0 < L < inf). *One epsilon*: delta is a
    sum of n products of numbers >= 0, each known to some u: relative error (n + 16) 2u. *A list*:
    delta is the difference of P(L > epsilon) and e^epsilon Q(L > epsilon), both summed from the
    largest loss down, which errs by u times all partial sums. Each of these is at most P(L >= loss)
    so that they add up to at most E (1 + (L - epsilon)/step) over L > epsilon, and x is at most
    (1 + M)(1 - e^-x) for 0 <= x <= M: at most S + (1 + M) delta/step. Twice that, and up to 14u S
    for exponentials: 16u S absolute, the rest relative. *Epsilon from delta*: losses are counted
    down by repeated subtraction, off by at most n u M in the end, a relative error of e^-loss.
    Larger masses raise epsilon by at least their relative growth.

    *Losses* k step, rounded, are at least k step - c, c = 2^-52 times the largest. If all losses
    are raised by c first, a share (1 - e^-c)/(1 - e^-step) of each mass, or more, goes one step up
    (`losses.cells`), and the points stay on the safe side.
    """
    from dp_accounting.pld import pld_pmf

    masses, lost = dict(law.masses), Fraction(0)
    largest = max(map(abs, masses), default=0)
    if largest and step.numerator.bit_length() > _SHORT:
        largest += 1
        share = ((-ball(largest * step * _ULP)).expm1() / (-ball(step)).expm1()).upper()
        for k, mass in sorted(masses.items(), reverse=True):
            masses[k + 1] = masses.get(k + 1, arb(0)) + share * mass
        lost += (2 * largest + 1) * largest * step * _ULP
    lost += (len(masses) + 16 + 2 * (1 + largest * step) / step) * _ULP
    factor = ball(1 + lost)
    infinite = law.infinite * factor
    if composed:
        infinite += sum((mass for k, mass in masses.items() if k > 0), arb(0)) * _LIST_LOSS
    found = {k: upper_float(masses[k] * factor) for k in sorted(masses)} or {0: 0.0}
    most = min(upper_float(infinite), 1.0) if infinite > 0 else 0.0
    return pld_pmf.create_pmf(found, float(step), most, pessimistic_estimate=True)
