"""What other accountants report of continuous noise: not bounds that are proved, but their figures.

    pld      dp_accounting's privacy-loss distributions, at their default grid
    prv      prv_accountant (Gopi, Lee, Wutschitz, NeurIPS 2021): the bracket that it gives
    opacus   Opacus's Rényi accountant: its orders and its conversion, of exact divergences

The first two are asked where they are installed. They compute in floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import NoReturn

from flint import arb

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball
from ...exact.precision import refine
from ...mechanisms.continuous import ContinuousNoise, Shape
from ..composition.composed import Composition
from ..methods.classical import DoesNotApplyError
from ..methods.comparison import Method

_ORDERS = tuple(Fraction(k, 10) for k in range(11, 110)) + tuple(map(Fraction, range(12, 64)))
_PRV_ERROR = 0.1  # in epsilon; prv_accountant asks for one


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
    uses = _gaussians(composition, "prv_accountant")
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


def _opacus(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    """The least over its orders of D_a - (log delta + log a)/(a - 1) + log((a - 1)/a)."""
    _gaussians(composition, "Opacus")
    if not delta:
        return Enclosure.infinite()
    found = []
    for order, divergence in zip(_ORDERS, composition.renyi_curve(_ORDERS, width), strict=True):
        found.append(divergence.plus(refine(partial(charge, order, delta), width=width)))
    best = Enclosure(min(each.lower for each in found), min(each.upper for each in found))
    return best.maximum(Enclosure.exactly(0))


def charge(order: Fraction, delta: Fraction) -> arb:
    """What epsilon is above the Rényi divergence of this order, at this delta."""
    a = ball(order)
    return ((a - 1) / a).log() - (ball(delta).log() + a.log()) / (a - 1)


def _gaussians(composition: Composition, name: str) -> list[tuple[ContinuousNoise, int]]:
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


def no_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> NoReturn:
    """For methods that only tell epsilon."""
    raise DoesNotApplyError("asked for epsilon only")


PLD = Method(
    "pld",
    "dp_accounting, privacy-loss distribution",
    "its default grid of 1e-4, in floats",
    _pld,
    no_delta,
)
PRV = Method(
    "prv",
    "prv_accountant, its own bracket",
    f"asked for {_PRV_ERROR} in epsilon and a thousandth of delta; in floats",
    _prv,
    no_delta,
)
OPACUS = Method(
    "opacus",
    "Rényi, as Opacus reports it",
    "its orders, 1.1 to 63, and its conversion",
    _opacus,
    no_delta,
)
FOREIGN: Mapping[str, Method] = MappingProxyType({each.name: each for each in (OPACUS, PLD, PRV)})
