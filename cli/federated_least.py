"""The least local-stddev of a federated round that is verified to meet a target, and its bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from attrs import evolve, frozen

from ..accounting import compose
from ..exact import (
    Endpoint,
    decimal_text,
)
from ..exact.rounding import to_digits
from ..mechanisms.additive.vector import VectorNoise
from ..protocols.federated import Settings, error_bound
from ..verify import Family, Guarantee
from ..verify.calibration import Costs
from .in_time import Figures

_WIDTH = Fraction(1, 1000)
_DIGITS = 5
_LEAST_VARIANCE, _LARGEST_VARIANCE = Fraction(1, 10**9), 10**15  # of laws
_MOST_BITS = 32
_ROOM = 2.5  # a bound may take a share of the time that is left: it must not be cut short


@frozen
class Least:
    """A local-stddev that is verified, and one a unit of its last digit smaller that is not.

    verdict: of the smaller one, REFUTED by a vector within reach, or NOT VERIFIED, which leaves
    open whether it would do. bits: the fewest with which any coordinate of such a sum wraps rarely
    enough; None if none. Where the time ended first, `settled` is false, and both are as close as
    they were by then: None where none was found. is_least: the search has
    ended, so that the two are next to each other. costs: at most what others that were tried cost.
    """

    deviation: Fraction | None
    neighbour: Fraction | None
    verdict: str
    bits: int | None
    settled: bool
    is_least: bool
    costs: Mapping[Fraction, Endpoint]

    def to_json(self) -> dict[str, object]:
        """For JSON."""
        found = self.deviation is not None
        return {
            "parameter": "local-stddev",
            "value": self.deviation,
            "verdict": "VERIFIED" if found else "UNDECIDED",
            "neighbour": {"value": self.neighbour, "verdict": self.verdict},
            "bits": self.bits,
            "is_least": self.is_least,
        }

    @property
    def label(self) -> str:
        """What it is: of one that has others below it, nothing more than that it is verified."""
        return "least local-stddev" if self.is_least else "local-stddev"

    def told(self) -> str:
        """In words."""
        good, bad = (
            "none" if each is None else decimal_text(each)
            for each in (self.deviation, self.neighbour)
        )
        rest = "" if self.is_least else ": the least is not known"
        return f"{good} VERIFIED, {bad} {self.verdict}{rest}"


def least_deviation(settings: Settings, times: int, claim: Guarantee, risk: Fraction) -> Least:
    """By a search on what dominates the sum; each answer is proved by itself.

    Raises ParameterError where none is verified, or all are.
    """
    # of a share, and of the sum of all
    family = Family(
        "local-stddev",
        lambda value: settings.with_deviation(value).released(),
        float(settings.deviation),
        least=_rooted(_LEAST_VARIANCE, ROUND_CEILING),
        largest=_rooted(Fraction(_LARGEST_VARIANCE, settings.clients), ROUND_FLOOR),
        by_bracket=True,
    )
    costs = Costs(family, claim, times, _DIGITS, (_WIDTH,), _ROOM)
    rest = Figures()
    is_least = rest.find(costs.edges, None) is not None
    (bad, good), refuted, bits = costs.search.nearest(), False, None
    if bad is not None:
        below = settings.with_deviation(bad).released()
        refuted = Figures().find(lambda: _is_refuted(below, times, claim), False)
    if good is not None:
        bits = rest.find(lambda: _fewest_bits(settings.with_deviation(good), risk), None)
    return Least(
        good,
        bad,
        "REFUTED" if refuted else "NOT VERIFIED",
        bits,
        not rest.late,
        is_least,
        {value: cost.upper for value, cost in costs.found.items()},
    )


def _rooted(variance: Fraction, rounding: str) -> Fraction:
    """The root of a variance, rounded to the digits of the search."""
    up = rounding == ROUND_CEILING
    return to_digits(
        Fraction(math.isqrt(math.floor(variance * 10**40)) + up, 10**20), _DIGITS, rounding
    )


def _is_refuted(released: VectorNoise, times: int, claim: Guarantee) -> bool:
    return claim.measure(compose((released, times)), _WIDTH).at_most(claim.bound) is False


def _fewest_bits(settings: Settings, risk: Fraction) -> int | None:
    rare = (bits for bits in range(1, _MOST_BITS + 1) if _wraps_rarely(settings, bits, risk))
    return next(rare, None)


def _wraps_rarely(settings: Settings, bits: int, risk: Fraction) -> bool:
    encoding = evolve(settings.encoding, bits=bits)
    wrap = error_bound(encoding, settings.share, settings.clients, risk).wrap
    return wrap.at_most(risk) is True
