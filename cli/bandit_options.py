"""What the commands of bandits read and report alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Annotated, TypeAlias

import typer

from ..bandit.algorithms import RENAMED
from ..bandit.algorithms.algorithm import Algorithm
from ..bandit.environments.gaussian import DEFAULT_SIGMA
from ..bandit.environments.instance import instance
from ..bandit.evidence import NotVerifiedError
from ..bandit.instances import PUBLISHED_GROWTH, Fixed, Instances, Listed, easy, hard, published
from ..common.content_cache import default_cache
from ..common.suggest import one_of
from ..exact import ExactInput, ParameterError, exact, time_limit, whole
from ..verify import Verdict
from . import output
from .options import option

Runs: TypeAlias = Annotated[str, typer.Option(metavar="R")]
Seed: TypeAlias = Annotated[str, typer.Option(metavar="S")]
Workers: TypeAlias = Annotated[str, option("N", "processes")]
Cluster: TypeAlias = Annotated[
    str | None, option("ADDRESS", "a dask scheduler, or local to start one")
]
ProofTime: TypeAlias = Annotated[
    str, typer.Option("--time", metavar="S", help="seconds for the proofs before the runs")
]

_DRAWN = {"easy": easy, "hard": hard}
_PUBLISHED = {"published": False, "published-hard": True}  # are they the hard ones?


def read_algorithm(name: str, among: Iterable[Algorithm]) -> Algorithm:
    """The algorithm of this name; of an older spelling with a line that says the new one."""
    known = {each.name: each for each in among}
    if (now := RENAMED.get(name)) in known:
        typer.echo(f"exactdp: algorithm {name}: now {now}", err=True)
        name = str(now)
    return known[one_of(name, known, "algorithm")]


def is_drawn(name: str) -> bool:
    """Does every run have an instance of its own, of as many arms as asked for?"""
    return name in _DRAWN


def read_instances(name: str, arms: ExactInput | None, sigma: ExactInput | None) -> Instances:
    """--instance, with --arms and --sigma."""
    if not is_drawn(name):
        if sigma is not None:
            raise ParameterError("--sigma is of the instances easy and hard only")
        given = None if arms is None else whole(arms, "arms", at_least=2)
        if name in _PUBLISHED:
            listed = published(_PUBLISHED[name])
            if given not in (None, listed.arms):
                raise ParameterError(f"arms must be {listed.arms}, as published, got {given}")
            return listed
        return Fixed(instance(name, arms=given, cache=default_cache()))
    spread: Fraction | None = Fraction(DEFAULT_SIGMA)
    if sigma is not None:
        spread = exact(sigma, "sigma", at_least=0) or None
    return _DRAWN[name](whole("10" if arms is None else arms, "arms", at_least=2), spread)


def read_growth(growth: str | None, instances: Instances) -> str:
    """--growth of `bandit run`: unless given that of the published runs on published instances."""
    if growth is not None:
        return growth
    return str(PUBLISHED_GROWTH) if isinstance(instances, Listed) else "2"


@contextmanager
def verifying(seconds: float, label: str) -> Iterator[None]:
    """Proofs in so much time, and `refusing`."""
    with refusing(), time_limit(seconds), output.working(label):
        yield


@contextmanager
def refusing() -> Iterator[None]:
    """Exit code 1 where a mechanism is refuted, 3 where one stays open."""
    try:
        yield
    except NotVerifiedError as error:
        typer.echo(f"exactdp: {error}", err=True)
        raise typer.Exit(1 if error.verdict is Verdict.REFUTED else 3) from error
