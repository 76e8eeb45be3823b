"""From the options of `exactdp bandit` to a configuration."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..bandit.algorithms import ALGORITHMS, SE
from ..bandit.environments import default_cache, instance
from ..bandit.environments.gaussian import DEFAULT_SIGMA
from ..bandit.faithful import Aggregator
from ..bandit.instances import Fixed, Instances, easy, hard
from ..bandit.prepare import Radius
from ..bandit.run import Config
from ..bandit.setting import Setting
from ..exact import ParameterError, exact, whole

__all__ = ["Options", "configured"]

_DRAWN = {"easy": easy, "hard": hard}
_MOST_FAITHFUL = 10**6


@dataclass(frozen=True)
class Options:
    """What was asked for, as it was written."""

    algorithm: str
    horizon: str
    epsilon: str | None
    arms: str | None
    instance: str
    delta: str
    scaling: str
    confidence: str
    growth: str
    radius: str
    sigma: str | None
    faithful: bool
    masked: bool


def configured(options: Options) -> Config:
    """The configuration. Raises ParameterError, naming the option, for what makes none."""
    algorithms = {algorithm.name: algorithm for algorithm in ALGORITHMS}
    algorithm = algorithms.get(options.algorithm)
    if algorithm is None:
        known = ", ".join(algorithms)
        raise ParameterError(f"algorithm must be one of {known}, got {options.algorithm[:40]!r}")
    if options.epsilon is None and algorithm is not SE:
        raise ParameterError(f"--epsilon must be given for {algorithm.name}")
    radii = {radius.value: radius for radius in Radius}
    if options.radius not in radii:
        raise ParameterError(f"radius must be paper or certified, got {options.radius[:40]!r}")
    if options.masked and not options.faithful:
        raise ParameterError("--masked must be given together with --faithful")
    horizon = whole(options.horizon, "horizon", at_least=1)
    if options.faithful and horizon > _MOST_FAITHFUL:
        raise ParameterError(
            f"horizon must be at most {_MOST_FAITHFUL} with --faithful, got {horizon}: without it "
            "the sums of users are simulated, exactly in law"
        )
    instances = _instances(options)
    setting = Setting(
        instances.arms,
        horizon,
        "1" if options.epsilon is None else options.epsilon,
        delta=options.delta,
        scaling=options.scaling,
        confidence=options.confidence,
        growth=options.growth,
    )
    users = Aggregator.MASKED if options.masked else Aggregator.PLAIN
    faithful = users if options.faithful else None
    return Config(algorithm, setting, instances, radii[options.radius], faithful)


def _instances(options: Options) -> Instances:
    if options.instance not in _DRAWN:
        if options.sigma is not None:
            raise ParameterError("--sigma is of the instances easy and hard only")
        arms = None if options.arms is None else whole(options.arms, "arms", at_least=2)
        return Fixed(instance(options.instance, arms=arms, cache=default_cache()))
    sigma: Fraction | None = Fraction(DEFAULT_SIGMA)
    if options.sigma is not None:
        sigma = exact(options.sigma, "sigma", at_least=0) or None
    arms = whole("10" if options.arms is None else options.arms, "arms", at_least=2)
    return _DRAWN[options.instance](arms, sigma)
