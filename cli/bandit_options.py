"""What the commands of bandits read and report alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer
from attrs import frozen
from numpy.typing import NDArray

from ..bandit.algorithms import RENAMED
from ..bandit.algorithms.algorithm import Algorithm
from ..bandit.environments.gaussian import DEFAULT_SIGMA
from ..bandit.environments.instance import instance
from ..bandit.evidence import NotVerifiedError
from ..bandit.instances import PUBLISHED_GROWTH, Fixed, Instances, InTurn, easy, hard, published
from ..bandit.plan import Plan
from ..bandit.privacy import Privacy, privacy
from ..bandit.results import Mean
from ..bandit.run import Config
from ..common.content_cache import default_cache
from ..common.suggest import one_of
from ..common.table import Cell
from ..exact import Enclosure, ExactInput, ParameterError, decimal_text, exact, time_limit, whole
from ..verify import Verdict
from ..verify.certificate import Certificate
from . import output
from .options import option
from .parts import at_most
from .plain import note

Runs: TypeAlias = Annotated[str, typer.Option(metavar="R")]
Seed: TypeAlias = Annotated[str, typer.Option(metavar="S")]
Workers: TypeAlias = Annotated[str, option("N", "processes")]
Cluster: TypeAlias = Annotated[
    str | None, option("ADDRESS", "a dask scheduler, or local to start one")
]
ProofTime: TypeAlias = Annotated[
    str, typer.Option("--time", metavar="S", help="seconds for the proofs before the runs")
]

_NAME = 40  # letters of an arm's name
_DRAWN = {"easy": easy, "hard": hard}
_PUBLISHED = {"published": False, "published-hard": True}  # are they the hard ones?


def read_algorithm(name: str, among: Iterable[Algorithm]) -> Algorithm:
    """The algorithm of this name; of an older spelling with a line that says the new one."""
    known = {each.name: each for each in among}
    if (now := RENAMED.get(name)) in known:
        note(f"algorithm `{name}` is now `{now}`")
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
    return str(PUBLISHED_GROWTH) if isinstance(instances, InTurn) else "2"


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


# -- what they report ------------------------------------------------------------------------------


@frozen
class Fact:
    """One thing that a result says: its key and value in JSON, its label and text for people.

    key, label: empty where only the other form has it. text: the value's own if none is given.
    """

    key: str
    label: str
    value: Any
    text: Cell | None = None


def data_of(facts: Iterable[Fact]) -> dict[str, Any]:
    """For JSON."""
    return {fact.key: fact.value for fact in facts if fact.key}


def shown_of(facts: Iterable[Fact]) -> dict[str, Cell]:
    """For people."""
    return {
        fact.label: str(fact.value) if fact.text is None else fact.text
        for fact in facts
        if fact.label
    }


def spent(plan: Plan, returning: str | None, delta: str) -> Privacy:
    """The privacy statement; with a number of batches also the composed epsilon."""
    if returning is None:
        return privacy(plan)
    batches = whole(returning, "returning", at_least=1, at_most=10**6)
    return privacy(plan, batches, delta)


def named_arms(config: Config) -> dict[str, list[str]]:
    """What a file calls its arms; nothing where none does."""
    labels = config.instances.labels if isinstance(config.instances, Fixed) else ()
    return {"arms": list(labels)} if labels else {}


def arm_name(config: Config, arm: int) -> str:
    """By its number, and the name that a file gave it."""
    numbered = f"arm {arm}, counted from 0"
    if not (labels := named_arms(config).get("arms")):
        return numbered
    return f"{plain_name(labels[arm])} ({numbered})"


def plain_name(label: str) -> str:
    """An arm's name as any terminal shows it, cut where it is long."""
    plain = "".join(c if c.isprintable() else "?" for c in label)
    return plain if len(plain) <= _NAME else f"{plain[:_NAME]}…"


def number(mean: Mean) -> str:
    """With its standard error, if it has one."""
    if mean.standard_error != mean.standard_error:
        return f"{mean.mean:,.1f}"
    return f"{mean.mean:,.1f} ± {mean.standard_error:,.1f} (standard error)"


def count_range(counts: NDArray[np.int64]) -> str:
    """From the least to the largest."""
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def proved(plan: Plan) -> dict[str, Cell]:
    """How much is certified of the releases."""
    held = [each for _, each in plan.releases() if each is not None]
    if not held:
        return {}
    certificates = sum(isinstance(each, Certificate) for each in held)
    shown = f"{len(held)} batch sizes VERIFIED"
    if certificates == len(held):
        shown += ", each with a certificate"
    elif certificates:
        shown += f", {certificates} with a certificate; of the others by the prover alone"
    else:
        shown += " by the prover alone: they are beyond its independent checker"
    return {"mechanisms": shown}


def private(spent: Privacy) -> dict[str, Cell]:
    """What users spend."""
    if spent.once is None:
        return {"privacy": spent.note or "none"}
    shown: dict[str, Cell] = {
        "privacy": f"{spent.claim} of every batch, {_TRUST.get(spent.trust, spent.trust)}",
        "one batch": f"{spent.quantity} {_exactly_or_at_most(spent.once)}",
    }
    if spent.batches > 1 and spent.together is not None:
        value = _exactly_or_at_most(spent.together)
        shown[f"{spent.batches} batches"] = f"{spent.quantity} {value}"
    if spent.one_sum is not None and spent.batches > 1:
        places = f"{spent.batches} places in one sum"
        shown[places] = f"{spent.quantity} {_exactly_or_at_most(spent.one_sum)}"
    if spent.epsilon is not None and spent.delta is not None:
        shown["together"] = f"epsilon {spent.epsilon} at delta = {decimal_text(spent.delta)}"
    if spent.note:
        shown["note"] = spent.note
    return shown


def _exactly_or_at_most(value: Enclosure) -> str:
    most = "infinity" if not value.is_finite() else at_most(Fraction(value.upper))
    return str(value) if value.lower else f"at most {most}"


_TRUST = {
    "central": "towards all who see what a trusted server releases",
    "distributed": "towards the server, which sees sums only",
    "local": "towards everybody",
}
