"""The mechanisms of Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits"
(ICLR 2023), with the parameters that its theorems state, computed exactly.

Each user encodes a reward in [0, 1] as an integer in 0..g; a batch of n users is summed, noise is
added, and the sum is released mod m. Replacing one user moves the sum by at most g.

    precision  g      the grid of the encoding, and the sensitivity of the sum
    accuracy   tau    a bound that the total noise exceeds with probability at most p = 1/T
    modulus    m      n g + 2 tau + 1 in every theorem
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final, Literal, TypeAlias

import mpmath
from flint import arb

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ball, exact, mpf, whole
from ..exact.precision import refine
from .laws.discrete_gaussian import DiscreteGaussian
from .laws.discrete_gaussian_sum import DiscreteGaussianSum
from .laws.discrete_laplace import DiscreteLaplace
from .laws.law import Law, UndecidedError
from .laws.skellam import Skellam
from .mechanism import AdditiveNoise

__all__ = ["STATED", "InvertedScale", "Modulus", "Preset", "published"]
__all__ += ["theorem1", "theorem2", "theorem2_curve", "theorem4", "theorem5", "theorem6"]


class _Stated(Enum):
    MODULUS = "as stated"


STATED: Final = _Stated.MODULUS  # the modulus that the theorem states
Modulus: TypeAlias = ExactInput | Literal[_Stated.MODULUS] | None  # None: the plain sum


@dataclass(frozen=True)
class Preset:
    """A mechanism as a theorem states it, beside the parameters that were derived."""

    source: str
    epsilon: Fraction
    batch: int
    precision: int
    accuracy: int | None  # None without a horizon
    mechanism: AdditiveNoise


@dataclass(frozen=True)
class InvertedScale:
    """-1/log(1 - e^(-1/scale)): of the discrete Laplace with parameter 1 - beta instead of beta.

    A formula (`exact.number.Formula`): the number is irrational.
    """

    scale: Fraction

    def ball(self) -> arb:
        """Enclose it at the working precision."""
        return -1 / (-(-1 / ball(self.scale)).expm1()).log()

    def mpf(self) -> mpmath.mpf:
        """Evaluate it at mpmath's current precision."""
        return -1 / mpmath.log(-mpmath.expm1(-1 / mpf(self.scale)))


def theorem1(
    epsilon: ExactInput, batch: ExactInput, horizon: ExactInput, modulus: Modulus = STATED
) -> Preset:
    """Theorem 1, pure DP by secure aggregation: the shares add up to Lap_Z(g/epsilon).

    epsilon > 0; batch: n users; horizon: T rounds; modulus: another m, or None for the plain sum.
    g = ceil(epsilon sqrt(n)), tau = ceil((g/epsilon) log(2T)).
    Raises ParameterError for what is out of range, UndecidedError where tau stays open.
    """
    budget = exact(epsilon, "epsilon", above=0)
    return _laplace_batch("Theorem 1", budget, batch, horizon, modulus)


def theorem2(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    scaling: ExactInput,
    modulus: Modulus = STATED,
) -> Preset:
    """Theorem 2, Rényi DP by secure aggregation: n shares Sk(0, g²/(n epsilon²)).

    epsilon > 0, scaling s >= 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(s epsilon sqrt(n)), tau = ceil((2g/epsilon) sqrt(log(2T)) + sqrt(2) log(2T)).
    """
    budget = exact(epsilon, "epsilon", above=0)
    users, rounds = _users(batch), _rounds(horizon)
    g = _precision(exact(scaling, "scaling", at_least=1) * budget, users)
    scale = g / budget

    def bound() -> arb:
        log = _log_2t(rounds)
        return 2 * ball(scale) * log.sqrt() + arb(2).sqrt() * log

    tau = _ceiling(bound, "tau")
    return _preset("Theorem 2", budget, users, g, tau, Skellam(scale**2), modulus)


def theorem2_curve(epsilon: ExactInput, scaling: ExactInput, order: ExactInput) -> Fraction:
    """The Rényi divergence that Theorem 2 allows at this order, 2, 3, ..., as it is stated.

    epsilon > 0, scaling s >= 1; the same for every batch.
    """
    budget = exact(epsilon, "epsilon", above=0)
    s = exact(scaling, "scaling", at_least=1)
    alpha = whole(order, "order", at_least=2)
    fine = (2 * alpha - 1) * budget**2 / (4 * s**2) + 3 * budget / (2 * s**3)
    coarse = 3 * budget**2 / (2 * s)
    return alpha * budget**2 / 2 + min(fine, coarse)


