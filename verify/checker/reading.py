"""From the fields of a certificate to mechanisms and a claim: anything unexpected is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard

from . import local, selection, shape
from .arithmetic import INFINITY, Enclosure, End
from .guarantees import read_guarantee
from .keys import Optimal, Thresholded
from .laws import SymmetricLaw
from .made import Made, read_made
from .mechanisms import (
    RATE,
    READERS,
    Additive,
    Continuous,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)
from .notions import NOTIONS
from .protocol import Protocol, read_protocol
from .releases import Stream, read_stream
from .scenarios import is_fixed, neighbours_of
from .shape import CertificateError
from .shuffled import read_shuffled

FORMAT = "exactdp certificate"
FIRST, SECOND = 1, 2  # versions; what the second adds:
_ADDED = ("made", "note", "digest")
_SETTING = ("neighbours", "orientation")  # both or neither
VERDICTS = ("VERIFIED", "REFUTED")
_HINTS: dict[str, shape.Reader] = {
    "step": shape.number(above=Fraction(1, 10**12)),
    "above": lambda fields, name: shape.read_list(fields[name], name, 100),
    "along": lambda fields, name: shape.read_list(fields[name], name, 100),
}


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
    shape.look_over(data)
    fields = shape.read_fields(data, "certificate", "format", "version", "uses", "claim", "verdict",
                         "measured", "hints", *_others(data))  # fmt: skip
    if fields["format"] != FORMAT or type(fields["version"]) is not int:
        raise CertificateError(f'format must be "{FORMAT}" and version a whole number')
    if fields["version"] not in (FIRST, SECOND):
        raise CertificateError(f"version must be {FIRST} or {SECOND}")
    uses = tuple(read_use(each) for each in shape.read_list(fields["uses"], "uses", 100))
    if "neighbours" in fields:
        _look_at_setting(fields, uses)
    elif any(hasattr(each, "neighbours") for each, _ in uses):
        raise CertificateError("neighbours and orientation must be named")
    kind, numbers = read_claim(fields["claim"])
    verdict = shape.read_choice(fields, "verdict", VERDICTS)
    ends = {"lower": _end, "upper": _end}
    low, high = shape.read_each(fields["measured"], "measured", ends).values()
    if not 0 <= low <= high:
        raise CertificateError("measured must have 0 <= lower <= upper")
    step, above, along = _hints(fields["hints"], [one for one, _ in uses])
    protocol = read_protocol(fields["protocol"]) if "protocol" in fields else None
    made = read_made(fields) if "made" in fields else None
    return Statement(
        uses, kind, numbers, verdict, (low, high), step, protocol, above, along, made,
        fields.get("digest"),
    )  # fmt: skip


def _end(fields: Mapping[str, Any], name: str) -> End:
    return INFINITY if fields[name] == "inf" else shape.read_number(fields[name], name)


def _others(data: object) -> tuple[str, ...]:
    """The fields of a certificate besides those that each has, by its version.

    Certificates of the first version that name a protocol say version 2; they have no digest.
    """
    setting = _SETTING if shape.named(data, *_SETTING) else ()
    if shape.held(data).get("version") != SECOND:
        return setting
    if shape.named(data, "protocol") and not shape.named(data, *_ADDED):
        return "protocol", *setting
    return *_SETTING, "made", "digest", *shape.named(data, "protocol", "note")


def _hints(
    data: object, released: Sequence[Mechanism]
) -> tuple[Fraction | None, tuple[Above, ...], tuple[Along, ...]]:
    """The step of the grid, and for every use what bounds it if it is a vector."""
    given = {} if data is None else data
    if odd := sorted(map(shape.shown, shape.held(given).keys() - set(_HINTS)))[:3]:
        raise CertificateError(f"hints are {', '.join(_HINTS)}, not {', '.join(odd)}")
    count = len(released)
    found = {"step": None, "above": [None] * count, "along": [None] * count}
    readers = {name: _HINTS[name] for name in shape.named(given, *_HINTS)}
    step, above, along = (found | shape.read_each(given, "hints", readers)).values()
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
    each = zip(released, along, strict=True)
    moves = [(_steps if isinstance(one, Stream) else _moves)(entry) for one, entry in each]
    return step, tuple(map(_bound, above)), tuple(moves)


def _steps(data: object) -> Along:
    if data is None:
        return ()
    listed = shape.read_list(data, "along", 20_000)
    return tuple(shape.read_whole(each, "a step of along", 0) for each in listed)


def _bound(data: object) -> Above:
    if "missed" in shape.held(data):
        return shape.plainly("above", Missed, "", missed=RATE)(data)
    if isinstance(data, dict):
        most = shape.number(at_most=10**40)
        return shape.plainly("above", Tilt, "", square=most, sum=most)(data)
    if data is not None and data not in ("gaussian", "one number", "by one"):
        raise CertificateError(
            'above must be "gaussian", "one number", "by one", square and sum, missed, or null'
        )
    return data if isinstance(data, str) else None


def _moves(data: object) -> Along:
    if data is None:
        return ()
    count = shape.whole(1, 10**9)
    read_one = shape.plainly("along", lambda *both: both, "", move=count, count=count)
    return tuple(map(read_one, shape.read_list(data, "along", 100)))


def _look_at_setting(fields: Mapping[str, Any], uses: Sequence[tuple[Mechanism, int]]) -> None:
    """Is what it says of the neighbours what is going to be checked?"""
    if [fields["neighbours"]] != [*neighbours_of(uses)]:
        raise CertificateError("neighbours must be those of all uses")
    if fields["orientation"] != ("fixed" if is_fixed(uses) else "free"):
        raise CertificateError(
            "orientation must be fixed where a use is a pair or samples, and free elsewhere"
        )


def read_use(data: object) -> tuple[Mechanism, int]:
    """Read a mechanism, and how often it is used."""
    found = shape.read_each(data, "use", {"mechanism": _mechanism, "times": shape.whole(1, 10**9)})
    return found["mechanism"], found["times"]


def _mechanism(fields: Mapping[str, Any], name: str) -> Mechanism:
    wrong = f"mechanism kind must be {', '.join(KINDS)}"
    return KINDS[shape.read_choice(fields[name], "kind", KINDS, wrong)](fields[name])


def _sampled(one: Mechanism, rate: Fraction) -> Sampled:
    if not isinstance(one, Additive | Response | TwoLaws):
        raise CertificateError("what is sampled must be additive, randomized-response or pair")
    return Sampled(one, rate)


def _batches(one: Mechanism, size: int, population: int) -> FixedSize:
    if not (isinstance(one, Response) or _is_log_concave(one)):
        raise CertificateError(
            "mechanism of batches must be randomized-response, continuous with neighbours replace, "
            "or additive with a symmetric log-concave law and no modulus"
        )
    if size > population:
        raise CertificateError("size must be at most the population")
    return FixedSize(one, size, population)


def _is_log_concave(noise: Mechanism) -> TypeGuard[Additive | Continuous]:
    if isinstance(noise, Continuous):
        return noise.neighbours == "replace"
    if not isinstance(noise, Additive) or noise.modulus is not None:
        return False
    return isinstance(noise.law, SymmetricLaw) and noise.law.is_log_concave


def _thresholded(
    noise: Mechanism, threshold: Fraction, keys: int, names: bool, rate: Fraction
) -> Thresholded:
    plain = isinstance(noise, Continuous) and noise.neighbours == "add-remove" and noise.rate == 1
    if isinstance(noise, Additive) and isinstance(noise.law, SymmetricLaw):
        plain = noise.modulus is None
    if not plain:
        raise CertificateError(
            "noise of counts must be additive, symmetric, with no modulus; or continuous, with "
            "neighbours add-remove and poisson 1"
        )
    assert isinstance(noise, Additive | Continuous)
    if threshold < noise.sensitivity:
        raise CertificateError("threshold must be at least the sensitivity")
    if isinstance(noise, Additive) and threshold.denominator != 1:
        raise CertificateError("threshold of noise on the integers must be a whole number")
    if rate < 1 and (keys > 1 or names):
        raise CertificateError("poisson below 1 is of one key, with its count")
    return Thresholded(noise, threshold, keys, names, rate)


def read_claim(data: object) -> tuple[str, dict[str, Fraction]]:
    """Read a claim: its kind and its numbers."""
    wrong = f"claim kind must be one of {', '.join(NOTIONS)}"
    kind = shape.read_choice(data, "kind", NOTIONS, wrong)
    readers = dict.fromkeys(NOTIONS[kind].numbers, shape.number())
    numbers = shape.read_each(data, "claim", readers, "kind")
    if numbers.get("order", Fraction(2)) <= 1 or numbers.get("delta", Fraction(0)) > 1:
        raise CertificateError("order must be above 1 and delta at most 1")
    return kind, numbers


_KEYS = shape.whole(1, 10**6)
KINDS: dict[str, Callable[[object], Mechanism]] = {
    **{kind: READERS[kind] for kind in ("additive", "randomized-response", "pair", "continuous")},
    "sampled": shape.plainly("sampled", _sampled, mechanism=_mechanism, poisson=RATE),
    "fixed-size": shape.plainly("fixed-size", _batches, mechanism=_mechanism, size=shape.whole(1),
        population=shape.whole(1)),
    **{kind: READERS[kind] for kind in ("allocation", "vector", "rounded-vector")},
    **local.READERS,
    **selection.READERS,
    "guarantee": read_guarantee,
    "shuffled": read_shuffled,
    "threshold": shape.plainly("threshold", _thresholded, noise=_mechanism,
        threshold=shape.number(at_most=10**30), keys=_KEYS, names=shape.read_yes, poisson=RATE),
    "partition-selection": shape.plainly("partition-selection", Optimal,
        epsilon=shape.number(above=Fraction(0), at_most=1000), delta=shape.below_one, keys=_KEYS),
    "stream": read_stream,
}  # fmt: skip
