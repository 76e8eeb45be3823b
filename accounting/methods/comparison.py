"""What each method of accounting would report, beside the exact truth.

All but `EXACT` report a bound that holds. Their enclosures are of that bound, of the number that
the method gives, not of what the composition costs; of what is converted from Rényi divergences or
rho the upper end counts alone.

*Theorems that see each use's (epsilon_i, delta_i) only*: how delta is shared out is part of what
they report. As in Appendix I of the distributed-bandits paper, half of delta goes to the K uses in
equal shares, delta_i = delta/(2K), and half to the theorem, delta' = delta/2. Where all pure
epsilons are finite, delta_i = 0 and delta' = delta is tried too, and the smaller result counts.
Basic composition needs no delta': each use gets delta/K.

*The least delta* at which a condition holds that holds from some delta on is located in floats,
each end then proved by the condition itself just above and just below. With delta = 10^-(y^2), what
methods report is nearly linear in y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from attrs import frozen

from ...exact import (
    WIDTH,
    Enclosure,
    ExactInput,
    OutOfTimeError,
    ParameterError,
    UndecidedError,
    exact,
)
from ...exact.roots import float_root
from ...exact.search import Grid, Search
from ..composition.composed import Composition, compose
from ..divergences.conversion import (
    Conversion,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from ..figure import UPPER_BOUND
from . import classical
from .classical import DoesNotApplyError as DoesNotApplyError
from .classical import Each

LATE = "not finished in time"  # the remark of a method whose share of it was over
_NARROWER = Fraction(1, 10**4)  # a curve that is converted is so much narrower than the result
_SIDES = Fraction(1, 1000)  # so much narrower than the least delta is what decides of one
_FARTHEST = 64.0  # delta is sought down to 10^-(64^2)
_NEAREST, _LARGEST = 1e-15, 10**300  # of what floats tell

Measure: TypeAlias = Callable[[Composition, Fraction, Fraction], Enclosure]


def _no_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Enclosure:
    raise DoesNotApplyError("asked for epsilon only")


@frozen
class Method:
    """A way to account. Both functions raise DoesNotApplyError where it has nothing to say.

    epsilon: (composition, delta, width) to the epsilon that it reports. delta: (composition,
    epsilon, width) to the least delta at which it reports at most this epsilon. remark: what it
    rests on.

    name, title: for tables.

    >>> from exactdp.accounting import METHODS
    >>> METHODS["rdp"].name, len(METHODS)
    ('rdp', 7)
    """

    name: str
    title: str
    remark: str
    epsilon: Measure
    delta: Measure = _no_delta


class Reported(NamedTuple):
    """What a method reports; None, with the reason as the remark, where it does not apply.

    open: None says only that it was not computed: the time was over, or the precision too small.

    method, value, remark: which, what, and what it rests on.

    >>> import exactdp
    >>> from exactdp.accounting import compare
    >>> compare(exactdp.mechanism("discrete-laplace:epsilon=0.1"), "1e-6", names=["basic"])[0].value
    Enclosure(0.09999809516076775894200768, 0.09999809516076775894202887)
    """

    method: Method
    value: Enclosure | None
    remark: str
    open: bool = False


def compare(
    composition: Composition,
    delta: ExactInput,
    width: Fraction = WIDTH,
    names: Sequence[str | Method] | None = None,
) -> list[Reported]:
    """The epsilon at this delta by every method (or those given), the exact one first.

    Each in its share of the time that is left.

    composition: of all uses. delta: at least 0. names: of the methods, or methods.
    Raises ParameterError for a name that is not known.

    >>> import exactdp
    >>> total = 100 * exactdp.mechanism("discrete-laplace:epsilon=0.1")
    >>> for found in compare(total, "1e-6", names=["exact", "basic"]):
    ...     print(found.method.name, f"{found.value:.3f}")
    exact 4.775
    basic 10.000
    """
    level, found = exact(delta, "delta", at_least=0, at_most=1), []
    for name in METHODS if names is None else names:
        if not isinstance(name, Method) and name not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
        method = name if isinstance(name, Method) else METHODS[name]
        try:
            reported = Reported(method, method.epsilon(composition, level, width), method.remark)
        except OutOfTimeError:
            reported = Reported(method, None, LATE, open=True)
        except DoesNotApplyError as error:
            reported = Reported(method, None, str(error))
        except (ArithmeticError, ParameterError) as error:
            # the numbers asked for were fine: what the method needs on the way cannot be computed
            if method is EXACT:
                raise
            reported = Reported(method, None, f"not computed: {error}", open=True)
        found.append(reported)
    return found


# -- from Rényi divergences and rho ---------------------------------------------------------------


def _renyi(
    convert: Callable[..., Conversion],
    at_infinity: Enclosure,
    composition: Composition,
    level: Fraction,
    width: Fraction,
) -> Enclosure:
    """From the curve. at_infinity: what is reported where it is infinite.

    A divergence is only ever proved infinite (`renyi`) from an outcome that P has and Q has not:
    then those of all orders are.
    """
    narrow = width * _NARROWER

    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        return composition.renyi_curve(orders, narrow)

    found = convert(curve, level, composition.pure(narrow), width).value
    if found.upper >= at_infinity.upper and composition.renyi(2) == Enclosure.infinite():
        return at_infinity
    return _upper(found)


def _zcdp(
    convert: Callable[..., Conversion], composition: Composition, level: Fraction, width: Fraction
) -> Enclosure:
    """From the sum of every use's own rho."""
    narrow = width * _NARROWER
    each = [compose(use.mechanism).zcdp(narrow).times(use.times) for use in composition.uses]
    if Enclosure.infinite() in each:
        raise DoesNotApplyError("the rho of some use is infinite")
    if not all(found.is_finite() for found in each):
        raise ArithmeticError("the rho of some use is not known to be finite")
    return _upper(convert(Enclosure.total(each), level, width).value)


