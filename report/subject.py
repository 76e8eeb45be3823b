"""What a report is about: mechanisms and how often they are used, claims, and levels of delta."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, partial

from attrs import field, frozen

from ..accounting.composition.composed import Composition, compose
from ..accounting.composition.curves import Profile, profile, refined
from ..accounting.composition.known import Known, quick_figures
from ..accounting.figure import Figure
from ..accounting.interop.foreign import usual
from ..accounting.methods.comparison import BOUNDS, Reported, compare
from ..accounting.scenario import Use, adjacency, neighbours, sampled_users
from ..accounting.solve import cost
from ..exact import Enclosure, ExactInput, brief_text, exact
from ..exact.budget import share, unhurried
from ..mechanisms.specs.spec import Spec
from ..verify import Guarantee
from .measured import NARROW, measured, part_of

_EVEN, _POINTS = 11, 41  # of the profile: in even steps first, then where it is known worst
_NEIGHBOURS = {
    "replace": "one user's data are replaced by other data of that user",
    "add-remove": "one user is added or removed",
}


@frozen(slots=False)
class Subject:
    """deltas: exact, the first of them the one at which methods and groups are compared.

    name, owner: what the page is called and whose it is, where somebody says.
    sought: figures for which work was done already.
    """

    uses: Sequence[tuple[Spec, int]]
    claims: Sequence[Guarantee]
    deltas: Sequence[Fraction]
    name: str | None = None
    owner: str | None = None
    sought: set[Figure] = field(factory=set, init=False, eq=False)

    @cached_property
    def composition(self) -> Composition:
        """All uses together."""
        return compose(*((spec.mechanism, times) for spec, times in self.uses))

    @cached_property
    def known(self) -> Known:
        """What is known of all uses together by now: every line of a page tells the same."""
        return quick_figures(self.composition.uses, cost)

    @property
    def epsilon(self) -> Enclosure:
        """At the first delta; found by at most half of the work of whoever asks first."""
        return self.figure(Figure("epsilon", self.deltas[0]), 1 / 2)

    def figure(self, figure: Figure, part: float) -> Enclosure:
        """All that is known of it; sought once where that is too little, by this part of the work
        that is left.
        """
        if figure not in self.sought and not self.known.of(figure).is_within(NARROW):
            self.sought.add(figure)
            compute = partial(self.composition.figure, figure, NARROW)
            self.known.learn(figure, measured(compute, part, figure.trivial))
        return self.known.of(figure)

    @cached_property
    def places(self) -> tuple[Fraction, ...]:
        """The epsilons of the profile; what delta is there is known from then on."""
        found = profile(_Shared(self), None, _EVEN, NARROW)
        found = refined(_Shared(self), found, _POINTS - _EVEN, NARROW)
        for at, value in found.points():
            self.known.learn(Figure("delta", at), value)
        return found.epsilons

    @property
    def profile(self) -> Profile:
        """All that is known of delta at these places."""
        deltas = (self.known.of(Figure("delta", at)) for at in self.places)
        return Profile(self.places, tuple(deltas))

    @cached_property
    def reported(self) -> Sequence[Reported]:
        """What other methods report at the first delta; a bound that they prove is known then."""
        found = compare(self.composition, self.deltas[0], NARROW, usual(self.composition))
        for each in found:
            if each.method in BOUNDS and each.value is not None:
                most = Enclosure(Fraction(0), each.value.upper)
                self.known.learn(Figure("epsilon", self.deltas[0]), most)
        return found

    def find(self) -> None:
        """Every figure of all uses together, in shares of the work; and what follows of them.

        It is called before anything is shown, so that no line tells less than another.
        """
        self.figure(Figure("zcdp"), part_of(10))
        self.figure(Figure("epsilon", self.deltas[0]), part_of(2))
        others = [Figure("epsilon", delta) for delta in (*self.deltas[1:], Fraction(0))]
        for waiting, each in enumerate([Figure("gdp"), *others][::-1], 5):
            self.figure(each, part_of(waiting))
        with share(part_of(2)):
            _ = self.places
        with share(part_of(2)):
            _ = self.reported
        with unhurried():  # all that is found is told, however late it is
            self.known.close(self.figures)

    @property
    def figures(self) -> list[Figure]:
        """What a page shows of all uses together."""
        at_deltas = [Figure("epsilon", delta) for delta in (*self.deltas, Fraction(0))]
        at_places = [Figure("delta", place) for place in self.places]
        return [*at_deltas, Figure("zcdp"), Figure("gdp"), *at_places]

    @property
    def delta(self) -> str:
        """The first delta, as text."""
        return brief_text(self.deltas[0])

    @property
    def neighbours(self) -> str:
        """How neighbouring datasets differ, by its name in specs."""
        return neighbours(self._listed)

    @property
    def differing(self) -> str:
        """The same in words; of a federated round only the vector is there or not."""
        if all(spec.federated is not None for spec, _ in self.uses):
            return "one client's vector is there, or zeros instead; its share of noise is in both"
        return _NEIGHBOURS[self.neighbours]

    @property
    def adjacency(self) -> str:
        """Which datasets are neighbours, and in which directions they are compared."""
        return adjacency(self._listed)

    @property
    def sampling(self) -> str:
        """Who takes part."""
        return sampled_users(self._listed) or "none: all users take part in every release"

    @property
    def title(self) -> str:
        """The name, or in a few words what is released and how often."""
        return self.name or f"Privacy of {self.releases}"

    @property
    def releases(self) -> str:
        """How often what is released: by the names of mechanisms, each once."""
        counts: dict[str, int] = {}
        for spec, times in self.uses:
            kind = spec.text.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + times
        each = (f"{n:,} release{'' if n == 1 else 's'} of {kind}" for kind, n in counts.items())
        return " and ".join(each)

    @property
    def _listed(self) -> list[Use]:
        return [Use(spec.mechanism, times) for spec, times in self.uses]


@frozen
class _Shared:
    """What a profile is made of: epsilon as it is known already, or from now on."""

    subject: Subject

    def delta(self, epsilon: ExactInput, width: Fraction) -> Enclosure:
        return self.subject.composition.delta(epsilon, width)

    def epsilon(self, delta: ExactInput, width: Fraction) -> Enclosure:
        level = exact(delta, "delta")
        return self.subject.figure(Figure("epsilon", level), 1)


def used(spec: Spec, times: int) -> str:
    """SPEC*K, as the command line reads it."""
    return spec.text if times == 1 else f"{spec.text}*{times}"
