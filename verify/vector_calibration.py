"""Calibration of noise in every coordinate of an integer vector, in any dimension.

What a vector costs is known between two bounds only. The noise found is verified by what dominates
the vector (its bracket), and is the least such: 1e-9 below, the dominating cost is above
the target or too close to tell. Whether that noise fails as well is another matter: it does where
a vector within reach refutes it. The largest noise that is refuted so is looked for by growing
steps; what lies between is open.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from decimal import ROUND_FLOOR
from fractions import Fraction

from attrs import evolve, frozen

from ..accounting.composition.composed import Composition, Use
from ..common.suggest import meant
from ..exact.budget import OutOfTimeError, time_left
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text, whole
from ..exact.rounding import to_digits
from ..mechanisms.additive.reach import Reach, RoundedReach
from ..mechanisms.additive.vector import VectorNoise
from ..mechanisms.laws.families import FAMILIES
from ..mechanisms.sampled import sampling_rate
from ..mechanisms.specs.spec import read_name
from .audit import Audit, Verdict
from .calibration import UnfinishedError
from .guarantee import Guarantee
from .least_dominated import LeastDominated

NAMES = ("skellam", "discrete-gaussian")
_BY_L1 = "discrete-laplace"  # where the vectors' l1 is given
_KEYS = ("l2", "l1", "dimension", "rounding", "poisson")

_DIGITS, _SHOWN = 10, Fraction(1, 1000)
_WIDTHS = tuple(Fraction(1, 10**digits) for digits in (6, 11, 14))
_NEAR = 1e-10
_LEAST, _LARGEST = Fraction(1, 10**9), Fraction(10**15)
_STEPS = (*(Fraction(1, 10**digits) for digits in (4, 3, 2, 1)), Fraction(1, 2))
_OPEN = "which noises between the refuted and the verified one meet the target is open"
_ALL_OPEN = "whether less noise meets the target is open: none was refuted in the time allowed"
_UNKNOWN = "how the cost depends on this noise is not known: other values may differ"


@frozen
class VectorFamily:
    """Vectors with noise of this name in each coordinate, moved by at most this much.

    rounding: of real vectors, as specs name it; None for integer ones. rate: of Poisson sampling.
    """

    name: str
    reach: Reach | RoundedReach
    rounding: str | None = None
    rate: Fraction = Fraction(1)

    @property
    def neighbours(self) -> str:
        """Of a sampled or rounded vector a user is added or removed."""
        return "replace" if self.rounding is None and self.rate == 1 else "add-remove"

    @property
    def parameter(self) -> str:
        return _calibrated(self.name)[0]

    @property
    def proof(self) -> str | None:
        """Why no cost rises with the noise: coordinate by coordinate as for one; None if unknown.

        Independent noise that is added to every coordinate is a post-processing of the vector.
        """
        return _calibrated(self.name)[1]

    def build(self, value: Fraction) -> VectorNoise:
        law = FAMILIES[self.name]
        noise = law.from_spec({self.parameter: value})
        return VectorNoise(noise, self.reach, None, self.neighbours, self.rate)

    def spec(self, value: Fraction) -> str:
        """The spec of the mechanism with this value."""
        reach = self.reach
        norms: dict[str, Fraction | None] = (
            {"l2": reach.norm}
            if isinstance(reach, RoundedReach)
            else {"l2": reach.l2, "l1": reach.l1}
        )
        keys = {self.parameter: decimal_text(value)}
        keys |= {name: decimal_text(norm) for name, norm in norms.items() if norm is not None}
        if self.reach.dimension is not None:
            keys["dimension"] = str(self.reach.dimension)
        if self.neighbours != "replace":
            keys["neighbours"] = self.neighbours
        if self.rounding is not None:
            keys["rounding"] = self.rounding
        if self.rate != 1:
            keys["poisson"] = decimal_text(self.rate)
        return f"{self.name}:{','.join(f'{key}={value}' for key, value in keys.items())}"


@frozen
class VectorCalibration:
    """The least noise that what dominates the vector verifies, and what is known of smaller ones.

    neighbour: 1e-9 below, whose audit may be UNDECIDED. failing: the largest noise that was found
    refuted, with its audit; None where none was, in the time allowed.
    """

    parameter: str
    value: Fraction
    verified: Audit
    neighbour: Fraction
    below: Audit
    failing: tuple[Fraction, Audit] | None
    why: str


def is_vector(text: str) -> bool:
    """Is NAME:key=value,... for `choose_vector`?"""
    name, values = read_name(text, "NAME")
    keys = values.keys()
    return name in (*NAMES, _BY_L1) and bool(keys & {"l2", "l1"}) and keys <= {*_KEYS, "neighbours"}


def choose_vector(text: str, given: Mapping[str, ExactInput | None]) -> VectorFamily:
    """Read NAME or NAME:key=value,..., and what is given besides, by the same keys.

    l2, l1: of the vectors by which neighbours move, one of them at least. Raises ParameterError for
    noise that this is not for, for a key given twice, and where only one number moves.
    """
    name, values = read_name(text, "NAME")
    keys = {key: value for key, value in given.items() if value is not None}
    for key in values:
        if key in keys:
            raise ParameterError(f"{name}: {key} must not be given twice")
        if key not in (*_KEYS, "neighbours"):
            raise ParameterError(
                f"{name}: {key[:40]!r} does not go with a norm beside NAME{meant(key, _KEYS)}; "
                "write the norm in NAME as well"
            )
    keys |= values
    l2, l1, dimension, rounding, poisson = map(keys.get, _KEYS)
    if not (rounding is None or isinstance(rounding, str)):
        raise ParameterError(f"rounding must be text, got a {type(rounding).__name__}")
    names = NAMES if l1 is None else (*NAMES, _BY_L1)
    if name not in names:
        raise ParameterError(
            f"NAME must be {' or '.join(names)} for vectors, got {name[:40]!r}{meant(name, names)}"
        )
    if rounding is None:
        reach: Reach | RoundedReach = Reach(l2, l1, None, dimension)
    elif l2 is None or l1 is not None:
        raise ParameterError("rounding is for vectors of a norm l2, and no l1")
    elif dimension is None:
        raise ParameterError("rounding needs the dimension, in which the norm grows")
    else:
        reach = RoundedReach(l2, dimension, rounding)
    family = VectorFamily(name, reach, rounding, sampling_rate(1 if poisson is None else poisson))
    if keys.get("neighbours", family.neighbours) != family.neighbours:
        raise ParameterError(f"{name}: neighbours must be {family.neighbours} of these vectors")
    if family.build(Fraction(1)).is_one_number:
        raise ParameterError("one coordinate of the vector moves only: give its sensitivity")
    return family


def calibrate_vector(
    family: VectorFamily, claim: Guarantee, times: ExactInput = 1
) -> VectorCalibration:
    """The least noise with which so many uses are verified to meet the claim together.

    Raises ParameterError where none between 1e-9 and 1e15, or every one, is, and UnfinishedError
    where a limit of time ends before it is found.
    """
    uses = whole(times, "times", at_least=1)
    if claim.is_void:
        raise ParameterError(f"target {claim} is met by every {family.parameter}")
    search = LeastDominated(family.build, uses, claim, _DIGITS, _WIDTHS, _NEAR)
    start = family.reach.largest_square * uses * family.rate**2
    try:
        search.run(family.parameter, start, (_LEAST, _LARGEST), "1e-9 and 1e15")
    except OutOfTimeError:
        raise UnfinishedError(family.parameter, None, search.good) from None
    assert search.good is not None
    below = _audited(search, search.bad or Fraction(0))
    if below.verdict is Verdict.VERIFIED:  # by more than what dominates the vector
        closer = evolve(search, by_both=True)
        with suppress(OutOfTimeError, ParameterError):
            closer.run(family.parameter, search.good, (_LEAST, _LARGEST), "1e-9 and 1e15")
            search, below = closer, _audited(closer, closer.bad or Fraction(0))
    good, bad = search.good, search.bad or Fraction(0)
    assert good is not None
    verified = _audited(search, good)
    failing = (bad, below) if below.verdict is Verdict.REFUTED else None
    for step in _STEPS:
        if failing is not None or not time_left():
            break
        value = to_digits(good * (1 - step), _DIGITS, ROUND_FLOOR)
        audit = _audited(search, value)
        failing = (value, audit) if audit.verdict is Verdict.REFUTED else None
    why = family.proof or _UNKNOWN
    if below.verdict is not Verdict.REFUTED:
        why = f"{_OPEN if failing else _ALL_OPEN}; {why}"
    return VectorCalibration(family.parameter, good, verified, bad, below, failing, why)


def _audited(search: LeastDominated, value: Fraction) -> Audit:
    """The verdict on the vector itself, between both bounds."""
    composition = Composition([Use(search.build(value), search.uses)])
    measured = Enclosure.unknown()
    with suppress(OutOfTimeError):
        measured = search.claim.measure(composition, _SHOWN)
    if value in search.known:
        above = Enclosure(Fraction(0), search.known[value].upper)
        measured = measured.intersection(above)
    met = measured.at_most(search.claim.bound)
    verdict = {True: Verdict.VERIFIED, False: Verdict.REFUTED, None: Verdict.UNDECIDED}[met]
    return Audit(composition, search.claim, verdict, measured)


def _calibrated(name: str) -> tuple[str, str | None]:
    kind = FAMILIES[name].calibrated
    assert kind is not None
    return kind.parameter, kind.proof
