"""What dp_accounting's events say: mechanisms, bounds of profiles, bounds of Rényi divergences.

dp_accounting is not needed to read: an event is known by the name of its class and its fields, as
an object or as JSON (`{"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}`, the fields of
its named tuple). Floats stand for the decimals that they print as.

*Neighbours.* Which relations an event is read under is as in dp_accounting's accountants, those of
`REPLACE_SPECIAL` (a record's part becomes nothing) like those of `ADD_OR_REMOVE_ONE`. A noise
multiplier is noise/C for records whose norm is at most C: one that is replaced by another moves a
sum by 2C.

*Permute and flip.* Between neighbours' scores go on a straight line: at a distance t from one end
the outcome is in S with probability p(t), and permute and flip is (epsilon dt)-DP between t and
t + dt, so that p' <= epsilon min(p, 1 - p). That is the slope of F(F^-1(p(0)) + epsilon t), F of
the Laplace law of scale 1: no test is better than that of Laplace noise of scale 1/epsilon.

*A sample of fixed size that is drawn with replacement.* A user is in it k times, k binomial, and k
and the places are told. As of batches of a fixed size (`sampling.fixed_size`), with q = P(k > 0),
H_g <= sum over k > 0 of P(k) h_k(t), t = 1 + (g - 1)/q, h_k of Gaussians at distance 2k.

*Poisson sampling, a record replaced.* The pair is (1-q) N(0) + q N(x) against (1-q) N(0) + q N(y),
and H_g = q sup over S of N(x)(S) - t [(1-b) N(0)(S) + b N(y)(S)], t = 1 + (g-1)/q, b = g/t. Given
N(x)(S), no S has less of N(0) than the half space at distance |x|, nor less of N(y) than that at
distance |x - y|: with y = -x one half space is both, and |x| = 1 the worst.

*Truncated batches.* Let T be how many others are drawn. Where T < B the user takes part at the rate
q; where T >= B, B of them are drawn without the user, who is drawn and kept with the probability
q B/(T + 1), in the place of another: a sum is then moved by 2C. T is told; of several T the largest
rate dominates (a lower one is post-processing). A record that another replaces, or nothing, keeps
its place in the batch: then as of batches of a fixed size, both ways round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any, TypeAlias

from attrs import evolve, frozen
from flint import arb

from ...exact import ParameterError, ball, enclose, exact, refine, whole, working_precision
from ...exact.square_root import square_root, squared
from ...mechanisms.additive.reach import Reach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.bracket import RenyiCurve
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ...mechanisms.pairs.pair import FinitePair
from ...mechanisms.pairs.sampling import Sampling
from ...mechanisms.sampling.fixed_size import FixedSize
from ...mechanisms.sampling.guaranteed import Guaranteed
from ...mechanisms.sampling.schemes import with_users
from ..losses.continuous.sampled_gaussian import SampledGaussian
from .account import Concentrated, Part, Repeated
from .profiles import NormalMixtures, Profiled, ProfiledPair, Told

ADD, ONE, SPECIAL = "ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"
RELATIONS = (ADD, ONE, SPECIAL)

_MOST_DEEP = 50
_LEAST = Fraction(1, 2**90)  # probability of what is told to lose everything instead
_BITS = 192
_MOST_RECORDS = 10**6


class UnsupportedEventError(ParameterError):
    """An event, or a mechanism, that has no counterpart here; the message names it."""

    def __init__(self, message: str, event: object = None) -> None:
        super().__init__(message)
        self.event = event


class NeighboursError(UnsupportedEventError):
    """An event that is not accounted for under this relation of neighbours."""


@frozen
class Event:
    """An event of dp_accounting, by the name of its class and its fields: an object, or JSON."""

    source: object

    @property
    def name(self) -> str:
        """The name of the event's class."""
        source = self.source
        name = source.get("class_name") if isinstance(source, Mapping) else type(source).__name__
        if not isinstance(name, str):
            raise ParameterError("event must name its class, such as GaussianDpEvent")
        return name[:60]

    def field(self, key: str, instead: object = None) -> Any:
        """What is there. Raises ParameterError where neither that is nor anything `instead`."""
        source = self.source
        value = source.get(key) if isinstance(source, Mapping) else getattr(source, key, None)
        if value is None and instead is None:
            raise ParameterError(f"{self.name}: {key} is missing")
        return instead if value is None else value

    def number(
        self, key: str, instead: object = None, at_most: int | None = None, at_least: int = 0
    ) -> Any:
        """A number >= 0, or infinity where nothing forbids it."""
        value = self.field(key, instead)
        if at_most is None and value == inf:
            return inf
        return exact(value, f"{self.name}, {key}", at_least=at_least, at_most=at_most)

    def whole(self, key: str, at_least: int = 0) -> int:
        """A whole number."""
        return whole(self.field(key), f"{self.name}, {key}", at_least=at_least)

    def inner(self) -> Event:
        """The event that this one repeats, or samples users for."""
        return Event(self.field("event"))

    def unsupported(self, inner: str = "") -> UnsupportedEventError:
        """That it cannot be accounted for, or not of this one."""
        return UnsupportedEventError(
            f"{self.name}{inner} cannot be accounted for here", self.source
        )

    def check(self, relation: str, allowed: Sequence[str], inner: str = "") -> None:
        """Raise NeighboursError where it is accounted for under these relations only."""
        if relation not in allowed:
            names = " or ".join(f"`{one}`" for one in allowed)
            raise NeighboursError(
                f"neighboring_relation must be {names} for `{self.name}`{inner}. Found {relation}.",
                self.source,
            )


