"""What other accountants report: not bounds that are proved here, but their figures.

    pld      dp_accounting's privacy-loss distributions, at their default grid
    prv      prv_accountant (Gopi, Lee, Wutschitz, NeurIPS 2021): the bracket that it gives
    opacus   Opacus's Rényi accountant: its orders and its conversion, of exact divergences
    tff      TensorFlow Federated: published Rényi bounds of vectors with discrete noise

The first two are asked where they are installed. They compute in floats, of continuous noise.

*Published of vectors*, which are summed from clients; the bounds grow with the dimension or with
|v|_1. For v with |v|_2^2 <= s, |v|_1 <= a in d dimensions, at whole orders alpha >= 2:

*Skellam noise of variance V* (Agarwal, Kairouz, Liu, "The Skellam mechanism for differentially
private federated learning", NeurIPS 2021, Theorem 3.5):
    alpha s/2V + min(((2 alpha - 1) s + 6 a)/4V^2, 3 a/2V).

*n discrete Gaussians of parameter sigma^2* (Kairouz, Liu, Steinke, "The distributed discrete
Gaussian mechanism for federated learning with secure aggregation", ICML 2021, Proposition 14), with
V = n sigma^2 and tau = 10 sum_{k=1}^{n-1} e^(-2 pi^2 sigma^2 k/(k+1)), the least of
    alpha s/2V + tau d,   alpha/2 (s/V + 2 a tau/sqrt(V) + tau^2 d),   alpha/2 (sqrt(s/V) +
    tau sqrt(d))^2.

Neither paper's bound is needed: `laws.gaussian_envelope`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import TypeAlias

from flint import arb

from ...exact import Enclosure, OutOfTimeError, ParameterError, ball, enclose, working_precision
from ...mechanisms.additive.vector import VectorNoise, vector
from ...mechanisms.continuous import ContinuousNoise, Shape, continuous
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from ...mechanisms.laws.skellam import Skellam
from ..composition.composed import Composition
from ..methods.comparison import EXACT, METHODS, DoesNotApplyError, Method
from ..participation.odometer import Level

_OPACUS_ORDERS = [*(Fraction(k, 10) for k in range(11, 110)), *map(Fraction, range(12, 64))]
TFF_ORDERS = [Fraction(k) for k in (*range(2, 129), 256)]
_PRV_ERROR = 0.1  # in epsilon; prv_accountant asks for one
_BITS = 256
_NEAR = 3000  # terms of tau that are summed one by one


def _pld(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    try:
        from dp_accounting.pld import PLDAccountant
    except ImportError as error:
        raise DoesNotApplyError("dp_accounting is not installed") from error
    from .events import to_dp_event

    accountant = PLDAccountant()
    try:
        accountant.compose(to_dp_event(composition))
    except ParameterError as error:
        raise DoesNotApplyError(str(error)) from error
    return _figure(float(accountant.get_epsilon(float(delta))))


def _prv(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    uses = _gaussians_of(composition, "prv_accountant")
    try:
        from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant
    except ImportError as error:
        raise DoesNotApplyError("prv_accountant is not installed") from error
    times = [count for _, count in uses]
    each = [
        PoissonSubsampledGaussianMechanism(float(one.rate), float(one.scale / one.sensitivity))
        for one, _ in uses
    ]
    try:
        accountant = PRVAccountant(
            prvs=each, max_self_compositions=times, eps_error=_PRV_ERROR,
            delta_error=float(delta) / 1000,
        )  # fmt: skip
        low, _, high = accountant.compute_epsilon(float(delta), times)
    except OutOfTimeError:
        raise
    except (ArithmeticError, MemoryError, RuntimeError, ValueError) as error:
        raise DoesNotApplyError(f"prv_accountant fails: {str(error)[:80]}") from error
    return Enclosure(_figure(low).lower, _figure(high).upper)


_Curve: TypeAlias = Callable[[Fraction], arb]


def _least(orders: Sequence[Fraction], curve: Sequence[Enclosure], delta: Fraction) -> Enclosure:
    """The least over these orders of D_a - (log delta + log a)/(a - 1) + log((a - 1)/a)."""
    if not delta:
        return Enclosure.infinite()
    each = (Level(a, delta).report(cost) for a, cost in zip(orders, curve, strict=True))
    return reduce(Enclosure.minimum, each).maximum(Enclosure.exactly(0))


def _opacus(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    _gaussians_of(composition, "Opacus")
    return _least(_OPACUS_ORDERS, composition.renyi_curve(_OPACUS_ORDERS, width), delta)


def _gaussians_of(composition: Composition, name: str) -> list[tuple[ContinuousNoise, int]]:
    found = [
        (each, times)
        for each, times in composition.uses
        if isinstance(each, ContinuousNoise) and each.shape is Shape.GAUSSIAN
    ]
    if len(found) < len(composition.uses):
        raise DoesNotApplyError(f"{name} knows Gaussian noise only")
    return found


def _figure(value: float) -> Enclosure:
    if math.isnan(value):
        raise DoesNotApplyError("it gives no number")
    if math.isinf(value):
        return Enclosure.infinite()
    return Enclosure.exactly(Fraction(max(value, 0.0)))


def gaussians_tau(count: int, sigma2: Fraction) -> arb:
    """tau = 10 sum_{k=1}^{count-1} e^(-2 pi² sigma² k/(k+1)), the far terms in a bracket."""
    exponent = -2 * arb.pi() ** 2 * ball(sigma2)
    near = min(count - 1, _NEAR)
    total = arb(0)
    for k in range(1, near + 1):
        total += (exponent * k / (k + 1)).exp()
    if count - 1 > near:  # the terms fall with k
        last = (exponent * near / (near + 1)).exp()
        total += (count - 1 - near) * exponent.exp().union(last)
    return 10 * total


def published_renyi(mechanism: VectorNoise) -> _Curve:
    """The published bound of one use, nobody sampled, at whole orders.

    Raises DoesNotApplyError where there is none.
    """
    if mechanism.rate != 1:
        raise DoesNotApplyError("it is of vectors from users of whom none is sampled")
    reach, law = mechanism.reach, mechanism.law
    square, total = ball(Fraction(reach.largest_square)), ball(Fraction(reach.largest_sum))
    if isinstance(law, Skellam):
        return partial(_skellam, ball(law.variance), square, total)
    if not isinstance(law, DiscreteGaussian | DiscreteGaussianSum):
        raise DoesNotApplyError("it is of Skellam and discrete Gaussian noise")
    tau = gaussians_tau(law.gaussians, law.sigma2)
    if law.gaussians > 1 and reach.dimension is None:
        raise DoesNotApplyError("it grows with the dimension, which is not given")
    variance = law.gaussians * ball(law.sigma2)
    return partial(_gaussians, variance, square, total, tau, reach.dimension or 0)


def _skellam(variance: arb, square: arb, total: arb, order: Fraction) -> arb:
    extra = (ball(2 * order - 1) * square + 6 * total) / (4 * variance**2)
    return ball(order) * square / (2 * variance) + extra.min(3 * total / (2 * variance))


def _gaussians(
    variance: arb, square: arb, total: arb, tau: arb, dimension: int, order: Fraction
) -> arb:
    ratio, half = square / variance, ball(order) / 2
    first = half * ratio + tau * dimension
    second = half * (ratio + 2 * total * tau / variance.sqrt() + tau**2 * dimension)
    third = half * (ratio.sqrt() + tau * arb(dimension).sqrt()) ** 2
    return first.min(second).min(third)


def _tff(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    with working_precision(_BITS):
        bounds = []
        for mechanism, times in composition.uses:
            if (one := vector(mechanism)) is None:
                raise DoesNotApplyError("it is of vectors")
            bounds.append((published_renyi(one), times))
        curve = [
            enclose(sum((times * bound(order) for bound, times in bounds), arb(0)))
            for order in TFF_ORDERS
        ]
    return _least(TFF_ORDERS, curve, delta)


PLD = Method(
    "pld", "dp_accounting, privacy-loss distribution", "its default grid of 1e-4, in floats", _pld
)
PRV = Method(
    "prv",
    "prv_accountant, its own bracket",
    f"asked for {_PRV_ERROR} in epsilon and a thousandth of delta; in floats",
    _prv,
)
OPACUS = Method(
    "opacus", "Rényi, as Opacus reports it", "its orders, 1.1 to 63, and its conversion", _opacus
)
TFF = Method(
    "tff",
    "Rényi, as TensorFlow Federated's bound gives it",
    "orders 2 to 128 and 256; Skellam: Agarwal, Kairouz, Liu (2021); discrete Gaussians: Kairouz, "
    "Liu, Steinke (2021)",
    _tff,
)


def usual(composition: Composition) -> list[str | Method]:
    """Those of `METHODS`, and what is widely used for continuous noise or for vectors."""
    found: list[str | Method] = [name for name in METHODS if name != EXACT.name]
    if all(continuous(use.mechanism) for use in composition.uses):
        found += [OPACUS, PLD, PRV]
    if all(vector(use.mechanism) for use in composition.uses):
        found.append(TFF)
    return found
