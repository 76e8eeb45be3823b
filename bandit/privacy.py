"""What a run spends of its users' privacy: once, and of a user who returns.

A user takes part in one batch, of one arm (parallel composition: batches have disjoint users); who
comes back in B batches spends what B of the releases cost together. Which ones is not hers to
choose, and batches of one number have a release for each arm: what she is charged is the supremum
over all ways to take part in B of them, each as often as there are arms, for each quantity by
itself (`accounting.participation.choices`). If B is not given it is the number of batches in the
schedule; if there are fewer to take part in, the schedule is run as often as it takes.

Who has several places in *one* sum spends more there than in as many sums by Rényi divergence or
rho, which grow with the square: what that costs is said besides (`Privacy.one_sum`).
Everything here is about what is *released*, and holds for every adversary who sees all of it; for
whom the users need not trust see `Trust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

from attrs import frozen

from ..accounting.composition.composed import compose
from ..accounting.participation.choices import Choices, Offer
from ..exact.budget import OutOfTimeError
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, decimal_text, exact, whole
from ..verify.guarantee import Guarantee, PureDP
from ..verify.protocol import leaking
from .evidence import Demand, plain_release, repeated_cost
from .plan import Plan
from .release import LaplaceRelease, LocalRelease, Release

_NOT_PRIVATE = "nothing is added to the rewards: not private"
_CONTINUOUS = (
    "the Laplace mechanism on the reals (Dwork, McSherry, Nissim, Smith, TCC 2006, Proposition 1): "
    "the sum of rewards has sensitivity 1, the noise scale 1/epsilon, and the densities differ by "
    "at most e^epsilon. No certificate exists for continuous noise: it is drawn in floats here, "
    "whose gaps no proof about real numbers covers"
)


@frozen
class Privacy:
    """What is spent, in the notion of the algorithm's claim.

    claim      of every single batch; None where there is none
    quantity   what the enclosures are: epsilon, a Rényi divergence, or rho
    once       the most that any one batch costs; None: unbounded, or by a proof on paper only
    batches    how many batches a returning user took part in
    together   what these cost
    delta      given for `epsilon`
    epsilon    the least for which all these together are (epsilon, delta)-DP, where it was asked
               for: of what is released, sums mod m
    one_sum    the most that one release costs who takes part in it so many times (or as often as it
               has users), where their number was given; for `delta` as `once` is
    """

    claim: Guarantee | None
    trust: str
    quantity: str
    once: Enclosure | None
    batches: int
    together: Enclosure | None
    delta: Fraction | None
    epsilon: Enclosure | None
    note: str | None = None
    one_sum: Enclosure | None = None

    def to_json(self) -> dict[str, Any]:
        """As `--json` shows it: figures rounded outward."""
        return {
            "claim": None if self.claim is None else str(self.claim),
            "trust": self.trust,
            "quantity": self.quantity,
            "once": _json(self.once),
            "returning": {
                "batches": self.batches,
                "together": _json(self.together),
                "delta": None if self.delta is None else decimal_text(self.delta),
                "epsilon": _json(self.epsilon),
                "one_sum": _json(self.one_sum),
            },
            "note": self.note,
        }


def privacy(
    plan: Plan, batches: ExactInput | None = None, delta: ExactInput | None = None
) -> Privacy:
    """What a user spends who takes part once, and one who takes part in so many batches.

    batches: all of the schedule if not given; of more than it has, it is run again. delta: also the
    least epsilon of (epsilon, delta)-DP for all of them, by exact composition where one choice is
    proved to be the dearest, otherwise between the dearest one found and a bound of all (seconds).
    """
    setting, demand = plan.setting, plan.algorithm.demand
    releases = plan.releases()
    count = max((number for number, _ in plan.batches), default=0)
    count = count if batches is None else whole(batches, "batches", at_least=1, at_most=10**6)
    if demand is None:
        if (local := plan.local) is not None:
            return _local(local, count, delta, batches is not None)
        return _unproved(plan, count)
    wanted = demand(setting)
    found = [(held.measured, release) for release, held in releases if held is not None]
    if not found or count == 0:
        zero = Enclosure.exactly(0)
        trust = "nothing is released"
        return Privacy(wanted.claim, trust, wanted.claim.quantity, zero, 0, zero, None, None)
    costs = [cost for cost, _ in found]
    once = costs[0]
    for cost in costs[1:]:
        once = once.maximum(cost)
    first = found[0][1]
    assert first.protocol is not None
    choices = _choices(plan, [release for _, release in found], wanted, count)
    level = None if delta is None else exact(delta, "delta", above=0, below=1)
    epsilon = None if level is None else choices.epsilon(level)
    together = _together(wanted.claim, choices.largest_sum(costs), count)
    if epsilon is not None and isinstance(wanted.claim, PureDP):
        epsilon = epsilon.intersection(Enclosure(Fraction(0), together.upper))
    one_sum = None if batches is None else _one_sum(plan, wanted, count)
    return Privacy(
        wanted.claim,
        first.protocol.trust.value,
        wanted.claim.quantity,
        once,
        count,
        together,
        level,
        epsilon,
        wanted.claim.remark(count),
        one_sum,
    )


def _one_sum(plan: Plan, demand: Demand, times: int) -> Enclosure | None:
    """The most that so many places in one release cost; None where that takes too long."""
    found: Enclosure | None = None
    with suppress(OutOfTimeError):
        for release, _ in plan.releases():
            assert release.protocol is not None
            cost = repeated_cost(release.protocol, demand, min(times, release.users))
            found = cost if found is None else found.maximum(cost)
        return found
    return None


def _choices(plan: Plan, releases: Sequence[Release], demand: Demand, count: int) -> Choices:
    """All ways to take part in so many batches: of each number, once for each arm.

    The schedule is run as often as it takes for so many.
    """
    times = dict.fromkeys([release.users for release in releases], 0)
    for _, users in {(number, batch.users) for (number, _), batch in plan.batches.items()}:
        times[users] += plan.setting.arms
    runs = -(-count // sum(times.values()))
    offers = [
        Offer(
            plain_release(release.protocol, demand),
            runs * times[release.users],
            compose(leaking(release.protocol.released(), demand.relaxation)),
        )
        for release in releases
        if release.protocol is not None
    ]
    return Choices(offers, count)


def _together(claim: Guarantee, largest: Enclosure, count: int) -> Enclosure:
    """Pure epsilon, Rényi divergences and rho add up, and so do epsilon and delta (basic)."""
    if claim.adds_up or count == 1:
        return largest
    return Enclosure(Decimal(0), largest.upper)  # at most: rho and (epsilon, delta) of a sum


def _unproved(plan: Plan, count: int) -> Privacy:
    release = next((each for each, _ in plan.releases()), None)
    if not isinstance(release, LaplaceRelease):
        return Privacy(None, "nobody", "epsilon", None, count, None, None, None, _NOT_PRIVATE)
    epsilon = Enclosure.exactly(release.epsilon)
    claim = PureDP(release.epsilon)
    total = epsilon.times(count)
    return Privacy(claim, "central", "epsilon", epsilon, count, total, None, None, _CONTINUOUS)


def _local(release: LocalRelease, count: int, delta: ExactInput | None, returning: bool) -> Privacy:
    """Every batch that a user is in has a report of its own, also places in one sum."""
    found = release.verified()
    together = found.measured.times(count)
    level = None if delta is None else exact(delta, "delta", above=0, below=1)
    epsilon = None if level is None else (count * compose(found.mechanism)).epsilon(level)
    return Privacy(
        found.claim,
        "local",
        found.claim.quantity,
        found.measured,
        count,
        together,
        level,
        epsilon,
        one_sum=together if returning else None,
    )


def _json(value: Enclosure | None) -> dict[str, str] | None:
    return None if value is None else value.to_json()