def read(
    source: object, relation: str, times: int = 1, depth: int = 0
) -> Iterator[tuple[Part, int, str]]:
    """The parts of an event, how often each, and the name of its class.

    Raises UnsupportedEventError for what is not accounted for, ParameterError for bad parameters.
    """
    if relation not in RELATIONS:
        raise ParameterError(
            f"relation must be one of {', '.join(RELATIONS)}, got {relation!r:.40}"
        )
    if depth > _MOST_DEEP:
        raise ParameterError(f"event must be at most {_MOST_DEEP} levels deep")
    event = Event(source)
    name = event.name
    if name == "ComposedDpEvent":
        for part in event.field("events"):
            yield from read(part, relation, times, depth + 1)
    elif name == "SelfComposedDpEvent":
        if count := event.whole("count"):
            yield from read(event.field("event"), relation, times * count, depth + 1)
    elif name == "PoissonSampledDpEvent" and event.number("sampling_probability") == 1:
        yield from read(event.field("event"), relation, times, depth + 1)
    elif name not in _READERS:
        raise event.unsupported()
    else:
        allowed, reader = _READERS[name]
        event.check(relation, allowed)
        for part, count in reader(event, relation):
            yield part, times * count, name


# -- one event each -------------------------------------------------------------------------------

_Parts: TypeAlias = list[tuple[Part, int]]
_NOTHING: _Parts = []
_ALL_TOLD: _Parts = [(None, 1)]
_STILL = Fraction(0)  # where the noise is centred without the user


def _by_noise(size: Any, part: Callable[[], Part]) -> _Parts:
    """Infinite noise tells nothing, none tells all."""
    return _NOTHING if size == inf else [(part(), 1)] if size else _ALL_TOLD


def _by_cost(cost: Any, part: Callable[[], Part]) -> _Parts:
    """What costs nothing tells nothing, what may cost anything tells all."""
    return _ALL_TOLD if cost == inf else [(part(), 1)] if cost else _NOTHING


def _neighbours(relation: str) -> str:
    return "replace" if relation == ONE else "add-remove"


def _of(mechanism: Mechanism, relation: str) -> Mechanism:
    """The mechanism for these neighbours."""
    return with_users({"neighbours": _neighbours(relation)}, mechanism)


def _noise(shape: Shape, event: Event, relation: str) -> _Parts:
    size = event.number("noise_multiplier")
    moved = 2 if shape is Shape.GAUSSIAN and relation == ONE else 1
    return _by_noise(size, lambda: _of(ContinuousNoise(shape, size, moved), relation))


def _permute_and_flip(event: Event, relation: str) -> _Parts:
    epsilon = event.number("epsilon")
    return _by_cost(epsilon, lambda: _of(ContinuousNoise(Shape.LAPLACE, 1 / epsilon), relation))


