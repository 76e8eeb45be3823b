"""From the fields of a certificate to mechanisms and a claim: anything unexpected is refused.

Of what size and shape it is is looked at first, so that no text, list or number of a file that
somebody else wrote takes long to read or much memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from .arithmetic import INFINITY, Enclosure, End
from .binomial import Binomial, Logarithm
from .deadline import check_time
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
from .mechanisms import (
    Additive,
    Continuous,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)
from .protocol import MASKS, TRUSTS, Protocol
from .reach import Reach
from .rounded import ROUNDINGS, Rounded
from .scenarios import is_fixed

FORMAT = "exactdp certificate"
PLAIN, WITH_PROTOCOL = 1, 2  # versions: the second names the protocol that releases it
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,4})?|-?\d+/\d+", re.A)
_LONGEST_TEXT = 4_000  # characters; Python itself reads no integers of more than 4,300 digits
_DEEPEST = 8
_MOST_PARTS = 400_000  # texts, numbers, lists and objects together
_MOST_CHARACTERS = 20_000_000
_LONGEST_DENOMINATOR = 50_000  # bits, of all masses of a law together
_SETTING = ("neighbours", "orientation")  # both or neither
CLAIMS = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "rdp": ("order", "epsilon"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
}
_SET = (Continuous, FixedSize, Sampled, Vector)  # with which neighbours must be named
_NORMS = ("l2", "l1", "linf")
_HINTS = ("step", "above", "along")
_BOUNDED = {"zcdp": "rho", "gdp": "mu"}  # others bound epsilon


_Read: TypeAlias = "Callable[[Mapping[str, Any]], Law]"  # of its fields


class CertificateError(ValueError):
    """Not a certificate of this version; the message says which field is wrong."""


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


@dataclass(frozen=True)
class Statement:
    """What a certificate says.

    step, above and along are hints: of a grid; by what each vector is bounded from above (None for
    what is no vector); and how many coordinates of it are moved by how much (none: not told).
    """

    uses: tuple[tuple[Mechanism, int], ...]
    kind: str
    numbers: Mapping[str, Fraction]
    verdict: str
    measured: Enclosure
    step: Fraction | None
    protocol: Protocol | None = None
    above: tuple[Above, ...] = ()
    along: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def bound(self) -> Fraction:
        """What the claim says is not exceeded."""
        return self.numbers[self.bounded]

    @property
    def bounded(self) -> str:
        """The name of that number."""
        return _BOUNDED.get(self.kind, "epsilon")


def read(data: object) -> Statement:
    """Read a certificate. Raises CertificateError for what is not one."""
    _look_over(data)
    version = data.get("version") if isinstance(data, dict) else None
    more = ("protocol",) if version == WITH_PROTOCOL else ()
    told = _SETTING if isinstance(data, dict) and any(key in data for key in _SETTING) else ()
    fields = _fields(data, "certificate", "format", "version", "uses", "claim", "verdict",
                     "measured", "hints", *more, *told)  # fmt: skip
    if fields["format"] != FORMAT or type(version) is not int:
        raise CertificateError(f'format must be "{FORMAT}" and version a whole number')
    if version not in (PLAIN, WITH_PROTOCOL):
        raise CertificateError(f"version must be {PLAIN} or {WITH_PROTOCOL}")
    uses = tuple(read_use(each) for each in _list(fields["uses"], "uses", 100))
    if told:
        _look_at_setting(fields, uses)
    elif any(isinstance(each, _SET) for each, _ in uses):
        raise CertificateError("neighbours and orientation must be named")
    kind, numbers = read_claim(fields["claim"])
    if fields["verdict"] not in ("VERIFIED", "REFUTED"):
        raise CertificateError("verdict must be VERIFIED or REFUTED")
    ends = _fields(fields["measured"], "measured", "lower", "upper")
    low, high = _end(ends["lower"], "lower"), _end(ends["upper"], "upper")
    if not 0 <= low <= high:
        raise CertificateError("measured must have 0 <= lower <= upper")
    step, above, along = _hints(fields["hints"], [one for one, _ in uses])
    protocol = read_protocol(fields["protocol"]) if more else None
    return Statement(
        uses, kind, numbers, fields["verdict"], (low, high), step, protocol, above, along
    )


def _hints(
    data: object, released: Sequence[Mechanism]
) -> tuple[Fraction | None, tuple[Above, ...], tuple[tuple[tuple[int, int], ...], ...]]:
    """The step of the grid, and for every use what bounds it if it is a vector."""
    given = {} if data is None else data
    names = [name for name in _HINTS if isinstance(given, dict) and name in given]
    fields = _fields(given, "hints", *names)
    step = _number(fields["step"], "step", above=Fraction(1, 10**12)) if "step" in fields else None
    count = len(released)
    above, along = (
        _list(fields[name], name, 100) if name in fields else [None] * count for name in _HINTS[1:]
    )
    if not len(above) == len(along) == count:
        raise CertificateError("above and along must have one entry for each use")
    for one, *entries in zip(released, above, along, strict=True):
        if not isinstance(one, Vector) and entries != [None, None]:
            raise CertificateError("above and along are of vectors: null for any other use")
    return step, tuple(map(_bound, above)), tuple(map(_moves, along))


def _bound(data: object) -> Above:
    if isinstance(data, dict) and "missed" in data:
        return Missed(_chance_missed(_fields(data, "above", "missed")["missed"]))
    if isinstance(data, dict):
        fields = _fields(data, "above", "square", "sum")
        return Tilt(*(_number(fields[name], name, at_most=10**40) for name in ("square", "sum")))
    if data is not None and data not in ("gaussian", "one number"):
        raise CertificateError(
            'above must be "gaussian", "one number", square and sum, missed, or null'
        )
    return data if isinstance(data, str) else None


def _chance_missed(text: object) -> Fraction:
    return _number(text, "missed", above=Fraction(0), at_most=1)


def _moves(data: object) -> tuple[tuple[int, int], ...]:
    if data is None:
        return ()
    parts = (_fields(each, "along", "move", "count") for each in _list(data, "along", 100))
    return tuple(
        (_whole(part["move"], "move", 1, 10**9), _whole(part["count"], "count", 1, 10**9))
        for part in parts
    )


def _look_at_setting(fields: Mapping[str, Any], uses: Sequence[tuple[Mechanism, int]]) -> None:
    """Is what it says of the neighbours what is going to be checked?"""
    held = {getattr(each, "neighbours", "replace") for each, _ in uses}
    if not isinstance(fields["neighbours"], str) or held != {fields["neighbours"]}:
        raise CertificateError("neighbours must be those of all uses")
    if fields["orientation"] != ("fixed" if is_fixed(uses) else "free"):
        raise CertificateError(
            "orientation must be fixed where a use is a pair or samples, and free elsewhere"
        )


def _look_over(data: object) -> None:
    """Refuse what is too deep, too long or too much, without recursion."""
    layer, parts, characters = [data], 0, 0
    for _ in range(_DEEPEST):
        below: list[object] = []
        for each in layer:
            if isinstance(each, str):
                characters += len(each)
                if len(each) > _LONGEST_TEXT:
                    raise CertificateError(f"a text has more than {_LONGEST_TEXT} characters")
            elif isinstance(each, (dict, list)):
                parts += len(each)
                if parts > _MOST_PARTS:
                    raise CertificateError(f"it has more than {_MOST_PARTS} parts")
                below.extend(each.values() if isinstance(each, dict) else each)
        if characters > _MOST_CHARACTERS:
            raise CertificateError(f"it has more than {_MOST_CHARACTERS} characters")
        layer = below
        check_time()
    if layer:
        raise CertificateError(f"it is more than {_DEEPEST} levels deep")


def read_protocol(data: object) -> Protocol:
    """Read what a certificate says of the protocol, and of the masks if it names them."""
    masked = MASKS if isinstance(data, dict) and "floor" in data else ()
    fields = _fields(data, "protocol", "users", "precision", "accuracy", "modulus", "share",
                     "trust", "dropout", "collusion", "relaxation", *masked)  # fmt: skip
    if fields["trust"] not in TRUSTS:
        raise CertificateError(f"trust must be one of {', '.join(TRUSTS)}")
    modulus = fields["modulus"]
    return Protocol(
        users=_whole(fields["users"], "users", 1),
        precision=_whole(fields["precision"], "precision", 1),
        accuracy=_whole(fields["accuracy"], "accuracy", 0),
        modulus=None if modulus is None else _whole(modulus, "modulus", 1),
        share=_law(fields["share"]),
        trust=fields["trust"],
        dropout=_whole(fields["dropout"], "dropout", 0),
        collusion=_whole(fields["collusion"], "collusion", 0),
        relaxation=_number(fields["relaxation"], "relaxation", at_most=10**4),
        masks=tuple(_whole(fields[name], name, 1) for name in masked),
    )


def read_use(data: object) -> tuple[Mechanism, int]:
    """Read a mechanism, and how often it is used."""
    fields = _fields(data, "use", "mechanism", "times")
    return _mechanism(fields["mechanism"]), _whole(fields["times"], "times", 1, 10**9)


def _mechanism(data: object) -> Mechanism:
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind == "additive":
        fields = _fields(data, kind, "kind", "law", "sensitivity", "modulus")
        modulus = fields["modulus"]
        return Additive(
            _law(fields["law"]),
            _whole(fields["sensitivity"], "sensitivity", 1, 10**9),
            None if modulus is None else _whole(modulus, "modulus", 1),
        )
    if kind == "randomized-response":
        fields = _fields(data, kind, "kind", "epsilon", "delta")
        epsilon = _number(fields["epsilon"], "epsilon", at_most=10**4)
        return Response(epsilon, _number(fields["delta"], "delta", at_most=1))
    if kind == "pair":
        fields = _fields(data, kind, "kind", "outcomes", "p", "q", "slack")
        names = _list(fields["outcomes"], "outcomes", 100_000)
        if not all(type(name) is str for name in names) or len(set(names)) != len(names):
            raise CertificateError("outcomes must be distinct texts")
        slack = _number(fields["slack"], "slack", at_most=1)
        p, q = (_masses(fields[side], side, len(names), slack) for side in "pq")
        return TwoLaws(p, q, slack)
    if kind == "continuous":
        return _continuous(data)
    if kind == "sampled":
        fields = _fields(data, kind, "kind", "mechanism", "poisson")
        one = _mechanism(fields["mechanism"])
        if not isinstance(one, Additive | Response | TwoLaws):
            raise CertificateError("what is sampled must be additive, randomized-response or pair")
        return Sampled(one, _rate(fields["poisson"]))
    if kind == "fixed-size":
        return _batches(data)
    if kind == "vector":
        return _vector(data)
    if kind == "rounded-vector":
        return _rounded(data)
    raise CertificateError(
        "mechanism kind must be additive, randomized-response, pair, continuous, sampled, "
        "fixed-size, vector or rounded-vector"
    )


def _vector(data: object) -> Vector:
    fields = _fields(data, "vector", "kind", "law", *_NORMS, "dimension", "modulus", "neighbours",
                     "poisson")  # fmt: skip
    norms = [
        None if fields[name] is None else _number(fields[name], name, least=1, at_most=10**30)
        for name in _NORMS
    ]
    dimension = None if fields["dimension"] is None else _dimension(fields)
    reach = Reach(norms[0], norms[1], norms[2], dimension)
    if not reach.is_bounded:
        raise CertificateError("vectors must have l2, l1, or linf with dimension")
    return _noised(fields, reach)


def _rounded(data: object) -> Vector:
    fields = _fields(data, "rounded-vector", "kind", "law", "l2", "dimension", "rounding", "beta",
                     "modulus", "neighbours", "poisson")  # fmt: skip
    rounding, beta = fields["rounding"], fields["beta"]
    if rounding not in ROUNDINGS:
        raise CertificateError(f"rounding must be one of {', '.join(ROUNDINGS)}")
    if (beta is not None) != (rounding == "conditional"):
        raise CertificateError("beta is of conditional rounding, and null of any other")
    if beta is not None:
        beta = _number(beta, "beta", above=Fraction(0), at_most=1)
        if beta == 1:
            raise CertificateError("beta must be below 1")
    if fields["neighbours"] != "add-remove":
        raise CertificateError("rounding needs the neighbours add-remove")
    norm = _number(fields["l2"], "l2", above=Fraction(0), at_most=10**30)
    reach = Rounded(norm, _dimension(fields), rounding, beta)
    if reach.squared_bound < 1:
        raise CertificateError("l2 must be large enough that not every vector is rounded to 0")
    return _noised(fields, reach)


def _noised(fields: Mapping[str, Any], reach: Reach | Rounded) -> Vector:
    law, modulus = _law(fields["law"]), fields["modulus"]
    if not (isinstance(law, SymmetricLaw) and law.is_log_concave):
        raise CertificateError("law of vectors must be symmetric and log-concave")
    modulus = None if modulus is None else _whole(modulus, "modulus", 1)
    return Vector(law, reach, modulus, *_users(fields))


def _dimension(fields: Mapping[str, Any]) -> int:
    return _whole(fields["dimension"], "dimension", 1, 10**15)


def _users(fields: Mapping[str, Any]) -> tuple[str, Fraction]:
    """Who neighbours are, and with what probability each user takes part."""
    if fields["neighbours"] not in ("replace", "add-remove"):
        raise CertificateError("neighbours must be replace or add-remove")
    rate = _rate(fields["poisson"])
    if rate < 1 and fields["neighbours"] != "add-remove":
        raise CertificateError("poisson below 1 needs the neighbours add-remove")
    return fields["neighbours"], rate


def _batches(data: object) -> FixedSize:
    fields = _fields(data, "fixed-size", "kind", "mechanism", "size", "population")
    one = _mechanism(fields["mechanism"])
    if not (isinstance(one, Response) or (isinstance(one, Additive) and _is_log_concave(one))):
        raise CertificateError(
            "mechanism of batches must be randomized-response, or additive with a symmetric "
            "log-concave law and no modulus"
        )
    size, population = (_whole(fields[name], name, 1) for name in ("size", "population"))
    if size > population:
        raise CertificateError("size must be at most the population")
    return FixedSize(one, size, population)


def _is_log_concave(noise: Additive) -> bool:
    law = noise.law
    return noise.modulus is None and isinstance(law, SymmetricLaw) and law.is_log_concave


def _continuous(data: object) -> Continuous:
    fields = _fields(data, "continuous", "kind", "law", "scale", "sensitivity", "neighbours",
                     "poisson")  # fmt: skip
    if fields["law"] not in ("gaussian", "laplace"):
        raise CertificateError("law of continuous noise must be gaussian or laplace")
    scale, moved = (_size(fields, name) for name in ("scale", "sensitivity"))
    return Continuous(fields["law"], scale, moved, *_users(fields))


def _rate(text: object) -> Fraction:
    return _number(text, "poisson", above=Fraction(0), at_most=1)


def _law(data: object) -> Law:
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(name, str) or name not in LAWS:
        raise CertificateError("law name is not known")
    return LAWS[name](data)


def _finite(data: Mapping[str, Any]) -> FiniteLaw:
    fields = _fields(data, "law", "name", "outcomes", "masses")
    texts = _list(fields["outcomes"], "outcomes", 100_000)
    outcomes = tuple(_whole(text, "outcomes", -(10**12), 10**12) for text in texts)
    if len(set(outcomes)) != len(outcomes):
        raise CertificateError("outcomes must be distinct")
    return FiniteLaw(outcomes, _masses(fields["masses"], "masses", len(texts), Fraction(0)))


def _discrete_laplace(data: Mapping[str, Any]) -> DiscreteLaplace:
    key = "inverted-scale" if "inverted-scale" in data else "scale"
    size = _size(_fields(data, "law", "name", key), key)
    return DiscreteLaplace(size, inverted=key != "scale")


def _chance(held: Mapping[str, Any], name: str) -> Fraction | Logarithm:
    data = held[name]
    if isinstance(data, dict):
        fields = _fields(data, name, "factor", "log")
        return Logarithm(
            _number(fields["factor"], "factor"), _number(fields["log"], "log", least=1)
        )
    chance = _number(data, name, above=Fraction(0), at_most=1)
    if chance == 1:
        raise CertificateError(f"{name} must be below 1")
    return chance


def read_claim(data: object) -> tuple[str, dict[str, Fraction]]:
    """Read a claim: its kind and its numbers."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in CLAIMS:
        raise CertificateError(f"claim kind must be one of {', '.join(CLAIMS)}")
    fields = _fields(data, "claim", "kind", *CLAIMS[kind])
    numbers = {name: _number(fields[name], name) for name in CLAIMS[kind]}
    if numbers.get("order", Fraction(2)) <= 1 or numbers.get("delta", Fraction(0)) > 1:
        raise CertificateError("order must be above 1 and delta at most 1")
    return kind, numbers


