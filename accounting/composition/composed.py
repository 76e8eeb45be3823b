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
from functools import partial, update_wrapper
from inspect import signature
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...common.rows import Rows, written
from ...exact import CAP, WIDTH, Enclosure, ExactInput, ParameterError, exact, whole
from ...exact.budget import OutOfTimeError, budgeted, in_any_case, in_time, spend
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.sampled import unsampled
from ...mechanisms.sampling.allocation import allocation
from ...mechanisms.sampling.fixed_size import FixedSize
from ..divergences.conversion import renyi_to_delta, renyi_to_epsilon
from ..figure import MU, PURE, RHO, Figure, meeting, read_delta, read_epsilon, read_order
from ..losses.sums import WORK, Enough, never
from ..scenario import Scenario, Use, dearest, neighbours, scenarios, worst
from . import divergence
from .curves import Profile, falling, profile
from .divergence import added_up
from .known import ORDERS, first_bounds, quick_figures
from .single import by_itself
from .together import (
    FROM_ABOVE,
    composed_gdp,
    composed_zcdp,
    measured,
    measured_roughly,
)
from .tradeoff import Tradeoff, guessing, tradeoff
from .vectors import Sides, sides_of

__all__ = ["Composition", "Use", "compose"]

_LOG = logging.getLogger(__name__)
_MOST_USES = 10**9
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_COARSE = Fraction(1, 10**6)
_CURVE = Fraction(1, 10**9)  # of divergences that are converted
_NARROW = Fraction(1, 10**4)  # of each point of a curve
_ROUGH, _QUICK = Fraction(1, 100), 0.2  # width, and seconds of work
_FEW = 6  # orders that are asked where nothing else is known
_PURE, _BY = (
    "largest losses, added up",
    {  # how a figure is found where nothing else is named
        "epsilon": "one event",
        "delta": "one event",
        "renyi": "divergences, added up",
        "zcdp": "supremum over the orders",
        "gdp": "tests of one against the other",
    },
)


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
    return exact(width, "width", above=0), whole(cap, "cap", at_least=1)


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


def _elementwise(several: Callable[..., Sequence[Enclosure]]) -> Callable[..., Any]:
    """A figure also of an array of what it is at.

    several: figure, composition and a list of such, with all other arguments, to its values.
    """

    def decorated(figure: Callable[..., Enclosure]) -> Callable[..., Any]:
        name = list(signature(figure).parameters)[1]

        def answered(self: Composition, /, *args: Any, **named: Any) -> Any:
            at = named.get(name, args[0] if args else None)
            array = at if isinstance(at, np.ndarray) else np.asarray(at, dtype=object)  # exact text
            if not array.ndim:
                return figure(self, *args, **named)
            more = {key: value for key, value in named.items() if key != name}
            found = np.empty(array.size, dtype=object)
            rest = args[0 if name in named else 1 :]
            found[:] = several(figure, self, list(array.flat), *rest, **more)
            return found.reshape(array.shape)

        update_wrapper(answered, figure)
        return answered

    return decorated


