"""What users send: the parameters that the papers state, beside the least that are certified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ...mechanisms import papers
from ...mechanisms.protocols import SumProtocol, least_accuracy, least_modulus, off_probability
from ..render import shown
from .markdown import table

__all__ = ["bits"]


def bits(
    epsilon: str = "0.5",
    batches: Sequence[int] = (1024, 65536),
    horizon: int = 10**6,
    scaling: int = 10,
) -> str:
    """(tau, m, bits) of Theorems 1 to 6, and the least that fail as rarely."""
    columns = (
        "protocol",
        "n",
        "g",
        "τ",
        "m",
        "bits",
        "P(off by more than τ/g)",
        "least τ",
        "its m",
        "bits",
        "least m",
        "bits",
    )
    rows = [
        [name, str(users), *_row(protocol, failure)]
        for users in batches
        for name, protocol, failure in _protocols(epsilon, users, horizon, scaling)
    ]
    return f"""\
Theorems 1 to 6 at ε = {epsilon}, T = {horizon} (scaling {scaling} where there is one). A theorem
bounds the probability that the sum is off by more than τ/g by 1/T (Theorem 3: by 1/(2T), the other
half being its aggregation's), and m = ng + 2τ + 1 follows. Beside it what is really so: the exact
probability (of noise and wrap-around with the worst data; rounding comes on top), the least τ that
meets the bound, and the least m with which sums wrap around with at most that probability.

{table(columns, rows)}

**What to do.** Use the least τ: it is what an analyzer may promise, and confidence radii shrink
with it. Bits hardly change: nearly all of m is ng, the range of the sum itself."""


def _protocols(
    epsilon: str, users: int, horizon: int, scaling: int
) -> list[tuple[str, SumProtocol, Fraction]]:
    plain: dict[int, Callable[..., papers.Preset | papers.RelaxedPreset]] = {
        1: papers.theorem1,
        3: papers.theorem3,
        5: papers.theorem5,
        6: papers.theorem6,
    }
    scaled = {2: papers.theorem2, 4: papers.theorem4}
    found = []
    for number in range(1, 7):
        build = plain.get(number) or scaled[number]
        preset = build(epsilon, users, horizon, *([scaling] if number in scaled else []))
        failure = Fraction(1, horizon)
        if isinstance(preset, papers.RelaxedPreset):
            failure -= preset.aggregation.failure
        found.append((preset.source, preset.protocol, failure))
    return found


def _row(protocol: SumProtocol, failure: Fraction) -> list[str]:
    accuracy, modulus = least_accuracy(protocol, failure), least_modulus(protocol, failure)
    return [
        str(protocol.precision),
        str(protocol.accuracy),
        str(protocol.modulus),
        str(protocol.bits_per_user),
        shown(off_probability(protocol)),
        str(accuracy.accuracy),
        str(accuracy.modulus),
        str(accuracy.bits_per_user),
        str(modulus.modulus),
        str(modulus.bits_per_user),
    ]