def _discrete_laplace(event: Event, relation: str) -> _Parts:
    """Of vectors whose L1 norm is at most that too: one coordinate that moves by it dominates.

    A step by 1 has the two-line trade-off curve of randomized response; so many steps, in whichever
    coordinates, have at most the curve of that repeated, which is that of the whole move.
    """
    parameter, moved = event.number("noise_parameter"), event.field("sensitivity")
    if moved == 0:
        return _NOTHING
    if parameter in (0, inf):  # without noise; of 0 dp_accounting says that nothing is private
        return _ALL_TOLD
    return [(_of(AdditiveNoise(DiscreteLaplace(1 / parameter), moved), relation), 1)]


def _discrete_gaussian(event: Event, relation: str) -> _Parts:
    sigma, size = event.number("sigma"), event.field("dimension", 0) or None
    moved = event.number("sensitivity", 1)
    if not (int(moved) if size == 1 else moved):
        return _NOTHING

    def part() -> Mechanism:
        law = DiscreteGaussian(sigma**2)
        if size == 1:
            return _of(AdditiveNoise(law, int(moved)), relation)
        return _of(VectorNoise(law, Reach(moved, dimension=size)), relation)

    return _by_noise(sigma, part)


def _randomized_response(event: Event, relation: str) -> _Parts:
    """`REPLACE_SPECIAL`: of a record that is nothing, every answer is as likely."""
    noise, buckets = event.number("noise_parameter", at_most=1), event.whole("num_buckets", 1)
    if buckets == 1 or noise == 1:
        return _NOTHING
    each = noise / buckets
    own, rest = 1 - noise + each, (buckets - 2) * each
    if relation == SPECIAL:
        blank = Fraction(1, buckets)
        pair = FinitePair(("own", "other"), (own, 1 - own), (blank, 1 - blank))
    elif rest:
        pair = FinitePair(("own", "other", "rest"), (own, each, rest), (each, own, rest))
    else:
        pair = FinitePair(("own", "other"), (own, each), (each, own))
    return _by_noise(noise, lambda: _of(pair, relation))


def _guaranteed(event: Event, relation: str) -> _Parts:
    """(epsilon, delta), or epsilon alone, as of an exponential mechanism."""
    epsilon, delta = event.number("epsilon"), event.number("delta", Fraction(0), at_most=1)
    cost = inf if delta == 1 else epsilon + delta
    return _by_cost(cost, lambda: _of(RandomizedResponse(epsilon, delta), relation))


def _concentrated(event: Event, relation: str) -> _Parts:
    rho, xi = event.number("rho"), event.number("xi", Fraction(0))
    if xi:
        return _by_cost(rho + xi, lambda: Concentrated(Fraction(1), rho, xi))
    return _by_cost(rho, lambda: Guaranteed(RenyiCurve(rho), _neighbours(relation)))


def _tree(event: Event, relation: str) -> _Parts:
    """A tree of n leaves has as many levels as n has binary digits; a node of each has a record."""
    counts = event.field("step_counts")
    counts = list(counts) if isinstance(counts, Sequence) else [counts]
    most = max((whole(each, f"{event.name}, step_counts") for each in counts), default=0)
    return (
        [(part, most.bit_length()) for part, _ in _noise(Shape.GAUSSIAN, event, relation)]
        if most > 0
        else []
    )


def _mixture(event: Event, relation: str) -> _Parts:
    sigma = event.number("standard_deviation")
    moves, odds = (
        [exact(one, f"{event.name}, {key}", at_least=0, at_most=most) for one in event.field(key)]
        for key, most in (("sensitivities", None), ("sampling_probs", 1))
    )
    total = sum(odds, Fraction(0))
    if not moves or len(moves) != len(odds) or abs(total - 1) > Fraction(1, 10**9):
        raise ParameterError(
            f"{event.name}: sampling_probs must add up to 1, one for each sensitivity"
        )
    parts = [(p / total, c) for p, c in zip(odds, moves, strict=True) if p]

    def part() -> ProfiledPair:
        one = NormalMixtures(tuple((p, c / sigma) for p, c in parts), ((Fraction(1), _STILL),))
        return ProfiledPair(one, one.swapped(), _neighbours(relation))

    return _by_noise(sigma, part) if any(c for _, c in parts) else _NOTHING


def _repeated(event: Event, relation: str) -> _Parts:
    mean, shape = event.number("mean", at_least=1), event.number("shape")
    if mean == inf:
        return _ALL_TOLD
    inner = tuple((part, times) for part, times, _ in read(event.field("event"), relation))
    return [(Repeated(inner, mean, None if shape == inf else shape), 1)] if inner else _NOTHING


