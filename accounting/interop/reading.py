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
and the places are told. As of batches of a fixed size (`mechanisms.fixed_size`), with q = P(k > 0),
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
from math import inf
from typing import Any, TypeAlias

from flint import arb

from ...exact.number import ParameterError, ball, exact, whole
from ...exact.precision import enclose, working_precision
from ...exact.square_root import square_root
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.dominating import RenyiCurve
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.guaranteed import Guaranteed
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ...mechanisms.pair import FinitePair
from ...mechanisms.reach import Reach
from ...mechanisms.schemes import with_users
from ...mechanisms.vector import VectorNoise
from .account import Concentrated, Part, Repeated, SampledConcentrated
from .profiles import LossProfile, NormalMixtures, SampledShift, Told

ADD, ONE, SPECIAL = "ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"
RELATIONS = (ADD, ONE, SPECIAL)

Found: TypeAlias = tuple[Part, int, str]

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


def read(event: object, relation: str, times: int = 1, depth: int = 0) -> Iterator[Found]:
    """The parts of an event, how often each, and the name of its class.

    Raises UnsupportedEventError for what is not accounted for, ParameterError for bad parameters.
    """
    if relation not in RELATIONS:
        raise ParameterError(
            f"relation must be one of {', '.join(RELATIONS)}, got {relation!r:.40}"
        )
    if depth > _MOST_DEEP:
        raise ParameterError(f"event must be at most {_MOST_DEEP} levels deep")
    name = name_of(event)
    if name == "ComposedDpEvent":
        for each in _field(event, "events"):
            yield from read(each, relation, times, depth + 1)
    elif name == "SelfComposedDpEvent":
        count = whole(_field(event, "count"), f"{name}, count", at_least=0)
        if count:
            yield from read(_field(event, "event"), relation, times * count, depth + 1)
    elif name == "PoissonSampledDpEvent" and _number(event, "sampling_probability") == 1:
        yield from read(_field(event, "event"), relation, times, depth + 1)
    else:
        allowed, reader = _READERS.get(name, ((), None))
        if reader is None:
            raise UnsupportedEventError(f"{name} cannot be accounted for here", event)
        if relation not in allowed:
            names = " or ".join(f"`{one}`" for one in allowed)
            message = f"neighboring_relation must be {names} for `{name}`. Found {relation}."
            raise NeighboursError(message, event)
        for part, count in reader(event, relation):
            yield part, times * count, name


def name_of(event: object) -> str:
    """The name of the event's class."""
    name = event.get("class_name") if isinstance(event, Mapping) else type(event).__name__
    if not isinstance(name, str):
        raise ParameterError("event must name its class, such as GaussianDpEvent")
    return name[:60]


# -- one event each -------------------------------------------------------------------------------

_Parts: TypeAlias = list[tuple[Part, int]]
_NOTHING: _Parts = []
_ALL_TOLD: _Parts = [(None, 1)]


def _once(part: Part) -> _Parts:
    return [(part, 1)]


def _of(mechanism: Mechanism, relation: str, rate: Fraction = Fraction(1)) -> Mechanism:
    """The mechanism for these neighbours, users sampled at a rate."""
    neighbours = "replace" if relation == ONE else "add-remove"
    given = {"neighbours": neighbours} | ({"poisson": str(rate)} if rate != 1 else {})
    return with_users(given, mechanism)


def _gaussian(event: object, relation: str) -> _Parts:
    size = _number(event, "noise_multiplier")
    if size == inf:
        return _NOTHING
    if not size:
        return _ALL_TOLD
    noise = ContinuousNoise(Shape.GAUSSIAN, size, 2 if relation == ONE else 1)
    return _once(_of(noise, relation))


def _laplace(event: object, relation: str) -> _Parts:
    size = _number(event, "noise_multiplier")
    if size == inf:
        return _NOTHING
    return _once(_of(ContinuousNoise(Shape.LAPLACE, size), relation)) if size else _ALL_TOLD


def _discrete_laplace(event: object, relation: str) -> _Parts:
    """Of vectors whose L1 norm is at most that too: one coordinate that moves by it dominates.

    A step by 1 has the two-line trade-off curve of randomized response; so many steps, in whichever
    coordinates, have at most the curve of that repeated, which is that of the whole move.
    """
    parameter, moved = _number(event, "noise_parameter"), _field(event, "sensitivity")
    if moved == 0:
        return _NOTHING
    if not parameter:
        return _ALL_TOLD
    return _once(_of(AdditiveNoise(DiscreteLaplace(1 / parameter), moved), relation))


