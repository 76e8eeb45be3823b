"""Exact draws of a law, and what a mechanism releases of an input: for real, or in a simulation.

The discrete Laplace and Gaussian laws of rational parameters, and finite laws, need integers only;
the others compare integers with certified enclosures, as narrow as each comparison needs. How long
a draw takes depends on its outcome: whoever can time single draws learns something about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any, Protocol, TypeAlias

from attrs import frozen
from flint import arb

from ...exact.number import ExactInput, ParameterError, ball, is_list, whole
from ..additive.vector import VectorNoise
from ..continuous import continuous
from ..laws.law import Law
from ..local.local_families import Reports
from ..local.randomizer import LocalRandomizer
from ..local.reports import report, shuffled
from ..local.shuffled import Shuffled
from ..matrices.release import DiscreteMatrixNoise, MatrixNoise
from ..mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ..pairs.pair import FinitePair
from ..sampled import Sampled
from ..samplers.bits import (
    NoSamplerError,
    RandomBits,
    SimulatedInt,
    SystemBits,
    for_release,
    is_simulated,
)
from ..samplers.coins import Chance, Table
from ..sampling.fixed_size import FixedSize
from ..selection import chosen
from ..selection.candidates import Exponential, NoisyMax, PermuteAndFlip
from ..selection.key_names import KeyNames
from ..selection.sparse_vector import SparseVector
from ..selection.threshold import Thresholded
from .stream import prefix_sums

Query: TypeAlias = ExactInput | Sequence[Any] | Mapping[str, int]
Drawn: TypeAlias = int | str | tuple[Any, ...] | dict[Any, int]
Release: TypeAlias = Callable[[SystemBits], Drawn]
Simulation: TypeAlias = Callable[[RandomBits], Drawn]

_LONGEST = 10**6  # coordinates that are drawn at once


def draw(law: Law, bits: RandomBits, size: ExactInput) -> list[int]:
    """`size` independent exact draws of this law, whose outcomes are integers of any size.

    bits: `SystemBits()` for a release, `SeededBits(seed)` for tests.
    Raises ParameterError for a law without a sampler.

    law: of the noise. size: how many.

    >>> from exactdp.mechanisms import DiscreteLaplace
    >>> len(draw(DiscreteLaplace(10), SystemBits(), 3))
    3
    """
    one = law.sampler()
    return [one(bits) for _ in range(whole(size, "size", at_least=0))]


class Uses(Protocol):
    """Uses of mechanisms, as `exactdp.mechanism` gives one: each with how often."""

    @property
    def uses(self) -> Sequence[tuple[Mechanism, int]]: ...


def release(mechanism: Mechanism | Uses, query: Query = 0) -> Release:
    """The function that releases this query once, exactly, from the operating system's bits.

    mechanism: what is released, or one use of it. query: its answer on the data, before noise; 0 by
    default.

    - Noise on a number: the query is a whole number, and one is released. On a vector: a list, or 0
      where all are 0, and a tuple is released.
    - Counts from a threshold on: a count, a list of them, or a dict of counts by key; the count
      with its noise, or "withheld". Names of keys alone: the same, "released" or "withheld".
    - A choice among candidates: the list of their scores; a place in it, from 0.
    - The sparse vector technique: a list of answers, each less its threshold; "above" or "below",
      of as many as are answered.
    - A local randomizer: a value (`reports.report`); a user's report. Shuffled: one value, or the
      list of all users'; a dict, how many users sent each report.
    - A tree with discrete noise, or a matrix of whole numbers: a number, or a row of them, for each
      step, or 0; all prefix sums.
    - A finite pair: 0 or 1; the name of an outcome under P, or under Q.

    Of a list of counts a tuple is released, of a dict a dict of the keys that are released, or the
    tuple of their names, in alphabetical order: any other might tell how they came about. What is
    reduced mod m is released so. Of randomized response with delta > 0: the answered bit, whether
    or not it was revealed for certain.

    Raises ParameterError for a query that is out of range, and for a pair of incomplete columns;
    NoSamplerError for what nothing draws; the function raises SimulationError for bits of any other
    kind, a seed's among them.

    >>> import exactdp
    >>> from exactdp.mechanisms.samplers import SystemBits
    >>> once = release(exactdp.mechanism("discrete-laplace:epsilon=0.1"), 50)
    >>> isinstance(once(SystemBits()), int)
    True
    """
    one = _drawn(mechanism, query)
    return lambda bits: one(for_release(bits))


def simulated_release(mechanism: Mechanism | Uses, query: Query = 0) -> Simulation:
    """The same draw from any bits: for tests and simulation.

    Integers drawn from a seed's bits are marked, `SimulatedInt`. Raises what `release` raises.

    mechanism, query: as of `release`.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> draws = simulated_release(AdditiveNoise(DiscreteLaplace(10)), 50)
    >>> int(draws(SeededBits(1)))
    41
    """
    one = _drawn(mechanism, query)

    def draw(bits: RandomBits) -> Drawn:
        value = one(bits)
        return _marked(value) if is_simulated(bits) else value

    return draw


def _marked(value: Drawn) -> Drawn:
    if isinstance(value, tuple):
        return tuple(map(_marked, value))
    if isinstance(value, dict):
        return {key: SimulatedInt(count) for key, count in value.items()}
    return SimulatedInt(value) if isinstance(value, int) else value


@frozen
class Coordinates:
    """The same noise on every number of a vector, independently; any number where None."""

    noise: AdditiveNoise
    dimension: int | None


def share_of_noise(mechanism: Mechanism, users: ExactInput) -> AdditiveNoise | Coordinates:
    """What one of `users` users sends for the query 0: a share of the noise, mod m if there is one.

    Raises ParameterError for a mechanism whose noise has no such shares.
    """
    if isinstance(mechanism, VectorNoise):
        noise = AdditiveNoise(mechanism.law.share(users), modulus=mechanism.modulus)
        return Coordinates(noise, mechanism.reach.dimension)
    if not isinstance(mechanism, AdditiveNoise):
        raise ParameterError(f"{type(mechanism).__name__} adds no noise that could be shared")
    return AdditiveNoise(mechanism.law.share(users), mechanism.sensitivity, mechanism.modulus)


@singledispatch
def _drawn(mechanism: Any, query: Any) -> Simulation:
    if (noise := continuous(mechanism)) is not None:
        name = noise.shape.value
        raise NoSamplerError(
            f"{name} noise is for accounting only: floats that stand for it have another "
            f"distribution, which leaks through its gaps; sample discrete-{name}"
        )
    uses = tuple(getattr(mechanism, "uses", ()))
    if len(uses) == 1 and uses[0][1] == 1:
        return _drawn(uses[0][0], query)
    if uses:
        raise NoSamplerError("one use of a mechanism is released at a time, not a list of them")
    raise NoSamplerError(f"mechanism {type(mechanism).__name__} has no exact sampler")


@_drawn.register
def _(mechanism: AdditiveNoise, query: ExactInput) -> Simulation:
    value, noise, modulus = whole(query, "query"), mechanism.law.sampler(), mechanism.modulus
    if modulus is None:
        return lambda bits: value + noise(bits)
    return lambda bits: (value + noise(bits)) % modulus


@_drawn.register
def _(mechanism: VectorNoise, query: Query) -> Simulation:
    noise = AdditiveNoise(mechanism.law, modulus=mechanism.modulus)
    return _drawn(Coordinates(noise, mechanism.reach.dimension), query)


@_drawn.register
def _(mechanism: Coordinates, query: Query) -> Simulation:
    """One number where neither the dimension nor a list says how many there are."""
    size, noise = mechanism.dimension, mechanism.noise
    if not is_list(query):
        if size is None:
            return _drawn(noise, query)
        if size > _LONGEST:
            raise ParameterError(f"dimension must be at most {_LONGEST} to be drawn, got {size}")
        if size > 1 and whole(query, "query") != 0:
            raise ParameterError(f"query must hold {size} numbers, one a coordinate, or be 0")
        query = [query] * size
    if len(query) != (len(query) if size is None else size):
        raise ParameterError(f"query must hold {size} numbers, one a coordinate, got {len(query)}")
    values = [whole(each, "query") for each in query]
    one, modulus = noise.law.sampler(), noise.modulus
    if modulus is None:
        return lambda bits: tuple(value + one(bits) for value in values)
    return lambda bits: tuple((value + one(bits)) % modulus for value in values)


@_drawn.register
def _(mechanism: Sampled | FixedSize, query: ExactInput) -> Simulation:
    """The query is that of the users who take part: who they are is drawn elsewhere."""
    return _drawn(mechanism.mechanism, query)


_drawn.register(Thresholded, chosen.counts)
_drawn.register(KeyNames, chosen.names)
_drawn.register(NoisyMax, chosen.largest)
_drawn.register(Exponential, chosen.exponential)
_drawn.register(PermuteAndFlip, chosen.flipped)
_drawn.register(SparseVector, chosen.answered)
_drawn.register(LocalRandomizer, report)
_drawn.register(Reports, report)
_drawn.register(Shuffled, shuffled)
_drawn.register(DiscreteMatrixNoise, prefix_sums)


@_drawn.register
def _(mechanism: RandomizedResponse, query: ExactInput) -> Simulation:
    bit = whole(query, "query", at_least=0, at_most=1)

    def flipped() -> arb:
        return ball(1 - mechanism.delta) / (1 + ball(mechanism.epsilon).exp())

    chance = Chance(flipped)
    return lambda bits: bit ^ chance.draw(bits)


@_drawn.register
def _(mechanism: MatrixNoise, query: Query) -> Simulation:
    raise NoSamplerError(
        "gaussian noise is for accounting only: sample a tree with noise=discrete-gaussian or "
        "noise=skellam"
    )


@_drawn.register
def _(mechanism: FinitePair, query: ExactInput) -> Simulation:
    column = (mechanism.p, mechanism.q)[whole(query, "query", at_least=0, at_most=1)]
    if sum(column) != 1:
        raise ParameterError(
            "probabilities must sum to exactly 1 to be drawn from; with slack they are not known"
        )
    table = Table(column)
    return lambda bits: mechanism.outcomes[table.draw(bits)]
