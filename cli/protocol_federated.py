"""`exactdp protocol federated:...`: what a round sends, hides, and how often it wraps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from attrs import evolve, frozen

from ..accounting.composition.curves import rising
from ..accounting.figure import Figure, meeting
from ..common.table import Table
from ..exact import Enclosure, ParameterError, UndecidedError, decimal_text, exact, whole
from ..exact.budget import share
from ..exact.precision import refine
from ..exact.rounding import to_digits
from ..mechanisms.additive.error import wrapping
from ..mechanisms.specs.spec import Spec, parse, read_name
from ..protocols.federated import Settings, error_bound
from ..protocols.federated.error import ErrorBound
from ..verify import Guarantee, parse_claim
from . import output
from .federated_least import Least, least_deviation
from .in_time import LATE, Figures
from .measure import epsilon_of
from .options import read_dropouts
from .parts import at_most, described, except_with, overflow_warning, shown
from .result import Part, Result

_VANISH = ("0.01", "0.05", "0.1", "0.25", "0.5")
_DIGITS = 6
_FIRST = 10  # local-stddev, where a search begins


@frozen
class _Cost:
    """epsilon with so many shares missing; and with larger shares, of this deviation, instead."""

    missing: int
    epsilon: Enclosure
    deviation: Fraction
    provided: Enclosure


def read(spec: str, target: str | None) -> tuple[Spec, str | None]:
    """The spec; and its text without the local-stddev that a target is to find, where it has none.

    Raises ParameterError for what is no spec.
    """
    if target is None or not spec.startswith("federated:"):
        return parse(spec), None
    found = "local-stddev" in read_name(spec, "SPEC")[1]
    return parse(spec if found else f"{spec},local-stddev={_FIRST}"), None if found else spec


def federated(
    parsed: Spec,
    lacking: str | None,
    failure: str | None,
    dropout: Sequence[str],
    delta: str,
    rounds: str,
    target: str | None,
) -> Result:
    """Measure the round: epsilon, wrapping, and what clients who drop out cost.

    lacking: the spec without its local-stddev, where the least for the target is taken.
    """
    settings = parsed.federated
    assert settings is not None
    if settings.dropout:
        raise ParameterError("SPEC must not take shares out: clients who drop out go to --dropout")
    level = exact(delta, "--delta", above=0, below=1)
    times = whole(rounds, "--rounds", at_least=1, at_most=10**9)
    risk = exact(failure or "1e-6", "--failure", above=0, below=1)
    claim = None if target is None else parse_claim(target)
    n = settings.clients
    gone = read_dropouts(dropout, n, _VANISH)
    figures = Figures()
    with output.working("measuring the round"):
        least = None
        if claim is not None:
            with share(0.5):
                least = least_deviation(settings, times, claim, risk)
            figures.late |= not least.settled
        if lacking is not None:
            deviation = None if least is None else least.deviation
            if deviation is None:
                raise UndecidedError(f"no local-stddev that meets {target} was found; {LATE}")
            parsed = parse(f"{lacking},local-stddev={decimal_text(deviation)}")
            settings = settings.with_deviation(deviation)
        bound = figures.find(lambda: error_bound(settings.encoding, settings.share, n, risk), None)
        worst = figures.find(lambda: _worst_wrap(settings), Enclosure.probability())
        epsilon = epsilon_of(settings.released(), times, level)
        costs = [_cost(settings, missing, times, level) for missing in gone]
        epsilon, costs = _shared(settings, epsilon, costs, _found(least, settings, claim, level))
        figures.late |= not epsilon.is_finite()
        overflow = Enclosure.probability() if bound is None else bound.wrap
        warning = overflow_warning(risk, overflow)
        told = {
            "rounds": times,
            "epsilon": {"delta": delta, **epsilon.to_json()},
            "wrap": {"coordinate": worst, "any": None if bound is None else bound.wrap},
            "error": {
                "l2": None if bound is None else bound.l2,
                "failure": risk,
                "overflow": overflow,
                "exceeded": Enclosure.probability() if bound is None else bound.exceeded,
            },
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
    found = {} if least is None else {"target": target, "least": least.to_json()}
    data = {"mechanism": parsed, "neighbours": "add-remove"} | told | found | warning | figures.note
    names = delta, target, times
    parts = _told(parsed, names, risk, epsilon, worst, bound, costs, least, warning | figures.note)
    return Result(data, parts, figures.code)


def _told(
    parsed: Spec,
    names: tuple[str, str | None, int],
    risk: Fraction,
    epsilon: Enclosure,
    worst: Enclosure,
    bound: ErrorBound | None,
    costs: Sequence[_Cost],
    least: Least | None,
    note: Mapping[str, str],
) -> Iterator[Part]:
    """names: delta and the target as written, and the rounds."""
    delta, target, times = names
    facts = described(parsed)
    facts["adjacency"] = "a client's vector, or zeros instead; its share of noise in both"
    facts[f"ε at δ = {delta}, {times} rounds"] = shown(epsilon)
    facts["overflow, a coordinate"] = (
        f"with probability {shown(worst)}, were every vector largest there after rotation"
        if worst != Enclosure.probability()
        else "not found in the time allowed, were every vector largest there after rotation"
    )
    if bound is not None:
        facts["overflow, any"] = (
            f"with probability at most {at_most(Fraction(bound.wrap.upper))}, over "
            "rotation, rounding and noise"
        )
        facts["error of the mean in L2"] = (
            f"at most {bound.l2:.6g}, {except_with(risk, bound.wrap)}"
        )
    rows = [
        (
            str(cost.missing),
            shown(cost.epsilon),
            decimal_text(cost.deviation),
            shown(cost.provided),
        )
        for cost in costs
    ]
    columns = ("dropouts", "ε", "local-stddev instead", "ε then")
    yield facts
    yield Table(columns, rows, right=("dropouts",))
    if least is not None:
        found = {
            "target": f"{target}, {times} rounds",
            least.label: least.told(),
        }
        if least.settled or least.bits is not None:
            fewest = "none of 1 to 32" if least.bits is None else str(least.bits)
            found["fewest bits then"] = (
                f"{fewest}, of those that overflow with probability at most {at_most(risk)} by "
                "the bound above"
            )
        yield found
    if note:
        yield note


def _found(
    least: Least | None, settings: Settings, claim: Guarantee | None, delta: Fraction
) -> Enclosure:
    """What the search for the least deviation has found of the one that is given."""
    if least is None or claim is None or claim.figure != Figure("epsilon", delta):
        return Enclosure.unknown()
    return Enclosure(Fraction(0), least.costs.get(settings.deviation, Decimal("Infinity")))


def _shared(
    settings: Settings, epsilon: Enclosure, costs: Sequence[_Cost], known: Enclosure
) -> tuple[Enclosure, list[_Cost]]:
    """The same, given what each says of the others.

    Fewer shares and further independent ones are what there is with more of them: it costs less.
    Larger shares of noise that adds up are smaller ones and further noise; of others nobody knows
    it here.
    """
    figure = Figure("epsilon")
    whole, *missing = rising([meeting(figure, epsilon, known), *(each.epsilon for each in costs)])
    most = Enclosure.unknown()
    if settings.share.additive:
        most = Enclosure(Fraction(0), whole.upper)
    return whole, [
        evolve(cost, epsilon=each, provided=meeting(figure, cost.provided, most))
        for cost, each in zip(costs, missing, strict=True)
    ]


def _cost(settings: Settings, missing: int, times: int, delta: Fraction) -> _Cost:
    """Larger shares have the variance of all, at least: n/(n - missing) times as much each."""
    n = settings.clients
    square = settings.deviation**2 * n / (n - missing)
    scaled = math.isqrt(math.ceil(square * 10**24)) + 1  # above the root times 10^12
    larger = to_digits(Fraction(scaled, 10**12), _DIGITS, ROUND_CEILING)
    provided = settings.with_deviation(larger).missing(missing)
    return _Cost(
        missing,
        epsilon_of(settings.missing(missing).released(), times, delta),
        larger,
        epsilon_of(provided.released(), times, delta),
    )


def _worst_wrap(settings: Settings) -> Enclosure:
    """P(a coordinate wraps) for the worst vectors, exactly: all of them largest there."""
    released = settings.released()
    most = settings.clients * released.reach.farthest
    return refine(lambda: wrapping(released.law, most, settings.encoding.modulus))