def _discrete_gaussian(event: object, relation: str) -> _Parts:
    sigma = _number(event, "sigma")
    moved, size = _number(event, "sensitivity", 1), _field(event, "dimension", None)
    if sigma == inf or not moved:
        return _NOTHING
    if not sigma:
        return _ALL_TOLD
    law = DiscreteGaussian(sigma**2)
    if size == 1:
        whole_part = int(moved)
        return _once(_of(AdditiveNoise(law, whole_part), relation)) if whole_part else _NOTHING
    return _once(_of(VectorNoise(law, Reach(moved, dimension=size)), relation))


def _randomized_response(event: object, relation: str) -> _Parts:
    """`REPLACE_SPECIAL`: of a record that is nothing, every answer is as likely."""
    noise = _number(event, "noise_parameter", at_most=1)
    buckets = whole(_field(event, "num_buckets"), f"{name_of(event)}, num_buckets", at_least=1)
    if buckets == 1 or noise == 1:
        return _NOTHING
    if not noise:
        return _ALL_TOLD
    each = noise / buckets
    own, rest = 1 - noise + each, (buckets - 2) * each
    if relation == SPECIAL:
        blank = Fraction(1, buckets)
        pair = FinitePair(("own", "other"), (own, 1 - own), (blank, 1 - blank))
    elif rest:
        pair = FinitePair(("own", "other", "rest"), (own, each, rest), (each, own, rest))
    else:
        pair = FinitePair(("own", "other"), (own, each), (each, own))
    return _once(_of(pair, relation))


def _guaranteed(event: object, relation: str) -> _Parts:
    """(epsilon, delta), or epsilon alone, as of an exponential mechanism."""
    epsilon = _number(event, "epsilon")
    delta = _number(event, "delta", 0, at_most=1)
    if epsilon == inf or delta == 1:
        return _ALL_TOLD
    if not epsilon and not delta:
        return _NOTHING
    return _once(_of(RandomizedResponse(epsilon, delta), relation))


def _permute_and_flip(event: object, relation: str) -> _Parts:
    epsilon = _number(event, "epsilon")
    if epsilon == inf:
        return _ALL_TOLD
    if not epsilon:
        return _NOTHING
    return _once(_of(ContinuousNoise(Shape.LAPLACE, 1 / epsilon), relation))


def _concentrated(event: object, relation: str) -> _Parts:
    rho, xi = _number(event, "rho"), _number(event, "xi", 0)
    if inf in (rho, xi):
        return _ALL_TOLD
    if xi:
        return _once(Concentrated(rho, xi))
    neighbours = "replace" if relation == ONE else "add-remove"
    return _once(Guaranteed(RenyiCurve(rho), neighbours)) if rho else _NOTHING


def _tree(event: object, relation: str) -> _Parts:
    """A tree of n leaves has as many levels as n has binary digits; a node of each has a record."""
    counts = _field(event, "step_counts")
    counts = list(counts) if isinstance(counts, Sequence) else [counts]
    most = max((whole(each, f"{name_of(event)}, step_counts") for each in counts), default=0)
    return [(part, most.bit_length()) for part, _ in _gaussian(event, relation)] if most > 0 else []


def _mixture(event: object, relation: str) -> _Parts:
    name = name_of(event)
    sigma = _number(event, "standard_deviation")
    moves = [exact(c, f"{name}, sensitivities", at_least=0) for c in _field(event, "sensitivities")]
    odds = [exact(p, f"{name}, sampling_probs", at_least=0, at_most=1)
            for p in _field(event, "sampling_probs")]  # fmt: skip
    total = sum(odds, Fraction(0))
    if not moves or len(moves) != len(odds) or abs(total - 1) > Fraction(1, 10**9):
        raise ParameterError(f"{name}: sampling_probs must add up to 1, one for each sensitivity")
    parts = [(p / total, c) for p, c in zip(odds, moves, strict=True) if p]
    if not any(c for _, c in parts) or sigma == inf:
        return _NOTHING
    if not sigma:
        return _ALL_TOLD
    p = tuple((weight, c / sigma) for weight, c in parts)
    return _once(NormalMixtures(p, ((Fraction(1), Fraction(0)),)))


def _repeated(event: object, relation: str) -> _Parts:
    mean, shape = _number(event, "mean", at_least=1), _number(event, "shape")
    if mean == inf:
        return _ALL_TOLD
    inner = tuple((part, times) for part, times, _ in read(_field(event, "event"), relation))
    return _once(Repeated(inner, mean, None if shape == inf else shape)) if inner else _NOTHING


# -- of samples -----------------------------------------------------------------------------------


