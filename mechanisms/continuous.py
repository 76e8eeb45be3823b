"""Continuous noise, for accounting only: the Gaussian and the Laplace, each user sampled or not.

Nothing draws from these laws. Floating-point noise is another law, with gaps through which data
leak (Mironov, "On significance of the least significant bits for differential privacy", CCS 2012):
what is released should be discrete.

Poisson sampling lets every user take part with probability `rate`, independently. Neighbours then
differ by one user (add or remove), and the pair is the mixture (1 - rate) Q + rate P against Q:
which of the two datasets has the user is the same in every use, so `reversed` is another mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from attrs import evolve, field, frozen

from ..exact.number import ExactInput, ParameterError, exact
from ..exact.square_root import SquareRoot
from .fields import parameters
from .laws.gaussian_envelope import distance
from .laws.law import Law
from .mechanism import Mechanism, either_way
from .pairs.pair import Pair
from .sampled import NEIGHBOURS_KEY, POISSON, check_neighbours, sampling_rate


class Shape(Enum):
    """The two laws, by their names in specs."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"

    @property
    def parameter(self) -> str:
        """What specs call its scale."""
        return "sigma" if self is Shape.GAUSSIAN else "scale"


def _size(value: ExactInput | SquareRoot) -> Fraction | SquareRoot:
    return value if isinstance(value, SquareRoot) else exact(value, "scale", above=0)


@frozen
class ContinuousNoise:
    """A query of this sensitivity (real; L2 for a Gaussian, L1 for a Laplace vector) plus noise.

    scale: sigma of the Gaussian, scale of the Laplace; a Gaussian's may be a rational's root.
    rate: of Poisson sampling, 1 for none.
    removing: whether P, of the pair (P, Q), is the dataset with the user.
    """

    shape: Shape
    scale: Fraction | SquareRoot = field(converter=_size)
    sensitivity: Fraction = field(converter=parameters.moved, default=Fraction(1))
    neighbours: str = field(default="replace", metadata=NEIGHBOURS_KEY)
    rate: Fraction = field(converter=sampling_rate, default=Fraction(1), metadata=POISSON)
    removing: bool = True

    kind = "continuous"

    def parts(self) -> dict[str, object]:
        """What certificates say of it (see `schema`)."""
        sizes: dict[str, object] = {"law": self.shape, "sensitivity": self.sensitivity}
        if isinstance(self.scale, SquareRoot):
            sizes["scale-squared"] = self.scale.square
        else:
            sizes["scale"] = self.scale
        return {**sizes, "poisson": self.rate, "neighbours": self.neighbours}

    @property
    def spec_name(self) -> str:
        """What specs call it."""
        return self.shape.value

    def spec_keys(self) -> dict[str, object]:
        """What specs say of it (see `schema`)."""
        name, size = self.shape.parameter, self.scale
        if isinstance(size, SquareRoot):
            name, size = "sigma2", size.square
        rest = {"neighbours": self.neighbours, "poisson": self.rate}
        return {name: size, "sensitivity": self.sensitivity, **rest}

    def __attrs_post_init__(self) -> None:
        if self.shape is Shape.LAPLACE and isinstance(self.scale, SquareRoot):
            raise ParameterError("scale must be rational: only the Gaussian is known by its square")
        check_neighbours(self.neighbours, self.rate)

    @property
    def move(self) -> Fraction | SquareRoot:
        """The sensitivity, in units of the scale: a Gaussian's mu, a Laplace's epsilon."""
        return self.sensitivity / self.scale

    def at_rate(self, rate: Fraction, removing: bool) -> Mechanism:
        """The same of users who take part with this probability; neighbours add-remove."""
        if self.rate != 1:
            raise ParameterError("mechanism must be one of which nobody is sampled yet")
        return evolve(self, neighbours="add-remove", rate=rate, removing=removing)

    def pairs(self) -> Iterable[Pair]:
        """It has no pairs of laws on outcomes; what asks for some cannot take it."""
        raise ParameterError(
            f"{self.shape.value} noise is continuous, for accounting only: this takes discrete "
            f"noise, such as discrete-{self.shape.value}"
        )

    def reversed(self) -> Mechanism:
        """With the other dataset first; the same where nobody is sampled (both are symmetric)."""
        return self if self.rate == 1 else evolve(self, removing=not self.removing)


def dominating_gaussian(law: Law, square: int, neighbours: str = "replace") -> ContinuousNoise:
    """The Gaussian that dominates integer noise of this law on what moves by |v|_2^2 <= square.

    Raises NoEnvelopeError where none is proved (`laws.gaussian_envelope`).
    """
    return ContinuousNoise(Shape.GAUSSIAN, Fraction(1), distance(law, square), neighbours)


def continuous(mechanism: Mechanism) -> ContinuousNoise | None:
    """The continuous noise that this is, either way round; None for what is discrete."""
    inner = either_way(mechanism)
    return inner if isinstance(inner, ContinuousNoise) else None
