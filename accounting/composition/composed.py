"""Compositions: what a list of uses of mechanisms costs together.

Composition is adaptive: which query each use answers may depend on everything released before, as
long as the list of mechanisms (law, sensitivity, modulus) is fixed beforehand. For such lists the
product of the dominating pairs dominates (Zhu, Dong, Wang, "Optimal accounting of differential
privacy via characteristic function", AISTATS 2022, Theorem 10). Where the list itself is chosen on
the way, see `filters`. What neighbours may do over all uses is decided in `scenario`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import update_wrapper
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeAlias, overload

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact import CAP, WIDTH, Enclosure, Endpoint, ExactInput, ParameterError, exact, whole
from ...exact.budget import OutOfTimeError, budgeted, in_any_case, in_time, quickly
from ...exact.rows import Rows, written
from ...mechanisms.allocation import allocation
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.mechanism import Mechanism, RandomizedResponse
from ...mechanisms.sampled import unsampled
from ..divergences.conversion import renyi_to_delta, renyi_to_epsilon
from ..figure import Figure
from ..losses.sums import WORK, Enough, never
from ..scenario import Scenario, Use, dearest, is_one_way, largest, neighbours, worst
from . import divergence
from .composed_gdp import composed_gdp
from .composed_profile import in_little_time, measured
from .composed_zcdp import composed_zcdp
from .curves import Profile, falling, profile
from .first_bounds import first_bounds, first_curve
from .profiled import closed_form, own_delta, own_epsilon, profiled
from .tradeoff import Tradeoff, guessing, tradeoff
from .vectors import Sides, sides_of

__all__ = ["Composition", "Use", "compose"]

_LOG = logging.getLogger(__name__)
_MOST_USES = 10**9
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_LARGEST_RESPONSE = 10_000  # the largest epsilon of `RandomizedResponse`
_COARSE = Fraction(1, 10**6)
_CURVE = Fraction(1, 10**9)  # of divergences that are converted
_NARROW = Fraction(1, 10**4)  # of each point of a curve
_ROUGH, _QUICK = Fraction(1, 100), 0.2  # width, and seconds of work


_P = ParamSpec("_P")
Several: TypeAlias = NDArray[Any] | list[Any] | tuple[Any, ...]
Part: TypeAlias = "Mechanism | Composition | tuple[Mechanism | Composition, ExactInput]"


def compose(*parts: Part) -> Composition:
    """The composition of these uses together: mechanisms, compositions, or (either, times)."""
    uses: list[Use] = []
    for part in parts:
        what, times = part if isinstance(part, tuple) else (part, 1)
        count = whole(times, "times", at_least=1, at_most=_MOST_USES)
        if isinstance(what, Composition):
            uses += (count * what).uses
        elif hasattr(what, "pairs") and hasattr(what, "reversed"):
            uses.append(Use(what, count))
        else:
            raise ParameterError(
                "what is composed must be mechanisms, compositions or either with times, got a "
                f"{type(what).__name__}"
            )
    return Composition(uses)


def _precision(width: ExactInput, cap: ExactInput = CAP) -> tuple[Fraction, int]:
    """The relative width that a figure is to have, and how many bits of precision it may take."""
    return exact(width, "width", at_least=0), whole(cap, "cap", at_least=1)


def _counted(uses: Sequence[Use]) -> tuple[Use, ...]:
    """Equal mechanisms counted together, if their neighbours are the same."""
    if not uses:
        raise ParameterError("a composition must have at least one use of a mechanism")
    neighbours(uses)
    counts: dict[Mechanism, int] = {}
    for mechanism, times in uses:
        counts[mechanism] = counts.get(mechanism, 0) + times
    if sum(counts.values()) > _MOST_USES:
        raise ParameterError(f"times must add up to at most {_MOST_USES}")
    return tuple(Use(*count) for count in counts.items())


def _answered(
    nothing: Enclosure, by: str
) -> Callable[
    [Callable[Concatenate[Composition, _P], Enclosure]],
    Callable[Concatenate[Composition, _P], Enclosure],
]:
    """A figure that is always answered: with `nothing`, what holds anyway, out of time.

    by: how it is found where nothing else is named.
    """

    def decorated(
        figure: Callable[Concatenate[Composition, _P], Enclosure],
    ) -> Callable[Concatenate[Composition, _P], Enclosure]:
        def answered(self: Composition, /, *args: _P.args, **named: _P.kwargs) -> Enclosure:
            def ask() -> Enclosure:
                return figure(self, *args, **named).found_by(by)

            found = in_any_case(ask, nothing)
            if _LOG.isEnabledFor(logging.DEBUG):
                asked = ", ".join(map(str, args or named.values()))
                ways = "; ".join(found.by)
                _LOG.debug("%s(%s) of %r: %s, by %s", figure.__name__, asked, self, found, ways)
            return found

        update_wrapper(answered, figure)
        return answered

    return decorated


def _elementwise(
    curve: Callable[..., Sequence[Enclosure]],
) -> Callable[[Callable[..., Enclosure]], Callable[..., Any]]:
    """A figure also of an array of what it is at; curve: the same of a list of such."""

    def decorated(figure: Callable[..., Enclosure]) -> Callable[..., Any]:
        name = list(signature(figure).parameters)[1]

        def answered(self: Composition, /, *args: Any, **named: Any) -> Any:
            at = named.get(name, args[0] if args else None)
            array = at if isinstance(at, np.ndarray) else np.asarray(at, dtype=object)  # exact text
            if not array.ndim:
                return figure(self, *args, **named)
            more = {key: value for key, value in named.items() if key != name}
            found = np.empty(array.size, dtype=object)
            found[:] = curve(self, list(array.flat), *args[0 if name in named else 1 :], **more)
            return found.reshape(array.shape)

        update_wrapper(answered, figure)
        return answered

    return decorated


@frozen(repr=False)
class Composition(Rows):
    """Uses of mechanisms, all seen by the same adversary. Equal mechanisms are counted together.

    Raises ParameterError for uses of different neighbours (`scenario.neighbours`). Inside a
    `time_limit` every figure is answered with what is known when it ends.

    `100 * a + 50 * b` composes, as `compose((a, 100), (b, 50))` does, and `sum([a, b])`.

    `renyi`, `delta` and `epsilon` of an array, or a list, are arrays of enclosures of its shape.

    uses: mechanisms, each with the number of its uses.

    Every figure takes `width`, the relative width that its enclosure is to have (1e-12), and `cap`,
    the most bits of working precision (6144), and `budget`, how much work it may do, in units of
    about a microsecond (no limit): what is known by then is the same on every machine. `delta` and
    `epsilon` also take `work`, about how many seconds may go to losses that live on no lattice (4).

    >>> import exactdp
    >>> total = 100 * exactdp.mechanism("discrete-laplace:epsilon=0.1")
    >>> total.times, total.pure(), f"{total.epsilon(delta='1e-6'):.3f}"
    (100, Enclosure(10, 10), '4.775')
    """

    uses: tuple[Use, ...] = field(converter=_counted)

    @property
    def times(self) -> int:
        """How many uses there are altogether."""
        return sum(use.times for use in self.uses)

    @property
    def neighbours(self) -> str:
        """How neighbouring datasets differ: the same in all uses."""
        return neighbours(self.uses)

    def __add__(self, other: Composition | Mechanism) -> Composition:
        return compose(self, other)

    def __radd__(self, other: Composition | Mechanism | int) -> Composition:
        """`sum` begins with 0."""
        if isinstance(other, int):
            return self if other == 0 else NotImplemented
        return compose(other, self)

    def __mul__(self, times: ExactInput) -> Composition:
        count = whole(times, "times", at_least=1, at_most=_MOST_USES)
        return Composition([Use(use.mechanism, count * use.times) for use in self.uses])

    __rmul__ = __mul__

    def __repr__(self) -> str:
        parts = (
            (f"{use.times} * " if use.times > 1 else "") + written(use.mechanism)
            for use in self.uses
        )
        return f"Composition({' + '.join(parts)})"

    def rows(self) -> list[dict[str, object]]:
        """One row a mechanism: mechanism and times."""
        return [{"mechanism": written(use.mechanism), "times": use.times} for use in self.uses]

    @budgeted
    @_answered(Enclosure.unknown(), "largest losses, added up")
    def pure(
        self,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least epsilon of (epsilon, 0)-DP: suprema of independent losses add up."""
        narrow, bits = _precision(width, cap)
        if (sides := sides_of(self.uses)) is not None:
            if sides.pure is not None:
                return Composition(sides.pure).pure(narrow, bits)
            (found,) = sides.curve_between(
                lambda uses: [Composition(uses).pure(narrow, bits)], lambda _: [_INFINITY], narrow
            )
            return found

        def one_way(uses: Scenario) -> Enclosure:
            return Enclosure.total(
                divergence.pure_epsilon(mechanism, narrow, bits).times(times)
                for mechanism, times in uses
            )

        return largest(dearest(self.uses), one_way)

    @overload
    def renyi(
        self,
        order: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure: ...

    @overload
    def renyi(self, order: Several, **precision: ExactInput) -> NDArray[np.object_]: ...

    @budgeted
    @_elementwise(lambda self, *orders, **named: self.renyi_curve(*orders, **named))
    def renyi(
        self,
        order: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The Rényi divergence of this order > 1."""
        return self.renyi_curve([order], width, cap)[0]

    @budgeted
    def renyi_curve(
        self,
        orders: Sequence[ExactInput],
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> list[Enclosure]:
        """The Rényi divergence at each of these orders > 1: they add up, at every order.

        Source: Mironov, "Rényi differential privacy", CSF 2017, Proposition 1; an adversary who
        picks the worst pair each time attains the sum.
        """
        narrow, bits = _precision(width, cap)
        wanted = [exact(order, "order", above=1) for order in orders]
        figures = [Figure("renyi", order) for order in wanted]
        closed = quickly(
            lambda: [closed_form(self.uses, figure, narrow, bits) for figure in figures], [None]
        )
        if all(one is not None for one in closed):
            return [one for one in closed if one is not None]
        found = [Enclosure.unknown()] * len(wanted)
        with suppress(OutOfTimeError):
            with suppress(OutOfTimeError, ArithmeticError):
                found = self._renyi_curve(wanted, narrow, bits)
            missed = [
                index
                for index, one in enumerate(found)
                if one.lower == 0 < one.upper or one.lower < one.upper == _INFINITY
            ]
            if missed:
                again = [wanted[index] for index in missed]
                if sides_of(self.uses) is None:
                    bounds = first_curve(self.uses, again)
                else:
                    bounds = self._renyi_curve(again, narrow, bits)
                for index, bound in zip(missed, bounds, strict=True):
                    found[index] = found[index].intersection(bound)
            for index in missed:
                if not found[index].is_finite():
                    found[index] = self._renyi_at(wanted[index], found[index], bits)
        return found

    def _renyi_at(self, order: Fraction, known: Enclosure, cap: int) -> Enclosure:
        """What pure epsilon tells besides; rho is at most epsilon^2/2, as in `zcdp`."""
        return self._within_time(
            lambda: known,
            lambda dominating: dominating.renyi(order, _COARSE, cap),
            lambda pure: min(pure, order * pure**2 / 2),
        )

    def _renyi_curve(
        self, wanted: Sequence[Fraction], narrow: Fraction, bits: int
    ) -> list[Enclosure]:
        if (sides := sides_of(self.uses)) is not None:
            curve = sides.curve_between(
                lambda uses: Composition(uses).renyi_curve(wanted, narrow, bits),
                lambda curve: [curve.at(order) for order in wanted],
                narrow,
            )
            return [
                one.intersection(sides.renyi(order))
                for one, order in zip(curve, wanted, strict=True)
            ]
        best = [Enclosure.exactly(0)] * len(wanted)
        for uses in dearest(self.uses):
            curves = [divergence.renyi_curve(use.mechanism, wanted, narrow, bits) for use in uses]
            for index, column in enumerate(zip(*curves, strict=True)):
                each = zip(column, uses, strict=True)
                total = Enclosure.total(value.times(use.times) for value, use in each)
                best[index] = best[index].maximum(total)
        return [value.because(*self._open()).found_by("divergences, added up") for value in best]

    @budgeted
    @_answered(Enclosure.unknown(), "supremum over the orders")
    def zcdp(
        self,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least rho of rho-zCDP: the supremum of the composed curve over all orders."""
        narrow, bits = _precision(width, cap)
        if (sides := sides_of(self.uses)) is not None:
            (found,) = sides.curve_between(
                lambda uses: [Composition(uses).zcdp(narrow, bits)],
                lambda curve: [curve.rho],
                narrow,
            )
            return found
        found = self._within_time(
            lambda: largest(dearest(self.uses), lambda uses: composed_zcdp(uses, narrow, bits)),
            lambda dominating: dominating.zcdp(_COARSE, bits),
            lambda pure: pure**2 / 2,  # Bun and Steinke, TCC 2016, Proposition 1.4
        ).because(*self._open())
        if found.lower == 0 < found.upper or found.lower < found.upper == _INFINITY:
            found = found.intersection(first_bounds(self.uses, Figure("zcdp")))
        return found

    @budgeted
    @_answered(Enclosure.unknown(), "tests of one against the other")
    def gdp(
        self,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least mu of mu-Gaussian DP, the distance of a Gaussian pair that dominates.

        Known exactly for one use of most mechanisms and for Gaussian noise, else from both sides.
        """
        narrow, bits = _precision(width, cap)
        if (sides := sides_of(self.uses)) is not None:
            return sides.between(
                lambda uses, narrow: Composition(uses).gdp(narrow, bits), narrow, by_bins=True
            )
        return self._within_time(
            lambda: composed_gdp(
                self.uses,
                lambda level: self.delta(level, _COARSE, bits, _QUICK),
                lambda: self.pure(_COARSE, bits),
                lambda: self.zcdp(_COARSE, bits),
                narrow,
                bits,
            ),
            lambda dominating: dominating.gdp(_COARSE, bits),
            quick=lambda: first_bounds(self.uses, Figure("gdp")),
        ).because(*self._open())

    @budgeted
    def profile(
        self,
        epsilons: Sequence[ExactInput] | None = None,
        points: ExactInput = 41,
        width: ExactInput = _NARROW,
        *,
        budget: ExactInput | None = None,
    ) -> Profile:
        """delta(epsilon), certified, at these epsilons >= 0.

        epsilons: None for so many `points` from 0 to where delta has all but vanished. width: the
        relative width that every delta is to have. Raises ParameterError for numbers out of range.
        """
        return profile(self, epsilons, points, _precision(width)[0])

    @budgeted
    def tradeoff(
        self,
        alphas: Sequence[ExactInput] | None = None,
        points: ExactInput = 100,
        width: ExactInput = _NARROW,
        known: Profile | None = None,
        *,
        budget: ExactInput | None = None,
    ) -> Tradeoff:
        """The least type II errors of tests of neighbours, certified, at these type I errors.

        alphas: probabilities; None for so many `points`. width: of the profiles that it is made
        from. known: the profile of this composition, where it has been measured already. Source and
        proof: `accounting.composition.tradeoff`.
        """
        narrow = _precision(width)[0]

        def curves() -> Tradeoff:
            profile = self.profile(width=narrow) if known is None else known
            return tradeoff(self.uses, Composition, profile, alphas, points, narrow)

        found = in_time(curves, None)
        return guessing(alphas, points) if found is None else found

    @overload
    def delta(
        self,
        epsilon: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        work: ExactInput = WORK,
        enough: Enough = never,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure: ...

    @overload
    def delta(self, epsilon: Several, **precision: ExactInput) -> NDArray[np.object_]: ...

    @budgeted
    @_elementwise(
        lambda self, at, *more, **named: falling(
            lambda epsilon: self.delta(epsilon, *more, **named),
            [exact(epsilon, "epsilon", at_least=0) for epsilon in at],
            Enclosure.probability(),
        )
    )
    @_answered(Enclosure.probability(), "one event")
    def delta(
        self,
        epsilon: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        work: ExactInput = WORK,
        enough: Enough = never,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least delta of (epsilon, delta)-DP, epsilon >= 0.

        work: about how many seconds losses that live on no lattice may take; where that ends the
        search, the enclosure is wider than asked, and says why. enough: whether a first, coarse
        enclosure will do, where a narrower one takes long.
        """
        narrow, bits = _precision(width, cap)
        seconds = float(exact(work, "work", at_least=0))
        level = exact(epsilon, "epsilon", at_least=0)
        if (closed := closed_form(self.uses, Figure("delta", level), narrow, bits)) is not None:
            return closed
        if (one := profiled(self.uses)) is not None:
            return own_delta(one, level, narrow)
        if (sides := sides_of(self.uses)) is not None:
            return (
                sides.near(Figure("delta", level))
                .between(
                    lambda uses, narrow: Composition(uses).delta(
                        level, narrow, bits, seconds, enough
                    ),
                    narrow,
                    lambda: sides.delta(level).intersection(self._by_curve(sides, "delta", level)),
                )
                .intersection(Enclosure.probability())
            )
        return self._within_time(
            lambda: self._composed(Figure("delta", level), narrow, bits, seconds, enough),
            lambda dominating: dominating.delta(level, _COARSE, bits),
            most=Fraction(1),
            quick=lambda: self._in_little_time(Figure("delta", level)),
        )

    @overload
    def epsilon(
        self,
        delta: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        work: ExactInput = WORK,
        enough: Enough = never,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure: ...

    @overload
    def epsilon(self, delta: Several, **precision: ExactInput) -> NDArray[np.object_]: ...

    @budgeted
    @_elementwise(
        lambda self, at, *more, **named: falling(
            lambda delta: self.epsilon(delta, *more, **named),
            [exact(delta, "delta", at_least=0, at_most=1) for delta in at],
            Enclosure.unknown(),
        )
    )
    @_answered(Enclosure.unknown(), "one event")
    def epsilon(
        self,
        delta: ExactInput,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        work: ExactInput = WORK,
        enough: Enough = never,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least epsilon >= 0 of (epsilon, delta)-DP; work and enough as for `delta`."""
        narrow, bits = _precision(width, cap)
        seconds = float(exact(work, "work", at_least=0))
        level = exact(delta, "delta", at_least=0, at_most=1)
        if level == 0:
            return self.pure(narrow, bits)
        if (closed := closed_form(self.uses, Figure("epsilon", level), narrow, bits)) is not None:
            return closed
        if level < 1 and (one := profiled(self.uses)) is not None:
            return own_epsilon(one, level, self.pure(_COARSE))
        if (sides := sides_of(self.uses)) is not None:
            return sides.near(Figure("epsilon", level)).between(
                lambda uses, narrow: Composition(uses).epsilon(
                    level, narrow, bits, seconds, enough
                ),
                narrow,
                lambda: self._besides(sides, level, bits),
            )
        return self._within_time(
            lambda: self._composed(Figure("epsilon", level), narrow, bits, seconds, enough),
            lambda dominating: dominating.epsilon(level, _COARSE, bits),
            lambda pure: pure,
            quick=lambda: self._in_little_time(Figure("epsilon", level)),
        )

    def _in_little_time(self, figure: Figure) -> Enclosure:
        found = worst(self.uses, lambda uses: in_little_time(uses, figure))
        return found.because(*self._open())

    def _besides(self, sides: Sides, delta: Fraction, cap: int) -> Enclosure:
        """What else bounds the epsilon of vectors from above."""
        if delta == 1:
            return Enclosure.exactly(0)
        mixed = sides.epsilon(delta).intersection(self._by_curve(sides, "epsilon", delta))
        if not sides.is_reduced:
            return mixed
        return mixed.intersection(Enclosure(_ZERO, self.pure(_COARSE, cap).upper))

    def _by_curve(self, sides: Sides, quantity: str, at: Fraction) -> Enclosure:
        """At most what the Rényi curve of all uses together tells, where one is guaranteed."""
        if not sides.guaranteed:
            return Enclosure.unknown()

        def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
            known = [Enclosure.exactly(0)] * len(orders)
            if sides.others:
                known = Composition(sides.others).renyi_curve(orders, _CURVE)
            return [
                Enclosure.total(
                    [
                        found,
                        *(
                            Enclosure(one.at(a), one.at(a)).times(times)
                            for one, times in sides.guaranteed
                        ),
                    ]
                )
                for found, a in zip(known, orders, strict=True)
            ]

        convert = renyi_to_epsilon if quantity == "epsilon" else renyi_to_delta
        with suppress(OutOfTimeError):
            found = convert(curve, at, None, _COARSE)
            return Enclosure(_ZERO, found.value.upper, by=("Rényi divergences",))
        return Enclosure.unknown()

    def _composed(
        self, figure: Figure, width: Fraction, cap: int, work: float, enough: Enough
    ) -> Enclosure:
        """By what measures a single use, and several in one scenario."""
        if self.times == 1 and allocation(self.uses[0].mechanism) is None:
            assert figure.at is not None
            measure = divergence.epsilon if figure.quantity == "epsilon" else divergence.delta
            with suppress(ArithmeticError):  # where the loss is so large may be too far out
                return measure(self.uses[0].mechanism, figure.at, width, cap)
        found = worst(
            self.uses,
            lambda uses: measured(uses, figure, width, cap, work, enough),
            lambda uses: measured(uses, figure, _ROUGH, cap, _QUICK, enough),
        )
        return found.because(*self._open())

    def _open(self) -> list[str]:
        """Why every quantity but pure epsilon may be known from two sides only, in words."""
        batches = (unsampled(use.mechanism) for use in self.uses)
        if any(isinstance(one, FixedSize) and one.rate != 1 for one in batches):
            return ["which datasets cost most in batches of a fixed size is open"]
        return []

    def _within_time(
        self,
        measure: Callable[[], Enclosure],
        instead: Callable[[Composition], Enclosure],
        plain: Callable[[Fraction], Endpoint] = lambda _: _INFINITY,
        most: Endpoint = _INFINITY,
        quick: Callable[[], Enclosure] | None = None,
    ) -> Enclosure:
        """What is measured; where that says nothing, what pure epsilon alone implies.

        quick: what is known in any case, asked for where the time ends.

        instead: the same of randomized response, than which no epsilon-DP mechanism is less
        private (`ResponsePair`); that needs the pure epsilon of both ways round. plain: at most
        what pure epsilon allows, without any work. most: what it cannot exceed in any case.
        """
        found = Enclosure(_ZERO, most)
        try:
            found = measure()
        except OutOfTimeError:
            with suppress(OutOfTimeError):
                found = found if quick is None else found.intersection(quick())
        if (found.is_finite() and found.upper != 1) or found.lower == found.upper:
            return found
        with suppress(OutOfTimeError):
            pure = self.pure(_COARSE).upper
            if pure == _INFINITY:
                return found
            by = ("pure epsilon",)
            found = found.intersection(Enclosure(_ZERO, plain(Fraction(pure)), by=by))
            if pure <= _LARGEST_RESPONSE and not is_one_way(self.uses):
                response = compose(RandomizedResponse(Fraction(pure)))
                if response != self:
                    found = found.intersection(Enclosure(_ZERO, instead(response).upper, by=by))
        return found