def _poisson(event: object, relation: str) -> _Parts:
    rate, inner = _number(event, "sampling_probability", at_most=1), _field(event, "event")
    square, xi, is_gaussian = _same_sample(event, inner, relation)
    if square is None:
        return _other_sampled(event, inner, rate, relation)
    if not rate or not (square or xi):
        return _NOTHING
    if square == inf:
        return _ALL_TOLD
    if not is_gaussian:
        if relation == ONE:
            raise NeighboursError(
                f"neighboring_relation must be `{ADD}` or `{SPECIAL}` for `PoissonSampledDpEvent` "
                f"of a `ZCDpEvent`. Found {relation}.",
                event,
            )
        return _once(SampledConcentrated(rate, square / 2, xi))
    if relation != ONE:
        noise = ContinuousNoise(Shape.GAUSSIAN, square_root(1 / square))
        return _once(_of(noise, relation, rate))
    moved = square_root(square)
    if not isinstance(moved, Fraction):  # a little more
        moved = _above(moved.square)
    still = (1 - rate, Fraction(0))
    return _once(NormalMixtures((still, (rate, moved)), (still, (rate, -moved))))


def _other_sampled(event: object, inner: object, rate: Fraction, relation: str) -> _Parts:
    """What is a single use of noise or a guarantee: where one user takes part or not."""
    name = name_of(inner)
    if name in _SAMPLED and relation == ONE:
        raise NeighboursError(
            f"neighboring_relation must be `{ADD}` or `{SPECIAL}` for `PoissonSampledDpEvent` of a "
            f"`{name}`. Found {relation}.",
            event,
        )
    if name not in _SAMPLED:
        raise _unsupported(event, inner)
    if not rate:
        return _NOTHING
    _, reader = _READERS[name]
    given = {"neighbours": "add-remove", "poisson": str(rate)}
    return [
        (part if part is None else with_users(given, part), count)  # type: ignore[arg-type]
        for part, count in reader(inner, ONE)
    ]


def _unsupported(event: object, inner: object) -> UnsupportedEventError:
    message = f"{name_of(event)} of {name_of(inner)} cannot be accounted for here"
    return UnsupportedEventError(message, event)


def _without_replacement(event: object, relation: str) -> _Parts:
    size, population = _sizes(event)
    square, xi, is_gaussian = _same_sample(event, _field(event, "event"), relation)
    if size > population:
        raise ParameterError(f"{name_of(event)}: sample_size must be at most source_dataset_size")
    if square is None:
        raise _unsupported(event, _field(event, "event"))
    if not size or not (square or xi):
        return _NOTHING
    if square == inf:
        return _ALL_TOLD
    if not is_gaussian:
        return _once(SampledConcentrated(Fraction(size, population), square / 2, xi, fixed=True))
    noise = ContinuousNoise(Shape.GAUSSIAN, square_root(1 / square), 2)
    return _once(noise if size == population else FixedSize(noise, size, population))


def _with_replacement(event: object, relation: str) -> _Parts:
    size, population = _sizes(event)
    square, _, is_gaussian = _same_sample(event, _field(event, "event"), relation)
    if square is None or not is_gaussian:
        raise _unsupported(event, _field(event, "event"))
    if not size or not square:
        return _NOTHING
    if square == inf:
        return _ALL_TOLD
    if population == 1:
        return _once(SampledShift(Fraction(1), 4 * size**2 * square, True))
    with working_precision(_BITS):
        mass = ball(Fraction(population - 1, population)) ** size
        left = 1 - mass
        taken = Fraction(enclose(left.upper()).upper)  # no less: a larger rate dominates
        parts: list[tuple[arb, LossProfile]] = []
        for k in range(1, size + 1):
            mass *= ball(Fraction(size - k + 1, k * (population - 1)))
            parts.append((mass / ball(taken), SampledShift(taken, 4 * k * k * square, True)))
            left -= mass
            if left < ball(_LEAST):
                parts.append((left.max(arb(0)) / ball(taken), SampledShift(taken, None, True)))
                break
    return _once(Told(tuple(parts)))


_CELL, _RARE_CELL = Fraction(11, 10), Fraction(3, 2)  # by so much the rates of one cell differ
_RARE = Fraction(1, 10**5)  # what is at most as likely is in rare cells


def _truncated(event: object, relation: str) -> _Parts:
    name = name_of(event)
    rate = _number(event, "sampling_probability", at_most=1)
    users = whole(_field(event, "dataset_size"), f"{name}, dataset_size", at_least=0)
    most = whole(_field(event, "truncated_batch_size"), f"{name}, truncated_batch_size", at_least=0)
    size = _number(event, "noise_multiplier")
    if not (rate and users and most) or size == inf:
        return _NOTHING
    if not size:
        return _ALL_TOLD
    if users > _MOST_RECORDS:
        raise ParameterError(f"{name}: dataset_size must be at most {_MOST_RECORDS}, got {users}")
    square = 1 / size**2
    still = (1 - rate, Fraction(0))
    plain: LossProfile = SampledShift(rate, square)
    if relation == ONE:
        plain = NormalMixtures((still, (rate, 1 / size)), (still, (rate, -1 / size)))
    with working_precision(_BITS):
        cells = _batches(users - 1, rate, most)
        parts = [(cells[0][1], plain)]
        parts += [
            (weight, SampledShift(rate * most / (first + 1), 4 * square, relation != ADD))
            for first, weight in cells[1:]
        ]
    return _once(Told(tuple(parts)))


