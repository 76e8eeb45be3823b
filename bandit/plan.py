"""What is done once per configuration: batches, releases, evidence, and what decides of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import accumulate, count

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ..exact.enclosure import Enclosure
from ..exact.number import ParameterError, Real
from ..mechanisms.laws.binomial import Binomial
from .algorithms.algorithm import Algorithm, Elimination, LargestIndex, OwnPolicy
from .evidence import Evidence, Proof, admit, evidence
from .radius.certified import certified_radius
from .radius.index import Index, Look, index
from .radius.plan import Noise, RadiusPlan
from .release import Batch, LocalRelease, ModularRelease, Release
from .setting import Setting

_MOST_BATCHES = 20_000
_LARGEST = 1 << 63  # sums of all batches of an arm stay below it
_Sizes = Mapping[tuple[int, int], int]


class Radius(Enum):
    """Whose confidence radius decides."""

    PAPER = "paper"  # as the paper of the algorithm states it
    CERTIFIED = "certified"  # proved to keep the best arm with the stated probability


@frozen
class Plan:
    """An algorithm with everything that its runs share: what `prepare` gives.

    algorithm, setting, radius: as it was asked. batches: every one, by number and active arms.
    failure: of the certified radius, how likely a best arm ever leaves; None otherwise.
    index: of an index policy's arms; None of others.

    >>> from exactdp.bandit.algorithms import SE
    >>> plan = prepare(SE, Setting(arms=4, horizon=1000))
    >>> [(batch.users, batch.radius > 0) for batch in plan.batches.values()][:2]
    [(2, True), (4, True)]
    """

    algorithm: Algorithm
    setting: Setting
    radius: Radius
    batches: Mapping[tuple[int, int], Batch] = field(repr=False)
    failure: Enclosure | None = None
    index: Index | None = field(default=None, repr=False)

    def batch(self, number: int, active: int) -> Batch | None:
        """The batch of this number with so many active arms; None where no horizon is left.

        Of policies of one's own a batch is the same for any number of them.
        """
        own = isinstance(self.algorithm.rule, OwnPolicy)
        return self.batches.get((number, 1 if own else active))

    @property
    def counts(self) -> bool:
        """Are decoded sums whole numbers?"""
        return all(batch.release.protocol is not None for batch in self.batches.values())

    def releases(self) -> list[tuple[Release, Evidence | None]]:
        """Every release that may occur, smallest batch first, each once."""
        by_users = {batch.users: (batch.release, batch.evidence) for batch in self.batches.values()}
        return [by_users[users] for users in sorted(by_users)]

    @property
    def local(self) -> LocalRelease | None:
        """One of its releases, if users randomise their reports; None otherwise."""
        first = next((release for release, _ in self.releases()), None)
        return first if isinstance(first, LocalRelease) else None

    def __attrs_post_init__(self) -> None:
        """Only what is verified enters: every protocol with evidence of itself."""
        if self.algorithm.demand is None:
            return
        demand, admitted = self.algorithm.demand(self.setting), set[tuple[int, int]]()
        for batch in self.batches.values():
            if batch.release.protocol is None or batch.evidence is None:
                raise ParameterError(f"batch {batch.number} comes without evidence")
            pair = id(batch.release), id(batch.evidence)  # many batches may share both
            if pair not in admitted:
                admit(batch.release.protocol, demand, batch.evidence)
                admitted.add(pair)


def prepare(
    algorithm: Algorithm,
    setting: Setting,
    radius: Radius = Radius.PAPER,
    prove: Proof = evidence,
) -> Plan:
    """Schedule, releases, evidence and radii of an algorithm.

    algorithm  what is run, with the numbers of `setting`
    radius     the paper's, or one that is proved
    prove      where the evidence comes from, if not from audits now

    Raises ParameterError for settings that it does not allow, NotVerifiedError where a batch does
    not meet its claim, UndecidedError where a parameter stays open.

    >>> from exactdp.bandit.algorithms import DIST_DP_SE
    >>> plan = prepare(DIST_DP_SE, Setting(arms=4, horizon=1000, epsilon="0.5"))
    >>> plan.batch(5, 4).users, plan.batch(5, 4).evidence.verdict.value
    (32, 'VERIFIED')
    """
    setting = setting.with_usual(algorithm.usual_confidence(setting.horizon))
    sizes, releases = admissible(algorithm, setting, radius)
    demand = None if algorithm.demand is None else algorithm.demand(setting)
    proofs: dict[int, Evidence] = {}
    for users, release in releases.items():
        if demand is not None and release.protocol is not None:
            proofs[users] = prove(release.protocol, demand)
    batches: dict[tuple[int, int], Batch] = {}
    units: dict[int, int] = {}  # of all batches that an estimate rests on, by active arms
    centres: dict[int, Fraction] = {}
    for (number, active), users in sizes.items():
        release = releases[users]
        if not algorithm.rule.cumulative:
            units.clear()
            centres.clear()
        units[active] = users * release.precision + units.get(active, 0)
        centres[active] = release.centre + centres.get(active, Fraction(0))
        batches[number, active] = Batch(
            *(number, active, release, proofs.get(users)),
            *(None, units[active], centres[active], math.inf),
        )
    rule = algorithm.rule
    if isinstance(rule, Elimination):
        table, failure = _radii(rule, setting, radius, sizes, releases)
        for (number, active), batch in batches.items():
            beta = float(table[number - 1, active])
            limit = _threshold(beta, batch.units, batch.release)
            batches[number, active] = evolve(batch, radius=beta, threshold=limit)
        return Plan(algorithm, setting, radius, batches, failure)
    if isinstance(rule, LargestIndex):  # certified, whichever radius was asked for
        chosen = [batch.release for batch in batches.values()]
        looks = [Look(each.users, each.precision, each.noise, each.decoding) for each in chosen]
        bounds = index(looks, setting.confidence, rule.chernoff)
        return Plan(algorithm, setting, Radius.CERTIFIED, batches, bounds.failure, bounds)
    return Plan(algorithm, setting, Radius.PAPER, batches)


def admissible(
    algorithm: Algorithm, setting: Setting, radius: Radius = Radius.PAPER
) -> tuple[_Sizes, dict[int, Release]]:
    """Schedule and releases by their users, before anything is proved of them.

    Raises ParameterError for settings that the algorithm does not allow.
    """
    sizes = schedule(algorithm, setting)
    if not sizes and not isinstance(algorithm.rule, Elimination):
        least = setting.arms * algorithm.schedule(setting, 1, 1)
        raise ParameterError(
            f"horizon must be at least {least}, for one batch of each arm, got {setting.horizon}"
        )
    if algorithm.rule.adaptive and radius is Radius.CERTIFIED:
        raise ParameterError(
            f"radius certified is not available for {algorithm.name}, whose schedule and radius "
            "belong together: use --radius paper"
        )
    releases = {users: algorithm.release(setting, users) for users in {*sizes.values()}}
    if algorithm.rule.cumulative:
        _check_totals(sizes, releases)
    return sizes, releases


def _check_totals(sizes: _Sizes, releases: Mapping[int, Release]) -> None:
    """Raise ParameterError unless sums that are never forgotten are whole numbers of 64 bits."""
    totals: dict[int, int] = {}
    for (_, active), users in sizes.items():
        release = releases[users]
        if isinstance(release, ModularRelease):
            totals[active] = totals.get(active, 0) + release.largest
    if max(totals.values(), default=0) >= _LARGEST:
        raise ParameterError(
            "horizon and precision must keep the sum of all batches of an arm below 2^63 for "
            f"simulation, got up to {max(totals.values())}: lower the horizon, epsilon or scaling"
        )


def _threshold(beta: float, units: int, release: Release) -> int | float:
    """2 beta times the units of an estimate: floor((2 beta) units) where decoded sums are whole."""
    if not np.isfinite(beta):
        return np.inf
    if release.protocol is None:
        return 2 * beta * units
    exact = 2 * Fraction(beta) * units
    return min(exact.numerator // exact.denominator, (1 << 63) - 1)


def _radii(
    rule: Elimination,
    setting: Setting,
    radius: Radius,
    sizes: _Sizes,
    releases: Mapping[int, Release],
) -> tuple[NDArray[np.float64], Enclosure | None]:
    """beta[b - 1, active], and the probability that is certified where one is."""
    chosen = [releases[users] for (_, active), users in sizes.items() if active == 2]
    plan = radius_plan(rule, setting, chosen)
    if radius is Radius.PAPER or not chosen:
        return rule.radius(setting, plan, chosen), None
    certified = certified_radius(plan)
    return certified.table, certified.failure


def wider_than_certified(plan: Plan) -> float:
    """The paper's radius by the certified one, the median of all batches of two arms.

    1 where there is no radius, or none that could be certified instead.
    """
    rule = plan.algorithm.rule
    if not isinstance(rule, Elimination) or rule.adaptive or plan.radius is Radius.CERTIFIED:
        return 1.0
    numbered = [batch for (_, active), batch in plan.batches.items() if active == 2]
    if not numbered:
        return 1.0
    inputs = radius_plan(rule, plan.setting, [batch.release for batch in numbered])
    certified = certified_radius(inputs).table[:, 2]
    stated = np.array([batch.radius for batch in numbered], dtype=float)
    both = np.isfinite(certified) & np.isfinite(stated)
    return float(np.median(stated[both] / certified[both])) if both.any() else 1.0


def schedule(algorithm: Algorithm, setting: Setting) -> dict[tuple[int, int], int]:
    """Users an arm, by batch and active arms, as far as the horizon can reach.

    Who is active in a batch was so in every batch before, which for more active arms were no
    smaller: that many users at least are gone by then. Where an index decides every batch is of one
    arm, and the others have had their first. A policy of its own may play one arm alone.
    """
    sizes: dict[tuple[int, int], int] = {}
    rule, first = algorithm.rule, 0
    if isinstance(rule, LargestIndex):
        first = (setting.arms - 1) * algorithm.schedule(setting, 1, 1)
    for active in range(2, setting.arms + 1) if isinstance(rule, Elimination) else range(1, 2):
        used = first
        for number in count(1):
            known = None if rule.adaptive else sizes.get((number, 2))
            users = known or algorithm.schedule(setting, number, active)
            used += users
            if active * used > setting.horizon:
                break
            if number > _MOST_BATCHES:
                raise ParameterError(
                    f"horizon and growth make more than {_MOST_BATCHES} batches: lower the "
                    "horizon, or let batches grow faster"
                )
            sizes[number, active] = users
    return sizes


def radius_plan(rule: Elimination, setting: Setting, chosen: Sequence[Release]) -> RadiusPlan:
    """What radii may depend on. chosen: the releases of batches 1, 2, ..., one each."""
    sizes, noises = [release.users for release in chosen], [each.noise for each in chosen]
    if rule.cumulative:
        sizes = list(accumulate(sizes))
        noises = list(_running(noises))
    return RadiusPlan(
        setting.arms,
        setting.horizon,
        setting.confidence,
        sizes,
        noises,
        [release.precision for release in chosen],
        [each.decoding for each in chosen],
        cumulative=rule.cumulative,
    )


def _running(noises: Sequence[Noise | None]) -> Iterator[Noise]:
    """The laws of the sums so far, of as few terms as there are success probabilities."""
    trials: dict[Real, int] = {}
    for law in noises:
        assert isinstance(law, Binomial)
        trials[law.success] = trials.get(law.success, 0) + law.trials
        laws = tuple(Binomial(count, chance) for chance, count in trials.items())
        yield laws[0] if len(laws) == 1 else laws
