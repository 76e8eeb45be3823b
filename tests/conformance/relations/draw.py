"""Draws mechanisms and lists of them, extreme ones included: moduli beyond every threshold of the
code, shifts beyond half of them, laws on one outcome, disjoint ones, and ones that nearly agree.
"""

import random
from collections.abc import Callable
from fractions import Fraction

from conformance.relations.scenarios import Cost, Scenario, Spec, Table, pmf, spec

DELTAS = ("0", "1e-30", "1e-9", "1e-6", "1e-3", "0.05", "0.271", "0.5", "0.9", "0.999999", "1")
EPSILONS = ("0", "1e-9", "0.01", "0.5", "1", "3", "50")
ORDERS = ("1.0001", "1.5", "2", "3", "10", "64", "1000", "1e6")
_MODULI = (1, 2, 3, 4, 5, 11, 64, 1000, 65535, 65536, 65537, 70001, 10**6 + 3, 2**20)
_HAIR = Fraction(1, 2**130)

_LAWS: dict[str, Callable[[random.Random], Spec]] = {
    "discrete-laplace": lambda rng: spec(
        "discrete-laplace",
        scale=rng.choice(("0.01", "0.5", "1", "3", "10", "300", "10000", "1e6", "1e12")),
    ),
    "polya-difference": lambda rng: spec(
        "polya-difference",
        shape=rng.choice(("0.01", "0.5", "0.9", "1", "1.5", "7")),
        scale=rng.choice(("0.5", "3", "10", "1000")),
    ),
    "skellam": lambda rng: spec(
        "skellam", variance=rng.choice(("1e-6", "0.01", "0.4", "1", "9", "30", "1e4"))
    ),
    "discrete-gaussian": lambda rng: spec(
        "discrete-gaussian", sigma2=rng.choice(("0.01", "0.17", "0.3", "1", "7.3", "100", "1e6"))
    ),
    "discrete-gaussian-sum": lambda rng: spec(
        "discrete-gaussian-sum",
        count=rng.choice((1, 2, 12, 128)),
        sigma2=rng.choice(("0.1", "0.25", "0.5", "1", "20")),
    ),
    "binomial": lambda rng: binomial(rng, rng.choice((1, 2, 3, 10, 50, 300))),
}
_PRESETS = ("theorem1", "theorem2", "theorem3", "theorem4", "theorem5", "theorem6", "published")


def binomial(rng: random.Random, trials: int) -> Spec:
    """Binomial noise, far from symmetric at times."""
    probability = rng.choice(("1/2", "1/2", "1/3", "0.01", "0.9", "0.999999999"))
    return spec("binomial", trials=trials, probability=probability)


