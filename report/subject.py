"""What a report is about: mechanisms and how often they are used, claims, and levels of delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial

from ..accounting.composed import Composition, compose
from ..accounting.scenario import Use, neighbours, orientation, sampled_users
from ..exact import Enclosure, decimal_text, time_left
from ..mechanisms.spec import Spec
from ..verify import Guarantee
from .measured import NARROW, measured

_NEIGHBOURS = {
    "replace": "one user's data are replaced by other data of that user",
    "add-remove": "one user is added or removed",
}


@dataclass(frozen=True)
class Subject:
    """deltas: exact, the first of them the one at which methods and groups are compared.

    known: epsilon at some delta, as audits of claims have found it.
    """

    uses: Sequence[tuple[Spec, int]]
    claims: Sequence[Guarantee]
    deltas: Sequence[Fraction]
    known: Mapping[Fraction, Enclosure] = field(default_factory=dict)

    @cached_property
    def composition(self) -> Composition:
        """All uses together."""
        return compose(*((spec.mechanism, times) for spec, times in self.uses))

    @cached_property
    def epsilon(self) -> Enclosure:
        """At the first delta, found once: in at most half of the time of whoever asks first."""
        return self.epsilon_at(self.deltas[0], time_left() / 2)

    def epsilon_at(self, delta: Fraction, seconds: float) -> Enclosure:
        """In so many seconds; where that is too few, what a claim's audit has found."""
        compute = partial(self.composition.epsilon, delta, NARROW)
        return measured(compute, seconds, self.known.get(delta))

    @property
    def delta(self) -> str:
        """The first delta, as text."""
        return small(self.deltas[0])

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
    def orientation(self) -> str:
        """Whether neighbours are told apart the same way round in every use."""
        return orientation(self._listed)

    @property
    def sampling(self) -> str:
        """Who takes part."""
        return sampled_users(self._listed) or "all users take part in every use"

    @property
    def title(self) -> str:
        """What is used and how often, as specs write it."""
        return ", ".join(used(spec, times) for spec, times in self.uses)

    @property
    def _listed(self) -> list[Use]:
        return [Use(spec.mechanism, times) for spec, times in self.uses]


def used(spec: Spec, times: int) -> str:
    """SPEC*K, as the command line reads it."""
    return spec.text if times == 1 else f"{spec.text}*{times}"


def small(number: Fraction) -> str:
    """A power of ten as 1e-6, any other number as it is."""
    text = decimal_text(number)
    power = len(str(number.denominator)) - 1
    return f"1e-{power}" if power > 2 and number == Fraction(1, 10**power) else text
