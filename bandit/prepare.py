"""What is done once per configuration: schedule, releases, evidence and radii of every batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import accumulate, count

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..exact.enclosure import Enclosure
from ..exact.number import ParameterError, Real
from ..mechanisms.laws.binomial import Binomial
from .algorithms.algorithm import Algorithm
from .evidence import Evidence, Proof, admit, evidence
from .phase import Phase
from .radius.certified import certified_radius
from .radius.index import Index, Look, index
from .radius.plan import Noise, Plan
from .release import ModularRelease, Release
from .setting import Setting

_MOST_BATCHES = 20_000
_LARGEST = 1 << 63  # sums of all batches of an arm stay below it


class Radius(Enum):
    """Whose confidence radius decides."""

    PAPER = "paper"  # as the paper of the algorithm states it
    CERTIFIED = "certified"  # proved to keep the best arm with the stated probability


@frozen
class Prepared:
    """An algorithm with everything that its runs share: what `prepare` gives.

    algorithm, setting, radius: as it was asked. phases: every batch, by number and active arms.
    failure: of the certified radius, how likely a best arm ever leaves; None otherwise.
    index: of an index policy's arms; None of others.

    >>> from exactdp.bandit.algorithms import SE
    >>> held = prepare(SE, Setting(arms=4, horizon=1000))
    >>> [(batch.users, batch.radius > 0) for batch in held.phases.values()][:2]
    [(2, True), (4, True)]
    """

    algorithm: Algorithm
    setting: Setting
    radius: Radius
    phases: Mapping[tuple[int, int], Phase] = field(repr=False)  # by number and active arms
    failure: Enclosure | None  # of the certified radius: how likely a best arm ever leaves
    index: Index | None = field(default=None, repr=False)  # of an index policy's arms

    def phase(self, number: int, active: int) -> Phase | None:
        """The batch of this number with so many active arms; None where no horizon is left.

        Of policies of one's own a batch is the same for any number of them.
        """
        return self.phases.get((number, 1 if self.algorithm.policy is not None else active))

    @property
    def counts(self) -> bool:
        """Are decoded sums whole numbers?"""
        return all(phase.release.protocol is not None for phase in self.phases.values())

    def releases(self) -> list[tuple[Release, Evidence | None]]:
        """Every release that may occur, smallest batch first, each once."""
        found = {phase.users: (phase.release, phase.evidence) for phase in self.phases.values()}
        return [found[users] for users in sorted(found)]

    def __attrs_post_init__(self) -> None:
        """Only what is verified enters: every protocol with evidence of itself."""
        if self.algorithm.demand is None:
            return
        demand, admitted = self.algorithm.demand(self.setting), set[tuple[int, int]]()
        for phase in self.phases.values():
            if phase.release.protocol is None or phase.evidence is None:
                raise ParameterError(f"batch {phase.number} comes without evidence")
            pair = id(phase.release), id(phase.evidence)  # many batches may share both
            if pair not in admitted:
                admit(phase.release.protocol, demand, phase.evidence)
                admitted.add(pair)


def prepare(
    algorithm: Algorithm,
    setting: Setting,
    radius: Radius = Radius.PAPER,
    prove: Proof = evidence,
) -> Prepared:
    """Schedule, releases, evidence and radii of an algorithm.

    algorithm  what is run, with the numbers of `setting`
    radius     the paper's, or one that is proved
    prove      where the evidence comes from, if not from audits now

    Raises ParameterError for settings that it does not allow, NotVerifiedError where a batch does
    not meet its claim, UndecidedError where a parameter stays open.

    >>> from exactdp.bandit.algorithms import DIST_DP_SE
    >>> held = prepare(DIST_DP_SE, Setting(arms=4, horizon=1000, epsilon="0.5"))
    >>> held.phase(5, 4).users, held.phase(5, 4).evidence.verdict.value
    (32, 'VERIFIED')
    """
    setting = setting.with_usual(algorithm.usual_confidence(setting.horizon))
    sizes, releases = admissible(algorithm, setting, radius)
    demand = None if algorithm.demand is None else algorithm.demand(setting)
    proofs: dict[int, Evidence] = {}
    for users, release in releases.items():
        if demand is not None and release.protocol is not None:
            proofs[users] = prove(release.protocol, demand)
    if algorithm.radius is None:
        return _cumulative(algorithm, setting, sizes, releases, proofs)
    table, failure = _radii(algorithm, setting, radius, sizes, releases)
    phases: dict[tuple[int, int], Phase] = {}
    total: dict[int, int] = {}
    centre: dict[int, Fraction] = {}
    for (number, active), users in sizes.items():
        release, beta = releases[users], float(table[number - 1, active])
        units, middle = users * release.precision, release.centre
        if not algorithm.forgets:
            units, middle = units + total.get(active, 0), middle + centre.get(active, Fraction(0))
            total[active], centre[active] = units, middle
        limit = _threshold(beta, units, release)
        phases[number, active] = Phase(
            number, active, release, proofs.get(users), beta, units, middle, limit
        )
    return Prepared(algorithm, setting, radius, phases, failure)


def admissible(
    algorithm: Algorithm, setting: Setting, radius: Radius = Radius.PAPER
) -> tuple[dict[tuple[int, int], int], dict[int, Release]]:
    """Schedule and releases by their users, before anything is proved of them.

    Raises ParameterError for settings that the algorithm does not allow.
    """
    sizes = schedule(algorithm, setting)
    if algorithm.radius is None and not sizes:
        least = setting.arms * algorithm.schedule(setting, 1, 1)
        raise ParameterError(
            f"horizon must be at least {least}, for one batch of each arm, got {setting.horizon}"
        )
    if algorithm.adapts and radius is Radius.CERTIFIED:
        raise ParameterError(
            f"radius certified is not available for {algorithm.name}, whose schedule and radius "
            "belong together: use --radius paper"
        )
    releases = {users: algorithm.release(setting, users) for users in {*sizes.values()}}
    if not algorithm.forgets:
        _fits(sizes, releases)
    return sizes, releases


def _cumulative(
    algorithm: Algorithm,
    setting: Setting,
    sizes: Mapping[tuple[int, int], int],
    releases: Mapping[int, Release],
    proofs: Mapping[int, Evidence],
) -> Prepared:
    """The same where sums of all batches decide, by an index or by a policy of its own.

    What an index is of is certified, whichever radius was asked for.
    """
    chosen = [releases[users] for users in sizes.values()]
    looks = [Look(each.users, each.precision, each.noise, each.decoding) for each in chosen]
    found = index(looks, setting.confidence, algorithm.plain) if algorithm.indexed else None
    phases: dict[tuple[int, int], Phase] = {}
    units, middle = 0, Fraction(0)
    for place, release in zip(sizes, chosen, strict=True):
        units, middle = units + release.users * release.precision, middle + release.centre
        held = proofs.get(release.users)
        phases[place] = Phase(*place, release, held, None, units, middle, math.inf)
    radius = Radius.PAPER if found is None else Radius.CERTIFIED
    failure = None if found is None else found.failure
    return Prepared(algorithm, setting, radius, phases, failure, found)


def _fits(sizes: Mapping[tuple[int, int], int], releases: Mapping[int, Release]) -> None:
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
    algorithm: Algorithm,
    setting: Setting,
    radius: Radius,
    sizes: Mapping[tuple[int, int], int],
    releases: Mapping[int, Release],
) -> tuple[NDArray[np.float64], Enclosure | None]:
    """beta[b - 1, active], and the probability that is certified where one is."""
    ordered = [sizes[number, 2] for number in range(1, len(sizes) + 1) if (number, 2) in sizes]
    chosen = [releases[users] for users in ordered]
    plan = radius_plan(algorithm, setting, chosen)
    assert algorithm.radius is not None
    if radius is Radius.PAPER or not chosen:
        return algorithm.radius(setting, plan, chosen), None
    certified = certified_radius(plan)
    return certified.table, certified.failure


def schedule(algorithm: Algorithm, setting: Setting) -> dict[tuple[int, int], int]:
    """Users an arm, by batch and active arms, as far as the horizon can reach.

    Who is active in a batch was so in every batch before, which for more active arms were no
    smaller: that many users at least are gone by then. Where an index decides every batch is of one
    arm, and the others have had their first. A policy of its own may play one arm alone.
    """
    sizes: dict[tuple[int, int], int] = {}
    eliminates = algorithm.radius is not None
    for active in range(2, setting.arms + 1) if eliminates else range(1, 2):
        used = (setting.arms - 1) * algorithm.schedule(setting, 1, 1) if algorithm.indexed else 0
        for number in count(1):
            known = None if algorithm.adapts else sizes.get((number, 2))
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


def radius_plan(algorithm: Algorithm, setting: Setting, chosen: Sequence[Release]) -> Plan:
    """What radii may depend on. chosen: the releases of batches 1, 2, ..., one each."""
    sizes, noises = [release.users for release in chosen], [each.noise for each in chosen]
    decodings = [each.decoding for each in chosen]
    if not algorithm.forgets:
        sizes = list(accumulate(sizes))
        noises = list(_running(noises))
    return Plan(
        setting.arms,
        setting.horizon,
        setting.confidence,
        sizes,
        noises,
        [release.precision for release in chosen],
        decodings,
        cumulative=not algorithm.forgets,
    )


def _running(noises: Sequence[Noise | None]) -> Iterator[Noise]:
    """The laws of the sums so far, of as few terms as there are success probabilities."""
    trials: dict[Real, int] = {}
    for law in noises:
        assert isinstance(law, Binomial)
        trials[law.success] = trials.get(law.success, 0) + law.trials
        laws = tuple(Binomial(count, chance) for chance, count in trials.items())
        yield laws[0] if len(laws) == 1 else laws
