"""Vectors: more within reach costs more, the dearest vector decides, one coordinate is a scalar.

The truth is summed here over a box of outcomes, for every integer vector within reach, from nothing
but the definitions of the laws; what lies outside the box is charged.
"""

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

import mpmath
from conformance.relations.draw import DELTAS, EPSILONS, ORDERS
from conformance.relations.engine import AtMost, Held, Statement, equal
from conformance.relations.gaussian import below_its_gaussian
from conformance.relations.notions import everything_below_pure_of
from conformance.relations.scenarios import Cost, Scenario, Spec, spec

from exactdp import Enclosure, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify import audit, parse_claim

_REACH = {
    "l2": ("1", "1.41", "1.4142136", "2", "2.5", "7", "100.5"),
    "l1": ("1", "2", "2.5", "6", "200"),
    "linf": ("1", "2", "5"),
    "dimension": ("1", "2", "3", "65", "1000", "1e6"),
}
_DIGITS = 30
_ROUNDING = Fraction(1, 10**20)


def _noise(rng: random.Random) -> Spec:
    law, key, values = rng.choice(
        (
            ("skellam", "variance", ("0.4", "1", "9", "100", "1e4")),
            ("discrete-gaussian", "sigma2", ("0.17", "0.5", "1", "7.3", "1e4")),
            ("discrete-laplace", "scale", ("0.5", "1", "3", "300")),
            ("polya-difference", "scale", ("0.5", "3")),
            ("discrete-gaussian-sum", "sigma2", ("0.25", "0.5", "1")),
        )
    )
    extra: dict[str, object] = {"polya-difference": {"shape": "1.5"}}.get(law, {})
    if law == "discrete-gaussian-sum":
        extra = {"count": rng.choice((2, 12))}
    return spec(law, **{key: rng.choice(values)}, **extra)


def vectors(rng: random.Random) -> Spec:
    """Noise on an integer vector, sampled or reduced at times."""
    chosen = {key: rng.choice(_REACH[key]) for key in _REACH if rng.random() < 0.6}
    if not chosen.keys() & {"l2", "l1"} and len(chosen) < 2:
        chosen["l2"] = rng.choice(_REACH["l2"])
    found = _noise(rng).but(**chosen, modulus=rng.choice((None, None, "2", "5", "64", "65536")))
    rate = rng.choice((None, None, "0.01", "0.5", "1"))
    return found.but(poisson=rate, neighbours="add-remove" if rate else None)


def histogram(rng: random.Random, one: Spec) -> Spec:
    """The same of cells, each of which moves by 1."""
    return one.but(linf=1, l2=None, dimension=rng.choice(("2", "65", "1000", "1e6")))


def _ask(rng: random.Random, what: Scenario) -> Cost:
    levels = {
        "pure": (None,),
        "zcdp": (None,),
        "gdp": (None,),
        "renyi": ORDERS,
        "delta": EPSILONS,
        "epsilon": DELTAS,
    }
    quantity = rng.choice((*levels, "delta", "epsilon"))
    at = rng.choice(levels[quantity])
    return Cost(what, quantity, None if at is None else Fraction(at))


def more_is_within_reach(rng: random.Random) -> Iterator[AtMost]:
    """A larger norm, more coordinates, another use, no reduction, a higher rate never cost less."""
    one, count = vectors(rng), rng.choice((1, 1, 2, 30))
    cost = _ask(rng, Scenario.of((one, count)))
    larger = []
    for key, values in _REACH.items():
        if key in one:
            further = [each for each in values if Fraction(each) > Fraction(one[key])]
            larger += [(one.but(**{key: each}), count, f"{key} grows") for each in further[:1]]
            if {"l2", "l1"} & set(dict(one.but(**{key: None}).keys)):
                larger.append((one.but(**{key: None}), count, f"no {key}"))
    larger.append((one, count + 1, "a use is added"))
    if "modulus" in one:
        larger.append((one.but(modulus=None), count, "not reduced"))
    if "poisson" in one:
        larger.append((one.but(poisson="1"), count, "not sampled"))
    for each, times, why in rng.sample(larger, min(len(larger), 2)):
        yield AtMost(cost, Cost(Scenario.of((each, times)), cost.quantity, cost.at), why)


