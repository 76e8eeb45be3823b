"""What every `exactdp round` is asked for, whatever it sums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from attrs import frozen

from ..exact import ParameterError, exact
from ..mechanisms.samplers import RandomBits
from ..protocols.aggregation import AggregationError
from .options import how_many


@frozen
class Asked:
    """leaving, floor, plain, delta: the options. source: of the bits. seconds: for what it cost."""

    leaving: str
    floor: str | None
    plain: bool
    delta: str
    bits: RandomBits
    source: str
    seconds: float

    @property
    def level(self) -> Fraction:
        """delta. Raises ParameterError where it is none."""
        return exact(self.delta, "delta", above=0, below=1)

    def missing(self, users: int, name: str = "vanish") -> tuple[int, int]:
        """How many of so many drop out, and how many might: all but the floor."""
        gone = how_many(self.leaving, name, users)
        return gone, gone if self.floor is None else users - how_many(self.floor, "floor", users)

    @contextmanager
    def summing(self, where: str = "") -> Iterator[None]:
        """Say that too few remained where an aggregation ends without its sum."""
        try:
            yield
        except AggregationError as error:
            raise ParameterError(
                f"--dropout {self.leaving} left too few{where}, so there is no sum: {error}"
            ) from error