def _batches(others: int, rate: Fraction, most: int) -> list[tuple[int, arb]]:
    """How likely T is below `most`, and in each cell from there on; by its least T."""
    if rate == 1:
        return [(0, arb(others < most)), *([(others, arb(1))] if others >= most else [])]
    odds = ball(rate / (1 - rate))
    mass, left = ball(1 - rate) ** others, arb(1)
    found: list[tuple[int, arb]] = []
    first, end, total = 0, most, arb(0)
    for t in range(others + 1):
        if t == end:
            found.append((first, total))
            left -= total
            wide = _RARE_CELL if left < ball(_RARE) else _CELL
            first, end, total = t, max(t + 1, int(t * wide)), arb(0)
            if left < ball(_LEAST):
                return [*found, (first, left.max(arb(0)))]
        total += mass
        mass *= odds * (others - t) / (t + 1)
    return [*found, (first, total)]


def _same_sample(event: object, inner: object, relation: str) -> tuple[Any, Fraction, bool]:
    """What all events of one sample say together: mu^2 = 2 rho, xi, and is it Gaussian noise?

    Gaussians of one sample are one Gaussian, also where they are chosen one after another. None
    where there are others.
    """
    name = name_of(inner)
    if name == "NoOpDpEvent":
        return Fraction(0), Fraction(0), True
    if name == "GaussianDpEvent":
        size = _number(inner, "noise_multiplier")
        return (inf if not size else Fraction(0) if size == inf else 1 / size**2), Fraction(0), True
    if name == "ZCDpEvent":
        rho, xi = _number(inner, "rho"), _number(inner, "xi", 0)
        return (inf if inf in (rho, xi) else 2 * rho), xi, False
    if name == "SelfComposedDpEvent":
        count = whole(_field(inner, "count"), f"{name}, count", at_least=0)
        square, xi, known = _same_sample(event, _field(inner, "event"), relation)
        return (
            (None, xi, known)
            if square is None
            else (count * square if count else Fraction(0), count * xi, known)
        )
    if name == "ComposedDpEvent":
        each = [_same_sample(event, one, relation) for one in _field(inner, "events")]
        if any(square is None for square, _, _ in each):
            return None, Fraction(0), False
        return (
            sum((square for square, _, _ in each), Fraction(0)),
            sum((xi for _, xi, _ in each), Fraction(0)),
            all(known for _, _, known in each),
        )
    return None, Fraction(0), False


def _above(square: Fraction) -> Fraction:
    """A rational that is not below the root."""
    from math import isqrt

    scale = 1 << 200
    return Fraction(isqrt(square.numerator * scale * scale // square.denominator) + 1, scale)


# -- fields ---------------------------------------------------------------------------------------

_REQUIRED = object()


def _sizes(event: object) -> tuple[int, int]:
    name = name_of(event)
    return (
        whole(_field(event, "sample_size"), f"{name}, sample_size", at_least=0),
        whole(_field(event, "source_dataset_size"), f"{name}, source_dataset_size", at_least=1),
    )


def _number(
    event: object,
    key: str,
    instead: object = _REQUIRED,
    at_most: int | None = None,
    at_least: int = 0,
) -> Any:
    """A number >= 0, or infinity where nothing forbids it."""
    given = _field(event, key, instead)
    if at_most is None and given == inf:
        return inf
    return exact(given, f"{name_of(event)}, {key}", at_least=at_least, at_most=at_most)


def _field(event: object, key: str, instead: object = _REQUIRED) -> Any:
    held = event.get(key) if isinstance(event, Mapping) else getattr(event, key, None)
    if held is None:
        if instead is _REQUIRED:
            raise ParameterError(f"{name_of(event)}: {key} is missing")
        return instead
    return held


_EVERY, _LESS = RELATIONS, (ADD, SPECIAL)
_SAMPLED = (
    "LaplaceDpEvent",
    "DiscreteLaplaceDpEvent",
    "EpsilonDeltaDpEvent",
    "ExponentialMechanismDpEvent",
    "PermuteAndFlipDpEvent",
)
_READERS: dict[str, tuple[Sequence[str], Callable[[object, str], _Parts]]] = {
    "NoOpDpEvent": (_EVERY, lambda event, relation: _NOTHING),
    "NonPrivateDpEvent": (_EVERY, lambda event, relation: _ALL_TOLD),
    "GaussianDpEvent": (_EVERY, _gaussian),
    "LaplaceDpEvent": (_LESS, _laplace),
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