def _falling(read: Callable[[ExactInput], Fraction], nothing: Enclosure) -> Callable[..., Any]:
    """Also of an array of such, along which it does not rise."""

    def several(
        figure: Callable[..., Enclosure], self: Composition, at: Any, *more: Any, **named: Any
    ) -> list[Enclosure]:
        return falling(lambda x: figure(self, x, *more, **named), [*map(read, at)], nothing)

    return _elementwise(several)


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
    def pure(
        self,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least epsilon of (epsilon, 0)-DP: suprema of independent losses add up."""
        return self._answer(_Ask(PURE, *_precision(width, cap)))

    @overload
    def renyi(self, order: ExactInput, *precision: ExactInput, **named: Any) -> Enclosure: ...

    @overload
    def renyi(self, order: Several, **named: Any) -> NDArray[np.object_]: ...

    @budgeted
    @_elementwise(lambda _, self, *orders, **named: self.renyi_curve(*orders, **named))
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
        precision = _precision(width, cap)
        wanted = [read_order(order) for order in orders]
        asks = [_Ask(Figure("renyi", order), *precision) for order in wanted]
        found = [Enclosure.unknown()] * len(asks)

        def ask_each() -> None:
            for index, ask in enumerate(asks):
                if _is_open(found[index]):
                    spend()
                    with suppress(ArithmeticError):
                        found[index] = self._asked(ask).found_by(_BY["renyi"])

        in_any_case(ask_each, None)
        missed = [index for index, one in enumerate(found) if _is_open(one)]
        if missed and sides_of(self.uses) is None:
            tells = first_bounds(self.uses, cost, [wanted[index] for index in missed])
            for index in missed:
                found[index] = found[index].intersection(tells.of(asks[index].figure))
        for index in missed:
            if not found[index].is_finite():
                found[index] = self._in_time(asks[index], partial(found.__getitem__, index))
        return found

    @budgeted
    def zcdp(
        self,
        width: ExactInput = WIDTH,
        cap: ExactInput = CAP,
        *,
        budget: ExactInput | None = None,
    ) -> Enclosure:
        """The least rho of rho-zCDP: the supremum of the composed curve over all orders."""
        return self._answer(_Ask(RHO, *_precision(width, cap)))

    @budgeted
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
        return self._answer(_Ask(MU, *_precision(width, cap)))

    @overload
    def delta(self, epsilon: ExactInput, *precision: Any, **named: Any) -> Enclosure: ...

    @overload
    def delta(self, epsilon: Several, **named: Any) -> NDArray[np.object_]: ...

    @budgeted
    @_falling(read_epsilon, Enclosure.probability())
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
        seconds = float(exact(work, "work", at_least=0))
        figure = Figure("delta", read_epsilon(epsilon))
        return self._answer(_Ask(figure, *_precision(width, cap), seconds, enough))

    @overload
    def epsilon(self, delta: ExactInput, *precision: Any, **named: Any) -> Enclosure: ...

    @overload
    def epsilon(self, delta: Several, **named: Any) -> NDArray[np.object_]: ...

    @budgeted
    @_falling(read_delta, Enclosure.unknown())
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
        seconds = float(exact(work, "work", at_least=0))
        figure = Figure("epsilon", read_delta(delta))
        if figure == PURE:
            return self.pure(width, cap)
        return self._answer(_Ask(figure, *_precision(width, cap), seconds, enough))

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

    def figure(self, figure: Figure, *precision: Any) -> Enclosure:
        """The figure of this name; width and cap, and of delta and epsilon work and enough."""
        at = () if figure.at is None else (figure.at,)
        found: Enclosure = getattr(self, figure.quantity)(*at, *precision)
        return found

    # -- the way of all of them --------------------------------------------------------------------

    def _answer(self, ask: _Ask) -> Enclosure:
        """In any case: out of time with what holds anyway."""
        by = _PURE if ask.figure == PURE else _BY[ask.figure.quantity]
        found = in_any_case(lambda: self._asked(ask).found_by(by), ask.figure.trivial)
        _LOG.debug("%s of %r: %s, by %s", ask.figure, self, found, "; ".join(found.by))
        return found

    def _asked(self, ask: _Ask) -> Enclosure:
        """By a formula; between other lists, where a use is known by these; else by its losses."""
        figure, at = ask.figure, ask.figure.at
        if at is not None and figure != PURE:
            pure = partial(self.pure, _COARSE)
            alone = by_itself(self.uses, figure, ask.width, ask.cap, pure)
            if alone is not None:
                return alone
        if (sides := sides_of(self.uses)) is not None:
            return self._between(sides, ask)
        if figure.adds_up and figure != RHO:
            found = worst(dearest(self.uses), lambda uses: added_up(uses, *ask[:3]))
            return found if figure == PURE else found.because(*self._open())
        found = self._in_time(ask, lambda: self._measured(ask))
        if figure == RHO and _is_open(found):
            found = found.intersection(first_bounds(self.uses, cost).of(figure))
        return found

    def _between(self, sides: Sides, ask: _Ask) -> Enclosure:
        """From the lists that cost less to those that cost more."""
        figure, width = ask.figure, ask.width
        if figure == PURE and sides.pure is not None:
            return Composition(sides.pure).pure(width, ask.cap)
        found = sides.near(figure).between(
            figure,
            lambda uses, narrow: _of(uses, ask._replace(width=narrow)),
            width,
            lambda: self._besides(sides, ask),
        )
        return found.intersection(figure.trivial)

    def _besides(self, sides: Sides, ask: _Ask) -> Enclosure:
        """What else bounds such lists from above.

        That is what coordinates add up to; of delta and epsilon what measures itself; what the
        Rényi curve of all uses tells, where one is guaranteed; and the pure epsilon, where few
        residues are left.
        """
        figure, at = ask.figure, ask.figure.at
        if figure.adds_up:
            found = sides.total(figure, lambda uses: _of(uses, ask))
            return found.intersection(sides.besides(figure)) if at else found
        if at is None:
            return figure.trivial
        if figure == Figure("epsilon", Fraction(1)):
            return Enclosure.exactly(0)
        found = sides.besides(figure)

        def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
            asks = [ask._replace(figure=Figure("renyi", a), width=_CURVE) for a in orders]
            return [sides.total(each.figure, partial(_of, ask=each)) for each in asks]

        if sides.guaranteed:
            convert = renyi_to_delta if figure.quantity == "delta" else renyi_to_epsilon
            with suppress(OutOfTimeError):
                most = convert(curve, at, None, _COARSE).value.upper
                found = found.intersection(Enclosure(_ZERO, most, by=("Rényi divergences",)))
        if figure.quantity == "epsilon" and sides.is_reduced:
            most = self.pure(_COARSE, ask.cap).upper
            found = found.intersection(Enclosure(_ZERO, most))
        return found

    def _measured(self, ask: _Ask) -> Enclosure:
        """By what measures a single use, and several in one scenario."""
        figure, width, cap, work, enough = ask
        if figure == RHO:
            found = worst(dearest(self.uses), lambda uses: composed_zcdp(uses, width, cap))
        elif figure == MU:
            found = composed_gdp(
                self.uses,
                lambda other: _of(self.uses, _Ask(other, _COARSE, cap, _QUICK)),
                width,
                cap,
            )
        else:
            assert figure.at is not None
            if self.times == 1 and allocation(self.uses[0].mechanism) is None:
                with suppress(ArithmeticError):  # where the loss is so large may be too far out
                    return divergence.figure_of(self.uses[0].mechanism, figure, width, cap)
            found = worst(
                scenarios(self.uses),
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

    def _quick(self, figure: Figure) -> Enclosure:
        """What is known in any case, where the time ends."""
        found = figure.trivial
        if figure == MU:
            found = first_bounds(self.uses, cost).of(figure)
        elif figure.quantity in ("delta", "epsilon"):
            found = worst(scenarios(self.uses), lambda uses: measured_roughly(uses, figure))
        return found.because(*self._open())

    def _in_time(self, ask: _Ask, measure: Callable[[], Enclosure]) -> Enclosure:
        """What is measured, or quick; where that says nothing, what other figures imply."""
        found = ask.figure.trivial
        try:
            found = measure()
        except OutOfTimeError:
            try:
                found = self._quick(ask.figure)
            except OutOfTimeError:
                found = found.because(FROM_ABOVE)
        if (found.is_finite() and found.upper != 1) or found.lower == found.upper:
            return found
        # divergences are asked from here themselves: of these, pure epsilon alone tells more
        orders = ORDERS[:_FEW] if ask.figure.quantity != "renyi" else ()
        others = quick_figures(self.uses, cost, orders)
        return meeting(ask.figure, found, others.of(ask.figure))


def cost(scenario: Scenario, figure: Figure) -> Enclosure:
    """The figure of these uses together, to about six digits."""
    return Composition(scenario).figure(figure, _COARSE)


class _Ask(NamedTuple):
    """A figure, and how it is wanted; the last two are of delta and epsilon."""

    figure: Figure
    width: Fraction
    cap: int
    work: float = WORK
    enough: Enough = never


def _of(uses: Sequence[Use], ask: _Ask) -> Enclosure:
    more = (ask.work, ask.enough) if ask.figure.quantity in ("delta", "epsilon") else ()
    return Composition(uses).figure(ask.figure, ask.width, ask.cap, *more)


def _is_open(found: Enclosure) -> bool:
    """Is nothing known of one of its ends?"""
    return found.lower == 0 < found.upper or found.lower < found.upper == _INFINITY
