"""What a confidence radius may depend on: the plan of a run of batched arm elimination.

Batch b = 1, ..., B gives each active arm n_b new users. Their rewards in [0, 1], encoded on the
grid 0..g, are summed and noise is added; decoded and divided by g n_b that is the estimate of the
arm's mean. Arm a leaves where max over active a' of the estimates exceeds its own by more than
2 beta (its upper confidence bound is below the largest lower one). beta may depend on the batch and
on how many arms are active: tables beta[b - 1, active] of shape (B, K + 1) serve all runs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from attrs import frozen

from ...exact.number import ExactInput, ParameterError, exact, positive, whole
from ...mechanisms.laws.law import Law

_MOST_ARMS = 10_000
_LARGEST_BATCH = 10**12


@frozen(init=False)
class ContinuousLaplace:
    """Laplace noise on the reals with density e^(-|x|/scale)/(2 scale), in units of 1/g."""

    scale: Fraction

    def __init__(self, scale: ExactInput) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))


Noise: TypeAlias = Law | ContinuousLaplace | tuple[Law, ...]  # a tuple: of independent summands


@frozen(init=False)
class Decoding:
    """How a sum mod m is read: as the number in the window -accuracy, ..., m - 1 - accuracy."""

    accuracy: int
    modulus: int

    def __init__(self, accuracy: ExactInput, modulus: ExactInput) -> None:
        object.__setattr__(self, "accuracy", whole(accuracy, "accuracy", at_least=0))
        object.__setattr__(self, "modulus", whole(modulus, "modulus", at_least=self.accuracy + 1))


@frozen(init=False)
class RadiusPlan:
    """A run, as far as its radii may depend on it; one entry a batch in the tuples.

    arms        K >= 2
    horizon     T, the users that there are
    confidence  p: with probability at least 1 - p no best arm is ever eliminated
    batches     n_b, users an active arm
    noises      the law of the noise in the sum of a batch, in units of 1/g; None: no noise
    precisions  g_b, the grid of the encoding (1 for binary rewards)
    decodings   how the sum is read that was released mod m; None: it was not reduced. () for all
                None
    binary      every reward is 0 or 1
    cumulative  False: an estimate uses its own batch only. True: it uses all batches so far; then
                the entries describe these sums (n_b, noises: all users and the noise up to b)
    """

    arms: int
    horizon: int
    confidence: Fraction
    batches: tuple[int, ...]
    noises: tuple[Noise | None, ...]
    precisions: tuple[int, ...]
    decodings: tuple[Decoding | None, ...]
    cumulative: bool
    binary: bool

    def __init__(
        self,
        arms: ExactInput,
        horizon: ExactInput,
        confidence: ExactInput,
        batches: Sequence[ExactInput],
        noises: Sequence[Noise | None],
        precisions: Sequence[ExactInput],
        decodings: Sequence[Decoding | None] = (),
        cumulative: bool = False,
        binary: bool = False,
    ) -> None:
        sizes = tuple(whole(n, "batches", at_least=1, at_most=_LARGEST_BATCH) for n in batches)
        grids = tuple(whole(g, "precisions", at_least=1) for g in precisions)
        readings = tuple(decodings) or (None,) * len(sizes)
        for name, entries in (("noises", noises), ("precisions", grids), ("decodings", readings)):
            if len(entries) != len(sizes):
                raise ParameterError(
                    f"{name} must have one entry for each of the {len(sizes)} batches, "
                    f"got {len(entries)}"
                )
        if cumulative and any(sizes[i] >= sizes[i + 1] for i in range(len(sizes) - 1)):
            raise ParameterError(f"batches must grow where they are cumulative, got {sizes}")
        object.__setattr__(self, "arms", whole(arms, "arms", at_least=2, at_most=_MOST_ARMS))
        object.__setattr__(self, "horizon", whole(horizon, "horizon", at_least=1))
        object.__setattr__(self, "confidence", exact(confidence, "confidence", above=0, below=1))
        object.__setattr__(self, "batches", sizes)
        object.__setattr__(self, "noises", tuple(noises))
        object.__setattr__(self, "precisions", grids)
        object.__setattr__(self, "decodings", readings)
        object.__setattr__(self, "cumulative", cumulative)
        object.__setattr__(self, "binary", binary)

    def most_active(self, batch: int) -> int:
        """How many arms at most can complete this batch (1, 2, ...) within the horizon.

        An arm that is active in batch b was active in all batches before: `most_active` arms have
        had n_1 + ... + n_b users each.
        """
        here = self.batches[:batch]
        users = here[-1] if self.cumulative else sum(here)
        return min(self.arms, self.horizon // users)