def additive(rng: random.Random, modulus: bool | None = None) -> Spec:
    """Noise on an integer query; reduced or not, if `modulus` says which."""
    law = _LAWS[rng.choice((*_LAWS, "discrete-laplace"))](rng)
    m = rng.choice(_MODULI)
    far = (1, 1, 2, 3, 7, m // 2 - 1, m // 2, m // 2 + 1, m * 6 // 7, m - 1, m, m + 1, 3 * m)
    sensitivity = max(rng.choice(far), 1)
    wraps = rng.random() < 0.5 if modulus is None else modulus
    if wraps and law.name == "discrete-laplace" and rng.random() < 0.5:
        law = law.but(scale=Fraction(m, rng.choice((3, 7, 30))))  # wide enough to wrap
    if not wraps:
        sensitivity = min(sensitivity, rng.choice((1, 2, 5, 60000)))
    return law.but(sensitivity=sensitivity, modulus=m if wraps else None)


def response(rng: random.Random) -> Spec:
    """Randomized response, which may tell the bit for certain."""
    epsilon = rng.choice(("0", "1e-30", "0.1", "0.4", "1", "40", "1000"))
    return spec(
        "randomized-response",
        epsilon=epsilon,
        delta=rng.choice((None, "1e-9", "0.1", "0.99", "1")),
    )


def preset(rng: random.Random) -> Spec:
    """What a paper's theorem derives."""
    name = rng.choice((*_PRESETS, "shuffle-sum"))
    epsilon = rng.choice(("0.1", "0.5", "1", "10", "1e5"))
    if name in ("theorem5", "shuffle-sum"):  # which take no larger ones
        epsilon = rng.choice(("0.001", "0.5", "0.999"))
    if name == "shuffle-sum":
        return spec(name, epsilon=epsilon, delta="1e-6", users=rng.choice((100, 1000)))
    batch = rng.choice(("1", "9", "128", "1024", "1e12"))
    found = spec(name, epsilon=epsilon, batch=batch)
    if name != "published":
        found = found.but(horizon=rng.choice(("1", "1000", "1e6")))
    if name in ("theorem2", "theorem4"):
        found = found.but(scaling=rng.choice((1, 10)))
    return (
        found.but(modulus=rng.choice(("none", "2", "65537", "500003")))
        if (rng.random() < 0.5)
        else found
    )


def table(rng: random.Random, most: int = 4) -> Table:
    """Two laws on a few outcomes."""
    count = rng.choice(range(1, most + 1))
    p = _masses(rng, count)
    kind = rng.choice(("apart", "apart", "zeros", "disjoint", "near", "same", "reversed"))
    if kind == "near" and count > 1 and p[0] + _HAIR <= 1 and p[1] >= _HAIR:
        return Table(p, (p[0] + _HAIR, p[1] - _HAIR, *p[2:]))
    if kind == "disjoint":
        zeros = (Fraction(0),) * count
        return Table(p + zeros, zeros + _masses(rng, count))
    if kind in ("same", "reversed"):
        return Table(p, p if kind == "same" else p[::-1])
    q = _masses(rng, count)
    if kind == "zeros" and count > 1:
        q = (q[0] + q[1], Fraction(0), *q[2:])
    return Table(p, q)


def _masses(rng: random.Random, count: int) -> tuple[Fraction, ...]:
    weights = [rng.choice((1, 1, 2, 3, 10, 99, 10**6)) for _ in range(count)]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def small(rng: random.Random) -> Spec:
    """Noise with few outcomes, or on a lattice: answered in milliseconds."""
    if rng.random() < 0.3:
        law = spec("discrete-laplace", scale=rng.choice(("0.01", "0.5", "3", "1e6")))
        return law.but(sensitivity=rng.choice((1, 2, 5)))
    law = binomial(rng, rng.choice((1, 2, 3)))
    if rng.random() < 0.4:
        law = _LAWS[rng.choice((*_LAWS,))](rng).but(modulus=rng.choice((1, 2, 3, 4)))
    elif rng.random() < 0.6:
        law = law.but(modulus=rng.choice((1, 2, 3, 4, 5, 11)))
    return law.but(sensitivity=rng.choice((1, 2, 3, 4, 9)))


def any_spec(rng: random.Random) -> Spec:
    """Any documented mechanism; half of them small."""
    kind = rng.random()
    if kind < 0.27:
        return additive(rng)
    if kind < 0.5:
        return small(rng)
    if kind < 0.68:
        return response(rng)
    if kind < 0.93:
        slack = rng.choice((Fraction(0), Fraction(0), Fraction(1, 100), Fraction(1, 10**9)))
        return pmf(table(rng), slack)
    return preset(rng)


def times(rng: random.Random) -> int:
    """How often: mostly once or a few times."""
    return rng.choice((1, 1, 1, 1, 2, 2, 3, 3, 5, rng.choice((20, 1000))))


def scenario(rng: random.Random) -> Scenario:
    """One to three mechanisms, each used some times."""
    count = rng.choice((1, 1, 1, 2, 2, 3))
    return Scenario.of(*((any_spec(rng), times(rng)) for _ in range(count)))


def ask(rng: random.Random, what: Scenario) -> Cost:
    """Any quantity of it; levels at which something happens exactly among others."""
    quantity = rng.choice(("pure", "renyi", "zcdp", "delta", "epsilon", "epsilon"))
    if quantity in ("pure", "zcdp"):
        return Cost(what, quantity)
    if quantity == "renyi":
        return Cost(what, quantity, Fraction(rng.choice(ORDERS)))
    if quantity == "delta":
        return Cost(what, quantity, Fraction(rng.choice(EPSILONS)))
    return Cost(what, quantity, level(rng, what))


def level(rng: random.Random, what: Scenario) -> Fraction:
    """A delta; at times exactly the mass that tells the datasets apart for certain."""
    kept = Fraction(1)
    for one, count in what.uses:
        if one.table is not None:
            pairs = zip(one.table.p, one.table.q, strict=True)
            escaping = sum((p for p, q in pairs if not q), Fraction(0))
        else:
            escaping = Fraction(one["delta"]) if "delta" in one and "users" not in one else 0
        kept *= (1 - escaping) ** min(count, 40)
    plateau = 1 - kept
    if plateau and rng.random() < 0.4 and plateau.denominator.bit_length() < 500:
        return plateau
    return Fraction(rng.choice(DELTAS))
