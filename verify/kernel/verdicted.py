"""A verdict as a theorem is to say it: its numbers, the precision of its proof, what has none."""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import frozen

from ...exact import ParameterError
from ..checker.mechanisms import TwoLaws
from .form import FormError, Numbers
from .forms import FORMS

LEAST_BITS = 60
FAR_BITS = 200  # where it is not known how close the claim is
_REACH = (
    "zcdp and rdp claims of lists of discrete-gaussian, numbers and vectors, and the approx claims "
    "that its rho implies; of these with poisson, verified, rdp claims at whole orders and the "
    "approx claims that they imply; "
    "rdp claims of randomized-response and (at whole orders, no probability "
    "being 0) pmf pairs, used K times; "
    "pure and approx claims of discrete-laplace, randomized-response and pmf pairs, used K times, "
    "of lists of discrete-laplace and randomized-response; "
    "and of discrete-gaussian, skellam, binomial and (verified, where its pure epsilon settles it) "
    "discrete-laplace with a modulus, used once, and, verified with some room, of skellam, "
    "discrete-gaussian and fair bits used K times"
)


class NotWrittenError(ParameterError):
    """A verdict for which no theorem can be written yet; the message names those that can."""


@frozen
class Verdicted:
    """What a theorem is to say; room: how far the claim is from what is true (0: not known).

    epsilon: rho, where the claim is of that.
    """

    times: int
    epsilon: Fraction
    delta: Fraction
    verified: bool
    room: Fraction

    def precision(self, far: int = 0) -> dict[str, int]:
        """How often exp is squared, and to how many bits it is known: its error is about 2^-r.

        far: bits of how rare the outcomes are that decide.
        """
        near = bits(1 / self.room) + 20 if self.room else FAR_BITS
        rare = bits(1 / self.delta) if self.delta else 0
        return squared(
            max(LEAST_BITS, near) + rare + 2 * bits(self.epsilon) + bits(self.times) + far
        )

    def write(self, name: str, numbers: Numbers) -> str:
        """The file of this form, of this verdict, with its claim and uses where it names them."""
        form = FORMS[f"{name}, {'VERIFIED' if self.verified else 'REFUTED'}"]
        a_b, n_d = quotient("ab", self.epsilon), quotient("nd", self.delta)
        try:
            return form.write({"k": self.times, **a_b, **n_d, **numbers})
        except FormError as error:
            raise NotWrittenError(f"--coq: no theorem: {error}") from error


def quotient(names: str, value: Fraction) -> dict[str, int]:
    """Its numerator and denominator by two letters."""
    return dict(zip(names, value.as_integer_ratio(), strict=True))


def squared(times: int) -> dict[str, int]:
    """exp by so many squarings, with as many bits as lose nothing in these."""
    return {"r": times, "p": 2 * times + 16}


def columns(pair: TwoLaws) -> dict[str, list[int]]:
    """Both laws in whole numbers over one denominator."""
    bottom = math.lcm(*(mass.denominator for mass in pair.p + pair.q))
    a, b = ([int(mass * bottom) for mass in side] for side in (pair.p, pair.q))
    return {"A": a, "B": b}


def bits(number: Fraction | int) -> int:
    """Of a number that is not negative, rounded up."""
    return max(0, math.ceil(number)).bit_length()


def unknown() -> NotWrittenError:
    """What to say where there is no form."""
    return NotWrittenError(f"--coq: no theorem of this can be written yet, only of {_REACH}")
