"""Accounts: no choice of batches costs more than a user is charged for, and none mixes notions."""

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from conformance.relations.decisions import is_out_of_time
from conformance.relations.engine import AtMost, Held, Statement
from conformance.relations.scenarios import spec

from exactdp import OutOfTimeError, ParameterError
from exactdp.accounting import compose
from exactdp.accounting.participation.choices import Choices, Offer
from exactdp.accounting.participation.filters import (
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZcdpFilter,
)
from exactdp.accounting.participation.odometer import GaussianOdometer, RenyiOdometer
from exactdp.accounting.participation.returning_users import ReturningUsers
from exactdp.bandit.algorithms import DIST_CDP_SE, DIST_DP_SE, DIST_RDP_SE, LDP_SE
from exactdp.bandit.algorithms.algorithm import Algorithm
from exactdp.bandit.evidence import NotVerifiedError
from exactdp.bandit.plan import Plan, prepare
from exactdp.bandit.privacy import privacy
from exactdp.bandit.release import ModularRelease
from exactdp.bandit.setting import Setting
from exactdp.exact import time_left
from exactdp.mechanisms import AdditiveNoise, Mechanism

_prepared = cache(prepare)


def _prepare(algorithm: Algorithm, *setting: object, **more: object) -> Plan:
    """Raises OutOfTimeError where a batch stays open for want of time."""
    before = time_left()
    try:
        return _prepared(algorithm, Setting(*setting, **more))  # type: ignore[arg-type]
    except NotVerifiedError as error:
        if is_out_of_time(error.verdict, before):
            raise OutOfTimeError("the preparation has used up its share of the time") from error
        raise


def returning_user(rng: random.Random) -> Iterator[Statement]:
    """Explicit batches, of those that a run may have, as they are released; at most pure."""
    algorithm = rng.choice((DIST_DP_SE, DIST_DP_SE, DIST_RDP_SE, DIST_CDP_SE, LDP_SE))
    arms, horizon = rng.choice((2, 10)), rng.choice((1000, 10**5))
    epsilon, growth = rng.choice(("0.1", "0.5", "2")), rng.choice((2, 4))
    delta = Fraction(rng.choice(("1e-6", "0.01", "0.05", "0.05", "0.1")))
    plan = _prepare(algorithm, arms, horizon, epsilon, growth=growth)
    count = rng.choice((1, 2, 5))
    told = privacy(plan, count, delta)
    if told.epsilon is None:
        return
    sizes = sorted({batch.users for batch in plan.batches.values()})
    by_users = {release.users: release for release, _ in plan.releases()}
    why = f"{algorithm.name}, K = {arms}, T = {horizon}, epsilon {epsilon}, growth {growth}, " \
          f"delta {float(delta)}, {count} batches"  # fmt: skip
    if told.quantity == "epsilon" and told.together is not None:
        yield Held(told.epsilon.upper <= told.together.upper, f"{why}: epsilon(delta) <= pure",
                   (told.epsilon, told.together))  # fmt: skip
    for users in (sizes[0], sizes[-1], rng.choice(sizes)):
        release = by_users[users]
        if not isinstance(release, ModularRelease) or count > arms:
            continue
        plain = release.protocol.released()
        chosen = compose((AdditiveNoise(plain.law, plain.sensitivity), count))
        if plain.modulus and plain.modulus <= 256:
            chosen = compose((plain, count))
        elif plain.modulus:  # by little, which is not looked at
            continue
        yield AtMost(chosen.epsilon(delta, Fraction(1, 10**6), work=0.1), told.epsilon,
                     f"{why}: {count} batches of {users} users")  # fmt: skip


_ACCOUNTS: dict[str, Callable[[Mechanism, Mechanism], object]] = {
    "a pure filter": lambda one, other: PureFilter(10**6).spend(one).spend(other),
    "what fits": lambda one, other: ZcdpFilter(10**6).spend(one).fits(other),
    "how many fit": lambda one, other: ZcdpFilter(10**6).spend(one).most(other),
    "a zCDP filter": lambda one, other: ZcdpFilter(10**6).spend(one).spend(other),
    "a Rényi filter": lambda one, other: RenyiFilter(2, 10**6).spend(one).spend(other),
    "a Gaussian filter": lambda one, other: GaussianFilter(10**6).spend(one).spend(other),
    "an odometer": lambda one, other: RenyiOdometer("1e-6").spend(one).spend(other),
    "a Gaussian odometer": lambda one, other: GaussianOdometer("1e-6").spend(one).spend(other),
    "a returning user": lambda one, other: ReturningUsers().after(one, ["a"]).after(other, ["b"]),
    "what is left": lambda one, other: (
        ReturningUsers().after(one, ["a"]).remaining("b", other, 1, "0.1", [])
    ),
    "choices": lambda one, other: Choices([Offer(compose(one), 1), Offer(compose(other), 1)], 1),
    "a sum": lambda one, other: compose(one) + other,
    "a filter of lists": lambda one, other: ZcdpFilter(10**6).spend(one).spend(compose(other)),
}


def only_the_same_neighbours_add_up(rng: random.Random) -> Iterator[Statement]:
    """Uses of different neighbours have no cost together, whoever counts it."""
    kinds = (
        spec("randomized-response", epsilon="0.1"),
        spec("laplace", epsilon="0.1"),
        spec("discrete-laplace", epsilon="0.1", modulus=rng.choice((None, "3"))),
    )
    ways = ("replace", "add-remove")
    first = rng.choice(kinds).but(neighbours=rng.choice((None, *ways)))
    second, account = rng.choice(kinds), _ACCOUNTS[name := rng.choice(list(_ACCOUNTS))]
    for way in ways:
        other = second.but(neighbours=way)
        try:
            account(first.mechanism(), other.mechanism())
            taken = True
        except ParameterError:
            taken = False
        same = dict(first.keys).get("neighbours", "replace") == way
        yield Held(taken is same, f"{name} of {first} and {other}: taken", taken)


RELATIONS = (returning_user,)
QUICK = (only_the_same_neighbours_add_up,)