def part_of_a_vector(rng: random.Random) -> Iterator[AtMost]:
    """As many coordinates as fit, moved alike, are a vector within reach: so many uses of one."""
    one, move = vectors(rng).but(poisson=None, neighbours=None), rng.choice((1, 1, 1, 2, 5))
    if rng.random() < 0.5:
        one = histogram(rng, one)
    norms = {key: Fraction(one[key]) for key in _REACH if key in one}
    if move > norms.get("linf", move):
        return
    most = {"l2": norms["l2"] ** 2 / move**2} if "l2" in norms else {}
    most |= {"l1": norms["l1"] / move} if "l1" in norms else {}
    fit = int(min([*most.values(), norms.get("dimension", Fraction(10**6))]))
    scalar = one.but(**dict.fromkeys(_REACH), sensitivity=move)
    cost = _ask(rng, Scenario.of(one))
    for count in {fit, rng.randint(0, fit)} - {0}:
        parts = Cost(Scenario.of((scalar, count)), cost.quantity, cost.at)
        yield AtMost(parts, cost, f"{count} coordinates that move by {move}")


def less_noise(rng: random.Random) -> Iterator[AtMost]:
    """Skellam noise of more variance and sums of more terms are post-processings of less."""
    few, many = sorted(rng.sample((1, 2, 5, 9), 2))
    law, key, other = rng.choice(
        (("skellam", "variance", {}), ("discrete-gaussian-sum", "count", {"sigma2": "0.5"}))
    )
    noise = spec(law, **{key: many}, **other, l2=rng.choice(_REACH["l2"]))
    cost = _ask(rng, Scenario.of(noise))
    less = Cost(Scenario.of(noise.but(**{key: few})), cost.quantity, cost.at)
    yield AtMost(cost, less, "more noise")


def one_coordinate(rng: random.Random) -> Iterator[AtMost]:
    """In one coordinate every norm is the sensitivity; the sign of a vector is either."""
    noise, most = _noise(rng), rng.choice((1, 2, 3))
    noise = noise.but(modulus=rng.choice((None, "3", "64")))
    norm = rng.choice(("linf", "l1", "l2"))
    vector = noise.but(**{norm: most}, dimension=1)
    cost = _ask(rng, Scenario.of(vector))
    scalar = Cost(Scenario.of(noise.but(sensitivity=most)), cost.quantity, cost.at)
    yield from equal(cost, scalar, "one coordinate")
    other = Scenario.of(vector.but(neighbours="add-remove"))
    yield from equal(cost, Cost(other, cost.quantity, cost.at), "added, removed or replaced")


def rounded_vectors(rng: random.Random) -> Iterator[AtMost]:
    """Whole vectors are among those that are rounded; rounding to the nearest keeps them too."""
    whole = _noise(rng).but(l2=rng.choice(_REACH["l2"]), dimension=rng.choice(("1", "2", "1000")))
    whole = whole.but(neighbours="add-remove", poisson=rng.choice((None, "0.1")))
    cost = _ask(rng, Scenario.of(whole))
    rounding = rng.choice(("stochastic", "conditional:0.6065", "nearest"))
    rounded = Scenario.of(whole.but(rounding=rounding))
    yield AtMost(cost, Cost(rounded, cost.quantity, cost.at), f"rounding={rounding}")


def vectors_by_their_gaussian(rng: random.Random) -> Iterator[Statement]:
    """mu-GDP implies zCDP, Rényi and approximate DP; pure DP bounds all of them."""
    what = Scenario.of((vectors(rng), rng.choice((1, 1, 3))))
    yield from below_its_gaussian(rng, what)
    yield from everything_below_pure_of(rng, what)


def squares_are_enough(rng: random.Random) -> Iterator[Statement]:
    """Of discrete Gaussian noise rho is |v|_2^2/(2 sigma2) at most, whatever the root of that."""
    square, sigma2 = rng.randint(1, 2000), rng.randint(1, 400)
    l2 = Fraction(isqrt(square * 10**12) + 1, 10**6)  # so that its square is below the next one
    times = rng.choice((1, 1, 3))
    one = f"discrete-gaussian:sigma2={sigma2},l2={l2}"
    if rng.random() < 0.5:
        square = rng.randint(1, 12)
        one = f"tree:steps={2 ** (square - 1)},sigma={sigma2},noise=discrete-gaussian"
        sigma2 **= 2
    rho = times * Fraction(square, 2 * sigma2)
    order = rng.choice(("1.5", "2", "7"))
    for claim in (f"zcdp:{rho}", f"rdp:{order},{rho * Fraction(order)}"):
        verdict = audit(compose((parse(one).mechanism, times)), parse_claim(claim)).verdict
        yield Held(verdict is Verdict.VERIFIED, f"{one}*{times}: {claim}", verdict.name)


