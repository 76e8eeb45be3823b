"""Random allocation: each user takes part in exactly k of t steps, chosen uniformly.

The steps of all other users are drawn likewise, each on their own, so that they are the same on
both sides; neighbours differ by one user (add or remove). Every step adds Gaussian noise. One use
of the mechanism is all t steps; E epochs are E uses, each allocated anew.

*What dominates.* With mu = sensitivity/sigma, the user's part of a step, whatever was released
before, moves it by at most mu standard deviations in some direction: N(0, 1), or N(mu, 1) where the
user takes part, go through one and the same kernel (a rotation; a share r X + sqrt(1 - r^2) Z for
parts that are shorter), which knows the past and not the user's steps. So the whole release is a
post-processing of P = average over the sets A of k steps of N(mu 1_A, I) against Q = N(0, I), and
attains it (Feldman and Shenfeld, "Privacy amplification by random allocation", 2025).

Batches of one size, cut from one shuffled order, are another mechanism, which may cost much more: a
user there also moves the others from batch to batch (Chua et al., "How private are DP-SGD
implementations?", ICML 2024).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

from attrs import evolve, field, frozen

from ...exact.number import ExactInput, ParameterError, exact, whole
from ...exact.square_root import SquareRoot
from ..continuous import ContinuousNoise, Shape, continuous
from ..fields import parameters
from ..fields.schema import key
from ..mechanism import Mechanism, either_way
from ..pairs.pair import Pair

_MOST_STEPS = 10**7


def _scale(value: ExactInput) -> Fraction:
    """A number above 0."""
    return exact(value, "sigma", above=0)


def _count(value: ExactInput) -> int:
    """A whole number, 1 to 1e7."""
    return whole(value, "allocation", at_least=1, at_most=_MOST_STEPS)


@frozen
class Allocation:
    """`steps` steps of Gaussian noise, each user in `taken` of them.

    removing: whether P, of the pair (P, Q), is the dataset with the user.
    """

    scale: Fraction = field(converter=_scale, metadata=key("of the noise"))
    sensitivity: Fraction = field(converter=parameters.moved, metadata=key("of each step"))
    taken: int = field(converter=_count, metadata=key("in which a user takes part"))
    steps: int = field(converter=_count, metadata=key("in all"))
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"
    kind = "allocation"
    spec_name = "gaussian"

    def spec_keys(self) -> dict[str, object]:
        """What specs say of it (see `schema`)."""
        sizes = {"sigma": self.scale, "sensitivity": self.sensitivity}
        steps = f"{self.taken}/{self.steps}"
        return {**sizes, "neighbours": self.neighbours, "allocation": steps}

    def __attrs_post_init__(self) -> None:
        if self.taken > self.steps:
            raise ParameterError(
                f"allocation must be at most all steps, got {self.taken}/{self.steps}"
            )

    @property
    def sampling(self) -> str:
        """How users are sampled, in words."""
        return f"random allocation: each user in {self.taken} of {self.steps} steps"

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """How many steps the groups have that all steps are dealt to, one step taken in each."""
        least, larger = divmod(self.steps, self.taken)
        both = ((least, self.taken - larger), (least + 1, larger))
        return tuple((steps, count) for steps, count in both if count)

    def pairs(self) -> Iterable[Pair]:
        """It has no pairs of laws on outcomes; what asks for some cannot take it."""
        raise ParameterError(
            "allocation is of continuous noise, for accounting of epsilon, delta, Rényi and rho of "
            "lists of nothing else: this cannot take it"
        )

    def reversed(self) -> Mechanism:
        """With the other dataset first."""
        return evolve(self, removing=not self.removing)

    def poisson(self) -> tuple[Mechanism, int]:
        """What is often reported instead: Poisson sampling at the same rate, in so many steps."""
        rate = Fraction(self.taken, self.steps)
        noise = ContinuousNoise(
            Shape.GAUSSIAN, self.scale, self.sensitivity, self.neighbours, rate, self.removing
        )
        return noise, self.steps


def allocation(mechanism: Mechanism) -> Allocation | None:
    """The random allocation that this is, either way round; None for anything else."""
    inner = either_way(mechanism)
    return inner if isinstance(inner, Allocation) else None


def allocated(mechanism: Mechanism, taken: ExactInput, steps: ExactInput) -> Allocation:
    """Each user in so many of all steps, of Gaussian noise with a rational sigma."""
    noise = continuous(mechanism)
    if noise is None or noise.shape is not Shape.GAUSSIAN or noise.rate != 1:
        raise ParameterError("allocation needs continuous Gaussian noise")
    if isinstance(noise.scale, SquareRoot):
        raise ParameterError(
            f"allocation needs a rational sigma, got the root of {str(noise.scale.square)[:40]}"
        )
    return Allocation(noise.scale, noise.sensitivity, taken, steps)
