"""Limits of time: a figure that is asked for is answered, and not wrongly, however little there is.

The same kinds of mechanisms as everywhere, and those whose figures take longest.
"""

import random
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

from conformance.relations.draw import any_spec, times
from conformance.relations.engine import AtMost, Held, Statement, composition_of
from conformance.relations.scenarios import Cost, Scenario, spec
from conformance.relations.vectors import vectors

from exactdp import Composition, Enclosure, OutOfTimeError, time_limit
from exactdp.exact import spend

_ADD = {"neighbours": "add-remove"}
_SLOW = (
    spec("polya-difference", shape="0.9", scale=10),
    spec("gaussian", sigma=1, poisson="0.01", **_ADD),
    spec("gaussian", sigma=1, allocation="1/100", **_ADD),
    spec("laplace", epsilon=1),
    spec("laplace", epsilon=1, **{"fixed-size": "1/10"}),
    spec("discrete-gaussian", sigma2=100, poisson="0.01", **_ADD),
    spec("discrete-gaussian", sigma2="1e6", sensitivity=60000, modulus=65536),
    spec("skellam", variance=100, l2=4, dimension=100, rounding="stochastic", **_ADD),
    spec("skellam", variance=9, l1=3, modulus=16),
    spec("hadamard-response", epsilon=1, categories=10, shuffled=100),
    spec("randomized-response", epsilon=2, categories=5, shuffled=100),
)
_LIMITS = (0.003, 0.01, 0.02, 0.05)
_LATE = 10.0  # seconds of the processor that no answer may come late
_FIGURES: dict[str, Callable[[Composition], object]] = {
    "pure": lambda of: of.pure(),
    "zcdp": lambda of: of.zcdp(),
    "gdp": lambda of: of.gdp(),
    "renyi": lambda of: of.renyi(2),
    "renyi curve": lambda of: of.renyi_curve([2, 3, 17])[0],
    "delta": lambda of: of.delta(1),
    "epsilon": lambda of: of.epsilon("1e-6"),
    "profile": lambda of: of.profile(points=9).deltas[0],
    "tradeoff": lambda of: of.tradeoff(points=9).betas[0],
}
_AT = {"renyi": Fraction(2), "delta": Fraction(1), "epsilon": Fraction(1, 10**6)}


def figures_are_answered_in_time(rng: random.Random) -> Iterator[Statement]:
    """No figure raises for want of time or comes late; none contradicts what more time tells."""
    drawn = rng.choice((any_spec, vectors, lambda rng: rng.choice(_SLOW)))
    what = Scenario.of((drawn(rng), times(rng)))
    of, seconds = composition_of(what), rng.choice(_LIMITS)
    name = rng.choice(list(_FIGURES))
    answer, text, started = None, f"{name} of {what} in {seconds} s", time.thread_time()
    try:
        with time_limit(seconds):
            answer = _FIGURES[name](of)
    except OutOfTimeError:
        spend()  # of all the time that the case has
        yield Held(False, text, "OutOfTimeError")
    late = time.thread_time() - started
    yield Held(late < _LATE, text, f"{late:.1f} s late")
    if isinstance(answer, Enclosure) and name in ("pure", "zcdp", "gdp", *_AT):
        cost = Cost(what, name, _AT.get(name))
        yield AtMost(answer, cost, text)
        yield AtMost(cost, answer, text)


RELATIONS = (figures_are_answered_in_time,)
