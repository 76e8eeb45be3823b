"""`exactdp protocol federated:...`: what a round sends, hides, and how often it wraps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from attrs import evolve

from ..accounting import compose
from ..accounting.composed import Composition, Use
from ..accounting.vectors import sides_of
from ..exact import Enclosure, ParameterError, decimal_text, exact, time_limit, whole
from ..exact.precision import refine
from ..exact.rounding import to_digits
from ..mechanisms.protocols.federated import Settings, error_bound
from ..mechanisms.spec import Spec
from ..verify import Guarantee, parse_claim
from . import output, render

_WIDTH = Fraction(1, 1000)
_SECONDS = 8.0  # for each figure: then it is as wide as it is
_VANISH = ("0.01", "0.05", "0.1", "0.25", "0.5")
_DIGITS = 6
_SEARCHED = 5  # digits of a local-stddev that is searched
_LARGEST = 10**12
_MOST_BITS = 32


@dataclass(frozen=True)
class _Cost:
    """epsilon with so many shares missing; and with larger shares, of this deviation, instead."""

    missing: int
    epsilon: Enclosure
    deviation: Fraction
    provided: Enclosure


def federated(
    parsed: Spec,
    failure: str | None,
    dropout: Sequence[str],
    delta: str,
    rounds: str,
    target: str | None,
    as_json: bool,
) -> None:
    """Measure the round: epsilon, wrapping, and what clients who vanish cost."""
    settings = parsed.federated
    assert settings is not None
    if settings.dropout:
        raise ParameterError("SPEC must not take shares out: clients who vanish go to --dropout")
    level = exact(delta, "--delta", above=0, below=1)
    times = whole(rounds, "--rounds", at_least=1, at_most=10**9)
    risk = exact(failure or "1e-6", "--failure", above=0, below=1)
    claim = None if target is None else parse_claim(target)
    n = settings.clients
    gone = (
        [whole(each, "--dropout", at_least=1, at_most=n - 1) for each in dropout]
        if dropout
        else sorted({math.ceil(n * Fraction(share)) for share in _VANISH} - {n})
    )
    with output.working("measuring the round"):
        epsilon = _epsilon(settings, times, level)
        costs = [_cost(settings, missing, times, level) for missing in gone]
        least = None if claim is None else _least(settings, times, claim, risk)
        bound = error_bound(settings.encoding, settings.share, n, risk)
        worst = _worst_wrap(settings)
        told = {
            "rounds": times,
            "epsilon": {"delta": delta, **epsilon.to_json()},
            "wrap": {"coordinate": worst, "any": bound.wrap},
            "error": {"l2": bound.l2, "failure": risk},
            "dropout": [
                {
                    "missing": cost.missing,
                    "epsilon": cost.epsilon,
                    "local-stddev": cost.deviation,
                    "epsilon_provided": cost.provided,
                }
                for cost in costs
            ],
        }
    if as_json:
        found = {} if least is None else {"target": target, "least": least.to_json()}
        output.as_json({"mechanism": parsed, "neighbours": "add-remove"} | told | found)
        return
    facts = render.described(parsed)
    facts["neighbours"] = "a client's vector, or zeros instead; its share of noise in both"
    facts[f"ε at δ = {delta}, {times} rounds"] = render.shown(epsilon)
    facts["a coordinate wraps"] = f"with probability {render.shown(worst)}, at worst"
    facts["any wraps"] = (
        f"with probability at most {render.at_most(Fraction(bound.wrap.upper))}, over rotation, "
        "rounding and noise"
    )
    facts["error of the mean in L2"] = (
        f"at most {bound.l2:.6g}, but with probability {render.at_most(risk)}"
    )
    rows = [
        (
            str(cost.missing),
            render.shown(cost.epsilon),
            decimal_text(cost.deviation),
            render.shown(cost.provided),
        )
        for cost in costs
    ]
    columns = ("missing", "ε", "local-stddev instead", "ε then")
    render.show(facts, render.grid(*columns, rows=rows, right=("missing",)))
    if least is not None:
        said = f"{decimal_text(least.deviation)} VERIFIED, {decimal_text(least.neighbour)} "
        fewest = "none of 1 to 32" if least.bits is None else str(least.bits)
        render.show(
            {
                "target": f"{target}, {times} rounds together",
                "least local-stddev": said + least.verdict,
                "fewest bits then": f"{fewest}, of those that wrap with probability at most "
                f"{render.at_most(risk)} by the bound above",
            }
        )


@dataclass(frozen=True)
class _Least:
    """A local-stddev that is verified, and one a unit of its last digit smaller that is not.

    verdict: REFUTED by a vector within reach, or NOT VERIFIED, which leaves open whether it would
    do. bits: the fewest with which any coordinate of such a sum wraps rarely enough; None if none.
    """

    deviation: Fraction
    neighbour: Fraction
    verdict: str
    bits: int | None

    def to_json(self) -> dict[str, object]:
        neighbour = {"value": decimal_text(self.neighbour), "verdict": self.verdict}
        return {
            "parameter": "local-stddev",
            "value": decimal_text(self.deviation),
            "verdict": "VERIFIED",
            "neighbour": neighbour,
            "bits": self.bits,
        }


def _least(settings: Settings, times: int, claim: Guarantee, risk: Fraction) -> _Least:
    """By bisection, on what dominates the sum; each answer is proved by itself."""

    def verified(deviation: Fraction) -> bool:
        uses = Composition([Use(settings.with_deviation(deviation).released(), times)]).uses
        sides = sides_of(uses)
        assert sides is not None
        found = sides.dominating(lambda uses: claim.measure(Composition(uses), _WIDTH))
        return found.at_most(claim.bound) is True

    good = to_digits(settings.deviation, _SEARCHED, ROUND_CEILING)
    while not verified(good):
        good = to_digits(2 * good, _SEARCHED, ROUND_CEILING)
        if good > _LARGEST:
            raise ParameterError(f"target {claim} is not met by any local-stddev up to {_LARGEST}")
    bad = to_digits(good / 2, _SEARCHED, ROUND_FLOOR)
    while verified(bad):
        good, bad = bad, to_digits(bad / 2, _SEARCHED, ROUND_FLOOR)
        if bad * _LARGEST < 1:
            raise ParameterError(f"target {claim} is met by every local-stddev")
    while True:
        middle = to_digits((good + bad) / 2, _SEARCHED, ROUND_CEILING)
        if not bad < middle < good:
            break
        good, bad = (middle, bad) if verified(middle) else (good, middle)
    with time_limit(_SECONDS):
        below = compose((settings.with_deviation(bad).released(), times))
        refuted = claim.measure(below, _WIDTH).at_most(claim.bound) is False
    chosen = settings.with_deviation(good)
    rare = (bits for bits in range(1, _MOST_BITS + 1) if _wraps_rarely(chosen, bits, risk))
    fewest = next(rare, None)
    return _Least(good, bad, "REFUTED" if refuted else "NOT VERIFIED", fewest)


def _wraps_rarely(settings: Settings, bits: int, risk: Fraction) -> bool:
    encoding = evolve(settings.encoding, bits=bits)
    wrap = error_bound(encoding, settings.share, settings.clients, risk).wrap
    return wrap.at_most(risk) is True


def _cost(settings: Settings, missing: int, times: int, delta: Fraction) -> _Cost:
    """Larger shares have the variance of all, at least: n/(n - missing) times as much each."""
    n = settings.clients
    square = settings.deviation**2 * n / (n - missing)
    scaled = math.isqrt(math.ceil(square * 10**24)) + 1  # above the root times 10^12
    larger = to_digits(Fraction(scaled, 10**12), _DIGITS, ROUND_CEILING)
    provided = settings.with_deviation(larger).missing(missing)
    return _Cost(
        missing,
        _epsilon(settings.missing(missing), times, delta),
        larger,
        _epsilon(provided, times, delta),
    )


def _epsilon(settings: Settings, times: int, delta: Fraction) -> Enclosure:
    """With both bounds; the lower one as far as the time allows."""
    with time_limit(_SECONDS):
        return compose((settings.released(), times)).epsilon(delta, _WIDTH)


def _worst_wrap(settings: Settings) -> Enclosure:
    """P(a coordinate wraps) for the worst vectors, exactly.

    The sum v of what clients send is within n times the largest coordinate. Wrapping is that v + Z
    leaves [-m/2, m/2 - 1], which has m integers: with v >= 0 this interval of Z moves away from 0
    as v grows, and for -v it is nearer. Z is symmetric and unimodal, so that the largest v is the
    worst.
    """
    released, half = settings.released(), settings.encoding.modulus // 2
    most, noise = settings.clients * released.reach.farthest, released.law
    return refine(lambda: noise.upper_tail(half - most) + noise.upper_tail(half + most + 1))
