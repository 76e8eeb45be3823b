"""Compositions: what a list of uses of mechanisms costs together.

Composition is adaptive: which query each use answers may depend on everything released before, as
long as the list of mechanisms (law, sensitivity, modulus) is fixed beforehand. For such lists the
product of the dominating pairs dominates (Zhu, Dong, Wang, "Optimal accounting of differential
privacy via characteristic function", AISTATS 2022, Theorem 10). Where the list itself is chosen on
the way, see `filters`. What neighbours may do over all uses is decided in `scenario`, and what is
asked of brackets and methods in `solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import update_wrapper
from inspect import signature
from typing import Any, TypeAlias, overload

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...common.rows import Rows, written
from ...exact import CAP, WIDTH, Enclosure, ExactInput, ParameterError, exact, whole
from ...exact.budget import budgeted, in_time
from ...mechanisms.mechanism import Mechanism
from ..figure import MU, PURE, RHO, Figure, read_delta, read_epsilon, read_order
from ..losses.sums import WORK, Enough, never
from ..scenario import Use, neighbours
from ..solve import MOST_USES, Query, counted, renyi_curve, solve
from .curves import Profile, falling, profile
from .tradeoff import Tradeoff, guessing, tradeoff

__all__ = ["Composition", "Use", "compose"]

_NARROW = Fraction(1, 10**4)  # of each point of a curve

Several: TypeAlias = NDArray[Any] | list[Any] | tuple[Any, ...]
Part: TypeAlias = "Mechanism | Composition | tuple[Mechanism | Composition, ExactInput]"


def compose(*parts: Part) -> Composition:
    """The composition of these uses together: mechanisms, compositions, or (either, times)."""
    uses: list[Use] = []
    for part in parts:
        what, times = part if isinstance(part, tuple) else (part, 1)
        count = whole(times, "times", at_least=1, at_most=MOST_USES)
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

    uses: tuple[Use, ...] = field(converter=counted)

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
        count = whole(times, "times", at_least=1, at_most=MOST_USES)
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
        self, width: ExactInput = WIDTH, cap: ExactInput = CAP, *, budget: ExactInput | None = None
    ) -> Enclosure:
        """The least epsilon of (epsilon, 0)-DP: suprema of independent losses add up."""
        return solve(self.uses, Query(PURE, *_precision(width, cap)))

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
        """The Rényi divergence at each of these orders > 1, which add up over uses."""
        precision = _precision(width, cap)
        figures = [Figure("renyi", read_order(order)) for order in orders]
        return renyi_curve(self.uses, [Query(figure, *precision) for figure in figures])

    @budgeted
    def zcdp(
        self, width: ExactInput = WIDTH, cap: ExactInput = CAP, *, budget: ExactInput | None = None
    ) -> Enclosure:
        """The least rho of rho-zCDP: the supremum of the composed curve over all orders."""
        return solve(self.uses, Query(RHO, *_precision(width, cap)))

    @budgeted
    def gdp(
        self, width: ExactInput = WIDTH, cap: ExactInput = CAP, *, budget: ExactInput | None = None
    ) -> Enclosure:
        """The least mu of mu-Gaussian DP, the distance of a Gaussian pair that dominates.

        Known exactly for one use of most mechanisms and for Gaussian noise, else from both sides.
        """
        return solve(self.uses, Query(MU, *_precision(width, cap)))

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
        return solve(self.uses, Query(figure, *_precision(width, cap), seconds, enough))

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
        return solve(self.uses, Query(figure, *_precision(width, cap), seconds, enough))

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
