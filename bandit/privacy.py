"""What a run spends of its users' privacy: once, and of a user who returns.

A user takes part in one batch, of one arm (parallel composition: batches have disjoint users); who
comes back in B batches spends what B of the releases cost together. Which ones is not hers to
choose, and batches of one number have a release for each arm: she is charged for the dearest ones,
each as often as there are arms. If B is not given it is the number of batches in the schedule.
Everything here is about what is *released*, and holds for every adversary who sees all of it; for
whom the users need not trust see `Trust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..accounting.budget import Budget, compose
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, decimal_text, exact, whole
from ..mechanisms.mechanism import AdditiveNoise, RandomizedResponse
from ..verify.claim import ApproxDP, Claim, PureDP, RenyiDP
from .algorithms.algorithm import Demand
from .prepare import Prepared
from .release import LaplaceRelease, ModularRelease

__all__ = ["Privacy", "privacy"]

_NOT_PRIVATE = "nothing is added to the rewards: not private"
_CONTINUOUS = (
    "the Laplace mechanism on the reals (Dwork, McSherry, Nissim, Smith, TCC 2006, Proposition 1): "
    "the sum of rewards has sensitivity 1, the noise scale 1/epsilon, and the densities differ by "
    "at most e^epsilon. No certificate exists for continuous noise: it is drawn in floats here, "
    "whose gaps no proof about real numbers covers"
)


@dataclass(frozen=True)
class Privacy:
    """What is spent, in the notion of the algorithm's claim.

    claim      of every single batch; None where there is none
    quantity   what the enclosures are: epsilon, a Rényi divergence, or rho
    once       the most that any one batch costs; None: unbounded, or by a proof on paper only
    batches    how many batches a returning user took part in
    together   what these cost
    delta      given for `epsilon`
    epsilon    the least for which all these together are (epsilon, delta)-DP, where it was asked
               for: of the sums before their reduction mod m, of which releases are post-processing
    """

    claim: Claim | None
    trust: str
    quantity: str
    once: Enclosure | None
    batches: int
    together: Enclosure | None
    delta: Fraction | None
    epsilon: Enclosure | None
    note: str | None = None

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
            },
            "note": self.note,
        }


def privacy(
    prepared: Prepared, batches: ExactInput | None = None, delta: ExactInput | None = None
) -> Privacy:
    """What a user spends who takes part once, and one who takes part in so many batches.

    batches: all of the schedule if not given. Of more batches than that, those that cost most are
    used again. delta: also the least epsilon of (epsilon, delta)-DP for all of them, by exact
    composition (seconds).
    """
    setting, demand = prepared.setting, prepared.algorithm.demand
    releases = prepared.releases()
    count = max((number for number, _ in prepared.phases), default=0)
    count = count if batches is None else whole(batches, "batches", at_least=1, at_most=10**6)
    if demand is None:
        return _unproved(prepared, count)
    wanted = demand(setting)
    found = sorted(
        ((held.measured, release) for release, held in releases if held is not None),
        key=lambda pair: Fraction(pair[0].upper),
        reverse=True,
    )
    if not found or count == 0:
        zero = Enclosure.exactly(0)
        trust = "nothing is released"
        return Privacy(wanted.claim, trust, _quantity(wanted.claim), zero, 0, zero, None, None)
    repeats = _repeats(prepared, [release.users for _, release in found], count)
    costs = [cost for cost, _ in found]
    once = costs[0]
    for cost in costs[1:]:
        once = once.maximum(cost)
    first = found[0][1]
    assert isinstance(first, ModularRelease)
    level = None if delta is None else exact(delta, "delta", above=0, below=1)
    epsilon = None
    if level is not None:
        parts = [
            _budget(release, wanted, times)
            for (_, release), times in zip(found, repeats, strict=True)
            if times and isinstance(release, ModularRelease)
        ]
        epsilon = compose(*parts).epsilon(level)
    together = _together(wanted.claim, costs, repeats)
    return Privacy(
        wanted.claim,
        first.protocol.trust.value,
        _quantity(wanted.claim),
        once,
        count,
        together,
        level,
        epsilon,
        _remark(wanted.claim, count),
    )


def _repeats(prepared: Prepared, users: Sequence[int], count: int) -> list[int]:
    """How often each release (these many users, dearest first) is counted for `count` batches.

    At most as often as a run can have it: for each arm, in each batch of that many users. Of more
    batches than there are, the dearest are used again.
    """
    arms, numbers = prepared.setting.arms, dict.fromkeys(users, 0)
    for _, size in {(number, phase.users) for (number, _), phase in prepared.phases.items()}:
        numbers[size] += arms
    each, more = divmod(count, sum(numbers.values()))
    repeats = []
    for size in users:
        taken = min(more, numbers[size])
        repeats.append(each * numbers[size] + taken)
        more -= taken
    return repeats


def _together(claim: Claim, costs: Sequence[Enclosure], repeats: Sequence[int]) -> Enclosure:
    """Pure epsilon, Rényi divergences and rho add up, and so do epsilon and delta (basic)."""
    pairs = zip(costs, repeats, strict=True)
    total = Enclosure.total(cost.times(times) for cost, times in pairs if times)
    if isinstance(claim, PureDP | RenyiDP) or sum(repeats) == 1:
        return total
    return Enclosure(Decimal(0), total.upper)  # at most: rho and (epsilon, delta) of a sum


def _budget(release: ModularRelease, demand: Demand, times: int) -> Budget:
    released = release.protocol.released()
    plain = AdditiveNoise(released.law, released.sensitivity)
    leak = 2 * exact(demand.relaxation, "relaxation")
    if leak:
        return compose((plain, times), (RandomizedResponse(leak), times))
    return compose((plain, times))


def _unproved(prepared: Prepared, count: int) -> Privacy:
    release = next((each for each, _ in prepared.releases()), None)
    if not isinstance(release, LaplaceRelease):
        return Privacy(None, "nobody", "epsilon", None, count, None, None, None, _NOT_PRIVATE)
    epsilon = Enclosure.exactly(release.epsilon)
    claim = PureDP(release.epsilon)
    total = epsilon.times(count)
    return Privacy(claim, "central", "epsilon", epsilon, count, total, None, None, _CONTINUOUS)


def _quantity(claim: Claim) -> str:
    if isinstance(claim, PureDP | ApproxDP):
        return "epsilon"
    if isinstance(claim, RenyiDP):
        return f"Rényi divergence of order {decimal_text(claim.order)}"
    return "rho"


def _remark(claim: Claim, count: int) -> str | None:
    if not isinstance(claim, ApproxDP):
        return None
    note = f"epsilon of one batch is at delta = {decimal_text(claim.delta)}"
    if count == 1:
        return note
    total = decimal_text(claim.delta * count)
    return f"{note}, together at delta = {total} by basic composition"


def _json(value: Enclosure | None) -> dict[str, str] | None:
    return None if value is None else value.to_json()