def _upper(value: Enclosure) -> Enclosure:
    """What was converted bounds from above alone."""
    if not value.is_finite() or not value.upper:
        return value
    return Enclosure(Fraction(0), value.upper, why=(UPPER_BOUND,))


# -- by theorems of (epsilon_i, delta_i) ----------------------------------------------------------


def _each_at(composition: Composition, delta: Fraction, width: Fraction) -> list[Each]:
    """What every use is at this delta_i: its exact epsilon_i."""
    return [
        Each(compose(use.mechanism).epsilon(delta, width), delta, use.times)
        for use in composition.uses
    ]


def _split(
    theorem: Callable[[list[Each], Fraction, Fraction], Enclosure],
    composition: Composition,
    delta: Fraction,
    width: Fraction,
) -> Enclosure:
    """The smaller result of both splits. theorem: uses, delta' and width to a bound."""
    if delta == 0:
        raise DoesNotApplyError("needs delta above 0")
    found, reasons = list[Enclosure](), list[str]()
    for share, slack in ((delta / (2 * composition.times), delta / 2), (Fraction(0), delta)):
        try:
            found.append(theorem(_each_at(composition, share, width), slack, width))
        except DoesNotApplyError as error:
            reasons.append(str(error))
    if not found:
        raise DoesNotApplyError(reasons[0])
    return reduce(Enclosure.minimum, found)


def _least(
    report: Measure, composition: Composition, epsilon: Fraction, width: Fraction
) -> Enclosure:
    """The least delta at which this reports at most epsilon; 1 if there is none."""
    with suppress(DoesNotApplyError):
        if report(composition, Fraction(0), width).at_most(epsilon):
            return Enclosure.exactly(0)
    return least_delta(partial(report, composition), epsilon, width)


