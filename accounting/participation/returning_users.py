"""Users who return: who took part in which batches, what that cost them, and what is left.

Appendix I, Assumption 2: a user takes part in at most B batches, once within each, whatever the
sizes of the batches, their mechanisms, and the learning runs that they belong to. Replacing the
user's data changes her part of all of these batches at once, so that what one user spends is the
composition of the mechanisms of her own batches. Batches without her cost her nothing.

What may depend on what was released earlier:

*Everything but the limits.* A user takes part in at most so many batches of each kind, all fixed
beforehand: the bounds for all of them together hold, also if it is decided on the way which of them
she takes part in, and in which order (`filters` has the proof). `plan` gives them for one kind.

*Not the history itself.* Where it was decided on the way how many batches, or of which kinds, the
bounds for what was done in the end are not guarantees. Use one of the `filters` for each user.

Who takes part in which batch is taken to be public, and not to depend on the users' data. Where it
does, the compositions in here depend on data as well: then none of them may be published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache, partial, reduce
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from attrs import evolve, field, frozen

from ...exact import WIDTH, Enclosure, ExactInput, ParameterError, spend, whole
from ...exact.roots import first_met_near
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import Composition, Use, compose
from ..figure import read_delta, read_epsilon
from ..methods.comparison import METHODS, Method
from ..scenario import neighbours
from .charges import MOST_USES, read_times

User: TypeAlias = Hashable
History: TypeAlias = tuple[tuple[int, int], ...]  # (index of a kind, how often), in this order

ALL = tuple(METHODS.values())
_NOTHING = Enclosure.exactly(0)
_WIDTHS = [Fraction(1, 10**digits) for digits in (3, 6, 12)]  # the first that decides will do


class ParticipationError(Exception):
    """A user who would take part more often than is allowed. Nothing was recorded."""

    def __init__(self, user: User, reason: str) -> None:
        self.user = user
        super().__init__(f"user {user!r} {reason}")


class Kind(NamedTuple):
    """What batches are told apart by: the learning run, and the mechanism."""

    run: str
    mechanism: Mechanism


class Group(NamedTuple):
    """Users who have taken part in the same uses."""

    composition: Composition
    users: int


class Remaining(NamedTuple):
    """What may still be spent of a target, by one method.

    left: the target less what was spent; negative where it is overspent. certain: so many uses more
    certainly fit. most: the largest number that fits; None where one more could not be told.
    """

    spent: Enclosure
    left: Enclosure
    certain: int
    most: int | None


def _read_limit(value: ExactInput | None) -> int | None:
    return None if value is None else whole(value, "limit", at_least=1, at_most=MOST_USES)


def _unchanging(histories: Mapping[User, History]) -> Mapping[User, History]:
    return MappingProxyType(dict(histories))


@frozen
class ReturningUsers:
    """The batches of every user so far. An immutable value: `after` gives the next one.

    limit: B of Assumption 2, or None.

    kinds, histories: what was recorded. `after` raises ParticipationError. Raises ParameterError
    for a limit that is no whole number.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> users = ReturningUsers(limit=2).after(one, ["ada", "bob"])
    >>> users.after(one, ["ada"]).batches("ada")
    2
    """

    limit: int | None = field(default=None, converter=_read_limit)
    kinds: tuple[Kind, ...] = field(default=(), kw_only=True)
    histories: Mapping[User, History] = field(
        factory=dict, converter=_unchanging, repr=False, kw_only=True
    )

    def after(
        self, mechanism: Mechanism, users: Iterable[User], run: str = "", times: ExactInput = 1
    ) -> ReturningUsers:
        """The value after `times` batches with this mechanism, each with all of these users.

        users: hashable names, each once. Raises ParticipationError, naming a user, where one is
        listed twice or would take part in more than `limit` batches, and ParameterError for
        neighbours other than those of the batches before.
        """
        count, names = read_times(times), _names(users)
        kind = Kind(run, mechanism)
        self._admit(mechanism)
        kinds = tuple(dict.fromkeys((*self.kinds, kind)))
        index = kinds.index(kind)
        histories = dict(self.histories)
        for user in names:
            history = Counter(dict(histories.get(user, ()))) + Counter({index: count})
            if self.limit is not None and history.total() > self.limit:
                raise ParticipationError(
                    user,
                    f"would take part in {history.total()} batches: at most {self.limit} allowed",
                )
            histories[user] = tuple(sorted(history.items()))
        return evolve(self, kinds=kinds, histories=histories)

    def batches(self, user: User, run: str | None = None) -> int:
        """How many batches the user has taken part in: in all runs, or in this one."""
        history = self.histories.get(user, ())
        return sum(often for index, often in history if run in (None, self.kinds[index].run))

    def composition(self, user: User, run: str | None = None) -> Composition | None:
        """What the user has spent: in all runs, or in this one. None: nothing."""
        return self._composition(self.histories.get(user, ()), run)

    def groups(self, run: str | None = None) -> list[Group]:
        """What occurs, largest number of uses first, and how many users have each."""
        users = Counter[Composition]()
        for history, count in Counter(self.histories.values()).items():
            if composition := self._composition(history, run):
                users[composition] += count
        found = [Group(*group) for group in users.items()]
        return sorted(found, key=lambda group: -group.composition.times)

    def spent(
        self,
        user: User,
        delta: ExactInput,
        methods: Sequence[Method] = ALL,
        run: str | None = None,
        width: Fraction = WIDTH,
    ) -> dict[str, Enclosure | None]:
        """The epsilon at this delta that the user has spent, by each method's name.

        None where the method does not apply.
        """
        return _by_name(self.composition(user, run), delta, methods, width)

    def worst(
        self,
        delta: ExactInput,
        methods: Sequence[Method] = ALL,
        run: str | None = None,
        width: Fraction = WIDTH,
    ) -> dict[str, Enclosure | None]:
        """The largest epsilon at this delta that any user has spent, by each method's name.

        None where the method does not apply to some user. Compositions contained in another one are
        passed over: its bounds hold for them as well, because to leave a batch out is
        post-processing.
        """
        level = read_delta(delta)
        compositions = _largest([group.composition for group in self.groups(run)])
        found: dict[str, Enclosure | None] = {}
        for method in methods:
            each = [reported(method, spent, level, width) for spent in compositions]
            known = [value for value in each if value is not None]
            largest = reduce(Enclosure.maximum, known, _NOTHING)
            found[method.name] = largest if len(known) == len(each) else None
        return found

    def remaining(
        self,
        user: User,
        mechanism: Mechanism,
        epsilon: ExactInput,
        delta: ExactInput,
        methods: Sequence[Method] = ALL,
        width: Fraction = WIDTH,
    ) -> dict[str, Remaining | None]:
        """What is left of (epsilon, delta), and how many more uses of this mechanism it allows.

        By each method's name, None where it does not apply; never more uses than `limit` allows,
        nor than 10^9 in all.
        width: of what was spent; the count is certain at any.
        """
        target, level = read_epsilon(epsilon), read_delta(delta)
        self._admit(mechanism)
        before = self.composition(user)
        most = (MOST_USES if self.limit is None else self.limit) - self.batches(user)
        parts = [] if before is None else [before]

        def cost(method: Method, times: int) -> Enclosure:
            uses, value = compose(*parts, (mechanism, times)) if times else before, None
            for each in _WIDTHS:
                value = reported(method, uses, level, each)
                if value is None or value.at_most(target) is not None:
                    break
            return Enclosure.unknown() if value is None else value

        found: dict[str, Remaining | None] = {}
        for method in methods:
            spent, found[method.name] = reported(method, before, level, width), None
            if spent is not None:
                counts = most_uses(partial(cost, method), target, most)
                found[method.name] = Remaining(spent, target - spent, *counts)
        return found

    def _admit(self, mechanism: Mechanism) -> None:
        """Raise ParameterError for neighbours other than those of the batches so far."""
        neighbours([Use(each, 1) for each in (*(kind.mechanism for kind in self.kinds), mechanism)])

    def _composition(self, history: History, run: str | None) -> Composition | None:
        """Equal for histories that cost the same, whatever their runs."""
        mechanisms = [kind.mechanism for kind in self.kinds]
        uses = [
            (mechanisms.index(mechanisms[index]), often)
            for index, often in history
            if run in (None, self.kinds[index].run)
        ]
        return compose(*((mechanisms[i], often) for i, often in sorted(uses))) if uses else None


def plan(
    mechanism: Mechanism,
    batches: ExactInput,
    delta: ExactInput,
    methods: Sequence[Method] = ALL,
    width: Fraction = WIDTH,
) -> dict[str, Enclosure | None]:
    """The epsilon at this delta for every user who takes part in at most so many such batches.

    By each method's name, None where it does not apply.

    mechanism: of a batch. batches: at most. delta, methods: as of `compare`. Raises ParameterError
    for numbers out of range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> plan(one, 3, "1e-6")["exact"] <= "0.3"
    True
    """
    return _by_name(compose((mechanism, read_times(batches))), delta, methods, width)


def _by_name(
    composition: Composition | None, delta: ExactInput, methods: Sequence[Method], width: Fraction
) -> dict[str, Enclosure | None]:
    level = read_delta(delta)
    return {method.name: reported(method, composition, level, width) for method in methods}


@lru_cache(maxsize=4096)
def reported(
    method: Method, composition: Composition | None, delta: Fraction, width: Fraction
) -> Enclosure | None:
    """The epsilon that the method reports; None where it does not apply."""
    if composition is None:
        return _NOTHING
    try:
        found = method.epsilon(composition, delta, width)
    except ArithmeticError:  # its conditions may not hold, or not be told to hold
        return None
    spend()  # what is known for want of time is not kept
    return found


def most_uses(
    cost: Callable[[int], Enclosure], target: Fraction, most: int
) -> tuple[int, int | None]:
    """How many uses certainly fit; and the largest number that fits, where it can be told.

    cost: does not fall. By doubling, then bisection.
    """

    @cache
    def fits(times: int) -> bool | None:
        return cost(times).at_most(target)

    if fits(0) is not True:
        return 0, None if fits(0) is None else 0
    beyond = first_met_near(lambda times: fits(times) is not True, 1, 0, most + 1)
    return beyond - 1, beyond - 1 if beyond > most or fits(beyond) is False else None


def _names(users: Iterable[User]) -> list[User]:
    if isinstance(users, str):
        raise ParameterError(f"users must be a collection of names, got the text {users[:40]!r}")
    names = list(users)
    counts = Counter(names)
    if len(counts) < len(names):
        twice = next(user for user, often in counts.items() if often > 1)
        raise ParticipationError(twice, "is listed twice: only once within each batch is allowed")
    return names


def _largest(compositions: Sequence[Composition]) -> list[Composition]:
    """Those that no other one contains. compositions: distinct, largest number of uses first."""
    kept: dict[Composition, Counter[Mechanism]] = {}
    for composition in compositions:
        uses = Counter(dict(composition.uses))
        if not any(uses <= other for other in kept.values()):
            kept[composition] = uses
    return list(kept)