# -- of samples -----------------------------------------------------------------------------------


def _sample(
    event: Event, is_empty: bool, drawn: Callable[[Any], Mechanism | Concentrated]
) -> _Parts:
    """What is done with one sample. drawn: the same of one part for everybody, by who is drawn.

    Gaussians of one sample are one Gaussian, also where they are chosen one after another; with
    zCDP they are zCDP. Of all else a single use. The part is of neighbours that differ by a user.
    """
    inner = event.inner()
    try:
        found = list(read(inner.source, ADD))
    except UnsupportedEventError as error:
        raise event.unsupported(f" of {inner.name}") from error
    names, is_single = {name for *_, name in found}, [count for _, count, _ in found] == [1]
    if not (names <= _ADDING or (names <= _SAMPLED and is_single)):
        raise event.unsupported(f" of {inner.name}")
    if is_empty or not found:
        return _NOTHING
    if any(part is None for part, *_ in found):
        return _ALL_TOLD
    if names <= _SAMPLED:
        return [(drawn(found[0][0]), 1)]
    rho, xi = Fraction(0), Fraction(0)
    for part, count, _ in found:
        if isinstance(part, ContinuousNoise):
            rho += count * squared(part.move) / 2
        elif isinstance(part, Guaranteed):
            rho += count * part.curve.bound
        elif isinstance(part, Concentrated):
            rho, xi = rho + count * part.rho, xi + count * part.xi
    if names == {"GaussianDpEvent"}:
        noise = ContinuousNoise(Shape.GAUSSIAN, square_root(1 / (2 * rho)))
        return [(drawn(_of(noise, ADD)), 1)]
    return [(drawn(Concentrated(Fraction(1), rho, xi)), 1)]


def _gaussian(event: Event, part: object) -> ContinuousNoise:
    if isinstance(part, ContinuousNoise) and part.shape is Shape.GAUSSIAN:
        return part
    raise event.unsupported(f" of {event.inner().name}")


def _poisson(event: Event, relation: str) -> _Parts:
    """Where another record replaces one, of Gaussian noise only."""
    rate = event.number("sampling_probability", at_most=1)

    def drawn(part: Any) -> Mechanism | Concentrated:
        if relation == ONE and isinstance(part, ContinuousNoise) and part.shape is Shape.GAUSSIAN:
            most = refine(lambda: ball(part.move), width=_LEAST).upper
            one = _replaced(rate, Fraction(most))
            return ProfiledPair(one, one, "replace")
        event.check(relation, _LESS, f" of a `{event.inner().name}`")
        return evolve(part, rate=rate)  # type: ignore[no-any-return]

    return _sample(event, not rate, drawn)


def _replaced(rate: Fraction, moved: Fraction) -> NormalMixtures:
    """A record that is drawn at this rate, and moves the noise by this either way.

    The same with the two exchanged.
    """
    still = (1 - rate, _STILL)
    return NormalMixtures((still, (rate, moved)), (still, (rate, -moved)))


def _without_replacement(event: Event, relation: str) -> _Parts:
    size, population = event.whole("sample_size"), event.whole("source_dataset_size", 1)

    def drawn(part: Any) -> Mechanism | Concentrated:
        if size > population:
            raise ParameterError(f"{event.name}: sample_size must be at most source_dataset_size")
        if isinstance(part, Concentrated):
            return evolve(part, rate=Fraction(size, population), fixed=True)
        noise = ContinuousNoise(Shape.GAUSSIAN, _gaussian(event, part).scale, 2)
        return noise if size == population else FixedSize(noise, size, population)

    return _sample(event, not size, drawn)


def _with_replacement(event: Event, relation: str) -> _Parts:
    """Of so many draws, each of any record."""
    size, population = event.whole("sample_size"), event.whole("source_dataset_size", 1)

    def drawn(part: Any) -> Mechanism:
        scale = _gaussian(event, part).scale
        if population == 1:
            return ContinuousNoise(Shape.GAUSSIAN, scale, 2 * size)
        with working_precision(_BITS):
            mass = ball(Fraction(population - 1, population)) ** size
            left = 1 - mass
            taken = Fraction(enclose(left.upper()).upper)  # no less: a larger rate dominates
            parts: list[tuple[arb, Profiled]] = []
            for k in range(1, size + 1):
                mass *= ball(Fraction(size - k + 1, k * (population - 1)))
                parts.append(
                    (mass / ball(taken), SampledGaussian(scale / Fraction(2 * k), Sampling(taken)))
                )
                left -= mass
                if left < ball(_LEAST):
                    break
            mixed = Told(tuple(parts), left.max(arb(0)).upper())
        return ProfiledPair(mixed, mixed, "replace")

    return _sample(event, not size, drawn)