def theorem4(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    scaling: ExactInput,
    modulus: Modulus = STATED,
) -> Preset:
    """Theorem 4, concentrated DP by secure aggregation: n shares N_Z(0, g²/(n epsilon²)).

    0 < epsilon < 1, scaling s >= 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(s epsilon sqrt(n)), tau = ceil((g/epsilon) sqrt(2 log(2T))).
    """
    budget = exact(epsilon, "epsilon", above=0, below=1)
    users, rounds = _users(batch), _rounds(horizon)
    g = _precision(exact(scaling, "scaling", at_least=1) * budget, users)
    scale = g / budget
    tau = _ceiling(lambda: ball(scale) * (2 * _log_2t(rounds)).sqrt(), "tau")
    share = scale**2 / users
    law = DiscreteGaussian(share) if users == 1 else DiscreteGaussianSum(users, share)
    return _preset("Theorem 4", budget, users, g, tau, law, modulus)


def theorem5(
    epsilon: ExactInput, batch: ExactInput, horizon: ExactInput, modulus: Modulus = STATED
) -> Preset:
    """Theorem 5, the central model: the server adds Lap_Z(g/epsilon), 0 < epsilon < 1.

    Parameters, noise and errors are those of `theorem1`.
    """
    budget = exact(epsilon, "epsilon", above=0, below=1)
    return _laplace_batch("Theorem 5", budget, batch, horizon, modulus)


def theorem6(
    epsilon: ExactInput, batch: ExactInput, horizon: ExactInput, modulus: Modulus = STATED
) -> Preset:
    """Theorem 6, the local model: what one user releases, with Lap_Z(g/epsilon) of its own.

    0 < epsilon < 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(epsilon sqrt(n)), tau = ceil((c g/epsilon) sqrt(2 n log(2T))), where
    c = 1/sqrt(1 - e^(-1/2)) is the best constant of the paper's Lemma 5.
    """
    budget = exact(epsilon, "epsilon", above=0, below=1)
    users, rounds = _users(batch), _rounds(horizon)
    g = _precision(budget, users)
    scale = g / budget

    def bound() -> arb:
        squared = 2 * users * _log_2t(rounds) / (1 - (arb(-1) / 2).exp())
        return ball(scale) * squared.sqrt()

    tau = _ceiling(bound, "tau")
    return _preset("Theorem 6", budget, users, g, tau, DiscreteLaplace(scale), modulus)


def published(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput | None = None,
    modulus: Modulus = STATED,
) -> Preset:
    """The total noise of the implementation that was published with the paper.

    It draws each Pólya share as a Gamma-mixed Poisson with Gamma scale (1 - beta)/beta,
    beta = e^(-epsilon/g), where beta/(1 - beta) is needed (the paper's footnote 3). That is a share
    of parameter 1 - beta, and the shares add up to a discrete Laplace whose e^(-1/scale) is
    1 - beta. Released as a plain sum, unless a horizon (then m is that of Theorem 1) or a modulus
    is given. Raises as `theorem1` does.
    """
    budget = exact(epsilon, "epsilon", above=0)
    users = _users(batch)
    g = _precision(budget, users)
    law = DiscreteLaplace(InvertedScale(g / budget))
    if horizon is None:
        plain = None if modulus is STATED else modulus
        return _preset("published implementation", budget, users, g, None, law, plain)
    tau = _laplace_accuracy(g / budget, _rounds(horizon))
    return _preset("published implementation", budget, users, g, tau, law, modulus)


def _laplace_batch(
    source: str, budget: Fraction, batch: ExactInput, horizon: ExactInput, modulus: Modulus
) -> Preset:
    users, rounds = _users(batch), _rounds(horizon)
    g = _precision(budget, users)
    tau = _laplace_accuracy(g / budget, rounds)
    return _preset(source, budget, users, g, tau, DiscreteLaplace(g / budget), modulus)


def _preset(
    source: str,
    budget: Fraction,
    users: int,
    g: int,
    tau: int | None,
    law: Law,
    modulus: Modulus,
) -> Preset:
    if modulus is STATED:
        modulus = None if tau is None else users * g + 2 * tau + 1
    return Preset(source, budget, users, g, tau, AdditiveNoise(law, g, modulus))


def _users(batch: ExactInput) -> int:
    return whole(batch, "batch", at_least=1)


def _rounds(horizon: ExactInput) -> int:
    return whole(horizon, "horizon", at_least=1)


def _precision(factor: Fraction, users: int) -> int:
    """ceil(factor sqrt(users)), from integers: the least g with g² >= factor² users."""
    return math.isqrt(math.ceil(factor**2 * users) - 1) + 1


def _laplace_accuracy(scale: Fraction, rounds: int) -> int:
    return _ceiling(lambda: ball(scale) * _log_2t(rounds), "tau")


def _log_2t(rounds: int) -> arb:
    return arb(2 * rounds).log()


def _ceiling(compute: Callable[[], arb], name: str) -> int:
    def settled(found: Enclosure) -> bool:
        return found.is_finite() and math.ceil(found.lower) == math.ceil(found.upper)

    found = refine(compute, width=Fraction(0), enough=settled)
    if not settled(found):
        raise UndecidedError(f"{name} = ceil({found}) is not certain at the precision allowed")
    return math.ceil(found.upper)