def _masses(data: object, name: str, count: int, slack: Fraction) -> tuple[Fraction, ...]:
    masses = tuple(_number(each, name, at_most=1) for each in _list(data, name, 100_000))
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


def _size(fields: Mapping[str, Any], name: str) -> Fraction:
    return _number(fields[name], name, above=Fraction(1, 10**10), at_most=10**16)


def _count(fields: Mapping[str, Any], name: str) -> int:
    return _whole(fields[name], name, 1)


def _shape(fields: Mapping[str, Any], name: str) -> Fraction:
    return _number(fields[name], name, above=Fraction(1, 10**21), at_most=10**16)


def _plain(law: Callable[..., Law], **numbers: Callable[[Mapping[str, Any], str], Any]) -> _Read:
    """How a law of just these numbers is read."""

    def read_law(data: Mapping[str, Any]) -> Law:
        fields = _fields(data, "law", "name", *numbers)
        return law(*(read_number(fields, name) for name, read_number in numbers.items()))

    return read_law


LAWS: dict[str, _Read] = {
    "finite": _finite,
    "discrete-laplace": _discrete_laplace,
    "polya-difference": _plain(PolyaDifference, shape=_shape, scale=_size),
    "skellam": _plain(Skellam, variance=_size),
    "discrete-gaussian": _plain(DiscreteGaussian, sigma2=_size),
    "discrete-gaussian-sum": _plain(DiscreteGaussianSum, count=_count, sigma2=_size),
    "binomial": _plain(Binomial, trials=_count, probability=_chance),
}


