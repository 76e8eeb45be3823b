"""What `exactdp protocol SPEC --play` is asked for, whatever it sums."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen

from ..common.atomic_write import check_target
from ..exact import ParameterError, exact
from ..mechanisms.samplers import RandomBits, SeededBits, SystemBits
from ..protocols.aggregation import AggregationError
from ..verify import Guarantee, parse_claim
from .options import how_many, read_note

Given: TypeAlias = Mapping[str, object]  # options by their names, those that were typed


def refuse(given: Given, why: str, taken: Collection[str] = ()) -> None:
    """Raise ParameterError, naming the option and why, where one was typed that is not taken."""
    for option, value in given.items():
        if option not in taken and value not in (None, False):
            others = f"; it takes {', '.join(sorted(taken))}" if taken else ""
            raise ParameterError(f"{option} {why}{others}")


@frozen
class Choices:
    """given: the options of playing, as typed. seconds: for what it cost."""

    given: Given
    seconds: float
    bits: RandomBits = field()
    note: str | None = field()
    claim: Guarantee | None = field()

    @bits.default
    def _bits(self) -> RandomBits:
        seed = self.given["--seed"]
        return SystemBits() if seed is None else SeededBits(int(str(seed)))

    @note.default
    def _note(self) -> str | None:
        return read_note(self.text("--note"), self.certificate)

    @claim.default
    def _claim(self) -> Guarantee | None:
        text = self.text("--claim")
        if text is not None and self.certificate is None:
            raise ParameterError("--claim is what is certified: --certificate is missing")
        return None if text is None else parse_claim(text)

    def __attrs_post_init__(self) -> None:
        if self.certificate is not None:
            check_target(self.certificate, "--certificate")

    def text(self, option: str) -> str | None:
        """What was typed; None where nothing was."""
        value = self.given[option]
        return None if value is None else str(value)

    @property
    def certificate(self) -> Path | None:
        """Where to write one."""
        file = self.text("--certificate")
        return None if file is None else Path(file)

    @property
    def plain(self) -> bool:
        """Without masks?"""
        return bool(self.given["--plain"])

    @property
    def source(self) -> str:
        """Of the random bits."""
        seed = self.given["--seed"]
        return "operating system" if seed is None else f"seed {seed}"

    @property
    def delta(self) -> str:
        """As it was typed, or usually is."""
        return self.text("--delta") or "1e-6"

    @property
    def level(self) -> Fraction:
        """delta. Raises ParameterError where it is none."""
        return exact(self.delta, "--delta", above=0, below=1)

    def missing(self, users: int) -> tuple[int, int]:
        """How many of so many drop out, and how many might: all but the floor."""
        gone = how_many(self.text("--dropout") or "0", "--dropout", users)
        floor = self.text("--floor")
        return gone, gone if floor is None else users - how_many(floor, "--floor", users)

    @contextmanager
    def summing(self, where: str = "") -> Iterator[None]:
        """Say that too few remained where an aggregation ends without its sum."""
        try:
            yield
        except AggregationError as error:
            gone = self.text("--dropout")
            raise ParameterError(
                f"--dropout {gone} left too few{where}, so there is no sum: {error}"
            ) from error

    def check_floor(self, summed: int, users: int, most: int, who: str) -> None:
        """Raise ParameterError where fewer are in a sum than the floor allows."""
        if users - summed > most:
            raise ParameterError(
                f"--dropout {self.text('--dropout')} left {summed} {who}, below the floor of "
                f"{users - most} needed"
            )
