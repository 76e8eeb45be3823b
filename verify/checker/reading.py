"""From the fields of a certificate to mechanisms and a claim: anything unexpected is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeGuard

from . import local, selection, shape
from .arithmetic import INFINITY, Enclosure, End
from .guarantees import read_guarantee
from .hints import NONE, Hints, read_hints
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
)
from .notions import NOTIONS
from .protocol import Protocol, read_protocol
from .releases import read_stream
from .scenarios import is_fixed, neighbours_of
from .shape import CertificateError
from .shuffled import read_shuffled

FORMAT = "exactdp certificate"
VERSIONS = 1, 2, 3  # what the second adds:
_ADDED = ("made", "note", "digest")
_SETTING = ("neighbours", "orientation")  # both or neither
VERDICTS = ("VERIFIED", "REFUTED")


@dataclass(frozen=True)
class Statement:
    """What a certificate says.

    made and digest: not of the first version.
    """

    uses: tuple[tuple[Mechanism, int], ...]
    kind: str
    numbers: Mapping[str, Fraction]
    verdict: str
    measured: Enclosure
    hints: Hints = NONE
    version: int = 3
    protocol: Protocol | None = None
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
    if fields["version"] not in VERSIONS:
        raise CertificateError("version must be 1, 2 or 3")
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
    hints = read_hints(fields["hints"], [one for one, _ in uses])
    protocol = read_protocol(fields["protocol"]) if "protocol" in fields else None
    made = read_made(fields) if "made" in fields else None
    return Statement(
        uses, kind, numbers, verdict, (low, high), hints, fields["version"], protocol, made,
        fields.get("digest"),
    )  # fmt: skip


def _end(fields: Mapping[str, Any], name: str) -> End:
    return INFINITY if fields[name] == "inf" else shape.read_number(fields[name], name)


def _others(data: object) -> tuple[str, ...]:
    """The fields of a certificate besides those that each has, by its version.

    Certificates of the first version that name a protocol say version 2; they have no digest.
    """
    setting = _SETTING if shape.named(data, *_SETTING) else ()
    version = shape.held(data).get("version")
    if version not in (2, 3):
        return setting
    if version == 2 and shape.named(data, "protocol") and not shape.named(data, *_ADDED):
        return "protocol", *setting
    return *_SETTING, "made", "digest", *shape.named(data, "protocol", "note")


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
