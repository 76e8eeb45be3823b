"""From the options of `exactdp bandit` to a configuration."""

from __future__ import annotations

from fractions import Fraction

from ..bandit.algorithms import ALGORITHMS, SE, named
from ..bandit.environments.gaussian import DEFAULT_SIGMA
from ..bandit.environments.instance import instance
from ..bandit.environments.instance_file import default_cache
from ..bandit.faithful import Aggregator
from ..bandit.instances import Fixed, Instances, easy, hard
from ..bandit.prepare import Radius
from ..bandit.run import Config
from ..bandit.setting import Setting
from ..exact import ParameterError, exact, whole

__all__ = ["configured"]

_DRAWN = {"easy": easy, "hard": hard}
_MOST_FAITHFUL = 10**6


def configured(
    *,
    algorithm: str,
    horizon: str,
    epsilon: str | None,
    arms: str | None,
    instance: str,
    radius: str,
    sigma: str | None,
    faithful: bool,
    masked: bool,
    **numbers: str,
) -> Config:
    """The configuration, of options as they were typed; numbers: the others of `Setting`.

    Raises ParameterError, naming the option, for what makes none.
    """
    chosen = named(algorithm)
    if chosen is None:
        known = ", ".join(each.name for each in ALGORITHMS)
        raise ParameterError(f"algorithm must be one of {known}, got {algorithm[:40]!r}")
    if epsilon is None and chosen is not SE:
        raise ParameterError(f"--epsilon must be given for {chosen.name}")
    radii = {each.value: each for each in Radius}
    if radius not in radii:
        raise ParameterError(f"radius must be paper or certified, got {radius[:40]!r}")
    if masked and not faithful:
        raise ParameterError("--masked must be given together with --faithful")
    rounds = whole(horizon, "horizon", at_least=1)
    if faithful and rounds > _MOST_FAITHFUL:
        raise ParameterError(
            f"horizon must be at most {_MOST_FAITHFUL} with --faithful, got {rounds}: without it "
            "the sums of users are simulated, exactly in law"
        )
    instances = _instances(instance, arms, sigma)
    setting = Setting(instances.arms, rounds, "1" if epsilon is None else epsilon, **numbers)
    users = Aggregator.MASKED if masked else Aggregator.PLAIN
    return Config(chosen, setting, instances, radii[radius], users if faithful else None)


def _instances(name: str, arms: str | None, sigma: str | None) -> Instances:
    if name not in _DRAWN:
        if sigma is not None:
            raise ParameterError("--sigma is of the instances easy and hard only")
        given = None if arms is None else whole(arms, "arms", at_least=2)
        return Fixed(instance(name, arms=given, cache=default_cache()))
    spread: Fraction | None = Fraction(DEFAULT_SIGMA)
    if sigma is not None:
        spread = exact(sigma, "sigma", at_least=0) or None
    return _DRAWN[name](whole("10" if arms is None else arms, "arms", at_least=2), spread)