_CELL = Fraction(11, 10)  # by so much the rates of one cell differ


def _truncated(event: Event, relation: str) -> _Parts:
    rate, size = event.number("sampling_probability", at_most=1), event.number("noise_multiplier")
    users, most = event.whole("dataset_size"), event.whole("truncated_batch_size")

    def part() -> ProfiledPair:
        if users > _MOST_RECORDS:
            raise ParameterError(
                f"{event.name}: dataset_size must be at most {_MOST_RECORDS}, got {users}"
            )
        with working_precision(_BITS):
            (_, below), *cells = _batches(users - 1, rate, most)

        def mixed(first_has: bool) -> Told:
            either = first_has or relation != ADD
            plain = SampledGaussian(size, Sampling(rate, first_has))
            parts = [(below, plain if relation != ONE else _replaced(rate, 1 / size))]
            for first, weight in cells:
                full = SampledGaussian(size / 2, Sampling(rate * most / (first + 1), either))
                parts.append((weight, full))
            return Told(tuple(parts))

        ahead = mixed(True)
        back = ahead if relation == ONE else mixed(False)
        return ProfiledPair(ahead, back, _neighbours(relation))

    return _by_noise(size, part) if rate and users and most else _NOTHING


def _batches(others: int, rate: Fraction, most: int) -> list[tuple[int, arb]]:
    """How likely T is below `most`, and in each cell from there on; by its least T."""
    if rate == 1 or not others:
        count = others if rate == 1 else 0
        return [(0, arb(count < most)), (max(count, most), arb(count >= most))]
    law, first = Binomial(others, rate), most
    found, left = [(0, law.lower_tail(most - 1))], law.upper_tail(most)
    while not left < ball(_LEAST):
        end = max(first + 1, int(first * _CELL))
        beyond = law.upper_tail(end)
        found.append((first, (left - beyond).max(arb(0))))
        first, left = end, beyond
    return [*found, (first, left)]


_EVERY, _LESS = RELATIONS, (ADD, SPECIAL)
_ADDING = {"GaussianDpEvent", "ZCDpEvent"}
_SAMPLED = {
    "LaplaceDpEvent",
    "DiscreteLaplaceDpEvent",
    "EpsilonDeltaDpEvent",
    "ExponentialMechanismDpEvent",
    "PermuteAndFlipDpEvent",
}
_READERS: dict[str, tuple[Sequence[str], Callable[[Event, str], _Parts]]] = {
    "NoOpDpEvent": (_EVERY, lambda event, relation: _NOTHING),
    "NonPrivateDpEvent": (_EVERY, lambda event, relation: _ALL_TOLD),
    "GaussianDpEvent": (_EVERY, partial(_noise, Shape.GAUSSIAN)),
    "LaplaceDpEvent": (_LESS, partial(_noise, Shape.LAPLACE)),
    "DiscreteLaplaceDpEvent": (_LESS, _discrete_laplace),
    "DiscreteGaussianDpEvent": (_EVERY, _discrete_gaussian),
    "RandomizedResponseDpEvent": ((ONE, SPECIAL), _randomized_response),
    "EpsilonDeltaDpEvent": (_EVERY, _guaranteed),
    "ExponentialMechanismDpEvent": (_EVERY, _guaranteed),
    "PermuteAndFlipDpEvent": (_LESS, _permute_and_flip),
    "ZCDpEvent": (_EVERY, _concentrated),
    "SingleEpochTreeAggregationDpEvent": ((SPECIAL,), _tree),
    "MixtureOfGaussiansDpEvent": (_LESS, _mixture),
    "RepeatAndSelectDpEvent": (_EVERY, _repeated),
    "PoissonSampledDpEvent": (_EVERY, _poisson),
    "SampledWithoutReplacementDpEvent": ((ONE,), _without_replacement),
    "SampledWithReplacementDpEvent": ((ONE,), _with_replacement),
    "TruncatedSubsampledGaussianDpEvent": (_EVERY, _truncated),
}