def _end(text: object, name: str) -> End:
    return INFINITY if text == "inf" else _number(text, name)


def _whole(text: object, name: str, least: int, most: int = 10**40) -> int:
    number = _number(text, name, least=least, at_most=most)
    if number.denominator != 1:
        raise CertificateError(f"{name} must be a whole number")
    return number.numerator


def _number(
    text: object,
    name: str,
    *,
    above: Fraction | None = None,
    least: int = 0,
    at_most: int | None = None,
) -> Fraction:
    check_time()
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not _NUMBER.fullmatch(text):
        raise CertificateError(f"{name} must be exact text, such as 0.1, 1/3 or 1e-6")
    if re.search("/0+$", text):
        raise CertificateError(f"{name} has the denominator 0")
    number = Fraction(text)
    if number < least or (above is not None and number <= above):
        raise CertificateError(f"{name} is too small")
    if at_most is not None and number > at_most:
        raise CertificateError(f"{name} is too large")
    return number


def _list(data: object, name: str, most: int) -> list[Any]:
    if not isinstance(data, list) or not 1 <= len(data) <= most:
        raise CertificateError(f"{name} must be a list of 1 to {most} entries")
    return data


def _shown(key: object) -> str:
    """The name of a field, in a line that any terminal shows."""
    return ascii(key[:40] if isinstance(key, str) else type(key).__name__)


def _fields(data: object, name: str, *expected: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise CertificateError(f"{name} must be an object")
    if set(data) != set(expected):
        odd = sorted({_shown(key) for key in set(data) ^ set(expected)})[:3]
        wrong = ", ".join(odd)
        raise CertificateError(
            f"{name} must have exactly the fields {', '.join(expected)}: {wrong}"
        )
    return data