# -- the truth ------------------------------------------------------------------------------------


def the_dearest_vector(rng: random.Random) -> Iterator[AtMost]:
    """delta(epsilon) of one use is the largest over all vectors within reach."""
    law, value = rng.choice((("discrete-gaussian", "0.5"), ("discrete-laplace", "0.5")))
    key = "sigma2" if law == "discrete-gaussian" else "scale"
    reach: dict[str, object] = {"dimension": 2, "l2": rng.choice(("1", "1.41", "1.4142136", "2"))}
    reach |= rng.choice(({}, {"l1": "2"}, {"linf": "1"}))
    rate, modulus = rng.choice((None, "0.1", "0.5")), rng.choice((None, "2", "3", "5"))
    neighbours = "add-remove" if rate else rng.choice(("replace", "add-remove"))
    one = spec(law, **{key: value}, **reach, modulus=modulus)
    one = one.but(neighbours=neighbours, poisson=rate)
    level = Fraction(rng.choice(("0", "0.3", "1", "2")))
    truth = _largest_delta(one, level, Fraction(value))
    yield from equal(Cost(Scenario.of(one), "delta", level), truth, "the dearest vector")


def _largest_delta(one: Spec, level: Fraction, value: Fraction) -> Enclosure:
    """Over vectors of two coordinates, both ways round; up to the mass outside a box."""
    box = 16 if one.name == "discrete-gaussian" else 40
    with mpmath.workdps(_DIGITS):
        squared = one.name == "discrete-gaussian"
        rate = mpmath.mpf(value.denominator) / value.numerator
        weights = [
            mpmath.exp(-rate * (mpmath.mpf(k * k) / 2 if squared else abs(k)))
            for k in range(-box, box + 1)
        ]
        total = sum(weights)
        law = {k: w / total for k, w in zip(range(-box, box + 1), weights, strict=True)}
        # beyond the box: less than 4 e^(-80), or 4 e^(-272), of each coordinate
        e = mpmath.exp(mpmath.mpf(level.numerator) / level.denominator)
        largest = max(_delta(law, v, one, e) for v in _within(one))
        _, man, exp, _ = largest._mpf_
    found = Fraction(int(man)) * Fraction(2) ** exp
    return Enclosure(max(found - _ROUNDING, Fraction(0)), min(found + _ROUNDING, Fraction(1)))


def _within(one: Spec) -> Iterator[tuple[int, int]]:
    """Vectors a >= b >= 0: noise is symmetric and the same in both coordinates."""
    square = Fraction(one["l2"]) ** 2
    for a, b in itertools.product(range(isqrt(int(square)) + 1), repeat=2):
        fits = a * a + b * b <= square and a >= b
        fits = fits and ("l1" not in one or a + b <= Fraction(one["l1"]))
        if fits and ("linf" not in one or a <= int(one["linf"])):
            yield a, b


def _delta(law: dict[int, Any], v: tuple[int, int], one: Spec, e: Any) -> Any:
    """The larger of both ways round."""
    columns = [_moved(law, shift, int(one["modulus"]) if "modulus" in one else None) for shift in v]
    rate = Fraction(one["poisson"]) if "poisson" in one else Fraction(1)
    q = mpmath.mpf(rate.numerator) / rate.denominator
    there = back = mpmath.mpf(0)
    for (p, r), (p2, r2) in itertools.product(*columns):
        without = r * r2
        taking = (1 - q) * without + q * p * p2
        there += max(taking - e * without, 0)
        back += max(without - e * taking, 0)
    return max(there, back)


def _moved(law: dict[int, Any], shift: int, modulus: int | None) -> list[tuple[Any, Any]]:
    """The probabilities of every outcome with the shift and without, reduced mod m."""
    found: dict[int, list[Any]] = {}
    for k, probability in law.items():
        for side, outcome in enumerate((k + shift, k)):
            at = outcome if modulus is None else outcome % modulus
            found.setdefault(at, [mpmath.mpf(0), mpmath.mpf(0)])[side] += probability
    return [(p, r) for p, r in found.values()]


RELATIONS = (
    more_is_within_reach,
    part_of_a_vector,
    less_noise,
    one_coordinate,
    rounded_vectors,
    vectors_by_their_gaussian,
    the_dearest_vector,
    squares_are_enough,
)
