"""What each method of accounting would report, beside the exact truth.

All but `EXACT` report a bound that holds. Their enclosures are of that bound, of the number that
the method gives, not of what the composition costs; of what is converted from Rényi divergences or
rho the upper end counts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from attrs import frozen

from ...exact import WIDTH, Enclosure, ExactInput, ParameterError, exact
from ...exact.budget import OutOfTimeError
from ..composition.composed import Composition, compose
from ..divergences.conversion import (
    Conversion,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from ..figure import UPPER_BOUND
from . import shares
from .classical import DoesNotApplyError

__all__ = [
    "ADVANCED",
    "BASIC",
    "BOUNDS",
    "EXACT",
    "KOV",
    "METHODS",
    "RDP",
    "THEOREM7",
    "ZCDP",
    "DoesNotApplyError",
    "Method",
    "Reported",
    "compare",
]

LATE = "not finished in time"  # the remark of a method whose share of it was over
_NARROWER = Fraction(1, 10**4)  # a curve that is converted is so much narrower than the result

Measure: TypeAlias = Callable[[Composition, Fraction, Fraction], Enclosure]


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
    delta: Measure


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
    level = exact(delta, "delta", at_least=0, at_most=1)
    chosen, found = _named(names), []
    for method in chosen:
        try:
            found.append(_reported(method, composition, level, width))
        except OutOfTimeError:
            found.append(Reported(method, None, LATE, open=True))
    return found


def _named(names: Sequence[str | Method] | None) -> list[Method]:
    chosen = tuple(METHODS) if names is None else names
    for name in chosen:
        if not isinstance(name, Method) and name not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return [name if isinstance(name, Method) else METHODS[name] for name in chosen]


def _reported(
    method: Method, composition: Composition, delta: Fraction, width: Fraction
) -> Reported:
    try:
        return Reported(method, method.epsilon(composition, delta, width), method.remark)
    except DoesNotApplyError as error:
        return Reported(method, None, str(error))
    except (ArithmeticError, ParameterError) as error:
        # the numbers asked for were fine: what the method needs on the way cannot be computed
        if method is EXACT:
            raise
        return Reported(method, None, f"not computed: {error}", open=True)


def _renyi_epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    if _has_no_curve(composition) and delta < 1:
        return Enclosure.infinite()
    return _of_curve(renyi_to_epsilon, composition, delta, width)


def _renyi_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Enclosure:
    if _has_no_curve(composition):
        return Enclosure.exactly(1)
    return _of_curve(renyi_to_delta, composition, epsilon, width)


def _of_curve(
    convert: Callable[..., Conversion], composition: Composition, level: Fraction, width: Fraction
) -> Enclosure:
    def converted(narrow: Fraction) -> Conversion:
        def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
            return composition.renyi_curve(orders, narrow)

        return convert(curve, level, composition.pure(narrow), width)

    return _converted(converted, width)


def _zcdp_epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    return _converted(lambda each: zcdp_to_epsilon(_rho(composition, each), delta, width), width)


def _zcdp_delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Enclosure:
    return _converted(lambda each: zcdp_to_delta(_rho(composition, each), epsilon, width), width)


def _converted(convert: Callable[[Fraction], Conversion], width: Fraction) -> Enclosure:
    """What was converted bounds from above alone."""
    found = convert(width * _NARROWER).value
    if not found.is_finite() or not found.upper:
        return found
    return Enclosure(Fraction(0), found.upper, why=(UPPER_BOUND,))


def _has_no_curve(composition: Composition) -> bool:
    """Are the Rényi divergences of all orders infinite?

    One is only ever proved infinite (`renyi`) from an outcome that P has and Q has not; then all
    orders are.
    """
    return composition.renyi(2) == Enclosure.infinite()


def _rho(composition: Composition, width: Fraction) -> Enclosure:
    """The sum of every use's own rho."""
    each = [compose(use.mechanism).zcdp(width).times(use.times) for use in composition.uses]
    if Enclosure.infinite() in each:
        raise DoesNotApplyError("the rho of some use is infinite")
    if not all(found.is_finite() for found in each):
        raise ArithmeticError("the rho of some use is not known to be finite")
    return Enclosure.total(each)


_SPLIT = "each use at its exact ε for δ/(2K), δ/2 for the theorem; or at its pure ε, if smaller"

EXACT = Method("exact", "exact composition", "", Composition.epsilon, Composition.delta)
KOV = Method(
    "kov",
    "optimal for (ε, δ) of each use (Kairouz, Oh, Viswanath)",
    _SPLIT,
    shares.optimal,
    shares.optimal_delta,
)
RDP = Method(
    "rdp", "Rényi (Lemma 10)", "exact curves, all real orders", _renyi_epsilon, _renyi_delta
)
ZCDP = Method(
    "zcdp",
    "zero-concentrated (Lemma 10)",
    "the sum of each use's least ρ, all real orders",
    _zcdp_epsilon,
    _zcdp_delta,
)
ADVANCED = Method(
    "advanced", "advanced (Dwork, Rothblum, Vadhan)", _SPLIT, shares.advanced, shares.advanced_delta
)
THEOREM7 = Method(
    "theorem7", "advanced, as the paper's Theorem 7", _SPLIT, shares.theorem7, shares.theorem7_delta
)
BASIC = Method(
    "basic", "basic: the sum", "each use at its exact ε for δ/K", shares.basic, shares.basic_delta
)
BOUNDS = (KOV, RDP, ZCDP, ADVANCED, BASIC)  # proved: the truth is at most what they report
METHODS: Mapping[str, Method] = MappingProxyType(
    {method.name: method for method in (EXACT, KOV, RDP, ZCDP, ADVANCED, THEOREM7, BASIC)}
)
