"""From the fields of a certificate to mechanisms and a claim: anything unexpected is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard

from . import local, selection
from .arithmetic import INFINITY, Enclosure, End
from .binomial import Binomial, Logarithm
from .deadline import check_time
from .guarantees import read_guarantee
from .keys import Optimal, Thresholded
from .laws import (
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Law,
    PolyaDifference,
    Skellam,
    SymmetricLaw,
)
from .made import Made, read_made
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Family,
    Finite,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)
from .notions import NOTIONS
from .protocol import MASKS, TRUSTS, Protocol
from .reach import Reach
from .releases import Matrix, Participation, Stream, Table, Toeplitz, Tree
from .rounded import ROUNDINGS, Rounded
from .scenarios import NEIGHBOURS, is_fixed, neighbours_of
from .shape import (
    LONGEST_TEXT,
    CertificateError,
    below_one,
    held,
    look_over,
    number,
    plainly,
    read_choice,
    read_fields,
    read_list,
    read_number,
    read_readable,
    read_whole,
    read_yes,
    shown,
    whole,
)
from .shuffled import read_shuffled

FORMAT = "exactdp certificate"
FIRST, SECOND = 1, 2  # versions; what the second adds:
_ADDED = ("made", "note", "digest")
_LONGEST_DENOMINATOR = 50_000  # bits, of all masses of a law together
_SETTING = ("neighbours", "orientation")  # both or neither
VERDICTS = ("VERIFIED", "REFUTED")
_SET = (
    Allocation,
    Continuous,
    Family,
    Finite,
    FixedSize,
    Sampled,
    Vector,
)  # with which neighbours must be named
_NORMS = ("l2", "l1", "linf")
_MOST_STEPS, _MOST_ROWS = 1 << 40, 512  # of streams: steps of trees, and rows of tables
_LONGEST_ENTRY = 1100  # bits of a denominator: those of floats
_HINTS = ("step", "above", "along")


@dataclass(frozen=True)
class Tilt:
    """What bounds the cost of one coordinate that moves by k: square k^2 + sum k."""

    square: Fraction
    sum: Fraction


@dataclass(frozen=True)
class Missed:
    """With which probability, in one use, a bound of a vector may fail."""

    chance: Fraction


Above: TypeAlias = "str | Tilt | Missed | None"
Along: TypeAlias = "tuple[Any, ...]"  # of a vector moves, each with its count; else steps of a user


@dataclass(frozen=True)
class Statement:
    """What a certificate says.

    step, above and along are hints: of a grid; by what each vector is bounded from above (None for
    what is no vector); and how many coordinates of it are moved by how much (none: not told). made
    and digest: of the second version only.
    """

    uses: tuple[tuple[Mechanism, int], ...]
    kind: str
    numbers: Mapping[str, Fraction]
    verdict: str
    measured: Enclosure
    step: Fraction | None
    protocol: Protocol | None = None
    above: tuple[Above, ...] = ()
    along: tuple[Along, ...] = ()
    made: Made | None = None
    digest: str | None = None

    @property
    def bound(self) -> Fraction:
        """What the claim says is not exceeded."""
        return self.numbers[self.bounded]

    @property
    def bounded(self) -> str:
        """The name of that number."""
        return NOTIONS[self.kind].bounded


def read(data: object) -> Statement:
    """Read a certificate. Raises CertificateError for what is not one."""
    look_over(data)
    fields = read_fields(data, "certificate", "format", "version", "uses", "claim", "verdict",
                         "measured", "hints", *_others(data))  # fmt: skip
    if fields["format"] != FORMAT or type(fields["version"]) is not int:
        raise CertificateError(f'format must be "{FORMAT}" and version a whole number')
    if fields["version"] not in (FIRST, SECOND):
        raise CertificateError(f"version must be {FIRST} or {SECOND}")
    uses = tuple(read_use(each) for each in read_list(fields["uses"], "uses", 100))
    if "neighbours" in fields:
        _look_at_setting(fields, uses)
    elif any(isinstance(each, _SET) for each, _ in uses):
        raise CertificateError("neighbours and orientation must be named")
    kind, numbers = read_claim(fields["claim"])
    verdict = read_choice(fields, "verdict", VERDICTS)
    ends = read_fields(fields["measured"], "measured", "lower", "upper")
    low, high = _end(ends["lower"], "lower"), _end(ends["upper"], "upper")
    if not 0 <= low <= high:
        raise CertificateError("measured must have 0 <= lower <= upper")
    step, above, along = _hints(fields["hints"], [one for one, _ in uses])
    protocol = read_protocol(fields["protocol"]) if "protocol" in fields else None
    made = read_made(fields) if "made" in fields else None
    return Statement(
        uses, kind, numbers, verdict, (low, high), step, protocol, above, along, made,
        fields.get("digest"),
    )  # fmt: skip


def _others(data: object) -> list[str]:
    """The fields of a certificate besides those that each has, by its version.

    Certificates of the first version that name a protocol say version 2; they have no digest.
    """
    given = held(data)
    if given.get("version") != SECOND:
        return list(_SETTING) if any(name in given for name in _SETTING) else []
    if "protocol" in given and not any(name in given for name in _ADDED):
        return ["protocol", *(_SETTING if any(name in given for name in _SETTING) else ())]
    free = [name for name in ("protocol", "note") if name in given]
    return [*_SETTING, "made", "digest", *free]


def _hints(
    data: object, released: Sequence[Mechanism]
) -> tuple[Fraction | None, tuple[Above, ...], tuple[Along, ...]]:
    """The step of the grid, and for every use what bounds it if it is a vector."""
    given = {} if data is None else data
    names = held(given)
    if odd := sorted(map(shown, names.keys() - set(_HINTS)))[:3]:
        raise CertificateError(f"hints are {', '.join(_HINTS)}, not {', '.join(odd)}")
    fields = read_fields(given, "hints", *names)
    step = (
        read_number(fields["step"], "step", above=Fraction(1, 10**12)) if "step" in fields else None
    )
    count = len(released)
    above, along = (
        read_list(fields[name], name, 100) if name in fields else [None] * count
        for name in _HINTS[1:]
    )
    if not len(above) == len(along) == count:
        raise CertificateError("above and along must have one entry for each use")
    for one, *entries in zip(released, above, along, strict=True):
        known = 2 if isinstance(one, Vector) else 1 if isinstance(one, Stream) else 0
        number = one.mechanism if isinstance(one, Sampled) else one
        if isinstance(number, Additive) and entries == ["gaussian", None]:
            continue
        if any(entry is not None for entry in entries[: 2 - known]):
            raise CertificateError(
                "above is of vectors, and gaussian of numbers with noise on the integers, along of "
                "vectors and streams: else null"
            )
    moves = [
        (_steps if isinstance(one, Stream) else _moves)(entry)
        for one, entry in zip(released, along, strict=True)
    ]
    return step, tuple(map(_bound, above)), tuple(moves)


def _steps(data: object) -> Along:
    if data is None:
        return ()
    listed = read_list(data, "along", 20_000)
    return tuple(read_whole(each, "a step of along", 0) for each in listed)


def _bound(data: object) -> Above:
    if "missed" in held(data):
        missed = read_fields(data, "above", "missed")["missed"]
        return Missed(read_number(missed, "missed", above=Fraction(0), at_most=1))
    if isinstance(data, dict):
        fields = read_fields(data, "above", "square", "sum")
        return Tilt(
            *(read_number(fields[name], name, at_most=10**40) for name in ("square", "sum"))
        )
    if data is not None and data not in ("gaussian", "one number", "by one"):
        raise CertificateError(
            'above must be "gaussian", "one number", "by one", square and sum, missed, or null'
        )
    return data if isinstance(data, str) else None


def _moves(data: object) -> Along:
    if data is None:
        return ()
    parts = (read_fields(each, "along", "move", "count") for each in read_list(data, "along", 100))
    return tuple(
        (read_whole(part["move"], "move", 1, 10**9), read_whole(part["count"], "count", 1, 10**9))
        for part in parts
    )


def _look_at_setting(fields: Mapping[str, Any], uses: Sequence[tuple[Mechanism, int]]) -> None:
    """Is what it says of the neighbours what is going to be checked?"""
    if [fields["neighbours"]] != [*neighbours_of(uses)]:
        raise CertificateError("neighbours must be those of all uses")
    if fields["orientation"] != ("fixed" if is_fixed(uses) else "free"):
        raise CertificateError(
            "orientation must be fixed where a use is a pair or samples, and free elsewhere"
        )


def read_protocol(data: object) -> Protocol:
    """Read what a certificate says of the protocol, and of the masks if it names them."""
    masked = MASKS if "floor" in held(data) else ()
    fields = read_fields(data, "protocol", "users", "precision", "accuracy", "modulus", "share",
                         "trust", "dropout", "collusion", "relaxation", *masked)  # fmt: skip
    trust = read_choice(fields, "trust", TRUSTS, f"trust must be one of {', '.join(TRUSTS)}")
    return Protocol(
        users=read_whole(fields["users"], "users", 1),
        precision=read_whole(fields["precision"], "precision", 1),
        accuracy=read_whole(fields["accuracy"], "accuracy", 0),
        modulus=_modulus(fields),
        share=_law(fields["share"]),
        trust=trust,
        dropout=read_whole(fields["dropout"], "dropout", 0),
        collusion=read_whole(fields["collusion"], "collusion", 0),
        relaxation=read_number(fields["relaxation"], "relaxation", at_most=10**4),
        masks=tuple(read_whole(fields[name], name, 1) for name in masked),
    )


def read_use(data: object) -> tuple[Mechanism, int]:
    """Read a mechanism, and how often it is used."""
    fields = read_fields(data, "use", "mechanism", "times")
    return _mechanism(fields["mechanism"]), read_whole(fields["times"], "times", 1, 10**9)


def _mechanism(data: object) -> Mechanism:
    wrong = f"mechanism kind must be {', '.join(KINDS)}"
    return KINDS[read_choice(data, "kind", KINDS, wrong)](data)


def _pair(data: object) -> TwoLaws:
    fields = read_fields(data, "pair", "kind", "outcomes", "p", "q", "slack")
    listed = read_list(fields["outcomes"], "outcomes", 100_000)
    names = [read_readable(name, "an outcome", 0, LONGEST_TEXT) for name in listed]
    if len(set(names)) != len(names):
        raise CertificateError("outcomes must be distinct")
    slack = read_number(fields["slack"], "slack", at_most=1)
    p, q = (_masses(fields[side], side, len(names), slack) for side in "pq")
    return TwoLaws(p, q, slack)


def _sampled(data: object) -> Sampled:
    fields = read_fields(data, "sampled", "kind", "mechanism", "poisson")
    one = _mechanism(fields["mechanism"])
    if not isinstance(one, Additive | Response | TwoLaws):
        raise CertificateError("what is sampled must be additive, randomized-response or pair")
    return Sampled(one, _rate(fields["poisson"]))


def _vector(data: object) -> Vector:
    fields = read_fields(data, "vector", "kind", "law", *_NORMS, "dimension", "modulus",
                         "neighbours", "poisson")  # fmt: skip
    norms = [
        None if fields[name] is None else read_number(fields[name], name, least=1, at_most=10**30)
        for name in _NORMS
    ]
    dimension = None if fields["dimension"] is None else _dimension(fields)
    reach = Reach(norms[0], norms[1], norms[2], dimension)
    if not reach.is_bounded:
        raise CertificateError("vectors must have l2, l1, or linf with dimension")
    return _noised(fields, reach)


def _rounded(data: object) -> Vector:
    fields = read_fields(data, "rounded-vector", "kind", "law", "l2", "dimension", "rounding",
                         "beta", "modulus", "neighbours", "poisson")  # fmt: skip
    rounding, beta = fields["rounding"], fields["beta"]
    if rounding not in ROUNDINGS:
        raise CertificateError(f"rounding must be one of {', '.join(ROUNDINGS)}")
    if (beta is not None) != (rounding == "conditional"):
        raise CertificateError("beta is of conditional rounding, and null of any other")
    beta = None if beta is None else below_one(fields, "beta")
    if fields["neighbours"] != "add-remove":
        raise CertificateError("rounding needs the neighbours add-remove")
    norm = read_number(fields["l2"], "l2", above=Fraction(0), at_most=10**30)
    reach = Rounded(norm, _dimension(fields), rounding, beta)
    if reach.squared_bound < 1:
        raise CertificateError("l2 must be large enough that not every vector is rounded to 0")
    return _noised(fields, reach)


def _noised(fields: Mapping[str, Any], reach: Reach | Rounded) -> Vector:
    law = _law(fields["law"])
    fair = isinstance(law, Binomial) and law.is_fair
    if not fair and not (isinstance(law, SymmetricLaw) and law.is_log_concave):
        raise CertificateError("noise of vectors must be symmetric and log-concave")
    assert isinstance(law, Binomial | SymmetricLaw)
    return Vector(law, reach, _modulus(fields), *_users(fields))


def _modulus(fields: Mapping[str, Any], name: str = "modulus") -> int | None:
    return None if fields[name] is None else read_whole(fields[name], name, 1)


def _dimension(fields: Mapping[str, Any]) -> int:
    return read_whole(fields["dimension"], "dimension", 1, 10**15)


def _users(fields: Mapping[str, Any]) -> tuple[str, Fraction]:
    """Who neighbours are, and with what probability each user takes part."""
    neighbours = read_choice(fields, "neighbours", NEIGHBOURS)
    rate = _rate(fields["poisson"])
    if rate < 1 and neighbours != "add-remove":
        raise CertificateError("poisson below 1 needs the neighbours add-remove")
    return neighbours, rate


def _batches(data: object) -> FixedSize:
    fields = read_fields(data, "fixed-size", "kind", "mechanism", "size", "population")
    one = _mechanism(fields["mechanism"])
    if not (isinstance(one, Response) or _is_log_concave(one)):
        raise CertificateError(
            "mechanism of batches must be randomized-response, continuous with neighbours replace, "
            "or additive with a symmetric log-concave law and no modulus"
        )
    size, population = (read_whole(fields[name], name, 1) for name in ("size", "population"))
    if size > population:
        raise CertificateError("size must be at most the population")
    return FixedSize(one, size, population)


def _is_log_concave(noise: Mechanism) -> TypeGuard[Additive | Continuous]:
    if isinstance(noise, Continuous):
        return noise.neighbours == "replace"
    if not isinstance(noise, Additive) or noise.modulus is not None:
        return False
    return isinstance(noise.law, SymmetricLaw) and noise.law.is_log_concave


def _continuous(data: object) -> Continuous:
    name = "scale-squared" if "scale-squared" in held(data) else "scale"
    fields = read_fields(data, "continuous", "kind", "law", name, "sensitivity", "neighbours",
                         "poisson")  # fmt: skip
    laws = ("gaussian", "laplace") if name == "scale" else ("gaussian",)
    wrong = "law of continuous noise must be gaussian, or laplace with a scale"
    law = read_choice(fields, "law", laws, wrong)
    scale, moved = (_size(fields, each) for each in (name, "sensitivity"))
    return Continuous(law, scale, moved, *_users(fields), root=name != "scale")


def _allocation(data: object) -> Allocation:
    fields = read_fields(data, "allocation", "kind", "scale", "sensitivity", "taken", "steps")
    scale, moved = (_size(fields, name) for name in ("scale", "sensitivity"))
    taken, steps = (read_whole(fields[name], name, 1, 10**7) for name in ("taken", "steps"))
    if taken > steps:
        raise CertificateError("taken must be at most the steps")
    return Allocation(scale, moved, taken, steps)


def _rate(text: object) -> Fraction:
    return read_number(text, "poisson", above=Fraction(0), at_most=1)


def _law(data: object) -> Law:
    return LAWS[read_choice(data, "name", LAWS, "law name is not known")](held(data))


def _finite(data: Mapping[str, Any]) -> FiniteLaw:
    fields = read_fields(data, "law", "name", "outcomes", "masses")
    texts = read_list(fields["outcomes"], "outcomes", 100_000)
    outcomes = tuple(read_whole(text, "outcomes", -(10**12), 10**12) for text in texts)
    if len(set(outcomes)) != len(outcomes):
        raise CertificateError("outcomes must be distinct")
    return FiniteLaw(outcomes, _masses(fields["masses"], "masses", len(texts), Fraction(0)))


def _discrete_laplace(data: Mapping[str, Any]) -> DiscreteLaplace:
    key = "inverted-scale" if "inverted-scale" in data else "scale"
    size = _size(read_fields(data, "law", "name", key), key)
    return DiscreteLaplace(size, inverted=key != "scale")


def _chance(given: Mapping[str, Any], name: str) -> Fraction | Logarithm:
    data = given[name]
    if isinstance(data, dict):
        fields = read_fields(data, name, "factor", "log")
        return Logarithm(
            read_number(fields["factor"], "factor"), read_number(fields["log"], "log", least=1)
        )
    return below_one(given, name)


def read_claim(data: object) -> tuple[str, dict[str, Fraction]]:
    """Read a claim: its kind and its numbers."""
    kind = read_choice(data, "kind", NOTIONS, f"claim kind must be one of {', '.join(NOTIONS)}")
    fields = read_fields(data, "claim", "kind", *NOTIONS[kind].numbers)
    numbers = {name: read_number(fields[name], name) for name in NOTIONS[kind].numbers}
    if numbers.get("order", Fraction(2)) <= 1 or numbers.get("delta", Fraction(0)) > 1:
        raise CertificateError("order must be above 1 and delta at most 1")
    return kind, numbers


def _masses(data: object, name: str, count: int, slack: Fraction) -> tuple[Fraction, ...]:
    masses = tuple(read_number(each, name, at_most=1) for each in read_list(data, name, 100_000))
    bottom = 1
    for denominator in {mass.denominator for mass in masses}:
        check_time()
        bottom = math.lcm(bottom, denominator)
        if bottom.bit_length() > _LONGEST_DENOMINATOR:
            raise CertificateError(f"{name} need too long a common denominator")
    whole = sum(mass.numerator * (bottom // mass.denominator) for mass in masses)
    if len(masses) != count or abs(Fraction(whole, bottom) - 1) > slack:
        raise CertificateError(f"{name} must have one mass for each outcome and sum to 1")
    return masses


_size = number(above=Fraction(1, 10**10), at_most=10**16)
_shape = number(above=Fraction(1, 10**21), at_most=10**16)
LAWS: dict[str, Callable[[Any], Law]] = {
    "finite": _finite,
    "discrete-laplace": _discrete_laplace,
    "polya-difference": plainly("law", PolyaDifference, "name", shape=_shape, scale=_size),
    "skellam": plainly("law", Skellam, "name", variance=_size),
    "discrete-gaussian": plainly("law", DiscreteGaussian, "name", sigma2=_size),
    "discrete-gaussian-sum": plainly(
        "law", DiscreteGaussianSum, "name", count=whole(1), sigma2=_size
    ),
    "binomial": plainly("law", Binomial, "name", trials=whole(1), probability=_chance),
}


def _thresholded(data: object) -> Thresholded:
    fields = read_fields(data, "threshold", "kind", "noise", "threshold", "keys", "names",
                         "poisson")  # fmt: skip
    noise = _mechanism(fields["noise"])
    plain = isinstance(noise, Continuous) and noise.neighbours == "add-remove" and noise.rate == 1
    if isinstance(noise, Additive) and isinstance(noise.law, SymmetricLaw):
        plain = noise.modulus is None
    if not plain:
        raise CertificateError(
            "noise of counts must be additive, symmetric, with no modulus; or continuous, with "
            "neighbours add-remove and poisson 1"
        )
    assert isinstance(noise, Additive | Continuous)
    threshold = read_number(fields["threshold"], "threshold", at_most=10**30)
    if threshold < noise.sensitivity:
        raise CertificateError("threshold must be at least the sensitivity")
    if isinstance(noise, Additive) and threshold.denominator != 1:
        raise CertificateError("threshold of noise on the integers must be a whole number")
    keys, rate = read_whole(fields["keys"], "keys", 1, 10**6), _rate(fields["poisson"])
    names = read_yes(fields, "names")
    if rate < 1 and (keys > 1 or names):
        raise CertificateError("poisson below 1 is of one key, with its count")
    return Thresholded(noise, threshold, keys, names, rate)


def _stream(data: object) -> Stream:
    fields = read_fields(data, "stream", "kind", "matrix", "participations", "separation", "fixed",
                         "l2", "noise", "dimension", "neighbours")  # fmt: skip
    who = Participation(
        read_whole(fields["participations"], "participations", 1, 10**5),
        read_whole(fields["separation"], "separation", 1, _MOST_STEPS),
        read_yes(fields, "fixed"),
    )
    neighbours = read_choice(fields, "neighbours", NEIGHBOURS)
    matrix, noise = _matrix(fields["matrix"]), fields["noise"]
    gaussian = held(noise).get("name") == "gaussian"
    law: Fraction | Law
    if gaussian:
        law = _size(read_fields(noise, "noise", "name", "sigma"), "sigma")
    elif not isinstance(law := _law(noise), DiscreteGaussian | DiscreteGaussianSum | Skellam):
        raise CertificateError(
            "noise of streams must be gaussian, discrete-gaussian(-sum) or skellam"
        )
    l2 = read_number(fields["l2"], "l2", above=Fraction(0), at_most=10**9)
    dimension = None if fields["dimension"] is None else _dimension(fields)
    if (gaussian and dimension) or (not gaussian and l2 < 1):
        raise CertificateError("dimension is of noise on the integers, of which l2 is at least 1")
    return Stream(matrix, who, l2, law, dimension, neighbours)


def _matrix(data: object) -> Matrix:
    shapes = {
        "table": ("rows",),
        "tree": ("restart",),
        "sqrt-toeplitz": (),
        "blt": ("omega", "theta"),
    }
    wrong = "matrix name must be tree, table, sqrt-toeplitz or blt"
    name = read_choice(data, "name", shapes, wrong)
    if name == "table":
        rows = read_list(read_fields(data, "matrix", "name", "rows")["rows"], "rows", _MOST_ROWS)
        read = [
            [_entry(each) for each in read_list(row, "a row", i)] for i, row in enumerate(rows, 1)
        ]
        if any(len(row) != i for i, row in enumerate(read, 1)):
            raise CertificateError("row i of a table must have i entries, up to the diagonal")
        return Table(tuple(map(tuple, read)))
    more = shapes[name]
    fields = read_fields(data, "matrix", "name", "steps", *more)
    steps = read_whole(fields["steps"], "steps", 1, _MOST_STEPS if name == "tree" else 10**6)
    if name == "tree":
        restart = read_whole(fields["restart"], "restart", 1, steps)
        return Tree(steps, restart)
    lists = [
        [read_number(each, side, at_most=1) for each in read_list(fields[side], side, 64)]
        for side in more
    ]
    if more and (len(lists[0]) != len(lists[1]) or sum(lists[0]) > 1):
        raise CertificateError("omega and theta must be as many, the sum of omega at most 1")
    return Toeplitz(steps, tuple(zip(*lists, strict=True)) if more else ())


def _entry(text: object) -> Fraction:
    number = read_number(text, "an entry", least=-(10**12), at_most=10**12)
    if number.denominator.bit_length() > _LONGEST_ENTRY:
        raise CertificateError("an entry has too long a denominator")
    return number


KINDS: dict[str, Callable[[object], Mechanism]] = {
    "additive": plainly(
        "additive",
        Additive,
        law=lambda fields, name: _law(fields[name]),
        sensitivity=whole(1, 10**9),
        modulus=_modulus,
    ),
    "randomized-response": plainly(
        "randomized-response", Response, epsilon=number(at_most=10**4), delta=number(at_most=1)
    ),
    "pair": _pair,
    "continuous": _continuous,
    "sampled": _sampled,
    "fixed-size": _batches,
    "allocation": _allocation,
    "vector": _vector,
    "rounded-vector": _rounded,
    **local.READERS,
    **selection.READERS,
    "guarantee": read_guarantee,
    "shuffled": read_shuffled,
    "threshold": _thresholded,
    "partition-selection": plainly(
        "partition-selection",
        Optimal,
        epsilon=number(above=Fraction(0), at_most=1000),
        delta=below_one,
        keys=whole(1, 10**6),
    ),
    "stream": _stream,
}


def _end(text: object, name: str) -> End:
    return INFINITY if text == "inf" else read_number(text, name)