def _basic(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    return classical.basic(_each_at(composition, delta / composition.times, width))


def _basic_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Enclosure:
    if len(composition.uses) > 1:
        return _least(_basic, composition, epsilon, width)
    ((mechanism, times),) = composition.uses
    share = compose(mechanism).delta(epsilon / times, width)
    return share.times(times).minimum(Enclosure.exactly(1))


_advanced = partial(_split, classical.advanced)
_theorem7 = partial(_split, classical.theorem7)


def _theorem7_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Enclosure:
    """Raises DoesNotApplyError where it does not apply at what its number asks for."""
    if epsilon >= 1:
        raise DoesNotApplyError("stated for results below 1")
    least = _least(partial(_split, classical.theorem7_number), composition, epsilon, width)
    if epsilon and _theorem7(composition, Fraction(least.upper), width).at_most(epsilon) is False:
        raise DoesNotApplyError("false in general for so large a delta'")
    return least


def _optimal(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    """No theorem can make more of the (epsilon_i, delta_i) of either split."""
    if delta == 0:
        return composition.pure(width)
    return _split(
        lambda uses, _, width: classical.optimal(uses, delta, width), composition, delta, width
    )


_SPLIT = "each use at its exact ε for δ/(2K), δ/2 for the theorem; or at its pure ε, if smaller"

EXACT = Method("exact", "exact composition", "", Composition.epsilon, Composition.delta)
KOV = Method(
    "kov",
    "optimal for (ε, δ) of each use (Kairouz, Oh, Viswanath)",
    _SPLIT,
    _optimal,
    partial(_least, _optimal),
)
RDP = Method(
    "rdp",
    "Rényi (Lemma 10)",
    "exact curves, all real orders",
    partial(_renyi, renyi_to_epsilon, Enclosure.infinite()),
    partial(_renyi, renyi_to_delta, Enclosure.exactly(1)),
)
ZCDP = Method(
    "zcdp",
    "zero-concentrated (Lemma 10)",
    "the sum of each use's least ρ, all real orders",
    partial(_zcdp, zcdp_to_epsilon),
    partial(_zcdp, zcdp_to_delta),
)
ADVANCED = Method(
    "advanced", "advanced (Dwork, Rothblum, Vadhan)", _SPLIT, _advanced, partial(_least, _advanced)
)
THEOREM7 = Method(
    "theorem7", "advanced, as the paper's Theorem 7", _SPLIT, _theorem7, _theorem7_delta
)
BASIC = Method("basic", "basic: the sum", "each use at its exact ε for δ/K", _basic, _basic_delta)
BOUNDS = (KOV, RDP, ZCDP, ADVANCED, BASIC)  # proved: the truth is at most what they report
METHODS: Mapping[str, Method] = MappingProxyType(
    {method.name: method for method in (EXACT, KOV, RDP, ZCDP, ADVANCED, THEOREM7, BASIC)}
)


# -- the least delta ------------------------------------------------------------------------------


def least_delta(
    report: Callable[[Fraction, Fraction], Enclosure], epsilon: Fraction, width: Fraction
) -> Enclosure:
    """Enclose the least delta in (0, 1] at which this reports at most epsilon; 1 if there is none.

    report: (delta, width) to a number of that relative width.
    """
    narrow = width * _SIDES

    def holds(delta: Fraction) -> bool | None:
        try:
            return report(delta, narrow).at_most(epsilon)
        except DoesNotApplyError:
            return None

    def excess(y: float) -> float:
        try:
            value = report(_power_of_ten(-y * y), narrow)
        except DoesNotApplyError:
            return math.inf  # too small a delta
        if not epsilon or not value.is_finite():
            return -math.inf if value.at_most(epsilon) else math.inf
        gap = (Fraction(value.lower) + Fraction(value.upper)) / (2 * epsilon) - 1
        return float(gap) if gap < _LARGEST else math.inf

    search = Search(holds, Grid(Fraction(0), Fraction(1), 40), lambda *_: None, "delta")
    delta, lower, upper = _located(excess), Fraction(0), Fraction(1)
    with suppress(UndecidedError):
        lower = search.first(delta, -1, width / 4, False)
    with suppress(UndecidedError):
        upper = search.first(delta, 1, width / 4, True)
    return Enclosure(upper if upper == 1 and holds(upper) is False else lower, upper)


def _located(excess: Callable[[float], float]) -> Fraction:
    """About the least delta = 10^-(y^2) of which this is at most 0."""
    low, high = 0.0, 1.0
    while excess(high) <= 0:
        low, high = high, 2 * high
        if high > _FARTHEST:
            return _power_of_ten(-low * low)
    y = float_root(excess, low, high, _NEAREST)
    return _power_of_ten(-y * y)


def _power_of_ten(exponent: float) -> Fraction:
    """10^exponent, nearly; also where that is too small for a float."""
    whole = math.floor(exponent)
    return Fraction(10.0 ** (exponent - whole)) * Fraction(10) ** whole
